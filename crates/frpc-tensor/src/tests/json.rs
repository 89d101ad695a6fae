//! Tests of the JSON forms of tensors and images.

use frpc_json::{DecodeReason, Options, Reader, from_json, to_json};
use frpc_tensor::{Element, Image, Tensor};
use proptest::prelude::*;

fn read(json: &str) -> Tensor {
    from_json(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn refused(json: &str) -> String {
    from_json::<Tensor>(json.as_bytes()).expect_err(json).to_string()
}

fn of<T: Element>(shape: &[u32], elements: &[T]) -> Tensor {
    Tensor::from_slice(shape, elements).expect("elements should match the shape")
}

#[test]
fn tensor_round_trips_in_proto3_json_mapping() {
    let tensor = of(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]);
    let mut out = Vec::new();
    to_json(&tensor, &mut out).expect("message should have a JSON form");
    let text = String::from_utf8(out).expect("bytes should be UTF-8");
    assert_eq!(text, r#"{"dtype":"float32","shape":[2,2],"data":"AACAPwAAAEAAAEBAAACAQA=="}"#);
    assert_eq!(read(&text), tensor);
    assert_eq!(read("{}"), Tensor::default());
}

#[test]
fn base64_length_must_match_shape_and_dtype() {
    assert_eq!(read(r#"{"data":"AQI=","dtype":"<u1","shape":[2]}"#).to_vec::<u8>(), Ok(vec![1, 2]));
    assert_eq!(read(r#"{"dtype":">u2","data":"AQI="}"#).to_vec::<u16>(), Ok(vec![0x102]));
    for (json, reason) in [
        (r#"{"dtype":"uint8","shape":[3],"data":"AQI="}"#, "takes 3 bytes by its shape and dtype, and has 2"),
        (r#"{"dtype":"uint8","data":"AQI="}"#, "takes 1 bytes"),
        (r#"{"dtype":"uint8","shape":[3]}"#, "takes 3 bytes"),
        (r#"{"dtype":"object","shape":[2],"data":"AQI="}"#, r#"unsupported dtype "object""#),
        (r#"{"dtype":"uint8","shape":[4294967295,4294967295,9],"data":"AQI="}"#, "larger than any memory"),
        (r#"{"shape":[2],"data":"AQI="}"#, "base64 without a dtype must be a .npy file"),
        (r#""AQI=""#, "base64 without a dtype must be a .npy file"),
        (r#"{"dtype":"uint8","data":"?"}"#, "is not a valid base64 string"),
        (r#"{"dtype":"uint8","data":"AQ==","data":"AQ=="}"#, "occurs twice"),
        (r#"{"dtype":"uint8","more":1}"#, "has no field"),
    ] {
        assert!(refused(json).contains(reason), "{json}: {}", refused(json));
    }
}

#[test]
fn base64_npy_is_decoded_alone_or_nested() {
    let tensor = of(&[3], &[1_i16, 2, -3]);
    let file = bytes::Bytes::from(tensor.to_npy().expect("value should be valid"));
    let mut base64 = Vec::new();
    to_json(&file, &mut base64).expect("message should have a JSON form");
    let base64 = String::from_utf8(base64).expect("bytes should be UTF-8");
    for json in [base64.clone(), format!(r#"{{"data":{base64}}}"#), format!(r#"{{"data":{base64},"shape":[3]}}"#)] {
        let read = read(&json);
        assert_eq!((&*read.dtype, read.to_vec::<i16>()), ("<i2", Ok(vec![1, 2, -3])));
    }
    assert!(refused(&format!(r#"{{"data":{base64},"shape":[4]}}"#)).contains("the shape is [4], and the data has [3]"));
}

#[test]
fn nested_lists_get_numpy_dtype() {
    assert_eq!(read("[[1, 2, 3], [4, 5, 6]]"), of(&[2, 3], &[1_i64, 2, 3, 4, 5, 6]));
    assert_eq!(read("[1, 2.5, -3]"), of(&[3], &[1.0, 2.5, -3.0]));
    assert_eq!(read("[1, 2e0]"), of(&[2], &[1.0, 2.0]));
    assert_eq!(read("[[true], [false]]"), of(&[2, 1], &[true, false]));
    assert_eq!(read("[18446744073709551615, 1]"), of(&[2], &[u64::MAX, 1]));
    assert_eq!(read("[18446744073709551615, -1]"), of(&[2], &[u64::MAX as f64, -1.0]));
    assert_eq!(read(r#"[9223372036854775807, "-9223372036854775808"]"#), of(&[2], &[i64::MAX, i64::MIN]));
    assert_eq!(read(r#"["2", 1.5, "2"]"#), of(&[3], &[2.0, 1.5, 2.0]));
    assert_eq!(read(r#"["18446744073709551615", "-1"]"#), of(&[2], &[u64::MAX as f64, -1.0]));
    assert_eq!(read(r#"[1, "Infinity", "-Infinity"]"#), of(&[3], &[1.0, f64::INFINITY, f64::NEG_INFINITY]));
    assert!(read(r#"["NaN"]"#).to_vec::<f64>().is_ok_and(|floats| floats[0].is_nan()));
    assert_eq!(read("[]"), of::<f64>(&[0], &[]));
    assert_eq!(read("[[], []]"), of::<f64>(&[2, 0], &[]));
    assert_eq!(read("[[[]], [[]]]"), of::<f64>(&[2, 1, 0], &[]));
    assert_eq!(read(r#"{"data": [7]}"#), of(&[1], &[7_i64]));
    assert_eq!(read("7"), of(&[], &[7_i64]));
}

#[test]
fn nested_lists_become_elements_if_numbers_fit() {
    let of_type = |dtype: &str, data: &str| format!(r#"{{"dtype":"{dtype}","data":{data}}}"#);
    assert_eq!(read(&of_type("uint8", "[0, 255]")), of(&[2], &[0_u8, 255]));
    assert_eq!(read(&of_type("int8", "[-128, 1.0]")), of(&[2], &[-128_i8, 1]));
    assert_eq!(read(&of_type("float32", "[1, 0.1]")), of(&[2], &[1.0_f32, 0.1]));
    assert_eq!(read(&of_type(">f4", "[1]")), of(&[1], &[1.0_f32]));
    assert_eq!(read(&of_type("bool", "[0, 1]")), of(&[2], &[false, true]));
    assert_eq!(read(&of_type("float16", "[1, 65504]")).data, [0x00, 0x3c, 0xff, 0x7b][..]);
    assert_eq!(read(&of_type("bfloat16", "[[1.0]]")).data, [0x80, 0x3f][..]);
    assert_eq!(read(r#"{"dtype":"int32","shape":[1,2],"data":[[1,2]]}"#), of(&[1, 2], &[1, 2]));
    for (dtype, data) in [
        ("uint8", "[256]"),
        ("uint8", "[-1]"),
        ("uint8", "[0.5]"),
        ("uint8", r#"["NaN"]"#),
        ("int64", "[9223372036854775808]"),
        ("int64", "[1e18]"),
        ("int64", "[9007199254740993, 1.0]"),
        ("float32", "[1e39]"),
        ("float16", "[65520]"),
        ("bool", "[2]"),
        ("bool", "[0.0]"),
        ("int8", "[true]"),
    ] {
        let json = of_type(dtype, data);
        assert!(refused(&json).contains(&format!("does not fit {dtype}")), "{json}");
    }
    assert!(refused(&of_type("complex64", "[1]")).contains("lists cannot contain complex64"));
    assert!(refused(&of_type("float64", "[1e400]")).contains("too large"));
    assert!(refused(r#"{"shape":[2],"data":[[1,2]]}"#).contains("the shape is [2], and the data has [1, 2]"));
}

#[test]
fn invalid_lists_are_rejected_at_offset() {
    for (json, offset) in [
        ("[[1, 2], [3]]", 10),
        ("[[1], 2]", 6),
        ("[1, [2]]", 4),
        ("[[], [1]]", 6),
        ("[[], 1]", 5),
        ("[[[]], []]", 7),
        ("[[], [[]]]", 6),
        ("[1, true]", 4),
        ("[true, 1]", 7),
        (r#"[1, "x"]"#, 4),
        (r#"["1.5"]"#, 1),
        (r#"[1, "-"]"#, 4),
        ("[1, null]", 4),
        ("[1, {}]", 4),
    ] {
        let error = from_json::<Tensor>(json.as_bytes()).expect_err(json);
        assert!(matches!(error.reason(), DecodeReason::Refused(_)), "{json}: {error}");
        assert_eq!(error.offset(), offset, "{json}: {error}");
    }
    for json in ["[1,", "[1}", "[1 2]", "[,]", "["] {
        from_json::<Tensor>(json.as_bytes()).expect_err(json);
    }
}

#[test]
fn list_depth_and_memory_are_bounded() {
    let deep = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    assert_eq!(read(&deep(64)).shape.len(), 64);
    assert!(refused(&deep(65)).contains("lists nest deeper than 64"));
    assert!(refused(&"[".repeat(100_000)).contains("lists nest deeper than 64"));

    let numbers = format!("[{}0]", "0,".repeat(1000));
    let bounded = |memory| Options::new().container_memory(memory).decode::<Tensor>(numbers.as_bytes());
    assert!(bounded(16 << 10).is_ok());
    let error = bounded(4 << 10).expect_err("elements should exceed the memory limit");
    assert!(matches!(error.reason(), DecodeReason::ContainerMemory { .. }), "{error}");
}

#[test]
fn tensor_is_decoded_from_positional_fields() {
    let options = Options::new();
    let (tensor, _) = options.decode_positional::<Tensor>(br#"["int32", [2], [1, 2]]"#).expect("value should be valid");
    assert_eq!(tensor, of(&[2], &[1, 2]));
    options.decode_positional::<Tensor>(br#"["int32", [2], [1, 2], 3]"#).expect_err("extra field should be rejected");
    assert!(from_json::<Tensor>(b"null").is_err());
}

#[test]
fn untyped_lists_use_reader_dtype() {
    let options = Options::new();
    let read = |json: &str, dtype: &str| {
        Tensor::decode_json_as(
            &mut Reader::new(json.as_bytes(), &options).expect("value should be within the limit"),
            dtype,
        )
    };
    for json in ["[1, 2.5]", r#"{"data": [1, 2.5]}"#, r#"{"dtype": "float32", "data": [1, 2.5]}"#] {
        assert_eq!(read(json, "float32").expect("read should succeed"), of(&[2], &[1_f32, 2.5]), "{json}");
    }
    assert_eq!(
        read(r#"{"dtype": "float64", "data": [1]}"#, "float32").expect("read should succeed"),
        of(&[1], &[1_f64])
    );
    for (json, dtype) in [("[1.5]", "int32"), ("[300]", "uint8"), ("[1]", "text")] {
        read(json, dtype).expect_err("input should be rejected");
    }
}

#[test]
fn image_accepts_object_data_url_or_base64() {
    let image = Image::new("image/png", &b"\x89PNG"[..]);
    let mut out = Vec::new();
    to_json(&image, &mut out).expect("message should have a JSON form");
    assert_eq!(out, br#"{"mediaType":"image/png","data":"iVBORw=="}"#);
    let read = |json: &str| from_json::<Image>(json.as_bytes());
    assert_eq!(read(r#"{"mediaType":"image/png","data":"iVBORw=="}"#).expect("read should succeed"), image);
    assert_eq!(read(r#"{"media_type":"image/png","data":"iVBORw"}"#).expect("read should succeed"), image);
    assert_eq!(read(r#""data:image/png;base64,iVBORw==""#).expect("read should succeed"), image);
    assert_eq!(read(r#""iVBORw==""#).expect("read should succeed"), Image::new("", &b"\x89PNG"[..]));
    for json in [r#""data:image/png,abc""#, r#""data:image/png;base64""#, r#""?""#, "7", "[]", r#"{"data":7}"#] {
        assert!(read(json).is_err(), "{json}");
    }
}

proptest! {
    #[test]
    fn no_json_makes_reader_panic(text in "[\\[\\]{}\",:0-9.eEtruefalsn -]{0,60}") {
        let _ = from_json::<Tensor>(text.as_bytes());
    }

    #[test]
    fn numbers_survive_in_lists_and_in_base_64(numbers: Vec<f64>) {
        let numbers: Vec<f64> = numbers.into_iter().filter(|number| number.is_finite()).collect();
        let text = format!("[{}]", numbers.iter().map(|number| format!("{number:e}")).collect::<Vec<_>>().join(","));
        let from_lists = read(&text);
        prop_assert_eq!(from_lists.to_vec::<f64>().expect("value should be valid"), numbers);
        let mut out = Vec::new();
        to_json(&from_lists, &mut out).expect("message should have a JSON form");
        prop_assert_eq!(from_json::<Tensor>(&out).expect("text should be a valid message"), from_lists);
    }
}

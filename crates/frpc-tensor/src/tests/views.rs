//! Tests of data as numbers, and of messages as bytes.

use std::borrow::Cow;

use bytes::Bytes;
use frpc_tensor::{DIMENSIONS_MAX, Dtype, Element, ElementType, Image, ImageView, Tensor, TensorError, TensorView};
use polyglot::{Decoder, Encoder, Root};
use prost::Message as _;

fn tensor(dtype: &str, shape: &[u32], data: impl Into<Bytes>) -> Tensor {
    Tensor { dtype: dtype.to_owned(), shape: shape.to_vec(), data: data.into() }
}

/// Returns `bytes` at an address that is `offset` bytes above a multiple of 16.
fn placed(bytes: &[u8], offset: usize) -> Bytes {
    let mut room = vec![0; bytes.len() + 32];
    let start = room.as_ptr().align_offset(16) + offset;
    room[start..start + bytes.len()].copy_from_slice(bytes);
    Bytes::from(room).slice(start..start + bytes.len())
}

#[test]
fn decoded_message_shares_body_memory() {
    let sent = Tensor::from_vec([2, 2048], vec![0.5_f32; 4096]).expect("shape should match the elements");
    let within = |body: &Bytes, read: &Tensor| body.as_ptr_range().contains(&read.data.as_ptr());

    let mut body = Vec::new();
    polyglot::encode_root(&sent, &mut Encoder::new(&mut body)).expect("value should be encodable");
    let body = Bytes::from(body);
    let Ok(Root::Message(read)) = polyglot::decode_root::<Tensor>(&mut Decoder::shared(&body)) else {
        panic!("body that was just encoded should contain a message")
    };
    assert_eq!(read, sent);
    assert!(within(&body, &read));

    let body = Bytes::from(sent.encode_to_vec());
    let read = Tensor::decode(body.clone()).expect("encoded tensor should decode");
    assert_eq!(read, sent);
    assert!(within(&body, &read));

    let image = Image::new("image/png", &b"\x89PNG\r\n\x1a\n"[..]);
    let body = Bytes::from(image.encode_to_vec());
    let read = Image::decode(body.clone()).expect("encoded image should decode");
    assert!(read == image && body.as_ptr_range().contains(&read.data.as_ptr()));
}

#[test]
fn view_borrows_from_body() {
    let sent = Tensor::from_vec([2, 2], vec![1_u8, 2, 3, 4]).expect("shape should match the elements");
    let mut body = Vec::new();
    polyglot::encode_root(&sent, &mut Encoder::new(&mut body)).expect("value should be encodable");
    let read = polyglot::view_root::<TensorView<'_>>(&mut Decoder::new(&body));
    let Ok(Root::Message(view)) = read else { panic!("body that was just encoded should contain a message") };
    assert_eq!((view.dtype, view.data), ("uint8", &[1, 2, 3, 4][..]));
    assert_eq!(view.shape.iter().collect::<Vec<_>>(), [2, 2]);
    assert!(body.as_ptr_range().contains(&view.data.as_ptr()));

    body.clear();
    polyglot::encode_root(&Image::new("image/gif", "GIF89a"), &mut Encoder::new(&mut body))
        .expect("value should be encodable");
    let read = polyglot::view_root::<ImageView<'_>>(&mut Decoder::new(&body));
    assert!(matches!(read, Ok(Root::Message(ImageView { media_type: "image/gif", data: b"GIF89a" }))));
}

#[test]
fn elements_of_vec_are_not_copied() {
    let elements = vec![1_u64, 2, 3, 4];
    let address = elements.as_ptr().cast();
    let tensor = Tensor::from_vec([4], elements).expect("shape should match the elements");
    assert_eq!(tensor.data.as_ptr(), address);
    assert_eq!(
        Tensor::from_slice([2, 2], &[1_u64, 2, 3, 4]).expect("elements should match the shape").data,
        tensor.data
    );
}

#[test]
fn view_borrows_aligned_data_or_copies() {
    let bytes: Vec<u8> = [1.5_f64, -2.0].iter().flat_map(|number| number.to_le_bytes()).collect();
    for offset in 0..16 {
        let tensor = tensor("float64", &[2], placed(&bytes, offset));
        let view = tensor.view::<f64>().expect("value should be valid");
        assert_eq!(*view, [1.5, -2.0]);
        if offset % align_of::<f64>() == 0 && cfg!(target_endian = "little") {
            assert!(matches!(view, Cow::Borrowed(_)));
            assert_eq!(tensor.as_slice::<f64>().expect("data should be aligned").as_ptr().cast(), tensor.data.as_ptr());
        } else {
            assert!(matches!(view, Cow::Owned(_)));
            assert_eq!(tensor.as_slice::<f64>(), Err(TensorError::Unaligned), "{offset}");
        }
    }
}

#[test]
fn foreign_byte_order_is_swapped_in_copy() {
    let big = tensor(">i2", &[2], placed(&[0x12, 0x34, 0xff, 0xfe], 0));
    assert_eq!(big.as_slice::<i16>(), Err(TensorError::ByteOrder));
    assert_eq!(*big.view::<i16>().expect("value should be valid"), [0x1234, -2]);
    // The byte order does not matter for elements of one byte.
    assert_eq!(tensor(">u1", &[1], &b"\x07"[..]).as_slice::<u8>(), Ok(&[7][..]));
}

#[test]
fn every_type_of_element_survives() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(elements: &[T]) {
        let count = u32::try_from(elements.len()).expect("value should fit u32");
        let tensor = Tensor::from_slice([count], elements).expect("elements should match the shape");
        assert_eq!(tensor.to_vec::<T>().expect("value should be valid"), elements);
        let dtype = Dtype { element: T::TYPE, is_big_endian: false };
        assert_eq!((tensor.dtype.as_str(), tensor.check()), (T::TYPE.name(), Ok(dtype)));
    }
    check(&[true, false]);
    check(&[i8::MIN, 1]);
    check(&[i16::MIN, 1]);
    check(&[i32::MIN, 1]);
    check(&[i64::MIN, 1]);
    check(&[u8::MAX, 1]);
    check(&[u16::MAX, 1]);
    check(&[u32::MAX, 1]);
    check(&[u64::MAX, 1]);
    check(&[f32::MIN, 0.1]);
    check(&[f64::MIN, 0.1]);
}

#[test]
fn invalid_bool_bytes_are_rejected() {
    let odd = tensor("bool", &[3], &b"\x00\x01\x02"[..]);
    assert_eq!(odd.as_slice::<bool>(), Err(TensorError::Bool));
    assert_eq!(odd.view::<bool>(), Err(TensorError::Bool));
    assert_eq!(odd.to_vec::<bool>(), Err(TensorError::Bool));
    assert_eq!(tensor("?", &[2], &b"\x00\x01"[..]).as_slice::<bool>(), Ok(&[false, true][..]));
}

#[test]
fn inconsistent_tensor_is_refused_before_reading() {
    let length = |expected, found| TensorError::Length { expected, found };
    let dimensions = vec![1; DIMENSIONS_MAX + 1];
    for (dtype, shape, data, expected) in [
        ("|O", &[1][..], &[0; 8][..], TensorError::Dtype("|O".to_owned())),
        ("int32", &[2], &[0; 7], length(Some(8), 7)),
        ("int32", &[2], &[0; 9], length(Some(8), 9)),
        ("int32", &[], &[0; 8], length(Some(4), 8)),
        ("int8", &[u32::MAX, u32::MAX, u32::MAX], &[0; 1], length(None, 1)),
        ("complex128", &[1 << 31, 1 << 30], &[0; 1], length(None, 1)),
        ("int8", &dimensions, &[0; 1], TensorError::Shape),
    ] {
        let tensor = tensor(dtype, shape, data.to_vec());
        assert_eq!(tensor.check(), Err(expected.clone()));
        assert_eq!(tensor.view::<i32>(), Err(expected.clone()));
        assert_eq!(tensor.to_npy(), Err(expected));
    }
    let other = TensorError::OtherType { expected: ElementType::Int64, found: ElementType::Float32 };
    assert_eq!(tensor("<f4", &[1], &[0; 4][..]).as_slice::<i64>(), Err(other));
}

#[test]
fn empty_tensor_allows_any_other_dimension() {
    let empty = tensor("float32", &[u32::MAX, 0, u32::MAX], Bytes::new());
    assert_eq!(empty.as_slice::<f32>(), Ok(&[][..]));
    assert_eq!(Tensor::from_vec([0], Vec::<f32>::new()).and_then(|tensor| tensor.to_vec::<f32>()), Ok(vec![]));
}

#[test]
fn data_is_left_out_of_debug_output() {
    let tensor = Tensor::from_vec([1000], vec![7_u8; 1000]).expect("shape should match the elements");
    let text = format!("{tensor:?}");
    assert_eq!(text, r#"Tensor { dtype: "uint8", shape: [1000], data: 1000 bytes }"#);
}

//! Tests of decoding.

use crate::tests::schema::{Order, Payment, order};
use frpc_json::{DecodeReason, Json, Options, Reader, from_json};

fn read(json: &str) -> Result<Order, String> {
    from_json(json.as_bytes()).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(json: &str, expected: &str) {
    assert_eq!(read(json).unwrap_err(), expected, "{json}");
}

#[test]
fn field_accepts_json_and_original_names() {
    let expected = Order { customer_id: 5, weight: 1.5, ..Order::default() };
    assert_eq!(read(r#"{"customerId":5,"@weight":1.5}"#).unwrap(), expected);
    assert_eq!(read(r#"{"weight":1.5,"customer_id":5}"#).unwrap(), expected);
    assert_eq!(read(r#"{"custom\u0065rId":5,"weight":1.5}"#).unwrap(), expected);
}

#[test]
fn white_space_may_stand_between_all_tokens() {
    let json = "\t{\n\"id\" :\r\"x\" , \"colors\" : [ \"RED\" , 7 ] , \"notes\" : { \"1\" : \"y\" } , \"parts\":[ ] } ";
    let order = read(json).unwrap();
    assert_eq!((order.id.as_str(), order.colors, order.notes[&1].as_str()), ("x", vec![0, 7], "y"));
    refused("{\u{b}}", "in `shop.Order` at byte 1: key expected, found byte 0x0b");
}

#[test]
fn null_field_is_absent_and_element_invalid() {
    let names = ["id", "customerId", "priority", "color", "colors", "signature", "parent", "parts", "notes", "cash"];
    for name in names.into_iter().chain(["total", "palette", "@weight"]) {
        assert_eq!(read(&format!("{{\"{name}\":null}}")).unwrap(), Order::default(), "{name}");
    }
    refused(r#"{"colors":[null]}"#, "in field `colors[0]` of `shop.Order` at byte 11: shop.Color expected, found `n`");
    refused(r#"{"parts":[null]}"#, "in field `parts[0]` of `shop.Order` at byte 10: object expected, found `n`");
    refused(
        r#"{"notes":{"1":null}}"#,
        "in field `notes[\"1\"]` of `shop.Order` at byte 14: string expected, found `n`",
    );
    refused("null", "in `shop.Order` at byte 0: object expected, found `n`");
    refused(r#"{"id":nul}"#, "in field `id` of `shop.Order` at byte 6: a value expected, found `n`");
}

#[test]
fn integer_forms_are_accepted_within_range() {
    for json in ["5", "\"5\"", "5.0", "\"5.00\"", "0.5e1", "50e-1", "\"5e0\"", "\"\\u0035\""] {
        assert_eq!(from_json::<i32>(json.as_bytes()).unwrap(), 5, "{json}");
        assert_eq!(from_json::<u64>(json.as_bytes()).unwrap(), 5, "{json}");
    }
    for json in
        ["", "\"\"", "05", "-", "+5", "\"+5\"", "\" 5\"", "\"5 \"", "5.5", "\"0x5\"", "1e-1", "true", "[5]", "5x"]
    {
        assert!(from_json::<i32>(json.as_bytes()).is_err(), "{json}");
        assert!(from_json::<u64>(json.as_bytes()).is_err(), "{json}");
    }
    assert_eq!(from_json::<i32>(b"-2147483648").unwrap(), i32::MIN);
    assert_eq!(from_json::<i64>(b"\"-9223372036854775808\"").unwrap(), i64::MIN);
    assert_eq!(from_json::<i64>(b"-9223372036854775808").unwrap(), i64::MIN);
    assert_eq!(from_json::<u64>(b"18446744073709551615").unwrap(), u64::MAX);
    assert_eq!(from_json::<u64>(b"1.8446744073709551615e19").unwrap(), u64::MAX);
    for json in ["2147483648", "-2147483649", "\"2147483648\"", "1e10"] {
        assert!(from_json::<i32>(json.as_bytes()).is_err(), "{json}");
    }
    assert!(from_json::<i64>(b"9223372036854775808").is_err());
    assert!(from_json::<i64>(b"-9223372036854775809").is_err());
    assert!(from_json::<u64>(b"18446744073709551616").is_err());
    assert!(from_json::<u32>(b"-1").is_err());
    assert_eq!(from_json::<u32>(b"-0").unwrap(), 0);
    refused(
        r#"{"priority": 4294967296}"#,
        "in field `priority` of `shop.Order` at byte 13: \"4294967296\" is not a valid uint32",
    );
}

#[test]
fn floats_round_once_and_stay_in_range() {
    assert_eq!(from_json::<f64>(b"0.1").unwrap(), 0.1);
    assert_eq!(from_json::<f64>(b"\"1e3\"").unwrap(), 1000.0);
    // Rounding to a double first would yield the next larger float.
    assert_eq!(from_json::<f32>(b"1.00000017881393432617187499").unwrap().to_bits(), 0x3f80_0001);
    assert!(from_json::<f64>(b"\"NaN\"").unwrap().is_nan());
    assert_eq!(from_json::<f32>(b"\"-Infinity\"").unwrap(), f32::NEG_INFINITY);
    assert_eq!(from_json::<f64>(b"1e-400").unwrap(), 0.0);
    for json in [
        "1e309",
        "-1e309",
        "\"1e309\"",
        "NaN",
        "Infinity",
        "\"inf\"",
        "\"nan\"",
        "\"+Infinity\"",
        ".5",
        "\"\"",
        "\"1 \"",
    ] {
        assert!(from_json::<f64>(json.as_bytes()).is_err(), "{json}");
    }
    assert!(from_json::<f32>(b"3.5e38").is_err());
}

#[test]
fn strings_are_unescaped_with_paired_surrogates() {
    let read = |json: &str| from_json::<String>(json.as_bytes());
    assert_eq!(read(r#""\"\\\/\b\f\n\r\t\u00e4\ud83e\udd80\u0000""#).unwrap(), "\"\\/\u{8}\u{c}\n\r\tä🦀\0");
    for (json, reason) in [
        (r#""\ud83e""#, DecodeReason::Surrogate),
        (r#""\ud83e\n""#, DecodeReason::Surrogate),
        (r#""\ud83e\ud83e""#, DecodeReason::Surrogate),
        (r#""\ud83e\u0041""#, DecodeReason::Surrogate),
        (r#""\udd80\ud83e""#, DecodeReason::Surrogate),
        (r#""\udd80""#, DecodeReason::Surrogate),
        (r#""\u00g0""#, DecodeReason::Escape),
        (r#""\u+041""#, DecodeReason::Escape),
        (r#""\u00""#, DecodeReason::Escape),
        (r#""\u00éé""#, DecodeReason::Escape),
        (r#""\x""#, DecodeReason::Escape),
        (r#""\"#, DecodeReason::Escape),
        ("\"a\nb\"", DecodeReason::ControlCharacter(b'\n')),
        ("\"a\0\"", DecodeReason::ControlCharacter(0)),
        ("\"abc", DecodeReason::Unexpected { expected: "the end of a string", found: None }),
    ] {
        assert_eq!(read(json).unwrap_err().reason(), &reason, "{json}");
    }
}

#[test]
fn utf8_error_points_to_first_bad_byte() {
    for (json, offset) in
        [(&b"{\"id\":\"ab\xff\"}"[..], 9), (b"\xef\xbb", 0), (b"{} \xc0\x80", 3), (b"{\"id\":\"\xed\xa0\x80\"}", 7)]
    {
        let error = from_json::<Order>(json).unwrap_err();
        assert_eq!((error.reason(), error.offset()), (&DecodeReason::Utf8, offset));
    }
}

#[test]
fn enum_is_decoded_by_name_or_number() {
    for (json, number) in [("\"DARK\"", -1), ("\"SCARLET\"", 0), ("-1", -1), ("7", 7), ("7.0", 7)] {
        assert_eq!(read(&format!("{{\"color\":{json}}}")).unwrap().color, number, "{json}");
    }
    refused(r#"{"color":"dark"}"#, "in field `color` of `shop.Order` at byte 9: enum shop.Color has no value \"dark\"");
    assert!(read(r#"{"color":2147483648}"#).is_err());
    assert!(read(r#"{"color":"1"}"#).is_err());
}

#[test]
fn duplicate_keys_are_rejected_under_either_name() {
    refused(r#"{"id":"a","id":"b"}"#, "in `shop.Order` at byte 15: key \"id\" occurs twice");
    refused(r#"{"customerId":1,"customer_id":1}"#, "in `shop.Order` at byte 30: key \"customerId\" occurs twice");
    assert!(read(r#"{"id":null,"id":null}"#).is_err());
    assert!(read(r#"{"notes":{"1":"","1":""}}"#).is_err());
    assert!(read(r#"{"notes":{"1":"","1.0":""}}"#).is_err());
    assert!(read(r#"{"palette":{"a":7,"\u0061":7}}"#).is_err());
}

#[test]
fn oneof_rejects_two_members_and_ignores_null() {
    assert!(read(r#"{"cash":true,"cardNumber":"1"}"#).unwrap_err().contains("another member of the same oneof"));
    let card = Some(Payment::CardNumber("1".to_owned()));
    assert_eq!(read(r#"{"cash":null,"cardNumber":"1"}"#).unwrap().payment, card);
    assert_eq!(read(r#"{"cardNumber":"1","cash":null}"#).unwrap().payment, card);
}

#[test]
fn unknown_fields_and_names_follow_option() {
    let json = r#"{"new":{"a":[1,{"b":"\u0041"},null,true,false,-1.5e3]},"color":"NEW","colors":["NEW","RED"],"palette":{"x":"NEW","y":"DARK"},"id":"x"}"#;
    refused(json, "in `shop.Order` at byte 7: `shop.Order` has no field \"new\"");
    let order: Order = Options::new().ignore_unknown(true).decode(json.as_bytes()).unwrap();
    assert_eq!((order.id.as_str(), order.color, order.colors), ("x", 0, vec![0]));
    assert_eq!(order.palette.into_iter().collect::<Vec<_>>(), [("y".to_owned(), -1)]);
    // Ignored values must still be valid JSON.
    for bad in
        ["{", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "01", "\"\\x\"", "tru", "[1 2]", "\"\\ud800\"", "{,}", "'a'", ""]
    {
        let json = format!("{{\"new\":{bad}}}");
        assert!(Options::new().ignore_unknown(true).decode::<Order>(json.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn input_that_is_not_json_is_refused() {
    for json in [
        "",
        " ",
        "{",
        "}",
        "{}}",
        "{} {}",
        "[]",
        "\"\"",
        "{\"id\"}",
        "{\"id\":}",
        "{\"id\":\"x\",}",
        "{,}",
        "{id:\"x\"}",
        "{\"id\" \"x\"}",
        "{\"id\":\"x\" \"total\":1}",
        "{\"colors\":[1,]}",
        "{\"colors\":[1 2]}",
        "{\"colors\":[,1]}",
        "{\"colors\":[1",
        "{\"colors\":{}}",
        "{\"notes\":[]}",
        "{\"parent\":[]}",
        "{'id':'x'}",
        "{\"cash\":tru}",
        "{\"cash\":\"true\"}",
        "{\"cash\":1}",
        "// comment\n{}",
        "{\"signature\":\"*\"}",
        "{\"notes\":{\"x\":\"\"}}",
    ] {
        assert!(read(json).is_err(), "{json}");
    }
}

#[test]
fn every_prefix_of_message_is_refused() {
    let mut json = Vec::new();
    frpc_json::to_json(&order(), &mut json).unwrap();
    for length in 0..json.len() {
        assert!(from_json::<Order>(&json[..length]).is_err(), "{length}");
    }
}

#[test]
fn positional_fields_follow_declaration_order() {
    let read = |json: &str| {
        let mut order = Order::default();
        let mut reader = Reader::new(json.as_bytes(), &Options::new()).unwrap();
        let result = order.decode_positional(&mut reader).and_then(|()| reader.end());
        result.map(|()| order).map_err(|error| error.to_string())
    };
    assert_eq!(read("[]"), Ok(Order::default()));
    let expected = Order { id: "x".to_owned(), customer_id: 5, color: -1, ..Order::default() };
    assert_eq!(read(r#"["x", "5", null, "DARK"]"#), Ok(expected));
    assert_eq!(read(r#"["x", true]"#).unwrap_err(), "in field `customerId` at byte 6: int64 expected, found `t`");
    let nulls = |count: usize| format!("[{}]", vec!["null"; count].join(","));
    assert_eq!(read(&nulls(15)), Ok(Order::default()));
    assert_eq!(read(&nulls(16)).unwrap_err(), "at byte 76: `shop.Order` has 15 fields only");
}

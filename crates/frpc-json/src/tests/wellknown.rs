//! Tests of the well-known types in `prost-types`.

use frpc_json::{DecodeReason, EncodeReason, Json, Options, Types, from_json, to_json};
use prost::Message as _;
use prost_types::value::Kind;
use prost_types::{Any, Duration, FieldMask, ListValue, Struct, Timestamp, Value};

fn json<M: Json>(message: &M) -> String {
    let mut out = Vec::new();
    to_json(message, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn value(kind: Kind) -> Value {
    Value { kind: Some(kind) }
}

#[test]
fn times_use_fewest_fraction_digit_groups() {
    for (seconds, nanos, expected) in [
        (0, 0, "1970-01-01T00:00:00Z"),
        (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
        (951_782_400, 120_000_000, "2000-02-29T00:00:00.120Z"),
        (253_402_300_799, 1_000, "9999-12-31T23:59:59.000001Z"),
        (-62_135_596_800, 0, "0001-01-01T00:00:00Z"),
    ] {
        let timestamp = Timestamp { seconds, nanos };
        assert_eq!(json(&timestamp), format!("\"{expected}\""));
        assert_eq!(from_json::<Timestamp>(json(&timestamp).as_bytes()).unwrap(), timestamp);
    }
    for (seconds, nanos, expected) in
        [(0, 0, "0s"), (0, -500_000_000, "-0.500s"), (-3, -1, "-3.000000001s"), (315_576_000_000, 0, "315576000000s")]
    {
        let duration = Duration { seconds, nanos };
        assert_eq!(json(&duration), format!("\"{expected}\""));
        assert_eq!(from_json::<Duration>(json(&duration).as_bytes()).unwrap(), duration);
    }
}

#[test]
fn times_out_of_range_are_not_written() {
    for (seconds, nanos) in [(253_402_300_800, 0), (-62_135_596_801, 0), (0, -1), (0, 1_000_000_000), (i64::MAX, 0)] {
        let error = to_json(&Timestamp { seconds, nanos }, &mut Vec::new()).unwrap_err();
        assert!(
            matches!(error.reason(), EncodeReason::Refused(reason) if reason.contains("years 1 to 9999")),
            "{error}"
        );
    }
    for (seconds, nanos) in [(315_576_000_001, 0), (1, -1), (-1, 1), (0, 1_000_000_000), (i64::MIN, 0), (0, i32::MIN)] {
        let error = to_json(&Duration { seconds, nanos }, &mut Vec::new()).unwrap_err();
        assert!(matches!(error.reason(), EncodeReason::Refused(reason) if reason.contains("too long")), "{error}");
    }
}

#[test]
fn field_mask_is_one_string() {
    let mask = FieldMask { paths: vec!["user.display_name".to_owned(), "photo".to_owned()] };
    assert_eq!(json(&mask), "\"user.displayName,photo\"");
    assert_eq!(from_json::<FieldMask>(json(&mask).as_bytes()).unwrap(), mask);
    assert_eq!(from_json::<FieldMask>(b"\"\"").unwrap(), FieldMask::default());
    assert!(from_json::<FieldMask>(b"\"a,,b\"").is_err());
    assert!(to_json(&FieldMask { paths: vec!["fooBar".to_owned()] }, &mut Vec::new()).is_err());
}

#[test]
fn value_is_encoded_as_plain_json() {
    let text = r#"{"a":[null,1.5,"x",true,{}],"b":{"c":[]}}"#;
    let read: Value = from_json(text.as_bytes()).unwrap();
    assert_eq!(json(&read), text);
    assert_eq!(json(&from_json::<Struct>(text.as_bytes()).unwrap()), text);
    assert_eq!(from_json::<Value>(b"null").unwrap(), value(Kind::NullValue(0)));
    assert_eq!(json(&from_json::<ListValue>(b"[ [ ] ]").unwrap()), "[[]]");
    for bad in [&b"{\"a\":1,\"a\":2}"[..], b"1e999", b"[1,]", b"nul", b""] {
        assert!(from_json::<Value>(bad).is_err());
    }
    assert!(from_json::<Struct>(b"null").is_err());
    assert!(from_json::<ListValue>(b"null").is_err());
}

#[test]
fn values_without_json_are_not_written() {
    let error = to_json(&value(Kind::NumberValue(f64::NAN)), &mut Vec::new()).unwrap_err();
    assert!(matches!(error.reason(), EncodeReason::Refused(reason) if reason.ends_with("not finite")), "{error}");
    let list = ListValue { values: vec![value(Kind::BoolValue(true)), Value::default()] };
    let error = to_json(&list, &mut Vec::new()).unwrap_err();
    assert!(matches!(error.reason(), EncodeReason::Refused(reason) if reason.ends_with("without a kind")), "{error}");
    assert_eq!(error.field(), "[1]");
}

#[test]
fn value_nesting_limit_matches_binary_form() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(from_json::<Value>(nested(50).as_bytes()).is_ok());
    let error = from_json::<Value>(nested(51).as_bytes()).unwrap_err();
    assert_eq!(error.reason(), &DecodeReason::NestingTooDeep { max: 100 });
    let read: Value = from_json(nested(50).as_bytes()).unwrap();
    assert_eq!(<Value as prost::Message>::decode(&prost::Message::encode_to_vec(&read)[..]).unwrap(), read);
}

/// Decodes an `Any` with all well-known types and encodes it again.
fn any(text: &str) -> Result<String, String> {
    let types = Types::well_known();
    let options = Options::new().types(&types);
    let any: Any = options.decode(text.as_bytes()).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    options.encode(&any, &mut out).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn any_is_read_with_type_at_any_position() {
    for (text, again) in [
        ("{}", "{}"),
        (r#"{"@type":"a/google.protobuf.Duration","value":"1s"}"#, ""),
        (
            r#"{"value":"1s", "@type":"a/google.protobuf.Duration"}"#,
            r#"{"@type":"a/google.protobuf.Duration","value":"1s"}"#,
        ),
        (r#"{"@type":"a/google.protobuf.Int64Value","value":"5"}"#, ""),
        // prost omits negative zeros.
        (r#"{"@type":"a/google.protobuf.FloatValue","value":-0}"#, ""),
        (r#"{"@type":"a/google.protobuf.DoubleValue","value":-0}"#, ""),
        (r#"{"@type":"a/google.protobuf.Struct","value":{"@type":1,"value":[null]}}"#, ""),
        (r#"{"@type":"a/google.protobuf.Value","value":null}"#, ""),
        (r#"{"@type":"a/google.protobuf.SourceContext","fileName":"x"}"#, ""),
        (
            r#"{"file_name":"x","@type":"a/google.protobuf.SourceContext"}"#,
            r#"{"@type":"a/google.protobuf.SourceContext","fileName":"x"}"#,
        ),
        (r#"{"@type":"a/google.protobuf.SourceContext"}"#, ""),
        (r#"{"@type":"a/google.protobuf.Any","value":{"@type":"a/google.protobuf.BoolValue","value":true}}"#, ""),
        (r#"{"@type":"a/google.protobuf.Any","value":{}}"#, ""),
        (r#"{"@type":"a/google.protobuf.Empty"}"#, r#"{"@type":"a/google.protobuf.Empty","value":{}}"#),
        (r#"{"@type":"a/google.protobuf.Empty","value":{}}"#, ""),
    ] {
        let expected = if again.is_empty() { text } else { again };
        assert_eq!(any(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn any_rejects_unknown_types_and_keys() {
    for (text, expected) in [
        (r#"{"value":1}"#, "an Any without"),
        (r#"{"@type":"a/b.C","x":1}"#, "at byte 9: type \"a/b.C\" of an Any is not known"),
        (r#"{"@type":"google.protobuf.Duration","value":"1s"}"#, "is not known"),
        (r#"{"@type":7}"#, "URL of a type expected"),
        (r#"{"@type":"a/google.protobuf.Duration"}"#, "\"value\" expected"),
        (r#"{"@type":"a/google.protobuf.Duration","value":"1s","x":1}"#, "has no field \"x\""),
        (r#"{"@type":"a/google.protobuf.Duration","value":"1s","value":"1s"}"#, "occurs twice"),
        (r#"{"@type":"a/google.protobuf.Duration","value":"1s","@type":""}"#, "occurs twice"),
        (r#"{"@type":"a/google.protobuf.SourceContext","x":1}"#, "has no field \"x\""),
        (r#"{"@type":"a/google.protobuf.SourceContext","@type":1}"#, "has no field \"@type\""),
        (r#"{"@type":"a/google.protobuf.Any","value":{"@type":"x"}}"#, "is not known"),
    ] {
        let error = any(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    assert!(from_json::<Any>(br#"{"@type":"a/google.protobuf.Duration","value":"1s"}"#).is_err());
    let bad = Any { type_url: "a/google.protobuf.Duration".to_owned(), value: vec![0xff] };
    let types = Types::well_known();
    let error = Options::new().types(&types).encode(&bad, &mut Vec::new()).unwrap_err();
    assert!(matches!(error.reason(), EncodeReason::Refused(reason) if reason.starts_with("content of")), "{error}");
}

/// Regression test: each level retained a copy of all inner ones, which took a hundred times the memory of the
/// message.
#[test]
fn any_within_any_takes_bounded_memory() {
    let types = Types::well_known();
    let encoded = |levels: usize| {
        let text =
            Any { type_url: "a/google.protobuf.StringValue".to_owned(), value: "x".repeat(1000).encode_to_vec() };
        let any = (0..levels).fold(text, |within, _| Any {
            type_url: "a/google.protobuf.Any".to_owned(),
            value: within.encode_to_vec(),
        });
        Options::new().types(&types).container_memory(10_000).encode(&any, &mut Vec::new())
    };
    assert!(encoded(5).is_ok());
    assert!(matches!(encoded(20).unwrap_err().reason(), EncodeReason::ContainerMemory { .. }));
}

#[test]
fn type_key_is_unknown_outside_any() {
    #[allow(deprecated)]
    let error = from_json::<prost_types::SourceContext>(br#"{"@type":"x"}"#).unwrap_err();
    assert!(matches!(error.reason(), DecodeReason::UnknownField { .. }), "{error}");
}

#[test]
fn any_with_late_type_is_bounded() {
    let types = Types::well_known();
    let options = Options::new().types(&types).nesting_max(200);
    let nested = |levels: usize, inner: &str| {
        let close = ",\"@type\":\"a/google.protobuf.Any\"}".repeat(levels);
        format!("{}{inner}{close}", "{\"value\":".repeat(levels))
    };
    assert!(options.decode::<Any>(nested(6, "{}").as_bytes()).is_ok());
    let long = format!("{{\"value\":\"{}\",\"@type\":\"a/google.protobuf.StringValue\"}}", "x".repeat(100_000));
    assert!(options.decode::<Any>(nested(5, &long).as_bytes()).is_ok());
    let error = options.decode::<Any>(nested(50, &long).as_bytes()).unwrap_err();
    assert_eq!(error.reason(), &DecodeReason::TypeTooFar);
}

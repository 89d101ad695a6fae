//! Tests that random values of every message survive JSON, in builds with either codec, and that names and formats are
//! those of the JSON mapping.

use crate::random::{Random, pool, protobuf};
use frpc::json::{EncodeReason, Json, Options, Types, from_json, to_json};
use frpc::prost::Message;
use std::fmt::Debug;

/// Number of random values of each message type.
const VALUES: u64 = 200;

/// Encodes a value as JSON and decodes it again. Returns false if JSON cannot represent the value, such as a time out
/// of range.
#[track_caller]
fn survives<M: Json + Message + PartialEq + Debug>(bytes: &[u8]) -> bool {
    let types = Types::well_known();
    let options = Options::new().types(&types).nesting_max(200);
    let message = M::decode(bytes).unwrap();
    let mut json = Vec::new();
    if let Err(error) = options.encode(&message, &mut json) {
        let is_expected = match error.reason() {
            EncodeReason::Refused(reason) => !reason.starts_with("content of an Any"),
            reason => matches!(reason, EncodeReason::UnknownType(_)),
        };
        assert!(is_expected, "error {error} is unexpected for {message:?}");
        return false;
    }
    let text = String::from_utf8(json).unwrap();
    let back = options.decode::<M>(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(back, message, "{text}");
    true
}

/// Converts random values of the listed messages to JSON and back. At least the given percentage of them must have a
/// JSON representation.
macro_rules! survive {
    ($percent:literal, $pool:expr, $package:literal, $($module:ident)::+, $($message:ident)*) => {{
        use schema_tests::$($module)::+ as module;
        $(
            let name = concat!($package, ".", stringify!($message));
            let descriptor = $pool.get_message_by_name(name).unwrap();
            let values = (0..VALUES).map(|seed| protobuf(&descriptor, &mut Random::new(seed)));
            let survived = values.filter(|bytes| survives::<module::$message>(bytes)).count();
            assert!(survived * 100 >= VALUES as usize * $percent, "{name}: {survived}");
        )*
    }};
}

#[test]
fn scalars_maps_and_enums_survive_json() {
    let pool = pool(&["scalars", "maps", "enums"], "proto");
    survive!(100, pool, "scalars", views::scalars, Singular Optional Repeated Unpacked Chosen);
    survive!(100, pool, "maps", views::maps,
        OfInt32 OfInt64 OfUint32 OfUint64 OfSint32 OfSint64 OfFixed32 OfFixed64 OfSfixed32 OfSfixed64 OfBool OfString);
    survive!(100, pool, "enums", views::enums, Outer);
}

#[test]
fn nested_and_recursive_messages_round_trip_json() {
    let pool = pool(&["nested", "recursive", "imports", "again", "names", "services"], "proto");
    survive!(100, pool, "nested", views::nested, A);
    survive!(100, pool, "recursive", views::recursive, List Tree Ping Pong Term Sum);
    survive!(50, pool, "imports.deep.v1", views::imports::deep::v1, Uses);
    survive!(50, pool, "imports", views::imports, Again);
    survive!(100, pool, "names", views::names,
        Keywords KeywordChoice KeywordEnum KeywordMessages Locals LocalChoice Inner);
    survive!(100, pool, "services", views::services, Bulk Empty);
}

#[test]
fn messages_of_protobuf_codec_survive_json() {
    let pool = pool(&["scalars", "maps", "enums", "nested", "recursive", "names"], "proto");
    survive!(100, pool, "scalars", protobuf::scalars, Singular Optional Repeated Chosen);
    survive!(100, pool, "maps", protobuf::maps, OfInt32 OfBool OfString);
    survive!(100, pool, "enums", protobuf::enums, Outer);
    survive!(100, pool, "nested", protobuf::nested, A);
    survive!(100, pool, "recursive", protobuf::recursive, List Tree Ping Pong Term Sum);
    survive!(100, pool, "names", protobuf::names, Keywords Locals LocalChoice Inner);
}

/// A message with all well-known types, in the JSON mapping of proto3.
const WELL_KNOWN: &str = r#"{"fAny":{"@type":"x/google.protobuf.Duration","value":"1s"},"fDuration":"-1.500s","fEmpty":{},"fFieldMask":"a,bC","fListValue":[null,[]],"fSourceContext":{"fileName":"x"},"fStruct":{"a":null},"fTimestamp":"1970-01-01T00:00:00Z","fValue":null,"fDoubleValue":"NaN","fFloatValue":0,"fInt64Value":"1","fUInt64Value":"1","fInt32Value":1,"fUInt32Value":1,"fBoolValue":false,"fStringValue":"","fBytesValue":""}"#;

#[test]
fn well_known_types_round_trip_json() {
    fn check<M: Json>() {
        let types = Types::well_known();
        let options = Options::new().types(&types);
        let message: M = options.decode(WELL_KNOWN.as_bytes()).unwrap();
        let mut again = Vec::new();
        options.encode(&message, &mut again).unwrap();
        assert_eq!(String::from_utf8(again).unwrap(), WELL_KNOWN);
    }
    check::<schema_tests::views::wellknown::Singular>();
    check::<schema_tests::views::wellknown::Optional>();
    check::<schema_tests::protobuf::wellknown::Singular>();
    check::<schema_tests::compiled::wellknown::Singular>();
    check::<schema_tests::compiled::wellknown::Optional>();
}

#[test]
fn json_null_decodes_only_as_value_types() {
    use schema_tests::views::wellknown::{Chosen, Optional, Repeated, chosen::Choice};
    let optional: Optional = from_json(br#"{"fNullValue":null,"fInt32Value":null}"#).unwrap();
    assert_eq!((optional.f_null_value, optional.f_int32_value), (Some(0), None));
    let repeated: Repeated = from_json(br#"{"fNullValue":[null,"NULL_VALUE",0],"fValue":[null]}"#).unwrap();
    assert_eq!((repeated.f_null_value.len(), repeated.f_value.len()), (3, 1));
    from_json::<Repeated>(br#"{"fInt32Value":[null]}"#).unwrap_err();
    let chosen: Chosen = from_json(br#"{"cInt32Value":null,"cNullValue":null}"#).unwrap();
    assert_eq!(chosen.choice, Some(Choice::CNullValue(0)));
    let mut out = Vec::new();
    to_json(&chosen, &mut out).unwrap();
    assert_eq!(out, br#"{"cNullValue":null}"#);
}

#[test]
fn boxed_and_shared_fields_survive_json() {
    let pool = pool(&["options"], "proto");
    survive!(100, pool, "options", options, Chunk Page Part Copied);
    survive!(100, pool, "options", enclosed, Chunk Page Part Copied);
    survive!(5, pool, "options", options, Holder);
    survive!(5, pool, "options", enclosed, Holder);
}

#[test]
fn keyword_field_names_round_trip_json() {
    use schema_tests::views::names::Keywords;
    let read: Keywords = from_json(br#"{"self":1,"type":2,"super":3}"#).unwrap();
    assert_eq!((read.self_, read.r#type, read.super_), (1, 2, 3));
    let mut out = Vec::new();
    to_json(&read, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), r#"{"self":1,"super":3,"type":2}"#);
}

//! Tests of the JSON of dynamic messages in special cases. `tests/conformance` compares the JSON of ordinary messages
//! with that of generated code.

use frpc_dynamic::{
    Body, Codec, DescriptorPool, DynamicMessage, JsonError, MessageDescriptor, from_json, from_json_positional,
    to_json, to_json_pretty,
};
use polyglot::{Decoder, Encoder, Kind, Message as _, Root};
use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::{Any, FileDescriptorSet};

const SCHEMA: &str = r#"
syntax = "proto3";
package shop;
import "google/protobuf/any.proto";
import "google/protobuf/wrappers.proto";
message Order {
  string name = 1;
  float price = 2;
  map<int32, string> parts = 3;
  google.protobuf.Any any = 4;
  google.protobuf.DoubleValue weight = 5;
  oneof paid { bool cash = 6; string card = 7; }
  repeated Order orders = 8;
}
"#;

/// A schema with other messages that have the names of well-known types. A hostile server could send such a schema.
const STRANGE: &str = r#"
syntax = "proto3";
package google.protobuf;
message Timestamp { string seconds = 1; repeated int32 nanos = 2; }
message Any { int32 type_url = 1; }
message Value { map<string, Value> fields = 1; }
message DoubleValue { Timestamp value = 1; }
"#;

fn message(schema: &str, name: &str) -> MessageDescriptor {
    let mut resolver = protox::file::ChainFileResolver::new();
    resolver.add(protox::file::GoogleFileResolver::new());
    let mut set = FileDescriptorSet::default();
    let file = protox::file::File::from_source("schema.proto", schema).unwrap();
    let file = prost_reflect::prost_types::FileDescriptorProto::clone(file.file_descriptor_proto());
    for import in &file.dependency {
        set.file.push(protox::file::FileResolver::open_file(&resolver, import).unwrap().into());
    }
    set.file.push(file);
    DescriptorPool::from_file_descriptor_set(set).unwrap().get_message_by_name(name).unwrap()
}

fn order(json: &str) -> Result<DynamicMessage, JsonError> {
    from_json(&message(SCHEMA, "shop.Order"), json.as_bytes())
}

fn refusal(json: &str) -> String {
    order(json).unwrap_err().to_string()
}

/// Regression test: a message of two bytes may have a type with many fields. Decoding it took time for each of them and
/// produced their defaults for native peers, but none of this counted as memory.
#[test]
fn messages_with_many_fields_count_as_memory() {
    let fields: String = (1..=1000).map(|number| format!("double f{number} = {number};")).collect();
    let schema = format!("syntax = \"proto3\"; message Wide {{ {fields} }} message List {{ repeated Wide all = 1; }}");
    let list = message(&schema, "List");
    let codec = Codec::new().with_memory_max(64 << 20);
    let native = |count| {
        let mut body = Vec::new();
        let mut to = Encoder::new(&mut body);
        to.message_head();
        to.list(Kind::Any, count).unwrap();
        (0..count).for_each(|_| to.nil());
        codec.decode(&list, &mut Decoder::new(&body)).map(drop).map_err(|error| error.to_string())
    };
    let protobuf = |count| {
        let read = codec.decode_protobuf(&list, &[0x0a, 0].repeat(count)).map_err(|error| error.to_string())?;
        assert!(codec.body(&read).unwrap().as_bytes().len() < 64 << 20);
        Ok(())
    };
    let json = |count: usize| {
        let text = format!("{{\"all\":[{{}}{}]}}", ",{}".repeat(count));
        from_json(&list, text.as_bytes()).map(drop).map_err(|error| error.to_string())
    };
    let readers: [&dyn Fn(usize) -> Result<(), String>; 3] = [&native, &protobuf, &json];
    for read in readers {
        assert_eq!(read(1_000), Ok(()));
        assert!(read(10_000).unwrap_err().contains("memory"));
    }
}

#[test]
fn json_round_trips_with_sorted_map_keys() {
    for json in [
        r#"{"name":"Emma","price":-0,"parts":{"-1":"a","2":"b","10":"c"}}"#,
        r#"{"price":3.4028235e+38,"weight":"NaN","cash":false}"#,
        r#"{"any":{},"orders":[{},{"card":""}]}"#,
        r#"{"any":{"@type":"x/shop.Order","name":"Emma","any":{"@type":"x/google.protobuf.Empty","value":{}}}}"#,
        r#"{"any":{"@type":"x/google.protobuf.Duration","value":"1.500s"}}"#,
    ] {
        assert_eq!(to_json(&order(json).unwrap()).unwrap(), json);
    }
}

#[test]
fn dynamic_json_errors_match_generated_code() {
    assert_eq!(
        refusal(r#"{"orders":[{},{"prize":1}]}"#),
        "in field `orders[1]` of `shop.Order` at byte 23: `shop.Order` has no field \"prize\""
    );
    assert!(refusal(r#"{"name":"a","name":"b"}"#).contains("key \"name\" occurs twice"));
    assert!(refusal(r#"{"parts":{"1":"a","1":"b"}}"#).contains("key \"1\" occurs twice"));
    assert!(refusal(r#"{"cash":true,"card":"x"}"#).contains("another member of the same oneof is set"));
    assert!(
        refusal(r#"{"any":{"@type":"x/shop.Stranger"}}"#).contains("type \"x/shop.Stranger\" of an Any is not known")
    );
    assert!(refusal(r#"{"any":{"@type":"x/.shop.Order"}}"#).contains("type \"x/.shop.Order\" of an Any is not known"));
    assert!(refusal(r#"{"any":{"name":"no type"}}"#).contains("an Any without \"@type\""));
    assert!(refusal(r#"{"orders":[null]}"#).contains("expected"));
    assert!(refusal("{} {}").contains("the end of the input expected"));
}

/// Regression test: the values in an array were assigned to fields in the order of the field numbers instead of the
/// order of declaration.
#[test]
fn positional_values_follow_declaration_of_fields() {
    let schema = "syntax = \"proto3\"; message Transfer { string to = 3; string from = 1; optional int32 amount = 2; }";
    let read = from_json_positional(&message(schema, "Transfer"), br#"["Ada", "Alan", 7]"#).unwrap();
    assert_eq!(to_json(&read).unwrap(), r#"{"to":"Ada","from":"Alan","amount":7}"#);
    for (name, params, json) in [("Empty", "[]", "{}"), ("ListValue", "[1]", "[1]")] {
        let of = DescriptorPool::global().get_message_by_name(&format!("google.protobuf.{name}")).unwrap();
        assert_eq!(to_json(&from_json_positional(&of, params.as_bytes()).unwrap()).unwrap(), json);
    }
}

/// Regression test: the decoded content of an `Any` could use an unlimited amount of memory.
#[test]
fn contents_of_any_take_bounded_memory() {
    let any = message(SCHEMA, "shop.Order").parent_pool().get_message_by_name("google.protobuf.Any").unwrap();
    let written = |count| {
        let any_bytes =
            Any { type_url: "x/shop.Order".into(), value: [0x42, 2, 0x0a, 0].repeat(count) }.encode_to_vec();
        to_json(&Codec::new().decode_protobuf(&any, &any_bytes).unwrap()).map_err(|error| error.to_string())
    };
    assert_eq!(written(1).unwrap(), r#"{"@type":"x/shop.Order","orders":[{}]}"#);
    assert!(written(500_000).unwrap_err().contains("memory"));
}

#[test]
fn absent_negative_zero_default_is_omitted() {
    let schema = "syntax = \"proto2\"; message M { optional double x = 1 [default = -0.0]; }";
    assert_eq!(to_json(&DynamicMessage::new(message(schema, "M"))).unwrap(), "{}");
}

/// Regression test: a message of a few bytes could become a JSON text of unlimited length, because the schema contained
/// long names of fields and enum values.
#[test]
fn names_in_json_take_bounded_memory() {
    let long = "a".repeat(1 << 20);
    let list = "message List { repeated M all = 1; repeated E enums = 2; }";
    let schema = format!("syntax = \"proto3\"; enum E {{ {long} = 0; }} message M {{ int32 {long} = 1; }} {list}");
    let list = message(&schema, "List");
    for part in [&[0x0a, 2, 8, 1][..], &[0x10, 0]] {
        let read = |count| Codec::new().decode_protobuf(&list, &part.repeat(count)).unwrap();
        assert!(to_json(&read(1)).unwrap().len() > 1 << 20);
        assert!(to_json(&read(300)).unwrap_err().to_string().contains("memory"));
    }
}

/// Regression test: decoding an enum value took time in proportion to the number of values that its enum declares.
#[test]
fn enum_alias_search_is_bounded() {
    let values: String = (0..100_000).map(|number| format!("V{number} = {number};")).collect();
    let list = "message List { repeated E enums = 1; }";
    let schema = format!("syntax = \"proto3\"; enum E {{ option allow_alias = true; {values} W = 0; }} {list}");
    let list = message(&schema, "List");
    let read = |count| Codec::new().decode_protobuf(&list, &[0x08, 0x9f, 0x8d, 0x06].repeat(count)).unwrap();
    assert_eq!(to_json(&read(1)).unwrap(), r#"{"enums":["V99999"]}"#);
    assert!(to_json(&read(1000)).is_err());
}

#[test]
fn too_deep_json_is_rejected_early() {
    let deep = |levels: usize| format!("{}{}", r#"{"orders":["#.repeat(levels), "]}".repeat(levels));
    assert!(order(&deep(frpc_json::NESTING_MAX as usize)).is_ok());
    assert!(refusal(&deep(frpc_json::NESTING_MAX as usize + 1)).contains("nest deeper than 100"));
    assert!(refusal(&deep(1_000_000)).contains("nest deeper than 100"));
}

#[test]
fn fake_well_known_types_are_plain_objects() {
    let time = message(STRANGE, "google.protobuf.Timestamp");
    let json = r#"{"seconds":"now","nanos":[1,2]}"#;
    assert_eq!(to_json(&from_json(&time, json.as_bytes()).unwrap()).unwrap(), json);
    assert!(from_json(&time, br#""2020-01-01T00:00:00Z""#).is_err());
    for (name, json) in [
        ("Any", r#"{"typeUrl":7}"#),
        ("Value", r#"{"fields":{"a":{"fields":{"b":{}}}}}"#),
        ("DoubleValue", r#"{"value":{"seconds":"x"}}"#),
    ] {
        let descriptor = message(STRANGE, &format!("google.protobuf.{name}"));
        assert_eq!(to_json(&from_json(&descriptor, json.as_bytes()).unwrap()).unwrap(), json);
    }
}

#[test]
fn pretty_json_has_same_content() {
    let message = order(r#"{"name":"a: {b}","parts":{"1":"x"},"orders":[{}]}"#).unwrap();
    let pretty = to_json_pretty(&message).unwrap();
    assert_eq!(
        pretty,
        "{\n  \"name\": \"a: {b}\",\n  \"parts\": {\n    \"1\": \"x\"\n  },\n  \"orders\": [\n    {}\n  ]\n}"
    );
    assert_eq!(to_json(&order(&pretty).unwrap()).unwrap(), to_json(&message).unwrap());
}

/// Regression test: this crate decoded an empty body as a message with default values, whereas generated code rejects
/// an empty body.
#[test]
fn empty_body_is_no_message() {
    let decode = |bytes| Body::decode_root(&mut Decoder::new(bytes));
    assert!(decode(&[]).unwrap_err().to_string().contains("expected"));
    assert!(matches!(decode(&[0]), Ok(Root::Message(body)) if body.as_bytes()[..] == [0]));
}

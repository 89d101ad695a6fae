//! Request parameters: `name=value`, interpreted according to the types of the schema.
//!
//! A path selects nested messages with dots, map entries with `labels.key`, and list elements with `items[0]`. A list
//! without an index is appended to. `name=@FILE` is the content of a file, and `name:=JSON` is JSON. Tensors are nested
//! lists of numbers or NumPy files.

use crate::failure::Failure;
use crate::target::read;
use crate::tensors::{TENSOR, message_from_json};
use frpc::polyglot::NESTING_CEILING;
use frpc::tensor::Tensor;
use frpc_dynamic::{DynamicMessage, MessageDescriptor, from_json};
use prost_reflect::prost::Message as _;
use prost_reflect::{FieldDescriptor, Kind, ReflectMessage as _, Value};
use std::path::Path;

/// Maximum difference between an assigned index and the length of a list. The elements in between have default values.
const INDEX_MAX: usize = 65_536;

/// Magic bytes at the start of a NumPy file.
const NPY: &[u8] = b"\x93NUMPY";

/// Sets a field of a request message. The parameter is an assignment such as `name=value`.
pub(crate) fn set(message: &mut DynamicMessage, parameter: &str) -> Result<(), Failure> {
    let Some((path, value)) = parameter.split_once('=') else {
        let names = field_names(&message.descriptor());
        return Err(Failure::new(format!("{parameter:?} is neither NAME=VALUE nor JSON nor @FILE; {names}")));
    };
    let (path, argument) = match (path.strip_suffix(':'), value.strip_prefix('@')) {
        (Some(path), _) => (path, ParameterValue::Json(value.to_owned())),
        (None, Some(text)) if text.starts_with('@') => (path, ParameterValue::Text(text.to_owned())),
        (None, Some(file)) => (path, ParameterValue::File(read(Path::new(file))?)),
        (None, None) => (path, ParameterValue::Text(value.to_owned())),
    };
    in_message(message, path, &argument, NESTING_CEILING).map_err(|text| Failure::new(format!("{parameter:?}: {text}")))
}

/// Value in a parameter of the command line: text, JSON or the content of a file.
enum ParameterValue {
    Text(String),
    File(Vec<u8>),
    Json(String),
}

/// Sets the field at a path within a message that may contain this many further levels of messages.
fn in_message(message: &mut DynamicMessage, path: &str, argument: &ParameterValue, levels: u32) -> Result<(), String> {
    let inside = levels.checked_sub(1).ok_or_else(|| format!("messages nest deeper than {NESTING_CEILING}"))?;
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (name, rest) = path.split_at(end);
    let descriptor = message.descriptor();
    let field = descriptor.get_field_by_name(name).or_else(|| descriptor.get_field_by_json_name(name));
    let field = field
        .ok_or_else(|| format!("`{}` has no field {name:?}; {}", descriptor.full_name(), field_names(&descriptor)))?;
    let is_tensor = matches!(field.kind(), Kind::Message(of) if tensor(&of, argument).is_some());
    if let (ParameterValue::Json(json), "") = (argument, rest)
        && (!is_tensor || field.is_list())
    {
        return whole(message, &field, json);
    }
    if field.is_map() {
        let kind = field.kind();
        let entry = kind.as_message().ok_or("the map has no entries")?;
        let key = rest.strip_prefix('.').or_else(|| rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')));
        let key = key.ok_or_else(|| format!("{name} is a map: write {name}.KEY=VALUE"))?;
        let of = entry.map_entry_value_field();
        // If the values of the map are messages, the path may continue after the key.
        let (key, inner) = match (of.kind(), key.split_once('.')) {
            (Kind::Message(_), Some((key, inner))) => (key, inner),
            _ => (key, ""),
        };
        let key = single(&entry.map_entry_key_field().kind(), &ParameterValue::Text(key.to_owned()))?;
        let key = key.into_map_key().ok_or("invalid type of a map key")?;
        let map = message.get_field_mut(&field).as_map_mut().ok_or("not a map")?;
        if inner.is_empty() {
            map.insert(key, single(&of.kind(), argument)?);
            return Ok(());
        }
        let value = map.entry(key).or_insert_with(|| Value::default_value(&of.kind()));
        return in_message(value.as_message_mut().ok_or("not a message")?, inner, argument, inside);
    }
    if field.is_list() {
        return in_list(message, &field, rest, argument, inside);
    }
    match rest.strip_prefix('.') {
        None if rest.is_empty() => {
            let value = single(&field.kind(), argument)?;
            message.try_set_field(&field, value).map_err(|error| error.to_string())
        }
        Some(inner) => {
            let value = message.get_field_mut(&field);
            let value = value.as_message_mut().ok_or_else(|| format!("{name} is not a message"))?;
            in_message(value, inner, argument, inside)
        }
        None => Err(format!("{name} is not a list")),
    }
}

fn in_list(
    message: &mut DynamicMessage,
    field: &FieldDescriptor,
    rest: &str,
    argument: &ParameterValue,
    levels: u32,
) -> Result<(), String> {
    let list = message.get_field_mut(field).as_list_mut().ok_or("not a list")?;
    if rest.is_empty() {
        list.push(single(&field.kind(), argument)?);
        return Ok(());
    }
    let indexed = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (index, inner) = indexed.ok_or_else(|| format!("{0} is a list: write {0}[INDEX]", field.name()))?;
    let index: usize = index.parse().map_err(|_| format!("invalid index {index:?}"))?;
    if index > list.len().saturating_add(INDEX_MAX) {
        return Err(format!("the index {index} is far beyond the end of the list"));
    }
    while list.len() <= index {
        list.push(Value::default_value(&field.kind()));
    }
    let element = list.get_mut(index).ok_or("not in the list")?;
    match inner.strip_prefix('.') {
        Some(inner) => {
            in_message(element.as_message_mut().ok_or("its elements are not messages")?, inner, argument, levels)
        }
        None if inner.is_empty() => {
            *element = single(&field.kind(), argument)?;
            Ok(())
        }
        None => Err(format!("{inner:?} cannot follow an index: write {0}[INDEX] or {0}[INDEX].NAME", field.name())),
    }
}

/// Messages of `google.protobuf` whose JSON form is not an object with their fields.
const OWN_FORMS: [&str; 16] = [
    "Any",
    "BoolValue",
    "BytesValue",
    "DoubleValue",
    "Duration",
    "FieldMask",
    "FloatValue",
    "Int32Value",
    "Int64Value",
    "ListValue",
    "StringValue",
    "Struct",
    "Timestamp",
    "UInt32Value",
    "UInt64Value",
    "Value",
];

/// Sets a field to a JSON value. The field may also be a list or a map.
fn whole(message: &mut DynamicMessage, field: &FieldDescriptor, json: &str) -> Result<(), String> {
    // Otherwise the text could end the value and set other fields, which would be ignored.
    serde_json::from_str::<serde::de::IgnoredAny>(json).map_err(|error| format!("not a JSON value: {error}"))?;
    let descriptor = message.descriptor();
    if descriptor.full_name().strip_prefix("google.protobuf.").is_some_and(|name| OWN_FORMS.contains(&name)) {
        let text = "has a JSON form of its own: write the JSON of the whole message after `:=`";
        return Err(format!("{} {text}", descriptor.full_name()));
    }
    let name = serde_json::Value::from(field.json_name());
    let read = message_from_json(&message.descriptor(), &format!("{{{name}:{json}}}"))?;
    match read.get_field(field).into_owned() {
        _ if field.supports_presence() && !read.has_field(field) => message.clear_field(field),
        value => message.set_field(field, value),
    }
    Ok(())
}

/// Parses the value of a field that is neither a list nor a map.
fn single(kind: &Kind, argument: &ParameterValue) -> Result<Value, String> {
    if let Kind::Message(descriptor) = kind
        && let Some(tensor) = tensor(descriptor, argument)
    {
        return tensor.map(Value::Message);
    }
    let text = match (argument, kind) {
        (ParameterValue::Json(_), _) => return Err("JSON is for whole fields: write NAME:=JSON".to_owned()),
        (ParameterValue::File(content), Kind::Bytes) => return Ok(Value::Bytes(content.clone().into())),
        (ParameterValue::File(content), _) => {
            let text = std::str::from_utf8(content).map_err(|_| "the file is not text in UTF-8".to_owned())?;
            // Trim numbers, because editors append a line feed to files.
            if matches!(kind, Kind::String) { text } else { text.trim_end() }
        }
        (ParameterValue::Text(text), Kind::Bytes) => return Ok(Value::Bytes(text.clone().into())),
        (ParameterValue::Text(text), _) => text,
    };
    fn number<T: std::str::FromStr>(text: &str, kind: &Kind) -> Result<T, String> {
        text.parse().map_err(|_| format!("{text:?} is not a valid {kind:?}"))
    }
    let has_digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let value = match kind {
        Kind::Bool => Value::Bool(match text {
            "true" | "1" | "yes" => true,
            "false" | "0" | "no" => false,
            _ => return Err(format!("{text:?} is neither true nor false")),
        }),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(number(text, kind)?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(number(text, kind)?),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(number(text, kind)?),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(number(text, kind)?),
        Kind::Float => Value::F32(number(text, kind)?),
        Kind::Double => Value::F64(number(text, kind)?),
        Kind::String => Value::String(text.to_owned()),
        Kind::Bytes => Value::Bytes(text.to_owned().into()),
        Kind::Enum(descriptor) => Value::EnumNumber(match descriptor.get_value_by_name(text) {
            Some(value) => value.number(),
            None => text.parse().map_err(|_| {
                let names: Vec<_> = descriptor.values().map(|value| value.name().to_owned()).collect();
                format!("`{}` has no value {text:?}; it has: {}", descriptor.full_name(), names.join(", "))
            })?,
        }),
        // Accept JSON, and the text form of types such as timestamps.
        Kind::Message(descriptor) => {
            let quoted = serde_json::Value::from(text).to_string();
            let read = from_json(descriptor, text.as_bytes());
            let read = read.or_else(|error| from_json(descriptor, quoted.as_bytes()).map_err(|_| error));
            Value::Message(read.map_err(|error| format!("not a valid `{}`: {error}", descriptor.full_name()))?)
        }
    };
    // A number that is too large becomes infinite.
    match value {
        Value::F32(number) if has_digits && number.is_infinite() => Err(format!("{text} is out of range of {kind:?}")),
        Value::F64(number) if has_digits && number.is_infinite() => Err(format!("{text} is out of range of {kind:?}")),
        value => Ok(value),
    }
}

/// Converts nested lists or a NumPy file to a tensor. Returns `None` if the message type is not `frpc.Tensor`, or if
/// the value is neither a list nor a NumPy file.
fn tensor(descriptor: &MessageDescriptor, argument: &ParameterValue) -> Option<Result<DynamicMessage, String>> {
    if descriptor.full_name() != TENSOR {
        return None;
    }
    let read: Result<Tensor, String> = match argument {
        ParameterValue::File(content) if content.starts_with(NPY) => {
            Tensor::from_npy(content.clone().into()).map_err(|error| error.to_string())
        }
        ParameterValue::Text(text) | ParameterValue::Json(text) if text.trim_start().starts_with('[') => {
            frpc::json::from_json(text.as_bytes()).map_err(|error| error.to_string())
        }
        _ => return None,
    };
    Some(read.and_then(|tensor| {
        DynamicMessage::decode(descriptor.clone(), &*tensor.encode_to_vec()).map_err(|error| error.to_string())
    }))
}

fn field_names(descriptor: &MessageDescriptor) -> String {
    let names: Vec<_> = descriptor.fields().map(|field| field.name().to_owned()).collect();
    if names.is_empty() { "it has no fields".to_owned() } else { format!("it has: {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frpc_dynamic::{DescriptorPool, to_json};
    use std::fs;

    const SCHEMA: &str = "syntax = \"proto3\"; import \"google/protobuf/timestamp.proto\"; enum Color { RED = 0; BLUE = 5; }
        message Item { string name = 1; int32 count = 2; }
        message Order { string id = 1; bytes data = 2; Color color = 3; repeated string tags = 4; repeated Item items = 5;
            map<string, int32> sizes = 6; map<int32, Item> places = 7; Item main = 8; google.protobuf.Timestamp at = 9;
            bool paid = 10; double weight = 11; float share = 12; }";

    fn order() -> DynamicMessage {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("order.proto");
        fs::write(&path, SCHEMA).unwrap();
        let builder = frpc_build::configure().compile_well_known_types(true);
        let loaded = builder.load_protos(&[path], &[folder.path()]).unwrap();
        let pool = DescriptorPool::decode(&*loaded.descriptors).unwrap();
        DynamicMessage::new(pool.get_message_by_name("Order").unwrap())
    }

    fn json(parameters: &[&str]) -> serde_json::Value {
        let mut message = order();
        parameters.iter().for_each(|parameter| set(&mut message, parameter).unwrap());
        serde_json::from_str(&to_json(&message).unwrap()).unwrap()
    }

    /// Regression test: the JSON of such a message was parsed as its field, which set other fields or none.
    #[test]
    fn field_of_message_with_own_json_form_is_rejected_as_json() {
        let mut message = order();
        let refused =
            set(&mut message, "at.seconds:=5").expect_err("timestamp should have no JSON members").to_string();
        assert!(refused.contains("google.protobuf.Timestamp has a JSON form of its own"), "{refused}");
        set(&mut message, "at.seconds=5").expect("text should be accepted");
    }

    /// Regression test: the sign was lost.
    #[test]
    fn negative_zero_is_set_as_json() {
        let mut message = order();
        set(&mut message, "weight:=-0").expect("number should be accepted");
        assert!(to_json(&message).expect("message should have a JSON form").contains("-0"));
    }

    #[test]
    fn tensor_is_read_from_json_or_npy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input.proto");
        fs::write(&path, "syntax = \"proto3\"; import \"frpc/tensor.proto\"; message Input { frpc.Tensor x = 1; }")
            .unwrap();
        let builder = frpc_build::configure();
        let loaded = builder.load_protos(&[path], &[folder.path()]).unwrap();
        let pool = DescriptorPool::decode(&*loaded.descriptors).unwrap();
        let file = folder.path().join("x.npy");
        let tensor = Tensor::from_vec([2, 2], vec![1.0_f32, 2.0, 3.0, 4.0]).unwrap();
        fs::write(&file, tensor.to_npy().unwrap()).unwrap();
        for parameter in [
            format!("x=@{}", file.display()),
            "x={\"dtype\": \"float32\", \"shape\": [2, 2], \"data\": \"AACAPwAAAEAAAEBAAACAQA==\"}".to_owned(),
        ] {
            let mut message = DynamicMessage::new(pool.get_message_by_name("Input").unwrap());
            set(&mut message, &parameter).unwrap();
            let read = message.get_field_by_name("x").unwrap().as_message().unwrap().encode_to_vec();
            let read = Tensor::decode(&*read).unwrap();
            assert_eq!(
                (&read.shape, read.view::<f32>().unwrap()),
                (&tensor.shape, tensor.view().unwrap()),
                "{parameter}"
            );
        }
        for parameter in ["x=[[1, 2], [3, 4]]", "x:=[[1, 2], [3, 4]]"] {
            let mut message = DynamicMessage::new(pool.get_message_by_name("Input").unwrap());
            set(&mut message, parameter).unwrap();
            let read = message.get_field_by_name("x").unwrap().as_message().unwrap().encode_to_vec();
            assert_eq!(Tensor::decode(&*read).unwrap().shape, [2, 2], "{parameter}");
        }
    }

    /// Regression test: a path through many messages of a recursive type overflowed the stack.
    #[test]
    fn too_deep_path_is_rejected() {
        let list = DescriptorPool::global().get_message_by_name("google.protobuf.ListValue");
        let message = DynamicMessage::new(list.expect("type should be known"));
        let set_at = |levels| {
            let path = "values[0].list_value.".repeat(levels);
            set(&mut message.clone(), &format!("{path}values[0].bool_value=true"))
        };
        set_at(10).expect("path should be accepted");
        let error = set_at(100_000).expect_err("path should be rejected").to_string();
        assert!(error.ends_with("messages nest deeper than 200"), "{error}");
    }

    #[test]
    fn parameters_set_typed_fields_and_nested_elements() {
        let set = json(&[
            "id=a=b",
            "data=xyz",
            "color=BLUE",
            "tags=one",
            "tags=two",
            "items[1].name=pear",
            "items[1].count=3",
            "sizes.small=1",
            "places.7.name=home",
            "main.count=-2",
            "at=2024-01-02T03:04:05Z",
            "paid=true",
            "weight:=1.5",
            "share=-inf",
        ]);
        let expected = serde_json::json!({
            "id": "a=b", "data": "eHl6", "color": "BLUE", "tags": ["one", "two"],
            "items": [{}, { "name": "pear", "count": 3 }], "sizes": { "small": 1 }, "places": { "7": { "name": "home" } },
            "main": { "count": -2 }, "at": "2024-01-02T03:04:05Z", "paid": true, "weight": 1.5,
            "share": "-Infinity",
        });
        assert_eq!(set, expected);
        assert_eq!(json(&["id=@@x", "tags:=[\"a\",\"b\"]"]), serde_json::json!({ "id": "@x", "tags": ["a", "b"] }));
    }

    #[test]
    fn invalid_parameter_error_lists_known_names() {
        let refused = |parameter: &str| set(&mut order(), parameter).unwrap_err().to_string();
        assert!(refused("colour=RED").contains("it has: id, data, color"), "{}", refused("colour=RED"));
        assert!(refused("color=GREEN").contains("it has: RED, BLUE"));
        for parameter in
            ["paid=maybe", "main.count=x", "items[x].name=a", "items[99999999].name=a", "id.x=1", "sizes=1"]
        {
            assert!(!refused(parameter).is_empty());
        }
        // Regression test: infinity was sent.
        for parameter in ["weight=1e309", "share=-1e40"] {
            assert!(refused(parameter).contains("out of range"), "{}", refused(parameter));
        }
        // Regression test: the second field was ignored.
        assert!(refused("id:=\"a\", \"paid\": true").contains("not a JSON value"));
        // Regression test: text after an index was ignored.
        for parameter in ["tags[0]x=a", "tags[0][1]=a"] {
            assert!(refused(parameter).contains("write tags[INDEX]"), "{}", refused(parameter));
        }
    }

    /// Tests for bugs that were reported for grpcurl, evans and similar clients. Each case is labelled with its issue
    /// number.
    #[test]
    fn reports_about_other_clients_do_not_apply() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reports.proto");
        let schema =
            "syntax = \"proto3\"; import \"google/protobuf/struct.proto\"; import \"google/protobuf/wrappers.proto\";
            message Report { enum Code { OK = 0; FAIL = 1; } repeated Code codes = 1; optional Code code = 2;
                bytes buffer = 3; google.protobuf.Value value = 4; google.protobuf.ListValue list = 5;
                oneof either { int32 number = 6; string text = 7; } google.protobuf.BoolValue flag = 8;
                map<bool, string> names = 9; uint64 large = 10; double ratio = 11; }";
        fs::write(&path, schema).unwrap();
        let builder = frpc_build::configure().compile_well_known_types(true);
        let loaded = builder.load_protos(&[path], &[folder.path()]).unwrap();
        let pool = DescriptorPool::decode(&*loaded.descriptors).unwrap();
        let descriptor = pool.get_message_by_name("Report").unwrap();
        let shown = |parameters: &[&str]| {
            let mut message = DynamicMessage::new(descriptor.clone());
            parameters.iter().for_each(|parameter| set(&mut message, parameter).unwrap());
            serde_json::from_str::<serde_json::Value>(&to_json(&message).unwrap()).unwrap()
        };
        let cases = [
            // ktr0731/evans 59: a list of enums. leviysoft/mockingbird 27: a nested enum.
            (&["codes=FAIL", "codes=OK", "code=OK"][..], serde_json::json!({"codes": ["FAIL", "OK"], "code": "OK"})),
            // fullstorydev/grpcurl 266: bytes.
            (&["buffer:=\"YWJj\""], serde_json::json!({"buffer": "YWJj"})),
            // fullstorydev/grpcurl, release 1.8.6: a list in a `Value` is one value.
            (&["value:=[1, \"a\", null]"], serde_json::json!({"value": [1, "a", null]})),
            // fullstorydev/grpcurl 86: null and an empty list are values, and a member of a oneof may have its default
            // value.
            (&["value:=null", "list:=[]", "number=0"], serde_json::json!({"value": null, "list": [], "number": 0})),
            (&["flag:=false", "names.true=yes"], serde_json::json!({"flag": false, "names": {"true": "yes"}})),
            (
                &["large=18446744073709551615", "ratio:=\"NaN\""],
                serde_json::json!({"large": "18446744073709551615", "ratio": "NaN"}),
            ),
        ];
        for (parameters, expected) in cases {
            assert_eq!(shown(parameters), expected, "{parameters:?}");
        }
        // fullstorydev/grpcurl 326: an object for a bytes field is rejected with the name of the field.
        let mut message = DynamicMessage::new(descriptor.clone());
        let refused = set(&mut message, "buffer:={\"type\": \"Buffer\"}").unwrap_err().to_string();
        assert!(refused.contains("buffer"), "{refused}");
    }
}

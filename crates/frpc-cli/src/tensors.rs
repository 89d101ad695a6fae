//! Support for tensors in JSON requests, written as nested lists of numbers instead of the message `frpc.Tensor`.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use frpc::tensor::Tensor;
use frpc_dynamic::{DynamicMessage, MessageDescriptor, from_json};
use prost_reflect::Kind;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Full name of the protobuf message that represents a tensor.
pub(crate) const TENSOR: &str = "frpc.Tensor";

/// Parses a message from JSON. In addition to the usual format, a tensor can be written as nested lists.
pub(crate) fn message_from_json(descriptor: &MessageDescriptor, text: &str) -> Result<DynamicMessage, String> {
    let mut replaced = None;
    if has_tensor(descriptor) {
        let mut value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        replaced = replace_lists(descriptor, &mut value)?.then(|| value.to_string());
    }
    // Without tensors, parse the original text, which preserves the positions in errors.
    from_json(descriptor, replaced.as_deref().unwrap_or(text).as_bytes()).map_err(|error| error.to_string())
}

/// Returns whether a message is a tensor or contains one at any depth. Does not recurse, because deeply nested types in
/// an untrusted server's schema could overflow the stack.
fn has_tensor(descriptor: &MessageDescriptor) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![descriptor.clone()];
    while let Some(message) = open.pop() {
        if message.full_name() == TENSOR {
            return true;
        }
        if seen.insert(message.full_name().to_owned()) {
            open.extend(message.fields().filter_map(|field| field.kind().as_message().cloned()));
        }
    }
    false
}

/// Replaces nested lists in a JSON value by tensors. Returns `false` if there were none.
fn replace_lists(descriptor: &MessageDescriptor, value: &mut Value) -> Result<bool, String> {
    if descriptor.full_name() == TENSOR {
        if !value.is_array() {
            return Ok(false);
        }
        let read = frpc::json::from_json::<Tensor>(value.to_string().as_bytes());
        let Tensor { dtype, shape, data } = read.map_err(|error| error.to_string())?;
        *value = json!({"dtype": dtype, "shape": shape, "data": BASE64_STANDARD.encode(data)});
        return Ok(true);
    }
    let Value::Object(fields) = value else { return Ok(false) };
    let mut has_replaced = false;
    for (name, value) in fields {
        let field = descriptor.get_field_by_name(name).or_else(|| descriptor.get_field_by_json_name(name));
        let Some(field) = field else { continue };
        let Kind::Message(of) = field.kind() else { continue };
        if field.is_map() {
            let Kind::Message(of) = of.map_entry_value_field().kind() else { continue };
            for value in value.as_object_mut().into_iter().flat_map(|entries| entries.values_mut()) {
                has_replaced |= replace_lists(&of, value)?;
            }
        } else if field.is_list() {
            for value in value.as_array_mut().into_iter().flatten() {
                has_replaced |= replace_lists(&of, value)?;
            }
        } else {
            has_replaced |= replace_lists(&of, value)?;
        }
    }
    Ok(has_replaced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frpc_dynamic::DescriptorPool;
    use prost_reflect::prost::Message as _;

    const SCHEMA: &str = "syntax = \"proto3\"; import \"frpc/tensor.proto\";
        message Input { frpc.Tensor x = 1; repeated frpc.Tensor many = 2; map<string, frpc.Tensor> named = 3;
            Input inner = 4; repeated int32 numbers = 5; }";

    fn pool() -> DescriptorPool {
        let folder = tempfile::tempdir().expect("temporary folder should be created");
        let path = folder.path().join("input.proto");
        std::fs::write(&path, SCHEMA).expect("schema file should be written");
        let builder = frpc_build::configure();
        let loaded = builder.load_protos(&[path], &[folder.path()]).expect("schema should compile");
        DescriptorPool::decode(&*loaded.descriptors).expect("descriptors of the schema should be valid")
    }

    #[test]
    fn json_request_takes_lists_for_tensors() {
        let pool = pool();
        let descriptor = pool.get_message_by_name("Input").expect("schema should contain the message Input");
        let lists = r#"{"x": [[1, 2], [3, 4]], "many": [[1.5], [true]], "named": {"a": [1]}, "numbers": [1, 2],
            "inner": {"x": [[0.5]]}}"#;
        let message = message_from_json(&descriptor, lists).expect("nested lists should be valid tensors");
        let x = message
            .get_field_by_name("x")
            .expect("message should have the tensor field")
            .as_message()
            .expect("tensor field should contain a message")
            .encode_to_vec();
        let x = Tensor::decode(&*x).expect("field should contain an encoded tensor");
        assert_eq!(
            (
                x.dtype.as_str(),
                &x.shape[..],
                x.view::<i64>().expect("elements of the tensor should be 64-bit integers")
            ),
            ("int64", &[2, 2][..], x.view().expect("elements of the tensor should be 64-bit integers"))
        );
        let whole = r#"{"x": {"dtype": "uint8", "shape": [1], "data": "AQ=="}}"#;
        message_from_json(&descriptor, whole).expect("tensor should also be accepted in its usual JSON format");
        let tensor = pool.get_message_by_name(TENSOR).expect("schema should contain the tensor message");
        message_from_json(&tensor, "[[1, 2], [3, 4]]").expect("nested lists should be a valid tensor");
        for wrong in [r#"{"x": [[1], [2, 3]]}"#, r#"{"x": [1, "a"]}"#, r#"{"y": [1]}"#] {
            message_from_json(&descriptor, wrong).expect_err(wrong);
        }
    }

    #[test]
    fn tensor_search_handles_long_message_chain() {
        let first =
            crate::schema::long_chain().get_message_by_name("M0").expect("schema should contain the message M0");
        message_from_json(&first, "{}").expect("empty JSON object should be a valid message");
    }
}

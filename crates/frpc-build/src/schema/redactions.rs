//! The option `debug_redact` of fields, which prost-types does not know: it is kept as an uninterpreted option.

use prost::Message as _;
use prost_types::uninterpreted_option::NamePart;
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, UninterpretedOption};
use std::collections::HashMap;

/// The name of the option.
const OPTION: &str = "debug_redact";

/// The part of a `FileDescriptorSet` that has the option.
#[derive(Clone, PartialEq, prost::Message)]
struct OptionSet {
    #[prost(message, repeated, tag = "1")]
    file: Vec<FileOptions>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FileOptions {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "4")]
    message_type: Vec<MessageOptions>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct MessageOptions {
    #[prost(message, repeated, tag = "2")]
    field: Vec<FieldWithOptions>,
    #[prost(message, repeated, tag = "3")]
    nested_type: Vec<MessageOptions>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FieldWithOptions {
    #[prost(message, optional, tag = "8")]
    options: Option<FieldOptions>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FieldOptions {
    #[prost(bool, tag = "16")]
    debug_redact: bool,
}

/// Whether the schema hides the value of a field from debugging output.
pub fn is_redacted(field: &FieldDescriptorProto) -> bool {
    let options = field.options.iter().flat_map(|options| &options.uninterpreted_option);
    options.into_iter().any(|option| matches!(&option.name[..], [part] if part.name_part == OPTION))
}

/// Notes the option at the fields of `files` that have it in the same files as an encoded `FileDescriptorSet`.
pub(crate) fn keep(files: &mut [FileDescriptorProto], encoded: &[u8]) {
    let Ok(set) = OptionSet::decode(encoded) else { return };
    let by_name: HashMap<_, _> = set.file.iter().map(|file| (&*file.name, file)).collect();
    for file in files {
        let Some(options) = by_name.get(file.name()) else { continue };
        for (message, options) in file.message_type.iter_mut().zip(&options.message_type) {
            keep_in(message, options);
        }
    }
}

fn keep_in(message: &mut DescriptorProto, options: &MessageOptions) {
    for (field, options) in message.field.iter_mut().zip(&options.field) {
        if options.options.as_ref().is_some_and(|options| options.debug_redact) && !is_redacted(field) {
            let name = vec![NamePart { name_part: OPTION.to_owned(), is_extension: false }];
            let option = UninterpretedOption { name, identifier_value: Some("true".to_owned()), ..Default::default() };
            field.options.get_or_insert_default().uninterpreted_option.push(option);
        }
    }
    for (inner, options) in message.nested_type.iter_mut().zip(&options.nested_type) {
        keep_in(inner, options);
    }
}

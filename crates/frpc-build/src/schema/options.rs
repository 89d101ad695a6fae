//! Options that prost-types drops: `debug_redact` of fields, and the options of `frpc/agent.proto`, which offer methods
//! to agents. They are stored as uninterpreted options of fields and methods.

use std::collections::HashMap;

use prost::Message as _;
use prost_types::uninterpreted_option::NamePart;
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, UninterpretedOption};

use crate::schema::externs::AGENT_FILE;

/// Name of the standard field option that excludes a value from debugging output.
const REDACT: &str = "debug_redact";

/// Name of the custom option that offers a method as a tool for AI agents.
pub(crate) const TOOL: &str = "frpc.tool";

/// The parts of a `FileDescriptorSet` that contain the options of this module.
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
    #[prost(message, repeated, tag = "6")]
    service: Vec<ServiceOptions>,
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

#[derive(Clone, PartialEq, prost::Message)]
struct ServiceOptions {
    #[prost(message, repeated, tag = "2")]
    method: Vec<MethodOptions>,
    #[prost(message, optional, tag = "3")]
    options: Option<ToolOption>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct MethodOptions {
    #[prost(message, optional, tag = "4")]
    options: Option<ToolOption>,
}

/// The option `frpc.tool` of a method or a service. Both extensions use the same number.
#[derive(Clone, PartialEq, prost::Message)]
struct ToolOption {
    #[prost(bool, optional, tag = "83210")]
    tool: Option<bool>,
}

/// Returns whether the schema excludes the value of a field from debugging output.
pub fn is_redacted(field: &FieldDescriptorProto) -> bool {
    field.options.as_ref().is_some_and(|options| has(&options.uninterpreted_option, REDACT))
}

/// Returns whether a method with these options is a tool for AI agents.
pub(crate) fn is_tool(options: &prost_types::MethodOptions) -> bool {
    has(&options.uninterpreted_option, TOOL)
}

/// Copies custom options from an encoded `FileDescriptorSet` to the fields and methods of the same `files`.
pub(crate) fn keep_options(files: &mut [FileDescriptorProto], encoded: &[u8]) {
    let Ok(set) = OptionSet::decode(encoded) else { return };
    let by_name: HashMap<_, _> = set.file.iter().map(|file| (&*file.name, file)).collect();
    // Without frpc's file in the schema, an option with this number belongs to another extension.
    let has_tools = files.iter().any(|file| file.name() == AGENT_FILE && file.package() == "frpc");
    for file in files {
        let Some(options) = by_name.get(file.name()) else { continue };
        for (message, options) in file.message_type.iter_mut().zip(&options.message_type) {
            keep_redactions(message, options);
        }
        if has_tools {
            keep_tools(file, options);
        }
    }
}

fn keep_redactions(message: &mut DescriptorProto, options: &MessageOptions) {
    for (field, options) in message.field.iter_mut().zip(&options.field) {
        if options.options.as_ref().is_some_and(|options| options.debug_redact) {
            add(&mut field.options.get_or_insert_default().uninterpreted_option, REDACT);
        }
    }
    for (inner, options) in message.nested_type.iter_mut().zip(&options.nested_type) {
        keep_redactions(inner, options);
    }
}

fn keep_tools(file: &mut FileDescriptorProto, options: &FileOptions) {
    for (service, options) in file.service.iter_mut().zip(&options.service) {
        let of_service = options.options.as_ref().and_then(|options| options.tool).unwrap_or(false);
        for (method, options) in service.method.iter_mut().zip(&options.method) {
            let chosen = options.options.as_ref().and_then(|options| options.tool);
            // A streaming method with an explicit option is rejected later.
            if chosen.unwrap_or(of_service && !method.client_streaming()) {
                add(&mut method.options.get_or_insert_default().uninterpreted_option, TOOL);
            }
        }
    }
}

fn has(options: &[UninterpretedOption], name: &str) -> bool {
    options.iter().any(|option| matches!(&option.name[..], [part] if part.name_part == name))
}

fn add(options: &mut Vec<UninterpretedOption>, name: &str) {
    if !has(options, name) {
        let name = vec![NamePart { name_part: name.to_owned(), is_extension: name == TOOL }];
        let identifier_value = Some("true".to_owned());
        options.push(UninterpretedOption { name, identifier_value, ..UninterpretedOption::default() });
    }
}

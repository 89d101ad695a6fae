//! The options of `frpc/agent.proto`, which prost-types does not know: a method that is offered to agents keeps an
//! uninterpreted option.

use prost::Message as _;
use prost_types::uninterpreted_option::NamePart;
use prost_types::{FileDescriptorProto, UninterpretedOption};
use std::collections::HashMap;

use crate::schema::externs::AGENT_FILE;

/// The name of the option of a method.
pub(crate) const OPTION: &str = "frpc.tool";

/// The part of a `FileDescriptorSet` that has the options.
#[derive(Clone, PartialEq, prost::Message)]
struct OptionSet {
    #[prost(message, repeated, tag = "1")]
    file: Vec<FileOptions>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FileOptions {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "6")]
    service: Vec<ServiceOptions>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ServiceOptions {
    #[prost(message, repeated, tag = "2")]
    method: Vec<MethodOptions>,
    #[prost(message, optional, tag = "3")]
    options: Option<Options>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct MethodOptions {
    #[prost(message, optional, tag = "4")]
    options: Option<Options>,
}

/// Options of a method or of a service: both extensions have one number.
#[derive(Clone, PartialEq, prost::Message)]
struct Options {
    #[prost(bool, optional, tag = "83210")]
    tool: Option<bool>,
}

/// Whether the schema offers a method with these options as a tool.
pub(crate) fn is_tool(options: &prost_types::MethodOptions) -> bool {
    let has_name = |option: &UninterpretedOption| matches!(&option.name[..], [part] if part.is_extension && part.name_part == OPTION);
    options.uninterpreted_option.iter().any(has_name)
}

/// Marks the methods of `files` that are tools by the same files as an encoded `FileDescriptorSet`. Without
/// `frpc/agent.proto` among them, the number belongs to an option of someone else.
pub(crate) fn keep(files: &mut [FileDescriptorProto], encoded: &[u8]) {
    if !files.iter().any(|file| file.name() == AGENT_FILE && file.package() == "frpc") {
        return;
    }
    let Ok(set) = OptionSet::decode(encoded) else { return };
    let by_name: HashMap<_, _> = set.file.iter().map(|file| (&*file.name, file)).collect();
    for file in files {
        let Some(options) = by_name.get(file.name()) else { continue };
        for (service, options) in file.service.iter_mut().zip(&options.service) {
            let of_service = options.options.as_ref().and_then(|options| options.tool).unwrap_or(false);
            for (method, options) in service.method.iter_mut().zip(&options.method) {
                let chosen = options.options.as_ref().and_then(|options| options.tool);
                // A method with an option of its own that takes a stream is refused later.
                if !chosen.unwrap_or(of_service && !method.client_streaming()) {
                    continue;
                }
                let options = method.options.get_or_insert_default();
                if !is_tool(options) {
                    let name = vec![NamePart { name_part: OPTION.to_owned(), is_extension: true }];
                    let identifier_value = Some("true".to_owned());
                    let option = UninterpretedOption { name, identifier_value, ..UninterpretedOption::default() };
                    options.uninterpreted_option.push(option);
                }
            }
        }
    }
}

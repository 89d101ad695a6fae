//! The option `debug_redact` of fields, which prost-types does not know: it is kept as an uninterpreted option.

use prost_types::uninterpreted_option::NamePart;
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, UninterpretedOption};
use protox::prost_reflect::{DescriptorPool, MessageDescriptor};

/// The name of the option.
const OPTION: &str = "debug_redact";

/// Whether the schema hides the value of a field from debugging output.
pub(crate) fn is_redacted(field: &FieldDescriptorProto) -> bool {
    let options = field.options.iter().flat_map(|options| &options.uninterpreted_option);
    options.into_iter().any(|option| matches!(&option.name[..], [part] if part.name_part == OPTION))
}

/// Notes the option at the fields of `files` that have it in `pool`.
pub(crate) fn keep(files: &mut [FileDescriptorProto], pool: &DescriptorPool) {
    for file in files {
        let Some(described) = pool.get_file_by_name(file.name()) else { continue };
        for (message, described) in file.message_type.iter_mut().zip(described.messages()) {
            keep_in(message, &described);
        }
    }
}

fn keep_in(message: &mut DescriptorProto, described: &MessageDescriptor) {
    for field in &mut message.field {
        let options = u32::try_from(field.number()).ok().and_then(|number| described.get_field(number));
        let value = options.and_then(|field| Some(field.options().get_field_by_name(OPTION)?.as_bool() == Some(true)));
        if value == Some(true) && !is_redacted(field) {
            let name = vec![NamePart { name_part: OPTION.to_owned(), is_extension: false }];
            let option = UninterpretedOption { name, identifier_value: Some("true".to_owned()), ..Default::default() };
            field.options.get_or_insert_default().uninterpreted_option.push(option);
        }
    }
    for (inner, described) in message.nested_type.iter_mut().zip(described.child_messages()) {
        keep_in(inner, &described);
    }
}

//! Embeds the schema in generated services for reflection. It consists of the package's files that declare services,
//! and their imports. The encoded files are copied unchanged, which preserves custom options and comments.

use std::collections::BTreeSet;

use proc_macro2::Literal;
use prost::{DecodeError, Message as _};
use prost_types::FileDescriptorProto;
use syn::ItemStatic;

use super::free_names::{ReservedNames, free_name};
use crate::codec::Codec;
use crate::error::{Error, ErrorKind};
use crate::schema::Schema;

/// Generates the static `SCHEMA` of a package that consists of these files. Returns `None` if the package has no
/// services.
pub(super) fn schema_item(
    schema: &Schema,
    files: &[&FileDescriptorProto],
    codec: Codec,
    reserved: &mut ReservedNames,
    warn: &mut dyn FnMut(String),
) -> Result<Option<ItemStatic>, Error> {
    let Some(set) = service_files(schema, files)? else { return Ok(None) };
    let set = Literal::byte_string(&set);
    let protobuf = (codec == Codec::Protobuf).then(|| quote::quote! { .protobuf() });
    let name = free_name("SCHEMA", &mut reserved.values, "the schema of the package", warn);
    Ok(Some(syn::parse_quote! {
        #[doc = " The schema of the services of this package, for reflection."]
        pub static #name: ::frpc::codegen::Schema = ::frpc::codegen::Schema::new(#set) #protobuf;
    }))
}

/// Returns an encoded `FileDescriptorSet` of the services in `files`. It contains each file that declares a service,
/// with its direct and indirect imports. Returns `None` if no file declares a service.
pub(crate) fn service_files(schema: &Schema, files: &[&FileDescriptorProto]) -> Result<Option<Vec<u8>>, Error> {
    let mut wanted: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = files.iter().filter(|file| !file.service.is_empty()).map(|file| file.name()).collect();
    if open.is_empty() {
        return Ok(None);
    }
    while let Some(name) = open.pop() {
        if wanted.insert(name) {
            let file = schema.files.iter().find(|file| file.name() == name);
            open.extend(file.into_iter().flat_map(|file| &file.dependency).map(String::as_str));
        }
    }
    let set = subset(&schema.encoded, &wanted).map_err(|error| {
        Error::new(ErrorKind::Schema, format!("the set of files cannot be read: {error}")).with_source(error)
    })?;
    Ok(Some(set))
}

/// A `google.protobuf.FileDescriptorSet` that keeps its files in encoded form.
#[derive(Clone, PartialEq, prost::Message)]
struct EncodedFiles {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file: Vec<Vec<u8>>,
}

/// Returns a `FileDescriptorSet` with only the named files of `encoded`, unchanged and in their original order.
fn subset(encoded: &[u8], wanted: &BTreeSet<&str>) -> Result<Vec<u8>, DecodeError> {
    let mut set = EncodedFiles::decode(encoded)?;
    for file in std::mem::take(&mut set.file) {
        let is_wanted = wanted.contains(FileDescriptorProto::decode(&*file)?.name());
        set.file.extend(is_wanted.then_some(file));
    }
    Ok(set.encode_to_vec())
}

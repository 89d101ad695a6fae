//! The schema within services, for reflection: the files of a package with services, and their imports, as the compiler
//! has read them. Their bytes are copied unchanged, so that custom options and comments stay.

use std::collections::BTreeSet;

use proc_macro2::Literal;
use prost_types::FileDescriptorProto;
use protox::prost::encoding::{
    DecodeContext, WireType, decode_key, decode_varint, encode_key, encode_varint, skip_field,
};
use protox::prost::{DecodeError, Message as _};
use syn::ItemStatic;

use super::free_names::{ReservedNames, free_name};
use crate::codec::Codec;
use crate::error::{Error, ErrorKind};
use crate::schema::Schema;

/// The field `file` of `google.protobuf.FileDescriptorSet`.
const FILE: u32 = 1;

/// Generates the schema of a package with these files, `None` if it has no services.
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

/// The encoded `FileDescriptorSet` of the files with services, and their imports; `None` if none has.
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
    subset(&schema.encoded, &wanted).map(Some)
}

/// The files with these names of an encoded `FileDescriptorSet`, in their order and as they are there.
fn subset(encoded: &[u8], wanted: &BTreeSet<&str>) -> Result<Vec<u8>, Error> {
    let invalid = |error: DecodeError| {
        Error::new(ErrorKind::Schema, format!("the set of files cannot be read: {error}")).with_source(error)
    };
    let (mut rest, mut set) = (encoded, Vec::new());
    while !rest.is_empty() {
        let (tag, wire) = decode_key(&mut rest).map_err(invalid)?;
        if (tag, wire) != (FILE, WireType::LengthDelimited) {
            skip_field(wire, tag, &mut rest, DecodeContext::default()).map_err(invalid)?;
            continue;
        }
        let length = decode_varint(&mut rest).map_err(invalid)?;
        let file = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
        let Some((file, behind)) = file else {
            return Err(Error::new(ErrorKind::Schema, "the set of files ends within a file"));
        };
        rest = behind;
        if wanted.contains(FileDescriptorProto::decode(file).map_err(invalid)?.name()) {
            encode_key(FILE, WireType::LengthDelimited, &mut set);
            encode_varint(length, &mut set);
            set.extend_from_slice(file);
        }
    }
    Ok(set)
}

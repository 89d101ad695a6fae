//! The files of embedded schemas: their bytes, which are sent unchanged, and the names that they declare. `catalog.rs`
//! selects the exposed ones.

use bytes::Bytes;
use prost::Message as _;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, encode_key, encode_varint, skip_field};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, SourceCodeInfo};
use std::collections::{BTreeMap, HashMap};

/// Field number of `file` in `google.protobuf.FileDescriptorSet`.
const SET_FILE: u32 = 1;
/// Field number of `service` in `google.protobuf.FileDescriptorProto`.
const FILE_SERVICE: u32 = 6;
const FILE_SOURCE_CODE_INFO: u32 = 9;
/// Field number of `method` in `google.protobuf.ServiceDescriptorProto`.
const SERVICE_METHOD: i32 = 2;

/// A file of a schema.
pub(crate) struct File {
    pub(crate) name: String,
    /// The encoded `google.protobuf.FileDescriptorProto`.
    pub(crate) bytes: Bytes,
    pub(crate) proto: FileDescriptorProto,
}

/// Splits an encoded `google.protobuf.FileDescriptorSet` into its files. Returns `None` if it is malformed.
pub(crate) fn files(set: &'static [u8]) -> Option<Vec<File>> {
    let (mut rest, mut files) = (set, Vec::new());
    while !rest.is_empty() {
        if let (SET_FILE, file) = field(&mut rest)? {
            let proto = FileDescriptorProto::decode(file).ok()?;
            files.push(File { name: proto.name().to_owned(), bytes: Bytes::from_static(file), proto });
        }
    }
    Some(files)
}

/// Returns the tag and the length that precede a file in an encoded `google.protobuf.FileDescriptorSet`.
pub(crate) fn head_in_set(file: &[u8]) -> Bytes {
    let mut head = Vec::new();
    encode_key(SET_FILE, WireType::LengthDelimited, &mut head);
    encode_varint(file.len() as u64, &mut head);
    head.into()
}

/// Reads the next field of an encoded message and returns its number and content. The content is empty for fields that
/// are not length-delimited. Returns `None` if the message has ended or is malformed.
fn field<'a>(rest: &mut &'a [u8]) -> Option<(u32, &'a [u8])> {
    let (tag, wire) = decode_key(rest).ok()?;
    if wire != WireType::LengthDelimited {
        skip_field(wire, tag, rest, DecodeContext::default()).ok()?;
        return Some((tag, &[]));
    }
    let length = usize::try_from(decode_varint(rest).ok()?).ok()?;
    let (content, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some((tag, content))
}

impl File {
    /// Returns the full name of a top-level item of the file's package.
    pub(crate) fn full_name(&self, name: &str) -> String {
        within(self.proto.package(), name)
    }

    /// Removes hidden services and their comments from the file. All other fields stay unchanged. Returns `None` if the
    /// file is malformed.
    pub(crate) fn without_services(&mut self, is_hidden: impl Fn(&str) -> bool) -> Option<()> {
        let hidden: Vec<bool> =
            self.proto.service.iter().map(|service| is_hidden(&self.full_name(service.name()))).collect();
        if !hidden.contains(&true) {
            return Some(());
        }
        let bytes = self.bytes.clone();
        let (mut rest, mut output, mut services) = (&bytes[..], Vec::new(), hidden.iter());
        while !rest.is_empty() {
            let before = rest;
            let (tag, content) = field(&mut rest)?;
            match tag {
                FILE_SERVICE if services.next() == Some(&true) => {}
                FILE_SOURCE_CODE_INFO => {
                    let info = without_locations(SourceCodeInfo::decode(content).ok()?, &hidden);
                    prost::encoding::message::encode(FILE_SOURCE_CODE_INFO, &info, &mut output);
                }
                _ => output.extend_from_slice(before.get(..before.len() - rest.len()).unwrap_or_default()),
            }
        }
        self.proto = FileDescriptorProto::decode(&output[..]).ok()?;
        self.bytes = output.into();
        Some(())
    }

    /// Returns the full names of all symbols that the file declares.
    pub(crate) fn symbols(&self) -> Vec<String> {
        let mut names = Vec::new();
        let package = self.proto.package();
        for message in &self.proto.message_type {
            put_message(&mut names, package, message);
        }
        for declared in &self.proto.enum_type {
            put_enum(&mut names, package, declared);
        }
        names.extend(self.proto.extension.iter().map(|field| within(package, field.name())));
        for service in &self.proto.service {
            let name = within(package, service.name());
            names.extend(service.method.iter().map(|method| within(&name, method.name())));
            names.push(name);
        }
        names
    }

    /// Returns the extensions that the file declares, as pairs of the extended message's full name and the field
    /// number.
    pub(crate) fn extensions(&self) -> Vec<(String, i32)> {
        let mut found = Vec::new();
        let mut open: Vec<&DescriptorProto> = self.proto.message_type.iter().collect();
        put_extensions(&mut found, &self.proto.extension);
        while let Some(message) = open.pop() {
            put_extensions(&mut found, &message.extension);
            open.extend(&message.nested_type);
        }
        found
    }

    /// Returns the leading comments of services and methods, by the index of the service and, for a method, the index
    /// of the method.
    pub(crate) fn comments(&self) -> HashMap<(usize, Option<usize>), String> {
        let index = |path: &[i32]| match *path {
            [tag, service] if tag == FILE_SERVICE as i32 => Some((usize::try_from(service).ok()?, None)),
            [tag, service, SERVICE_METHOD, method] if tag == FILE_SERVICE as i32 => {
                Some((usize::try_from(service).ok()?, Some(usize::try_from(method).ok()?)))
            }
            _ => None,
        };
        let locations = self.proto.source_code_info.iter().flat_map(|info| &info.location);
        let comments = locations.filter_map(|location| {
            let text = location.leading_comments.as_deref()?;
            let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
            Some((index(&location.path)?, lines.collect::<Vec<_>>().join("\n").trim().to_owned()))
        });
        comments.collect()
    }
}

/// Returns the full name of an item declared in a package, message or service.
pub(crate) fn within(outer: &str, name: &str) -> String {
    if outer.is_empty() { name.to_owned() } else { format!("{outer}.{name}") }
}

fn put_message(names: &mut Vec<String>, outer: &str, message: &DescriptorProto) {
    let name = within(outer, message.name());
    names.extend(message.field.iter().chain(&message.extension).map(|field| within(&name, field.name())));
    names.extend(message.oneof_decl.iter().map(|oneof| within(&name, oneof.name())));
    for nested in &message.nested_type {
        put_message(names, &name, nested);
    }
    for declared in &message.enum_type {
        put_enum(names, &name, declared);
    }
    names.push(name);
}

/// Adds the names of an enum and its values. The values are declared in the scope that contains the enum.
fn put_enum(names: &mut Vec<String>, outer: &str, declared: &EnumDescriptorProto) {
    names.push(within(outer, declared.name()));
    names.extend(declared.value.iter().map(|value| within(outer, value.name())));
}

fn put_extensions(found: &mut Vec<(String, i32)>, extensions: &[FieldDescriptorProto]) {
    let extended = |field: &FieldDescriptorProto| field.extendee().trim_start_matches('.').to_owned();
    found.extend(extensions.iter().map(|field| (extended(field), field.number())));
}

/// Removes the source locations of hidden services and renumbers the locations of all other services.
fn without_locations(mut info: SourceCodeInfo, hidden: &[bool]) -> SourceCodeInfo {
    let shown = hidden.iter().enumerate().filter(|(_, hidden)| !**hidden).map(|(old, _)| old);
    let new_indices: BTreeMap<usize, i32> = shown.zip(0..).collect();
    info.location.retain_mut(|location| match location.path.as_mut_slice() {
        [tag, service, ..] if *tag == FILE_SERVICE as i32 => {
            let new_index = usize::try_from(*service).ok().and_then(|old| new_indices.get(&old));
            new_index.map(|new_index| *service = *new_index).is_some()
        }
        _ => true,
    });
    info
}

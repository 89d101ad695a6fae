//! Rejects unsupported schemas before code generation.
//!
//! Rejects constructs that have no encoding (proto2, groups, extensions) and names that are not protobuf identifiers.
//! The parser never produces such names, but forged descriptor sets can contain them. After this check, every name can
//! safely be used in source code and file names.

use std::collections::HashSet;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, MethodDescriptorProto,
    ServiceDescriptorProto,
};

use crate::error::{Error, ErrorKind, SourcePosition};
use crate::schema::externs::Externs;
use crate::schema::parse::MISSING_SYNTAX;
use crate::schema::{Index, OPERATION_FIRST, Schema, is_map_entry, location, options, tag, within};

/// Checks all files that code is generated for, and the files with types that they use.
pub(crate) fn check(schema: &Schema, index: &Index<'_>, externs: &Externs) -> Result<(), Error> {
    let mut files = schema.files.iter().filter(|file| schema.is_used(file));
    files.try_for_each(|file| Checker { schema, index, externs, file }.file())
}

struct Checker<'a> {
    schema: &'a Schema,
    index: &'a Index<'a>,
    externs: &'a Externs,
    file: &'a FileDescriptorProto,
}

impl Checker<'_> {
    fn file(&self) -> Result<(), Error> {
        for part in self.file.package().split('.').filter(|_| !self.file.package().is_empty()) {
            self.identifier("package", part, &[tag::FILE_PACKAGE])?;
        }
        for (at, import) in self.file.dependency.iter().enumerate() {
            if import.contains(['\\', ':', '\0']) || import.split('/').any(|part| matches!(part, "" | "." | "..")) {
                let text = format!("import {import:?} leads out of the include folders");
                return Err(self.invalid(&within(&[], tag::FILE_DEPENDENCY, at), text));
            }
        }
        let scope = if self.file.package().is_empty() { String::new() } else { format!(".{}", self.file.package()) };
        let is_generated = |name: &str| self.externs.owner(&format!("{scope}.{name}")).is_none();
        let messages: Vec<_> =
            self.file.message_type.iter().enumerate().filter(|(_, message)| is_generated(message.name())).collect();
        let enums: Vec<_> =
            self.file.enum_type.iter().enumerate().filter(|(_, proto)| is_generated(proto.name())).collect();
        if messages.is_empty() && enums.is_empty() && self.file.service.is_empty() {
            return Ok(());
        }

        self.extensions("", &self.file.extension, |at| within(&[], tag::FILE_EXTENSION, at))?;
        for (at, message) in &messages {
            self.message(&scope, message, &within(&[], tag::FILE_MESSAGE, *at))?;
        }
        for (at, proto) in &enums {
            self.enumeration(proto, &within(&[], tag::FILE_ENUM, *at))?;
        }
        self.services()?;
        // Checked last, so that errors name the offending proto2 construct first.
        if self.file.syntax() != "proto3" {
            return Err(self.unsupported(&[tag::FILE_SYNTAX], self.other_syntax()));
        }
        Ok(())
    }

    /// Returns the error text for a syntax other than proto3. Descriptors do not record whether a proto2 file has a
    /// `syntax` line, but source positions do.
    fn other_syntax(&self) -> String {
        let syntax = if self.file.syntax().is_empty() { "proto2" } else { self.file.syntax() };
        match &self.file.source_code_info {
            Some(info) if !info.location.iter().any(|it| it.path == [tag::FILE_SYNTAX]) => MISSING_SYNTAX.to_owned(),
            _ => format!("syntax {syntax:?} is not supported; the schema must be proto3"),
        }
    }

    fn message(&self, scope: &str, message: &DescriptorProto, path: &[i32]) -> Result<(), Error> {
        let name = message.name();
        let full_name = format!("{scope}.{name}");
        self.identifier("message", name, path)?;
        if is_map_entry(message) {
            return Ok(()); // Checked together with its field.
        }
        if !message.extension_range.is_empty() {
            let path = within(path, tag::MESSAGE_EXTENSION_RANGE, 0);
            return Err(self.unsupported(&path, format!("message `{name}`: extensions are not supported")));
        }
        self.extensions(&format!("message `{name}`: "), &message.extension, |at| {
            within(path, tag::MESSAGE_EXTENSION, at)
        })?;
        each(&message.oneof_decl, path, tag::MESSAGE_ONEOF, |it, path| self.identifier("oneof", it.name(), path))?;
        each(&message.field, path, tag::MESSAGE_FIELD, |field, path| self.field(&full_name, message, field, path))?;
        each(&message.nested_type, path, tag::MESSAGE_MESSAGE, |it, path| self.message(&full_name, it, path))?;
        each(&message.enum_type, path, tag::MESSAGE_ENUM, |nested, path| self.enumeration(nested, path))
    }

    fn field(
        &self,
        owner: &str,
        message: &DescriptorProto,
        field: &FieldDescriptorProto,
        path: &[i32],
    ) -> Result<(), Error> {
        self.identifier("field", field.name(), path)?;
        let what = format!("field `{}` of message `{}`", field.name(), message.name());
        if field.r#type() == Type::Group {
            return Err(self.unsupported(path, format!("{what} is a group; groups are not supported")));
        }
        if field.label() == Label::Required {
            return Err(self.unsupported(path, format!("{what} is required; required fields are not supported")));
        }
        if field.default_value.is_some() {
            return Err(self.unsupported(path, format!("{what} has a default value, which is not supported")));
        }
        // The parser and `adopt` have already checked that types and oneofs exist.
        match (field.r#type(), self.index.map_entry(field)) {
            (_, Some(entry)) => self.map_field(owner, field, entry, &what, path),
            (Type::Message | Type::Enum, None) => {
                self.externs.check_field(field.type_name(), &what, || self.type_position(path))
            }
            _ => Ok(()),
        }
    }

    fn map_field(
        &self,
        owner: &str,
        field: &FieldDescriptorProto,
        entry: &DescriptorProto,
        what: &str,
        path: &[i32],
    ) -> Result<(), Error> {
        let is_entry_of_owner = field.type_name().strip_prefix(owner).is_some_and(|rest| rest.starts_with('.'));
        let [key, value] = &entry.field[..] else {
            return Err(self.invalid(path, format!("{what} has a broken map entry")));
        };
        if !is_entry_of_owner || field.label() != Label::Repeated || key.name() != "key" || value.name() != "value" {
            return Err(self.invalid(path, format!("{what} has a broken map entry")));
        }
        match value.r#type() {
            Type::Group => Err(self.unsupported(path, format!("{what} is a map of groups; groups are not supported"))),
            Type::Message | Type::Enum => {
                self.externs.check_field(value.type_name(), what, || self.type_position(path))
            }
            _ => Ok(()),
        }
    }

    fn enumeration(&self, proto: &EnumDescriptorProto, path: &[i32]) -> Result<(), Error> {
        self.identifier("enum", proto.name(), path)?;
        each(&proto.value, path, tag::ENUM_VALUE, |it, path| self.identifier("enum value", it.name(), path))
    }

    fn services(&self) -> Result<(), Error> {
        let mut operations = 0;
        for (at, service) in self.file.service.iter().enumerate() {
            let path = within(&[], tag::FILE_SERVICE, at);
            self.identifier("service", service.name(), &path)?;
            self.methods(service, &path)?;
            operations += service.method.len();
            if operations > usize::from(u16::MAX - OPERATION_FIRST) + 1 {
                let text = format!("a file can have {} methods at most", u16::MAX - OPERATION_FIRST + 1);
                return Err(self.unsupported(&path, text));
            }
        }
        Ok(())
    }

    fn methods(&self, service: &ServiceDescriptorProto, path: &[i32]) -> Result<(), Error> {
        let names: HashSet<_> = service.method.iter().map(MethodDescriptorProto::name).collect();
        for (at, method) in service.method.iter().enumerate() {
            let path = within(path, tag::SERVICE_METHOD, at);
            self.identifier("method", method.name(), &path)?;
            if method.client_streaming() && method.options.as_ref().is_some_and(options::is_tool) {
                let text = format!(
                    "method `{}` of service `{}` takes a stream and has the option `({})`: tools take one request; \
                     remove the option or the stream",
                    method.name(),
                    service.name(),
                    options::TOOL,
                );
                return Err(self.unsupported(&path, text));
            }
            for (what, name, tag) in [
                ("request", method.input_type(), tag::METHOD_INPUT),
                ("reply", method.output_type(), tag::METHOD_OUTPUT),
            ] {
                let what = format!("the {what} of method `{}` of service `{}`", method.name(), service.name());
                if self.index.messages.get(name).is_some_and(|found| is_map_entry(found.proto)) {
                    return Err(self.invalid(&path, format!("{what} is a map entry")));
                }
                let short = name.rsplit('.').next().unwrap_or_default();
                if names.contains(short) && self.written_length(&path, tag) == Some(short.len()) {
                    let text =
                        format!("{what}: `{short}` is a method in this scope, as protoc sees it; write `{name}`");
                    return Err(self.unsupported(&path, text));
                }
                self.externs.check_use(name, &what, || self.position(&path))?;
            }
        }
        Ok(())
    }

    /// Rejects extensions, which are a feature of proto2. In proto3 they only declare custom options, which do not
    /// affect the wire format.
    fn extensions(
        &self,
        what: &str,
        extensions: &[FieldDescriptorProto],
        path: impl Fn(usize) -> Vec<i32>,
    ) -> Result<(), Error> {
        let refused = extensions.iter().enumerate().find(|(_, extension)| {
            let extendee = extension.extendee();
            !(extendee.starts_with(".google.protobuf.") && extendee.ends_with("Options"))
        });
        let Some((at, extension)) = refused else { return Ok(()) };
        let extendee = extension.extendee().trim_start_matches('.');
        let text = format!("{what}extension `{}` of `{extendee}`: extensions are not supported", extension.name());
        Err(self.unsupported(&path(at), text))
    }

    fn identifier(&self, what: &str, name: &str, path: &[i32]) -> Result<(), Error> {
        let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if !starts_well || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(self.invalid(path, format!("{what} {name:?}: not an identifier")));
        }
        if name.bytes().all(|byte| byte == b'_') {
            return Err(self.unsupported(path, format!("{what} `{name}`: a name needs a letter or a digit")));
        }
        Ok(())
    }

    /// Returns the length of a part of the schema item at `path`, as written in the `.proto` file. `tag` is the field
    /// number of that part in the item's descriptor. Returns `None` if the part spans several lines or has no recorded
    /// position.
    fn written_length(&self, path: &[i32], tag: i32) -> Option<usize> {
        let path = [path, &[tag]].concat();
        match location(self.file, &path)?.span[..] {
            [_, begin, end] => usize::try_from(end.checked_sub(begin)?).ok(),
            _ => None,
        }
    }

    fn invalid(&self, path: &[i32], text: String) -> Error {
        Error::at(ErrorKind::Schema, self.position(path), text)
    }

    fn unsupported(&self, path: &[i32], text: String) -> Error {
        Error::unsupported(self.position(path), text)
    }

    fn position(&self, path: &[i32]) -> SourcePosition {
        self.schema.position(self.file, path)
    }

    /// Returns the source position of the type of the field at `path`.
    fn type_position(&self, path: &[i32]) -> SourcePosition {
        const TYPE_NAME: i32 = 6;
        let mut path = path.to_vec();
        path.push(TYPE_NAME);
        self.position(&path)
    }
}

/// Checks each descriptor in a list, given its descriptor path.
fn each<T>(list: &[T], path: &[i32], tag: i32, check: impl Fn(&T, &[i32]) -> Result<(), Error>) -> Result<(), Error> {
    list.iter().enumerate().try_for_each(|(at, item)| check(item, &within(path, tag, at)))
}

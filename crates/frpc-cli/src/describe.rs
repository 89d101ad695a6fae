//! `frpc describe`: prints a part of a schema as a `.proto` file that can be compiled.
//!
//! A symbol is printed with all types of its file that it depends on. Types of other files are imported.

use crate::arguments::DescribeArguments;
use crate::failure::Failure;
use crate::schema::Schema;
use crate::source::Context;
use frpc::polyglot::layout::json_name;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::method_options::IdempotencyLevel;
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumOptions, EnumValueOptions, FieldDescriptorProto, FieldOptions,
    FileDescriptorProto, MessageOptions, OneofDescriptorProto, ServiceDescriptorProto, ServiceOptions,
};
use prost_reflect::{FileDescriptor, Kind, MessageDescriptor, Syntax};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

pub(crate) async fn describe(arguments: &DescribeArguments, context: &Context) -> Result<(), Failure> {
    let (schema, screen) = (context.schema().await?, &context.screen);
    let mut wanted = RequestedSymbols::default();
    if arguments.symbols.is_empty() {
        schema.services.iter().for_each(|service| wanted.service(&service.descriptor));
        let own = schema.pool.files().filter(|file| !file.name().starts_with("google/protobuf/"));
        for file in own {
            file.messages().for_each(|message| wanted.message(&message));
            // Other files may use an enum that no message of its own file uses.
            file.enums().for_each(|found| wanted.symbol(&file, found.full_name().to_owned()));
        }
    }
    for symbol in &arguments.symbols {
        find(&schema, symbol, &mut wanted)?;
    }
    let is_one = wanted.files.len() == 1;
    for (at, (name, symbols)) in wanted.files.iter().enumerate() {
        let Some(file) = schema.pool.get_file_by_name(name) else { continue };
        let proto = print(&file, symbols);
        if screen.json {
            screen.json_line(&json!({ "file": name, "proto": proto }).to_string())?;
            continue;
        }
        if !is_one {
            screen.line(&format!("{}// {name}", if at > 0 { "\n" } else { "" }))?;
        }
        screen.line(proto.trim_end())?;
    }
    Ok(())
}

/// Symbols to print, grouped by file. For a nested type, the whole outermost message is printed.
#[derive(Default)]
struct RequestedSymbols {
    files: BTreeMap<String, BTreeSet<String>>,
    seen: BTreeSet<String>,
}

fn find(schema: &Schema, symbol: &str, wanted: &mut RequestedSymbols) -> Result<(), Failure> {
    let name = symbol.trim_start_matches('.');
    if let Some(message) = schema.pool.get_message_by_name(name) {
        wanted.message(&message);
        return Ok(());
    }
    if let Some(found) = schema.pool.get_enum_by_name(name) {
        let outermost = found.parent_message().map(|parent| outermost(&parent).full_name().to_owned());
        wanted.symbol(&found.parent_file(), outermost.unwrap_or_else(|| found.full_name().to_owned()));
        return Ok(());
    }
    let service = schema.service(name).or_else(|_| {
        let method = schema.method(name)?;
        schema.service(method.descriptor.parent_service().full_name())
    });
    let service = service.map_err(|_| {
        let services: Vec<_> = schema.services.iter().map(|service| service.descriptor.full_name()).collect();
        let services = services.join(", ");
        Failure::new(format!("the schema has no service, method, message or enum {name}; its services are: {services}"))
    })?;
    wanted.service(&service.descriptor);
    Ok(())
}

impl RequestedSymbols {
    fn symbol(&mut self, file: &FileDescriptor, name: String) {
        self.files.entry(file.name().to_owned()).or_default().insert(name);
    }

    fn service(&mut self, service: &prost_reflect::ServiceDescriptor) {
        let file = service.parent_file();
        self.symbol(&file, service.full_name().to_owned());
        // Types of other files are imported instead.
        let messages = service.methods().flat_map(|method| [method.input(), method.output()]);
        messages.filter(|message| message.parent_file() == file).for_each(|message| self.message(&message));
    }

    /// Adds a message, and all types of the same file that it uses. Does not recurse, because deeply nested types in an
    /// untrusted server's schema could overflow the stack.
    fn message(&mut self, message: &MessageDescriptor) {
        let file = message.parent_file();
        let mut wanted = vec![outermost(message)];
        while let Some(message) = wanted.pop() {
            if !self.seen.insert(message.full_name().to_owned()) {
                continue;
            }
            self.symbol(&file, message.full_name().to_owned());
            let mut open = vec![message];
            while let Some(part) = open.pop() {
                open.extend(part.child_messages());
                for field in part.fields() {
                    match field.kind() {
                        Kind::Message(other) if other.parent_file() == file => wanted.push(outermost(&other)),
                        Kind::Enum(other) if other.parent_file() == file => match other.parent_message() {
                            Some(parent) => wanted.push(outermost(&parent)),
                            None => self.symbol(&file, other.full_name().to_owned()),
                        },
                        _ => {}
                    }
                }
            }
        }
    }
}

fn outermost(message: &MessageDescriptor) -> MessageDescriptor {
    let mut message = message.clone();
    while let Some(parent) = message.parent_message() {
        message = parent;
    }
    message
}

/// Prints the given symbols of a .proto file.
fn print(file: &FileDescriptor, symbols: &BTreeSet<String>) -> String {
    let proto = file.file_descriptor_proto();
    let is_proto2 = file.syntax() == Syntax::Proto2;
    let mut printer = Printer { out: String::new(), comments: comments(proto), is_proto2 };
    printer.out.push_str(if is_proto2 { "syntax = \"proto2\";\n" } else { "syntax = \"proto3\";\n" });
    if !proto.package().is_empty() {
        let _ = writeln!(printer.out, "\npackage {};", proto.package());
    }
    let public: BTreeSet<i32> = proto.public_dependency.iter().copied().collect();
    for (at, import) in (0..).zip(&proto.dependency) {
        let blank = if at == 0 { "\n" } else { "" };
        let public = if public.contains(&at) { "public " } else { "" };
        let _ = writeln!(printer.out, "{blank}import {public}{};", quoted(import));
    }
    let prefix = if proto.package().is_empty() { String::new() } else { format!("{}.", proto.package()) };
    let is_wanted = |name: &str| symbols.contains(&format!("{prefix}{name}"));
    for (at, service) in (0..).zip(&proto.service).filter(|(_, service)| is_wanted(service.name())) {
        printer.out.push('\n');
        printer.service(service, &[6, at]);
    }
    for (at, message) in (0..).zip(&proto.message_type).filter(|(_, message)| is_wanted(message.name())) {
        printer.out.push('\n');
        printer.message(message, &[4, at], 0);
    }
    for (at, found) in (0..).zip(&proto.enum_type).filter(|(_, found)| is_wanted(found.name())) {
        printer.out.push('\n');
        printer.enumeration(found, &[5, at], 0);
    }
    printer.out
}

/// Returns the comment above each declaration. The key is the path of the declaration in `SourceCodeInfo`.
fn comments(proto: &FileDescriptorProto) -> HashMap<Vec<i32>, String> {
    let locations = proto.source_code_info.iter().flat_map(|info| &info.location);
    locations.filter_map(|it| Some((it.path.clone(), it.leading_comments.clone()?))).collect()
}

struct Printer {
    out: String,
    comments: HashMap<Vec<i32>, String>,
    /// Whether the syntax is proto2, where fields outside of oneofs have a label and may have a default value.
    is_proto2: bool,
}

impl Printer {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "  ".repeat(depth));
    }

    fn comment(&mut self, path: &[i32], depth: usize) {
        let text = self.comments.get(path).cloned().unwrap_or_default();
        for line in text.lines() {
            let space = if line.starts_with(' ') { "" } else { " " };
            self.line(depth, format!("//{space}{line}").trim_end());
        }
    }

    fn deprecated(&mut self, is_deprecated: bool, depth: usize) {
        if is_deprecated {
            self.line(depth, "option deprecated = true;");
        }
    }

    fn service(&mut self, service: &ServiceDescriptorProto, path: &[i32]) {
        self.comment(path, 0);
        self.line(0, &format!("service {} {{", service.name()));
        self.deprecated(service.options.as_ref().is_some_and(ServiceOptions::deprecated), 1);
        for (at, method) in (0..).zip(&service.method) {
            self.comment(&[path, &[2, at]].concat(), 1);
            let request = streamed(method.client_streaming(), method.input_type());
            let reply = streamed(method.server_streaming(), method.output_type());
            let head = format!("rpc {}({request}) returns ({reply})", method.name());
            let options = method.options.clone().unwrap_or_default();
            let level = options.idempotency_level();
            if !options.deprecated() && level == IdempotencyLevel::IdempotencyUnknown {
                self.line(1, &format!("{head};"));
                continue;
            }
            self.line(1, &format!("{head} {{"));
            self.deprecated(options.deprecated(), 2);
            if level != IdempotencyLevel::IdempotencyUnknown {
                self.line(2, &format!("option idempotency_level = {};", level.as_str_name()));
            }
            self.line(1, "}");
        }
        self.line(0, "}");
    }

    fn message(&mut self, message: &DescriptorProto, path: &[i32], depth: usize) {
        self.comment(path, depth);
        self.line(depth, &format!("message {} {{", message.name()));
        self.body(message, path, depth);
    }

    /// Prints the content of a message or group, and the closing brace.
    fn body(&mut self, message: &DescriptorProto, path: &[i32], depth: usize) {
        self.deprecated(message.options.as_ref().is_some_and(MessageOptions::deprecated), depth + 1);
        let nested: HashMap<&str, (i32, &DescriptorProto)> =
            (0..).zip(&message.nested_type).map(|(at, it)| (it.name(), (at, it))).collect();
        let groups: BTreeSet<&str> = message.field.iter().filter_map(group_name).collect();
        let oneof_of = |field: &FieldDescriptorProto| field.oneof_index.filter(|_| !field.proto3_optional());
        let mut oneofs: HashMap<i32, Vec<(i32, &FieldDescriptorProto)>> = HashMap::new();
        for (at, field) in (0..).zip(&message.field) {
            if let Some(oneof) = oneof_of(field) {
                oneofs.entry(oneof).or_default().push((at, field));
            }
        }
        for (at, field) in (0..).zip(&message.field) {
            let Some(oneof) = oneof_of(field) else {
                self.field(field, &nested, (path, at), depth + 1);
                continue;
            };
            // Print all members of a oneof at the place of the first one.
            let Some(members) = oneofs.remove(&oneof) else { continue };
            let declared = usize::try_from(oneof).ok().and_then(|oneof| message.oneof_decl.get(oneof));
            self.comment(&[path, &[8, oneof]].concat(), depth + 1);
            self.line(depth + 1, &format!("oneof {} {{", declared.map_or("", OneofDescriptorProto::name)));
            for (at, member) in members {
                self.field(member, &nested, (path, at), depth + 2);
            }
            self.line(depth + 1, "}");
        }
        for (at, nested) in (0..).zip(&message.nested_type) {
            let is_entry = nested.options.as_ref().is_some_and(MessageOptions::map_entry);
            if !is_entry && !groups.contains(nested.name()) {
                self.message(nested, &[path, &[3, at]].concat(), depth + 1);
            }
        }
        for (at, nested) in (0..).zip(&message.enum_type) {
            self.enumeration(nested, &[path, &[4, at]].concat(), depth + 1);
        }
        for range in &message.extension_range {
            self.line(
                depth + 1,
                &format!("extensions {};", shown_range((range.start(), range.end().saturating_sub(1)))),
            );
        }
        // The end of a range of field numbers is exclusive.
        let ranges = message.reserved_range.iter().map(|range| (range.start(), range.end().saturating_sub(1)));
        self.reserved(&ranges.collect::<Vec<_>>(), &message.reserved_name, depth + 1);
        self.line(depth, "}");
    }

    fn reserved(&mut self, ranges: &[(i32, i32)], names: &[String], depth: usize) {
        if !ranges.is_empty() {
            let ranges: Vec<_> = ranges.iter().copied().map(shown_range).collect();
            self.line(depth, &format!("reserved {};", ranges.join(", ")));
        }
        if !names.is_empty() {
            let names: Vec<_> = names.iter().map(|name| quoted(name)).collect();
            self.line(depth, &format!("reserved {};", names.join(", ")));
        }
    }

    /// Prints the field with the index `at` of the message at `path`. `nested` has the types that the message declares,
    /// with their indexes.
    fn field(
        &mut self,
        field: &FieldDescriptorProto,
        nested: &HashMap<&str, (i32, &DescriptorProto)>,
        (path, at): (&[i32], i32),
        depth: usize,
    ) {
        self.comment(&[path, &[2, at]].concat(), depth);
        let own = field.type_name().rsplit('.').next().and_then(|name| nested.get(name));
        let entry = own.filter(|(_, own)| own.options.as_ref().is_some_and(MessageOptions::map_entry));
        let label = match field.label() {
            Label::Repeated => "repeated ",
            Label::Required => "required ",
            Label::Optional if field.proto3_optional() || self.is_proto2 && field.oneof_index.is_none() => "optional ",
            Label::Optional => "",
        };
        if let (Some(_), Some((at, group))) = (group_name(field), own) {
            self.line(depth, &format!("{label}group {} = {} {{", group.name(), field.number()));
            return self.body(group, &[path, &[3, *at]].concat(), depth);
        }
        let declared = match entry.map(|(_, entry)| &entry.field[..]) {
            Some([key, value]) => format!("map<{}, {}>", type_name(key), type_name(value)),
            _ => format!("{label}{}", type_name(field)),
        };
        let mut options = Vec::new();
        if let Some(default) = &field.default_value {
            options.push(format!("default = {}", shown_default(field.r#type(), default)));
        }
        let set = field.options.as_ref();
        if let Some(packed) = set.and_then(|set| set.packed) {
            options.push(format!("packed = {packed}"));
        }
        if let Some(set) = set.filter(|set| set.jstype.is_some()) {
            options.push(format!("jstype = {}", set.jstype().as_str_name()));
        }
        if set.is_some_and(FieldOptions::deprecated) {
            options.push("deprecated = true".to_owned());
        }
        if field.json_name.as_ref().is_some_and(|name| *name != json_name(field.name())) {
            options.push(format!("json_name = {}", quoted(field.json_name())));
        }
        let options = if options.is_empty() { String::new() } else { format!(" [{}]", options.join(", ")) };
        self.line(depth, &format!("{declared} {} = {}{options};", field.name(), field.number()));
    }

    fn enumeration(&mut self, found: &EnumDescriptorProto, path: &[i32], depth: usize) {
        self.comment(path, depth);
        self.line(depth, &format!("enum {} {{", found.name()));
        if found.options.as_ref().is_some_and(EnumOptions::allow_alias) {
            self.line(depth + 1, "option allow_alias = true;");
        }
        self.deprecated(found.options.as_ref().is_some_and(EnumOptions::deprecated), depth + 1);
        for (at, value) in (0..).zip(&found.value) {
            self.comment(&[path, &[2, at]].concat(), depth + 1);
            let deprecated = value.options.as_ref().is_some_and(EnumValueOptions::deprecated);
            let options = if deprecated { " [deprecated = true]" } else { "" };
            self.line(depth + 1, &format!("{} = {}{options};", value.name(), value.number()));
        }
        let ranges = found.reserved_range.iter().map(|range| (range.start(), range.end()));
        self.reserved(&ranges.collect::<Vec<_>>(), &found.reserved_name, depth + 1);
        self.line(depth, "}");
    }
}

/// Formats the type of a request or reply.
pub(crate) fn streamed(is_stream: bool, name: &str) -> String {
    format!("{}{name}", if is_stream { "stream " } else { "" })
}

/// Formats an inclusive range of numbers.
fn shown_range((start, end): (i32, i32)) -> String {
    const GREATEST: [i32; 2] = [(1 << 29) - 1, i32::MAX];
    match end {
        end if end == start => start.to_string(),
        end if GREATEST.contains(&end) => format!("{start} to max"),
        end => format!("{start} to {end}"),
    }
}

/// Formats the default value of a proto2 field. The default of a bytes field is already escaped.
fn shown_default(of: Type, value: &str) -> String {
    match of {
        Type::String => quoted(value),
        Type::Bytes => format!("\"{value}\""),
        _ => value.to_owned(),
    }
}

/// Returns the name of the type that a group field declares, or `None` if the field is not named after its type. An
/// untrusted server may give many fields the type of one group, which would otherwise be printed for each field.
fn group_name(field: &FieldDescriptorProto) -> Option<&str> {
    let name = field.type_name().rsplit('.').next().filter(|_| field.r#type() == Type::Group)?;
    (name.to_ascii_lowercase() == field.name()).then_some(name)
}

fn type_name(field: &FieldDescriptorProto) -> String {
    match field.r#type() {
        // A leading dot marks a full name.
        Type::Group | Type::Message | Type::Enum => field.type_name().to_owned(),
        scalar => scalar.as_str_name().trim_start_matches("TYPE_").to_ascii_lowercase(),
    }
}

/// Quotes a text as a string literal of a `.proto` file.
fn quoted(text: &str) -> String {
    let mut literal = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => literal.extend(['\\', letter]),
            // An octal escape has a fixed length, unlike a hexadecimal one.
            letter if letter.is_ascii_control() => literal.push_str(&format!("\\{:03o}", u32::from(letter))),
            letter => literal.push(letter),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::long_chain;
    use frpc::prost::Message as _;

    #[test]
    fn string_literal_is_quoted_for_proto_files() {
        assert_eq!(quoted("a\"b\\c\u{7}1\né"), r#""a\"b\\c\0071\012é""#);
    }

    #[test]
    fn long_message_chain_symbols_are_found() {
        let pool = long_chain();
        let mut wanted = RequestedSymbols::default();
        wanted.message(&pool.get_message_by_name("M0").expect("schema should contain the message M0"));
        assert_eq!(wanted.seen.len(), pool.all_messages().len());
    }

    /// Regression test: proto2 files were printed as proto3, without labels and default values.
    #[test]
    fn proto2_file_is_printed_as_proto2() {
        let text = r#"syntax = "proto2";

package old;

message M {
  required string name = 1 [default = "a\"\\\001"];
  optional bytes raw = 2 [default = "\001\""];
  optional .old.E kind = 3 [default = TWO];
  repeated int32 numbers = 4 [packed = true];
  oneof either {
    bool left = 5;
    double right = 6 [default = inf];
  }
  map<string, int32> sizes = 7;
  repeated group Part = 8 {
    optional int32 at = 1;
  }
  extensions 100 to 199;
  extensions 1000 to max;
}

enum E {
  ONE = 1;
  TWO = 2;
}
"#;
        assert_eq!(reprinted(text, &["old.M", "old.E"]), text);
    }

    /// Regression test: services and enums were printed without their option `deprecated`, and fields without `jstype`.
    #[test]
    fn options_are_printed() {
        let text = r#"syntax = "proto3";

package old;

service S {
  option deprecated = true;
  rpc Get(.old.M) returns (.old.M) {
    option deprecated = true;
  }
}

message M {
  option deprecated = true;
  .old.E kind = 1 [deprecated = true];
  int64 id = 2 [jstype = JS_STRING];
}

enum E {
  option deprecated = true;
  ZERO = 0 [deprecated = true];
}
"#;
        assert_eq!(reprinted(text, &["old.S", "old.M", "old.E"]), text);
    }

    /// Parses a file and prints these symbols.
    fn reprinted(text: &str, symbols: &[&str]) -> String {
        let file = protox::file::File::from_source("old.proto", text).expect("schema should be valid");
        let set = prost_reflect::prost_types::FileDescriptorSet { file: vec![file.into()] };
        let schema = Schema::of_grpc(&set.encode_to_vec()).expect("descriptors should be accepted");
        let file = schema.pool.get_file_by_name("old.proto").expect("schema should contain the file");
        print(&file, &symbols.iter().map(|&symbol| symbol.to_owned()).collect())
    }
}

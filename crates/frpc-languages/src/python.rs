//! Generates Python modules from a checked schema. Each package becomes a module with a class for each message and
//! enum. Each service becomes two clients and a base class for servers. The logic is in the package `frisbee-rpc`
//! (`clients/python`), which receives the schema as descriptors. Names are in `python/names.rs`.

mod names;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use frpc_build::backend::{Backend, Checked, FoundDescriptor, full_name, is_map_entry, is_redacted, oneof_of, within};
use frpc_build::{Error, Layout, OutputFile};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, MethodDescriptorProto,
    ServiceDescriptorProto,
};

use crate::names::{MemberNames, TypeNames};
use crate::{packages, require_polyglot, tag};
use names::{ModuleNames, attributes, hide};

/// Message type that is represented by a NumPy array.
const TENSOR: &str = ".frpc.Tensor";

/// Start of a call of `dataclasses.field` in generated code, for fields that need arguments such as `default_factory`.
const FIELD: &str = "_dataclasses.field(";

/// The Python back end. Generates one typed module per package, which imports the Python package `frisbee-rpc`. A
/// module contains dataclasses with slots for messages, enums, and for each service a blocking client, an asyncio
/// client and a base class for servers. Requires the Polyglot codec.
///
/// `Outer.Inner` becomes `Outer_Inner`, the method `GetUser` becomes `get_user`, and the package `shop.orders` becomes
/// `shop_orders.py`. A name that is a keyword gets the suffix `_`. Modules import others from the same Python package.
#[derive(Clone, Copy, Debug)]
pub struct Python;

/// Generates a Python module for each package.
impl Backend for Python {
    fn emit(&self, checked: &Checked<'_>) -> Result<Vec<OutputFile>, Error> {
        require_polyglot(checked, "Python")?;
        let packages = packages(checked.schema);
        let files = packages.values().flatten().copied();
        let names = TypeNames::new(&checked.index, files, &["Client", "AsyncClient"], names::public, names::free);
        let modules = ModuleNames::new(packages.keys().copied());
        let generator = Generator { checked, names, modules };
        packages.into_iter().map(|(package, files)| generator.module(package, &files)).collect()
    }
}

struct Generator<'a> {
    checked: &'a Checked<'a>,
    names: TypeNames,
    modules: ModuleNames,
}

/// A Python module that is being generated.
struct Module<'a> {
    package: &'a str,
    /// Packages that the module imports because it uses their types.
    imports: BTreeSet<String>,
    /// Generated classes, each with its full protobuf name.
    classes: Vec<(String, String)>,
    /// Names of the classes that have an alias with the prefix `_own_` in the module. A class needs an alias if another
    /// class has a member of the same name, because the member hides the class within that other class.
    hidden: BTreeSet<String>,
    text: String,
}

impl Generator<'_> {
    fn module(&self, package: &str, files: &[&FileDescriptorProto]) -> Result<OutputFile, Error> {
        let mut module = Module {
            package,
            imports: BTreeSet::new(),
            classes: Vec::new(),
            hidden: BTreeSet::new(),
            text: String::new(),
        };
        let is_here = |found: &FileDescriptorProto| files.iter().any(|file| std::ptr::eq(*file, found));
        for (name, found) in self.checked.index.enums.iter().filter(|(_, found)| is_here(found.file)) {
            self.enumeration(&mut module, name, found);
        }
        for (name, found) in self.checked.index.messages.iter().filter(|(_, found)| is_here(found.file)) {
            if !is_map_entry(found.proto) && name != TENSOR {
                self.message(&mut module, name, found);
            }
        }
        let mut layouts = String::new();
        let mut services = String::new();
        for file in files {
            for (at, (service, operations)) in file.service.iter().zip(self.checked.plan.operations(file)).enumerate() {
                let layout = self.checked.plan.layout(&full_name(file.package(), service.name()))?;
                self.layout(&mut layouts, service, operations, layout);
                std::mem::swap(&mut module.text, &mut services);
                self.service(&mut module, file, at, service);
                std::mem::swap(&mut module.text, &mut services);
            }
        }
        let bytes = self.checked.service_files(files)?.unwrap_or_default();
        let text = self.assembled(&module, &layouts, &services, &bytes);
        Ok(OutputFile::new(format!("{}.py", self.modules.module(package)), text))
    }

    /// Assembles the source text of a module from its parts.
    fn assembled(&self, module: &Module<'_>, layouts: &str, services: &str, files: &[u8]) -> String {
        let mut text = String::from("# @generated by frpc-build from a protobuf schema. Changes will be lost.\n\n");
        text.push_str("from __future__ import annotations\n\nimport builtins as _builtins\n");
        text.push_str("import dataclasses as _dataclasses\nimport enum as _enum\nimport typing as _typing\n\n");
        text.push_str("from frisbee_rpc import generated as _frpc\n");
        for import in &module.imports {
            let (name, alias) = (self.modules.module(import), self.modules.import(import));
            let _ = writeln!(text, "from . import {name} as {alias}");
        }
        text.push_str(&module.text);
        if !module.hidden.is_empty() {
            text.push('\n');
        }
        for hidden in &module.hidden {
            let _ = writeln!(text, "\n_own_{hidden} = {hidden}");
        }
        text.push_str("\n\n_PACKAGE = _frpc.Package(\n    {\n");
        for (full, own) in &module.classes {
            let _ = writeln!(text, "        \"{full}\": {own},");
        }
        text.push_str("    },\n    lambda: [");
        let imports: Vec<String> =
            module.imports.iter().map(|import| format!("{}._PACKAGE", self.modules.import(import))).collect();
        let _ = writeln!(text, "{}],\n    [\n{layouts}    ],", imports.join(", "));
        for line in files.chunks(60) {
            let _ = writeln!(text, "    b\"{}\"", line.escape_ascii());
        }
        if files.is_empty() {
            text.push_str("    b\"\"\n");
        }
        text.push_str(")\n");
        text.push_str(services);
        text
    }

    fn enumeration(&self, module: &mut Module<'_>, name: &str, found: &FoundDescriptor<'_, EnumDescriptorProto>) {
        let ident = self.names.own(name).to_owned();
        let _ = writeln!(module.text, "\n\nclass {ident}(_enum.IntEnum):");
        self.docs(&mut module.text, found.file, &found.path, "    ", name.trim_start_matches('.'));
        for (at, (value, proto)) in names::values(found.proto).into_iter().zip(&found.proto.value).enumerate() {
            let path = within(&found.path, tag::ENUM_VALUE, at);
            self.remarks(&mut module.text, found.file, &path);
            let _ = writeln!(module.text, "    {value} = {}", proto.number());
        }
        module.classes.push((name.trim_start_matches('.').to_owned(), ident));
    }

    fn message(&self, module: &mut Module<'_>, name: &str, found: &FoundDescriptor<'_, DescriptorProto>) {
        let ident = self.names.own(name).to_owned();
        let proto = found.proto;
        let names = attributes(proto);
        let _ = writeln!(module.text, "\n\n@_dataclasses.dataclass(slots=True)\nclass {ident}:");
        self.docs(&mut module.text, found.file, &found.path, "    ", name.trim_start_matches('.'));
        for (at, field) in proto.field.iter().enumerate() {
            let (declared, mut default) = self.declared(module, &names, field);
            if is_redacted(field) {
                default = match default.strip_suffix(')') {
                    Some(factory) if default.starts_with(FIELD) => format!("{factory}, repr=False)"),
                    _ => format!("{FIELD}default={default}, repr=False)"),
                };
            }
            self.remarks(&mut module.text, found.file, &within(&found.path, tag::MESSAGE_FIELD, at));
            let _ = writeln!(module.text, "    {}: {declared} = {default}", names.field(field));
        }
        for at in 0..proto.oneof_decl.len() {
            let members = proto.field.iter().filter(|field| oneof_of(field) == Some(at));
            let members: Vec<String> = members.map(|field| format!("\"{}\"", names.field(field))).collect();
            if members.is_empty() {
                continue; // This is the synthetic oneof of an optional field.
            }
            // Write this property after the fields. If it came first, its name could hide a type that a field uses.
            let (name, members) = (names.oneof(at), members.join(", "));
            let _ = writeln!(module.text, "\n    @_builtins.property");
            let _ = writeln!(module.text, "    def {name}(self) -> _typing.Literal[{members}] | None:");
            let _ = writeln!(module.text, "        \"\"\"The member that is set.\"\"\"");
            let _ = writeln!(module.text, "        return _frpc.which(self, {members})");
        }
        module.classes.push((name.trim_start_matches('.').to_owned(), ident));
    }

    /// Returns the Python type of a field and its default value.
    fn declared(&self, module: &mut Module<'_>, names: &MemberNames, field: &FieldDescriptorProto) -> (String, String) {
        let builtin = |name: &str| Self::builtin(names, name);
        if let Some(entry) = self.checked.index.map_entry(field) {
            let [key, value] = &entry.field[..] else { return ("object".to_owned(), "None".to_owned()) };
            let dict = builtin("dict");
            let (key, value) = (self.type_of(module, names, key), self.type_of(module, names, value));
            return (format!("{dict}[{key}, {value}]"), format!("_dataclasses.field(default_factory={dict})"));
        }
        if field.label() == Label::Repeated {
            let list = builtin("list");
            let of = self.type_of(module, names, field);
            return (format!("{list}[{of}]"), format!("_dataclasses.field(default_factory={list})"));
        }
        let of = self.type_of(module, names, field);
        if field.r#type() == Type::Message || field.proto3_optional() || oneof_of(field).is_some() {
            return (format!("{of} | None"), "None".to_owned());
        }
        let default = match field.r#type() {
            Type::Bool => "False".to_owned(),
            Type::Float | Type::Double => "0.0".to_owned(),
            Type::String => "\"\"".to_owned(),
            Type::Bytes => "b\"\"".to_owned(),
            // A lambda defers the evaluation until use, because packages may import each other.
            Type::Enum => format!("_dataclasses.field(default_factory=lambda: {of}(0))"),
            _ => "0".to_owned(),
        };
        (of, default)
    }

    /// Returns the name of a builtin type for use in a class. If the class has an attribute of this name, the result is
    /// qualified, such as `_builtins.str`.
    fn builtin(names: &MemberNames, name: &str) -> String {
        if hide(names, name) { format!("_builtins.{name}") } else { name.to_owned() }
    }

    fn type_of(&self, module: &mut Module<'_>, names: &MemberNames, field: &FieldDescriptorProto) -> String {
        let name = match field.r#type() {
            Type::Bool => "bool",
            Type::Float | Type::Double => "float",
            Type::String => "str",
            Type::Bytes => "bytes",
            Type::Enum | Type::Message | Type::Group => {
                return self.used(module, field.type_name(), |name| hide(names, name));
            }
            _ => "int",
        };
        Self::builtin(names, name)
    }

    /// Returns an expression for a type that is valid within a class. `is_hidden` returns whether an attribute of the
    /// class has the same name as the type.
    fn used(&self, module: &mut Module<'_>, full_name: &str, is_hidden: impl Fn(&str) -> bool) -> String {
        if full_name == TENSOR {
            return "_frpc.Array".to_owned();
        }
        let package = self.checked.index.package_of(full_name).unwrap_or(module.package);
        let ident = self.names.own(full_name);
        if package == module.package {
            if !is_hidden(ident) {
                return ident.to_owned();
            }
            module.hidden.insert(ident.to_owned());
            return format!("_own_{ident}");
        }
        module.imports.insert(package.to_owned());
        format!("{}.{ident}", self.modules.import(package))
    }

    /// Writes the constants that describe a service to the Python package: its name, the description of its wire
    /// layout, and for each method the operation number and whether it is idempotent.
    fn layout(&self, text: &mut String, service: &ServiceDescriptorProto, operations: &[u16], layout: &Layout) {
        let name = layout.service();
        let _ = write!(text, "        (\"{name}\",");
        for line in layout.description().chunks(60) {
            let _ = write!(text, "\n         b\"{}\"", line.escape_ascii());
        }
        text.push_str(", [\n");
        for (method, operation) in service.method.iter().zip(operations) {
            let level = method.options.as_ref().map_or(0, |options| options.idempotency_level() as i32);
            let idempotent = if level == 0 { "False" } else { "True" };
            let name = method.name();
            let _ = writeln!(text, "            (\"{name}\", {operation}, {idempotent}),");
        }
        let _ = writeln!(text, "        ]),");
    }

    /// Writes the clients of a service and the base class for its servers.
    fn service(
        &self,
        module: &mut Module<'_>,
        file: &FileDescriptorProto,
        at: usize,
        service: &ServiceDescriptorProto,
    ) {
        let name = full_name(file.package(), service.name());
        let path = within(&[], tag::FILE_SERVICE, at);
        let methods = names::methods(service.method.iter().map(MethodDescriptorProto::name));
        let is_method = |name: &str| methods.iter().any(|method| method == name);
        for (kind, base, is_async) in
            [("Client", "_frpc.ServiceClient", false), ("AsyncClient", "_frpc.AsyncServiceClient", true)]
        {
            let ident = self.names.client(&name, kind);
            let _ = writeln!(module.text, "\n\nclass {ident}({base}):");
            self.docs(&mut module.text, file, &path, "    ", &format!("Calls the service {name}."));
            let _ = writeln!(module.text, "    _package, _service = _PACKAGE, \"{name}\"");
            for (number, (method, own)) in service.method.iter().zip(&methods).enumerate() {
                let path = within(&path, tag::SERVICE_METHOD, number);
                self.call(module, file, &path, method, (own, &methods), is_async);
            }
        }
        let ident = self.names.own(&format!(".{name}"));
        let _ = writeln!(module.text, "\n\nclass {ident}(_frpc.Service):");
        self.docs(&mut module.text, file, &path, "    ", &format!("Serves {name}, in a class that derives from it."));
        let _ = writeln!(module.text, "    _package, _service = _PACKAGE, \"{name}\"");
        let pairs: Vec<String> = service
            .method
            .iter()
            .zip(&methods)
            .map(|(method, own)| format!("\"{own}\": \"{}\"", method.name()))
            .collect();
        let _ = writeln!(module.text, "    _methods = {{{}}}", pairs.join(", "));
        for (number, (method, own)) in service.method.iter().zip(&methods).enumerate() {
            let request = self.used(module, method.input_type(), is_method);
            let reply = self.used(module, method.output_type(), is_method);
            let (name, request) = if method.client_streaming() {
                ("requests", format!("_frpc.Requests[{request}]"))
            } else {
                ("request", request)
            };
            let reply = format!("_frpc.{}[{reply}]", if method.server_streaming() { "Replies" } else { "Reply" });
            let _ =
                writeln!(module.text, "\n    def {own}(self, {name}: {request}, context: _frpc.Context) -> {reply}:");
            self.docs(&mut module.text, file, &within(&path, tag::SERVICE_METHOD, number), "        ", "");
            let _ = writeln!(module.text, "        raise _frpc.unimplemented(\"{}\")", method.name());
        }
    }

    /// Writes the client's Python method that calls an RPC method.
    fn call(
        &self,
        module: &mut Module<'_>,
        file: &FileDescriptorProto,
        path: &[i32],
        method: &MethodDescriptorProto,
        (own, methods): (&str, &[String]),
        is_async: bool,
    ) {
        let is_method = |name: &str| methods.iter().any(|method| method == name);
        let (sends, receives) = (method.client_streaming(), method.server_streaming());
        let request = self.used(module, method.input_type(), is_method);
        let reply = self.used(module, method.output_type(), is_method);
        let (argument, passed) = match (sends, is_async) {
            (false, _) => ("request", request),
            (true, false) => ("requests", format!("_typing.Iterable[{request}]")),
            (true, true) => ("requests", format!("_frpc.Source[{request}]")),
        };
        let stream = if is_async { "AsyncStream" } else { "Stream" };
        let (result, call) = match (sends, receives) {
            (false, false) => (reply, "_unary"),
            (true, false) => (reply, "_client_streaming"),
            (false, true) => (format!("_frpc.{stream}[{reply}]"), "_server_streaming"),
            (true, true) => (format!("_frpc.{stream}[{reply}]"), "_streaming"),
        };
        let (define, wait) = if is_async && !receives { ("async def", "await ") } else { ("def", "") };
        let _ = writeln!(
            module.text,
            "\n    {define} {own}(\n        self, {argument}: {passed}, *, timeout: _frpc.Timeout = None, \
             metadata: _frpc.Metadata | None = None\n    ) -> {result}:"
        );
        self.docs(&mut module.text, file, path, "        ", "");
        let _ = writeln!(
            module.text,
            "        result: {result} = {wait}self.{call}(\"{}\", {argument}, timeout, metadata)\n        return result",
            method.name()
        );
    }

    /// Writes the comment of an item in the schema as a docstring, or `fallback` if it has none. Writes nothing if both
    /// are empty.
    fn docs(&self, text: &mut String, file: &FileDescriptorProto, path: &[i32], indent: &str, fallback: &str) {
        let mut lines = self.checked.schema.comment(file, path);
        if lines.is_empty() && !fallback.is_empty() {
            lines.push(fallback.to_owned());
        }
        // Escape the comment, because it must not end the string or contain escape sequences.
        let lines: Vec<String> = lines.iter().map(|line| line.replace('\\', "\\\\").replace('"', "\\\"")).collect();
        match &lines[..] {
            [] => {}
            [line] => {
                let _ = writeln!(text, "{indent}\"\"\"{line}\"\"\"");
            }
            [first, lines @ ..] => {
                let _ = writeln!(text, "{indent}\"\"\"{first}");
                for line in lines {
                    let _ = writeln!(text, "{}", format!("{indent}{line}").trim_end());
                }
                let _ = writeln!(text, "{indent}\"\"\"");
            }
        }
    }

    /// Writes the comment of a field or enum value as `#:` lines above it, which Sphinx reads.
    fn remarks(&self, text: &mut String, file: &FileDescriptorProto, path: &[i32]) {
        for line in self.checked.schema.comment(file, path) {
            let _ = writeln!(text, "    {}", format!("#: {line}").trim_end());
        }
    }
}

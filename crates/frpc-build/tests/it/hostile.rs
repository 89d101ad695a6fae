//! Tests with forged descriptor sets and hostile names: nothing is written outside of the output folder, and no name is
//! interpreted as code.

use crate::support::{Build, files_in};
#[allow(dead_code)]
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::source_code_info::Location;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet, MessageOptions, MethodDescriptorProto, ServiceDescriptorProto, SourceCodeInfo,
};

const HOSTILE: [&str; 12] = [
    "..",
    "../up",
    "/absolute",
    "a/b",
    "a\\b",
    "a b",
    "A { } fn injected() { } struct B",
    "a\nb",
    "\"quoted\"",
    "",
    "1a",
    "héllo",
];

fn message(name: &str) -> DescriptorProto {
    DescriptorProto { name: Some(name.to_owned()), ..DescriptorProto::default() }
}

fn field(name: &str) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(1),
        label: Some(Label::Optional.into()),
        r#type: Some(Type::Int32.into()),
        ..FieldDescriptorProto::default()
    }
}

fn file(package: &str) -> FileDescriptorProto {
    FileDescriptorProto {
        name: Some("test.proto".to_owned()),
        package: Some(package.to_owned()),
        syntax: Some("proto3".to_owned()),
        message_type: vec![message("Good")],
        ..FileDescriptorProto::default()
    }
}

/// Generates code from a forged file. Checks that it fails without output, or writes to its output folder only.
#[track_caller]
fn refused(file: FileDescriptorProto) {
    let build = Build::of("");
    let result = frpc_build::configure()
        .out_dir(build.out())
        .emit_rerun_if_changed(false)
        .compile_fds(FileDescriptorSet { file: vec![file] });
    assert_eq!(files_in(build.around.path()), ["out"]);
    assert_eq!(files_in(&build.out()), [""; 0]);
    let error = result.unwrap_err();
    assert!(error.to_string().lines().count() == 1, "{error}");
}

#[test]
fn hostile_packages_write_nothing() {
    for name in HOSTILE.into_iter().filter(|name| !name.is_empty()) {
        refused(file(name));
        refused(file(&format!("good.{name}")));
    }
}

#[test]
fn unknown_syntax_is_rejected_without_panic() {
    for syntax in HOSTILE.into_iter().chain(["editions", "proto4"]) {
        refused(FileDescriptorProto { syntax: Some(syntax.to_owned()), ..file("good") });
    }
}

#[test]
fn hostile_names_get_nowhere_into_code() {
    for name in HOSTILE {
        let mut forged = file("test");
        forged.message_type.push(message(name));
        refused(forged);

        let mut forged = file("test");
        forged.message_type[0].field.push(field(name));
        refused(forged);

        let mut forged = file("test");
        forged.message_type[0].nested_type.push(message(name));
        refused(forged);

        let mut forged = file("test");
        let value = |name: &str| EnumValueDescriptorProto {
            name: Some(name.to_owned()),
            number: Some(0),
            ..EnumValueDescriptorProto::default()
        };
        let proto = EnumDescriptorProto {
            name: Some(name.to_owned()),
            value: vec![value("ZERO")],
            ..EnumDescriptorProto::default()
        };
        forged.enum_type.push(proto.clone());
        refused(forged.clone());
        forged.enum_type[0] = EnumDescriptorProto { name: Some("Fine".to_owned()), value: vec![value(name)], ..proto };
        refused(forged);

        let mut forged = file("test");
        let method = MethodDescriptorProto {
            name: Some(name.to_owned()),
            input_type: Some(".test.Good".to_owned()),
            output_type: Some(".test.Good".to_owned()),
            ..MethodDescriptorProto::default()
        };
        let service =
            ServiceDescriptorProto { name: Some(name.to_owned()), method: vec![], ..ServiceDescriptorProto::default() };
        forged.service.push(service.clone());
        refused(forged.clone());
        forged.service[0] = ServiceDescriptorProto { name: Some("Fine".to_owned()), method: vec![method], ..service };
        refused(forged);
    }
}

#[test]
fn types_missing_from_set_are_rejected() {
    let mut forged = file("test");
    let mut it = field("it");
    it.r#type = Some(Type::Message.into());
    it.type_name = Some(".elsewhere.Type".to_owned());
    forged.message_type[0].field.push(it);
    refused(forged);
}

#[test]
fn forged_map_entries_are_refused() {
    for fields in [vec![], vec![field("key")], vec![field("a"), field("b")]] {
        let mut forged = file("test");
        let mut entry = message("ItEntry");
        entry.field = fields;
        for (at, field) in entry.field.iter_mut().enumerate() {
            field.number = Some(i32::try_from(at).unwrap() + 1);
        }
        entry.options = Some(MessageOptions { map_entry: Some(true), ..MessageOptions::default() });
        let mut it = field("it");
        it.r#type = Some(Type::Message.into());
        it.label = Some(Label::Repeated.into());
        it.type_name = Some(".test.Good.ItEntry".to_owned());
        forged.message_type[0].nested_type.push(entry);
        forged.message_type[0].field.push(it);
        refused(forged);
    }
}

#[test]
fn member_of_missing_oneof_is_rejected() {
    for index in [0, 7, -1] {
        let mut forged = file("test");
        let mut it = field("it");
        it.oneof_index = Some(index);
        forged.message_type[0].field.push(it);
        refused(forged);
    }
}

#[test]
fn source_information_with_holes_is_no_panic() {
    let mut forged = file("test");
    forged.message_type[0].field.push(field("it"));
    let hostile = Location {
        path: vec![4, 0],
        span: vec![-1],
        leading_comments: Some("*/ fn injected() {} /*\r```\r fn doctest() {}\u{202e}".to_owned()),
        ..Location::default()
    };
    forged.source_code_info = Some(SourceCodeInfo { location: vec![hostile] });
    let build = Build::of("");
    frpc_build::configure().out_dir(build.out()).compile_fds(FileDescriptorSet { file: vec![forged] }).unwrap();
    let text = build.read("test.rs");
    assert!(text.contains("\n/// */ fn injected() {} /*```"), "{text}");
    assert!(!text.contains(['\r', '\u{202e}']));
}

#[test]
fn descriptor_set_generates_same_code_as_files() {
    let source = "syntax = \"proto3\";\npackage test;\n// A comment.\nmessage A { map<string, A> all = 1; }";
    let build = Build::of(source);
    let set = build.around.path().join("set.bin");
    let text = build.text_with(|builder| builder.file_descriptor_set_path(&set));
    let decoded = <FileDescriptorSet as prost::Message>::decode(&std::fs::read(set).unwrap()[..]).unwrap();
    let other = Build::of("");
    frpc_build::configure().out_dir(other.out()).compile_fds(decoded).unwrap();
    assert_eq!(other.read("test.rs"), text);
}

#[test]
fn imports_cannot_escape_include_folders() {
    for import in ["../outside.proto", "./outside.proto", "a/../outside.proto"] {
        let source = format!("syntax = \"proto3\";\npackage test;\nimport \"{import}\";\nmessage A {{}}");
        let build = Build::of_files(&[("in/test.proto", &source), ("outside.proto", "syntax = \"proto3\";\n")]);
        std::fs::create_dir(build.protos.path().join("in/a")).unwrap();
        std::fs::write(build.protos.path().join("in/outside.proto"), "syntax = \"proto3\";\n").unwrap();
        let error = frpc_build::configure()
            .out_dir(build.out())
            .compile_protos(&[build.protos.path().join("in/test.proto")], &[build.protos.path().join("in")])
            .unwrap_err();
        assert!(error.to_string().contains("in/test.proto:3:"), "{error}");
        assert_eq!(files_in(&build.out()), [""; 0]);
    }
}

#[test]
fn in_memory_output_names_have_no_path() {
    for package in ["", "a", "a.b.type", "A.B"] {
        let builder = frpc_build::configure();
        let output = builder.generate(FileDescriptorSet { file: vec![file(package)] }, &["test.proto"]).unwrap();
        for file in output.files {
            let is_plain = file.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._#".contains(&byte));
            assert!(is_plain && !file.name.contains("..") && !file.name.starts_with('.'), "{}", file.name);
        }
    }
    for name in HOSTILE.into_iter().filter(|name| !name.is_empty()) {
        let set = FileDescriptorSet { file: vec![file(name)] };
        frpc_build::configure().generate(set, &["test.proto"]).unwrap_err();
    }
}

/// protoc sets the JSON name of each field, whereas descriptor sets of other programs may lack it.
#[test]
fn missing_json_names_are_derived_like_protoc() {
    let generate = |names: &[&str]| {
        let field = |(name, number): (&&str, i32)| FieldDescriptorProto { number: Some(number), ..field(name) };
        let message = DescriptorProto { field: names.iter().zip(1..).map(field).collect(), ..message("A") };
        let file = FileDescriptorProto { message_type: vec![message], ..file("test") };
        frpc_build::configure().json(true).generate(FileDescriptorSet { file: vec![file] }, &["test.proto"])
    };
    let output = generate(&["foo_bar", "_foo", "__foo__baz_", "foo_3", "FOO_qux"]).unwrap();
    let text: String = output.files[0].text.split_whitespace().collect();
    assert!(text.contains(r#"&["fooBar","Foo","FooBaz","foo3","FOOQux",]"#), "{text}");
    let error = generate(&["foo_bar", "fooBar"]).unwrap_err();
    assert!(error.to_string().contains("foo_bar") && error.to_string().contains("fooBar"), "{error}");
}

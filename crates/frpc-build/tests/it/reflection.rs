//! Tests of the schema that is embedded in generated code.

use crate::support::{Build, has};
#[allow(dead_code)]
use frpc_build::Codec;
use prost::Message as _;
use prost_types::{FileDescriptorProto, FileDescriptorSet};

const TEST: &str = r#"syntax = "proto3";
package test;
import "types.proto";
import "options.proto";
// Sells.
service Shop {
  // Sells one.
  rpc Sell(types.Order) returns (types.Order) { option (options.owner) = "sales"; }
}
"#;

const FILES: [(&str, &str); 4] = [
    ("test.proto", TEST),
    ("types.proto", "syntax = \"proto3\";\npackage types;\nmessage Order { string id = 1; }\n"),
    (
        "options.proto",
        "syntax = \"proto2\";\npackage options;\nimport \"google/protobuf/descriptor.proto\";\n\
         extend google.protobuf.MethodOptions { optional string owner = 50001; }\n",
    ),
    ("other.proto", "syntax = \"proto3\";\npackage other;\nmessage Unused {}\n"),
];

/// Returns the bytes of the constant `SCHEMA` in the generated code, if there is one.
fn schema(code: &str) -> Option<Vec<u8>> {
    let file = syn::parse_file(code).expect("generated code should be valid Rust");
    file.items.into_iter().find_map(|item| {
        let syn::Item::Static(item) = item else { return None };
        (item.ident == "SCHEMA").then(|| ByteString.of(&item.expr))
    })
}

/// Finds the first argument of the innermost call.
#[derive(Default)]
struct ByteString;

impl ByteString {
    fn of(&self, expression: &syn::Expr) -> Vec<u8> {
        match expression {
            syn::Expr::MethodCall(call) => self.of(&call.receiver),
            syn::Expr::Call(call) => self.of(&call.args[0]),
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::ByteStr(bytes), .. }) => bytes.value(),
            _ => panic!("the schema is not a byte string"),
        }
    }
}

fn names(set: &[u8]) -> Vec<String> {
    let set = FileDescriptorSet::decode(set).expect("schema should be a descriptor set");
    set.file.iter().map(|file| file.name().to_owned()).collect()
}

#[test]
fn package_schema_lists_imports_before_files() {
    let build = Build::of_files(&FILES);
    build.run(|builder| builder.reflection(true), &["other.proto", "test.proto"]).unwrap();
    let set = schema(&build.read("test.rs")).expect("generated code should contain a schema");
    let expected = ["types.proto", "google/protobuf/descriptor.proto", "options.proto", "test.proto"];
    assert_eq!(names(&set), expected);
    assert!(has(&build.read("test.rs"), ".schema(&SCHEMA).done()"), "service should contain its schema");
    for other in ["types.rs", "other.rs"] {
        assert_eq!(schema(&build.read(other)), None, "file {other} should have no service");
    }
}

#[test]
fn package_schema_has_options_for_agents() {
    let source = "syntax = \"proto3\";\npackage test;\nimport \"frpc/agent.proto\";\nmessage A {}\n\
                  service S {\n  option (frpc.tools) = true;\n  rpc Do(A) returns (A);\n}\n";
    let code = Build::of(source).text_with(|builder| builder.reflection(true));
    let set = schema(&code).expect("generated code should contain a schema");
    assert_eq!(names(&set), ["google/protobuf/descriptor.proto", "frpc/agent.proto", "test.proto"]);
    let pool = protox::prost_reflect::DescriptorPool::decode(&*set).expect("descriptor set should be complete");
    let service = pool.get_service_by_name("test.S").expect("schema should contain the service");
    let option = pool.get_extension_by_name("frpc.tools").expect("schema should contain the extension");
    assert_eq!(service.options().get_extension(&option).as_bool(), Some(true));
}

#[test]
fn embedded_schema_equals_compiler_output() {
    let build = Build::of_files(&FILES);
    let path = build.out().join("set");
    build.run(|builder| builder.reflection(true).file_descriptor_set_path(&path), &["test.proto"]).unwrap();
    let set = schema(&build.read("test.rs")).expect("generated code should contain a schema");
    assert_eq!(set, std::fs::read(path).unwrap(), "package should need all files");
    // The text of an option that prost drops, and a comment.
    for text in ["sales", " Sells one.\n"] {
        assert!(set.windows(text.len()).any(|window| window == text.as_bytes()), "{text:?}");
    }
}

#[test]
fn schema_records_codec_of_native_bodies() {
    let build = Build::of_files(&FILES);
    build.run(|builder| builder.reflection(true).codec(Codec::Protobuf), &["test.proto"]).unwrap();
    assert!(has(&build.read("test.rs"), ").protobuf();"));
}

#[test]
fn schema_needs_reflection_and_server() {
    let build = Build::of_files(&FILES);
    build.run(|builder| builder, &["test.proto"]).unwrap();
    assert_eq!(schema(&build.read("test.rs")), None);
    assert!(!build.read("test.rs").contains("schema("));
    build.run(|builder| builder.reflection(true).build_server(false), &["test.proto"]).unwrap();
    assert_eq!(schema(&build.read("test.rs")), None);
}

#[test]
fn parsed_schema_is_embedded() {
    let file = FileDescriptorProto {
        name: Some("test.proto".to_owned()),
        package: Some("test".to_owned()),
        syntax: Some("proto3".to_owned()),
        message_type: vec![prost_types::DescriptorProto { name: Some("M".to_owned()), ..Default::default() }],
        service: vec![prost_types::ServiceDescriptorProto {
            name: Some("S".to_owned()),
            method: vec![prost_types::MethodDescriptorProto {
                name: Some("Call".to_owned()),
                input_type: Some(".test.M".to_owned()),
                output_type: Some(".test.M".to_owned()),
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    let set = FileDescriptorSet { file: vec![file] };
    let output = frpc_build::configure().reflection(true).generate(set.clone(), &["test.proto"]).unwrap();
    let embedded = schema(&output.files[0].text).expect("generated code should contain a schema");
    assert_eq!(FileDescriptorSet::decode(&embedded[..]).unwrap(), set);
}

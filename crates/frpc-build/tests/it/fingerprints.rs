//! Tests which changes of a schema change the fingerprints of its layouts.

use crate::support::Build;
use frpc_build::{Codec, Layout};
use polyglot::layout::{Description, Fingerprint};

const SCHEMA: &str = "\
service S { rpc Get(A) returns (stream B); rpc Put(C) returns (A); }
message A { int32 a = 1; optional string b = 2; map<string, B> c = 3; }
message B { repeated E e = 1; A a = 2; }
message C { oneof by { int32 x = 1; B y = 2; } }
enum E { ZERO = 0; ONE = 1; }
";

fn layout(schema: &str) -> Layout {
    let build = Build::of(&format!("syntax = \"proto3\";\npackage test;\n{schema}"));
    let folder = build.protos.path();
    let layouts = frpc_build::configure().load_protos(&[folder.join("test.proto")], &[folder]).unwrap().layouts;
    layouts.into_iter().next().expect("schema should contain a service")
}

#[test]
fn layout_describes_methods_in_order_of_operations() {
    let layout = layout(SCHEMA);
    let description = Description::parse(layout.description()).expect("description should be canonical");
    assert_eq!(description.name, "test.S");
    let methods: Vec<_> = description.methods.iter().map(|method| (&*method.name, method.server_streams)).collect();
    assert_eq!(methods, [("Get", true), ("Put", false)]);
    assert!(layout.methods().map(|(name, operation, _)| (name, operation)).eq([("Get", 10), ("Put", 11)]));
    assert_eq!(layout.fingerprint(), Fingerprint::of(layout.description()));
    assert_eq!(layout.names().lines().next(), Some("test.A a b c"));
}

#[test]
fn fingerprint_depends_on_codec() {
    let of = |schema: &str, codec| {
        let build = Build::of(&format!("syntax = \"proto3\";\npackage test;\n{schema}"));
        let folder = build.protos.path();
        let builder = frpc_build::configure().codec(codec);
        builder.load_protos(&[folder.join("test.proto")], &[folder]).expect("schema should be valid").layouts[0]
            .fingerprint()
    };
    let changed = SCHEMA.replace("int32 a = 1;", "int64 a = 7;");
    assert_ne!(of(SCHEMA, Codec::Polyglot), of(SCHEMA, Codec::Protobuf));
    assert_ne!(of(SCHEMA, Codec::Polyglot), of(&changed, Codec::Polyglot));
    assert_eq!(of(SCHEMA, Codec::Protobuf), of(&changed, Codec::Protobuf));
}

#[test]
fn fingerprint_ignores_type_names_and_unused_parts() {
    let before = layout(SCHEMA).fingerprint();
    for (from, to) in [
        ("int32 a = 1; optional", "int32 other = 1; optional"),
        ("oneof by", "oneof kind"),
        ("ZERO = 0; ONE = 1;", "NULL = 0; FIRST = 1;"),
        ("enum E", "message Unused { int32 x = 1; }\nenum E"),
    ] {
        assert!(SCHEMA.contains(from));
        assert_eq!(
            layout(&SCHEMA.replace(from, to)).fingerprint(),
            before,
            "fingerprint should not change with {from} -> {to}"
        );
    }
    let renamed = SCHEMA.replace("B a", "Bee a").replace("B y", "Bee y").replace("(stream B)", "(stream Bee)");
    let renamed = renamed.replace(", B>", ", Bee>").replace("message B ", "message Bee ");
    assert_eq!(layout(&renamed).fingerprint(), before);
}

#[test]
fn every_layout_change_changes_fingerprint() {
    let mut seen = vec![layout(SCHEMA).fingerprint()];
    for (from, to) in [
        ("service S {", "service S { rpc First(A) returns (A);"),
        ("service S {", "service T {"),
        ("rpc Get", "rpc Fetch"),
        ("int32 a = 1; optional", "sfixed32 a = 1; optional"),
        ("int32 a = 1; optional", "int32 a = 9; optional"),
        ("ONE = 1;", "ONE = 77;"),
        ("returns (stream B)", "returns (B)"),
        ("rpc Get(A)", "rpc Get(stream A)"),
        ("rpc Get(A)", "rpc Get(B)"),
        (" rpc Put(C) returns (A);", ""),
        ("int32 a = 1; optional", "int64 a = 1; optional"),
        ("int32 a = 1; optional", "optional"),
        ("optional string", "string"),
        ("optional string", "optional bytes"),
        ("map<string, B>", "map<int32, B>"),
        ("map<string, B>", "map<string, C>"),
        ("map<string, B>", "repeated B"),
        ("repeated E e", "E e"),
        ("repeated E e", "repeated uint32 e"),
        ("oneof by { int32 x = 1; B y = 2; }", "int32 x = 1; B y = 2;"),
        ("oneof by { int32 x = 1; B y = 2; }", "oneof by { B y = 2; int32 x = 1; }"),
        ("oneof by { int32 x = 1; B y = 2; }", "oneof a { int32 x = 1; } oneof b { B y = 2; }"),
        ("ONE = 1;", "ONE = 1; TWO = 2;"),
    ] {
        assert!(SCHEMA.contains(from));
        let schema = SCHEMA.replace(from, to);
        let fingerprint = layout(&schema).fingerprint();
        assert!(!seen.contains(&fingerprint), "fingerprint should change with {from} -> {to}");
        seen.push(fingerprint);
    }
}

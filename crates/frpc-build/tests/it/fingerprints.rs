//! Fingerprints: which layouts have the same, and which earlier ones are remembered.

use crate::support::Build;
use crate::support::shop::Shop;
#[allow(dead_code)]
use frpc_build::{Codec, Layout, LockUpdate};

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
    layouts.into_iter().next().expect("schema should have a service")
}

fn fnv_1a(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[test]
fn the_fingerprint_is_specified() {
    // FNV-1a over the description in docs/schema-lock.md:
    // layout 1 0 | 10 0 1* | 11 2 0 | message i32 optional:string map:string:1 | message repeated:3 0
    // | message oneof:0:1:i32 oneof:0:2:1 | enum 2
    let text = "layout 1 0\n10 0 1*\n11 2 0\nmessage i32 optional:string map:string:1\nmessage repeated:3 0\n\
                message oneof:0:1:i32 oneof:0:2:1\nenum 2\n";
    let layout = layout(SCHEMA);
    assert_eq!(layout.fingerprint().get(), fnv_1a(text));
    assert_eq!(layout.fingerprint().to_string(), format!("{:016x}", fnv_1a(text)));
    assert_eq!(layout.service(), "test.S");
    assert!(layout.methods().map(|(_, operation)| operation).eq([10, 11]));
}

#[test]
fn a_service_has_another_fingerprint_with_another_codec() {
    let build = Build::of("syntax = \"proto3\";\nmessage A {}\nservice S { rpc Get(A) returns (A); }");
    let of = |codec| {
        let folder = build.protos.path();
        let builder = frpc_build::configure().codec(codec);
        builder.load_protos(&[folder.join("test.proto")], &[folder]).unwrap().layouts[0].fingerprint()
    };
    assert_ne!(of(Codec::Polyglot), of(Codec::Protobuf));
}

#[test]
fn protobuf_fingerprint_covers_request_and_reply_names() {
    let build = Build::of(&format!("syntax = \"proto3\";\npackage test;\n{SCHEMA}"));
    let folder = build.protos.path();
    let builder = frpc_build::configure().codec(Codec::Protobuf);
    let layout = &builder.load_protos(&[folder.join("test.proto")], &[folder]).unwrap().layouts[0];
    let text = "layout 1 0 protobuf\n10 0 1*\n11 2 0\nmessage test.A\nmessage test.B\nmessage test.C\n";
    assert_eq!(layout.fingerprint().get(), fnv_1a(text));
}

#[test]
fn fingerprint_ignores_names_numbers_and_off_wire_parts() {
    let before = layout(SCHEMA).fingerprint();
    for (from, to) in [
        ("service S", "service T"),
        ("rpc Get", "rpc Fetch"),
        ("int32 a = 1; optional", "sfixed32 other = 9; optional"),
        ("oneof by", "oneof kind"),
        ("ZERO = 0; ONE = 1;", "NULL = 0; FAR = 77;"),
        ("enum E", "message Unused { int32 x = 1; }\nenum E"),
    ] {
        assert!(SCHEMA.contains(from));
        assert_eq!(layout(&SCHEMA.replace(from, to)).fingerprint(), before, "{from} -> {to}");
    }
    let renamed = SCHEMA.replace("B a", "Bee a").replace("B y", "Bee y").replace("(stream B)", "(stream Bee)");
    let renamed = renamed.replace(", B>", ", Bee>").replace("message B ", "message Bee ");
    assert_eq!(layout(&renamed).fingerprint(), before);
}

#[test]
fn every_change_of_the_layout_changes_the_fingerprint() {
    let mut seen = vec![layout(SCHEMA).fingerprint()];
    for (from, to) in [
        ("service S {", "service S { rpc First(A) returns (A);"),
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
        assert!(!seen.contains(&fingerprint), "{from} -> {to}");
        seen.push(fingerprint);
    }
}

#[test]
fn safe_changes_record_fields_that_may_be_missing() {
    let shop = Shop::locked();
    let first = shop.layouts();
    shop.edit(&[("int32 limit = 2;", "int32 limit = 2;\n  string more = 3;")]);
    shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap();
    assert!(shop.lock().contains("\n  i32 limit = 2\n  added string more = 3\n"), "{}", shop.lock());
    let second = shop.layouts();
    assert_eq!(second[0].compatible(), [first[0].fingerprint()]);
    assert_eq!(second[0].appended().collect::<Vec<_>>(), [("shop.GetRequest", 1)]);
    assert_eq!(second[1], first[1], "the other service does not reach that message");

    shop.edit(&[("string more = 3;", "string more = 3;\n  bool all = 4;"), ("BLUE = 2;", "BLUE = 2;\n  BLACK = 3;")]);
    shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap();
    let third = shop.layouts();
    assert_eq!(third[0].compatible(), [first[0].fingerprint(), second[0].fingerprint()]);
    assert_eq!(third[0].appended().collect::<Vec<_>>(), [("shop.GetRequest", 2)]);
    assert_eq!(third[1].compatible(), [first[1].fingerprint()]);

    shop.edit(&[("double size", "float size")]);
    shop.build(|builder| builder.lock_update(LockUpdate::Breaking)).unwrap();
    let fourth = shop.layouts();
    assert!(fourth.iter().all(|layout| layout.compatible().is_empty()), "both services reach `Part`: {fourth:?}");
}

#[test]
fn new_fields_may_be_missing_in_every_message_of_layout() {
    let shop = Shop::locked();
    let grown = "int32 limit = 2;\n  string more = 3;";
    shop.edit(&[("int32 limit = 2;", grown)]);
    shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap();
    let own = format!("message FetchRequest {{\n  string id = 1;\n  {grown}\n}}\nmessage GetRequest");
    let grows = |shop: &Shop| {
        shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap();
        shop.layouts()[0].appended().map(|(name, fields)| (name.to_owned(), fields)).collect::<Vec<_>>()
    };
    // It is new, or was there before, or both messages were.
    shop.edit(&[("rpc Get(GetRequest)", "rpc Get(FetchRequest)"), ("message GetRequest", &own)]);
    let both = [("shop.FetchRequest".to_owned(), 1), ("shop.GetRequest".to_owned(), 1)];
    assert_eq!(grows(&shop), both);
    let third = own.replace("FetchRequest", "TakeRequest").replace("GetRequest", "FetchRequest");
    shop.edit(&[("message FetchRequest", &third)]);
    assert_eq!(grows(&shop), both);
    shop.edit(&[("rpc Get(FetchRequest)", "rpc Get(TakeRequest)")]);
    assert_eq!(grows(&shop), [("shop.GetRequest".to_owned(), 1), ("shop.TakeRequest".to_owned(), 1)]);
}

#[test]
fn broken_layout_does_not_return_with_another_element() {
    let shop = Shop::locked();
    let orders = |shop: &Shop| shop.layouts().into_iter().find(|layout| layout.service() == "shop.Orders").unwrap();
    let mut seen = vec![orders(&shop).fingerprint()];
    let mut step = |edits: &[(&str, &str)], update| {
        shop.edit(edits);
        shop.build(|builder| builder.lock_update(update)).unwrap();
        let now = orders(&shop);
        assert!(!seen.contains(&now.fingerprint()), "{now:?} after {seen:?}");
        seen.push(now.fingerprint());
        now
    };
    step(&[("  int32 limit = 2;\n", "")], LockUpdate::Breaking);
    let now = step(&[("string id = 1;\n", "string id = 1;\n  int32 most = 3;\n")], LockUpdate::Safe);
    assert_eq!(now.compatible().len(), 1);
    // Nor does the layout of a service that was gone.
    let put = "  rpc Put(Item) returns (GetRequest);\n";
    let source = ["service Orders {\n  rpc Get(GetRequest) returns (Item);\n", put, "}\n\n"].concat();
    shop.edit(&[(&source, "")]);
    shop.build(|builder| builder.lock_update(LockUpdate::Breaking)).unwrap();
    assert!(shop.lock().contains("\n\nremoved service shop.Orders generation 2\n\n"), "{}", shop.lock());
    shop.build(|builder| builder).expect("recorded changes should be accepted");
    let now = step(&[("service Stock", &format!("{source}service Stock"))], LockUpdate::Breaking);
    assert!(now.compatible().is_empty() && !shop.lock().contains("removed"), "{}", shop.lock());
}

#[test]
fn changes_of_names_are_not_worth_remembering() {
    let shop = Shop::locked();
    let before = shop.layouts();
    shop.edit(&[("int32 limit", "int32 max"), ("rpc Get(", "rpc Fetch("), ("BLUE", "NAVY")]);
    shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap();
    let after = shop.layouts();
    assert_eq!(after[0].methods().next(), Some(("Fetch", 10)));
    // All but the names of methods.
    let [before, after] = [&before, &after].map(|layouts| -> Vec<_> {
        let remembered = |layout: &Layout| {
            let appended: Vec<_> = layout.appended().map(|(message, count)| (message.to_owned(), count)).collect();
            let operations: Vec<_> = layout.methods().map(|(_, operation)| operation).collect();
            let compatible = layout.compatible().to_vec();
            (layout.service().to_owned(), operations, layout.fingerprint(), compatible, appended)
        };
        layouts.iter().map(remembered).collect()
    });
    assert_eq!(after, before);
    assert!(shop.lock().contains("10 Fetch ") && !shop.lock().contains("compatible"), "{}", shop.lock());
}

#[test]
fn at_most_32_earlier_layouts_are_remembered() {
    let shop = Shop::locked();
    let mut last = "BLUE = 2;".to_owned();
    let mut fingerprints = Vec::new();
    for number in 10..50 {
        fingerprints.push(shop.layouts()[0].fingerprint());
        let next = format!("V{number} = {number};");
        shop.edit(&[(&last, &format!("{last} {next}"))]);
        shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap();
        last = next;
    }
    assert_eq!(shop.layouts()[0].compatible(), &fingerprints[8..]);
    assert_eq!(fingerprints[8..].len(), 32);
}

//! Tests of single properties of the generated code. `golden.rs` compares whole files.

#[allow(dead_code)]
use crate::support::{Build, files_in, has, squeezed};

const HEAD: &str = "syntax = \"proto3\";\npackage test;\n";

fn generated(body: &str) -> String {
    Build::of(&format!("{HEAD}{body}")).text()
}

/// The names in the calls of `encode_fields`, in their order.
fn encoded_names(text: &str) -> Vec<String> {
    let body = text.split("fn encode_fields").nth(1).unwrap().split("fn decode_fields").next().unwrap();
    body.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn operations_count_from_10_across_file_services() {
    let text = generated(
        "message A {}
         service First { rpc One(A) returns (A); rpc Two(stream A) returns (stream A); }
         service Empty {}
         service Second { rpc One(A) returns (stream A); rpc Three(stream A) returns (A); }",
    );
    for line in [
        "FIRST_ONE: ::frpc::codegen::Method = ::frpc::codegen::Method::new( &FIRST_LAYOUT, \"One\", 10, );",
        "::frpc::codegen::Method::new( &FIRST_LAYOUT, \"Two\", 11, );",
        "::frpc::codegen::Method::new( &SECOND_LAYOUT, \"One\", 12, );",
        "::frpc::codegen::Method::new( &SECOND_LAYOUT, \"Three\", 13, );",
    ] {
        assert!(has(&text, line), "generated code should contain {line}: {text}");
    }
}

#[test]
fn operations_are_independent_of_other_files() {
    let source = format!("{HEAD}message A {{}}\nservice S {{ rpc One(A) returns (A); rpc Two(A) returns (A); }}");
    let client = Build::of(&source).text_with(|builder| builder.build_server(false));
    assert!(has(&client, "\"Two\", 11") && has(&client, "SClient") && !has(&client, "SServer"));
    let server = Build::of(&source).text_with(|builder| builder.build_client(false));
    assert!(has(&server, "\"Two\", 11") && has(&server, "SServer") && !has(&server, "SClient"));
    let none = Build::of(&source).text_with(|builder| builder.build_client(false).build_server(false));
    assert!(!has(&none, "codegen"));
}

#[test]
fn each_file_has_operations_of_its_own() {
    let build = Build::of_files(&[
        ("test.proto", &format!("{HEAD}import \"more.proto\";\nservice S {{ rpc One(A) returns (A); }}")),
        ("more.proto", &format!("{HEAD}message A {{}}\nservice More {{ rpc One(A) returns (A); }}")),
    ]);
    let text = build.text();
    assert!(has(&text, "&S_LAYOUT, \"One\", 10)") && has(&text, "&MORE_LAYOUT, \"One\", 100)"), "{text}");
}

#[test]
fn idempotent_methods_are_marked() {
    let text = generated(
        "message A {}
         service S {
           rpc Plain(A) returns (A);
           rpc Get(A) returns (A) { option idempotency_level = NO_SIDE_EFFECTS; }
           rpc Put(A) returns (A) { option idempotency_level = IDEMPOTENT; }
         }",
    );
    assert!(has(&text, "\"Plain\", 10, );"));
    assert!(has(&text, "\"Get\", 11, ) .without_side_effects();"), "{text}");
    assert!(has(&text, "\"Put\", 12, ) .idempotent();"));
}

#[test]
fn field_groups_keep_declaration_order() {
    let text = generated(
        "message A {
           A message_1 = 12;
           repeated A list_1 = 11;
           string single_1 = 10;
           map<string, int32> map_1 = 9;
           optional int32 single_2 = 8;
           optional A message_2 = 7;
           repeated bytes list_2 = 6;
           bytes single_3 = 5;
         }",
    );
    let order = ["single_1", "single_2", "single_3", "list_1", "list_2", "message_1", "map_1", "message_2"];
    assert_eq!(encoded_names(&text), order);
    let decoded = text.split("fn decode_fields").nth(1).unwrap();
    let mut at = 0;
    for name in order {
        at += decoded[at..].find(&format!("\"{name}\"")).expect("fields should be decoded in the order of encoding");
    }
}

#[test]
fn oneof_is_encoded_at_its_first_member() {
    let text = generated(
        "message A {
           bool before = 1;
           oneof choice { A inner = 2; int32 number = 3; }
           string behind = 4;
           repeated int32 list = 5;
         }",
    );
    assert_eq!(encoded_names(&text), ["before", "choice", "number", "behind", "list", "inner"]);
    // In the extended encoding, members are numbered in the order of declaration.
    assert!(has(&text, "to.flat_member::<::frpc::prost::alloc::boxed::Box<A>>("), "{text}");
    let number = "Self::Number(value) => to.member::<i32>(\"number\", 2, value)";
    assert!(has(&text, number), "{text}");
    assert!(has(&text, "2 => Self::Number(from.field_as::<i32>(\"number\")?)"), "{text}");
}

#[test]
fn field_named_from_causes_no_collision() {
    let text = generated("message A { int32 from_ = 1; oneof from { int32 x = 2; string y = 3; } }");
    // prost names the first field `from`, so the second one is named `from_`.
    assert!(has(&text, "let from__ = from.field(\"from_\")?;"), "{text}");
    assert!(has(&text, "let mut from_ = from.oneof(\"from\")?;"), "{text}");
    assert!(has(&text, "Ok(Self { from: from__, from_: from_.into_option() })"), "{text}");
}

#[test]
fn enums_encode_declaration_index_and_first_alias() {
    let text =
        generated("enum E { option allow_alias = true; ZERO = 0; FAR = 1000; AWAY = 1000; BELOW = -2147483648; }");
    assert!(has(&text, "match number { 0 => Some(0), 1000 => Some(1), -2147483648 => Some(3), _ => None, }"), "{text}");
    assert!(has(
        &text,
        "match index { 0 => Some(0), 1 => Some(1000), 2 => Some(1000), 3 => Some(-2147483648), _ => None }"
    ));
}

#[test]
fn full_names_hold_at_every_depth() {
    let text = generated("message A { message B { message C {} enum E { Z = 0; } oneof o { C c = 1; } } }");
    for name in ["test.A", "test.A.B", "test.A.B.C", "test.A.B.E"] {
        assert!(has(&text, &format!("const NAME: &'static str = \"{name}\";")), "{name}");
    }
    assert!(!has(&text, "frpc_build_type"), "no marker should remain");
}

#[test]
fn any_names_give_valid_rust() {
    let keywords = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proto/keywords.proto");
    let source = std::fs::read_to_string(keywords).unwrap();
    let build = Build::of(&source);
    build.run(|builder| builder, &["test.proto"]).unwrap();
    // prost-build writes `r#type`, whereas `include_proto!` uses the package name as spelled in the schema.
    assert_eq!(files_in(&build.out()), ["r#type.keywords.rs", "type.keywords.rs"]);
    let text = build.read("type.keywords.rs");
    syn::parse_file(&text).unwrap();
    assert_eq!(build.read("r#type.keywords.rs"), text);
    assert!(has(&text, "to.field(\"type\", &self.r#type)?"));
    assert!(has(&text, "Keywords::r#match(&*service, request).await"));
    assert!(has(&text, "Keywords::self_(&*service, request).await"));
}

#[test]
fn taken_names_get_trailing_underscore() {
    let text = generated(
        "message Echo {}
         message EchoServer {}
         service echo { rpc New(Echo) returns (Echo); rpc Connect(Echo) returns (Echo); rpc Clone(Echo) returns (Echo); }",
    );
    assert!(has(&text, "pub trait Echo_:") && has(&text, "pub struct EchoServer_<S>"), "{text}");
    assert!(has(&text, "pub struct EchoClient {"));
    for name in ["new_", "connect_", "clone_"] {
        assert!(has(&text, &format!("fn {name}(&self,")), "trait should have the method {name}");
        assert!(has(&text, &format!("pub fn {name}(&self,")), "client should have the method {name}");
        assert!(has(&text, &format!("Echo_::{name}(&*service, request)")));
    }
    // The names on the wire and in errors do not change.
    assert!(has(&text, "\"test.echo\", &[10, 11, 12]") && has(&text, "&ECHO_LAYOUT, \"New\", 10"));
}

#[test]
fn small_service_takes_at_most_150_lines() {
    let source = format!(
        "{HEAD}message A {{}}\n// Comment.\nservice Greeter {{\n  // One.\n  rpc SayHello(A) returns (A);\n  \
         // Two.\n  rpc Watch(A) returns (stream A);\n}}"
    );
    let text = Build::of(&source).text();
    let service = &text[text.find("const GREETER_").unwrap()..];
    assert!(service.lines().count() <= 150, "generated service has {} lines", service.lines().count());
}

#[test]
fn comments_stand_on_traits_clients_and_methods() {
    let text = Build::of(&format!(
        "{HEAD}message A {{}}\n// Of the service.\nservice S {{\n  // Of the method.\n  rpc Get(A) returns (A); // Behind it.\n  rpc Bare(A) returns (A);\n}}"
    ))
    .text();
    assert!(
        has(
            &text,
            "/// Of the service.\n#[allow(clippy::all, clippy::pedantic, dead_code, deprecated, unreachable_pub)]\npub trait S"
        ),
        "{text}"
    );
    assert_eq!(text.matches("    /// Of the method.\n    ///\n    /// Behind it.\n").count(), 2);
    assert_eq!(text.matches("    /// The method `Bare`.\n").count(), 2);
}

#[test]
fn disabled_comments_are_left_out() {
    let source =
        format!("{HEAD}// Of A.\nmessage A {{}}\n// Of S.\nservice S {{\n  // Of Get.\n  rpc Get(A) returns (A);\n}}");
    let text = Build::of(&source).text_with(|builder| builder.disable_comments("."));
    assert!(!has(&text, "Of "), "{text}");
    let text = Build::of(&source).text_with(|builder| builder.disable_comments([".test.S.Get", ".test.A"]));
    assert!(has(&text, "Of S.") && !has(&text, "Of A.") && !has(&text, "Of Get."), "{text}");
}

/// Regression test: `disable_comments` ignored the paths of oneofs and of their fields.
#[test]
fn disabled_oneof_comments_are_omitted() {
    let source = format!(
        "{HEAD}message A {{\n  // Of one.\n  oneof one {{\n    // Of b.\n    int32 b = 1;\n    // Of c.\n    \
         string c = 2;\n  }}\n  // Of d.\n  int32 d = 3;\n}}\nservice S {{ rpc Get(A) returns (A); }}"
    );
    for (path, shown) in [
        (".test.A.one", [false, false, false, true]),
        ("A.one.b", [true, false, true, true]),
        ("A.b", [true, false, true, true]),
        (".test.A.d", [true, true, true, false]),
        ("", [true; 4]),
    ] {
        let text = Build::of(&source).text_with(|builder| builder.json(true).disable_comments(path));
        assert_eq!(["one", "b", "c", "d"].map(|name| has(&text, &format!("Of {name}."))), shown, "{path}: {text}");
    }
}

/// Regression test: servers showed the comments of the values to callers.
#[test]
fn disabled_enum_comments_are_omitted_from_schema() {
    let source = format!(
        "{HEAD}// Of E.\nenum E {{\n  // Of Z.\n  Z = 0;\n}}\nmessage A {{ E e = 1; }}\n\
         service S {{ rpc Get(A) returns (A); }}"
    );
    let text = Build::of(&source).text_with(|builder| builder.json(true));
    assert!(has(&text, r#"\"description\":\"Of E.\\u000aZ: Of Z.\""#), "{text}");
    for path in [".test.E", ".test"] {
        let text = Build::of(&source).text_with(|builder| builder.json(true).disable_comments(path));
        assert!(!has(&text, "Of E.") && !has(&text, "Of Z."), "{path}: {text}");
    }
    let text = Build::of(&source).text_with(|builder| builder.json(true).disable_comments(".test.E.Z"));
    assert!(has(&text, "Of E.") && !has(&text, "Of Z."), "{text}");
}

#[test]
fn attributes_go_where_their_path_points() {
    let source =
        format!("{HEAD}message A {{ string b = 1; }}\nenum E {{ Z = 0; }}\nservice S {{}}\nservice Other {{}}");
    let text = Build::of(&source).text_with(|builder| {
        builder
            .type_attribute(".", "#[on_type]")
            .message_attribute("A", "#[on_message]")
            .enum_attribute(".test.E", "#[on_enum]")
            .field_attribute("A.b", "#[on_field]")
            .client_attribute("test.S", "#[on_client]")
            .server_attribute(".test.S", "#[on_server]")
            .trait_attribute("Other", "#[on_trait]")
    });
    assert_eq!(text.matches("#[on_type]").count(), 2);
    assert_eq!(text.matches("#[on_message]").count(), 1);
    assert_eq!(text.matches("#[on_enum]").count(), 1);
    assert!(has(&text, "#[on_field] pub b:"));
    assert!(has(&text, "#[on_client] pub struct SClient"), "{text}");
    assert!(has(&text, "#[on_server] pub struct SServer"));
    assert!(has(&text, "#[on_trait] pub trait Other"));
    assert_eq!(text.matches("#[on_client]").count() + text.matches("#[on_trait]").count(), 2);
}

#[test]
fn bytes_and_map_types_are_configurable() {
    let source =
        format!("{HEAD}message A {{ bytes a = 1; bytes b = 2; map<int32, string> c = 3; map<int32, A> d = 4; }}");
    let text = Build::of(&source).text_with(|builder| builder.bytes("A.a").btree_map([".test.A.d"]));
    assert!(has(&text, "pub a: ::frpc::prost::bytes::Bytes,"), "{text}");
    assert!(has(&text, "pub b: ::frpc::prost::alloc::vec::Vec<u8>,"));
    assert!(has(&text, "pub c: ::std::collections::HashMap<i32,"));
    assert!(has(&text, "pub d: ::frpc::prost::alloc::collections::BTreeMap<i32, A>"));
}

/// Regression test: a path to a package or message boxed all of its fields, which prost's derive macro rejects.
#[test]
fn boxed_path_selects_only_message_fields() {
    let schema = "syntax = \"proto3\";\npackage test;\nenum E { ZERO = 0; }\nmessage B { string text = 1; }\n\
                  message A { B one = 1; E kind = 2; string text = 3; repeated B many = 4; map<int32, B> map = 5; \
                  optional bytes maybe = 6; oneof by { B part = 7; string word = 8; } }";
    for path in [".", ".test", ".test.A", "A.one"] {
        let text = Build::of(schema).text_with(|builder| builder.boxed(path));
        let text = text.split("pub struct A {").nth(1).unwrap();
        for expected in [
            "one: ::core::option::Option<::frpc::prost::alloc::boxed::Box<B>>",
            "pub kind: i32",
            "pub text: ::frpc::prost::alloc::string::String",
            "pub many: ::frpc::prost::alloc::vec::Vec<B>",
            "maybe: ::core::option::Option<::frpc::prost::alloc::vec::Vec<u8>>",
            "Word(::frpc::prost::alloc::string::String)",
        ] {
            assert!(has(text, expected), "{path} {expected}: {text}");
        }
        assert_eq!(has(text, "Part(::frpc::prost::alloc::boxed::Box<super::B>)"), path != "A.one", "{path}: {text}");
    }
}

#[test]
fn only_selected_strings_are_shared() {
    let source = format!(
        "{HEAD}message A {{ string a = 1; string b = 2; optional string c = 3; repeated string d = 4;
         map<string, string> e = 5; oneof f {{ string g = 6; string h = 7; }} String i = 8; }}
         message String {{ string a = 1; oneof string {{ string b = 2; }} }}"
    );
    let paths = ["A.a", ".test.A.c", "d", "A.e", "A.g", "A.i", "String.string"];
    let text = Build::of(&source).text_with(|builder| builder.utf8_bytes(paths));
    for line in [
        "#[prost(bytes = \"bytes\", tag = \"1\")] pub a: ::frpc::polyglot::Utf8Bytes,",
        "#[prost(string, tag = \"2\")] pub b: ::frpc::prost::alloc::string::String,",
        "#[prost(string, optional, tag = \"3\")] pub c: ::core::option::Option<::frpc::polyglot::Utf8Bytes>,",
        "#[prost(bytes = \"bytes\", repeated, tag = \"4\")] pub d: ::frpc::prost::alloc::vec::Vec<::frpc::polyglot::Utf8Bytes>,",
        "#[prost(map = \"string, bytes\", tag = \"5\")]",
        "#[prost(bytes = \"bytes\", tag = \"6\")] G(::frpc::polyglot::Utf8Bytes)",
        "#[prost(string, tag = \"7\")] H(::frpc::prost::alloc::string::String)",
        "pub i: ::core::option::Option<String>,",
        "#[prost(string, tag = \"2\")] B(::frpc::prost::alloc::string::String)",
        "f.debug_struct(\"A\")",
    ] {
        assert!(has(&text, line), "generated code should contain {line}: {text}");
    }
    assert_eq!(
        text.matches("prost_path = \"::frpc::codegen::utf8_bytes\"").count(),
        2,
        "A and its oneof should have the attribute"
    );
}

#[test]
fn ordered_map_messages_have_debug_without_prost() {
    let source = format!("{HEAD}message A {{ map<int32, string> type = 1; }}\nmessage B {{ int32 c = 1; }}");
    let text = Build::of(&source).text_with(|builder| builder.btree_map("."));
    assert!(has(&text, "#[prost(skip_debug)] pub struct A"), "{text}");
    assert!(has(&text, "f.debug_struct(\"A\").field(\"type\", &self.r#type).finish()"));
    assert_eq!(text.matches("skip_debug").count(), 1);
    let text = Build::of(&source).text_with(|builder| builder.btree_map(".").skip_debug("A"));
    assert!(!text.contains("fmt::Debug"), "types that skip `Debug` should not implement it");
}

#[test]
fn extern_types_are_used_and_not_generated() {
    let files = [
        (
            "test.proto",
            &*format!(
                "{HEAD}import \"other.proto\";\nmessage A {{ other.B b = 1; other.E e = 2; oneof o {{ other.E f = 3; \
                 }} }}\nservice S {{ rpc Get(other.B) returns (A); }}"
            ),
        ),
        ("other.proto", "syntax = \"proto3\";\npackage other;\nmessage B {}\nenum E { Z = 0; }"),
    ];
    let build = Build::of_files(&files);
    let text = build.text_with(|builder| builder.extern_path(".other", "::other_crate::types"));
    assert_eq!(files_in(&build.out()), ["test.rs"]);
    assert!(has(&text, "pub b: ::core::option::Option<::other_crate::types::B>,"), "{text}");
    assert!(has(&text, "to.field_as::<::frpc::polyglot::Index<::other_crate::types::E>>(\"e\", &self.e)?"));
    assert!(has(&text, "to.flat_member::<::frpc::polyglot::Index<::other_crate::types::E>>("), "{text}");
    assert!(has(&text, "request: ::frpc::Request<::other_crate::types::B>"));
}

#[test]
fn extern_types_restrict_derives() {
    let files = [
        (
            "test.proto",
            &*format!(
                "{HEAD}import \"other.proto\";\nmessage Direct {{ other.B b = 1; }}\nmessage Outer {{ map<int32, Direct> \
                 directs = 1; }}\nmessage Choice {{ oneof o {{ other.B b = 1; }} }}\nmessage Plain {{ int32 number = 1; }}"
            ),
        ),
        ("other.proto", "syntax = \"proto3\";\npackage other;\nmessage B {}"),
    ];
    let build = Build::of_files(&files);
    let text = build.text_with(|builder| builder.extern_path(".other", "::other_crate::types"));
    for name in ["struct Direct", "struct Outer", "struct Choice", "enum O"] {
        let before = text.split(&format!("pub {name}")).next().expect("`split` should return at least one part");
        let (_, derive) = before.rsplit_once("#[derive(").expect("type should derive traits");
        assert!(derive.starts_with("Clone, PartialEq, ::"), "{name}: {derive}");
    }
    assert!(has(&text, "#[derive(Clone, Copy, PartialEq, Eq, Hash, ::frpc::prost::Message)]"), "{text}");
}

/// Regression test: enums that are declared in such a message were taken for its oneofs. They lost `Eq`, without which
/// the derived `Ord` does not compile.
#[test]
fn extern_types_leave_derives_of_enums_unchanged() {
    let test = format!("{HEAD}import \"other.proto\";\nmessage A {{ enum E {{ Z = 0; }} other.B b = 1; E e = 2; }}");
    let other = "syntax = \"proto3\";\npackage other;\nmessage B {}";
    let build = Build::of_files(&[("test.proto", &test), ("other.proto", other)]);
    let text = build.text_with(|builder| builder.extern_path(".other", "::other_crate::types"));
    let derive = "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::frpc::prost::Enumeration)]";
    assert!(has(&text, derive), "{text}");
}

#[test]
fn oneof_enums_are_resolved_from_both_modules() {
    let text = generated("message A { enum E { Z = 0; } oneof o { E own = 1; F far = 2; } }\nenum F { Y = 0; }");
    // First next to the struct, then inside the module of the oneof.
    assert!(
        has(&text, "flat_member::<::frpc::polyglot::Index<a::E>>(")
            && has(&text, "flat_member::<::frpc::polyglot::Index<F>>("),
        "{text}"
    );
    assert!(
        has(&text, "member::<::frpc::polyglot::Index<E>>(\"own\", 1")
            && has(&text, "member::<::frpc::polyglot::Index<super::F>>(\"far\", 2")
    );
}

#[test]
fn include_file_nests_modules_like_packages() {
    let build = Build::of_files(&[
        (
            "test.proto",
            "syntax = \"proto3\";\npackage a.b;\nimport \"c.proto\";\nimport \"a.proto\";\nmessage M { a.c.N n = 1; a.O o = 2; }",
        ),
        ("c.proto", "syntax = \"proto3\";\npackage a.c;\nmessage N {}"),
        ("a.proto", "syntax = \"proto3\";\npackage a;\nmessage O {}"),
    ]);
    build.run(|builder| builder.include_file("all.rs"), &["test.proto"]).unwrap();
    assert_eq!(files_in(&build.out()), ["a.b.rs", "a.c.rs", "a.rs", "all.rs"]);
    let text: String = build
        .read("all.rs")
        .lines()
        .filter(|line| !line.starts_with("#[allow") && !line.contains("//"))
        .collect::<Vec<_>>()
        .join(" ");
    assert_eq!(
        squeezed(&text),
        squeezed(
            "pub mod a { include!(\"a.rs\"); pub mod b { include!(\"a.b.rs\"); } pub mod c { include!(\"a.c.rs\"); } }"
        )
    );
    assert!(build.read("a.b.rs").contains("super::c::N"));
}

#[test]
fn unchanged_output_is_not_rewritten() {
    let build = Build::of(&format!("{HEAD}message A {{}}"));
    build.text();
    let path = build.out().join("test.rs");
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    build.text();
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
}

#[test]
fn wrappers_are_named_where_they_are_fields() {
    let text = generated(
        "import \"google/protobuf/wrappers.proto\";\nimport \"google/protobuf/timestamp.proto\";
         message A {
           google.protobuf.StringValue name = 1;
           map<int32, google.protobuf.BoolValue> flags = 2;
           google.protobuf.Timestamp at = 3;
           oneof choice { google.protobuf.Int32Value number = 4; }
         }",
    );
    for line in [
        "to.field_as::< ::core::option::Option<::frpc::polyglot::wellknown::StringValue>, >(\"name\", &self.name)?;",
        "to.field_as::< ::std::collections::HashMap<i32, ::frpc::polyglot::wellknown::BoolValue>, >(\"flags\", &self.flags)?;",
        "to.field(\"at\", &self.at)?;",
        "Self::Number(value) => { to.member::< ::frpc::polyglot::wellknown::Int32Value, >(\"number\", 1, value) }",
    ] {
        assert!(has(&text, line), "generated code should contain {line}: {text}");
    }
}

#[test]
fn well_known_types_can_be_compiled() {
    let build = Build::of(&format!(
        "{HEAD}import \"google/protobuf/struct.proto\";\nimport \"google/protobuf/descriptor.proto\";\n\
         extend google.protobuf.FileOptions {{ string x = 50001; }}\nmessage A {{ google.protobuf.Value v = 1; }}"
    ));
    build.run(|builder| builder.compile_well_known_types(true), &["test.proto"]).unwrap();
    assert_eq!(files_in(&build.out()), ["google.protobuf.rs", "test.rs"]);
    assert!(build.read("google.protobuf.rs").contains("impl ::frpc::polyglot::Fields for Struct"));
}

#[test]
fn protobuf_codec_only_encloses_messages() {
    let source = format!("{HEAD}message A {{ enum E {{ Z = 0; }} oneof o {{ E e = 1; A a = 2; }} }}");
    let text = Build::of(&source).text_with(|builder| builder.codec(frpc_build::Codec::Protobuf));
    assert!(has(&text, "impl ::frpc::polyglot::Message for A { const NAME: &'static str = \"test.A\";"), "{text}");
    assert!(has(&text, "::frpc::codegen::encode_protobuf(self, to)"));
    for absent in ["Fields", "Oneof for", "Enumeration for"] {
        assert!(!has(&text, absent), "{absent}");
    }
}

#[test]
fn requested_dyn_trait_boxes_futures_and_serves() {
    let source = format!(
        "{HEAD}message A {{}}\nmessage DynOne {{}}\nservice One {{ rpc Get(A) returns (A); rpc Watch(stream A) returns \
         (stream A); }}"
    );
    let text = Build::of(&source).text_with(|builder| builder.dyn_traits(true));
    assert!(
        has(&text, "pub trait DynOne_: ::core::marker::Send"),
        "trait should be renamed, because a message has its name: {text}"
    );
    assert!(has(&text, "impl<S: One> DynOne_ for S {"));
    assert!(has(&text, "impl One for ::std::sync::Arc<dyn DynOne_> {"));
    assert!(has(&text, "::std::boxed::Box::pin(One::get(self, request))"));
    assert!(has(&text, "DynOne_::watch(&**self, request)"));
    assert!(!Build::of(&source).text().contains("dyn DynOne"));
}

/// Regression test: the type parameter hid the message in the methods of the service.
#[test]
fn type_parameters_hide_no_message() {
    let source = format!("{HEAD}message S {{}}\nmessage T {{}}\nservice One {{ rpc Get(S) returns (T); }}");
    let text = Build::of(&source).text_with(|builder| builder.json(true).dyn_traits(true));
    assert!(has(&text, "impl<S_: One> DynOne for S_ {"), "{text}");
    assert!(has(&text, "impl<S_: One> ::frpc::codegen::Service for OneServer<S_> {"), "{text}");
    assert!(has(&text, "json_format::<S, T>()"), "{text}");
}

/// Regression test: the build panicked.
#[test]
fn service_without_letter_has_constants() {
    let text = generated("message A {} service _1 { rpc _2(A) returns (A); }");
    assert!(has(&text, "static _1_LAYOUT:") && has(&text, "const _1_2:") && has(&text, "fn _2(&self"), "{text}");
}

/// Regression test: the derive macro of prost panicked.
#[test]
fn enum_map_named_like_keyword_is_renamed() {
    let text = generated("enum E { Z = 0; } message A { map<string, E> type = 1; E match = 2; }");
    assert!(has(&text, "pub type_: ::std::collections::HashMap<"), "{text}");
    assert!(has(&text, "pub r#match: i32"), "{text}");
}

/// Regression test: the generated code did not compile, because two methods had the same name.
#[test]
fn field_whose_accessor_is_taken_is_renamed() {
    let text = generated(
        "enum E { Z = 0; } message A { E kind = 1; E set_kind = 2; repeated E of = 3; optional bytes push_of = 4;
         map<string, E> at = 5; repeated E get_at = 6; optional A insert_at = 7; int32 set_set_kind = 8; }",
    );
    for field in ["kind", "set_kind_", "of", "push_of_", "at", "get_at_", "insert_at", "set_set_kind"] {
        assert!(has(&text, &format!("pub {field}: ")), "{field}: {text}");
    }
}

#[test]
fn views_have_free_names_and_message_fields() {
    let source = format!(
        "{HEAD}message A {{ string s = 1; repeated bytes b = 2; map<string, E> m = 3; A a = 4; AView v = 5; }}\n\
         message AView {{ int32 n = 1; }}\nenum E {{ Z = 0; }}"
    );
    let text = Build::of(&source).text();
    assert!(!has(&text, "polyglot::MessageView"), "views should be generated only on request");
    let text = Build::of(&source).text_with(|builder| builder.views(true));
    assert!(
        has(
            &text,
            "pub struct AView_<'a> {
                /// The field `s`.
                pub s: &'a str,
                /// The field `b`.
                pub b: ::frpc::polyglot::List<'a, &'a [u8]>,
                /// The field `m`.
                pub m: ::frpc::polyglot::Map<'a, &'a str, ::frpc::polyglot::Number<E>>,
                /// The field `a`.
                pub a: ::core::option::Option<::frpc::polyglot::Nested<'a, AView_<'a>>>,
                /// The field `v`.
                pub v: ::core::option::Option<AViewView<'a>>,
            }"
        ),
        "{text}"
    );
    assert!(has(&text, "impl ::frpc::polyglot::Viewed for A { type View<'a> = AView_<'a>; }"));
}

#[test]
fn undecoded_requests_change_only_server_trait() {
    let source =
        format!("{HEAD}message A {{}}\nservice S {{ rpc Look(A) returns (A); rpc Read(stream A) returns (A); }}");
    let text = Build::of(&source).text_with(|builder| builder.undecoded_requests("S.Look"));
    assert!(has(&text, "fn look(&self, request: ::frpc::Request<::frpc::Undecoded<A>>)"), "{text}");
    assert!(has(&text, "fn read(&self, request: ::frpc::Request<::frpc::Streaming<A>>)"));
    assert!(has(&text, "pub fn look(&self, request: impl ::frpc::IntoRequest<A>)"));
    let text = Build::of(&source).text_with(|builder| builder.undecoded_requests(["."]));
    assert!(has(&text, "fn read(&self, request: ::frpc::Request<::frpc::Streaming<::frpc::Undecoded<A>>>)"));
}

/// An optimized build takes less than half a second on an idle machine. The limit is higher, because this build is not
/// optimized and may share a core.
#[test]
fn hundred_messages_are_generated_within_seconds() {
    let fields: String = ["int32 a", "string b", "repeated bytes c", "M0 d", "map<string, M1> e", "optional bool f"]
        .iter()
        .zip(1..)
        .map(|(field, number)| format!("{field} = {number}; "))
        .collect();
    let messages: String = (0..100).map(|at| format!("message M{at} {{ {fields} }}\n")).collect();
    let build = Build::of(&format!("{HEAD}{messages}service S {{ rpc Get(M0) returns (M1); }}"));
    let begin = std::time::Instant::now();
    let text = build.text();
    let took = begin.elapsed();
    println!("{} lines in {took:?}", text.lines().count());
    assert!(took < std::time::Duration::from_secs(60), "{took:?}");
}

//! Tests that invalid schemas are rejected, with the position of the problem.

use crate::support::{Build, files_in};
#[allow(dead_code)]
use frpc_build::{Codec, ErrorKind};

/// Returns the error for a proto3 file of package `test` with this body, whose first line is line 3 of the file.
fn error_of(body: &str) -> String {
    Build::of(&format!("syntax = \"proto3\";\npackage test;\n{body}")).error()
}

#[test]
fn unsupported_proto2_features_are_reported() {
    let proto2 = |body: &str| Build::of(&format!("syntax = \"proto2\";\npackage test;\n{body}")).error();
    assert_eq!(
        proto2("message A {\n  optional group B = 1 {}\n}"),
        "test.proto:4:3: field `b` of message `A` is a group; groups are not supported"
    );
    assert_eq!(
        proto2("message A {\n\n  required int32 id = 1;\n}"),
        "test.proto:5:3: field `id` of message `A` is required; required fields are not supported"
    );
    assert_eq!(
        proto2("message A {\n  extensions 100 to 200;\n}"),
        "test.proto:4:14: message `A`: extensions are not supported"
    );
    assert_eq!(
        proto2("message A {\n  extensions 5;\n}\nextend A { optional int32 more = 5; }"),
        "test.proto:6:12: extension `more` of `test.A`: extensions are not supported"
    );
    assert_eq!(
        proto2("message A {\n  optional int32 id = 1 [default = 7];\n}"),
        "test.proto:4:3: field `id` of message `A` has a default value, which is not supported"
    );
}

#[test]
fn tool_that_takes_stream_is_refused() {
    let error = |option: &str| {
        let body =
            "import \"frpc/agent.proto\";\nmessage A {}\nservice S {\n  rpc Up(stream A) returns (A) { OPTION }\n}";
        error_of(&body.replace("OPTION", option))
    };
    assert_eq!(
        error("option (frpc.tool) = true;"),
        "test.proto:6:3: method `Up` of service `S` takes a stream and has the option `(frpc.tool)`: tools take one \
         request; remove the option or the stream"
    );
    let wrong = error("option (frpc.tool) = 1;");
    assert!(wrong.starts_with("test.proto:6:34: expected a value of type 'bool'"), "{wrong}");
    let wrong = error("option (frpc.tools) = true;");
    assert!(wrong.starts_with("test.proto:6:34: ") && wrong.contains("frpc.tools"), "{wrong}");
}

#[test]
fn other_option_with_tool_number_is_ignored() {
    let source = "import \"google/protobuf/descriptor.proto\";\n\
                  extend google.protobuf.MethodOptions { optional bool audited = 83210; }\n\
                  message A {}\nservice S { rpc Up(stream A) returns (A) { option (test.audited) = true; } }";
    let text = Build::of(&format!("syntax = \"proto3\";\npackage test;\n{source}")).text();
    assert!(!text.contains(".tool()"), "{text}");
}

#[test]
fn plain_proto2_is_rejected_at_syntax_line() {
    let error = Build::of("// Two.\nsyntax = \"proto2\";\npackage test;\nmessage A { optional int32 id = 1; }").error();
    assert_eq!(error, "test.proto:2:1: syntax \"proto2\" is not supported; the schema must be proto3");
}

#[test]
fn missing_syntax_line_is_rejected_with_remedy() {
    let text = "the file has no `syntax` line, which makes it proto2; it has to begin with `syntax = \"proto3\";`";
    let error = Build::of("package test;\nmessage A { optional int32 id = 1; }").error();
    assert_eq!(error, format!("test.proto:1:1: {text}"));
    for start in ["", "// syntax\n/* syntax\n */", "\u{feff}"] {
        let error = Build::of(&format!("{start}package test; message A {{ int32 id = 1; }}")).error();
        assert!(error.ends_with(text), "{error}");
    }
    let error = Build::of("// Two.\n/* 2 */ syntax = \"proto2\";\npackage test;\nmessage A { int32 id = 1; }").error();
    assert!(error.starts_with("test.proto:4:13: fields must have a label with proto2 syntax"), "{error}");
}

/// Regression test: errors of sources in memory named folders that do not exist, and a missing `syntax` line that does.
#[test]
fn errors_of_sources_in_memory_are_explained() {
    let error = |text: &str| {
        let sources = vec![("test.proto".to_owned(), text.to_owned())];
        let loaded = frpc_build::configure().load_sources(sources);
        loaded.expect_err("source should be rejected").to_string()
    };
    let text = error("syntax = \"proto2\"; package test; message A { int32 id = 1; }");
    assert!(text.starts_with("test.proto:1:46: fields must have a label with proto2 syntax"), "{text}");
    assert!(error("package test; message A { int32 id = 1; }").contains("the file has no `syntax` line"));
    let text = error("syntax = \"proto3\"; import \"other.proto\";");
    assert!(text.ends_with("import 'other.proto' not found"), "{text}");
}

#[test]
fn edition_is_rejected_in_files_and_sets() {
    let text = "editions are not supported: frpc-build reads schemas with protox, which knows none, so the schema has \
                to begin with `syntax = \"proto3\";` instead, without `features`";
    let build = Build::of("// New.\nedition = \"2023\";\npackage test;");
    assert_eq!(build.error(), format!("test.proto:2:1: {text}"));
    assert_eq!(build.run(|builder| builder, &["test.proto"]).unwrap_err().kind(), ErrorKind::Unsupported);
    let file = prost_types::FileDescriptorProto {
        name: Some("test.proto".to_owned()),
        syntax: Some("editions".to_owned()),
        ..prost_types::FileDescriptorProto::default()
    };
    let set = prost_types::FileDescriptorSet { file: vec![file] };
    let error = frpc_build::configure().out_dir(build.out()).compile_fds(set).unwrap_err();
    assert_eq!(error.to_string(), format!("test.proto: {text}"));
}

#[test]
fn proto2_is_refused_in_import_too() {
    let files = [
        ("test.proto", "syntax = \"proto3\";\npackage test;\nimport \"old.proto\";\nmessage A { Old old = 1; }"),
        ("old.proto", "syntax = \"proto2\";\npackage test;\nmessage Old {\n  required bool it = 1;\n}"),
    ];
    let error = Build::of_files(&files).error();
    assert_eq!(error, "old.proto:4:3: field `it` of message `Old` is required; required fields are not supported");
}

#[test]
fn options_only_proto2_file_is_skipped() {
    let options = "syntax = \"proto2\";\npackage options;\nimport \"google/protobuf/descriptor.proto\";\nextend \
                   google.protobuf.FieldOptions { optional Rules rules = 50001; }\nmessage Rules { optional uint32 \
                   least = 1 [default = 3]; optional Text text = 2; extensions 100 to max; }\nmessage Text { required \
                   bool it = 1; }";
    let source = |body: &str| format!("syntax = \"proto3\";\npackage test;\nimport \"options.proto\";\n{body}");
    let unused =
        source("message A { string a = 1 [(options.rules).least = 3]; }\nservice S { rpc Get(A) returns (A); }");
    let build = Build::of_files(&[("test.proto", &unused), ("options.proto", options)]);
    assert!(build.text().contains("pub struct A"));
    assert_eq!(files_in(&build.out()), ["test.rs"]);
    for used in
        ["message A { options.Text text = 1; }", "service S { rpc Get(options.Rules) returns (options.Rules); }"]
    {
        let error = Build::of_files(&[("test.proto", &source(used)), ("options.proto", options)]).error();
        assert!(error.starts_with("options.proto:5:"), "{error}");
    }
    let error = Build::of_files(&[("test.proto", options)]).error();
    assert!(error.starts_with("test.proto:5:"), "error should name the file itself: {error}");
}

#[test]
fn descriptor_proto_field_type_is_rejected() {
    let error = error_of(
        "import \"google/protobuf/descriptor.proto\";\nmessage A {\n  google.protobuf.FileDescriptorProto file = 1;\n}",
    );
    assert!(
        error.starts_with(
            "test.proto:5:3: field `file` of message `A` has the type `google.protobuf.FileDescriptorProto`: "
        ),
        "{error}"
    );
}

#[test]
fn api_types_in_maps_or_methods_fail() {
    let error =
        error_of("import \"google/protobuf/type.proto\";\nmessage A {\n  map<int32, google.protobuf.Type> m = 1;\n}");
    assert!(
        error.starts_with("test.proto:5:3: field `m` of message `A` has the type `google.protobuf.Type`: "),
        "{error}"
    );
    let error = error_of(
        "import \"google/protobuf/api.proto\";\nmessage A {}\nservice S {\n  rpc Get(A) returns \
         (google.protobuf.Api);\n}",
    );
    assert!(
        error
            .starts_with("test.proto:6:3: the reply of method `Get` of service `S` has the type `google.protobuf.Api`"),
        "{error}"
    );
}

#[test]
fn custom_options_are_no_extensions() {
    let source = "syntax = \"proto3\";\npackage test;\nimport \"google/protobuf/descriptor.proto\";\n\
                  extend google.protobuf.FieldOptions { string hint = 50001; }\n\
                  message A {\n  int32 id = 1 [(hint) = \"x\"];\n}";
    let text = Build::of(source).text();
    assert!(text.contains("pub struct A"));
    assert!(!text.contains("hint"));
}

/// Regression test: such types were errors, which stopped builds of schemas that cannot be changed.
#[test]
fn types_with_same_rust_name_are_numbered() {
    let text = Build::of(
        "syntax = \"proto3\";\npackage test;\n\
         message foo_bar { Inner own = 1; message Inner { map<int32, FooBar> others = 1; } }\n\
         message FooBar { foo_bar other = 1; }\n\
         message Outer { enum kind { A = 0; } message Kind { kind of = 1; } }\n\
         service All { rpc Get(FooBar) returns (Outer.Kind); }",
    )
    .text();
    for expected in [
        "pub struct FooBar2 {",
        "pub enum Kind {",
        "pub struct Kind2 {",
        "HashMap<i32, super::FooBar2>",
        "const NAME: &'static str = \"test.FooBar\"",
        "Option<FooBar>",
        "Request<FooBar2>",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// Regression test: such files could only be read from disk.
#[test]
fn sources_in_memory_are_accepted_like_files() {
    let text = "syntax = \"proto3\"; message A { int32 abc_def = 1; int32 _abc_def = 2; }";
    for start in ["", "\u{feff}"] {
        let sources = vec![("test.proto".to_owned(), format!("{start}{text}"))];
        frpc_build::configure().load_sources(sources).expect("source should be accepted");
    }
}

/// Regression test: such fields were errors, although protoc accepts them since version 22.
#[test]
fn fields_that_differ_in_case_are_renamed() {
    let schema = "syntax = \"proto3\";\npackage test;\nmessage A { int32 abc_def = 1; int32 _abc_def = 2; }";
    let text = Build::of(schema).text_with(|builder| builder.json(true));
    for expected in ["pub abc_def: i32", "pub abc_def_2: i32", "\"AbcDef\""] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn module_conflict_error_names_message_and_package() {
    let message = "syntax = \"proto3\";\npackage test;\nmessage A {}\nmessage B {\n  message C {}\n}\nmessage D {}";
    let package = |name: &str| format!("syntax = \"proto3\";\npackage test.{name};\nmessage C {{}}");
    let build = Build::of_files(&[("test.proto", message), ("b.proto", &package("b")), ("c.proto", &package("b.c"))]);
    let error = |proto| {
        let error = build.run(|builder| builder.include_file("all.rs"), &["test.proto", proto]).unwrap_err();
        assert_eq!(files_in(&build.out()), [""; 0]);
        assert_eq!((error.kind(), error.line()), (ErrorKind::Unsupported, Some(4)));
        error.to_string().split_once("test.proto:4:1: ").unwrap().1.to_owned()
    };
    assert_eq!(
        error("b.proto"),
        "the types in the message `test.B` and the package `test.b` would have the same module `b` in Rust; rename one \
         of them"
    );
    assert!(error("c.proto").contains("and the package `test.b.c` would have the same module `b`"));
    build
        .run(|builder| builder, &["test.proto", "b.proto"])
        .expect("modules without an include file should not collide");
    let build = Build::of_files(&[("test.proto", message), ("d.proto", &package("d"))]);
    build
        .run(|builder| builder.include_file("all.rs"), &["test.proto", "d.proto"])
        .expect("package without a type `D` should not collide");
}

/// Regression test: the code of both packages was in one module.
#[test]
fn packages_that_differ_in_case_are_rejected() {
    let other = "syntax = \"proto3\";\npackage Test;\nmessage B {}";
    let build = Build::of_files(&[("test.proto", "syntax = \"proto3\";\npackage test;"), ("other.proto", other)]);
    let error = build.run(|builder| builder, &["test.proto", "other.proto"]).unwrap_err().to_string();
    let text = "the packages `test` and `Test` would have the same module in Rust; rename one of them";
    assert!(error.ends_with(&format!("other.proto:2:1: {text}")), "{error}");
    assert_eq!(files_in(&build.out()), [""; 0]);
}

#[test]
fn enum_values_sharing_rust_name_are_numbered() {
    let text = Build::of(
        "syntax = \"proto3\";\npackage test;\n\
         enum Color { COLOR_RED = 0; RED = 1; Red = 2; RED1 = 3; RED_1 = 4; }",
    )
    .text();
    for expected in ["    Red12 = 4,\n", "Self::Red2 => \"RED\",", "\"Red\" => Some(Self::Red3),"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// Regression test: values were numbered as if their prefix had been removed.
#[test]
fn retained_enum_prefix_keeps_values_distinct() {
    let schema = "syntax = \"proto3\";\npackage test;\nenum Color { COLOR_RED = 0; RED = 1; Red = 2; }";
    let text = Build::of(schema).text_with(frpc_build::Builder::retain_enum_prefix);
    for expected in ["    ColorRed = 0,\n", "    Red = 1,\n", "    Red2 = 2,\n"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn aliases_of_one_name_are_no_collision() {
    let text = Build::of(
        "syntax = \"proto3\";\npackage test;\n\
         enum Color {\n  option allow_alias = true;\n  COLOR_RED = 0;\n  RED = 0;\n}",
    )
    .text();
    assert!(text.contains("Red = 0"));
}

#[test]
fn oneofs_with_same_camel_case_are_refused() {
    let text = error_of("message M { oneof a_b { int32 x = 1; } oneof aB { int32 y = 2; } }");
    assert_eq!(text, "`test.M.a_b` and `test.M.aB` are both called `AB` in Rust; rename one of them");
}

/// Regression test: protoc rejects such a schema, so peers in other languages could not compile it.
#[test]
fn message_hidden_by_method_is_refused() {
    let error = error_of("message A {}\nservice S {\n  rpc A(A) returns (.test.A);\n}");
    let expected = "test.proto:5:3: the request of method `A` of service `S`: `A` is a method in this scope, as protoc \
                    sees it; write `.test.A`";
    assert_eq!(error, expected);
    let qualified =
        "message A {}\nservice S {\n  rpc A(.test.A) returns (test.A);\n  rpc B(stream .test.A) returns (.test.A);\n}";
    Build::of(&format!("syntax = \"proto3\";\npackage test;\n{qualified}")).text();
}

#[test]
fn names_without_letter_are_refused() {
    assert_eq!(error_of("message __ {}"), "test.proto:3:1: message `__`: a name needs a letter or a digit");
}

#[test]
fn unmappable_types_are_rejected_when_json_enabled() {
    let api = "import \"google/protobuf/api.proto\";\nmessage A { google.protobuf.Api api = 1; }";
    let build = Build::of(&format!("syntax = \"proto3\";\npackage test;\n{api}"));
    build.run(|builder| builder.codec(Codec::Protobuf), &["test.proto"]).unwrap();
    let error = build.run(|builder| builder.codec(Codec::Protobuf).json(true), &["test.proto"]).unwrap_err();
    assert!(error.to_string().contains("test.proto:4:13: field `api`"), "{error}");
}

#[test]
fn fields_with_same_json_name_are_rejected() {
    let source = "syntax = \"proto3\";\npackage test;\nmessage A { int32 a = 1; int32 b = 2 [json_name = \"a\"]; }";
    let build = Build::of(source);
    let error = build.run(|builder| builder.json(true), &["test.proto"]).unwrap_err();
    assert!(error.to_string().contains("`a`") || error.to_string().contains("'a'"), "{error}");
}

#[test]
fn parser_errors_keep_their_position() {
    let error = error_of("message A {\n  int32 id = ;\n}");
    assert!(error.starts_with("test.proto:4:14: "), "{error}");
    let error = error_of("message A {\n  Missing it = 1;\n}");
    assert!(error.starts_with("test.proto:4:3: ") && error.contains("Missing"), "{error}");
    let error = error_of("import \"missing.proto\";");
    assert!(error.starts_with("test.proto:3:1: ") && error.contains("missing.proto"), "{error}");
}

#[test]
fn vague_parser_errors_are_explained() {
    let error = error_of("import \"../other.proto\";");
    assert!(error.ends_with("imports are looked up in the folders of includes"), "{error}");
    let build = Build::of("syntax = \"proto3\";\npackage test;\nimport \"other.proto\";");
    let error = build.error();
    assert!(error.starts_with("test.proto:3:1: import 'other.proto' not found in "), "{error}");
}

#[test]
fn errors_expose_line_and_column() {
    let build = Build::of("syntax = \"proto3\";\nmessage __ {}");
    let error = build.run(|builder| builder, &["test.proto"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!((error.line(), error.column()), (Some(2), Some(1)));
    assert!(error.file().unwrap().ends_with("test.proto"));
    assert_eq!(format!("{error:?}"), error.to_string(), "debug text should be the message, because cargo shows it");
}

#[test]
fn missing_file_error_names_file() {
    let error = frpc_build::compile_protos("proto/missing.proto").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Schema);
    assert_eq!(error.to_string(), "proto/missing.proto: no such file");
}

#[test]
fn malformed_attribute_is_rejected_without_panic() {
    let build = Build::of("syntax = \"proto3\";\npackage test;\nmessage A {}\nservice S {}");
    let error = build.run(|builder| builder.type_attribute(".", "#[derive("), &["test.proto"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Option);
    let error = build.run(|builder| builder.client_attribute(".", "#[derive("), &["test.proto"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Option);
    assert!(error.to_string().contains("#[derive("), "{error}");
}

/// Regression test: the file included itself instead of the code of the package.
#[test]
fn include_file_named_like_package_is_refused() {
    let build = Build::of("syntax = \"proto3\";\npackage test;\nmessage A {}");
    for name in ["test.rs", "./test.rs"] {
        let error = build.run(|builder| builder.include_file(name), &["test.proto"]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Option);
        assert_eq!(
            error.to_string(),
            format!("`include_file({name:?})` has the name of a file with the code of a package; choose another name")
        );
        assert_eq!(files_in(&build.out()), [""; 0]);
    }
}

#[test]
fn missing_output_folder_is_error() {
    let build = Build::of("syntax = \"proto3\";\npackage test;\nmessage A {}");
    let error = build.run(|builder| builder.out_dir(build.around.path().join("none")), &["test.proto"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
}

#[test]
fn options_that_exclude_each_other_are_errors() {
    use frpc_build::{Builder, Codec};
    let build = Build::of("syntax = \"proto3\";\nmessage A {}");
    let error = |configure: fn(Builder) -> Builder| build.run(configure, &["test.proto"]).unwrap_err().to_string();
    assert_eq!(
        error(|builder| builder.codec(Codec::Protobuf).views(true)),
        "`views(true)` needs the Polyglot codec: protobuf has no views"
    );
    assert!(
        error(|builder| builder.codec(Codec::Protobuf).undecoded_requests("."))
            .starts_with("`undecoded_requests` needs the")
    );
}

#[test]
fn options_for_unsuitable_elements_fail_without_output() {
    use frpc_build::Builder;
    let source = "syntax = \"proto3\";\npackage test;\nimport \"google/protobuf/wrappers.proto\";\n\
                  message A { oneof by { int32 number = 1; B b = 2; } }\nmessage B { int32 a = 1; }\n\
                  service S { rpc Get(google.protobuf.StringValue) returns (A); }";
    let build = Build::of(source);
    let error = |configure: fn(Builder) -> Builder| build.run(configure, &["test.proto"]).unwrap_err();
    let boxed = error(|builder| builder.boxed("A.by.b"));
    assert_eq!(boxed.kind(), ErrorKind::Option);
    assert!(boxed.to_string().starts_with("`boxed` is set for a member of a oneof, `B` in Rust"), "{boxed}");
    let raw = error(|builder| builder.undecoded_requests(".test.S"));
    assert_eq!(raw.kind(), ErrorKind::Option);
    assert!(raw.to_string().contains("`test.S.Get`, whose request is a `google.protobuf.StringValue`"), "{raw}");
    build.run(|builder| builder.compile_well_known_types(true).undecoded_requests(".test.S"), &["test.proto"]).unwrap();
}

/// Regression test: a file that was named as in imports was rejected as shadowed if `.` was an include folder.
#[test]
fn file_is_found_by_import_name_beside_current_folder() {
    let load = |includes: &[&str]| frpc_build::configure().load_protos(&["shop/orders.proto"], includes);
    for includes in [[".", "tests/proto"], ["tests/proto", "."]] {
        load(&includes).expect("file should be found in an include folder");
    }
}

/// Regression test: a file outside of the include folders was silently replaced by a file of the same name within one.
#[test]
fn file_outside_of_includes_is_not_replaced() {
    let build = Build::of_files(&[("tests/proto/vec.proto", "syntax = \"proto3\";")]);
    let includes = [build.protos.path()];
    let error = frpc_build::configure().load_protos(&["tests/proto/vec.proto"], &includes).unwrap_err().to_string();
    assert!(error.contains("path 'tests/proto/vec.proto' is shadowed by "), "{error}");
}

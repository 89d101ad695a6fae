//! Tests that run the plugin like protoc, with a request and a response.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use frpc_build::Codec;
use frpc_languages::TypeScript;
use prost::Message as _;
use prost_types::FileDescriptorSet;
use prost_types::compiler::{CodeGeneratorRequest, CodeGeneratorResponse};
use tempfile::TempDir;

const SHOP: &str = r#"syntax = "proto3";
package shop;
import "money/money.proto";
import "shop/items.proto";

// All orders.
service Orders {
  rpc Get(Request) returns (stream Item);
}

message Request {
  optional string id = 1;
  money.Sum most = 2;
}
"#;
const ITEMS: &str = "syntax = \"proto3\";\npackage shop;\n// Something.\nmessage Item {\n  bytes image = 1;\n}\n";
const MONEY: &str = "syntax = \"proto3\";\npackage money;\nmessage Sum {\n  int64 units = 1;\n}\nservice Bank {\n  rpc Pay(Sum) returns (Sum);\n}\n";

fn schema() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, source) in [("shop/shop.proto", SHOP), ("shop/items.proto", ITEMS), ("money/money.proto", MONEY)] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, source).unwrap();
    }
    folder
}

/// Returns the request that protoc would send for `chosen`.
fn request(folder: &Path, chosen: &[&str], parameter: &str) -> CodeGeneratorRequest {
    let mut compiler = protox::Compiler::new([folder]).unwrap();
    compiler.include_imports(true).include_source_info(true);
    compiler.open_files(chosen).unwrap();
    let set = FileDescriptorSet::decode(&compiler.encode_file_descriptor_set()[..]).unwrap();
    CodeGeneratorRequest {
        file_to_generate: chosen.iter().map(|name| (*name).to_owned()).collect(),
        parameter: Some(parameter.to_owned()),
        proto_file: set.file,
        compiler_version: None,
    }
}

fn start(input: &[u8], variables: &[(&str, &str)]) -> Output {
    start_with(&[], input, variables)
}

fn start_with(arguments: &[&str], input: &[u8], variables: &[(&str, &str)]) -> Output {
    // Run in an empty folder, which must stay empty.
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_protoc-gen-frpc"))
        .args(arguments)
        .current_dir(folder.path())
        .env_remove("CARGO") // Set for the test, but not for the plugin when protoc runs it.
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Ignore errors, because the plugin may exit without reading all input.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "plugin should write no files itself");
    output
}

fn respond(request: &CodeGeneratorRequest) -> CodeGeneratorResponse {
    let output = start(&request.encode_to_vec(), &[]);
    assert!(output.status.success(), "{output:?}");
    CodeGeneratorResponse::decode(&output.stdout[..]).unwrap()
}

fn files(response: CodeGeneratorResponse) -> BTreeMap<String, String> {
    assert_eq!(response.error, None);
    response.file.into_iter().map(|file| (file.name().to_owned(), file.content().to_owned())).collect()
}

#[track_caller]
fn error(request: &CodeGeneratorRequest) -> String {
    let response = respond(request);
    assert!(response.file.is_empty(), "error should be returned without files");
    assert_eq!(response.supported_features(), 1);
    response.error.expect("request should be rejected")
}

/// Returns the output of a build script.
fn built(configure: impl FnOnce(frpc_build::Builder) -> frpc_build::Builder) -> BTreeMap<String, String> {
    let (schema, out) = (schema(), tempfile::tempdir().unwrap());
    let builder = frpc_build::configure().out_dir(out.path()).emit_rerun_if_changed(false);
    configure(builder).compile_protos(&ALL.map(|name| schema.path().join(name)), &[schema.path()]).unwrap();
    let entries = fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())).collect()
}

const ALL: [&str; 3] = ["shop/shop.proto", "shop/items.proto", "money/money.proto"];

#[test]
fn plugin_output_matches_build_script() {
    let schema = schema();
    let response = respond(&request(schema.path(), &ALL, ""));
    assert_eq!(response.supported_features(), 1, "plugin should support `optional` fields");
    assert_eq!(files(response), built(|builder| builder));
}

#[test]
fn parameters_are_options_of_builder() {
    let schema = schema();
    let parameter = r"build_client=false,bytes=.shop.Item.image,type_attribute=.money=#[derive(PartialOrd\, Ord)],include_file=all.rs,operation_base=shop/shop.proto=100,disable_comments=Item,server_attribute=.=#[doc(hidden)],";
    let expected = built(|builder| {
        builder
            .build_client(false)
            .bytes(".shop.Item.image")
            .type_attribute(".money", "#[derive(PartialOrd, Ord)]")
            .include_file("all.rs")
            .operation_base("shop/shop.proto", 100)
            .disable_comments("Item")
            .server_attribute(".", "#[doc(hidden)]")
    });
    let files = files(respond(&request(schema.path(), &ALL, parameter)));
    assert_eq!(files, expected);
    assert!(files["all.rs"].contains("include!(\"shop.rs\");"), "{}", files["all.rs"]);
    assert!(files["shop.rs"].contains("100") && !files["shop.rs"].contains("OrdersClient"));
}

#[test]
fn plugin_parameters_match_builder_options() {
    let schema = schema();
    for (parameter, expected) in [
        ("codec=protobuf", built(|builder| builder.codec(Codec::Protobuf))),
        ("codec=polyglot", built(|builder| builder)),
        ("message_layouts=Item", built(|builder| builder.message_layouts("Item"))),
        ("utf8_bytes=.", built(|builder| builder.utf8_bytes("."))),
        ("dyn_traits", built(|builder| builder.dyn_traits(true))),
        ("protobuf", built(|builder| builder.protobuf(true))),
        ("lint_allows=false", built(|builder| builder.lint_allows(false))),
        ("reflection", built(|builder| builder.reflection(true))),
        ("views,undecoded_requests=Orders", built(|builder| builder.views(true).undecoded_requests("Orders"))),
    ] {
        assert_eq!(files(respond(&request(schema.path(), &ALL, parameter))), expected, "{parameter}");
    }
    let text = error(&request(schema.path(), &ALL, "codec=protobuf,views"));
    assert!(text.contains("needs the Polyglot codec"), "{text}");
}

/// The output equals that of a build script.
#[test]
fn typescript_is_language_of_plugin() {
    let schema = schema();
    let files = files(respond(&request(schema.path(), &ALL, "lang=ts,ts_numbers,ts_runtime=./runtime.js")));
    assert_eq!(files.keys().collect::<Vec<_>>(), ["money.ts", "shop.ts"]);
    assert!(files["shop.ts"].contains("import * as $ from \"./runtime.js\";"), "{}", files["shop.ts"]);
    assert!(files["money.ts"].contains("units: number;"), "{}", files["money.ts"]);
    let typescript = TypeScript::new().numbers(true).runtime("./runtime.js");
    assert_eq!(files, built(|builder| builder.backend(typescript)));
    let refused = error(&request(schema.path(), &ALL, "lang=ts,codec=protobuf"));
    assert!(refused.contains("Polyglot"), "{refused}");
}

#[test]
fn typescript_imports_have_wanted_extension() {
    let schema = schema();
    for (parameter, path) in
        [("", "./money.js"), (",ts_import_extension=ts", "./money.ts"), (",ts_import_extension=none", "./money")]
    {
        let files = files(respond(&request(schema.path(), &ALL, &format!("lang=ts{parameter}"))));
        assert!(files["shop.ts"].contains(&format!("import * as $money from \"{path}\";")), "{}", files["shop.ts"]);
    }
    let refused = error(&request(schema.path(), &ALL, "lang=ts,ts_import_extension=mts"));
    assert!(refused.contains("ts_import_extension=js|ts|none"), "{refused}");
}

#[test]
fn frpc_types_are_generated_in_every_language() {
    let schema = schema();
    fs::create_dir(schema.path().join("frpc")).unwrap();
    fs::write(schema.path().join("frpc/tensor.proto"), include_str!("../../../frpc-build/proto/frpc/tensor.proto"))
        .unwrap();
    let source = "syntax = \"proto3\";\nimport \"frpc/tensor.proto\";\npackage model;\n\
                  message Input { frpc.Tensor tensor = 1; frpc.Image image = 2; }\n";
    fs::write(schema.path().join("model.proto"), source).unwrap();
    for (language, expected) in [("ts", ["frpc.ts", "model.ts"]), ("py", ["frpc.py", "model.py"])] {
        let files = files(respond(&request(schema.path(), &["model.proto"], &format!("lang={language}"))));
        assert_eq!(files.keys().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn agent_options_are_accepted_in_every_language() {
    let folder = tempfile::tempdir().unwrap();
    let source = "syntax = \"proto3\";\nimport \"frpc/agent.proto\";\npackage shop;\nmessage A {}\n\
                  service Shop {\n  rpc Buy(A) returns (A) { option (frpc.tool) = true; }\n}\n";
    fs::write(folder.path().join("shop.proto"), source).unwrap();
    fs::create_dir(folder.path().join("frpc")).unwrap();
    fs::write(folder.path().join("frpc/agent.proto"), include_str!("../../../frpc-build/proto/frpc/agent.proto"))
        .unwrap();
    let mut compiler = protox::Compiler::new([folder.path()]).unwrap();
    compiler.include_imports(true).open_files(["shop.proto"]).unwrap();
    let set = RawSet::decode(&compiler.encode_file_descriptor_set()[..]).unwrap();
    for (parameter, expected) in [("", "shop.rs"), ("lang=ts", "shop.ts"), ("lang=py", "shop.py")] {
        let request = CodeGeneratorRequest {
            file_to_generate: vec!["shop.proto".to_owned()],
            parameter: Some(parameter.to_owned()),
            ..CodeGeneratorRequest::default()
        };
        let input = [request.encode_to_vec(), RawFiles { proto_file: set.file.clone() }.encode_to_vec()].concat();
        let output = start(&input, &[]);
        assert!(output.status.success(), "{output:?}");
        let files = files(CodeGeneratorResponse::decode(&output.stdout[..]).unwrap());
        assert_eq!(files.keys().collect::<Vec<_>>(), [expected]);
        assert_eq!(files[expected].contains(".tool()"), parameter.is_empty(), "{}", files[expected]);
    }
}

#[test]
fn python_is_language_of_plugin() {
    let schema = schema();
    let files = files(respond(&request(schema.path(), &ALL, "lang=py")));
    assert_eq!(files.keys().collect::<Vec<_>>(), ["money.py", "shop.py"]);
    assert!(files["shop.py"].contains("from . import money as _in_money"), "{}", files["shop.py"]);
    assert!(files["money.py"].contains("class BankAsyncClient("), "{}", files["money.py"]);
    let refused = error(&request(schema.path(), &ALL, "lang=py,codec=protobuf"));
    assert!(refused.contains("Polyglot"), "{refused}");
}

/// Regression test: both packages were imported under one name, so that fields had the types of the wrong package.
#[test]
fn python_imports_of_packages_are_distinct() {
    let folder = tempfile::tempdir().unwrap();
    for package in ["a", "_a"] {
        let source = format!("syntax = \"proto3\";\npackage {package};\nmessage X {{}}\n");
        fs::write(folder.path().join(format!("{package}.proto")), source).unwrap();
    }
    let source = "syntax = \"proto3\";\npackage test;\nimport \"a.proto\";\nimport \"_a.proto\";\n\
                  message Both { a.X first = 1; _a.X second = 2; }\n";
    fs::write(folder.path().join("test.proto"), source).unwrap();
    let files = files(respond(&request(folder.path(), &["test.proto", "a.proto", "_a.proto"], "lang=py")));
    for expected in [
        "from . import a as _in_a\n",
        "from . import _a as _in__a\n",
        "first: _in_a.X | None",
        "second: _in__a.X | None",
    ] {
        assert!(files["test.py"].contains(expected), "{expected}: {}", files["test.py"]);
    }
}

#[test]
fn plugin_generates_without_protoc() {
    let (schema, out) = (schema(), tempfile::tempdir().unwrap());
    let proto = schema.path().join("money/money.proto");
    let arguments = ["generate", "lang=ts", out.path().to_str().unwrap(), proto.to_str().unwrap()];
    let output = start_with(&arguments, &[], &[]);
    assert!(output.status.success(), "{output:?}");
    assert!(fs::read_to_string(out.path().join("money.ts")).unwrap().contains("export class BankClient"));
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    let output = start_with(&["generate", "lang=ts"], &[], &[]);
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("needs"), "{output:?}");
    let [_, _, out, proto] = arguments;
    let below_file = format!("{out}/money.ts/x");
    let output = start_with(&["generate", "-", &below_file, proto], &[], &[]);
    let error = String::from_utf8_lossy(&output.stderr);
    let expected = format!("protoc-gen-frpc: cannot create the output folder {below_file}: ");
    assert!(!output.status.success() && error.starts_with(&expected), "{error}");
}

#[test]
fn code_is_generated_only_for_chosen_files() {
    let schema = schema();
    let files = files(respond(&request(schema.path(), &["shop/shop.proto"], "")));
    assert_eq!(files.keys().collect::<Vec<_>>(), ["shop.rs"]);
    let text = &files["shop.rs"];
    assert!(text.contains("pub struct Request") && text.contains("pub trait Orders"), "{text}");
    assert!(text.contains("super::money::Sum") && text.contains("ResponseStream<Item>"), "{text}");
    assert!(!text.contains("pub struct Item") && !text.contains("Bank"), "{text}");
}

#[test]
fn rejected_schema_is_error_in_response() {
    let schema = schema();
    fs::write(schema.path().join("old.proto"), "syntax = \"proto2\";\nmessage Old {\n  required int32 id = 1;\n}\n")
        .unwrap();
    let text = error(&request(schema.path(), &["old.proto"], ""));
    assert_eq!(text, "old.proto:3:3: field `id` of message `Old` is required; required fields are not supported");
}

#[test]
fn invalid_parameter_is_error_in_response() {
    let schema = schema();
    for (parameter, expected) in [
        ("build_client=no", "parameter `build_client=no`: write `build_client[=true|false]`"),
        ("bytes", "parameter `bytes`: write `bytes=PATH`"),
        ("extern_path=.a", "parameter `extern_path=.a`: write `extern_path=PATH=RUST`"),
        ("codec=json", "parameter `codec=json`: write `codec=polyglot|protobuf`"),
        ("numbering=mine", "parameter `numbering=mine`: write `numbering=sequential|go`"),
        ("include_file=../all.rs", "parameter `include_file=../all.rs`: it leads out of the output folder"),
        ("include_file=/all.rs", "parameter `include_file=/all.rs`: it leads out of the output folder"),
        (
            "operation_base=shop.proto=70000",
            "parameter `operation_base=shop.proto=70000`: \"70000\" is not an operation: number too large to fit in \
             target type",
        ),
        ("operation_base=none.proto=20", "operation_base(\"none.proto\", 20): this build has no such file"),
    ] {
        assert_eq!(error(&request(schema.path(), &ALL, parameter)), expected);
    }
    let text = error(&request(schema.path(), &ALL, "client=true"));
    let expected = "parameter `client=true`: unknown option; use one of lang, ts_numbers, ";
    assert!(text.starts_with(expected) && text.contains(", include_file, "), "{text}");
}

#[test]
fn missing_file_is_error_in_response() {
    let schema = schema();
    let mut request = request(schema.path(), &ALL, "");
    request.file_to_generate.push("../other.proto".to_owned());
    assert_eq!(error(&request), "the schema has no file \"../other.proto\"");
}

#[test]
fn forged_package_generates_no_file() {
    let schema = schema();
    for package in ["..", "../up", "/absolute", "a/b", "a\nb"] {
        let mut request = request(schema.path(), &["money/money.proto"], "");
        let file = request.proto_file.iter_mut().find(|file| file.package() == "money").unwrap();
        file.package = Some(package.to_owned());
        file.service.clear();
        let text = error(&request);
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn malformed_input_ends_plugin_with_message() {
    let output = start(b"\xff\xff\xff", &[]);
    assert!(!output.status.success() && output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("protoc-gen-frpc: the standard input is not a CodeGeneratorRequest"), "{text}");
}

#[test]
fn warnings_go_to_standard_error() {
    let schema = schema();
    fs::write(
        schema.path().join("taken.proto"),
        "syntax = \"proto3\";\npackage taken;\nmessage Echo {}\nservice echo {}\n",
    )
    .unwrap();
    let output = start(&request(schema.path(), &["taken.proto"], "").encode_to_vec(), &[]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, "warning: the name `Echo` is taken, so the trait of `taken.echo` is called `Echo_`\n");
    files(CodeGeneratorResponse::decode(&output.stdout[..]).unwrap());
}

#[test]
fn help_and_version_are_printed() {
    let text = |arguments: &[&str]| {
        let output = start_with(arguments, &[], &[]);
        (
            output.status.success(),
            String::from_utf8(if output.status.success() { output.stdout } else { output.stderr }).unwrap(),
        )
    };
    let version = format!("protoc-gen-frpc {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(text(&["--version"]), (true, version.clone()));
    let (is_fine, help) = text(&["--help"]);
    assert!(is_fine && help.starts_with(&version), "{help}");
    for part in ["--frpc_opt=", "\n  build_client[=true|false] ", "\n  lang=rust|ts|py "] {
        assert!(help.contains(part), "help should contain {part}: {help}");
    }
    assert!(help.lines().all(|line| line.len() <= 120), "{help}");
    let expected = "protoc-gen-frpc: unexpected argument \"-x\"; there are `generate`, `--help` and `--version`\n";
    assert_eq!(text(&["-x"]), (false, expected.to_owned()));
}

/// The files of a set, not decoded, because prost-types drops options that it does not know.
#[derive(Clone, PartialEq, prost::Message)]
struct RawSet {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file: Vec<Vec<u8>>,
}

/// The files of a request, not decoded.
#[derive(Clone, PartialEq, prost::Message)]
struct RawFiles {
    #[prost(bytes = "vec", repeated, tag = "15")]
    proto_file: Vec<Vec<u8>>,
}

#[test]
fn plugin_hides_fields_with_debug_redact() {
    let folder = tempfile::tempdir().unwrap();
    let source = "syntax = \"proto3\";\nmessage Login {\n  string word = 1 [debug_redact = true];\n}\n";
    fs::write(folder.path().join("login.proto"), source).unwrap();
    let mut compiler = protox::Compiler::new([folder.path()]).unwrap();
    compiler.open_files(["login.proto"]).unwrap();
    let set = RawSet::decode(&compiler.encode_file_descriptor_set()[..]).unwrap();
    let request =
        CodeGeneratorRequest { file_to_generate: vec!["login.proto".to_owned()], ..CodeGeneratorRequest::default() };
    let input = [request.encode_to_vec(), RawFiles { proto_file: set.file }.encode_to_vec()].concat();
    let output = start(&input, &[]);
    assert!(output.status.success(), "{output:?}");
    let files = files(CodeGeneratorResponse::decode(&output.stdout[..]).unwrap());
    assert!(files.values().any(|text| text.contains("[redacted]")), "{files:?}");
}

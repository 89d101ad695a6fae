//! Golden files: the code generated for the schemas in `proto/` is in `golden/` and is read in reviews. A package is
//! one file, however long, as it is for those who include it.
//!
//! `UPDATE_GOLDEN=1 cargo test -p frpc-build golden` rewrites the files; read the difference before you commit.

use frpc_build::{Builder, Codec, Language, Numbering};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Generates `protos` and compares every file of the output with the golden file of the same name.
#[track_caller]
fn check(protos: &[&str], expected: &[&str]) {
    check_with(protos, expected, "", |builder| builder);
}

/// The same with options; the golden files are in `folder`.
#[track_caller]
fn check_with(protos: &[&str], expected: &[&str], folder: &str, configure: impl FnOnce(Builder) -> Builder) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let out = tempfile::tempdir().unwrap();
    let protos: Vec<PathBuf> = protos.iter().map(|name| tests.join("proto").join(name)).collect();
    configure(frpc_build::configure().out_dir(out.path()).emit_rerun_if_changed(false))
        .compile_protos(&protos, &[tests.join("proto")])
        .unwrap();

    let mut written: Vec<String> =
        fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    written.sort();
    assert_eq!(written, expected);
    for name in written {
        let text = fs::read_to_string(out.path().join(&name)).unwrap();
        let golden = tests.join("golden").join(folder).join(&name);
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(golden, text).unwrap();
            continue;
        }
        let before = fs::read_to_string(&golden).unwrap_or_default().replace("\r\n", "\n");
        let line = before.lines().zip(text.lines()).take_while(|(before, now)| before == now).count();
        assert!(
            before == text,
            "{}:{}: the output is different\n golden: {:?}\n    now: {:?}\nUPDATE_GOLDEN=1 accepts it",
            golden.display(),
            line + 1,
            before.lines().nth(line),
            text.lines().nth(line),
        );
    }
}

#[test]
fn interop_schema() {
    check(&["interop.proto"], &["interop.rs"]);
}

#[test]
fn vector_schemas() {
    check_with(&["vec.proto", "vecopt.proto"], &["vec.rs", "vecopt.rs"], "", |builder| {
        builder.numbering(Numbering::Go)
    });
}

#[test]
fn every_shape_of_field_and_method() {
    check(&["shapes.proto"], &["shapes.rs"]);
}

#[test]
fn optional_fields_and_oneofs() {
    check(&["presence.proto"], &["presence.rs"]);
}

#[test]
fn names_that_collide() {
    check(&["collisions.proto"], &["collisions.rs"]);
}

#[test]
fn comments_become_harmless_rustdoc() {
    check(&["comments.proto"], &["comments.rs"]);
}

#[test]
fn several_files_and_packages() {
    check(&["shop/orders.proto"], &["money.rs", "shop.orders.v1.rs", "shop.rs"]);
}

#[test]
fn a_file_without_a_package() {
    check(&["rootless.proto"], &["_.rs"]);
}

#[test]
fn well_known_types_survive() {
    check(&["wellknown.proto"], &["wellknown.rs"]);
}

#[test]
fn views() {
    check_with(&["presence.proto"], &["presence.rs"], "views", |builder| builder.views(true));
}

#[test]
fn redacted_fields_are_hidden_in_debug_of_messages_and_views() {
    check_with(&["redacted.proto"], &["redacted.rs"], "", |builder| builder.views(true));
}

#[test]
fn methods_offered_to_agents_are_marked() {
    check(&["tools.proto"], &["tools.rs"]);
}

#[test]
fn the_json_mapping() {
    check_with(&["presence.proto"], &["presence.rs"], "json", |builder| builder.json(true));
}

#[test]
fn messages_survive_with_protobuf_as_the_codec() {
    check_with(&["presence.proto", "containers.proto"], &["containers.rs", "presence.rs"], "protobuf", |builder| {
        builder.codec(Codec::Protobuf)
    });
}

/// `clients/typescript` compiles these files with `tsc --strict`, and its tests use them.
#[test]
fn typescript() {
    let protos = [
        "shapes.proto",
        "presence.proto",
        "collisions.proto",
        "comments.proto",
        "rootless.proto",
        "wellknown.proto",
        "interop.proto",
        "vec.proto",
        "vecopt.proto",
        "shop/orders.proto",
        "keywords.proto",
        "hostile.proto",
    ];
    let expected = [
        "_.ts",
        "builtins.ts",
        "collisions.ts",
        "comments.ts",
        "dataclasses.ts",
        "enum.ts",
        "google.protobuf.ts",
        "hostile.ts",
        "interop.ts",
        "money.ts",
        "presence.ts",
        "shapes.ts",
        "shop.orders.v1.ts",
        "shop.ts",
        "type.keywords.ts",
        "vec.ts",
        "vecopt.ts",
        "wellknown.ts",
    ];
    check_with(&protos, &expected, "typescript", |builder| {
        builder.language(Language::TypeScript).numbering(Numbering::Go)
    });
}

/// `clients/python` checks these files with `mypy --strict`, and imports them.
#[test]
fn python() {
    let protos = [
        "shapes.proto",
        "presence.proto",
        "collisions.proto",
        "comments.proto",
        "rootless.proto",
        "wellknown.proto",
        "interop.proto",
        "vecopt.proto",
        "shop/orders.proto",
        "keywords.proto",
        "hostile.proto",
        "redacted.proto",
    ];
    let expected = [
        "_.py",
        "builtins.py",
        "collisions.py",
        "comments.py",
        "dataclasses.py",
        "enum.py",
        "google_protobuf.py",
        "hostile.py",
        "interop.py",
        "money.py",
        "presence.py",
        "redacted.py",
        "shapes.py",
        "shop.py",
        "shop_orders_v1.py",
        "type_keywords.py",
        "vecopt.py",
        "wellknown.py",
    ];
    check_with(&protos, &expected, "python", |builder| builder.language(Language::Python).numbering(Numbering::Go));
}

/// The services that the tests of `clients/typescript` call, as their server has them.
#[test]
fn typescript_for_the_tests_of_the_client() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let desk = |name, numbers| ("typescript/proto", "desk", name, numbers);
    let mut wanted = vec![desk("desk", false), desk("desk.numbers", true), ("proto", "interop", "interop", false)];
    let versions = ["first", "second", "broken", "stranger"].map(|version| format!("proto/versions/{version}"));
    let names = versions.each_ref().map(|folder| folder.replace("proto/versions/", "versions."));
    wanted
        .extend(versions.iter().zip(&names).map(|(folder, name)| (folder.as_str(), "versions", name.as_str(), false)));
    for (folder, proto, name, numbers) in wanted {
        let out = tempfile::tempdir().unwrap();
        let folder = tests.join(folder);
        let numbering = if proto == "versions" { Numbering::Go } else { Numbering::Sequential };
        let builder = frpc_build::configure().language(Language::TypeScript).typescript_numbers(numbers);
        let builder = builder.numbering(numbering).out_dir(out.path()).emit_rerun_if_changed(false);
        builder.compile_protos(&[folder.join(format!("{proto}.proto"))], &[folder]).unwrap();
        let text = fs::read_to_string(out.path().join(format!("{proto}.ts"))).unwrap();
        check_file(&tests.join(format!("../clients/typescript/test/generated/{name}.ts")), &text);
    }
}

/// The methods called by the console, and those whose calls its tests copy.
#[test]
fn typescript_for_the_console() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let services = "crates/frpc-reflection/proto";
    let wanted = [
        (services, "frpc/reflection/v1/reflection.proto", "console/generated", vec!["frpc.reflection.v1"]),
        (services, "frpc/introspection/v1/introspection.proto", "console/generated", vec!["frpc.introspection.v1"]),
        ("tests/typescript/proto", "forms.proto", "test/generated", vec!["forms", "google.protobuf"]),
    ];
    for (folder, proto, place, modules) in wanted {
        let out = tempfile::tempdir().unwrap();
        let folder = root.join(folder);
        let builder = frpc_build::configure().language(Language::TypeScript);
        let builder = builder.out_dir(out.path()).emit_rerun_if_changed(false);
        builder.compile_protos(&[folder.join(proto)], &[folder]).unwrap();
        for module in modules {
            let text = fs::read_to_string(out.path().join(format!("{module}.ts"))).unwrap();
            check_file(&root.join(format!("clients/typescript/{place}/{module}.ts")), &text);
        }
    }
}

/// The service that the tests of `clients/python` call and serve.
#[test]
fn python_for_the_tests_of_the_client() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let (out, folder) = (tempfile::tempdir().unwrap(), tests.join("typescript/proto"));
    let builder = frpc_build::configure().language(Language::Python).out_dir(out.path()).emit_rerun_if_changed(false);
    builder.compile_protos(&[folder.join("desk.proto")], &[folder]).unwrap();
    let text = fs::read_to_string(out.path().join("desk.py")).unwrap();
    check_file(&tests.join("../clients/python/tests/generated/desk.py"), &text);
}

/// The methods that the page of the example `exchange` calls and serves.
#[test]
fn typescript_for_the_page_of_the_exchange() {
    let out = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let proto = examples.join("proto");
    let builder = frpc_build::configure().language(Language::TypeScript).numbering(Numbering::Go);
    let builder = builder.out_dir(out.path()).emit_rerun_if_changed(false);
    builder.compile_protos(&[proto.join("exchange.proto")], &[proto]).unwrap();
    let text = fs::read_to_string(out.path().join("exchange.ts")).unwrap();
    check_file(&examples.join("exchange/page/exchange.ts"), &text);
}

/// Compares a file with the generated one, or writes it.
fn check_file(golden: &Path, text: &str) {
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(golden.parent().unwrap()).unwrap();
        fs::write(golden, text).unwrap();
        return;
    }
    let before = fs::read_to_string(golden).unwrap_or_default().replace("\r\n", "\n");
    assert!(before == text, "{} differs from the generated code; UPDATE_GOLDEN=1 accepts it", golden.display());
}

//! Golden files. The code generated for the schemas of frpc-build's tests is in `golden/`, and that for the clients'
//! tests is in their folders. `UPDATE_GOLDEN=1 cargo test -p frpc-languages golden` rewrites the files.

use frpc_build::Numbering;
use frpc_build::backend::Backend;
use frpc_languages::{Python, TypeScript};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Generates `protos` and compares each output file with the golden file of the same name in `folder`.
#[track_caller]
fn check(protos: &[&str], expected: &[&str], folder: &str, backend: impl Backend + 'static) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let schemas = tests.join("../../frpc-build/tests/proto");
    let out = tempfile::tempdir().unwrap();
    let protos: Vec<PathBuf> = protos.iter().map(|name| schemas.join(name)).collect();
    let builder = frpc_build::configure().backend(backend).numbering(Numbering::Go);
    builder.out_dir(out.path()).emit_rerun_if_changed(false).compile_protos(&protos, &[schemas]).unwrap();
    let mut written: Vec<String> =
        fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    written.sort();
    assert_eq!(written, expected);
    for name in written {
        let text = fs::read_to_string(out.path().join(&name)).unwrap();
        check_file(&tests.join("golden").join(folder).join(name), &text);
    }
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
    check(&protos, &expected, "typescript", TypeScript::new());
}

/// `clients/python` checks these files with `mypy --strict` and imports them.
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
    check(&protos, &expected, "python", Python);
}

/// The services that the tests of `clients/typescript` call, as implemented by their server.
#[test]
fn typescript_for_client_tests() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let desk = |name, numbers| ("typescript/proto", "desk", name, numbers);
    let mut wanted = vec![desk("desk", false), desk("desk.numbers", true), ("proto", "interop", "interop", false)];
    let versions = ["first", "second", "moved", "stranger"].map(|version| format!("proto/versions/{version}"));
    let names = versions.each_ref().map(|folder| folder.replace("proto/versions/", "versions."));
    wanted
        .extend(versions.iter().zip(&names).map(|(folder, name)| (folder.as_str(), "versions", name.as_str(), false)));
    for (folder, proto, name, numbers) in wanted {
        let out = tempfile::tempdir().unwrap();
        let folder = tests.join(folder);
        let numbering = if proto == "versions" { Numbering::Go } else { Numbering::Sequential };
        let builder = frpc_build::configure().backend(TypeScript::new().numbers(numbers));
        let builder = builder.numbering(numbering).out_dir(out.path()).emit_rerun_if_changed(false);
        builder.compile_protos(&[folder.join(format!("{proto}.proto"))], &[folder]).unwrap();
        let text = fs::read_to_string(out.path().join(format!("{proto}.ts"))).unwrap();
        check_file(&tests.join(format!("../clients/typescript/test/generated/{name}.ts")), &text);
    }
}

/// The methods that the console calls, those whose calls its tests copy, and names that `tsc` must accept.
#[test]
fn typescript_for_console_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let services = "crates/frpc-reflection/proto";
    let wanted = [
        (services, "frpc/reflection/v1/reflection.proto", 65_000, "console/generated", vec!["frpc.reflection.v1"]),
        (
            services,
            "frpc/introspection/v1/introspection.proto",
            65_030,
            "console/generated",
            vec!["frpc.introspection.v1"],
        ),
        ("tests/typescript/proto", "forms.proto", 100, "test/generated", vec!["forms", "google.protobuf"]),
        ("tests/typescript/proto", "words.proto", 10, "test/generated", vec!["words"]),
    ];
    for (folder, proto, first, place, modules) in wanted {
        let out = tempfile::tempdir().unwrap();
        let folder = root.join(folder);
        let builder = frpc_build::configure().backend(TypeScript::new()).operation_base(proto, first);
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
fn python_for_client_tests() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let (out, folder) = (tempfile::tempdir().unwrap(), tests.join("typescript/proto"));
    let builder = frpc_build::configure().backend(Python).out_dir(out.path()).emit_rerun_if_changed(false);
    builder.compile_protos(&[folder.join("desk.proto")], &[folder]).unwrap();
    let text = fs::read_to_string(out.path().join("desk.py")).unwrap();
    check_file(&tests.join("../clients/python/tests/generated/desk.py"), &text);
}

/// The methods that the page of the example `exchange` calls and serves.
#[test]
fn typescript_for_exchange_page() {
    let out = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let proto = examples.join("proto");
    let builder = frpc_build::configure().backend(TypeScript::new()).numbering(Numbering::Go);
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

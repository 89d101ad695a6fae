//! Packages whose files import each other. Files cannot do so, but several files may have the same package.

use frpc_languages::TypeScript;
use std::fs;

/// Regression test: each module read a constant of the other one before its initialization, so that importing any of
/// them failed.
#[test]
fn typescript_modules_may_import_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("first.proto", "package a; message N {}"),
        ("second.proto", "package b; import \"first.proto\"; message M {} service T { rpc Go(a.N) returns (M); }"),
        (
            "third.proto",
            "package a; import \"first.proto\"; import \"second.proto\"; service S { rpc Go(N) returns (stream b.M); }",
        ),
    ];
    let protos = files.map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, format!("syntax = \"proto3\"; {text}")).unwrap();
        path
    });
    let builder = frpc_build::configure().backend(TypeScript::new()).out_dir(folder.path());
    builder.emit_rerun_if_changed(false).compile_protos(&protos, &[folder.path()]).unwrap();
    for (module, method) in [
        ("a.ts", "go: { operation: 100, request: N, get reply() { return $b.M; }, receives: true },"),
        ("b.ts", "go: { operation: 10, get request() { return $a.N; }, reply: M },"),
    ] {
        let text = fs::read_to_string(folder.path().join(module)).unwrap();
        assert!(text.contains(method), "{text}");
    }
}

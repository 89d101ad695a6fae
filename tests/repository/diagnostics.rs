//! Tests of the compiler messages for wrong arguments to frpc.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Returns the path of the frpc library with which this test was built. It is the most recent one in cargo's folder.
fn library() -> PathBuf {
    let folder = env::current_exe()
        .expect("program should have a path")
        .parent()
        .expect("program should be in a folder")
        .to_owned();
    let entries = fs::read_dir(folder)
        .expect("folder should be readable")
        .map(|entry| entry.expect("folder entry should be readable").path());
    let is_frpc = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libfrpc-") && name.ends_with(".rlib")
    };
    let age =
        |path: &PathBuf| path.metadata().and_then(|it| it.modified()).expect("file should have a modification time");
    entries.filter(is_frpc).max_by_key(age).expect("library should have been built")
}

/// Compiles a program and returns rustc's messages.
fn compiled(source: &str) -> String {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let path = folder.path().join("program.rs");
    fs::write(&path, source).expect("file should be written");
    let library = library();
    let output = Command::new("rustc")
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--out-dir"])
        .arg(folder.path())
        .arg("--extern")
        .arg(format!("frpc={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", library.parent().expect("library should be in a folder").display()))
        .arg(path)
        .env_remove("OUT_DIR")
        .output()
        .expect("process should start");
    String::from_utf8(output.stderr).expect("output should be UTF-8")
}

#[test]
fn compiler_names_generated_server_for_bare_implementation() {
    let text = compiled("pub struct Mine; pub fn f() { let _ = frpc::Server::builder().add_service(Mine); }");
    assert!(text.contains("error[E0277]: `Mine` is not a service that can be served"), "{text}");
    assert!(text.contains("`add_service(GreeterServer::new(…))`"), "{text}");
}

/// Regression test: the compiler suggested the method `observer` instead of `bind`.
#[test]
fn compiler_names_bind_for_serve_of_builder() {
    let source = "pub async fn f() { let _ = frpc::Server::builder().serve(\"[::]:80\").await; }";
    let text = compiled(source);
    assert!(text.contains("error[E0277]: a `ServerBuilder` must be bound before it serves"), "{text}");
    assert!(text.contains("`.bind(address).await?.serve().await?`"), "{text}");
    assert_eq!(text.matches("error[").count(), 1, "{text}");
}

#[test]
fn streamed_vec_error_suggests_iter() {
    let source =
        "pub fn stream(_: impl frpc::IntoStreamingRequest<Message = u8>) {} pub fn f() { stream(vec![1_u8]); }";
    let text = compiled(source);
    assert!(text.contains("error[E0277]: `Vec<u8>` is not a stream of requests"), "{text}");
    assert!(text.contains("use `frpc::iter(…)` to convert"), "{text}");
    assert!(!compiled(&source.replace("vec![1_u8]", "frpc::iter(vec![1_u8])")).contains("error"));
}

#[test]
fn returned_vec_error_suggests_iter() {
    let source = "use frpc::{ResponseStream, Status};
        pub fn answer() -> ResponseStream<u8> { ResponseStream::new(vec![Ok::<u8, Status>(1)]) }";
    let text = compiled(source);
    // Versions of the compiler write the path of Status differently.
    assert!(text.contains("error[E0277]: `Vec<Result<u8, ") && text.contains("is not a stream of responses"), "{text}");
    assert!(text.contains("use `frpc::iter(…)` to convert"), "{text}");
    let mended = compiled(&source.replace("vec![Ok::<u8, Status>(1)]", "frpc::iter([Ok(1)])"));
    assert!(!mended.contains("error"), "{mended}");
}

#[test]
fn missing_result_error_names_response_items() {
    let text =
        compiled("pub fn answer() -> frpc::ResponseStream<u8> { frpc::ResponseStream::new(frpc::iter([1_u8])) }");
    assert!(text.contains("is not a stream of responses"), "{text}");
    assert!(text.contains("not a `Stream` whose items are `Result<_, Status>`"), "{text}");
}

#[test]
fn compiler_names_message_for_wrong_request() {
    let source = "pub struct Name { pub name: String } pub fn greet(_: impl frpc::IntoRequest<Name>) {}
        pub fn f() { greet(\"you\"); }";
    let text = compiled(source);
    assert!(text.contains("error[E0277]: the method expects `Name` or `Request<Name>`, found `&str`"), "{text}");
    assert!(!compiled(&source.replace("\"you\"", "Name { name: String::new() }")).contains("error"));
}

#[test]
fn compiler_names_missing_build_script() {
    let text = compiled("mod greet { frpc::include_proto!(\"greet\"); }");
    assert!(text.contains("`include_proto!` requires a build script"), "{text}");
    assert!(text.contains("frpc_build::compile_protos"), "{text}");
}

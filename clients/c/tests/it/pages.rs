//! Compiles and runs the code of docs/c.md and of the package's README.

use crate::support::{Program, read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Returns the code blocks of a language on a page.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let (page, fence) = (read(page), format!("```{language}\n"));
    let parts = page.split(&fence).skip(1).map(|part| part.split("```").next().unwrap_or_default());
    parts.map(str::to_owned).collect()
}

/// Compiles a block after replacing its address.
fn program(block: &str, name: &str, address: &str) -> Program {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    // A code block without `main` is a part of a program.
    let main = if block.contains("int main(") { "" } else { "int main(void) { return wait_for(NULL, 0); }\n" };
    fs::write(&path, block.replace("127.0.0.1:8545", address) + main).unwrap();
    Program::new(path.to_str().unwrap())
}

#[test]
fn c_page_serves_and_calls() {
    let c = blocks("docs/c.md", "c");
    let [server, client, part] = &c[..] else { panic!("the page has {} blocks of C", c.len()) };
    assert_eq!(blocks("clients/c/README.md", "c").concat(), *server);
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let address = format!("unix:{}", socket.display());
    let server = program(server, "server.c", &address);
    let mut serving = server.command([]).stdin(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while !socket.exists() {
        assert!(started.elapsed() < Duration::from_secs(20) && serving.try_wait().unwrap().is_none());
        thread::yield_now();
    }
    assert_eq!(program(client, "client.c", &address).run([]), "{\"result\":\"5\"}\n");
    assert_eq!(program(part, "part.c", &address).run([]), "");
    Command::new("kill").arg(serving.id().to_string()).status().unwrap();
    assert!(serving.wait().unwrap().success());
}

#[test]
fn cpp_page_serves_and_calls() {
    let cpp = blocks("docs/c.md", "cpp");
    let [block] = &cpp[..] else { panic!("the page has {} blocks of C++", cpp.len()) };
    assert_eq!(program(block, "page.cpp", "").run([]), "{\"result\":\"Hello Ada\"}\n");
}

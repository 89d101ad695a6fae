//! C programs that call servers in Rust.

use crate::support::{Authority, Program, read};
use frpc::tls::{Identity, ServerTls};
use frpc::{Call, CallResponse, Middleware, Next, Request, Response, ResponseStream, Server, ServerBuilder, Status};
use frpc_reflection::Reflection;
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use samples::quickstart::CalculatorServer;
use samples::started::{Polite, Sums};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Greets, repeats the metadata, and does not return if the name is "sleep".
struct Echoing;

impl Greeter for Echoing {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        if request.get_ref().name == "sleep" {
            pending::<()>().await;
        }
        let metadata = request.metadata().clone();
        let mut reply = Greeter::greet(&Polite, request).await?;
        *reply.metadata_mut() = metadata;
        Ok(reply)
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Greeter::recite(&Polite, request).await
    }
}

fn builder() -> ServerBuilder {
    Server::builder().add_service(Reflection::new()).add_service(GreeterServer::new(Echoing))
}

async fn run(program: &'static str, arguments: Vec<String>) -> String {
    let run = move || Program::new(program).run(arguments.iter().map(String::as_str));
    tokio::task::spawn_blocking(run).await.unwrap()
}

#[tokio::test]
async fn c_client_calls_by_tcp() {
    let server = builder().bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    assert_eq!(run("tests/programs/client.c", vec![address]).await, "done\n");
}

#[tokio::test]
async fn c_client_calls_by_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let server = builder().bind_unix(&path).await.unwrap();
    tokio::spawn(server.serve());
    assert_eq!(run("tests/programs/client.c", vec![format!("unix:{}", path.display())]).await, "done\n");
}

#[tokio::test]
async fn c_client_calls_by_tls() {
    let authority = Authority::new();
    let identity = Identity::from_pem(&authority.certificate, &authority.key).unwrap();
    let server = builder().tls(ServerTls::new(identity).unwrap()).bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    assert_eq!(run("tests/programs/client.c", vec![address, authority.certificate]).await, "done\n");
}

#[tokio::test]
async fn c_client_with_edited_schema_calls_server() {
    let server = Server::builder().add_service(CalculatorServer::new(Sums)).bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    // A field that the server lacks, a retyped one, one that only the server has, and methods in another order.
    let schema = "syntax = \"proto3\"; package quickstart;
        service Calculator { rpc SumUp(stream Number) returns (Sum); rpc Add(Number) returns (Number); }
        message Number { string note = 2; int32 value = 1; }
        message Sum { string mean = 3; int32 total = 1; }";
    let requests = [r#"{"value":-2,"note":"dropped"}"#, r#"{"note":"dropped","value":-7}"#];
    let arguments = [&*address, schema, "SumUp"].into_iter().chain(requests).map(str::to_owned);
    assert_eq!(run("tests/programs/edited.c", arguments.collect()).await, "{\"total\":-9}\n");
}

#[tokio::test]
async fn cpp_example_calls_readme_greeter() {
    let server = Server::builder().add_service(GreeterServer::new(Polite)).bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    let greetings = ["Hello, Ada!", "Hello 1, Ada!", "Hello 2, Ada!", "Hello 3, Ada!"];
    let expected: String = greetings.iter().map(|text| format!("{{\"text\":\"{text}\"}}\n")).collect();
    for flags in ["-std=c++17", "-std=c++17 -fno-exceptions"] {
        let (address, expected) = (address.clone(), expected.clone());
        let run = move || {
            let greeted = Program::with_standard("examples/greeter.cpp", flags).run([&*address, "Ada"]);
            assert_eq!(greeted, expected, "{flags}");
        };
        tokio::task::spawn_blocking(run).await.unwrap();
    }
}

#[tokio::test]
async fn misuse_of_each_function_is_error() {
    assert_eq!(run("tests/programs/misuse.c", Vec::new()).await, "done\n");
}

#[test]
fn cpp_header_serves_and_calls() {
    for standard in ["-std=c++17", "-std=c++20"] {
        let program = Program::with_standard("tests/programs/wrapper.cpp", standard);
        let schema = read("examples/quickstart/proto/quickstart.proto");
        assert_eq!(program.run([&*schema]), "done\n", "{standard}");
    }
}

#[test]
fn c_programs_exchange_packets() {
    assert_eq!(Program::new("tests/programs/packets.c").run([]), "done\n");
}

#[test]
fn c_server_hands_off_plain_and_tls_connections() {
    let (program, authority) = (Program::new("tests/programs/hand_off.c"), Authority::new());
    assert_eq!(program.run([]), "done\n");
    assert_eq!(program.run([&*authority.certificate, &*authority.key]), "done\n");
}

#[test]
fn c_client_publishes_and_subscribes() {
    assert_eq!(Program::new("tests/programs/topics.c").run([]), "done\n");
}

#[test]
fn cpp_example_of_game_runs() {
    let expected = "chat.lobby: hello\nmoved: e2e4\nmap: ~~^^..\n";
    for flags in ["-std=c++17", "-std=c++20 -fno-exceptions"] {
        assert_eq!(Program::with_standard("examples/game.cpp", flags).run([]), expected, "{flags}");
    }
}

#[test]
fn completions_avoid_starvation_and_fail_streams() {
    assert_eq!(Program::new("tests/programs/callbacks.c").run([]), "done\n");
}

#[test]
fn ended_server_runs_no_function() {
    assert_eq!(Program::new("tests/programs/stopping.cpp").run([]), "done\n");
}

#[test]
fn server_stops_and_waits_at_exit() {
    let program = Program::new("tests/programs/exit.cpp");
    for end in ["atexit", "destructor"] {
        assert_eq!(program.run([end]), "done\n", "{end}");
    }
}

#[test]
fn forked_child_gets_error() {
    assert_eq!(Program::new("tests/programs/exit.cpp").run(["fork"]), "done\n");
}

#[test]
fn c_functions_may_block() {
    assert_eq!(Program::new("tests/programs/blocking.c").run([]), "done\n");
}

/// Counts the calls of reflection.
#[derive(Clone, Default)]
struct Fetches(Arc<AtomicUsize>);

impl Middleware for Fetches {
    async fn call(&self, call: Call, next: Next) -> Result<CallResponse, Status> {
        if call.service().starts_with("frpc.reflection.") {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        next.run(call).await
    }
}

/// Regression: each call fetched the schema, and 512 concurrent ones exceeded the timeout.
#[tokio::test]
async fn concurrent_first_calls_fetch_schema_once() {
    let mut counts = Vec::new();
    for calls in [1, 64] {
        let fetches = Fetches::default();
        let server = builder().middleware(fetches.clone()).bind("127.0.0.1:0").await.unwrap();
        let address = server.local_addr().to_string();
        tokio::spawn(server.serve());
        assert_eq!(run("tests/programs/first.c", vec![address, calls.to_string()]).await, "done\n");
        counts.push(fetches.0.load(Ordering::Relaxed));
    }
    assert!(counts[0] > 0 && counts[0] == counts[1], "{counts:?}");
}

/// Regression: fetching the schema had a timeout of its own, regardless of the call's deadline.
#[tokio::test]
async fn first_call_to_silent_server_times_out() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap().to_string();
    assert_eq!(run("tests/programs/silent.c", vec![address]).await, "done\n");
    drop(silent);
}

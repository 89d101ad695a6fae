//! Servers in C, called by Rust and C, and in each protocol.

use crate::support::{Authority, Program, read};
use frpc::{Channel, Code, Request};
use frpc_reflection::ServerSchema;
use samples::quickstart::{CalculatorClient, Number, Range, Terms};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

/// A running server.
struct Server {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    address: String,
    program: Program,
}

fn schema() -> String {
    read("examples/quickstart/proto/quickstart.proto")
}

impl Server {
    fn start() -> Self {
        Self::start_with(&schema())
    }

    fn start_with(schema: &str) -> Self {
        Self::start_program("tests/programs/server.c", [schema])
    }

    /// Starts a program that prints its address, and serves until its input ends.
    fn start_program<'a>(source: &str, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        let program = Program::new(source);
        let mut command = program.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut address = String::new();
        output.read_line(&mut address).unwrap();
        assert!(!address.is_empty(), "{:?}", child.wait());
        Self { child, output, address: address.trim().to_owned(), program }
    }

    /// Closes the program's input, and checks that the program stops and frees everything.
    fn stop(mut self) {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
        assert_eq!(rest, "done\n");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    /// Sends bytes, and reads until the reply contains a text.
    fn exchange(&self, sent: &str, expected: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        let (mut reply, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            let text = String::from_utf8_lossy(&reply).into_owned();
            if text.contains(expected) {
                return text;
            }
            let len = stream.read(&mut buffer).unwrap_or(0);
            assert!(len > 0, "output {text} should contain {expected}");
            reply.extend_from_slice(&buffer[..len]);
        }
    }

    /// Sends JSON by HTTP POST, and reads until the reply contains a text.
    fn post(&self, path: &str, json: &str, expected: &str) -> String {
        let (address, len) = (&self.address, json.len());
        let head = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json");
        self.exchange(&format!("{head}\r\ncontent-length: {len}\r\n\r\n{json}"), expected)
    }
}

#[tokio::test]
async fn c_server_answers_all_call_kinds() {
    call_all_kinds(Server::start()).await;
}

#[tokio::test]
async fn rust_client_calls_server_with_edited_schema() {
    let edited = |text: String, (old, new): &(&str, &str)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    };
    // Methods and fields in front and in the middle, retyped and moved fields.
    let edits = [
        ("  // Adds", "  rpc Negate(Number) returns (Number);\n  // Adds"),
        ("int64 a = 1;\n  int64 b = 2;", "string note = 3; int32 b = 2; bytes more = 4; int64 a = 1;"),
        ("int64 value = 1;", "repeated Number parts = 7; optional bool exact = 2; sint32 other = 3; int64 value = 1;"),
        ("int64 from = 1;\n  uint32 count = 2;", "uint64 count = 2; string unit = 3; int32 from = 1;"),
        ("int64 total = 1;", "oneof mean { int64 whole = 3; double real = 4; } uint64 total = 1;"),
    ];
    call_all_kinds(Server::start_with(&edits.iter().fold(schema(), edited))).await;
}

async fn call_all_kinds(server: Server) {
    let client = CalculatorClient::connect(server.address.clone()).await.unwrap();
    let mut request = Request::new(Terms { a: 2, b: 3 });
    request.metadata_mut().insert("mood", "good").unwrap();
    let reply = client.add(request).await.unwrap();
    assert_eq!((reply.metadata().get("mood"), reply.get_ref().value), (Some("good"), 5));

    let mut counted = client.count_up(Range { from: 7, count: 100 }).await.unwrap().into_inner();
    let mut values = Vec::new();
    while let Some(Number { value }) = counted.message().await.unwrap() {
        values.push(value);
    }
    assert_eq!(values, (7..107).collect::<Vec<_>>());
    let mut failing = client.count_up(Range { from: 7, count: 0 }).await.unwrap().into_inner();
    let status = failing.message().await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::InvalidArgument, "count is 0"));

    let numbers = || frpc::iter((1..=100).map(|value| Number { value }));
    let sum = client.sum_up(numbers()).await.unwrap().into_inner();
    assert_eq!((sum.total, sum.count), (5050, 100));
    let mut sums = client.running_sum(numbers()).await.unwrap().into_inner();
    let mut last = 0;
    while let Some(Number { value }) = sums.message().await.unwrap() {
        last = value;
    }
    assert_eq!(last, 5050);
    drop(client);
    tokio::task::spawn_blocking(|| server.stop()).await.unwrap();
}

#[tokio::test]
async fn c_server_describes_its_functions() {
    let server = Server::start();
    let channel = Channel::connect(server.address.clone()).await.unwrap();
    let schema = ServerSchema::fetch(&channel).await.unwrap();
    let names: Vec<_> = schema.services.iter().map(|service| service.name.as_str()).collect();
    assert!(names.contains(&"calc.Functions") && names.contains(&"quickstart.Calculator"), "{names:?}");
    channel.close();
    tokio::task::spawn_blocking(|| server.stop()).await.unwrap();
}

#[test]
fn c_server_answers_json_rpc_and_http() {
    let server = Server::start();
    let request = |method: &str, params: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"calc.Functions/{method}\",\"params\":{params}}}")
    };
    let expected = r#""result":{"result":"5"}"#;
    server.exchange(&request("sum", r#"{"a":2,"b":3}"#), expected);
    server.exchange(&request("sum", "[2,3]"), expected);
    server.exchange(&request("later", "[2,3]"), expected);
    server.post("/", &request("sum", "[2,3]"), expected);
    server.post("/calc.Functions/sum", r#"{"a":2,"b":3}"#, r#"{"result":"5"}"#);
    server
        .exchange(&request("describe", r#"{"name":"Ada","size":1.5,"isRed":true}"#), r#""result":"Ada 1.5 1 ageless""#);
    server.exchange(&request("describe", r#"["Ada",2,false,36]"#), r#""result":"Ada 2.0 0 aged""#);
    let failure = server.exchange(&request("describe", "{}"), "the name is empty");
    assert!(failure.contains("use a name") && failure.contains("-32005"), "{failure}");
    // Regression: messages of C functions had no names.
    server.exchange(r#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#, r#""x-request":"calc.SumRequest""#);
    // Requests that cannot be decoded do not reach the function.
    server.exchange(&request("sum", r#"{"c":1}"#), "-32602");
    server.exchange(&request("sum", "[1,2,3]"), "-32602");
    server.post("/calc.Functions/sum", r#"{"a":"x"}"#, "invalid_argument");
    server.stop();
}

#[test]
fn c_client_streams_to_c_server() {
    let server = Server::start();
    assert_eq!(Program::new("tests/programs/streams.c").run([&*server.address, &*schema()]), "done\n");
    // The program obtains the schema by reflection.
    assert_eq!(Program::new("tests/programs/streams.c").run([&*server.address]), "done\n");
    server.stop();
}

/// Regression: SIGPIPE terminated hosts whose `main` is not Rust's.
#[test]
fn lost_client_does_not_end_server() {
    let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::new());
    let socket = format!("unix:{}", folder.path().join("socket").display());
    let plain = ["serve", "127.0.0.1:0", ""];
    let secure = ["serve", "127.0.0.1:0", &authority.certificate, &authority.key];
    for arguments in [&plain[..], &["serve", &socket, ""], &secure] {
        let mut server = Server::start_program("tests/programs/lost_peer.c", arguments.iter().copied());
        let client = ["call", &server.address, "1"].into_iter().chain((arguments == secure).then_some(secure[2]));
        let mut client = server.program.command(client).spawn().unwrap();
        assert_eq!(server.line(), "called\n");
        client.kill().and_then(|()| client.wait()).unwrap();
        server.child.stdin.as_mut().unwrap().write_all(b"r").unwrap();
        if arguments == plain {
            let mut caller = TcpStream::connect(&server.address).unwrap();
            let head = "POST /t.Peers/long HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
            caller.write_all(format!("{head}content-length: 2\r\n\r\n{{}}").as_bytes()).unwrap();
            assert_eq!(server.line(), "called\n");
            drop(caller);
            server.child.stdin.as_mut().unwrap().write_all(b"r").unwrap();
        }
        server.stop();
    }
}

/// Forwards bytes between a client and a server, and closes both connections at the beginning of a long message. The
/// client's next write is answered by a reset, so a later write would raise SIGPIPE.
fn relay(mut client: TcpStream, server: &str) {
    let mut server = TcpStream::connect(server).unwrap();
    let (mut replies, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || io::copy(&mut replies, &mut to_client));
    let mut buffer = vec![0; 1 << 18];
    while let Ok(len @ 1..=10_000) = client.read(&mut buffer) {
        server.write_all(&buffer[..len]).unwrap();
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

#[test]
fn lost_server_does_not_end_client() {
    let authority = Authority::new();
    let server = ["serve", "127.0.0.1:0", &authority.certificate, &authority.key];
    let server = Server::start_program("tests/programs/lost_peer.c", server);
    let (relayed, address) = (TcpListener::bind("127.0.0.1:0").unwrap(), server.address.clone());
    let arguments = ["call", &relayed.local_addr().unwrap().to_string(), "20", &authority.certificate];
    let client = server.program.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
    thread::spawn(move || {
        for client in relayed.incoming() {
            relay(client.unwrap(), &address);
        }
    });
    let output = client.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(output.stdout, b"done\n");
    server.stop();
}

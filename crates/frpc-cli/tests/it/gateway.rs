//! Tests of `frpc gateway` as a child process, in front of servers without a gateway.

use crate::ways::{Certified, go, root, run, stdout};
use frpc::{Channel, Request, Response, ResponseStream, Server, Status};
use samples::greet::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
use samples::started::Polite;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, mpsc};

pub(crate) const GREET: [&str; 2] = ["-p", "examples/proto/greet.proto"];

/// A gateway process, which is killed on drop.
pub(crate) struct Gateway {
    child: Child,
    pub(crate) address: String,
}

impl Gateway {
    /// Starts a gateway in front of the server at address `to`.
    pub(crate) fn new(to: &str, options: &[&str]) -> Self {
        Self::start(to, options, Stdio::inherit())
    }

    /// Like [`new`](Self::new), but also returns the lines of its standard error.
    #[cfg(unix)]
    pub(crate) fn watched(to: &str, options: &[&str]) -> (Self, impl Iterator<Item = String> + use<>) {
        let mut gateway = Self::start(to, options, Stdio::piped());
        let errors = BufReader::new(gateway.child.stderr.take().expect("standard error should be piped"));
        (gateway, errors.lines().map_while(Result::ok))
    }

    fn start(to: &str, options: &[&str], errors: Stdio) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frpc"));
        command.args(["gateway", "--listen", "127.0.0.1:0", "--to", to]).args(options).stderr(errors);
        Self::spawn(command)
    }

    /// Starts a gateway in front of the server that the environment names.
    pub(crate) fn of_environment(server: &str, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frpc"));
        command.env("FRPC_SERVER", server).args(["gateway", "--listen", "127.0.0.1:0"]).args(options);
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Self {
        command.current_dir(root());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("process should start");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("stdout should be piped"))
            .read_line(&mut line)
            .expect("line should be readable");
        let address = line.trim().split_once("://").expect("server should be listening").1.to_owned();
        Self { child, address }
    }

    /// Sends an HTTP/1.1 request and returns the response, including its head.
    fn http(&self, method: &str, path: &str, body: &str) -> String {
        let mut socket = TcpStream::connect(&self.address).expect("server should accept the connection");
        let length = body.len();
        write!(
            socket,
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\ntenant: blue\r\n\r\n{body}"
        )
        .expect("gateway should read the request");
        let mut response = String::new();
        socket.read_to_string(&mut response).expect("response should be UTF-8");
        response
    }

    /// Sends an HTTP/1.1 POST with these header fields and returns the response, including its head.
    pub(crate) fn post(&self, path: &str, fields: &str, body: &[u8]) -> String {
        let mut socket = TcpStream::connect(&self.address).expect("server should accept the connection");
        let length = body.len();
        let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{fields}");
        let head = format!("{head}content-length: {length}\r\n\r\n");
        socket.write_all(&[head.as_bytes(), body].concat()).expect("gateway should read the request");
        let mut response = Vec::new();
        socket.read_to_end(&mut response).expect("peer should close the connection cleanly");
        String::from_utf8_lossy(&response).into_owned()
    }

    /// Sends a JSON-RPC request as a line and returns the line of the reply.
    pub(crate) fn line(&self, request: &str) -> String {
        let mut socket = TcpStream::connect(&self.address).expect("server should accept the connection");
        writeln!(socket, "{request}").expect("gateway should read the request");
        let mut line = String::new();
        BufReader::new(socket).read_line(&mut line).expect("line should be readable");
        line
    }

    /// Sends a signal to the process, such as `TERM`.
    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let killed = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(killed.expect("kill should be installed").success());
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        drop((self.child.kill(), self.child.wait()));
    }
}

/// Starts a native server without a gateway.
pub(crate) async fn plain(service: impl Greeter, tls: Option<frpc::tls::ServerTls>) -> String {
    let mut builder = Server::builder().add_service(GreeterServer::new(service));
    if let Some(tls) = tls {
        builder = builder.tls(tls);
    }
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    address
}

#[track_caller]
fn serves_every_protocol(gateway: &Gateway) {
    let connect = gateway.http("POST", "/greet.Greeter/Greet", r#"{"name": "Ada"}"#);
    assert!(connect.starts_with("HTTP/1.1 200") && connect.ends_with(r#"{"text":"Hello, Ada!"}"#), "{connect}");
    let failed = gateway.http("POST", "/greet.Greeter/Greet", r#"{"name": ""}"#);
    assert!(failed.starts_with("HTTP/1.1 400") && failed.contains("the name is empty"), "{failed}");
    let invalid = gateway.http("POST", "/greet.Greeter/Greet", r#"{"nmae": ""}"#);
    assert!(invalid.starts_with("HTTP/1.1 400") && invalid.contains("not a valid greet.Name"), "{invalid}");
    let request = r#"{"jsonrpc": "2.0", "id": 1, "method": "greet.Greeter.Greet", "params": ["Ada"]}"#;
    let reply = r#"{"jsonrpc":"2.0","id":1,"result":{"text":"Hello, Ada!"}}"#;
    assert_eq!(gateway.line(request).trim(), reply);
    assert!(gateway.http("POST", "/", request).ends_with(reply));
    assert!(gateway.http("GET", "/console/", "").starts_with("HTTP/1.1 200"));
    // The health service, which `/readyz` includes, checks the backend connections twice a second.
    let until = Instant::now() + Duration::from_secs(10);
    while !gateway.http("GET", "/readyz", "").starts_with("HTTP/1.1 200") {
        assert!(Instant::now() < until, "gateway should be ready in time");
    }
    // Calls with native frames and loads the schema by reflection.
    for address in [gateway.address.clone(), format!("ws://{}/", gateway.address)] {
        let greeting = stdout(&run(&address, &["call", "greet.Greeter/Greet", "name=Ada", "--json"]));
        assert_eq!(greeting, "{\"text\":\"Hello, Ada!\"}\n");
        let verses = stdout(&run(&address, &["call", "Recite", "name=Ada", "--json"]));
        assert_eq!(verses.lines().count(), 3, "{verses}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_server_is_called_in_every_protocol() {
    let address = plain(Polite, None).await;
    let gateway = Gateway::new(&address, &[&GREET[..], &["--connections", "2", "--metrics"]].concat());
    tokio::task::block_in_place(|| {
        serves_every_protocol(&gateway);
        let metrics = gateway.http("GET", "/metrics", "");
        assert!(metrics.contains(r#"method="Greet""#), "{metrics}");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn gateway_speaks_tls_at_both_sides() {
    let certified = Certified::new();
    let address = plain(Polite, Some(certified.server())).await;
    let (ca, cert, key) = (certified.shown("ca"), certified.shown("cert"), certified.shown("key"));
    let backend = ["--cacert", &ca, "--cert", &cert, "--key", &key];
    let own = ["--listen-cert", &cert, "--listen-key", &key, "--listen-cacert", &ca];
    let gateway = Gateway::new(&address, &[&GREET[..], &backend, &own].concat());
    tokio::task::block_in_place(|| {
        let trusted = run(&gateway.address, &[&["call", "Greet", "name=Ada"][..], &backend].concat());
        assert!(stdout(&trusted).contains("Hello, Ada!"));
        let stranger = run(&gateway.address, &["call", "Greet", "name=Ada", "--cacert", &ca]);
        assert!(!stranger.status.success(), "{stranger:?}");
        let web_socket = format!("wss://{}/", gateway.address);
        let trusted = run(&web_socket, &[&["call", "Greet", "name=Ada"][..], &backend].concat());
        assert!(stdout(&trusted).contains("Hello, Ada!"));
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn every_protocol_reaches_grpc_server_with_tls() {
    use frpc_gateway::{Http, ServeGateway as _};
    let certified = Certified::new();
    for tls in [None, Some(certified.server())] {
        let is_secure = tls.is_some();
        let protocols = frpc_gateway::Gateway::new().http(Http::new().grpc());
        let mut builder = Server::builder().add_service(GreeterServer::new(Polite)).gateway(protocols);
        if let Some(tls) = tls {
            builder = builder.tls(tls);
        }
        let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
        let address = server.local_addr().to_string();
        tokio::spawn(server.serve());
        let (ca, cert, key) = (certified.shown("ca"), certified.shown("cert"), certified.shown("key"));
        let trusted = ["--cacert", &ca, "--cert", &cert, "--key", &key];
        let trusted = if is_secure { &trusted[..] } else { &[] };
        let gateway = Gateway::new(&address, &[&GREET[..], &["--from-grpc"], trusted].concat());
        tokio::task::block_in_place(|| {
            serves_every_protocol(&gateway);
            let scheme = if is_secure { "grpcs" } else { "grpc" };
            let called =
                run(&format!("{scheme}://{address}"), &[&GREET[..], &["call", "Greet", "name=Ada"], trusted].concat());
            assert!(stdout(&called).contains("Hello, Ada!"), "{called:?}");
        });
    }
}

#[test]
fn unreachable_backend_is_unavailable_by_its_address() {
    // Uses a port that was free just before, on which nothing listens.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
    let address = free.local_addr().expect("socket should have a local address").to_string();
    drop(free);
    let gateway = Gateway::new(&address, &GREET);
    let failed = gateway.http("POST", "/greet.Greeter/Greet", r#"{"name": "Ada"}"#);
    assert!(failed.starts_with("HTTP/1.1 503"), "{failed}");
    assert!(failed.contains(r#""code":"unavailable""#) && failed.contains(&address), "{failed}");
    assert!(gateway.http("GET", "/readyz", "").starts_with("HTTP/1.1 503"));
    assert!(gateway.http("GET", "/healthz", "").starts_with("HTTP/1.1 200"));
    for service in ["", "greet.Greeter"] {
        let body = format!(r#"{{"service": "{service}"}}"#);
        let health = gateway.http("POST", "/grpc.health.v1.Health/Check", &body);
        assert!(health.ends_with(r#"{"status":"NOT_SERVING"}"#), "{service}: {health}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn method_that_is_not_allowed_is_unknown() {
    let address = plain(Polite, None).await;
    let gateway = Gateway::new(&address, &[&GREET[..], &["--allow", "greet.Greeter/Recite"]].concat());
    tokio::task::block_in_place(|| {
        let unknown = gateway.http("POST", "/greet.Greeter/Greet", r#"{"name": "Ada"}"#);
        assert!(unknown.starts_with("HTTP/1.1 404"), "{unknown}");
        let native = run(&gateway.address, &["call", "Greet", "name=Ada", GREET[0], GREET[1]]);
        assert!(String::from_utf8_lossy(&native.stderr).contains("UNIMPLEMENTED"), "{native:?}");
        assert!(stdout(&run(&gateway.address, &["call", "Recite", "name=Ada"])).contains("Hello 1, Ada!"));
        // The method is not visible by reflection either.
        let listed = stdout(&run(&gateway.address, &["list", "greet.Greeter"]));
        assert!(listed.contains("Recite") && !listed.contains("Greet\n"), "{listed}");
    });
}

/// A service that replies with the header fields of the request.
struct Fields;

impl Greeter for Fields {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let fields = ["x-forwarded-for", "x-forwarded-proto", "x-gateway", "x-secret"];
        let fields = fields.map(|name| request.metadata().get(name).unwrap_or("-").to_owned());
        let mut response = Response::new(Greeting { text: fields.join("|") });
        response.metadata_mut().insert("x-internal", "1")?;
        Ok(response)
    }

    async fn recite(&self, _: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("only fields are reported"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forwarded_fields_are_set_removed_and_trusted() {
    let address = plain(Fields, None).await;
    let own = [
        "--set-field",
        "X-Gateway=north",
        "--remove-field",
        "x-secret",
        "--set-reply-field",
        "x-served=here",
        "--remove-reply-field",
        "x-internal",
    ];
    let trusting = [&own[..], &["--trusted-proxy", "127.0.0.0/8"]].concat();
    for (options, expected) in [(&own[..], "127.0.0.1|http|north|-"), (&trusting, "192.0.2.1, 127.0.0.1|https|north|-")]
    {
        let gateway = Gateway::new(&address, &[&GREET[..], options].concat());
        tokio::task::block_in_place(|| {
            let claims = "x-forwarded-for: 192.0.2.1\r\nx-forwarded-proto: https\r\nx-secret: 1\r\n";
            let fields = format!("content-type: application/json\r\n{claims}");
            let response = gateway.post("/greet.Greeter/Greet", &fields, b"{}");
            assert!(response.ends_with(&format!("{{\"text\":\"{expected}\"}}")), "{response}");
            assert!(response.contains("x-served: here") && !response.contains("x-internal"), "{response}");
        });
    }
}

#[test]
fn address_as_name_suggests_server_option() {
    for arguments in [&["list", "127.0.0.1:9000"][..], &["describe", "localhost:1"], &["call", "ws://a/", "Greet"]] {
        let refused = run("127.0.0.1:1", arguments);
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(text.contains(&format!("specify the server by --server {}", arguments[1])), "{text}");
    }
}

#[test]
fn go_server_is_called_in_every_protocol() {
    let Some((mut child, address)) = go() else { return };
    let gateway = Gateway::new(&address, &["-p", "tests/proto/interop.proto"]);
    let sum = gateway.http("POST", "/interop.Interop/Add", r#"{"a": 2, "b": 40}"#);
    assert!(sum.starts_with("HTTP/1.1 200") && sum.contains("42"), "{sum}");
    let failed = gateway.http("POST", "/interop.Interop/Fail", r#"{"value": "no"}"#);
    assert!(failed.contains(r#""code":"unknown""#), "{failed}");
    let request = r#"{"jsonrpc": "2.0", "id": 1, "method": "interop.Interop.Add", "params": {"a": 2, "b": 40}}"#;
    assert!(gateway.line(request).contains("42"));
    let with = |arguments: &[&str]| stdout(&run(&gateway.address, &[arguments, &["--json"]].concat()));
    assert!(with(&["call", "Add", "a=2", "b=40"]).contains("42"));
    let nested = r#"{"first":{"id":1,"name":"a"},"label":"b","middle":{"inner":{"id":2},"weight":"3"}}"#;
    assert_eq!(with(&["call", "EchoNested", nested]).trim(), nested);
    assert_eq!(with(&["call", "CountUp", "from=1", "count=3"]).lines().count(), 3);
    assert!(with(&["call", "SumUp", r#"{"value": 2}"#, r#"{"value": 40}"#]).contains("42"));
    assert_eq!(with(&["call", "Chat", r#"{"value": "a"}"#, r#"{"value": "b"}"#]).lines().count(), 2);
    drop(child.stdin.take());
    child.wait().expect("gateway should exit at the end of its input");
}

/// A greeter whose calls wait until the test gives a permit.
struct Gated {
    starts: mpsc::UnboundedSender<()>,
    gate: Arc<Semaphore>,
}

impl Greeter for Gated {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        // The test counts the calls that have begun.
        let _ = self.starts.send(());
        self.gate.acquire().await.map_err(|_| Status::aborted("closed"))?.forget();
        Ok(Response::new(Greeting { text: request.into_inner().name }))
    }

    async fn recite(&self, _: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("it does not recite"))
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn draining_gateway_completes_calls_in_flight() {
    const CALLS: usize = 1000;
    let (starts, mut begins) = mpsc::unbounded_channel();
    let gate = Arc::new(Semaphore::new(0));
    let address = plain(Gated { starts, gate: gate.clone() }, None).await;
    let mut gateway = Gateway::new(&address, &GREET);
    // Makes native calls, and as many in another protocol.
    let client = GreeterClient::new(
        Channel::connect(gateway.address.clone()).await.expect("server should accept the connection"),
    );
    let native: Vec<_> = (0..CALLS)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move { client.greet(Name { name: n.to_string() }).await })
        })
        .collect();
    let at = gateway.address.clone();
    let lines = tokio::task::spawn_blocking(move || {
        let mut socket = TcpStream::connect(at).expect("server should accept the connection");
        for id in 0..CALLS {
            let call = r#""method": "greet.Greeter.Greet", "params": {"name": "json"}"#;
            writeln!(socket, r#"{{"jsonrpc": "2.0", "id": {id}, {call}}}"#).expect("gateway should read the request");
        }
        BufReader::new(socket).lines().map_while(Result::ok).filter(|line| line.contains(r#""text":"json""#)).count()
    });
    for _ in 0..2 * CALLS {
        begins.recv().await.expect("handler should report that it has begun");
    }
    gateway.signal("TERM");
    gate.add_permits(2 * CALLS);
    for (n, call) in native.into_iter().enumerate() {
        assert_eq!(
            call.await.expect("call task should not panic").expect("call should succeed").into_inner().text,
            n.to_string()
        );
    }
    assert_eq!(lines.await.expect("task should not panic"), CALLS);
    assert!(gateway.child.wait().expect("gateway should be a child process").success());
}

#[test]
fn gateway_reports_start_failure() {
    let failure = |options: &[&str]| -> (Option<i32>, String) {
        let Output { status, stderr, .. } = run("127.0.0.1:1", &[&["gateway"], options].concat());
        (status.code(), String::from_utf8_lossy(&stderr).into_owned())
    };
    let unnamed = run("", &["gateway", GREET[0], GREET[1]]);
    assert!(String::from_utf8_lossy(&unnamed.stderr).contains("--to ADDRESS"), "{unnamed:?}");
    let (code, text) = failure(&["--listen", "127.0.0.1:0", "--connect-timeout", "5s"]);
    assert!(code == Some(64 + 14) && text.contains("127.0.0.1:1"), "{text}");
    let (code, text) = failure(&["-p", "no.proto"]);
    assert!(code == Some(1) && text.contains("no.proto"), "{text}");
    let (code, text) = failure(&[&GREET[..], &["--allow", "greet.Greeter/Sing"]].concat());
    assert!(code == Some(1) && text.contains("greet.Greeter/Greet"), "{text}");
    let occupied = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
    let address = occupied.local_addr().expect("socket should have a local address").to_string();
    let (code, text) = failure(&[&GREET[..], &["--listen", &address]].concat());
    assert!(code == Some(64 + 14) && text.contains(&address), "{text}");
}

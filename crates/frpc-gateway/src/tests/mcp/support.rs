//! A server with tools, and clients over HTTP and lines.

use frpc::{Acceptor, Request, Response, ResponseStream, Server, ServerBuilder, Status, Streaming};
use frpc_gateway::{Gateway, Mcp, ServeGateway as _};
use samples::tools::{Count, Name, Node, Shelf, ShelfServer, Tools, ToolsServer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Maximum time to wait for an event.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Header field of requests in version 2025-11-25 of the protocol.
pub(crate) const LEGACY: &str = "mcp-protocol-version: 2025-11-25\r\n";

/// Header field that accepts responses in JSON and event streams.
pub(crate) const ACCEPT: &str = "accept: application/json, text/event-stream\r\n";

/// The service, with the events of its calls.
#[derive(Clone, Default)]
pub(crate) struct Service(Arc<Events>);

pub(crate) struct Events {
    /// Semaphore that gets one permit for each call of `Wait` that has begun.
    began: Semaphore,
    /// Semaphore from which a call of `Wait` takes a permit before it completes.
    released: Semaphore,
    /// Semaphore that gets one permit for each call that has ended for any reason.
    ended: Semaphore,
}

impl Default for Events {
    fn default() -> Self {
        let [began, released, ended] = [(); 3].map(|()| Semaphore::new(0));
        Self { began, released, ended }
    }
}

async fn take(events: &Semaphore) {
    timeout(TIMEOUT, events.acquire())
        .await
        .expect("event of the call should occur within the timeout")
        .expect("semaphore should be open")
        .forget();
}

impl Service {
    pub(crate) async fn began(&self) {
        take(&self.0.began).await;
    }

    pub(crate) async fn ended(&self) {
        take(&self.0.ended).await;
    }

    pub(crate) fn release(&self) {
        self.0.released.add_permits(1);
    }
}

/// Counts the end of a call on drop.
struct OnEnd(Arc<Events>);

impl Drop for OnEnd {
    fn drop(&mut self) {
        self.0.ended.add_permits(1);
    }
}

impl Tools for Service {
    async fn echo(&self, request: Request<Node>) -> Result<Response<Node>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn put(&self, request: Request<Name>) -> Result<Response<Name>, Status> {
        let seen = request.metadata().get("tenant").unwrap_or_default().to_owned();
        Ok(Response::new(Name { name: request.into_inner().name + &seen }))
    }

    async fn fail(&self, request: Request<Name>) -> Result<Response<Name>, Status> {
        Err(Status::not_found(format!("no name {:?}", request.into_inner().name)).with_details(&b"\x01"[..]))
    }

    async fn wait(&self, request: Request<Name>) -> Result<Response<Name>, Status> {
        let _on_end = OnEnd(self.0.clone());
        self.0.began.add_permits(1);
        self.0.released.acquire().await.expect("semaphore should be open").forget();
        Ok(Response::new(request.into_inner()))
    }

    async fn count(&self, request: Request<Count>) -> Result<Response<ResponseStream<Count>>, Status> {
        let numbers = (1..=request.into_inner().number).map(|number| match number {
            7 => Err(Status::aborted("seven")),
            number => Ok(Count { number }),
        });
        Ok(Response::new(ResponseStream::new(frpc::iter(numbers.collect::<Vec<_>>()))))
    }

    async fn text(&self, _: Request<()>) -> Result<Response<String>, Status> {
        Ok(Response::new("Hello, \"you\"\n".to_owned()))
    }

    async fn shout(&self, request: Request<String>) -> Result<Response<Name>, Status> {
        Ok(Response::new(Name { name: request.into_inner().to_uppercase() }))
    }

    async fn chat(&self, _: Request<Streaming<Name>>) -> Result<Response<ResponseStream<Name>>, Status> {
        Err(Status::unimplemented("not a tool"))
    }
}

impl Shelf for Service {
    async fn look(&self, request: Request<Name>) -> Result<Response<Name>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn clear(&self, request: Request<Name>) -> Result<Response<Name>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn fill(&self, _: Request<Streaming<Name>>) -> Result<Response<Name>, Status> {
        Err(Status::unimplemented("not a tool"))
    }
}

/// Returns a node with a text.
pub(crate) fn leaf(text: &str) -> Value {
    json!({"text": text, "kind": "KIND_LEAF"})
}

/// Selects all methods of the service as tools, named by the method in lower case.
pub(crate) fn all() -> Mcp {
    let methods = ["Echo", "Put", "Fail", "Wait", "Count", "Text", "Shout"];
    methods.iter().fold(Mcp::new(), |mcp, method| mcp.method_as(format!("tools.Tools/{method}"), method.to_lowercase()))
}

/// A server with tools.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) server: Acceptor,
    pub(crate) service: Service,
}

impl Host {
    pub(crate) fn new(mcp: Mcp) -> Self {
        Self::with(Gateway::new().mcp(mcp), |builder| builder)
    }

    pub(crate) fn with(gateway: Gateway, settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let service = Service::default();
        let builder = Server::builder()
            .add_service(ToolsServer::new(service.clone()))
            .add_service(ShelfServer::new(service.clone()))
            .gateway(gateway);
        Self { server: settings(builder).build().expect("server settings should be valid"), service }
    }

    /// Opens an in-memory connection.
    pub(crate) fn connect(&self) -> DuplexStream {
        let (here, there) = tokio::io::duplex(64 * 1024);
        let server = self.server.clone();
        tokio::spawn(async move { server.serve_connection(there).await });
        here
    }

    /// Sends an HTTP request on its own connection and returns the response.
    pub(crate) async fn http(&self, method: &str, path: &str, fields: &str, body: &str) -> Answer {
        let mut io = self.connect();
        let length = body.len();
        let host = if fields.contains("host: ") { "" } else { "host: localhost\r\n" };
        let head =
            format!("{method} {path} HTTP/1.1\r\n{host}connection: close\r\n{fields}content-length: {length}\r\n\r\n");
        io.write_all((head + body).as_bytes()).await.expect("server should accept the request");
        let mut response = String::new();
        timeout(TIMEOUT, io.read_to_string(&mut response))
            .await
            .expect("response should end within the timeout")
            .expect("response should be UTF-8");
        Answer::new(&response)
    }

    /// Posts a message with additional header fields and returns the response.
    pub(crate) async fn post(&self, fields: &str, body: &Value) -> Answer {
        let fields = format!("content-type: application/json\r\n{ACCEPT}{fields}");
        self.http("POST", "/mcp", &fields, &body.to_string()).await
    }

    /// Sends a request in version 2025-11-25 of the protocol and returns its result.
    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let mut answer = self.post(LEGACY, &request(1, method, params)).await.json();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(1)), "{answer}");
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].take()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments})).await
    }
}

#[expect(clippy::needless_pass_by_value, reason = "callers write the params in place")]
pub(crate) fn request(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Returns the header fields and the message of a request in version 2026-07-28 of the protocol.
pub(crate) fn modern(id: u32, method: &str, mut params: Value) -> (String, Value) {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let name = params["name"].as_str().map(|name| format!("mcp-name: {name}\r\n")).unwrap_or_default();
    let fields = format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}");
    (fields, request(id, method, params))
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    fn new(response: &str) -> Self {
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or((response, ""));
        let head = head.to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        let body = if head.contains("transfer-encoding: chunked") { unchunked(body) } else { body.to_owned() };
        Self { status, head, body }
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Returns the messages of an event stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        assert_eq!(self.field("content-type"), Some("text/event-stream"), "{self:?}");
        let events = self.body.split("\n\n").filter(|event| !event.is_empty());
        let json = |event: &str| {
            let data = event.strip_prefix("event: message\ndata: ").expect("event should have its data in one line");
            serde_json::from_str(data).expect("event data should be valid JSON")
        };
        events.map(json).collect()
    }
}

/// Decodes a chunked body.
fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).expect("chunk should have a length");
        whole += &rest[..length];
        body = &rest[length + 2..];
    }
    whole
}

/// A client that exchanges lines.
pub(crate) struct Lines(BufReader<DuplexStream>);

impl Lines {
    pub(crate) fn new(host: &Host) -> Self {
        Self(BufReader::new(host.connect()))
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.0.get_mut().write_all(format!("{message}\n").as_bytes()).await.expect("server should accept the line");
    }

    pub(crate) async fn next(&mut self) -> Value {
        let mut line = String::new();
        timeout(TIMEOUT, self.0.read_line(&mut line))
            .await
            .expect("line should arrive within the timeout")
            .expect("line should be UTF-8");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
    }

    /// Waits until the server closes the connection.
    pub(crate) async fn end(&mut self) {
        assert_eq!(
            timeout(TIMEOUT, self.0.read(&mut [0]))
                .await
                .expect("server should close within the timeout")
                .expect("server should close the connection cleanly"),
            0
        );
    }
}

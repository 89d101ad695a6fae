//! A server with a gateway, and functions that create HTTP requests.

use frpc::details::ErrorInfo;
use frpc::{
    Call, CallResponse, Middleware, Next, Request, Response, ResponseStream, Server, ServerBuilder, Stats, Status,
};
use frpc_gateway::{Gateway, Http, ServeGateway as _, Trailers};
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Maximum time to wait for an event that should occur soon.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A greeter that waits for a permit if the name is `wait`, panics if it is `panic`, and fails if it is empty.
pub(crate) struct Host {
    began: mpsc::UnboundedSender<()>,
    dropped: mpsc::UnboundedSender<()>,
    gate: std::sync::Arc<tokio::sync::Semaphore>,
}

/// Reports when a handler is dropped.
struct Guard(mpsc::UnboundedSender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

impl Greeter for Host {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let _guard = Guard(self.dropped.clone());
        let _ = self.began.send(());
        let timeout = request.timeout();
        let tenant = request.metadata().get("tenant").map(str::to_owned);
        let text = match &*request.into_inner().name {
            "" => {
                let detail = ErrorInfo::new("EMPTY", "tests");
                return Err(Status::invalid_argument("the name is empty").with_detail(&detail));
            }
            "wait" => {
                self.gate.acquire().await.map_err(|_| Status::aborted("closed"))?.forget();
                "waited".to_owned()
            }
            "timeout" => timeout.map_or("none", |timeout| if timeout <= TIMEOUT { "some" } else { "long" }).to_owned(),
            name if name.starts_with("long") => "x".repeat(100_000),
            name => format!("Hello, {name}!"),
        };
        let mut response = Response::new(Greeting { text });
        if let Some(tenant) = tenant {
            response.metadata_mut().insert("tenant", tenant.as_str())?;
            let mut trailers = frpc::Metadata::new();
            trailers.insert("after", tenant)?;
            response.extensions_mut().insert(Trailers(trailers));
        }
        Ok(response)
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let name = request.into_inner().name;
        let verses = (1..=2).map(move |n| match &*name {
            "fail" if n == 2 => Err(Status::data_loss("forgotten")),
            name => Ok(Greeting { text: format!("{n} {name}") }),
        });
        Ok(Response::new(ResponseStream::new(frpc::iter(verses))))
    }
}

/// A listening server.
pub(crate) struct Open {
    pub(crate) address: String,
    pub(crate) began: mpsc::UnboundedReceiver<()>,
    pub(crate) dropped: mpsc::UnboundedReceiver<()>,
    pub(crate) gate: std::sync::Arc<tokio::sync::Semaphore>,
    pub(crate) stats: Stats,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<Result<(), frpc::Error>>,
}

/// Returns the settings with all HTTP protocols enabled.
pub(crate) fn all() -> Http {
    Http::new().connect().grpc().health()
}

/// Returns a server builder, its service, and receivers of events from its handlers.
pub(crate) fn builder(http: Http) -> (ServerBuilder, Host, [mpsc::UnboundedReceiver<()>; 2]) {
    let (host, events) = host();
    (Server::builder().gateway(Gateway::new().json_rpc().http(http)), host, events)
}

fn host() -> (Host, [mpsc::UnboundedReceiver<()>; 2]) {
    let ((began, started), (dropped, drops)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    (Host { began, dropped, gate: std::sync::Arc::new(tokio::sync::Semaphore::new(0)) }, [started, drops])
}

impl Open {
    pub(crate) async fn new(http: Http) -> Self {
        Self::with(http, |builder| builder).await
    }

    pub(crate) async fn with(http: Http, settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        Self::behind(Gateway::new().json_rpc().http(http), settings).await
    }

    /// Starts a server with a gateway.
    pub(crate) async fn behind(gateway: Gateway, settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let (host, [began, dropped]) = host();
        let gate = host.gate.clone();
        let server = settings(Server::builder().gateway(gateway))
            .add_service(GreeterServer::new(host))
            .bind("127.0.0.1:0")
            .await;
        let server = server.expect("loopback port should be free");
        let (address, stats) = (server.local_addr().to_string(), server.stats());
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(server.serve_with_shutdown(async move { drop(stopped.await) }));
        Self { address, began, dropped, gate, stats, stop: Some(stop), served }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).await.expect("server should accept the connection")
    }

    /// Sends bytes and returns everything received until the server closes the connection.
    pub(crate) async fn exchange(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut socket = self.connect().await;
        socket.write_all(bytes.as_ref()).await.expect("write should succeed");
        rest(&mut socket).await
    }

    /// Begins the shutdown of the server.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    pub(crate) async fn stopped(self) {
        let served = tokio::time::timeout(TIMEOUT, self.served).await.expect("server should stop within the timeout");
        served.expect("task should not panic").expect("server should start");
    }
}

/// Returns everything received until the peer closes the connection.
pub(crate) async fn rest(socket: &mut TcpStream) -> String {
    let mut response = Vec::new();
    let read = tokio::time::timeout(TIMEOUT, socket.read_to_end(&mut response))
        .await
        .expect("read should complete within the timeout");
    read.expect("connection should end regularly");
    String::from_utf8_lossy(&response).into_owned()
}

/// Builds a POST request with a JSON body and further header fields.
pub(crate) fn post(path: &str, fields: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{fields}\
         content-length: {length}\r\n\r\n{body}"
    )
}

/// Builds a call of `Greet` with `connection: close`.
pub(crate) fn greet(fields: &str, name: &str) -> String {
    post("/greet.Greeter/Greet", &format!("connection: close\r\n{fields}"), &format!("{{\"name\":\"{name}\"}}"))
}

/// Returns the next item, which should arrive soon.
pub(crate) async fn soon<T>(items: &mut mpsc::UnboundedReceiver<T>) -> T {
    tokio::time::timeout(TIMEOUT, items.recv())
        .await
        .expect("message should arrive within the timeout")
        .expect("sender should not be dropped")
}

/// Middleware that denies every call.
pub(crate) struct Closed;

impl Middleware for Closed {
    async fn call(&self, call: Call, _next: Next) -> Result<CallResponse, Status> {
        Err(Status::permission_denied(format!("{} is closed", call.method())))
    }
}

//! Gateways in front of backends, services of the backends, and raw HTTP requests.

use frpc::codegen::{Client, Layout, Method};
use frpc::details::ErrorInfo;
use frpc::{Channel, Request, Response, ResponseStream, Server, ServerBuilder, Status, Streaming};
use frpc_dynamic::DescriptorPool;
use frpc_gateway::{Forward, ForwardService, Gateway, Http, ServeGateway as _, Trailers};
use samples::greet::{Greeter, GreeterClient, Greeting, Name};
use samples::quickstart::{Calculator, CalculatorClient, Number, Range, Sum, Terms};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

/// Maximum time to wait for an event.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns a service of a schema below `examples`. Its operations are numbered from 10.
fn service(forward: &Forward, layout: &'static Layout, proto: &str) -> ForwardService {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(proto);
    let files = protox::compile([&path], path.parent()).expect("schema should compile");
    let pool = DescriptorPool::from_file_descriptor_set(files).expect("descriptor set should be complete");
    service_of(forward, layout, &pool)
}

/// Returns the service of a layout in a schema.
pub(crate) fn service_of(forward: &Forward, layout: &'static Layout, pool: &DescriptorPool) -> ForwardService {
    let service = pool.get_service_by_name(layout.service()).expect("schema should contain the service");
    let methods = service.methods().zip(10..).map(|(method, operation)| {
        let name = method.name().to_owned().leak();
        (method, &*Box::leak(Box::new(Method::new(layout, name, operation))))
    });
    forward.service(layout, None, methods.collect::<Vec<_>>())
}

pub(crate) fn greeter(forward: &Forward) -> ForwardService {
    service(forward, GreeterClient::LAYOUT, "proto/greet.proto")
}

pub(crate) fn calculator(forward: &Forward) -> ForwardService {
    service(forward, CalculatorClient::LAYOUT, "quickstart/proto/quickstart.proto")
}

/// Serves until the test ends and returns the address.
pub(crate) async fn serve(builder: ServerBuilder) -> String {
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    address
}

/// Serves all protocols for a service of a backend.
pub(crate) async fn front(service: ForwardService) -> String {
    let gateway = Gateway::new().json_rpc().http(Http::new().connect().grpc().health()).web_socket();
    serve(Server::builder().add_service(service).gateway(gateway)).await
}

pub(crate) fn to_native(address: &str) -> Forward {
    Forward::to([Channel::builder().connect_lazy(address).expect("backend address should be valid")])
}

/// Sends an HTTP/1.1 request that closes the connection, and returns the whole response.
pub(crate) async fn exchange(address: &str, request: impl AsRef<[u8]>) -> String {
    let socket = TcpStream::connect(address).await.expect("gateway should accept the connection");
    finish(socket, request.as_ref()).await
}

async fn finish(mut socket: TcpStream, request: &[u8]) -> String {
    socket.write_all(request).await.expect("gateway should accept the request");
    let mut response = Vec::new();
    let read = tokio::time::timeout(TIMEOUT, socket.read_to_end(&mut response))
        .await
        .expect("response should end within the timeout");
    read.expect("connection should close cleanly");
    String::from_utf8_lossy(&response).into_owned()
}

/// Like [`exchange`], from 127.0.0.2, which the server takes for another caller.
#[cfg(target_os = "linux")]
pub(crate) async fn exchange_as_another(address: &str, request: impl AsRef<[u8]>) -> String {
    let socket = tokio::net::TcpSocket::new_v4().expect("descriptor should be available");
    socket.bind("127.0.0.2:0".parse().expect("address should be valid")).expect("loopback port should be free");
    let address = address.parse().expect("address should be valid");
    finish(socket.connect(address).await.expect("gateway should accept the connection"), request.as_ref()).await
}

/// Encodes a POST request that closes the connection.
pub(crate) fn post(path: &str, content_type: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: {content_type}\r\n{fields}\
         content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Encodes a Connect call of `Greet`.
pub(crate) fn greet(fields: &str, name: &str) -> Vec<u8> {
    let body = format!("{{\"name\":\"{name}\"}}");
    post("/greet.Greeter/Greet", "application/json", fields, body.as_bytes())
}

/// Waits for the next event of the greeter.
pub(crate) async fn soon<T>(items: &mut mpsc::UnboundedReceiver<T>) -> T {
    tokio::time::timeout(TIMEOUT, items.recv())
        .await
        .expect("event should arrive within the timeout")
        .expect("event sender should exist")
}

/// A greeter controlled by the name: `wait` waits forever, `timeout` reports whether there is a deadline, `fail` fails
/// in the middle of a stream, and an empty name fails.
pub(crate) struct Host {
    starts: mpsc::UnboundedSender<()>,
    dropped: mpsc::UnboundedSender<()>,
}

impl Host {
    /// Returns the greeter and its events: a handler has begun, and a handler was dropped.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<()>, mpsc::UnboundedReceiver<()>) {
        let ((starts, begins), (dropped, drops)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        (Self { starts, dropped }, begins, drops)
    }
}

/// Reports on drop that a handler was dropped.
struct Guard(mpsc::UnboundedSender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

impl Greeter for Host {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let _guard = Guard(self.dropped.clone());
        let _ = self.starts.send(());
        let fields = request.metadata().clone();
        let (timeout, tenant) = (request.timeout(), request.metadata().get("tenant").map(str::to_owned));
        let text = match &*request.into_inner().name {
            "" => {
                let detail = ErrorInfo::new("EMPTY", "tests");
                return Err(Status::invalid_argument("the name is empty").with_detail(&detail));
            }
            "wait" => std::future::pending().await,
            "fields" => {
                let mut fields: Vec<_> = fields.iter().map(|(name, value)| (name, value.escape_ascii())).collect();
                fields.sort_by_key(|(name, _)| *name);
                fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("|")
            }
            "timeout" => if timeout.is_some() { "some" } else { "none" }.to_owned(),
            name => format!("Hello, {name}!"),
        };
        let mut response = Response::new(Greeting { text });
        if let Some(tenant) = tenant {
            response.metadata_mut().insert("tenant", &tenant)?;
            let mut trailers = frpc::Metadata::new();
            trailers.insert("after", &tenant)?;
            response.extensions_mut().insert(Trailers(trailers));
        }
        Ok(response)
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let tenant = request.metadata().get("tenant").map(str::to_owned);
        let name = request.into_inner().name;
        if name == "wait" {
            let _ = self.starts.send(());
            return Ok(Response::new(ResponseStream::new(futures_util::stream::pending())));
        }
        let verses = (1..=2).map(move |n| match &*name {
            "fail" if n == 2 => Err(Status::data_loss("forgotten")),
            name => Ok(Greeting { text: format!("{n} {name}") }),
        });
        let mut response = Response::new(ResponseStream::new(frpc::iter(verses)));
        if let Some(tenant) = tenant {
            response.metadata_mut().insert("tenant", tenant)?;
        }
        Ok(response)
    }
}

/// A calculator with every kind of method.
pub(crate) struct Sums;

impl Calculator for Sums {
    async fn add(&self, request: Request<Terms>) -> Result<Response<Number>, Status> {
        let Terms { a, b } = request.into_inner();
        Ok(Response::new(Number { value: a.wrapping_add(b) }))
    }

    async fn count_up(&self, request: Request<Range>) -> Result<Response<ResponseStream<Number>>, Status> {
        let Range { from, count } = request.into_inner();
        let numbers = (0..i64::from(count)).map(move |n| Ok(Number { value: from + n }));
        Ok(Response::new(ResponseStream::new(frpc::iter(numbers))))
    }

    async fn sum_up(&self, request: Request<Streaming<Number>>) -> Result<Response<Sum>, Status> {
        let mut numbers = request.into_inner();
        let mut sum = Sum::default();
        while let Some(Number { value }) = numbers.message().await? {
            sum.total += value;
            sum.count += 1;
        }
        Ok(Response::new(sum))
    }

    async fn running_sum(
        &self,
        request: Request<Streaming<Number>>,
    ) -> Result<Response<ResponseStream<Number>>, Status> {
        let mut numbers = request.into_inner();
        let (sender, sums) = ResponseStream::channel(1);
        tokio::spawn(async move {
            let mut total = 0;
            while let Ok(Some(Number { value })) = numbers.message().await {
                total += value;
                if sender.send(Ok(Number { value: total })).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(sums))
    }
}

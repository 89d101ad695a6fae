//! Calls forwarded to a gRPC server, which is implemented by tonic.

use super::calls::{FIELDS, expect_own_fields};
use super::streams::{call_every_kind, recite, stream_json};
use super::support::{calculator, exchange, front, greet, greeter, post};
use frpc::Code;
use frpc::details::ErrorInfo;
use frpc_gateway::{Forward, Gateway, Http, ServeGateway as _};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use hyper_util::rt::TokioIo;
use prost::Message;
use samples::greet::{GreeterClient, Greeting, Name};
use std::convert::Infallible;
use std::future::{pending, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tonic::body::Body;
use tonic::server::Grpc;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Endpoint, Server};
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower::service_fn;

/// Maximum message size accepted by the gateway.
const MESSAGE_MAX: usize = 1 << 20;

#[derive(Clone, PartialEq, Message)]
struct Terms {
    #[prost(int64, tag = "1")]
    a: i64,
    #[prost(int64, tag = "2")]
    b: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Number {
    #[prost(int64, tag = "1")]
    value: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Range {
    #[prost(int64, tag = "1")]
    from: i64,
    #[prost(uint32, tag = "2")]
    count: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Sum {
    #[prost(int64, tag = "1")]
    total: i64,
    #[prost(uint32, tag = "2")]
    count: u32,
}

type Replies<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

fn codec<A: Message + Default + 'static, B: Message + Default + 'static>() -> ProstCodec<B, A> {
    ProstCodec::default()
}

/// Dispatches requests to the handlers of both services.
async fn answer(request: http::Request<Body>) -> http::Response<Body> {
    match request.uri().path() {
        "/quickstart.Calculator/Add" => {
            let handler = |request: Request<Terms>| async move {
                let Terms { a, b } = request.into_inner();
                Ok(Response::new(Number { value: a + b }))
            };
            Grpc::new(codec()).unary(service_fn(handler), request).await
        }
        "/quickstart.Calculator/CountUp" => {
            let handler = |request: Request<Range>| async move {
                let Range { from, count } = request.into_inner();
                let numbers = (0..i64::from(count)).map(move |n| Ok(Number { value: from + n }));
                Ok(Response::new(stream::iter(numbers).boxed()))
            };
            Grpc::new(codec()).server_streaming(service_fn(handler), request).await
        }
        "/quickstart.Calculator/SumUp" => {
            let handler = |request: Request<Streaming<Number>>| async move {
                let add = |sum: Sum, number: Number| async move {
                    Ok(Sum { total: sum.total + number.value, count: sum.count + 1 })
                };
                request.into_inner().try_fold(Sum::default(), add).await.map(Response::new)
            };
            Grpc::new(codec()).client_streaming(service_fn(handler), request).await
        }
        "/quickstart.Calculator/RunningSum" => {
            let handler = |request: Request<Streaming<Number>>| async move {
                let mut total = 0;
                let sums = request.into_inner().map_ok(move |Number { value }| {
                    total += value;
                    Number { value: total }
                });
                Ok(Response::new(sums.boxed()))
            };
            Grpc::new(codec()).streaming(service_fn(handler), request).await
        }
        "/greet.Greeter/Greet" => {
            let handler = |request: Request<Name>| async move {
                let tenant = request.metadata().get("tenant").cloned();
                let timeout = request.metadata().contains_key("grpc-timeout");
                let fields = request.metadata().clone();
                let text = match &*request.into_inner().name {
                    "" => {
                        let status = frpc::Status::invalid_argument("the name is empty");
                        return Err(status.with_detail(&ErrorInfo::new("EMPTY", "tests")).into());
                    }
                    "fields" => {
                        let shown = |name: &&str| {
                            let value = fields.get(*name)?.to_str().ok()?;
                            Some(format!("{name}={value}"))
                        };
                        FIELDS.iter().filter_map(shown).collect::<Vec<_>>().join("|")
                    }
                    "timeout" => format!("timeout {timeout}"),
                    "long" => "x".repeat(MESSAGE_MAX),
                    name => format!("Hello, {name}!"),
                };
                let mut response = Response::new(Greeting { text });
                if let Some(tenant) = tenant {
                    response.metadata_mut().insert("tenant", tenant);
                }
                Ok(response)
            };
            Grpc::new(codec()).unary(service_fn(handler), request).await
        }
        _ => {
            let handler = |request: Request<Name>| async move {
                let tenant = request.metadata().get("tenant").cloned();
                let name = request.into_inner().name;
                let end = if name == "endless" { stream::pending().boxed() } else { stream::empty().boxed() };
                let verse = stream::iter([Ok(Greeting { text: format!("1 {name}") })]);
                let forgotten = stream::iter([Err(Status::data_loss("forgotten"))]);
                let verses: Replies<Greeting> = verse.chain(end).chain(forgotten).boxed();
                let mut response = Response::new(verses);
                if let Some(tenant) = tenant {
                    response.metadata_mut().insert("tenant", tenant);
                }
                Ok(response)
            };
            Grpc::new(codec()).server_streaming(service_fn(handler), request).await
        }
    }
}

/// Starts a gRPC server with both services.
fn serve_backend() -> SocketAddr {
    let incoming = TcpIncoming::bind("127.0.0.1:0".parse().expect("loopback address should be valid"))
        .expect("loopback port should be free");
    let address = incoming.local_addr().expect("listener should have a local address");
    let service = service_fn(|request| async { Ok::<_, Infallible>(answer(request).await) });
    tokio::spawn(Server::builder().serve_with_incoming(service, incoming));
    address
}

fn backend() -> Forward {
    forward_to(&serve_backend().to_string())
}

fn forward_to(address: &str) -> Forward {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("backend address should be valid");
    Forward::to_grpc(endpoint.connect_lazy(), address, MESSAGE_MAX)
}

#[tokio::test]
async fn grpc_server_is_called_in_every_protocol() {
    let address = front(calculator(&backend())).await;
    call_every_kind(&address).await;
    stream_json(&address).await;
}

#[tokio::test]
async fn metadata_details_and_deadlines_pass_to_grpc() {
    let address = front(greeter(&backend())).await;
    let response = exchange(&address, greet("tenant: blue\r\n", "Ada")).await;
    assert!(response.starts_with("HTTP/1.1 200 ") && response.ends_with(r#"{"text":"Hello, Ada!"}"#), "{response}");
    assert!(response.contains("tenant: blue\r\n") && !response.contains("grpc"), "{response}");
    assert!(exchange(&address, greet("", "timeout")).await.contains("timeout false"));
    assert!(exchange(&address, greet("connect-timeout-ms: 9999\r\n", "timeout")).await.contains("timeout true"));
    let failed = exchange(&address, greet("", "")).await;
    assert!(failed.contains(r#""code":"invalid_argument","message":"the name is empty","details":["#), "{failed}");
    recite(&address).await;
    // Protobuf messages are forwarded without decoding.
    let invalid = exchange(&address, post("/greet.Greeter/Greet", "application/proto", "", b"\x0a\x05Ada")).await;
    assert!(!invalid.starts_with("HTTP/1.1 200 "), "{invalid}");
    let long = exchange(&address, greet("", "long")).await;
    assert!(long.contains("\"resource_exhausted\"") && long.contains("1048576"), "{}", long.len());
}

#[tokio::test]
async fn fields_about_the_caller_are_those_of_the_gateway_by_grpc() {
    expect_own_fields(backend()).await;
}

#[tokio::test]
async fn unreachable_grpc_server_is_unavailable() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
    let backend = free.local_addr().expect("listener should have a local address").to_string();
    drop(free);
    let failed = exchange(&front(greeter(&forward_to(&backend))).await, greet("", "Ada")).await;
    assert!(failed.contains("unavailable") && failed.contains(&backend), "{failed}");
    assert!(failed.contains("Connection refused"), "{failed}");
}

/// Regression: the status was `unknown` with the text "transport error".
#[tokio::test]
async fn lost_connection_to_grpc_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let backend = listener.local_addr().expect("listener should have a local address").to_string();
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            // Read the connection preface. The call comes after it.
            let _ = connection.read(&mut [0; 24]).await;
        }
    });
    let failed = exchange(&front(greeter(&forward_to(&backend))).await, greet("", "Ada")).await;
    assert!(failed.starts_with("HTTP/1.1 503 ") && failed.contains(&backend), "{failed}");
}

/// Regression: the status was `unknown`.
#[tokio::test]
async fn grpc_connection_lost_in_a_stream_is_unavailable() {
    let backend = serve_backend();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let between = listener.local_addr().expect("listener should have a local address").to_string();
    let proxy = tokio::spawn(async move {
        let (mut caller, _) = listener.accept().await.expect("gateway should connect to the proxy");
        let mut server = TcpStream::connect(backend).await.expect("backend should accept the connection");
        copy_bidirectional(&mut caller, &mut server).await
    });
    let client = GreeterClient::connect(front(greeter(&forward_to(&between))).await)
        .await
        .expect("gateway should accept the connection");
    let mut verses = client.recite(Name { name: "endless".to_owned() }).await.expect("stream should open").into_inner();
    assert_eq!(
        verses.message().await.expect("stream should not fail").expect("stream should have a message").text,
        "1 endless"
    );
    proxy.abort();
    let status = verses.message().await.expect_err("broken stream should fail");
    assert_eq!(status.code(), Code::Unavailable, "{status}");
    assert!(status.message().contains(&between), "{status}");
}

#[tokio::test(start_paused = true)]
async fn deadline_of_call_to_grpc_is_deadline_exceeded() {
    let (here, there) = tokio::io::duplex(1 << 16);
    let silent = service_fn(|_: http::Request<Body>| pending::<Result<http::Response<Body>, Infallible>>());
    let incoming = stream::iter([Ok::<_, std::io::Error>(there)]).chain(stream::pending());
    tokio::spawn(Server::builder().serve_with_incoming(silent, incoming));
    let mut here = Some(TokioIo::new(here));
    let connector = service_fn(move |_: http::Uri| {
        ready(here.take().ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotConnected)))
    });
    let channel = Endpoint::from_static("http://backend").connect_with_connector_lazy(connector);
    let service = greeter(&Forward::to_grpc(channel, "backend", MESSAGE_MAX));
    let builder = frpc::Server::builder().add_service(service).gateway(Gateway::new().http(Http::new().connect()));
    let server = builder.build().expect("server settings should be valid");
    let (mut client, there) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { server.serve_connection(there).await });
    client.write_all(&greet("connect-timeout-ms: 100\r\n", "Ada")).await.expect("gateway should accept the request");
    let mut response = String::new();
    client.read_to_string(&mut response).await.expect("response should be UTF-8");
    assert!(response.contains("\"deadline_exceeded\""), "{response}");
}

//! Tests of real protocols over handed-off connections and streams: PostgreSQL and etcd, from Debian's packages
//! `postgresql` and `etcd-server`.
//!
//! If they are not installed, the tests print a message and pass, unless `FRISBEE_REQUIRE_SERVERS` is set.

pub(crate) mod servers;

use bytes::Bytes;
use frisbee::{Client, Handlers};
use frisbee_tests::pki::Authority;
use frpc::hand_off::RawTransport;
use frpc::{Channel, Server};
use hyper_util::rt::TokioIo;
use samples::gateway::{Credentials, GatewayClient, GatewayServer, Target};
use samples::gateway_service::Service;
use std::fmt::Write;
use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Endpoint;
use tonic_prost::ProstCodec;

/// Maximum time to wait for a server. Replies take milliseconds, but the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts a gateway to a target. Returns a channel to it over TLS, on which a user has logged in.
async fn gateway(target: &str, address: &str) -> Channel {
    let authority = Authority::default();
    let service = Service {
        users: [("ada".to_owned(), "secret".to_owned())].into(),
        targets: [(target.to_owned(), address.to_owned())].into(),
    };
    let builder = Server::builder().tls(authority.server()).add_service(GatewayServer::new(service));
    let server = builder.method_hand_off("gateway.Gateway/Open").bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    let channel = Channel::builder().tls(authority.client()).connect(address).await.unwrap();
    let credentials = Credentials { user: "ada".to_owned(), password: "secret".to_owned() };
    GatewayClient::new(channel.clone()).login(credentials).await.unwrap();
    channel
}

async fn open(channel: &Channel, target: &str) -> RawTransport {
    let (asking, handed) = channel.request_hand_off();
    GatewayClient::new(asking).open(Target { name: target.to_owned() }).await.unwrap();
    handed.take().expect("gateway should hand off its connection")
}

/// Writes rows to PostgreSQL and reads them again, with PostgreSQL's own client over any transport.
async fn expect_postgres(mut io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let relaying = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        copy_bidirectional(&mut io, &mut socket).await
    });
    let mut rows = String::new();
    for number in 1..=20_000 {
        writeln!(rows, "{number}\t{}", "word ".repeat(number % 50)).unwrap();
    }
    let script = format!(
        "CREATE TEMPORARY TABLE things (number INT8, words TEXT);\nCOPY things FROM STDIN;\n{rows}\\.\n\
         SELECT number, words FROM things ORDER BY number;\n"
    );
    let mut psql = servers::psql(port).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = psql.stdin.take().unwrap();
    let feeding = async move { stdin.write_all(script.as_bytes()).await };
    let (fed, output) = tokio::join!(feeding, psql.wait_with_output());
    let output = output.unwrap();
    assert!(output.status.success(), "psql failed: {}", output.status);
    fed.unwrap();
    assert!(output.stdout == rows.as_bytes(), "{} bytes were returned of {}", output.stdout.len(), rows.len());
    relaying.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_runs_on_handed_off_connection() {
    let Some(server) = servers::postgres().await else { return };
    let request = async { expect_postgres(open(&gateway("postgres", &server.address).await, "postgres").await).await };
    tokio::time::timeout(TIMEOUT, request).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_sessions_share_connection() {
    let Some(server) = servers::postgres().await else { return };
    let to = server.address.clone();
    let tunnels = Handlers::new().on_stream(move |_first, stream| {
        let to = to.clone();
        tokio::spawn(async move {
            let mut socket = TcpStream::connect(to).await.unwrap();
            let _ = copy_bidirectional(&mut stream.into_io(), &mut socket).await;
        });
    });
    let tunnels = frisbee::Server::builder().bind("127.0.0.1:0", tunnels).await.unwrap();
    let address = tunnels.local_addr();
    tokio::spawn(tunnels.serve());
    let connection = Client::builder().connect(address, Handlers::new()).await.unwrap();
    let request = (0..4).map(|_| async {
        let stream = connection.open_stream(&Bytes::from_static(b"postgres")).await.unwrap();
        expect_postgres(stream.into_io()).await;
    });
    tokio::time::timeout(TIMEOUT, futures_util::future::join_all(request)).await.unwrap();
}

#[derive(Clone, PartialEq, prost::Message)]
struct PutRequest {
    #[prost(bytes = "vec", tag = "1")]
    key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PutResponse {}

#[derive(Clone, PartialEq, prost::Message)]
struct RangeRequest {
    #[prost(bytes = "vec", tag = "1")]
    key: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct RangeResponse {
    #[prost(message, repeated, tag = "2")]
    kvs: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct KeyValue {
    #[prost(bytes = "vec", tag = "1")]
    key: Vec<u8>,
    #[prost(bytes = "vec", tag = "5")]
    value: Vec<u8>,
}

async fn unary<A, B>(grpc: &mut Grpc<tonic::transport::Channel>, path: &'static str, request: A) -> B
where
    A: prost::Message + Send + Sync + 'static,
    B: prost::Message + Default + Send + Sync + 'static,
{
    grpc.ready().await.unwrap();
    let path = PathAndQuery::from_static(path);
    let codec = ProstCodec::<A, B>::default();
    grpc.unary(tonic::Request::new(request), path, codec).await.unwrap().into_inner()
}

/// Sends requests to etcd with tonic's client over any transport.
async fn expect_etcd(io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
    let io_slot = Arc::new(Mutex::new(Some(TokioIo::new(io))));
    let connector = tower::service_fn(move |_| {
        let io_slot = io_slot.lock().unwrap().take();
        async move { io_slot.ok_or_else(|| io::Error::other("there is one connection")) }
    });
    let channel = Endpoint::from_static("http://etcd.test").connect_with_connector(connector).await.unwrap();
    let mut grpc = Grpc::new(channel);
    for number in 0..50_usize {
        let (key, value) = (format!("key/{number}").into_bytes(), vec![number as u8; number * 1_000]);
        let put = PutRequest { key: key.clone(), value: value.clone() };
        let PutResponse {} = unary(&mut grpc, "/etcdserverpb.KV/Put", put).await;
        let found: RangeResponse = unary(&mut grpc, "/etcdserverpb.KV/Range", RangeRequest { key: key.clone() }).await;
        assert_eq!(found.kvs, [KeyValue { key, value }]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn etcd_works_on_handed_off_connection() {
    let Some(servers::Etcd { address, .. }) = &servers::etcd().await else { return };
    let request = async { expect_etcd(open(&gateway("etcd", address).await, "etcd").await).await };
    tokio::time::timeout(TIMEOUT, request).await.unwrap();
}

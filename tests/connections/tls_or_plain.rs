//! Tests of TLS and plaintext on one port.

use super::transports::expect_service;
use bytes::Bytes;
use frisbee::CloseKind;
use frisbee::tls::{ClientTls, TlsError};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer};
use frisbee_tests::pki::Authority;
use frisbee_tests::service::Service;
use frpc::{AdapterContext, Call, CallResponse, Channel, Next, Request, Server, ServerBuilder, Stats, Status, Workers};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

const TIMEOUT: Duration = Duration::from_secs(20);

/// Adds an adapter for clients whose first byte is a brace. It calls a method in JSON.
fn with_json(builder: ServerBuilder) -> ServerBuilder {
    builder.adapter(
        |beginning| beginning[0] == b'{',
        async |mut transport, context: AdapterContext| {
            let mut request = Vec::new();
            while !request.ends_with(b"}") {
                request.push(transport.read_u8().await?);
            }
            let method = context.methods().get("interop.Interop", "Add").expect("call should succeed");
            let answer = match method.unary(Request::new(request.into()), "json").await {
                Ok(response) => response.into_inner(),
                Err(status) => Bytes::from(status.message().to_owned()),
            };
            transport.write_all(&answer).await?;
            transport.shutdown().await
        },
    )
}

async fn serve(builder: ServerBuilder) -> (SocketAddr, Stats) {
    let server = builder
        .add_service(InteropServer::new(Service))
        .bind("127.0.0.1:0")
        .await
        .expect("server should bind to a free address");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    (address, stats)
}

async fn exchange(mut io: impl AsyncRead + AsyncWrite + Unpin) -> String {
    io.write_all(br#"{"a": 20, "b": 22}"#).await.expect("write should succeed");
    let mut answer = String::new();
    let reading = io.read_to_string(&mut answer);
    tokio::time::timeout(TIMEOUT, reading)
        .await
        .expect("read should complete within the timeout")
        .expect("connection should end regularly");
    answer
}

async fn secured(authority: &Authority, address: SocketAddr) -> tokio_rustls::client::TlsStream<TcpStream> {
    let connector = TlsConnector::from(authority.configurations().0);
    let socket = TcpStream::connect(address).await.expect("server should accept the connection");
    let name = "127.0.0.1".try_into().expect("server name should be valid");
    connector.connect(name, socket).await.expect("server should accept the connection")
}

#[tokio::test(flavor = "multi_thread")]
async fn optional_tls_port_serves_native_and_gateway() {
    let authority = Authority::default();
    for workers in [Workers::PerCore, Workers::Caller] {
        let builder = with_json(Server::builder().workers(workers).tls_or_plain(authority.server()));
        let (address, stats) = serve(builder).await;
        let channels = [
            Channel::builder().connect(address.to_string()).await.unwrap(),
            Channel::builder().tls(authority.client()).connect(address.to_string()).await.unwrap(),
        ];
        for channel in channels {
            expect_service(&channel).await;
        }
        let plain = TcpStream::connect(address).await.unwrap();
        assert_eq!(
            [exchange(plain).await, exchange(secured(&authority, address).await).await],
            [r#"{"total":"42","count":"2"}"#; 2]
        );
        let closed = async {
            while stats.open() > 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(TIMEOUT, closed).await.expect("connection should close within the timeout");
        let counts = [CloseKind::ClosedByPeer, CloseKind::OtherProtocol].map(|kind| stats.closed_by(kind));
        assert_eq!((stats.opened(), counts), (4, [2, 2]), "each connection should be counted once");
    }
}

#[tokio::test]
async fn tls_or_plain_works_over_any_transport() {
    let authority = Authority::default();
    let builder = Server::builder().tls_or_plain(authority.server());
    let acceptor = builder.add_service(InteropServer::new(Service)).build().unwrap();
    let memory = || {
        let (here, there) = frpc::memory();
        let acceptor = acceptor.clone();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        here
    };
    let builder = Channel::builder().tls(authority.client()).server_name("127.0.0.1");
    expect_service(&builder.connect_io(memory()).await.unwrap()).await;
    expect_service(&Channel::connect_io(memory()).await.unwrap()).await;
}

/// Middleware that admits only callers with a certificate.
async fn identified(call: Call, next: Next) -> Result<CallResponse, Status> {
    match call.peer_certificates() {
        Some(certificates) if !certificates.is_empty() => next.run(call).await,
        _ => Err(Status::unauthenticated("nameless")),
    }
}

#[tokio::test]
async fn middleware_sees_native_and_adapter_client_certificates() {
    let authority = Authority::default();
    let builder = Server::builder().tls_or_plain(authority.mutual_server()).middleware(identified);
    let (address, _) = serve(with_json(builder)).await;
    let add = async |builder: frpc::ChannelBuilder| {
        let client = InteropClient::new(builder.connect(address.to_string()).await?);
        client.add(AddRequest { a: 20, b: 22 }).await.map(|sum| sum.get_ref().total)
    };
    let identity = authority.issue("client.test");
    let with_identity = authority.client().with_identity(identity.clone()).unwrap();
    assert_eq!(add(Channel::builder().tls(with_identity)).await.unwrap(), 42);
    let refused = add(Channel::builder()).await.expect_err("call should fail");
    assert_eq!(refused.message(), "nameless");

    assert_eq!(exchange(TcpStream::connect(address).await.unwrap()).await, "nameless");
    let config = frisbee::tls::rustls::ClientConfig::builder_with_provider(
        frisbee::tls::rustls::crypto::ring::default_provider().into(),
    );
    let mut roots = frisbee::tls::rustls::RootCertStore::empty();
    roots.add(authority.certificate()).unwrap();
    let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let (certificate, key) = authority.issue_pem("client.test");
    let (chain, key) = frisbee_tests::pki::from_pem(&certificate, &key);
    let config = config.with_client_auth_cert(chain, key).unwrap();
    let connector = TlsConnector::from(std::sync::Arc::new(config));
    let socket = TcpStream::connect(address).await.unwrap();
    let stream = connector.connect("127.0.0.1".try_into().unwrap(), socket).await.unwrap();
    assert_eq!(exchange(stream).await, r#"{"total":"42","count":"2"}"#);
}

#[tokio::test]
async fn optional_tls_port_rejects_nested_tls() {
    let authority = Authority::default();
    let (address, stats) = serve(Server::builder().tls_or_plain(authority.server())).await;
    let mut outer = secured(&authority, address).await;
    outer.write_all(&authority.client_hello()).await.unwrap();
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(TIMEOUT, outer.read_to_end(&mut answer))
        .await
        .expect("read should complete within the timeout");
    assert_eq!(answer, b"");
    while stats.open() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!([stats.opened(), stats.closed_by(CloseKind::SpeaksTls)], [1, 1]);
}

#[tokio::test]
async fn stalled_handshake_is_evicted_for_others() {
    let authority = Authority::default();
    let builder = Server::builder().tls_or_plain(authority.server()).silent_max(1);
    let (address, stats) = serve(builder).await;
    let mut stalled = TcpStream::connect(address).await.unwrap();
    stalled.write_all(&authority.client_hello()[..20]).await.unwrap();
    while stats.opened() < 1 {
        tokio::task::yield_now().await;
    }
    let channel = Channel::builder().tls(authority.client()).connect(address.to_string()).await.unwrap();
    expect_service(&channel).await;
    // The server may evict a stalled handshake after one second, when new clients connect.
    let arriving = tokio::spawn(async move {
        let (mut arrived, mut pause) = (Vec::new(), tokio::time::interval(Duration::from_millis(100)));
        loop {
            pause.tick().await;
            arrived.push(TcpStream::connect(address).await);
        }
    });
    let read = tokio::time::timeout(TIMEOUT, stalled.read_to_end(&mut Vec::new())).await;
    arriving.abort();
    let _ = read.expect("connection should close before its timeout");
}

#[tokio::test]
async fn mixed_port_counts_handshake_faults_by_reason() {
    let authority = Authority::default();
    let (address, stats) = serve(Server::builder().tls_or_plain(authority.mutual_server())).await;
    let connect = async |tls: ClientTls| {
        let connecting = frisbee::Client::builder().tls(tls).connect(address, frisbee::Handlers::new());
        match tokio::time::timeout(TIMEOUT, connecting)
            .await
            .expect("connection should be established within the timeout")
        {
            Err(frisbee::Error::Tls { source, .. }) => source,
            other => panic!("expected an error about TLS: {other:?}"),
        }
    };
    assert_eq!(connect(authority.client()).await, TlsError::CertificateRequired);
    let mut garbage = TcpStream::connect(address).await.unwrap();
    garbage.write_all(&[22, 3, 1, 0, 5, 9, 9, 9, 9, 9]).await.unwrap();
    let _ = tokio::time::timeout(TIMEOUT, garbage.read_to_end(&mut Vec::new()))
        .await
        .expect("read should complete within the timeout");
    while stats.open() > 0 || stats.opened() < 2 {
        tokio::task::yield_now().await;
    }
    let closed = [CloseKind::TlsHandshake, CloseKind::NotTls].map(|kind| stats.closed_by(kind));
    assert_eq!((stats.opened(), closed), (2, [1, 1]));
}

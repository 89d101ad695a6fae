//! Tests of bytes that arrive in the same segment as the last packet. Each transport is tested a hundred times.

use super::{GREETING, Gateway, TIMEOUT, TUNNEL, operation};
use bytes::Bytes;
use frisbee::{Client, Handlers, RawTransport, Server, Workers};
use frisbee_core::{BODY_MAX, Decoder, HeaderForm};
use frisbee_tests::pki::Authority;
use frisbee_tests::raw::packet;
use std::sync::LazyLock;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::mpsc;
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

const TIMES: usize = 100;

/// A mebibyte in which each group of four bytes is different.
static RAW: LazyLock<Vec<u8>> = LazyLock::new(|| (0_u32..1 << 18).flat_map(u32::to_le_bytes).collect());

trait Io: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Io for T {}

/// Returns the first packet of a native peer.
pub(super) fn hello() -> Vec<u8> {
    packet(0, 3, b"fris\x01")
}

/// Reads to the end in pieces of any size, and compares the bytes with [`RAW`].
async fn expect_raw(io: &mut (impl AsyncRead + Unpin)) {
    let mut buffer = vec![0; 64 * 1024];
    let mut rest = &RAW[..];
    while !rest.is_empty() {
        let count = io.read(&mut buffer).await.unwrap();
        assert!(count > 0, "{} bytes are missing", rest.len());
        assert!(rest.starts_with(&buffer[..count]), "{} bytes before the end", rest.len());
        rest = &rest[count..];
    }
}

/// Reads packets until one has the given operation. Returns the bytes that follow it.
pub(super) async fn read_until(io: &mut (impl AsyncRead + Unpin), wanted: u16) -> Bytes {
    let mut decoder = Decoder::new(HeaderForm::Current, BODY_MAX);
    loop {
        let mut buffer = vec![0; 4096];
        let count = io.read(&mut buffer).await.unwrap();
        assert!(count > 0, "connection should not close before the packet");
        buffer.truncate(count);
        let mut input = Bytes::from(buffer);
        while let Some(packet) = decoder.next(&mut input).unwrap() {
            if packet.operation.number() == wanted {
                return input;
            }
        }
    }
}

/// Checks that a native client receives the connection and all bytes if its peer writes packets, the reply and a
/// mebibyte at once.
async fn client_gets_all(here: impl Io, mut there: impl Io) {
    let (bodies, mut received) = mpsc::unbounded_channel();
    let handlers = Handlers::new().on(TUNNEL, move |_, packet| {
        bodies.send(packet.body).unwrap();
        async { None }
    });
    let peer = tokio::spawn(async move {
        there.write_all(&hello()).await.unwrap();
        read_until(&mut there, 8).await;
        let mut segment = [packet(7, 10, b"crossing"), packet(0, 0, &[]), packet(0, 8, b"\x01granted")].concat();
        segment.extend_from_slice(&RAW);
        there.write_all(&segment).await.unwrap();
        let mut answer = [0; 2];
        there.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"ok", "reply should directly precede the bytes of the new owner");
    });
    let connection = Client::builder().connect_io(here, handlers).await.unwrap();
    let mut accepted = connection.hand_off(TUNNEL, "").await.unwrap();
    assert_eq!(accepted.reply, "granted");
    expect_raw(&mut accepted.transport).await;
    assert_eq!(received.recv().await.unwrap(), "crossing");
    accepted.transport.write_all(b"ok").await.unwrap();
    accepted.transport.flush().await.unwrap();
    accepted.transport.flush().await.unwrap();
    peer.await.unwrap();
}

/// Checks that a native server receives the connection and all bytes if its peer writes packets and a mebibyte at once.
async fn server_gets_all(mut here: impl Io, there: impl Io) {
    let acceptor = Server::builder().build(Gateway { held: None }).unwrap();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let last = "raw from here on".as_bytes();
    let mut segment = [packet(1, 10, b"one"), packet(2, 10, last)].concat();
    let echoed = segment.len() + GREETING.len();
    segment.extend_from_slice(&RAW);
    let (mut read, mut write) = tokio::io::split(&mut here);
    let writing = async {
        write.write_all(&segment).await.unwrap();
        write.flush().await.unwrap();
    };
    let reading = async {
        let mut first = vec![0; echoed];
        read.read_exact(&mut first).await.unwrap();
        assert!(first.ends_with(GREETING) && first.starts_with(&segment[..echoed - GREETING.len()]));
        expect_raw(&mut read).await;
    };
    tokio::join!(writing, reading);
}

async fn every_time<A: Io, B: Io>(pair: impl AsyncFn() -> (A, B)) {
    for time in 0..TIMES {
        let (here, there) = pair().await;
        let got = async {
            if time % 2 == 0 { client_gets_all(here, there).await } else { server_gets_all(here, there).await }
        };
        tokio::time::timeout(TIMEOUT, got).await.expect("bytes should arrive within the timeout");
    }
}

async fn tcp() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (here, there) = tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
    (here.unwrap(), there.unwrap().0)
}

#[tokio::test]
async fn trailing_bytes_reach_new_owner_in_memory() {
    every_time(async || frisbee::memory()).await;
}

#[tokio::test]
async fn trailing_bytes_reach_new_owner_on_tcp() {
    every_time(tcp).await;
}

#[tokio::test]
async fn trailing_bytes_reach_new_owner_on_unix() {
    every_time(async || UnixStream::pair().unwrap()).await;
}

#[tokio::test]
async fn trailing_bytes_reach_new_owner_on_tls() {
    let (client, server) = Authority::default().configurations();
    let (connector, acceptor) = (TlsConnector::from(client), TlsAcceptor::from(server));
    every_time(async || {
        let (here, there) = tcp().await;
        let name = "127.0.0.1".try_into().unwrap();
        let (here, there) = tokio::join!(connector.connect(name, here), acceptor.accept(there));
        (TlsStream::from(here.unwrap()), TlsStream::from(there.unwrap()))
    })
    .await;
}

/// Checks that the transport has the given type.
async fn expect_kind<T: 'static>(raw: RawTransport) {
    assert!(raw.is::<T>());
    assert!(!raw.is::<u8>());
    let raw = raw.downcast::<u8>().expect_err("transport should have another type");
    let (_transport, early) = raw.downcast::<T>().expect("transport should have the stated type");
    assert!(early.len() <= GREETING.len());
}

/// Hands off a connection, stops the server and its threads, and then uses the connection.
async fn outlives(server: Server<Gateway>, client: frisbee::ClientBuilder) {
    let address = server.local_addr();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve_with_shutdown(async { drop(stopped.await) }));
    let connection = client.connect(address, Handlers::new()).await.unwrap();
    let mut raw = connection.hand_off(TUNNEL, "accept").await.unwrap().transport;
    super::expect_greeting(&mut raw).await;
    stop.send(()).unwrap();
    serving.await.unwrap().unwrap();
    tokio::time::timeout(TIMEOUT, super::expect_echo(raw)).await.expect("echo should arrive within the timeout");
}

#[tokio::test]
async fn handed_off_transport_outlives_server() {
    for workers in [Workers::Caller, Workers::Threads(1)] {
        let client = Client::builder().workers(workers);
        let server = Server::builder().bind("127.0.0.1:0", Gateway { held: None }).await.unwrap();
        outlives(server, client.clone()).await;
        let authority = Authority::default();
        let server = Server::builder().tls(authority.server());
        let server = server.bind("127.0.0.1:0", Gateway { held: None }).await.unwrap();
        outlives(server, client.tls(authority.client())).await;
    }
}

#[tokio::test]
async fn handed_off_transport_converts_to_its_type() {
    let server = Server::builder().bind("127.0.0.1:0", Gateway { held: None }).await.unwrap();
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let connection = Client::builder().connect(address, Handlers::new()).await.unwrap();
    expect_kind::<TcpStream>(connection.hand_off(TUNNEL, "accept").await.unwrap().transport).await;

    let authority = Authority::default();
    let builder = Server::builder().tls(authority.server());
    let server = builder.bind("127.0.0.1:0", Gateway { held: None }).await.unwrap();
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let connection = Client::builder().tls(authority.client()).connect(address, Handlers::new()).await.unwrap();
    expect_kind::<TlsStream<RawTransport>>(connection.hand_off(TUNNEL, "accept").await.unwrap().transport).await;

    let path = std::env::temp_dir().join(format!("frisbee-handed-{}", std::process::id()));
    let server = Server::builder().bind_unix(&path, Gateway { held: None }).await.unwrap();
    tokio::spawn(server.serve());
    let connection = Client::builder().connect(format!("unix:{}", path.display()), Handlers::new()).await.unwrap();
    expect_kind::<UnixStream>(connection.hand_off(TUNNEL, "accept").await.unwrap().transport).await;

    let acceptor = Server::builder().build(Gateway { held: None }).unwrap();
    let connection = Client::builder().connect_io(super::served(&acceptor), Handlers::new()).await.unwrap();
    expect_kind::<DuplexStream>(connection.hand_off(TUNNEL, "accept").await.unwrap().transport).await;
    assert!(operation(10) == TUNNEL);
}

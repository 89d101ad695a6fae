use crate::{Client, CloseKind, CloseReason, Connection, Handlers, Operation, Packet, PacketId, Server, ServerBuilder};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};

pub(super) const LIMIT: Duration = Duration::from_secs(20);

/// Creates a server with an adapter that echoes one line in upper case if it starts with a letter.
fn shouting() -> ServerBuilder {
    Server::builder().adapter(
        |beginning| beginning[0].is_ascii_alphabetic(),
        async |mut transport, _context| {
            let mut line = Vec::new();
            while !line.ends_with(b"\n") {
                line.push(transport.read_u8().await?);
            }
            transport.write_all(&line.to_ascii_uppercase()).await
        },
    )
}

pub(super) fn echo() -> Handlers {
    let operation = Operation::user(10).expect("operation number should be above the reserved range");
    Handlers::new().on(operation, |_connection, packet| async { Some(packet) })
}

/// Connects to the server, sends a packet and waits for its echo.
async fn call(address: SocketAddr) {
    let (replies, mut reply) = mpsc::unbounded_channel();
    let operation = Operation::user(10).expect("operation number should be above the reserved range");
    let answered = Handlers::new().on(operation, move |_connection: Connection, packet: Packet| {
        replies.send(packet.body).ok();
        async { None }
    });
    let connection = Client::builder().connect(address, answered).await.expect("server should accept the connection");
    connection.send(&Packet::new(PacketId(1), operation, "hi")).await.expect("connected client should send the packet");
    assert_eq!(reply.recv().await.as_deref(), Some(&b"hi"[..]));
}

async fn say(address: SocketAddr, words: &[&[u8]]) -> Vec<u8> {
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    socket.set_nodelay(true).expect("socket should be TCP");
    for words in words {
        socket.write_all(words).await.expect("socket should accept the written bytes");
        tokio::task::yield_now().await;
    }
    let mut received = Vec::new();
    tokio::time::timeout(LIMIT, socket.read_to_end(&mut received))
        .await
        .expect("server should close the connection within the timeout")
        .expect("client should be able to read until the connection closes");
    received
}

#[tokio::test]
async fn frames_and_other_protocols_share_port() {
    let server = shouting().bind("127.0.0.1:0", echo()).await.unwrap();
    let (address, stats) = (server.local_addr(), server.stats());
    let serving = tokio::spawn(server.serve());
    assert_eq!(say(address, &[b"hello\n"]).await, b"HELLO\n");
    call(address).await;
    assert_eq!(say(address, &[b"h", b"ello\n"]).await, b"HELLO\n", "adapter should decide by the first byte");
    assert_eq!(say(address, &[b"{}\n{}\n{}\n"]).await, b"", "connection that no handler accepts should be closed");
    call(address).await;
    serving.abort();
    assert_eq!([CloseKind::OtherProtocol, CloseKind::BadMagic].map(|kind| stats.closed_by(kind)), [2, 1]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn system_probes_silent_clients_of_adapters() {
    let (options, mut seen) = mpsc::unbounded_channel();
    let probed = Server::builder().adapter(
        |_| true,
        move |transport, _context| {
            let (socket, _) = transport.downcast::<TcpStream>().expect("transport should be TCP");
            let socket = socket2::SockRef::from(&socket);
            options.send((socket.keepalive().unwrap(), socket.tcp_keepalive_time().unwrap())).unwrap();
            async { Ok(()) }
        },
    );
    let server = probed.bind("127.0.0.1:0", echo()).await.unwrap();
    let address = server.local_addr();
    tokio::spawn(server.serve());
    say(address, &[b"hello\n"]).await;
    assert_eq!(seen.recv().await, Some((true, Duration::from_secs(60))));
}

#[tokio::test]
async fn frames_are_not_offered_to_adapters() {
    let greedy = Server::builder().adapter(|_| true, async |_transport, _context| Ok(()));
    let acceptor = greedy.build(echo()).unwrap();
    for first in [&[0, 15, 0, 1, 0, 10, 0, 0, 0, 0][..], &[0, 1, 0, 10, 0, 0, 0, 0]] {
        let (mut here, there) = crate::memory();
        let acceptor = acceptor.clone();
        let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
        here.write_all(first).await.unwrap();
        let mut answer = vec![0; first.len()];
        here.read_exact(&mut answer).await.expect("client should receive the adapter's reply");
        assert_eq!(answer, first);
        drop(here);
        serving.await.unwrap();
    }
    assert_eq!(acceptor.stats().closed_by(CloseKind::OtherProtocol), 0);
}

#[tokio::test]
async fn adapter_connection_closes_when_handler_returns() {
    let (proceeds, proceed) = oneshot::channel::<()>();
    let proceed = std::sync::Mutex::new(Some(proceed));
    let acceptor = Server::builder()
        .adapter(
            |_| true,
            move |_transport, _context| {
                let proceed = proceed.lock().unwrap().take().expect("adapter should be called once");
                async {
                    proceed.await.expect("sender that resumes the adapter should not be dropped");
                    Ok(())
                }
            },
        )
        .build(echo())
        .unwrap();
    let (mut here, there) = crate::memory();
    let serving = tokio::spawn({
        let acceptor = acceptor.clone();
        async move { acceptor.serve_connection(there).await }
    });
    here.write_all(b"x").await.unwrap();
    while !proceeds.is_closed() && acceptor.stats().opened() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(acceptor.stats().open(), 1);
    proceeds.send(()).unwrap();
    assert!(matches!(serving.await.unwrap(), CloseReason::OtherProtocol));
    assert_eq!([acceptor.stats().open(), acceptor.stats().closed_by(CloseKind::OtherProtocol)], [0, 1]);
}

#[tokio::test]
async fn failed_adapter_connection_is_counted_by_error() {
    let failing = |_transport, _context| async { Err(io::ErrorKind::InvalidData.into()) };
    let acceptor = Server::builder().adapter(|_| true, failing).build(echo()).unwrap();
    let (mut here, there) = crate::memory();
    here.write_all(b"x").await.unwrap();
    assert!(matches!(acceptor.serve_connection(there).await, CloseReason::Io { .. }));
    assert_eq!([acceptor.stats().open(), acceptor.stats().closed_by(CloseKind::Transport)], [0, 1]);
}

#[tokio::test]
async fn adapter_that_panics_leaves_no_open_connection() {
    let panicking = |_transport, _context| async { panic!("a defect of the handler") };
    let acceptor = Server::builder().adapter(|_| true, panicking).build(echo()).unwrap();
    let (mut here, there) = crate::memory();
    here.write_all(b"x").await.unwrap();
    acceptor.serve_connection(there).await;
    assert_eq!([acceptor.stats().opened(), acceptor.stats().open()], [1, 0]);
}

#[tokio::test]
async fn stop_notifies_adapters_and_waits_for_them() {
    let server = Server::builder().adapter(
        |_| true,
        async |mut transport, context| {
            transport.write_all(b"ready").await?;
            context.stopping().await;
            assert!(context.is_stopping());
            transport.write_all(b" bye").await
        },
    );
    let server = server.bind("127.0.0.1:0", echo()).await.unwrap();
    let address = server.local_addr();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve_with_shutdown(async { stopped.await.unwrap() }));
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(b"x").await.unwrap();
    socket.read_exact(&mut [0; 5]).await.unwrap();
    stop.send(()).unwrap();
    let mut rest = Vec::new();
    socket.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b" bye");
    tokio::time::timeout(LIMIT, serving).await.expect("server should shut down within the timeout").unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn stop_drops_adapters_that_do_not_return() {
    let (dropped, mut alive) = mpsc::channel::<()>(1);
    let acceptor = Server::builder()
        .adapter(
            |_| true,
            move |_transport, _context| {
                let dropped = dropped.clone();
                async move {
                    dropped.closed().await;
                    Ok(())
                }
            },
        )
        .build(echo())
        .unwrap();
    let (mut here, there) = crate::memory();
    let serving = tokio::spawn({
        let acceptor = acceptor.clone();
        async move { acceptor.serve_connection(there).await }
    });
    here.write_all(b"x").await.unwrap();
    while acceptor.stats().opened() == 0 {
        tokio::task::yield_now().await;
    }
    acceptor.shutdown().await;
    assert!(matches!(serving.await.unwrap(), CloseReason::Shutdown));
    assert_eq!([acceptor.stats().open(), acceptor.stats().closed_by(CloseKind::Shutdown)], [0, 1]);
    drop(acceptor);
    assert_eq!(alive.recv().await, None, "handler should be dropped");
}

/// A router that attaches a value to each connection and reports when the value is dropped.
struct Attaching(mpsc::UnboundedSender<()>);

struct Attached(mpsc::UnboundedSender<()>);

impl Drop for Attached {
    fn drop(&mut self) {
        self.0.send(()).ok();
    }
}

impl crate::Router for Attaching {
    type Session = ();

    fn connected(&self, connection: &Connection) {
        connection.attachments().insert(Attached(self.0.clone()));
    }

    fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut crate::Outbox) -> crate::Routed {
        crate::Routed::Continue
    }
}

/// Regression test: a principal that was attached when the client connected was dropped as soon as an adapter took over
/// the connection.
#[tokio::test]
async fn adapter_sees_attachments_until_it_returns() {
    let (ends, mut ended) = mpsc::unbounded_channel();
    let (shows, mut shown) = mpsc::unbounded_channel();
    let (proceeds, proceed) = oneshot::channel::<()>();
    let proceed = std::sync::Mutex::new(Some(proceed));
    let serve = move |_transport, context: crate::AdapterContext| {
        shows.send(context.connection().attachments().get::<Attached>().is_some()).ok();
        let proceed = proceed.lock().unwrap().take().expect("adapter should be called once");
        async {
            proceed.await.expect("sender that resumes the adapter should not be dropped");
            Ok(())
        }
    };
    let acceptor = Server::builder().adapter(|_| true, serve).build(Attaching(ends)).unwrap();
    let (mut here, there) = crate::memory();
    let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
    here.write_all(b"x").await.unwrap();
    assert_eq!(shown.recv().await, Some(true));
    assert!(ended.try_recv().is_err(), "adapter should still serve");
    proceeds.send(()).expect("adapter should wait for the signal to resume");
    serving.await.unwrap();
    assert_eq!(ended.recv().await, Some(()));
}

/// Regression test: when a header arrived in several pieces, the later pieces were offered to adapters. An adapter that
/// accepted them did not receive the connection, but attachments such as the client's principal were dropped.
#[tokio::test]
async fn fragmented_header_is_not_offered_to_adapters() {
    let (ends, mut ended) = mpsc::unbounded_channel();
    let greedy = Server::builder().adapter(|_| true, async |_transport, _context| Ok(()));
    let acceptor = greedy.build(Attaching(ends)).unwrap();
    // Each read returns one byte.
    let (mut here, there) = tokio::io::duplex(1);
    let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
    here.write_all(&[0, 15, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
    here.read_exact(&mut [0; 10]).await.expect("server should send a packet header");
    assert!(ended.try_recv().is_err(), "connection should stay open");
    drop(here);
    serving.await.unwrap();
    assert_eq!(ended.recv().await, Some(()));
}

/// A transport that always fails to flush.
struct Unflushed(tokio::io::DuplexStream);

impl AsyncRead for Unflushed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Unflushed {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// Regression test: an HTTP client that reset its TLS connection after its first bytes was counted as open forever.
#[tokio::test]
async fn connection_lost_before_adapter_counts_as_closed() {
    let acceptor = Server::builder().adapter(|_| true, async |_transport, _context| Ok(())).build(echo()).unwrap();
    let (mut here, there) = crate::memory();
    here.write_all(b"x").await.unwrap();
    acceptor.serve_connection(Unflushed(there)).await;
    assert_eq!([acceptor.stats().opened(), acceptor.stats().open()], [1, 0]);
}

#[tokio::test]
async fn peer_without_connection_keeps_attachments_until_dropped() {
    let (ends, mut ended) = mpsc::unbounded_channel();
    let (shows, mut shown) = mpsc::unbounded_channel();
    let listen = move |peers: crate::AdapterPeers| {
        let shows = shows.clone();
        async move {
            let peer = peers.enter(([127, 0, 0, 1], 9).into(), None).expect("router should accept the peer");
            shows.send(peer.connection().attachments().get::<Attached>().is_some()).ok();
        }
    };
    let _acceptor = Server::builder().adapter_listener(listen).build(Attaching(ends)).unwrap();
    assert_eq!(shown.recv().await, Some(true));
    assert_eq!(ended.recv().await, Some(()));
}

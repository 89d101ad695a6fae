//! Tests of connection hand-off on every transport, and while other work is in progress.

mod calls;
mod cancelled;
mod races;
mod segments;
mod tunnels;

use bytes::Bytes;
use frisbee::{
    Acceptor, Client, CloseReason, Config, Connection, HandOffError, HandOffRequest, HandOffTarget, Handlers,
    Operation, Outbox, Packet, PacketId, Routed, Router, SendError, Server, Stream, TrySendError,
};
use frisbee_tests::raw;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::sync::{mpsc, oneshot};

/// Maximum time to wait for an event. Events take milliseconds, but the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(20);

const TUNNEL: Operation = Operation::FIRST_USER;

fn operation(number: u16) -> Operation {
    Operation::user(number).unwrap()
}

/// A protocol that echoes packets, and decides about hand-offs as the request says. After a hand-off, it sends a
/// greeting and echoes bytes.
struct Gateway {
    /// Sender of requests about which the test decides.
    held: Option<mpsc::UnboundedSender<HandOffRequest>>,
}

const GREETING: &[u8] = b"state your request";

async fn greet_and_echo(mut raw: impl AsyncRead + AsyncWrite + Unpin) -> std::io::Result<()> {
    raw.write_all(GREETING).await?;
    // TLS may still buffer bytes, because the socket did not accept them.
    raw.flush().await?;
    echo(raw).await
}

async fn echo(raw: impl AsyncRead + AsyncWrite + Unpin) -> std::io::Result<()> {
    let (mut read, mut write) = tokio::io::split(raw);
    tokio::io::copy(&mut read, &mut write).await?;
    write.shutdown().await
}

impl Router for Gateway {
    type Session = (Connection, Vec<Stream>);

    fn connected(&self, connection: &Connection) -> Self::Session {
        (connection.clone(), Vec::new())
    }

    fn route(&self, (connection, _): &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        outbox.forward(&packet).unwrap();
        if packet.body == "raw from here on" {
            return Routed::HandOff(HandOffTarget::new(async |raw| drop(greet_and_echo(raw).await)));
        }
        if packet.body == "work" {
            connection.spawn(std::future::pending());
        }
        if packet.body == "raw from here on, you first" {
            return Routed::HandOff(HandOffTarget::new(async |raw| drop(echo(raw).await)));
        }
        Routed::Continue
    }

    fn stream(&self, (_, streams): &mut Self::Session, _first: Bytes, stream: Stream) -> Routed {
        streams.push(stream);
        Routed::Continue
    }

    fn hand_off(&self, _session: &mut Self::Session, request: HandOffRequest) -> Routed {
        assert_eq!(request.operation(), TUNNEL);
        match &request.request()[..] {
            b"accept" => {
                let echo = HandOffTarget::new(async |raw| drop(greet_and_echo(raw).await));
                request.accept("yours", echo);
            }
            b"refuse" => request.refuse("mine"),
            b"hold" => self.held.as_ref().unwrap().send(request).unwrap(),
            _ => drop(request),
        }
        Routed::Continue
    }
}

fn gateway() -> Acceptor<Gateway> {
    Server::builder().build(Gateway { held: None }).unwrap()
}

/// Serves one in-memory connection and returns its other end.
fn served(acceptor: &Acceptor<Gateway>) -> DuplexStream {
    let (here, there) = frisbee::memory();
    let acceptor = acceptor.clone();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    here
}

/// Returns a client that records received packets.
async fn client(io: DuplexStream) -> (Connection, mpsc::UnboundedReceiver<Packet>) {
    let (packets, received) = mpsc::unbounded_channel();
    let handlers = Handlers::new().on(TUNNEL, move |_, packet| {
        packets.send(packet).unwrap();
        async { None }
    });
    (Client::builder().connect_io(io, handlers).await.unwrap(), received)
}

fn packet(body: &'static str) -> Packet {
    Packet::new(PacketId(1), TUNNEL, body)
}

/// Sends a mebibyte, and receives its echo at the same time.
async fn expect_echo(raw: impl AsyncRead + AsyncWrite + Unpin) {
    let sent: Vec<u8> = (0_u32..1 << 18).flat_map(u32::to_be_bytes).collect();
    let (mut read, mut write) = tokio::io::split(raw);
    let writing = async {
        write.write_all(&sent).await.unwrap();
        write.flush().await.unwrap();
        write.shutdown().await.unwrap();
    };
    let mut received = Vec::new();
    let (_, read) = tokio::join!(writing, read.read_to_end(&mut received));
    read.unwrap();
    assert!(received == sent, "echoed bytes should equal the sent ones");
}

async fn expect_greeting(raw: &mut (impl AsyncRead + Unpin)) {
    let mut greeting = vec![0; GREETING.len()];
    raw.read_exact(&mut greeting).await.unwrap();
    assert_eq!(greeting, GREETING);
}

#[tokio::test]
async fn both_ends_reuse_transport_after_mutual_packets() {
    let (connection, mut received) = client(served(&gateway())).await;
    connection.send(&packet("before")).await.unwrap();
    assert_eq!(received.recv().await.unwrap().body, "before");
    let accepted = connection.hand_off(TUNNEL, "accept").await.unwrap();
    assert_eq!(accepted.reply, "yours");
    let mut raw = accepted.transport;
    expect_greeting(&mut raw).await;
    expect_echo(raw).await;
    let reason = connection.closed().await;
    assert!(matches!(reason, CloseReason::HandedOff), "{reason}");
    assert!(connection.send(&packet("behind")).await.is_err());
}

#[tokio::test]
async fn rejected_hand_off_can_be_retried() {
    let (connection, mut received) = client(served(&gateway())).await;
    for _ in 0..3 {
        let refused = connection.hand_off(TUNNEL, "refuse").await.unwrap_err();
        assert!(matches!(&refused, HandOffError::Refused(reply) if reply == "mine"), "{refused}");
        assert!(refused.to_string().contains("mine"), "{refused}");
        let refused = connection.hand_off(TUNNEL, "whatever").await.unwrap_err();
        assert!(matches!(refused, HandOffError::NotServed), "{refused}");
        connection.send(&packet("still there")).await.unwrap();
        assert_eq!(received.recv().await.unwrap().body, "still there");
    }
    let mut accepted = connection.hand_off(TUNNEL, "accept").await.unwrap();
    expect_greeting(&mut accepted.transport).await;
}

/// Regression test: a packet sent after the request was queued and reported as sent. It was lost if the hand-off
/// succeeded.
#[tokio::test]
async fn packets_wait_for_hand_off_answer() {
    let (holds, mut held) = mpsc::unbounded_channel();
    let acceptor = Server::builder().build(Gateway { held: Some(holds) }).unwrap();
    let (connection, mut received) = client(served(&acceptor)).await;
    connection.peer_known().await.unwrap();
    for granted in [false, true] {
        let asking = tokio::spawn({
            let connection = connection.clone();
            async move { connection.hand_off(TUNNEL, "hold").await }
        });
        let request = held.recv().await.unwrap();
        let behind = packet("behind");
        let mut sending = pin!(connection.send(&behind));
        assert!(poll_fn(|context| Poll::Ready(sending.as_mut().poll(context).is_pending())).await);
        assert!(matches!(connection.try_send(&behind), Err(TrySendError::Full)));
        // The client still receives packets that the server sends while it decides.
        request.connection().send(&packet("crossing")).await.unwrap();
        assert_eq!(received.recv().await.unwrap().body, "crossing");
        let again = connection.hand_off(TUNNEL, "accept").await.unwrap_err();
        assert!(matches!(again, HandOffError::Busy), "{again}");
        assert!(received.try_recv().is_err());
        if granted {
            request.accept("", HandOffTarget::new(async |raw| drop(raw)));
        } else {
            request.refuse("");
        }
        assert_eq!(asking.await.unwrap().is_ok(), granted);
        let sent = tokio::time::timeout(TIMEOUT, sending).await.expect("future should complete within the timeout");
        if granted {
            assert!(matches!(sent, Err(SendError::Closed(CloseReason::HandedOff))), "{sent:?}");
        } else {
            sent.expect("connection should continue");
            assert_eq!(received.recv().await.unwrap().body, "behind");
        }
    }
}

#[tokio::test]
async fn streams_and_work_prevent_hand_off() {
    let (holds, mut held) = mpsc::unbounded_channel();
    let acceptor = Server::builder().build(Gateway { held: Some(holds) }).unwrap();
    let (connection, mut received) = client(served(&acceptor)).await;
    let busy = async |connection: &Connection| {
        let refused = connection.hand_off(TUNNEL, "accept").await.unwrap_err();
        assert!(matches!(refused, HandOffError::Busy), "{refused}");
    };
    let stream = connection.open_stream(&Bytes::from_static(b"a stream")).await.unwrap();
    busy(&connection).await;
    drop(stream);

    let (go_on, waits) = oneshot::channel::<()>();
    connection.spawn(async { drop(waits.await) });
    busy(&connection).await;
    go_on.send(()).unwrap();
    while connection.running() > 0 {
        tokio::task::yield_now().await;
    }

    // The server opens a stream before it has decided.
    let asking = connection.hand_off(TUNNEL, "hold");
    let deciding = async {
        let request = held.recv().await.unwrap();
        let stream = request.connection().open_stream(&Bytes::from_static(b"mine")).await.unwrap();
        request.accept(Bytes::new(), HandOffTarget::new(async |_| panic!("the connection is not handed over")));
        stream
    };
    let (refused, stream) = tokio::join!(asking, deciding);
    assert!(matches!(refused, Err(HandOffError::Busy)), "{refused:?}");
    drop(stream);

    // The client does not know that the server is still processing this packet.
    connection.send(&packet("work")).await.unwrap();
    received.recv().await.unwrap();
    busy(&connection).await;
}

#[tokio::test]
async fn only_dialling_end_requests_hand_off() {
    let (holds, mut held) = mpsc::unbounded_channel();
    let acceptor = Server::builder().build(Gateway { held: Some(holds) }).unwrap();
    let (connection, _received) = client(served(&acceptor)).await;
    let deciding = async {
        let request = held.recv().await.unwrap();
        let unsupported = request.connection().hand_off(TUNNEL, "").await.unwrap_err();
        assert!(matches!(unsupported, HandOffError::Unsupported), "{unsupported}");
    };
    let (refused, ()) = tokio::join!(connection.hand_off(TUNNEL, "hold"), deciding);
    assert!(matches!(refused, Err(HandOffError::NotServed)), "{refused:?}");
}

#[tokio::test]
async fn overlong_hand_off_keeps_connection() {
    let (connection, mut received) = client(served(&gateway())).await;
    let error = connection.hand_off(TUNNEL, vec![0; 6 << 20]).await.unwrap_err();
    assert!(matches!(error, HandOffError::TooLong(_)), "{error}");
    connection.send(&packet("still there")).await.unwrap();
    assert_eq!(received.recv().await.unwrap().body, "still there");
    connection.hand_off(TUNNEL, "accept").await.unwrap();
}

#[tokio::test]
async fn stream_open_waits_for_hand_off_answer() {
    let (holds, mut held) = mpsc::unbounded_channel();
    let acceptor = Server::builder().build(Gateway { held: Some(holds) }).unwrap();
    let (connection, _received) = client(served(&acceptor)).await;
    for granted in [false, true] {
        let asking = tokio::spawn({
            let connection = connection.clone();
            async move { connection.hand_off(TUNNEL, "hold").await }
        });
        let request = held.recv().await.unwrap();
        let first = Bytes::from_static(b"a stream");
        let mut opening = pin!(connection.open_stream(&first));
        assert!(poll_fn(|context| Poll::Ready(opening.as_mut().poll(context).is_pending())).await);
        if granted {
            request.accept("", HandOffTarget::new(async |raw| drop(raw)));
        } else {
            request.refuse("");
        }
        assert_eq!(asking.await.unwrap().is_ok(), granted);
        let opened =
            tokio::time::timeout(TIMEOUT, opening).await.expect("connection should be established within the timeout");
        assert_eq!(opened.is_ok(), !granted);
    }
}

#[tokio::test]
async fn ended_connection_hand_off_releases_owner() {
    let (held, mut requests) = mpsc::unbounded_channel();
    let acceptor = Server::builder().build(Gateway { held: Some(held) }).unwrap();
    let (connection, _) = client(served(&acceptor)).await;
    let asking = tokio::spawn({
        let connection = connection.clone();
        async move { connection.hand_off(TUNNEL, "hold").await }
    });
    let requests = requests.recv().await.unwrap();
    let requested_connection = requests.connection().clone();
    connection.abort();
    asking.await.unwrap().unwrap_err();
    requested_connection.closed().await;
    // The new owner usually keeps a handle to the connection.
    let (takes, transport) = oneshot::channel();
    requests.accept("", HandOffTarget::new(move |_| async move { drop(takes.send(requested_connection)) }));
    tokio::time::timeout(TIMEOUT, transport).await.expect("transport should arrive within the timeout").unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn undecided_hand_off_times_out() {
    let (holds, mut held) = mpsc::unbounded_channel();
    let config = Config::default().hand_off_timeout(Duration::from_secs(60));
    let acceptor = Server::builder().config(config.clone()).build(Gateway { held: Some(holds) }).unwrap();
    let connection = Client::builder().config(config).connect_io(served(&acceptor), Handlers::new()).await.unwrap();
    for seconds in [59, 61] {
        let asking = connection.hand_off(TUNNEL, "hold");
        let deciding = async {
            let request = held.recv().await.unwrap();
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            request.refuse("");
        };
        let (answer, ()) = tokio::join!(asking, deciding);
        match answer.unwrap_err() {
            HandOffError::Refused(_) => assert_eq!(seconds, 59),
            HandOffError::Closed(CloseReason::HandOffTimeout | CloseReason::ClosedByPeer) => assert_eq!(seconds, 61),
            other => panic!("after {seconds} s: {other}"),
        }
    }
}

#[tokio::test]
async fn prearranged_ends_take_transport_without_request() {
    let (connection, mut received) = client(served(&gateway())).await;
    connection.send(&packet("raw from here on, you first")).await.unwrap();
    assert_eq!(received.recv().await.unwrap().body, "raw from here on, you first");
    let raw = connection.clone().into_transport().await.unwrap();
    expect_echo(raw).await;
    let again = connection.into_transport().await.unwrap_err();
    assert!(matches!(again, HandOffError::Closed(CloseReason::HandedOff)), "{again}");
}

/// A router that echoes packets and passes its connections to the test.
struct Lends(mpsc::UnboundedSender<Connection>);

impl Router for Lends {
    type Session = ();

    fn connected(&self, connection: &Connection) {
        self.0.send(connection.clone()).unwrap();
    }

    fn route(&self, (): &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
        outbox.forward(&packet).unwrap();
        Routed::Continue
    }
}

#[tokio::test]
async fn go_first_packet_routes_during_hand_off() {
    for behind in ["", "more"] {
        let (lends, mut lent_connections) = mpsc::unbounded_channel();
        let acceptor = Server::builder().build(Lends(lends)).unwrap();
        let (mut here, there) = frisbee::memory();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        let connection = lent_connections.recv().await.unwrap();
        let leaving = tokio::spawn(connection.into_transport());
        for _ in 0..10 {
            tokio::task::yield_now().await; // The driver has processed the request.
        }
        let first = raw::packet(1, 10, b"first");
        here.write_all(&[&first, behind.as_bytes()].concat()).await.unwrap();
        let mut reply = vec![0; first.len()];
        tokio::time::timeout(TIMEOUT, here.read_exact(&mut reply))
            .await
            .expect("read should complete within the timeout")
            .unwrap();
        assert_eq!(reply, first);
        let mut raw = leaving.await.unwrap().unwrap();
        let mut early = vec![0; behind.len()];
        raw.read_exact(&mut early).await.unwrap();
        assert_eq!(early, behind.as_bytes());
    }
}

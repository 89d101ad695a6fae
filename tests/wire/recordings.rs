//! Sessions with calls of every kind between both ends of this implementation. They were recorded when the wire
//! protocol was declared stable. Each session is replayed against both ends, because peers of that version may send
//! these bytes at any time.
//!
//! `UPDATE_GOLDEN=1 cargo test -p frisbee-tests --test connections recordings` records the sessions again. Use it only
//! to add calls.

use crate::wire::measured::hex;
use bytes::{Bytes, BytesMut};
use frisbee::{BODY_MAX, HeaderForm, Operation, Packet};
use frisbee_core::{Batch, Decoder, extension};
use frisbee_tests::extension::{Chunk, ExtensionClient, ExtensionServer, Failure, Maybe, Time};
use frisbee_tests::interop::{AddRequest, Count, InteropClient, InteropServer, Range, Text};
use frisbee_tests::observed::{self, UNTIL_RELEASED};
use frisbee_tests::raw::packet;
use frisbee_tests::service::Service;
use frpc::{Channel, Code, Request, RequestStream, Server};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, DuplexStream};

/// A packet of a session.
#[derive(Clone)]
struct Sent {
    by_client: bool,
    packet: Packet,
}

/// Reads the packets of one direction.
struct Packets<T> {
    from: T,
    decoder: Decoder,
    received: Bytes,
}

impl<T: AsyncRead + Unpin> Packets<T> {
    fn new(from: T) -> Self {
        Self { from, decoder: Decoder::new(HeaderForm::Current, BODY_MAX), received: Bytes::new() }
    }

    async fn next(&mut self) -> Option<Packet> {
        loop {
            if let Some(packet) = self.decoder.next(&mut self.received).expect("packets should be well-formed") {
                return Some(packet);
            }
            let mut buffer = BytesMut::with_capacity(64 * 1024);
            if self.from.read_buf(&mut buffer).await.ok()? == 0 {
                return None;
            }
            self.received = buffer.freeze();
        }
    }
}

fn bytes(Packet { id, operation, body }: &Packet) -> Vec<u8> {
    packet(id.0, operation.number(), body)
}

/// Returns the effects of a packet that must not change between versions. The following may change: the contents of
/// HELLO, keepalive, credit, and how stream messages are grouped into packets.
fn effects(packet: &Packet) -> Vec<Packet> {
    match packet.operation {
        Operation::PING | Operation::PONG | Operation::CREDIT => Vec::new(),
        Operation::EXTENSION if packet.id == extension::HELLO => Vec::new(),
        Operation::BATCH => {
            let message = |body| Packet::new(packet.id, Operation::STREAM, Bytes::copy_from_slice(body));
            Batch::new(&packet.body).map(|body| message(body.expect("batch should be well-formed"))).collect()
        }
        _ => vec![packet.clone()],
    }
}

/// Starts a server on `io`, which calls its client back.
fn serve(name: &str, io: DuplexStream) {
    let service = observed::Service::default();
    let state = service.state.clone();
    let builder = Server::builder().on_connect(move |connection| {
        let _ = state.back.set(ExtensionClient::new(Channel::from_connection(connection)));
    });
    let builder = match name {
        "interop" => builder.add_service(InteropServer::new(Service)),
        _ => builder.add_service(ExtensionServer::new(service)),
    };
    let acceptor = builder.build().expect("services should not overlap");
    tokio::spawn(async move { acceptor.serve_connection(io).await });
}

/// Makes the calls of a session on `io`.
async fn call(name: &str, io: DuplexStream) {
    let builder = match name {
        "interop" => Channel::builder().calls::<InteropClient>(),
        _ => Channel::builder().add_service(ExtensionServer::new(observed::Service::default())),
    };
    let channel = builder.connect_io(io).await.expect("connection in memory should be accepted");
    let connection = channel.connection().expect("channel should be connected");
    connection.peer_known().await.expect("peer should send HELLO");
    match name {
        "interop" => call_interop(&InteropClient::new(channel)).await,
        _ => call_extension(&ExtensionClient::new(channel)).await,
    }
}

async fn call_interop(client: &InteropClient) {
    let add = async |a, b| client.add(AddRequest { a, b }).await.expect("call should succeed").get_ref().total;
    assert_eq!(add(1, 2).await, 3);
    let failed = client.fail(Text { value: "no".into() }).await.expect_err("call should fail");
    assert_eq!((failed.code(), failed.message()), (Code::Unknown, "no"));
    for (from, count, values, end) in [(1, 3, vec![1, 2, 3], None), (5, -1, vec![5, 6], Some(Code::OutOfRange))] {
        let mut counts = client.count_up(Range { from, count }).await.expect("stream should open").into_inner();
        for value in values {
            let count = counts.message().await.expect("stream should not fail").expect("message should arrive");
            assert_eq!(count.value, value);
        }
        assert_eq!(counts.message().await.err().map(|status| status.code()), end);
    }
    let sum = client.sum_up(frpc::iter((1..4).map(|value| Count { value }))).await.expect("call should succeed");
    assert_eq!((sum.get_ref().total, sum.get_ref().count), (6, 3));
    // The second stream is dropped before its end.
    for ends in [true, false] {
        let (texts, requests) = RequestStream::channel(1);
        let mut answers = client.chat(requests).await.expect("stream should open").into_inner();
        texts.send(Text { value: "hi".into() }).await.expect("message should be sent");
        let answer = answers.message().await.expect("stream should not fail").expect("message should arrive");
        assert_eq!(answer.value, "re:hi");
        if ends {
            drop(texts);
            assert!(answers.message().await.expect("stream should not fail").is_none());
        }
    }
    assert_eq!(add(3, 4).await, 7);
}

/// Returns a request with metadata: two values of one key, and a binary value.
fn told<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    for value in ["a", "b"] {
        request.metadata_mut().append("sent-text", value).expect("entry should be valid");
    }
    request.metadata_mut().append_bin("sent-raw-bin", [0, 255]).expect("entry should be valid");
    request
}

async fn call_extension(client: &ExtensionClient) {
    let echo = client.echo(told(Maybe { number: Some(0), ..Maybe::default() })).await.expect("call should succeed");
    assert_eq!(echo.metadata().get_all("got-text").collect::<Vec<_>>(), ["a", "b"]);
    let failure = Failure { code: Code::NotFound as i32, text: "gone".into(), details: vec![1, 2] };
    let status = client.fail(told(failure)).await.expect_err("call should fail");
    assert_eq!((status.code(), status.message(), status.details()), (Code::NotFound, "gone", &[1, 2][..]));
    let called_back = client.ask(Time { millis: 0 }).await.expect("call should succeed");
    assert_eq!(called_back.get_ref().millis, 0);
    let mut chunks = client.flood(told(Time { millis: 2 })).await.expect("stream should open").into_inner();
    chunks.opened().await.expect("server should accept the call");
    assert_eq!(chunks.metadata().get_all("got-text").collect::<Vec<_>>(), ["a", "b"]);
    for _ in 0..2 {
        assert!(chunks.message().await.expect("stream should not fail").is_some());
    }
    assert!(chunks.message().await.expect("stream should not fail").is_none());
    let sunk = client.sink(frpc::iter([1, 2].map(|byte| Chunk { data: vec![byte] }))).await;
    assert_eq!(sunk.expect("call should succeed").get_ref().millis, 2);
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.wait(Time { millis: UNTIL_RELEASED }).await }
    });
    tokio::task::yield_now().await;
    client.get(Time { millis: 1 }).await.expect("call should succeed");
    waiting.abort();
    let _ = waiting.await;
    // Virtual time advances when both ends are idle. In every replay, the id of the cancelled call is then free.
    tokio::time::sleep(Duration::from_millis(1)).await;
    client.get(Time { millis: 2 }).await.expect("call should succeed");
}

/// Records a session.
async fn record(name: &str) -> Vec<Sent> {
    let session = Arc::new(Mutex::new(Vec::new()));
    let [(client, near), (server, far)] = [(); 2].map(|()| tokio::io::duplex(1 << 20));
    serve(name, server);
    let ((from_client, to_client), (from_server, to_server)) = (tokio::io::split(near), tokio::io::split(far));
    for (by_client, from, mut to) in [(true, from_client, to_server), (false, from_server, to_client)] {
        let (session, mut packets) = (session.clone(), Packets::new(from));
        tokio::spawn(async move {
            while let Some(packet) = packets.next().await {
                let sent = bytes(&packet);
                session.lock().expect("lock should not be poisoned").push(Sent { by_client, packet });
                to.write_all(&sent).await.expect("peer should accept the packet");
            }
        });
    }
    call(name, client).await;
    let session = session.lock().expect("lock should not be poisoned");
    session.clone()
}

/// Plays one end of a session to the other end on `io`. Returns the effects of the packets that the other end sends.
async fn replay(io: DuplexStream, session: &[Sent], as_client: bool) -> Vec<Packet> {
    let (from, mut to) = tokio::io::split(io);
    let mut packets = Packets::new(from);
    let (mut due, mut found) = (0, Vec::new());
    for sent in session {
        if sent.by_client == as_client {
            to.write_all(&bytes(&sent.packet)).await.expect("peer should accept the packet");
            continue;
        }
        due += effects(&sent.packet).len();
        while found.len() < due {
            found.extend(effects(&packets.next().await.expect("peer should send every recorded packet")));
        }
    }
    found
}

/// Groups packets by call and stream. Packets of different ones may overtake each other.
fn ordered(packets: impl IntoIterator<Item = Packet>) -> Vec<Packet> {
    let mut packets: Vec<_> = packets.into_iter().collect();
    packets.sort_by_key(|packet| packet.stream().map_or((false, packet.id), |stream| (true, stream)));
    packets
}

fn format(session: &[Sent]) -> String {
    let mut text = String::new();
    for Sent { by_client, packet: Packet { id, operation, body } } in session {
        let by = if *by_client { "client" } else { "server" };
        let _ = write!(text, "{by} {}/{id} ", operation.number());
        for byte in body {
            let _ = write!(text, "{byte:02x}");
        }
        text = text.trim_end().to_owned() + "\n";
    }
    text
}

fn parse(text: &str) -> Vec<Sent> {
    let sent = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let (by, place, body) = (words.next()?, words.next()?, words.next().unwrap_or_default());
        let (operation, id) = place.split_once('/')?;
        let header = packet(id.parse().ok()?, operation.parse().ok()?, &hex(body));
        let packet = Decoder::new(HeaderForm::Current, BODY_MAX).next(&mut header.into()).ok()??;
        Some(Sent { by_client: by == "client", packet })
    };
    text.lines().map(|line| sent(line).expect("line should be a packet")).collect()
}

async fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("wire/recordings/{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format(&record(name).await)).expect("recording should be written");
    }
    let session = parse(&std::fs::read_to_string(&path).expect("recording should be readable"));
    for as_client in [true, false] {
        let (here, there) = tokio::io::duplex(1 << 20);
        let found = if as_client {
            serve(name, there);
            replay(here, &session, as_client).await
        } else {
            tokio::join!(replay(here, &session, as_client), call(name, there)).0
        };
        let recorded = session.iter().filter(|sent| sent.by_client != as_client);
        let recorded = recorded.flat_map(|sent| effects(&sent.packet));
        assert_eq!(ordered(found), ordered(recorded), "{name}, replayed as the client: {as_client}");
    }
}

#[tokio::test(start_paused = true)]
async fn recordings_replay_at_both_ends() {
    check("interop").await;
}

#[tokio::test(start_paused = true)]
async fn recorded_extensions_replay_at_both_ends() {
    check("extension").await;
}

//! Tests of custom protocols next to services, on the same port and the same connection.

use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{
    BatchEnd, Client, CloseKind, CloseReason, Connection, ConnectionEvent, Declaration, HandOffError, HandOffRequest,
    HandOffTarget, Handler, Handlers, Mounts, Operation, Outbox, Packet, PacketId, Policy, Routed, Router, Server,
    Stream, opening,
};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer};
use frisbee_tests::raw::{Endless, Raw, packet};
use frisbee_tests::serve;
use frisbee_tests::service::Service;
use frpc::Channel;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

/// Maximum time to wait for an event, because the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(20);

fn operation(number: u16) -> Operation {
    Operation::user(number).expect("operation number should be in the user range")
}

/// A protocol that sends packets through its connection handle, both as soon as it is created and in its first turn.
struct Eager;

impl Router for Eager {
    type Session = Vec<Bytes>;

    fn connected(&self, connection: &Connection) -> Vec<Bytes> {
        let sent = connection.send_now(|outbox| outbox.push(PacketId(1), operation(10), Bytes::new()));
        sent.expect("connection should be open").expect("packet should be within the limit");
        vec![Bytes::from_static(b"turn")]
    }

    fn route(&self, _: &mut Vec<Bytes>, _: Packet, _: &mut Outbox) -> Routed {
        Routed::Continue
    }

    fn batch_ended(&self, session: &mut Vec<Bytes>, batch: &mut BatchEnd<'_>) -> Option<Instant> {
        for body in session.drain(..) {
            batch.outbox.push(PacketId(2), operation(10), &body).expect("packet should be within the limit");
        }
        None
    }
}

#[tokio::test]
async fn server_hello_leads_despite_split_client_hello() {
    let hello = packet(0, 3, b"fris\x01");
    for cut in 1..hello.len() {
        let server = Server::builder().build(Eager).unwrap();
        let (mut here, there) = frisbee::memory();
        let served = tokio::spawn(async move { server.serve_connection(there).await });
        let (first, second) = hello.split_at(cut);
        here.write_all(first).await.expect("write should succeed");
        // By now, the protocol has sent all of its packets.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        here.write_all(second).await.expect("write should succeed");
        let mut head = [0; 10];
        here.read_exact(&mut head).await.expect("peer should send the expected bytes");
        assert_eq!(head[..6], hello[..6], "cut at {cut}");
        let mut rest = vec![0; usize::from(head[9]) + 20 + 4];
        here.read_exact(&mut rest).await.expect("peer should send the expected bytes");
        assert_eq!(
            rest[usize::from(head[9])..][..6],
            packet(1, 10, &[])[..6],
            "packet that the handle sent should follow HELLO"
        );
        served.abort();
    }
}

/// A protocol that replies to packets and streams with its name and reports all other events.
struct Named {
    name: &'static str,
    sender: mpsc::UnboundedSender<(&'static str, &'static str)>,
}

impl Named {
    fn new(name: &'static str) -> (Self, mpsc::UnboundedReceiver<(&'static str, &'static str)>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self { name, sender }, receiver)
    }

    fn notify(&self, what: &'static str) {
        self.sender.send((self.name, what)).ok();
    }
}

impl Router for Named {
    type Session = (Connection, bool);

    fn declaration(&self) -> Declaration {
        Declaration::default().hello_items([(77, Bytes::from_static(self.name.as_bytes()))])
    }

    fn connected(&self, connection: &Connection) -> Self::Session {
        self.notify("connected");
        (connection.clone(), false)
    }

    fn route(&self, _session: &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        let answered = outbox.push(packet.id, packet.operation, Bytes::from_static(self.name.as_bytes()));
        answered.map_or_else(|error| Routed::close(error.to_string()), |()| Routed::Continue)
    }

    fn stream(&self, session: &mut Self::Session, first: Bytes, stream: Stream) -> Routed {
        let name = Bytes::from_static(self.name.as_bytes());
        session.0.spawn(async move {
            stream.send(&name).await.expect("message should be sent");
            stream.send(&opening::rest(&first).unwrap_or(first)).await.expect("message should be sent");
        });
        Routed::Continue
    }

    fn discarded(&self, _session: &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        let refused = outbox.push(packet.id, packet.operation, Bytes::from(format!("{} has no room", self.name)));
        refused.map_or_else(|error| Routed::close(error.to_string()), |()| Routed::Continue)
    }

    fn hand_off(&self, _session: &mut Self::Session, request: HandOffRequest) -> Routed {
        let name = self.name;
        let greet = HandOffTarget::new(async move |mut raw| {
            AsyncWriteExt::write_all(&mut raw, name.as_bytes()).await.expect("client should be connected");
        });
        request.accept(name, greet);
        Routed::Continue
    }

    fn event(&self, _session: &mut Self::Session, event: &mut ConnectionEvent<'_>) {
        match event {
            ConnectionEvent::PeerKnown(peer) => self.notify(if peer.hello().is_some() { "ours" } else { "go" }),
            ConnectionEvent::GoingAway => self.notify("going away"),
            _ => {}
        }
    }

    fn cancelled(&self, _session: &mut Self::Session, id: PacketId, _content: Bytes, _outbox: &mut Outbox) {
        self.notify(if id == PacketId(9) { "cancelled" } else { "cancelled another" });
    }

    fn batch_ended(&self, session: &mut Self::Session, _batch: &mut BatchEnd<'_>) -> Option<Instant> {
        if !std::mem::replace(&mut session.1, true) {
            self.notify("turn");
        }
        None
    }

    fn disconnected(&self, _session: Self::Session, _reason: &CloseReason) {
        self.notify("disconnected");
    }
}

async fn next_event(from: &mut mpsc::UnboundedReceiver<(&'static str, &'static str)>) -> &'static str {
    tokio::time::timeout(TIMEOUT, from.recv())
        .await
        .expect("message should arrive within the timeout")
        .expect("router should not be dropped")
        .1
}

#[tokio::test]
async fn routers_and_services_share_port_and_events() {
    let (one, mut one_events) = Named::new("one");
    let (other, mut other_events) = Named::new("other");
    let (rest, _) = Named::new("rest");
    let builder = frpc::Server::builder().add_service(InteropServer::new(Service));
    let address = serve(builder.mount(1000..1100, one).mount(2000..=2000, other).fallback(rest)).await;

    // This client uses the mounted protocols and makes calls, all on one connection.
    let (answers, mut answered) = mpsc::unbounded_channel();
    let handler = move |_connection: Connection, packet: Packet| {
        answers.send((packet.operation.number(), packet.body)).ok();
        async { None }
    };
    let mounted = Handlers::new().on(operation(1099), handler.clone()).on(operation(2000), handler);
    let channel = Channel::builder().mount(1000.., mounted).connect(address.to_string()).await.unwrap();
    let connection = channel.connection().unwrap();
    let client = InteropClient::new(channel);
    for (number, name) in [(1099, "one"), (2000, "other")] {
        let sum = client.add(AddRequest { a: number.into(), b: 1 }).await.unwrap();
        assert_eq!(sum.into_inner().total, i64::from(number) + 1);
        connection.send(&Packet::new(PacketId(1), operation(number), "?")).await.unwrap();
        assert_eq!(answered.recv().await.unwrap(), (number, Bytes::from(name)));
    }
    // The first packet of a stream determines its router. The fallback receives all other streams.
    for (first, name, content) in [
        (opening::new(operation(1000), b"rest"), "one", "rest"),
        (opening::new(operation(2000), b""), "other", ""),
        (Bytes::from_static(b"whatever"), "rest", "whatever"),
    ] {
        let mut stream = connection.open_stream(&first).await.unwrap();
        assert_eq!(stream.recv().await.unwrap(), name);
        assert_eq!(stream.recv().await.unwrap(), content);
    }
    // This operation belongs to no router and no service.
    let mut nobodys = connection.open_stream(&opening::new(operation(3000), b"")).await.unwrap();
    assert!(nobodys.recv().await.is_none_or(|error| error.starts_with(&[0x10])), "connection should be refused");
    let hello = connection.peer().hello().cloned().unwrap();
    let named: Vec<_> = hello.items().filter(|(kind, _)| *kind == 77).map(|(_, name)| name).collect();
    assert_eq!(named, [&b"one"[..], b"other", b"rest"]);

    connection
        .send_now(|outbox| outbox.push(PacketId(9), Operation::CANCEL, Bytes::from_static(&[0])))
        .unwrap()
        .unwrap();
    connection.close();
    for events in [&mut one_events, &mut other_events] {
        let mut calls = Vec::new();
        while calls.last() != Some(&"disconnected") {
            calls.push(next_event(events).await);
        }
        // The connection's task may take its first turn before it has received anything.
        let batch = calls.iter().position(|what| *what == "turn").expect("turn should be recorded");
        calls.remove(batch);
        assert_eq!(calls, ["connected", "ours", "cancelled", "disconnected"]);
    }
}

/// Starts two servers with little memory and the same two routers. The second server also has a service. Returns their
/// addresses.
async fn served_with_little_memory() -> [SocketAddr; 2] {
    let [one, other, third, fourth] = ["one", "other", "one", "other"].map(|name| Named::new(name).0);
    let mounts = Mounts::new().mount(1000..1100, one).mount(2000..=2000, other);
    let alone = Server::builder().memory_max(1 << 20).bind("127.0.0.1:0", mounts).await.unwrap();
    let address = alone.local_addr();
    tokio::spawn(alone.serve());
    let builder = frpc::Server::builder().memory_max(1 << 20).add_service(InteropServer::new(Service));
    [address, serve(builder.mount(1000..1100, third).mount(2000..=2000, fourth)).await]
}

#[tokio::test]
async fn operation_router_decides_hand_off() {
    for address in served_with_little_memory().await {
        for (number, name) in [(1042, "one"), (2000, "other")] {
            let connection = Client::builder().connect(address, Handlers::new()).await.unwrap();
            let nobody = connection.hand_off(operation(3000), "").await.unwrap_err();
            assert!(matches!(nobody, HandOffError::NotServed), "{nobody}");
            let mut accepted = connection.hand_off(operation(number), "").await.unwrap();
            assert_eq!(accepted.reply, name);
            let mut greeting = String::new();
            AsyncReadExt::read_to_string(&mut accepted.transport, &mut greeting).await.unwrap();
            assert_eq!(greeting, name);
        }
    }
}

#[tokio::test]
async fn router_rejects_own_bodies_without_memory() {
    for (address, has_service) in served_with_little_memory().await.into_iter().zip([false, true]) {
        let mut raw = Raw::connect(address).await;
        for (number, expected) in [(1042, "one has no room"), (2000, "other has no room")] {
            raw.write(&packet(5, number, &[0; 4 << 20])).await;
            let refused = raw.next().await.expect("connection should stay open");
            assert_eq!((refused.id.0, refused.operation.number(), &refused.body[..]), (5, number, expected.as_bytes()));
        }
        // A server without services drops the long packet, because its operation is unknown. A server with a service
        // answers it.
        raw.write(&[packet(6, 3000, &[0; 4 << 20]), packet(7, 1000, b"")].concat()).await;
        let ids: &[u16] = if has_service { &[6, 7] } else { &[7] };
        for id in ids {
            assert_eq!(raw.next().await.expect("connection should stay open").id.0, *id);
        }
    }
}

#[tokio::test]
async fn default_router_closes_connection_without_memory() {
    let handlers = Handlers::new().on(operation(10), |_connection, packet| async { Some(packet) });
    let server = Server::builder().memory_max(1 << 20).bind("127.0.0.1:0", handlers).await.unwrap();
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    let mut raw = Raw::connect(address).await;
    // The result is ignored, because the server may close the connection before it has read all bytes.
    let _ = AsyncWriteExt::write_all(&mut raw.socket, &packet(5, 10, &[0; 4 << 20])).await;
    raw.closed().await;
    assert_eq!((stats.rejected(), stats.closed_by(CloseKind::Router)), (1, 1));
}

/// A router that closes the connection at the first packet and counts the packets that it receives.
struct Closing(Arc<AtomicU64>);

impl Router for Closing {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, _session: &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
        self.0.fetch_add(1, Ordering::SeqCst);
        Routed::close("enough")
    }
}

#[tokio::test]
async fn closing_packet_stops_routing() {
    let packet = packet(1, 10, b"whatever");
    // Sends all packets at once, and then one packet per read.
    for at_once in [usize::MAX, packet.len()] {
        let routed = Arc::new(AtomicU64::new(0));
        let acceptor = Server::builder().build(Closing(routed.clone())).unwrap();
        let reason = acceptor.serve_connection(Endless::new(&packet, at_once)).await;
        assert!(matches!(reason, CloseReason::Router(_)), "{reason}");
        assert_eq!(routed.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn late_messages_do_not_reopen_reset_stream() {
    let (sender, mut opened) = mpsc::unbounded_channel();
    let handlers = Handlers::new().on_stream(move |first, stream| {
        stream.reset(8, "no more");
        drop(sender.send(first));
    });
    let server = Server::builder().bind("127.0.0.1:0", handlers).await.expect("server should bind to a free address");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let mut peer = Raw::connect(address).await;
    let messages = |id| packet(id, 2, b"message").repeat(20);
    let streams = [(5, "one"), (6, "two"), (9, "after some that could not be opened")];
    let mut bytes = packet(0, 3, b"fris\x01");
    for (id, opening) in streams {
        bytes.extend([packet(id, 2, opening.as_bytes()), messages(id), messages(5)].concat());
    }
    peer.write(&bytes).await;
    for (id, opening) in streams {
        let reset = peer.next().await.expect("connection should stay open");
        assert_eq!((reset.id.0, reset.operation.number()), (id, 7));
        assert_eq!(opened.try_recv().expect("channel should hold a message"), opening);
    }
    assert!(opened.try_recv().is_err(), "message should not open a stream");
}

#[tokio::test]
async fn services_answer_and_routers_drop_unknown_operations() {
    let (named, _events) = Named::new("named");
    let address = serve(frpc::Server::builder().mount(100..=100, named)).await;
    let mut raw = Raw::connect(address).await;
    raw.write(&[packet(1, 101, b""), packet(2, 100, b"")].concat()).await;
    let refused = raw.next().await.unwrap();
    assert_eq!((refused.id.0, refused.operation.number()), (1, 101));
    assert_eq!(raw.next().await.unwrap().body, "named");

    let (named, _events) = Named::new("named");
    let mounts = Mounts::new().mount(100..=100, named);
    let server = Server::builder().bind("127.0.0.1:0", mounts).await.unwrap();
    let mut raw = Raw::connect(server.local_addr()).await;
    tokio::spawn(server.serve());
    raw.write(&[packet(1, 101, b""), packet(2, 100, b"")].concat()).await;
    assert_eq!(raw.next().await.unwrap().id.0, 2);
}

#[tokio::test]
async fn overlap_errors_name_both_routers() {
    let services = || frpc::Server::builder().add_service(InteropServer::new(Service));
    let method = services().mount(11..=500, Handlers::new()).bind("127.0.0.1:0").await.unwrap_err().to_string();
    for part in ["frisbee::router::handlers::Handlers on 11..=500", "the method interop.Interop/", " on 11"] {
        assert!(method.contains(part), "{method}");
    }
    let mounts = services().mount(500..600, Handlers::new()).mount(599.., Mounts::new());
    let mounts = mounts.bind("127.0.0.1:0").await.unwrap_err().to_string();
    for part in ["Handlers on 500..=599", "Mounts on 599..=65535"] {
        assert!(mounts.contains(part), "{mounts}");
    }
    let reserved = Channel::builder().mount(..=9, Handlers::new()).connect("127.0.0.1:1").await.unwrap_err();
    assert!(matches!(reserved, frpc::Error::Transport(frisbee::Error::Mount(_))), "{reserved}");
    assert!(reserved.to_string().contains("Handlers on ..=9: "), "{reserved}");
    let frisbee = Mounts::new().mount(5..9, Handlers::new());
    let frisbee = Server::builder().bind("127.0.0.1:0", frisbee).await.unwrap_err();
    assert!(matches!(frisbee, frisbee::Error::Mount(_)), "{frisbee}");
}

#[derive(Default)]
struct EventCount(AtomicU64);

#[tokio::test]
async fn handlers_and_routers_share_connection_values() {
    let (ended, mut ends) = mpsc::unbounded_channel();
    let counted = |connection: Connection, packet: Packet| async move {
        let count = connection.attachments().get_or_insert::<EventCount>().0.load(Ordering::SeqCst);
        Some(Packet::new(packet.id, packet.operation, count.to_string()))
    };
    let mounted = Handlers::new().on(operation(1000), counted);
    let builder = frpc::Server::builder().mount(1000..=1000, mounted).on_connect(move |connection| {
        connection.attachments().get_or_insert::<EventCount>().0.store(42, Ordering::SeqCst);
        let (ended, at_end) = (ended.clone(), connection.clone());
        connection.on_close(move |reason| {
            let count = at_end.attachments().get::<EventCount>().map(|count| count.0.load(Ordering::SeqCst));
            ended.send((count, reason.to_string(), at_end.clone())).ok();
        });
    });
    let address = serve(builder).await;
    let mut raw = Raw::connect(address).await;
    raw.write(&packet(1, 1000, b"")).await;
    assert_eq!(raw.next().await.unwrap().body, "42");
    drop(raw);
    let (count, reason, connection) = tokio::time::timeout(TIMEOUT, ends.recv()).await.unwrap().unwrap();
    assert_eq!(count, Some(42), "attachment should exist until every router is notified");
    assert_eq!(reason, CloseReason::ClosedByPeer.to_string());
    // A hook that is added after the event runs immediately.
    let (late, attachment_count) = std::sync::mpsc::channel();
    connection.on_close(move |_| late.send(()).unwrap());
    attachment_count.try_recv().expect("channel should hold a message");
}

#[tokio::test]
async fn handler_table_can_be_changed_while_serving() {
    let text = |text: &'static str| {
        Handler::new(Policy::Inline, move |_connection, packet: Packet| async move {
            Some(Packet::new(packet.id, packet.operation, text))
        })
    };
    let handlers = Handlers::new();
    let table = handlers.table();
    table.insert(operation(10), text("first"));
    let server = Server::builder().bind("127.0.0.1:0", handlers).await.unwrap();
    let mut raw = Raw::connect(server.local_addr()).await;
    tokio::spawn(server.serve());
    let mut hand_off = async |number: u16| {
        // The permanent handler has replied, so the other one will not reply any more.
        raw.write(&[packet(1, number, b""), packet(2, 99, b"")].concat()).await;
        let answer = raw.next().await.unwrap();
        if answer.operation.number() == 99 {
            return None;
        }
        assert_eq!(raw.next().await.unwrap().operation.number(), 99);
        Some(answer.body)
    };
    table.insert(operation(99), text("always"));
    assert_eq!(hand_off(10).await.unwrap(), "first");
    table.insert(operation(10), text("second"));
    assert_eq!(hand_off(10).await.unwrap(), "second");
    let moved = table.remove(operation(10)).unwrap();
    table.insert(operation(11), moved);
    assert_eq!(hand_off(10).await, None);
    assert_eq!(hand_off(11).await.unwrap(), "second");
    let other = Handlers::new().table();
    other.insert(operation(99), text("always"));
    table.replace(&other);
    assert_eq!(hand_off(11).await, None);
    assert_eq!(table.operations(), [operation(99)]);
}

/// A router that records the address of the bytes in the last body.
struct Forwarding(Arc<Mutex<Option<Connection>>>, mpsc::UnboundedSender<usize>);

impl Router for Forwarding {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, _session: &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
        let before = outbox.slices(&mut [std::io::IoSlice::new(&[]); 8], usize::MAX);
        outbox.forward(&packet).expect("packet should be within the limit");
        let mut slices = [std::io::IoSlice::new(&[]); 8];
        let count = outbox.slices(&mut slices, usize::MAX);
        let shared = slices[before..count].iter().filter(|slice| slice.as_ptr() == packet.body.as_ptr()).count();
        self.1.send(shared).ok();
        // The body is sent on another connection, and in the reply too.
        if let Some(other) = &*self.0.lock().unwrap() {
            other.send_now(|outbox| outbox.forward(&packet)).unwrap().unwrap();
        }
        Routed::Continue
    }
}

#[tokio::test]
async fn large_body_is_forwarded_without_copy() {
    let body: Bytes = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let (backs, mut arrived) = mpsc::unbounded_channel();
    let sink = Handlers::new().on(operation(10), move |_connection, packet| {
        backs.send(packet.body).ok();
        async { None }
    });
    let backend = Server::builder().bind("127.0.0.1:0", sink).await.unwrap();
    let backend_address = backend.local_addr();
    tokio::spawn(backend.serve());
    let behind = Client::builder().connect(backend_address, Handlers::new()).await.unwrap();

    let (shared, mut sharing) = mpsc::unbounded_channel();
    let proxy = Forwarding(Arc::new(Mutex::new(Some(behind))), shared);
    let proxy = Server::builder().bind("127.0.0.1:0", proxy).await.unwrap();
    let raw = Raw::connect(proxy.local_addr()).await;
    tokio::spawn(proxy.serve());
    let sent = packet(3, 10, &body);
    let (mut reading, mut writing) = raw.socket.into_split();
    let writer = tokio::spawn(async move {
        AsyncWriteExt::write_all(&mut writing, &sent).await.unwrap();
        writing
    });
    let mut back = vec![0; body.len() + 10];
    let read = AsyncReadExt::read_exact(&mut reading, &mut back);
    tokio::time::timeout(TIMEOUT, read).await.unwrap().unwrap();
    drop(writer.await.unwrap());
    assert_eq!(sharing.recv().await, Some(1), "body in the outbox should be the one that was read");
    assert!(back[10..] == body[..]);
    assert!(tokio::time::timeout(TIMEOUT, arrived.recv()).await.unwrap().unwrap() == body);
}

//! Tests of clients with separate threads that drive their connections. Everything else belongs to the runtimes of the
//! callers.

use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{
    BatchEnd, Client, CloseReason, Config, Connection, ConnectionEvent, Handlers, Operation, Outbox, Packet, PacketId,
    PeerKind, Routed, Router,
};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, SleepRequest};
use frisbee_tests::pki::Authority;
use frisbee_tests::service::Service;
use frisbee_tests::{serve_interop_with, until};
use frpc::{Channel, ChannelBuilder, Code, Server, Workers};
use std::collections::BTreeMap;
use std::io::Read;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{future, thread};
use tokio::io::AsyncReadExt;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{mpsc, oneshot};

/// Maximum time to wait for an event that is due soon.
const TIMEOUT: Duration = Duration::from_secs(20);

const KINDS: [Workers; 2] = [Workers::Caller, Workers::Threads(1)];

/// Returns a runtime that the test drops.
fn caller() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("runtime should start")
}

#[test]
fn connections_end_with_caller_runtime() {
    for workers in KINDS {
        let server = Runtime::new().expect("runtime should start");
        let listening = frisbee::Server::builder().bind("127.0.0.1:0", Handlers::new());
        let listening = server.block_on(listening).expect("loopback port should be free");
        let (address, stats) = (listening.local_addr(), listening.stats());
        server.spawn(listening.serve());
        for _ in 0..10 {
            caller().block_on(async {
                let connection = Client::builder().workers(workers).connect(address, Handlers::new()).await;
                connection
                    .expect("server should be listening")
                    .peer_known()
                    .await
                    .expect("peer should complete the handshake");
            });
        }
        assert_eq!(stats.opened(), 10, "{workers:?}");
        server.block_on(until("the server has noticed the lost connections", || stats.open() == 0));
    }
}

#[test]
fn calls_to_client_without_runtime_fail() {
    for workers in KINDS {
        let server = Runtime::new().expect("runtime should start");
        let (sender, mut connections) = mpsc::unbounded_channel();
        let builder =
            Server::builder().on_connect(move |connection: &Connection| drop(sender.send(connection.clone())));
        let address = server.block_on(serve_interop_with(builder)).to_string();
        let caller = caller();
        let offers = Channel::builder().workers(workers).add_service(InteropServer::new(Service));
        // The test holds the channel and all other handles that would keep the connection open.
        let _agent = caller.block_on(offers.connect(address)).expect("server should be listening");
        let connection = server.block_on(connections.recv()).expect("client should connect");
        let called = InteropClient::new(Channel::from_connection(&connection));
        server.block_on(called.add(AddRequest { a: 1, b: 2 })).expect("peer should answer");
        drop(caller);
        // If the handler started, it would panic because it has no timers.
        let slept = server.block_on(called.sleep(SleepRequest { millis: 1, ..SleepRequest::default() }));
        assert_eq!(slept.expect_err("call without a server should fail").code(), Code::Unavailable, "{workers:?}");
        server.block_on(async {
            tokio::time::timeout(TIMEOUT, connection.closed())
                .await
                .expect("connection should close within the timeout")
        });
    }
}

#[test]
fn dropped_blocking_client_flushes_waiting_packets() {
    for workers in KINDS {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
        let address = listener.local_addr().expect("socket should have a local address").to_string();
        let read = Arc::new(Mutex::new(0));
        let reader = thread::spawn({
            let read = read.clone();
            move || {
                let (mut socket, _) = listener.accept().expect("client should connect");
                let mut buffer = vec![0; 64 * 1024];
                while let Ok(count @ 1..) = socket.read(&mut buffer) {
                    *read.lock().expect("lock should not be poisoned") += count;
                }
            }
        });
        let builder = Channel::builder().workers(workers);
        let client = frpc::blocking::connect_using(|| builder.connect(address), |channel| channel)
            .expect("server should accept the connection");
        let connection = client
            .call(|channel| future::ready(channel.connection().ok_or(())))
            .expect("connection should be established");
        let (operation, body) = (Operation::FIRST_USER, Bytes::from(vec![1; 4 << 20]));
        for id in 0..4 {
            let sent = connection.send_now(|outbox| outbox.push(PacketId(id), operation, &body));
            sent.expect("connection should be open").expect("packet should be within the limit");
        }
        drop(connection);
        drop(client);
        // All other bytes are in buffers of the system, which are small.
        assert!(*read.lock().expect("lock should not be poisoned") > 4 << 20, "{workers:?}");
        reader.join().expect("thread should not panic");
        assert!(*read.lock().expect("lock should not be poisoned") > 16 << 20, "{workers:?}");
    }
}

/// A protocol that spawns a task in each of its callbacks and records the task's thread.
struct Spawning {
    threads: Arc<Mutex<BTreeMap<&'static str, String>>>,
    /// Whether packets are echoed.
    echoes: bool,
}

impl Spawning {
    fn spawn(&self, what: &'static str) {
        let threads = self.threads.clone();
        tokio::spawn(async move {
            let name = thread::current().name().unwrap_or_default().to_owned();
            threads.lock().expect("lock should not be poisoned").insert(what, name);
        });
    }
}

impl Router for Spawning {
    type Session = ();

    fn connected(&self, _connection: &Connection) {
        self.spawn("connected");
    }

    fn route(&self, (): &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
        self.spawn("route");
        if self.echoes {
            outbox.forward(&packet).expect("packet should be within the limit");
        }
        Routed::Continue
    }

    fn batch_ended(&self, (): &mut (), _batch: &mut BatchEnd<'_>) -> Option<Instant> {
        self.spawn("turn");
        None
    }

    fn event(&self, (): &mut (), event: &mut ConnectionEvent<'_>) {
        if matches!(event, ConnectionEvent::Idle) {
            self.spawn("idle");
        }
    }

    fn disconnected(&self, (): (), _reason: &CloseReason) {
        self.spawn("disconnected");
    }
}

/// Waits until all callbacks of a router have run at both ends of a connection.
async fn live(workers: Workers, server: Spawning, client: Spawning) {
    // Silence after which the connection counts as idle.
    let config = Config::default().ping_interval(Duration::from_millis(20)).idle_timeout(Duration::from_secs(3600));
    let threads = [server.threads.clone(), client.threads.clone()];
    let has_done = |what: &[&str]| {
        let done = |threads: &BTreeMap<_, _>| what.iter().all(|what| threads.contains_key(what));
        threads.iter().all(|threads| done(&threads.lock().expect("lock should not be poisoned")))
    };
    let builder = frisbee::Server::builder().config(config.clone()).workers(workers);
    let listening = builder.bind("127.0.0.1:0", server).await.expect("server should bind to a free address");
    let address = listening.local_addr();
    tokio::spawn(listening.serve());
    let client = Client::builder().config(config).workers(workers).connect(address, client).await;
    let client = client.expect("server should be listening");
    let packet = Packet::new(PacketId(1), Operation::FIRST_USER, "x");
    client.send(&packet).await.expect("message should be sent");
    until("all callbacks have run at both ends", || has_done(&["connected", "route", "turn", "idle"])).await;
    client.close();
    until("both ends have disconnected", || has_done(&["disconnected"])).await;
}

#[test]
fn router_tasks_run_in_caller_runtime() {
    for workers in KINDS {
        let caller = Builder::new_multi_thread().worker_threads(1).thread_name("caller").enable_all().build();
        let [server, client] = [(); 2].map(|()| Arc::new(Mutex::new(BTreeMap::new())));
        let spawning = |threads: &Arc<_>, echoes| Spawning { threads: Arc::clone(threads), echoes };
        let living = live(workers, spawning(&server, true), spawning(&client, false));
        caller.expect("thread should start").block_on(living);
        for threads in [server, client] {
            for (callback, thread) in threads.lock().expect("lock should not be poisoned").iter() {
                assert_eq!(thread, "caller", "{callback} with {workers:?}");
            }
        }
    }
}

#[test]
fn handlers_begin_in_runtime_of_acceptor() {
    let (made, brought) = (caller(), caller());
    let (sender, mut began) = mpsc::unbounded_channel();
    let handlers = Handlers::new().on(Operation::FIRST_USER, move |_, _| {
        sender.send(Handle::current().id()).expect("receiver should be waiting");
        async { None }
    });
    let acceptor = made.block_on(async { frisbee::Server::builder().build(handlers).unwrap() });
    brought.block_on(async {
        let (here, there) = frisbee::memory();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        let connection =
            Client::builder().connect_io(here, Handlers::new()).await.expect("connection in memory should be accepted");
        connection.send(&Packet::new(PacketId(1), Operation::FIRST_USER, "")).await.expect("message should be sent");
        assert_eq!(began.recv().await, Some(made.handle().id()));
    });
}

#[tokio::test]
async fn tls_connection_dropped_during_handshake_is_closed() {
    for workers in KINDS {
        let authority = Authority::default();
        let server = authority.asking_configuration();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
        let address = listener.local_addr().expect("socket should have a local address");
        let (sender, received) = oneshot::channel();
        // The peer completes the handshake and requests a certificate, but sends nothing else.
        let silent = tokio::spawn(async move {
            let (socket, _) = listener.accept().await.expect("client should connect");
            let mut socket =
                tokio_rustls::TlsAcceptor::from(server).accept(socket).await.expect("client should connect");
            let _ = sender.send(socket.read_u8().await.expect("peer should send a byte"));
            let mut more = Vec::new();
            let _ = socket.read_to_end(&mut more).await;
        });
        let hour = Duration::from_secs(3600);
        let config = Config::default().idle_timeout(hour);
        let builder = Client::builder().config(config).peer_kind_timeout(hour).tls(authority.client()).workers(workers);
        let connecting = tokio::spawn(builder.connect(address, Handlers::new()));
        received.await.expect("server should continue");
        connecting.abort();
        tokio::time::timeout(TIMEOUT, silent)
            .await
            .expect("server should answer within the timeout")
            .expect("server should be valid");
    }
}

#[tokio::test]
async fn closed_connection_leaves_no_state() {
    let authority = Authority::default();
    let server = frisbee::Server::builder().tls(authority.server()).bind("127.0.0.1:0", Handlers::new()).await;
    let server = server.expect("loopback port should be free");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    for workers in KINDS {
        let builder = Client::builder().tls(authority.client()).workers(workers);
        let connection = builder.connect(address, Handlers::new()).await.expect("server should accept the connection");
        let part_of_it = connection.peer_certificates().expect("connection should have certificates").clone();
        connection.close();
        connection.closed().await;
        drop(connection);
        until("all handles are dropped", || Arc::strong_count(&part_of_it) == 1).await;
    }
}

/// A protocol that blocks the thread of its connection after the first call. Any router may do this.
struct Busy;

impl Router for Busy {
    type Session = bool;

    fn connected(&self, _connection: &Connection) -> bool {
        false
    }

    fn route(&self, _: &mut bool, _packet: Packet, _outbox: &mut Outbox) -> Routed {
        Routed::Continue
    }

    fn batch_ended(&self, was_busy: &mut bool, _batch: &mut BatchEnd<'_>) -> Option<Instant> {
        if !std::mem::replace(was_busy, true) {
            thread::sleep(Duration::from_millis(500));
        }
        None
    }

    fn disconnected(&self, _: bool, _reason: &CloseReason) {}
}

/// Returns a server and clients whose driving threads are all busy.
async fn busy() -> (String, Vec<ChannelBuilder>) {
    let address = serve_interop_with(Server::builder()).await.to_string();
    let mut builders =
        vec![(Client::builder().workers(Workers::Threads(1)), Channel::builder().workers(Workers::Threads(1)))];
    if cfg!(all(feature = "uring", target_os = "linux")) {
        let auto = frisbee::IoBackend::Auto;
        builders.push((Client::builder().io_backend(auto), Channel::builder().io_backend(auto)));
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    for (client, _) in &builders {
        for _ in 0..threads {
            client.clone().connect(address.as_str(), Busy).await.expect("server should accept the connection");
        }
    }
    (address, builders.into_iter().map(|(_, channel)| channel).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn new_connection_yields_channel_at_once() {
    let (address, builders) = busy().await;
    for builder in builders {
        let channel = builder.connect(address.as_str()).await.expect("server should accept the connection");
        let connection = channel.connection().expect("channel should be connected");
        let client = InteropClient::new(Channel::from_connection(&connection));
        client.add(AddRequest { a: 1, b: 2 }).await.expect("call should succeed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn helloless_client_treats_peer_as_go() {
    let (address, builders) = busy().await;
    for builder in builders {
        let builder = builder.config(Config::default().hello(false));
        let channel = builder.connect(address.as_str()).await.expect("server should accept the connection");
        let connection = channel.connection().expect("channel should be connected");
        // Runs in a separate task, so that it is polled only when it is woken.
        let verdict = tokio::spawn(async move { connection.peer_known().await });
        let verdict = tokio::time::timeout(TIMEOUT, verdict)
            .await
            .expect("peer kind should be known within the timeout")
            .expect("task should not panic");
        assert_eq!(verdict.expect("connection should stay open"), PeerKind::Compat);
    }
}

#[test]
fn close_hooks_spawn_into_runtime_of_caller() {
    for workers in KINDS {
        let caller = Builder::new_multi_thread().worker_threads(1).thread_name("caller").enable_all().build();
        let name = caller.expect("thread should start").block_on(async {
            let address = serve_interop_with(Server::builder()).await;
            let connection = Client::builder().workers(workers).connect(address, Handlers::new()).await;
            let connection = connection.expect("server should be listening");
            let (sender, name) = oneshot::channel();
            connection.on_close(move |_| {
                tokio::spawn(async move { sender.send(thread::current().name().map(str::to_owned)) });
            });
            connection.close();
            name.await.expect("process should be running")
        });
        assert_eq!(name.as_deref(), Some("caller"), "{workers:?}");
    }
}

#[test]
fn connection_in_last_write_ends_with_runtime() {
    for workers in KINDS {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
        let address = listener.local_addr().expect("socket should have a local address");
        let caller = caller();
        let connection = caller.block_on(async {
            let config = Config::default().write_timeout(2 * TIMEOUT);
            let connection = Client::builder().config(config).workers(workers).connect(address, Handlers::new()).await;
            let connection = connection.expect("server should accept the connection");
            let body = Bytes::from(vec![1; 4 << 20]);
            for id in 0..8 {
                let sent = connection.send_now(|outbox| outbox.push(PacketId(id), Operation::FIRST_USER, &body));
                sent.expect("connection should be open").expect("packet should be within the limit");
            }
            connection.close();
            until("the connection only writes what is queued", || connection.is_closed()).await;
            connection
        });
        let _deaf = listener.accept().expect("client should connect");
        drop(caller);
        let over = Runtime::new().expect("runtime should start");
        let over = over.block_on(async { tokio::time::timeout(TIMEOUT, connection.closed()).await });
        over.expect("call should fail without a thread");
    }
}

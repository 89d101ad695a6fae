//! Tests of connections to gRPC servers.

mod random;
mod replies;
mod server;
mod unsent;

use super::super::*;
use super::*;
use crate::api::extras::OptionalExtras;
use crate::api::middleware::CallKind;
use crate::calls::tests::wakers::{Broken, Counted};
use crate::client::attempt::ReplyReader;
use crate::client::call::CallOptions;
use crate::client::links::Links;
use crate::client::picker::{PendingCall, Pick, PickedConnection, Picker, WaitPolicy};
use crate::observe::ServerLoad;
use crate::schema::method::Method;
use crate::wire::layouts::tests::FIRST;
use crate::{Channel, Request};
use polyglot::{DecodeError, Decoder, EncodeError, Encoder, ProtobufCodec, Root};
use server::Server;
use std::collections::VecDeque;
use std::future::pending;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{OnceLock, Weak};
use std::task::{Context, Poll, Wake, Waker};
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

const KEEPALIVE: Keepalive = Keepalive { interval: Duration::from_secs(5), timeout: Duration::from_secs(3) };

/// Timeout for events that should occur without delay. The clock of these tests is paused.
const SOON: Duration = Duration::from_secs(4);

/// Returns a connector with these results. Further attempts never complete.
fn connector<const N: usize>(
    attempts: [io::Result<DuplexStream>; N],
) -> impl Fn() -> BoxFuture<'static, io::Result<DuplexStream>> {
    let attempts = Mutex::new(VecDeque::from(attempts));
    move || {
        let attempt = attempts.lock().pop_front();
        Box::pin(async move {
            match attempt {
                Some(attempt) => attempt,
                None => pending().await,
            }
        })
    }
}

/// Returns a client with these results of its attempts to connect. Further attempts never complete.
fn client<const N: usize>(attempts: [io::Result<DuplexStream>; N]) -> GrpcLinks {
    let mut channel = Channel::builder();
    let offer = channel.offer().expect("channel should offer no services");
    let (factory, server) = (channel.factory(&offer), GrpcServer::new("server", false, "server"));
    GrpcLinks::new(&factory, KEEPALIVE, server, connector(attempts), None)
}

/// Returns a channel with one connection, whose calls time out after half of [`SOON`].
fn channel(transport: DuplexStream) -> Channel {
    let builder = Channel::builder().timeout(SOON / 2);
    builder.connect_grpc_with_connector("server", connector([Ok(transport)])).expect("settings should be valid")
}

/// Returns a client with one connection, and the server's end of it.
async fn connected() -> (GrpcLinks, DuplexStream) {
    let (here, mut server) = tokio::io::duplex(4096);
    // An empty SETTINGS frame. The client may then open streams.
    server.write_all(b"\0\0\0\x04\0\0\0\0\0").await.expect("client should accept the SETTINGS frame");
    (client([Ok(here)]), server)
}

fn call(metadata: &Metadata) -> GrpcCall<'_> {
    let path = "/a.B/C".to_owned();
    GrpcCall { path, caller: None, deadline: None, open_until: None, metadata, trace: None, is_sent: None }
}

fn message() -> GrpcRequests {
    GrpcRequests::Whole(Bytes::from_static(b"\0\0\0\0\0"))
}

/// Makes a call in a task.
fn spawn_call(links: &GrpcLinks) -> AbortOnDrop<Result<(), Failed>> {
    let links = links.clone();
    AbortOnDrop(tokio::spawn(async move { links.call(&call(&Metadata::new()), message()).await.map(drop) }))
}

/// Regression test: the call waited for its remaining requests until its deadline.
#[tokio::test]
async fn unsendable_request_fails_call_at_once() {
    let (links, mut server) = connected().await;
    let requests = GrpcRequests::Stream(Box::pin(crate::iter([Err(Status::out_of_range("too long"))])));
    let (status, _) = links.call(&call(&Metadata::new()), requests).await.err().expect("invalid request should fail");
    assert_eq!((status.code(), status.message()), (Code::OutOfRange, "too long"));
    let mut sent = vec![0; 1024];
    let mut read = 0;
    // Read until the client resets the stream with CANCEL.
    while !sent[..read].ends_with(b"\0\0\x04\x03\0\0\0\0\x01\0\0\0\x08") {
        let count = server.read(&mut sent[read..]).await.expect("client should send frames");
        assert!(count > 0, "client should reset the stream before it closes the connection");
        read += count;
    }
}

/// A waker that owns a call, like the waker of a task that makes the call.
struct OwningWaker(#[allow(dead_code)] Mutex<Call>);

impl Wake for OwningWaker {
    fn wake(self: Arc<Self>) {}
}

/// Opens a connection with two calls.
async fn two_calls(transport: DuplexStream) -> (Arc<Link>, [Call; 2]) {
    let keepalive = Keepalive { interval: SOON, timeout: SOON };
    let runtime = Handle::current();
    let opened = Link::open(Box::pin(transport), &runtime, Arc::default(), keepalive);
    let link = opened.await.expect("server should accept the connection");
    let head = Head::request("POST", "http", "server", "/a.B/C");
    let open = || link.call(None, &head, None).expect("stream should be available");
    let calls = [(); 2].map(|()| open().expect("head should be accepted"));
    (link, calls)
}

/// Regression test: when a write failed, replies that had arrived earlier were lost, except for those in the first 64
/// KiB.
#[tokio::test]
async fn replies_before_failed_write_are_received() {
    let (transport, mut server) = Server::new(3).await;
    let (link, [_long, mut short]) = two_calls(transport).await;
    let [long_stream, short_stream] = [server.request().await, server.request().await];
    server.accept(long_stream).await;
    // With the frame headers, this exceeds the maximum of one read.
    server.http2.send_data(long_stream, vec![0; u16::MAX.into()].into(), false).expect("stream should be open");
    server.flush().await;
    server.reply(short_stream).await;
    let head = Head::request("POST", "http", "server", "/a.B/C");
    let _unsent = link.call(None, &head, None).expect("stream should be available");
    drop(server);
    poll_fn(|task| short.poll_head(task)).await.expect("reply should be received");
}

/// Regression test: a replaced waker was dropped under the lock of the connection, which the call of its task needs.
#[tokio::test]
async fn replaced_waker_may_drop_another_call() {
    let (transport, _server) = Server::new(2).await;
    let (link, [mut moved, owned]) = two_calls(transport).await;
    while let Poll::Ready(writable) = moved.sender.poll_writable(&mut Context::from_waker(Waker::noop())) {
        writable.expect("stream should stay open");
        moved.sender.send(vec![0; 16 * 1024].into(), false).expect("stream should accept the body");
    }
    let waker = Waker::from(Arc::new(OwningWaker(Mutex::new(owned))));
    assert!(moved.sender.poll_writable(&mut Context::from_waker(&waker)).is_pending());
    assert!(moved.poll_head(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert!(moved.poll_head(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(link.in_progress(), 2);
    assert!(moved.sender.poll_writable(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(link.in_progress(), 1, "call of the replaced waker should be dropped");
}

/// Regression test: tasks were woken under the lock of the connection, which the call of a dropped task needs.
#[tokio::test]
async fn woken_task_may_drop_another_call() {
    let (transport, server) = Server::new(2).await;
    let (link, [mut waiting, owned]) = two_calls(transport).await;
    let waker = Waker::from(Arc::new(OwningWaker(Mutex::new(owned))));
    assert!(waiting.poll_head(&mut Context::from_waker(&waker)).is_pending());
    drop((waker, server));
    while !link.is_closing() {
        tokio::task::yield_now().await;
    }
    let ended = waiting.poll_head(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(ended, Poll::Ready(Err(_))), "call should fail with its connection");
    assert_eq!(link.in_progress(), 0, "lost connection should have no calls in progress");
}

/// Regression test: tasks that waited for a stream were woken under the lock of the connection.
#[tokio::test]
async fn woken_waiting_task_may_drop_another_call() {
    let (transport, _server) = Server::new(2).await;
    let (links, metadata) = (client([Ok(transport)]), Metadata::new());
    let call = call(&metadata);
    let open = || links.0.open(&call, None, None);
    let ended = open().await.expect("stream should be available");
    let owned = open().await.expect("stream should be available");
    let waker = Waker::from(Arc::new(OwningWaker(Mutex::new(owned))));
    let mut waiting = pin!(open());
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop((waker, ended));
    assert_eq!(links.in_progress(), 0, "call of the woken task should be dropped");
}

/// Regression test: each call that timed out restarted the keepalive interval.
#[tokio::test(start_paused = true)]
async fn dead_server_is_detected_between_cancelled_calls() {
    let (links, mut server) = connected().await;
    let metadata = Metadata::new();
    let unary = async || timeout(Duration::from_secs(3), links.call(&call(&metadata), message())).await;
    for _ in 0..2 {
        assert!(unary().await.is_err(), "call should wait for its reply until the timeout");
    }
    let (status, _) = unary().await.expect("connection should end in time").err().expect("lost call should fail");
    assert!(status.message().contains("has not answered a PING"), "{status}");
    let mut sent = Vec::new();
    server.read_to_end(&mut sent).await.expect("client should close the connection");
    let pings = sent.windows(9).filter(|head| head == b"\0\0\x08\x06\0\0\0\0\0");
    assert_eq!(pings.count(), 1);
}

/// Regression test: a server that read a long request at the permitted rate was considered dead, because it received
/// the PING only after that request.
#[tokio::test(start_paused = true)]
async fn slow_reader_of_request_stays_connected() {
    const LENGTH: usize = 256 * 1024;
    let (links, mut server) = connected().await;
    // Acknowledge the client's SETTINGS, and permit a megabyte on each stream and on the connection.
    let frames = b"\0\0\0\x04\x01\0\0\0\0\0\0\x06\x04\0\0\0\0\0\0\x04\0\x10\0\0\0\0\x04\x08\0\0\0\0\0\0\x10\0\0";
    server.write_all(frames).await.expect("client should accept the frames");
    let upload = GrpcRequests::Whole(vec![0; LENGTH].into());
    let _call = AbortOnDrop(tokio::spawn(async move { links.call(&call(&Metadata::new()), upload).await.map(drop) }));
    let (mut read, mut part) = (0, [0; 4096]);
    while read < LENGTH {
        sleep(Duration::from_millis(300)).await;
        let count = server.read(&mut part).await.expect("connection should work");
        assert!(count > 0, "connection should stay open, but it ended after {read} bytes");
        read += count;
    }
}

/// Regression test: a call that waited for a stream counted as sent, so that a hedged call counted as possibly run.
#[tokio::test(start_paused = true)]
async fn waiting_call_counts_as_unsent() {
    let (transport, mut server) = Server::new(0).await;
    let (links, is_sent) = (client([Ok(transport)]), Arc::new(AtomicBool::new(false)));
    let flag = is_sent.clone();
    let _call = AbortOnDrop(tokio::spawn(async move {
        let (extras, options) = (OptionalExtras::default(), CallOptions::default());
        let call = PendingCall::new(&METHOD, options, extras.as_deref());
        let table = links.calls().clone();
        let reader = ReplyReader::of::<Empty>();
        call.attempt_grpc(&Empty, reader, (&table, &links), &flag, &Handle::current()).await.map(drop)
    }));
    sleep(Duration::from_secs(1)).await;
    assert!(!is_sent.load(Ordering::Relaxed), "server permits no stream");
    server.permit(1).await;
    server.request().await;
    assert!(is_sent.load(Ordering::Relaxed));
}

/// An observer that checks whether the pool is locked while it is called.
#[derive(Default, Debug)]
struct LockChecker {
    links: OnceLock<Weak<Shared>>,
    events: Mutex<Vec<(ServerEvent, bool)>>,
}

impl ServerObserver for LockChecker {
    fn event(&self, event: ServerEvent) {
        let links = self.links.get().and_then(Weak::upgrade).expect("connections should exist");
        self.events.lock().push((event, links.pool.is_locked()));
    }
}

/// Regression test: the observer of a server was called under the lock of the pool, which it needs to choose a server.
#[tokio::test(start_paused = true)]
async fn observer_is_called_without_lock() {
    let (transport, server) = Server::new(1).await;
    let (checker, mut channel) = (Arc::new(LockChecker::default()), Channel::builder());
    let observer: Arc<dyn ServerObserver> = checker.clone();
    let offer = channel.offer().expect("channel should offer no services");
    let (factory, name) = (channel.factory(&offer), GrpcServer::new("server", false, "server"));
    let links = GrpcLinks::new(&factory, KEEPALIVE, name, connector([Ok(transport)]), Some(&observer));
    checker.links.set(Arc::downgrade(&links.0)).expect("checker should be new");
    links.connect().await.expect("server should accept the connection");
    drop(server);
    assert!(links.keep_one().await, "connection should end");
    let events = std::mem::take(&mut *checker.events.lock());
    assert!(
        matches!(
            events[..],
            [(ServerEvent::Alive, false), (ServerEvent::Connected, false), (ServerEvent::Retired, false)]
        ),
        "{events:?}"
    );
}

/// Regression test: after the server had raised its limit of streams, calls waited until a stream ended.
#[tokio::test(start_paused = true)]
async fn raised_stream_limit_wakes_waiting_call() {
    let (transport, mut server) = Server::new(0).await;
    let links = client([Ok(transport)]);
    let _call = spawn_call(&links);
    sleep(Duration::from_secs(1)).await;
    server.permit(1).await;
    server.request().await;
}

/// Regression test: the server received the whole timeout, although the call had waited for a stream.
#[tokio::test(start_paused = true)]
async fn sent_timeout_excludes_wait_for_stream() {
    let (transport, mut server) = Server::new(0).await;
    let links = client([Ok(transport)]);
    let deadline = now() + Duration::from_secs(60);
    let _call = AbortOnDrop(tokio::spawn(async move {
        let metadata = Metadata::new();
        let call = GrpcCall { deadline: Some(deadline), ..call(&metadata) };
        links.call(&call, message()).await.map(drop)
    }));
    sleep(Duration::from_secs(2)).await;
    server.permit(1).await;
    server.request().await;
    let sent = server.http2.head().get("grpc-timeout").map(|sent| String::from_utf8_lossy(sent).into_owned());
    assert_eq!(sent.as_deref(), Some("58000000u"));
}

/// Regression test: if no further connection could be made at first, the call waited until a stream ended.
#[tokio::test(start_paused = true)]
async fn waiting_call_connects_again_after_failure() {
    let ((first, _full), (second, mut server)) = (Server::new(0).await, Server::new(1).await);
    let links = client([Ok(first), Err(io::ErrorKind::ConnectionRefused.into()), Ok(second)]);
    let _call = spawn_call(&links);
    server.request().await;
}

/// Regression test: failures to make a second connection were forgotten while the first one was in use, so the delay
/// between attempts did not grow.
#[tokio::test(start_paused = true)]
async fn delay_grows_while_other_connection_works() {
    let (transport, mut server) = Server::new(1).await;
    let mut transport = Some(transport);
    let attempt = |_| transport.take().ok_or_else(|| io::ErrorKind::ConnectionRefused.into());
    let links = client::<50>(std::array::from_fn(attempt));
    let mut calls = vec![spawn_call(&links)];
    let stream = server.request().await;
    server.reply(stream).await;
    calls.push(spawn_call(&links));
    server.request().await;
    calls.push(spawn_call(&links));
    sleep(Duration::from_secs(1)).await;
    let pool = links.0.pool.lock();
    // The delays before a second has passed are at least 25, 50, 100, 200 and 400 ms.
    assert!((6..=7).contains(&pool.dials), "{} attempts", pool.dials);
    assert!(pool.failures >= 4, "{} failures", pool.failures);
}

/// Regression test: connections without unused stream ids were kept, so all further calls waited for a stream.
#[tokio::test(start_paused = true)]
async fn connection_without_unused_ids_is_replaced() {
    let (mut transports, mut servers) = (Vec::new(), Vec::new());
    for _ in 0..=LINKS_MAX {
        let (transport, server) = Server::new(1).await;
        transports.push(Ok(transport));
        servers.push(server);
    }
    let transports: [_; LINKS_MAX + 1] = transports.try_into().expect("there should be a transport per server");
    let links = client(transports);
    for server in &mut servers {
        let mut call = spawn_call(&links);
        let stream = server.request().await;
        server.reply(stream).await;
        let ended = (&mut call.0).await.expect("task should end");
        ended.expect_err("reply should have no status");
        links.0.pool.lock().links.iter().for_each(|link| link.use_up_ids());
    }
}

/// Regression test: a call that one connection had refused waited for another one, although that connection had room.
#[tokio::test(start_paused = true)]
async fn refused_call_may_return_to_only_free_connection() {
    let (mut transports, mut servers) = (Vec::new(), Vec::new());
    for _ in 0..LINKS_MAX {
        let (transport, server) = Server::new(1).await;
        transports.push(Ok(transport));
        servers.push(server);
    }
    let transports: [_; LINKS_MAX] = transports.try_into().expect("there should be a transport per server");
    let links = client(transports);
    let (mut calls, mut streams) = (Vec::new(), Vec::new());
    for server in &mut servers {
        calls.push(spawn_call(&links));
        streams.push(server.request().await);
    }
    servers[0].refuse(streams[0]).await;
    servers[0].request().await;
}

/// Regression test: a remote caller that had used up its share was woken instead of a call that could use the stream.
#[tokio::test(start_paused = true)]
async fn freed_stream_wakes_call_that_may_use_it() {
    let (transport, mut server) = Server::new(2).await;
    let links = client([Ok(transport)]);
    let spawn_remote = || {
        let links = links.clone();
        AbortOnDrop(tokio::spawn(async move {
            let metadata = Metadata::new();
            let call = GrpcCall { caller: Some(GrpcCaller(None)), ..call(&metadata) };
            links.call(&call, message()).await.map(drop)
        }))
    };
    let _remote = spawn_remote();
    server.request().await;
    let _local = spawn_call(&links);
    let stream = server.request().await;
    let _over_share = spawn_remote();
    sleep(Duration::from_secs(1)).await;
    let _waiting = spawn_call(&links);
    sleep(Duration::from_secs(1)).await;
    server.reply(stream).await;
    server.request().await;
}

/// Regression test: a panicking waker ended the driver of the connection, and other calls were not woken.
#[tokio::test(start_paused = true)]
async fn panicking_waker_spares_other_grpc_calls() {
    let (transport, mut server) = Server::new(2).await;
    let (link, calls) = two_calls(transport).await;
    let counted = Arc::<Counted>::default();
    let wakers: [Waker; 2] = [Arc::new(Broken).into(), counted.clone().into()];
    let mut calls = calls.into_iter().zip(&wakers).map(|(mut call, waker)| {
        assert!(call.poll_head(&mut Context::from_waker(waker)).is_pending());
        call
    });
    let _calls: [_; 2] = std::array::from_fn(|_| calls.next());
    for stream in [server.request().await, server.request().await] {
        server.http2.send_head(stream, &Head::response(200), true).expect("stream should be open");
    }
    server.flush().await;
    sleep(SOON).await;
    assert_eq!(counted.0.load(Ordering::Relaxed), 1);
    assert!(!link.is_closing());
}

/// Regression test: a panicking waker of a call that waited for a stream ended the driver of the connection.
#[tokio::test(start_paused = true)]
async fn panicking_waker_of_waiting_call_spares_connection() {
    let (transport, mut server) = Server::new(1).await;
    let links = client([Ok(transport)]);
    let _first = spawn_call(&links);
    let stream = server.request().await;
    let (metadata, waker) = (Metadata::new(), Waker::from(Arc::new(Broken)));
    let waiting = call(&metadata);
    let mut waiting = Box::pin(links.call(&waiting, message()));
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    server.reply(stream).await;
    sleep(SOON).await;
    drop(waiting);
    let _next = spawn_call(&links);
    server.request().await;
}

/// Regression test: a call whose deadline passed just as it was woken kept another call from using the stream.
#[tokio::test(start_paused = true)]
async fn late_call_leaves_freed_stream_to_next_call() {
    let (transport, mut server) = Server::new(1).await;
    let links = client([Ok(transport)]);
    let _first = spawn_call(&links);
    let stream = server.request().await;
    let late = links.clone();
    let late = tokio::spawn(async move {
        let metadata = Metadata::new();
        let open_until = now().checked_add(Duration::from_secs(3));
        late.call(&GrpcCall { open_until, ..call(&metadata) }, message()).await.map(drop)
    });
    sleep(Duration::from_secs(1)).await;
    let _waiting = spawn_call(&links);
    sleep(Duration::from_secs(1)).await;
    server.reply(stream).await;
    // Runs after the driver has woken the first waiting call, and before that call runs.
    tokio::spawn(tokio::time::advance(Duration::from_secs(2))).await.expect("task should end");
    let (status, _) = late.await.expect("task should end").expect_err("call should time out");
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status}");
    server.request().await;
}

/// Regression test: a connector of a load-balanced gRPC server had no timeout, so the server was never dialled again.
#[tokio::test(start_paused = true)]
async fn stuck_grpc_connector_times_out() {
    let connect = || pending::<io::Result<DuplexStream>>();
    let channel = Channel::builder()
        .grpc()
        .connect_timeout(SOON / 2)
        .connect_picker(|factory| Ok(Arc::new(factory.by_connector("server", connect, None))))
        .expect("settings should be valid");
    let links = channel.picker::<Links>().expect("channel should have this picker");
    let error = timeout(SOON, links.dial()).await.expect("attempt should time out").expect_err("attempt should fail");
    assert!(error.to_string().contains("2s"), "{error}");
}

/// Ignores the events of a server.
#[derive(Debug)]
struct Ignored;

impl ServerObserver for Ignored {
    fn event(&self, _: ServerEvent) {}
}

/// A picker of a single server, which fails after several choices.
struct CountingPicker(Links, AtomicU32);

impl Picker for CountingPicker {
    fn pick(&self, call: &PendingCall<'_>) -> Pick {
        assert_eq!(call.kind, CallKind::Unary);
        match (self.1.fetch_add(1, Ordering::Relaxed), self.0.current()) {
            (100.., _) => Pick::Failed(Status::internal("the call was repeated without a pause")),
            (_, Some(link)) => Pick::Ready(PickedConnection::new(link)),
            (_, None) => Pick::Connecting,
        }
    }

    fn connect(&self, wait: WaitPolicy) -> BoxFuture<'_, Result<PickedConnection, Status>> {
        Box::pin(async move { self.0.connect(wait).await.map(PickedConnection::new) })
    }

    fn link(&self) -> Option<Arc<crate::client::link::Link>> {
        self.0.current()
    }

    fn stay_connected(&self) -> BoxFuture<'_, ()> {
        Box::pin(pending())
    }

    fn close(&self) {
        self.0.close();
    }

    fn loads(&self) -> Vec<ServerLoad> {
        Vec::new()
    }
}

static METHOD: Method = Method::new(&FIRST, "Get", 10);

#[derive(Debug, Default)]
struct Empty;

impl polyglot::Message for Empty {
    const NAME: &'static str = "Empty";
    const PROTOBUF: Option<ProtobufCodec<Self>> = Some(ProtobufCodec { encode: |_, _| {}, decode: |_| Ok(Self) });

    fn encode_root(&self, _: &mut Encoder<'_>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn decode_root(_: &mut Decoder<'_>) -> Result<Root<Self>, DecodeError> {
        Ok(Root::Message(Self))
    }
}

/// Regression test: the channel repeated the call without a pause, which blocked its thread until the next attempt to
/// connect.
#[tokio::test(start_paused = true)]
async fn remote_call_at_full_connection_is_not_repeated() {
    let (transport, _full) = Server::new(0).await;
    let connect = connector([Ok(transport), Err(io::ErrorKind::ConnectionRefused.into())]);
    let channel = Channel::builder()
        .grpc()
        .connect_picker(|factory| {
            let links = factory.by_connector("server", connect, Some(Arc::new(Ignored)));
            Ok(Arc::new(CountingPicker(links, AtomicU32::new(0))))
        })
        .expect("settings should be valid");
    let picker = channel.picker::<CountingPicker>().expect("channel should have this picker");
    picker.0.dial().await.expect("server should accept the connection");
    let mut request = Request::new(Empty);
    request.extensions_mut().insert(GrpcCaller(None));
    let status = channel.unary::<_, Empty>(&METHOD, request).await.expect_err("connection should be full");
    assert_eq!((status.code(), status.may_have_run()), (Code::ResourceExhausted, false), "{status}");
}

/// A writer that accepts all bytes, but never completes a shutdown, like TLS to a server that no longer reads.
struct Unclosable(#[allow(dead_code, reason = "its drop is observed")] oneshot::Sender<()>);

impl AsyncWrite for Unclosable {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

/// Regression test: the driver of a connection kept its task and descriptor until the operating system closed the
/// connection.
#[tokio::test(start_paused = true)]
async fn transport_that_cannot_be_shut_down_is_dropped() {
    let (transport, dropped) = oneshot::channel();
    let transport = tokio::io::join(tokio::io::empty(), Unclosable(transport));
    let opened = Link::open(Box::pin(transport), &Handle::current(), Arc::default(), KEEPALIVE).await;
    opened.map(drop).expect_err("connection should end with its input");
    timeout(SOON, dropped).await.expect("transport should be dropped in time").expect_err("transport sends nothing");
}

/// Regression test: streaming calls waited for a stream without any limit, and unary calls were reported as calls that
/// may have run.
#[tokio::test(start_paused = true)]
async fn calls_without_stream_are_reported_unsent() {
    let (transport, _full) = Server::new(0).await;
    let channel = channel(transport);
    let calls: [BoxFuture<'_, Result<(), Status>>; 4] = [
        Box::pin(async { channel.unary::<_, Empty>(&METHOD, Request::new(Empty)).await.map(drop) }),
        Box::pin(async {
            let requests = Request::new(crate::iter([Empty]));
            channel.client_streaming::<_, Empty>(&METHOD, requests).await.map(drop)
        }),
        Box::pin(async {
            let replies = channel.server_streaming::<_, Empty>(&METHOD, Request::new(Empty)).await?;
            replies.into_inner().message().await.map(drop)
        }),
        Box::pin(async {
            let replies = channel.streaming::<_, Empty>(&METHOD, Request::new(crate::iter([Empty]))).await?;
            replies.into_inner().message().await.map(drop)
        }),
    ];
    for call in calls {
        let status = timeout(SOON, call).await.expect("call should time out").expect_err("call should fail");
        assert_eq!((status.code(), status.may_have_run()), (Code::DeadlineExceeded, false), "{status}");
    }
}

/// Regression test: a client-streaming call waited for its reply without any limit.
#[tokio::test(start_paused = true)]
async fn missing_reply_to_request_stream_times_out() {
    let (transport, mut server) = Server::new(1).await;
    let channel = channel(transport);
    let requests = Request::new(crate::iter([Empty]));
    let call = timeout(SOON, channel.client_streaming::<_, Empty>(&METHOD, requests));
    let (status, _) = tokio::join!(call, server.request());
    let status = status.expect("call should time out").expect_err("call should fail");
    assert_eq!((status.code(), status.may_have_run()), (Code::DeadlineExceeded, true), "{status}");
}

/// A stream of requests that panics when its sender is dropped.
struct Panicking(oneshot::Receiver<()>);

impl Stream for Panicking {
    type Item = Empty;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Empty>> {
        ready!(Pin::new(&mut self.0).poll(task)).expect("stream of requests should panic");
        Poll::Ready(None)
    }
}

/// Regression test: if the server had begun to reply, the call never ended.
#[tokio::test(start_paused = true)]
async fn panic_of_request_stream_fails_call() {
    let (transport, mut server) = Server::new(1).await;
    let channel = channel(transport);
    for is_accepted in [true, false] {
        let (panics, requests) = oneshot::channel();
        let call = channel.streaming::<_, Empty>(&METHOD, Request::new(Panicking(requests)));
        let mut replies = call.await.expect("call should begin").into_inner();
        let stream = server.request().await;
        if is_accepted {
            server.accept(stream).await;
            replies.opened().await.expect("server should accept the call");
        }
        drop(panics);
        let ended = timeout(SOON, replies.message()).await.expect("call should end");
        assert_eq!(ended.expect_err("call should fail").code(), Code::Internal);
    }
}

/// Regression test: fields that HTTP/2 prohibits were sent, so the server reset the call.
#[tokio::test(start_paused = true)]
async fn fields_of_connection_are_not_sent() {
    let (transport, mut server) = Server::new(1).await;
    let links = client([Ok(transport)]);
    let mut metadata = Metadata::new();
    for key in ["connection", "keep-alive", "te", "tenant", "transfer-encoding", "upgrade"] {
        metadata.insert(key, "close").expect("metadata entry should be valid");
    }
    let _call = AbortOnDrop(tokio::spawn(async move { links.call(&call(&metadata), message()).await.map(drop) }));
    server.request().await;
    let names: Vec<_> = server.http2.head().fields().map(|(name, _)| name).collect();
    assert_eq!(names, ["te", "content-type", "tenant"]);
}

//! Tests of services and topics over shared memory, and of the cases in which peers do not use it.

use super::transports::expect_service;
use frisbee_pubsub::{Broker, ClientRouter};
use frisbee_shm::hostile::{Index, Peer};
use frisbee_shm::{Connector, Listener, ListenerBuilder, connector};
use frisbee_tests::interop::{AddRequest, Count, InteropClient, InteropServer, Payload, Range, Text};
use frisbee_tests::service::Service;
use frpc::{Acceptor, Channel, Server};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Maximum time to wait for an event. Events take milliseconds, but the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(60);

fn acceptor() -> Acceptor {
    Server::builder().add_service(InteropServer::new(Service)).build().expect("services should not overlap")
}

/// A server at a path, and the number of its connections that use shared memory.
struct Served {
    folder: TempDir,
    shared: Arc<AtomicU32>,
}

impl Served {
    fn start(builder: ListenerBuilder) -> Self {
        let (folder, shared) =
            (tempfile::tempdir().expect("temporary folder should be created"), Arc::new(AtomicU32::new(0)));
        let listener = builder.bind(folder.path().join("socket")).expect("server should bind to a free address");
        let acceptor = acceptor();
        tokio::spawn(listener.serve(move |stream| {
            let acceptor = acceptor.clone();
            async move { acceptor.serve_connection(stream).await }
        }));
        Self { folder, shared }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Returns a channel. Its connections that use shared memory are counted.
    async fn connect(&self, connector: Connector) -> Channel {
        let connect = connector.to(self.path());
        let shared = self.shared.clone();
        let counted = move || {
            let (connecting, shared) = (connect(), shared.clone());
            async move {
                let stream = connecting.await?;
                shared.fetch_add(u32::from(stream.is_shared()), Ordering::Relaxed);
                Ok(stream)
            }
        };
        Channel::builder().connect_with_connector(counted).await.expect("connector should return a connection")
    }

    fn shared(&self) -> u32 {
        self.shared.load(Ordering::Relaxed)
    }
}

/// Makes calls with streams in each direction and in both directions.
async fn expect_streams(channel: &Channel) {
    let client = InteropClient::new(channel.clone());
    let mut counted = client.count_up(Range { from: 1, count: 2000 }).await.expect("stream should open").into_inner();
    for value in 1..=2000 {
        assert_eq!(
            counted.message().await.expect("stream should not fail").expect("stream should have further messages"),
            Count { value }
        );
    }
    assert_eq!(counted.message().await.expect("stream should not fail"), None);
    let numbers = (1..=2000).map(|value| Count { value });
    let sum = client.sum_up(frpc::iter(numbers)).await.expect("call should succeed").into_inner();
    assert_eq!((sum.total, sum.count), (2_001_000, 2000));
    let texts = || (0..8).map(|number| "letter".repeat(100_000 * number));
    let texts_sent = texts().map(|value| Text { value });
    let mut chat = client.chat(frpc::iter(texts_sent)).await.expect("stream should open").into_inner();
    for text in texts() {
        let answer =
            chat.message().await.expect("stream should not fail").expect("stream should have further messages");
        assert!(answer.value.strip_prefix("re:") == Some(&text[..]), "{} letters", answer.value.len());
    }
}

async fn expect_all(channel: &Channel) {
    tokio::time::timeout(TIMEOUT, async {
        expect_service(channel).await;
        expect_streams(channel).await;
        let client = InteropClient::new(channel.clone());
        let payload = Payload { seq: 1, data: vec![7; 4 << 20] };
        assert_eq!(client.echo_payload(payload.clone()).await.expect("call should succeed").into_inner(), payload);
    })
    .await
    .expect("services should answer within the timeout");
}

#[tokio::test]
async fn every_call_kind_uses_shared_memory() {
    let served = Served::start(Listener::builder());
    expect_all(&served.connect(Connector::new()).await).await;
    assert_eq!(served.shared(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeated_long_messages_are_not_abuse() {
    let served = Served::start(Listener::builder().ring_max(4096));
    let client = InteropClient::new(served.connect(Connector::new()).await);
    let payload = Payload { seq: 1, data: vec![7; 300_000] };
    for _ in 0..100 {
        let echoed = tokio::time::timeout(TIMEOUT, client.echo_payload(payload.clone())).await;
        assert!(echoed.expect("call should complete").expect("connection should stay open").into_inner() == payload);
    }
    assert_eq!(served.shared(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_kind_passes_small_spinning_rings() {
    let spin = Duration::from_micros(50);
    let served = Served::start(Listener::builder().ring_max(4096).spin(spin));
    expect_all(&served.connect(Connector::new().spin(spin)).await).await;
    assert_eq!(served.shared(), 1);
}

#[tokio::test]
async fn server_rejecting_memory_serves_over_socket() {
    let served = Served::start(Listener::builder().shared_max(0));
    expect_all(&served.connect(Connector::new()).await).await;
    assert_eq!(served.shared(), 0);
}

#[tokio::test]
async fn unix_channel_works_with_memory_sharing_server() {
    let served = Served::start(Listener::builder());
    expect_all(
        &Channel::connect(format!("unix:{}", served.path().display()))
            .await
            .expect("server should accept the connection"),
    )
    .await;
}

#[tokio::test]
async fn plain_unix_server_works_without_shared_memory() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let path = folder.path().join("socket");
    let server = Server::builder().add_service(InteropServer::new(Service)).bind_unix(&path).await;
    tokio::spawn(server.expect("address should be free").serve());
    let channel = Channel::builder().connect_with_connector(connector(&path)).await;
    expect_all(&channel.expect("channel should reconnect")).await;
}

#[tokio::test]
async fn topics_are_published_through_shared_memory() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let path = folder.path().join("socket");
    let acceptor = frisbee::Server::builder().build(Broker::new()).expect("settings should be valid");
    let listener = Listener::bind(&path).expect("address should be free");
    tokio::spawn(listener.serve(move |stream| {
        let acceptor = acceptor.clone();
        async move { acceptor.serve_connection(stream).await }
    }));
    let router = ClientRouter::new();
    let stream = frisbee_shm::connect(&path).await.expect("server should be listening");
    assert!(stream.is_shared());
    let client = router.client();
    let _connection =
        frisbee::Client::builder().connect_io(stream, router).await.expect("connection in memory should be accepted");
    let mut subscription = client.subscribe("news.*").await.expect("broker should accept the subscription");
    client.sync().await.expect("broker should confirm all messages");
    for number in 0..1000_u32 {
        client.publish("news.today", number.to_be_bytes().to_vec()).await.expect("broker should accept the message");
    }
    for number in 0..1000_u32 {
        let message = tokio::time::timeout(TIMEOUT, subscription.recv())
            .await
            .expect("message should arrive within the timeout")
            .expect("connection should end regularly");
        assert_eq!(message.payload()[..], number.to_be_bytes());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_continue_despite_hostile_peers() {
    let served = Served::start(Listener::builder());
    let channel = served.connect(Connector::new()).await;
    let client = InteropClient::new(channel);
    let path = served.path();
    let hostile = tokio::task::spawn_blocking(move || {
        for round in 0..200_u32 {
            let peer = Peer::connect(&path).expect("server should share memory with this user");
            for number in 0..1000_u32 {
                let value = number.wrapping_mul(0x9E37_79B9).rotate_left(round);
                peer.overwrite(number % 2 == 0, value, &[0, 15, 0, 1, 0, 0]);
                peer.set(if number % 3 == 0 { Index::Written } else { Index::Read }, value % 70_000);
                // The server may have closed the connection.
                let _ = peer.ring();
            }
        }
    });
    let mut calls = 0;
    while !hostile.is_finished() || calls < 100 {
        let call = tokio::time::timeout(TIMEOUT, client.add(AddRequest { a: 20, b: 22 }));
        assert_eq!(call.await.expect("call should not be blocked").expect("call should succeed").get_ref().total, 42);
        calls += 1;
    }
    hostile.await.expect("task should not panic");
}

//! Tests of custom pickers and of how a channel follows their choice.

use frisbee::Config;
use frisbee_tests::extension::{ExtensionClient, ExtensionServer, Time};
use frisbee_tests::observed::{Service, State, UNTIL_RELEASED};
use frisbee_tests::until;
use frpc::observe::ServerLoad;
use frpc::picker::{BoxFuture, Link, LinkFactory, Links, PendingCall, Pick, PickedConnection, Picker, WaitPolicy};
use frpc::{Channel, Code, Request, Server, Status};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);

/// A picker that makes each call a probe of the first server.
struct Trying([Links; 2]);

impl Picker for Trying {
    fn pick(&self, call: &PendingCall<'_>) -> Pick {
        match (call.avoid(), self.0[1].current()) {
            (Some(_), Some(link)) => Pick::Ready(PickedConnection::new(link)),
            _ => Pick::Connecting,
        }
    }

    fn connect(&self, wait: WaitPolicy) -> BoxFuture<'_, Result<PickedConnection, Status>> {
        Box::pin(async move {
            self.0[1].connect(wait).await?;
            Ok(PickedConnection::probe(self.0[0].connect(wait).await?, SOON))
        })
    }

    fn link(&self) -> Option<Arc<Link>> {
        self.0[0].current()
    }

    fn stay_connected(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn close(&self) {
        self.0.iter().for_each(Links::close);
    }

    fn loads(&self) -> Vec<ServerLoad> {
        self.0.iter().map(Links::load).collect()
    }
}

/// Creates links to an in-memory server that accepts `calls_max` calls per connection at a time.
fn server(factory: &LinkFactory, calls_max: u32) -> (Links, Arc<State>) {
    let service = Service::default();
    let state = service.state.clone();
    let builder = Server::builder().config(Config::default().calls_max(calls_max));
    let acceptor = builder.add_service(ExtensionServer::new(service)).build().expect("services should not overlap");
    let connector = move || {
        let (here, there) = frpc::memory();
        let acceptor = acceptor.clone();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        std::future::ready(Ok(here))
    };
    (factory.by_connector("memory", connector, None), state)
}

/// Returns a client of two servers. Each call is a probe of the first one, which accepts `calls_max` calls at a time.
fn trying(calls_max: u32) -> (ExtensionClient, Vec<Arc<State>>) {
    let (channel, states) = trying_channel(calls_max);
    (ExtensionClient::new(channel), states)
}

fn trying_channel(calls_max: u32) -> (Channel, Vec<Arc<State>>) {
    let mut states = Vec::new();
    let channel = Channel::builder().connect_picker(|factory| {
        let servers = [server(factory, calls_max), server(factory, 100)];
        Ok(Arc::new(Trying(servers.map(|(links, state)| {
            states.push(state);
            links
        }))))
    });
    (channel.expect("channel should have no overlapping services"), states)
}

/// A picker that returns its first connection forever.
struct Stale(Links, OnceLock<Arc<Link>>);

impl Picker for Stale {
    fn pick(&self, _call: &PendingCall<'_>) -> Pick {
        self.1.get().map_or(Pick::Connecting, |link| Pick::Ready(PickedConnection::new(link.clone())))
    }

    fn connect(&self, wait: WaitPolicy) -> BoxFuture<'_, Result<PickedConnection, Status>> {
        Box::pin(async move {
            let link = self.0.connect(wait).await?;
            Ok(PickedConnection::new(self.1.get_or_init(|| link).clone()))
        })
    }

    fn link(&self) -> Option<Arc<Link>> {
        self.1.get().cloned()
    }

    fn stay_connected(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn close(&self) {
        self.0.close();
    }

    fn loads(&self) -> Vec<ServerLoad> {
        Vec::new()
    }
}

/// Regression test: calls on a closed connection were repeated without yielding, so that their deadlines did not end
/// them.
#[tokio::test]
async fn calls_on_stale_connection_end_at_deadline() {
    let channel = Channel::builder().timeout(Duration::from_millis(100)).connect_picker(|factory| {
        let (links, _) = server(factory, 100);
        Ok(Arc::new(Stale(links, OnceLock::new())))
    });
    let channel = channel.expect("channel should have no overlapping services");
    let (client, asking) = (ExtensionClient::new(channel.clone()), ExtensionClient::new(channel.request_hand_off().0));
    client.get(Time::default()).await.expect("call should succeed");
    let connection = channel.connection().expect("channel should be connected");
    connection.close();
    connection.closed().await;
    let statuses = [
        client.get(Time::default()).await.expect_err("unary call should fail"),
        client.flood(Time::default()).await.expect_err("stream should fail"),
        asking.get(Time::default()).await.expect_err("hand-off should fail"),
    ];
    assert_eq!(statuses.map(|status| status.code()), [Code::DeadlineExceeded; 3]);
}

/// Regression: the clones of a link that a picker kept were counted as calls in progress.
#[tokio::test]
async fn link_in_progress_counts_calls_without_clones() {
    let (channel, states) = trying_channel(100);
    let client = ExtensionClient::new(channel.clone());
    let stream = client.flood(Time::default()).await.expect("stream should open").into_inner();
    let call = tokio::spawn({
        let client = client.clone();
        async move { client.wait(Time { millis: UNTIL_RELEASED }).await }
    });
    until("the call runs", || states[0].waiting.load(Ordering::SeqCst) == 1).await;
    let link = channel.picker::<Trying>().expect("channel should have this picker").0[0].current();
    let link = link.expect("the link should be connected");
    let clones = [(); 5].map(|()| link.clone());
    assert_eq!(Link::in_progress(&link), 2);
    states[0].released.send_replace(true);
    call.await.expect("task should not panic").expect("call should succeed");
    drop(stream);
    until("the stream has ended", || Link::in_progress(&link) == 0).await;
    drop(clones);
}

/// Regression: the call failed with the status of its second attempt, which was not sent, although the first attempt
/// was.
#[tokio::test(start_paused = true)]
async fn call_with_sent_attempt_may_have_run() {
    let (client, states) = trying(1);
    let occupying = tokio::spawn({
        let client = client.clone();
        async move { client.wait(Time { millis: UNTIL_RELEASED }).await }
    });
    tokio::time::sleep(1000 * SOON).await;
    assert_eq!(states[0].waiting.load(Ordering::SeqCst), 1, "call should wait at the first server, which is full");
    let mut request = Request::new(Time { millis: 60_000 });
    request.set_timeout(50 * SOON);
    let status = client.get(request).await.expect_err("neither server should answer in time");
    let gets: Vec<_> = states.iter().map(|state| state.gets.load(Ordering::SeqCst)).collect();
    assert_eq!((gets, status.code(), status.may_have_run()), (vec![0, 1], Code::DeadlineExceeded, true), "{status}");
    states[0].released.send_replace(true);
    occupying.await.expect("task should not panic").expect("call should succeed");
}

#[tokio::test(start_paused = true)]
async fn effectful_call_probe_runs_at_one_server() {
    let (client, states) = trying(100);
    let calling = tokio::spawn({
        let client = client.clone();
        async move { client.wait(Time { millis: UNTIL_RELEASED }).await }
    });
    tokio::time::sleep(1000 * SOON).await;
    let running = || states.iter().map(|state| state.waiting.load(Ordering::SeqCst)).collect::<Vec<_>>();
    assert_eq!(running(), [1, 0], "call with side effects should run once");
    states[0].released.send_replace(true);
    calling.await.expect("task should not panic").expect("call should succeed");

    client.get(Time { millis: 1000 }).await.expect("call should succeed");
    let gets: Vec<_> = states.iter().map(|state| state.gets.load(Ordering::SeqCst)).collect();
    assert_eq!(gets, [1, 1], "call without side effects should run at both servers");
}

#[tokio::test(start_paused = true)]
async fn picker_status_counts_as_not_sent() {
    struct Refusing;

    impl Picker for Refusing {
        fn pick(&self, _call: &PendingCall<'_>) -> Pick {
            Pick::Failed(Status::unavailable("no server today"))
        }

        fn connect(&self, _wait: WaitPolicy) -> BoxFuture<'_, Result<PickedConnection, Status>> {
            Box::pin(async { Err(Status::unavailable("no server today")) })
        }

        fn link(&self) -> Option<Arc<Link>> {
            None
        }

        fn stay_connected(&self) -> BoxFuture<'_, ()> {
            Box::pin(async {})
        }

        fn close(&self) {}

        fn loads(&self) -> Vec<ServerLoad> {
            Vec::new()
        }
    }

    let channel = Channel::builder().connect_picker(|_| Ok(Arc::new(Refusing))).expect("services should not overlap");
    let status = ExtensionClient::new(channel).wait(Time::default()).await.expect_err("request should be rejected");
    assert!(!status.may_have_run() && status.message() == "no server today", "{status}");
}

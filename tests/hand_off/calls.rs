//! Handlers of generated services that hand their connections off, to an echo behind a gateway.

use super::expect_echo;
use examples::gateway::{Credentials, GatewayClient, GatewayServer, Target};
use examples::gateway_service::Service;
use frisbee_tests::interop::{InteropClient, InteropServer, SleepRequest};
use frpc::{Channel, Code, Request, Server};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpListener;

/// A target that echoes.
async fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(super::echo(socket));
        }
    });
    address
}

async fn gateway() -> Channel {
    let service = Service {
        users: [("ada".to_owned(), "secret".to_owned())].into(),
        targets: [("echo".to_owned(), echo().await.to_string()), ("gone".to_owned(), "127.0.0.1:1".to_owned())].into(),
    };
    let server = Server::builder().add_service(GatewayServer::new(service)).bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    Channel::connect(address).await.unwrap()
}

fn credentials() -> Credentials {
    Credentials { user: "ada".to_owned(), password: "secret".to_owned() }
}

fn target(name: &str) -> Target {
    Target { name: name.to_owned() }
}

/// Polls a call once, which sends it.
async fn begin<F: Future>(mut call: Pin<&mut F>) {
    let is_ready = poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_ready())).await;
    assert!(!is_ready, "nobody can have answered");
}

#[tokio::test]
async fn a_handler_gives_its_connection_away_after_calls_on_it() {
    let channel = gateway().await;
    let client = GatewayClient::new(channel.clone());
    assert_eq!(client.login(credentials()).await.unwrap().get_ref().targets, ["echo", "gone"]);
    let connection = channel.connection().unwrap();
    let (asking, handed) = channel.handing_off();
    let opened = GatewayClient::new(asking).open(target("echo")).await.unwrap();
    assert!(opened.get_ref().address.starts_with("127.0.0.1:"));
    let raw = handed.take().expect("it is handed off");
    assert!(matches!(connection.closed().await, frisbee::CloseReason::HandedOff));
    expect_echo(raw).await;
    assert!(handed.take().is_none());
    // Calls go to a new connection, where nobody has logged in.
    let status = client.open(target("echo")).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
}

/// A server that ends its connections soon is dialled with growing pauses, thirty of which are half a minute.
#[tokio::test]
async fn connections_that_are_handed_off_one_after_the_other_are_made_without_a_pause() {
    let channel = gateway().await;
    let (asking, handed) = channel.handing_off();
    let (known, asking) = (GatewayClient::new(channel), GatewayClient::new(asking));
    let handing_off = async {
        for _ in 0..30 {
            known.login(credentials()).await.unwrap();
            asking.open(target("echo")).await.unwrap();
            handed.take().expect("it is handed off");
        }
    };
    tokio::time::timeout(Duration::from_secs(8), handing_off).await.expect("nothing is waited for");
}

#[tokio::test]
async fn a_handler_that_fails_keeps_its_connection_and_its_error_comes_with_the_code() {
    let channel = gateway().await;
    let client = GatewayClient::new(channel.clone());
    let (asking, handed) = channel.handing_off();
    let asking = GatewayClient::new(asking);
    assert_eq!(asking.open(target("echo")).await.unwrap_err().code(), Code::Unauthenticated);
    client.login(credentials()).await.unwrap();
    assert_eq!(asking.open(target("nowhere")).await.unwrap_err().code(), Code::NotFound);
    assert_eq!(asking.open(target("gone")).await.unwrap_err().code(), Code::Unavailable);
    assert_eq!(client.open(target("echo")).await.unwrap_err().code(), Code::FailedPrecondition);
    // A method that knows nothing of it answers, and keeps the connection.
    asking.login(credentials()).await.unwrap();
    assert!(handed.take().is_none());
    asking.open(target("echo")).await.unwrap();
    expect_echo(handed.take().expect("it is the same connection all along")).await;
}

#[tokio::test]
async fn a_call_of_the_end_that_accepted_keeps_its_connection_until_it_is_answered() {
    let service = Service { users: [("ada".to_owned(), "secret".to_owned())].into(), targets: [].into() };
    let (told, mut connections) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::builder().add_service(GatewayServer::new(service));
    let server = server.on_connect(move |connection| drop(told.send(connection.clone())));
    let address = frisbee_tests::serve(server).await.to_string();
    let agent = Channel::builder().add_service(InteropServer::new(frisbee_tests::service::Service));
    let channel = agent.connect(address).await.unwrap();
    let (asking, _handed) = channel.handing_off();
    let asking = GatewayClient::new(asking);
    asking.login(credentials()).await.unwrap();

    let back = InteropClient::new(Channel::from_connection(&connections.recv().await.unwrap()));
    let mut slow = std::pin::pin!(back.sleep(SleepRequest { millis: 50, ..Default::default() }));
    begin(slow.as_mut()).await;
    let busy = asking.login(credentials()).await.unwrap_err();
    assert_eq!((busy.code(), busy.may_have_run()), (Code::FailedPrecondition, false));
    slow.await.unwrap();
    asking.login(credentials()).await.unwrap();
}

#[tokio::test]
async fn calls_in_flight_and_calls_given_up_keep_a_connection_and_others_wait_for_the_answer() {
    let channel = Channel::connect(frisbee_tests::serve_interop().await.to_string()).await.unwrap();
    let client = InteropClient::new(channel.clone());
    let (asking, handed) = channel.handing_off();
    let asking = InteropClient::new(asking);
    let sleep = |millis| SleepRequest { millis, ..Default::default() };

    // What the server is, is known from here on, so that calls are sent at once.
    client.sleep(sleep(0)).await.unwrap();

    let mut slow = std::pin::pin!(client.sleep(sleep(50)));
    begin(slow.as_mut()).await;
    assert_eq!(asking.sleep(sleep(0)).await.unwrap_err().code(), Code::FailedPrecondition);
    slow.await.unwrap();

    let mut request = Request::new(sleep(1_000));
    request.set_timeout(Duration::from_millis(20));
    assert_eq!(client.sleep(request).await.unwrap_err().code(), Code::DeadlineExceeded);
    while asking.sleep(sleep(0)).await.is_err() {
        // It has been told to give up as well, and answers in a moment.
        tokio::task::yield_now().await;
    }

    // The service hands nothing off. What is called meanwhile waits, and is answered behind.
    let mut asked = std::pin::pin!(asking.sleep(sleep(50)));
    begin(asked.as_mut()).await;
    let waits = client.sleep(sleep(0));
    let (asked, waits) = tokio::join!(asked, waits);
    asked.unwrap();
    waits.unwrap();
    assert!(handed.take().is_none());
}

#[tokio::test]
async fn a_call_behind_a_request_that_was_given_up_and_granted_has_not_run() {
    let channel = gateway().await;
    let client = GatewayClient::new(channel.clone());
    client.login(credentials()).await.unwrap();
    let connection = channel.connection().unwrap();
    let (asking, _handed) = channel.handing_off();
    let asking = GatewayClient::new(asking);
    let mut asked = Box::pin(asking.open(target("echo")));
    begin(asked.as_mut()).await;
    drop(asked);
    let behind = client.login(credentials()).await;
    assert!(matches!(connection.closed().await, frisbee::CloseReason::HandedOff));
    let status = behind.expect_err("it was on the connection that went");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
}

#[tokio::test]
async fn a_go_server_cannot_be_asked_and_says_so_at_once() {
    let (here, mut there) = frisbee::memory();
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        // Go answers a PING with a PONG, and skips HELLO.
        there.write_all(&frisbee_tests::raw::packet(0, 1, &[])).await.unwrap();
        there.read_to_end(&mut Vec::new()).await.unwrap();
    });
    let (asking, _handed) = Channel::connect_io(here).await.unwrap().handing_off();
    let status = GatewayClient::new(asking).open(target("echo")).await.unwrap_err();
    assert_eq!((status.code(), status.may_have_run()), (Code::Unimplemented, false), "{status}");
}

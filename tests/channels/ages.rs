//! Tests of servers that limit the age of connections.

use frisbee::CloseKind;
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Range, SleepRequest, Text};
use frisbee_tests::service::Service;
use frpc::{Acceptor, Channel, Code, RequestStream, Server, ServerBuilder};
use std::time::Duration;

const SUM: AddRequest = AddRequest { a: 1, b: 1 };

const AGE: Duration = Duration::from_secs(60);

fn sleep(seconds: u32) -> SleepRequest {
    SleepRequest { millis: seconds * 1000, ..SleepRequest::default() }
}

/// Returns an in-memory server, and a client that may connect to it any number of times.
async fn connected(settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> (Acceptor, InteropClient) {
    let builder = Server::builder().max_connection_age(AGE).add_service(InteropServer::new(Service));
    let server = settings(builder).build().expect("server should have no overlapping services");
    let dialled = server.clone();
    let connector = move || {
        let (server, (here, there)) = (dialled.clone(), frisbee::memory());
        tokio::spawn(async move { server.serve_connection(there).await });
        async { Ok(here) }
    };
    let channel = Channel::builder().dangerous_no_timeout().calls::<InteropClient>();
    (
        server,
        InteropClient::new(
            channel.connect_with_connector(connector).await.expect("connector should return a connection"),
        ),
    )
}

#[tokio::test(start_paused = true)]
async fn aged_connections_renew_without_losing_calls() {
    let (server, client) = connected(|builder| builder).await;
    let mut long = Vec::new();
    for second in 0..600 {
        client.add(SUM).await.unwrap_or_else(|status| panic!("second {second}: {status}"));
        let client = client.clone();
        long.push(tokio::spawn(async move { client.sleep(sleep(25)).await }));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    for call in long {
        call.await.expect("task should not panic").expect("call in progress should complete");
    }
    let stats = server.stats();
    assert!((9..=12).contains(&stats.opened()), "server accepted {} connections", stats.opened());
    assert_eq!(
        stats.opened() - stats.open(),
        stats.closed_by(CloseKind::ClosedByPeer) + stats.closed_by(CloseKind::MaxAge)
    );
}

#[tokio::test(start_paused = true)]
async fn streams_outlive_age_of_their_connection() {
    let (server, client) = connected(|builder| builder).await;
    let (texts, requests) = RequestStream::channel(1);
    let mut chat = client.chat(requests).await.expect("stream should open").into_inner();
    tokio::time::sleep(3 * AGE).await;
    texts.send(Text { value: "a".into() }).await.expect("message should be sent");
    assert_eq!(chat.message().await.expect("stream should not fail").expect("call should succeed").value, "re:a");
    let count =
        client.count_up(Range { from: 7, count: 1 }).await.expect("stream should open").into_inner().message().await;
    assert_eq!(count.expect("connection should stay open").map(|count| count.value), Some(7));
    assert_eq!(server.stats().open(), 2, "stream should stay open while new calls use a new connection");
    drop((texts, chat));
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(server.stats().open(), 1, "first connection should end with its stream");
}

#[tokio::test(start_paused = true)]
async fn call_beyond_grace_ends_with_connection() {
    let grace = Duration::from_secs(30);
    let (server, client) = connected(|builder| builder.max_connection_age_grace(grace)).await;
    let started = tokio::time::Instant::now();
    let status = client.sleep(sleep(3600)).await.expect_err("call should fail with its connection");
    assert_eq!(status.code(), Code::Unavailable, "{status}");
    let took = started.elapsed();
    assert!(took >= AGE * 9 / 10 + grace && took <= AGE * 11 / 10 + grace + Duration::from_secs(1), "{took:?}");
    assert_eq!(server.stats().closed_by(CloseKind::MaxAge), 1);
}

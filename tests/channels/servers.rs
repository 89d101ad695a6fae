//! Channels to a server that is not there yet, and to several.

use super::reconnecting::{in_memory, start};
use frisbee_tests::extension::{ExtensionClient, Time};
use frisbee_tests::observed::State;
use frisbee_tests::{Serving, until};
use frpc::{Channel, Code, Error};
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// An address at which nobody listens.
async fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    listener.local_addr().expect("it is bound").to_string()
}

#[tokio::test(start_paused = true)]
async fn a_lazy_channel_connects_for_its_first_call_and_not_before() {
    let dialled = Arc::new(AtomicU64::new(0));
    let counted = dialled.clone();
    let channel = Channel::builder().connect_lazy_with_connector(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(in_memory()) }
    });
    let channel = channel.expect("nothing is wrong with it");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(dialled.load(Ordering::SeqCst), 0);
    let client = ExtensionClient::new(channel);
    for _ in 0..2 {
        client.get(Time::default()).await.expect("it is served");
    }
    assert_eq!(dialled.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_lazy_channel_waits_no_longer_than_its_patience_and_was_not_sent() {
    const PATIENCE: Duration = Duration::from_secs(3);
    let builder = Channel::builder().reconnect_patience(PATIENCE);
    let channel = builder.connect_lazy_with_connector(|| async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Err::<tokio::io::DuplexStream, _>(io::ErrorKind::ConnectionRefused.into())
    });
    let client = ExtensionClient::new(channel.expect("nothing is wrong with it"));
    let begun = tokio::time::Instant::now();
    let status = client.get(Time::default()).await.expect_err("nobody listens");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
    assert!(status.message().contains("refused"), "{status}");
    assert!(begun.elapsed() <= PATIENCE, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_call_of_a_lazy_channel_finds_a_server_that_comes_up_while_it_waits() {
    let address = nowhere().await;
    let channel = Channel::builder().connect_lazy(address.as_str()).expect("nothing is wrong with it");
    let client = ExtensionClient::new(channel);
    let waiting = tokio::spawn(async move { client.get(Time::default()).await });
    tokio::task::yield_now().await;
    let (_server, state) = start(&address).await;
    waiting.await.expect("it does not panic").expect("the server is there now");
    assert_eq!(state.gets.load(Ordering::SeqCst), 1);
}

/// Two servers, and a client that is connected to both.
async fn both() -> ([(Serving, Arc<State>); 2], ExtensionClient) {
    let servers = [start("127.0.0.1:0").await, start("127.0.0.1:0").await];
    let addresses = servers.each_ref().map(|(server, _)| server.address.to_string());
    let channel = Channel::builder().connect_all(addresses).await.expect("both listen");
    let client = ExtensionClient::new(channel);
    for (_, state) in &servers {
        called(&client, state).await;
    }
    (servers, client)
}

/// Makes calls until one comes to this server.
async fn called(client: &ExtensionClient, state: &State) {
    let before = state.gets.load(Ordering::SeqCst);
    let calling = async {
        while state.gets.load(Ordering::SeqCst) == before {
            client.get(Time::default()).await.expect("a server is there");
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), calling).await.expect("the server is called");
}

#[tokio::test]
async fn calls_and_streams_go_to_the_server_that_has_fewer_of_them() {
    let (servers, client) = both().await;
    let mut calls = JoinSet::new();
    for _ in 0..100 {
        let client = client.clone();
        calls.spawn(async move { client.wait(Time { millis: 60_000 }).await });
    }
    let waiting = || servers.each_ref().map(|(_, state)| state.waiting.load(Ordering::SeqCst));
    until("all calls run", || waiting().iter().sum::<i64>() == 100).await;
    assert_eq!(waiting(), [50, 50]);
    calls.shutdown().await;
    until("no call runs", || waiting() == [0, 0]).await;

    // Streams nobody reads from, all but one to the same server.
    let flooded = || servers.each_ref().map(|(_, state)| state.flooded.load(Ordering::SeqCst) > 0);
    let first = client.flood(Time::default()).await.expect("it streams");
    until("a server streams", || flooded().contains(&true)).await;
    let busy = flooded()[1];
    let second = client.flood(Time::default()).await.expect("it streams");
    until("the other one streams", || flooded()[usize::from(!busy)]).await;
    drop((first, second));
}

/// It failed at once, and so seemed to have nothing to do: it got nearly all calls.
#[tokio::test]
async fn a_server_that_says_it_cannot_work_gets_few_calls_until_it_can() {
    let (servers, client) = both().await;
    let gets = || servers.each_ref().map(|(_, state)| state.gets.load(Ordering::SeqCst));
    for code in [Code::Unavailable, Code::ResourceExhausted] {
        servers[0].1.broken.store(code as i32, Ordering::SeqCst);
        let mut failed = 0;
        for _ in 0..1000 {
            failed += usize::from(client.get(Time::default()).await.is_err());
        }
        assert!((2..=20).contains(&failed), "{failed} of 1000 calls went there, {code:?}");
        servers[0].1.broken.store(0, Ordering::SeqCst);
        let before = gets();
        for _ in 0..500 {
            client.get(Time::default()).await.expect("both can work");
        }
        assert!(gets()[0] - before[0] > 100, "it has its share: {before:?}, {:?}", gets());
    }
}

#[tokio::test]
async fn a_server_that_refuses_requests_for_their_content_keeps_its_share() {
    let (servers, client) = both().await;
    servers[0].1.broken.store(Code::NotFound as i32, Ordering::SeqCst);
    let mut refused = 0;
    for _ in 0..500 {
        refused += usize::from(client.get(Time::default()).await.is_err());
    }
    assert!(refused > 100, "{refused} of 500 calls went there");
}

#[tokio::test]
async fn a_server_that_says_it_cannot_stream_gets_few_streams_until_it_can() {
    let (servers, client) = both().await;
    let stream = async || {
        let mut chunks = client.flood(Time { millis: 1 }).await.expect("it is opened").into_inner();
        chunks.message().await
    };
    servers[0].1.broken.store(Code::Unavailable as i32, Ordering::SeqCst);
    let mut failed = 0;
    for _ in 0..300 {
        failed += usize::from(stream().await.is_err());
    }
    assert!((2..=10).contains(&failed), "{failed} of 300 streams were opened there");
    servers[0].1.broken.store(0, Ordering::SeqCst);
    let before = servers[0].1.flooded.load(Ordering::SeqCst);
    for _ in 0..300 {
        stream().await.expect("both can work");
    }
    let flooded = servers[0].1.flooded.load(Ordering::SeqCst) - before;
    assert!(flooded > 50, "it has its share: {flooded}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_call_is_lost_while_one_server_after_the_other_is_replaced() {
    let (servers, client) = both().await;
    let over = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for _ in 0..8 {
        let (client, over) = (client.clone(), over.clone());
        callers.spawn(async move {
            while !over.load(Ordering::SeqCst) {
                client.wait(Time { millis: 1 }).await.expect("no call is lost");
            }
        });
    }
    let mut next = Vec::new();
    for (mut server, _) in servers {
        let address = server.address.to_string();
        server.stop();
        server.stopped().await;
        let (server, state) = start(&address).await;
        called(&client, &state).await;
        next.push(server);
    }
    over.store(true, Ordering::SeqCst);
    while let Some(caller) = callers.join_next().await {
        caller.expect("no call is lost");
    }
}

#[tokio::test]
async fn when_no_server_of_several_is_there_calls_wait_for_the_first_that_comes_back() {
    let ([(mut one, _), (mut other, _)], client) = both().await;
    let address = other.address.to_string();
    one.stop();
    other.stop();
    one.stopped().await;
    other.stopped().await;
    let waiting = tokio::spawn(async move { client.get(Time::default()).await });
    let (_back, state) = start(&address).await;
    waiting.await.expect("it does not panic").expect("a server is there");
    assert_eq!(state.gets.load(Ordering::SeqCst), 1);
}

/// They waited for it, or were lost with it, each time that it was dialled.
#[tokio::test]
async fn a_server_that_says_nothing_gets_no_calls_while_another_is_there() {
    let (server, _) = start("127.0.0.1:0").await;
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let addresses = [server.address, silent.local_addr().expect("it is bound")].map(|address| address.to_string());
    let connected = Arc::new(Mutex::new(Vec::new()));
    let builder = Channel::builder().calls::<ExtensionClient>().on_connect({
        let connected = connected.clone();
        move |connection| connected.lock().push(connection.clone())
    });
    let client = ExtensionClient::new(builder.connect_all(addresses).await.expect("both accept"));
    until("both are connected", || connected.lock().len() == 2).await;
    let there = connected.lock().iter().find(|connection| connection.peer_addr() == Some(server.address)).cloned();
    there.expect("it is one of the two").peer_known().await.expect("it says what it is");
    let calls = async {
        for _ in 0..50 {
            client.wait(Time::default()).await.expect("it is served");
            let mut chunks = client.flood(Time { millis: 1 }).await.expect("it is served").into_inner();
            chunks.message().await.expect("it streams");
        }
    };
    // The other one is given up after 5 s.
    tokio::time::timeout(Duration::from_secs(4), calls).await.expect("no call waits for the other one");
}

/// It held up whoever was to connect, at each of the servers.
#[tokio::test]
async fn a_call_that_waits_for_several_servers_and_is_not_polled_holds_nobody_up() {
    let (mut server, _) = start("127.0.0.1:0").await;
    let addresses = [server.address.to_string(), nowhere().await];
    let channel = Channel::builder().connect_all(&addresses).await.expect("one listens");
    let client = ExtensionClient::new(channel.clone());
    server.stop();
    server.stopped().await;
    until("the loss is noticed", || channel.connection().is_none()).await;
    let mut waiting = std::pin::pin!(client.get(Time::default()));
    assert!(tokio::time::timeout(Duration::from_millis(1), &mut waiting).await.is_err(), "nobody listens");
    for _ in 0..2 {
        let (mut server, _) = start(&addresses[0]).await;
        client.get(Time::default()).await.expect("it is connected to");
        server.stop();
        server.stopped().await;
        until("the loss is noticed", || channel.connection().is_none()).await;
    }
    let (_server, _) = start(&addresses[0]).await;
    waiting.await.expect("it has waited for long, but there is a server");
}

#[tokio::test]
async fn connecting_to_several_servers_fails_if_none_listens() {
    let (server, _) = start("127.0.0.1:0").await;
    let (nowhere, there) = (nowhere().await, server.address.to_string());
    let channel = Channel::builder().connect_all([&nowhere, &there, &nowhere]).await.expect("one listens");
    for _ in 0..20 {
        let client = ExtensionClient::new(channel.clone());
        client.get(Time::default()).await.expect("calls go to the one that is there");
    }
    let error = Channel::builder().connect_all([&nowhere, &nowhere]).await.expect_err("none listens");
    assert!(matches!(&error, Error::Transport(why) if why.to_string().contains(&nowhere)), "{error}");
    let error = Channel::builder().connect_all([""; 0]).await.expect_err("there is none");
    assert!(matches!(&error, Error::NoServers), "{error}");
}

#[tokio::test]
async fn a_channel_to_several_servers_that_is_dropped_closes_all_connections_and_makes_no_more() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let address = listener.local_addr().expect("it is bound").to_string();
    let channel = Channel::builder().connect_all(vec![address; 3]).await.expect("it listens");
    let mut connections = Vec::new();
    for _ in 0..3 {
        connections.push(listener.accept().await.expect("it is dialled").0);
    }
    drop(channel);
    for mut connection in connections {
        let mut all = Vec::new();
        // A server that says nothing would be given up after 5 s in any case.
        let ended = tokio::time::timeout(Duration::from_secs(3), connection.read_to_end(&mut all)).await;
        ended.expect("it is closed").expect("in good order");
    }
    assert!(tokio::time::timeout(Duration::ZERO, listener.accept()).await.is_err(), "it is dialled no more");
}

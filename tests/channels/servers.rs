//! Tests of channels to a server that starts later, and of channels to several servers.

use super::reconnecting::{in_memory, start};
use frisbee_tests::Serving;
use frisbee_tests::extension::{ExtensionClient, Time};
use frisbee_tests::observed::State;
use frpc::{Channel, Code, Error};
use frpc_balance::Balance;
use futures_util::future::join_all;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Returns an address on which no server listens.
async fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    listener.local_addr().expect("socket should have a local address").to_string()
}

#[tokio::test(start_paused = true)]
async fn lazy_channel_connects_at_first_call() {
    let dialled = Arc::new(AtomicU64::new(0));
    let counted = dialled.clone();
    let channel = Channel::builder().connect_lazy_with_connector(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(in_memory()) }
    });
    let channel = channel.expect("server should be valid");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(dialled.load(Ordering::SeqCst), 0);
    let client = ExtensionClient::new(channel);
    for _ in 0..2 {
        client.get(Time::default()).await.expect("call should succeed");
    }
    assert_eq!(dialled.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn lazy_channel_call_fails_unsent_after_timeout() {
    const TIMEOUT: Duration = Duration::from_secs(3);
    let builder = Channel::builder().reconnect_timeout(TIMEOUT);
    let channel = builder.connect_lazy_with_connector(|| async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Err::<tokio::io::DuplexStream, _>(io::ErrorKind::ConnectionRefused.into())
    });
    let client = ExtensionClient::new(channel.expect("server should be valid"));
    let started = tokio::time::Instant::now();
    let status = client.get(Time::default()).await.expect_err("port should have no listener");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
    assert!(status.message().contains("refused"), "{status}");
    assert!(started.elapsed() <= TIMEOUT, "{:?}", started.elapsed());
}

/// Returns two servers and a client that is connected to both.
async fn both() -> ([(Serving, Arc<State>); 2], ExtensionClient) {
    let servers = [start("127.0.0.1:0").await, start("127.0.0.1:0").await];
    let addresses = servers.each_ref().map(|(server, _)| server.address.to_string());
    let channel =
        Channel::builder().balance().connect_all(addresses).await.expect("all servers should accept connections");
    let client = ExtensionClient::new(channel);
    for (_, state) in &servers {
        called(&client, state).await;
    }
    (servers, client)
}

/// Makes calls until the given server receives one. The number of concurrent calls doubles each time, because a channel
/// avoids a server with a slow first call. While other servers have no queue, it does so for a minute.
async fn called(client: &ExtensionClient, state: &State) {
    let before = state.gets.load(Ordering::SeqCst);
    let calling = async {
        let mut at_once: usize = 1;
        while state.gets.load(Ordering::SeqCst) == before {
            let replies = join_all((0..at_once).map(|_| client.get(Time::default()))).await;
            for reply in replies {
                reply.expect("server should be reachable");
            }
            at_once = (2 * at_once).min(512);
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), calling).await.expect("call should complete within the timeout");
}

#[tokio::test(flavor = "multi_thread")]
async fn rolling_server_replacement_loses_no_call() {
    let (servers, client) = both().await;
    let over = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for _ in 0..8 {
        let (client, over) = (client.clone(), over.clone());
        callers.spawn(async move {
            while !over.load(Ordering::SeqCst) {
                client.wait(Time { millis: 1 }).await.expect("call should succeed");
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
        caller.expect("call should succeed");
    }
}

#[tokio::test]
async fn connect_all_fails_if_none_listens() {
    let (server, _) = start("127.0.0.1:0").await;
    let (nowhere, there) = (nowhere().await, server.address.to_string());
    let channel = Channel::builder()
        .balance()
        .connect_all([&nowhere, &there, &nowhere])
        .await
        .expect("all servers should accept connections");
    for _ in 0..20 {
        let client = ExtensionClient::new(channel.clone());
        client.get(Time::default()).await.expect("call should reach the available server");
    }
    let error = Channel::builder()
        .balance()
        .connect_all([&nowhere, &nowhere])
        .await
        .expect_err("ports should have no listeners");
    assert!(matches!(&error, Error::Transport(why) if why.to_string().contains(&nowhere)), "{error}");
    let error =
        Channel::builder().balance().connect_all([""; 0]).await.expect_err("empty list of servers should be rejected");
    assert!(matches!(&error, Error::NoServers), "{error}");
}

#[tokio::test]
async fn dropped_fleet_channel_closes_and_stops_dialling() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address").to_string();
    let channel = Channel::builder()
        .balance()
        .connect_all(vec![address; 3])
        .await
        .expect("all servers should accept connections");
    let mut connections = Vec::new();
    for _ in 0..3 {
        connections.push(listener.accept().await.expect("client should connect").0);
    }
    drop(channel);
    for mut connection in connections {
        let mut all = Vec::new();
        // The time limit is 3 s, because a client closes its connection to a silent server after 5 s in any case.
        let ended = tokio::time::timeout(Duration::from_secs(3), connection.read_to_end(&mut all)).await;
        ended.expect("connection should be closed").expect("connection should end regularly");
    }
    assert!(
        tokio::time::timeout(Duration::ZERO, listener.accept()).await.is_err(),
        "server should not be dialled any more"
    );
}

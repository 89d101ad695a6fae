//! Tests of introspection, over native calls and as JSON.

use super::support::catalog::{Receipt, Shop, ShopClient, ShopServer, Thing};
use super::support::{House, TIMEOUT, connect};
use frpc::{Acceptor, Code, Request, Response, ResponseStream, Server, Status};
use frpc_reflection::Introspection;
use frpc_reflection::introspection_v1::{
    ConnectionRequest, ConnectionsRequest, Figures, IntrospectionClient, Kind, ServersRequest, WatchRequest,
};
use frpc_telemetry::Counters;
use std::future::pending;
use std::time::Duration;

/// A shop with handlers that never reply.
struct Slow;

impl Shop for Slow {
    async fn buy(&self, _request: Request<Thing>) -> Result<Response<Receipt>, Status> {
        pending().await
    }

    async fn browse(&self, _request: Request<Thing>) -> Result<Response<ResponseStream<Thing>>, Status> {
        pending().await
    }
}

/// Connects a client to the introspection of a server.
async fn inspected(server: &Acceptor) -> IntrospectionClient {
    let introspection = Introspection::new().server("shop", server.inspector());
    let shown = Server::builder().add_service(introspection).build().expect("services should not overlap");
    IntrospectionClient::new(connect(&shown).await)
}

#[tokio::test(start_paused = true)]
async fn pending_calls_show_method_age_and_deadline() {
    let server =
        Server::builder().add_service(ShopServer::new(Slow)).inspectable().build().expect("server should be valid");
    let client = inspected(&server).await;
    let shop = ShopClient::new(connect(&server).await);
    let buying = tokio::spawn({
        let shop = shop.clone();
        async move {
            let mut request = Request::new(Thing::default());
            request.set_timeout(Duration::from_secs(60));
            shop.buy(request).await
        }
    });
    #[allow(deprecated)] // The schema has one such method.
    let browsing = shop.browse(Thing::default()).await.expect("stream should open");
    let page = loop {
        let page = client.connections(ConnectionsRequest::default()).await.expect("peer should answer").into_inner();
        if page.connections.iter().any(|connection| connection.calls == 2) {
            break page;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    };
    let [connection] = &page.connections[..] else { panic!("server should have one connection: {page:?}") };
    assert_eq!((connection.kind(), connection.streams), (Kind::Native, 1));
    tokio::time::sleep(Duration::from_secs(5)).await;
    let connection_request = || ConnectionRequest { server: "shop".to_owned(), number: connection.number };
    let reply = client.connection(connection_request()).await.expect("channel should be connected").into_inner();
    let hello = reply.hello.as_ref().expect("native client should have sent HELLO");
    assert!(hello.body_max > 0 && hello.stream_credit > 0, "{hello:?}");
    let of = |method: &str| {
        let found = reply.calls.iter().find(|call| call.method == method);
        found.unwrap_or_else(|| panic!("{method} should be in progress: {reply:?}")).clone()
    };
    let (buy, browse) = (of("catalog.Shop/Buy"), of("catalog.Shop/Browse"));
    assert!((5000..6000).contains(&buy.age_ms) && (5000..6000).contains(&browse.age_ms), "{reply:?}");
    assert!(buy.has_deadline && (54_000..=55_000).contains(&buy.time_left_ms), "{buy:?}");
    assert!(!browse.has_deadline && reply.streams.len() == 1 && reply.streams[0].id == browse.id);
    drop(browsing);
    let bought = buying.await.expect("task should not panic").expect_err("handler should fail the call");
    assert_eq!(bought.code(), Code::DeadlineExceeded);
    loop {
        let left = client.connection(connection_request()).await.expect("channel should be connected").into_inner();
        if left.calls.is_empty() && left.streams.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn connections_are_paged_with_close_reasons() {
    let server = Server::builder().add_service(ShopServer::new(House)).build().expect("services should not overlap");
    let client = inspected(&server).await;
    let mut shops = Vec::new();
    for _ in 0..7 {
        let shop = ShopClient::new(connect(&server).await);
        shop.buy(Thing::default()).await.expect("shop should accept the order");
        shops.push(shop);
    }
    let (mut after, mut sizes, mut numbers) = (0, Vec::new(), Vec::new());
    loop {
        let request = ConnectionsRequest { after, limit: 3, ..ConnectionsRequest::default() };
        let page = client.connections(request).await.expect("peer should answer").into_inner();
        sizes.push(page.connections.len());
        numbers.extend(page.connections.iter().map(|connection| connection.number));
        if page.next == 0 {
            break;
        }
        after = page.next;
    }
    assert_eq!(sizes, [3, 3, 1, 0]);
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    drop(shops);
    let ended = async {
        loop {
            let reply = client.servers(ServersRequest {}).await.expect("peer should answer").into_inner();
            let shop = reply.servers.into_iter().next().expect("reply should contain a server");
            if shop.open == 0 {
                break shop;
            }
            tokio::task::yield_now().await;
        }
    };
    let shop = tokio::time::timeout(TIMEOUT, ended).await.expect("connections should close within the timeout");
    assert_eq!((shop.name.as_str(), shop.opened), ("shop", 7));
    assert_eq!(shop.closes.iter().map(|close| close.count).sum::<u64>(), 7, "{:?}", shop.closes);
    assert!(shop.last_closes.len() == 7 && shop.last_closes.iter().all(|close| !close.reason.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn watch_repeats_and_refuses_interval_beyond_limits() {
    let server = Server::builder().add_service(ShopServer::new(House)).build().expect("services should not overlap");
    let client = inspected(&server).await;
    let _shop = ShopClient::new(connect(&server).await);
    let request = WatchRequest { interval_ms: 500, connections: 10 };
    let mut watch = client.watch(request).await.expect("peer should answer").into_inner();
    let started = tokio::time::Instant::now();
    for _ in 0..3 {
        let reply = watch.message().await.expect("stream should not fail").expect("stream should continue");
        assert_eq!(reply.servers.len(), 1);
    }
    assert!(started.elapsed() >= Duration::from_millis(1000), "{:?}", started.elapsed());
    for interval_ms in [1, 99, 60_001] {
        let request = WatchRequest { interval_ms, connections: 0 };
        let refused = async { client.watch(request).await?.into_inner().message().await };
        assert_eq!(refused.await.expect_err("interval should be out of range").code(), Code::InvalidArgument);
    }
    let unknown = ConnectionsRequest { server: "bakery".to_owned(), ..ConnectionsRequest::default() };
    assert_eq!(
        client.connections(unknown).await.expect_err("unknown server should be rejected").code(),
        Code::NotFound
    );
    let none = ConnectionRequest { number: 0, ..ConnectionRequest::default() };
    assert_eq!(
        client.connection(none).await.expect_err("unknown connection should be rejected").code(),
        Code::NotFound
    );
    let json = Introspection::new().server("shop", server.inspector()).to_json(10);
    assert!(
        json.starts_with("{\"servers\":[{\"server\":{\"name\":\"shop\"") && json.contains("\"connections\""),
        "{json}"
    );
}

#[tokio::test]
async fn counted_calls_are_reported_by_method() {
    let build = |builder: frpc::ServerBuilder| {
        builder.add_service(ShopServer::new(Slow)).build().expect("services should not overlap")
    };
    let server = build(Server::builder().batch_observer(Counters::new()).inspectable());
    let client = inspected(&server).await;
    let shop = ShopClient::new(connect(&server).await);
    let figures_now = async || {
        let reply = client.servers(ServersRequest {}).await.expect("peer should answer").into_inner();
        let buy = reply.servers[0].methods.iter().find(|method| method.name == "catalog.Shop/Buy");
        buy.and_then(|buy| buy.figures.clone()).expect("calls should be counted")
    };
    assert_eq!(figures_now().await, Figures::default());
    for _ in 0..3 {
        let mut request = Request::new(Thing::default());
        request.set_timeout(Duration::from_millis(1));
        shop.buy(request).await.expect_err("handler should fail the call");
    }
    let counted = async {
        loop {
            let figures = figures_now().await;
            if figures.failed.iter().map(|failed| failed.count).sum::<u64>() == 3 {
                break figures;
            }
            tokio::task::yield_now().await;
        }
    };
    let figures =
        tokio::time::timeout(TIMEOUT, counted).await.expect("failed calls should be counted within the timeout");
    assert!(figures.ok == 0 && figures.failed.iter().all(|failed| failed.code != 0), "{figures:?}");
    let Figures { sum_ns, p50_ns, p99_ns, max_ns, .. } = figures;
    assert!(0 < p50_ns && p50_ns <= p99_ns && p99_ns <= max_ns && 0 < sum_ns && sum_ns <= 3 * max_ns, "{figures:?}");
    let others = inspected(&build(Server::builder().inspectable())).await;
    let reply = others.servers(ServersRequest {}).await.expect("peer should answer").into_inner();
    assert!(reply.servers[0].methods.len() == 2 && reply.servers[0].methods.iter().all(|one| one.figures.is_none()));
}

#[tokio::test]
async fn succeeded_and_failed_calls_are_counted_apart() {
    let counters = Counters::new();
    let server = Server::builder().add_service(ShopServer::new(House)).batch_observer(counters.clone());
    let server = server.build().expect("server should be valid");
    let client = inspected(&server).await;
    let shop = ShopClient::new(connect(&server).await);
    for _ in 0..2 {
        shop.buy(Thing::default()).await.expect("shop should accept the order");
    }
    let reply = client.servers(ServersRequest {}).await.expect("peer should answer").into_inner();
    let buy = reply.servers[0].methods.iter().find(|method| method.name == "catalog.Shop/Buy");
    let figures = buy.and_then(|buy| buy.figures.as_ref()).expect("calls should be counted without inspection");
    assert!(figures.ok == 2 && figures.failed.is_empty() && figures.max_ns > 0, "{figures:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn introspection_socket_is_private_and_self_describing() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = Server::builder().add_service(ShopServer::new(House)).build().expect("services should not overlap");
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let path = folder.path().join("shop.sock");
    tokio::spawn(Introspection::new().server("shop", server.inspector()).serve_unix(path.clone()));
    let connected = async {
        loop {
            // The mode of the file is set last. Once the file is private, the socket is ready.
            let mode = std::fs::metadata(&path).map(|file| file.permissions().mode() & 0o777);
            if mode.is_ok_and(|mode| mode == 0o600) {
                break frpc::Channel::connect(format!("unix:{}", path.display()))
                    .await
                    .expect("server should be listening");
            }
            tokio::task::yield_now().await;
        }
    };
    let channel =
        tokio::time::timeout(TIMEOUT, connected).await.expect("connection should be established within the timeout");
    let schema = frpc_reflection::ServerSchema::fetch(&channel).await.expect("server should provide its schema");
    assert!(schema.services.iter().any(|service| service.name == "frpc.introspection.v1.Introspection"));
}

#[cfg(unix)]
#[tokio::test]
async fn passed_socket_shows_successor_after_predecessor_leaves() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let path = folder.path().join("shop.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).expect("socket path should be free");
    for name in ["before", "next"] {
        let server =
            Server::builder().add_service(ShopServer::new(House)).build().expect("services should not overlap");
        let introspection = Introspection::new().server(name, server.inspector());
        let listener = listener.try_clone().expect("descriptor should be available");
        let serving = tokio::spawn(introspection.serve_on_unix(listener));
        let client = IntrospectionClient::connect(format!("unix:{}", path.display()))
            .await
            .expect("server should accept the connection");
        let reply = tokio::time::timeout(TIMEOUT, client.servers(ServersRequest {}))
            .await
            .expect("call should complete within the timeout")
            .expect("peer should answer");
        assert_eq!(reply.into_inner().servers[0].name, name);
        serving.abort();
        assert!(serving.await.is_err_and(|ended| ended.is_cancelled()), "server should run until it is aborted");
        assert!(path.exists());
    }
}

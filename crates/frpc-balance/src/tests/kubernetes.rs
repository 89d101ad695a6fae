//! Tests of Services with changing slices, with a small API server on loopback that restarts, discards its history and
//! sends malformed data.

use crate::tests::api::{Api, Refusal};
use frpc::Channel;
use frpc_balance::kubernetes::KubernetesResolver;
use frpc_balance::kubernetes::kube::{Client, Config};
use frpc_balance::resolve::{Endpoint, Resolver};
use frpc_balance::{Balance, FleetView};
use serde_json::json;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Maximum time to wait for events that take milliseconds, because the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(60);

fn client(address: SocketAddr) -> Client {
    let address = format!("http://{address}").parse().expect("API server URI should be valid");
    Client::try_from(Config::new(address)).expect("Kubernetes client should need no certificate files")
}

fn resolver(api: &Api) -> KubernetesResolver {
    KubernetesResolver::new(client(api.address), "prod/shop", "grpc").expect("Service name should be valid")
}

/// A resolver that runs in the background, as in a channel. No call of `next` is dropped.
struct Followed {
    resolver: Option<KubernetesResolver>,
    asking: Option<JoinHandle<(KubernetesResolver, std::io::Result<Vec<Endpoint>>)>>,
}

impl Followed {
    fn new(resolver: KubernetesResolver) -> Self {
        Self { resolver: Some(resolver), asking: None }
    }

    fn resolve(&mut self) -> &mut JoinHandle<(KubernetesResolver, std::io::Result<Vec<Endpoint>>)> {
        self.asking.get_or_insert_with(|| {
            let mut resolver = self.resolver.take().expect("resolver should be present between queries");
            tokio::spawn(async move {
                let endpoints = resolver.next().await;
                (resolver, endpoints)
            })
        })
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        if let Some(asking) = &self.asking {
            asking.abort();
        }
    }
}

fn followed(api: &Api) -> Followed {
    Followed::new(resolver(api))
}

async fn next(followed: &mut Followed) -> std::io::Result<Vec<Endpoint>> {
    let endpoints = timeout(TIMEOUT, followed.resolve()).await.expect("resolver should return within the timeout");
    followed.asking = None;
    let (resolver, endpoints) = endpoints.expect("task should not panic");
    followed.resolver = Some(resolver);
    endpoints
}

/// Returns the hosts of the next set of endpoints.
async fn hosts(followed: &mut Followed) -> Vec<String> {
    let endpoints = next(followed).await.expect("connection should stay open");
    let host = |endpoint: &Endpoint| endpoint.address().trim_end_matches(":8080").to_owned();
    endpoints.iter().map(host).collect()
}

/// Returns the error that the resolver returns next.
async fn failure(followed: &mut Followed) -> String {
    next(followed).await.expect_err("resolver should report an error").to_string()
}

/// Waits until the resolver has started the given number of watches, and asserts that it returns nothing until then.
async fn until_watched(followed: &mut Followed, api: &Api, times: usize) {
    let watching = async {
        while api.request_counts().1 < times {
            assert!(!followed.resolve().is_finished(), "resolver should report its endpoints before it watches");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(TIMEOUT, watching).await.expect("resolver should start its watches within the timeout");
}

#[tokio::test]
async fn slices_form_one_set_following_changes() {
    let api = Api::start().await;
    api.state().page_max = Some(1);
    api.put("one", &["10.0.0.1", "10.0.0.2"]);
    api.put("two", &["10.0.0.2", "10.0.0.3"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    assert_eq!(api.request_counts().0, 2, "each page should contain one slice");
    until_watched(&mut followed, &api, 1).await;
    api.put("three", &["10.0.0.4"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]);
    api.put("one", &["10.0.0.1"]);
    // The second address is still in the other slice, so nothing has changed.
    api.delete("two");
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1", "10.0.0.4"]);
    api.delete("three");
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    api.delete("one");
    assert_eq!(failure(&mut followed).await, "no EndpointSlice of the Service");
    api.put("four", &["10.0.0.5"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.5"]);
    assert_eq!(api.request_counts(), (2, 1), "all changes should arrive by one watch");
}

#[tokio::test]
async fn empty_service_is_reported_once() {
    let api = Api::start().await;
    let mut followed = followed(&api);
    assert_eq!(failure(&mut followed).await, "no EndpointSlice of the Service");
    until_watched(&mut followed, &api, 1).await;
    api.put("one", &[]);
    assert_eq!(failure(&mut followed).await, "the Service has no endpoints");
    api.put("one", &[]);
    api.put("one", &["10.0.0.1"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"], "same error should not be reported twice");
}

#[tokio::test]
async fn ended_watch_continues_without_another_list() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    until_watched(&mut followed, &api, 1).await;
    api.bookmark();
    api.end_watches();
    api.put("one", &["10.0.0.2"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.2"], "change during the pause should be reported");
    let state = api.state();
    assert_eq!(state.lists.len(), 1);
    assert!(state.watches[0].contains("resourceVersion=1"), "{:?}", state.watches);
    assert!(state.watches[1].contains("resourceVersion=11"), "watch should start at the bookmark: {:?}", state.watches);
}

/// Regression test: a slice that exceeded the limit stayed unknown after other slices had been deleted.
#[tokio::test]
async fn slice_beyond_limit_is_listed_when_others_left() {
    let api = Api::start().await;
    let many: Vec<_> = (0..10_000).map(|at| format!("10.1.{}.{}", at / 256, at % 256)).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    api.put("a", &many);
    api.put("b", &many);
    api.put("c", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await.len(), many.len());
    until_watched(&mut followed, &api, 1).await;
    api.put("a", &[]);
    api.put("b", &["10.0.0.2"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.2"]);
    api.end_watches();
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1", "10.0.0.2"]);
    until_watched(&mut followed, &api, 2).await;
    api.end_watches();
    until_watched(&mut followed, &api, 3).await;
    assert_eq!(api.request_counts().0, 2, "complete list should not be repeated");
}

#[tokio::test]
async fn unended_watch_is_restarted_after_timeout() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    until_watched(&mut followed, &api, 1).await;
    api.put("one", &["10.0.0.2"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.2"], "change should arrive by the new watch");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(290 + 30)).await;
    tokio::time::resume();
    until_watched(&mut followed, &api, 2).await;
    assert_eq!(api.request_counts().0, 1, "watch should continue from the same version");
}

#[tokio::test]
async fn expired_version_is_listed_again() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    // The API server rejects the watch, because it has discarded the resource version.
    api.forget();
    api.put("one", &["10.0.0.2"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.2"]);
    // The API server reports by a watch event that it has discarded the resource version.
    until_watched(&mut followed, &api, 2).await;
    api.forget();
    api.delete("one");
    api.put("two", &["10.0.0.3"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.3"]);
    // The API server rejects a list, because it has discarded the resource version.
    until_watched(&mut followed, &api, 3).await;
    api.forget();
    api.state().instead_of_list = Some((410, String::new()));
    api.put("two", &["10.0.0.4"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.4"]);
    assert_eq!(api.request_counts().0, 5);
}

#[tokio::test]
async fn restarted_server_is_watched_from_last_version() {
    let mut api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    until_watched(&mut followed, &api, 1).await;
    api.kill().await;
    failure(&mut followed).await;
    for _ in 0..3 {
        let why = failure(&mut followed).await;
        assert!(why.starts_with("API server: "), "{why}");
    }
    api.put("two", &["10.0.0.2"]);
    api.again().await;
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1", "10.0.0.2"]);
    assert_eq!(api.request_counts(), (1, 2));
}

#[tokio::test]
async fn malformed_lists_and_events_are_errors() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    for (status, body) in [(200, "[]"), (200, r#"{"items":["x"#), (500, r#"{"items":["#), (302, "")] {
        api.state().instead_of_list = Some((status, body.to_owned()));
        failure(&mut followed).await;
    }
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    until_watched(&mut followed, &api, 1).await;
    api.say("{\"type\":\"ERROR\",\"object\":{\"code\":500,\"message\":\"etcd is away\"}}\n");
    failure(&mut followed).await;
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    assert_eq!(api.request_counts(), (5, 2), "resolver should request no further list");
}

/// Regression test: an event that could not be decoded ended the watch, and the next watch began with the same event.
#[tokio::test]
async fn watch_continues_after_undecodable_line() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    until_watched(&mut followed, &api, 1).await;
    for (event, host) in [("nonsense", "10.0.0.2"), (r#"{"type":"ODD","object":{}}"#, "10.0.0.3")] {
        api.say(format!("{event}\n"));
        failure(&mut followed).await;
        api.put("one", &[host]);
        assert_eq!(hosts(&mut followed).await, [host]);
    }
    assert_eq!(api.request_counts(), (1, 1));
}

/// Regression test: the change in a malformed event was lost until its slice changed again.
#[tokio::test]
async fn malformed_event_causes_another_list() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    let (fields, metadata) = (r#"{"metadata":{"name":"one"},"endpoints":7}"#, r#"{"metadata":7}"#);
    let events = [("MODIFIED", fields), ("ADDED", metadata), ("DELETED", metadata)];
    for ((kind, slice), lists) in events.into_iter().zip(2..) {
        until_watched(&mut followed, &api, lists - 1).await;
        let host = format!("10.0.0.{lists}");
        api.put_malformed("one", &[&host], &format!(r#"{{"type":"{kind}","object":{slice}}}"#));
        assert_eq!(hosts(&mut followed).await, [host]);
        assert_eq!(api.request_counts().0, lists);
    }
}

/// Regression test: a malformed slice made the list of all slices fail.
#[tokio::test]
async fn malformed_slice_is_skipped_in_list() {
    let api = Api::start().await;
    api.state().put("odd", &[json!({"addresses": 7})], 8080);
    let mut followed = followed(&api);
    let error = failure(&mut followed).await;
    assert!(error.starts_with("malformed: invalid type: integer `7`"), "{error}");
    until_watched(&mut followed, &api, 1).await;
    api.put("one", &["10.0.0.1"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    api.forget();
    until_watched(&mut followed, &api, 2).await;
    api.put("odd", &["10.0.0.2"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1", "10.0.0.2"]);
    assert_eq!(api.request_counts().0, 2);
}

/// Regression test: if each watch failed right after its start, the resolver started dozens of watches per second.
#[tokio::test]
async fn watches_that_fail_at_once_are_delayed() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    let mut pauses = Vec::new();
    for watches in 1..=3 {
        until_watched(&mut followed, &api, watches).await;
        let failed = Instant::now();
        api.say("{\"type\":\"ERROR\",\"object\":{\"code\":500,\"message\":\"etcd is away\"}}\n");
        failure(&mut followed).await;
        pauses.push(failed.elapsed() >= Duration::from_millis(500));
        assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    }
    assert_eq!(pauses[1..], [true; 2], "each failure after the first should be delayed");
}

#[tokio::test]
async fn refusal_has_text_of_server() {
    let api = Api::start().await;
    let other = KubernetesResolver::new(client(api.address), "shop", "grpc").expect("Service name should be valid");
    let mut other = Followed::new(other);
    let why = failure(&mut other).await;
    let start = "API server: status 403: /apis/discovery.k8s.io/v1/namespaces/default";
    assert!(why.starts_with(start), "{why}");
    assert!(why.ends_with(" is forbidden"), "{why}");
}

#[tokio::test]
async fn overloaded_server_is_rewatched_without_list() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    until_watched(&mut followed, &api, 1).await;
    for status in [429, 503] {
        let watches = api.request_counts().1;
        api.state().instead_of_watch = vec![Refusal { status, retry_after: Some("1"), body: "too many requests" }];
        let ended = Instant::now();
        api.end_watches();
        until_watched(&mut followed, &api, watches + 2).await;
        assert!(ended.elapsed() >= Duration::from_secs(1), "Retry-After should be respected: {:?}", ended.elapsed());
    }
    api.put("one", &["10.0.0.2"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.2"]);
    assert_eq!(api.request_counts().0, 1, "resolver should have requested one list");
}

#[tokio::test]
async fn failing_watch_keeps_version() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    until_watched(&mut followed, &api, 1).await;
    let status = r#"{"kind": "Status", "status": "Failure", "message": "etcd is away", "code": 500}"#;
    for body in [status, "a proxy's page"] {
        api.state().instead_of_watch = vec![Refusal { status: 500, retry_after: None, body }];
        api.end_watches();
        failure(&mut followed).await;
        assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    }
    let state = api.state();
    assert_eq!(state.lists.len(), 1);
    assert!(state.watches.iter().all(|watch| watch.contains("resourceVersion=1")), "{:?}", state.watches);
}

/// Accepts connections and sends nothing.
async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let port = listener.local_addr().expect("socket should have a local address").port();
    (listener, port)
}

#[tokio::test(start_paused = true)]
async fn silent_server_fails_list_request() {
    let (_listener, port) = listener().await;
    let client = client(SocketAddr::from(([127, 0, 0, 1], port)));
    let mut resolver = KubernetesResolver::new(client, "prod/shop", "grpc").expect("Service name should be valid");
    let failed = timeout(10 * TIMEOUT, resolver.next())
        .await
        .expect("request should fail within the timeout")
        .expect_err("request should fail without a reply");
    assert!(failed.to_string().contains("no answer within 120 s"), "{failed}");
}

#[tokio::test]
async fn channel_keeps_servers_while_api_is_down() {
    let mut api = Api::start().await;
    let (_listener, port) = listener().await;
    api.put_at("one", &["127.0.0.1", "127.0.0.2"], port);
    let channel = Channel::builder()
        .balance()
        .connect_resolved(resolver(&api))
        .await
        .expect("channel should connect to a resolved server");
    let fleet = || FleetView::of(&channel).expect("channel should have a fleet");
    let until = async |what: &str, happened: &dyn Fn() -> bool| {
        let reached = async {
            while !happened() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(TIMEOUT, reached).await.unwrap_or_else(|_| panic!("condition should hold within the timeout: {what}"));
    };
    assert_eq!(fleet().servers.len(), 2);
    api.kill().await;
    until("the resolver should report a failure", &|| fleet().resolver_failure.is_some()).await;
    assert_eq!(fleet().servers.len(), 2, "last valid set should stay in use");
    api.put_at("one", &["127.0.0.2"], port);
    api.again().await;
    until("the other has left", &|| fleet().servers.len() == 1).await;
    assert!(fleet().resolver_failure.is_none());
}

//! Services whose slices change, asked of a small API server on the loopback that restarts, forgets and says nonsense.

mod api;

use api::Api;
use frpc::Channel;
use frpc::resolve::{Endpoint, Resolver};
use frpc_kubernetes::{Kubernetes, KubernetesResolver};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// No test waits longer for what comes in milliseconds; a machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

fn resolver(api: &Api) -> KubernetesResolver {
    let kubernetes = Kubernetes::new(&format!("http://{}", api.address)).expect("it is an address");
    KubernetesResolver::new(&kubernetes, "prod/shop", "grpc").expect("it is a name")
}

/// A resolver that goes on while the test does something else: as with a channel, no question is given up.
struct Followed {
    resolver: Option<KubernetesResolver>,
    asking: Option<JoinHandle<(KubernetesResolver, std::io::Result<Vec<Endpoint>>)>>,
}

impl Followed {
    fn new(resolver: KubernetesResolver) -> Self {
        Self { resolver: Some(resolver), asking: None }
    }

    fn ask(&mut self) -> &mut JoinHandle<(KubernetesResolver, std::io::Result<Vec<Endpoint>>)> {
        self.asking.get_or_insert_with(|| {
            let mut resolver = self.resolver.take().expect("it is here or with the question");
            tokio::spawn(async move {
                let said = resolver.next().await;
                (resolver, said)
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
    let said = timeout(PATIENCE, followed.ask()).await.expect("it answers");
    followed.asking = None;
    let (resolver, said) = said.expect("it does not panic");
    followed.resolver = Some(resolver);
    said
}

/// The hosts of the next set.
async fn hosts(followed: &mut Followed) -> Vec<String> {
    let endpoints = next(followed).await.expect("the server answers");
    let host = |endpoint: &Endpoint| endpoint.address().trim_end_matches(":8080").to_owned();
    endpoints.iter().map(host).collect()
}

/// Why the next set is not known.
async fn trouble(followed: &mut Followed) -> String {
    next(followed).await.expect_err("it is not known").to_string()
}

/// Waits until it watches for this time, and has nothing to say before.
async fn until_watched(followed: &mut Followed, api: &Api, times: usize) {
    let watching = async {
        while api.asked().1 < times {
            assert!(!followed.ask().is_finished(), "it says something before it watches");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(PATIENCE, watching).await.expect("it watches");
}

#[tokio::test]
async fn all_slices_are_one_set_that_follows_their_changes() {
    let api = Api::start().await;
    api.state().page_max = Some(1);
    api.put("one", &["10.0.0.1", "10.0.0.2"]);
    api.put("two", &["10.0.0.2", "10.0.0.3"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    assert_eq!(api.asked().0, 2, "each page has one slice");
    until_watched(&mut followed, &api, 1).await;
    api.put("three", &["10.0.0.4"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]);
    api.put("one", &["10.0.0.1"]);
    // The second address stands in the other slice still, so nothing has changed.
    api.delete("two");
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1", "10.0.0.4"]);
    api.delete("three");
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    api.delete("one");
    assert_eq!(trouble(&mut followed).await, "there is no EndpointSlice of the Service");
    api.put("four", &["10.0.0.5"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.5"]);
    assert_eq!(api.asked(), (2, 1), "all came by one watch");
}

#[tokio::test]
async fn a_service_that_has_no_endpoints_yet_is_told_of_once_until_it_has_some() {
    let api = Api::start().await;
    let mut followed = followed(&api);
    assert_eq!(trouble(&mut followed).await, "there is no EndpointSlice of the Service");
    until_watched(&mut followed, &api, 1).await;
    api.put("one", &[]);
    assert_eq!(trouble(&mut followed).await, "the Service has no endpoints");
    api.put("one", &[]);
    api.put("one", &["10.0.0.1"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"], "the same trouble is not told twice");
}

#[tokio::test]
async fn a_watch_that_ends_goes_on_where_it_was_without_another_list() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    until_watched(&mut followed, &api, 1).await;
    api.bookmark();
    api.end_watches();
    api.put("one", &["10.0.0.2"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.2"], "that has happened meanwhile");
    let state = api.state();
    assert_eq!(state.lists.len(), 1);
    assert!(state.watches[0].ends_with("resourceVersion=1"), "{:?}", state.watches);
    assert!(state.watches[1].ends_with("resourceVersion=11"), "from the bookmark on: {:?}", state.watches);
}

#[tokio::test]
async fn a_server_that_has_forgotten_the_version_is_asked_for_all_again() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    // As the answer to a watch.
    api.forget();
    api.put("one", &["10.0.0.2"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.2"]);
    // As an event of a watch.
    until_watched(&mut followed, &api, 2).await;
    api.forget();
    api.delete("one");
    api.put("two", &["10.0.0.3"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.3"]);
    // As the answer to a list.
    until_watched(&mut followed, &api, 3).await;
    api.forget();
    api.state().instead_of_list = Some((410, String::new()));
    api.put("two", &["10.0.0.4"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.4"]);
    assert_eq!(api.asked().0, 5);
}

#[tokio::test]
async fn a_server_that_is_killed_and_comes_back_is_watched_from_the_version_before() {
    let mut api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    until_watched(&mut followed, &api, 1).await;
    api.kill().await;
    trouble(&mut followed).await;
    for _ in 0..3 {
        let why = trouble(&mut followed).await;
        assert!(why.starts_with(&format!("the API server at {}: ", api.address)), "{why}");
    }
    api.put("two", &["10.0.0.2"]);
    api.again().await;
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1", "10.0.0.2"]);
    assert_eq!(api.asked(), (1, 2));
}

#[tokio::test]
async fn nonsense_in_lists_and_watches_is_an_error_after_which_all_is_read_again() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    let unfinished = |length: usize| format!(r#"{{"items":["{}"#, "x".repeat(length));
    for (status, body) in
        [(200, "[]".to_owned()), (200, unfinished(17 << 20)), (500, unfinished(0)), (302, String::new())]
    {
        api.state().instead_of_list = Some((status, body));
        trouble(&mut followed).await;
    }
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    let events = [
        "nonsense\n".to_owned(),
        "{\"type\":\"ODD\",\"object\":{}}\n".to_owned(),
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{},\"endpoints\":7}}\n".to_owned(),
        "{\"type\":\"ERROR\",\"object\":{\"code\":500,\"message\":\"etcd is away\"}}\n".to_owned(),
    ];
    for (at, event) in events.into_iter().enumerate() {
        until_watched(&mut followed, &api, at + 1).await;
        api.say(event);
        trouble(&mut followed).await;
        assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
        assert_eq!(api.asked().0, 6 + at, "it lists again");
    }
}

#[tokio::test]
async fn a_line_without_an_end_is_cut_off() {
    let api = Api::start().await;
    api.put("one", &["10.0.0.1"]);
    let mut followed = followed(&api);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    until_watched(&mut followed, &api, 1).await;
    let megabyte = vec![b'x'; 1 << 20];
    (0..6).for_each(|_| api.say(megabyte.clone()));
    assert_eq!(trouble(&mut followed).await, "the API server sent a line of more than 4194304 bytes");
}

#[tokio::test]
async fn a_refusal_of_the_server_is_told_in_its_words() {
    let api = Api::start().await;
    let kubernetes = Kubernetes::new(&format!("http://{}", api.address)).expect("it is an address");
    let other = KubernetesResolver::new(&kubernetes, "shop", "grpc").expect("it is a name");
    let mut other = Followed::new(other);
    let why = trouble(&mut other).await;
    assert!(
        why.starts_with("the API server answers 403 Forbidden: /apis/discovery.k8s.io/v1/namespaces/default"),
        "{why}"
    );
    assert!(why.ends_with(" is forbidden"), "{why}");
}

/// An authority in PEM, and a server that it certifies for 127.0.0.1.
fn tls() -> (String, TlsAcceptor) {
    let key = rcgen::KeyPair::generate().expect("there is randomness");
    let parameters = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).expect("it is a name");
    let certificate = parameters.self_signed(&key).expect("it has all it needs");
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("ring serves them").with_no_client_auth();
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("it is a key");
    let config = builder.with_single_cert(vec![certificate.der().clone()], key).expect("they belong together");
    (certificate.pem(), TlsAcceptor::from(Arc::new(config)))
}

#[tokio::test]
async fn a_token_that_is_replaced_in_its_file_counts_from_the_next_connection_on() {
    let (authority, acceptor) = tls();
    let api = Api::start_tls(acceptor).await;
    api.put("one", &["10.0.0.1"]);
    api.state().token = Some("first".to_owned());
    let folder = tempfile::tempdir().expect("there is room");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("there is room");
    write("ca", &authority);
    write("token", "first\n");
    let config = format!(
        "current-context: here
contexts: [{{name: here, context: {{cluster: here, user: me, namespace: prod}}}}]
clusters: [{{name: here, cluster: {{server: 'https://{}', certificate-authority: ca}}}}]
users: [{{name: me, user: {{tokenFile: token}}}}]",
        api.address
    );
    write("config", &config);
    let kubernetes = Kubernetes::from_kubeconfig(folder.path().join("config"), None).expect("all is there");
    let resolver = KubernetesResolver::new(&kubernetes, "shop", "grpc").expect("it is a name");
    let mut followed = Followed::new(resolver);
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    until_watched(&mut followed, &api, 1).await;
    api.state().token = Some("second".to_owned());
    api.end_watches();
    assert_eq!(trouble(&mut followed).await, "the API server answers 401 Unauthorized: Unauthorized");
    write("token", "second");
    assert_eq!(hosts(&mut followed).await, ["10.0.0.1"]);
    let (stranger, _) = tls();
    until_watched(&mut followed, &api, 2).await;
    write("ca", &stranger);
    api.end_watches();
    let why = trouble(&mut followed).await;
    assert!(why.starts_with(&format!("the API server at {}: ", api.address)), "{why}");
    assert!(why.contains("certificate"), "{why}");
}

/// Accepts connections and says nothing.
async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let port = listener.local_addr().expect("it is bound").port();
    (listener, port)
}

#[tokio::test]
async fn a_channel_keeps_its_servers_while_the_api_server_is_away_and_follows_it_again() {
    let mut api = Api::start().await;
    let (_listener, port) = listener().await;
    api.put_at("one", &["127.0.0.1", "127.0.0.2"], port);
    let channel = Channel::builder().connect_resolved(resolver(&api)).await.expect("a server accepts");
    let fleet = || channel.fleet().expect("it follows a resolver");
    let until = async |what: &str, happened: &dyn Fn() -> bool| {
        let waiting = async {
            while !happened() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("not so: {what}"));
    };
    assert_eq!(fleet().servers.len(), 2);
    api.kill().await;
    until("there is trouble", &|| fleet().resolver_trouble.is_some()).await;
    assert_eq!(fleet().servers.len(), 2, "the last good set stays");
    api.put_at("one", &["127.0.0.2"], port);
    api.again().await;
    until("the other has left", &|| fleet().servers.len() == 1).await;
    assert!(fleet().resolver_trouble.is_none());
}

//! Tests of a real Kubernetes API server: the manifest of docs/resolvers.md, and a Service whose endpoint slices are
//! created, changed and deleted while the server is killed and restarted.
//!
//! The API server is built from Go modules. This takes many minutes the first time, so the tests run only if
//! `FRISBEE_REQUIRE_APISERVER` is set. No controllers run, so the test writes the endpoint slices itself.

use super::databases::servers;
use super::go;
use bytes::Bytes;
use frisbee_tests::pki::Authority;
use frpc::tls::ClientTls;
use frpc_balance::kubernetes::KubernetesResolver;
use frpc_balance::kubernetes::kube::config::{KubeConfigOptions, Kubeconfig};
use frpc_balance::kubernetes::kube::{Client, Config};
use frpc_balance::resolve::{Endpoint, Resolver};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// Maximum duration of a step, including on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/prod/endpointslices";

/// An API server with a dedicated etcd, and an administrator's client.
struct ApiServer {
    address: String,
    program: PathBuf,
    folder: TempDir,
    tls: ClientTls,
    etcd: servers::Etcd,
    child: Child,
}

impl ApiServer {
    async fn start() -> Option<Self> {
        if std::env::var_os("FRISBEE_REQUIRE_APISERVER").is_none() {
            // Written to the terminal directly, because captured output is shown only for failed tests.
            let _ = std::io::stderr()
                .lock()
                .write_all(b"\nSKIPPED: FRISBEE_REQUIRE_APISERVER is not set, so no API server was watched\n");
            return None;
        }
        let etcd = servers::etcd().await.expect("etcd should be installed with the API server");
        let program = go::build("apiserver", ".").expect("Go should be installed with the API server");
        let folder = tempfile::tempdir().expect("temporary folder should be created");
        let authority = Authority::default();
        let (certificate, key) = authority.issue_pem("127.0.0.1");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("file should be written");
        write("ca", &authority.pem());
        write("certificate", &certificate);
        write("key", &key);
        // The third column is the user id.
        write("tokens", "boss,administrator,1,system:masters\n");
        let address = format!("127.0.0.1:{}", servers::port().await);
        let tls = ClientTls::new(authority.trusted()).expect("authorities should be valid");
        let child = serve(&program, &folder, &address, &etcd.address);
        let server = Self { address, program, folder, tls, etcd, child };
        server.until_ready().await;
        Some(server)
    }

    async fn until_ready(&self) {
        let ready = async {
            while self.http_request("GET", "/readyz", "").await.is_none_or(|(status, _)| status != 200) {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        if tokio::time::timeout(TIMEOUT, ready).await.is_err() {
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            panic!("the API server does not come up: {}", &log[log.len().saturating_sub(4000)..]);
        }
    }

    /// Kills the process.
    async fn kill(&mut self) {
        self.child.kill().await.expect("process should be running");
    }

    async fn restart(&mut self) {
        self.child = serve(&self.program, &self.folder, &self.address, &self.etcd.address);
        self.until_ready().await;
    }

    /// Sends a request with YAML or JSON as the administrator. Returns `None` if the server cannot be reached.
    async fn http_request(&self, method: &str, path: &str, body: &str) -> Option<(u16, Vec<u8>)> {
        let socket = TcpStream::connect(&self.address).await.ok()?;
        let io = self.tls.connect_io(socket, "127.0.0.1").await.ok()?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(io)).await.ok()?;
        tokio::spawn(connection);
        let request = http::Request::builder().method(method).uri(path).header("host", &self.address);
        let request = request.header("authorization", "Bearer boss").header("content-type", "application/yaml");
        let request = request.header("accept", "application/json").body(Full::new(Bytes::from(body.to_owned())));
        let response = sender.send_request(request.expect("request should be valid")).await.ok()?;
        let status = response.status().as_u16();
        Some((status, response.into_body().collect().await.ok()?.to_bytes().into()))
    }

    /// Sends a request, which must succeed, and returns the response.
    async fn does(&self, method: &str, path: &str, body: &str) -> Value {
        let (status, answer) = self.http_request(method, path, body).await.expect("API server should respond");
        let text = String::from_utf8_lossy(&answer);
        assert!((200..300).contains(&status), "{method} {path}: {status} {text}");
        serde_json::from_slice(&answer).expect("bytes should be valid JSON")
    }

    async fn create(&self, slice: &Value) {
        self.does("POST", SLICES, &slice.to_string()).await;
    }

    async fn replace(&self, slice: &Value) {
        let name = slice["metadata"]["name"].as_str().expect("slice should have a name");
        self.does("PUT", &format!("{SLICES}/{name}"), &slice.to_string()).await;
    }

    /// Returns a kubeconfig for a service account, with a token issued by the server.
    async fn kubeconfig(&self, account: &str) -> PathBuf {
        let token_request =
            json!({"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}}).to_string();
        let path = format!("/api/v1/namespaces/prod/serviceaccounts/{account}/token");
        let token = self.does("POST", &path, &token_request).await;
        let token = token["status"]["token"].as_str().expect("account should have a token");
        fs::write(self.folder.path().join("token"), token).expect("file should be written");
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": account, "namespace": "prod"}}],
            "clusters": [{"name": "test", "cluster":
                {"server": format!("https://{}", self.address), "certificate-authority": "ca"}}],
            "users": [{"name": account, "user": {"tokenFile": "token"}}],
        });
        let path = self.folder.path().join("config");
        fs::write(&path, config.to_string()).expect("file should be written");
        path
    }
}

fn serve(program: &PathBuf, folder: &TempDir, address: &str, etcd: &str) -> Child {
    let (host, port) = address.split_once(':').expect("address should have a port");
    let log =
        File::options().create(true).append(true).open(folder.path().join("log")).expect("log file should be created");
    Command::new(program)
        .current_dir(folder.path())
        .args(["--bind-address", host, "--secure-port", port, "--etcd-servers", &format!("http://{etcd}")])
        .args(["--tls-cert-file", "certificate", "--tls-private-key-file", "key", "--token-auth-file", "tokens"])
        .args(["--service-account-issuer", "https://test", "--service-account-key-file", "certificate"])
        .args(["--service-account-signing-key-file", "key", "--service-cluster-ip-range", "10.0.0.0/24"])
        // No controllers run next to the API server, so nothing creates service accounts.
        .args(["--authorization-mode", "RBAC", "--endpoint-reconciler-type", "none"])
        .args(["--advertise-address", "192.0.2.1", "--disable-admission-plugins", "ServiceAccount"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .expect("process should start")
}

/// Returns the objects in the manifest of the page. Each comes with the path at which it is created.
fn manifest() -> Vec<(&'static str, &'static str)> {
    let (_, page) =
        include_str!("../../docs/resolvers.md").split_once("```yaml\n").expect("page should contain a manifest");
    let (manifest, _) = page.split_once("```").expect("manifest should have an end");
    let path = |document: &str| match document.lines().find_map(|line| line.strip_prefix("kind: ")) {
        Some("Service") => "/api/v1/namespaces/prod/services",
        Some("ServiceAccount") => "/api/v1/namespaces/prod/serviceaccounts",
        Some("Role") => "/apis/rbac.authorization.k8s.io/v1/namespaces/prod/roles",
        Some("RoleBinding") => "/apis/rbac.authorization.k8s.io/v1/namespaces/prod/rolebindings",
        other => panic!("unknown argument {other:?}"),
    };
    manifest.split("---\n").map(|document| (path(document), document)).collect()
}

fn slice(name: &str, endpoints: &[Value]) -> Value {
    let labels = json!({"kubernetes.io/service-name": "shop"});
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": name, "labels": labels},
        "addressType": "IPv4", "endpoints": endpoints, "ports": [{"name": "grpc", "port": 8080}],
    })
}

fn pod(address: &str, ready: bool, terminating: bool) -> Value {
    json!({"addresses": [address], "zone": "a", "nodeName": "n1",
        "conditions": {"ready": ready, "serving": true, "terminating": terminating}})
}

/// Returns the next set of endpoints as text. Ignores failures before it.
async fn next(resolver: &mut KubernetesResolver) -> Vec<String> {
    let asking = async {
        loop {
            match resolver.next().await {
                Ok(endpoints) => return endpoints.iter().map(Endpoint::to_string).collect(),
                // Retries after a failure, as a channel does.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    };
    tokio::time::timeout(TIMEOUT, asking).await.expect("endpoints should arrive within the timeout")
}

#[tokio::test(flavor = "multi_thread")]
async fn kubernetes_service_is_followed_through_restarts() {
    let Some(mut server) = ApiServer::start().await else { return };
    server.does("POST", "/api/v1/namespaces", r#"{"metadata": {"name": "prod"}}"#).await;
    let mut documents = manifest();
    let (path, binding) = documents.pop().expect("page should contain four documents");
    for (path, document) in documents {
        server.does("POST", path, document).await;
    }
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig("client").await).expect("kubeconfig should be valid");
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let client =
        Client::try_from(config.expect("kubeconfig should have a context")).expect("certificates should be valid");
    let mut resolver = KubernetesResolver::new(client, "shop", "grpc").expect("service name should be valid");
    let why = resolver.next().await.expect_err("next item should be an error").to_string();
    assert!(why.contains("403") && why.contains("system:serviceaccount:prod:client"), "{why}");
    server.does("POST", path, binding).await;

    let text = |address: &str| format!("{address}:8080 zone=a server_name=shop.prod.svc node=n1");
    let [one, two, three] = ["10.1.0.1", "10.1.0.2", "10.1.0.3"];
    server.create(&slice("shop-1", &[pod(one, true, false), pod(two, true, false)])).await;
    assert_eq!(next(&mut resolver).await, [text(one), text(two)]);
    server.create(&slice("shop-2", &[pod(two, true, false), pod(three, true, false)])).await;
    assert_eq!(next(&mut resolver).await, [text(one), text(two), text(three)]);
    server.replace(&slice("shop-1", &[pod(one, false, true)])).await;
    assert_eq!(next(&mut resolver).await, [text(two), text(three)], "terminating endpoint should be missing");
    server.does("DELETE", &format!("{SLICES}/shop-2"), "").await;
    assert_eq!(
        next(&mut resolver).await,
        [text(one)],
        "terminating endpoint should be used, because it still serves and no other is left"
    );

    server.kill().await;
    let why = resolver.next().await.expect_err("next item should be an error").to_string();
    println!("while it is away: {why}");
    server.restart().await;
    server.replace(&slice("shop-1", &[pod(one, true, false), pod(three, true, false)])).await;
    while next(&mut resolver).await != [text(one), text(three)] {}
    // The database of the API server may fail as well.
    server.etcd.kill().await;
    server.etcd.restart().await;
    server.until_ready().await;
    server.does("DELETE", &format!("{SLICES}/shop-1"), "").await;
    server.create(&slice("shop-3", &[pod(two, true, false)])).await;
    while next(&mut resolver).await != [text(two)] {}
}

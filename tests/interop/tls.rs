//! Tests of mutual TLS with Go peers, in both directions.

use super::go::Peer;
use super::{generous, suite};
use frisbee_tests::interop::InteropClient;
use frisbee_tests::pki::Authority;
use frisbee_tests::serve_interop_with;
use frpc::Channel;
use std::path::PathBuf;
use std::time::Duration;

/// PEM files in a temporary directory that is removed on drop.
struct Files(PathBuf);

impl Files {
    fn of(authority: &Authority, name: &str) -> Self {
        let files = Self(std::env::temp_dir().join(format!("frisbee-tls-{}-{name}", std::process::id())));
        std::fs::create_dir_all(&files.0).expect("folder should be created");
        let (certificate, key) = authority.issue_pem("127.0.0.1");
        for (file, pem) in [("ca", authority.pem()), ("cert", certificate), ("key", key)] {
            std::fs::write(files.0.join(file), pem).expect("file should be written");
        }
        files
    }

    fn apply_to(&self, peer: Peer) -> Peer {
        peer.with("PEER_TLS_CA", self.0.join("ca"))
            .with("PEER_TLS_CERT", self.0.join("cert"))
            .with("PEER_TLS_KEY", self.0.join("key"))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mutual_tls_go_clients_get_expected_answers() {
    let Some(peer) = Peer::current() else { return };
    let authority = Authority::default();
    let files = Files::of(&authority, "client");
    let address = serve_interop_with(generous().tls(authority.mutual_server())).await;
    files.apply_to(peer).call(&address.to_string(), &[], 150).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mutual_tls_go_server_answers_every_call() {
    let Some(peer) = Peer::current() else { return };
    let authority = Authority::default();
    let files = Files::of(&authority, "server");
    let server = files.apply_to(peer).serve().await;
    let tls = authority.client().with_identity(authority.issue("us.test")).unwrap();
    let channel = Channel::builder()
        .tls(tls)
        .timeout(Duration::from_secs(120))
        .connect(&server.address)
        .await
        .expect("server should accept the connection");
    suite::run(&InteropClient::new(channel), suite::ALL).await;
}

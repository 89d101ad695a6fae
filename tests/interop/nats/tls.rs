//! Tests of buses with encrypted connections to NATS.

use super::super::databases::servers;
use super::{next, serve};
use frisbee_pubsub::Broker;
use frisbee_pubsub::nats::NatsBus;
use frisbee_tests::pki::Authority;
use std::path::Path;

/// Writes a file to a folder and returns its path as text.
fn file(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("file should be written");
    path.to_str().expect("path should be UTF-8").to_owned()
}

async fn bus(address: &str, authority: &str) -> std::io::Result<NatsBus> {
    let options = frisbee_pubsub::nats::options().require_tls(true).add_root_certificates(authority.into());
    NatsBus::connect_with("test", format!("tls://{address}"), options).await
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_bus_requires_trusted_server() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let (certificate, key) = ours.issue_pem("127.0.0.1");
    let certificate = file(folder.path(), "server.pem", &certificate);
    let key = file(folder.path(), "server.key", &key);
    let (ours, other) = (file(folder.path(), "ours.pem", &ours.pem()), file(folder.path(), "other.pem", &other.pem()));
    let Some(server) = servers::nats(&["--tls", "--tlscert", &certificate, "--tlskey", &key]).await else { return };

    let mut clients = Vec::new();
    for _ in 0..2 {
        let bus = bus(&server.address, &ours).await.expect("certificate of our server should be accepted");
        clients.push(serve(Broker::builder().backplane(bus).build()).await);
    }
    let mut subscription = clients[0].subscribe("a").await.expect("broker should accept the subscription");
    clients[1].publish("a", "x").await.expect("broker should accept the message");
    assert_eq!(next(&mut subscription).await.expect("connection should stay open"), "a x");

    let refused = bus(&server.address, &other)
        .await
        .expect_err("certificate of another authority should be rejected")
        .to_string();
    assert!(refused.contains("UnknownIssuer"), "{refused}");
    let refused = NatsBus::connect("test", &*server.address).await.map(drop);
    assert!(refused.is_err(), "system's authorities should not verify the certificate");
    let port = server.address.rsplit(':').next().expect("address should have a port");
    let refused = bus(&format!("localhost:{port}"), &ours).await.map(drop);
    assert!(refused.is_err(), "certificate for another name should be rejected");
}

//! Real Go programs on frisbee-go, in both directions and both versions of the header.
//!
//! Needs Go. Where there is none, the tests say so and pass, unless `FRISBEE_REQUIRE_GO` is set.

mod collector;
mod databases;
mod etcd;
mod go;
mod kubernetes;
mod nats;
mod numpy;
mod prometheus;
mod raw;
mod reference;
mod suite;
mod tls;

use frisbee::PeerKind as Shown;
use frisbee_tests::interop::{AddRequest, InteropClient};
use frisbee_tests::{serve_interop, serve_interop_with};
use frpc::{Channel, HeaderForm, Server};
use go::Peer;
use std::time::Duration;

/// The Go suite opens 600 streams at once, more than a server takes by default.
fn generous() -> frpc::ServerBuilder {
    Server::builder().config(frisbee::Config::default().streams_max(1000))
}

/// A client of a server, in no hurry: a busy machine takes its time over the many calls and megabytes of the suite.
async fn connected(address: &str, form: HeaderForm) -> Channel {
    let builder = Channel::builder().header_form(form).timeout(Duration::from_secs(120));
    builder.connect(address).await.expect("server should accept the connection")
}

/// The detected kind of the other end of a channel.
async fn peer_of(channel: &Channel) -> Shown {
    let connection = channel.connection().expect("channel should be connected");
    connection.peer_known().await.expect("peer should complete the handshake")
}

#[tokio::test(flavor = "multi_thread")]
async fn go_clients_get_every_answer_they_expect() {
    let Some(peer) = Peer::current() else { return };
    let address = serve_interop_with(generous()).await;
    peer.call(&address.to_string(), &[], 150).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn go_clients_with_old_headers_get_every_answer_they_expect() {
    let Some(peer) = Peer::old() else { return };
    let address = serve_interop_with(generous()).await;
    peer.call(&address.to_string(), &["-small=false"], 150).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_go_server_answers_every_call() {
    let Some(peer) = Peer::current() else { return };
    let server = peer.serve().await;
    let channel = connected(&server.address, HeaderForm::Current).await;
    assert_eq!(peer_of(&channel).await, Shown::Compat);
    suite::run(&InteropClient::new(channel), suite::ALL).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_go_server_with_old_headers_answers_every_call() {
    let Some(peer) = Peer::old() else { return };
    let server = peer.serve().await;
    let channel = connected(&server.address, HeaderForm::Old).await;
    assert_eq!(peer_of(&channel).await, Shown::Compat);
    suite::run(&InteropClient::new(channel), suite::OLD).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn client_without_old_headers_setting_names_go_server() {
    let Some(peer) = Peer::old() else { return };
    let server = peer.serve().await;
    // It takes our HELLO for a packet of 1.7 GB, and allocates memory for it.
    let builder =
        Channel::builder().peer_kind_timeout(Duration::from_secs(60)).reconnect_timeout(Duration::from_secs(60));
    let channel = builder.connect(&server.address).await.expect("server should accept the connection");
    let failure = InteropClient::new(channel).add(AddRequest::default()).await.expect_err("call should fail");
    assert!(failure.to_string().ends_with("set `header_form(HeaderForm::Old)`"), "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn our_server_answers_every_call() {
    let channel = connected(&serve_interop().await.to_string(), HeaderForm::Current).await;
    assert!(matches!(peer_of(&channel).await, Shown::Native(_)));
    let client = InteropClient::new(channel);
    suite::run(&client, suite::ALL).await;
}

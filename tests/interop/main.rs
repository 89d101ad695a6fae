//! Real Go programs on frisbee-go, in both directions and both versions of the header.
//!
//! Needs Go. Where there is none, the tests say so and pass, unless `FRISBEE_REQUIRE_GO` is set.

mod collector;
mod databases;
mod etcd;
mod go;
mod numpy;
mod prometheus;
mod raw;
mod suite;
mod tls;

use frisbee::PeerKind as Shown;
use frisbee_tests::interop::InteropClient;
use frisbee_tests::{serve_interop, serve_interop_with};
use frpc::{Channel, HeaderForm, Server};
use go::Peer;

/// The Go suite opens 600 streams at once, more than a server takes by default.
fn generous() -> frpc::ServerBuilder {
    Server::builder().config(frisbee::Config::default().streams_max(1000))
}

/// What the other end of a channel has shown itself to be.
async fn peer_of(channel: &Channel) -> Shown {
    let connection = channel.connection().expect("it has just been made");
    connection.peer_known().await.expect("the peer shows what it is")
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
    let channel = Channel::connect(&server.address).await.expect("the peer listens");
    assert_eq!(peer_of(&channel).await, Shown::Plain);
    let client = InteropClient::new(channel);
    suite::run(&client, suite::ALL).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_go_server_with_old_headers_answers_every_call() {
    let Some(peer) = Peer::old() else { return };
    let server = peer.serve().await;
    let channel = Channel::builder().header_form(HeaderForm::Old).connect(&server.address).await;
    let channel = channel.expect("the peer listens");
    assert_eq!(peer_of(&channel).await, Shown::Plain);
    suite::run(&InteropClient::new(channel), suite::OLD).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_server_answers_every_call() {
    let channel = Channel::connect(serve_interop().await.to_string()).await.expect("the server listens");
    assert!(matches!(peer_of(&channel).await, Shown::Extended(_)));
    let client = InteropClient::new(channel);
    suite::run(&client, suite::ALL).await;
}

//! Tests with real Go programs that use frisbee-go: in both directions, and with both versions of the header.
//!
//! The tests need Go. Without it, they print a message and pass, unless `FRISBEE_REQUIRE_GO` is set.

mod collector;
mod databases;
mod etcd;
pub(crate) mod go;
mod kubernetes;
mod nats;
mod numpy;
mod prometheus;
mod raw;
mod reference;
mod suite;
mod tls;

use frisbee::PeerKind as Shown;
use frisbee_tests::evolution::interop as next;
use frisbee_tests::interop::{AddRequest, InteropClient};
use frisbee_tests::{serve_interop, serve_interop_with};
use frpc::{Channel, Code, HeaderForm, Request, RequestStream, Response, ResponseStream, Server, Status, Streaming};
use go::Peer;
use std::time::Duration;

/// Configures a server for the Go suite. The suite opens 600 streams at once, which is more than the default limit.
fn generous() -> frpc::ServerBuilder {
    Server::builder().config(frisbee::Config::default().streams_max(1000))
}

/// Connects a client with long timeouts, because the calls of the suite take long on a busy machine.
async fn connected(address: &str, form: HeaderForm) -> Channel {
    let builder = Channel::builder().header_form(form).timeout(Duration::from_secs(120));
    builder.connect(address).await.expect("server should accept the connection")
}

/// Returns the detected kind of a channel's peer.
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
async fn old_header_go_clients_get_expected_answers() {
    let Some(peer) = Peer::old() else { return };
    let address = serve_interop_with(generous()).await;
    peer.call(&address.to_string(), &["-small=false"], 150).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn go_server_answers_every_call() {
    let Some(peer) = Peer::current() else { return };
    let server = peer.serve().await;
    let channel = connected(&server.address, HeaderForm::Current).await;
    assert_eq!(peer_of(&channel).await, Shown::Compat);
    suite::run(&InteropClient::new(channel), suite::ALL).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_header_go_server_answers_every_call() {
    let Some(peer) = Peer::old() else { return };
    let server = peer.serve().await;
    let channel = connected(&server.address, HeaderForm::Old).await;
    assert_eq!(peer_of(&channel).await, Shown::Compat);
    suite::run(&InteropClient::new(channel), suite::OLD).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_header_server_error_names_setting() {
    let Some(peer) = Peer::old() else { return };
    let server = peer.serve().await;
    // This peer parses HELLO as a packet of 1.7 GB, and allocates memory for it.
    let builder =
        Channel::builder().peer_kind_timeout(Duration::from_secs(60)).reconnect_timeout(Duration::from_secs(60));
    let channel = builder.connect(&server.address).await.expect("server should accept the connection");
    let failure = InteropClient::new(channel).add(AddRequest::default()).await.expect_err("call should fail");
    assert!(failure.to_string().ends_with("set `header_form(HeaderForm::Old)`"), "{failure}");
}

/// A service with the changed schema. Its Go peers use the first version.
struct Changed;

type Reply<T> = Result<Response<T>, Status>;

impl next::Interop for Changed {
    async fn ping(&self, request: Request<next::Text>) -> Reply<next::Text> {
        Ok(Response::new(request.into_inner()))
    }

    async fn chat(&self, request: Request<Streaming<next::Text>>) -> Reply<ResponseStream<next::Text>> {
        let mut texts = request.into_inner();
        let (answers, stream) = ResponseStream::channel(1);
        tokio::spawn(async move {
            while let Ok(Some(text)) = texts.message().await {
                let value = [&b"re:"[..], &text.value].concat();
                if answers.send(Ok(next::Text { value, revision: 7 })).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(stream))
    }

    async fn sum_up(&self, request: Request<Streaming<next::Count>>) -> Reply<next::Sum> {
        let (mut counts, mut sum) = (request.into_inner(), next::Sum::default());
        while let Some(count) = counts.message().await? {
            sum.total = sum.total.wrapping_add(count.value);
            sum.count += 1;
        }
        Ok(Response::new(sum))
    }

    async fn count_up(&self, request: Request<next::Range>) -> Reply<ResponseStream<next::Count>> {
        let next::Range { from, count } = request.into_inner();
        if count < 0 {
            return Err(Status::out_of_range("negative count"));
        }
        let message = move |step| Ok(next::Count { value: from.wrapping_add(step), unit: "dropped".to_owned() });
        Ok(Response::new(ResponseStream::new(frpc::iter((0..count).map(message)))))
    }

    async fn add(&self, request: Request<next::AddRequest>) -> Reply<next::Sum> {
        let next::AddRequest { a, b, c } = request.into_inner();
        Ok(Response::new(next::Sum { total: a.wrapping_add(b).wrapping_add(c), count: 2, mean: 1 }))
    }

    async fn fail(&self, request: Request<next::Text>) -> Reply<next::Text> {
        Err(Status::aborted(String::from_utf8_lossy(&request.get_ref().value)))
    }

    async fn echo_mixed(&self, request: Request<next::Mixed>) -> Reply<next::Mixed> {
        Ok(Response::new(next::Mixed { note: "dropped".to_owned(), ..request.into_inner() }))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn go_clients_call_server_of_changed_schema() {
    let builder = generous().add_service(next::InteropServer::new(Changed)).compat_layout::<InteropClient>();
    let address = frisbee_tests::serve(builder).await.to_string();
    let cases = "^(unary/(add|1000)|error/|mixed/(order|zero|one)|chat/(one|1000|10000|texts|half)|\
                 stream/(count|sum)|load/20000)";
    for peer in [Peer::current(), Peer::old()] {
        let Some(peer) = peer else { return };
        peer.call(&address, &["-only", cases, "-small=false"], 30).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_of_changed_schema_calls_go_servers() {
    for (peer, form) in [(Peer::current(), HeaderForm::Current), (Peer::old(), HeaderForm::Old)] {
        let Some(peer) = peer else { return };
        let server = peer.serve().await;
        let builder = Channel::builder().header_form(form).timeout(Duration::from_secs(120));
        let channel = builder.compat_layout::<InteropClient>().connect(&server.address).await;
        let client = next::InteropClient::new(channel.expect("server should accept the connection"));

        let sum = client.add(next::AddRequest { a: i64::MAX - 3, b: 2, c: 9 }).await.unwrap().into_inner();
        assert_eq!(sum, next::Sum { total: i64::MAX - 1, count: 2, mean: 0 });

        let inner = |name: &str, id| next::Inner { name: name.to_owned(), id, tags: Vec::new() };
        let mixed = next::Mixed {
            enum_seventh: next::Color::Blue.into(),
            list_sixth: vec![inner("a", -1), inner("", 0)],
            note: String::new(),
            scalar_fifth: "fifth".to_owned(),
            map_fourth: [("x".to_owned(), -1)].into(),
            scalar_third: -3,
            list_second: vec!["one".to_owned(), String::new()],
            message_first: Some(inner("first", 1)),
        };
        let sent = next::Mixed { note: "dropped".to_owned(), ..mixed.clone() };
        assert_eq!(client.echo_mixed(sent).await.unwrap().into_inner(), mixed);
        // The schema of the Go program does not declare this enum value.
        let yellow = next::Mixed { enum_seventh: next::Color::Yellow.into(), ..mixed };
        client.echo_mixed(yellow).await.expect_err("Go should have no such value");

        let text = |value: &str| next::Text { revision: 7, value: value.as_bytes().to_vec() };
        let status = client.fail(text("why")).await.unwrap_err();
        assert_eq!(status.message(), "why");
        let status = client.ping(text("a")).await.unwrap_err();
        assert_eq!((status.code(), status.may_have_run()), (Code::Unimplemented, false), "{status}");

        let mut counts = client.count_up(next::Range { from: 5, count: 1000 }).await.unwrap().into_inner();
        for value in 5..1005 {
            let count = next::Count { value, unit: String::new() };
            assert_eq!(counts.message().await.unwrap(), Some(count));
        }
        assert_eq!(counts.message().await.unwrap(), None);
        let counts = (1..=1000).map(|value| next::Count { value, unit: "dropped".to_owned() });
        let sum = client.sum_up(frpc::iter(counts)).await.unwrap().into_inner();
        assert_eq!((sum.total, sum.count), (500_500, 1000));

        let (sender, texts) = RequestStream::channel(1);
        let mut answers = client.chat(texts).await.unwrap().into_inner();
        for value in ["a", "b"] {
            sender.send(text(value)).await.unwrap();
            let answer = answers.message().await.unwrap().expect("the stream should continue");
            assert_eq!(answer.value, format!("re:{value}").into_bytes());
        }
        drop(sender);
        assert_eq!(answers.message().await.unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_server_answers_every_call() {
    let channel = connected(&serve_interop().await.to_string(), HeaderForm::Current).await;
    assert!(matches!(peer_of(&channel).await, Shown::Native(_)));
    let client = InteropClient::new(channel);
    suite::run(&client, suite::ALL).await;
}

//! What a server writes into its log of handlers that fail. Alone in its process, since it listens to all of the log.

use frisbee_tests::interop::{Count, Interop, InteropClient, InteropServer, Range, Sum, Text};
use frisbee_tests::{left_to_service, serve};
use frpc::{Request, Response, ResponseStream, Server, Status, Streaming};
use std::fmt::{self, Write};
use std::sync::Mutex;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

type Reply<T> = Result<Response<T>, Status>;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps what handlers are said to have done.
struct Keeping;

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{}={value:?} ", field.name()).expect("it is text");
    }
}

impl Subscriber for Keeping {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("frpc")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} ", event.metadata().level()));
        event.record(&mut line);
        LINES.lock().expect("nobody panics").push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Fails or panics, at once or later.
struct Failing;

impl Interop for Failing {
    left_to_service!(
        echo_scalars,
        echo_nested,
        echo_lists,
        echo_maps,
        echo_mixed,
        do_nothing,
        echo_payload,
        add,
        sleep,
        describe,
        chat
    );

    async fn fail(&self, request: Request<Text>) -> Reply<Text> {
        let how = request.into_inner().value;
        if how.contains("later") {
            tokio::task::yield_now().await;
        }
        assert!(!how.contains("panic"), "{how}");
        Err(Status::internal(how))
    }

    async fn count_up(&self, _request: Request<Range>) -> Reply<ResponseStream<Count>> {
        Err(Status::internal("no counting"))
    }

    async fn sum_up(&self, _request: Request<Streaming<Count>>) -> Reply<Sum> {
        panic!("no sum");
    }
}

#[tokio::test]
async fn handlers_that_panic_or_fail_with_internal_are_logged_with_method_and_peer() {
    tracing::subscriber::set_global_default(Keeping).expect("nothing else listens");
    let address = serve(Server::builder().add_service(InteropServer::new(Failing))).await;
    let channel = frpc::Channel::connect(address.to_string()).await.expect("it listens");
    let client = InteropClient::new(channel.clone());
    let peer = channel.connection().expect("it is connected").local_addr().expect("it is a socket");
    let fail = async |how: &str| client.fail(Text { value: how.into() }).await.expect_err("it fails");
    for how in ["fail now", "fail later", "panic now", "panic later"] {
        fail(how).await;
    }
    let counts = client.count_up(Range::default()).await.expect("it is opened");
    counts.into_inner().message().await.expect_err("it fails");
    client.sum_up(frpc::iter([Count::default()])).await.expect_err("it panics");
    let lines = LINES.lock().expect("nobody panics");
    for (level, method, text) in [
        ("DEBUG", "Fail", "fail now"),
        ("DEBUG", "Fail", "fail later"),
        ("ERROR", "Fail", "panic now"),
        ("ERROR", "Fail", "panic later"),
        ("DEBUG", "CountUp", "no counting"),
        ("ERROR", "SumUp", "no sum"),
    ] {
        let is = |line: &&String| line.starts_with(level) && line.contains(text);
        let line = lines.iter().find(is).unwrap_or_else(|| panic!("{text} is not logged: {lines:#?}"));
        assert!(line.contains(&format!("method=interop.Interop/{method} ")), "{line}");
        assert!(line.contains(&format!("peer=Some({peer})")), "{line}");
    }
}

//! Tests of calls whose connection ends, with a peer that the test controls.

use crate::api::BoxedCall;
use crate::schema::layout::Client;
use crate::schema::layout::Layout;
use crate::schema::method::Method;
use crate::wire::layouts::tests::FIRST;
use crate::{Channel, Code, Request};
use frisbee::{BatchEnd, Connection, Outbox, Packet, Routed, Router};
use std::task::{Context, Waker};
use std::time::Instant;
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;

static GET: Method = Method::new(&FIRST, "Get", 10);

struct Orders;

impl Client for Orders {
    const LAYOUT: &'static Layout = &FIRST;
}

/// Makes a call and polls it once.
fn call(channel: &Channel) -> BoxedCall<'static, String> {
    let channel = channel.clone();
    let mut call: BoxedCall<'static, String> =
        Box::pin(async move { channel.unary::<String, String>(&GET, Request::new("pears".to_owned())).await });
    assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    call
}

/// Closes its connection in the first turn, and makes a call at the end of the next one.
struct LateCaller(mpsc::UnboundedSender<BoxedCall<'static, String>>);

impl Router for LateCaller {
    type Session = (Connection, u32);

    fn connected(&self, connection: &Connection) -> Self::Session {
        (connection.clone(), 0)
    }

    fn route(&self, _: &mut Self::Session, _packet: Packet, _outbox: &mut Outbox) -> Routed {
        Routed::Discarded
    }

    fn batch_ended(&self, (connection, turns): &mut Self::Session, _batch: &mut BatchEnd<'_>) -> Option<Instant> {
        *turns += 1;
        match turns {
            1 => connection.close(),
            2 => self.0.send(call(&Channel::from_connection(connection))).expect("test should wait for the call"),
            _ => {}
        }
        None
    }
}

/// Regression test: a request that was written while its connection closed was reported as not run.
#[tokio::test(start_paused = true)]
async fn request_written_by_closing_connection_may_have_run() {
    let (calls, mut made) = mpsc::unbounded_channel();
    let (here, mut there) = crate::memory();
    let builder = Channel::builder().calls::<Orders>().mount(1000..=1000, LateCaller(calls));
    let _channel = builder.connect_io(here).await.expect("in-memory connection should be accepted");
    let status = made.recv().await.expect("router should make a call").await.expect_err("connection should be closed");
    let mut written = Vec::new();
    there.read_to_end(&mut written).await.expect("client should shut down its half");
    assert!(written.windows(5).any(|bytes| bytes == b"pears"), "request should be written");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, true), "{status}");
}

//! Tests of calls over adapter connections.

use super::*;
use crate::codegen::{Format, FormatOptions, Layout, Method, Methods, Service};
use crate::{Policy, Server};
use std::future::{pending, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::OnceLock;
use tokio::io::AsyncWrite as _;
use tokio::sync::mpsc;

static LAYOUT: Layout = Layout::new("relay.Relay", &[10], 1, b"", "");

/// A service whose method forwards the request "outer" to itself over the same adapter connection.
#[derive(Clone, Default)]
struct Relay(Arc<OnceLock<AdapterMethod>>);

impl Service for Relay {
    const NAME: &'static str = "relay.Relay";

    fn methods(&self) -> Methods {
        let decode = |bytes: &Bytes, _: &FormatOptions| {
            String::from_utf8(bytes.to_vec()).map_err(|_| Status::invalid_argument("the request is no text"))
        };
        Methods::new(&Arc::new(self.clone()), &LAYOUT)
            .unary(Method::new(&LAYOUT, "Send", 10), |relay, request: Request<String>| {
                assert_ne!(request.get_ref(), "broken");
                async move {
                    if request.get_ref() != "outer" {
                        return Ok(Response::new(request.into_inner().to_uppercase()));
                    }
                    let method = relay.0.get().expect("test should set the method before the call");
                    let reply = method.unary(Request::new(Bytes::from_static(b"inner")), "text").await?;
                    Ok(reply.map(|reply| String::from_utf8_lossy(&reply).into_owned()))
                }
            })
            .format(Format::new("text", decode, |word: &String, _| Ok(word.clone().into())))
            .done()
    }
}

/// Returns a client of a server of the service, and the server side of its adapter connection.
async fn connected(relay: Relay, policy: Policy) -> (tokio::io::DuplexStream, AdapterContext) {
    let (give, mut contexts) = mpsc::unbounded_channel();
    let server = Server::builder().policy(policy).add_service(relay).adapter(
        |_| true,
        move |transport, context: AdapterContext| {
            give.send(context).expect("test should be waiting for the connection");
            async move {
                let _transport = transport;
                pending::<io::Result<()>>().await
            }
        },
    );
    let server = server.build().expect("settings should be valid");
    let (mut client, there) = crate::memory();
    tokio::spawn(async move { server.serve_connection(there).await });
    let first = poll_fn(|context| Pin::new(&mut client).poll_write(context, b"X")).await;
    first.expect("in-memory transport should accept the first byte");
    (client, contexts.recv().await.expect("server should accept the connection"))
}

/// Regression test: the call of the handler waited for the end of the batch that polled the handler.
#[tokio::test]
async fn handler_may_call_over_its_own_connection() {
    let relay = Relay::default();
    let (_client, context) = connected(relay.clone(), Policy::Inline).await;
    let method = context.methods().get("relay.Relay", "Send").expect("method should exist");
    relay.0.set(method.clone()).expect("method should be set once");
    let reply = method.unary(Request::new(Bytes::from_static(b"outer")), "text").await.expect("call should succeed");
    assert_eq!(&reply.get_ref()[..], b"INNER");
}

/// Regression test: a handler that panicked before it returned its future occupied a call of its client forever.
#[tokio::test]
async fn handler_panicking_at_start_releases_its_call() {
    for policy in [Policy::Inline, Policy::Concurrent] {
        let (_client, context) = connected(Relay::default(), policy).await;
        let method = context.methods().get("relay.Relay", "Send").expect("method should exist");
        let call = async move { method.unary(Request::new(Bytes::from_static(b"broken")), "text").await };
        assert!(tokio::spawn(call).await.is_err_and(|error| error.is_panic()), "{policy:?}");
        assert_eq!(context.methods().caller.calls.load(Ordering::Relaxed), 0, "{policy:?}");
    }
}

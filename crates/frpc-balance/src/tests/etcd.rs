//! Tests of registrations with a small etcd on loopback that loses replies, and of a resolver when etcd ends its
//! watches.

use bytes::{BufMut as _, Bytes, BytesMut};
use frpc_balance::etcd::{Etcd, EtcdResolver, Registration};
use frpc_balance::resolve::{Endpoint, Resolver as _};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout};

/// Maximum time to wait for events that take milliseconds, because the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The id of a lease. It is field 2 in requests for a new lease and field 1 in all others.
#[derive(Clone, PartialEq, Message)]
struct Numbers {
    #[prost(int64, tag = "1")]
    first: i64,
    #[prost(int64, tag = "2")]
    second: i64,
}

/// The response to the renewal of a lease.
#[derive(Clone, PartialEq, Message)]
struct Renewed {
    #[prost(int64, tag = "3")]
    ttl: i64,
}

/// A response to a watch whose revision has been compacted.
#[derive(Clone, PartialEq, Message)]
struct Compacted {
    #[prost(int64, tag = "5")]
    compact_revision: i64,
}

/// Leases of the server, and the name of the request whose first response is lost.
#[derive(Default)]
struct State {
    /// The only message of each watch.
    watched: Vec<u8>,
    leases: BTreeSet<i64>,
    granted: usize,
    lost: Option<&'static str>,
}

impl State {
    /// Carries out a request and returns the response, or `None` if the response is lost.
    fn answer(&mut self, path: &str, request: &[u8]) -> Option<Vec<u8>> {
        let mut answer = Vec::new();
        match path.rsplit('/').next() {
            Some("LeaseGrant") => {
                let Numbers { second: id, .. } =
                    Numbers::decode(request).expect("etcd request should be valid protobuf");
                self.granted += 1;
                let id = if id == 0 { self.granted as i64 } else { id };
                self.leases.insert(id);
                answer = Numbers { first: 0, second: id }.encode_to_vec();
            }
            Some("LeaseKeepAlive") => {
                let Numbers { first: id, .. } =
                    Numbers::decode(request).expect("etcd request should be valid protobuf");
                answer = Renewed { ttl: i64::from(self.leases.contains(&id)) }.encode_to_vec();
            }
            Some("LeaseRevoke") => {
                let Numbers { first: id, .. } =
                    Numbers::decode(request).expect("etcd request should be valid protobuf");
                self.leases.remove(&id);
            }
            _ => {}
        }
        let is_lost = self.lost.is_some_and(|lost| path.ends_with(lost));
        self.lost.take_if(|_| is_lost);
        (!is_lost).then_some(answer)
    }
}

async fn respond(
    request: Request<Incoming>,
    state: &Mutex<State>,
) -> Response<impl Body<Data = Bytes, Error = Infallible> + use<>> {
    let path = request.uri().path().to_owned();
    // The watch ends immediately, but its request stays open.
    let answer = if path.ends_with("/Watch") {
        Some(state.lock().expect("lock should not be poisoned").watched.clone())
    } else {
        let body = request.into_body().collect().await.expect("client should send the body").to_bytes();
        state
            .lock()
            .expect("lock should not be poisoned")
            .answer(&path, body.get(5..).expect("gRPC request should have an envelope"))
    };
    let status = if answer.is_some() { "0" } else { "14" };
    let mut framed = BytesMut::new();
    if let Some(answer) = answer {
        framed.put_u8(0);
        framed.put_u32(u32::try_from(answer.len()).expect("message length should fit in u32"));
        framed.put_slice(&answer);
    }
    let trailers = HeaderMap::from_iter([(
        "grpc-status".parse().expect("trailer name should be valid"),
        HeaderValue::from_static(status),
    )]);
    let mut response = Response::new(Full::new(framed.freeze()).with_trailers(async move { Some(Ok(trailers)) }));
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    response
}

/// Starts an etcd that loses its response to the first request of the given name.
async fn start(lost: &'static str) -> (Etcd, Arc<Mutex<State>>) {
    start_with(lost, 1).await
}

/// Like [`start`], with the given number of members. All of them are the same server.
async fn start_with(lost: &'static str, members: usize) -> (Etcd, Arc<Mutex<State>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address");
    let state = Arc::new(Mutex::new(State { lost: Some(lost), ..State::default() }));
    let served = state.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let state = served.clone();
            let respond = service_fn(move |request| {
                let state = state.clone();
                async move { Ok::<_, Infallible>(respond(request, &state).await) }
            });
            tokio::spawn(http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), respond));
        }
    });
    (Etcd::new(vec![format!("http://{address}"); members]).expect("addresses should be valid"), state)
}

/// Regression test: a lease was kept until it expired if its key could not be put or its id was lost.
#[tokio::test]
async fn lost_answer_leaves_no_lease_behind() {
    for lost in ["LeaseGrant", "Put"] {
        let (etcd, state) = start(lost).await;
        let registration =
            Registration::new(&etcd, "shop/", &Endpoint::new("10.0.0.1:80")).expect("endpoint should have a text form");
        let registered = registration.start();
        timeout(TIMEOUT, registered.registered()).await.expect("server should be registered within the timeout");
        assert_eq!(state.lock().expect("lock should not be poisoned").granted, 1, "{lost}");
        registered.leave().await;
        let left = state.lock().expect("lock should not be poisoned").leases.len();
        assert_eq!(left, 0, "{lost}");
    }
}

/// Regression test: with several etcd members, the resolver read all keys repeatedly, as fast as the members replied.
#[tokio::test]
async fn immediately_ended_watch_delays_key_reload() {
    let (etcd, _state) = start_with("nothing", 3).await;
    assert_reload_is_delayed(&etcd).await;
}

/// Regression test: if each watch ended because of a compaction, the keys were read as fast as etcd replied.
#[tokio::test]
async fn compacted_watch_delays_key_reload() {
    let (etcd, state) = start("nothing").await;
    state.lock().expect("lock should not be poisoned").watched = Compacted { compact_revision: 7 }.encode_to_vec();
    assert_reload_is_delayed(&etcd).await;
}

/// Asserts that a resolver waits before it reads the keys again.
async fn assert_reload_is_delayed(etcd: &Etcd) {
    let mut resolver = EtcdResolver::new(etcd, "shop/");
    resolver.next().await.expect("keys should be read");
    let read = Instant::now();
    let again = timeout(TIMEOUT, resolver.next()).await.expect("resolver should return again within the timeout");
    assert!(again.expect("keys should be read").is_empty());
    assert!(read.elapsed() >= Duration::from_millis(500), "{:?}", read.elapsed());
}

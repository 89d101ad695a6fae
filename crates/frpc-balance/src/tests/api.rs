//! A small API server on loopback that lists and watches EndpointSlices like that of Kubernetes.

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio_stream::wrappers::UnboundedReceiverStream;

type Sent = Result<Frame<Bytes>, Infallible>;

/// An API server with one Service.
pub(crate) struct Api {
    state: Arc<Mutex<State>>,
    pub(crate) address: SocketAddr,
    accepting: Option<JoinHandle<()>>,
}

/// State of the API server and the requests that it has received.
#[derive(Default)]
pub(crate) struct State {
    slices: BTreeMap<String, Value>,
    version: u64,
    /// Watch events since the oldest version that the server keeps.
    history: Vec<(u64, Value)>,
    forgotten: u64,
    watchers: Vec<mpsc::UnboundedSender<Sent>>,
    /// Query strings of the received list and watch requests.
    pub(crate) lists: Vec<String>,
    pub(crate) watches: Vec<String>,
    /// Maximum number of EndpointSlices per page.
    pub(crate) page_max: Option<usize>,
    /// Response to the next list request, if that is to fail.
    pub(crate) instead_of_list: Option<(u16, String)>,
    /// Responses to the next watch requests, which are to fail.
    pub(crate) instead_of_watch: Vec<Refusal>,
}

/// Response to a watch request that fails.
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<&'static str>,
    pub(crate) body: &'static str,
}

impl Api {
    pub(crate) async fn start() -> Self {
        let address = "127.0.0.1:0".parse().expect("loopback address should be valid");
        let mut api = Self { state: Arc::default(), address, accepting: None };
        api.again().await;
        api
    }

    /// Starts the server, or restarts it at the same address.
    pub(crate) async fn again(&mut self) {
        let listener = TcpListener::bind(self.address).await.expect("loopback port should be free");
        self.address = listener.local_addr().expect("socket should have a local address");
        let state = self.state.clone();
        self.accepting = Some(tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                connections.spawn(serve(socket, state.clone()));
            }
        }));
    }

    /// Stops the server with all its connections, like a process that is killed.
    pub(crate) async fn kill(&mut self) {
        let accepting = self.accepting.take().expect("process should be running");
        accepting.abort();
        drop(accepting.await);
        self.state().watchers.clear();
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("lock should not be poisoned")
    }

    /// Returns the numbers of received list and watch requests.
    pub(crate) fn request_counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.lists.len(), state.watches.len())
    }

    /// Creates or replaces an EndpointSlice with ready endpoints.
    pub(crate) fn put(&self, name: &str, addresses: &[&str]) {
        self.put_at(name, addresses, 8080);
    }

    /// Like [`put`](Self::put), with endpoints that listen on the given port.
    pub(crate) fn put_at(&self, name: &str, addresses: &[&str], port: u16) {
        let endpoint = |address: &&str| json!({"addresses": [address], "conditions": {"ready": true}});
        let endpoints: Vec<_> = addresses.iter().map(endpoint).collect();
        self.state().put(name, &endpoints, port);
    }

    /// Like [`put`](Self::put), but sends these bytes to all watchers instead of the event.
    pub(crate) fn put_malformed(&self, name: &str, addresses: &[&str], event: &str) {
        let watchers = std::mem::take(&mut self.state().watchers);
        self.put(name, addresses);
        self.state().watchers = watchers;
        self.say(format!("{event}\n"));
    }

    pub(crate) fn delete(&self, name: &str) {
        let mut state = self.state();
        let slice = state.slices.remove(name).expect("deleted slice should exist");
        state.happened("DELETED", slice);
    }

    /// Sends the current version to all watchers, without a change.
    pub(crate) fn bookmark(&self) {
        let mut state = self.state();
        state.version += 10;
        let bookmark = json!({"type": "BOOKMARK", "object": {"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1",
            "metadata": {"resourceVersion": state.version.to_string(), "creationTimestamp": null}}});
        state.send(&bookmark);
    }

    /// Discards the history and notifies the watchers.
    pub(crate) fn forget(&self) {
        let mut state = self.state();
        state.history.clear();
        state.version += 1;
        state.forgotten = state.version;
        state.send(&json!({"type": "ERROR", "object": gone()}));
        state.watchers.clear();
    }

    /// Ends all watches gracefully.
    pub(crate) fn end_watches(&self) {
        self.state().watchers.clear();
    }

    /// Sends these bytes to all watchers, for example malformed events.
    pub(crate) fn say(&self, bytes: impl Into<Bytes>) {
        let bytes = bytes.into();
        self.state().watchers.retain(|watcher| watcher.send(Ok(Frame::data(bytes.clone()))).is_ok());
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        if let Some(accepting) = &self.accepting {
            accepting.abort();
        }
    }
}

fn gone() -> Value {
    json!({"kind": "Status", "metadata": {}, "status": "Failure", "reason": "Expired", "code": 410,
        "message": "too old resource version"})
}

impl State {
    pub(crate) fn put(&mut self, name: &str, endpoints: &[Value], port: u16) {
        let kind = if self.slices.contains_key(name) { "MODIFIED" } else { "ADDED" };
        let slice = json!({
            "metadata": {"name": name, "namespace": "prod", "labels": {"kubernetes.io/service-name": "shop"}},
            "addressType": "IPv4", "endpoints": endpoints, "ports": [{"name": "grpc", "port": port, "protocol": "TCP"}],
        });
        self.happened(kind, slice);
    }

    fn happened(&mut self, kind: &str, mut slice: Value) {
        self.version += 1;
        slice["metadata"]["resourceVersion"] = self.version.to_string().into();
        if kind != "DELETED" {
            let name = slice["metadata"]["name"].as_str().expect("slice should have a name").to_owned();
            self.slices.insert(name, slice.clone());
        }
        let event = json!({"type": kind, "object": slice});
        self.send(&event);
        self.history.push((self.version, event));
    }

    fn send(&mut self, event: &Value) {
        self.watchers.retain(|watcher| send(watcher, event));
    }

    fn answer(&mut self, request: &Request<Incoming>) -> Response<BoxBody<Bytes, Infallible>> {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let path = "/apis/discovery.k8s.io/v1/namespaces/prod/endpointslices";
        if request.uri().path() != path || !query.contains("labelSelector=kubernetes.io%2Fservice-name%3Dshop") {
            let why = json!({"kind": "Status", "code": 403, "message": format!("{} is forbidden", request.uri())});
            return whole(403, why.to_string());
        }
        if query.contains("watch=true") { self.watch(query) } else { self.list(query) }
    }

    fn list(&mut self, query: String) -> Response<BoxBody<Bytes, Infallible>> {
        let begin: usize =
            value(&query, "continue").map_or(0, |at| at.parse().expect("continue token should be a number"));
        self.lists.push(query);
        if let Some((status, body)) = self.instead_of_list.take() {
            return whole(status, body);
        }
        let end = begin.saturating_add(self.page_max.unwrap_or(usize::MAX)).min(self.slices.len());
        let items: Vec<_> = self.slices.values().skip(begin).take(end - begin).cloned().collect();
        let mut metadata = json!({"resourceVersion": self.version.to_string()});
        if end < self.slices.len() {
            metadata["continue"] = end.to_string().into();
        }
        whole(200, json!({"kind": "EndpointSliceList", "metadata": metadata, "items": items}).to_string())
    }

    fn watch(&mut self, query: String) -> Response<BoxBody<Bytes, Infallible>> {
        let version: u64 = value(&query, "resourceVersion")
            .expect("watch query should have a resource version")
            .parse()
            .expect("resource version should be a number");
        self.watches.push(query);
        if let Some(refusal) = self.instead_of_watch.pop() {
            let mut response = whole(refusal.status, refusal.body.to_owned());
            if let Some(seconds) = refusal.retry_after {
                response.headers_mut().insert("retry-after", HeaderValue::from_static(seconds));
            }
            return response;
        }
        if version < self.forgotten {
            return whole(410, gone().to_string());
        }
        let (watcher, frames) = mpsc::unbounded_channel();
        for (_, event) in self.history.iter().filter(|(at, _)| *at > version) {
            send(&watcher, event);
        }
        self.watchers.push(watcher);
        Response::new(StreamBody::new(UnboundedReceiverStream::new(frames)).boxed())
    }
}

/// Sends a line in two pieces, because networks split data anywhere.
fn send(watcher: &mpsc::UnboundedSender<Sent>, event: &Value) -> bool {
    let mut line = Bytes::from(format!("{event}\n"));
    let head = line.split_to(line.len() / 2);
    watcher.send(Ok(Frame::data(head))).is_ok() && watcher.send(Ok(Frame::data(line))).is_ok()
}

fn value<'a>(query: &'a str, key: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
}

fn whole(status: u16, body: String) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::from(body).boxed());
    *response.status_mut() = StatusCode::from_u16(status).expect("HTTP status code should be valid");
    response
}

async fn serve(io: TcpStream, state: Arc<Mutex<State>>) {
    let answering = service_fn(|request| {
        let answer = state.lock().expect("lock should not be poisoned").answer(&request);
        async { Ok::<_, Infallible>(answer) }
    });
    drop(http1::Builder::new().serve_connection(TokioIo::new(io), answering).await);
}

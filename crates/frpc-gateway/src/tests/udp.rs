//! Tests of JSON-RPC over UDP on loopback sockets.

use frpc::{Call, CallResponse, Next, Request, Response, ResponseStream, Server, ServerBuilder, Stats, Status};
use frpc_access::{Access, Principal, Proof, Who};
use frpc_gateway::{Gateway, ServeGateway as _, Udp};
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

/// Maximum time to wait for an event.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A greeter. The name `wait` waits for a permit, and the name `long` gets a long greeting.
#[derive(Clone)]
struct Host(Arc<Events>);

struct Events {
    began: Semaphore,
    released: Semaphore,
    ended: Semaphore,
}

/// Counts the end of a handler on drop.
struct OnEnd(Arc<Events>);

impl Drop for OnEnd {
    fn drop(&mut self) {
        self.0.ended.add_permits(1);
    }
}

async fn take(events: &Semaphore) {
    timeout(TIMEOUT, events.acquire())
        .await
        .expect("event of the call should occur within the timeout")
        .expect("semaphore should be open")
        .forget();
}

impl Greeter for Host {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let _end = OnEnd(self.0.clone());
        self.0.began.add_permits(1);
        let text = match &*request.into_inner().name {
            "wait" => {
                self.0.released.acquire().await.map_err(|_| Status::aborted("closed"))?.forget();
                "waited".to_owned()
            }
            "long" => "x".repeat(3000),
            name => format!("Hello, {name}!"),
        };
        Ok(Response::new(Greeting { text }))
    }

    async fn recite(&self, _: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("no verses"))
    }
}

struct Running {
    address: SocketAddr,
    events: Arc<Events>,
    stats: Stats,
    stop: Option<oneshot::Sender<()>>,
    served: tokio::task::JoinHandle<Result<(), frpc::Error>>,
}

async fn serve(
    settings: impl FnOnce(ServerBuilder) -> ServerBuilder,
    limits: impl FnOnce(Udp) -> Udp,
) -> (Running, Client) {
    let [began, released, ended] = [(); 3].map(|()| Semaphore::new(0));
    let events = Arc::new(Events { began, released, ended });
    let udp = limits(Udp::bind("127.0.0.1:0").expect("loopback port should be free"));
    let address = udp.local_addr();
    let builder = Server::builder().add_service(GreeterServer::new(Host(events.clone())));
    let server = settings(builder.gateway(Gateway::new().udp(udp)))
        .bind("127.0.0.1:0")
        .await
        .expect("server should bind to a free address");
    let ((stop, stopped), stats) = (oneshot::channel(), server.stats());
    let served = tokio::spawn(server.serve_with_shutdown(async move { drop(stopped.await) }));
    (Running { address, events, stats, stop: Some(stop), served }, Client::new("127.0.0.1:0", address).await)
}

struct Client(UdpSocket);

impl Client {
    async fn new(local: &str, server: SocketAddr) -> Self {
        let socket = UdpSocket::bind(local).await.expect("local address should be free");
        socket.connect(server).await.expect("socket should connect to the server");
        Self(socket)
    }

    async fn send(&self, datagram: impl AsRef<[u8]>) {
        self.0.send(datagram.as_ref()).await.expect("datagram should be sent");
    }

    async fn text(&self) -> String {
        let mut datagram = vec![0; 65_536];
        let length = timeout(TIMEOUT, self.0.recv(&mut datagram))
            .await
            .expect("datagram should arrive within the timeout")
            .expect("socket should be readable");
        String::from_utf8(datagram[..length].to_vec()).expect("datagram should be UTF-8")
    }

    async fn reply(&self) -> Value {
        serde_json::from_str(&self.text().await).expect("reply should be valid JSON")
    }

    /// Discards the datagrams that have arrived, and returns their number.
    fn arrived(&self) -> usize {
        std::iter::from_fn(|| self.0.try_recv(&mut [0; 4096]).ok()).count()
    }
}

/// Encodes a request of at least `length` bytes.
fn greet(id: impl Into<Value>, name: &str, length: usize) -> String {
    let request = json!({"jsonrpc": "2.0", "id": id.into(), "method": "greet.Greeter/Greet", "params": {"name": name}});
    format!("{request:<length$}")
}

fn greeting(id: i32, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"text": text}})
}

#[tokio::test]
async fn requests_and_batches_are_answered_by_datagrams() {
    let (_server, client) = serve(|builder| builder, |udp| udp).await;
    client.send(greet(1, "Ada", 0)).await;
    assert_eq!(client.reply().await, greeting(1, "Hello, Ada!"));
    client.send(format!("[{},{}]", greet(2, "Ada", 0), greet(3, "Bob", 0))).await;
    assert_eq!(client.reply().await, json!([greeting(2, "Hello, Ada!"), greeting(3, "Hello, Bob!")]));
    client.send(r#"{"jsonrpc":"2.0","id":4,"method":"greet.Greeter/Nothing"}"#.to_owned() + &" ".repeat(100)).await;
    assert_eq!(client.reply().await["error"]["code"], -32601);
    let recite = greet(5, "Ada", 200).replace("/Greet", "/Recite");
    client.send(recite).await;
    assert_eq!(client.reply().await["id"], 5, "streaming method should cause an error");
}

#[tokio::test]
async fn notification_runs_and_gets_no_reply() {
    let (server, client) = serve(|builder| builder, |udp| udp).await;
    client.send(r#"{"jsonrpc":"2.0","method":"greet.Greeter/Greet","params":["Ada"]}"#).await;
    take(&server.events.ended).await;
    client.send(greet(1, "Bob", 0)).await;
    assert_eq!(client.reply().await, greeting(1, "Hello, Bob!"));
}

#[tokio::test]
async fn datagram_of_64_kib_is_request() {
    let (_server, client) = serve(|builder| builder, |udp| udp).await;
    client.send(greet(1, "Ada", 65_507)).await;
    assert_eq!(client.reply().await, greeting(1, "Hello, Ada!"));
}

#[tokio::test]
async fn oversized_reply_becomes_short_error() {
    let (_server, client) = serve(|builder| builder, |udp| udp).await;
    client.send(greet("a", "long", 4000)).await;
    let text = client.text().await;
    assert!(text.len() <= 1200 && text.contains("\"id\":\"a\"") && text.contains("-32008"), "{text}");
    client.send(greet(1, "long", 100)).await;
    let text = client.text().await;
    assert!(text.len() <= 300 && text.contains("-32008"), "{text}");
    let batch = format!("[{},{}]", greet(1, "long", 300), greet(2, "long", 300));
    client.send(&batch).await;
    assert!(client.text().await.len() <= 1200);

    let (_server, client) = serve(|builder| builder, |udp| udp.reply_max(60_000).reply_factor(100)).await;
    client.send(greet(1, "long", 100)).await;
    assert_eq!(client.reply().await, greeting(1, &"x".repeat(3000)));
}

#[tokio::test]
async fn reply_never_exceeds_request_allowance() {
    let (_server, client) = serve(|builder| builder, |udp| udp.reply_factor(1)).await;
    // Neither the result nor an error is short enough for this request.
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#).await;
    client.send(greet(2, "Ada", 200)).await;
    assert_eq!(client.reply().await, greeting(2, "Hello, Ada!"));
    assert_eq!(client.arrived(), 0);
}

#[tokio::test]
async fn malformed_datagram_gets_no_reply() {
    let (_server, client) = serve(|builder| builder, |udp| udp.reply_factor(1000)).await;
    let deep = "[".repeat(10_000);
    let unmatched = [
        "{",
        "hello",
        "[]",
        "[1]",
        "{}",
        &deep,
        r#"{"jsonrpc":"2.0","id":1,"result":{"text":"Hello!"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"no"}}"#,
        r#"[{"jsonrpc":"2.0","id":1,"result":7}]"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":{"name":tru}}"#,
        "\0",
    ];
    for stray in unmatched {
        client.send(stray).await;
    }
    client.send(greet(7, "Ada", 0)).await;
    assert_eq!(client.reply().await, greeting(7, "Hello, Ada!"));
    assert_eq!(client.arrived(), 0);
}

#[tokio::test]
async fn datagrams_beyond_address_rate_are_dropped() {
    let (server, client) = serve(|builder| builder, |udp| udp.rate(1, 3)).await;
    for id in 0..10 {
        client.send(greet(id, "Ada", 0)).await;
    }
    // Datagrams are handled in order of arrival.
    let other = Client::new("127.0.0.2:0", server.address).await;
    other.send(greet(11, "Bob", 0)).await;
    assert_eq!(other.reply().await, greeting(11, "Hello, Bob!"));
    assert_eq!(client.arrived(), 3);
}

#[tokio::test]
async fn datagrams_pass_middleware_and_hooks_of_connections() {
    let middleware = |call: Call, _next: Next| async move {
        Err::<CallResponse, _>(Status::permission_denied(format!("{} is closed", call.method())))
    };
    let (_server, client) = serve(|builder| builder.middleware(middleware), |udp| udp).await;
    client.send(greet(1, "Ada", 200)).await;
    assert_eq!(client.reply().await["error"]["code"], -32007);

    let refuses = |connection: &frpc::Connection| {
        if connection.peer_addr().is_some_and(|peer| peer.ip() == std::net::Ipv4Addr::new(127, 0, 0, 2)) {
            connection.close();
        }
    };
    let (server, client) = serve(|builder| builder.on_connect(refuses), |udp| udp).await;
    let refused = Client::new("127.0.0.2:0", server.address).await;
    refused.send(greet(1, "Ada", 0)).await;
    client.send(greet(2, "Bob", 0)).await;
    assert_eq!(client.reply().await, greeting(2, "Hello, Bob!"));
    assert_eq!(refused.arrived(), 0);
}

/// Regression test: a peer with an expired principal was rejected until it was evicted from the table of peers.
#[tokio::test(start_paused = true)]
async fn peer_with_expired_principal_is_readmitted() {
    const VALID: Duration = Duration::from_secs(10);
    let enters = |connection: &frpc::Connection| {
        let principal = Principal::new("ada", Proof::Other).expiring_in(VALID);
        principal.sign_in(connection).expect("connection should have no principal yet");
    };
    let rules = Access::new().allow(["greet.Greeter/Greet"], Who::known());
    let (_server, client) = serve(|builder| builder.on_connect(enters).access(rules), |udp| udp).await;
    for id in 0..3 {
        client.send(greet(id, "Ada", 0)).await;
        assert_eq!(client.reply().await, greeting(id, "Hello, Ada!"));
        tokio::time::advance(VALID).await;
    }
}

/// Regression test: a rejected peer stayed rejected until it was evicted from the table of peers.
#[tokio::test(start_paused = true)]
async fn rejected_peer_is_readmitted_after_delay() {
    let attempts = AtomicUsize::new(0);
    let refuses_once = move |connection: &frpc::Connection| {
        assert!(connection.is_connectionless());
        if attempts.fetch_add(1, Ordering::Relaxed) == 0 {
            connection.close();
        }
    };
    let (_server, client) = serve(|builder| builder.on_connect(refuses_once), |udp| udp).await;
    for id in 0..9 {
        client.send(greet(id, "Ada", 0)).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    assert_eq!(client.reply().await, greeting(5, "Hello, Ada!"));
}

#[tokio::test]
async fn stopping_server_answers_datagrams_in_progress() {
    let (mut server, client) = serve(|builder| builder, |udp| udp).await;
    client.send(greet(1, "wait", 0)).await;
    take(&server.events.began).await;
    client.send(greet(2, "Ada", 0)).await;
    assert_eq!(client.reply().await["id"], 2, "other calls should continue");
    server.stop.take().expect("server should be stopped once").send(()).expect("server should be waiting for the stop");
    server.events.released.add_permits(1);
    assert_eq!(client.reply().await, greeting(1, "waited"));
    timeout(TIMEOUT, server.served)
        .await
        .expect("server should stop within the timeout")
        .expect("server task should not panic")
        .expect("server should stop without an error");
}

#[tokio::test]
async fn calls_beyond_network_share_are_dropped() {
    let (server, client) = serve(|builder| builder, |udp| udp.calls_max(4)).await;
    for id in 1..=3 {
        client.send(greet(id, "wait", 0)).await;
        take(&server.events.began).await;
    }
    take(&server.events.ended).await;
    server.events.released.add_permits(2);
    let mut ids = [client.reply().await, client.reply().await].map(|reply| reply["id"].as_u64());
    ids.sort_unstable();
    assert_eq!(ids, [Some(1), Some(2)]);
}

/// Regression test: each source was a caller with its own share of the memory, although sources can be forged.
#[tokio::test]
async fn many_datagram_sources_leave_memory_to_connections() {
    const MEMORY: usize = 1 << 20;
    let limits = |udp: Udp| udp.calls_max(100_000);
    let (server, _) = serve(|builder| builder.memory_max(MEMORY), limits).await;
    let id = "i".repeat(8 * 1024);
    for last in (2..250).cycle() {
        let source = Client::new(&format!("127.0.0.{last}:0"), server.address).await;
        source.send(greet(&*id, "wait", 0)).await;
        tokio::task::yield_now().await;
        if server.stats.rejected() > 500 {
            break;
        }
    }
    let held = server.stats.memory_held();
    assert!(held > MEMORY / 2 && held <= MEMORY / 4 * 3 + 32 * 1024, "datagrams hold {held} bytes");
}

#[tokio::test(start_paused = true)]
async fn timed_out_call_is_cancelled_without_reply() {
    let (server, client) = serve(|builder| builder, |udp| udp.call_timeout(Duration::from_secs(5))).await;
    client.send(greet(1, "wait", 0)).await;
    take(&server.events.began).await;
    take(&server.events.ended).await;
    // A reply to the first call would arrive before this one.
    client.send(greet(2, "Ada", 0)).await;
    assert_eq!(client.reply().await, greeting(2, "Hello, Ada!"));
    assert_eq!(client.arrived(), 0);
}

//! Fuzz targets for complete peers: a server with a hostile client, and a client with a hostile server. Both also cover
//! calls made by the accepting peer.

use super::peer::{HANGS, Manner, attack_bytes, hello, pipe, run, say};
use crate::interop::{AddRequest, Count, InteropClient, InteropServer, Payload, Range};
use crate::service::Service;
use frisbee::Config;
use frpc::{Acceptor, Channel, ChannelBuilder, Connection, Request, ServerBuilder, Status};
use frpc_gateway::{Gateway, ServeGateway};
use std::cell::OnceCell;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, DuplexStream};

fn config() -> Config {
    Config::default().body_max(100_000).streams_max(8).calls_max(16)
}

/// Writes bytes as the client of a server of the interop schema, and then disconnects or stays silent.
pub fn server(data: &[u8]) {
    let Some((manner, data)) = Manner::of(data) else { return };
    run(attack(manner, attack_bytes(manner, &hello(), data, u16::from), frpc::Server::builder()));
}

/// Like [`server`], for a server that accepts compressed messages.
pub fn packed(data: &[u8]) {
    let Some((manner, data)) = Manner::of(data) else { return };
    let builder = frpc::Server::builder().accept_compressed();
    run(attack(manner, attack_bytes(manner, &hello(), data, u16::from), builder));
}

/// Writes text to a JSON-RPC server with a low limit for batches.
pub fn json_rpc(data: &[u8]) {
    let Some((manner, data)) = Manner::of(data) else { return };
    let gateway = Gateway::new().json_rpc().batch_max(8).idle_timeout(Duration::from_secs(5));
    run(attack(manner, data.to_vec(), frpc::Server::builder().gateway(gateway)));
}

/// Sends the bytes to a server, and checks that no state remains.
async fn attack(manner: Manner, bytes: Vec<u8>, builder: ServerBuilder) {
    let builder = builder.config(config()).memory_max(64 * 1024).add_service(InteropServer::new(Service));
    let acceptor: Acceptor = builder.build().expect("settings should be valid");
    let (mut here, there) = pipe();
    let stats = acceptor.stats();
    let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
    say(&mut here, &bytes, manner).await;
    drop(here);
    let closed = tokio::time::timeout(HANGS, serving).await;
    closed.expect("connection should end in time").expect("server should not panic");
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!((stats.open(), stats.memory_held()), (0, 0), "something is left");
}

/// Sends arbitrary bytes, as a server, to a client that makes a call of each kind.
pub fn client(data: &[u8]) {
    let Some((manner, data)) = Manner::of(data) else { return };
    run(mislead(manner, attack_bytes(manner, &hello(), data, u16::from), Channel::builder()));
}

/// Sends the bytes to a client that makes calls, and checks that all calls end.
async fn mislead(manner: Manner, bytes: Vec<u8>, builder: ChannelBuilder) {
    let (here, mut there) = pipe();
    let builder = builder.config(config()).timeout(Duration::from_secs(2));
    let builder = builder.reconnect_timeout(Duration::from_millis(100));
    let channel = builder.connect_with_connector(once(here)).await.expect("connector should return a connection");
    let calling = tokio::spawn(async move { call_every_kind(&InteropClient::new(channel)).await });
    say(&mut there, &bytes, manner).await;
    drop(there);
    let ended = tokio::time::timeout(HANGS, calling).await;
    ended.expect("call should complete").expect("client should not panic");
}

/// Returns a connector that returns this transport at the first attempt, and fails afterwards.
fn once(io: DuplexStream) -> impl Fn() -> ReadyIo + Send + Sync + 'static {
    let io_slot = Mutex::new(Some(io));
    move || {
        let io_slot = io_slot.lock().ok().and_then(|mut io_slot| io_slot.take());
        std::future::ready(io_slot.ok_or(std::io::ErrorKind::ConnectionRefused.into()))
    }
}

type ReadyIo = std::future::Ready<std::io::Result<DuplexStream>>;

/// Tests calls made by the accepting peer. A client that offers services replies with arbitrary bytes, or receives
/// arbitrary bytes as requests.
pub fn two_way(data: &[u8]) {
    thread_local! {
        static GREETING: OnceCell<Vec<u8>> = const { OnceCell::new() };
    }
    let Some((manner, data)) = Manner::of(data) else { return };
    run(async move {
        if manner.other() {
            let builder = Channel::builder().add_service(InteropServer::new(Service));
            return mislead(manner, attack_bytes(manner, &hello(), data, u16::from), builder).await;
        }
        let greeting = match GREETING.with(|greeting| greeting.get().cloned()) {
            Some(greeting) => greeting,
            None => greeting().await,
        };
        let bytes = attack_bytes(manner, &greeting, data, u16::from);
        GREETING.with(|known| drop(known.set(greeting)));
        let calls = Arc::new(Mutex::new(Vec::new()));
        let builder = frpc::Server::builder().on_connect({
            let calls = calls.clone();
            move |connection: &Connection| {
                let client = InteropClient::new(Channel::from_connection(connection));
                let calling = tokio::spawn(async move { call_every_kind(&client).await });
                calls.lock().expect("lock should not be poisoned").push(calling);
            }
        });
        attack(manner, bytes, builder).await;
        let calls = std::mem::take(&mut *calls.lock().expect("lock should not be poisoned"));
        for calling in calls {
            let ended = tokio::time::timeout(HANGS, calling).await;
            ended.expect("call should complete").expect("server should not panic");
        }
    });
}

/// Returns the HELLO of a client that offers the interop schema.
async fn greeting() -> Vec<u8> {
    let (here, mut there) = pipe();
    let builder = Channel::builder().add_service(InteropServer::new(Service));
    let connecting = tokio::spawn(builder.connect_with_connector(once(here)));
    let mut bytes = vec![0; 4 * 1024];
    let count = there.read(&mut bytes).await.expect("read should succeed");
    connecting.abort();
    bytes.truncate(count - 10); // Without the PING behind it.
    bytes
}

/// Makes a call of each kind. Returns the number of successful calls.
async fn call_every_kind(client: &InteropClient) -> usize {
    let (sum, payload, counts, total) = tokio::join!(add(client), echo(client), count_up(client), sum_up(client));
    [sum, payload, counts, total].into_iter().filter(Result::is_ok).count()
}

async fn add(client: &InteropClient) -> Result<(), Status> {
    client.add(AddRequest { a: 1, b: 2 }).await.map(drop)
}

async fn echo(client: &InteropClient) -> Result<(), Status> {
    client.echo_payload(Payload { seq: 1, data: vec![1; 100] }).await.map(drop)
}

async fn count_up(client: &InteropClient) -> Result<(), Status> {
    let mut request = Request::new(Range { from: 0, count: 5 });
    request.set_timeout(Duration::from_secs(3));
    let mut counts = client.count_up(request).await?.into_inner();
    while counts.message().await?.is_some() {}
    Ok(())
}

async fn sum_up(client: &InteropClient) -> Result<(), Status> {
    client.sum_up(frpc::iter((0..10).map(|value| Count { value }))).await.map(drop)
}

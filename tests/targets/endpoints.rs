//! Targets with a whole end of a connection, in virtual time: a server with a hostile client, a client with a server
//! that lies.

use crate::interop::{AddRequest, Count, InteropClient, InteropServer, Payload, Range};
use crate::service::Service;
use frisbee::Config;
use frpc::{Acceptor, Channel, Request, Status};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// No end takes longer to notice that it is over, in virtual time: the longest of its timeouts is 30 s.
const HANGS: Duration = Duration::from_secs(120);

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime without sockets can be made");
    runtime.block_on(test);
}

/// A client writes bytes to a server of the interop schema, and goes, or stays and says nothing more.
pub fn server(data: &[u8]) {
    let Some((&manner, data)) = data.split_first() else { return };
    run(async move {
        let config = Config::default().body_max(100_000).streams_max(8).calls_max(16);
        let builder = frpc::Server::builder().config(config).memory_max(64 * 1024);
        let builder = builder.add_service(InteropServer::new(Service));
        let acceptor: Acceptor = builder.build().expect("there is one service");
        let (mut here, there) = tokio::io::duplex(4 * 1024);
        let stats = acceptor.stats();
        let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
        say(&mut here, &told(manner, data), manner).await;
        let closed = tokio::time::timeout(HANGS, serving).await;
        closed.expect("the connection ends").expect("the server does not panic");
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert_eq!((stats.open(), stats.input_held()), (0, 0), "something is left");
    });
}

/// A server answers whatever it likes to a client that makes a call of each kind.
pub fn client(data: &[u8]) {
    let Some((&manner, data)) = data.split_first() else { return };
    run(async move {
        let (here, mut there) = tokio::io::duplex(4 * 1024);
        let given = std::sync::Mutex::new(Some(here));
        let connector = move || {
            let given = given.lock().ok().and_then(|mut given| given.take());
            async move { given.ok_or(std::io::ErrorKind::ConnectionRefused.into()) }
        };
        let config = Config::default().body_max(100_000);
        let builder = Channel::builder().config(config).timeout(Duration::from_secs(2));
        let channel = builder.reconnect_patience(Duration::from_millis(100)).connect_with_connector(connector).await;
        let client = InteropClient::new(channel.expect("there is one transport"));
        let calling = tokio::spawn(async move {
            let (sum, payload, counts, total) =
                tokio::join!(add(&client), echo(&client), count_up(&client), sum_up(&client));
            [sum, payload, counts, total].into_iter().filter(Result::is_ok).count()
        });
        say(&mut there, &told(manner, data), manner).await;
        let ended = tokio::time::timeout(HANGS, calling).await;
        ended.expect("every call ends").expect("the client does not panic");
    });
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

/// The bytes as they are, or as the contents of packets: operation, id and length in a byte each, then the body. With
/// or without a HELLO in front.
fn told(manner: u8, data: &[u8]) -> Vec<u8> {
    let mut bytes = if manner & 32 == 0 { Vec::new() } else { hello() };
    if manner & 1 == 0 {
        bytes.extend_from_slice(data);
        return bytes;
    }
    let mut rest = data;
    while let Some((&[operation, id, length], behind)) = rest.split_first_chunk() {
        let (body, behind) = behind.split_at(behind.len().min(length.into()));
        bytes.extend(crate::raw::packet(id.into(), operation.into(), body));
        rest = behind;
    }
    bytes
}

/// What makes one of ours of the peer, so that prefixes, credit and the like are understood.
fn hello() -> Vec<u8> {
    let now = std::time::Instant::now();
    let mut core = frisbee_core::Connection::client(&Default::default(), now);
    let begins = core.outbox().take_bytes();
    begins[..begins.len() - 10].to_vec() // Without the PING behind it.
}

/// Writes in pieces, reads what comes, and goes or stays.
async fn say(io: &mut DuplexStream, bytes: &[u8], manner: u8) {
    let piece = [1, 7, 100, 100_000][usize::from(manner >> 1 & 3)];
    let mut answer = vec![0; 4 * 1024];
    for piece in bytes.chunks(piece) {
        let (mut reading, mut writing) = tokio::io::split(&mut *io);
        let written = tokio::time::timeout(Duration::from_secs(1), writing.write_all(piece)).await;
        if !matches!(written, Ok(Ok(()))) {
            break;
        }
        let _ = tokio::time::timeout(Duration::from_millis(1), reading.read(&mut answer)).await;
    }
    if manner & 8 == 0 {
        let _ = io.shutdown().await;
    }
    if manner & 16 == 0 {
        let read = async { while io.read(&mut answer).await.is_ok_and(|count| count > 0) {} };
        let _ = tokio::time::timeout(HANGS, read).await;
    } else {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

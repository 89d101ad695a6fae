//! Tests that the response streams of an HTTP/2 connection take turns, and that the server takes an item from a handler
//! only in the turn of its stream.

use crate::gateway::abuse::{DATA, HEADERS, http2_beginning, http2_request_with};
use frpc::{Acceptor, Request, Response, ResponseStream, Server, ServerBuilder, Status};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

/// A greeter that recites endlessly. The name is the length of each item in bytes.
#[derive(Clone, Default)]
struct Reciter {
    /// Number of items taken from handlers.
    taken: Arc<AtomicUsize>,
}

impl Greeter for Reciter {
    async fn greet(&self, _request: Request<Name>) -> Result<Response<Greeting>, Status> {
        Err(Status::unimplemented("it recites"))
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let length = request.get_ref().name.parse().map_err(|_| Status::invalid_argument("length expected"))?;
        let taken = self.taken.clone();
        let items = frpc::iter(std::iter::repeat_with(move || {
            taken.fetch_add(1, Ordering::SeqCst);
            Ok(Greeting { text: "x".repeat(length) })
        }));
        Ok(Response::new(ResponseStream::new(items)))
    }
}

impl Reciter {
    fn server(&self, settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Acceptor {
        let gateway = Gateway::new().http(Http::new().grpc());
        let builder = Server::builder().add_service(GreeterServer::new(self.clone())).gateway(gateway);
        settings(builder).build().expect("server settings should be valid")
    }
}

/// Opens streams with items of these lengths and a deadline, on one connection.
async fn recite(server: &Acceptor, beginning: Vec<u8>, lengths: &[usize]) -> DuplexStream {
    let (mut here, there) = tokio::io::duplex(64 * 1024);
    let server = server.clone();
    tokio::spawn(async move { server.serve_connection(there).await });
    let mut bytes = beginning;
    for (number, length) in (0..).zip(lengths) {
        let message = format!("{{\"name\":\"{length}\"}}");
        let prefix = [&[0; 4][..], &[message.len() as u8]].concat();
        let body = [prefix, message.into_bytes()].concat();
        let timeout = ["grpc-timeout", TIMEOUT];
        bytes.extend(http2_request_with(number, "/greet.Greeter/Recite", "application/grpc+json", &timeout, &body));
    }
    here.write_all(&bytes).await.expect("server should read the requests");
    // With a paused clock, `sleep` returns only when all tasks are idle, so the server has handled the input.
    tokio::time::sleep(Duration::from_secs(1)).await;
    here
}

/// Reads `count` bytes of DATA, and returns the number of bytes of each stream.
async fn read(io: &mut DuplexStream, streams: usize, count: usize) -> Vec<usize> {
    let mut received = vec![0; streams];
    while received.iter().sum::<usize>() < count {
        let mut head = [0; 9];
        io.read_exact(&mut head).await.expect("server should send frames");
        let [a, b, c, kind, _, stream @ ..] = head;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        io.read_exact(&mut vec![0; length]).await.expect("server should send whole frames");
        if kind == DATA {
            received[u32::from_be_bytes(stream) as usize / 2] += length;
        }
    }
    received
}

const MIB: usize = 1 << 20;
/// Deadline of the calls in seconds, as in `grpc-timeout`.
const TIMEOUT: &str = "5S";

#[tokio::test(start_paused = true)]
async fn http2_streams_without_turn_take_no_items() {
    for (window, more, expected) in [(0, 1 << 30, 0), (1 << 30, 0, 2), (1 << 30, 1 << 30, 9)] {
        let reciter = Reciter::default();
        let _io = recite(&reciter.server(|builder| builder), http2_beginning(window, more), &[MIB; 100]).await;
        let taken = reciter.taken.load(Ordering::SeqCst);
        assert!(taken <= expected, "server took {taken} items for a window of {window}, extended by {more}");
        assert!(expected == 0 || taken > 0, "server should take items while windows are open");
    }
}

/// A stream with a window of one byte buffers a whole item. These items are charged, so that together they stay within
/// the client's memory share.
#[tokio::test(start_paused = true)]
async fn items_for_tiny_http2_windows_are_charged() {
    const MEMORY: usize = 16 * MIB;
    let reciter = Reciter::default();
    let server = reciter.server(|builder| builder.memory_max(MEMORY));
    let _io = recite(&server, http2_beginning(1, 1 << 30), &[MIB; 100]).await;
    let taken = reciter.taken.load(Ordering::SeqCst);
    assert!((6..15).contains(&taken), "server took {taken} items");
    let held = server.stats().memory_held();
    assert!(held < MEMORY, "server holds {held} bytes");
}

/// Regression test: the deadline of a call was not checked while its stream waited for memory. The client waited
/// forever.
#[tokio::test(start_paused = true)]
async fn calls_expire_while_waiting_for_memory() {
    const CALLS: usize = 100;
    let reciter = Reciter::default();
    let server = reciter.server(|builder| builder.memory_max(16 * MIB));
    let mut io = recite(&server, http2_beginning(1, 1 << 30), &[MIB; CALLS]).await;
    let taken = reciter.taken.load(Ordering::SeqCst);
    let (mut ended, end_stream) = (0, 1);
    let expired = async {
        // The other streams have queued items, which the client does not accept.
        while ended < CALLS - taken {
            let mut head = [0; 9];
            io.read_exact(&mut head).await.expect("server should send frames");
            let [a, b, c, kind, flags, ..] = head;
            io.read_exact(&mut vec![0; u32::from_be_bytes([0, a, b, c]) as usize])
                .await
                .expect("frame should be whole");
            ended += usize::from(kind == HEADERS && flags & end_stream != 0);
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(10), expired).await;
    assert!(waited.is_ok(), "only {ended} of {CALLS} calls have ended, {taken} with items");
}

#[tokio::test(start_paused = true)]
async fn http2_streams_share_connection_evenly() {
    for length in [100, 5_000, 20_000, 100_000] {
        let reciter = Reciter::default();
        let lengths = [length; 40];
        let server = reciter.server(|builder| builder);
        let mut io = recite(&server, http2_beginning(1 << 30, 1 << 30), &lengths).await;
        let received = read(&mut io, lengths.len(), 40 * MIB).await;
        let (min, max) = (received.iter().min(), received.iter().max());
        let (Some(min), Some(max)) = (min, max) else { unreachable!("there are streams") };
        assert!(*min * 10 >= *max * 8, "streams of {length} byte items received {min} to {max} bytes");
    }
}

/// A short item is sent after the eight long items that are already being sent, not after one of each of the 40
/// streams.
#[tokio::test(start_paused = true)]
async fn short_items_pass_long_ones_on_http2() {
    let reciter = Reciter::default();
    let lengths = [&[MIB; 40][..], &[100]].concat();
    let server = reciter.server(|builder| builder);
    let mut io = recite(&server, http2_beginning(1 << 30, 1 << 30), &lengths).await;
    let received = read(&mut io, lengths.len(), 9 * MIB).await;
    assert!(received[40] > 0, "{received:?}");
}

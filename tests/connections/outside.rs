//! Tests of a protocol with calls that uses only the public API of frisbee.

use frisbee::bytes::Bytes;
use frisbee::{Acceptor, Client, Connection, Operation, Packet, PacketId, Server, memory};
use outside::{CallError, Caller, Outcome, Replies, Service};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

const METHOD: Operation = Operation::user(10).expect("operation number should be in the user range");

/// Returns a server with the given handlers, and the client's end of a connection to it.
fn served<H, F>(handler: H) -> (Arc<Acceptor<Service<H>>>, DuplexStream)
where
    H: Fn(Operation, Bytes) -> F + Send + Sync + 'static,
    F: Future<Output = Outcome> + Send + 'static,
{
    let server = Server::builder().memory_max(256 * 1024).build(Service::new(handler));
    let acceptor = Arc::new(server.expect("settings should be valid"));
    let (here, there) = memory();
    let serving = acceptor.clone();
    tokio::spawn(async move { serving.serve_connection(there).await });
    (acceptor, here)
}

async fn called<H, F>(handler: H) -> (Arc<Acceptor<Service<H>>>, Connection, Caller)
where
    H: Fn(Operation, Bytes) -> F + Send + Sync + 'static,
    F: Future<Output = Outcome> + Send + 'static,
{
    let (acceptor, here) = served(handler);
    let connection =
        Client::builder().connect_io(here, Replies).await.expect("connection in memory should be accepted");
    connection.peer_known().await.expect("peer should complete the handshake");
    (acceptor, connection.clone(), Caller::new(connection))
}

fn failed(outcome: Result<Bytes, CallError>) -> String {
    match outcome {
        Err(CallError::Failed(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn ready_and_waiting_handlers_reply() {
    let (_server, _connection, caller) = called(|method, body: Bytes| async move {
        if body.len() > 5 {
            tokio::task::yield_now().await;
        }
        match body.first() {
            Some(b'!') => Err("no".to_owned()),
            Some(b'?') => panic!("on purpose"),
            _ => Ok(Bytes::from(format!("{method} {}", body.len()))),
        }
    })
    .await;
    for (request, reply) in [("short", "10 5"), ("longer", "10 6")] {
        assert_eq!(caller.call(METHOD, request).await.unwrap(), reply);
    }
    for request in ["!", "!longer"] {
        assert_eq!(failed(caller.call(METHOD, request).await), "no");
    }
    for request in ["?", "?longer"] {
        assert_eq!(failed(caller.call(METHOD, request).await), "the handler panicked");
    }
    let large = vec![b'x'; 100_000];
    assert_eq!(caller.call(METHOD, &large).await.unwrap(), "10 100000");
}

#[tokio::test]
async fn replies_out_of_order_reach_their_callers() {
    let permits = Arc::new(Semaphore::new(0));
    let gate = permits.clone();
    let (_server, _connection, caller) = called(move |_, body: Bytes| {
        let gate = gate.clone();
        async move {
            if body == "waits" {
                gate.acquire().await.map_err(|error| error.to_string())?.forget();
            }
            Ok(body)
        }
    })
    .await;
    let first = caller.clone();
    let pending = tokio::spawn(async move { first.call(METHOD, "waits").await });
    tokio::task::yield_now().await;
    assert_eq!(caller.call(METHOD, "overtakes").await.unwrap(), "overtakes");
    permits.add_permits(1);
    assert_eq!(pending.await.unwrap().unwrap(), "waits");
}

#[tokio::test]
async fn dropped_call_cancels_handler_and_frees_id() {
    let (began, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let events = (began.clone(), dropped.clone());
    let (_server, connection, caller) = called(move |_, body: Bytes| {
        let (began, dropped) = events.clone();
        async move {
            if body == "quick" {
                return Ok(body);
            }
            let _guard = Dropped(dropped);
            began.notify_one();
            std::future::pending().await
        }
    })
    .await;
    let other = caller.clone();
    let call = tokio::spawn(async move { other.call(METHOD, "pending").await });
    began.notified().await;
    call.abort();
    dropped.notified().await;
    assert_eq!(caller.call(METHOD, "quick").await.unwrap(), "quick");
    // The server has replied to the cancelled request, so nothing is in flight.
    connection.close_when_idle();
    connection.closed().await;
    assert!(matches!(caller.call(METHOD, "late").await, Err(CallError::Closed(_))));
}

struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn lost_connection_fails_waiting_calls() {
    let (_server, connection, caller) = called(|_, _| std::future::pending()).await;
    let pending = tokio::spawn(async move { caller.call(METHOD, "pending").await });
    tokio::task::yield_now().await;
    connection.abort();
    assert!(matches!(pending.await.unwrap(), Err(CallError::Closed(_))));
}

#[tokio::test]
async fn requests_beyond_server_memory_are_rejected() {
    let (server, _connection, caller) = called(|_, _| std::future::pending()).await;
    let mut calls = JoinSet::new();
    for _ in 0..40 {
        let caller = caller.clone();
        calls.spawn(async move { caller.call(METHOD, vec![0; 15_000]).await });
    }
    // The handlers of the first requests never reply.
    let rejected = calls.join_next().await.expect("calls should be pending").unwrap();
    assert_eq!(failed(rejected), "out of memory");
    assert!(server.stats().rejected() > 0);
}

#[tokio::test(start_paused = true)]
async fn server_stops_reading_while_replies_are_unread() {
    let (server, mut here) = served(|_, body: Bytes| async move { Ok(body) });
    let request = Packet::new(PacketId(1), METHOD, vec![7; 1000]);
    let header = [0, 15, 0, 1, 0, 10, 0, 0, 3, 232];
    let bytes = [&header[..], &request.body].concat();
    let mut written = 0_usize;
    // Virtual time advances only when no task can run.
    while tokio::time::timeout(Duration::from_secs(1), here.write_all(&bytes)).await.is_ok() {
        written += bytes.len();
        assert!(written < 8 * 1024 * 1024, "server should stop reading");
    }
    assert!(server.stats().output_waiting() < 2 * 1024 * 1024);
}

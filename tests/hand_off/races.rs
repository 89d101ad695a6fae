//! Tests of hand-offs over sockets while both ends send packets, open streams, refuse hand-offs and close the
//! connection. frisbee-core tests the rules themselves with ten thousand races in virtual time.

use super::{GREETING, Gateway, TIMEOUT, TUNNEL, packet};
use bytes::Bytes;
use frisbee::{Client, Connection, HandOffError, Handlers, Server, Workers};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

const TIMES: u64 = 400;

/// Runs the race on one connection. Returns whether it was handed off.
async fn race(address: SocketAddr, seed: u64) -> bool {
    let mut dice = fastrand::Rng::with_seed(seed);
    let handlers = Handlers::new().on(TUNNEL, |_, _| async { None });
    let connection = Client::builder().connect(address, handlers).await.unwrap();
    let pauses = dice.usize(0..40);
    let mut others = JoinSet::new();
    let (sends, streams, closes) = (dice.u8(0..3), dice.u8(0..4) == 0, dice.u8(0..4) == 0);
    for _ in 0..sends {
        others.spawn(send(connection.clone(), dice.usize(1..50)));
    }
    if streams {
        others.spawn(open(connection.clone()));
    }
    if closes {
        others.spawn(close(connection.clone(), dice.usize(0..60)));
    }
    for _ in 0..pauses {
        tokio::task::yield_now().await;
    }
    let requests = ["accept", "refuse", "drop it"];
    for _ in 0..20 {
        let request = requests[dice.usize(0..3)];
        match connection.hand_off(TUNNEL, request).await {
            Ok(accepted) => {
                assert_eq!(request, "accept");
                let mut raw = accepted.transport;
                let mut received = vec![0; GREETING.len() + 3];
                raw.write_all(b"raw").await.unwrap();
                raw.flush().await.unwrap();
                raw.read_exact(&mut received).await.unwrap();
                assert_eq!(received, [GREETING, b"raw"].concat(), "seed {seed}");
                return true;
            }
            Err(HandOffError::Closed(_)) => break,
            Err(HandOffError::Refused(_) | HandOffError::NotServed | HandOffError::Busy) => {}
            Err(other) => panic!("seed {seed}: {other}"),
        }
    }
    connection.close();
    connection.closed().await;
    false
}

async fn send(connection: Connection, times: usize) {
    for _ in 0..times {
        if connection.send(&packet("one of many")).await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
}

async fn open(connection: Connection) {
    if let Ok(stream) = connection.open_stream(&Bytes::from_static(b"a stream")).await {
        let _ = stream.send(&Bytes::from_static(b"a message")).await;
    }
}

async fn close(connection: Connection, pauses: usize) {
    for _ in 0..pauses {
        tokio::task::yield_now().await;
    }
    connection.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn racing_hand_offs_finish_without_losing_bytes() {
    static HANDED_OFF: AtomicU32 = AtomicU32::new(0);
    for workers in [Workers::PerCore, Workers::Caller] {
        let server = Server::builder().workers(workers).bind("127.0.0.1:0", Gateway { held: None }).await.unwrap();
        let address = server.local_addr();
        tokio::spawn(server.serve());
        let mut racing = JoinSet::new();
        for seed in 0..TIMES {
            racing.spawn(async move {
                let raced = tokio::time::timeout(TIMEOUT, race(address, seed)).await;
                let handed_off = raced.unwrap_or_else(|_| panic!("seed {seed} hangs"));
                HANDED_OFF.fetch_add(handed_off.into(), Ordering::Relaxed);
            });
            if racing.len() >= 16 {
                racing.join_next().await.unwrap().unwrap();
            }
        }
        while let Some(raced) = racing.join_next().await {
            raced.unwrap();
        }
    }
    let handed_off = u64::from(HANDED_OFF.load(Ordering::Relaxed));
    assert!(handed_off > TIMES / 2, "only {handed_off} of {} connections were handed off", 2 * TIMES);
}

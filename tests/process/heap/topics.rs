//! Tests of a broker's allocations for a subscription. Each subscription must allocate only its own memory, whatever
//! the number of others. If all of them were moved to new memory at once, publishers would be blocked, because they
//! need the same lock.

use super::allocator::allocated;
use frisbee::Server;
use frisbee_pubsub::{Broker, FIRST_OPERATION};
use frisbee_tests::process::ran_alone;
use frisbee_tests::raw::packet;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const CONNECTIONS: usize = 32;

/// Number of subscriptions per connection. They are made in portions.
const PATTERNS: usize = 1024;
const PORTION: usize = 64;

/// Maximum number of bytes that a portion may allocate: for its patterns, the connection's table of them, and buffers.
/// A single table of all patterns would take more than a megabyte.
const ALLOCATED_MAX: u64 = 512 * 1024;

#[tokio::test(start_paused = true)]
async fn subscription_allocates_same_alone_and_among_32000() {
    if ran_alone(|| ()) {
        return;
    }
    let broker = Broker::new();
    let acceptor = Server::builder().build(broker.clone()).expect("server should have no overlapping routers");
    let mut peers = Vec::new();
    let mut most = 0;
    for number in 0..CONNECTIONS {
        let (mut peer, there) = tokio::io::duplex(64 * 1024);
        let acceptor = acceptor.clone();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        for portion in 0..PATTERNS / PORTION {
            let ids = 1 + portion * PORTION..=(portion + 1) * PORTION;
            let subscribe = |id: usize| {
                let pattern = format!("{number}-{id}");
                let name = [&[pattern.len() as u8], pattern.as_bytes()].concat();
                packet(id as u16, FIRST_OPERATION, &name)
            };
            let requests: Vec<_> = ids.flat_map(subscribe).collect();
            let mut answers = [0; 10 * PORTION];
            let before = allocated();
            peer.write_all(&requests).await.expect("write should succeed");
            peer.read_exact(&mut answers).await.expect("peer should send the expected bytes");
            most = most.max(allocated() - before);
        }
        peers.push(peer);
    }
    println!("{most} bytes at most");
    assert_eq!(broker.subscriptions(), CONNECTIONS * PATTERNS);
    assert!(most <= ALLOCATED_MAX, "at most {most} bytes were allocated at the same time");
}

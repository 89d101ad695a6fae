//! What hostile peers can make a server write into its log. Alone in its process, since it listens to all of the log.

use frisbee_tests::raw::Raw;
use frisbee_tests::serve_interop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

static LINES: AtomicUsize = AtomicUsize::new(0);

/// Counts events that a log at the level INFO would write.
struct Counting;

impl Subscriber for Counting {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        LINES.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn a_peer_that_breaks_the_protocol_again_and_again_gets_one_line_a_second() {
    tracing::subscriber::set_global_default(Counting).expect("nothing else listens");
    let address = serve_interop().await;
    LINES.store(0, Ordering::Relaxed);
    let begun = Instant::now();
    for _ in 0..300 {
        let mut peer = Raw::connect(address).await;
        peer.write(b"GET / HTTP/1.1\r\n\r\n").await;
        peer.closed().await;
    }
    let seconds = begun.elapsed().as_secs_f64().ceil();
    let lines = LINES.load(Ordering::Relaxed);
    assert!((1..=seconds as usize + 1).contains(&lines), "{lines} lines in {seconds} s");
    // What was left unsaid is said with the next line.
    tokio::time::sleep(Duration::from_millis(1_050)).await;
    let mut peer = Raw::connect(address).await;
    peer.write(b"GET / HTTP/1.1\r\n\r\n").await;
    peer.closed().await;
    assert_eq!(LINES.load(Ordering::Relaxed), lines + 1);
}

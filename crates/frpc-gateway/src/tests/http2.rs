//! Tests of the memory for unread HTTP/2 responses.

use super::connections::{DATA, HEADERS, Host, Http2, LONG, dial, head};
use std::time::Duration;
use tokio::time::sleep;

/// Content types whose responses take different paths.
const CONTENT_TYPES: [&str; 3] = ["application/json", "application/grpc+json", "application/grpc-web+json"];

/// Encodes a request body for a content type.
fn body(content_type: &str, name: &str) -> Vec<u8> {
    let message = format!("{{\"name\":\"{name}\"}}").into_bytes();
    let length = u32::try_from(message.len()).expect("message should be short").to_be_bytes();
    if content_type == "application/json" { message } else { [&[0][..], &length, &message].concat() }
}

/// Regression test: an enveloped response was not charged while its stream had no window.
#[tokio::test(start_paused = true)]
async fn unread_responses_without_window_are_charged() {
    const CALLS: u32 = 5;
    for content_type in CONTENT_TYPES {
        let (host, server) = Host::in_memory();
        let stats = server.stats();
        let mut client = Http2::connect(dial(&server), 0).await;
        for call in 0..CALLS {
            client.send(HEADERS, 4, 2 * call + 1, &head(content_type)).await;
            client.send(DATA, 1, 2 * call + 1, &body(content_type, "long")).await;
            host.begins().await;
        }
        sleep(Duration::from_millis(1)).await;
        let held = stats.memory_held();
        assert!(held >= CALLS as usize * LONG, "server holds {held} bytes for {content_type}");
    }
}

/// Regression test: all requests of one read were answered before any response was charged.
#[tokio::test(start_paused = true)]
async fn responses_of_one_read_stay_within_memory() {
    const MEMORY: usize = 1 << 20;
    for content_type in CONTENT_TYPES {
        let (_, builder) = Host::served();
        let server = builder.memory_max(MEMORY).build().expect("server settings should be valid");
        let stats = server.stats();
        let mut client = Http2::connect(dial(&server), 0).await;
        let mut frames = Vec::new();
        for call in 0..50_u32 {
            let (head, body) = (head(content_type), body(content_type, "long"));
            for (kind, flags, payload) in [(HEADERS, 4, head), (DATA, 1, body)] {
                let length = u32::try_from(payload.len()).expect("payload should be short").to_be_bytes();
                frames.extend([&length[1..], &[kind, flags], &(2 * call + 1).to_be_bytes(), &payload].concat());
            }
        }
        client.write(&frames).await;
        sleep(Duration::from_millis(1)).await;
        let held = stats.memory_held();
        assert!((MEMORY / 4..MEMORY).contains(&held), "server holds {held} bytes for {content_type}");
    }
}

//! Fuzz targets. Each is a function of arbitrary bytes that must not panic, hang or keep memory.
//!
//! `fuzz/` runs them with libFuzzer. The tests in `wire/fuzz_corpus.rs` run each of them with every file of its corpus,
//! so that fixed errors stay fixed. Targets are cheap: they use no threads, no sockets, and only virtual time.

mod core;
mod dynamic;
mod endpoints;
mod hand_off;
mod http2;
mod json;
mod layout;
mod messages;
mod peer;
mod proto;
mod pubsub;
mod shared_memory;
mod tensor;

pub use self::core::{connection, frames, header, hello};
pub use dynamic::dynamic;
pub use endpoints::{client, json_rpc, packed, server, two_way};
pub use hand_off::hand_off;
pub use http2::{hpack, http2};
pub use json::json;
pub use layout::layout;
pub use messages::{messages, values};
pub use proto::proto;
pub use pubsub::{broker, subscriber};
pub use shared_memory::shared_memory;
pub use tensor::tensor;

/// A target and its name.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const ALL: [Target; 22] = [
    ("header", header),
    ("frames", frames),
    ("connection", connection),
    ("hello", hello),
    ("values", values),
    ("messages", messages),
    ("json", json),
    ("dynamic", dynamic),
    ("layout", layout),
    ("tensor", tensor),
    ("json_rpc", json_rpc),
    ("server", server),
    ("packed", packed),
    ("client", client),
    ("two_way", two_way),
    ("hand_off", hand_off),
    ("hpack", hpack),
    ("http2", http2),
    ("broker", broker),
    ("subscriber", subscriber),
    ("proto", proto),
    ("shared_memory", shared_memory),
];

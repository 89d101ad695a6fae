//! What fuzzers call: functions of bytes that must not panic, hang, or hold on to anything, whatever the bytes are.
//!
//! `fuzz/` hands them to libFuzzer. The ordinary test `corpus` runs each with every file of the corpus, so that what a
//! fuzzer has found stays found.

mod core;
mod endpoints;
mod messages;
mod proto;

pub use self::core::{connection, frames, header, hello};
pub use endpoints::{client, server};
pub use messages::{messages, values};
pub use proto::proto;

/// A target and its name.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const ALL: [Target; 9] = [
    ("header", header),
    ("frames", frames),
    ("connection", connection),
    ("hello", hello),
    ("values", values),
    ("messages", messages),
    ("server", server),
    ("client", client),
    ("proto", proto),
];

//! The wire against bytes that Go produced: `vectors.json` holds values with their encodings, bodies with Go's
//! verdict on them, and frames captured between Go peers.
//!
//! `extensions.json` lists the extensions of native peers, for implementations in all languages.
//!
//! Every entry of the first file is accounted for: it holds here as it does in Go, or it is in the one table of
//! [`exceptions`]. Nothing here needs Go; the tests of `interop` need a running Go peer.

mod exceptions;
mod extensions;
mod frames;
mod fuzz_corpus;
mod manual;
mod measured;
mod messages;
mod recordings;
#[path = "../repository/main.rs"]
mod repository;
mod requests;
mod values;

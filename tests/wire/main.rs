//! Tests of the wire format against bytes that Go has produced. `vectors.json` contains values with their encodings,
//! bodies with the result of Go's decoder, and frames captured between Go peers.
//!
//! `extensions.json` lists the extensions of native peers, for implementations in all languages.
//!
//! Each entry of `vectors.json` must behave here as in Go, or be listed in the table of [`exceptions`]. These tests do
//! not need Go. The tests of `interop` need a running Go peer.

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

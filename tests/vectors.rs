//! The wire against bytes that Go produced: `vectors/vectors.json` holds values with their encodings, bodies with Go's
//! verdict on them, and frames captured between Go peers.
//!
//! Every entry of that file is accounted for: it holds here as it does in Go, or it stands in the one table of
//! [`exceptions`]. Nothing here needs Go; `interop.rs` holds what takes a running Go peer.

#[path = "vectors/corpus.rs"]
mod corpus;
#[path = "vectors/exceptions.rs"]
mod exceptions;
#[path = "vectors/frames.rs"]
mod frames;
#[path = "vectors/manual.rs"]
mod manual;
#[path = "vectors/messages.rs"]
mod messages;
#[path = "vectors/requests.rs"]
mod requests;
#[path = "vectors/values.rs"]
mod values;

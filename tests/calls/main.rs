//! Tests of calls to services: between native peers, with Go and other programs, and through a server's other
//! protocols.

mod adapter;
mod blocking;
#[path = "../channels/main.rs"]
mod channels;
mod deadlines;
mod denied;
mod details;
mod ended_runtimes;
mod examples;
mod extensions;
#[path = "../gateway/main.rs"]
mod gateway;
mod handlers;
#[path = "../interop/main.rs"]
mod interop;
mod layouts;
mod limits;
mod middleware;
mod next;
mod observers;
mod on_workers;
mod over;
mod packed;
mod places;
mod statuses;
mod traces;
mod two_way;

//! Tests of rejected, deferred and aborted work of servers and clients: memory, nesting depth, slow links and silent
//! clients.

mod liveness;
mod nesting;
mod of_the_peer;
mod overload;
mod silent_clients;
mod slow_links;

//! Rejected, deferred and aborted work of servers and clients: memory, depth of messages, slow links, silent clients.

mod liveness;
mod nesting;
mod of_the_peer;
mod overload;
mod silent_clients;
mod slow_links;

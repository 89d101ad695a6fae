//! What servers and clients refuse, defer or give up: memory, depth of messages, slow links, silent clients.

mod nesting;
mod of_the_peer;
mod overload;
mod silent_clients;
mod slow_links;

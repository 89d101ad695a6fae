//! Clients and brokers over connections.

mod history;
mod presence;

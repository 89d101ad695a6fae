//! What a server holds for hostile peers, and what is left for a healthy client beside them. Peers stand on pipes of a
//! kilobyte where the buffers of sockets would hide what the server holds.

mod attackers;
mod gateway;
mod input;
mod output;
mod topics;

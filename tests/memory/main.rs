//! Memory that a server holds for hostile peers, and the remaining service of a healthy client. Peers are on pipes of a
//! kilobyte where the buffers of sockets would hide memory of the server.

mod attackers;
mod gateway;
mod input;
mod output;
mod topics;

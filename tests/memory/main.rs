//! Tests of the memory that a server holds for hostile peers, and whether a healthy client is served. Most peers use
//! pipes of one kilobyte, because the buffers of sockets would hide memory of the server.

mod attackers;
mod gateway;
mod input;
mod output;
mod topics;

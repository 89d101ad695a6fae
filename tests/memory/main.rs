//! Tests of the memory that a server holds for hostile peers, and of the service for a healthy client. Peers use pipes
//! of one kilobyte where socket buffers would hide memory of the server.

mod attackers;
mod gateway;
mod input;
mod output;
mod topics;

//! The C library, called by programs in C and C++.

mod client;
mod header;
mod pages;
mod server;
mod support;

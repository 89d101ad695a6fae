//! Tests of channels: the connections that they make, keep, abandon and close, and their servers.

mod ages;
mod closing;
mod pickers;
mod reconnecting;
mod servers;
mod wrong_ports;

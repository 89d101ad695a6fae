//! Tests of channels to one or several servers: how they make, keep, replace and close connections.

mod ages;
mod closing;
mod pickers;
mod reconnecting;
mod servers;
mod wrong_ports;

//! Channels: which connections they make, keep, leave and close, and to which servers.

mod closing;
mod reconnecting;
mod servers;
mod wrong_ports;

//! The command `frpc` as a process of its own.

mod gateway;
mod session;
mod ways;
mod wireshark;

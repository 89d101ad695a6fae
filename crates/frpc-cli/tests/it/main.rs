//! The command `frpc` as a process of its own.

mod session;
mod ways;
mod wireshark;

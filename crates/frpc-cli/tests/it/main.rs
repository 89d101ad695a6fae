//! The command `frpc` as a process of its own.

#[cfg(unix)]
mod agent;
mod gateway;
mod new;
mod rules;
mod session;
mod udp;
mod ways;
mod wireshark;

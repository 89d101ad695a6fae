//! Tests of the command `frpc` as a child process.

#[cfg(unix)]
mod agent;
mod gateway;
mod grpc;
mod new;
mod rules;
mod session;
mod udp;
mod ways;
mod wireshark;

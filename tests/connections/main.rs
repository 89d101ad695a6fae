//! Connections below calls: transports, routers, streams, runtimes, and how they end.

mod batches;
mod ending;
mod idle;
mod routers;
mod runtimes;
#[cfg(target_os = "linux")]
mod shared_by_address;
#[cfg(target_os = "linux")]
mod shared_memory;
mod tls;
mod tls_or_plain;
mod transports;
mod waiting;

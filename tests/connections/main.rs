//! Tests of connections below the level of calls: transports, routers, streams, runtimes and how connections end. Also
//! tests hostile peers, the bytes of the protocol, and simulated worlds.

mod batches;
mod ending;
#[path = "../hand_off/main.rs"]
mod hand_off;
#[path = "../hostile/main.rs"]
mod hostile;
mod idle;
#[path = "../limits/main.rs"]
mod limits;
mod outside;
#[path = "../pubsub/main.rs"]
mod pubsub;
#[cfg(unix)]
#[path = "../restart/main.rs"]
mod restart;
mod routers;
mod runtimes;
#[cfg(target_os = "linux")]
mod shared_by_address;
#[cfg(target_os = "linux")]
mod shared_memory;
#[path = "../simulation/main.rs"]
mod simulation;
mod tls;
mod tls_or_plain;
mod transports;
mod try_send;
mod waiting;
#[path = "../wire/main.rs"]
mod wire;

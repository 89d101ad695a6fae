//! Restarts without a gap: a new process takes over the listening sockets of the running one.
//!
//! A connection in the queue of a listening socket belongs to the socket and not to a process. If the next process
//! serves on *the same socket*, no connection is refused or reset, no matter which happens first: the start of one or
//! the end of the other. Binding the address again, even with `SO_REUSEPORT`, loses the connections in the queue of the
//! old socket.
//!
//! Each process is a [`Generation`]. It starts with [`Restart::take_over`], which requests the sockets of the previous
//! generation over a Unix socket at a path that both know:
//!
//! ```no_run
//! # #[cfg(unix)]
//! # mod program {
//! use frisbee_restart::Restart;
//!
//! # async fn terminated() {}
//! async fn run() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut generation = Restart::new("/run/greeter/restart.sock").take_over().await?;
//!     let listener = generation.tcp("rpc", "0.0.0.0:9090").await?; // That of the generation before, or a new one.
//!     let server = frpc::Server::builder().listen_on(listener)?;
//!     let ending = generation.serve(terminated(), |shutdown| server.serve_with_shutdown(shutdown)).await?;
//!     println!("ended: {ending:?}");
//!     Ok(())
//! }
//! # }
//! ```
//!
//! Start the same program again to replace the running one. [`serve`](Generation::serve) notifies the previous
//! generation when the new one serves. The previous one then stops accepting, sends its clients elsewhere, finishes its
//! work and exits. Until then it continues to serve: a successor that fails, panics, is killed or does not become ready
//! in [time](Restart::ready_timeout) has no effect.
//!
//! Sockets and readiness are also exchanged with systemd. The crate contains no unsafe code and does not depend on
//! other crates of this workspace.
#![forbid(unsafe_code)]
#![cfg(unix)]

#[cfg(test)]
extern crate self as frisbee_restart;

mod control;
mod error;
mod generation;
mod protocol;
mod serve;
mod sockets;
mod systemd;
mod wire;

pub use error::{Refusal, RestartError};
pub use generation::{Generation, Restart};
pub use serve::{EndReason, ServeError, Shutdown};

#[cfg(test)]
mod tests;

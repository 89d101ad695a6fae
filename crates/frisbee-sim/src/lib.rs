//! Deterministic simulation of services on frisbee and frpc, with failing nodes, networks, disks and clocks. Runs are
//! reproduced by their seed.
//!
//! A test defines a world. Its nodes run the real servers and channels of frpc. Everything below them is simulated. The
//! world runs with many seeds, and each seed determines the faults and their times:
//!
//! ```
//! use samples::greeter::{GreeterClient, GreeterServer, Name};
//! # use samples::started::Polite;
//! use frisbee_sim::{Faults, Sim};
//!
//! Sim::new().seeds(20, |world| async move {
//!     world.node("server").start(|process| async move {
//!         let server = frpc::Server::builder().add_service(GreeterServer::new(Polite));
//!         process.serve(server.build().expect("settings should be valid"));
//!     });
//!     world.inject(Faults::drawn(5, ["server"]).peers(["client"]));
//!     let client = world.node("client").process();
//!     let channel = frpc::Channel::builder().connect_lazy_with_connector(client.connector("server"));
//!     let client = GreeterClient::new(channel.expect("lazy channel should be created"));
//!     // It ends, one way or the other: no call hangs.
//!     drop(client.greet(Name { name: "Ada".to_owned() }).await);
//! });
//! ```
//!
//! # The parts
//!
//! * [`World`]: [nodes](Node), the [links](Cable) between them, [faults](Faults) at random times or [upon
//!   events](Faults::upon), and conditions that [always](World::always) or [eventually](World::eventually) hold
//! * [`Node`] is the test's handle of a machine. [`Process`] is the handle of a program on it from its start to its
//!   crash, with connections, [disk](Disk) and [clocks](Clock)
//! * [`History`]: the operations of clients, checked against a [`Model`] for linearizability
//! * [`Sim`] runs worlds. A [`Failure`] reports a failing one
//!
//! # Replay
//!
//! A world runs on one thread in virtual time: when all tasks wait, time advances to the next timer. Unless the program
//! is nondeterministic, the same seed produces the same run and [trace hash](Report::trace_hash) on every machine. By
//! default each seed runs twice. If the runs differ, the failure states the first differing event. Sources of
//! nondeterminism are:
//!
//! * the order of `HashMap` and `HashSet`: use `BTreeMap`, or sort
//! * `std::time::Instant::now` and `SystemTime::now`: use tokio's `Instant`, and [`Process::clock`]
//! * threads: `spawn_blocking`, `tokio::fs`, and other threads that use the world fail the run immediately
//! * `tokio::select!` without `biased`
//! * `tokio::sync::watch` with several receivers, because they wake up in random order: use `Notify`
//! * random numbers from other sources than [`World::draw`] and the thread-local generator of fastrand, which each run
//!   seeds
//! * statics that keep state of the previous run
//! * between machines, random numbers of type `usize`, and memory limits, which depend on the sizes of types
//!
//! # Limits of the simulation
//!
//! Time has a resolution of milliseconds. Tasks take no time and only yield where they wait. The deadlines and timers
//! of tokio use the time of the world; [`Process::clock`] has the inaccurate clocks. Memory shared with later processes
//! of a node, such as statics, survives a crash. Sockets, files and processes of the operating system are not
//! simulated.
//!
//! Panics on a thread that runs a world are not printed, but reported as the failure of that world.
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as frisbee_sim;

mod cable;
mod clock;
mod command;
mod disk;
mod failure;
mod fault;
mod history;
mod node;
mod schedule;
mod sim;
mod state;
mod svg;
mod trace;
mod transport;
mod world;

pub use cable::Cable;
pub use clock::Clock;
pub use disk::Disk;
pub use failure::Failure;
pub use fault::{Fault, FaultKind};
pub use history::{History, Model, OperationId, Queue, QueueOperation, Register, RegisterOperation, Verdict};
pub use node::{Dialling, Node, Process};
pub use schedule::{Faults, Trigger};
pub use sim::{Report, Sim, sim};
pub use trace::{Event, EventKind};
pub use transport::Transport;
pub use world::World;

/// Creates a test that runs an `async fn` with [`Sim::seeds`].
///
/// ```
/// use frisbee_sim::{World, sim_test};
///
/// #[sim_test(seeds = 1000)]
/// async fn nodes_come_back(world: World) {
///     let node = world.node("a");
///     node.start(|_| async {});
///     node.crash();
///     node.restart();
///     assert!(node.is_up());
/// }
/// ```
///
/// The settings are named after the methods of [`Sim`]: `seeds`, which defaults to 100, `runs_twice`, `shrinks` and
/// `time_max`. Other attributes, such as `#[ignore]`, may follow. A failure prints the command that reproduces it. The
/// environment variables are the same as for [`Sim::seeds`].
///
/// ```
/// # use frisbee_sim::{World, sim_test};
/// # use std::time::Duration;
/// /// Takes long.
/// #[sim_test(seeds = 20, time_max = Duration::from_secs(60), runs_twice = false, shrinks = false)]
/// #[ignore = "in .ci/full alone"]
/// async fn a_long_one(_world: World) {}
/// ```
///
/// Errors show the expected form of a test:
///
/// ```compile_fail
/// # use frisbee_sim::{World, sim_test};
/// #[sim_test]
/// fn not_async(_world: World) {}
/// ```
/// ```compile_fail
/// # use frisbee_sim::{World, sim_test};
/// #[sim_test(seed = 7)] // There is no setting `seed`, only `seeds`, `runs_twice`, `shrinks`, `time_max`.
/// async fn one_seed(_world: World) {}
/// ```
/// ```compile_fail
/// # use frisbee_sim::{World, sim_test};
/// #[sim_test]
/// async fn without_a_world() {}
/// ```
/// ```compile_fail
/// # use frisbee_sim::{World, sim_test};
/// #[sim_test]
/// async fn with_a_result(_world: World) -> Result<(), String> { Ok(()) }
/// ```
pub use frisbee_sim_macros::sim_test;

#[cfg(test)]
mod tests;

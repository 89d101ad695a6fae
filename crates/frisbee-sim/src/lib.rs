//! Simulation for services on frisbee and frpc: nodes, networks, disks and clocks that fail, replayed by a seed.
//!
//! A test writes a world, whose nodes run the real servers and channels of frpc; everything below them is simulated.
//! The world runs with many seeds, and each seed decides what fails and when:
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
//!     let client = GreeterClient::new(channel.expect("services should not overlap"));
//!     // It ends, one way or the other: no call hangs.
//!     drop(client.greet(Name { name: "Ada".to_owned() }).await);
//! });
//! ```
//!
//! # The parts
//!
//! * [`World`]: [nodes](Node), the [ways](Cable) between them, [faults](Faults) at drawn times or
//!   [upon what happens](Faults::upon), and conditions that [always](World::always) hold or
//!   [eventually](World::eventually) come about
//! * [`Node`] is the test's handle of a machine, and [`Process`] that of the program on it, from its start to its
//!   crash: connections, [disk](Disk) and [clocks](Clock)
//! * [`History`]: the operations of clients, judged by a [`Model`] for linearizability
//! * [`Sim`] runs worlds; a [`Failure`] is the report of one that fails
//!
//! # Replay
//!
//! A world runs on one thread, in virtual time: when all tasks wait, time advances to the next timer. The same seed
//! takes the same course and has the same [trace hash](Report::trace_hash), on every machine, as long as nothing else
//! decides anything. By default each seed runs twice, and two runs that differ are a failure, which names the first
//! event that differs. These decide what no seed does:
//!
//! * the order of `HashMap` and `HashSet`: take `BTreeMap`, or sort
//! * `std::time::Instant::now` and `SystemTime::now`: take tokio's `Instant`, and [`Process::clock`]
//! * threads: those of `spawn_blocking` and `tokio::fs`, and others that use the world, are a failure at once
//! * `tokio::select!` without `biased`
//! * `tokio::sync::watch` with several receivers, which it wakes in an order of its own: take `Notify`
//! * chance that is neither [`World::draw`] nor the generator of fastrand for the thread, which each run seeds
//! * statics that remember the run before
//! * between machines, numbers drawn as `usize`, and limits of memory, which count the sizes of types
//!
//! # Limits of the simulation
//!
//! Time passes in whole milliseconds. Tasks do not take time, and take turns where they wait only. The deadlines and
//! timers of tokio go by the time of the world; [`Process::clock`] has the clocks that go wrong. Memory that a process
//! shares with the next one of its node, such as a static, survives a crash. Sockets, files and processes of the system
//! are no part of a world.
//!
//! Panics on a thread that runs a world are not printed: they are the failure of that world.
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

/// Makes a test of a world: [`Sim::seeds`] over an `async fn`.
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
/// The settings are those of [`Sim`], each with its method's name: `seeds`, 100 unless it is set, `runs_twice`,
/// `shrinks` and `time_max`. Other attributes, such as `#[ignore]`, may follow. A failure prints the command that
/// repeats it, and the environment is read as [`Sim::seeds`] says.
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

//! Nodes, and the processes that run on them one after the other.
//!
//! # Decisions
//!
//! A simulated world has one runtime with tokio's paused clock, so time jumps from event to event and an idle world costs nothing;
//! a runtime per node would have to be advanced step by step. The price: tasks of `tokio::spawn` outlive the crash of their node.
//! They are cut off instead: each process has a number, and the disk, connections and waits of an ended process do nothing.

use crate::clock::Clock;
use crate::disk::{Disk, keep};
use crate::state::{FOREVER, ProcessState, Shared, note};
use crate::trace::{EventKind, RawEvent};
use crate::transport::{Transport, connect};
use std::fmt;
use std::future::{pending, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout_at};

/// Tasks that a node remembers before it forgets those that have ended.
const TASKS: usize = 64;

/// A machine with a name, a disk and a clock, for one process at a time. Made by
/// [`World::node`](crate::World::node). Clones are the same node.
///
/// This is the handle of the test; the program that runs on the node gets a [`Process`].
#[derive(Clone)]
pub struct Node {
    shared: Arc<Shared>,
    number: usize,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Node {
    pub(crate) fn new(shared: &Arc<Shared>, name: &str) -> Self {
        let number = shared.lock().node(name);
        Self { shared: shared.clone(), number }
    }

    /// The name of the node.
    pub fn name(&self) -> String {
        self.shared.lock().nodes[self.number].name.clone()
    }

    /// Starts a program: now, and whenever the node [restarts](Self::restart). A process that runs crashes first.
    ///
    /// The program gets its connections by [`Process::serve`], and continues as a task of the node; the process lives
    /// on when the program returns.
    ///
    /// ```
    /// use samples::greeter::{GreeterClient, GreeterServer, Name};
    /// # use samples::started::Polite;
    /// use frisbee_sim::sim;
    ///
    /// sim(7, |world| async move {
    ///     world.node("server").start(|process| async move {
    ///         let server = frpc::Server::builder().add_service(GreeterServer::new(Polite));
    ///         process.serve(server.build().expect("settings should be valid"));
    ///     });
    ///     let client = world.node("client").process();
    ///     let channel = frpc::Channel::builder().connect_with_connector(client.connector("server"));
    ///     let client = GreeterClient::new(channel.await.expect("the server accepts"));
    ///     client.greet(Name { name: "Ada".to_owned() }).await.expect("call should succeed");
    /// });
    /// ```
    pub fn start<F, P>(&self, program: F)
    where
        F: Fn(Process) -> P + Send + Sync + 'static,
        P: Future<Output = ()> + Send + 'static,
    {
        self.crash();
        self.shared.lock().nodes[self.number].program = Some(Arc::new(move |process| Box::pin(program(process))));
        self.restart();
    }

    /// The process that runs on the node. If there is none, one without a program begins: this is how tests get clients
    /// that they write in place.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     let client = world.node("client").process();
    ///     assert_eq!(client.name(), "client");
    /// });
    /// ```
    pub fn process(&self) -> Process {
        let mut state = self.shared.lock();
        let node = &mut state.nodes[self.number];
        if !node.is_up {
            node.is_up = true;
            note(&self.shared, &mut state, EventKind::Start, self.number);
        }
        let process = state.nodes[self.number].process;
        Process { shared: self.shared.clone(), number: self.number, process }
    }

    /// Starts the program of the node, unless a process runs.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     let node = world.node("server");
    ///     node.start(|_process| async {});
    ///     node.crash();
    ///     node.restart();
    ///     assert!(node.is_up());
    /// });
    /// ```
    pub fn restart(&self) {
        if self.is_up() {
            return;
        }
        let process = self.process();
        let program = self.shared.lock().nodes[self.number].program.clone();
        if let Some(program) = program {
            // Its first actions belong to its task.
            let started = process.clone();
            process.spawn(async move { program(started).await });
        }
        self.shared.changes.notify_waiters();
    }

    /// Ends the process from one moment to the next. Its tasks are dropped; its connections are reset, or their peers
    /// do not notice, at random; of the values on its disk that are not synced it keeps the first few.
    ///
    /// Tasks that the process has started by `tokio::spawn` and not by [`Process::spawn`] continue, but have no effect
    /// any more: connections, disk and timers of the process have ended for them.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     let node = world.node("server");
    ///     node.start(|_process| async {});
    ///     node.crash();
    ///     assert!(!node.is_up());
    ///     node.restart();
    ///     assert!(node.is_up());
    /// });
    /// ```
    pub fn crash(&self) {
        let mut state = self.shared.lock();
        if !state.nodes[self.number].is_up {
            return;
        }
        note(&self.shared, &mut state, EventKind::Crash, self.number);
        let node = &mut state.nodes[self.number];
        (node.is_up, node.is_paused) = (false, false);
        node.process += 1;
        let ended = (std::mem::take(&mut node.tasks), node.accept.take());
        let unsynced = node.unsynced.len() as u64;
        let kept_bytes = state.rng.u64(..=unsynced) as usize;
        let node = &mut state.nodes[self.number];
        keep(node, kept_bytes);
        node.unsynced.clear();
        let mut wakers = std::mem::take(&mut node.paused);
        let is_reset_sent = state.rng.bool();
        for wire in state.wires.iter_mut().flatten().filter(|wire| wire.nodes.contains(&self.number)) {
            wire.is_reset |= is_reset_sent;
            for (way, node) in wire.ways.iter_mut().zip(wire.nodes) {
                way.is_silent |= node == self.number;
            }
            wakers.extend(wire.wakers());
        }
        drop(state);
        ended.0.iter().for_each(tokio::task::AbortHandle::abort);
        drop(ended);
        wakers.into_iter().for_each(Waker::wake);
        self.shared.changes.notify_waiters();
    }

    /// Loses all that is on the disk.
    pub fn lose_disk(&self) {
        let mut state = self.shared.lock();
        let node = &mut state.nodes[self.number];
        node.unsynced.clear();
        node.disk.clear();
    }

    /// Stops the process until it is [resumed](Self::resume), as a virtual machine that is moved. It neither reads nor
    /// writes, and its [tasks](Process::spawn) and [clock](Clock::sleep) wait.
    ///
    /// Timers of tokio in tasks of frpc continue, so a connection may time out within a pause where a real one
    /// would do so at its end.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     let node = world.node("server");
    ///     node.start(|_process| async {});
    ///     node.pause();
    ///     node.resume();
    /// });
    /// ```
    pub fn pause(&self) {
        let mut state = self.shared.lock();
        let node = &mut state.nodes[self.number];
        if node.is_up && !node.is_paused {
            node.is_paused = true;
            note(&self.shared, &mut state, EventKind::Pause, self.number);
        }
    }

    /// Resumes a paused process.
    pub fn resume(&self) {
        let mut state = self.shared.lock();
        let node = &mut state.nodes[self.number];
        if !node.is_paused {
            return;
        }
        node.is_paused = false;
        let wakers = std::mem::take(&mut node.paused);
        note(&self.shared, &mut state, EventKind::Resume, self.number);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Whether a process runs on the node, or is stopped.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     let node = world.node("server");
    ///     node.start(|_process| async {});
    ///     assert!(node.is_up());
    /// });
    /// ```
    pub fn is_up(&self) -> bool {
        self.shared.lock().nodes[self.number].is_up
    }

    /// Sets the clocks of the node: the offset of the wall clock from the time of the world, in milliseconds, and the
    /// drift of both clocks in millionths, positive if too fast.
    ///
    /// # Panics
    /// If a clock would stop or run backwards.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     let node = world.node("server");
    ///     node.set_clock(1_500, 0); // The wall clock is 1.5 s ahead.
    /// });
    /// ```
    pub fn set_clock(&self, skew_millis: i64, drift_millionths: i64) {
        assert!(drift_millionths.abs() < 1_000_000, "a clock goes forward");
        let mut state = self.shared.lock();
        let node = &mut state.nodes[self.number];
        node.skew_millis = skew_millis;
        node.rate.set_drift(self.shared.elapsed(), drift_millionths);
    }
}

/// A run of a program on a node, from its start to its crash. Clones are the same process.
///
/// After the crash nothing that the process does reaches anybody: its disk reads and writes nothing, its connections
/// fail, and its waits never end.
#[derive(Clone)]
pub struct Process {
    shared: Arc<Shared>,
    number: usize,
    process: u64,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("node", &self.name()).field("number", &self.process).finish()
    }
}

impl Process {
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn incarnation(&self) -> u64 {
        self.process
    }

    /// The name of the node.
    pub fn name(&self) -> String {
        self.shared.lock().nodes[self.number].name.clone()
    }

    /// The disk of the node.
    pub fn disk(&self) -> Disk {
        Disk { process: self.clone() }
    }

    /// The clocks of the node.
    pub fn clock(&self) -> Clock {
        Clock { process: self.clone() }
    }

    /// Serves the connections to this node from now on.
    pub fn serve(&self, acceptor: frpc::Acceptor) {
        self.accept(move |transport| {
            let acceptor = acceptor.clone();
            async move { drop(acceptor.serve_connection(transport).await) }
        });
    }

    /// Passes the connections to this node to a function from now on, whose future is a task of the process: for
    /// routers of frisbee, or any other protocol.
    pub fn accept<F, T>(&self, accept: F)
    where
        F: Fn(Transport) -> T + Send + Sync + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let mut state = self.shared.lock();
        if self.has_ended_in(&state) {
            return;
        }
        let before = state.nodes[self.number].accept.replace(Arc::new(move |transport| Box::pin(accept(transport))));
        drop(state);
        drop(before);
        self.shared.changes.notify_waiters();
    }

    /// Connects to a node by its name, within one round trip.
    ///
    /// # Errors
    /// `ConnectionRefused` if no process accepts there.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt.
    pub async fn dial(&self, to: &str) -> io::Result<Transport> {
        self.running().await;
        let (to, time) = {
            let mut state = self.shared.lock();
            let (to, now) = (state.node(to), self.shared.now());
            (to, state.latency(self.number, to, now) + state.latency(to, self.number, now))
        };
        sleep(Duration::from_millis(time)).await;
        // As TCP does, the request is repeated until it arrives.
        loop {
            let mut changed = std::pin::pin!(self.shared.changes.notified());
            changed.as_mut().enable();
            let until = {
                let state = self.shared.lock();
                state.trouble(self.number, to).blocked.max(state.trouble(to, self.number).blocked)
            };
            match until {
                until if until <= self.shared.now() => break,
                FOREVER => changed.await,
                until => drop(timeout_at(self.shared.instant(until), changed).await),
            }
        }
        self.running().await;
        let mut state = self.shared.lock();
        let node = &state.nodes[to];
        let Some(accept) = node.accept.clone().filter(|_| node.is_up) else {
            let raw = RawEvent { peer: Some(to), ..RawEvent::at(EventKind::Refuse, self.number) };
            self.shared.trace(&mut state, &raw);
            return Err(io::ErrorKind::ConnectionRefused.into());
        };
        let process = node.process;
        let [here, there] = connect(&self.shared, &mut state, [(self.number, self.process), (to, process)]);
        drop(state);
        let server = Self { shared: self.shared.clone(), number: to, process };
        server.spawn(async move { accept(there).await });
        Ok(here)
    }

    /// A function that connects to a node by its name: for [`ChannelBuilder::connect_with_connector`] and its like.
    ///
    /// [`ChannelBuilder::connect_with_connector`]: frpc::ChannelBuilder::connect_with_connector
    pub fn connector(&self, to: &str) -> impl Fn() -> Dialling + Clone + Send + Sync + 'static {
        let (process, to): (_, Arc<str>) = (self.clone(), to.into());
        move || {
            let (process, to) = (process.clone(), to.clone());
            Box::pin(async move { process.dial(&to).await })
        }
    }

    /// Starts a task of the process: a crash drops it, and a pause stops it.
    pub fn spawn<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        let handle = tokio::spawn(ProcessTask { process: self.clone(), future: Box::pin(task) });
        let mut state = self.shared.lock();
        let has_ended = self.has_ended_in(&state);
        let tasks = &mut state.nodes[self.number].tasks;
        if tasks.len() >= TASKS && tasks.len() == tasks.capacity() {
            tasks.retain(|task| !task.is_finished());
        }
        tasks.push(handle.abort_handle());
        drop(state);
        if has_ended {
            handle.abort();
        }
        handle
    }

    /// Waits until the process may act; forever if it has ended.
    pub(crate) async fn running(&self) {
        let may_act = poll_fn(|context| {
            let mut state = self.shared.lock();
            match state.standing(self.number, self.process) {
                ProcessState::Runs => Poll::Ready(true),
                ProcessState::Over => Poll::Ready(false),
                ProcessState::Paused => {
                    state.nodes[self.number].paused.push(context.waker().clone());
                    Poll::Pending
                }
            }
        });
        if !may_act.await {
            pending::<()>().await;
        }
    }
}

/// A connection that is being made.
pub type Dialling = Pin<Box<dyn Future<Output = io::Result<Transport>> + Send>>;

/// A task of a process, polled only while that runs.
struct ProcessTask<F> {
    process: Process,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for ProcessTask<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Process { shared, number, process } = &self.process;
        let mut state = shared.lock();
        match state.standing(*number, *process) {
            ProcessState::Runs => {}
            // It is about to be dropped.
            ProcessState::Over => return Poll::Pending,
            ProcessState::Paused => {
                state.nodes[*number].paused.push(context.waker().clone());
                return Poll::Pending;
            }
        }
        drop(state);
        self.future.as_mut().poll(context)
    }
}

//! Nodes, and the successive processes that run on them.
//!
//! # Decisions
//!
//! A simulated world has one runtime with tokio's paused clock, so time jumps from event to event and an idle world
//! costs nothing; a runtime per node would have to be advanced step by step. A disadvantage is that tasks of
//! `tokio::spawn` outlive the crash of their node. They have no effect, because each process has a number, and the
//! disk, connections and waits of an ended process do nothing.

use crate::clock::{Clock, check_drift};
use crate::disk::{Disk, keep};
use crate::state::{FOREVER, Shared, State};
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

/// Number of tasks of a node at which finished ones are removed from its list.
const TASKS: usize = 64;

/// A machine with a name, a disk and a clock that runs one process at a time. Created by
/// [`World::node`](crate::World::node). Clones refer to the same node.
///
/// This is the handle for the test. The program on the node receives a [`Process`].
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

    /// Returns the name of this node.
    pub fn name(&self) -> String {
        self.shared.lock().nodes[self.number].name.clone()
    }

    /// Starts a program now and whenever the node [restarts](Self::restart). A running process crashes first.
    ///
    /// The program accepts connections with [`Process::serve`] and runs as a task of the node. The process continues
    /// when the program returns.
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
    ///     let client = GreeterClient::new(channel.await.expect("client should connect to the server"));
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

    /// Returns the running process of the node. If there is none, starts one without a program, which tests use for
    /// inline clients.
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
            self.shared.trace(&mut state, &RawEvent::at(EventKind::Start, self.number));
        }
        let process = state.nodes[self.number].process;
        Process { shared: self.shared.clone(), number: self.number, process }
    }

    /// Starts the program of the node unless a process is running.
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
            // Call the program within the task, so that a crash or a pause affects its first actions too.
            let started = process.clone();
            process.spawn(async move { program(started).await });
        }
        self.shared.changes.notify_waiters();
    }

    /// Crashes the process. Its tasks are dropped. Its connections are randomly either reset or silently lost. Of the
    /// unsynced values on its disk, the first few are kept.
    ///
    /// Tasks started by `tokio::spawn` instead of [`Process::spawn`] continue without effect, because the connections,
    /// disk and timers of the process have ended.
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
        self.shared.trace(&mut state, &RawEvent::at(EventKind::Crash, self.number));
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

    /// Erases the disk, including synced values.
    pub fn lose_disk(&self) {
        let mut state = self.shared.lock();
        let node = &mut state.nodes[self.number];
        node.unsynced.clear();
        node.disk.clear();
    }

    /// Pauses the process until it is [resumed](Self::resume), like a virtual machine during migration. It neither
    /// reads nor writes, and its [tasks](Process::spawn) and [sleeps](Clock::sleep) wait.
    ///
    /// Timers of tokio in tasks of frpc continue, so a connection may time out during a pause instead of at its end.
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
            self.shared.trace(&mut state, &RawEvent::at(EventKind::Pause, self.number));
        }
    }

    /// Resumes the process, if it is paused.
    pub fn resume(&self) {
        let mut state = self.shared.lock();
        let node = &mut state.nodes[self.number];
        if !node.is_paused {
            return;
        }
        node.is_paused = false;
        let wakers = std::mem::take(&mut node.paused);
        self.shared.trace(&mut state, &RawEvent::at(EventKind::Resume, self.number));
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns whether the node has a running or paused process.
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

    /// Sets the offset in milliseconds of the node's wall clock from world time, and the drift of both clocks in
    /// millionths, positive if they are too fast.
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
        check_drift(drift_millionths);
        let mut state = self.shared.lock();
        let node = &mut state.nodes[self.number];
        node.skew_millis = skew_millis;
        node.rate.set_drift(self.shared.elapsed(), drift_millionths);
    }
}

/// A run of a program on a node, from its start to its crash. Clones refer to the same process.
///
/// After the crash the process has no effect: disk operations do nothing, connections fail, and waits never complete.
#[derive(Clone)]
pub struct Process {
    pub(crate) shared: Arc<Shared>,
    pub(crate) number: usize,
    process: u64,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("node", &self.name()).field("number", &self.process).finish()
    }
}

impl Process {
    pub(crate) fn has_ended_in(&self, state: &State) -> bool {
        state.has_ended(self.number, self.process)
    }

    /// Returns the name of the node that runs this process.
    pub fn name(&self) -> String {
        self.shared.lock().nodes[self.number].name.clone()
    }

    /// Returns the disk of the node that runs this process.
    pub fn disk(&self) -> Disk {
        Disk { process: self.clone() }
    }

    /// Returns the clock of the node that runs this process.
    pub fn clock(&self) -> Clock {
        Clock { process: self.clone() }
    }

    /// Serves new connections to the node with an frpc server.
    pub fn serve(&self, acceptor: frpc::Acceptor) {
        self.accept(move |transport| {
            let acceptor = acceptor.clone();
            async move { drop(acceptor.serve_connection(transport).await) }
        });
    }

    /// Passes new connections to the node to a function. The function's future runs as a task of the process. Supports
    /// routers of frisbee or any other protocol.
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

    /// Connects to a node by its name, which takes one round trip.
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
        // Retry, because in TCP the connection request is retransmitted until it arrives.
        loop {
            let mut changed = std::pin::pin!(self.shared.changes.notified());
            changed.as_mut().enable();
            let until = {
                let state = self.shared.lock();
                state.faults(self.number, to).blocked.max(state.faults(to, self.number).blocked)
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

    /// Returns a function that connects to a node by its name, for [`ChannelBuilder::connect_with_connector`] and
    /// similar methods.
    ///
    /// [`ChannelBuilder::connect_with_connector`]: frpc::ChannelBuilder::connect_with_connector
    pub fn connector(&self, to: &str) -> impl Fn() -> Dialling + Clone + Send + Sync + 'static {
        let (process, to): (_, Arc<str>) = (self.clone(), to.into());
        move || {
            let (process, to) = (process.clone(), to.clone());
            Box::pin(async move { process.dial(&to).await })
        }
    }

    /// Spawns a task of the process. A crash drops the task, and a pause suspends it.
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

    /// Waits while the process is paused. Never completes after the process has ended.
    pub(crate) async fn running(&self) {
        let runs = poll_fn(|context| self.shared.lock().poll_runs(self.number, self.process, context.waker()));
        if !runs.await {
            pending::<()>().await;
        }
    }
}

/// Future of a connection to another node.
pub type Dialling = Pin<Box<dyn Future<Output = io::Result<Transport>> + Send>>;

/// A task of a process, which is polled only while the process is running.
struct ProcessTask<F> {
    process: Process,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for ProcessTask<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Process { shared, number, process } = &self.process;
        let runs = shared.lock().poll_runs(*number, *process, context.waker());
        // A task of a process that has ended stays pending, because it is about to be aborted.
        if runs != Poll::Ready(true) {
            return Poll::Pending;
        }
        self.future.as_mut().poll(context)
    }
}

//! The state of a world: its nodes, links, connections, random numbers, and trace.

use crate::cable::Cable;
use crate::clock::Rate;
use crate::fault::Fault;
use crate::schedule::PendingFault;
use crate::trace::{RawEvent, Trace};
use crate::transport::Wire;
use fastrand::Rng;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Boxed future that runs as a task of a node.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Program of a node, which is called each time the node starts.
pub(crate) type Program = Arc<dyn Fn(crate::Process) -> Task + Send + Sync>;

/// Function of a node that handles accepted connections.
pub(crate) type Accept = Arc<dyn Fn(crate::Transport) -> Task + Send + Sync>;

/// A condition that must hold throughout the run.
pub(crate) type Check = Box<dyn Fn() -> Result<(), String> + Send>;

/// End time in milliseconds of faults that last until the end of the run.
pub(crate) const FOREVER: u64 = u64::MAX;

/// State shared by all handles of a world.
pub(crate) struct Shared {
    this: Weak<Shared>,
    state: Mutex<State>,
    start: Instant,
    pub(crate) seed: u64,
    /// Notified of changes that pending connection attempts are waiting for.
    pub(crate) changes: Notify,
    pub(crate) checks: Mutex<Vec<Check>>,
    failure: Mutex<Option<String>>,
    /// Waker of the future that runs the world.
    pub(crate) root: Mutex<Option<Waker>>,
    /// Identifier of the thread that runs the world.
    thread: usize,
}

/// Returns an identifier of the current thread.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.try_with(|here| std::ptr::from_ref(here) as usize).unwrap_or(0)
}

/// Error message for a simulated world that is used by another thread than its own.
const THREADS: &str = "a thread other than its own has used the world: no seed decides when it does";

pub(crate) struct State {
    pub(crate) rng: Rng,
    /// Random numbers for faults. Separate from `rng`, so that omitting a fault does not change the other events.
    pub(crate) fault_rng: Rng,
    pub(crate) trace: Trace,
    pub(crate) nodes: Vec<NodeState>,
    names: BTreeMap<String, usize>,
    pub(crate) cable: Cable,
    pub(crate) cables: BTreeMap<(usize, usize), Cable>,
    faults: BTreeMap<(usize, usize), LinkFaults>,
    pub(crate) wires: Vec<Option<Box<Wire>>>,
    /// All faults of the world by number, including omitted ones.
    pub(crate) schedule: Vec<ScheduledFault>,
    /// Faults that will be injected on an occasion that has not occurred yet.
    pub(crate) strikes: Vec<PendingTrigger>,
    /// Numbers of the faults to inject, or `None` to inject all of them.
    pub(crate) kept: Option<BTreeSet<usize>>,
}

/// A fault of the schedule, for the failure report.
#[derive(Clone)]
pub(crate) struct ScheduledFault {
    /// Description of the occasion, if the fault is triggered by one.
    pub(crate) upon: Option<String>,
    /// Time and details of the fault, once it has been injected.
    pub(crate) struck: Option<(Duration, Fault)>,
}

/// A fault that will be injected on an occasion that has not occurred yet.
pub(crate) struct PendingTrigger {
    pub(crate) number: usize,
    pub(crate) strike: PendingFault,
    /// Number of matching events that have already occurred.
    pub(crate) passed: u64,
}

/// Faults of the link from one node to another. Each field except `delay` is the time in milliseconds at which the
/// fault ends.
#[derive(Clone, Copy, Default)]
pub(crate) struct LinkFaults {
    pub(crate) blocked: u64,
    pub(crate) slow: u64,
    pub(crate) corrupt: u64,
    pub(crate) delayed: u64,
    /// Maximum additional delay of a write, in milliseconds.
    pub(crate) delay: u64,
}

#[derive(Default)]
pub(crate) struct NodeState {
    pub(crate) name: String,
    pub(crate) program: Option<Program>,
    pub(crate) accept: Option<Accept>,
    pub(crate) is_up: bool,
    /// Number of the node's current process. All processes with other numbers have ended.
    pub(crate) process: u64,
    pub(crate) is_paused: bool,
    /// Wakers of tasks that are waiting for the node to resume.
    pub(crate) paused: Vec<Waker>,
    pub(crate) tasks: Vec<AbortHandle>,
    pub(crate) disk: BTreeMap<String, Vec<u8>>,
    /// Changes of the disk that have not been synced, in order.
    pub(crate) unsynced: Vec<(String, Option<Vec<u8>>)>,
    pub(crate) skew_millis: i64,
    pub(crate) rate: Rate,
}

impl Shared {
    pub(crate) fn new(seed: u64, is_recorded: bool, kept: Option<BTreeSet<usize>>) -> Arc<Self> {
        let mut rng = Rng::with_seed(seed);
        let state = State {
            fault_rng: rng.fork(),
            rng,
            trace: Trace::new(is_recorded),
            nodes: Vec::new(),
            names: BTreeMap::new(),
            cable: Cable::default(),
            cables: BTreeMap::new(),
            faults: BTreeMap::new(),
            wires: Vec::new(),
            schedule: Vec::new(),
            strikes: Vec::new(),
            kept,
        };
        Arc::new_cyclic(|this| Self {
            this: this.clone(),
            state: Mutex::new(state),
            start: Instant::now(),
            seed,
            changes: Notify::new(),
            checks: Mutex::default(),
            failure: Mutex::default(),
            root: Mutex::default(),
            thread: this_thread(),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Returns the simulated time since the beginning of the world.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns the simulated time since the beginning of the world in milliseconds.
    pub(crate) fn now(&self) -> u64 {
        self.elapsed().as_millis() as u64
    }

    /// Returns the instant `millis` milliseconds after the beginning of the world.
    pub(crate) fn instant(&self, millis: u64) -> Instant {
        self.start + Duration::from_millis(millis)
    }

    /// Adds an event to the trace.
    pub(crate) fn trace(&self, state: &mut State, raw: &RawEvent<'_>) {
        if this_thread() != self.thread {
            self.fail(THREADS.to_owned());
        }
        let State { trace, nodes, .. } = state;
        trace.add(self.elapsed(), raw, |node| &nodes[node].name);
        if let (false, Some(node)) = (state.strikes.is_empty(), raw.node) {
            self.inject_triggered(state, raw, node);
        }
    }

    /// Injects the faults that this event triggers.
    fn inject_triggered(&self, state: &mut State, raw: &RawEvent<'_>, node: usize) {
        let due: Vec<_> =
            state.strikes.extract_if(.., |pending| pending.strike.is_due(raw, &mut pending.passed)).collect();
        for PendingTrigger { number, strike, .. } in due {
            let names = state.nodes.iter().map(|node| &*node.name);
            let (delay, fault) = strike.draw(&state.nodes[node].name, names);
            state.schedule[number].struck = Some((self.elapsed() + delay, fault.clone()));
            // If the world no longer exists, there is no node to affect.
            if let Some(shared) = self.this.upgrade() {
                tokio::spawn(crate::World(shared).inject_later(delay, fault, Some(strike.when())));
            }
        }
    }

    /// Fails the run. Only the first failure is recorded.
    pub(crate) fn fail(&self, text: String) {
        self.failure.lock().get_or_insert(text);
        if let Some(root) = self.root.lock().take() {
            root.wake();
        }
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }

    /// Checks all conditions that must hold throughout the run.
    pub(crate) fn run_checks(&self) {
        // Return from reentrant calls. A condition that another condition has added is checked the next time.
        let Some(checks) = self.checks.try_lock() else { return };
        let broken = || checks.iter().find_map(|check| check().err());
        // A condition that panics does not hold. The hook has recorded the panic.
        let broken = catch_unwind(AssertUnwindSafe(broken)).unwrap_or_default();
        drop(checks);
        if let Some(text) = broken {
            self.fail(text);
        }
    }

    /// Drops all programs, tasks and connections that may own the world, to break reference cycles.
    pub(crate) fn clear(&self) {
        let mut state = self.lock();
        let programs: Vec<_> = state.nodes.iter_mut().map(|node| (node.program.take(), node.accept.take())).collect();
        drop(state);
        drop(programs);
        drop(std::mem::take(&mut *self.checks.lock()));
        drop(self.root.lock().take());
    }
}

impl State {
    /// Returns the number of the node with this name. Creates the node if it does not exist.
    pub(crate) fn node(&mut self, name: &str) -> usize {
        if let Some(node) = self.names.get(name) {
            return *node;
        }
        self.nodes.push(NodeState { name: name.to_owned(), ..NodeState::default() });
        self.names.insert(name.to_owned(), self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    pub(crate) fn cable(&self, from: usize, to: usize) -> Cable {
        self.cables.get(&(from, to)).copied().unwrap_or(self.cable)
    }

    pub(crate) fn faults(&self, from: usize, to: usize) -> LinkFaults {
        self.faults.get(&(from, to)).copied().unwrap_or_default()
    }

    pub(crate) fn faults_mut(&mut self, from: usize, to: usize) -> &mut LinkFaults {
        self.faults.entry((from, to)).or_default()
    }

    /// Returns a random latency from one node to another, in milliseconds.
    pub(crate) fn latency(&mut self, from: usize, to: usize, now: u64) -> u64 {
        let (least, most) = self.cable(from, to).latency;
        let latency = if least == most { least } else { self.rng.u64(least..=most) };
        let LinkFaults { delayed, delay, .. } = self.faults(from, to);
        latency + if delayed > now { self.rng.u64(..=delay) } else { 0 }
    }

    /// Returns whether a process has ended, because it crashed or the node runs a later one.
    pub(crate) fn has_ended(&self, node: usize, process: u64) -> bool {
        self.nodes[node].process != process || !self.nodes[node].is_up
    }

    /// Waits while a process is paused. Returns `false` if it has ended.
    pub(crate) fn poll_runs(&mut self, node: usize, process: u64, waker: &Waker) -> Poll<bool> {
        if self.has_ended(node, process) {
            return Poll::Ready(false);
        }
        let node = &mut self.nodes[node];
        if node.is_paused {
            node.paused.push(waker.clone());
            return Poll::Pending;
        }
        Poll::Ready(true)
    }

    /// Calls `change` with each connection between two nodes, and with the index of the end at the node `one`. Returns
    /// the wakers of the tasks that wait on these connections.
    pub(crate) fn between(&mut self, one: usize, other: usize, mut change: impl FnMut(&mut Wire, usize)) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for wire in self.wires.iter_mut().flatten() {
            let side = match wire.nodes {
                nodes if nodes == [one, other] => 0,
                nodes if nodes == [other, one] => 1,
                _ => continue,
            };
            change(wire, side);
            wakers.extend(wire.wakers());
        }
        wakers
    }
}

//! The state of a world: its nodes, the ways between them, the connections, chance, and the trace.

use crate::cable::Cable;
use crate::clock::Rate;
use crate::fault::Fault;
use crate::schedule::PendingFault;
use crate::trace::{EventKind, RawEvent, Trace};
use crate::transport::Wire;
use fastrand::Rng;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// A future of a node.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The program of a node, called at each start.
pub(crate) type Program = Arc<dyn Fn(crate::Process) -> Task + Send + Sync>;

/// The code that gets the connections to a node.
pub(crate) type Accept = Arc<dyn Fn(crate::Transport) -> Task + Send + Sync>;

/// A condition that holds at all times.
pub(crate) type Check = Box<dyn Fn() -> Result<(), String> + Send>;

/// A time without end, in milliseconds.
pub(crate) const FOREVER: u64 = u64::MAX;

/// The parts of a world that all its handles share.
pub(crate) struct Shared {
    this: Weak<Shared>,
    state: Mutex<State>,
    start: Instant,
    pub(crate) seed: u64,
    /// Notified of changes that those who dial wait for.
    pub(crate) changes: Notify,
    pub(crate) checks: Mutex<Vec<Check>>,
    failure: Mutex<Option<String>>,
    /// Wakes the future that runs the world.
    pub(crate) root: Mutex<Option<Waker>>,
    /// The thread that runs the world.
    thread: usize,
}

/// A number of the thread that calls.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.try_with(|here| std::ptr::from_ref(here) as usize).unwrap_or(0)
}

/// The failure of a world that other threads use.
const THREADS: &str = "a thread other than its own has used the world: no seed decides when it does";

pub(crate) struct State {
    pub(crate) rng: Rng,
    /// Apart from the other chance, so that a world with fewer faults draws the same ones.
    pub(crate) fault_rng: Rng,
    pub(crate) trace: Trace,
    pub(crate) nodes: Vec<NodeState>,
    names: BTreeMap<String, usize>,
    pub(crate) cable: Cable,
    pub(crate) cables: BTreeMap<(usize, usize), Cable>,
    troubles: BTreeMap<(usize, usize), LinkFaults>,
    pub(crate) wires: Vec<Option<Box<Wire>>>,
    /// The faults of the world by their numbers, also those that are left out.
    pub(crate) schedule: Vec<ScheduledFault>,
    /// Those that wait for their occasions.
    pub(crate) strikes: Vec<PendingTrigger>,
    /// The faults that strike; all if `None`.
    pub(crate) kept: Option<BTreeSet<usize>>,
}

/// A fault of the schedule, for the report.
#[derive(Clone)]
pub(crate) struct ScheduledFault {
    /// Of a fault that waits for its occasion: that.
    pub(crate) upon: Option<String>,
    /// When it strikes, if that is known.
    pub(crate) struck: Option<(Duration, Fault)>,
}

/// A fault that waits for its occasion.
pub(crate) struct PendingTrigger {
    pub(crate) number: usize,
    pub(crate) strike: PendingFault,
    /// The occasions of its kind that have passed.
    pub(crate) passed: u64,
}

/// Until when the way from one node to another is in trouble, in milliseconds.
#[derive(Clone, Copy, Default)]
pub(crate) struct LinkFaults {
    pub(crate) blocked: u64,
    pub(crate) slow: u64,
    pub(crate) corrupt: u64,
    pub(crate) delayed: u64,
    /// By how many milliseconds at most.
    pub(crate) delay: u64,
}

#[derive(Default)]
pub(crate) struct NodeState {
    pub(crate) name: String,
    pub(crate) program: Option<Program>,
    pub(crate) accept: Option<Accept>,
    pub(crate) is_up: bool,
    /// The number of the process; a process of another number has ended.
    pub(crate) process: u64,
    pub(crate) is_paused: bool,
    /// Wakers of tasks that wait until the node resumes.
    pub(crate) paused: Vec<Waker>,
    pub(crate) tasks: Vec<AbortHandle>,
    pub(crate) disk: BTreeMap<String, Vec<u8>>,
    /// Written and not synced, in order.
    pub(crate) unsynced: Vec<(String, Option<Vec<u8>>)>,
    pub(crate) skew_millis: i64,
    pub(crate) rate: Rate,
}

/// Whether a process may do something now.
pub(crate) enum ProcessState {
    Runs,
    Paused,
    Over,
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
            troubles: BTreeMap::new(),
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

    /// The virtual time since the beginning.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The same, in milliseconds.
    pub(crate) fn now(&self) -> u64 {
        self.elapsed().as_millis() as u64
    }

    /// The moment so many milliseconds after the beginning.
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

    /// Triggers the faults upon this event.
    fn inject_triggered(&self, state: &mut State, raw: &RawEvent<'_>, node: usize) {
        let due: Vec<_> =
            state.strikes.extract_if(.., |pending| pending.strike.is_due(raw, &mut pending.passed)).collect();
        for PendingTrigger { number, strike, .. } in due {
            let names = state.nodes.iter().map(|node| &*node.name);
            let (delay, fault) = strike.draw(&state.nodes[node].name, names);
            state.schedule[number].struck = Some((self.elapsed() + delay, fault.clone()));
            // Without a world there is no node to strike.
            if let Some(shared) = self.this.upgrade() {
                tokio::spawn(crate::World(shared).inject_later(delay, fault, Some(strike.when())));
            }
        }
    }

    /// Ends the run, since something is wrong. Only the first failure counts.
    pub(crate) fn fail(&self, text: String) {
        self.failure.lock().get_or_insert(text);
        if let Some(root) = self.root.lock().take() {
            root.wake();
        }
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }

    /// Looks at the conditions that hold at all times.
    pub(crate) fn run_checks(&self) {
        // A condition that is added by another one is looked at the next time.
        let Some(checks) = self.checks.try_lock() else { return };
        let broken = || checks.iter().find_map(|check| check().err());
        // A condition that panics does not hold: the hook has noted why.
        let broken = catch_unwind(AssertUnwindSafe(broken)).unwrap_or_default();
        drop(checks);
        if let Some(text) = broken {
            self.fail(text);
        }
    }

    /// Drops all that may hold the world itself.
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
    /// The number of a node, which is made if it is new.
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

    pub(crate) fn trouble(&self, from: usize, to: usize) -> LinkFaults {
        self.troubles.get(&(from, to)).copied().unwrap_or_default()
    }

    pub(crate) fn trouble_mut(&mut self, from: usize, to: usize) -> &mut LinkFaults {
        self.troubles.entry((from, to)).or_default()
    }

    /// A latency from one node to another, in milliseconds.
    pub(crate) fn latency(&mut self, from: usize, to: usize, now: u64) -> u64 {
        let (least, most) = self.cable(from, to).latency;
        let latency = if least == most { least } else { self.rng.u64(least..=most) };
        let LinkFaults { delayed, delay, .. } = self.trouble(from, to);
        latency + if delayed > now { self.rng.u64(..=delay) } else { 0 }
    }

    pub(crate) fn standing(&self, node: usize, process: u64) -> ProcessState {
        let node = &self.nodes[node];
        if node.process != process || !node.is_up {
            ProcessState::Over
        } else if node.is_paused {
            ProcessState::Paused
        } else {
            ProcessState::Runs
        }
    }

    /// Wakers of tasks that wait for any connection.
    pub(crate) fn wake_all(&mut self) -> Vec<Waker> {
        self.wires.iter_mut().flatten().flat_map(|wire| wire.wakers()).collect()
    }

    /// Breaks or changes the connections between two nodes, each with the side of the first node.
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

/// Adds a start, crash or the like to the trace.
pub(crate) fn note(shared: &Shared, state: &mut State, kind: EventKind, node: usize) {
    shared.trace(state, &RawEvent::at(kind, node));
}

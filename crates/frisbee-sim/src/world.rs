//! A world: its nodes, network, faults, and conditions.

use crate::cable::Cable;
use crate::clock::check_drift;
use crate::fault::Fault;
use crate::node::Node;
use crate::schedule::{Faults, PlannedFault};
use crate::state::{FOREVER, LinkFaults, PendingTrigger, ScheduledFault, Shared};
use crate::trace::{EventKind, RawEvent};
use fastrand::Rng;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;
use tokio::time::sleep;

/// Number of times that an eventual condition is checked within its timeout.
const LOOKS: u32 = 1_000;

/// A simulated world. Created by [`sim`](crate::sim) and [`Sim`](crate::Sim). Clones refer to the same world.
///
/// Its tasks run on one thread. When all of them are waiting, the time jumps to the next timer. Nothing else takes
/// simulated time.
#[derive(Clone)]
pub struct World(pub(crate) Arc<Shared>);

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("seed", &self.0.seed).field("elapsed", &self.elapsed()).finish_non_exhaustive()
    }
}

impl World {
    /// Returns the seed of the world.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     assert_eq!(world.seed(), 7);
    /// });
    /// ```
    pub fn seed(&self) -> u64 {
        self.0.seed
    }

    /// Returns the virtual time since the beginning.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    ///     assert!(world.elapsed().as_secs() >= 60);
    /// });
    /// ```
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// Returns the node with this name. Creates it if it is new. A node is down until it [starts](Node::start).
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     assert_eq!(world.node("server").name(), "server");
    /// });
    /// ```
    pub fn node(&self, name: &str) -> Node {
        Node::new(&self.0, name)
    }

    /// Draws random numbers that are reproduced with the seed.
    ///
    /// The function must not use the world.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     let dice = world.draw(|rng| rng.u8(1..=6));
    ///     assert!((1..=6).contains(&dice));
    /// });
    /// ```
    pub fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.0.lock().rng)
    }

    /// Adds a note to the trace.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     world.note("the leader is elected");
    /// });
    /// ```
    pub fn note(&self, text: impl AsRef<str>) {
        let raw = RawEvent { node: None, text: text.as_ref(), ..RawEvent::at(EventKind::Note, 0) };
        self.0.trace(&mut self.0.lock(), &raw);
    }

    /// Sets the default link between nodes. Links set individually are not affected.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// frisbee_sim::sim(7, |world| async move {
    ///     let slow = Duration::from_millis(50)..=Duration::from_millis(90);
    ///     world.set_cables(frisbee_sim::Cable::default().latency(slow));
    /// });
    /// ```
    pub fn set_cables(&self, cable: Cable) {
        self.0.lock().cable = cable;
    }

    /// Sets the link from one node to another. The reverse direction is not affected.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     world.set_cable("client", "server", frisbee_sim::Cable::default().bandwidth(10_000));
    /// });
    /// ```
    pub fn set_cable(&self, from: &str, to: &str, cable: Cable) {
        let mut state = self.0.lock();
        let way = (state.node(from), state.node(to));
        state.cables.insert(way, cable);
    }

    /// Blocks all bytes from one node to another until [`heal`](Self::heal). Bytes written until then arrive
    /// afterwards.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     world.block("client", "server");
    ///     world.heal("client", "server");
    /// });
    /// ```
    pub fn block(&self, from: &str, to: &str) {
        let mut state = self.0.lock();
        let (from, to) = (state.node(from), state.node(to));
        state.faults_mut(from, to).blocked = FOREVER;
    }

    /// Removes all blocks from one node to another.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     world.block("client", "server");
    ///     world.heal("client", "server");
    /// });
    /// ```
    pub fn heal(&self, from: &str, to: &str) {
        let mut state = self.0.lock();
        let (from, to) = (state.node(from), state.node(to));
        state.faults_mut(from, to).blocked = 0;
        let wakers: Vec<_> = state.wires.iter_mut().flatten().flat_map(|wire| wire.wakers()).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        self.0.changes.notify_waiters();
    }

    /// Schedules faults to be injected later. A failing run is repeated with fewer of them.
    pub fn inject(&self, faults: Faults) {
        let started = self.elapsed();
        let mut state = self.0.lock();
        for planned in faults.draw(&mut state.fault_rng) {
            let number = state.schedule.len();
            let is_kept = state.kept.as_ref().is_none_or(|kept| kept.contains(&number));
            let (upon, struck) = match &planned {
                PlannedFault::At(at, fault) => (None, Some((started + *at, fault.clone()))),
                PlannedFault::Upon(strike) => (Some(strike.when()), None),
            };
            state.schedule.push(ScheduledFault { upon, struck });
            match planned {
                _ if !is_kept => {}
                PlannedFault::At(at, fault) => drop(tokio::spawn(self.clone().inject_later(at, fault, None))),
                PlannedFault::Upon(strike) => state.strikes.push(PendingTrigger { number, strike, passed: 0 }),
            }
        }
    }

    /// Records that the program has reached a named point at a node, for example an election or the start of a
    /// migration. The point appears in the trace, and faults can be [triggered](Faults::upon) by its name.
    pub fn occasion(&self, name: &str, node: &str) {
        let mut state = self.0.lock();
        let raw = RawEvent { text: name, ..RawEvent::at(EventKind::Occasion, state.node(node)) };
        self.0.trace(&mut state, &raw);
    }

    /// Injects a fault of a schedule after a delay.
    pub(crate) async fn inject_later(self, delay: Duration, fault: Fault, upon: Option<String>) {
        sleep(delay).await;
        let text = upon.map_or_else(|| fault.to_string(), |upon| format!("{fault}, {upon}"));
        self.inject_as(fault, &text).await;
    }

    /// Injects a fault immediately. The future completes when the fault has ended.
    ///
    /// # Cancel safety
    /// If the future is dropped, a crashed node stays down, and a paused one stays paused. Other faults end on time.
    pub async fn inject_now(&self, fault: Fault) {
        let text = fault.to_string();
        self.inject_as(fault, &text).await;
    }

    async fn inject_as(&self, fault: Fault, text: &str) {
        let raw = RawEvent { node: None, text, ..RawEvent::at(EventKind::Fault, 0) };
        self.0.trace(&mut self.0.lock(), &raw);
        match fault {
            Fault::Crash { node, down, loses_disk } => {
                let node = self.node(&node);
                node.crash();
                if loses_disk {
                    node.lose_disk();
                }
                sleep(down).await;
                node.restart();
            }
            Fault::Pause { node, time } => {
                let node = self.node(&node);
                node.pause();
                sleep(time).await;
                node.resume();
            }
            Fault::Partition { from, to, both_ways, time } => {
                if both_ways {
                    self.extend(self.numbers(&to, &from), time, |faults| &mut faults.blocked);
                }
                self.disturb(&from, &to, time, |faults| &mut faults.blocked).await;
            }
            Fault::Isolate { node, time } => {
                let (node, _) = self.numbers(&node, &node);
                let others = 0..self.0.lock().nodes.len();
                let links = others.filter(|other| *other != node).flat_map(|other| [(node, other), (other, node)]);
                links.for_each(|link| self.extend(link, time, |faults| &mut faults.blocked));
                sleep(time).await;
            }
            Fault::Reset { one, other } => self.change(&one, &other, |wire, _| wire.is_reset = true),
            Fault::Silence { one, other } => {
                self.change(&one, &other, |wire, _| wire.ways.iter_mut().for_each(|way| way.is_silent = true));
            }
            Fault::Cut { from, to, behind } => self.change(&from, &to, |wire, side| wire.ways[side].cut_after(behind)),
            Fault::Slow { from, to, time } => self.disturb(&from, &to, time, |faults| &mut faults.slow).await,
            Fault::Delay { from, to, most, time } => {
                let disturbed = self.disturb(&from, &to, time, |faults| {
                    faults.delay = most.as_millis() as u64;
                    &mut faults.delayed
                });
                disturbed.await;
            }
            Fault::Corrupt { from, to, time } => self.disturb(&from, &to, time, |faults| &mut faults.corrupt).await,
            Fault::SetClock { node, by_millis } => {
                let (node, _) = self.numbers(&node, &node);
                self.0.lock().nodes[node].skew_millis += by_millis;
            }
            Fault::Drift { node, millionths, time } => {
                check_drift(millionths);
                let ((node, _), now) = (self.numbers(&node, &node), self.elapsed());
                self.0.lock().nodes[node].rate.start_drift(now, millionths, now.saturating_add(time));
                sleep(time).await;
                let now = self.elapsed();
                self.0.lock().nodes[node].rate.stop_drift(now);
            }
        }
    }

    fn numbers(&self, one: &str, other: &str) -> (usize, usize) {
        let mut state = self.0.lock();
        (state.node(one), state.node(other))
    }

    /// Injects a link fault that lasts at least for `time`, and waits for that time.
    async fn disturb(&self, from: &str, to: &str, time: Duration, fault: impl Fn(&mut LinkFaults) -> &mut u64) {
        self.extend(self.numbers(from, to), time, fault);
        sleep(time).await;
    }

    /// Extends a fault of a link so that it lasts at least for this time.
    fn extend(&self, (from, to): (usize, usize), time: Duration, fault: impl Fn(&mut LinkFaults) -> &mut u64) {
        let until = self.0.now().saturating_add(u64::try_from(time.as_millis()).unwrap_or(FOREVER));
        let mut state = self.0.lock();
        let fault = fault(state.faults_mut(from, to));
        *fault = until.max(*fault);
    }

    /// Calls `change` with each connection between two nodes, and with the index of the end at the node `one`. Then
    /// wakes the tasks that wait on these connections.
    fn change(&self, one: &str, other: &str, change: impl FnMut(&mut crate::transport::Wire, usize)) {
        let mut state = self.0.lock();
        let (one, other) = (state.node(one), state.node(other));
        let wakers = state.between(one, other, change);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Fails the run as soon as a condition does not hold. The condition is checked whenever all tasks wait, before
    /// time advances, so changes within one instant are not detected.
    ///
    /// ```should_panic
    /// # frisbee_sim::sim(1, |world| async move {
    /// let node = world.node("a");
    /// node.process();
    /// let watched = node.clone();
    /// world.always("node a is up", move || watched.is_up());
    /// node.crash();
    /// # tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    /// # });
    /// ```
    pub fn always(&self, name: impl Into<String>, holds: impl Fn() -> bool + Send + 'static) {
        let name = name.into();
        let shared = Arc::downgrade(&self.0);
        let check = move || {
            if holds() {
                return Ok(());
            }
            let at = shared.upgrade().map_or(Duration::ZERO, |shared| shared.elapsed());
            Err(format!("not always: {name} (at {at:?})"))
        };
        self.0.checks.lock().push(Box::new(check));
    }

    /// Waits until a condition holds. Fails the run if it does not hold within the timeout.
    ///
    /// # Panics
    /// If the condition does not hold in time.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the wait.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// frisbee_sim::sim(7, |world| async move {
    ///     let end = world.clone();
    ///     world.eventually("a second passes", Duration::from_secs(2), || end.elapsed() >= Duration::from_secs(1)).await;
    /// });
    /// ```
    pub async fn eventually(&self, name: &str, within: Duration, holds: impl Fn() -> bool) {
        let pause = (within / LOOKS).max(Duration::from_millis(1));
        let end = self.elapsed() + within;
        while !holds() {
            assert!(self.elapsed() < end, "not within {within:?}: {name}");
            sleep(pause).await;
        }
    }
}

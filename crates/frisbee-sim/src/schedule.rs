//! Schedules of faults: at explicit times, at random times derived from the seed, or upon events.

use crate::fault::{Fault, FaultKind};
use crate::trace::{EventKind, RawEvent};
use fastrand::Rng;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Maximum random drift of a node's clocks, in millionths.
const DRIFT_MAX: i64 = 50_000;

/// Maximum random delay of a write by a fault, in milliseconds.
const DELAY_MAX: u64 = 500;

/// A schedule of the faults that [`World::inject`](crate::World::inject) injects.
#[derive(Clone, Debug)]
#[must_use]
pub struct Faults {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Written(Vec<(Duration, Fault)>),
    DrawRules(DrawRules),
}

/// Rules for drawing random faults.
#[derive(Clone, Debug)]
struct DrawRules {
    count: usize,
    nodes: Vec<String>,
    peers: Vec<String>,
    kinds: Vec<FaultKind>,
    within: Duration,
    longest: Duration,
    upon: Option<Trigger>,
    /// Number of occasions. Each fault chooses one of them at random.
    among: u64,
}

/// Event at a node that can [trigger](Faults::upon) faults: an event of the trace, or an
/// [occasion](crate::World::occasion) named by the test.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Trigger {
    /// Any event of this kind in the trace.
    Event(EventKind),
    /// An occasion that the test has named.
    Named(String),
}

impl From<EventKind> for Trigger {
    fn from(kind: EventKind) -> Self {
        Self::Event(kind)
    }
}

impl From<&str> for Trigger {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

impl Trigger {
    fn is(&self, raw: &RawEvent<'_>) -> bool {
        match self {
            Self::Event(kind) => *kind == raw.kind,
            Self::Named(name) => raw.kind == EventKind::Occasion && raw.text == name,
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(kind) => f.write_str(kind.verb()),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl Faults {
    /// Creates a schedule of faults at explicit times after [`World::inject`](crate::World::inject).
    pub fn schedule(faults: impl IntoIterator<Item = (Duration, Fault)>) -> Self {
        Self { source: Source::Written(faults.into_iter().collect()) }
    }

    /// Creates a schedule of `count` random faults at these nodes, derived from the seed. By default they are of the
    /// [usual](FaultKind::USUAL) kinds, begin within 10 s, and last up to 4 s.
    ///
    /// # Panics
    /// If there are no nodes.
    pub fn drawn<N: Into<String>>(count: usize, nodes: impl IntoIterator<Item = N>) -> Self {
        let nodes: Vec<_> = nodes.into_iter().map(Into::into).collect();
        assert!(!nodes.is_empty(), "fault schedule should have at least one node");
        Self::of(DrawRules { peers: nodes.clone(), nodes, ..DrawRules::new(count, Duration::from_secs(10)) })
    }

    /// Creates a schedule of `count` random faults that events trigger. An event that can trigger a fault is called an
    /// occasion. Each fault chooses one of the first `count` occasions and affects the node of that event. It begins
    /// within 100 ms after the event and lasts up to 4 s. The faults are derived from the seed and are of the
    /// [usual](FaultKind::USUAL) kinds by default. A fault is not injected if its occasion does not occur.
    ///
    /// For example, leaders can fail when they are elected, and machines while they write:
    ///
    /// ```
    /// # use frisbee_sim::{EventKind, FaultKind, Faults, sim};
    /// # use std::time::Duration;
    /// # sim(3, |world| async move {
    /// world.inject(Faults::upon("elected", 4).kinds([FaultKind::Crash, FaultKind::Isolate]));
    /// world.inject(Faults::upon(EventKind::Sync, 2).among(100).kinds([FaultKind::Crash]));
    ///
    /// world.node("r1").start(|_| async {});
    /// world.occasion("elected", "r1"); // Where the service says so.
    /// # tokio::time::sleep(Duration::from_secs(10)).await;
    /// # });
    /// ```
    ///
    /// # Panics
    /// If the occasion is a note or a fault, because these have no node.
    pub fn upon(occasion: impl Into<Trigger>, count: usize) -> Self {
        let occasion = occasion.into();
        let is_at_a_node = !matches!(occasion, Trigger::Event(EventKind::Note | EventKind::Fault));
        assert!(is_at_a_node, "occasion should have a node, which notes and faults do not");
        let among = count as u64;
        Self::of(DrawRules { upon: Some(occasion), among, ..DrawRules::new(count, Duration::from_millis(100)) })
    }

    fn of(drawn: DrawRules) -> Self {
        Self { source: Source::DrawRules(drawn) }
    }

    /// Changes the rules for random faults. Has no effect on explicit schedules.
    fn set(mut self, change: impl FnOnce(&mut DrawRules)) -> Self {
        if let Source::DrawRules(drawn) = &mut self.source {
            change(drawn);
        }
        self
    }

    /// Restricts the kinds of random faults. Like the other setters, has no effect on explicit schedules.
    ///
    /// # Panics
    /// If the list is empty.
    pub fn kinds(self, kinds: impl IntoIterator<Item = FaultKind>) -> Self {
        let kinds: Vec<_> = kinds.into_iter().collect();
        assert!(!kinds.is_empty(), "fault schedule should have at least one kind of fault");
        self.set(|drawn| drawn.kinds = kinds)
    }

    /// Sets the nodes at which faults occur. Replaces earlier nodes, including the nodes of the
    /// [occasions](Self::upon).
    ///
    /// # Panics
    /// If the list is empty.
    pub fn nodes<N: Into<String>>(self, nodes: impl IntoIterator<Item = N>) -> Self {
        let nodes: Vec<_> = nodes.into_iter().map(Into::into).collect();
        assert!(!nodes.is_empty(), "fault schedule should have at least one node");
        self.set(|drawn| drawn.nodes = nodes)
    }

    /// Adds peers, usually clients, for faults between two nodes. The peers themselves neither crash nor pause. Without
    /// peers, faults [upon](Self::upon) occasions affect links between all nodes of the world.
    pub fn peers<N: Into<String>>(self, peers: impl IntoIterator<Item = N>) -> Self {
        self.set(|drawn| drawn.peers.extend(peers.into_iter().map(Into::into)))
    }

    /// Sets the maximum time until a fault begins, after [`World::inject`](crate::World::inject) or after the occasion
    /// that triggers it. With zero, faults begin at once.
    pub fn within(self, time: Duration) -> Self {
        self.set(|drawn| drawn.within = time)
    }

    /// Sets the maximum duration of a random fault. With zero, faults end at once.
    pub fn lasting(self, longest: Duration) -> Self {
        self.set(|drawn| drawn.longest = longest)
    }

    /// Sets the range of occasions that can trigger the faults of a schedule created with [`upon`](Self::upon). Each
    /// fault randomly chooses one of the first `occasions` occasions. Defaults to the number of faults. Use a large
    /// number for events that occur often, such as writes, because otherwise all faults occur near the start. Zero
    /// counts as one.
    pub fn among(self, occasions: u64) -> Self {
        self.set(|drawn| drawn.among = occasions)
    }

    /// Draws the random faults of the schedule and returns all faults in order.
    pub(crate) fn draw(self, rng: &mut Rng) -> Vec<PlannedFault> {
        let drawn = match self.source {
            Source::Written(faults) => return in_order(faults),
            Source::DrawRules(drawn) => drawn,
        };
        let Some(occasion) = drawn.upon.clone() else {
            return in_order((0..drawn.count).map(|_| drawn.draw(rng, &drawn.nodes, &drawn.peers)).collect());
        };
        let drawn = Arc::new(drawn);
        let strike = |_| PendingFault {
            occasion: occasion.clone(),
            at: rng.u64(..drawn.among.max(1)),
            seed: rng.u64(..),
            drawn: drawn.clone(),
        };
        (0..drawn.count).map(strike).map(PlannedFault::Upon).collect()
    }
}

fn in_order(mut faults: Vec<(Duration, Fault)>) -> Vec<PlannedFault> {
    faults.sort_by_key(|(at, _)| *at);
    faults.into_iter().map(|(at, fault)| PlannedFault::At(at, fault)).collect()
}

/// A fault of a schedule, with the time or occasion of its injection.
pub(crate) enum PlannedFault {
    /// A fault that is injected after this time.
    At(Duration, Fault),
    Upon(PendingFault),
}

/// A fault that will be injected on a certain occasion.
pub(crate) struct PendingFault {
    occasion: Trigger,
    /// Zero-based number of the occasion that triggers the fault.
    at: u64,
    /// Random seed of the fault. Drawn in advance, so that the fault does not depend on other random numbers.
    seed: u64,
    drawn: Arc<DrawRules>,
}

impl PendingFault {
    /// Returns whether this event triggers the fault. Earlier matching events are counted in `passed`.
    pub(crate) fn is_due(&self, raw: &RawEvent<'_>, passed: &mut u64) -> bool {
        if !self.occasion.is(raw) {
            return false;
        }
        *passed += 1;
        *passed > self.at
    }

    /// Draws the fault from its seed. `node` is the node of the event that triggered the fault, and `all` are the names
    /// of all nodes. Returns the delay after the event and the fault.
    pub(crate) fn draw<'n>(&self, node: &str, all: impl Iterator<Item = &'n str>) -> (Duration, Fault) {
        let DrawRules { nodes, peers, .. } = &*self.drawn;
        let nodes = if nodes.is_empty() { vec![node.to_owned()] } else { nodes.clone() };
        let peers = if peers.is_empty() { all.map(str::to_owned).collect() } else { peers.clone() };
        self.drawn.draw(&mut Rng::with_seed(self.seed), &nodes, &peers)
    }

    /// Describes the occasion that triggers the fault.
    pub(crate) fn when(&self) -> String {
        format!("upon \"{}\" number {}", self.occasion, self.at + 1)
    }
}

impl DrawRules {
    fn new(count: usize, within: Duration) -> Self {
        let (longest, kinds) = (Duration::from_secs(4), FaultKind::USUAL.to_vec());
        Self { count, nodes: Vec::new(), peers: Vec::new(), kinds, within, longest, upon: None, among: 0 }
    }

    fn draw(&self, rng: &mut Rng, nodes: &[String], peers: &[String]) -> (Duration, Fault) {
        let at = below(rng, self.within);
        let time = below(rng, self.longest);
        let node = pick(rng, nodes).clone();
        let mut peer = pick(rng, peers).clone();
        while peer == node && peers.iter().any(|other| *other != node) {
            peer.clone_from(pick(rng, peers));
        }
        let (from, to) = if rng.bool() { (node.clone(), peer.clone()) } else { (peer.clone(), node.clone()) };
        let fault = match pick(rng, &self.kinds) {
            FaultKind::Crash => Fault::Crash { node, down: time, loses_disk: false },
            FaultKind::LoseDisk => Fault::Crash { node, down: time, loses_disk: true },
            FaultKind::Pause => Fault::Pause { node, time },
            FaultKind::Partition => Fault::Partition { from, to, both_ways: rng.bool(), time },
            FaultKind::Isolate => Fault::Isolate { node, time },
            FaultKind::Reset => Fault::Reset { one: node, other: peer },
            FaultKind::Silence => Fault::Silence { one: node, other: peer },
            FaultKind::Cut => Fault::Cut { from, to, behind: rng.u64(..3_000) },
            FaultKind::Slow => Fault::Slow { from, to, time },
            FaultKind::Delay => Fault::Delay { from, to, most: Duration::from_millis(rng.u64(1..=DELAY_MAX)), time },
            FaultKind::Corrupt => Fault::Corrupt { from, to, time },
            FaultKind::SetClock => Fault::SetClock { node, by_millis: rng.i64(-20_000..20_000) },
            FaultKind::Drift => Fault::Drift { node, millionths: rng.i64(-DRIFT_MAX..=DRIFT_MAX), time },
        };
        (at, fault)
    }
}

/// Returns a random duration in whole milliseconds that is less than `time`, or zero if `time` is zero.
fn below(rng: &mut Rng, time: Duration) -> Duration {
    Duration::from_millis(rng.u64(..=(time.as_millis() as u64).saturating_sub(1)))
}

fn pick<'a, T>(rng: &mut Rng, of: &'a [T]) -> &'a T {
    // Draw a `u64` instead of a `usize`, because the result must not depend on the word size.
    &of[rng.u64(..of.len() as u64) as usize]
}

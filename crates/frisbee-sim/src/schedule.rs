//! When faults strike: at times that a test has written, at times that are drawn from the seed, or upon what happens.

use crate::fault::{Fault, FaultKind};
use crate::trace::{EventKind, RawEvent};
use fastrand::Rng;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// By how many millionths a clock goes wrong at most when that is drawn.
const DRIFT_MAX: i64 = 50_000;

/// By how many milliseconds a write is delayed at most when that is drawn.
const DELAY_MAX: u64 = 500;

/// A schedule of faults. See [`World::inject`](crate::World::inject).
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

/// The rules for drawing faults.
#[derive(Clone, Debug)]
struct DrawRules {
    count: usize,
    nodes: Vec<String>,
    peers: Vec<String>,
    kinds: Vec<FaultKind>,
    within: Duration,
    longest: Duration,
    upon: Option<Trigger>,
    /// The occasions among which a fault chooses its own.
    among: u64,
}

/// Something that happens at a node, and that faults may strike [upon](Faults::upon): an event of the trace, or an
/// [occasion](crate::World::occasion) that the test names.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Trigger {
    /// An event of this kind.
    Event(EventKind),
    /// An occasion of this name.
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
    /// Faults at these times after [`World::inject`](crate::World::inject).
    pub fn schedule(faults: impl IntoIterator<Item = (Duration, Fault)>) -> Self {
        Self { source: Source::Written(faults.into_iter().collect()) }
    }

    /// So many faults of these nodes, drawn from the seed: of the [usual](FaultKind::USUAL) kinds, within 10 s, each
    /// for up to 4 s.
    ///
    /// # Panics
    /// If there are no nodes.
    pub fn drawn<N: Into<String>>(count: usize, nodes: impl IntoIterator<Item = N>) -> Self {
        let nodes: Vec<_> = nodes.into_iter().map(Into::into).collect();
        assert!(!nodes.is_empty(), "faults need nodes");
        Self::of(DrawRules { peers: nodes.clone(), nodes, ..DrawRules::new(count, Duration::from_secs(10)) })
    }

    /// Faults upon events, not at random times: each chooses one of the first so many
    /// occasions, and strikes the node of the event within 100 ms, for up to 4 s. The faults are drawn from
    /// the seed, of the [usual](FaultKind::USUAL) kinds. Those whose occasion never comes do not strike.
    ///
    /// Leaders are struck when they are elected, and machines while they write:
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
    /// If the occasion is a note or a fault: these are at no node.
    pub fn upon(occasion: impl Into<Trigger>, count: usize) -> Self {
        let occasion = occasion.into();
        let is_at_a_node = !matches!(occasion, Trigger::Event(EventKind::Note | EventKind::Fault));
        assert!(is_at_a_node, "notes and faults are at no node");
        let among = count as u64;
        Self::of(DrawRules { upon: Some(occasion), among, ..DrawRules::new(count, Duration::from_millis(100)) })
    }

    fn of(drawn: DrawRules) -> Self {
        Self { source: Source::DrawRules(drawn) }
    }

    /// Changes the rules; without effect on written schedules.
    fn set(mut self, change: impl FnOnce(&mut DrawRules)) -> Self {
        if let Source::DrawRules(drawn) = &mut self.source {
            change(drawn);
        }
        self
    }

    /// Draws these kinds only. Without effect on written schedules, as are the other setters.
    ///
    /// # Panics
    /// If there are none.
    pub fn kinds(self, kinds: impl IntoIterator<Item = FaultKind>) -> Self {
        let kinds: Vec<_> = kinds.into_iter().collect();
        assert!(!kinds.is_empty(), "faults need kinds");
        self.set(|drawn| drawn.kinds = kinds)
    }

    /// Strikes any of these nodes, instead of those at which the [occasions](Self::upon) are, or of those that were
    /// given before.
    ///
    /// # Panics
    /// If there are none.
    pub fn nodes<N: Into<String>>(self, nodes: impl IntoIterator<Item = N>) -> Self {
        let nodes: Vec<_> = nodes.into_iter().map(Into::into).collect();
        assert!(!nodes.is_empty(), "faults need nodes");
        self.set(|drawn| drawn.nodes = nodes)
    }

    /// Lets faults between two nodes also be between the nodes and these, which do not crash or pause themselves:
    /// clients, as a rule. Faults [upon](Self::upon) occasions are between all nodes of the world otherwise.
    pub fn peers<N: Into<String>>(self, peers: impl IntoIterator<Item = N>) -> Self {
        self.set(|drawn| drawn.peers.extend(peers.into_iter().map(Into::into)))
    }

    /// Sets the time within which faults begin: after [`World::inject`](crate::World::inject), or after their occasion.
    pub fn within(self, time: Duration) -> Self {
        self.set(|drawn| drawn.within = time)
    }

    /// Sets how long a fault lasts at most.
    pub fn lasting(self, longest: Duration) -> Self {
        self.set(|drawn| drawn.longest = longest)
    }

    /// Sets the number of occasions: each fault [upon](Self::upon) them chooses one; as many as there are faults,
    /// unless it is set. It has to be large for frequent events, such as writes.
    pub fn among(self, occasions: u64) -> Self {
        self.set(|drawn| drawn.among = occasions)
    }

    /// The schedule, in order.
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

/// A fault of a schedule.
pub(crate) enum PlannedFault {
    /// After this time.
    At(Duration, Fault),
    Upon(PendingFault),
}

/// A fault that waits for its occasion.
pub(crate) struct PendingFault {
    occasion: Trigger,
    /// The number of the occasion upon which it strikes, from 0 on.
    at: u64,
    /// Its effect depends on this and on the node alone, not on earlier draws.
    seed: u64,
    drawn: Arc<DrawRules>,
}

impl PendingFault {
    /// Whether this is the occasion upon which it strikes, the `passed`th of its kind. Counts it if it is another one.
    pub(crate) fn is_due(&self, raw: &RawEvent<'_>, passed: &mut u64) -> bool {
        if !self.occasion.is(raw) {
            return false;
        }
        *passed += 1;
        *passed > self.at
    }

    /// The fault, and the time from the occasion to it.
    pub(crate) fn draw<'n>(&self, node: &str, all: impl Iterator<Item = &'n str>) -> (Duration, Fault) {
        let DrawRules { nodes, peers, .. } = &*self.drawn;
        let nodes = if nodes.is_empty() { vec![node.to_owned()] } else { nodes.clone() };
        let peers = if peers.is_empty() { all.map(str::to_owned).collect() } else { peers.clone() };
        self.drawn.draw(&mut Rng::with_seed(self.seed), &nodes, &peers)
    }

    /// Which occasion that is, in words.
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

/// A time of whole milliseconds below another, or 0.
fn below(rng: &mut Rng, time: Duration) -> Duration {
    Duration::from_millis(rng.u64(..=(time.as_millis() as u64).saturating_sub(1)))
}

fn pick<'a, T>(rng: &mut Rng, of: &'a [T]) -> &'a T {
    // The same draw on machines of every word length.
    &of[rng.u64(..of.len() as u64) as usize]
}

//! Faults, and the schedules in which they strike: written by the test, or drawn from the seed.

use fastrand::Rng;
use std::fmt;
use std::time::Duration;

/// A fault of one node, or between two of them.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// The node is gone from one moment to the next, and starts again after a while.
    Crash {
        /// The node.
        node: String,
        /// The time until it starts again.
        down: Duration,
        /// Whether its disk is lost too. Otherwise it keeps what was synced, and a part of the rest.
        loses_disk: bool,
    },
    /// The node stands still, as a virtual machine that is moved.
    Pause {
        /// The node.
        node: String,
        /// How long.
        time: Duration,
    },
    /// Nothing passes from one node to another. It is not lost: like TCP, connections deliver it when they can.
    Partition {
        /// The node whose bytes do not arrive.
        from: String,
        /// The node that does not get them.
        to: String,
        /// Whether bytes of the other direction do not arrive either.
        both_ways: bool,
        /// How long.
        time: Duration,
    },
    /// Nothing passes between the node and any other.
    Isolate {
        /// The node.
        node: String,
        /// How long.
        time: Duration,
    },
    /// The connections between two nodes break, and both ends see that.
    Reset {
        /// One node.
        one: String,
        /// The other.
        other: String,
    },
    /// The connections between two nodes never deliver anything any more, and no end is told.
    Silence {
        /// One node.
        one: String,
        /// The other.
        other: String,
    },
    /// The connections from one node to another end behind so many further bytes.
    Cut {
        /// The node that writes.
        from: String,
        /// The node that reads.
        to: String,
        /// How many bytes still pass.
        behind: u64,
    },
    /// The way from one node to another carries 2 kB/s.
    Slow {
        /// The node that writes.
        from: String,
        /// The node that reads.
        to: String,
        /// How long.
        time: Duration,
    },
    /// One of 2000 bytes from one node to another has a wrong bit. No checksum of TCP notices that here.
    Corrupt {
        /// The node that writes.
        from: String,
        /// The node that reads.
        to: String,
        /// How long.
        time: Duration,
    },
    /// The wall clock of a node is set.
    SetClock {
        /// The node.
        node: String,
        /// By how many milliseconds, to the past if negative.
        by_millis: i64,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash { node, down, loses_disk } => {
                let disk = if *loses_disk { " and loses its disk" } else { "" };
                write!(f, "{node} crashes{disk} and is down for {down:?}")
            }
            Self::Pause { node, time } => write!(f, "{node} stands still for {time:?}"),
            Self::Partition { from, to, both_ways: true, time } => {
                write!(f, "nothing passes between {from} and {to} for {time:?}")
            }
            Self::Partition { from, to, both_ways: false, time } => {
                write!(f, "nothing passes from {from} to {to} for {time:?}")
            }
            Self::Isolate { node, time } => write!(f, "{node} is isolated for {time:?}"),
            Self::Reset { one, other } => write!(f, "connections between {one} and {other} are reset"),
            Self::Silence { one, other } => write!(f, "connections between {one} and {other} fall silent"),
            Self::Cut { from, to, behind } => {
                write!(f, "connections are cut {behind} bytes further from {from} to {to}")
            }
            Self::Slow { from, to, time } => write!(f, "the way from {from} to {to} is slow for {time:?}"),
            Self::Corrupt { from, to, time } => write!(f, "bits flip from {from} to {to} for {time:?}"),
            Self::SetClock { node, by_millis } => write!(f, "the wall clock of {node} is set by {by_millis} ms"),
        }
    }
}

/// The kind of a [`Fault`], for drawing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// [`Fault::Crash`] of a node that keeps its disk.
    Crash,
    /// [`Fault::Crash`] of a node that loses its disk.
    LoseDisk,
    /// [`Fault::Pause`].
    Pause,
    /// [`Fault::Partition`] of both directions or of one.
    Partition,
    /// [`Fault::Isolate`].
    Isolate,
    /// [`Fault::Reset`].
    Reset,
    /// [`Fault::Silence`].
    Silence,
    /// [`Fault::Cut`].
    Cut,
    /// [`Fault::Slow`].
    Slow,
    /// [`Fault::Corrupt`].
    Corrupt,
    /// [`Fault::SetClock`].
    SetClock,
}

impl FaultKind {
    /// The kinds that a replicated service has to survive: all but lost disks and wrong bits.
    pub const USUAL: [Self; 9] = [
        Self::Crash,
        Self::Pause,
        Self::Partition,
        Self::Isolate,
        Self::Reset,
        Self::Silence,
        Self::Cut,
        Self::Slow,
        Self::SetClock,
    ];
}

/// A schedule of faults. See [`World::inject`](crate::World::inject).
#[derive(Clone, Debug)]
#[must_use]
pub struct Faults {
    pub(crate) source: Source,
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    Written(Vec<(Duration, Fault)>),
    Drawn(Drawn),
}

#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    count: usize,
    nodes: Vec<String>,
    peers: Vec<String>,
    kinds: Vec<FaultKind>,
    within: Duration,
    longest: Duration,
}

impl Faults {
    /// Faults at these times after [`World::inject`](crate::World::inject).
    pub fn schedule(faults: impl IntoIterator<Item = (Duration, Fault)>) -> Self {
        Self { source: Source::Written(faults.into_iter().collect()) }
    }

    /// So many faults of these nodes, drawn from the seed: of the [usual](FaultKind::USUAL) kinds, within 10 s, each for
    /// up to 4 s.
    ///
    /// # Panics
    /// If there are no nodes.
    pub fn drawn<N: Into<String>>(count: usize, nodes: impl IntoIterator<Item = N>) -> Self {
        let nodes: Vec<_> = nodes.into_iter().map(Into::into).collect();
        assert!(!nodes.is_empty(), "faults need nodes");
        let (within, longest) = (Duration::from_secs(10), Duration::from_secs(4));
        let kinds = FaultKind::USUAL.to_vec();
        Self { source: Source::Drawn(Drawn { count, peers: nodes.clone(), nodes, kinds, within, longest }) }
    }

    /// Draws these kinds only. Without effect on written schedules, as are the other setters.
    ///
    /// # Panics
    /// If there are none.
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = FaultKind>) -> Self {
        if let Source::Drawn(drawn) = &mut self.source {
            drawn.kinds = kinds.into_iter().collect();
            assert!(!drawn.kinds.is_empty(), "faults need kinds");
        }
        self
    }

    /// Lets faults between two nodes also be between the nodes and these, which do not crash or pause themselves:
    /// clients, as a rule.
    pub fn peers<N: Into<String>>(mut self, peers: impl IntoIterator<Item = N>) -> Self {
        if let Source::Drawn(drawn) = &mut self.source {
            drawn.peers.extend(peers.into_iter().map(Into::into));
        }
        self
    }

    /// Sets the time within which faults begin.
    pub fn within(mut self, time: Duration) -> Self {
        if let Source::Drawn(drawn) = &mut self.source {
            drawn.within = time;
        }
        self
    }

    /// Sets how long a fault lasts at most.
    pub fn lasting(mut self, longest: Duration) -> Self {
        if let Source::Drawn(drawn) = &mut self.source {
            drawn.longest = longest;
        }
        self
    }

    /// The schedule, in order.
    pub(crate) fn draw(self, rng: &mut Rng) -> Vec<(Duration, Fault)> {
        let mut faults = match self.source {
            Source::Written(faults) => faults,
            Source::Drawn(drawn) => (0..drawn.count).map(|_| drawn.draw(rng)).collect(),
        };
        faults.sort_by_key(|(at, _)| *at);
        faults
    }
}

impl Drawn {
    fn draw(&self, rng: &mut Rng) -> (Duration, Fault) {
        let at = below(rng, self.within);
        let time = below(rng, self.longest);
        let node = pick(rng, &self.nodes).clone();
        let mut peer = pick(rng, &self.peers).clone();
        while peer == node && self.peers.iter().any(|other| *other != node) {
            peer.clone_from(pick(rng, &self.peers));
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
            FaultKind::Corrupt => Fault::Corrupt { from, to, time },
            FaultKind::SetClock => Fault::SetClock { node, by_millis: rng.i64(-20_000..20_000) },
        };
        (at, fault)
    }
}

/// A time of whole milliseconds below another, or 0.
pub(crate) fn below(rng: &mut Rng, time: Duration) -> Duration {
    Duration::from_millis(rng.u64(..=(time.as_millis() as u64).saturating_sub(1)))
}

fn pick<'a, T>(rng: &mut Rng, of: &'a [T]) -> &'a T {
    // The same draw on machines of every word length.
    &of[rng.u64(..of.len() as u64) as usize]
}

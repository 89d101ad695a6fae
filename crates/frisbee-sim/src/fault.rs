//! Faults and their kinds. Their schedules are in `schedule.rs`.

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
        /// Whether its disk is lost too. Otherwise it keeps synced values, and a part of the rest.
        loses_disk: bool,
    },
    /// The node pauses, as a virtual machine that is moved.
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
    /// The connections between two nodes never deliver anything any more, and no end notices.
    Silence {
        /// One node.
        one: String,
        /// The other.
        other: String,
    },
    /// The connections from one node to another end after so many further bytes.
    Cut {
        /// The node that writes.
        from: String,
        /// The node that reads.
        to: String,
        /// How many bytes still pass.
        behind: u64,
    },
    /// The way from one node to another carries 2 kB/s on each connection. A faster writer
    /// waits once as many bytes are in flight as the [`Cable`](crate::Cable::capacity) holds.
    Slow {
        /// The node that writes.
        from: String,
        /// The node that reads.
        to: String,
        /// How long.
        time: Duration,
    },
    /// Each write from one node to another, and each attempt to connect, takes longer, every time another time: bytes
    /// of several connections overtake each other.
    Delay {
        /// The node that writes.
        from: String,
        /// The node that reads.
        to: String,
        /// How much longer at most.
        most: Duration,
        /// How long that lasts.
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
    /// Both clocks of a node go too fast or too slow, whatever [`Node::set_clock`](crate::Node::set_clock) has said.
    Drift {
        /// The node.
        node: String,
        /// By how many millionths, too slow if negative.
        millionths: i64,
        /// How long.
        time: Duration,
    },
}

/// These texts are part of the hash of a trace: a change of one alters it.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash { node, down, loses_disk } => {
                let disk = if *loses_disk { " and loses its disk" } else { "" };
                write!(f, "{node} crashes{disk} and is down for {down:?}")
            }
            Self::Pause { node, time } => write!(f, "{node} is paused for {time:?}"),
            Self::Partition { from, to, both_ways: true, time } => {
                write!(f, "all packets between {from} and {to} are lost for {time:?}")
            }
            Self::Partition { from, to, both_ways: false, time } => {
                write!(f, "all packets from {from} to {to} are lost for {time:?}")
            }
            Self::Isolate { node, time } => write!(f, "{node} is isolated for {time:?}"),
            Self::Reset { one, other } => write!(f, "connections between {one} and {other} are reset"),
            Self::Silence { one, other } => write!(f, "connections between {one} and {other} stop delivering"),
            Self::Cut { from, to, behind } => {
                write!(f, "connections are cut after {behind} more bytes from {from} to {to}")
            }
            Self::Slow { from, to, time } => write!(f, "the link from {from} to {to} is slow for {time:?}"),
            Self::Delay { from, to, most, time } => {
                write!(f, "writes from {from} to {to} take up to {most:?} longer for {time:?}")
            }
            Self::Corrupt { from, to, time } => write!(f, "bits flip from {from} to {to} for {time:?}"),
            Self::SetClock { node, by_millis } => write!(f, "the wall clock of {node} is set by {by_millis} ms"),
            Self::Drift { node, millionths, time } => {
                write!(f, "the clocks of {node} drift by {millionths} ppm for {time:?}")
            }
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
    /// [`Fault::Delay`] by up to half a second.
    Delay,
    /// [`Fault::Corrupt`].
    Corrupt,
    /// [`Fault::SetClock`] by up to twenty seconds.
    SetClock,
    /// [`Fault::Drift`] by up to five percent.
    Drift,
}

impl FaultKind {
    /// The kinds that a replicated service has to survive: all but lost disks and wrong bits.
    pub const USUAL: [Self; 11] = [
        Self::Crash,
        Self::Pause,
        Self::Partition,
        Self::Isolate,
        Self::Reset,
        Self::Silence,
        Self::Cut,
        Self::Slow,
        Self::Delay,
        Self::SetClock,
        Self::Drift,
    ];
}

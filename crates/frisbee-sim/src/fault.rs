//! Faults and their kinds. Schedules are in `schedule.rs`.

use std::fmt;
use std::time::Duration;

/// A fault of a node or between two nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// A node crashes and restarts later.
    Crash {
        /// Name of the node that crashes.
        node: String,
        /// Time until the node restarts.
        down: Duration,
        /// Whether the contents of the node's disk are lost. Otherwise the disk keeps synced values and some of the
        /// unsynced ones.
        loses_disk: bool,
    },
    /// A node pauses, like a virtual machine during a migration.
    Pause {
        /// Name of the node that pauses.
        node: String,
        /// Duration of the fault.
        time: Duration,
    },
    /// No bytes pass from one node to another during the fault. They are delivered afterwards, as in TCP.
    Partition {
        /// Node that sends the held-back bytes.
        from: String,
        /// Node that does not receive the bytes.
        to: String,
        /// Whether the opposite direction is blocked too.
        both_ways: bool,
        /// Duration of the fault.
        time: Duration,
    },
    /// No bytes pass between a node and all others.
    Isolate {
        /// Name of the isolated node.
        node: String,
        /// Duration of the fault.
        time: Duration,
    },
    /// All connections between two nodes are reset at both ends.
    Reset {
        /// One of the two nodes.
        one: String,
        /// The other node.
        other: String,
    },
    /// All connections between two nodes stop delivering bytes, without an error at either end.
    Silence {
        /// One of the two nodes.
        one: String,
        /// The other node.
        other: String,
    },
    /// All connections from one node to another are cut after a number of further bytes.
    Cut {
        /// Node that writes the affected bytes.
        from: String,
        /// Node that reads the affected bytes.
        to: String,
        /// Number of bytes that still pass before the cut.
        behind: u64,
    },
    /// Each connection from one node to another is limited to 2 kB/s. A faster writer waits once the bytes in flight
    /// reach the capacity of the [`Cable`](crate::Cable::capacity).
    Slow {
        /// Node that writes the affected bytes.
        from: String,
        /// Node that reads the affected bytes.
        to: String,
        /// Duration of the fault.
        time: Duration,
    },
    /// Each write and each connection attempt from one node to another gets a random additional delay. Connections can
    /// overtake each other.
    Delay {
        /// Node that writes the affected bytes.
        from: String,
        /// Node that reads the affected bytes.
        to: String,
        /// Maximum additional delay of a write.
        most: Duration,
        /// Duration of the fault.
        time: Duration,
    },
    /// One in 2000 bytes from one node to another arrives with a flipped bit. No TCP checksum detects it in the
    /// simulation.
    Corrupt {
        /// Node that writes the affected bytes.
        from: String,
        /// Node that reads the affected bytes.
        to: String,
        /// Duration of the fault.
        time: Duration,
    },
    /// The wall clock of a node jumps forwards or backwards.
    SetClock {
        /// Name of the node with the clock.
        node: String,
        /// Jump of the clock in milliseconds, negative if backwards.
        by_millis: i64,
    },
    /// Both clocks of a node run too fast or too slowly, regardless of [`Node::set_clock`](crate::Node::set_clock).
    Drift {
        /// Name of the node with the clocks.
        node: String,
        /// Drift of the clocks in millionths, negative if they are too slow. Must be between -1 000 000, at which the
        /// clocks would stop, and 1 000 000.
        millionths: i64,
        /// Duration of the fault.
        time: Duration,
    },
}

/// Formats a fault for the trace. The text is part of the trace hash, so changing it changes the hash.
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

/// Kind of a [`Fault`], without its nodes and durations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// [`Fault::Crash`] of a node that keeps its disk.
    Crash,
    /// [`Fault::Crash`] of a node that loses its disk.
    LoseDisk,
    /// [`Fault::Pause`].
    Pause,
    /// [`Fault::Partition`] of one or both directions.
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
    /// Fault kinds that a replicated service must survive: all but lost disks and flipped bits.
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

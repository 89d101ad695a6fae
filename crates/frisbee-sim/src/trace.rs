//! The events of a run, with their hash and text. The drawing is in `svg.rs`.

use std::fmt;
use std::time::Duration;

/// Kind of an event in the trace of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EventKind {
    /// A process starts on a node.
    Start,
    /// A process crashes and loses its memory.
    Crash,
    /// A process pauses.
    Pause,
    /// A paused process resumes.
    Resume,
    /// A connection between two processes is established.
    Connect,
    /// A connection attempt fails because no process accepts it.
    Refuse,
    /// A process writes to a connection.
    Write,
    /// A process reads from a connection.
    Read,
    /// An end of a connection is closed. The peer reads the end of the stream.
    Close,
    /// A connection is reset at both ends.
    Reset,
    /// Changes of a disk become permanent.
    Sync,
    /// A fault is injected.
    Fault,
    /// The test adds a note by [`World::note`](crate::World::note).
    Note,
    /// The test reports an occasion by [`World::occasion`](crate::World::occasion).
    Occasion,
}

impl EventKind {
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Start => "starts",
            Self::Crash => "crashes",
            Self::Pause => "pauses",
            Self::Resume => "resumes",
            Self::Connect => "connects",
            Self::Refuse => "is refused",
            Self::Write => "writes",
            Self::Read => "reads",
            Self::Close => "closes",
            Self::Reset => "is reset",
            Self::Sync => "syncs",
            Self::Fault => "fault:",
            Self::Note => "note:",
            Self::Occasion => "occasion:",
        }
    }
}

/// One event of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Event {
    /// Simulated time of the event since the beginning of the world.
    pub at: Duration,
    /// Kind of the event.
    pub kind: EventKind,
    /// Name of the node of the event, if any.
    pub node: Option<String>,
    /// Name of the node at the other end of the connection, if any.
    pub peer: Option<String>,
    /// Number of the connection, or 0 if the event has none.
    pub connection: u64,
    /// Number of bytes written, read or synced.
    pub bytes: u64,
    /// Description of a fault or note.
    pub text: String,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>10.3} s  ", self.at.as_secs_f64())?;
        if let Some(node) = &self.node {
            write!(f, "{node} ")?;
        }
        f.write_str(self.kind.verb())?;
        if self.bytes > 0 {
            write!(f, " {} bytes", self.bytes)?;
        }
        match (self.kind, &self.peer) {
            (EventKind::Read, Some(peer)) => write!(f, " from {peer}")?,
            (_, Some(peer)) => write!(f, " to {peer}")?,
            (_, None) => {}
        }
        if self.connection > 0 {
            write!(f, " (connection {})", self.connection)?;
        }
        if !self.text.is_empty() {
            write!(f, " {}", self.text)?;
        }
        Ok(())
    }
}

/// An event that refers to nodes by number instead of by name.
#[derive(Clone, Copy)]
pub(crate) struct RawEvent<'a> {
    pub(crate) kind: EventKind,
    pub(crate) node: Option<usize>,
    pub(crate) peer: Option<usize>,
    pub(crate) connection: u64,
    pub(crate) bytes: u64,
    pub(crate) text: &'a str,
}

impl RawEvent<'_> {
    pub(crate) fn at(kind: EventKind, node: usize) -> Self {
        Self { kind, node: Some(node), peer: None, connection: 0, bytes: 0, text: "" }
    }
}

/// Hash of all events, and the events themselves if they are recorded.
pub(crate) struct Trace {
    pub(crate) hash: u64,
    pub(crate) count: u64,
    pub(crate) events: Option<Vec<Event>>,
}

impl Trace {
    pub(crate) fn new(is_recorded: bool) -> Self {
        Self { hash: 0xcbf2_9ce4_8422_2325, count: 0, events: is_recorded.then(Vec::new) }
    }

    /// Adds an event to the trace. Only integers of fixed width are hashed, so the hash is the same on every machine.
    pub(crate) fn add<'n>(&mut self, at: Duration, raw: &RawEvent<'_>, name: impl Fn(usize) -> &'n str) {
        self.count += 1;
        let number = |node: Option<usize>| node.map_or(0, |node| node as u64 + 1);
        self.mix(at.as_nanos() as u64);
        self.mix(raw.kind as u64 | number(raw.node) << 8 | number(raw.peer) << 36);
        self.mix(raw.connection << 32 ^ raw.bytes);
        raw.text.bytes().for_each(|byte| self.mix(byte.into()));
        if let Some(events) = &mut self.events {
            let named = |node: Option<usize>| node.map(|node| name(node).to_owned());
            let (node, peer) = (named(raw.node), named(raw.peer));
            let (kind, connection, bytes) = (raw.kind, raw.connection, raw.bytes);
            events.push(Event { at, kind, node, peer, connection, bytes, text: raw.text.to_owned() });
        }
    }

    /// Adds a word to the hash. Uses FNV-1a over words, with a rotation because the high bits would otherwise never
    /// affect the low ones.
    fn mix(&mut self, word: u64) {
        self.hash = (self.hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash_of(raws: &[RawEvent<'_>]) -> u64 {
        let mut trace = Trace::new(false);
        raws.iter().for_each(|raw| trace.add(Duration::from_millis(5), raw, |_| "a"));
        trace.hash
    }

    #[test]
    fn trace_hash_is_machine_independent() {
        let note = RawEvent { text: "elected", ..RawEvent::at(EventKind::Note, 3) };
        assert_eq!(hash_of(&[RawEvent::at(EventKind::Start, 3), note]), HASH);
    }

    /// Expected trace hash, which must be equal on all machines and in all versions.
    const HASH: u64 = 10588594636138369192;

    #[test]
    fn every_event_part_changes_hash() {
        let plain = RawEvent::at(EventKind::Write, 1);
        let others = [
            RawEvent { kind: EventKind::Read, ..plain },
            RawEvent { node: Some(2), ..plain },
            RawEvent { peer: Some(2), ..plain },
            RawEvent { connection: 1, ..plain },
            RawEvent { bytes: 1, ..plain },
            RawEvent { text: "x", ..plain },
        ];
        for other in others {
            assert_ne!(hash_of(&[plain]), hash_of(&[other]));
        }
    }
}

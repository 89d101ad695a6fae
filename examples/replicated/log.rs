//! The log of a replica, its snapshot and its disk: which entries it has, which of them stay, and what survives a crash.

use crate::defects::Defect;
use crate::machine;
use examples::replicated::{Batch, Entry, Machine};
use frisbee_sim::Disk;
use frpc::prost::Message;

/// Entries behind the snapshot before the next one is made: few, so that there are snapshots in a short world.
const ENTRIES_MAX: usize = 8;

/// The log. What is changed is written to the disk at once, and is there for good after a sync.
pub(crate) struct Log {
    disk: Disk,
    defect: Option<Defect>,
    /// The index and term of the last entry in the snapshot.
    base: (u64, u64),
    /// The entries behind the snapshot.
    entries: Vec<Entry>,
    /// The sum of the entries that are committed.
    pub(crate) machine: Machine,
}

impl Log {
    /// Reads the disk.
    pub(crate) fn load(disk: Disk, defect: Option<Defect>) -> Self {
        let snapshot = disk.read("snapshot").map(|bytes| Machine::decode(&bytes[..]).expect("it was written whole"));
        let has_snapshot = snapshot.is_some();
        let machine = snapshot.unwrap_or_default();
        let mut log = Self { disk, defect, base: (machine.index, machine.term), entries: Vec::new(), machine };
        if defect == Some(Defect::SnapshotWithoutTail) && has_snapshot {
            return log;
        }
        while let Some(bytes) = log.disk.read(&name(log.last().0 + 1)) {
            log.entries.push(Entry::decode(&bytes[..]).expect("it was written whole"));
        }
        log
    }

    /// The index and term of the last entry.
    pub(crate) fn last(&self) -> (u64, u64) {
        let term = self.entries.last().map_or(self.base.1, |entry| entry.term);
        (self.base.0 + self.entries.len() as u64, term)
    }

    /// The term of an entry, if it is there.
    pub(crate) fn term_of(&self, index: u64) -> Option<u64> {
        if index == self.base.0 {
            return Some(self.base.1);
        }
        self.entry(index).map(|entry| entry.term)
    }

    fn entry(&self, index: u64) -> Option<&Entry> {
        let at = index.checked_sub(self.base.0 + 1)?;
        self.entries.get(usize::try_from(at).ok()?)
    }

    /// Appends an entry, and returns its index.
    pub(crate) fn push(&mut self, entry: Entry) -> u64 {
        let index = self.last().0 + 1;
        self.disk.write(&name(index), entry.encode_to_vec());
        self.entries.push(entry);
        index
    }

    /// Removes the entries from an index on, the last one first: whenever it crashes, the rest is a log.
    fn truncate(&mut self, index: u64) {
        while self.last().0 >= index && self.entries.pop().is_some() {
            self.disk.remove(&name(self.last().0 + 1));
        }
    }

    /// The entries from an index on, in front of which they stand, and the snapshot in place of those that are gone.
    pub(crate) fn batch(&self, from: u64, count: usize) -> Batch {
        let snapshot = (from <= self.base.0).then(|| self.snapshot());
        let previous_index = from.max(self.base.0 + 1) - 1;
        let previous_term = self.term_of(previous_index).unwrap_or_default();
        let entries = (previous_index + 1..).map_while(|index| self.entry(index).cloned()).take(count).collect();
        let commit = self.machine.index;
        Batch { term: 0, previous_index, previous_term, commit, entries, snapshot, checksum: 0 }
    }

    fn snapshot(&self) -> Machine {
        let bytes = self.disk.read("snapshot").unwrap_or_default();
        Machine::decode(&bytes[..]).unwrap_or_default()
    }

    /// Takes the entries of a leader. Returns the last one that is as the leader has it, or `None` if they do not fit.
    pub(crate) fn take(&mut self, batch: Batch) -> Option<u64> {
        if let Some(snapshot) = batch.snapshot {
            self.install(snapshot);
        }
        let fits =
            batch.previous_index < self.base.0 || self.term_of(batch.previous_index) == Some(batch.previous_term);
        let skips = self.defect == Some(Defect::SkipsPreviousEntry) && batch.previous_index <= self.last().0;
        if !fits && !skips {
            return None;
        }
        let last = batch.previous_index + batch.entries.len() as u64;
        for (index, entry) in (batch.previous_index + 1..).zip(batch.entries) {
            match self.term_of(index) {
                // What is in the snapshot stays.
                _ if index <= self.base.0 => continue,
                Some(term) if term == entry.term => continue,
                Some(_) if self.defect == Some(Defect::KeepsConflicts) => continue,
                Some(_) if self.defect == Some(Defect::TruncatesTooMuch) => self.truncate(index - 1),
                Some(_) => self.truncate(index),
                None => {}
            }
            self.push(entry);
            if self.defect == Some(Defect::PartialWrite) {
                break;
            }
        }
        Some(last)
    }

    /// Takes a snapshot, unless all that it knows is here.
    fn install(&mut self, snapshot: Machine) {
        if snapshot.index <= self.machine.index || self.term_of(snapshot.index) == Some(snapshot.term) {
            return;
        }
        self.truncate(0);
        self.disk.write("snapshot", snapshot.encode_to_vec());
        self.base = (snapshot.index, snapshot.term);
        self.machine = snapshot;
    }

    /// Applies the next entry, if it stands before the end of those that are committed.
    pub(crate) fn apply_up_to(&mut self, commit: u64) -> Option<Entry> {
        let next = self.machine.index + 1;
        let entry = self.entry(next).filter(|_| next <= commit)?.clone();
        machine::apply(&mut self.machine, &entry, self.defect);
        Some(entry)
    }

    /// Makes a snapshot of what has been applied, if there are many entries. The entries are removed behind it.
    pub(crate) fn compact(&mut self) {
        let count = self.machine.index - self.base.0;
        if self.entries.len() < ENTRIES_MAX || count == 0 {
            return;
        }
        self.disk.write("snapshot", self.machine.encode_to_vec());
        let gone = self.entries.drain(..count as usize);
        (self.base.0 + 1..).zip(gone).for_each(|(index, _)| self.disk.remove(&name(index)));
        self.base = (self.machine.index, self.machine.term);
    }
}

fn name(index: u64) -> String {
    format!("log/{index}")
}

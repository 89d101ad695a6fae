//! The log of a replica on its disk, and the resolution of conflicts with the leader's log.

use crate::defects::Defect;
use frisbee_sim::Disk;
use frpc::prost::Message;
use replicated::{Batch, Entry};

/// Maximum number of entries in a batch. Small, so that replicas fall behind in short simulations.
const BATCH_MAX: usize = 4;

/// The log. Changes are written to the disk immediately, and are durable after a sync.
pub(crate) struct Log {
    disk: Disk,
    defect: Option<Defect>,
    /// Entries by index. Every log starts with the same permanent entry of term 0.
    entries: Vec<Entry>,
}

impl Log {
    /// Loads the log from the disk.
    pub(crate) fn load(disk: Disk, defect: Option<Defect>) -> Self {
        let read =
            |index| disk.read(&name(index)).map(|bytes| Entry::decode(&bytes[..]).expect("entry should be whole"));
        let entries = [Entry::default()].into_iter().chain((1..).map_while(read)).collect();
        Self { disk, defect, entries }
    }

    pub(crate) fn entry(&self, index: u64) -> Option<&Entry> {
        self.entries.get(usize::try_from(index).ok()?)
    }

    /// Returns the term and index of the last entry.
    pub(crate) fn last(&self) -> (u64, u64) {
        let index = self.entries.len() as u64 - 1;
        (self.entries.last().map_or(0, |entry| entry.term), index)
    }

    /// Appends an entry, and returns its index.
    pub(crate) fn push(&mut self, entry: Entry) -> u64 {
        let index = self.last().1 + 1;
        self.disk.write(&name(index), entry.encode_to_vec());
        self.entries.push(entry);
        index
    }

    /// Removes the entries from an index on, starting with the last. A crash at any point leaves a valid log.
    fn truncate(&mut self, index: u64) {
        for last in (index.max(1)..=self.last().1).rev() {
            self.entries.pop();
            self.disk.remove(&name(last));
        }
    }

    /// Returns the entries from an index on, and their predecessor.
    pub(crate) fn batch(&self, from: u64) -> Batch {
        let previous_term = self.entry(from - 1).map_or(0, |entry| entry.term);
        let entries = (from..).map_while(|index| self.entry(index).cloned()).take(BATCH_MAX).collect();
        Batch { previous_term, previous_index: from - 1, entries, ..Batch::default() }
    }

    /// Stores the entries of a leader. Returns the index of the last entry that matches the leader's log, or `None` if
    /// the predecessor does not match.
    pub(crate) fn take(&mut self, batch: Batch) -> Option<u64> {
        let previous = self.entry(batch.previous_index)?;
        if previous.term != batch.previous_term && self.defect != Some(Defect::SkipsPreviousEntry) {
            return None;
        }
        let last = batch.previous_index + batch.entries.len() as u64;
        for (index, entry) in (batch.previous_index + 1..).zip(batch.entries) {
            match self.entry(index) {
                Some(own) if own.term == entry.term => continue,
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
}

fn name(index: u64) -> String {
    format!("log/{index}")
}

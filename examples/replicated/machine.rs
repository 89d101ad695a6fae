//! The replicated state machine. All replicas apply the same commands in the same order, so nothing here depends on
//! time, randomness or the network.

use crate::defects::Defect;
use replicated::{Command, Entry, Kind, Outcome};
use std::collections::BTreeMap;

/// The state after applying all entries up to an index.
#[derive(Clone, Default)]
pub(crate) struct Machine {
    pub(crate) index: u64,
    values: BTreeMap<String, i64>,
    leases: BTreeMap<String, Lease>,
    /// The last command of each client with its outcome, because it may be retried.
    sessions: BTreeMap<u64, (u64, Outcome)>,
}

/// The last grant of a lease.
#[derive(Clone, Copy)]
pub(crate) struct Lease {
    pub(crate) holder: u64,
    /// The index of the entry that granted it.
    pub(crate) grant: i64,
    pub(crate) millis: u64,
}

impl Machine {
    /// Returns the value of a key. Keys that were never set have the value 0.
    pub(crate) fn value(&self, key: &str) -> i64 {
        self.values.get(key).copied().unwrap_or(0)
    }

    pub(crate) fn lease(&self, name: &str) -> Option<Lease> {
        self.leases.get(name).copied()
    }

    /// Returns the outcome of an applied command, unless its client has sent another one since.
    pub(crate) fn outcome(&self, command: &Command) -> Option<Outcome> {
        let (number, outcome) = self.sessions.get(&command.client)?;
        (*number == command.number).then_some(*outcome)
    }

    /// Applies the next entry.
    pub(crate) fn apply(&mut self, entry: &Entry, defect: Option<Defect>) {
        self.index += 1;
        let Some(command) = &entry.command else { return };
        let is_old = self.sessions.get(&command.client).is_some_and(|(number, _)| *number >= command.number);
        if is_old && defect != Some(Defect::AppliesTwice) {
            return;
        }
        let outcome = self.execute(command);
        self.sessions.insert(command.client, (command.number, outcome));
    }

    fn execute(&mut self, command: &Command) -> Outcome {
        let before = self.value(&command.key);
        match command.kind() {
            Kind::Nothing => Outcome::default(),
            Kind::Acquire => self.acquire(command),
            Kind::Swap if before != command.expected => Outcome { done: false, value: before },
            Kind::Put | Kind::Swap => {
                self.values.insert(command.key.clone(), command.value);
                Outcome { done: true, value: before }
            }
        }
    }

    /// Grants a lease to its holder, or to another client if the leader states that this grant has expired.
    fn acquire(&mut self, command: &Command) -> Outcome {
        let (holder, grant, millis) = (command.client, self.index as i64, command.value as u64);
        match self.lease(&command.key) {
            Some(lease) if lease.holder != holder && lease.grant != command.expected => {
                Outcome { done: false, value: lease.holder as i64 }
            }
            _ => {
                self.leases.insert(command.key.clone(), Lease { holder, grant, millis });
                Outcome { done: true, value: holder as i64 }
            }
        }
    }
}

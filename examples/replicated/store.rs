//! Client requests to the store: writes, which go through the log, and reads under the leader's lease.

use crate::defects::Defect;
use crate::replica::{LEASE, Replica, State};
use frpc::{Request, Response, Status};
use replicated::{Command, Entry, Key, Kind, Outcome, Store};
use std::time::Duration;

/// Maximum number of waiting writes.
pub(crate) const WRITES_MAX: usize = 16;

impl Store for Replica {
    async fn write(&self, request: Request<Command>) -> Result<Response<Outcome>, Status> {
        // A write releases its permit when it ends or is dropped, which happens if its caller disconnects.
        let permit =
            self.0.write_permits.try_acquire().map_err(|_| Status::resource_exhausted("too many writes wait"))?;
        if self.has(Defect::ForgottenCancel) {
            permit.forget();
            let outcome = self.execute(request.into_inner()).await;
            self.0.write_permits.add_permits(1);
            return outcome.map(Response::new);
        }
        self.execute(request.into_inner()).await.map(Response::new)
    }

    async fn read(&self, request: Request<Key>) -> Result<Response<Outcome>, Status> {
        let state = self.lock();
        // The leader knows all committed entries, and no other leader can have been elected since it heard from a
        // majority.
        let leads = state.leading.as_ref().is_some_and(|leading| {
            let knows = state.machine.index >= leading.first || self.has(Defect::ReadsTooEarly);
            knows && (self.now() < state.heard_at + LEASE || self.has(Defect::StaleLeader))
        });
        if !leads && !self.has(Defect::StaleRead) {
            return Err(not_leading());
        }
        let value = state.machine.value(&request.get_ref().key);
        Ok(Response::new(Outcome { done: true, value }))
    }
}

impl Replica {
    /// Executes a command once a majority has stored it on disk.
    async fn execute(&self, mut command: Command) -> Result<Outcome, Status> {
        let (term, index) = {
            let mut state = self.lock();
            if state.leading.is_none() {
                return Err(not_leading());
            }
            if let Some(outcome) = self.prepare(&mut state, &mut command) {
                return Ok(outcome);
            }
            let entry = Entry { term: state.term, command: Some(command.clone()) };
            (entry.term, state.log.push(entry))
        };
        self.0.changes.notify_waiters();
        let is_lease = command.kind() == Kind::Acquire;
        if self.has(Defect::AnswersBeforeCommit) || self.has(Defect::SplitBrainOfLease) && is_lease {
            let mut later = self.lock().machine.clone();
            later.apply(&Entry { term, command: Some(command.clone()) }, None);
            return later.outcome(&command).ok_or_else(|| Status::aborted("out of order"));
        }
        loop {
            // Registers for changes before checking the state.
            let changed = self.0.changes.notified();
            {
                let state = self.lock();
                if let Some(outcome) = state.machine.outcome(&command) {
                    return Ok(outcome);
                }
                // The current leader decides whether the entry is committed.
                if state.term != term || state.machine.index >= index {
                    let assumed = self.has(Defect::AnswersForOthers).then_some(Outcome { done: true, value: 0 });
                    return assumed.ok_or_else(|| Status::aborted("another leader has taken over"));
                }
            }
            changed.await;
        }
    }

    /// Returns the outcome of a command if it is already known. Otherwise prepares it for the log.
    fn prepare(&self, state: &mut State, command: &mut Command) -> Option<Outcome> {
        let State { machine, renewed, .. } = state;
        let outcome = machine.outcome(command);
        if outcome.is_some() && !self.has(Defect::AppliesTwice) {
            return outcome;
        }
        if let (Kind::Acquire, Some(lease)) = (command.kind(), machine.lease(&command.key)) {
            let (now, renewed) = (self.lease_clock(), renewed.entry(command.key.clone()).or_default());
            if self.has(Defect::OldLeaderRenews) && lease.holder == command.client {
                *renewed = now;
                return Some(Outcome { done: true, value: lease.holder as i64 });
            }
            let has_run_out = now >= *renewed + Duration::from_millis(lease.millis);
            command.expected = if has_run_out { lease.grant } else { 0 };
        }
        None
    }
}

fn not_leading() -> Status {
    Status::failed_precondition("this replica does not lead")
}

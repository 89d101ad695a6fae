//! What clients ask of a replica: writes, which go through the log, reads by the lease of the leader, and watches.

use crate::defects::Defect;
use crate::machine;
use crate::replica::{LEASE, Leading, Replica, Role, State};
use examples::replicated::{Change, Command, Entry, From, Key, Kind, Outcome, Store};
use frpc::{Request, Response, ResponseStream, Status};
use std::time::{Duration, UNIX_EPOCH};

/// The writes of clients that wait at one time.
pub(crate) const WRITES_MAX: usize = 16;

impl Store for Replica {
    async fn write(&self, request: Request<Command>) -> Result<Response<Outcome>, Status> {
        // A write gives its place back when it ends, and also when it is dropped, as it is when its caller has gone.
        let place = self.0.places.try_acquire().map_err(|_| Status::resource_exhausted("too many writes wait"))?;
        if self.has(Defect::ForgottenCancel) {
            place.forget();
            let outcome = self.execute(request.into_inner()).await;
            self.0.places.add_permits(1);
            return outcome.map(Response::new);
        }
        self.execute(request.into_inner()).await.map(Response::new)
    }

    async fn read(&self, request: Request<Key>) -> Result<Response<Outcome>, Status> {
        let mut state = self.lock();
        if !self.may_read(&mut state) {
            return Err(not_leading());
        }
        let value = machine::value(&state.log.machine, &request.get_ref().key);
        Ok(Response::new(Outcome { done: true, value }))
    }

    async fn watch(&self, request: Request<From>) -> Result<Response<ResponseStream<Change>>, Status> {
        let (sender, stream) = ResponseStream::channel(1);
        let (replica, mut next) = (self.clone(), request.get_ref().revision.max(1));
        self.0.process.spawn(async move {
            loop {
                let news = replica.until(|state| {
                    let known = state.log.machine.changes.get(next as usize - 1..)?;
                    let lost = if replica.has(Defect::WatchLosesEvent) { known.len().saturating_sub(1) } else { 0 };
                    (!known.is_empty()).then(|| known[lost..].to_vec())
                });
                let news = tokio::select! {
                    biased;
                    () = sender.closed() => return,
                    news = news => news,
                };
                for change in news {
                    next = change.revision + 1;
                    if sender.send(Ok(change)).await.is_err() {
                        return;
                    }
                }
            }
        });
        Ok(Response::new(stream))
    }
}

impl Replica {
    /// Whether this replica may read: it knows what is committed, and nobody can have been elected since.
    fn may_read(&self, state: &mut State) -> bool {
        if self.has(Defect::StaleRead) {
            return true;
        }
        let (known, valid) = (state.log.machine.index, state.heard + LEASE);
        let Some(leading) = state.leading() else { return false };
        let knows = known >= leading.first || self.has(Defect::ReadsTooEarly);
        knows && (self.now() < valid || self.has(Defect::StaleLeader))
    }

    /// The clock by which leases run out.
    pub(crate) fn lease_clock(&self) -> Duration {
        let clock = self.0.process.clock();
        let wall = || clock.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if self.has(Defect::TrustsWallClock) { wall() } else { clock.monotonic() }
    }

    /// Executes a command as soon as a majority has it on their disks.
    async fn execute(&self, mut command: Command) -> Result<Outcome, Status> {
        let (term, index) = match self.propose(&mut command)? {
            Ok(proposed) => proposed,
            Err(outcome) => return Ok(outcome),
        };
        self.0.changes.notify_waiters();
        if !self.has(Defect::AnswersBeforeSync) {
            self.sync().await;
        }
        self.stored_here(term, index);
        if self.has(Defect::AnswersBeforeCommit) {
            let mut later = self.lock().log.machine.clone();
            machine::apply(&mut later, &Entry { term, command: Some(command.clone()) }, None);
            return machine::outcome(&later, &command).ok_or_else(|| Status::aborted("out of order"));
        }
        let outcome = self.until(|state| {
            let outcome = machine::outcome(&state.log.machine, &command);
            // Whoever leads now decides what becomes of the entry.
            let is_over = state.term != term || state.leading().is_none() || state.log.machine.index >= index;
            (outcome.is_some() || is_over).then_some(outcome)
        });
        outcome.await.ok_or_else(|| Status::aborted("another leader has taken over"))
    }

    /// Appends a command to the log of the leader; or its outcome, if that is known already.
    fn propose(&self, command: &mut Command) -> Result<Result<(u64, u64), Outcome>, Status> {
        let (mut state, now) = (self.lock(), self.lease_clock());
        let State { role: Role::Leader(leading), log, term, .. } = &mut *state else { return Err(not_leading()) };
        if let Some(outcome) = machine::outcome(&log.machine, command)
            && !self.has(Defect::AppliesTwice)
        {
            return Ok(Err(outcome));
        }
        if command.kind() == Kind::Acquire {
            let lease = machine::lease(&log.machine, &command.key);
            if self.has(Defect::OldLeaderRenews) && lease.is_some_and(|lease| lease.holder == command.client) {
                leading.renewed.insert(command.key.clone(), now);
                return Ok(Err(Outcome { done: true, value: command.client as i64 }));
            }
            if self.has(Defect::SplitBrainOfLease) {
                return Ok(Err(leading.grant_alone(command, now)));
            }
            // A predecessor may have renewed the lease up to the last moment.
            let unseen = if self.has(Defect::ForgetsRenewals) { Duration::ZERO } else { leading.since };
            let renewed = leading.renewed.get(&command.key).copied().unwrap_or(unseen);
            let has_run_out = |millis: i64| now >= renewed + Duration::from_millis(millis as u64);
            command.expected = lease.filter(|lease| has_run_out(lease.millis)).map_or(0, |lease| lease.grant);
        }
        let index = log.push(Entry { term: *term, command: Some(command.clone()) });
        Ok(Ok((*term, index)))
    }
}

impl Leading {
    /// Grants a lease without telling anybody.
    fn grant_alone(&mut self, command: &Command, now: Duration) -> Outcome {
        let ends = now + Duration::from_millis(command.value as u64);
        let lease = self.own.entry(command.key.clone()).or_insert((command.client, ends));
        if lease.0 == command.client || lease.1 < now {
            *lease = (command.client, ends);
        }
        Outcome { done: lease.0 == command.client, value: lease.0 as i64 }
    }
}

fn not_leading() -> Status {
    Status::failed_precondition("this replica does not lead")
}

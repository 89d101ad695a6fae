//! A client of the store: it finds the leader, retries, and tracks how long it holds a lease.

use crate::defects::Defect;
use crate::replica::channel;
use frisbee_sim::Process;
use replicated::{Command, Key, Kind, Outcome, StoreClient};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Timeout of one attempt.
const ATTEMPT: Duration = Duration::from_millis(250);

/// Maximum duration of all attempts. Afterwards it is unknown whether the command was executed.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(1_500);

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// A client that makes sequential requests. Several clients run concurrently.
pub(crate) struct Client {
    process: Process,
    /// The replicas, and the index of the next one to call.
    stores: Vec<StoreClient>,
    at: usize,
    id: u64,
    number: u64,
    defect: Option<Defect>,
}

impl Client {
    pub(crate) fn new(process: Process, replicas: &[String], id: u64, defect: Option<Defect>) -> Self {
        let stores = replicas.iter().map(|name| StoreClient::new(channel(&process, name, ATTEMPT))).collect();
        Self { process, stores, at: id as usize, id, number: 0, defect }
    }

    /// Executes a command exactly once. Returns `None` if the outcome is unknown.
    pub(crate) async fn write(&mut self, kind: Kind, key: &str, value: i64, expected: i64) -> Option<Outcome> {
        self.number += 1;
        let (client, key) = (self.id, key.to_owned());
        let mut command = Command { client, number: self.number, kind: kind.into(), key, value, expected };
        let end = self.end();
        while Instant::now() < end {
            match self.store().write(command.clone()).await {
                Ok(outcome) => return Some(outcome.into_inner()),
                Err(_) => self.go_on().await,
            }
            if self.defect == Some(Defect::RetriesUnderNewId) {
                self.number += 1;
                command.number = self.number;
            }
        }
        None
    }

    /// Returns the value of a key, or `None` if no leader is found.
    pub(crate) async fn read(&mut self, key: &str) -> Option<i64> {
        let end = self.end();
        while Instant::now() < end {
            match self.store().read(Key { key: key.to_owned() }).await {
                Ok(outcome) => return Some(outcome.into_inner().value),
                Err(_) => self.go_on().await,
            }
        }
        None
    }

    /// Acquires or renews a lease. Returns its end by the clock of this machine.
    pub(crate) async fn acquire(&mut self, name: &str, time: Duration) -> Option<Duration> {
        // The lease is counted from before the request and ends early, because the leader's clock may run faster.
        let mut requested_at = self.process.clock().monotonic();
        let outcome = self.write(Kind::Acquire, name, time.as_millis() as i64, 0).await?;
        if self.defect == Some(Defect::CountsFromAnswer) {
            requested_at = self.process.clock().monotonic();
        }
        let lease = if self.defect == Some(Defect::TrustsDrift) { time } else { time * 17 / 20 };
        outcome.done.then_some(requested_at + lease)
    }

    fn end(&self) -> Instant {
        let is_endless = self.defect == Some(Defect::IgnoresDeadline);
        Instant::now() + if is_endless { TIMEOUT * 100 } else { TIMEOUT }
    }

    /// Returns the replica to call.
    fn store(&self) -> StoreClient {
        self.stores[self.at % self.stores.len()].clone()
    }

    /// Switches to the next replica, because this one is not the leader or is unreachable.
    async fn go_on(&mut self) {
        self.at += 1;
        sleep(PAUSE).await;
    }
}

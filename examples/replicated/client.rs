//! A client of the store: it finds the leader, tries again, and knows for how long it holds a lease.

use crate::defects::Defect;
use crate::replica::channel;
use frisbee_sim::Process;
use replicated::{Command, Key, Kind, Outcome, StoreClient};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long one attempt takes at most.
const ATTEMPT: Duration = Duration::from_millis(250);

/// How long a client tries. After that, it is unknown whether the command has been executed.
pub(crate) const PATIENCE: Duration = Duration::from_millis(1_500);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// A client. It does one thing after the other; a second client works concurrently.
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

    /// Executes a command, once. `None` if the outcome is unknown.
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

    /// The value of a key. `None` if no leader is found.
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

    /// Takes or keeps a lease. Returns the time by the clock of this machine up to which it is held.
    pub(crate) async fn acquire(&mut self, name: &str, time: Duration) -> Option<Duration> {
        // It counts from before the request, and its end is early, since the leader's clock may go faster.
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
        Instant::now() + if is_endless { PATIENCE * 100 } else { PATIENCE }
    }

    /// The replica that is called now.
    fn store(&self) -> StoreClient {
        self.stores[self.at % self.stores.len()].clone()
    }

    /// Turns to the next replica: this one does not lead, or is not reached.
    async fn go_on(&mut self) {
        self.at += 1;
        sleep(PAUSE).await;
    }
}

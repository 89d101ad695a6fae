//! A client of the store: it finds the leader, tries again, and knows for how long it holds a lease.

use crate::defects::Defect;
use examples::replicated::{Change, Command, From, Key, Kind, Outcome, StoreClient};
use frisbee_sim::Process;
use frpc::{Channel, Code, Request, Response, Status, Streaming};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long one attempt takes at most.
const ATTEMPT: Duration = Duration::from_millis(500);

/// How long a client tries. After that, nobody knows whether the command has been executed.
pub(crate) const PATIENCE: Duration = Duration::from_millis(1_500);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// A client. It does one thing after the other; a second client does other things meanwhile.
pub(crate) struct Client {
    process: Process,
    replicas: Vec<String>,
    /// Connections to replicas, and which of them is asked next.
    stores: Vec<Option<StoreClient>>,
    at: usize,
    id: u64,
    number: u64,
    defect: Option<Defect>,
}

impl Client {
    pub(crate) fn new(process: Process, replicas: &[String], id: u64, defect: Option<Defect>) -> Self {
        let (replicas, stores) = (replicas.to_vec(), vec![None; replicas.len()]);
        Self { process, replicas, stores, at: id as usize, id, number: 0, defect }
    }

    /// Executes a command, once. `None` if nobody knows.
    pub(crate) async fn write(&mut self, kind: Kind, key: &str, value: i64, expected: i64) -> Option<Outcome> {
        self.number += 1;
        let (client, key) = (self.id, key.to_owned());
        let mut command = Command { client, number: self.number, kind: kind.into(), key, value, expected };
        let end = self.end();
        while Instant::now() < end {
            match self.store().write(limited(command.clone())).await {
                Ok(outcome) => return Some(outcome.into_inner()),
                Err(status) => self.go_on(&status).await,
            }
            if self.defect == Some(Defect::RetriesAnew) {
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
            match self.store().read(limited(Key { key: key.to_owned() })).await {
                Ok(outcome) => return Some(outcome.into_inner().value),
                Err(status) => self.go_on(&status).await,
            }
        }
        None
    }

    /// Takes or keeps a lease. Returns the time by the clock of this machine up to which it is held.
    pub(crate) async fn acquire(&mut self, name: &str, time: Duration) -> Option<Duration> {
        // It counts from before it was asked for, and its end is early, since the leader's clock may go faster.
        let asked = self.process.clock().monotonic();
        let outcome = self.write(Kind::Acquire, name, time.as_millis() as i64, 0).await?;
        let held = if self.defect == Some(Defect::TrustsDrift) { time } else { time * 17 / 20 };
        outcome.done.then_some(asked + held)
    }

    /// The changes from a revision on, from one of the replicas.
    pub(crate) async fn watch(&mut self, revision: u64) -> Result<Streaming<Change>, Status> {
        self.at += 1;
        self.store().watch(From { revision }).await.map(Response::into_inner)
    }

    fn end(&self) -> Instant {
        let is_endless = self.defect == Some(Defect::IgnoresDeadline);
        Instant::now() + if is_endless { PATIENCE * 100 } else { PATIENCE }
    }

    /// The connection to the replica that is asked now.
    fn store(&mut self) -> StoreClient {
        let at = self.at % self.replicas.len();
        let made = self.stores[at].get_or_insert_with(|| {
            let connector = self.process.connector(&self.replicas[at]);
            let channel = Channel::builder().timeout(ATTEMPT).connect_lazy_with_connector(connector);
            StoreClient::new(channel.expect("there is nothing to overlap"))
        });
        made.clone()
    }

    /// Turns to the next replica. A connection over which anything else than a refusal has come is not used again.
    async fn go_on(&mut self, status: &Status) {
        let at = self.at % self.replicas.len();
        if status.code() != Code::FailedPrecondition {
            self.stores[at] = None;
        }
        self.at += 1;
        sleep(PAUSE).await;
    }
}

fn limited<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(ATTEMPT);
    request
}

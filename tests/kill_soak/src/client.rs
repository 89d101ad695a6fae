//! Makes the calls of the load, and records their outcomes.

use crate::proto::{Done, Job, WorkClient};
use crate::{Kind, Transport, data_of};
use frpc::{Channel, Request, Status};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) const CHANNELS: usize = 4;

/// Number of concurrent calls per channel.
const CALLS: usize = 6;

/// A call that takes longer counts as hung. It is longer than every deadline.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The outcome of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// This id was reserved for a kind of call that was not needed, so no call was made.
    Unused,
    /// The call was dropped by the client or is still in progress.
    Dropped,
    Answered,
    /// The call failed and may have run.
    Failed,
    /// The call failed, and its status states that it has not run.
    NotRun,
    /// The reply has unexpected content, or the error reports a protocol violation.
    Wrong,
    Hung,
}

impl Fate {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Unused => "unused",
            Self::Dropped => "dropped",
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::NotRun => "failed, has not run",
            Self::Wrong => "answered wrongly",
            Self::Hung => "hung",
        }
    }
}

/// A failed call.
enum Failure {
    Status(Status),
    Wrong(&'static str),
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

/// All calls of a run.
pub(crate) struct Load {
    transport: Transport,
    target: String,
    stopped: AtomicBool,
    /// The outcome of each call, indexed by call id.
    fates: Mutex<Vec<Fate>>,
    errors: Mutex<BTreeMap<String, u64>>,
}

impl Load {
    pub(crate) fn new(transport: Transport, target: String) -> Self {
        Self { transport, target, stopped: false.into(), fates: Mutex::default(), errors: Mutex::default() }
    }

    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn fates(&self) -> Vec<Fate> {
        self.fates.lock().expect("lock should not be poisoned").clone()
    }

    /// Returns the 20 most frequent errors with their counts.
    pub(crate) fn errors(&self) -> Vec<(String, u64)> {
        let mut errors: Vec<_> = self.errors.lock().expect("lock should not be poisoned").clone().into_iter().collect();
        errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        errors.truncate(20);
        errors
    }

    /// Opens one channel after the other, and makes calls on each.
    pub(crate) async fn run(self: std::sync::Arc<Self>, mut random: fastrand::Rng) {
        while !self.stopped.load(Ordering::Relaxed) {
            let channel = Channel::builder()
                .io_backend(self.transport.io_backend())
                .timeout(Duration::from_secs(10))
                .reconnect_timeout(Duration::from_millis(500))
                .connect_lazy(self.target.clone())
                .expect("address should be valid");
            let client = WorkClient::new(channel);
            // A ring of shared memory grows only at the start of a connection. Most channels are therefore short.
            let calls = if random.u8(..8) > 0 { random.u32(..4) } else { random.u32(..2000) };
            let tasks = (0..CALLS).map(|_| {
                let (load, client, random) = (self.clone(), client.clone(), random.fork());
                tokio::spawn(load.call_repeatedly(client, random, calls))
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.expect("load should not panic");
            }
        }
    }

    async fn call_repeatedly(self: std::sync::Arc<Self>, client: WorkClient, mut random: fastrand::Rng, calls: u32) {
        for _ in 0..calls {
            if self.stopped.load(Ordering::Relaxed) {
                return;
            }
            self.call(&client, &mut random).await;
        }
    }

    async fn call(&self, client: &WorkClient, random: &mut fastrand::Rng) {
        // Half of the calls are unary calls that must not be repeated.
        let kinds = [Kind::Once, Kind::Once, Kind::Once, Kind::Repeat, Kind::Download, Kind::Upload, Kind::Talk];
        let id = self.begin(*random.choice(&kinds).expect("list of kinds should not be empty"));
        let calling = tokio::time::timeout(TIMEOUT, exchange(client, random, id));
        let called = if id.is_multiple_of(29) {
            // This call is cancelled after a few milliseconds.
            match tokio::time::timeout(Duration::from_millis(id % 5), calling).await {
                Ok(called) => called,
                Err(_) => return,
            }
        } else {
            calling.await
        };
        let (fate, error) = match called {
            Ok(Ok(())) => (Fate::Answered, None),
            Ok(Err(Failure::Wrong(problem))) => (Fate::Wrong, Some(format!("wrong {:?}: {problem}", Kind::of(id)))),
            Ok(Err(Failure::Status(status))) => {
                // Both ends can be trusted, so a protocol violation means that bytes were changed in transit.
                let text = format!("{:?}: {}", status.code(), status.message());
                let is_broken =
                    ["protocol", "claims", "the bell", "InvalidData"].iter().any(|sign| text.contains(sign));
                let fate = match status.may_have_run() {
                    _ if is_broken => Fate::Wrong,
                    true => Fate::Failed,
                    false => Fate::NotRun,
                };
                (fate, Some(text))
            }
            Err(_) => (Fate::Hung, Some(format!("hung {:?}", Kind::of(id)))),
        };
        self.fates.lock().expect("lock should not be poisoned")[id as usize] = fate;
        if let Some(error) = error {
            // The numbers in a text differ from call to call, so they are replaced.
            let error = error.replace(|letter: char| letter.is_ascii_digit(), "#");
            *self.errors.lock().expect("lock should not be poisoned").entry(error).or_default() += 1;
            tokio::time::sleep(Duration::from_millis(random.u64(1..50))).await;
        }
    }

    /// Reserves the next call id of the given kind.
    fn begin(&self, kind: Kind) -> u64 {
        let mut fates = self.fates.lock().expect("lock should not be poisoned");
        loop {
            let id = fates.len() as u64;
            let is_next = Kind::of(id) == kind;
            fates.push(if is_next { Fate::Dropped } else { Fate::Unused });
            if is_next {
                return id;
            }
        }
    }
}

/// Returns a random message length of up to a megabyte. Most messages are short. Some fill a multiple of 16 KiB, the
/// minimum size of a segment of a ring in shared memory. Replacing a ring is most difficult if a read empties its last
/// segment exactly.
fn length(random: &mut fastrand::Rng) -> usize {
    match random.u8(..40) {
        // The header and the other fields take about 22 bytes in a reply, and 35 in a request.
        28.. => {
            16 * 1024 * random.usize(1..5) - if random.bool() { random.usize(20..25) } else { random.usize(32..38) }
        }
        0 => random.usize(..1 << 20),
        1..6 => random.usize(..200_000),
        6..10 => random.usize(..20_000),
        _ => random.usize(..300),
    }
}

fn job(id: u64, part: u32, random: &mut fastrand::Rng) -> Job {
    let data = data_of(id, part, length(random));
    Job { id, part, replies: random.u32(..20), reply_length: length(random) as u32, data }
}

fn check(done: &Done, id: u64, part: u32, length: usize) -> Result<(), Failure> {
    if (done.id, done.part, done.data.len()) != (id, part, length) {
        return Err(Failure::Wrong("the id, part or length of a reply"));
    }
    if done.data != data_of(!id, part, length) {
        return Err(Failure::Wrong("the bytes of a reply"));
    }
    Ok(())
}

/// Makes a call and checks the content of everything that is received.
async fn exchange(client: &WorkClient, random: &mut fastrand::Rng, id: u64) -> Result<(), Failure> {
    let first = job(id, 0, random);
    let (replies, reply_length) = (first.replies, first.reply_length as usize);
    match Kind::of(id) {
        kind @ (Kind::Once | Kind::Repeat) => {
            let mut request = Request::new(first);
            if id.is_multiple_of(7) {
                request.set_timeout(Duration::from_millis(random.u64(1..400)));
            }
            let called = if kind == Kind::Once { client.once(request).await } else { client.repeat(request).await };
            check(called?.get_ref(), id, 0, reply_length)
        }
        Kind::Download => {
            let mut stream = client.download(first).await?.into_inner();
            let mut part = 0;
            while let Some(done) = stream.message().await? {
                check(&done, id, part, reply_length)?;
                part += 1;
                if part % 4 == 3 {
                    tokio::task::yield_now().await;
                }
            }
            if part == replies { Ok(()) } else { Err(Failure::Wrong("a download that ends early")) }
        }
        Kind::Upload => {
            let jobs: Vec<_> = std::iter::once(first).chain((1..replies).map(|part| job(id, part, random))).collect();
            let parts = jobs.len() as u32;
            let reply = client.upload(frpc::iter(jobs)).await?;
            check(reply.get_ref(), id, parts, 100)
        }
        Kind::Talk => {
            let jobs: Vec<_> = std::iter::once(first).chain((1..replies).map(|part| job(id, part, random))).collect();
            let lengths: Vec<_> = jobs.iter().map(|job| job.reply_length as usize).collect();
            let mut stream = client.talk(frpc::iter(jobs)).await?.into_inner();
            let mut part = 0;
            while let Some(done) = stream.message().await? {
                let length = lengths.get(part).ok_or(Failure::Wrong("more replies than jobs"))?;
                check(&done, id, part as u32, *length)?;
                part += 1;
            }
            if part == lengths.len() { Ok(()) } else { Err(Failure::Wrong("a talk that ends early")) }
        }
    }
}

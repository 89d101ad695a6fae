//! The members of a fleet, and the tasks that keep connections to them.

use crate::client::fleet::below;
use crate::client::link::Link;
use crate::client::links::Links;
use crate::resolve::Endpoint;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How finely weights are kept when they have no small common measure: so many lots for each member.
const LOTS_EACH: u64 = 16;

/// The members of a fleet.
#[derive(Default)]
pub(crate) struct Members {
    rows: Vec<Row>,
    /// The places of members, each as often as its weight is large. Empty if all weights are the same.
    lots: Vec<u32>,
}

/// A member, and what its resolver states of it.
pub(crate) struct Row {
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) member: Arc<Member>,
    /// Since when the resolver has not stated it any more.
    pub(crate) missing_since: Option<Instant>,
}

impl Row {
    pub(crate) fn new(endpoint: Arc<Endpoint>, member: Member) -> Self {
        Self { endpoint, member: Arc::new(member), missing_since: None }
    }

    pub(crate) fn weight(&self) -> u32 {
        self.endpoint.weight()
    }

    /// The current connection.
    pub(crate) fn current(&self) -> Option<Arc<Link>> {
        self.member.links.current()
    }
}

impl Members {
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Two members that are drawn at random, which are the same if there is but one; `None` if there is none.
    pub(crate) fn draw(&self) -> Option<(&Row, &Row)> {
        let count = self.rows.len();
        let (one, other) = match (count, self.lots.len()) {
            (0, _) => return None,
            (_, 0) => {
                let one = below(count);
                // Never the same one, unless there is no other.
                let other = one + 1 + below(count.max(2) - 1);
                (one, if other >= count { other - count } else { other })
            }
            (_, lots) => (self.lots[below(lots)] as usize, self.lots[below(lots)] as usize),
        };
        Some((&self.rows[one], self.rows.get(other).unwrap_or(&self.rows[one])))
    }

    pub(crate) fn add(&mut self, rows: Vec<Row>) {
        self.rows.extend(rows);
        self.deal();
    }

    /// Changes rows, and removes those for which `stays` is false.
    pub(crate) fn retain(&mut self, stays: impl FnMut(&mut Row) -> bool) -> Vec<Row> {
        let mut stays = stays;
        let removed = self.rows.extract_if(.., |row| !stays(row)).collect();
        self.deal();
        removed
    }

    /// Deals the lots anew.
    fn deal(&mut self) {
        let weights: Vec<_> = self.rows.iter().map(Row::weight).collect();
        self.lots = lots(&weights);
    }
}

/// The places of these weights, each as often as its weight is large. Empty if all are the same.
fn lots(weights: &[u32]) -> Vec<u32> {
    if weights.windows(2).all(|pair| pair[0] == pair[1]) {
        return Vec::new();
    }
    let measure = weights.iter().fold(0, |measure, weight| common(measure, *weight)).max(1);
    let sum: u64 = weights.iter().map(|weight| u64::from(weight / measure)).sum();
    let most = LOTS_EACH * weights.len() as u64;
    let mut lots = Vec::new();
    for (place, weight) in (0..).zip(weights) {
        let share = u64::from(weight / measure);
        // No more than `most` and one for each in all.
        let share = if sum <= most { share } else { (share * most / sum).max(share.min(1)) };
        lots.extend((0..share).map(|_| place));
    }
    lots
}

/// The greatest common divisor.
fn common(mut one: u32, mut other: u32) -> u32 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// A server, and the task that keeps a connection to it.
pub(crate) struct Member {
    pub(crate) links: Arc<Links>,
    keeping: JoinHandle<()>,
}

impl Member {
    /// A server to which a task keeps a connection.
    pub(crate) fn kept(links: Links, urgency: &Arc<Urgency>, pauses: Pauses, runtime: &Handle) -> Self {
        let links = Arc::new(links);
        let keeping = runtime.spawn(keep(links.clone(), urgency.clone(), pauses));
        Self { links, keeping }
    }

    /// Whether its runtime has ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.keeping.is_finished()
    }

    /// Removes the member: calls in progress end where they are, and there are no further ones.
    pub(crate) fn drain(&self) {
        self.keeping.abort();
        self.links.close();
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.keeping.abort();
    }
}

/// How long to wait at most before a connection is made, unless a call is in need of one. The pauses are random, so that
/// many clients to which the same happens do not come at once.
#[derive(Clone, Copy)]
pub(crate) struct Pauses {
    pub(crate) first: Duration,
    pub(crate) further: Duration,
}

impl Pauses {
    pub(crate) const NONE: Self = Self { first: Duration::ZERO, further: Duration::ZERO };
}

/// Keeps a connection until none can be made any more.
async fn keep(links: Arc<Links>, urgency: Arc<Urgency>, pauses: Pauses) {
    let mut pause = pauses.first;
    loop {
        if !pause.is_zero() {
            urgency.pause(pause.mul_f64(fastrand::f64())).await;
        }
        if !links.keep_one().await {
            return;
        }
        pause = pauses.further;
    }
}

/// The calls of a channel that find no connection at all, which cut pauses short.
#[derive(Debug, Default)]
pub(crate) struct Urgency {
    waiting: AtomicUsize,
    begun: Notify,
}

impl Urgency {
    /// Counts a call that waits, until the guard is dropped.
    pub(crate) fn wait(&self) -> impl Drop + '_ {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        self.begun.notify_waiters();
        WaitingCall(self)
    }

    /// Pauses for as long as no call waits.
    async fn pause(&self, pause: Duration) {
        let mut begun = pin!(self.begun.notified());
        begun.as_mut().enable();
        if self.waiting.load(Ordering::Acquire) == 0 {
            drop(tokio::time::timeout(pause, begun).await);
        }
    }
}

struct WaitingCall<'a>(&'a Urgency);

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lots_are_in_proportion_to_weights_and_bounded() {
        assert!(lots(&[]).is_empty());
        assert!(lots(&[7, 7, 7]).is_empty(), "nothing to tell them apart by");
        assert!(lots(&[0, 0]).is_empty(), "all alike");
        assert_eq!(lots(&[100, 0, 200]), [0, 2, 2]);
        let uneven = lots(&[u32::MAX, 1, 1_000_003]);
        assert!(uneven.len() <= 3 * (LOTS_EACH as usize + 1), "{}", uneven.len());
        assert!((0..3).all(|place| uneven.contains(&place)), "each has a share: {uneven:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_without_a_connection_cuts_pauses_short() {
        let urgency = Urgency::default();
        let begun = Instant::now();
        urgency.pause(Duration::from_secs(1)).await;
        assert_eq!(begun.elapsed(), Duration::from_secs(1), "nobody waits");
        let waiting = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            std::mem::forget(urgency.wait());
        };
        tokio::time::timeout(Duration::from_secs(2), async {
            let pausing = urgency.pause(Duration::from_secs(60));
            let mut both = (pin!(pausing), pin!(waiting), false);
            std::future::poll_fn(|context| {
                both.2 = both.2 || both.1.as_mut().poll(context).is_ready();
                both.0.as_mut().poll(context)
            })
            .await;
        })
        .await
        .expect("it is cut short");
        urgency.pause(Duration::from_secs(60)).await;
        assert_eq!(begun.elapsed(), Duration::from_secs(2), "a call still waits");
    }
}

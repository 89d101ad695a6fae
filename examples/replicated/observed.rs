//! What the test has seen of the store, and the conditions that hold at all times.

use crate::client::PATIENCE;
use crate::replica::Observer;
use crate::store::WRITES_MAX;
use examples::replicated::{Change, Entry, Kind};
use frisbee_sim::{Clock, World};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Beyond the patience of a client: its last attempt, and the clocks.
const SLACK: Duration = Duration::from_millis(600);

pub(crate) struct Observed {
    world: World,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    leaders: BTreeMap<u64, usize>,
    /// The entries that any replica has ever applied.
    entries: BTreeMap<u64, Entry>,
    /// The changes that a watch has heard of.
    heard: Vec<Change>,
    /// The clients that believe to have the lease, and until when by their own clocks.
    holders: BTreeMap<usize, (Clock, Duration)>,
    /// The places for writes that wait, at each replica.
    places: BTreeMap<usize, Arc<Semaphore>>,
    longest: Duration,
}

impl Observed {
    pub(crate) fn of(world: &World) -> Self {
        Self { world: world.clone(), seen: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the world watch over the conditions that are no events.
    pub(crate) fn hold_always(self: &Arc<Self>) {
        let observed = self.clone();
        self.world.always("one client has the lease", move || observed.holders() <= 1);
        let observed = self.clone();
        self.world.always("operations end in time", move || observed.lock().longest <= PATIENCE + SLACK);
    }

    fn holders(&self) -> usize {
        self.lock().holders.values().filter(|(clock, until)| clock.monotonic() < *until).count()
    }

    /// A client believes to have the lease until then.
    pub(crate) fn holds(&self, client: usize, clock: Clock, until: Duration) {
        self.lock().holders.insert(client, (clock, until));
    }

    pub(crate) fn operation_took(&self, time: Duration) {
        let mut seen = self.lock();
        seen.longest = seen.longest.max(time);
    }

    /// The next change that the watch has to hear of.
    pub(crate) fn next_revision(&self) -> u64 {
        self.lock().heard.len() as u64 + 1
    }

    pub(crate) fn hears(&self, change: Change) {
        let mut seen = self.lock();
        assert_eq!(change.revision, seen.heard.len() as u64 + 1, "the watch has missed a change");
        seen.heard.push(change);
    }

    /// Whether the watch has heard of every change that was committed before.
    pub(crate) fn has_heard_all(&self) -> bool {
        let seen = self.lock();
        let newest = seen.entries.values().rev().filter_map(|entry| entry.command.as_ref());
        let newest = newest.filter(|command| command.kind() == Kind::Put).map(|command| command.value).next();
        newest.is_none_or(|value| seen.heard.iter().any(|change| change.value == value))
    }

    /// The writes that wait at all replicas.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().places.values().map(|places| WRITES_MAX - places.available_permits()).sum()
    }
}

impl Observer for Observed {
    fn leads(&self, term: u64, replica: usize) {
        let other = *self.lock().leaders.entry(term).or_insert(replica);
        assert_eq!(other, replica, "term {term} has two leaders");
        self.world.occasion("elected", &format!("r{replica}"));
    }

    fn applied(&self, index: u64, entry: &Entry) {
        let known = self.lock().entries.entry(index).or_insert_with(|| entry.clone()).clone();
        assert_eq!(known, *entry, "two replicas have applied different entries {index}");
    }

    fn begins(&self, replica: usize, places: Arc<Semaphore>) {
        self.lock().places.insert(replica, places);
    }
}

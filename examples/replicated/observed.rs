//! The reported state of the replicas, and its invariants.

use crate::replica::Observer;
use crate::store::WRITES_MAX;
use frisbee_sim::World;
use replicated::Entry;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;

pub(crate) struct Observed {
    world: World,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    leaders: BTreeMap<u64, usize>,
    /// The entries that any replica has ever applied.
    entries: BTreeMap<u64, Entry>,
    /// The places for writes that wait, at each replica.
    places: BTreeMap<usize, Arc<Semaphore>>,
}

impl Observed {
    pub(crate) fn of(world: &World) -> Self {
        Self { world: world.clone(), seen: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
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

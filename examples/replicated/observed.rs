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
    observations: Mutex<Observations>,
}

#[derive(Default)]
struct Observations {
    leaders: BTreeMap<u64, usize>,
    /// All entries applied by any replica.
    entries: BTreeMap<u64, Entry>,
    /// The write permits of each replica.
    write_permits: BTreeMap<usize, Arc<Semaphore>>,
}

impl Observed {
    pub(crate) fn of(world: &World) -> Self {
        Self { world: world.clone(), observations: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Observations> {
        self.observations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of waiting writes at all replicas.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().write_permits.values().map(|write_permits| WRITES_MAX - write_permits.available_permits()).sum()
    }
}

impl Observer for Observed {
    fn leads(&self, term: u64, replica: usize) {
        let other = *self.lock().leaders.entry(term).or_insert(replica);
        assert_eq!(other, replica, "term {term} has two leaders");
        self.world.occasion("elected", &format!("r{replica}"));
    }

    fn applied(&self, index: u64, entry: &Entry) {
        let first_applied = self.lock().entries.entry(index).or_insert_with(|| entry.clone()).clone();
        assert_eq!(first_applied, *entry, "two replicas have applied different entries {index}");
    }

    fn begins(&self, replica: usize, write_permits: Arc<Semaphore>) {
        self.lock().write_permits.insert(replica, write_permits);
    }
}

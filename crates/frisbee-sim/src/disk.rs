//! The disk of a node: values by name. A crash may lose values that are not synced.

use crate::trace::{EventKind, RawEvent};
use crate::{Process, state};
use std::time::Duration;
use tokio::time::sleep;

/// Maximum duration of a simulated disk sync in milliseconds, typical of a hard disk or a busy SSD.
const SYNC_MILLIS_MAX: u64 = 10;

/// The disk of a node: values by name.
///
/// A written value can be read immediately and survives a crash if it was [synced](Self::sync) before. Of the values
/// written since the last sync, a crash keeps the first few. Single values are never torn, but a crash can separate two
/// values written together.
///
/// ```
/// # frisbee_sim::sim(1, |world| async move {
/// let node = world.node("a");
/// let disk = node.process().disk();
/// disk.write("term", "7");
/// disk.sync().await;
/// node.crash();
/// assert_eq!(node.process().disk().read("term").as_deref(), Some(&b"7"[..]));
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Disk {
    pub(crate) process: Process,
}

impl Disk {
    /// Returns the stored value with this name. Returns `None` if there is none or if the process has crashed.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.process.shared.lock();
        let node = &state.nodes[self.process.number];
        let unsynced = node.unsynced.iter().rev().find(|(written, _)| written == name);
        match unsynced {
            _ if self.process.has_ended_in(&state) => None,
            Some((_, value)) => value.clone(),
            None => node.disk.get(name).cloned(),
        }
    }

    /// Writes a value. Has no effect in a crashed process.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     let disk = world.node("server").process().disk();
    ///     disk.write("term", "7");
    ///     assert_eq!(disk.read("term").as_deref(), Some(&b"7"[..]));
    ///     disk.sync().await;
    /// });
    /// ```
    pub fn write(&self, name: &str, value: impl Into<Vec<u8>>) {
        self.change(name, Some(value.into()));
    }

    /// Removes a value. Has no effect in a crashed process.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     let disk = world.node("server").process().disk();
    ///     disk.write("term", "7");
    ///     disk.remove("term");
    ///     assert_eq!(disk.read("term"), None);
    /// });
    /// ```
    pub fn remove(&self, name: &str) {
        self.change(name, None);
    }

    fn change(&self, name: &str, value: Option<Vec<u8>>) {
        let mut state = self.process.shared.lock();
        if !self.process.has_ended_in(&state) {
            state.nodes[self.process.number].unsynced.push((name.to_owned(), value));
        }
    }

    /// Waits until all previous changes are permanent, which takes up to 10 ms. Never completes if the process crashes.
    ///
    /// # Cancel safety
    /// If the future is dropped, the changes may or may not become permanent.
    pub async fn sync(&self) {
        let shared = &self.process.shared;
        let (count, time) = {
            let mut state = shared.lock();
            (state.nodes[self.process.number].unsynced.len(), state.rng.u64(..=SYNC_MILLIS_MAX))
        };
        sleep(Duration::from_millis(time)).await;
        self.process.running().await;
        let mut state = shared.lock();
        let node = &mut state.nodes[self.process.number];
        let count = count.min(node.unsynced.len()); // Another sync may have completed before this one.
        let bytes = keep(node, count);
        let raw = RawEvent { bytes, ..RawEvent::at(EventKind::Sync, self.process.number) };
        shared.trace(&mut state, &raw);
    }
}

/// Makes the first `count` unsynced changes permanent. Returns their size in bytes.
pub(crate) fn keep(node: &mut state::NodeState, count: usize) -> u64 {
    let mut bytes = 0;
    for (name, value) in node.unsynced.drain(..count) {
        match value {
            Some(value) => {
                bytes += value.len() as u64;
                node.disk.insert(name, value);
            }
            None => drop(node.disk.remove(&name)),
        }
    }
    bytes
}

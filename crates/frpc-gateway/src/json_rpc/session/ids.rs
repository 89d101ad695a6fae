//! Index of the calls in progress by the ids that the client has chosen. Several calls may have the same id.

use super::CallNumber;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Index from request ids to calls in progress. An id maps to its oldest call. No operation takes time proportional to
/// the number of calls with equal ids.
#[derive(Default)]
pub(super) struct CallIds {
    first: HashMap<Arc<[u8]>, CallNumber>,
    /// Later calls that share the id of an earlier one.
    further: BTreeSet<(Arc<[u8]>, CallNumber)>,
}

impl CallIds {
    /// Adds a call. Its number must exceed all earlier ones.
    pub(super) fn insert(&mut self, id: &Arc<[u8]>, number: CallNumber) {
        if *self.first.entry(id.clone()).or_insert(number) != number {
            self.further.insert((id.clone(), number));
        }
    }

    /// Returns the oldest call in progress with this id.
    pub(super) fn get(&self, id: &[u8]) -> Option<CallNumber> {
        self.first.get(id).copied()
    }

    pub(super) fn remove(&mut self, id: &Arc<[u8]>, number: CallNumber) {
        if self.further.remove(&(id.clone(), number)) || self.get(id) != Some(number) {
            return;
        }
        self.first.remove(id);
        let next = self.further.range((id.clone(), number)..).next().filter(|(other, _)| other == id).cloned();
        if let Some((id, next)) = next.and_then(|next| self.further.take(&next)) {
            self.first.insert(id, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_finds_first_of_its_calls() {
        let mut ids = CallIds::default();
        let [a, b]: [Arc<[u8]>; 2] = [b"1".as_slice().into(), b"2".as_slice().into()];
        for number in 0..6 {
            ids.insert(if number == 3 { &b } else { &a }, number);
        }
        assert_eq!(ids.get(b"1"), Some(0));
        ids.remove(&a, 2);
        ids.remove(&a, 0);
        assert_eq!((ids.get(b"1"), ids.get(b"2")), (Some(1), Some(3)));
        ids.remove(&a, 1);
        assert_eq!(ids.get(b"1"), Some(4));
        ids.remove(&b, 3);
        ids.remove(&a, 5);
        ids.remove(&a, 4);
        assert!(ids.get(b"1").is_none() && ids.get(b"2").is_none());
        assert!(ids.first.is_empty() && ids.further.is_empty());
    }
}

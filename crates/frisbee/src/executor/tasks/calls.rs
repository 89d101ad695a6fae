//! Index for finding the job of a cancelled call. Optimized for insertion and removal, because almost all calls
//! complete without being looked up.

use super::{Call, JobSlot};
use std::collections::BinaryHeap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Base-2 logarithm of the initial number of hash chains.
const FIRST_BITS: u32 = 4;

/// Pseudo-index of a slot that marks the end of a hash chain.
pub(super) const END: u32 = u32::MAX;

/// Hash table of the slots with jobs that handle calls. Each chain is a linked list through the slots. There are at
/// least as many chains as slots.
///
/// The keys are chosen by the peer. Each connection multiplies them by a secret random number, so that the peer cannot
/// construct long chains.
#[derive(Debug)]
pub(super) struct Calls {
    /// Index of the first slot of each hash chain.
    first: Vec<u32>,
    /// Base-2 logarithm of the number of hash chains.
    bits: u32,
    multiplier: u64,
}

impl Default for Calls {
    fn default() -> Self {
        let multiplier = RandomState::new().hash_one(()) | 1;
        Self { first: vec![END; 1 << FIRST_BITS], bits: FIRST_BITS, multiplier }
    }
}

impl Calls {
    /// Inserts the call of a slot at the front of its hash chain, before earlier calls with the same key.
    #[inline]
    pub(super) fn enter(&mut self, call: Call, index: usize, slots: &mut [JobSlot]) {
        // `grow` links the calls of all slots, including this one, which already contains its call.
        if slots.len() > self.first.len() {
            return self.grow(slots);
        }
        self.link(call, index, slots);
    }

    #[inline]
    fn link(&mut self, call: Call, index: usize, slots: &mut [JobSlot]) {
        let chain = self.chain(call);
        let Some(first) = self.first.get_mut(chain) else { return };
        let next = std::mem::replace(first, index as u32); // At most the number of calls in flight.
        // If the chain was empty, `next` is `END`, and `get_mut` returns `None`.
        if let Some(next) = slots.get_mut(next as usize) {
            next.before = index as u32;
        }
        if let Some(slot) = slots.get_mut(index) {
            (slot.before, slot.next) = (END, next);
        }
    }

    /// Doubles the number of hash chains. Calls are inserted again in the order of their jobs, so later calls precede
    /// earlier ones with the same key.
    #[cold]
    fn grow(&mut self, slots: &mut [JobSlot]) {
        self.bits += 1;
        self.first.clear();
        self.first.resize(1 << self.bits, END);
        let calls: BinaryHeap<_> =
            slots.iter().enumerate().filter_map(|(index, slot)| Some((slot.job, index, slot.call?))).collect();
        calls.into_sorted_vec().into_iter().for_each(|(_, index, call)| self.link(call, index, slots));
    }

    /// Removes the call of a slot from its hash chain. Takes constant time even if the peer uses the same id for all
    /// calls.
    #[inline]
    pub(super) fn leave(&mut self, call: Call, index: usize, slots: &mut [JobSlot]) {
        let Some(&JobSlot { before, next, .. }) = slots.get(index) else { return };
        match slots.get_mut(before as usize) {
            Some(before) => before.next = next,
            None => {
                let chain = self.chain(call);
                if let Some(first) = self.first.get_mut(chain) {
                    *first = next;
                }
            }
        }
        if let Some(next) = slots.get_mut(next as usize) {
            next.before = before;
        }
    }

    /// Returns the slot of the job that handles a call. If the peer used the same id for two calls, returns the slot of
    /// the later one.
    pub(super) fn find(&self, call: Call, slots: &[JobSlot]) -> Option<usize> {
        let mut at = *self.first.get(self.chain(call))?;
        // The chain ends with `END`, which is not the index of a slot.
        while let Some(slot) = slots.get(at as usize) {
            if slot.call == Some(call) {
                return Some(at as usize);
            }
            at = slot.next;
        }
        None
    }

    /// Returns the hash chain of a call. Uses the upper bits of a product, which depend on all bits of the key
    /// (multiplicative hashing).
    #[inline]
    fn chain(&self, (id, operation): Call) -> usize {
        let key = u64::from(id.0) << 16 | u64::from(operation.number());
        (key.wrapping_mul(self.multiplier) >> (u64::BITS - self.bits)) as usize // At most `bits` bits remain.
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Operation, PacketId};

    fn call(id: u16) -> Call {
        (PacketId(id), Operation::FIRST_USER)
    }

    /// Inserts a call in a new slot and returns the index of the slot.
    fn enter(calls: &mut Calls, slots: &mut Vec<JobSlot>, id: u16) -> usize {
        let index = slots.len();
        slots.push(JobSlot { job: index as u64 + 1, call: Some(call(id)), ..JobSlot::default() });
        calls.enter(call(id), index, slots);
        index
    }

    fn leave(calls: &mut Calls, slots: &mut [JobSlot], index: usize) {
        let call = slots[index].call.take().expect("job slot should contain a call");
        calls.leave(call, index, slots);
    }

    #[test]
    fn calls_are_found_at_any_count() {
        let (mut calls, mut slots) = (Calls::default(), Vec::new());
        for id in 0..1000 {
            assert_eq!(calls.find(call(id), &slots), None);
            enter(&mut calls, &mut slots, id);
        }
        for gone in (0..1000).step_by(3) {
            leave(&mut calls, &mut slots, gone);
        }
        for id in 0..1000 {
            let index = usize::from(id);
            assert_eq!(calls.find(call(id), &slots), (index % 3 != 0).then_some(index), "{id}");
        }
        assert_eq!(
            calls.find(
                (PacketId(1), Operation::user(11).expect("operation 11 should be above the reserved range")),
                &slots
            ),
            None
        );
    }

    #[test]
    fn latest_call_is_found_after_growth() {
        let (mut calls, mut slots) = (Calls::default(), Vec::new());
        for _ in 0..100 {
            let latest = enter(&mut calls, &mut slots, 7);
            assert_eq!(calls.find(call(7), &slots), Some(latest));
        }
        for latest in (0..100).rev() {
            assert_eq!(calls.find(call(7), &slots), Some(latest));
            leave(&mut calls, &mut slots, latest);
        }
        assert_eq!(calls.find(call(7), &slots), None);
    }

    #[test]
    fn adversarial_ids_form_no_long_chains() {
        let (mut calls, mut slots) = (Calls::default(), Vec::new());
        let strides = [1, 16, 64, 1024];
        let ids: std::collections::BTreeSet<_> =
            strides.iter().flat_map(|stride: &u16| (0..64_u16).map(move |n| n.wrapping_mul(*stride))).collect();
        for id in &ids {
            enter(&mut calls, &mut slots, *id);
        }
        let length = |mut at: u32| {
            let mut length = 0;
            while let Some(slot) = slots.get(at as usize) {
                (at, length) = (slot.next, length + 1);
            }
            length
        };
        let longest = calls.first.iter().map(|first| length(*first)).max();
        assert!(longest < Some(32), "chain has {longest:?} of {} entries", ids.len());
    }
}

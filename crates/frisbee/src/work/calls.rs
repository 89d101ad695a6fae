//! Finds the job that answers a call, for the peer's CANCEL. Nearly all calls are answered and never looked for, so
//! entering and leaving are what has to be cheap.

use super::{Call, Place};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Chains to begin with, as a power of two.
const FIRST_BITS: u32 = 4;

/// The end of a chain.
pub(super) const END: u32 = u32::MAX;

/// The places of jobs that answer calls, in chains by the hash of the call. The chains are linked through the places
/// themselves, and there are at least as many as places.
///
/// The keys are the peer's. Each connection multiplies them by a number of its own that the peer does not know, so that
/// no choice of them makes long chains.
#[derive(Debug)]
pub(super) struct Calls {
    /// The first place of each chain.
    first: Vec<u32>,
    /// The number of bits that choose a chain.
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
    /// Enters the call of a place, before an earlier one with the same id.
    #[inline]
    pub(super) fn enter(&mut self, call: Call, index: usize, places: &mut [Place]) {
        if places.len() > self.first.len() {
            return self.grow(places);
        }
        self.link(call, index, places);
    }

    #[inline]
    fn link(&mut self, call: Call, index: usize, places: &mut [Place]) {
        let chain = self.chain(call);
        let Some(first) = self.first.get_mut(chain) else { return };
        let next = std::mem::replace(first, index as u32); // There are no more places than calls in flight.
        if let Some(next) = places.get_mut(next as usize) {
            next.before = index as u32;
        }
        if let Some(place) = places.get_mut(index) {
            (place.before, place.next) = (END, next);
        }
    }

    /// Makes more chains, and enters all calls anew: in the order of their jobs, so that later ones come first.
    #[cold]
    fn grow(&mut self, places: &mut [Place]) {
        self.bits += 1;
        self.first.clear();
        self.first.resize(1 << self.bits, END);
        let mut calls: Vec<_> =
            places.iter().enumerate().filter_map(|(index, place)| Some((place.job, index, place.call?))).collect();
        calls.sort_unstable_by_key(|(job, ..)| *job);
        calls.into_iter().for_each(|(_, index, call)| self.link(call, index, places));
    }

    /// Takes the call of a place out. That takes no longer if a peer has given one id to all its calls.
    #[inline]
    pub(super) fn leave(&mut self, call: Call, index: usize, places: &mut [Place]) {
        let Some(&Place { before, next, .. }) = places.get(index) else { return };
        match places.get_mut(before as usize) {
            Some(before) => before.next = next,
            None => {
                let chain = self.chain(call);
                if let Some(first) = self.first.get_mut(chain) {
                    *first = next;
                }
            }
        }
        if let Some(next) = places.get_mut(next as usize) {
            next.before = before;
        }
    }

    /// The place of the job that answers a call: of the later one, if a peer has given one id to two calls.
    pub(super) fn find(&self, call: Call, places: &[Place]) -> Option<usize> {
        let mut at = *self.first.get(self.chain(call))?;
        while let Some(place) = places.get(at as usize) {
            if place.call == Some(call) {
                return Some(at as usize);
            }
            at = place.next;
        }
        None
    }

    /// The chain of a call: the upper bits of a product, which depend on all bits of the key.
    #[inline]
    fn chain(&self, (id, operation): Call) -> usize {
        let key = u64::from(id.0) << 16 | u64::from(operation.number());
        (key.wrapping_mul(self.multiplier) >> (u64::BITS - self.bits)) as usize // So many bits.
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Operation, PacketId};

    fn call(id: u16) -> Call {
        (PacketId(id), Operation::FIRST_USER)
    }

    /// Enters the call of a further place.
    fn enter(calls: &mut Calls, places: &mut Vec<Place>, id: u16) -> usize {
        let index = places.len();
        places.push(Place { job: index as u64 + 1, call: Some(call(id)), ..Place::default() });
        calls.enter(call(id), index, places);
        index
    }

    fn leave(calls: &mut Calls, places: &mut [Place], index: usize) {
        let call = places[index].call.take().expect("it is there");
        calls.leave(call, index, places);
    }

    #[test]
    fn each_call_is_found_in_its_place_while_it_is_there_however_many_there_are() {
        let (mut calls, mut places) = (Calls::default(), Vec::new());
        for id in 0..1000 {
            assert_eq!(calls.find(call(id), &places), None);
            enter(&mut calls, &mut places, id);
        }
        for gone in (0..1000).step_by(3) {
            leave(&mut calls, &mut places, gone);
        }
        for id in 0..1000 {
            let index = usize::from(id);
            assert_eq!(calls.find(call(id), &places), (index % 3 != 0).then_some(index), "{id}");
        }
        assert_eq!(calls.find((PacketId(1), Operation::user(11).expect("it is one")), &places), None);
    }

    #[test]
    fn of_calls_with_one_id_the_latest_is_found_also_behind_growth() {
        let (mut calls, mut places) = (Calls::default(), Vec::new());
        for _ in 0..100 {
            let latest = enter(&mut calls, &mut places, 7);
            assert_eq!(calls.find(call(7), &places), Some(latest));
        }
        for latest in (0..100).rev() {
            assert_eq!(calls.find(call(7), &places), Some(latest));
            leave(&mut calls, &mut places, latest);
        }
        assert_eq!(calls.find(call(7), &places), None);
    }

    #[test]
    fn ids_that_a_peer_may_choose_make_no_long_chains() {
        let (mut calls, mut places) = (Calls::default(), Vec::new());
        let strides = [1, 16, 64, 1024];
        let ids: std::collections::BTreeSet<_> =
            strides.iter().flat_map(|stride: &u16| (0..64_u16).map(move |n| n.wrapping_mul(*stride))).collect();
        for id in &ids {
            enter(&mut calls, &mut places, *id);
        }
        let length = |mut at: u32| {
            let mut length = 0;
            while let Some(place) = places.get(at as usize) {
                (at, length) = (place.next, length + 1);
            }
            length
        };
        let longest = calls.first.iter().map(|first| length(*first)).max();
        assert!(longest < Some(32), "{longest:?} of {} in one chain", ids.len());
    }
}

//! Memory for loom models: rings of a few bytes. Loom checks their data for races.

pub(crate) use crate::words::{End, Word};
use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU32;
use std::sync::Arc;
use tokio::io::ReadBuf;

/// Size in bytes of a small ring in the model.
pub(crate) const SMALL: u32 = 1;

/// Shared memory of a model. Both threads hold a clone.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    words: [AtomicU32; 12],
    data: Vec<UnsafeCell<u8>>,
    len: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RingRegion {
    offset: u32,
    size: u32,
}

impl RingRegion {
    pub(crate) fn small(end: End) -> Self {
        Self { offset: end as u32 * SMALL, size: SMALL }
    }
}

impl Memory {
    pub(crate) fn create(len: u32) -> Self {
        let data = (0..len).map(|_| UnsafeCell::new(0)).collect();
        Self(Arc::new(Inner { words: [(); 12].map(|()| AtomicU32::new(0)), data, len }))
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.len
    }

    pub(crate) fn whole(&self) -> RingRegion {
        RingRegion { offset: 0, size: self.0.len }
    }

    pub(crate) fn word(&self, end: End, word: Word) -> &AtomicU32 {
        &self.0.words[end as usize * 6 + word as usize]
    }

    pub(crate) fn store(&self, ring: RingRegion, position: u32, from: &[u8]) {
        for (at, byte) in from.iter().enumerate() {
            // SAFETY: loom verifies that no other thread accesses the cell at the same time.
            self.cell(ring, position, at).with_mut(|cell| unsafe { *cell = *byte });
        }
    }

    pub(crate) fn load(&self, ring: RingRegion, position: u32, count: usize, into: &mut ReadBuf<'_>) {
        for at in 0..count {
            // SAFETY: loom verifies that no other thread writes the cell at the same time.
            into.put_slice(&[self.cell(ring, position, at).with(|cell| unsafe { *cell })]);
        }
    }

    fn cell(&self, ring: RingRegion, position: u32, at: usize) -> &UnsafeCell<u8> {
        let offset = position.wrapping_add(at as u32) & (ring.size - 1);
        &self.0.data[(ring.offset + offset) as usize]
    }
}

// SAFETY: loom verifies each access to the cells.
unsafe impl Sync for Inner {}
// SAFETY: loom verifies each access to the cells.
unsafe impl Send for Inner {}

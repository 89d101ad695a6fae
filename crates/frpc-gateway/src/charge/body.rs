//! Memory charges of bodies that are being received.

use super::{CHARGED_MIN, rejected};
use bytes::{Bytes, BytesMut};
use frisbee::rpc::ConnectionExt;
use frisbee::{MemoryCharge, MemoryWaiter};
use frisbee_core::BodyMemory;
use frpc::{AdapterContext, Status};
use std::task::{Context, Poll};

/// A request body that is being received. Memory is reserved before the buffer grows, in proportion to the received
/// bytes. The announced length is not reserved in advance, because announcing a length costs a client nothing.
#[derive(Debug, Default)]
pub(crate) struct GrowingBody {
    pub(crate) bytes: BytesMut,
    /// Capacity that was last requested for the buffer. Memory from the pool may be larger.
    enlarged: usize,
    hold: Option<MemoryCharge>,
}

/// Maximum capacity of a body's buffer, as a multiple of the bytes received so far. More than 4, because a message of 1
/// MiB would otherwise cause another copy: a client that fills a stream window of 256 KiB has sent slightly less than a
/// fourth of it.
const GROWTH: usize = 5;

impl GrowingBody {
    /// Reserves capacity for `more` bytes. Reserves more in advance if the whole body is expected to have `most` bytes.
    ///
    /// # Errors
    /// If the client may not use that much memory.
    pub(crate) fn reserve<'a>(
        &mut self,
        context: impl Into<Option<&'a AdapterContext>>,
        more: usize,
        most: usize,
    ) -> Result<(), Status> {
        self.grow(context.into(), more, most, self.bytes.len())
    }

    /// Like [`reserve`](Self::reserve). `received` counts the bytes of the body that have arrived, including the bytes
    /// to be appended.
    fn grow(
        &mut self,
        context: Option<&AdapterContext>,
        more: usize,
        most: usize,
        received: usize,
    ) -> Result<(), Status> {
        let length = self.bytes.len();
        if self.available() >= more {
            return Ok(());
        }
        // Double the capacity to amortize the copies, but not beyond the expected length.
        let doubled = 2 * self.room();
        let least = (length + more).max(if most > length + more { doubled.min(most) } else { doubled });
        let mut capacity = most.min(GROWTH * received).max(least);
        // Without a context, the receiver is a client, whose bodies are not charged.
        if let Some(context) = context
            && !self.hold(context, capacity)
        {
            capacity = least;
            if !self.hold(context, least) {
                return Err(rejected(context));
            }
        }
        self.enlarge(capacity);
        Ok(())
    }

    /// Returns the number of bytes that the buffer may hold before it is enlarged. The surplus of pooled memory does
    /// not count, so that new and reused memory are charged equally.
    fn room(&self) -> usize {
        self.enlarged.min(self.bytes.capacity())
    }

    /// Returns the number of bytes that can be appended without another [`reserve`](Self::reserve).
    pub(crate) fn available(&self) -> usize {
        self.room().saturating_sub(self.bytes.len())
    }

    /// Enlarges the buffer to `capacity` bytes. Memory from the pool may be up to a quarter larger.
    fn enlarge(&mut self, capacity: usize) {
        self.enlarged = capacity;
        let pool = frisbee::memory_pool();
        let is_large = capacity >= BodyMemory::POOLED_MIN;
        let pooled = if is_large { pool.take(capacity, capacity + capacity / 4) } else { None };
        let Some(memory) = pooled else { return self.bytes.reserve(capacity - self.bytes.len()) };
        let mut bytes = BytesMut::from(Bytes::from(memory));
        bytes.extend_from_slice(&self.bytes);
        let before = std::mem::replace(&mut self.bytes, bytes);
        if before.capacity() >= BodyMemory::POOLED_MIN {
            pool.put(before.into());
        }
    }

    /// Converts the body to shared bytes. Large memory returns to the pool when the last reference is dropped.
    pub(crate) fn freeze(self) -> Bytes {
        if self.bytes.capacity() < BodyMemory::POOLED_MIN {
            return self.bytes.freeze();
        }
        BodyMemory::from_buffer(self.bytes.into(), frisbee::memory_pool()).freeze()
    }

    pub(crate) fn extend(&mut self, context: &AdapterContext, part: &[u8], most: usize) -> Result<(), Status> {
        self.grow(Some(context), part.len(), most, self.bytes.len() + part.len())?;
        self.bytes.extend_from_slice(part);
        Ok(())
    }

    /// Moves the remaining bytes to a smaller buffer once more than half of the body has been split off. Otherwise, the
    /// next [`reserve`](Self::reserve) would charge only the remaining bytes, although they retain the whole buffer.
    ///
    /// # Errors
    /// If the client may not use the memory of the rest.
    pub(crate) fn compact(&mut self, context: &AdapterContext) -> Result<(), Status> {
        if self.bytes.is_empty() {
            self.clear();
        } else if self.enlarged >= CHARGED_MIN && self.bytes.len() < self.enlarged / 2 {
            let Self { bytes, hold, .. } = std::mem::take(self);
            drop(hold);
            self.extend(context, &bytes, 0)?;
        }
        Ok(())
    }

    /// Returns the memory in bytes that the body is charged.
    pub(crate) fn charged(&self) -> usize {
        self.hold.as_ref().map_or(0, |_| self.enlarged)
    }

    /// Clears the body and releases its memory.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn hold(&mut self, context: &AdapterContext, bytes: usize) -> bool {
        if self.hold.is_none() && bytes < CHARGED_MIN {
            return true;
        }
        self.hold.get_or_insert_with(|| context.connection().charge(0)).try_resize(bytes)
    }
}

/// Waits until the client holds less than its share of the server's memory.
#[derive(Debug, Default)]
pub(crate) struct Room(Option<MemoryWaiter>);

impl Room {
    /// Completes once the client may allocate more of the server's memory.
    pub(crate) fn poll(&mut self, task: &mut Context<'_>, context: &AdapterContext) -> Poll<()> {
        if !context.is_overloaded() {
            self.0 = None;
            return Poll::Ready(());
        }
        self.0.get_or_insert_with(|| context.connection().memory_waiter()).poll_reserve(task, 1).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_does_not_exceed_expected_length() {
        const PART: usize = 64 * 1024;
        let (mut body, length) = (GrowingBody::default(), (1 << 20) + 9);
        let mut capacities = Vec::new();
        while body.bytes.len() < length {
            let part = PART.min(length - body.bytes.len());
            let received = body.bytes.len() + part;
            body.grow(None, part, length, received).expect("body without a context should have no memory limit");
            assert!(body.room() <= GROWTH * received, "capacity should be proportional to received bytes");
            assert!(body.bytes.capacity() <= body.room() + body.room() / 4, "reused memory should be little larger");
            body.bytes.resize(received, 0);
            capacities.push(body.room());
        }
        capacities.dedup();
        assert_eq!(capacities, [GROWTH * PART, length]);
    }
}

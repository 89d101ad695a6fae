//! Batches of stream messages that are sent together.

use super::{Guard, StreamPlaces, StreamSender, StreamShared};
use crate::debug::opaque_debug;
use crate::mailbox::TURN;
use crate::sync::wake_all;
use crate::{PacketWriter, SendError};
use frisbee_core::MessageBatch;
use frisbee_core::flow::{self, MESSAGE_COST};
use std::cell::Cell;
use std::sync::Arc;
use std::task::{Context, Poll};

thread_local! {
    /// Thread-local buffer for the batch being written. Not part of the stream, because a connection may have hundreds
    /// of streams.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Maximum capacity in bytes of the batch buffer that a thread keeps. A full batch and one further message fit into it.
const BUFFER_KEPT: usize = 2 * BATCH_MAX;

/// Maximum size of a batch in bytes. Larger batches would delay their first message, and smaller ones would take more
/// lock acquisitions.
const BATCH_MAX: usize = 32 * 1024;

/// Batch of messages of a stream, which are encoded without a lock and sent together under a single lock.
///
/// For senders that have many messages ready at once. Between [`poll_ready`](Self::poll_ready) and
/// [`flush`](Self::flush), the batch holds all credit of the stream, so that other senders of the stream must wait.
/// Messages that have not been flushed are lost when the batch is dropped.
pub struct StreamBatch {
    guard: Arc<Guard>,
    batch: MessageBatch,
    /// Size in bytes at which the batch is full and must be flushed.
    most: usize,
    /// Credit in bytes that the batch has borrowed from the stream. Flushing returns the unused part.
    credit: Option<i64>,
    /// Credit in bytes that remains for further messages of the batch. Negative if the last message exceeded the
    /// credit, and zero if no credit was borrowed.
    left: i64,
    places: StreamPlaces,
}

impl StreamSender {
    /// Creates an empty batch of messages for this stream.
    pub fn batch(&self) -> StreamBatch {
        let StreamShared { id, joins, .. } = *self.0.shared;
        let batch = MessageBatch::new(&self.0.connection.mailbox.lock().outbox, id, joins);
        StreamBatch {
            guard: self.0.clone(),
            batch,
            most: BATCH_MAX,
            credit: None,
            left: 0,
            places: StreamPlaces::default(),
        }
    }
}

impl StreamBatch {
    /// Waits until a message may be added to the batch. Flushes the batch first if it is full, or if the next message
    /// must wait for credit or for space in the outbox.
    ///
    /// # Errors
    /// If the stream or the connection has ended.
    #[inline]
    pub fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendError>> {
        if self.left > 0 && self.batch.len() < self.most {
            return Poll::Ready(Ok(()));
        }
        self.poll_turn(context)
    }

    /// Slow path of [`poll_ready`](Self::poll_ready) for a batch that is full or has no credit.
    #[inline(never)]
    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendError>> {
        if self.batch.len() >= self.most || self.left <= 0 {
            // Flush before waiting, because the receiver grants credit only for messages that it has received.
            self.flush()?;
        }
        if self.credit.is_some() {
            return Poll::Ready(Ok(()));
        }
        let Self { batch, places, .. } = self;
        let (mailbox, stream) = (&self.guard.connection.mailbox, &self.guard.shared);
        let has_waited = places.turn.has_waited();
        let turn = mailbox.poll_turn(Some(context), stream, &mut places.turn, |outbox| batch.set_limits_of(outbox))?;
        if turn.is_pending() {
            return Poll::Pending;
        }
        // If the batch did not have to wait for its turn, the link is fast enough for the maximum size.
        self.most = if has_waited { TURN } else { BATCH_MAX };
        let credit = self.guard.shared.poll_credit(context, &mut places.credit, flow::Credit::take);
        credit.map_ok(|credit| {
            // Take the buffer only now, because a batch that waits for its turn or for credit needs none.
            self.batch.set_buffer(BUFFER.take());
            (self.credit, self.left) = (Some(credit), credit);
        })
    }

    /// Adds the message that `write` encodes, and returns the result of `write`. Call this only after
    /// [`poll_ready`](Self::poll_ready) has completed. `write` must call [`PacketWriter::finish`].
    #[inline(always)] // Called for every message.
    pub fn put<T>(&mut self, write: impl FnOnce(PacketWriter<'_>) -> T) -> T {
        let (written, length) = self.batch.put(write);
        if let Some(length) = length {
            // Cannot overflow: this would take 2^31 messages of the maximum size.
            self.left = self.left.wrapping_sub((length + MESSAGE_COST) as i64);
        }
        written
    }

    /// Returns the capacity of the batch's buffer in bytes, for memory accounting.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.batch.memory()
    }

    /// Returns whether all messages have been flushed.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// Sends the messages of the batch.
    ///
    /// # Errors
    /// If the stream or the connection has ended.
    pub fn flush(&mut self) -> Result<(), SendError> {
        let left = std::mem::take(&mut self.left);
        let credit = self.credit.take().map(|_| left);
        if self.batch.is_empty() {
            self.return_buffer();
            self.return_credit(credit);
            return Ok(());
        }
        let shared = &self.guard.shared;
        let batch = &mut self.batch;
        let mut wakers = Vec::new();
        let sent = self.guard.connection.mailbox.write(|outbox| {
            let mut inner = shared.inner.lock();
            inner.check_open()?;
            inner.bytes.sent += batch.len() as u64;
            batch.move_to(outbox);
            wakers = inner.put_credit(credit);
            Ok(())
        });
        self.return_buffer();
        wake_all(wakers);
        sent?
    }

    fn return_buffer(&mut self) {
        let buffer = self.batch.take_buffer();
        // Skip an empty buffer, which would replace one that another batch has returned. The thread-local is not
        // accessible while the thread's destructors run.
        if (1..=BUFFER_KEPT).contains(&buffer.capacity()) {
            let _ = BUFFER.try_with(|kept| kept.set(buffer));
        }
    }

    fn return_credit(&self, credit: Option<i64>) {
        if credit.is_some() {
            let wakers = self.guard.shared.inner.lock().put_credit(credit);
            wake_all(wakers);
        }
    }
}

impl Drop for StreamBatch {
    /// Discards messages that have not been flushed, and returns the unused credit to the stream.
    fn drop(&mut self) {
        self.return_buffer();
        // Return all borrowed credit, because it covers only messages that are being discarded.
        self.return_credit(self.credit);
        self.places.leave(&self.guard);
    }
}

opaque_debug!([] StreamBatch, "StreamBatch", |this| bytes = this.batch.len());

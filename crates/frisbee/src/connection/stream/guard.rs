//! State that the handles of a stream share, and the operations on it.

use super::CANCELLED;
use crate::connection::ConnectionShared;
use crate::mailbox::inbox::Message;
use crate::mailbox::permits::PermitPlace;
use crate::mailbox::stream::{ReadBatch, StreamShared};
use crate::sync::wake_all;
use crate::{Operation, Outbox, PacketId, PacketWriter, SendError, TrySendError};
use bytes::Bytes;
use frisbee_core::{StreamSignal, StreamState, tlv};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

/// Guard that closes the stream when its last handle is dropped.
pub(super) struct Guard {
    pub(super) connection: Arc<ConnectionShared>,
    pub(super) shared: Arc<StreamShared>,
}

impl Guard {
    pub(super) async fn send(&self, message: &Bytes) -> Result<(), SendError> {
        // Reject an empty message, because it would close a stream to a peer without the protocol extension.
        if message.is_empty() && !self.shared.is_native {
            return Err(SendError::Empty);
        }
        let mut waiter = self.waiter();
        poll_fn(|context| {
            waiter.poll_send(context, |mut packet| {
                packet.put_shared(message);
                packet.finish()
            })
        })
        .await??;
        Ok(())
    }

    pub(super) fn try_send(&self, message: &Bytes) -> Result<(), TrySendError> {
        let shared = &self.shared;
        if message.is_empty() && !shared.is_native {
            return Err(SendError::Empty.into());
        }
        let sent = self.connection.mailbox.poll_turn(None, shared, &mut PermitPlace::default(), |outbox| {
            let mut inner = shared.inner.lock();
            inner.check_open()?;
            if !inner.credit.is_open() {
                return Err(TrySendError::Full);
            }
            Ok(inner.sending(outbox, shared, |mut packet| {
                packet.put_shared(message);
                packet.finish()
            })?)
        });
        match sent {
            Poll::Ready(sent) => sent?,
            Poll::Pending => Err(TrySendError::Full),
        }
    }

    pub(super) fn waiter(&self) -> StreamWaiter<'_> {
        StreamWaiter { guard: self, places: StreamPlaces::default() }
    }

    /// Calls `write` to encode one message once the receiver has granted credit and the outbox has space.
    pub(super) fn poll_send<T>(
        &self,
        context: &mut Context<'_>,
        places: &mut StreamPlaces,
        write: impl FnOnce(PacketWriter<'_>) -> T,
    ) -> Poll<Result<T, SendError>> {
        let shared = &self.shared;
        let mut write = Some(write);
        loop {
            // Wait for credit before the turn, because a granted turn that cannot be used delays other streams.
            if shared.poll_credit(context, &mut places.credit, |_| ())?.is_pending() {
                return Poll::Pending;
            }
            let sent = self.connection.mailbox.poll_turn(Some(context), shared, &mut places.turn, |outbox| {
                let mut inner = shared.inner.lock();
                inner.check_open()?;
                // Check the credit again, because another sender may have used it since.
                let write = write.take_if(|_| inner.credit.is_open());
                Ok(write.map(|write| inner.sending(outbox, shared, write)))
            });
            match sent {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(sent) => {
                    if let Some(written) = sent.and_then(|written| written)? {
                        return Poll::Ready(Ok(written));
                    }
                }
            }
        }
    }

    pub(super) fn poll_recv_with<T>(
        &self,
        batch: &mut ReadBatch,
        context: &mut Context<'_>,
        read: impl FnOnce(Message<'_>) -> T,
    ) -> Poll<Option<T>> {
        if batch.is_enough() {
            // Yield to other tasks after reading a full quota. The task must wake itself, because messages that have
            // already arrived cause no wake-up.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if batch.inbox.is_empty() && self.poll_refill(batch, context).is_pending() {
            return Poll::Pending;
        }
        let Some(message) = batch.inbox.pop() else { return Poll::Ready(None) };
        let length = message.len();
        let read = read(message);
        if batch.count_any(length) {
            self.account(batch);
        }
        Poll::Ready(Some(read))
    }

    /// Moves the received messages to `batch`. If there are none, registers the task for a wake-up when messages
    /// arrive.
    #[inline(never)]
    pub(super) fn poll_refill(&self, batch: &mut ReadBatch, context: &mut Context<'_>) -> Poll<()> {
        let (refilled, credit) = self.shared.poll_refill(batch, context, &self.connection.is_at_eof);
        self.give(credit);
        if refilled.is_pending() {
            batch.rest();
        }
        refilled
    }

    /// Releases the memory of consumed messages, and grants credit to the sender. Called as soon as the batch has been
    /// read, because the sender may be waiting for credit.
    #[inline(never)]
    pub(super) fn account(&self, batch: &mut ReadBatch) {
        let credit = self.shared.account(batch);
        self.give(credit);
    }

    /// Sends a packet that grants `credit` bytes to the peer, or nothing if `credit` is `None`.
    #[inline]
    fn give(&self, credit: Option<u64>) {
        let Some(credit) = credit else { return };
        let mut body = Vec::with_capacity(5);
        tlv::put_varint(&mut body, credit);
        // Ignore the error, because credit is irrelevant if the connection has ended.
        let _ = self.connection.mailbox.write(|outbox| {
            let mut packet = outbox.packet(self.shared.id, Operation::CREDIT);
            packet.put_slice(&body);
            packet.finish()
        });
    }

    pub(super) fn end(&self) {
        self.change(StreamState::end, |id, signal, outbox| signal.put(outbox, id, 0, ""));
    }

    pub(super) fn close(&self, code: u32, message: &str) {
        self.change(StreamState::close, |id, signal, outbox| signal.put(outbox, id, code, message));
    }

    /// Closes the stream and tells the peer that the handle was dropped.
    pub(super) fn leave(&self) {
        self.close(CANCELLED, "the stream was dropped");
    }

    pub(super) fn forget(&self) {
        self.shared.handle_close();
        self.connection.mailbox.leave_stream(&self.shared);
        // Notify the driver, because the connection may be waiting to become idle.
        self.connection.mailbox.notify();
    }

    /// Changes the state of the stream and sends the packet that `put` appends. Acquires the lock of the connection
    /// first, like sending, so that no packet of the stream can follow a closing packet.
    pub(super) fn change(
        &self,
        change: impl FnOnce(&mut StreamState) -> StreamSignal,
        put: impl FnOnce(PacketId, StreamSignal, &mut Outbox),
    ) {
        let mut connection = self.connection.mailbox.lock();
        let mut inner = self.shared.inner.lock();
        let signal = change(&mut inner.state);
        let over = inner.state.is_over();
        if signal == StreamSignal::Nothing {
            return;
        }
        let mut wake = inner.take_wakers();
        drop(inner);
        if over {
            wake.extend(connection.leave_stream(&self.shared));
        }
        let open = connection.closed.is_none();
        if open {
            connection.update_charge(&self.connection.mailbox.account);
            put(self.shared.id, signal, &mut connection.outbox);
            connection.charge(&self.connection.mailbox.account);
        }
        drop(connection);
        if open {
            self.connection.mailbox.notify();
        }
        wake_all(wake);
    }
}

/// Queue positions of one task in a stream: for credit, for its turn to send, and for the end of the stream. A task has
/// at most one waker in each queue. The owner must call [`leave`](Self::leave) before it drops the positions.
#[derive(Default)]
pub(super) struct StreamPlaces {
    pub(super) credit: u64,
    pub(super) turn: PermitPlace,
    pub(super) end: u64,
}

impl StreamPlaces {
    #[inline]
    pub(super) fn leave(&mut self, guard: &Guard) {
        guard.shared.leave(self.credit, self.end);
        if self.turn.has_waited() {
            guard.connection.mailbox.leave_turn(&mut self.turn);
        }
    }
}

/// A task that waits to send on a stream, or for the stream to end. Created by
/// [`StreamSender::waiter`](super::StreamSender::waiter).
pub struct StreamWaiter<'a> {
    pub(super) guard: &'a Guard,
    pub(super) places: StreamPlaces,
}

impl StreamWaiter<'_> {
    /// Calls `write` to send one message once the receiver has granted credit and the outbox has space, and returns its
    /// result. `write` must call [`PacketWriter::finish`].
    ///
    /// # Errors
    /// If the stream or the connection has ended.
    pub fn poll_send<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(PacketWriter<'_>) -> T,
    ) -> Poll<Result<T, SendError>> {
        self.guard.poll_send(context, &mut self.places, write)
    }

    /// Polls for the end of the stream, like [`StreamSender::closed`](super::StreamSender::closed).
    pub fn poll_closed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.guard.shared.poll_closed(context, &mut self.places.end)
    }
}

impl Drop for StreamWaiter<'_> {
    fn drop(&mut self) {
        self.places.leave(self.guard);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.leave();
        // Discard received messages only after closing, so that no further ones are added.
        self.shared.discard();
        if !self.shared.opened_here {
            self.connection.peer_streams.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

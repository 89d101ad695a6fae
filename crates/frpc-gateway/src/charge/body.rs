//! Memory charges of bodies that are being received.

use super::{CHARGED_MIN, overloaded};
use bytes::BytesMut;
use frisbee::rpc::ConnectionExt;
use frisbee::{MemoryCharge, MemoryWaiter};
use frpc::{AdapterContext, Status};
use std::task::{Context, Poll};

/// A request body that is being received. Memory is reserved before the buffer grows, in proportion to the received
/// bytes. The announced length is not reserved up front, because announcing a length costs a client nothing.
#[derive(Debug, Default)]
pub(crate) struct GrowingBody {
    pub(crate) bytes: BytesMut,
    hold: Option<MemoryCharge>,
}

/// Maximum capacity of a body's buffer, as a multiple of the bytes received so far.
const GROWTH: usize = 4;

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
        let length = self.bytes.len();
        if self.bytes.capacity() - length >= more {
            return Ok(());
        }
        let least = (length + more).max(2 * self.bytes.capacity()); // A buffer at least doubles.
        let mut capacity = most.min(GROWTH * length).max(least);
        // Bodies received by a client are not charged.
        if let Some(context) = context.into()
            && !self.hold(context, capacity)
        {
            capacity = least;
            if !self.hold(context, least) {
                context.connection().count_rejected();
                return Err(overloaded());
            }
        }
        self.bytes.reserve(capacity - length);
        Ok(())
    }

    pub(crate) fn extend(&mut self, context: &AdapterContext, part: &[u8], most: usize) -> Result<(), Status> {
        self.reserve(context, part.len(), most)?;
        self.bytes.extend_from_slice(part);
        Ok(())
    }

    /// Clears the body and releases its memory.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn hold(&mut self, context: &AdapterContext, bytes: usize) -> bool {
        match &mut self.hold {
            Some(hold) => hold.try_resize(bytes),
            None if bytes < CHARGED_MIN => true,
            None => {
                self.hold = context.connection().try_charge(bytes);
                self.hold.is_some()
            }
        }
    }
}

/// Waiter that resolves once the client holds less than its share of the server's memory.
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

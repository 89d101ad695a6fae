//! Memory charges for requests and replies, which count towards the memory limit of the server.

use bytes::BytesMut;
use frisbee::{MemoryCharge, MemoryWaiter};
use frpc::{AdapterContext, Status};
use std::task::{Context, Poll};

/// Minimum size in bytes of a request or reply that is charged.
pub(crate) const CHARGED_MIN: usize = 4 * 1024;

/// Checks that the client may hold `bytes` more of the server's memory, for a request or reply.
pub(crate) fn check_room(context: &AdapterContext, bytes: usize) -> Result<(), Status> {
    check_growth(context, 0, bytes)
}

/// Like [`check_room`], but for something that already takes `before` bytes.
pub(crate) fn check_growth(context: &AdapterContext, before: usize, bytes: usize) -> Result<(), Status> {
    let connection = context.connection();
    if before + bytes < CHARGED_MIN || connection.has_room(bytes) {
        return Ok(());
    }
    connection.count_rejected();
    Err(overloaded())
}

/// Returns the status of a call that is rejected for lack of memory.
#[cold]
pub(crate) fn overloaded() -> Status {
    Status::resource_exhausted("the server's memory limit for this client is reached")
}

/// Memory charge for a buffer that grows and shrinks. It changes in steps, so that small changes cost nothing.
#[derive(Debug, Default)]
pub(crate) struct Charge(Option<(MemoryCharge, usize)>);

/// Step of a [`Charge`] in bytes. Smaller amounts are not charged.
const STEP: usize = 64 * 1024;

impl Charge {
    /// Sets the charge to `bytes`. Fails if the client may not hold as many.
    pub(crate) fn try_set(&mut self, context: &AdapterContext, bytes: usize) -> Result<(), Status> {
        let steps = bytes / STEP;
        let is_charged = match &mut self.0 {
            Some((charge, before)) => {
                let is_charged = charge.try_resize(steps * STEP);
                *before = if is_charged { steps } else { *before };
                is_charged
            }
            None if steps == 0 => true,
            None => {
                self.0 = context.connection().try_charge(steps * STEP).map(|charge| (charge, steps));
                self.0.is_some()
            }
        };
        if is_charged {
            return Ok(());
        }
        context.connection().count_rejected();
        Err(overloaded())
    }

    /// Sets the charge to `bytes` and returns whether it has grown.
    pub(crate) fn set(&mut self, context: &AdapterContext, bytes: usize) -> bool {
        let (steps, before) = (bytes / STEP, self.0.as_ref().map_or(0, |(_, steps)| *steps));
        if steps != before {
            // The previous charge is released after the new one is made, so that the total never falls below the actual
            // size.
            self.0 = (steps > 0).then(|| (context.charge(steps * STEP), steps));
        }
        steps > before
    }
}

/// A body that is being received. Its memory is reserved before it grows. The reservation follows the received bytes
/// rather than the announced length, because an announcement costs the sender nothing.
#[derive(Debug, Default)]
pub(crate) struct GrowingBody {
    pub(crate) bytes: BytesMut,
    hold: Option<MemoryCharge>,
}

/// Maximum capacity of a body's buffer, as a multiple of the received bytes.
const GROWTH: usize = 4;

impl GrowingBody {
    /// Reserves capacity for `more` bytes, or for more than that if the body is expected to have `most`.
    ///
    /// # Errors
    /// If the client may not hold as many bytes.
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
        // A client-side body is not charged.
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

    /// Releases the memory of an empty body.
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

/// Waits while the client holds more than its share of the server's memory.
#[derive(Debug, Default)]
pub(crate) struct Room(Option<MemoryWaiter>);

impl Room {
    /// Completes once the client may hold more memory.
    pub(crate) fn poll(&mut self, task: &mut Context<'_>, context: &AdapterContext) -> Poll<()> {
        if !context.is_overloaded() {
            self.0 = None;
            return Poll::Ready(());
        }
        self.0.get_or_insert_with(|| context.connection().memory_waiter()).poll_reserve(task, 1).map(drop)
    }
}

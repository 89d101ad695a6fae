//! The charge for requests and replies to the memory of the server.

use crate::clock::now;
use crate::driver::LazyTimer;
use bytes::BytesMut;
use frisbee::MemoryCharge;
use frpc::{AdapterContext, Status};
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

/// Fewer bytes are not charged.
pub(crate) const CHARGED_MIN: usize = 4 * 1024;

/// How often the memory is looked at while it is short.
const INTERVAL: Duration = Duration::from_millis(20);

/// Checks that the server has memory for so many bytes of a request or a reply of this client.
pub(crate) fn check_room(context: &AdapterContext, bytes: usize) -> Result<(), Status> {
    check_growth(context, 0, bytes)
}

/// As [`check_room`], for something that takes so many bytes already.
pub(crate) fn check_growth(context: &AdapterContext, before: usize, bytes: usize) -> Result<(), Status> {
    let connection = context.connection();
    if before + bytes < CHARGED_MIN || connection.has_room(bytes) {
        return Ok(());
    }
    connection.count_rejected();
    Err(overloaded())
}

/// The status of a call without memory.
#[cold]
pub(crate) fn overloaded() -> Status {
    Status::resource_exhausted("the server's memory limit for this client is reached")
}

/// Waits until the client holds no more of the server's memory than its share.
pub(crate) async fn room(context: &AdapterContext) {
    let mut room = Room::default();
    poll_fn(|task| room.poll(task, context)).await;
}

/// A charge for something that grows and shrinks, in steps, so that small changes cost nothing.
#[derive(Debug, Default)]
pub(crate) struct Charge(Option<(MemoryCharge, usize)>);

/// The steps of a [`Charge`], in bytes; less is not charged.
const STEP: usize = 64 * 1024;

impl Charge {
    /// Charges so many bytes in place of those before, if the client may hold them.
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

    /// Charges so many bytes in place of those before. Whether that is more.
    pub(crate) fn set(&mut self, context: &AdapterContext, bytes: usize) -> bool {
        let (steps, before) = (bytes / STEP, self.0.as_ref().map_or(0, |(_, steps)| *steps));
        if steps != before {
            // The previous charge is released after the new one, so that it never falls below the actual size.
            self.0 = (steps > 0).then(|| (context.charge(steps * STEP), steps));
        }
        steps > before
    }
}

/// A body that arrives. Its memory is reserved before it grows, and follows the bytes that have come and not the length
/// that was promised: a promise costs its sender nothing.
#[derive(Debug, Default)]
pub(crate) struct GrowingBody {
    pub(crate) bytes: BytesMut,
    hold: Option<MemoryCharge>,
}

/// The memory of a body that arrives, as a multiple of the bytes that have come.
const GROWTH: usize = 4;

impl GrowingBody {
    /// Makes room for `more` bytes, and for more than that if the body is expected to have `most`.
    ///
    /// # Errors
    /// If that is more than the client may hold.
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
        // At a client nothing is charged.
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

    /// Releases the memory of a body that is empty.
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

/// Waits while the client holds more of the server's memory than its share.
#[derive(Debug, Default)]
pub(crate) struct Room {
    alarm: LazyTimer,
    due: Option<Instant>,
}

impl Room {
    /// Ready when the client may have more.
    pub(crate) fn poll(&mut self, task: &mut Context<'_>, context: &AdapterContext) -> Poll<()> {
        while context.is_overloaded() {
            let due = *self.due.get_or_insert_with(|| now() + INTERVAL);
            ready!(self.alarm.poll(task, due));
            self.due = None;
        }
        Poll::Ready(())
    }
}

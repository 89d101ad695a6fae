//! The charge for requests and replies to the memory of the server.

use crate::clock::now;
use crate::driver::LazyTimer;
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

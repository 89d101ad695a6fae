//! Unary calls that cannot be sent immediately, because they wait for a slot, for space in the outbox, or until the
//! kind of the server is known.

use crate::calls::failures::{unidentified, unreachable};
use crate::calls::{CallTicket, NotSent};
use crate::client::attempt::{AnyReply, Failure, ReplyReader, SentState};
use crate::client::call::{CallOptions, PendingCall};
use crate::client::link::Link;
use crate::clock;
use crate::wire::body::{AnyMessage, EncodeBody};
use crate::{Response, Status};
use frisbee::rpc::ConnectionExt;
use frisbee::{Connection, PermitPlace};
use parking_lot::Mutex;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::runtime::Handle;

impl PendingCall<'_> {
    /// Sends the call as soon as possible, sets `is_sent`, and awaits the reply. The timers of the call run on
    /// `runtime`.
    pub(crate) async fn attempt(
        &self,
        message: &AnyMessage,
        reader: ReplyReader,
        link: Arc<Link>,
        is_sent: &AtomicBool,
        runtime: &Handle,
    ) -> Result<Response<AnyReply>, Box<Failure>> {
        #[cfg(feature = "grpc")]
        if let Some(links) = &link.grpc {
            return self.attempt_grpc(message, reader, (&link.calls, links), is_sent, runtime).await;
        }
        let ticket = self.send_when_possible(message, &link, runtime).await?;
        // Set the flag before waiting, because the server may run the call as soon as it is sent.
        is_sent.store(true, Ordering::Relaxed);
        (reader.wait)(link, self, ticket).await
    }

    /// Sends a call once there is a free slot and space in the send buffer, and the kind of the server is known.
    async fn send_when_possible(
        &self,
        message: &AnyMessage,
        link: &Link,
        runtime: &Handle,
    ) -> Result<CallTicket, Box<Failure>> {
        let until = clock::after(self.options.timeout);
        let obstacle = Mutex::new(Obstacle::Slots);
        let sent = self.wait_and_send(message, link, until, &obstacle);
        match clock::within(runtime, until, sent).await {
            Ok(sent) => sent,
            Err(_) => {
                // If cancelled calls occupy all slots, retire the connection, because the next call would not find a
                // slot either.
                if !link.backward && link.calls.with(|calls| calls.is_worn_out()) {
                    link.calls.retire();
                }
                Err(Failure::new(obstacle.into_inner().into_status(), SentState::Never))
            }
        }
    }

    /// Waits until the call can be sent and sends it. `obstacle` is set to the reason for the wait.
    async fn wait_and_send(
        &self,
        message: &AnyMessage,
        link: &Link,
        until: Option<Instant>,
        obstacle: &Mutex<Obstacle>,
    ) -> Result<CallTicket, Box<Failure>> {
        let connection = link.native().map_err(|status| Failure::new(status, SentState::Never))?;
        let (mut waiter, mut slot) =
            (connection.waiter(), SlotWaiter { link, connection, place: PermitPlace::default() });
        let mut retired = pin!(link.unless_abandoned(pending::<()>()));
        loop {
            let sent = poll_fn(|context| {
                // Stop waiting for a slot of a retired connection. The error makes the call retry on the next one.
                if link.is_left() {
                    return Poll::Ready(Err(left()));
                }
                // The timeout includes the time that the call has waited.
                let left = clock::left(until);
                let options = CallOptions { timeout: left.or(self.options.timeout), ..self.options };
                match (Self { options, ..*self }).send(
                    &(message as &dyn EncodeBody),
                    link,
                    &mut waiter,
                    &mut slot.place,
                    context,
                ) {
                    Err(NotSent::Full) => {
                        // Record what the call waits for, so that the error can state it if the deadline passes.
                        *obstacle.lock() = Obstacle::Slots;
                        slot.poll_wait(context)
                    }
                    // The waiter wakes the caller when there is space, but not when the connection is retired.
                    Err(NotSent::Blocked) => {
                        *obstacle.lock() = Obstacle::Output;
                        retired.as_mut().poll(context).map(|_| Err(self::left()))
                    }
                    sent => Poll::Ready(sent),
                }
            });
            match sent.await {
                Ok(ticket) => return Ok(ticket),
                Err(NotSent::Full | NotSent::Blocked) => {}
                Err(NotSent::Unclear) => {
                    *obstacle.lock() = Obstacle::Peer;
                    if let Some(Err(error)) = link.unless_abandoned(link.clear(self.method)).await {
                        return Err(Failure::new(error.into(), SentState::No));
                    }
                }
                Err(NotSent::Over(status)) => return Err(Failure::new(status, SentState::No)),
                Err(NotSent::Failed(status)) => return Err(Failure::new(status, SentState::Never)),
            }
        }
    }
}

/// Resource or event that a call must wait for before it can be sent.
#[derive(Clone, Copy)]
enum Obstacle {
    /// A free slot, because the maximum number of calls is in flight on the connection.
    Slots,
    /// Space in the send buffer, because the connection has too many unsent bytes.
    Output,
    /// The server's first packet, which shows whether the server is native or compat.
    Peer,
}

impl Obstacle {
    /// Returns the status of a call if its deadline passed before it could be sent.
    fn into_status(self) -> Status {
        let text = match self {
            Self::Slots => "not sent: the limit of calls in flight was reached until the deadline",
            Self::Output => {
                "not sent: the limit of unsent bytes was reached until the deadline; the peer reads too slowly"
            }
            Self::Peer => return unidentified(),
        };
        Status::deadline_exceeded(text).not_run()
    }
}

/// Returns the error for a connection that accepts no new calls.
fn left() -> NotSent {
    NotSent::Over(unreachable("the connection does not accept new calls"))
}

/// A caller that may be queued for a free slot of the call table.
struct SlotWaiter<'a> {
    link: &'a Link,
    connection: &'a Connection,
    place: PermitPlace,
}

impl SlotWaiter<'_> {
    /// Queues the caller for a free slot. Completes only with an error, if the connection accepts no new calls. The
    /// caller is woken when a slot is granted to it, and must then try again.
    fn poll_wait<T>(&mut self, context: &Context<'_>) -> Poll<Result<T, NotSent>> {
        let Self { link, connection, place } = self;
        let earlier = link.calls.with(|calls| calls.wait(place, context, connection));
        // Drop the replaced waker outside of the lock, because its destructor may run arbitrary code.
        drop(earlier);
        // Check again after joining the queue: if the connection was retired or ended in the meantime, only the callers
        // already in the queue were woken.
        if link.is_left() || connection.is_closed() { Poll::Ready(Err(left())) } else { Poll::Pending }
    }
}

impl Drop for SlotWaiter<'_> {
    fn drop(&mut self) {
        self.link.calls.leave(&mut self.place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::attachments::ConnectionEnd;
    use crate::calls::failures::closed_status;
    use frisbee::CloseReason;
    use frisbee::testing::DetachedConnection;
    use std::task::Waker;

    /// Regression test: on an accepted connection, a caller that queued for a slot just after the connection had ended
    /// waited until its deadline.
    #[tokio::test]
    async fn caller_does_not_queue_on_ended_connection() {
        let detached = DetachedConnection::new(Handle::current(), 1 << 20);
        let (connection, reason) = (detached.connection(), CloseReason::ClosedByPeer);
        let link = Link::of(connection, &ConnectionEnd::default());
        let mut slot = SlotWaiter { link: &link, connection, place: PermitPlace::default() };
        let mut wait = || slot.poll_wait::<()>(&Context::from_waker(Waker::noop()));
        assert!(wait().is_pending());
        // The connection ends after the caller was woken, and before it queues again.
        detached.end(&reason);
        link.calls.end(closed_status(&reason));
        assert!(matches!(wait(), Poll::Ready(Err(NotSent::Over(status))) if !status.may_have_run()));
    }
}

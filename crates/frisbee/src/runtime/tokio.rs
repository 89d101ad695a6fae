//! The driver on tokio: a task per connection, which is the only one that reads and writes its transport.
//!
//! # Decisions
//!
//! * **The driver yields once.** If handles have queued packets, the driver wakes itself and returns before it flushes.
//!   Other callers woken by the last batch of replies can then add their requests to the same write. The driver uses
//!   its own waker, because `yield_now` would delay it beyond the batch. If the last batch was a single packet, the
//!   driver does not yield, because the packet has woken at most one caller. After a poll that left work, the driver
//!   runs only after the next poll of the sockets.
//! * **A body of up to 1 MiB is read and written in one operation.** A longer body is split into pieces of 2 MiB,
//!   between which other connections run. With small pieces, the bodies of all connections would grow together and
//!   leave the cache before they are complete.
//! * **Timeouts are checked twice.** When a timeout expires, the driver lets the runtime poll the sockets once more and
//!   reads before it acts, because a busy thread may not have read data that arrived in time.

pub(super) mod closed_connection;
mod closing;
#[cfg(test)]
mod tests;

pub(crate) use closed_connection::{ClosedConnection, run_apart};

use super::busy::BusyPoll;
use super::engine::Engine;
use crate::clock::{Timer, now};
use crate::executor::workers::worker::{settle, wake_last};
use crate::mailbox::{Order, TakeOutcome};
use crate::{CloseReason, Router};
use bytes::{BufMut, Bytes, BytesMut};
use frisbee_core::Role;
use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Maximum number of bytes per read from the transport.
const READ_MAX: usize = 64 * 1024;

/// Maximum number of reads per poll of the driver. The second read usually finds no data, and then registers the task
/// to be woken when data arrives.
const READS_PER_POLL: usize = 4;

/// Number of bytes in one poll of the driver after which it stops reading. More data is then likely to follow, and
/// other connections should be served first. A large body is read up to [`PIECE_MAX`], because its start is still in
/// the processor's cache.
const READ_MUCH: usize = READ_MAX / 2;

/// Maximum number of bytes per read or write of a large body. Other connections run between the pieces. Copying one
/// takes the system less than a millisecond.
///
/// Bodies of up to 1 MiB are not split. If they were, the bodies of all connections would grow together, and none would
/// stay in the cache: a body of 1 MiB costs a fifth more in pieces of 256 KiB.
const PIECE_MAX: usize = 2 * 1024 * 1024;

/// Maximum number of bytes per write, except for a large body. Smaller packets are often replies to a flood of
/// requests, and longer writes would not be faster. Copying this much takes the system 50 us.
const SMALL_PIECE_MAX: usize = 128 * 1024;

/// Maximum number of driver polls that still read the server's last packets after a client's write has failed. With
/// [`READ_MUCH`] bytes per poll, this is more than a system buffers for a socket.
const LAST_POLLS_MAX: u32 = 1024;

/// Maximum number of slices passed to one vectored write.
const SLICES_MAX: usize = 64;

/// Minimum delay before an overdue action is retried: one tick of a tokio timer.
const AGAIN: Duration = Duration::from_millis(1);

thread_local! {
    /// Thread-local read buffer. Connections share it, because idle ones need no buffer. Boxed because it is taken out
    /// and put back for each read.
    static SCRATCH: Cell<Option<Box<BytesMut>>> = Cell::default();
}

/// Driver of a single connection on a byte stream.
///
/// The driver must be spawned as a separate task. It polls timers only when they may have expired, and therefore relies
/// on a waker that never changes.
pub(crate) struct Driver<T, R: Router, C> {
    io: T,
    engine: Engine<R>,
    /// Runtime of the handlers' timers and sockets, if another runtime drives the connection.
    context: Option<Handle>,
    timer: C,
    /// Whether the timer must be polled to register the waker, because its deadline was changed after the last poll.
    timer_is_new: bool,
    phase: SocketPhase,
    /// Whether the driver has yielded, so that other tasks could add packets to the mailbox.
    yielded: bool,
    /// Whether the driver yields before it takes packets from the mailbox, so that other tasks can add theirs. Needed
    /// if the executor does not poll tasks in wake-up order.
    yields: bool,
    /// Whether the driver's last poll ended with more work to do.
    goes_on: bool,
    /// Whether a timeout had expired when the driver's last poll ended.
    overdue: bool,
    busy: BusyPoll,
    /// Whether the transport may buffer written bytes until it is flushed.
    buffers: bool,
    /// Whether the transport contains bytes that have not been flushed.
    unflushed: bool,
    /// Error of the write that failed, or `None` if all writes succeeded. After a failure, the driver still reads
    /// packets that the peer has already sent.
    failure: Option<Box<Failure>>,
}

/// Reason why the driver stops reading and routing packets.
#[derive(Debug)]
enum LoopExit {
    Close(CloseReason),
    /// A write failed. A client still reads the bytes that the server sent before the failure. After any other error
    /// reading stops, because received bytes may be missing.
    Write(io::Error),
}

impl From<CloseReason> for LoopExit {
    fn from(reason: CloseReason) -> Self {
        Self::Close(reason)
    }
}

impl LoopExit {
    fn into_reason(self) -> CloseReason {
        match self {
            Self::Close(reason) => reason,
            Self::Write(error) => error.into(),
        }
    }
}

impl From<io::Error> for LoopExit {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// State of a connection after a failed write. The driver still reads packets that the peer has already sent.
#[derive(Debug)]
struct Failure {
    reason: CloseReason,
    /// Maximum number of further driver polls that still read the connection.
    polls_left: u32,
}

/// Progress of closing the connection's socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SocketPhase {
    Open,
    /// The remaining output is being written to the socket.
    Flushing,
    /// The driver is waiting until the peer closes its half.
    Lingering,
    /// The last bytes are being flushed before the transport is passed to its new owner.
    HandingOver,
}

/// Future that drives a connection until it has ended. Written by hand, because an `async fn` would store the driver
/// twice: as its argument, and in its state across await points.
pub(crate) struct DriveFuture<T, R: Router, C>(Option<Driver<T, R, C>>);

/// The future may be moved between polls, because none of its fields is pinned.
impl<T, R: Router, C> Unpin for DriveFuture<T, R, C> {}

impl<T, R, C> Future for DriveFuture<T, R, C>
where
    T: AsyncRead + AsyncWrite + Unpin,
    R: Router,
    C: Timer,
{
    type Output = ClosedConnection<T>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ClosedConnection<T>> {
        let driver = self.0.as_mut().expect("driver should not be polled after it has finished");
        let is_free = ready!(driver.poll(context));
        let Driver { io, mut engine, .. } = self.0.take().expect("driver should be present after it was polled");
        let next = if is_free { engine.hand_over() } else { None };
        let handed = next.map(|(early, take_over, runtime)| (io, early, take_over, runtime));
        Poll::Ready(ClosedConnection { reason: engine.reason(), handed })
    }
}

/// Outcome of one attempt to read from the transport or route packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReadStep {
    /// Data was read or routed, and more may be available.
    Done,
    /// No data is available. The task is woken when there is some.
    Pending,
    /// Nothing was read, for one of three reasons: reading is not permitted, earlier data cannot be routed yet, or the
    /// driver has read so much that other connections must be served first.
    Paused,
}

/// Result of reading from the transport.
enum Read {
    Input(Bytes),
    /// A part of a large body was read directly into the body's own buffer. Contains the number of bytes.
    Body(usize),
    Eof,
}

impl<T, R, C> Driver<T, R, C>
where
    T: AsyncRead + AsyncWrite + Unpin,
    R: Router,
    C: Timer,
{
    pub(crate) fn new(io: T, engine: Engine<R>, context: Option<Handle>, timer: C, busy: BusyPoll) -> Self {
        Self {
            io,
            engine,
            context,
            timer,
            timer_is_new: true,
            phase: SocketPhase::Open,
            yielded: false,
            yields: true,
            goes_on: false,
            overdue: false,
            busy,
            buffers: false,
            unflushed: false,
            failure: None,
        }
    }

    /// Sets whether the transport may buffer written bytes until it is flushed, as TLS does.
    pub(crate) fn buffering(mut self, buffers: bool) -> Self {
        self.buffers = buffers;
        self
    }

    /// Declares that the callers of the connection are tasks of the runtime that drives it. A single-threaded runtime
    /// runs tasks in the order of their wake-ups, so all callers woken by a batch of replies run before the first of
    /// them wakes the driver.
    pub(crate) fn among_callers(mut self) -> Self {
        self.yields = Handle::current().runtime_flavor() != RuntimeFlavor::CurrentThread;
        self
    }

    /// Drives the connection until it has ended. The future must be spawned as an `unconstrained` task, because the
    /// driver limits the work of each poll itself. Tokio's cooperative budget would interrupt its batches.
    pub(crate) fn run(self) -> DriveFuture<T, R, C> {
        if let Some(driver) = settle(|| self.engine.culprit()) {
            self.engine.set_home(driver);
        }
        DriveFuture(Some(self))
    }

    /// Polls the driver. Once the connection has ended, returns whether the transport must be handed off to another
    /// owner.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        if self.phase == SocketPhase::Open {
            let polled = self.poll_open(context);
            if polled.is_pending() && self.failure.is_none() {
                return Poll::Pending;
            }
            if !ready!(self.begin_end(polled, context)) {
                return Poll::Ready(false);
            }
        }
        self.poll_end(context)
    }

    /// Begins to close the connection. `polled` is the result of [`poll_open`](Self::poll_open). Completes with `false`
    /// if the connection must close immediately, without writing its output. Returns `Pending` if writing has failed
    /// but more can be read.
    #[cold]
    #[inline(never)]
    fn begin_end(&mut self, polled: Poll<Result<Order, LoopExit>>, context: &mut Context<'_>) -> Poll<bool> {
        let order = if self.failure.is_some() {
            Order::Now(ready!(self.poll_failed(polled)))
        } else {
            match ready!(polled) {
                Ok(order) => order,
                Err(LoopExit::Write(error)) if self.engine.core.role() == Role::Client => {
                    self.failure = Some(Box::new(Failure { reason: error.into(), polls_left: LAST_POLLS_MAX }));
                    // Continue reading after the runtime has polled the socket.
                    yield_last(context);
                    return Poll::Pending;
                }
                Err(stop) => match stop.into_reason() {
                    reason if self.engine.sends_reason(&reason) => Order::Flush(reason),
                    reason => Order::Now(reason),
                },
            }
        };
        let reason = match &order {
            Order::WhenIdle(reason) | Order::Flush(reason) | Order::Now(reason) => reason,
            Order::HandOver => &CloseReason::HandedOff,
        };
        // `end` closes the mailbox, so that no packet of a handle can follow the CLOSE packet queued below.
        self.engine.end(reason);
        match &order {
            Order::Now(_) => return Poll::Ready(false),
            Order::Flush(reason) => self.engine.core.send_close(reason),
            Order::WhenIdle(_) | Order::HandOver => {}
        }
        self.phase = if matches!(order, Order::HandOver) { SocketPhase::HandingOver } else { SocketPhase::Flushing };
        // An io_uring thread may still hold accepted bytes. Send them within the flush timeout, because taking a socket
        // from the thread has no timeout.
        self.unflushed |= self.phase == SocketPhase::HandingOver;
        self.engine.core.begin_flush(now());
        Poll::Ready(true)
    }

    /// Drives the connection until it ends or one of its handles requests its end.
    ///
    /// Invariant: when this returns `Pending`, everything that lets the connection continue wakes the task. Messages in
    /// the mailbox wake it, because all earlier ones were taken. The socket wakes it, unless it may be neither read nor
    /// written. The timer wakes it for all timeouts. In all other cases the task has woken itself.
    fn poll_open(&mut self, context: &mut Context<'_>) -> Poll<Result<Order, LoopExit>> {
        let alone = self.engine.take_first_arrival();
        let yields = !self.yielded && (self.goes_on || self.yields && !alone);
        match self.engine.take_messages(context.waker(), !yields) {
            TakeOutcome::Nothing => {}
            TakeOutcome::Messages => {
                // Route nothing after an abort, because the runtime of the handlers may have ended.
                if let Some(order) = self.engine.take_abort() {
                    return Poll::Ready(Ok(order));
                }
            }
            TakeOutcome::Yield => {
                self.yielded = true;
                if self.goes_on {
                    // Yield, because the connection's own handles may have woken the task before all tasks that wait
                    // for a socket.
                    yield_last(context);
                } else {
                    context.waker().wake_by_ref();
                }
                return Poll::Pending;
            }
        }
        let mut now = now();
        let mut happened = std::mem::take(&mut self.yielded);
        let mut read = ReadStep::Done;
        let mut brought = 0;
        for round in 0..READS_PER_POLL {
            // After the first round nothing remains to be routed, so skip this check in later rounds.
            let reads = round > 0 || self.engine.wants_input();
            read = self.read(context, reads, &mut now, &mut brought)?;
            if read == ReadStep::Pending && round > 0 {
                break; // Nothing to route, and the batch of the last bytes has ended.
            }
            read = self.route(read, now, brought)?;
            if self.unflushed || !self.engine.core.transmit().is_empty() {
                let _ = self.poll_write(context, now)?;
            }
            if read != ReadStep::Done {
                break;
            }
            happened = true;
        }
        if self.engine.is_ending() {
            if let Some(order) = self.engine.take_order()? {
                return Poll::Ready(Ok(order));
            }
            // Write before the order is carried out, because GOING_AWAY may have to be sent first.
            let _ = self.poll_write(context, now)?;
        }
        self.poll_timer(context, now)?;
        // Check again, because the write may have made space for bytes that could not be read or routed before.
        let goes_on = self.engine.can_route() || read != ReadStep::Pending && self.engine.wants_input();
        self.goes_on = goes_on || self.engine.wants_batch();
        // Call `again` unconditionally, because it records the activity of each poll. After `goes_on ||` it would be
        // skipped.
        if self.busy.again(happened, now) || self.goes_on {
            yield_last(context);
        }
        Poll::Pending
    }

    /// Returns the close reason of a connection that can no longer be written to. `polled` is the result of its last
    /// poll.
    ///
    /// Returns `Pending` while more can be read. Unread bytes may be replies, or may show that the server uses another
    /// protocol.
    #[cold]
    fn poll_failed(&mut self, polled: Poll<Result<Order, LoopExit>>) -> Poll<CloseReason> {
        let has_more = self.goes_on || self.yielded;
        match (polled, self.failure.take()) {
            (Poll::Pending, Some(failure)) if has_more && failure.polls_left > 0 => {
                self.failure = Some(Box::new(Failure { polls_left: failure.polls_left - 1, ..*failure }));
                Poll::Pending
            }
            // A protocol error or the peer's own reason explains the end better than the I/O error that followed it.
            (Poll::Ready(Err(LoopExit::Close(reason @ CloseReason::Protocol(_)))), _)
            | (Poll::Ready(Ok(Order::Flush(reason @ CloseReason::PeerClosed { .. }))), _) => Poll::Ready(reason),
            (_, Some(failure)) => Poll::Ready(failure.reason),
            (polled, None) => polled.map(|polled| polled.err().map_or(CloseReason::Local, LoopExit::into_reason)),
        }
    }

    /// Reads once if `reads` is set. Returns `Done` if data can be routed.
    ///
    /// `brought` counts the bytes read in this poll of the driver. `now` is the start of the poll, or the time at which
    /// the last part of a large body was read, so that reading does not count as time of the handlers.
    fn read(
        &mut self,
        context: &mut Context<'_>,
        reads: bool,
        now: &mut Instant,
        brought: &mut usize,
    ) -> Result<ReadStep, CloseReason> {
        if reads {
            let read = match self.poll_read(context) {
                // With TLS, the connection of a killed peer ends without an alert. Treat this as the end of the input,
                // because a truncated packet is detected by the length in its header.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Read::Eof),
                read => read?,
            };
            match read {
                Poll::Pending => return Ok(ReadStep::Pending),
                Poll::Ready(Read::Eof) => return self.engine.handle_eof(*now).map(|()| ReadStep::Paused),
                Poll::Ready(Read::Input(input)) => {
                    *brought += input.len();
                    self.engine.handle_input(input);
                }
                Poll::Ready(Read::Body(count)) => {
                    *brought += count;
                    *now = self::now();
                    self.engine.body_read = count;
                }
            }
        } else if !self.engine.can_route() {
            return Ok(ReadStep::Paused);
        }
        Ok(ReadStep::Done)
    }

    /// Routes the received packets if the read was `Done`, and calls the router's `batch_ended`. Executed in the
    /// context of the handlers' runtime.
    #[inline(never)] // If inlined, its addresses would also be computed for reads without data.
    fn route(&mut self, read: ReadStep, now: Instant, brought: usize) -> Result<ReadStep, CloseReason> {
        let _entered = self.context.as_ref().map(Handle::enter);
        if read != ReadStep::Done {
            return self.engine.run_batch(now).map(|()| read);
        }
        self.engine.route(now)?;
        let much = brought >= READ_MUCH && (brought >= PIECE_MAX || self.engine.core.body_mut().is_none());
        Ok(if self.engine.wants_input() && !much { ReadStep::Done } else { ReadStep::Paused })
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> io::Result<Poll<Read>> {
        if self.engine.core.body_mut().is_some() {
            return self.poll_read_body(context);
        }
        with_scratch(|scratch| {
            if scratch.capacity() < READ_MAX {
                // Reserve twice the size of a read, so that only every other read allocates a buffer.
                scratch.reserve(2 * READ_MAX);
            }
            let mut target = (&mut *scratch).limit(READ_MAX);
            let read = std::pin::pin!(self.io.read_buf(&mut target)).poll(context)?;
            Ok(read.map(|count| if count == 0 { Read::Eof } else { Read::Input(scratch.split().freeze()) }))
        })
    }

    /// Reads a part of a large body. Not inlined, so that reading short packets takes less code.
    #[inline(never)]
    fn poll_read_body(&mut self, context: &mut Context<'_>) -> io::Result<Poll<Read>> {
        let Some(mut body) = self.engine.core.body_mut() else { return Ok(Poll::Pending) };
        let mut count = 0;
        loop {
            let room = body.missing().min(PIECE_MAX - count);
            let mut target = body.buffer().limit(room);
            match std::pin::pin!(self.io.read_buf(&mut target)).poll(context)? {
                Poll::Ready(more @ 1..) => count += more,
                // If this is the first read, return its result. Otherwise ignore it: the task is woken when more data
                // arrives, and the next read reports the end again.
                read if count == 0 => return Ok(read.map(|_| Read::Eof)),
                Poll::Ready(_) | Poll::Pending => break,
            }
            // TLS returns one record of up to 16 KiB at a time, and TCP at most a fragment. A poll for each of them
            // would cost more than reading it.
            let is_full = !target.has_remaining_mut();
            let continues = body.appended() || self.buffers && !is_full;
            if !continues || body.missing() == 0 || count >= PIECE_MAX {
                break;
            }
        }
        Ok(Poll::Ready(Read::Body(count)))
    }

    /// Writes pending bytes while the socket accepts them, at most one piece at a time. Completes when all bytes have
    /// been written.
    fn poll_write(&mut self, context: &mut Context<'_>, now: Instant) -> io::Result<Poll<()>> {
        if self.failure.is_some() {
            return Ok(Poll::Pending);
        }
        while !self.engine.core.transmit().is_empty() {
            // The fragments of one write may be slightly shorter than `PIECE_MAX`.
            let mut piece = PIECE_MAX - SMALL_PIECE_MAX;
            let written = match self.engine.core.transmit().contiguous() {
                Some(bytes) => {
                    piece = SMALL_PIECE_MAX;
                    Pin::new(&mut self.io).poll_write(context, bytes.get(..piece).unwrap_or(bytes))?
                }
                None => self.poll_write_slices(context)?,
            };
            let count = match written {
                Poll::Ready(0) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(count) => count,
                Poll::Pending => 0,
            };
            self.engine.handle_written(count, now);
            if count == 0 {
                return Ok(Poll::Pending);
            }
            self.unflushed = self.buffers;
            // Yield after a full piece although the socket may accept more, so that one connection cannot starve the
            // others.
            if count >= piece {
                yield_last(context);
                return Ok(Poll::Pending);
            }
        }
        if self.unflushed {
            return self.poll_flush(context);
        }
        Ok(Poll::Ready(()))
    }

    /// Writes fragments of long packets, or the start of a large body, together with the bytes that precede them.
    #[inline(never)] // Keeps the slices off the caller's stack frame.
    fn poll_write_slices(&mut self, context: &mut Context<'_>) -> io::Result<Poll<usize>> {
        self.engine.core.stage();
        let mut slices = [IoSlice::new(&[]); SLICES_MAX];
        let filled = self.engine.core.transmit().slices(&mut slices, PIECE_MAX);
        Ok(Pin::new(&mut self.io).poll_write_vectored(context, &slices[..filled])?)
    }

    #[inline(never)]
    fn poll_flush(&mut self, context: &mut Context<'_>) -> io::Result<Poll<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(context)?;
        self.unflushed = flushed.is_pending();
        Ok(flushed)
    }

    /// Handles expired timeouts and arms the timer.
    ///
    /// Invariant: when this returns, the timer will wake the task no later than the next timeout, or the task has woken
    /// itself. After a timeout has expired, the socket is read once more before the timeout takes effect.
    fn poll_timer(&mut self, context: &mut Context<'_>, mut now: Instant) -> Result<(), LoopExit> {
        let has_looked = std::mem::take(&mut self.overdue);
        let armed = self.timer.deadline();
        if now < armed && !self.timer_is_new && self.engine.next_timeout().is_none_or(|due| due >= armed) {
            // Leave the timer as it is: setting it in every poll would cost more than an occasional superfluous
            // wake-up.
            return Ok(());
        }
        self.timer_is_new = false;
        // Release memory before PINGs are queued, because a pending PING would keep the outbox from freeing its memory.
        self.engine.release_unused(now)?;
        let mut least = None;
        while let Some(due) = self.engine.next_timeout() {
            let due = least.map_or(due, |least| due.max(least));
            if now < due {
                self.timer.reset(due);
                if self.timer.poll_due(context).is_pending() {
                    break;
                }
                // The timeout expired during the poll, so the current time is at least the deadline.
                now = self::now().max(due);
            }
            if !has_looked {
                // Check once more before acting, because a busy thread may not have read bytes that the peer sent in
                // time.
                self.overdue = true;
                yield_last(context);
                break;
            }
            self.handle_timeout(now)?;
            let _ = self.poll_write(context, now)?;
            // Act again only after a tick. Otherwise, a router that schedules `batch_ended` at a past time would
            // monopolize the thread.
            least = Some(now + AGAIN);
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), CloseReason> {
        let _entered = self.context.as_ref().map(Handle::enter);
        self.engine.handle_timeout(now)?;
        self.engine.run_batch(now)
    }
}

/// Calls `read` with the read buffer of the thread. The buffer is removed from the thread during the call, because
/// `read` may poll another connection on the same thread.
#[inline(always)]
fn with_scratch<T>(read: impl FnOnce(&mut BytesMut) -> T) -> T {
    SCRATCH.with(|scratch_slot| {
        let mut scratch = scratch_slot.take().unwrap_or_default();
        let result = read(&mut scratch);
        scratch_slot.set(Some(scratch));
        result
    })
}

/// Yields, and arranges for the task to be woken after the runtime has polled the sockets. If the task woke itself
/// directly, the runtime would poll 61 tasks before the sockets, and a few peers that send without pause would delay
/// all others on the thread.
#[cold]
fn yield_last(context: &mut Context<'_>) {
    if wake_last(context.waker()) {
        return;
    }
    let yielded = std::pin::pin!(tokio::task::yield_now()).poll(context);
    debug_assert!(yielded.is_pending(), "yielding future should be pending at its first poll");
}

//! The driver on tokio: one task for each connection, which alone reads and writes.
//!
//! # Decisions
//!
//! * **The driver yields once.** If handles have queued packets, the driver wakes itself and returns before it flushes, so that
//!   other callers woken by the last batch of replies can add their requests to the same write. It uses its own waker, since
//!   `yield_now` defers beyond the batch. A single queued packet is flushed without a yield. After a truncated turn the driver
//!   runs only after the next poll of the sockets.
//! * **A body of up to 1 MiB is read and written in one operation**, a longer one in pieces of 2 MiB, between which other
//!   connections run. With small pieces the bodies of all connections grow together, and leave the cache before they are
//!   complete.
//! * **Timeouts are checked twice.** When a timeout expires, the driver lets the runtime poll the sockets once more and reads
//!   before it acts: on a busy thread, data may have arrived in time and not been read.

pub(super) mod closed_connection;
#[cfg(test)]
mod tests;

pub(crate) use closed_connection::{ClosedConnection, run_apart};

use super::busy::BusyPoll;
use super::engine::Engine;
use crate::clock::{NEVER, Timer, now};
use crate::executor::workers::worker::{settle, wake_last};
use crate::mailbox::{Order, TakeOutcome};
use crate::{CloseReason, Protocol};
use bytes::{BufMut, Bytes, BytesMut};
use frisbee_core::Role;
use std::cell::Cell;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::runtime::{Handle, RuntimeFlavor};

/// How much one read takes at most, in bytes.
const READ_MAX: usize = 64 * 1024;

/// Reads of one turn. The second one mostly finds nothing, which is how the task gets to be woken by the next bytes.
const READS_PER_POLL: usize = 4;

/// A turn that has brought this many bytes is over: more will follow. For a large body that has begun, whose beginning
/// is still in the processor's cache, it continues up to the size of a piece.
const READ_MUCH: usize = READ_MAX / 2;

/// The most that one read takes of a large body, and one write of the bytes that wait. Other connections have their
/// turn in between: the system copies this much in less than a millisecond. Bodies of up to 1 MiB are not cut at all.
/// If they were, the bodies of all connections would grow together and none would stay in the cache: in pieces of 256
/// KiB a body of 1 MiB costs a fifth more.
const PIECE_MAX: usize = 2 * 1024 * 1024;

/// How much one write takes at most of packets without a large body, in bytes. They are many and answer a flood, and
/// nothing is gained by sending them together: the system copies this much in a twentieth of a millisecond.
const SMALL_PIECE_MAX: usize = 128 * 1024;

/// The limit of turns for reading a server's last packets after writing to it failed. With [`READ_MUCH`] a turn this is
/// more than a system keeps for a socket.
const LAST_POLLS_MAX: u32 = 1024;

/// Slices given to one vectored write.
const SLICES_MAX: usize = 64;

/// How long a connection that this end has closed waits for the peer to close its half, so that a reset does not
/// discard the bytes that were written last.
const LINGER: Duration = Duration::from_secs(1);

/// The same for a peer that has confirmed the end: it closes when it has read all, however slowly. As long as a
/// stopping server waits for connections, by default.
const LINGER_FOR_PEER: Duration = Duration::from_secs(20);

/// When something that has been done is due once more, it is done no sooner than after this time, that of a timer's
/// tick.
const AGAIN: Duration = Duration::from_millis(1);

/// Reads of one turn whose bytes are discarded, each of up to 4 KiB.
const DISCARDS_PER_POLL: usize = 16;

thread_local! {
    /// Connections read into their thread's buffer: an idle connection holds none. In a box, since it is taken out and
    /// put back for each read.
    static SCRATCH: Cell<Option<Box<BytesMut>>> = Cell::default();
}

/// Drives one connection. It must be spawned as a task of its own: timers are polled only when their time may have
/// come, which relies on the waker staying the same.
pub(crate) struct Driver<T, R: Protocol, C> {
    io: T,
    engine: Engine<R>,
    /// The runtime whose timers and sockets handlers use, if it is not the one that drives.
    context: Option<Handle>,
    timer: C,
    /// The timer has to be polled, so that it wakes the task.
    timer_is_new: bool,
    phase: SocketPhase,
    /// The task has let others add to the mail.
    yielded: bool,
    /// It has to, since tasks may run in another order than that of their wake-ups.
    yields: bool,
    /// There was more to do at the end of the last turn.
    goes_on: bool,
    /// Something was due when the last turn ended.
    overdue: bool,
    busy: BusyPoll,
    /// Written bytes may wait in `io` until it is flushed.
    buffers: bool,
    /// It does.
    unflushed: bool,
    /// Writing has failed. Earlier packets of the server are still read.
    failure: Option<Box<Failure>>,
}

/// The end of a turn: of the connection, or of writing alone.
#[derive(Debug)]
enum LoopExit {
    Close(CloseReason),
    /// A client may still read the bytes that the server sent before. After any other error nothing more is read: bytes
    /// may be missing in between.
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

impl From<WriteError> for LoopExit {
    fn from(WriteError(error): WriteError) -> Self {
        Self::Write(error)
    }
}

/// An error of writing or flushing.
#[derive(Debug)]
struct WriteError(io::Error);

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self(error)
    }
}

/// A connection whose writing has failed.
#[derive(Debug)]
struct Failure {
    reason: CloseReason,
    /// The turns that it still has.
    polls_left: u32,
}

/// How far the connection is on the way to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SocketPhase {
    Open,
    /// Writing the bytes that wait.
    Flushing,
    /// Waiting for the peer's end.
    Lingering,
    /// Flushing the bytes that were written last, before the transport goes to its next owner.
    HandingOver,
}

/// A connection on its way to its end. An `async fn` would take the memory of two drivers: that of its argument, and
/// that of the state that it keeps while it waits.
pub(crate) struct DriveFuture<T, R: Protocol, C>(Option<Driver<T, R, C>>);

/// Nothing in it relies on its place.
impl<T, R: Protocol, C> Unpin for DriveFuture<T, R, C> {}

impl<T, R, C> Future for DriveFuture<T, R, C>
where
    T: AsyncRead + AsyncWrite + Unpin,
    R: Protocol,
    C: Timer,
{
    type Output = ClosedConnection<T>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ClosedConnection<T>> {
        let driver = self.0.as_mut().expect("a finished driver was polled");
        let is_free = ready!(driver.poll(context));
        let Driver { io, mut engine, .. } = self.0.take().expect("it has just been polled");
        let next = if is_free { engine.hand_over() } else { None };
        let handed = next.map(|(early, take_over, runtime)| (io, early, take_over, runtime));
        Poll::Ready(ClosedConnection { reason: engine.reason(), handed })
    }
}

/// How far reading, and then routing, got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReadStep {
    /// Something came, or has been routed, and there may be more.
    Done,
    /// There is nothing to read; the task is woken when there is.
    Pending,
    /// Nothing may be read at present, not all that was read may be routed, or it was much and other connections come
    /// first.
    Paused,
}

/// The result of a read.
enum Read {
    Input(Bytes),
    /// So many bytes of a large body.
    Body(usize),
    Eof,
}

impl<T, R, C> Driver<T, R, C>
where
    T: AsyncRead + AsyncWrite + Unpin,
    R: Protocol,
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

    /// Sets whether written bytes may wait in the transport until it is flushed, as with TLS.
    pub(crate) fn buffering(mut self, buffers: bool) -> Self {
        self.buffers = buffers;
        self
    }

    /// For a connection whose callers run in the runtime that drives. A runtime of one thread runs tasks in the order
    /// of their wake-ups: all callers that a batch of replies has woken run before the first of them wakes the driver
    /// in turn.
    pub(crate) fn among_callers(mut self) -> Self {
        self.yields = Handle::current().runtime_flavor() != RuntimeFlavor::CurrentThread;
        self
    }

    /// Drives the connection to its end. To be spawned `unconstrained`: tokio's budget for cooperation would interrupt
    /// batches, and turns are bounded here.
    pub(crate) fn run(self) -> DriveFuture<T, R, C> {
        if let Some(driver) = settle(|| self.engine.culprit()) {
            self.engine.set_home(driver);
        }
        DriveFuture(Some(self))
    }

    /// Ready when the connection is over; `true` if the transport continues.
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

    /// Begins to end a connection that is not to be driven further. `false` if nothing is left to be written; `Pending`
    /// if there is more to read of one that cannot be written.
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
                    // Reading continues after the runtime has polled the socket.
                    yield_last(context);
                    return Poll::Pending;
                }
                Err(stop) => Order::Now(stop.into_reason()),
            }
        };
        let reason = match &order {
            Order::WhenIdle(reason) | Order::Flush(reason) | Order::Now(reason) => reason,
            Order::HandOver => &CloseReason::HandedOff,
        };
        self.engine.end(reason);
        if matches!(order, Order::Now(_)) {
            return Poll::Ready(false);
        }
        self.phase = if matches!(order, Order::HandOver) { SocketPhase::HandingOver } else { SocketPhase::Flushing };
        // A ring may still hold bytes that it has accepted from here. It has to send them within the time for the
        // last bytes: taking a socket off its ring has no limit of time.
        self.unflushed |= self.phase == SocketPhase::HandingOver;
        self.engine.core.begin_flush(now());
        Poll::Ready(true)
    }

    /// Drives a connection that has begun to end.
    #[inline(never)]
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        if self.engine.is_aborted() {
            return Poll::Ready(false);
        }
        if self.phase == SocketPhase::HandingOver {
            return match self.poll_write(context, now()) {
                Ok(Poll::Ready(())) => Poll::Ready(true),
                Ok(Poll::Pending) => self.poll_flush_timer(context).map(|()| false),
                Err(_) => Poll::Ready(false),
            };
        }
        self.poll_closing(context).map(|()| false)
    }

    /// Drives the connection until it ends or is ordered to. Invariant: when this returns `Pending`, the task is woken
    /// by everything that can let it continue: by mail, since it has taken all that there was; by the socket, unless
    /// nothing may be read or written; by the timer, for all that is due later; or it has woken itself.
    fn poll_open(&mut self, context: &mut Context<'_>) -> Poll<Result<Order, LoopExit>> {
        let alone = self.engine.take_first_arrival();
        let yields = !self.yielded && (self.goes_on || self.yields && !alone);
        match self.engine.take_mail(context.waker(), !yields) {
            TakeOutcome::Nothing => {}
            TakeOutcome::Mail => {
                // Nothing is routed after it: the runtime of handlers may have ended.
                if let Some(order) = self.engine.take_abort() {
                    return Poll::Ready(Ok(order));
                }
            }
            TakeOutcome::Yield => {
                self.yielded = true;
                if self.goes_on {
                    // Its own handles may have woken it, which puts it before all tasks that wait for a socket.
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
            // After the first round nothing is left to be routed, so no further check is needed.
            let reads = round > 0 || self.engine.wants_input();
            read = self.read(context, reads, &mut now, &mut brought)?;
            if read == ReadStep::Pending && round > 0 {
                break; // Nothing is to be routed, and the turn for the bytes before is over.
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
            // A farewell may have to be sent first.
            let _ = self.poll_write(context, now)?;
        }
        self.poll_timer(context, now)?;
        // Writing may have made room for bytes that could not be read or routed before.
        let goes_on = self.engine.can_route() || read != ReadStep::Pending && self.engine.wants_input();
        self.goes_on = goes_on || self.engine.wants_batch();
        if self.busy.again(happened, now) || self.goes_on {
            yield_last(context);
        }
        Poll::Pending
    }

    /// Why the connection ends after a turn without a possible write; `Pending` if there is more to read: unread
    /// replies may have arrived, or an answer that identifies a server of another protocol.
    #[cold]
    fn poll_failed(&mut self, polled: Poll<Result<Order, LoopExit>>) -> Poll<CloseReason> {
        let has_more = self.goes_on || self.yielded;
        match (polled, self.failure.take()) {
            (Poll::Pending, Some(failure)) if has_more && failure.polls_left > 0 => {
                self.failure = Some(Box::new(Failure { polls_left: failure.polls_left - 1, ..*failure }));
                Poll::Pending
            }
            (Poll::Ready(Err(LoopExit::Close(reason @ CloseReason::Protocol(_)))), _) => Poll::Ready(reason),
            (_, Some(failure)) => Poll::Ready(failure.reason),
            (polled, None) => polled.map(|polled| polled.err().map_or(CloseReason::Local, LoopExit::into_reason)),
        }
    }

    /// Reads once if `reads` is set; `Done` if something can be routed. `brought` counts the bytes that were read in this turn; `now` is
    /// the beginning of the turn, or the time at which the last part of a large body had been read: reading it must not
    /// count as the handlers' time.
    fn read(
        &mut self,
        context: &mut Context<'_>,
        reads: bool,
        now: &mut Instant,
        brought: &mut usize,
    ) -> Result<ReadStep, CloseReason> {
        if reads {
            let read = match self.poll_read(context) {
                // With TLS, the end of a peer that was killed: it closes the socket without an alert of TLS. Headers state
                // the length of packets, so a packet that was cut off is noticed.
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

    /// Routes the bytes of a read that was `Done`, and ends the router's turn, all in the context of handlers.
    #[inline(never)] // Its addresses would be computed for reads that find nothing.
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
                // Twice the size of a read, so that the buffer starts over only every other time.
                scratch.reserve(2 * READ_MAX);
            }
            let mut target = (&mut *scratch).limit(READ_MAX);
            let read = std::pin::pin!(self.io.read_buf(&mut target)).poll(context)?;
            Ok(read.map(|count| if count == 0 { Read::Eof } else { Read::Input(scratch.split().freeze()) }))
        })
    }

    /// Reads on with a large body. Apart, so that reads of packets know nothing of it.
    #[inline(never)]
    fn poll_read_body(&mut self, context: &mut Context<'_>) -> io::Result<Poll<Read>> {
        let Some(mut body) = self.engine.core.body_mut() else { return Ok(Poll::Pending) };
        let room = body.missing().min(PIECE_MAX);
        let mut target = body.buffer().limit(room);
        let mut read = std::pin::pin!(self.io.read_buf(&mut target)).poll(context)?;
        // TLS gives no more than a record at a time, of 16 KiB, and a turn for each would cost more than reading it.
        while self.buffers
            && let Poll::Ready(count @ 1..) = read
            && target.has_remaining_mut()
        {
            match std::pin::pin!(self.io.read_buf(&mut target)).poll(context)? {
                Poll::Ready(more @ 1..) => read = Poll::Ready(count + more),
                // The task is woken when there is more, and the next read finds the end again.
                Poll::Ready(0) | Poll::Pending => break,
            }
        }
        Ok(read.map(|count| {
            body.appended();
            if count == 0 { Read::Eof } else { Read::Body(count) }
        }))
    }

    /// Writes the bytes that wait, as far as the socket takes them and up to a piece; ready when none are left.
    fn poll_write(&mut self, context: &mut Context<'_>, now: Instant) -> Result<Poll<()>, WriteError> {
        if self.failure.is_some() {
            return Ok(Poll::Pending);
        }
        while !self.engine.core.transmit().is_empty() {
            let mut piece = PIECE_MAX;
            let written = match self.engine.core.transmit().contiguous() {
                Some(bytes) => {
                    piece = SMALL_PIECE_MAX;
                    Pin::new(&mut self.io).poll_write(context, bytes.get(..piece).unwrap_or(bytes))?
                }
                None => self.poll_write_slices(context)?,
            };
            let count = match written {
                Poll::Ready(0) => return Err(WriteError(io::ErrorKind::WriteZero.into())),
                Poll::Ready(count) => count,
                Poll::Pending => 0,
            };
            self.engine.handle_written(count, now);
            if count == 0 {
                return Ok(Poll::Pending);
            }
            self.unflushed = self.buffers;
            if count == piece {
                yield_last(context);
                return Ok(Poll::Pending);
            }
        }
        if self.unflushed {
            return Ok(self.poll_flush(context)?);
        }
        Ok(Poll::Ready(()))
    }

    /// Writes the beginning of a large body with the bytes in front of it.
    #[inline(never)] // With the slices on the stack.
    fn poll_write_slices(&mut self, context: &mut Context<'_>) -> io::Result<Poll<usize>> {
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

    /// Does all that is due, and arms the timer. Invariant: when this returns, the timer is armed with this task's
    /// waker for no later than the next timeout, or the task has woken itself. Nothing is judged by the clock before
    /// the socket has been read once more after the time had come.
    fn poll_timer(&mut self, context: &mut Context<'_>, mut now: Instant) -> Result<(), LoopExit> {
        let has_looked = std::mem::take(&mut self.overdue);
        let armed = self.timer.deadline();
        if now < armed && !self.timer_is_new && self.engine.next_timeout().is_none_or(|due| due >= armed) {
            // Setting it at every turn would cost more than a wake-up too many now and then.
            return Ok(());
        }
        self.timer_is_new = false;
        // Before a PING is sent, which would keep the outbox from giving back its memory.
        self.engine.release_unused(now)?;
        let mut least = None;
        while let Some(due) = self.engine.next_timeout() {
            let due = least.map_or(due, |least| due.max(least));
            if now < due {
                self.timer.reset(due);
                if self.timer.poll_due(context).is_pending() {
                    break;
                }
                // It came while the turn went on. With the turn's own time it would never be over.
                now = self::now().max(due);
            }
            if !has_looked {
                // While the thread was busy, bytes that the peer has sent in time may not have been read.
                self.overdue = true;
                yield_last(context);
                break;
            }
            self.handle_timeout(now)?;
            let _ = self.poll_write(context, now)?;
            // A router that wants to be called at a time that has passed does not keep the thread for itself.
            least = Some(now + AGAIN);
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), CloseReason> {
        let _entered = self.context.as_ref().map(Handle::enter);
        self.engine.handle_timeout(now)?;
        self.engine.run_batch(now)
    }

    /// Ready when the last write takes too long, or the peer has accepted nothing for too long.
    fn poll_flush_timer(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let by = self.engine.core.flushed_by().unwrap_or_else(|| now() + NEVER);
        if by != self.timer.deadline() {
            self.timer.reset(by);
        }
        self.timer.poll_due(context)
    }

    fn poll_closing(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.phase == SocketPhase::Flushing {
            match self.poll_write(context, now()) {
                Ok(Poll::Ready(())) => {}
                Ok(Poll::Pending) => return self.poll_flush_timer(context),
                Err(_) => return Poll::Ready(()),
            }
            match Pin::new(&mut self.io).poll_shutdown(context) {
                Poll::Ready(Ok(())) => {}
                Poll::Pending => return self.poll_flush_timer(context),
                Poll::Ready(Err(_)) => return Poll::Ready(()),
            }
            self.phase = SocketPhase::Lingering;
            let linger = if self.engine.waits_for_peer() { LINGER_FOR_PEER } else { LINGER };
            self.timer.reset(now() + linger);
        }
        for _ in 0..DISCARDS_PER_POLL {
            match self.poll_discard(context) {
                Ok(Poll::Pending) => return self.timer.poll_due(context),
                Ok(Poll::Ready(0)) | Err(_) => return Poll::Ready(()),
                Ok(Poll::Ready(_)) => {}
            }
        }
        // A peer that continues to send delays no other connection, and has no more time than a silent one.
        yield_last(context);
        self.timer.poll_due(context)
    }

    #[inline(never)] // With the buffer on the stack.
    fn poll_discard(&mut self, context: &mut Context<'_>) -> io::Result<Poll<usize>> {
        let mut discarded = [MaybeUninit::uninit(); 4096];
        let mut buffer = tokio::io::ReadBuf::uninit(&mut discarded);
        let read = Pin::new(&mut self.io).poll_read(context, &mut buffer)?;
        Ok(read.map(|()| buffer.filled().len()))
    }
}

/// Reads into the thread's buffer. It is taken during the read, since a transport may drive another connection then.
#[inline(always)]
fn with_scratch<T>(read: impl FnOnce(&mut BytesMut) -> T) -> T {
    SCRATCH.with(|scratch_slot| {
        let mut scratch = scratch_slot.take().unwrap_or_default();
        let result = read(&mut scratch);
        scratch_slot.set(Some(scratch));
        result
    })
}

/// Wakes the task after the runtime has polled the sockets. A task that wakes itself keeps its runtime from polling
/// them for 61 turns, and a few peers that send without end would delay all others on the thread for as long.
#[cold]
fn yield_last(context: &mut Context<'_>) {
    if wake_last(context.waker()) {
        return;
    }
    let yielded = std::pin::pin!(tokio::task::yield_now()).poll(context);
    debug_assert!(yielded.is_pending(), "it is polled for the first time");
}

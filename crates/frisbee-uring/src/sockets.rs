//! The sockets of a ring: received bytes, bytes to send, and operations in flight.
//!
//! ```text
//!            receive armed (multishot)                    ready, then plain calls
//!          +----------------------------+   full buffers  +---------------------+
//!  new --> | Ring: small reads, shared  | --------------> | Bulk: large reads,  |
//!          | buffers, no system call    | <-------------- | no copy             |
//!          +----------------------------+   small reads   +---------------------+
//!
//!  dropped: send the staged bytes, cancel the rest, and stay in the table until all operations have ended
//! ```

mod complete;

use crate::ring::{BUFFER_LEN, Completion, Interest, Received, Ring, Tag, receive_now, send_now};
use slab::Slab;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::ReadBuf;

/// Maximum number of bytes per socket that are staged or in flight. A task that writes more waits.
const SEND_MAX: usize = 64 * 1024;

/// Minimum length in bytes of a write that is sent by a separate system call instead of being copied.
const BULK_WRITE_MIN: usize = 16 * 1024;

/// Number of consecutive full buffers before a socket enters bulk mode, where each read is a separate system call.
const BULK_READ_STREAK: u32 = 3;

/// Number of consecutive reads of less than [`BULK_READ_MIN`] bytes before a socket leaves bulk mode.
const SMALL_READ_STREAK: u32 = 16;
const BULK_READ_MIN: usize = BUFFER_LEN / 4;

/// Maximum number of unread bytes per socket. When it is exceeded, receiving stops until the task reads.
const SPILLED_MAX: usize = 64 * 1024;

/// Function that is called with the memory in bytes that a socket uses for bytes that its peer or its task does not take.
pub(crate) type Gauge = Rc<dyn Fn(usize)>;

/// An io_uring instance and the sockets that use it.
pub(crate) struct Sockets {
    pub(crate) ring: Ring,
    table: Slab<State>,
    /// Sockets with operations to be started before the next submission.
    dirty: Vec<usize>,
    /// Sockets that may have unread bytes in receive buffers of the ring.
    holding: Vec<usize>,
    completions: Vec<Completion>,
    /// Send buffers of completed sends, kept for reuse.
    spare: Vec<Vec<u8>>,
    deferred: Deferred,
}

/// Calls and drops of foreign code, which may use the sockets and must therefore run without a borrow of them.
#[derive(Default)]
pub(crate) struct Deferred {
    wakers: Vec<Waker>,
    measured: Vec<(Gauge, usize)>,
}

impl Deferred {
    pub(crate) fn is_empty(&self) -> bool {
        self.wakers.is_empty() && self.measured.is_empty()
    }

    /// Drops the wakers, and passes the memory of the sockets to their gauges. Panics of either do not end the worker.
    pub(crate) fn run(self) {
        let mut measured = self.measured.into_iter();
        let report = |(gauge, bytes): (Gauge, usize)| gauge(bytes);
        while catch_unwind(AssertUnwindSafe(|| measured.by_ref().for_each(report))).is_err() {}
        let _ = catch_unwind(AssertUnwindSafe(|| drop(self.wakers)));
    }
}

struct State {
    stream: Rc<TcpStream>,
    /// Number of operations in flight on the socket, including cancellations.
    operations: u32,
    /// Whether the owner of the socket has dropped it.
    dropped: bool,
    cancelled: bool,
    /// Task that is waiting for all operations to end, in order to remove the socket from the ring.
    releasing: Option<Waker>,
    is_dirty: bool,
    is_holding: bool,
    gauge: Gauge,
    /// Memory in bytes that was last passed to `gauge`.
    measured: usize,
    reading: ReadState,
    writing: WriteState,
}

#[derive(Default)]
struct ReadState {
    /// Received bytes that the task did not read immediately, copied out of the ring's buffers.
    spilled: Vec<u8>,
    /// Receive buffers of the ring with bytes that the task has not read.
    inbox: VecDeque<Received>,
    inbox_read: usize,
    /// The multishot receive operation in flight, if any.
    receive: Option<Tag>,
    is_wanted: bool,
    is_stopping: bool,
    /// Whether the socket is in bulk mode, where each read is a separate system call.
    is_bulk: bool,
    streak: u32,
    /// Whether the last read in bulk mode returned all available bytes.
    is_drained: bool,
    is_polled: bool,
    end: Option<EndOfStream>,
    waker: Option<Waker>,
}

/// Reason why no more bytes will be received.
#[derive(Clone, Copy, Debug)]
enum EndOfStream {
    Eof,
    Failed(i32),
}

#[derive(Default)]
struct WriteState {
    /// Bytes that will be sent with the next submission, or after the send in flight.
    staged: Vec<u8>,
    /// Number of bytes of the send in flight.
    in_flight: usize,
    /// Capacity of the buffer of the send in flight if it waits for the peer, and otherwise 0.
    waiting: usize,
    /// Whether the socket accepted only a part of the bytes in the last system call.
    is_blocked: bool,
    is_polled: bool,
    failed: Option<i32>,
    waker: Option<Waker>,
}

impl WriteState {
    fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.staged.is_empty()
    }
}

fn is_not_ready(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Sets the task that is woken. Its previous value must be dropped without a borrow of the sockets.
fn wait(slot: &mut Option<Waker>, context: &Context<'_>, deferred: &mut Deferred) {
    if !slot.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
        deferred.wakers.extend(slot.replace(context.waker().clone()));
    }
}

impl Sockets {
    pub(crate) fn new(ring: Ring) -> Self {
        Self {
            ring,
            table: Slab::new(),
            dirty: Vec::new(),
            holding: Vec::new(),
            completions: Vec::new(),
            spare: Vec::new(),
            deferred: Deferred::default(),
        }
    }

    /// Returns what must run without a borrow of the sockets.
    pub(crate) fn take_deferred(&mut self) -> Deferred {
        std::mem::take(&mut self.deferred)
    }

    /// Adds a socket to the ring. It must be in blocking mode, because the kernel does not wait for non-blocking
    /// sockets.
    pub(crate) fn enter(&mut self, stream: TcpStream, gauge: Gauge) -> usize {
        self.table.insert(State {
            stream: Rc::new(stream),
            operations: 0,
            dropped: false,
            cancelled: false,
            releasing: None,
            is_dirty: false,
            is_holding: false,
            gauge,
            measured: 0,
            reading: ReadState::default(),
            writing: WriteState::default(),
        })
    }

    /// Closes a socket after its owner has dropped it. Written bytes are still sent if the socket accepts them
    /// immediately.
    pub(crate) fn leave(&mut self, key: usize) {
        let state = &mut self.table[key];
        state.dropped = true;
        self.deferred.wakers.extend(state.reading.waker.take().into_iter().chain(state.writing.waker.take()));
        state.reading.inbox.drain(..).for_each(|received| self.ring.recycle(received));
        mark(state, key, &mut self.dirty);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    pub(crate) fn poll_read(
        &mut self,
        key: usize,
        context: &Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let state = &mut self.table[key];
        let reading = &mut state.reading;
        // Return bytes that were received before the end of the stream, and report the end only afterwards.
        if buffer.remaining() == 0 || reading.take(&mut self.ring, buffer) {
            state.measure(&mut self.deferred);
            return Poll::Ready(Ok(()));
        }
        match reading.end {
            None => {}
            Some(EndOfStream::Eof) => return Poll::Ready(Ok(())),
            Some(EndOfStream::Failed(code)) => return Poll::Ready(Err(io::Error::from_raw_os_error(code))),
        }
        if reading.is_bulk && reading.receive.is_none() {
            if !reading.is_drained {
                match receive_now(&state.stream, buffer) {
                    Ok(count) => {
                        reading.handle_bulk_read(count, buffer.remaining() == 0);
                        return Poll::Ready(Ok(()));
                    }
                    Err(error) if is_not_ready(&error) => reading.is_drained = true,
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            if !reading.is_polled {
                reading.is_polled = true;
                state.operations += 1;
                self.ring.poll(&state.stream, key, Interest::Read);
            }
        } else {
            reading.is_wanted = true;
            if reading.receive.is_none() {
                mark(state, key, &mut self.dirty);
            }
        }
        wait(&mut state.reading.waker, context, &mut self.deferred);
        Poll::Pending
    }

    pub(crate) fn poll_write(
        &mut self,
        key: usize,
        context: &Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let state = &mut self.table[key];
        let writing = &mut state.writing;
        if let Some(code) = writing.failed {
            return Poll::Ready(Err(io::Error::from_raw_os_error(code)));
        }
        let len: usize = slices.iter().map(|slice| slice.len()).sum();
        let queued = writing.staged.len() + writing.in_flight;
        if len >= BULK_WRITE_MIN {
            // Send directly only if nothing is queued, to keep the bytes in order.
            if queued == 0 && !writing.is_blocked {
                match send_now(&state.stream, slices) {
                    Ok(count) => {
                        writing.is_blocked = count < len;
                        return Poll::Ready(Ok(count));
                    }
                    Err(error) if is_not_ready(&error) => writing.is_blocked = true,
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
        } else if queued + len <= SEND_MAX && !writing.is_polled {
            if writing.staged.capacity() == 0 {
                writing.staged = self.spare.pop().unwrap_or_default();
            }
            slices.iter().for_each(|slice| writing.staged.extend_from_slice(slice));
            // Clear the flag, because the send operation itself waits for space in the socket's buffer.
            writing.is_blocked = false;
            state.measure(&mut self.deferred);
            mark(state, key, &mut self.dirty);
            return Poll::Ready(Ok(len));
        }
        if queued == 0 && !writing.is_polled {
            writing.is_polled = true;
            state.operations += 1;
            self.ring.poll(&state.stream, key, Interest::Write);
        }
        wait(&mut state.writing.waker, context, &mut self.deferred);
        Poll::Pending
    }

    /// Completes once the kernel has accepted all written bytes.
    pub(crate) fn poll_flush(&mut self, key: usize, context: &Context<'_>) -> Poll<io::Result<()>> {
        let writing = &mut self.table[key].writing;
        if let Some(code) = writing.failed {
            return Poll::Ready(Err(io::Error::from_raw_os_error(code)));
        }
        if writing.is_idle() {
            return Poll::Ready(Ok(()));
        }
        wait(&mut writing.waker, context, &mut self.deferred);
        Poll::Pending
    }

    /// Shuts down the sending half of a socket.
    pub(crate) fn shutdown(&self, key: usize) -> io::Result<()> {
        self.table[key].stream.shutdown(Shutdown::Write)
    }

    /// Removes a socket from the ring after sending written bytes and stopping its receive operation. Completes with a
    /// duplicate of the descriptor and the unread bytes. Afterwards the socket must only be dropped.
    pub(crate) fn poll_release(&mut self, key: usize, context: &Context<'_>) -> Poll<io::Result<(TcpStream, Vec<u8>)>> {
        let state = &mut self.table[key];
        self.deferred.wakers.extend(state.reading.waker.take());
        state.reading.is_wanted = false;
        if let Some(code) = state.writing.failed {
            return Poll::Ready(Err(io::Error::from_raw_os_error(code)));
        }
        // Release the socket only when no operation is in flight, because a receive operation could still take bytes
        // from it.
        if state.operations == 0 && state.writing.is_idle() {
            let mut received = std::mem::take(&mut state.reading.spilled);
            let mut from = std::mem::take(&mut state.reading.inbox_read);
            for part in state.reading.inbox.drain(..) {
                received.extend_from_slice(self.ring.bytes(&part).get(from..).unwrap_or_default());
                self.ring.recycle(part);
                from = 0;
            }
            return Poll::Ready(state.stream.try_clone().map(|stream| (stream, received)));
        }
        // Cancel the operations only after all written bytes were accepted, because the cancellation also aborts sends.
        if state.writing.is_idle() && !state.cancelled {
            state.cancelled = true;
            state.operations += 1;
            self.ring.cancel_all(&state.stream, key);
        }
        wait(&mut state.releasing, context, &mut self.deferred);
        Poll::Pending
    }

    /// Starts the pending operations of all sockets and submits them. If `wait` is set, waits until an operation
    /// completes or the timeout expires.
    pub(crate) fn submit(&mut self, wait: Option<Option<Duration>>) -> io::Result<()> {
        for key in std::mem::take(&mut self.holding) {
            self.spill(key);
        }
        let mut dirty = std::mem::take(&mut self.dirty);
        // Do not wait if quiet sends are in flight, because their completions would not end the wait.
        let wait = if self.ring.is_quiet() { None } else { wait };
        for key in dirty.drain(..) {
            self.begin(key);
        }
        self.dirty = dirty;
        match wait {
            Some(timeout) => self.ring.submit_and_wait(timeout),
            None if self.ring.has_work() => self.ring.submit(),
            None => Ok(()),
        }
    }

    /// Copies the unread bytes of a socket out of the ring's buffers, because the ring has few buffers.
    fn spill(&mut self, key: usize) {
        let Some(state) = self.table.get_mut(key) else { return };
        state.is_holding = false;
        let reading = &mut state.reading;
        while let Some(received) = reading.inbox.pop_front() {
            let from = std::mem::take(&mut reading.inbox_read);
            reading.spilled.extend_from_slice(self.ring.bytes(&received).get(from..).unwrap_or_default());
            self.ring.recycle(received);
        }
        if reading.spilled.len() >= SPILLED_MAX {
            reading.is_wanted = false;
            state.stop_receiving(key, &mut self.ring);
        }
        state.measure(&mut self.deferred);
    }

    /// Starts the pending operations of a socket.
    fn begin(&mut self, key: usize) {
        let Some(state) = self.table.get_mut(key) else { return };
        state.is_dirty = false;
        let writing = &mut state.writing;
        if writing.in_flight == 0 && !writing.staged.is_empty() && writing.failed.is_none() {
            let staged = std::mem::take(&mut writing.staged);
            writing.in_flight = staged.len();
            state.operations += 1;
            if writing.waker.is_some() || state.releasing.is_some() {
                // Report the completion, because a task is waiting for this send.
                writing.waiting = staged.capacity();
                self.ring.send(&state.stream, key, staged, 0);
            } else {
                self.ring.send_quietly(&state.stream, key, staged);
            }
            state.measure(&mut self.deferred);
        }
        // End a dropped socket only after queueing the send of its staged bytes, which would otherwise be lost.
        if state.dropped {
            return self.end(key);
        }
        let reading = &mut state.reading;
        if reading.is_wanted && reading.receive.is_none() && !reading.is_bulk && reading.end.is_none() {
            reading.is_wanted = false;
            state.operations += 1;
            reading.receive = Some(self.ring.receive(&state.stream, key));
        }
    }

    /// Removes a dropped socket from the table once its operations have ended.
    fn end(&mut self, key: usize) {
        let state = &mut self.table[key];
        if state.operations == 0 {
            let state = self.table.remove(key);
            self.deferred.measured.push((state.gauge, 0));
        } else if !state.cancelled {
            state.cancelled = true;
            state.operations += 1;
            // The kernel attempts operations in the order of submission, so a send that was queued before is attempted
            // before it is cancelled.
            self.ring.cancel_all(&state.stream, key);
        }
    }
}

/// Schedules the operations of a socket to be started before the next submission.
fn mark(state: &mut State, key: usize, dirty: &mut Vec<usize>) {
    if !state.is_dirty {
        state.is_dirty = true;
        dirty.push(key);
    }
}

impl State {
    /// Updates the memory of the socket for its gauge.
    fn measure(&mut self, deferred: &mut Deferred) {
        let WriteState { waiting, staged, .. } = &self.writing;
        let to_send = if *waiting > 0 { waiting + staged.capacity() } else { 0 };
        let bytes = to_send + self.reading.spilled.capacity();
        if bytes != self.measured {
            self.measured = bytes;
            deferred.measured.push((self.gauge.clone(), bytes));
        }
    }

    fn stop_receiving(&mut self, key: usize, ring: &mut Ring) {
        if let Some(receive) = self.reading.receive
            && !self.reading.is_stopping
        {
            self.reading.is_stopping = true;
            self.operations += 1;
            ring.cancel(key, receive);
        }
    }
}

impl ReadState {
    /// Moves received bytes to `buffer`. Returns whether any were available.
    fn take(&mut self, ring: &mut Ring, buffer: &mut ReadBuf<'_>) -> bool {
        let before = buffer.filled().len();
        if !self.spilled.is_empty() {
            let count = self.spilled.len().min(buffer.remaining());
            buffer.put_slice(&self.spilled[..count]);
            self.spilled.drain(..count);
            if self.spilled.is_empty() {
                self.spilled = Vec::new();
            }
        }
        while buffer.remaining() > 0
            && let Some(received) = self.inbox.pop_front()
        {
            let rest = &ring.bytes(&received)[self.inbox_read..];
            let count = rest.len().min(buffer.remaining());
            buffer.put_slice(&rest[..count]);
            if count < rest.len() {
                self.inbox_read += count;
                self.inbox.push_front(received);
            } else {
                self.inbox_read = 0;
                ring.recycle(received);
            }
        }
        buffer.filled().len() > before
    }

    /// Records that a buffer of `len` bytes was received. Returns whether to stop receiving and switch to bulk mode.
    fn handle_buffer(&mut self, len: usize) -> bool {
        self.streak = if len == BUFFER_LEN { self.streak + 1 } else { 0 };
        if self.streak >= BULK_READ_STREAK && !self.is_bulk {
            self.is_bulk = true;
            self.is_drained = false;
            self.streak = 0;
            return true;
        }
        false
    }

    /// Records a read of `count` bytes in bulk mode, and whether it filled the buffer.
    fn handle_bulk_read(&mut self, count: usize, filled: bool) {
        if count == 0 {
            self.end = Some(EndOfStream::Eof);
        }
        self.is_drained = !filled;
        self.streak = if count < BULK_READ_MIN { self.streak + 1 } else { 0 };
        if self.streak >= SMALL_READ_STREAK {
            self.streak = 0;
            self.is_bulk = false;
        }
    }
}

#[cfg(test)]
mod tests;

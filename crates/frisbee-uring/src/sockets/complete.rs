//! Handling of the ring's completions: updates the sockets and collects the wakers of their tasks.

use super::{EndOfStream, Sockets, mark};
use crate::ring::{Completion, Interest, Received};
use std::io;
use std::net::Shutdown;
use std::task::Waker;

/// Maximum number of send buffers kept for reuse, each with up to `SEND_MAX` bytes.
const SPARE_MAX: usize = 64;

impl Sockets {
    /// Handles all completions. Appends the wakers of waiting tasks to `wakers`, which must be woken without a borrow
    /// of the sockets. Returns whether the worker's eventfd was written to.
    pub(crate) fn complete(&mut self, wakers: &mut Vec<Waker>) -> bool {
        let mut completions = std::mem::take(&mut self.completions);
        self.ring.complete(&mut completions);
        let mut woken = false;
        for completion in completions.drain(..) {
            match completion {
                Completion::Received { token, result, more } => {
                    self.handle_received(token, result, more, wakers);
                    self.note_release(token, wakers);
                }
                Completion::Sent { token, buffer, result } => {
                    self.handle_sent(token, buffer, result, wakers);
                    self.note_release(token, wakers);
                }
                Completion::Ready { token, interest } => {
                    self.handle_ready(token, interest, wakers);
                    self.note_release(token, wakers);
                }
                Completion::Cancelled { token } => {
                    self.handle_cancelled(token);
                    self.note_release(token, wakers);
                }
                Completion::Woken => woken = true,
            }
        }
        self.completions = completions;
        woken
    }

    fn handle_received(
        &mut self,
        key: usize,
        result: io::Result<Option<Received>>,
        more: bool,
        wakers: &mut Vec<Waker>,
    ) {
        let Some(state) = self.table.get_mut(key) else { return };
        let reading = &mut state.reading;
        // A completion without `IORING_CQE_F_MORE` is the last one of the multishot receive operation.
        if !more {
            reading.receive = None;
            reading.is_stopping = false;
            state.operations -= 1;
        }
        if state.dropped {
            if let Ok(Some(received)) = result {
                self.ring.recycle(received);
            }
            return self.end_if_over(key);
        }
        let mut stop = false;
        match result {
            Ok(Some(received)) if received.len() > 0 => {
                stop = reading.handle_buffer(received.len());
                reading.inbox.push_back(received);
                if !state.is_holding {
                    state.is_holding = true;
                    self.holding.push(key);
                }
            }
            Ok(empty) => {
                empty.into_iter().for_each(|received| self.ring.recycle(received));
                reading.end = Some(EndOfStream::Eof);
            }
            // Such a receive operation was cancelled, ran out of buffers or was interrupted. The stream has not ended.
            Err(error) if matches!(code(&error), libc::ECANCELED | libc::ENOBUFS | libc::EINTR | libc::EAGAIN) => {}
            Err(error) => reading.end = Some(EndOfStream::Failed(code(&error))),
        }
        if stop {
            state.stop_receiving(key, &mut self.ring);
        }
        let reading = &mut state.reading;
        let waits = reading.waker.is_some();
        // Start another receive operation, because the task was waiting for bytes when the last one ended.
        if reading.receive.is_none() && reading.end.is_none() && waits && !reading.is_bulk {
            reading.is_wanted = true;
            mark(state, key, &mut self.dirty);
        }
        wakers.extend(state.reading.waker.take());
    }

    pub(super) fn handle_sent(
        &mut self,
        key: usize,
        mut buffer: Vec<u8>,
        result: io::Result<usize>,
        wakers: &mut Vec<Waker>,
    ) {
        let Some(state) = self.table.get_mut(key) else { return };
        let writing = &mut state.writing;
        state.operations -= 1;
        match result {
            Ok(count) if count < writing.in_flight && !state.cancelled => {
                writing.in_flight -= count;
                let from = buffer.len() - writing.in_flight;
                writing.waiting = buffer.capacity();
                state.operations += 1;
                self.ring.send(&state.stream, key, buffer, from);
                wakers.extend(writing.waker.take());
                return state.measure(&mut self.deferred);
            }
            Err(error) if matches!(code(&error), libc::EINTR | libc::EAGAIN) && !state.cancelled => {
                let from = buffer.len() - writing.in_flight;
                writing.waiting = buffer.capacity();
                state.operations += 1;
                self.ring.send(&state.stream, key, buffer, from);
                return state.measure(&mut self.deferred);
            }
            // Discard the staged bytes, because the peer would receive them in place of the cancelled ones.
            Ok(count) if count < writing.in_flight => writing.staged.clear(),
            Ok(_) => {}
            Err(error) => {
                writing.failed = Some(code(&error));
                writing.staged.clear();
            }
        }
        (writing.in_flight, writing.waiting) = (0, 0);
        buffer.clear();
        if self.spare.len() < SPARE_MAX {
            self.spare.push(buffer);
        }
        let more = !writing.staged.is_empty();
        wakers.extend(writing.waker.take());
        state.measure(&mut self.deferred);
        if more {
            mark(state, key, &mut self.dirty);
        }
        self.end_if_over(key);
    }

    fn handle_ready(&mut self, key: usize, interest: Interest, wakers: &mut Vec<Waker>) {
        let Some(state) = self.table.get_mut(key) else { return };
        state.operations -= 1;
        match interest {
            Interest::Read => {
                state.reading.is_polled = false;
                state.reading.is_drained = false;
                wakers.extend(state.reading.waker.take());
            }
            Interest::Write => {
                state.writing.is_polled = false;
                state.writing.is_blocked = false;
                wakers.extend(state.writing.waker.take());
            }
        }
        self.end_if_over(key);
    }

    fn handle_cancelled(&mut self, key: usize) {
        let Some(state) = self.table.get_mut(key) else { return };
        state.operations -= 1;
        if state.dropped && state.cancelled && state.operations > 0 {
            // A running operation could not be cancelled, but shutting down the socket ends it.
            let _ = state.stream.shutdown(Shutdown::Both);
        }
        self.end_if_over(key);
    }

    /// Wakes the task that is waiting to remove the socket from the ring.
    fn note_release(&mut self, key: usize, wakers: &mut Vec<Waker>) {
        wakers.extend(self.table.get_mut(key).and_then(|state| state.releasing.take()));
    }

    fn end_if_over(&mut self, key: usize) {
        if let Some(state) = self.table.get_mut(key)
            && state.dropped
            && state.operations == 0
        {
            mark(state, key, &mut self.dirty);
        }
    }
}

fn code(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}

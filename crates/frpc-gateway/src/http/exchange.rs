//! The state of an HTTP/1 connection that hyper does not expose, shared by its transport, its requests and its driver.

use super::half_close;
use super::head::Malformed;
use crate::clock::now;
use crate::web_socket::Upgrade;
use frpc::{AdapterContext, Metadata};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Tracks the requests and responses of an HTTP/1 connection. Clones share the state.
#[derive(Clone, Debug)]
pub(crate) struct Exchange(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// Number of requests with responses that hyper has not completely read.
    in_progress: usize,
    /// Number of requests whose response has not begun.
    requests_in_progress: usize,
    /// Whether output may not have been flushed yet. Also set while a request is in progress.
    is_unwritten: bool,
    /// Time at which the last request was received or completed.
    active: Instant,
    /// Start of the timeout for the next request head. For the first head, this is the start of the connection.
    head_since: Option<Instant>,
    /// Time at which the client half-closed the connection while a request was in progress. Advanced when a part of the
    /// response is written.
    half_closed: Option<Instant>,
    refused: Option<Malformed>,
    upgrade: Option<Upgrading>,
}

/// An upgrade to WebSocket, with the metadata of its calls and the context of its client.
pub(super) type Upgrading = (Upgrade, Metadata, AdapterContext);

/// Next timeout of an HTTP/1 connection, with its cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deadline {
    /// The connection was idle for too long.
    Idle(Instant),
    /// A request head did not arrive in time.
    Head(Instant),
    /// A probe must check whether the client, which has half-closed the connection, is still connected.
    Gone(Instant),
}

impl Exchange {
    pub(crate) fn new() -> Self {
        let now = now();
        let state = State {
            in_progress: 0,
            requests_in_progress: 0,
            is_unwritten: false,
            active: now,
            head_since: Some(now),
            half_closed: None,
            refused: None,
            upgrade: None,
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Records that a request was received. Called before the request's future is first polled, because hyper may read
    /// more input between the two.
    pub(crate) fn begin(&self) -> InProgress {
        let mut state = self.0.lock();
        state.in_progress += 1;
        state.requests_in_progress += 1;
        // Mark the response as unwritten now, so that the connection does not look idle while a complete response is
        // not flushed yet.
        state.is_unwritten = true;
        InProgress { exchange: self.clone(), is_waiting: true }
    }

    /// Records that all encoded output was flushed to the transport.
    pub(crate) fn handle_flush(&self) {
        let mut state = self.0.lock();
        // Keep the flag while a request is in progress: its response is incomplete, so the connection is not idle.
        if state.in_progress == 0 && state.is_unwritten {
            state.is_unwritten = false;
            state.active = now();
        }
    }

    /// Records that a part of a response was written to the transport.
    pub(crate) fn handle_written(&self) {
        self.0.lock().restart_pause();
    }

    /// Records that a part of a request head was received, or the rest of it if `is_whole` is set.
    pub(crate) fn handle_head(&self, is_whole: bool) {
        let mut state = self.0.lock();
        if is_whole {
            state.head_since = None;
        } else {
            state.head_since.get_or_insert_with(now);
        }
    }

    /// Records that the client has half-closed the connection. Returns `false` if no response is pending, so that the
    /// connection can close.
    pub(crate) fn handle_end(&self) -> bool {
        let mut state = self.0.lock();
        let is_due = state.in_progress > 0 || state.is_unwritten;
        if is_due {
            state.half_closed.get_or_insert_with(now);
        }
        is_due
    }

    /// Returns whether a request still waits for its response to begin.
    pub(crate) fn is_waiting(&self) -> bool {
        self.0.lock().requests_in_progress > 0
    }

    /// Returns the error of a malformed request head once all earlier requests have been answered.
    pub(crate) fn refused(&self) -> Option<Malformed> {
        let state = self.0.lock();
        state.refused.filter(|_| state.in_progress == 0 && !state.is_unwritten && state.upgrade.is_none())
    }

    /// Records that the next request head is malformed. hyper then reads no further input.
    pub(crate) fn refuse(&self, malformed: Malformed) {
        self.0.lock().refused.get_or_insert(malformed);
    }

    /// Requests that the connection is upgraded after the response.
    pub(crate) fn upgrade(&self, upgrading: Upgrading) {
        self.0.lock().upgrade = Some(upgrading);
    }

    pub(crate) fn take_upgrade(&self) -> Option<Upgrading> {
        self.0.lock().upgrade.take()
    }

    /// Returns the next timeout of the connection. `None` if no timeout applies.
    pub(crate) fn deadline(&self, idle_timeout: Duration, head_timeout: Duration, now: Instant) -> Option<Deadline> {
        let state = self.0.lock();
        if let Some(since) = state.half_closed.filter(|_| state.in_progress > 0) {
            let has_begun = state.requests_in_progress == 0;
            let max = if has_begun { idle_timeout.min(half_close::PAUSE_MAX) } else { idle_timeout };
            let end = since.checked_add(max)?;
            return Some(if now >= end {
                Deadline::Idle(end)
            } else {
                Deadline::Gone(end.min(now + half_close::INTERVAL))
            });
        }
        if state.half_closed.is_some() && !state.is_unwritten {
            // Close now: all responses were written, and hyper does not report the end of input a second time.
            return Some(Deadline::Idle(now));
        }
        let idle = |since: Instant| since.checked_add(idle_timeout).map(Deadline::Idle);
        let is_busy = state.in_progress > 0 || state.is_unwritten;
        match state.head_since {
            _ if is_busy => None,
            Some(since) => since.checked_add(head_timeout).map(Deadline::Head),
            None => idle(state.active),
        }
    }
}

impl Deadline {
    pub(crate) fn due(self) -> Instant {
        match self {
            Self::Idle(due) | Self::Head(due) | Self::Gone(due) => due,
        }
    }
}

/// Guard of a request in progress. Dropped when hyper has read the whole response.
#[derive(Debug)]
pub(crate) struct InProgress {
    exchange: Exchange,
    is_waiting: bool,
}

impl InProgress {
    /// Records that the response to this request begins.
    pub(crate) fn answer(&mut self) {
        if std::mem::take(&mut self.is_waiting) {
            let mut state = self.exchange.0.lock();
            state.requests_in_progress -= 1;
            state.restart_pause();
        }
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        let mut state = self.exchange.0.lock();
        state.in_progress -= 1;
        // Subtract the request only if its response has not begun, because `answer` has subtracted it otherwise.
        state.requests_in_progress -= usize::from(self.is_waiting);
        state.active = now();
    }
}

impl State {
    /// Restarts the timeout of a pause in the response to a half-closed client.
    fn restart_pause(&mut self) {
        if let Some(since) = &mut self.half_closed {
            *since = now();
        }
    }
}

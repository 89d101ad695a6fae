//! The state of a connection of HTTP/1 that its transport, its requests and its driver share: what hyper does not show.

use super::half_close;
use super::head::Malformed;
use crate::clock::now;
use crate::web_socket::Upgrade;
use frpc::Metadata;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The requests and responses of one connection. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Exchange(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// Requests whose responses hyper has not taken whole.
    in_progress: usize,
    /// Requests whose responses have not begun.
    requests_in_progress: usize,
    /// Nothing has been flushed since the last response was taken.
    is_unwritten: bool,
    /// When the last request began or ended.
    active: Instant,
    /// The time since which a head is due. The first one is due from the beginning.
    head_since: Option<Instant>,
    /// When the client closed its direction while a request was in progress, or last received a part of a response since.
    half_closed: Option<Instant>,
    refused: Option<Malformed>,
    upgrade: Option<(Upgrade, Metadata)>,
}

/// The next time at which a connection needs attention, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deadline {
    /// The connection is idle.
    Idle(Instant),
    /// A head is too slow.
    Head(Instant),
    /// The client has closed its direction, and may be gone.
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

    /// Notes that a request has come. hyper may read on before it polls the future that answers.
    pub(crate) fn begin(&self) -> InProgress {
        let mut state = self.0.lock();
        state.in_progress += 1;
        state.requests_in_progress += 1;
        state.is_unwritten = true;
        InProgress { exchange: self.clone(), is_waiting: true }
    }

    /// Notes that everything was written that hyper has encoded.
    pub(crate) fn handle_flush(&self) {
        let mut state = self.0.lock();
        if state.in_progress == 0 && state.is_unwritten {
            state.is_unwritten = false;
            state.active = now();
        }
    }

    /// Notes that a part of a response was written.
    pub(crate) fn handle_written(&self) {
        self.0.lock().restart_pause();
    }

    /// Notes that the beginning of a head has come, or a whole one.
    pub(crate) fn handle_head(&self, is_whole: bool) {
        let mut state = self.0.lock();
        if is_whole {
            state.head_since = None;
        } else {
            state.head_since.get_or_insert_with(now);
        }
    }

    /// Notes that the client has closed its direction. `false` if no response is due, so that this is the end.
    pub(crate) fn handle_end(&self) -> bool {
        let mut state = self.0.lock();
        let is_due = state.in_progress > 0 || state.is_unwritten;
        if is_due {
            state.half_closed.get_or_insert_with(now);
        }
        is_due
    }

    /// Whether a response is due and has not begun.
    pub(crate) fn is_waiting(&self) -> bool {
        self.0.lock().requests_in_progress > 0
    }

    /// Why the connection ends, once the responses to all requests before have been written.
    pub(crate) fn refused(&self) -> Option<Malformed> {
        let state = self.0.lock();
        state.refused.filter(|_| state.in_progress == 0 && !state.is_unwritten && state.upgrade.is_none())
    }

    /// Notes that hyper reads no more, since the next head is malformed.
    pub(crate) fn refuse(&self, malformed: Malformed) {
        self.0.lock().refused.get_or_insert(malformed);
    }

    /// Has the connection upgraded after the response.
    pub(crate) fn upgrade(&self, upgrade: Upgrade, metadata: Metadata) {
        self.0.lock().upgrade = Some((upgrade, metadata));
    }

    pub(crate) fn take_upgrade(&self) -> Option<(Upgrade, Metadata)> {
        self.0.lock().upgrade.take()
    }

    /// Until when the client may do nothing.
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
            // Every response was written, and hyper does not read the end again.
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

/// A request until hyper has taken its response.
#[derive(Debug)]
pub(crate) struct InProgress {
    exchange: Exchange,
    is_waiting: bool,
}

impl InProgress {
    /// Notes that the response begins.
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
        state.requests_in_progress -= usize::from(self.is_waiting);
        state.active = now();
    }
}

impl State {
    /// Lets a response to a half-closed client pause from now on.
    fn restart_pause(&mut self) {
        if let Some(since) = &mut self.half_closed {
            *since = now();
        }
    }
}

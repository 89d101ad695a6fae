//! Observation of a connection's unary calls. Most are answered in the turn of their arrival. They are tallied and
//! counted together at the end of the turn, because all of them took the same time.

use crate::observe::TraceContext;
use crate::observe::observers::{CallSizes, CallStart, MethodObserver, ObservedCall, Observers, nanos};
use crate::{Code, clock};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

impl MethodObserver {
    /// Begins a unary call whose request has `request` bytes. The call has ended or continues as a task before the next
    /// one begins. `is_timed` is set if it does not belong to a turn. `trace` becomes the trace context of the
    /// handler's calls.
    pub(crate) fn begin_unary(&mut self, request: usize, trace: &mut Option<TraceContext>, is_timed: bool) {
        self.began = is_timed.then(clock::now);
        if self.has_observer {
            self.token = self.observers.notify_begin(&self.about, trace);
            (self.request, self.trace) = (request as u64, *trace);
        }
    }

    /// Counts a call that does not belong to a turn.
    pub(crate) fn count_timed(&self, row: u32, code: Code) {
        let nanos = self.began.map_or(0, |began| nanos(clock::now().saturating_duration_since(began)));
        self.observers.ended(row, code, 1, nanos);
    }

    /// Notifies the observer of the end of the call, whose reply has `reply` bytes.
    pub(crate) fn notify_end(&self, code: Code, reply: usize) {
        let sizes = CallSizes { request: self.request, reply: reply as u64 };
        self.observers.notify_end(&self.about, self.token, code, sizes);
    }

    /// Converts the call into one that continues as a task. Dropping it before its end reports it as cancelled.
    pub(crate) fn continue_as_task(&self) -> ObservedCall {
        let at = self.began.unwrap_or_else(clock::now);
        self.start(CallStart { at, token: self.token, trace: self.trace }, self.request)
    }
}

/// The calls of a connection that were answered in the current turn.
pub(crate) struct BatchCalls {
    observers: Arc<Observers>,
    /// The row of the method whose successful calls are counted in `ok`.
    row: Cell<u32>,
    calls: Cell<u32>,
    /// Calls of other methods and failed calls, at most one per call of the turn.
    others: RefCell<Vec<(u32, Code, u32)>>,
}

impl BatchCalls {
    pub(crate) fn new(observers: &Arc<Observers>) -> Self {
        Self {
            observers: observers.clone(),
            row: Cell::new(u32::MAX),
            calls: Cell::default(),
            others: RefCell::default(),
        }
    }

    /// Counts a call that was answered in this turn.
    pub(crate) fn add(&self, row: u32, code: Code) {
        if code != Code::Ok || row != self.row.get() {
            return self.add_other(row, code);
        }
        self.calls.set(self.calls.get().wrapping_add(1));
    }

    fn add_other(&self, row: u32, code: Code) {
        let mut others = self.others.borrow_mut();
        if code != Code::Ok {
            others.push((row, code, 1));
            return;
        }
        let (row, calls) = (self.row.replace(row), self.calls.replace(1));
        if calls > 0 {
            others.push((row, Code::Ok, calls));
        }
    }

    /// Returns whether the turn has no calls.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.get() == 0 && self.others.borrow().is_empty()
    }

    /// Reports the calls of a turn that took `nanos` nanoseconds.
    pub(crate) fn flush(&self, nanos: u64) {
        let calls = self.calls.take();
        if calls > 0 {
            self.observers.ended(self.row.get(), Code::Ok, u64::from(calls), nanos);
        }
        let mut others = self.others.borrow_mut();
        if !others.is_empty() {
            for (row, code, calls) in std::mem::take(&mut *others) {
                self.observers.ended(row, code, u64::from(calls), nanos);
            }
        }
    }
}

impl Drop for BatchCalls {
    fn drop(&mut self) {
        self.flush(0);
    }
}

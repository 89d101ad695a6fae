//! Observation of incoming unary calls. Most calls are answered in the driver poll that receives them. They count as
//! equally long and are reported together at the end of the poll.

use crate::observe::TraceContext;
use crate::observe::observers::{CallSizes, CallStart, MethodObserver, ObservedCall, Observers, nanos};
use crate::{Code, clock};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

impl MethodObserver {
    /// Starts observing a unary call with a request of `request` bytes. The call must end or continue as a task before
    /// the next call begins. Set `is_timed` if the call is not part of a batch. The observer may replace `trace`, which
    /// the calls that the handler makes inherit.
    pub(crate) fn begin_unary(&mut self, request: usize, trace: &mut Option<TraceContext>, is_timed: bool) {
        self.began = is_timed.then(clock::now);
        if self.has_observer {
            self.token = self.observers.notify_begin(&self.about, trace);
            (self.request, self.trace) = (request as u64, *trace);
        }
    }

    /// Counts the end of a call that is not part of a batch.
    pub(crate) fn count_timed(&self, row: u32, code: Code) {
        let nanos = self.began.map_or(0, |began| nanos(clock::now().saturating_duration_since(began)));
        self.observers.ended(row, code, 1, nanos);
    }

    /// Reports the end of the call to the observer. `reply` is the length of the reply in bytes.
    pub(crate) fn notify_end(&self, code: Code, reply: usize) {
        let sizes = CallSizes { request: self.request, reply: reply as u64 };
        self.observers.notify_end(&self.about, self.token, code, sizes);
    }

    /// Returns an observed call for a handler that continues as a task. Dropping it before its end reports the call as
    /// cancelled.
    pub(crate) fn continue_as_task(&self) -> ObservedCall {
        let at = self.began.unwrap_or_else(clock::now);
        self.start(CallStart { at, token: self.token, trace: self.trace }, self.request)
    }
}

/// Counts of the calls that were answered in the current poll of a connection's driver.
pub(crate) struct BatchCalls {
    observers: Arc<Observers>,
    /// Id that the batch observer assigned to the method whose successful calls `calls` counts.
    row: Cell<u32>,
    calls: Cell<u32>,
    /// Counts of failed calls and of calls of other methods.
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

    /// Counts a call that was answered in the current driver poll.
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

    /// Returns whether no call was answered in the current driver poll.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.get() == 0 && self.others.borrow().is_empty()
    }

    /// Reports the calls answered in this driver poll, assuming that each took `nanos` nanoseconds.
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

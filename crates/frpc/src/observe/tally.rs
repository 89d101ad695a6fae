//! How unary calls that are served on a connection are observed. Most are answered in the turn in which they came. They
//! are tallied, and counted together when the turn ends, since then all have taken the same time.

use crate::observe::watching::{Begun, Sizes, Watched, Watcher, Watching};
use crate::observe::{Token, TraceContext};
use crate::{Code, deadline};
use frisbee::Outbox;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// How the calls of a method on one connection are observed: [`Unwatched`], which the compiler removes, or [`Watch`]ed.
pub(crate) trait Watch: Clone + Send + 'static {
    /// A call that continues as a task. Dropped before its end, it has been cancelled.
    type Task: Finish;

    /// Begins a call with a request of so many bytes. Before the next one begins it has ended, or goes on as a task.
    /// `trace` looks for the place in a trace that the request comes with.
    fn begin(&mut self, request: usize, trace: impl FnOnce() -> Option<TraceContext>);

    /// Whether calls of the handler inherit a place in a trace, if the request came with one.
    fn passes_on(&self, is_traced: bool) -> bool;

    /// That place, if the request came with `trace`.
    fn passed_on(&self, trace: Option<TraceContext>) -> Option<TraceContext>;

    /// The length of the outbox in front of a reply, as far as it matters.
    fn before(&self, outbox: &Outbox) -> usize;

    /// Ends the call. `before` is the length of the outbox in front of the reply.
    fn end(&self, tally: Option<&Tally>, code: impl FnOnce() -> Code, outbox: &Outbox, before: usize);

    /// Continues the call as a task.
    fn go_on(&self) -> Self::Task;
}

/// A call that continues as a task.
pub(crate) trait Finish: Send + 'static {
    /// Ends the call.
    fn finish(self, code: impl FnOnce() -> Code, reply: impl FnOnce() -> u64);
}

/// The calls of a connection that nobody observes.
#[derive(Clone, Copy)]
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    type Task = ();

    #[inline(always)]
    fn begin(&mut self, _request: usize, _trace: impl FnOnce() -> Option<TraceContext>) {}

    #[inline(always)]
    fn passes_on(&self, is_traced: bool) -> bool {
        is_traced
    }

    #[inline(always)]
    fn passed_on(&self, trace: Option<TraceContext>) -> Option<TraceContext> {
        trace
    }

    #[inline(always)]
    fn before(&self, _outbox: &Outbox) -> usize {
        0
    }

    #[inline(always)]
    fn end(&self, _tally: Option<&Tally>, _code: impl FnOnce() -> Code, _outbox: &Outbox, _before: usize) {}

    #[inline(always)]
    fn go_on(&self) {}
}

impl Finish for () {
    #[inline(always)]
    fn finish(self, _code: impl FnOnce() -> Code, _reply: impl FnOnce() -> u64) {}
}

impl Watch for Watcher {
    type Task = Watched;

    #[inline]
    fn begin(&mut self, request: usize, trace: impl FnOnce() -> Option<TraceContext>) {
        if self.is_told {
            self.trace = trace();
            self.token = self.watching.tell_begin(&self.about, &mut self.trace);
            self.request = request as u64;
        }
    }

    #[inline]
    fn passes_on(&self, is_traced: bool) -> bool {
        if self.is_told { self.trace.is_some() } else { is_traced }
    }

    #[inline]
    fn passed_on(&self, trace: Option<TraceContext>) -> Option<TraceContext> {
        if self.is_told { self.trace } else { trace }
    }

    #[inline]
    fn before(&self, outbox: &Outbox) -> usize {
        if self.is_told { outbox.len() } else { 0 }
    }

    #[inline]
    fn end(&self, tally: Option<&Tally>, code: impl FnOnce() -> Code, outbox: &Outbox, before: usize) {
        let code = code();
        if let Some(tally) = tally {
            tally.add(self.row, code);
        }
        if self.is_told && self.token != Token::NO_END {
            let sizes = Sizes { request: self.request, reply: outbox.len().saturating_sub(before) as u64 };
            self.watching.tell_end(&self.about, self.token, code, sizes);
        }
    }

    fn go_on(&self) -> Watched {
        self.begun(Begun { at: deadline::now(), token: self.token, trace: self.trace }, self.request)
    }
}

impl Finish for Watched {
    fn finish(self, code: impl FnOnce() -> Code, reply: impl FnOnce() -> u64) {
        self.end(code(), reply());
    }
}

/// The calls of a connection that were answered in the current turn.
pub(crate) struct Tally {
    watching: Arc<Watching>,
    /// The row of the method whose calls are counted below: those that have succeeded.
    row: Cell<u32>,
    calls: Cell<u32>,
    /// Calls of other methods, and those that have failed. As many as a turn has calls at most.
    others: RefCell<Vec<(u32, Code, u32)>>,
}

impl Tally {
    pub(crate) fn new(watching: &Arc<Watching>) -> Self {
        Self {
            watching: watching.clone(),
            row: Cell::new(u32::MAX),
            calls: Cell::default(),
            others: RefCell::default(),
        }
    }

    #[inline]
    fn add(&self, row: u32, code: Code) {
        if code != Code::Ok || row != self.row.get() {
            return self.add_other(row, code);
        }
        self.calls.set(self.calls.get().wrapping_add(1));
    }

    #[cold]
    #[inline(never)]
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

    /// Whether the turn has no calls.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.get() == 0 && self.others.borrow().is_empty()
    }

    /// Counts the calls of a turn that has taken so many nanoseconds.
    pub(crate) fn flush(&self, nanos: u64) {
        let calls = self.calls.take();
        if calls > 0 {
            self.watching.count(self.row.get(), Code::Ok, u64::from(calls), nanos);
        }
        let mut others = self.others.borrow_mut();
        if !others.is_empty() {
            for (row, code, calls) in std::mem::take(&mut *others) {
                self.watching.count(row, code, u64::from(calls), nanos);
            }
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.flush(0);
    }
}

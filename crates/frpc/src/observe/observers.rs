//! Observers of a client or server, and observed calls.

use crate::debug::opaque_debug;
use crate::observe::{BatchObserver, CallEnd, ObservedMethod, Observer, Token, TraceContext};
use crate::{Code, Status, clock};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Observers of the calls of a client or server.
#[derive(Clone, Default)]
pub(crate) struct Observers {
    pub(crate) batches: Option<Arc<dyn BatchObserver>>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

/// The observers of a method's calls, with the state of the unary call that is currently served.
#[derive(Clone)]
pub(crate) struct MethodObserver {
    pub(crate) observers: Arc<Observers>,
    pub(crate) about: ObservedMethod,
    /// Id that the batch observer assigned to the method, if there is a batch observer.
    pub(crate) row: Option<u32>,
    /// Whether there is an observer of individual calls.
    pub(crate) has_observer: bool,
    /// Token of the unary call that is currently served.
    pub(crate) token: Token,
    pub(crate) request: u64,
    /// Trace context of the current call, which is inherited by the calls that its handler makes.
    pub(crate) trace: Option<TraceContext>,
    /// Start time of the current call. Set if the call is not part of a batch.
    pub(crate) began: Option<Instant>,
}

/// Lengths in bytes of the request and response of a call.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct CallSizes {
    pub(crate) request: u64,
    pub(crate) reply: u64,
}

impl Observers {
    /// Returns the batch observer if its type is `T`.
    pub(crate) fn batches<T: BatchObserver>(&self) -> Option<&T> {
        let batches: &dyn Any = &**self.batches.as_ref()?;
        batches.downcast_ref()
    }

    pub(crate) fn method_observer(self: &Arc<Self>, about: ObservedMethod) -> MethodObserver {
        let (row, has_observer) = (self.register(&about), self.has_observer());
        let (token, request, trace, began) = (Token::default(), 0, None, None);
        MethodObserver { observers: self.clone(), about, row, has_observer, token, request, trace, began }
    }

    /// Returns whether there is an observer of individual calls.
    pub(crate) fn has_observer(&self) -> bool {
        self.observer.is_some()
    }

    pub(crate) fn notify_begin(&self, about: &ObservedMethod, trace: &mut Option<TraceContext>) -> Token {
        self.observer.as_ref().map_or_else(Token::default, |observer| observer.begin(about, trace))
    }

    pub(crate) fn notify_end(&self, about: &ObservedMethod, token: Token, code: Code, sizes: CallSizes) {
        if let Some(observer) = self.observer.as_ref().filter(|_| token != Token::NO_END) {
            let CallSizes { request: request_bytes, reply: reply_bytes } = sizes;
            observer.end(about, token, &CallEnd { code, request_bytes, reply_bytes });
        }
    }

    /// Registers a method with the batch observer and returns the assigned id, or `None` if there is no batch observer.
    pub(crate) fn register(&self, about: &ObservedMethod) -> Option<u32> {
        self.batches.as_ref().map(|batches| batches.register(about))
    }

    /// Reports `calls` completed calls of a method that each took `nanos` nanoseconds.
    pub(crate) fn ended(&self, row: u32, code: Code, calls: u64, nanos: u64) {
        if let Some(batches) = &self.batches {
            batches.ended(row, code, calls, nanos);
        }
    }

    /// Corrects the status code of a call that was reported as successful.
    pub(crate) fn reclassified(&self, row: u32, code: Code, nanos: u64) {
        if let Some(batches) = &self.batches {
            batches.reclassified(row, code, nanos);
        }
    }

    /// Reports that an attempt has failed and is retried.
    pub(crate) fn retry(
        &self,
        about: &ObservedMethod,
        token: Token,
        failed: &Status,
        trace: &mut Option<TraceContext>,
    ) {
        if let Some(batches) = &self.batches {
            batches.retried(batches.register(about), failed.code());
        }
        if let Some(observer) = self.observer.as_ref().filter(|_| token != Token::NO_END) {
            observer.retry(about, token, failed, trace);
        }
    }

    pub(crate) fn late_reply(&self) {
        if let Some(batches) = &self.batches {
            batches.late_reply();
        }
        if let Some(observer) = &self.observer {
            observer.late_reply();
        }
    }
}

impl MethodObserver {
    /// Starts observing a call with this trace context.
    pub(crate) fn begin(&self, mut trace: Option<TraceContext>) -> ObservedCall {
        let token = self.observers.notify_begin(&self.about, &mut trace);
        self.start(CallStart { at: clock::now(), token, trace }, 0)
    }

    /// Creates an observed call. Its start has already been reported.
    pub(crate) fn start(&self, start: CallStart, request: u64) -> ObservedCall {
        ObservedCall { method_observer: self.clone(), start, request, is_over: false }
    }

    /// Reports a call that was rejected immediately.
    pub(crate) fn refuse(&self, code: Code) {
        self.begin(None).end(code, 0);
    }
}

/// Start of an observed call: its time, its token and its trace context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallStart {
    pub(crate) at: Instant,
    pub(crate) token: Token,
    /// Trace context to propagate. On a client, it is sent with the request. On a server, the calls made by the handler
    /// inherit it.
    pub(crate) trace: Option<TraceContext>,
}

/// An observed call. Dropping it before its end reports the call as cancelled.
pub(crate) struct ObservedCall {
    method_observer: MethodObserver,
    start: CallStart,
    request: u64,
    is_over: bool,
}

impl ObservedCall {
    /// Returns the data about the start of the call.
    pub(crate) fn start(&self) -> CallStart {
        self.start
    }

    /// Returns the trace context to propagate with the call.
    pub(crate) fn trace(&self) -> Option<TraceContext> {
        self.start.trace
    }

    /// Returns the trace context to propagate: the context of the observed call, or the received context if the call
    /// has no observer of individual calls.
    pub(crate) fn forwarded_trace(
        observed_call: Option<&Self>,
        received: Option<TraceContext>,
    ) -> Option<TraceContext> {
        observed_call.filter(|observed_call| observed_call.method_observer.has_observer).map_or(received, Self::trace)
    }

    pub(crate) fn end(mut self, code: Code, reply: u64) {
        self.finish(code, reply);
    }

    /// Sets the length of the request in bytes. For a stream of requests, the length is known only at the end.
    pub(crate) fn set_request(&mut self, bytes: u64) {
        self.request = bytes;
    }

    /// Reports the end of the call, unless it has already been reported.
    pub(crate) fn finish(&mut self, code: Code, reply: u64) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let MethodObserver { observers, about, row, .. } = &self.method_observer;
        if let Some(row) = row {
            observers.ended(*row, code, 1, nanos(clock::now().saturating_duration_since(self.start.at)));
        }
        if observers.has_observer() {
            observers.notify_end(about, self.start.token, code, CallSizes { request: self.request, reply });
        }
    }

    /// Awaits `work`, which performs the call, and reports the end of the call with its result.
    pub(crate) async fn over<T>(self, work: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
        let result = work.await;
        self.end(result.as_ref().map_or_else(Status::code, |_| Code::Ok), 0);
        result
    }
}

impl Drop for ObservedCall {
    fn drop(&mut self) {
        self.finish(Code::Cancelled, 0);
    }
}

/// Converts a duration to nanoseconds. Wraps around after more than 500 years.
pub(crate) fn nanos(duration: Duration) -> u64 {
    duration.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(duration.subsec_nanos()))
}

opaque_debug!(
    [] Observers, "Observers", |this| batches = this.batches.is_some(), observer = this.observer.is_some()
);

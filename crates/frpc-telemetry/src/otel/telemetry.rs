//! The observer that creates spans of calls and records their durations.

use super::context::{active, of_span, span_context};
use super::live::{LiveCall, LiveCalls};
use super::names;
use super::sampling::{Sampling, unrecorded};
use frpc::observe::{CallEnd, CallSide, ObservedMethod, Observer, Token, TraceContext};
use frpc::{Code, Status};
use opentelemetry::global::{BoxedSpan, BoxedTracer, ObjectSafeTracer};
use opentelemetry::metrics::{Histogram, Meter};
use opentelemetry::trace::{Span, SpanBuilder, SpanKind, Status as SpanStatus, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// An [`Observer`] for servers and channels that reports calls to OpenTelemetry.
///
/// Each sampled call has a span named after its method, of kind `client` at the caller and `server` at the server. The
/// client's span includes the first attempt; each further attempt is a child span. By default every call is sampled;
/// see [`sample`](Self::sample).
///
/// Clones share their state. One instance is enough for all servers and channels of a program.
///
/// ```
/// use frpc_telemetry::otel::Telemetry;
/// use opentelemetry::trace::TracerProvider as _;
/// use opentelemetry_sdk::trace::SdkTracerProvider;
///
/// let provider = SdkTracerProvider::builder().build(); // With an exporter.
/// let telemetry = Telemetry::new().spans(provider.tracer("greeter")).sample(0.01);
/// let server = frpc::Server::builder().observer(telemetry.clone());
/// let channel = frpc::Channel::builder().observer(telemetry);
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Telemetry {
    tracer: Option<Arc<BoxedTracer>>,
    sampling: Sampling,
    durations: Option<Durations>,
    /// Calls in progress that must be observed when they end. Shared by all clones, because any clone may observe the
    /// end.
    lives: Arc<LiveCalls>,
}

/// Maximum number of attributes of a span: `rpc.system.name`, `rpc.method`, `rpc.response.status_code`, `error.type`,
/// and the sizes of request and reply. The span of an attempt has `frpc.attempt` instead of the sizes.
const ATTRIBUTES_MAX: usize = 6;

/// Histograms of call durations on clients and servers.
#[derive(Clone)]
struct Durations {
    client: Histogram<f64>,
    server: Histogram<f64>,
}

impl Telemetry {
    /// Creates an observer that only propagates trace contexts and reports nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the tracer that creates the spans of calls. Only calls that [`sample`](Self::sample) has selected get a
    /// span. For these calls, the sampler of the tracer is consulted too. It receives a parent context that is marked
    /// as sampled, which the default sampler of the SDK accepts.
    pub fn spans(self, tracer: impl ObjectSafeTracer + Send + Sync + 'static) -> Self {
        Self { tracer: Some(Arc::new(BoxedTracer::new(Box::new(tracer)))), ..self }
    }

    /// Sets the share of traces that begin here to sample, from 0 to 1. Defaults to 1. Other values are clamped to this
    /// range, and NaN counts as 0.
    ///
    /// A trace begins with a received call or with a call made outside of a handler. Calls that a handler makes follow
    /// the decision for its own call. The trace context carries the decision to the called servers. A server with
    /// [`trust_peers`](Self::trust_peers) follows it, and others make their own decision.
    pub fn sample(mut self, ratio: f64) -> Self {
        self.sampling.set_ratio(ratio);
        self
    }

    /// Honours the sampling decisions that clients send in trace contexts. Suitable for servers that are only called by
    /// servers of the same owner. By default, these decisions are ignored, because any client could force all its calls
    /// to be recorded.
    pub fn trust_peers(mut self) -> Self {
        self.sampling.trusts = true;
        self
    }

    /// Records the duration of each call in the histograms `rpc.client.call.duration` and `rpc.server.call.duration`.
    ///
    /// Each call, sampled or not, then reads the clock twice. The SDK looks up the call's attributes (method and
    /// status) in the table of a histogram once. [`Counters`](crate::Counters) cost less, and a collector can scrape
    /// them in Prometheus's format.
    pub fn durations(mut self, meter: &Meter) -> Self {
        let histogram = |name, description| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(description);
            histogram.with_boundaries(names::BOUNDS.to_vec()).build()
        };
        self.durations = Some(Durations {
            client: histogram(names::CLIENT_DURATION, "Duration of calls that were made."),
            server: histogram(names::SERVER_DURATION, "Duration of calls that were served."),
        });
        self
    }

    /// Returns the number of calls in progress that have a span. With [`durations`](Self::durations), all calls in
    /// progress are counted.
    pub fn in_progress(&self) -> usize {
        self.lives.len()
    }

    /// Returns whether any of the calls in progress is locked.
    #[cfg(test)]
    pub(crate) fn is_locked(&self) -> bool {
        self.lives.is_locked()
    }

    /// Records the duration of a call that has ended, and ends its open spans.
    fn finish(&self, about: &ObservedMethod, live: LiveCall, ended: &CallEnd) {
        let LiveCall { span, open, started, .. } = live;
        if let Some(durations) = &self.durations {
            let (histogram, side) = match about.side() {
                CallSide::Client => (&durations.client, CallSide::Client),
                CallSide::Server => (&durations.server, CallSide::Server),
            };
            let code = ended.code.name();
            let labels =
                [KeyValue::new(names::SYSTEM, names::FRPC), method(about), KeyValue::new(names::STATUS_CODE, code)];
            let took = started.elapsed().as_secs_f64();
            if is_failure(side, ended.code) {
                let [system, method, status] = labels;
                histogram.record(took, &[system, method, status, KeyValue::new(names::ERROR_TYPE, code)]);
            } else {
                histogram.record(took, &labels);
            }
        }
        open.into_iter().for_each(|attempt| close(attempt, about.side(), ended.code));
        if let Some(mut span) = span {
            for (name, size) in [(names::REQUEST_SIZE, ended.request_bytes), (names::REPLY_SIZE, ended.reply_bytes)] {
                if size > 0 {
                    span.set_attribute(KeyValue::new(name, i64::try_from(size).unwrap_or(i64::MAX)));
                }
            }
            close(span, about.side(), ended.code);
        }
    }
}

impl Observer for Telemetry {
    fn begin(&self, about: &ObservedMethod, trace: &mut Option<TraceContext>) -> Token {
        // `active` returns the context of the span that the program has attached to OpenTelemetry's current context.
        // `trace` contains the context of the handler that makes the call. The attached span takes precedence, because
        // the program has attached it explicitly and it is the inner one.
        if about.side() == CallSide::Client
            && let Some(active) = active()
        {
            *trace = Some(active);
        }
        // `is_chosen` treats client and server calls alike: it always follows the decision of a local context, and
        // follows that of a remote context, which a client has sent, only with `trust_peers`.
        let tracer = self.tracer.as_ref().filter(|_| self.sampling.is_chosen(trace.as_ref()));
        let span = match tracer {
            Some(tracer) => Some(begin(tracer, about, None, trace)),
            None if self.tracer.is_some() => {
                // Mark the trace as not sampled, so that calls that this call causes are not recorded either.
                *trace = unrecorded(trace.as_ref());
                None
            }
            None => None,
        };
        if span.is_none() && self.durations.is_none() {
            // Prevent frpc from calling `end` and `retry`, which would have nothing to do.
            return Token::NO_END;
        }
        Token(self.lives.enter(LiveCall { span, open: Vec::new(), attempts: 1, started: Instant::now() }))
    }

    fn end(&self, about: &ObservedMethod, token: Token, ended: &CallEnd) {
        if let Some(live) = self.lives.take(token.0) {
            self.finish(about, live, ended);
        }
    }

    fn retry(&self, about: &ObservedMethod, token: Token, failed: &Status, trace: &mut Option<TraceContext>) {
        // Take the call out, because the tracer must run without the lock: it calls samplers and span processors of the
        // program. The events of a call are observed one after another.
        let Some(mut live) = self.lives.take(token.0) else { return };
        if let (Some(tracer), Some(span)) = (&self.tracer, &mut live.span) {
            let code = KeyValue::new(names::STATUS_CODE, failed.code().name());
            // DEADLINE_EXCEEDED marks a hedge, see `Observer::retry`. Keep the spans open, because the slower attempt
            // continues until the call ends or an attempt fails.
            let is_hedged = failed.code() == Code::DeadlineExceeded;
            let event = if is_hedged { "attempt hedged" } else { "attempt failed" };
            span.add_event(event, vec![KeyValue::new(names::ATTEMPT, i64::from(live.attempts)), code]);
            if !is_hedged {
                // Only clients retry calls.
                live.open.drain(..).for_each(|attempt| close(attempt, CallSide::Client, failed.code()));
            }
            live.attempts = live.attempts.saturating_add(1);
            *trace = of_span(span.span_context());
            live.open.push(begin(tracer, about, Some(live.attempts), trace));
        }
        self.lives.put(token.0, live);
    }
}

/// Starts the span of a call or of a further attempt as a child of `trace`, and stores the span's context in `trace`.
fn begin(
    tracer: &BoxedTracer,
    about: &ObservedMethod,
    attempt: Option<u32>,
    trace: &mut Option<TraceContext>,
) -> BoxedSpan {
    let parent = match trace {
        // Mark the parent as sampled, because the SDK's default sampler follows the parent and this call has been
        // selected. Despite its name, `with_remote_span_context` also accepts local parents: `span_context` states
        // whether the parent is remote.
        Some(parent) => Context::new().with_remote_span_context(span_context(parent, true)),
        None => Context::new(),
    };
    let kind = match about.side() {
        CallSide::Client => SpanKind::Client,
        CallSide::Server => SpanKind::Server,
    };
    let mut attributes = Vec::with_capacity(ATTRIBUTES_MAX);
    attributes.extend([KeyValue::new(names::SYSTEM, names::FRPC), method(about)]);
    attributes.extend(attempt.map(|attempt| KeyValue::new(names::ATTEMPT, i64::from(attempt))));
    let builder = SpanBuilder::from_name(name(about)).with_kind(kind).with_attributes(attributes);
    let span = tracer.build_with_context(builder, &parent);
    // Keep the trace context if the span has no ids, because a no-op tracer may return such spans.
    *trace = of_span(span.span_context()).or_else(|| unrecorded(trace.as_ref()));
    span
}

/// Ends the span of a call or of an attempt with its status code.
fn close(mut span: BoxedSpan, side: CallSide, code: Code) {
    let name = code.name();
    span.set_attribute(KeyValue::new(names::STATUS_CODE, name));
    if is_failure(side, code) {
        span.set_attribute(KeyValue::new(names::ERROR_TYPE, name));
        // The status has no description, because the attributes already contain the code.
        span.set_status(SpanStatus::error(""));
    }
    span.end();
}

/// Returns whether a status code is an error by OpenTelemetry's conventions. On servers, errors caused by the client do
/// not count.
fn is_failure(side: CallSide, code: Code) -> bool {
    match side {
        CallSide::Client => code != Code::Ok,
        CallSide::Server => names::is_server_fault(code),
    }
}

fn name(about: &ObservedMethod) -> String {
    [about.service(), "/", about.method()].concat()
}

fn method(about: &ObservedMethod) -> KeyValue {
    KeyValue::new(names::METHOD, name(about))
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Telemetry");
        shown.field("spans", &self.tracer.is_some()).field("sampling", &self.sampling);
        shown.field("durations", &self.durations.is_some()).field("in_progress", &self.in_progress()).finish()
    }
}

//! Trace contexts of calls as OpenTelemetry has them, and the other way round.

use frpc::observe::TraceContext;
use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};

/// In a handler: the call as the parent of further spans. Empty if the call has no trace context.
///
/// ```
/// use opentelemetry::global;
/// use opentelemetry::trace::{Span, Tracer};
///
/// /// Called by handlers.
/// fn look_up(key: &str) -> usize {
///     let mut span = global::tracer("store").start_with_context("look up", &frpc_telemetry::otel::context());
///     let found = key.len();
///     span.end();
///     found
/// }
/// # assert_eq!(look_up("a"), 1);
/// ```
///
/// Calls that the handler makes hang under the handler's call. To have them hang under such a span, attach its context:
/// `Context::with_span` and `attach`, or `with_context` around a future.
pub fn context() -> Context {
    match TraceContext::current() {
        None => Context::new(),
        Some(current) => Context::new().with_remote_span_context(span_context(&current, current.is_sampled())),
    }
}

/// A trace context as that of a span.
pub(crate) fn span_context(context: &TraceContext, is_sampled: bool) -> SpanContext {
    let flags = if is_sampled { TraceFlags::SAMPLED } else { TraceFlags::default() };
    let (trace, span) = (TraceId::from_bytes(context.trace_id()), SpanId::from_bytes(context.span_id()));
    SpanContext::new(trace, span, flags, context.is_remote(), TraceState::NONE)
}

/// The trace context that a span is. `None` if it is not recorded and has no ids.
pub(crate) fn of_span(span: &SpanContext) -> Option<TraceContext> {
    TraceContext::new(span.trace_id().to_bytes(), span.span_id().to_bytes(), span.is_sampled())
}

/// The span that OpenTelemetry takes for the current one.
#[inline]
pub(crate) fn active() -> Option<TraceContext> {
    Context::map_current(
        |context| {
            if context.has_active_span() { of_span(context.span().span_context()) } else { None }
        },
    )
}

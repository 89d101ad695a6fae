//! Conversions between the trace contexts of calls and the contexts of OpenTelemetry.

use frpc::observe::TraceContext;
use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};

/// Returns the context of the current call, as the parent for spans of its handler. Empty if the call has no trace
/// context.
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
/// Calls that the handler makes are children of its own call. To make them children of another span, attach that span's
/// context with `Context::with_span` and `attach`, or with `with_context` around a future.
pub fn context() -> Context {
    match TraceContext::current() {
        None => Context::new(),
        Some(current) => Context::new().with_remote_span_context(span_context(&current, current.is_sampled())),
    }
}

/// Converts a trace context to OpenTelemetry's span context.
pub(crate) fn span_context(context: &TraceContext, is_sampled: bool) -> SpanContext {
    let flags = if is_sampled { TraceFlags::SAMPLED } else { TraceFlags::default() };
    let (trace, span) = (TraceId::from_bytes(context.trace_id()), SpanId::from_bytes(context.span_id()));
    SpanContext::new(trace, span, flags, context.is_remote(), TraceState::NONE)
}

/// Converts OpenTelemetry's span context to a trace context. Returns `None` if the span has no ids, like the spans of a
/// no-op tracer.
pub(crate) fn of_span(span: &SpanContext) -> Option<TraceContext> {
    TraceContext::new(span.trace_id().to_bytes(), span.span_id().to_bytes(), span.is_sampled())
}

/// Returns the trace context of the span in OpenTelemetry's current context. Returns `None` if there is no such span or
/// it has no ids.
pub(crate) fn active() -> Option<TraceContext> {
    Context::map_current(|context| match context.has_active_span() {
        true => of_span(context.span().span_context()),
        false => None,
    })
}

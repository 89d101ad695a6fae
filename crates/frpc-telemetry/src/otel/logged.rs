//! Trace and span ids in the log lines of handlers.

use frpc::observe::TraceContext;
use frpc::{Call, CallResponse, Middleware, Next, Status};
use std::future::poll_fn;
use std::pin::pin;

/// A middleware that runs each handler in a span of `tracing` with the trace id and the span id as fields, so that log
/// lines can be found by trace.
///
/// The span is named `call` and has the level INFO. Calls without a trace context get no span.
///
/// ```
/// let server = frpc::Server::builder().middleware(frpc_telemetry::otel::Logged);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Logged;

impl Middleware for Logged {
    async fn call(&self, call: Call, next: Next) -> Result<CallResponse, Status> {
        let Some(context) = TraceContext::current() else { return next.run(call).await };
        let trace_id = format_args!("{:032x}", u128::from_be_bytes(context.trace_id())).to_string();
        let span_id = format_args!("{:016x}", u64::from_be_bytes(context.span_id())).to_string();
        let method = format_args!("{}/{}", call.service(), call.method()).to_string();
        let span = tracing::info_span!("call", trace_id, span_id, method);
        let mut work = pin!(next.run(call));
        poll_fn(|context| {
            let _entered = span.enter();
            work.as_mut().poll(context)
        })
        .await
    }
}

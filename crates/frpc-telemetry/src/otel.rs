//! Traces and metrics of [frpc](https://docs.rs/frpc-rs) calls for OpenTelemetry.
//!
//! [`Telemetry`] is an observer for servers and channels that creates a span for each call. Trace contexts travel with
//! the calls, and the calls of a handler inherit its context, so one trace spans all servers of a request. The crate
//! depends on the API of OpenTelemetry only; the program chooses the SDK and the exporter.
//!
//! Sampling is decided before a span is created. A call that is not sampled costs a few dozen instructions.
//!
//! [`context`] returns the parent context for spans that a handler creates. With the feature `otel-tracing`, the
//! middleware `Logged` adds the trace and span ids to the log lines of handlers. `observe_stats` exports the connection
//! counts of a server as metrics. With the feature `otel-sdk`, `Exports` counts exported and lost spans.

mod context;
#[cfg(feature = "otel-sdk")]
mod exports;
mod live;
#[cfg(feature = "otel-tracing")]
mod logged;
mod names;
mod sampling;
mod stats;
mod telemetry;

pub use context::context;
#[cfg(feature = "otel-sdk")]
pub use exports::Exports;
#[cfg(feature = "otel-tracing")]
pub use logged::Logged;
pub use stats::observe_stats;
pub use telemetry::Telemetry;

//! Traces and metrics of [frpc](https://docs.rs/frpc-rs) calls for OpenTelemetry.
//!
//! [`Telemetry`] is an observer for servers and channels. It makes spans of calls, which hang together from the first
//! client to the last server: their trace contexts travel with the calls, and handlers pass them on. It needs the
//! API of OpenTelemetry alone; which SDK and exporter a program has is its own choice.
//!
//! Sampling is decided first. A call that is not recorded costs some dozen instructions, and nothing
//! is created for it.
//!
//! [`context`] is for handlers that make spans of their own. With the feature `otel-tracing`, `Logged` is a middleware
//! that gives the lines of their logs the ids of trace and span. `observe_stats` shows the connections of a server as
//! metrics. With the feature `otel-sdk`, `Exports` counts the spans that a collector has not got.

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

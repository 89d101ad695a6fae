//! Telemetry of [frpc](https://docs.rs/frpc-rs) calls: [`Counters`] with a page for Prometheus, and by feature `metrics` for
//! the facade of that name, `otel` for OpenTelemetry.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(test)]
extern crate self as frpc_telemetry;

mod counters;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "otel")]
pub mod otel;

pub use counters::{Calls, Counters, FigureKind, Histogram, Metric, Retried, Snapshot, TopicFigures};

#[cfg(test)]
mod tests;

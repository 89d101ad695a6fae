//! Telemetry of [frpc](https://docs.rs/frpc-rs) calls.
//!
//! [`Counters`] counts calls and exports the counts in the Prometheus text format. The feature `metrics` also records
//! them through the crate `metrics`, and the feature `otel` exports traces and metrics to OpenTelemetry.
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

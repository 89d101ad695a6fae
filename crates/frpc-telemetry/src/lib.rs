//! Telemetry of [frpc](https://docs.rs/frpc-rs) calls: [`Counters`] in Prometheus's format; with the feature `metrics`
//! also through the facade `metrics`, and with the feature `otel` traces and metrics for OpenTelemetry.
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

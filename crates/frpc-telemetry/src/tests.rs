//! Tests of the metrics and spans of calls, as exporters receive them.

#[cfg(feature = "metrics")]
mod figures;
#[cfg(feature = "otel")]
mod traces;

//! Telemetry of [frpc](https://docs.rs/frpc-rs) calls, by feature: `metrics` for the facade of that name, `otel` for
//! OpenTelemetry.

#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "otel")]
pub mod otel;

//! Figures and spans of calls, as exporters get them.

#[cfg(feature = "metrics")]
mod figures;
#[cfg(feature = "otel")]
mod traces;

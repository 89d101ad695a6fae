//! Tests of the generated code, the layouts and the errors of frpc-build.

mod errors;
mod fingerprints;
mod generated;
mod golden;
mod hostile;
mod numbering;
mod reflection;
mod remarks;
mod support;

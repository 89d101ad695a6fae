//! The generated code, the lock and the errors of frpc-build.

mod errors;
mod fingerprints;
mod generated;
mod golden;
mod hostile;
mod lock;
mod lock_files;
mod numbering;
mod reflection;
mod remarks;
mod support;

//! Where the work of connections runs: handlers in place, tasks of connections, and the threads that drive connections.
//!
//! Knows neither connections nor routers.

pub(crate) mod inline;
pub(crate) mod inline_permission;
pub(crate) mod tasks;
pub(crate) mod workers;

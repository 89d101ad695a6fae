//! Execution of work: inline polling of handlers, tasks of connections, and the threads that drive connections. This
//! module does not depend on connections or routers.

pub(crate) mod inline;
pub(crate) mod inline_permission;
pub(crate) mod tasks;
pub(crate) mod workers;

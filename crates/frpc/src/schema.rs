//! Descriptors of services, as provided by generated code.

pub(crate) mod description;
pub(crate) mod embedded;
pub(crate) mod layout;
pub(crate) mod method;

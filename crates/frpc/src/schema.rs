//! What generated code says of its services.

pub(crate) mod embedded;
pub(crate) mod layout;
pub(crate) mod method;

//! Properties of services, as stated by generated code.

pub(crate) mod embedded;
pub(crate) mod layout;
pub(crate) mod method;

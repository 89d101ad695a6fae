//! What generated code uses; nothing here is meant to be written by hand.

pub use crate::protobuf::{decode_protobuf, encode_protobuf};
pub use crate::service::{Methods, MethodsBuilder, Service, Shared};
use frisbee::Operation;
use std::fmt;

/// A method as both ends know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Method {
    pub(crate) service: &'static str,
    pub(crate) name: &'static str,
    pub(crate) operation: Operation,
    pub(crate) idempotent: bool,
}

impl Method {
    /// The method `name` of `service`, which has its package in front, under the given operation.
    ///
    /// # Panics
    /// If the operation is below 10, which the protocol reserves.
    pub const fn new(service: &'static str, name: &'static str, operation: u16) -> Self {
        let Some(operation) = Operation::user(operation) else {
            panic!("methods are numbered from 10 on");
        };
        Self { service, name, operation, idempotent: false }
    }

    /// The same method, which may be run more than once without harm.
    pub const fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.service, self.name)
    }
}

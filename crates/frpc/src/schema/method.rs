//! A method of a service, and its name.

use crate::schema::layout::Layout;
use frisbee::Operation;
use std::fmt;

/// A method, for both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Method {
    pub(crate) layout: &'static Layout,
    pub(crate) name: &'static str,
    pub(crate) operation: Operation,
    pub(crate) idempotent: bool,
    pub(crate) without_side_effects: bool,
    pub(crate) is_tool: bool,
    /// The number of fields that were appended to the request and to the reply since the first compatible layout.
    pub(crate) added: (u32, u32),
}

impl Method {
    /// Creates the method `name` of the service with this layout and this operation.
    ///
    /// # Panics
    /// If the operation is below 10, which the protocol reserves.
    pub const fn new(layout: &'static Layout, name: &'static str, operation: u16) -> Self {
        let Some(operation) = Operation::user(operation) else {
            panic!("operations of methods must be 10 or above");
        };
        Self { layout, name, operation, idempotent: false, without_side_effects: false, is_tool: false, added: (0, 0) }
    }

    /// Marks the method as idempotent: it may run more than once without harm.
    pub const fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Marks the method as one that changes nothing, and therefore is idempotent.
    pub const fn without_side_effects(mut self) -> Self {
        self.without_side_effects = true;
        self.idempotent()
    }

    /// Marks the method as one that the schema offers to agents as a tool.
    pub const fn tool(mut self) -> Self {
        self.is_tool = true;
        self
    }

    /// How many fields at the end of the request and of the reply peers with earlier layouts may leave out.
    pub const fn added(&self) -> (u32, u32) {
        self.added
    }

    /// States how many fields at the end of the request and of the reply peers with earlier layouts may leave out.
    pub const fn with_added(mut self, request: u32, reply: u32) -> Self {
        self.added = (request, reply);
        self
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.layout.service(), self.name)
    }
}

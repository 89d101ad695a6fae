//! Descriptors of methods.

use crate::schema::layout::Layout;
use frisbee::Operation;
use std::fmt;

/// Descriptor of a method, used by clients and servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Method {
    pub(crate) layout: &'static Layout,
    pub(crate) name: &'static str,
    pub(crate) operation: Operation,
    pub(crate) idempotent: bool,
    pub(crate) without_side_effects: bool,
    pub(crate) is_tool: bool,
}

impl Method {
    /// Creates the descriptor of a method from the layout of its service, its name and its operation number.
    ///
    /// # Panics
    /// If the operation is below 10. Such operations are reserved for the protocol.
    pub const fn new(layout: &'static Layout, name: &'static str, operation: u16) -> Self {
        let Some(operation) = Operation::user(operation) else {
            panic!("operation number of a method must be at least 10");
        };
        Self { layout, name, operation, idempotent: false, without_side_effects: false, is_tool: false }
    }

    /// Declares the method as idempotent: repeating a call has no additional effect, so clients may retry it.
    pub const fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Declares the method as free of side effects, which implies that it is idempotent.
    pub const fn without_side_effects(mut self) -> Self {
        self.without_side_effects = true;
        self.idempotent()
    }

    /// Declares the method as a tool that AI agents may call.
    pub const fn tool(mut self) -> Self {
        self.is_tool = true;
        self
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.layout.service(), self.name)
    }
}

//! Wire layouts of services: their operations, and the descriptions of their messages.

use polyglot::layout::{Description, Fingerprint};
use std::fmt;

/// Wire layout of a service: its operation numbers and the structure of its messages. Created by generated code.
#[derive(PartialEq, Eq, Debug)]
pub struct Layout {
    pub(crate) service: &'static str,
    /// Operation numbers of all methods, in ascending order.
    pub(crate) operations: &'static [u16],
    pub(crate) fingerprint: Fingerprint,
    /// Encoded [`Description`](polyglot::layout::Description) of the messages, or empty if there is none.
    pub(crate) description: &'static [u8],
    /// Names of the types and fields in the description.
    pub(crate) names: &'static str,
}

impl Layout {
    /// Creates the layout of the service with this full name.
    ///
    /// `operations` contains the operations of its methods in ascending order, `fingerprint` is that of the encoded
    /// [`Description`](polyglot::layout::Description), and `names` are the [names](polyglot::layout::Described::names)
    /// of its types and fields. If the description is empty, peers with another layout are rejected.
    pub const fn new(
        service: &'static str,
        operations: &'static [u16],
        fingerprint: u128,
        description: &'static [u8],
        names: &'static str,
    ) -> Self {
        let fingerprint = Fingerprint::new(fingerprint.to_be_bytes());
        Self { service, operations, fingerprint, description, names }
    }

    /// Creates a layout that is never freed, for programs that read schemas at run time. The operation numbers may be
    /// in any order. The fingerprint is computed from `description`.
    ///
    /// # Errors
    /// If the description is malformed or has a different number of methods. An empty description is not checked.
    pub fn leak(
        service: &str,
        mut operations: Vec<u16>,
        description: &[u8],
        names: &str,
    ) -> Result<&'static Self, String> {
        if !description.is_empty() {
            let refused = |reason: &str| format!("invalid layout of service {service}: {reason}");
            let described = Description::parse(description).map_err(|error| refused(&error.to_string()))?;
            let (methods, given) = (described.methods.len(), operations.len());
            if methods != given {
                return Err(refused(&format!("{given} operations for {methods} methods")));
            }
        }
        operations.sort_unstable();
        Ok(Box::leak(Box::new(Self {
            service: service.to_owned().leak(),
            operations: operations.leak(),
            fingerprint: Fingerprint::of(description),
            description: description.to_vec().leak(),
            names: names.to_owned().leak(),
        })))
    }

    /// Returns the full name of the service.
    pub const fn service(&self) -> &'static str {
        self.service
    }

    /// Returns the operation numbers of all methods in ascending order.
    pub const fn operations(&self) -> &'static [u16] {
        self.operations
    }

    /// Returns the fingerprint of the layout's description.
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the encoded [`Description`](polyglot::layout::Description), or an empty slice if there is none.
    pub const fn description(&self) -> &'static [u8] {
        self.description
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.service, self.fingerprint)
    }
}

/// A generated client, which provides the layout of its service.
pub trait Client {
    /// Wire layout of the service that the client calls.
    const LAYOUT: &'static Layout;
}

#[cfg(test)]
mod tests {
    use super::*;
    use polyglot::layout::{Method, TypeLayout};

    /// Regression test: a server that offered only some methods of a service announced only the operation numbers of
    /// these methods. The peer then assigned the numbers to other methods.
    #[test]
    fn described_method_without_operation_is_rejected() {
        let method = |name: &str| Method {
            name: name.to_owned(),
            client_streams: false,
            server_streams: false,
            request: 0,
            reply: 0,
        };
        let methods = vec![method("X"), method("Y")];
        let described = Description { name: "a.B".to_owned(), types: vec![TypeLayout::Message(Vec::new())], methods };
        let layout = |operations| Layout::leak("a.B", operations, &described.encode(), "");
        assert_eq!(layout(vec![12, 11]).unwrap().operations(), [11, 12]);
        assert_eq!(layout(vec![11]).unwrap_err(), "invalid layout of service a.B: 1 operations for 2 methods");
    }
}

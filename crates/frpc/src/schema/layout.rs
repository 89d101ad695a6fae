//! The wire layout of a service: its operations, and the description of its messages.

use polyglot::layout::Fingerprint;
use std::fmt;

/// The wire layout of a service. For generated code.
#[derive(PartialEq, Eq, Debug)]
pub struct Layout {
    pub(crate) service: &'static str,
    /// In ascending order.
    pub(crate) operations: &'static [u16],
    pub(crate) fingerprint: Fingerprint,
    /// The encoded [`Description`](polyglot::layout::Description). Empty if there is none.
    pub(crate) description: &'static [u8],
    /// The names of the description's types and fields.
    pub(crate) names: &'static str,
}

impl Layout {
    /// Creates the layout of a `service` by its full name.
    ///
    /// Takes the operations of its methods in ascending order, the fingerprint of the encoded
    /// [`Description`](polyglot::layout::Description), that encoding, and the
    /// [`names`](polyglot::layout::Described::names) of its types and fields. Without a description, peers with another
    /// layout are refused.
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

    /// Creates a layout that lives as long as the process, for programs that read schemas at run time. Takes operations
    /// in any order. The fingerprint is that of the `description`.
    #[must_use]
    pub fn leak(service: &str, mut operations: Vec<u16>, description: &[u8], names: &str) -> &'static Self {
        operations.sort_unstable();
        Box::leak(Box::new(Self {
            service: service.to_owned().leak(),
            operations: operations.leak(),
            fingerprint: Fingerprint::of(description),
            description: description.to_vec().leak(),
            names: names.to_owned().leak(),
        }))
    }

    /// Returns the full name of the service.
    pub const fn service(&self) -> &'static str {
        self.service
    }

    /// Returns the fingerprint of the description.
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the encoded [`Description`](polyglot::layout::Description), which is empty if there is none.
    pub const fn description(&self) -> &'static [u8] {
        self.description
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.service, self.fingerprint)
    }
}

/// A generated client.
pub trait Client {
    /// The layout of its service.
    const LAYOUT: &'static Layout;
}

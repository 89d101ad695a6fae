//! The wire layout of a service: its operations, and a fingerprint of the types of its messages.

use std::fmt;

/// The most earlier layouts of a service that are sent and read: as many as its lock keeps.
pub(crate) const COMPATIBLE_MAX: usize = 32;

/// The wire layout of a service. For generated code.
#[derive(PartialEq, Eq, Debug)]
pub struct Layout {
    pub(crate) service: &'static str,
    /// In ascending order.
    pub(crate) operations: &'static [u16],
    pub(crate) fingerprint: u64,
    /// The fingerprints of earlier layouts that are compatible.
    pub(crate) compatible: &'static [u64],
}

impl Layout {
    /// Creates the layout of a `service` by its full name: the operations of its methods in ascending order, its
    /// fingerprint, and those of compatible earlier layouts.
    ///
    /// # Panics
    /// If there are more than 32 earlier layouts.
    pub const fn new(
        service: &'static str,
        operations: &'static [u16],
        fingerprint: u64,
        compatible: &'static [u64],
    ) -> Self {
        assert!(compatible.len() <= COMPATIBLE_MAX, "at most 32 earlier layouts are sent");
        Self { service, operations, fingerprint, compatible }
    }

    /// The full name of the service.
    pub const fn service(&self) -> &'static str {
        self.service
    }

    /// Whether a method of the service has this operation.
    pub(crate) fn has(&self, operation: u16) -> bool {
        self.operations.binary_search(&operation).is_ok()
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:016x}", self.service, self.fingerprint)
    }
}

/// A generated client.
pub trait Client {
    /// The layout of its service.
    const LAYOUT: &'static Layout;
}

//! The wire layout of a service: its operations, and a fingerprint of its message types.

use std::fmt;

/// Maximum number of earlier layouts of a service that are sent and read, equal to the number kept by its lock.
pub(crate) const COMPATIBLE_MAX: usize = 32;

/// The wire layout of a service. For generated code.
#[derive(PartialEq, Eq, Debug)]
pub struct Layout {
    pub(crate) service: &'static str,
    /// The operations in ascending order.
    pub(crate) operations: &'static [u16],
    pub(crate) fingerprint: u64,
    /// The fingerprints of compatible earlier layouts.
    pub(crate) compatible: &'static [u64],
}

impl Layout {
    /// Creates the layout of the service with this full name. `operations` are in ascending order, and `compatible` are
    /// the fingerprints of compatible earlier layouts.
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

    /// Returns the full name of the service.
    pub const fn service(&self) -> &'static str {
        self.service
    }

    /// Returns whether a method of the service has this operation.
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
    /// The layout of the client's service.
    const LAYOUT: &'static Layout;
}

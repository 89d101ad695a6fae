//! The terms of a call.

use crate::api::metadata::Metadata;
use std::time::Duration;

/// The terms of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) timeout: Option<Duration>,
    /// Whether an extended server gets the timeout.
    pub(crate) told: bool,
    /// Whether to refuse a message that would lose fields on the wire of a plain peer.
    pub(crate) strict: bool,
}

/// Metadata, if there is any.
pub(crate) fn present(metadata: Option<&Metadata>) -> Option<&Metadata> {
    metadata.filter(|metadata| !metadata.is_empty())
}

//! On what terms a call is made.

use crate::api::metadata::Metadata;
use std::time::Duration;

/// On what terms a call is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) timeout: Option<Duration>,
    /// Whether a server of ours is told of the timeout.
    pub(crate) told: bool,
    /// Whether a message that a Go peer cannot be sent without loss is refused.
    pub(crate) strict: bool,
}

/// Metadata, if there is any.
pub(crate) fn present(metadata: Option<&Metadata>) -> Option<&Metadata> {
    metadata.filter(|metadata| !metadata.is_empty())
}

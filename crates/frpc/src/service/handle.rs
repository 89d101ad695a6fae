//! A reference to a service, counted for each connection.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A handler's reference to its service. Each connection counts its references separately, since a single count would
/// travel between cores at every call.
#[allow(clippy::redundant_allocation)] // The outer count is the point.
pub struct ServiceHandle<S>(Arc<Arc<S>>);

impl<S> ServiceHandle<S> {
    pub(crate) fn of_connection(service: &Arc<S>) -> Self {
        Self(Arc::new(service.clone()))
    }
}

impl<S> Clone for ServiceHandle<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> Deref for ServiceHandle<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S> fmt::Debug for ServiceHandle<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceHandle").finish_non_exhaustive()
    }
}

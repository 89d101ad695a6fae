//! A reference to a service, which each connection counts for itself.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// What handlers get of their service: a reference that a connection counts for itself, since one counted by all of
/// them would travel between cores at every call.
#[allow(clippy::redundant_allocation)] // The outer count is the point.
pub struct ServiceHandle<S>(Arc<Arc<S>>);

impl<S> ServiceHandle<S> {
    pub(crate) fn of_connection(service: &Arc<S>) -> Self {
        Self(Arc::new(service.clone()))
    }
}

impl<S> Clone for ServiceHandle<S> {
    #[inline]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> Deref for ServiceHandle<S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S> fmt::Debug for ServiceHandle<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceHandle").finish_non_exhaustive()
    }
}

//! References to a service, with a separate reference count for each connection.

use crate::debug::opaque_debug;
use std::ops::Deref;
use std::sync::Arc;

/// Reference of a handler to its service. Each connection has its own reference count, because all cores would contend
/// for a shared one.
#[allow(clippy::redundant_allocation)] // The outer count keeps each connection from contending for the inner one.
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

opaque_debug!([S] ServiceHandle<S>, "ServiceHandle");

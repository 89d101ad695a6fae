//! [`ReadySlot`]: holds the next item of a stream until a task takes it. If a task is cancelled after an item has
//! arrived, the next task takes it.

use crate::client::{Started, start};
use crate::inbox::Inbox;
use crate::lanes::Site;
use crate::reply::Reply;
use parking_lot::Mutex;
use pyo3::prelude::*;
use std::sync::Arc;

/// A stream together with its next item, once it has arrived.
pub(crate) struct ReadySlot<S, T> {
    stream: Arc<tokio::sync::Mutex<S>>,
    /// The next item, which is only stored while the stream is locked.
    ready: Arc<Mutex<Option<T>>>,
}

/// A stream that allows its next item to be awaited.
pub(crate) trait NextItem<T>: Send + 'static {
    /// Waits for the next item. Cancel safe: if the future is dropped, no item is lost.
    fn next_item(&mut self) -> impl Future<Output = T> + Send;
}

impl<S, T> Clone for ReadySlot<S, T> {
    fn clone(&self) -> Self {
        Self { stream: self.stream.clone(), ready: self.ready.clone() }
    }
}

impl<S: NextItem<T>, T: Send + 'static> ReadySlot<S, T> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream: Arc::new(tokio::sync::Mutex::new(stream)), ready: Arc::default() }
    }

    /// Returns the stream. The caller must lock it to read from it.
    pub(crate) fn stream(&self) -> &Arc<tokio::sync::Mutex<S>> {
        &self.stream
    }

    /// Waits until the next item of the stream has arrived.
    pub(crate) async fn fill(self) {
        let mut stream = self.stream.lock().await;
        // Check again under the lock, because another reader may have stored an item in the meantime.
        if self.ready.lock().is_none() {
            let item = stream.next_item().await;
            *self.ready.lock() = Some(item);
        }
    }

    /// Takes the item that has arrived, or returns `None` if another task has taken it.
    pub(crate) fn take(&self) -> Option<T> {
        self.ready.lock().take()
    }

    /// Starts [`fill`](Self::fill) and completes a [`Reply`] when an item has arrived.
    pub(crate) fn start(&self, py: Python<'_>, site: &Site, inbox: &Inbox, future: Py<Reply>) -> PyResult<Started> {
        start(py, site, inbox, future, self.clone().fill(), |py, ()| Ok(py.None().into_bound(py)))
    }
}

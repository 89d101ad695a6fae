//! Request bodies read by hyper.

use crate::http::exchange::Exchange;
use bytes::Bytes;
use frpc::Status;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker, ready};

/// A request body that reports to its exchange when it is read.
pub(crate) struct Inbound {
    body: Incoming,
    is_over: Arc<AtomicBool>,
    exchange: Exchange,
}

/// Rejects request trailers, because metadata must be complete before the call starts. Dropping them silently would
/// lose the caller's fields.
pub(crate) fn refuse_trailers(frame: &Frame<Bytes>) -> Result<(), Status> {
    match frame.trailers_ref().and_then(|trailers| trailers.keys().next()) {
        Some(name) => {
            let text = format!("a request cannot have trailers, such as {name}: send header fields");
            Err(Status::invalid_argument(text))
        }
        None => Ok(()),
    }
}

/// Reports whether a body has been read to its end.
pub(crate) struct IsOver(Arc<AtomicBool>);

impl IsOver {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Inbound {
    pub(crate) fn new(body: Incoming, exchange: &Exchange) -> (Self, IsOver) {
        let is_over = Arc::new(AtomicBool::new(body.is_end_stream()));
        exchange.begin_body();
        (Self { body, is_over: is_over.clone(), exchange: exchange.clone() }, IsOver(is_over))
    }
}

impl Drop for Inbound {
    fn drop(&mut self) {
        // Discard what has already arrived of the rest.
        let mut task = Context::from_waker(Waker::noop());
        while self.exchange.has_unread()
            && let Poll::Ready(Some(Ok(_))) = Pin::new(&mut *self).poll_frame(&mut task)
        {}
        self.exchange.end_body();
    }
}

impl Body for Inbound {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(task));
        if frame.is_none() || self.body.is_end_stream() {
            self.is_over.store(true, Ordering::Relaxed);
        }
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.exchange.handle_read(data.len());
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

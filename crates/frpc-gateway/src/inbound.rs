//! Request bodies of both HTTP versions.

use crate::http::http2::RequestBody;
use bytes::Bytes;
use frpc::Status;
use http_body::{Body as _, Frame};
use hyper::body::Incoming;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

/// A request body that is received by hyper (HTTP/1.1) or by the gateway's own HTTP/2 driver.
pub(crate) enum Inbound {
    /// A body that is received by hyper, with a flag that is set once it has been read completely.
    Http1(Incoming, Arc<AtomicBool>),
    Http2(RequestBody),
}

/// Reason why a request body is incomplete.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// The client ended the request body early.
    Early(hyper::Error),
    /// The server rejected the request body.
    Refused(Status),
}

impl BodyError {
    pub(crate) fn into_status(self) -> Status {
        match self {
            Self::Early(error) => Status::cancelled(format!("the request ended early: {error}")),
            Self::Refused(status) => status,
        }
    }
}

/// Rejects request trailers. Metadata must be complete before the call starts, and dropping trailers silently would
/// lose fields of the caller.
pub(crate) fn refuse_trailers(frame: &Frame<Bytes>) -> Result<(), Status> {
    match frame.trailers_ref().and_then(|trailers| trailers.keys().next()) {
        Some(name) => {
            let text = format!("a request cannot have trailers, such as {name}: send header fields");
            Err(Status::invalid_argument(text))
        }
        None => Ok(()),
    }
}

impl Inbound {
    /// Wraps the body of an HTTP/1 request. Also returns a flag that is set when the body has been read to its end.
    pub(crate) fn http1(body: Incoming) -> (Self, Arc<AtomicBool>) {
        let is_over = Arc::new(AtomicBool::new(body.is_end_stream()));
        (Self::Http1(body, is_over.clone()), is_over)
    }

    /// Returns the declared length of the body in bytes, or 0 if it is unknown.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Http1(body, _) => body.size_hint().lower(),
            Self::Http2(body) => body.length(),
        }
    }

    pub(crate) fn poll_frame(&mut self, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match self {
            Self::Http1(body, is_over) => {
                let frame = ready!(Pin::new(&mut *body).poll_frame(task));
                if frame.is_none() || body.is_end_stream() {
                    is_over.store(true, Ordering::Relaxed);
                }
                Poll::Ready(frame.map(|frame| frame.map_err(BodyError::Early)))
            }
            Self::Http2(body) => {
                body.poll_frame(task).map(|frame| frame.map(|frame| frame.map_err(BodyError::Refused)))
            }
        }
    }
}

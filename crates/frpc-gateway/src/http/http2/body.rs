//! Request bodies, shared between the driver of a connection and readers in other tasks.

use super::StreamEvent;
use crate::charge::GrowingBody;
use crate::mailbox::Mailbox;
use bytes::Bytes;
use frisbee::rpc::wake_all;
use frisbee_http2::StreamKey;
use frpc::{AdapterContext, Status};
use http::HeaderMap;
use http_body::Frame;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// State shared by a stream and its tasks: the stream's waker and the request body.
pub(super) struct StreamLink {
    mailbox: Arc<Mailbox<StreamEvent>>,
    key: StreamKey,
    /// Whether a wake-up of the stream was sent to the driver and has not been handled yet.
    is_posted: AtomicBool,
    body: Mutex<Body>,
}

#[derive(Default)]
struct Body {
    arrived: GrowingBody,
    length: u64,
    end: Option<BodyEnd>,
    /// Number of bytes that the reader has consumed since the last poll, and whose flow-control credit has not been
    /// returned yet.
    consumed: usize,
    /// Number of bytes at the start of the body whose flow-control credit has already been returned.
    credited: usize,
    reader: Option<Waker>,
    /// Whether the client sends the body only after an interim response (RFC 9110, section 10.1.1). Cleared when the
    /// response is sent or a part of the body arrives.
    expects_continue: bool,
    /// Whether the reader was dropped. Further parts of the body are then discarded.
    is_abandoned: bool,
}

/// Outcome of receiving a request body.
pub(super) enum BodyEnd {
    Whole,
    Trailers(HeaderMap),
    /// The body was rejected because it exceeds the memory limit.
    Refused(Status),
}

/// Reader of a request body, polled by the task of the handler.
pub(crate) struct RequestBody(Arc<StreamLink>);

impl StreamLink {
    /// Creates a stream and the reader of its request body. `arrived` is the part received so far. Its flow-control
    /// credit was already returned. `length` is the declared length, or 0 if unknown.
    pub(super) fn new(
        mailbox: &Arc<Mailbox<StreamEvent>>,
        key: StreamKey,
        arrived: GrowingBody,
        length: u64,
    ) -> (Arc<Self>, RequestBody) {
        let credited = arrived.bytes.len();
        let body = Body { arrived, length, credited, ..Body::default() };
        let is_posted = AtomicBool::new(false);
        let link = Arc::new(Self { mailbox: mailbox.clone(), key, is_posted, body: Mutex::new(body) });
        (link.clone(), RequestBody(link))
    }

    /// Records that the client waits for an interim response before it sends the body.
    pub(super) fn expect_continue(&self) {
        self.body.lock().expects_continue = true;
    }

    /// Begins a poll of the stream, so that later wake-ups are sent to the driver again. Returns the number of bytes
    /// consumed since the last poll, and whether the reader waits for a body that the client sends only after an
    /// interim response.
    pub(super) fn begin_poll(&self) -> (usize, bool) {
        // Clear the flag before taking the data, so that a wake-up in between is posted again rather than lost.
        self.is_posted.store(false, Ordering::Release);
        let mut body = self.body.lock();
        let is_awaited = body.expects_continue && body.reader.is_some();
        body.expects_continue &= !is_awaited;
        (std::mem::take(&mut body.consumed), is_awaited)
    }

    /// Appends a part of the body, and ends the body if `end` is set. The body fails if the part exceeds the memory
    /// limit.
    pub(super) fn push(&self, context: &AdapterContext, part: &[u8], end: Option<BodyEnd>) {
        let mut body = self.body.lock();
        // Discard data after the end or of an abandoned body, because nothing will read it.
        if body.end.is_none() && !body.is_abandoned {
            body.end = match body.arrived.extend(context, part, 0) {
                Ok(()) => end,
                Err(status) => {
                    body.arrived.clear();
                    Some(BodyEnd::Refused(status))
                }
            };
        }
        body.expects_continue = false;
        let reader = body.reader.take();
        // Release the lock before waking, because the woken task locks the body.
        drop(body);
        wake_all(reader);
    }
}

impl Wake for StreamLink {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Post one event until the driver begins the next poll; further wake-ups would only grow the mailbox.
        if !self.is_posted.swap(true, Ordering::AcqRel) {
            self.mailbox.send(StreamEvent::Wake(self.key));
        }
    }
}

impl RequestBody {
    pub(crate) fn length(&self) -> u64 {
        self.0.body.lock().length
    }

    pub(crate) fn poll_frame(&mut self, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let mut body = self.0.body.lock();
        if !body.arrived.bytes.is_empty() {
            let part = std::mem::take(&mut body.arrived).freeze();
            let has_ended = body.end.is_some();
            // Skip the bytes received before the body existed: their window was returned on arrival, and returning it
            // twice would widen the client's window.
            body.consumed += part.len() - std::mem::take(&mut body.credited);
            drop(body);
            // Wake the driver to return flow-control credit unless the body has ended, because the client then needs no
            // more.
            if !has_ended {
                self.0.wake_by_ref();
            }
            return Poll::Ready(Some(Ok(Frame::data(part))));
        }
        // Replace trailers and errors with `Whole`, so that they are returned once and the next poll reports the end.
        match body.end.replace(BodyEnd::Whole) {
            None => {
                body.end = None;
                let replaced = body.reader.replace(task.waker().clone());
                let expects_continue = body.expects_continue;
                drop(body);
                drop(replaced); // Without the lock, because this may be the last reference to the task of this body.
                if expects_continue {
                    // Wake the driver, which sends the interim response.
                    self.0.wake_by_ref();
                }
                Poll::Pending
            }
            Some(BodyEnd::Whole) => Poll::Ready(None),
            Some(BodyEnd::Trailers(trailers)) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
            Some(BodyEnd::Refused(status)) => Poll::Ready(Some(Err(status))),
        }
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let mut body = self.0.body.lock();
        // The driver returns no further window for an abandoned body, so the client stops sending.
        body.is_abandoned = true;
        body.arrived.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisbee_core::ClientConfig;
    use frisbee_http2::{Connection, Head};
    use std::sync::mpsc;
    use std::time::Instant;

    /// A waker that sends, when dropped, whether the body is locked.
    struct LastReference(Arc<StreamLink>, mpsc::Sender<bool>);

    impl Wake for LastReference {
        fn wake(self: Arc<Self>) {}
    }

    impl Drop for LastReference {
        fn drop(&mut self) {
            self.1.send(self.0.body.is_locked()).expect("receiver should not be dropped");
        }
    }

    /// Regression test: a replaced waker was dropped under the lock that its task acquires when it drops the body.
    #[test]
    fn replaced_waker_is_dropped_unlocked() {
        let mut http2 = Connection::client(&ClientConfig::default(), Instant::now());
        let key = http2.open(&Head::response(200), false).expect("stream should be opened");
        let (link, mut body) = StreamLink::new(&Arc::default(), key, GrowingBody::default(), 0);
        let (dropped, receiver) = mpsc::channel();
        for _ in 0..2 {
            let waker = Arc::new(LastReference(link.clone(), dropped.clone())).into();
            assert!(body.poll_frame(&mut Context::from_waker(&waker)).is_pending());
        }
        assert_eq!(receiver.try_recv(), Ok(false));
    }
}

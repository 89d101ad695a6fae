//! Request and reply streams of a forwarded call.

use super::message::{MessageType, RawMessage};
use frpc::{Status, Streaming};
use futures_core::Stream;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::oneshot;

/// Stream of a call's request messages, converted for the backend.
///
/// The backend must not mistake an invalid message for the end of the stream. After a failed conversion, the stream
/// therefore stays pending, and [`Failure`] cancels the call.
///
pub(super) struct Requests<F> {
    requests: Streaming<RawMessage>,
    of: Arc<MessageType>,
    convert: F,
    failed: Option<oneshot::Sender<Status>>,
}

/// Future that completes with an error if a request message could not be converted. Pending forever if all messages are
/// valid.
pub(super) struct Failure(Option<oneshot::Receiver<Status>>);

/// No field is structurally pinned, so the stream can be moved after it was polled.
impl<F> Unpin for Requests<F> {}

impl<F> Requests<F> {
    pub(super) fn new(requests: Streaming<RawMessage>, of: &Arc<MessageType>, convert: F) -> (Self, Failure) {
        let (failed, failure) = oneshot::channel();
        (Self { requests, of: of.clone(), convert, failed: Some(failed) }, Failure(Some(failure)))
    }
}

impl<M, F: FnMut(RawMessage, &MessageType) -> Result<M, Status>> Stream for Requests<F> {
    type Item = M;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<M>> {
        let Self { requests, of, convert, failed } = &mut *self;
        if failed.is_none() {
            return Poll::Pending;
        }
        let next = ready!(Pin::new(requests).poll_next(context));
        match next.map(|next| next.and_then(|request| convert(request, of))) {
            Some(Ok(request)) => Poll::Ready(Some(request)),
            Some(Err(status)) => {
                if let Some(failed) = failed.take() {
                    // Ignore the error: if the call has ended, the failure is not needed.
                    let _ = failed.send(status);
                }
                Poll::Pending
            }
            None => Poll::Ready(None),
        }
    }
}

impl Failure {
    /// Resolves if a request message could not be converted.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Status> {
        let Some(receiver) = &mut self.0 else { return Poll::Pending };
        let failed = ready!(Pin::new(receiver).poll(context));
        self.0 = None;
        // The request stream may have ended without a failure. Stay pending then.
        failed.map_or(Poll::Pending, Poll::Ready)
    }

    /// Awaits `part`. If the conversion of a request message fails first, drops `part` and returns the error.
    pub(super) async fn unless<T>(&mut self, part: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
        let mut part = pin!(part);
        std::future::poll_fn(|context| match self.poll(context) {
            Poll::Ready(status) => Poll::Ready(Err(status)),
            Poll::Pending => part.as_mut().poll(context),
        })
        .await
    }
}

/// Stream of the replies of a call. Ends with an error if a request message could not be converted.
pub(super) struct ForwardedReplies<S> {
    pub(super) replies: S,
    /// Error of the request stream. `None` for calls without a request stream.
    pub(super) failure: Option<Failure>,
}

impl<S: Stream<Item = Result<RawMessage, Status>> + Unpin> Stream for ForwardedReplies<S> {
    type Item = Result<RawMessage, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(failure) = &mut self.failure
            && let Poll::Ready(status) = failure.poll(context)
        {
            self.failure = None;
            return Poll::Ready(Some(Err(status)));
        }
        Pin::new(&mut self.replies).poll_next(context)
    }
}

/// No field is structurally pinned, so the stream can be moved after it was polled.
impl<S> Unpin for ForwardedReplies<S> {}

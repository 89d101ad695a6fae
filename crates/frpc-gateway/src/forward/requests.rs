//! Request stream of a forwarded call.

use super::message::{BackendEncoding, MessageType, RawMessage};
use frpc::{Status, Streaming};
use frpc_dynamic::Body;
use futures_core::Stream;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::oneshot;

/// Stream of a call's request messages, converted for the backend.
///
/// After a failed conversion, the stream stays pending and [`Failure`] cancels the call. If the stream ended instead,
/// the backend would consider the request complete.
pub(super) struct Requests {
    requests: Streaming<RawMessage>,
    of: Arc<MessageType>,
    encoding: BackendEncoding,
    failed: Option<oneshot::Sender<Status>>,
}

/// Future that completes with an error if a request message could not be converted. Pending forever if all messages are
/// valid, or if the call has no request stream.
#[derive(Default)]
pub(super) struct Failure(Option<oneshot::Receiver<Status>>);

impl Requests {
    pub(super) fn new(
        requests: Streaming<RawMessage>,
        of: &Arc<MessageType>,
        encoding: BackendEncoding,
    ) -> (Self, Failure) {
        let (failed, failure) = oneshot::channel();
        (Self { requests, of: of.clone(), encoding, failed: Some(failed) }, Failure(Some(failure)))
    }
}

impl Stream for Requests {
    type Item = Body;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Body>> {
        let Self { requests, of, encoding, failed } = &mut *self;
        if failed.is_none() {
            return Poll::Pending;
        }
        let next = ready!(Pin::new(requests).poll_next(context));
        match next.map(|next| next.and_then(|request| request.into_body(of, *encoding))) {
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
    /// Completes with the error once the conversion of a request message fails. Stays pending otherwise.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Status> {
        let Some(receiver) = &mut self.0 else { return Poll::Pending };
        let failed = ready!(Pin::new(receiver).poll(context));
        self.0 = None;
        // Stay pending if the request stream has ended without a failure.
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

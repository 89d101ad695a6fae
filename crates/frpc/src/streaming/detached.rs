//! Streams with messages from a source other than a frisbee stream, such as another protocol or a test.

use super::{ReceiverEnd, Streaming};
use crate::wire::body::DecodeOptions;
use crate::{Code, Metadata, Status};
use futures_core::Stream;
use parking_lot::Mutex;
use polyglot::{Message, Nesting};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use tokio::time::Sleep;

/// Source of the messages of a stream that no connection carries.
pub(super) struct DetachedSource<M> {
    /// Remaining messages of the source. The mutex only makes the type `Sync` and is never locked.
    messages: Mutex<Messages<M>>,
    /// The metadata of the response, set when it has arrived. `None` if the source has no metadata.
    pub(super) headers: Option<Arc<OnceLock<Metadata>>>,
}

type Messages<M> = Pin<Box<dyn Stream<Item = Result<M, Status>> + Send>>;

impl<M: Message> Streaming<M> {
    /// Creates a stream from any stream of messages, for calling a handler without a connection.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), frpc::Status> {
    /// let mut words = frpc::Streaming::from_stream(frpc::iter(["one", "two"].map(|word| Ok(word.to_owned()))));
    /// assert_eq!(words.message().await?, Some("one".to_owned()));
    /// assert_eq!(words.message().await?, Some("two".to_owned()));
    /// assert_eq!(words.message().await?, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_stream(messages: impl Stream<Item = Result<M, Status>> + Send + 'static) -> Self {
        Self::detached(messages, None, None)
    }

    /// Creates a stream from any stream of messages. At a client, the source sets `headers` to the metadata of the
    /// response before the first message.
    pub(crate) fn detached(
        messages: impl Stream<Item = Result<M, Status>> + Send + 'static,
        headers: Option<Arc<OnceLock<Metadata>>>,
        deadline: Option<Pin<Box<Sleep>>>,
    ) -> Self {
        let reading = DecodeOptions::whole(Nesting::default());
        let mut stream = Self::new(None, ReceiverEnd::Server(Arc::default()), reading, deadline, None);
        stream.elsewhere = Some(DetachedSource { messages: Mutex::new(Box::pin(messages)), headers });
        stream
    }

    /// Returns the next message of the source. The stream ends after an error, or immediately if there is no source.
    pub(super) fn poll_detached(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<M, Status>>> {
        let Some(source) = &mut self.elsewhere else { return Poll::Ready(None) };
        let next = source.messages.get_mut().as_mut().poll_next(context);
        if !self.has_headers
            && let Some(metadata) = source.headers.as_ref().and_then(|headers| headers.get())
        {
            (self.metadata, self.has_headers) = (metadata.clone(), true);
        }
        match next {
            Poll::Ready(Some(Ok(message))) => {
                self.answered = true;
                Poll::Ready(Some(Ok(message)))
            }
            Poll::Ready(end) => {
                self.record_end(end.as_ref().and_then(|end| end.as_ref().err()).map_or(Code::Ok, Status::code));
                self.finish(true);
                self.elsewhere = None;
                Poll::Ready(end)
            }
            Poll::Pending => {
                let Some(deadline) = &mut self.deadline else { return Poll::Pending };
                ready!(deadline.as_mut().poll(context));
                self.fail_late()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ResponseStream;
    use std::time::Duration;

    /// Regression test: each read after the deadline failed again, even if the stream had ended before.
    #[tokio::test(start_paused = true)]
    async fn ended_stream_stays_ended_after_its_deadline() {
        let deadline = || Some(Box::pin(tokio::time::sleep(Duration::from_secs(1))));
        let (_sender, silent) = ResponseStream::<()>::channel(1);
        let mut ended = Streaming::<()>::detached(crate::iter([]), None, deadline());
        assert_eq!(ended.message().await, Ok(None));
        let mut late = Streaming::detached(silent, None, deadline());
        let status = late.message().await.expect_err("deadline should end the stream");
        assert_eq!(status.code(), Code::DeadlineExceeded);
        assert_eq!((late.message().await, ended.message().await), (Ok(None), Ok(None)));
    }
}

//! Streams whose messages come from a source other than a frisbee stream, such as another protocol or a test.

use super::{ReceiverEnd, Streaming};
use crate::Status;
use crate::wire::body::DecodeOptions;
use futures_core::Stream;
use parking_lot::Mutex;
use polyglot::{Message, Nesting};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Source of the messages of a stream that no connection carries. The mutex is never locked; it only makes the type
/// `Sync`.
pub(super) struct DetachedSource<M>(Mutex<Messages<M>>);

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
        let reading = DecodeOptions::whole(Nesting::default());
        let mut stream = Self::new(None, ReceiverEnd::Server(Arc::default()), reading, None);
        stream.elsewhere = Some(DetachedSource(Mutex::new(Box::pin(messages))));
        stream
    }

    /// Returns the next message of the source. The stream ends after an error, or immediately if there is no source.
    pub(super) fn poll_detached(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<M, Status>>> {
        let Some(DetachedSource(messages)) = &mut self.elsewhere else { return Poll::Ready(None) };
        let next = std::task::ready!(messages.get_mut().as_mut().poll_next(context));
        if !matches!(next, Some(Ok(_))) {
            self.elsewhere = None;
        }
        Poll::Ready(next)
    }
}

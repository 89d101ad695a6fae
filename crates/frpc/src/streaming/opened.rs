//! Waiting for a server to accept a streaming call.

use super::Streaming;
use crate::Status;
use polyglot::Message;
use std::future::poll_fn;
use std::task::{Context, Poll};

impl<M: Message> Streaming<M> {
    /// Waits at a client until the server accepts the call, or answers it with a message or the end of the stream. This
    /// is useful for subscriptions: if the handler subscribes to events before it returns, the stream contains all
    /// events that occur after this function has returned.
    ///
    /// A streaming call returns before the server has accepted it. A rejection is therefore reported by the first
    /// [`message`](Self::message). Use this function to handle a rejection earlier, or to read the
    /// [`metadata`](Self::metadata) before the messages. The first message, or a failure after the call was accepted,
    /// is kept for the next read. A native server accepts the call when its handler returns. A compat server (Go)
    /// accepts it with the first message.
    ///
    /// ```
    /// use samples::greeter::{GreeterClient, Name};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = GreeterClient::connect(samples::started::greeter().await?).await?;
    /// let names = [Name { name: "Ada".to_owned() }];
    /// let mut greetings = client.greet_all(frpc::iter(names)).await?.into_inner();
    /// greetings.opened().await?;
    /// assert!(greetings.message().await?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Like [`message`](Self::message). The stream has then ended.
    ///
    /// # Cancel safety
    /// Safe. Dropping the future loses no message.
    pub async fn opened(&mut self) -> Result<(), Status> {
        if self.answered {
            return Ok(());
        }
        poll_fn(|context| self.poll_opened(context)).await
    }

    fn poll_opened(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Status>> {
        let has_headers = self.elsewhere.as_ref().is_some_and(|source| source.headers.is_some());
        if self.receiver.is_none() && !has_headers {
            return Poll::Ready(Ok(()));
        }
        match self.poll_any(context) {
            Poll::Ready(Some(Err(failure))) if !self.has_headers => Poll::Ready(Err(failure)),
            // Keep a failure that follows HEADERS, because the server has accepted the call.
            Poll::Ready(Some(first)) => {
                // Disable the fast path for the next read, because only the general path returns this message.
                (*self.first.get_mut(), self.in_a_row) = (Some(first.map(Box::new)), 0);
                Poll::Ready(Ok(()))
            }
            Poll::Ready(None) => Poll::Ready(Ok(())),
            Poll::Pending if self.has_headers => Poll::Ready(Ok(())),
            Poll::Pending => Poll::Pending,
        }
    }
}

//! Waiting for the first answer to a streaming call, for callers that need to know whether the server accepted it.

use super::Streaming;
use crate::Status;
use polyglot::Message;
use std::future::poll_fn;
use std::task::{Context, Poll};

impl<M: Message> Streaming<M> {
    /// Waits at a client until the server has accepted the call, or has answered it with a message or the end of the
    /// stream. A handler that subscribes to events before it returns misses none that follow.
    ///
    /// A streaming call returns earlier, so a rejection arrives with the first [`message`](Self::message). This
    /// function is for callers that handle a rejection earlier, or that read the [`metadata`](Self::metadata) before
    /// the messages. The first message is kept for the next read, and so is a later failure. A native server accepts
    /// the call when its handler returns. A compat server (Go) answers with the first message.
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
        if self.receiver.is_none() {
            return Poll::Ready(Ok(()));
        }
        match self.poll_any(context) {
            Poll::Ready(Some(Err(failure))) if !self.has_headers => Poll::Ready(Err(failure)),
            // A failure after HEADERS is kept, because the server has accepted the call.
            Poll::Ready(Some(first)) => {
                // The next read takes the general path, which returns this message.
                (*self.first.get_mut(), self.in_a_row) = (Some(first.map(Box::new)), 0);
                Poll::Ready(Ok(()))
            }
            Poll::Ready(None) => Poll::Ready(Ok(())),
            Poll::Pending if self.has_headers => Poll::Ready(Ok(())),
            Poll::Pending => Poll::Pending,
        }
    }
}

//! Waiting for the first answer to a call that streams, for callers that match on the opening.

use super::{Read, StreamControl, Streaming, late, read};
use crate::{Code, Status};
use bytes::Bytes;
use frisbee::StreamMessage;
use polyglot::Message;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

impl<M: Message> Streaming<M> {
    /// At a client: waits until the server has answered the call, with its metadata, a message, or the end of the stream.
    ///
    /// A call returns before that, so a refusal arrives with the first [`message`](Self::message). This is for callers
    /// that handle it earlier, and for those that read the [`metadata`](Self::metadata) before the messages. The first
    /// message is kept. A server whose stream is silent at first answers by the metadata of its
    /// [`Response`](crate::Response), if that has any.
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
    /// As [`message`](Self::message): the stream has ended then.
    ///
    /// # Cancel safety
    /// Safe: dropping the future loses no message.
    pub async fn opened(&mut self) -> Result<(), Status> {
        if self.answered || !self.metadata.is_empty() {
            return Ok(());
        }
        poll_fn(|context| self.poll_opened(context)).await
    }

    fn poll_opened(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Status>> {
        let reading = self.reading;
        let Some(receiver) = &mut self.receiver else { return Poll::Ready(Ok(())) };
        let received = receiver.poll_recv_with(context, |message| {
            let body = match &message {
                StreamMessage::Copied(body) => Bytes::copy_from_slice(body),
                StreamMessage::Shared(body) => body.clone(),
            };
            (read::<M>(message, reading), body)
        });
        let failed = match received {
            Poll::Ready(Some((Read::Message(_), body))) => {
                self.keep_first(body);
                None
            }
            Poll::Ready(Some((Read::Other(other), body))) => match *other {
                StreamControl::Packed(_) => {
                    self.keep_first(body);
                    None
                }
                other => self.handle_other(other).flatten(),
            },
            Poll::Ready(None) => self.handle_end(),
            Poll::Pending => {
                let Some(deadline) = &mut self.deadline else { return Poll::Pending };
                ready!(deadline.as_mut().poll(context));
                return self.fail_late().map(|_| Err(late()));
            }
        };
        Poll::Ready(failed.map_or(Ok(()), |failed| failed.map(drop)))
    }

    /// Keeps the body of the first message. The next read is a long one, which begins with it.
    fn keep_first(&mut self, body: Bytes) {
        self.handle_answer(Code::Ok);
        (self.first, self.in_a_row) = (Some(body), 0);
    }

    /// Reads the message that was kept.
    pub(super) fn read_first(&mut self, body: Bytes) -> Option<Result<M, Status>> {
        match read(StreamMessage::Shared(body), self.reading) {
            Read::Message(message) => Some(Ok(message)),
            Read::Other(other) => self.handle_other(*other).flatten(),
        }
    }
}

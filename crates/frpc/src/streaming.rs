//! The receiving half of message streams, for clients and servers. Sending is implemented in `sending.rs`.
//!
//! A packet of a stream contains one or several messages. An empty packet closes both directions of the stream and
//! releases its id. With a compat peer, an error with the text `EOF` ends one direction, and any other error fails the
//! call.

mod detached;
mod opened;
mod sending;

pub(crate) use self::sending::{send, send_all, send_end, send_failure, send_headers};
use crate::api::metadata::Metadata;
use crate::calls::attachments::ConnectionEnd;
use crate::calls::failures::closed_status;
use crate::debug::opaque_debug;
use crate::observe::observers::ObservedCall;
use crate::wire::body;
use crate::wire::body::DecodeOptions;
use crate::wire::compressed;
use crate::wire::prefix::{self, PrefixError};
use crate::wire::translation::Translation;
use crate::{Code, Status};
use bytes::Bytes;
use frisbee::rpc::wake_all;
use frisbee::{Connection, StreamEnd, StreamMessage, StreamReceiver};
use futures_core::Stream;
use parking_lot::Mutex;
use polyglot::{DecodeError, Decoder, Message, Root};
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use tokio::time::{Instant, Sleep};

/// A stream of messages that the peer sends.
///
/// At a client, dropping it closes the stream. At a server, dropping it discards the remaining messages.
///
/// ```
/// use samples::greeter::{GreeterClient, Name};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = GreeterClient::connect(samples::started::greeter().await?).await?;
/// let names = ["Ada", "Grace"].map(|name| Name { name: name.to_owned() });
/// let mut greetings = client.greet_all(frpc::iter(names)).await?.into_inner();
/// while let Some(greeting) = greetings.message().await? {
///     println!("{}", greeting.text);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Streaming<M> {
    /// Receiver of the stream. `None` once the stream has ended.
    receiver: Option<StreamReceiver>,
    reading: DecodeOptions,
    metadata: Metadata,
    /// Whether the peer is a native frpc peer. If so, an error with the text `EOF` has no special meaning.
    is_native: bool,
    end: ReceiverEnd,
    deadline: Option<Pin<Box<Sleep>>>,
    /// Number of messages that may be read before the deadline and control packets are checked again. Zero until the
    /// peer has answered.
    in_a_row: u8,
    /// Whether the peer has sent a first answer to the call.
    answered: bool,
    /// Whether the peer has sent a HEADERS packet, which contains the response metadata.
    has_headers: bool,
    message: PhantomData<fn() -> M>,
    /// First message, or the error that followed HEADERS, received by [`opened`](Self::opened) and not yet read by the
    /// caller. The mutex only makes the type `Sync` and is never locked.
    first: Mutex<Option<Result<Box<M>, Status>>>,
    /// Source of the messages if they do not come from a connection.
    elsewhere: Option<detached::DetachedSource<M>>,
    /// Observation of the call at a client, which reports the end of the call to its observers.
    pub(crate) observed_call: Option<Box<ObservedCall>>,
    /// Translation of messages from the peer's wire layout, if it differs. Translated messages never take the fast
    /// path.
    translation: Option<Arc<Translation>>,
}

/// Number of messages between two checks of the deadline. A check costs as much as reading a small message.
const LOOK_EVERY: u8 = 64;

/// Action to take when the receiver of a stream is dropped.
pub(crate) enum ReceiverEnd {
    /// Close the stream, at a client. If sending the requests failed, the cell contains the status of that failure.
    Client(Option<Connection>, Arc<OnceLock<Status>>),
    /// Return the receiver to the task that serves the call, at a server.
    Server(Arc<SharedReceiver>),
}

/// State shared by the handler of a streaming call and the task that serves it. When the handler drops the stream, its
/// receiver is returned here.
#[derive(Default)]
pub(crate) struct SharedReceiver {
    pub(crate) back: Mutex<ReturnSlot>,
    /// Number of response messages that the handler has sent.
    pub(crate) sent: AtomicUsize,
    /// Whether the task that serves the call is running and will look at `back` before it waits. If so, a handler that
    /// drops the stream need not wake it. Relaxed, because the lock of `back` orders the accesses.
    pub(crate) is_polling: AtomicBool,
}

#[derive(Default)]
pub(crate) struct ReturnSlot {
    pub(crate) receiver: Option<StreamReceiver>,
    /// Whether the call takes a single request message and that message has been received.
    pub(crate) is_single: bool,
    /// Whether the client has ended its sending side of the stream.
    pub(crate) ended: bool,
    /// Status code of a call that was rejected before its handler ran.
    pub(crate) refused: Option<Code>,
}

impl<M: Message> Streaming<M> {
    /// Returns the cell where a client stores the failure of sending requests.
    pub(crate) fn failed(&self) -> Arc<OnceLock<Status>> {
        match &self.end {
            ReceiverEnd::Client(_, failed) => failed.clone(),
            ReceiverEnd::Server(_) => Arc::default(),
        }
    }

    pub(crate) fn new(
        receiver: Option<StreamReceiver>,
        end: ReceiverEnd,
        reading: DecodeOptions,
        deadline: Option<Pin<Box<Sleep>>>,
        translation: Option<Arc<Translation>>,
    ) -> Self {
        let is_native = receiver.as_ref().is_some_and(StreamReceiver::is_native);
        Self {
            receiver,
            reading,
            metadata: Metadata::new(),
            is_native,
            end,
            deadline,
            in_a_row: 0,
            answered: false,
            has_headers: false,
            message: PhantomData,
            first: Mutex::new(None),
            elsewhere: None,
            observed_call: None,
            translation,
        }
    }

    /// Returns the metadata of the response at a client. It arrives with or before the first message and is empty if
    /// the server is a compat peer. Always empty at a server, because the metadata of a request stream is part of [the
    /// request](crate::Request::metadata).
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Receives the next message. Returns `None` if the peer has ended the stream successfully.
    ///
    /// # Errors
    /// If the peer reports a failure, a message is malformed, the deadline passes, or the connection is lost. The
    /// stream has then ended.
    ///
    /// # Cancel safety
    /// Safe. Dropping the future loses no message.
    // Not an `async fn`, to avoid checking the state of its future for each message.
    pub fn message(&mut self) -> impl Future<Output = Result<Option<M>, Status>> + use<'_, M> {
        poll_fn(|context| match self.read_short(polyglot::decode_root) {
            Some(message) => Poll::Ready(Ok(Some(message))),
            None => self.poll_any(context).map(Option::transpose),
        })
    }

    /// Like [`message`](Self::message), but decodes into an existing message. Consecutive short messages reuse the
    /// memory of its fields and need no allocation. Returns `false` if the stream has ended.
    ///
    /// The memory does not shrink below that of the largest message. The content is unspecified after an error and
    /// after the end of the stream.
    ///
    /// ```
    /// use samples::greeter::{Greeting, GreeterClient, Name};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = GreeterClient::connect(samples::started::greeter().await?).await?;
    /// let names = ["Ada", "Grace"].map(|name| Name { name: name.to_owned() });
    /// let mut greetings = client.greet_all(frpc::iter(names)).await?.into_inner();
    /// let (mut greeting, mut length) = (Greeting::default(), 0);
    /// while greetings.message_over(&mut greeting).await? {
    ///     length += greeting.text.len();
    /// }
    /// # assert_ne!(length, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Like [`message`](Self::message).
    ///
    /// # Cancel safety
    /// Safe. Dropping the future loses no message, and `into` is unchanged.
    pub fn message_over(&mut self, into: &mut M) -> impl Future<Output = Result<bool, Status>> {
        poll_fn(|context| {
            if self.read_short(|from| into.decode_root_over(from)).is_some() {
                return Poll::Ready(Ok(true));
            }
            self.poll_any(context).map(|next| match next {
                Some(message) => message.map(|message| {
                    *into = message;
                    true
                }),
                None => Ok(false),
            })
        })
    }

    pub(crate) fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<M, Status>>> {
        match self.read_short(polyglot::decode_root) {
            Some(message) => Poll::Ready(Some(Ok(message))),
            None => self.poll_any(context),
        }
    }

    /// Fast path: decodes a short message that is already buffered. Returns `None` if there is no such message, or if a
    /// check of the deadline is due.
    fn read_short<T>(&mut self, decode: impl FnOnce(&mut Decoder<'_>) -> Result<Root<T>, DecodeError>) -> Option<T> {
        let in_a_row = self.in_a_row.checked_sub(1)?;
        let receiver = self.receiver.as_mut()?;
        let body = receiver.peek_short()?;
        // Take the general path for all other packets.
        let Ok(Root::Message(message)) = decode(&mut self.reading.copied(body)) else { return None };
        let length = body.len();
        receiver.skip_short(length);
        self.in_a_row = in_a_row;
        Some(message)
    }

    /// Polls for the next message outside of the fast path. Also handles control packets such as headers and trailers.
    fn poll_any(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<M, Status>>> {
        if self.is_late() {
            return self.fail_late();
        }
        if let Some(first) = self.first.get_mut().take() {
            return Poll::Ready(Some(first.map(|message| *message)));
        }
        let (reading, is_foreign) = (self.reading, self.translation.is_some());
        let Some(receiver) = &mut self.receiver else { return self.poll_detached(context) };
        let polled = receiver.poll_recv_with(context, |message| read(message, reading, is_foreign));
        // Check for HEADERS, which arrive before the first message and wake the reader.
        if !self.answered
            && let Some(items) = receiver.take_headers()
            && let Err(error) = self.handle_headers(&items)
        {
            return Poll::Ready(Some(Err(self.fail(error.of_reply("reply")))));
        }
        match polled {
            Poll::Ready(Some(Read::Message(message))) => {
                if !self.answered {
                    self.handle_answer(Code::Ok);
                }
                Poll::Ready(Some(Ok(message)))
            }
            Poll::Ready(Some(Read::Other(other))) => Poll::Ready(self.handle_other(*other)),
            Poll::Ready(None) => Poll::Ready(self.handle_end()),
            Poll::Pending => {
                let Some(deadline) = &mut self.deadline else { return Poll::Pending };
                std::task::ready!(deadline.as_mut().poll(context));
                self.fail_late()
            }
        }
    }

    /// Fails the stream because the deadline of the call has passed.
    fn fail_late(&mut self) -> Poll<Option<Result<M, Status>>> {
        self.record_end(Code::DeadlineExceeded);
        self.finish(false);
        self.elsewhere = None;
        *self.first.get_mut() = None;
        Poll::Ready(Some(Err(late())))
    }

    /// Handles the metadata in a HEADERS packet, which signals that the server has accepted the call.
    #[cold]
    fn handle_headers(&mut self, items: &[u8]) -> Result<(), PrefixError> {
        let metadata = prefix::read_headers(items)?;
        self.has_headers = true;
        self.handle_answer(Code::Ok);
        // At a server, the metadata of the request belongs to the call, not to the stream.
        if matches!(self.end, ReceiverEnd::Client(..)) {
            self.metadata = metadata;
        }
        Ok(())
    }

    /// Fails the stream because of an invalid packet or a failure reported by the peer.
    fn fail(&mut self, status: Status) -> Status {
        self.record_end(status.code());
        self.finish(false);
        status
    }

    /// Handles any packet other than an uncompressed message. Returns the resulting item of the stream, if there is
    /// one.
    fn handle_other(&mut self, other: StreamControl) -> Option<Result<M, Status>> {
        let status = match other {
            StreamControl::Error(text) if text == body::EOF && !self.is_native => {
                self.handle_answer(Code::Ok);
                self.record_end(Code::Ok);
                self.finish(true);
                return None;
            }
            StreamControl::Error(text) => {
                let status = Status::unknown(text);
                self.handle_answer(status.code());
                status
            }
            StreamControl::Unread(body) => match self.decompress(body) {
                Ok(message) => {
                    self.handle_answer(Code::Ok);
                    return Some(Ok(message));
                }
                Err(status) => status,
            },
            StreamControl::Bad(status) => status,
        };
        Some(Err(self.fail(status)))
    }

    /// Decompresses a message if necessary, translates it from the peer's layout and decodes it.
    fn decompress(&self, body: Bytes) -> Result<M, Status> {
        let what = if matches!(self.end, ReceiverEnd::Server(_)) { compressed::REQUEST } else { "message" };
        let Some(receiver) = &self.receiver else { return Err(Status::internal("the stream has ended")) };
        let whole = body::prepared(body, what, &receiver.connection(), self.reading, self.translation.as_deref())?;
        match body::message(&whole, self.reading, what)? {
            Root::Message(message) => Ok(message),
            Root::Error(text) => Err(Status::internal(format!("the compressed {what} is an error: {text}"))),
        }
    }

    /// Handles the end of the stream after the last message.
    fn handle_end(&mut self) -> Option<Result<M, Status>> {
        // An expired deadline takes precedence over packets from the server.
        let is_late = self.deadline.as_ref().is_some_and(|deadline| deadline.deadline() <= Instant::now());
        // Prefer the status of the handler, which is in the trailers, to one derived from the close reason.
        let broken = self.trailers().or_else(|| self.broken());
        if let StreamEnd::Ended | StreamEnd::Reset { .. } | StreamEnd::Refused { .. } = self.close_reason() {
            self.handle_answer(broken.as_ref().map_or(Code::Ok, Status::code));
        }
        self.record_end(match &broken {
            Some(_) if is_late => Code::DeadlineExceeded,
            Some(status) => status.code(),
            None => Code::Ok,
        });
        self.finish(true);
        broken.map(|status| Err(if is_late { late() } else { status }))
    }

    /// Returns whether the deadline has passed. Checks the clock once per [`LOOK_EVERY`] messages. This check is needed
    /// because the timer is not polled while messages are available.
    fn is_late(&mut self) -> bool {
        if let Some(in_a_row) = self.in_a_row.checked_sub(1) {
            self.in_a_row = in_a_row;
            return false;
        }
        if self.answered && self.translation.is_none() {
            self.in_a_row = LOOK_EVERY;
        }
        self.deadline.as_ref().is_some_and(|deadline| deadline.deadline() <= Instant::now())
    }

    /// On a client, records the status code of the server's answer.
    fn handle_answer(&mut self, code: Code) {
        // A success after the first answer contains no new information.
        if std::mem::replace(&mut self.answered, true) && code == Code::Ok {
            return;
        }
        if let ReceiverEnd::Client(Some(connection), _) = &self.end {
            ConnectionEnd::of(connection).calls.iter().for_each(|calls| calls.handle_answer(code));
        }
    }

    fn close_reason(&self) -> StreamEnd {
        self.receiver.as_ref().map_or(StreamEnd::Closed, StreamReceiver::close_reason)
    }

    /// Returns the failure reported in the TRAILERS packet, if there is one.
    fn trailers(&self) -> Option<Status> {
        let items = self.receiver.as_ref()?.take_trailers()?;
        prefix::read_trailers(&items).unwrap_or_else(|error| Some(error.of_reply("reply")))
    }

    /// Returns the stream's failure, or `None` if it ended successfully.
    fn broken(&self) -> Option<Status> {
        Some(match (self.close_reason(), &self.end) {
            (StreamEnd::Ended, _) => return None,
            (StreamEnd::Overflowed, _) => {
                Status::resource_exhausted("messages arrived faster than they were read, and some were lost")
            }
            (StreamEnd::Reset { code, message }, _) => reset(code, message),
            (StreamEnd::Refused { code, message }, _) => reset(code, message).not_run(),
            (_, ReceiverEnd::Client(connection, failed)) => {
                // The connection may have been closed because sending requests failed.
                let gone =
                    || connection.as_ref().and_then(Connection::close_reason).map(|reason| closed_status(&reason));
                let closed = || Status::unavailable("the server closed the stream before its end");
                failed.get().cloned().or_else(gone).unwrap_or_else(closed)
            }
            (_, ReceiverEnd::Server(_)) => Status::cancelled("the client closed the stream before its end"),
        })
    }
}

/// Returns the status of a call after the peer has reset its stream.
fn reset(code: u32, message: String) -> Status {
    let code = i32::try_from(code).map_or(Code::Unknown, Code::from_i32);
    Status::new(if code == Code::Ok { Code::Unknown } else { code }, message)
}

/// Result of reading one packet of a stream. All results except messages are boxed, so that messages are cheap to move.
enum Read<M> {
    Message(M),
    Other(Box<StreamControl>),
}

/// Result of reading a stream packet that was not decoded as a message in place.
enum StreamControl {
    Unread(Bytes),
    Error(String),
    Bad(Status),
}

/// Decodes a packet of a stream. Returns compressed messages undecoded, and all messages if `is_foreign` is set because
/// the peer uses another layout.
fn read<M: Message>(message: StreamMessage<'_>, reading: DecodeOptions, is_foreign: bool) -> Read<M> {
    let is_unread = |body: &[u8]| compressed::is_present(body) || is_foreign && body::is_message(body);
    let root = match message {
        StreamMessage::Copied(body) if is_unread(body) => return Read::unread(Bytes::copy_from_slice(body)),
        StreamMessage::Shared(body) if is_unread(&body) => return Read::unread(body),
        StreamMessage::Copied(body) => body::check_length(body.len(), reading.length_max()).and_then(|()| {
            polyglot::decode_root(&mut reading.copied(body)).map_err(|error| body::undecodable::<M>("message", &error))
        }),
        StreamMessage::Shared(body) => body::message(&body, reading, "message"),
    };
    match root {
        Ok(Root::Message(message)) => Read::Message(message),
        Ok(Root::Error(text)) => Read::Other(Box::new(StreamControl::Error(text))),
        Err(status) => Read::Other(Box::new(StreamControl::Bad(status))),
    }
}

impl<M> Read<M> {
    /// Creates the result for a message that is compressed or in another wire layout. It is decoded later, because the
    /// connection's locks are held here.
    fn unread(body: Bytes) -> Self {
        Self::Other(Box::new(StreamControl::Unread(body)))
    }
}

impl<M> Streaming<M> {
    /// Reports the end of an observed call. Must be called before the receiver of the stream is released.
    fn record_end(&mut self, code: Code) {
        if let Some(mut observed_call) = self.observed_call.take() {
            let bytes = self.receiver.as_ref().map(StreamReceiver::bytes).unwrap_or_default();
            observed_call.set_request(bytes.sent);
            observed_call.finish(code, bytes.received);
        }
    }

    /// Releases the receiver and the connection of the stream. `ended` states whether the peer has ended its sending
    /// side.
    fn finish(&mut self, ended: bool) {
        self.deadline = None;
        let Some(receiver) = self.receiver.take() else { return };
        match &mut self.end {
            ReceiverEnd::Client(connection, _) => {
                receiver.close();
                *connection = None;
            }
            ReceiverEnd::Server(shared_receiver) => {
                let mut back = shared_receiver.back.lock();
                back.ended |= ended;
                let receiver = back.receiver.insert(receiver);
                // Wake the task that serves the call if the handler has moved the stream to another task.
                let is_polling = shared_receiver.is_polling.load(Ordering::Relaxed);
                let waiters = if is_polling { Vec::new() } else { receiver.take_waiters() };
                // Release the lock first, because waking a task may run arbitrary code.
                drop(back);
                wake_all(waiters);
            }
        }
    }
}

impl<M> Drop for Streaming<M> {
    fn drop(&mut self) {
        // No effect if the end was already recorded.
        self.record_end(Code::Cancelled);
        self.finish(false);
    }
}

impl<M: Message> Stream for Streaming<M> {
    type Item = Result<M, Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_message(context)
    }
}

opaque_debug!([M] Streaming<M>, "Streaming", |this| open = this.receiver.is_some());

pub(crate) fn late() -> Status {
    Status::deadline_exceeded("the stream did not end before its deadline")
}

/// Returns whether the body of a packet ends one direction of a stream with a compat (frisbee-go) peer.
pub(crate) fn is_end(body: &Bytes) -> bool {
    let error = Decoder::new(body).error_text();
    error.is_ok_and(|text| text == body::EOF)
}

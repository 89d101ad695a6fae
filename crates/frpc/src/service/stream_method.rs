//! Streaming methods, and calls of them over other protocols. Native calls are implemented in `service/streams.rs`.

use crate::api::BoxedCall;
use crate::api::middleware::{Chain, MethodInfo, through};
use crate::service::erased::{AcceptedStream, StreamingMethod};
use crate::service::failures::no_message;
use crate::service::formats::{Decode, Format, FormatOptions};
use crate::service::handle::ServiceHandle;
use crate::service::streams::{self, ReceivedStream};
use crate::streaming::{ReceiverEnd, send};
use crate::wire::body::Writing;
use crate::{Request, Response, ResponseStream, Status, Streaming};
use bytes::Bytes;
use frisbee::{Connection, MemoryCharge, StreamReceiver};
use futures_core::Stream;
use polyglot::Message;
use std::any::Any;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A stream of messages in the encoding of their caller.
pub(crate) type MessageBytes = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;

/// Encoded response of a streaming method: a single message or a stream of messages.
pub(crate) enum Body {
    One(Bytes),
    Many(MessageBytes),
}

pub(crate) type Calling = Pin<Box<dyn Future<Output = Result<Response<Body>, Status>> + Send>>;

/// A streaming method. `In` is the type of the handler's argument, and `Out` is the type of its result. Each is a
/// message or a stream of messages.
pub(crate) struct StreamMethod<S, H, A, B, In, Out, F> {
    service: Arc<S>,
    handler: H,
    about: MethodInfo,
    formats: Vec<Format<A, B>>,
    types: PhantomData<fn(In) -> (Out, F)>,
}

impl<S, H, A, B, In, Out, F> StreamMethod<S, H, A, B, In, Out, F> {
    pub(crate) fn new(service: &Arc<S>, about: MethodInfo, handler: H) -> Self {
        Self { service: service.clone(), handler, about, formats: Vec::new(), types: PhantomData }
    }
}

impl<S, H, A, B, In, Out, F> StreamingMethod for StreamMethod<S, H, A, B, In, Out, F>
where
    S: Send + Sync + 'static,
    A: Message + Send + 'static,
    B: Message + Send + 'static,
    In: StreamRequest<A>,
    Out: StreamReply<B>,
    H: Fn(ServiceHandle<S>, Request<In>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<Out>, Status>> + Send + 'static,
{
    fn add_format(&mut self, format: Box<dyn Any>) -> bool {
        format.downcast().map(|format| self.formats.push(*format)).is_ok()
    }

    fn open(&self, opened: AcceptedStream<'_>) {
        let (service, handler) = (ServiceHandle::of_connection(&self.service), self.handler.clone());
        let (chain, about) = (opened.chain.clone(), self.about);
        let last = move |request| -> BoxedCall<'static, _> { Box::pin(handler(service, request)) };
        let handle = move |request| through(chain, &about, request, last);
        streams::serve::<A, B, In, Out, _, _>(opened, *about.method(), handle);
    }

    fn call(
        &self,
        chain: Option<Arc<Chain>>,
        request: Request<MessageBytes>,
        format: &str,
        options: &FormatOptions,
    ) -> Option<Calling> {
        let (service, handler) = (ServiceHandle::of_connection(&self.service), self.handler.clone());
        let (about, format, options) = (self.about, Format::find(&self.formats, format)?, options.clone());
        let last = move |request| -> BoxedCall<'static, _> { Box::pin(handler(service, request)) };
        Some(Box::pin(async move {
            let (messages, timeout, origin, extras) = request.into_parts_with_extras();
            let caller = origin.transport.clone();
            let (message, charge) = In::read(messages, format.decode, &options, caller).await?;
            let request = Request::from_parts_with_extras(message, timeout, origin, extras);
            let response = through(chain, &about, request, last).await?;
            let (response, extras) = response.into_parts_with_extras();
            let body = match (response.write(format, options)?, charge) {
                // Keep the memory charge with the responses, because the handler may hold its request until it has sent
                // all of them.
                (Body::Many(stream), Some(charge)) => {
                    let map = Some(move |message| {
                        let _held = &charge;
                        Ok(message)
                    });
                    Body::Many(Box::pin(Mapped { stream, map }))
                }
                (body, _) => body,
            };
            Ok(Response::from_parts_with_extras(body, extras))
        }))
    }
}

/// Argument of a streaming method's handler: a single message `A` or a stream of such messages.
pub(crate) trait StreamRequest<A>: Sized + Send + 'static {
    /// Receives the request of a native or compat caller, with the charge for its memory if it is a single message.
    /// Returns `None` if the stream has ended or the request was rejected.
    fn receive(
        stream: ReceivedStream<'_>,
        receiver: StreamReceiver,
    ) -> impl Future<Output = Option<(Self, Option<MemoryCharge>)>> + Send;

    /// Decodes the request of a caller that uses another protocol.
    fn read(
        messages: MessageBytes,
        decode: Decode<A>,
        options: &FormatOptions,
        caller: Option<Connection>,
    ) -> impl Future<Output = Result<(Self, Option<MemoryCharge>), Status>> + Send;
}

impl<A: Message + Send + 'static> StreamRequest<A> for A {
    async fn receive(stream: ReceivedStream<'_>, receiver: StreamReceiver) -> Option<(Self, Option<MemoryCharge>)> {
        stream.receive_one(receiver).await.map(|(message, charge)| (message, Some(charge)))
    }

    async fn read(
        messages: MessageBytes,
        decode: Decode<A>,
        options: &FormatOptions,
        caller: Option<Connection>,
    ) -> Result<(A, Option<MemoryCharge>), Status> {
        options.decode(decode, &single(messages).await?, caller.as_ref()).map_err(Status::rejected)
    }
}

impl<A: Message + Send + 'static> StreamRequest<A> for Streaming<A> {
    async fn receive(stream: ReceivedStream<'_>, receiver: StreamReceiver) -> Option<(Self, Option<MemoryCharge>)> {
        let end = ReceiverEnd::Server(stream.shared_receiver.clone());
        Some((Streaming::new(Some(receiver), end, stream.reading, None, stream.translation.cloned()), None))
    }

    async fn read(
        stream: MessageBytes,
        decode: Decode<A>,
        options: &FormatOptions,
        caller: Option<Connection>,
    ) -> Result<(Streaming<A>, Option<MemoryCharge>), Status> {
        let options = options.clone();
        // Charge each message until the handler takes the next one.
        let mut last: Option<MemoryCharge> = None;
        let decode = move |message: Bytes| {
            // Release the charge of the previous message before the next one is charged.
            drop(last.take());
            let (message, charge) = options.decode(decode, &message, caller.as_ref())?;
            last = charge;
            Ok(message)
        };
        Ok((Streaming::from_stream(Mapped { stream, map: Some(decode) }), None))
    }
}

/// Result of a streaming method's handler: a single message `B` or a stream of such messages.
pub(crate) trait StreamReply<B>: Sized + Send + 'static {
    /// Sends the response to a native or compat caller.
    fn send(self, stream: ReceivedStream<'_>, writing: Writing<'_>) -> impl Future<Output = Result<(), Status>> + Send;

    /// Encodes the response for a caller that uses another protocol.
    fn write<A>(self, format: Format<A, B>, options: FormatOptions) -> Result<Body, Status>;
}

impl<B: Message + Send + 'static> StreamReply<B> for B {
    fn send(self, stream: ReceivedStream<'_>, writing: Writing<'_>) -> impl Future<Output = Result<(), Status>> + Send {
        send::<B>(stream.sender, self, writing)
    }

    fn write<A>(self, format: Format<A, B>, options: FormatOptions) -> Result<Body, Status> {
        (format.encode)(&self, &options).map(Body::One)
    }
}

impl<B: Message + Send + 'static> StreamReply<B> for ResponseStream<B> {
    fn send(self, stream: ReceivedStream<'_>, writing: Writing<'_>) -> impl Future<Output = Result<(), Status>> + Send {
        stream.send_all(self, writing)
    }

    fn write<A>(self, format: Format<A, B>, options: FormatOptions) -> Result<Body, Status> {
        let encode = format.encode;
        Ok(Body::Many(Box::pin(Mapped { stream: self, map: Some(move |message| encode(&message, &options)) })))
    }
}

/// Returns the only message of a stream. Fails if the stream contains none or more than one.
pub(crate) async fn single(mut messages: MessageBytes) -> Result<Bytes, Status> {
    let mut next = async || poll_fn(|context| messages.as_mut().poll_next(context)).await.transpose();
    let Some(message) = next().await? else {
        return Err(no_message());
    };
    match next().await? {
        None => Ok(message),
        Some(_) => Err(Status::invalid_argument("the request has more than one message")),
    }
}

/// A stream that converts each message. It ends after the first error.
pub(crate) struct Mapped<S, F> {
    pub(crate) stream: S,
    /// Conversion of each message. `None` after the end of the stream.
    pub(crate) map: Option<F>,
}

/// No field is structurally pinned, so the stream can be moved after it was polled.
impl<S, F> Unpin for Mapped<S, F> {}

impl<S, F, M, N> Stream for Mapped<S, F>
where
    S: Stream<Item = Result<M, Status>> + Unpin,
    F: FnMut(M) -> Result<N, Status>,
{
    type Item = Result<N, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { stream, map } = &mut *self;
        let Some(convert) = map else { return Poll::Ready(None) };
        let next = std::task::ready!(Pin::new(stream).poll_next(context)).map(|next| next.and_then(convert));
        if !matches!(next, Some(Ok(_))) {
            *map = None;
        }
        Poll::Ready(next)
    }
}

//! Methods that stream: their native calls are opened in `service/streams.rs`, and calls of other protocols begin here,
//! with messages as bytes in a format.

use crate::api::middleware::{Chain, MethodInfo, through};
use crate::service::erased::{AcceptedStream, StreamingMethod};
use crate::service::formats::{Decode, Format, FormatTerms, Formats, MethodFormat};
use crate::service::handle::ServiceHandle;
use crate::{Request, Response, ResponseStream, Status, Streaming};
use bytes::Bytes;
use frisbee::{Connection, MemoryCharge};
use futures_core::Stream;
use polyglot::Message;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Messages as bytes.
pub(crate) type MessageBytes = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;

/// The response of a call.
pub(crate) enum Body {
    One(Bytes),
    Many(MessageBytes),
}

/// A call in progress.
pub(crate) type Calling = Pin<Box<dyn Future<Output = Result<Response<Body>, Status>> + Send>>;

type Begin<A, B> =
    dyn Fn(Option<Arc<Chain>>, Request<MessageBytes>, Format<A, B>, FormatTerms) -> Calling + Send + Sync;
type Open = dyn Fn(AcceptedStream<'_>) + Send + Sync;

/// A method that streams, with its types.
pub(crate) struct StreamMethod<A, B> {
    formats: Formats<A, B>,
    begin: Box<Begin<A, B>>,
    open: Box<Open>,
}

impl<A: 'static, B: 'static> StreamingMethod for StreamMethod<A, B> {
    fn face(&self) -> &dyn MethodFormat {
        &self.formats
    }

    fn face_mut(&mut self) -> &mut dyn MethodFormat {
        &mut self.formats
    }

    fn open(&self, opened: AcceptedStream<'_>) {
        (self.open)(opened);
    }

    fn call(
        &self,
        chain: Option<Arc<Chain>>,
        request: Request<MessageBytes>,
        format: &str,
        terms: &FormatTerms,
    ) -> Option<Calling> {
        Some((self.begin)(chain, request, self.formats.get(format)?, terms.clone()))
    }
}

impl<A, B> StreamMethod<A, B>
where
    A: Message + Send + 'static,
    B: Message + Send + 'static,
{
    /// Of a method whose handler takes what `read` makes of the requests, and returns what `write` takes. `open` opens
    /// native calls.
    fn erase<S, H, F, In, Out>(
        service: &Arc<S>,
        about: MethodInfo,
        handler: H,
        read: impl ReadRequest<A, In>,
        write: fn(Out, Format<A, B>, FormatTerms) -> Result<Body, Status>,
        open: Box<Open>,
    ) -> Box<dyn StreamingMethod>
    where
        S: Send + Sync + 'static,
        In: Send + 'static,
        Out: Send + 'static,
        H: Fn(ServiceHandle<S>, Request<In>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<Out>, Status>> + Send + 'static,
    {
        let service = service.clone();
        let begin = move |chain, request: Request<MessageBytes>, format: Format<A, B>, terms: FormatTerms| -> Calling {
            let (service, handler) = (ServiceHandle::of_connection(&service), handler.clone());
            Box::pin(async move {
                let (messages, timeout, origin, extras) = request.into_parts_with_extras();
                let caller = origin.transport().cloned();
                let (message, charge) = read.read(messages, format.decode, &terms, caller).await?;
                let request = Request::from_parts_with_extras(message, timeout, origin, extras);
                let response = through(chain, about, request, move |request| handler(service, request)).await?;
                let (response, extras) = response.into_parts_with_extras();
                let body = match (write(response, format, terms)?, charge) {
                    // A handler may keep its request for as long as it sends.
                    (Body::Many(messages), Some(charge)) => {
                        Body::Many(Box::pin(ChargedResponses { messages, _charge: charge }))
                    }
                    (body, _) => body,
                };
                Ok(Response::from_parts_with_extras(body, extras))
            })
        };
        Box::new(Self { formats: Formats::new(about), begin: Box::new(begin), open })
    }

    pub(crate) fn server_streaming<S, H, F>(
        service: &Arc<S>,
        about: MethodInfo,
        handler: H,
        open: Box<Open>,
    ) -> Box<dyn StreamingMethod>
    where
        S: Send + Sync + 'static,
        H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<ResponseStream<B>>, Status>> + Send + 'static,
    {
        Self::erase(service, about, handler, ReadOne, many, open)
    }

    pub(crate) fn client_streaming<S, H, F>(
        service: &Arc<S>,
        about: MethodInfo,
        handler: H,
        open: Box<Open>,
    ) -> Box<dyn StreamingMethod>
    where
        S: Send + Sync + 'static,
        H: Fn(ServiceHandle<S>, Request<Streaming<A>>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let write = |message, format: Format<A, B>, terms| (format.encode)(&message, &terms).map(Body::One);
        Self::erase(service, about, handler, ReadMany, write, open)
    }

    pub(crate) fn streaming<S, H, F>(
        service: &Arc<S>,
        about: MethodInfo,
        handler: H,
        open: Box<Open>,
    ) -> Box<dyn StreamingMethod>
    where
        S: Send + Sync + 'static,
        H: Fn(ServiceHandle<S>, Request<Streaming<A>>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<ResponseStream<B>>, Status>> + Send + 'static,
    {
        Self::erase(service, about, handler, ReadMany, many, open)
    }
}

/// Writes each message of a stream.
fn many<A, B: Send + 'static>(
    messages: ResponseStream<B>,
    format: Format<A, B>,
    terms: FormatTerms,
) -> Result<Body, Status> {
    let encode = format.encode;
    Ok(Body::Many(Box::pin(Mapped { stream: messages, map: Some(move |message| encode(&message, &terms)) })))
}

/// The responses of a call, and the charge for its request.
struct ChargedResponses {
    messages: MessageBytes,
    _charge: MemoryCharge,
}

impl Stream for ChargedResponses {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.messages.as_mut().poll_next(context)
    }
}

/// How the request of a call is read, for this caller.
trait ReadRequest<A, In>: Copy + Send + Sync + 'static {
    fn read(
        self,
        messages: MessageBytes,
        decode: Decode<A>,
        terms: &FormatTerms,
        caller: Option<Connection>,
    ) -> impl Future<Output = Result<(In, Option<MemoryCharge>), Status>> + Send;
}

/// A single message.
#[derive(Clone, Copy)]
struct ReadOne;

impl<A: Send + 'static> ReadRequest<A, A> for ReadOne {
    async fn read(
        self,
        messages: MessageBytes,
        decode: Decode<A>,
        terms: &FormatTerms,
        caller: Option<Connection>,
    ) -> Result<(A, Option<MemoryCharge>), Status> {
        terms.decode(decode, &single(messages).await?, caller.as_ref())
    }
}

/// The only message of a stream.
pub(crate) async fn single(mut messages: MessageBytes) -> Result<Bytes, Status> {
    let mut next = async || poll_fn(|context| messages.as_mut().poll_next(context)).await.transpose();
    let Some(message) = next().await? else {
        return Err(Status::invalid_argument("the request has no message"));
    };
    match next().await? {
        None => Ok(message),
        Some(_) => Err(Status::invalid_argument("the request has more than one message")),
    }
}

/// A stream of messages.
#[derive(Clone, Copy)]
struct ReadMany;

impl<A: Message + Send + 'static> ReadRequest<A, Streaming<A>> for ReadMany {
    async fn read(
        self,
        stream: MessageBytes,
        decode: Decode<A>,
        terms: &FormatTerms,
        caller: Option<Connection>,
    ) -> Result<(Streaming<A>, Option<MemoryCharge>), Status> {
        let terms = terms.clone();
        // A message is charged until the handler takes the next one.
        let mut last: Option<MemoryCharge> = None;
        let decode = move |message: Bytes| {
            drop(last.take());
            let (message, charge) = terms.decode(decode, &message, caller.as_ref())?;
            last = charge;
            Ok(message)
        };
        Ok((Streaming::from_stream(Mapped { stream, map: Some(decode) }), None))
    }
}

/// A stream whose messages are converted. It ends with its first error.
struct Mapped<S, F> {
    stream: S,
    /// `None` when the stream has ended.
    map: Option<F>,
}

/// No part of it is pinned.
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

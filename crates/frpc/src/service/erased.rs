//! Methods whose messages are bytes in a format, for callers that speak another protocol. Middleware, which is the
//! same for all callers, runs here; policies, limits and deadlines are applied by `server/foreign.rs`. Unary methods
//! without middleware have a shorter way in `service/places.rs`.

use crate::api::middleware::{About, Chain, through};
use crate::service::handle::ServiceHandle;
use crate::service::places::{self, Place};
use crate::{Request, Response, ResponseStream, Status, Streaming};
use bytes::Bytes;
use futures_core::Stream;
use polyglot::{Message, Nesting};
use std::any::Any;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// How the messages of one method are written in an encoding that is not the native one. For generated code.
pub struct Format<A, B> {
    pub(crate) name: &'static str,
    pub(crate) decode: Decode<A>,
    pub(crate) encode: Encode<B>,
    /// As `encode`, behind bytes that are there already; nothing is written in case of an error.
    pub(crate) append: Option<Append<B>>,
    /// The format in which the fields of requests stand in the order of declaration, without their names.
    positional: Option<(&'static str, Decode<A>)>,
    /// The names of a request's fields.
    pub(crate) fields: &'static [&'static str],
    /// What documents say about the method: its comment, and the schemas of messages by name.
    described: (&'static str, Schemas),
}

/// The schemas of messages as texts, by the full names of these.
pub(crate) type Schemas = &'static [(&'static str, &'static str)];

pub(crate) type Decode<A> = fn(&Bytes, &FormatTerms) -> Result<A, Status>;

pub(crate) type Encode<B> = fn(&B, &FormatTerms) -> Result<Bytes, Status>;

pub(crate) type Append<B> = fn(&B, &mut Vec<u8>, &FormatTerms) -> Result<(), Status>;

/// What a server states for messages in all formats.
#[derive(Clone, Debug, Default)]
pub struct FormatTerms {
    pub(crate) nesting: Nesting,
    /// The types that an `Any` may hold in JSON. None if no service has an `Any`.
    #[cfg(feature = "json")]
    pub(crate) types: Option<Arc<frpc_json::Types>>,
}

impl FormatTerms {
    /// How deep requests may nest.
    #[must_use]
    pub fn nesting(&self) -> Nesting {
        self.nesting
    }
}

impl<A, B> Format<A, B> {
    /// A format by its name, such as `json`. `decode` reads a request, which comes from a peer: it has to bound what the
    /// message takes in memory by its length, and how deep it nests. `encode` writes a response.
    pub const fn new(
        name: &'static str,
        decode: fn(&Bytes, &FormatTerms) -> Result<A, Status>,
        encode: fn(&B, &FormatTerms) -> Result<Bytes, Status>,
    ) -> Self {
        Self { name, decode, encode, append: None, positional: None, fields: &[], described: ("", &[]) }
    }

    /// Adds a way to write a response behind bytes that are there already, which saves a copy. In case of an error
    /// nothing has been written.
    #[must_use]
    pub const fn appending(self, append: fn(&B, &mut Vec<u8>, &FormatTerms) -> Result<(), Status>) -> Self {
        Self { append: Some(append), ..self }
    }

    /// Adds a format of its own name, whose requests have their fields in the order of declaration.
    #[must_use]
    pub const fn positional(self, name: &'static str, decode: fn(&Bytes, &FormatTerms) -> Result<A, Status>) -> Self {
        Self { positional: Some((name, decode)), ..self }
    }

    /// States the names of a request's fields in the format, in the order of declaration.
    #[must_use]
    pub const fn fields(self, fields: &'static [&'static str]) -> Self {
        Self { fields, ..self }
    }

    /// States what documents say about the method: its comment, and the schemas of the messages that it uses by their
    /// full names. The schemas of a format `json` are JSON Schemas that refer to each other at `#/components/schemas/`.
    #[must_use]
    pub const fn described(self, comment: &'static str, schemas: &'static [(&'static str, &'static str)]) -> Self {
        Self { described: (comment, schemas), ..self }
    }

    /// This format or its positional variant, if it has the name.
    pub(crate) fn named(self, name: &str) -> Option<Self> {
        if self.name == name {
            return Some(self);
        }
        let (positional, decode) = self.positional?;
        (positional == name).then_some(Self { decode, ..self })
    }
}

impl<A, B> Clone for Format<A, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, B> Copy for Format<A, B> {}

/// Messages as bytes.
pub(crate) type MessageBytes = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;

/// The request or the response of a call.
pub(crate) enum Body {
    One(Bytes),
    Many(MessageBytes),
}

/// A call in progress.
pub(crate) type Calling = Pin<Box<dyn Future<Output = Result<Response<Body>, Status>> + Send>>;

/// A method whose messages are bytes.
pub(crate) trait Erased: Send + Sync {
    fn about(&self) -> &About;

    /// The names of its formats.
    fn formats(&self) -> Vec<&'static str>;

    /// The names of a request's fields in a format.
    fn fields(&self, format: &str) -> Option<&'static [&'static str]>;

    /// What documents in a format say about the method.
    fn described(&self, format: &str) -> Option<(&'static str, Schemas)>;

    /// Adds a format; `false` if it is one of other messages.
    fn add(&mut self, format: Box<dyn Any>) -> bool;

    /// Calls the handler within its middleware, `None` if the method lacks the format.
    fn call(
        &self,
        chain: Option<Arc<Chain>>,
        request: Request<Body>,
        format: &str,
        terms: &FormatTerms,
    ) -> Option<Calling>;

    /// A place for the calls of one connection around which there is no middleware; `None` if the method lacks the
    /// format, or streams.
    fn place(&self, format: &str, terms: &FormatTerms) -> Option<Box<dyn Place>>;
}

type MakePlace<A, B> = dyn Fn(Format<A, B>, FormatTerms) -> Box<dyn Place> + Send + Sync;
type Begin<A, B> = dyn Fn(Option<Arc<Chain>>, Request<Body>, Format<A, B>, FormatTerms) -> Calling + Send + Sync;

/// A method with its types.
pub(crate) struct Face<A, B> {
    about: About,
    formats: Vec<Format<A, B>>,
    begin: Box<Begin<A, B>>,
    /// Of unary methods.
    make_place: Option<Box<MakePlace<A, B>>>,
}

impl<A, B> Face<A, B> {
    fn format(&self, name: &str) -> Option<Format<A, B>> {
        self.formats.iter().find_map(|format| format.named(name))
    }
}

impl<A: 'static, B: 'static> Erased for Face<A, B> {
    fn about(&self) -> &About {
        &self.about
    }

    fn formats(&self) -> Vec<&'static str> {
        self.formats.iter().map(|format| format.name).collect()
    }

    fn fields(&self, format: &str) -> Option<&'static [&'static str]> {
        self.format(format).map(|format| format.fields)
    }

    fn described(&self, format: &str) -> Option<(&'static str, Schemas)> {
        self.format(format).map(|format| format.described)
    }

    fn add(&mut self, format: Box<dyn Any>) -> bool {
        format.downcast().map(|format| self.formats.push(*format)).is_ok()
    }

    fn call(
        &self,
        chain: Option<Arc<Chain>>,
        request: Request<Body>,
        format: &str,
        terms: &FormatTerms,
    ) -> Option<Calling> {
        Some((self.begin)(chain, request, self.format(format)?, terms.clone()))
    }

    fn place(&self, format: &str, terms: &FormatTerms) -> Option<Box<dyn Place>> {
        Some(self.make_place.as_ref()?(self.format(format)?, terms.clone()))
    }
}

impl<A, B> Face<A, B>
where
    A: Message + Send + 'static,
    B: Message + Send + 'static,
{
    /// Of a method whose handler takes what `read` makes of a request, and returns what `write` takes.
    fn erase<S, H, F, In, Out>(
        service: &Arc<S>,
        about: About,
        handler: H,
        read: impl ReadRequest<A, In>,
        write: fn(Out, Format<A, B>, FormatTerms) -> Result<Body, Status>,
    ) -> Self
    where
        S: Send + Sync + 'static,
        In: Send + 'static,
        Out: Send + 'static,
        H: Fn(ServiceHandle<S>, Request<In>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<Out>, Status>> + Send + 'static,
    {
        let service = service.clone();
        let begin = move |chain, request: Request<Body>, format: Format<A, B>, terms: FormatTerms| -> Calling {
            let (service, handler) = (ServiceHandle::of_connection(&service), handler.clone());
            Box::pin(async move {
                let (body, timeout, origin, extras) = request.apart();
                let message = read.read(body, format.decode, &terms).await?;
                let request = Request::together(message, timeout, origin, extras);
                let response = through(chain, about, request, move |request| handler(service, request)).await?;
                let (response, extras) = response.apart();
                Ok(Response::together(write(response, format, terms)?, extras))
            })
        };
        Self { about, formats: Vec::new(), begin: Box::new(begin), make_place: None }
    }

    pub(crate) fn unary<S, H, F>(service: &Arc<S>, about: About, handler: H) -> Box<dyn Erased>
    where
        S: Send + Sync + 'static,
        H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let make_place = {
            let (service, handler) = (service.clone(), handler.clone());
            move |format, terms| places::place(&service, handler.clone(), format, terms)
        };
        let write = |message, format: Format<A, B>, terms| (format.encode)(&message, &terms).map(Body::One);
        let face = Self::erase(service, about, handler, ReadOne, write);
        Box::new(Self { make_place: Some(Box::new(make_place)), ..face })
    }

    pub(crate) fn server_streaming<S, H, F>(service: &Arc<S>, about: About, handler: H) -> Box<dyn Erased>
    where
        S: Send + Sync + 'static,
        H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<ResponseStream<B>>, Status>> + Send + 'static,
    {
        Box::new(Self::erase(service, about, handler, ReadOne, many))
    }

    pub(crate) fn client_streaming<S, H, F>(service: &Arc<S>, about: About, handler: H) -> Box<dyn Erased>
    where
        S: Send + Sync + 'static,
        H: Fn(ServiceHandle<S>, Request<Streaming<A>>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let write = |message, format: Format<A, B>, terms| (format.encode)(&message, &terms).map(Body::One);
        Box::new(Self::erase(service, about, handler, ReadMany, write))
    }

    pub(crate) fn streaming<S, H, F>(service: &Arc<S>, about: About, handler: H) -> Box<dyn Erased>
    where
        S: Send + Sync + 'static,
        H: Fn(ServiceHandle<S>, Request<Streaming<A>>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<ResponseStream<B>>, Status>> + Send + 'static,
    {
        Box::new(Self::erase(service, about, handler, ReadMany, many))
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

/// How the request of a call is read.
trait ReadRequest<A, In>: Copy + Send + Sync + 'static {
    fn read(
        self,
        body: Body,
        decode: Decode<A>,
        terms: &FormatTerms,
    ) -> impl Future<Output = Result<In, Status>> + Send;
}

/// A single message.
#[derive(Clone, Copy)]
struct ReadOne;

impl<A: Send + 'static> ReadRequest<A, A> for ReadOne {
    async fn read(self, body: Body, decode: Decode<A>, terms: &FormatTerms) -> Result<A, Status> {
        let message = match body {
            Body::One(message) => message,
            Body::Many(mut messages) => {
                let mut next = async || poll_fn(|context| messages.as_mut().poll_next(context)).await.transpose();
                let Some(message) = next().await? else {
                    return Err(Status::invalid_argument("the request has no message"));
                };
                if next().await?.is_some() {
                    return Err(Status::invalid_argument("the request has more than one message"));
                }
                message
            }
        };
        decode(&message, terms)
    }
}

/// A stream of messages.
#[derive(Clone, Copy)]
struct ReadMany;

impl<A: Message + Send + 'static> ReadRequest<A, Streaming<A>> for ReadMany {
    async fn read(self, body: Body, decode: Decode<A>, terms: &FormatTerms) -> Result<Streaming<A>, Status> {
        let stream: MessageBytes = match body {
            Body::One(message) => Box::pin(crate::iter([Ok(message)])),
            Body::Many(messages) => messages,
        };
        let terms = terms.clone();
        Ok(Streaming::from_stream(Mapped { stream, map: Some(move |message| decode(&message, &terms)) }))
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
    F: Fn(M) -> Result<N, Status>,
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

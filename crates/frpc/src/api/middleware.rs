//! Middleware: code around calls, at either end.

#[cfg(feature = "tower")]
pub(crate) mod tower;

use crate::api::extras::{Extras, Held, accessors};
use crate::api::request::Origin;
use crate::schema::method::Method;
use crate::{Request, Response, Status};
use frisbee::Connection;
use polyglot::Message;
use std::any::Any;
use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Code that runs around calls of any kind: to log, count or refuse them, or to add metadata.
///
/// A server runs it [around its services](crate::ServerBuilder::middleware), and a client [around its
/// calls](crate::Channel::with_middleware). The first middleware that was added is the outermost. Without middleware a
/// call pays one branch; with one, a few allocations.
///
/// Middleware does not see messages. It sees the method, the metadata and the names of the types. Around a call with
/// streams it ends when the handler has returned, or when the client has its stream of replies; the messages follow
/// later.
///
/// At the calling end, the [timeout of the call](Call::timeout) bounds all middleware and the calls that it makes, as
/// it bounds those of a handler.
///
/// ```
/// use frpc::{Call, Middleware, Next, CallResponse, Request, Status};
/// use std::collections::HashMap;
///
/// /// Admits callers with a password.
/// struct Doorkeeper(HashMap<String, Guest>);
///
/// #[derive(Clone)]
/// struct Guest(String);
///
/// impl Middleware for Doorkeeper {
///     async fn call(&self, mut call: Call, next: Next) -> Result<CallResponse, Status> {
///         let Some(guest) = call.metadata().get("word").and_then(|word| self.0.get(word)) else {
///             return Err(Status::permission_denied(format!("{} is not for you", call.method())));
///         };
///         call.extensions_mut().insert(guest.clone());
///         next.run(call).await
///     }
/// }
///
/// /// In a handler.
/// fn welcome<T>(request: &Request<T>) -> Option<String> {
///     request.extensions().get::<Guest>().map(|guest| format!("Welcome, {}", guest.0))
/// }
///
/// let guests = HashMap::from([("open sesame".to_owned(), Guest("Ali Baba".to_owned()))]);
/// let builder = frpc::Server::builder().middleware(Doorkeeper(guests));
/// ```
///
/// A function is a middleware as well, and so is a closure that returns a future. An async closure may not borrow what
/// it captures: the future gets clones.
///
/// ```
/// use frpc::{Call, CallResponse, Next, Status};
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// async fn log(call: Call, next: Next) -> Result<CallResponse, Status> {
///     println!("{}/{}", call.service(), call.method());
///     next.run(call).await
/// }
///
/// let count = Arc::new(AtomicU64::new(0));
/// let builder = frpc::Server::builder()
///     .middleware(log)
///     .middleware(async |call: Call, next: Next| {
///         if call.metadata().get("tenant").is_none() {
///             return Err(Status::unauthenticated("no tenant"));
///         }
///         next.run(call).await
///     })
///     .middleware(move |call: Call, next: Next| {
///         count.fetch_add(1, Ordering::Relaxed);
///         next.run(call)
///     });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a middleware",
    label = "implement `Middleware`, or pass `async |call: Call, next: Next| …`",
    note = "an async closure that uses what it captures is not `Fn(Call, Next) -> impl Future`: clone inside of \
            `move |call: Call, next: Next| {{ let value = value.clone(); async move {{ … }} }}`"
)]
pub trait Middleware: Send + Sync + 'static {
    /// Runs around a call: code before [`Next::run`] runs before the call, and code after it runs after. Middleware
    /// that does not call `run` refuses the call.
    ///
    /// # Cancel safety
    /// When the call is cancelled, the future is dropped at its current await.
    fn call(&self, call: Call, next: Next) -> impl Future<Output = Result<CallResponse, Status>> + Send;
}

impl<M, F> Middleware for M
where
    M: Fn(Call, Next) -> F + Send + Sync + 'static,
    F: Future<Output = Result<CallResponse, Status>> + Send,
{
    fn call(&self, call: Call, next: Next) -> impl Future<Output = Result<CallResponse, Status>> + Send {
        self(call, next)
    }
}

/// A call as [`Middleware`] sees it.
///
/// ```
/// use frpc::{Call, CallResponse, Next, Status};
///
/// /// The caller, as handlers find it in the extensions of their requests.
/// #[derive(Clone)]
/// struct Caller(String);
///
/// async fn identify(mut call: Call, next: Next) -> Result<CallResponse, Status> {
///     let Some(token) = call.metadata().get("authorization") else {
///         return Err(Status::unauthenticated(format!("{} needs a token", call.method())));
///     };
///     let caller = Caller(token.to_owned());
///     call.extensions_mut().insert(caller);
///     next.run(call).await
/// }
///
/// let builder = frpc::Server::builder().middleware(identify);
/// ```
#[derive(Debug)]
pub struct Call {
    about: About,
    extras: Held,
    timeout: Option<Duration>,
    origin: Origin,
}

/// The kinds of calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallKind {
    /// One message each way.
    Unary,
    /// One message, answered with a stream.
    ServerStreaming,
    /// A stream, answered with one message.
    ClientStreaming,
    /// A stream each way.
    Streaming,
}

/// The properties of all calls of a method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    method: Method,
    kind: CallKind,
    /// The names of the messages: of the request and of the response. Not here, since calls are passed on by value.
    messages: &'static [&'static str; 2],
}

impl About {
    pub(crate) fn new<A: Message, B: Message>(method: Method, kind: CallKind) -> Self {
        Self { method, kind, messages: const { &[A::NAME, B::NAME] } }
    }

    pub(crate) fn method(&self) -> &Method {
        &self.method
    }

    pub(crate) fn kind(&self) -> CallKind {
        self.kind
    }

    /// The names of the messages: of the request and of the response.
    pub(crate) fn messages(&self) -> [&'static str; 2] {
        *self.messages
    }
}

impl Call {
    /// The name of the service, with its package in front.
    pub fn service(&self) -> &'static str {
        self.about.method.layout.service()
    }

    /// The name of the method within its service.
    pub fn method(&self) -> &'static str {
        self.about.method.name
    }

    /// Which directions stream.
    pub fn kind(&self) -> CallKind {
        self.about.kind
    }

    /// The full name of the type of the request.
    pub fn request_type(&self) -> &'static str {
        self.about.messages()[0]
    }

    /// The full name of the type of the reply.
    pub fn response_type(&self) -> &'static str {
        self.about.messages()[1]
    }

    /// The timeout of the call; see [`Request::timeout`].
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// At the calling end: sets the timeout; see [`Request::set_timeout`]. It bounds the middleware inside of this one
    /// and the call, and does not extend the time of the call.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = Some(timeout);
    }

    /// What is known of the caller.
    pub(crate) fn about_caller(&self) -> (Option<&Extras>, &Origin) {
        (self.extras.as_deref(), &self.origin)
    }

    /// At the serving end: the connection of the call. `None` at the calling end.
    pub fn connection(&self) -> Option<&Connection> {
        self.origin.connection()
    }

    /// At the serving end: the verified certificates of the caller; see [`Request::peer_certificates`].
    #[cfg(feature = "tls")]
    pub fn peer_certificates(&self) -> Option<&Arc<[frisbee::tls::CertificateDer<'static>]>> {
        self.origin.peer_certificates()
    }
}

/// The reply of a call for [`Middleware`]. Only [`Next::run`] makes one.
///
/// ```
/// use frpc::{Call, CallResponse, Next, Status};
///
/// async fn sign(call: Call, next: Next) -> Result<CallResponse, Status> {
///     let mut response = next.run(call).await?;
///     response.metadata_mut().insert("served-by", "north")?;
///     Ok(response)
/// }
///
/// let builder = frpc::Server::builder().middleware(sign);
/// ```
pub struct CallResponse {
    extras: Held,
    /// The call, which keeps its reply.
    of: Pin<Box<dyn Last>>,
}

accessors!(
    [] Call,
    "The metadata of the request.",
    "",
    "The extensions of the request, as [`Request::extensions`]. At the end that serves, the handler finds there what \
     middleware puts in."
);

accessors!(
    [] CallResponse,
    "The metadata of the reply. At a client, the metadata of a stream has not arrived yet.",
    "",
    "The extensions of the reply, as [`Response::extensions`]."
);

/// The rest of the chain inside of a [`Middleware`]: the next middleware, or the call itself.
pub struct Next {
    chain: Arc<Chain>,
    at: usize,
    last: Pin<Box<dyn Last>>,
}

type Answering<'a> = Pin<Box<dyn Future<Output = Result<CallResponse, Status>> + Send + 'a>>;

impl Next {
    /// Continues the call.
    ///
    /// # Errors
    /// The status of the call.
    ///
    /// # Cancel safety
    /// Dropping the future gives the call up.
    pub async fn run(self, call: Call) -> Result<CallResponse, Status> {
        let Self { chain, at, mut last } = self;
        if let Some(middleware) = chain.0.get(at).cloned() {
            return middleware.call(call, Self { chain, at: at + 1, last }).await;
        }
        last.as_mut().begin(call);
        let extras = poll_fn(|context| last.as_mut().poll(context)).await?;
        Ok(CallResponse { extras, of: last })
    }
}

/// The call inside of all middleware, whatever its messages are.
trait Last: Send {
    /// Makes the call.
    fn begin(self: Pin<&mut Self>, call: Call);

    /// Ready when the call has ended. Its reply stays here.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Held, Status>>;

    /// The reply: an `Option` of the type of the message.
    fn reply(self: Pin<&mut Self>) -> &mut dyn Any;
}

pin_project_lite::pin_project! {
    /// A call with its request, then its future, then its reply. In one piece, so that a call takes one allocation beside
    /// that of each middleware.
    struct Making<A, B, L, F> {
        make: Option<(L, A)>,
        #[pin]
        making: Option<F>,
        reply: Option<B>,
    }
}

impl<A, B, L, F> Last for Making<A, B, L, F>
where
    A: Send,
    B: Send + 'static,
    L: FnOnce(Request<A>) -> F + Send,
    F: Future<Output = Result<Response<B>, Status>> + Send,
{
    fn begin(self: Pin<&mut Self>, call: Call) {
        let mut this = self.project();
        if let Some((make, message)) = this.make.take() {
            this.making.set(Some(make(Request::together(message, call.timeout, call.origin, call.extras))));
        }
    }

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Held, Status>> {
        let mut this = self.project();
        let Some(making) = this.making.as_mut().as_pin_mut() else { return Poll::Pending };
        let ended = ready!(making.poll(context));
        this.making.set(None);
        let (message, extras) = ended?.apart();
        *this.reply = Some(message);
        Poll::Ready(Ok(extras))
    }

    fn reply(self: Pin<&mut Self>) -> &mut dyn Any {
        self.project().reply
    }
}

/// The middleware around a call, from the outermost.
#[derive(Clone, Default)]
pub(crate) struct Chain(Vec<Arc<dyn Erased>>);

/// A middleware of any type.
trait Erased: Send + Sync {
    fn call(self: Arc<Self>, call: Call, next: Next) -> Answering<'static>;
}

impl<M: Middleware> Erased for M {
    fn call(self: Arc<Self>, call: Call, next: Next) -> Answering<'static> {
        Box::pin(async move { Middleware::call(&*self, call, next).await })
    }
}

/// A call within its middleware. `T` is its result.
pub(crate) struct Around<T> {
    answering: Answering<'static>,
    result: PhantomData<fn() -> T>,
}

impl<B: 'static> Future for Around<Result<Response<B>, Status>> {
    type Output = Result<Response<B>, Status>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let CallResponse { extras, mut of } = ready!(self.answering.as_mut().poll(context))?;
        let reply = of.as_mut().reply().downcast_mut::<Option<B>>().and_then(Option::take);
        Poll::Ready(match reply {
            Some(message) => Ok(Response::together(message, extras)),
            None => Err(Status::internal("a middleware returned the response of another call")),
        })
    }
}

impl Chain {
    /// Adds a middleware inside of the others.
    pub(crate) fn push(&mut self, middleware: impl Middleware) {
        self.0.push(Arc::new(middleware));
    }

    /// This chain with another inside of it.
    pub(crate) fn followed_by(&self, inner: &Self) -> Self {
        Self(self.0.iter().chain(&inner.0).cloned().collect())
    }

    /// The chain, unless it is empty.
    pub(crate) fn present(self) -> Option<Arc<Self>> {
        if self.0.is_empty() { None } else { Some(Arc::new(self)) }
    }

    /// Runs a call within the chain.
    pub(crate) fn around<A, B, F>(
        self: Arc<Self>,
        about: About,
        request: Request<A>,
        last: impl FnOnce(Request<A>) -> F + Send + 'static,
    ) -> Around<Result<Response<B>, Status>>
    where
        A: Send + 'static,
        B: Send + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let (message, timeout, origin, extras) = request.apart();
        let call = Call { about, extras, timeout, origin };
        let last = Box::pin(Making { make: Some((last, message)), making: None, reply: None::<B> });
        let first = self.0.first().cloned();
        let answering = match first {
            Some(middleware) => middleware.call(call, Next { chain: self, at: 1, last }),
            None => Box::pin(Next { chain: self, at: 0, last }.run(call)),
        };
        Around { answering, result: PhantomData }
    }
}

/// Runs a call within a chain, if there is one.
pub(crate) async fn through<A, B, F>(
    chain: Option<Arc<Chain>>,
    about: About,
    request: Request<A>,
    last: impl FnOnce(Request<A>) -> F + Send + 'static,
) -> Result<Response<B>, Status>
where
    A: Send + 'static,
    B: Send + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    match chain {
        None => last(request).await,
        Some(chain) => chain.around(about, request, last).await,
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("length", &self.0.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for CallResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallResponse").field("metadata", self.metadata()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("middleware", &(self.chain.0.len() - self.at)).finish_non_exhaustive()
    }
}

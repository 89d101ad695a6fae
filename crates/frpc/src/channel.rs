//! The calling end: a connection, and the calls on it.

use crate::body;
use crate::calls::{BeginError, Body, Calls, Ended, Ticket};
use crate::codegen::Method;
use crate::endpoint::Endpoint;
use crate::streaming::{self, Streaming};
use crate::{Error, Request, Response, Runtime, Status};
use frisbee::{Client, ClientBuilder, CloseReason, Connection, HeaderForm, Outbox, SendError};
use futures_core::Stream;
use parking_lot::Mutex;
use polyglot::Message;
use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long a call may take unless told otherwise. A Go server never answers a request that it cannot decode, so
/// there has to be an end; no call within a data centre should come near this one.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A connection on which any number of calls are made at one time.
///
/// Clones share the connection, which is closed when the last clone and the last stream of its calls are gone. When
/// 16 384 calls are in flight, further ones wait for their turn.
#[derive(Clone)]
pub struct Channel {
    inner: Arc<Inner>,
}

struct Inner {
    connection: Connection,
    calls: Arc<CallTable>,
    timeout: Option<Duration>,
}

/// Settings of a [`Channel`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ChannelBuilder {
    client: ClientBuilder,
    timeout: Option<Duration>,
}

impl Channel {
    /// Connects to `host:port`.
    ///
    /// # Errors
    /// If no address that the name stands for accepts the connection within 10 s.
    pub async fn connect(address: impl Into<String>) -> Result<Self, Error> {
        Self::builder().connect(address).await
    }

    /// Settings to begin with.
    pub fn builder() -> ChannelBuilder {
        ChannelBuilder { client: Client::builder(), timeout: Some(TIMEOUT) }
    }

    /// The connection beneath.
    pub fn connection(&self) -> &Connection {
        &self.inner.connection
    }

    /// Makes a call with one message each way. For generated clients.
    ///
    /// # Errors
    /// What the server answered, or why there is no answer.
    ///
    /// # Cancel safety
    /// Dropping the future gives the call up; it may run all the same.
    pub async fn unary<A, B>(&self, method: Method, request: Request<A>) -> Result<Response<B>, Status>
    where
        A: Message,
        B: Message,
    {
        let timeout = request.timeout().or(self.inner.timeout);
        let message = request.into_inner();
        let ticket = match self.inner.begin(method, timeout, &message, None) {
            Started::Yes(ticket) => ticket,
            Started::Failed(status) => return Err(status),
            Started::Full => self.inner.begin_when_possible(method, timeout, &message).await?,
        };
        let call = Call { inner: &self.inner, method, ticket: Some(ticket), reply: PhantomData };
        call.await.map(Response::new)
    }

    /// Makes a call that is answered with a stream. For generated clients.
    ///
    /// # Errors
    /// If the connection has ended or the request cannot be sent. Later errors come through the stream.
    pub async fn server_streaming<A, B>(
        &self,
        method: Method,
        request: Request<A>,
    ) -> Result<Response<Streaming<B>>, Status>
    where
        A: Message,
        B: Message,
    {
        streaming::call_server_streaming(self, method, request).await.map(Response::new)
    }

    /// Makes a call that sends a stream and is answered with one message. For generated clients.
    ///
    /// # Errors
    /// What the server answered, or why there is no answer.
    pub async fn client_streaming<S, B>(&self, method: Method, request: Request<S>) -> Result<Response<B>, Status>
    where
        S: Stream + Send + 'static,
        S::Item: Message,
        B: Message,
    {
        let reply_within = request.timeout().or(self.inner.timeout);
        streaming::call_client_streaming(self, method, request, reply_within).await.map(Response::new)
    }

    /// Makes a call with a stream each way. For generated clients.
    ///
    /// # Errors
    /// If the connection has ended. Later errors come through the stream.
    pub async fn streaming<S, B>(&self, method: Method, request: Request<S>) -> Result<Response<Streaming<B>>, Status>
    where
        S: Stream + Send + 'static,
        S::Item: Message + Send,
        B: Message,
    {
        streaming::call_streaming(self, method, request).await.map(Response::new)
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Channel").field(&self.inner.connection).finish()
    }
}

impl ChannelBuilder {
    /// Sets how long a call may take unless its request says otherwise. Default: 30 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Lets calls take as long as they like. A Go server never answers a request that it cannot decode.
    pub fn dangerous_no_timeout(mut self) -> Self {
        self.timeout = None;
        self
    }

    /// Sets how long connecting may take. Default: 10 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.client = self.client.connect_timeout(timeout);
        self
    }

    /// Sets the form of headers: [`HeaderForm::Old`] for servers on frisbee-go up to v0.10.2.
    pub fn header_form(mut self, form: HeaderForm) -> Self {
        self.client = self.client.header_form(form);
        self
    }

    /// Sets what moves the bytes of the connection. Default: the current tokio runtime; see
    /// [`frisbee::ClientBuilder::runtime`].
    pub fn runtime(mut self, runtime: Runtime) -> Self {
        self.client = self.client.runtime(runtime);
        self
    }

    /// Sets for how long the connection keeps its thread awake after something has happened on it. Default: not at
    /// all. See [`frisbee::ServerBuilder::busy_poll`].
    pub fn busy_poll(mut self, time: Duration) -> Self {
        self.client = self.client.busy_poll(time);
        self
    }

    /// Sets the limits and times of the connection.
    pub fn config(mut self, config: frisbee::Config) -> Self {
        self.client = self.client.config(config);
        self
    }

    /// Connects to `host:port`.
    ///
    /// # Errors
    /// As [`Channel::connect`].
    pub async fn connect(self, address: impl Into<String>) -> Result<Channel, Error> {
        let calls = Arc::new(CallTable::default());
        let connection = self.client.connect(address.into(), Endpoint::calling(calls.clone())).await?;
        Ok(Channel { inner: Arc::new(Inner { connection, calls, timeout: self.timeout }) })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.connection.close();
    }
}

/// The calls of a connection and those who wait to make one.
#[derive(Debug, Default)]
pub(crate) struct CallTable {
    pub(crate) calls: Mutex<Calls>,
    vacancy: Notify,
}

impl CallTable {
    /// Does something with the calls, and lets the next caller in if that made room.
    pub(crate) fn with<T>(&self, change: impl FnOnce(&mut Calls) -> T) -> T {
        let mut calls = self.calls.lock();
        let result = change(&mut calls);
        let vacancy = calls.has_vacancy();
        drop(calls);
        if vacancy {
            self.vacancy.notify_one();
        }
        result
    }

    /// Fails every call; see [`Calls::end`].
    pub(crate) fn end(&self, reason: &CloseReason) {
        let wake = self.calls.lock().end(lost(reason));
        wake.into_iter().for_each(Waker::wake);
        self.vacancy.notify_waiters();
    }
}

/// Why a call on a connection that has ended is over.
pub(crate) fn lost(reason: &CloseReason) -> Status {
    Status::unavailable(format!("the connection was lost, the call may have run: {reason}"))
}

/// Why a message was not sent.
pub(crate) fn unsent(error: &SendError) -> Status {
    match error {
        SendError::Closed(reason) => Status::unavailable(format!("not sent: {reason}")),
        SendError::TooLong(_) => Status::resource_exhausted(error.to_string()),
        other => Status::unavailable(other.to_string()),
    }
}

enum Started {
    Yes(Ticket),
    /// There is no room at the moment.
    Full,
    Failed(Status),
}

impl Inner {
    /// Enters a call and sends its request, all at once if there is room. With a context, the caller is woken when
    /// there is room to write.
    #[inline]
    fn begin<A: Message>(
        &self,
        method: Method,
        timeout: Option<Duration>,
        message: &A,
        context: Option<&mut Context<'_>>,
    ) -> Started {
        let noop = &mut Context::from_waker(Waker::noop());
        let context = context.unwrap_or(noop);
        // The connection cannot end between entering the call and sending its request, since both happen under its
        // lock: a call is never left without either an answer or an end.
        let sent = self.connection.poll_send(context, |outbox| self.enter(method, timeout, message, outbox));
        match sent {
            Poll::Ready(Ok(started)) => started,
            Poll::Ready(Err(error)) => Started::Failed(unsent(&error)),
            Poll::Pending => Started::Full,
        }
    }

    #[inline]
    fn enter<A: Message>(
        &self,
        method: Method,
        timeout: Option<Duration>,
        message: &A,
        outbox: &mut Outbox,
    ) -> Started {
        let mut calls = self.calls.calls.lock();
        let deadline = timeout.and_then(|timeout| calls.now(now).checked_add(timeout));
        let ticket = match calls.begin(method.operation, deadline) {
            Ok(ticket) => ticket,
            Err(BeginError::Full) => return Started::Full,
            Err(BeginError::Ended(status)) => return Started::Failed(status),
        };
        drop(calls);
        match body::put_message(outbox.frame(ticket.id, method.operation), message) {
            Ok(()) => Started::Yes(ticket),
            Err(status) => {
                self.calls.with(|calls| calls.revoke(ticket));
                Started::Failed(status)
            }
        }
    }

    /// The way of a call that finds no room: neither a slot nor the connection's outbox may have any.
    #[cold]
    async fn begin_when_possible<A: Message>(
        &self,
        method: Method,
        timeout: Option<Duration>,
        message: &A,
    ) -> Result<Ticket, Status> {
        let waiting = Waiting::new(&self.calls);
        let started = async {
            let begun = Instant::now();
            loop {
                let mut vacancy = std::pin::pin!(self.calls.vacancy.notified());
                vacancy.as_mut().enable();
                let left = timeout.map(|timeout| timeout.saturating_sub(begun.elapsed()));
                let started = poll_fn(|context| {
                    match self.begin(method, left, message, Some(context)) {
                        // The outbox wakes the caller, or the vacancy does, whichever it was.
                        Started::Full => vacancy.as_mut().poll(context).map(|()| None),
                        started => Poll::Ready(Some(started)),
                    }
                });
                match started.await {
                    Some(Started::Yes(ticket)) => return Ok(ticket),
                    Some(Started::Failed(status)) => return Err(status),
                    Some(Started::Full) | None => {}
                }
            }
        };
        let ticket = match timeout {
            None => started.await,
            Some(timeout) => match tokio::time::timeout(timeout, started).await {
                Ok(ticket) => ticket,
                Err(_) => Err(Status::deadline_exceeded("the call was not sent: there was no room for it in time")),
            },
        };
        drop(waiting);
        ticket
    }
}

/// Counts a caller as waiting for as long as it does.
struct Waiting<'a>(&'a CallTable);

impl<'a> Waiting<'a> {
    fn new(table: &'a CallTable) -> Self {
        table.calls.lock().count_waiting(true);
        Self(table)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // Whoever was let in lets the next one in, if there is still room.
        self.0.with(|calls| calls.count_waiting(false));
    }
}

/// A call that has been sent and waits for its reply.
struct Call<'a, B> {
    inner: &'a Inner,
    method: Method,
    ticket: Option<Ticket>,
    reply: PhantomData<fn() -> B>,
}

impl<B: Message> Future for Call<'_, B> {
    type Output = Result<B, Status>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(ticket) = self.ticket else { return Poll::Pending };
        let ended = self.inner.calls.with(|calls| {
            calls.take_reply(ticket, context, |body| match body {
                Body::Copied(body) => body::reply_slice(body),
                Body::Shared(body) => body::reply(body),
            })
        });
        let Poll::Ready(ended) = ended else { return Poll::Pending };
        self.ticket = None;
        Poll::Ready(match ended {
            Ended::Reply(reply) => reply,
            Ended::Expired => Err(expired(self.method)),
            Ended::Lost(status) => Err(status),
        })
    }
}

#[cold]
fn expired(method: Method) -> Status {
    Status::deadline_exceeded(format!("{method} was not answered in time, it may have run"))
}

impl<B> Drop for Call<'_, B> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.inner.calls.with(|calls| calls.give_up(ticket));
        }
    }
}

/// The runtime's clock, which tests may stop.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

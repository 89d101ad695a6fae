//! Requests that hyper has read: the same doors as on the short path, with bodies that come and go in parts.

use super::answer::{self, Answer};
use super::fields::{self, Known};
use super::head::Malformed;
use super::route::{Asked, Protocol, Route, probe, route};
use crate::connect::envelope::Encoding;
use crate::connect::{get, unary};
use crate::inbound::Inbound;
use crate::streams::{self, Replies};
use crate::timed::{Alarm, now};
use crate::{Gateway, Http, gzip, json_rpc};
use bytes::{Bytes, BytesMut};
use frisbee::MemoryCharge;
use frisbee_core::Pace;
use frpc::{ForeignContext, Metadata};
use http::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use http::{Request, Response, StatusCode, Version, request};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

/// What a connection's requests are served with.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    gateway: Arc<Gateway>,
    context: ForeignContext,
    requests: Requests,
}

/// The requests of a connection of HTTP/1, as far as hyper does not tell of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests(Arc<Progress>);

#[derive(Debug, Default)]
struct Progress {
    in_progress: AtomicUsize,
    /// Nothing has been flushed since the last response was made.
    is_unwritten: AtomicBool,
    /// Why the head behind the last request was refused.
    refused: OnceLock<Malformed>,
}

impl Requests {
    /// Why the connection ends, once the responses to all requests before have been written.
    pub(crate) fn refused(&self) -> Option<Malformed> {
        let is_answered =
            self.0.in_progress.load(Ordering::Relaxed) == 0 && !self.0.is_unwritten.load(Ordering::Relaxed);
        self.0.refused.get().copied().filter(|_| is_answered)
    }

    /// Notes that hyper reads no more, since the next head is malformed.
    pub(crate) fn refuse(&self, malformed: Malformed) {
        let _ = self.0.refused.set(malformed);
    }

    /// Notes that everything was written that hyper has encoded.
    pub(crate) fn handle_flush(&self) {
        if self.0.in_progress.load(Ordering::Relaxed) == 0 {
            self.0.is_unwritten.store(false, Ordering::Relaxed);
        }
    }

    fn begin(&self) -> InProgress {
        self.0.in_progress.fetch_add(1, Ordering::Relaxed);
        self.0.is_unwritten.store(true, Ordering::Relaxed);
        InProgress(self.clone())
    }
}

/// A request until its response has been made.
#[derive(Debug)]
pub(crate) struct InProgress(Requests);

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.0.in_progress.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of a response, with the request that it answers.
pub(crate) struct Outgoing {
    reply: Reply,
    _request: InProgress,
    context: ForeignContext,
    /// The charge for a whole response until hyper takes it.
    hold: Option<MemoryCharge>,
}

/// A part of a response, which hyper keeps until the client takes it.
struct Charged {
    bytes: Bytes,
    _hold: MemoryCharge,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A response of so many bytes or more is charged to the client.
const CHARGED_MIN: usize = 16 * 1024;

/// The body of a response.
pub(crate) enum Reply {
    Whole(Bytes),
    Stream(Box<Replies>),
}

impl Reply {
    /// The bytes of a response that has been made as a whole.
    fn waiting(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Stream(replies) => replies.waiting(),
        }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Stream(replies) => replies.poll_frame(task).map(|frame| frame.map(Ok)),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Stream(replies) => replies.is_over(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = ready!(Pin::new(&mut self.reply).poll_frame(task));
        let charged = frame.map(|frame| {
            frame.map(|frame| {
                frame.map_data(|bytes| {
                    if bytes.len() < CHARGED_MIN {
                        return bytes;
                    }
                    let hold = self.context.hold(bytes.len());
                    Bytes::from_owner(Charged { bytes, _hold: hold })
                })
            })
        });
        // What was charged as a whole has been charged once more.
        self.hold = None;
        Poll::Ready(charged)
    }

    fn is_end_stream(&self) -> bool {
        self.reply.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.reply.size_hint()
    }
}

impl Service {
    pub(crate) fn new(gateway: &Arc<Gateway>, context: &ForeignContext) -> Self {
        Self { gateway: gateway.clone(), context: context.clone(), requests: Requests::default() }
    }

    pub(crate) fn context(&self) -> &ForeignContext {
        &self.context
    }

    /// Notes that a request has come. hyper may read on before it polls the future that answers.
    pub(crate) fn begin(&self) -> InProgress {
        self.requests.begin()
    }

    pub(crate) fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Answers one request.
    pub(crate) async fn respond(&self, request: Request<Incoming>, in_progress: InProgress) -> Response<Outgoing> {
        self.answer(request).await.map(|reply| {
            let waiting = Some(reply.waiting()).filter(|waiting| *waiting >= CHARGED_MIN);
            let hold = waiting.map(|waiting| self.context.hold(waiting));
            Outgoing { reply, _request: in_progress, context: self.context.clone(), hold }
        })
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Reply> {
        let Some(http) = &self.gateway.http else { return respond(Answer::not_found("/")) };
        let (parts, body) = request.into_parts();
        let (body, is_over) = Inbound::new(body);
        let mut known = Known::of(pairs(&parts.headers));
        if let Some(authority) = parts.uri.authority() {
            // The two are the same, or one of them is for somebody else's eyes.
            let authority = authority.as_str().as_bytes();
            known.has_hosts |= known.host.is_some_and(|host| host != authority);
            known.host = Some(authority);
        }
        let answer = probe(http, &self.context, parts.method.as_str(), parts.uri.path());
        let admitted = answer.map_or_else(|| http.locks.admit(&known, self.context.local_addr()), Err);
        let mut response = match admitted {
            Ok(pass) => {
                let mut response = self.admitted(http, &parts, &known, body).await;
                for (name, value) in pass.fields() {
                    add(response.headers_mut(), name, value.to_owned());
                }
                response
            }
            Err(answer) => respond(answer),
        };
        // The transport lets everything pass behind a request in chunks: see `Strict`. And hyper closes the connection of a
        // request that was not read to its end, often too late to say so.
        let is_last = parts.headers.contains_key(TRANSFER_ENCODING) || !is_over.get();
        if is_last && parts.version < Version::HTTP_2 {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// Answers a request that was let in.
    async fn admitted(&self, http: &Http, parts: &request::Parts, known: &Known<'_>, body: Inbound) -> Response<Reply> {
        let (method, path) = (parts.method.as_str(), parts.uri.path());
        let is_http2 = parts.version == Version::HTTP_2;
        let asked = Asked { method, path, known, is_http2 };
        let route = match route(&self.gateway, http, &self.context, asked) {
            Route::Answer(answer) => return respond(answer),
            Route::NoMethod(protocol) => return streams::no_method(protocol, path),
            route => route,
        };
        let metadata = match (fields::metadata(pairs(&parts.headers)), &route) {
            (Ok(metadata), _) => metadata,
            (Err(invalid), Route::Call(_, protocol)) if !matches!(protocol, Protocol::Unary(_)) => {
                return streams::failure(*protocol, invalid.into_status());
            }
            (Err(invalid), _) => return respond(invalid.answer()),
        };
        let answer = match route {
            Route::Answer(answer) => answer,
            Route::JsonRpc => match self.whole(body, known).await {
                Ok(body) => {
                    let reply = json_rpc::answer(&self.gateway, &self.context, metadata, body).await;
                    match reply {
                        Some(reply) => self.compressed(Answer::new(200, answer::JSON, reply), known),
                        None => Answer::empty(204),
                    }
                }
                Err(answer) => answer,
            },
            Route::Get(method) => {
                let limit = self.context.config().body_limit().into();
                match get::Query::parse(parts.uri.query().unwrap_or_default(), limit) {
                    Ok(query) => self.unary(&method, query.format, metadata, known, query.message).await,
                    Err(answer) => answer,
                }
            }
            Route::Call(method, Protocol::Unary(format)) => match self.whole(body, known).await {
                Ok(body) => self.unary(&method, format, metadata, known, body).await,
                Err(answer) => answer,
            },
            Route::Call(method, protocol) => {
                return streams::call(&self.context, &method, protocol, known, metadata, body).await;
            }
            Route::NoMethod(protocol) => return streams::no_method(protocol, path),
        };
        respond(answer)
    }

    async fn unary(
        &self,
        method: &frpc::ForeignMethod,
        format: unary::Format,
        metadata: Metadata,
        known: &Known<'_>,
        message: Bytes,
    ) -> Answer {
        match known.connect_timeout() {
            Ok(timeout) => self.compressed(unary::call(method, format, metadata, timeout, message).await, known),
            Err(()) => unary::wrong_timeout(),
        }
    }

    /// The same answer, compressed if the client takes that and it is worth it.
    fn compressed(&self, mut answer: Answer, known: &Known<'_>) -> Answer {
        if answer.body.len() >= gzip::COMPRESS_MIN && gzip::is_accepted(known.accept_encoding) {
            answer.body = gzip::deflate(&answer.body);
            answer = answer.with("content-encoding", "gzip");
        }
        answer.with("vary", "accept-encoding")
    }

    /// The whole body of a request, decompressed.
    async fn whole(&self, mut body: Inbound, known: &Known<'_>) -> Result<Bytes, Answer> {
        let encoding = Encoding::of(known.content_encoding).map_err(|status| unary::failure(&status))?;
        let config = self.context.config();
        let limit = u64::from(config.body_limit());
        if body.size_hint().lower() > limit {
            return Err(Answer::too_long(limit));
        }
        let mut pace = Pace::new(config.least_rate_window, config.least_rate);
        let mut alarm = Alarm::default();
        let mut whole = BytesMut::new();
        let mut hold = None;
        loop {
            let received = whole.len() as u64;
            let frame = poll_fn(|task| match Pin::new(&mut body).poll_frame(task) {
                Poll::Ready(frame) => Poll::Ready(Some(frame)),
                Poll::Pending => loop {
                    pace.waiting(received, now());
                    let Some(due) = pace.deadline() else { return Poll::Pending };
                    ready!(alarm.poll(task, due));
                    if pace.too_slow(received, now()) {
                        return Poll::Ready(None);
                    }
                },
            });
            match frame.await {
                None => return Err(Answer::refusal(408, "the body of the request came too slowly")),
                Some(None) => break,
                Some(Some(Err(_))) => return Err(Answer::refusal(400, "the body of the request has broken off")),
                Some(Some(Ok(frame))) => {
                    let Ok(part) = frame.into_data() else { continue };
                    if (whole.len() + part.len()) as u64 > limit {
                        return Err(Answer::too_long(limit));
                    }
                    if !self.context.connection().has_room(part.len()) {
                        self.context.connection().count_shed();
                        let text = "the server is short of memory; try again later";
                        return Err(Answer::failure(429, frpc::Code::ResourceExhausted, text));
                    }
                    whole.extend_from_slice(&part);
                    hold = Some(self.context.hold(whole.capacity()));
                }
            }
        }
        let body = match encoding {
            Encoding::Identity => whole.freeze(),
            Encoding::Gzip => gzip::inflate(&whole, limit).map_err(|error| unary::failure(&error.status(limit)))?,
        };
        drop(hold);
        Ok(body)
    }
}

/// The fields of a request.
fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &[u8])> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
}

/// A response that has been made as a whole.
fn respond(answer: Answer) -> Response<Reply> {
    let mut response = Response::new(Reply::Whole(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Some(content_type) = answer.content_type {
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    for (name, value) in answer.fields {
        add(headers, &name, value);
    }
    response
}

/// Adds a field if it is valid.
pub(crate) fn add(headers: &mut HeaderMap, name: &str, value: String) {
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
        headers.append(name, value);
    }
}

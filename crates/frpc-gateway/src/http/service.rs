//! Answers requests, whose bodies come and go in parts.

use super::answer::{self, Answer};
use super::exchange::{Exchange, InProgress, Untaken};
use super::fields::{self, KnownFields};
use super::route::{Protocol, RequestHead, Route, probe, route};
use super::upgrade;
use crate::charge::{CHARGED_MIN, GrowingBody, check_room};
use crate::connect::envelope::Compression;
use crate::connect::{get, unary};
use crate::driver::MessagePace;
use crate::inbound::{self, Inbound};
use crate::locks::without_port;
use crate::streams::{self, EncodedReplies};
use crate::{Gateway, Http, gzip, json_rpc};
use bytes::Bytes;
use frpc::{AdapterContext, Metadata};
use http::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use http::{Method, Request, Response, StatusCode, Version, request};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The service of the requests of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    gateway: Arc<Gateway>,
    context: AdapterContext,
    exchange: Exchange,
}

/// The body of a response, with the request that it answers.
pub(crate) struct Outgoing {
    reply: Reply,
    /// Bytes that the reply has given, and hyper has not taken.
    rest: Bytes,
    request: InProgress,
    context: AdapterContext,
    /// Whether it has been made as a whole.
    is_whole: bool,
    /// The charge for a whole response until hyper takes it, and for the rest of its bytes.
    hold: Option<Arc<Untaken>>,
}

/// The most bytes that hyper takes at once: its client then has as long for the next ones.
const PART_MAX: usize = 16 * 1024;

/// A part of a response, which hyper keeps until the client takes it.
struct ChargedBody {
    bytes: Bytes,
    hold: Arc<Untaken>,
}

impl AsRef<[u8]> for ChargedBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for ChargedBody {
    fn drop(&mut self) {
        self.hold.handle_taken();
    }
}

impl Outgoing {
    /// Holds so many bytes, if they are charged.
    fn hold(&mut self, bytes: usize) {
        let charged = bytes >= CHARGED_MIN;
        // The previous charge is released after the new one, so that it never falls below the actual size.
        self.hold = charged.then(|| self.request.untaken(self.is_whole, self.context.charge(bytes)));
    }
}

/// The body of a response.
pub(crate) enum Reply {
    Whole(Bytes),
    Stream(Box<EncodedReplies>),
    #[cfg(feature = "mcp")]
    Events(Box<crate::mcp::http::Events>),
}

impl Reply {
    /// The bytes of a response that has been made as a whole.
    fn buffered(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Stream(replies) => replies.buffered(),
            #[cfg(feature = "mcp")]
            Self::Events(_) => 0,
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
            #[cfg(feature = "mcp")]
            Self::Events(events) => events.poll_frame(task).map(|frame| frame.map(Ok)),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Stream(replies) => replies.is_over(),
            #[cfg(feature = "mcp")]
            Self::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Stream(_) => SizeHint::default(),
            #[cfg(feature = "mcp")]
            Self::Events(_) => SizeHint::default(),
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            let Some(Ok(frame)) = ready!(Pin::new(&mut self.reply).poll_frame(task)) else { return Poll::Ready(None) };
            match frame.into_data() {
                Ok(bytes) => self.rest = bytes,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
            let length = self.rest.len();
            self.hold(length);
        }
        let length = self.rest.len().min(PART_MAX);
        let bytes = self.rest.split_to(length);
        let hold = if self.rest.is_empty() { self.hold.take() } else { self.hold.clone() };
        let bytes = match hold {
            Some(hold) => Bytes::from_owner(ChargedBody { bytes, hold }),
            None => bytes,
        };
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.reply.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.reply {
            Reply::Whole(bytes) => SizeHint::with_exact((self.rest.len() + bytes.len()) as u64),
            reply => reply.size_hint(),
        }
    }
}

impl Service {
    pub(crate) fn new(gateway: &Arc<Gateway>, context: &AdapterContext) -> Self {
        Self { gateway: gateway.clone(), context: context.clone(), exchange: Exchange::new() }
    }

    pub(crate) fn context(&self) -> &AdapterContext {
        &self.context
    }

    pub(crate) fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// Answers one request.
    pub(crate) async fn respond(&self, request: Request<Incoming>, mut in_progress: InProgress) -> Response<Outgoing> {
        // RFC 9110, section 9.3.2. Hyper leaves the content out for HTTP/1.1 alone.
        let is_without_content = request.method() == Method::HEAD && request.version() == Version::HTTP_2;
        let response = self.answer(request).await;
        in_progress.answer();
        response.map(|reply| {
            let reply = if is_without_content { Reply::Whole(Bytes::new()) } else { reply };
            let (context, buffered) = (self.context.clone(), reply.buffered());
            let (rest, is_whole) = (Bytes::new(), buffered > 0);
            let mut outgoing = Outgoing { reply, rest, request: in_progress, context, is_whole, hold: None };
            outgoing.hold(buffered);
            outgoing
        })
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Reply> {
        let Some(http) = &self.gateway.http else { return respond(Answer::not_found("/")) };
        let (parts, body) = request.into_parts();
        let (body, is_over) = Inbound::new(body, &self.exchange);
        let mut known = KnownFields::of(pairs(&parts.headers));
        let addressed = is_addressed(&parts, &mut known);
        let is_invalid = addressed.is_err();
        let mut response = match addressed {
            Ok(()) if upgrade::is_wanted(&self.gateway, &parts, &known) => self.upgrade(http, &parts, &known),
            Ok(()) => self.admit(http, &parts, &known, body).await,
            Err(answer) => respond(answer),
        };
        // The guard passes all bytes after a request in chunks. And hyper closes the connection of a request that was
        // not read to its end, often too late to announce it. After a request without one host, the next may be
        // another's.
        let is_last = is_invalid || parts.headers.contains_key(TRANSFER_ENCODING) || !is_over.get();
        if is_last && parts.version < Version::HTTP_2 {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// Answers a request if it may be made.
    async fn admit(
        &self,
        http: &Http,
        parts: &request::Parts,
        known: &KnownFields<'_>,
        body: Inbound,
    ) -> Response<Reply> {
        let answer = probe(http, &self.context, parts.method.as_str(), parts.uri.path());
        let admitted = answer.map_or_else(|| http.locks.admit(known, self.context.connection().local_addr()), Err);
        if admitted.as_ref().is_err_and(|answer| answer.status >= 400) {
            self.context.waste(0);
        }
        match admitted {
            Ok(pass) => {
                let mut response = self.admitted(http, parts, known, body).await;
                let names = || response.headers().keys().map(HeaderName::as_str).collect::<Vec<_>>().join(", ");
                for (name, value) in pass.fields(names).collect::<Vec<_>>() {
                    add(response.headers_mut(), name, value.into_owned());
                }
                response
            }
            Err(answer) => respond(answer),
        }
    }

    /// Answers a request for an upgrade, which follows the response if it is granted.
    fn upgrade(&self, http: &Http, parts: &request::Parts, known: &KnownFields<'_>) -> Response<Reply> {
        let upgrade = http.locks.admit_socket(known, &self.context).and_then(|()| {
            let metadata = fields::metadata(pairs(&parts.headers), known).map_err(|invalid| invalid.answer())?;
            upgrade::parse(&self.gateway, parts, known, metadata)
        });
        let (upgrade, metadata) = match upgrade {
            Ok(granted) => granted,
            Err(answer) => {
                let mut response = respond(answer);
                response.headers_mut().append(CONNECTION, HeaderValue::from_static("close"));
                return response;
            }
        };
        let mut response = Response::new(Reply::Whole(Bytes::new()));
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        for (name, value) in upgrade.fields() {
            add(response.headers_mut(), name, value);
        }
        self.exchange.upgrade(upgrade, metadata);
        response
    }

    /// Answers a request that was let in.
    async fn admitted(
        &self,
        http: &Http,
        parts: &request::Parts,
        known: &KnownFields<'_>,
        body: Inbound,
    ) -> Response<Reply> {
        let (method, path) = (parts.method.as_str(), parts.uri.path());
        let is_http2 = parts.version == Version::HTTP_2;
        let request_head = RequestHead { method, path, known, is_http2 };
        let route = match route(&self.gateway, http, &self.context, request_head) {
            Route::Answer(answer) => {
                if answer.status >= 400 {
                    self.context.waste(0);
                }
                return respond(answer);
            }
            Route::NoMethod(protocol) => return streams::no_method(protocol, path),
            route => route,
        };
        let metadata = match (fields::metadata(pairs(&parts.headers), known), &route) {
            (Ok(metadata), _) => metadata,
            (Err(invalid), Route::Call(_, protocol)) if !matches!(protocol, Protocol::Unary(_)) => {
                return streams::failure(*protocol, invalid.into_status());
            }
            (Err(invalid), _) => return respond(invalid.answer()),
        };
        let answer = match route {
            Route::Answer(answer) => answer,
            Route::NoMethod(_) => Answer::not_found(path),
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
            #[cfg(feature = "ion")]
            Route::Ion => match self.whole(body, known).await {
                Ok(body) => {
                    let answer = json_rpc::answer_ion(&self.gateway, &self.context, metadata, body).await;
                    self.compressed(answer, known)
                }
                Err(answer) => answer,
            },
            #[cfg(feature = "mcp")]
            Route::Mcp => match self.whole(body, known).await {
                Ok(body) => match self.mcp(known, metadata, body).await {
                    Ok(answer) => self.compressed(answer, known),
                    Err(events) => return events,
                },
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
        };
        respond(match check_room(&self.context, answer.body.len()) {
            Ok(()) => answer,
            Err(status) => unary::failure(&status),
        })
    }

    /// Answers a message of the Model Context Protocol, by a stream of events as the error.
    #[cfg(feature = "mcp")]
    async fn mcp(&self, known: &KnownFields<'_>, metadata: Metadata, body: Bytes) -> Result<Answer, Response<Reply>> {
        use crate::mcp::http::{self as mcp, Outcome};
        let Some(settings) = &self.gateway.mcp else { return Ok(Answer::not_found("/mcp")) };
        match mcp::answer(&self.gateway, settings, &self.context, known, metadata, body).await {
            Outcome::Whole(answer) => Ok(answer),
            Outcome::Events(events) => {
                let mut response = Response::new(Reply::Events(events));
                // Proxies forward each event at once.
                let fields =
                    [("content-type", mcp::EVENTS), ("cache-control", "no-store"), ("x-accel-buffering", "no")];
                for (name, value) in fields {
                    add(response.headers_mut(), name, value.to_owned());
                }
                Err(response)
            }
        }
    }

    async fn unary(
        &self,
        method: &frpc::AdapterMethod,
        format: unary::Format,
        metadata: Metadata,
        known: &KnownFields<'_>,
        message: Bytes,
    ) -> Answer {
        match known.connect_timeout() {
            Ok(timeout) => self.compressed(unary::call(method, format, metadata, timeout, message).await, known),
            Err(()) => unary::wrong_timeout(),
        }
    }

    /// The same answer, compressed if the client takes that and it is worth it.
    fn compressed(&self, mut answer: Answer, known: &KnownFields<'_>) -> Answer {
        if answer.body.len() >= gzip::COMPRESS_MIN && gzip::is_accepted(known.accept_encoding.as_deref()) {
            answer.body = gzip::deflate(&answer.body);
            answer = answer.with("content-encoding", "gzip");
        }
        answer.with("vary", "accept-encoding")
    }

    /// The whole body of a request, decompressed.
    async fn whole(&self, mut body: Inbound, known: &KnownFields<'_>) -> Result<Bytes, Answer> {
        let encoding = Compression::of(known.content_encoding.as_deref()).map_err(|status| unary::failure(&status))?;
        let config = self.context.config();
        let limit = u64::from(config.body_limit());
        let length = body.size_hint().lower();
        if length > limit {
            return Err(Answer::too_long(limit));
        }
        let mut pace = MessagePace::new(config);
        let most = usize::try_from(length).unwrap_or(usize::MAX);
        let mut whole = GrowingBody::default();
        loop {
            let frame = poll_fn(|task| match Pin::new(&mut body).poll_frame(task) {
                Poll::Ready(frame) => Poll::Ready(Some(frame)),
                Poll::Pending => pace.poll_too_slow(task).map(|()| None),
            });
            match frame.await {
                None => return Err(Answer::refusal(408, "the body of the request came too slowly")),
                Some(None) => break,
                Some(Some(Err(_))) => return Err(Answer::refusal(400, "the body of the request ended early")),
                Some(Some(Ok(frame))) => {
                    let part = match frame.into_data() {
                        Ok(part) => part,
                        Err(frame) => {
                            inbound::refuse_trailers(&frame).map_err(|status| unary::failure(&status))?;
                            continue;
                        }
                    };
                    if (whole.bytes.len() + part.len()) as u64 > limit {
                        return Err(Answer::too_long(limit));
                    }
                    whole.extend(&self.context, &part, most).map_err(|status| unary::failure(&status))?;
                    pace.handle_read(part.len());
                }
            }
        }
        match encoding {
            Compression::Identity => Ok(whole.bytes.freeze()),
            Compression::Gzip => {
                gzip::inflate(&whole.bytes, limit).map_err(|error| unary::failure(&error.status(limit)))
            }
        }
    }
}

/// Checks that a request names one host, which becomes `host` of the known fields, and has no field twice that has one
/// value.
fn is_addressed<'a>(parts: &'a request::Parts, known: &mut KnownFields<'a>) -> Result<(), Answer> {
    if let Some(name) = known.repeated {
        return Err(Answer::refusal(400, &format!("the header field {name} occurs more than once")));
    }
    let authority = parts.uri.authority().map(|authority| authority.as_str().as_bytes());
    let is_one = match (known.host, authority) {
        // RFC 9112, section 3.2: the target does not replace the field.
        (None, _) => parts.version != Version::HTTP_11,
        (Some(host), Some(authority)) => is_same_host(host, authority),
        (Some(_), None) => true,
    };
    if !is_one {
        return Err(Answer::refusal(400, "a request has one field \"host\", which is the host of its target"));
    }
    known.host = authority.or(known.host);
    Ok(())
}

/// Whether two hosts are the same, but for case and a default port. Either default port counts: a proxy may have ended TLS.
fn is_same_host(one: &[u8], other: &[u8]) -> bool {
    let parts = |host| {
        let host = std::str::from_utf8(host).ok()?;
        let name = without_port(host)?;
        let port = host.get(name.len()..)?.trim_start_matches(':');
        Some((name, if matches!(port, "80" | "443") { "" } else { port }))
    };
    match (parts(one), parts(other)) {
        (Some((name, port)), Some((other, of_other))) => name.eq_ignore_ascii_case(other) && port == of_other,
        _ => false,
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

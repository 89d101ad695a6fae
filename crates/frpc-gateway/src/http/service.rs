//! Handler of HTTP requests that hyper or the HTTP/2 driver receives. It receives and sends bodies part by part.

use super::answer::{self, Answer};
use super::exchange::Exchange;
use super::fields::{self, KnownFields};
use super::route::{Protocol, RequestHead, Route, probe, route};
use super::upgrade;
use crate::charge::{GrowingBody, check_room};
use crate::clock::now;
use crate::connect::envelope::Compression;
use crate::connect::{get, unary};
use crate::driver::MessagePace;
use crate::inbound::{self, BodyError, Inbound};
use crate::locks::without_port;
use crate::proxies::ProxiedClients;
use crate::streams::{self, CallOptions, EncodedReplies};
use crate::{Gateway, Http, gzip, json_rpc};
use bytes::Bytes;
use frisbee_http2::Head;
use frpc::{AdapterContext, Metadata, Status};
use http::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue};
use http::uri::PathAndQuery;
use http::{Request, Response, StatusCode, Version, request};
use http_body::Frame;
use hyper::body::Incoming;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Handler of the HTTP requests of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(super) gateway: Arc<Gateway>,
    pub(super) context: AdapterContext,
    pub(super) exchange: Exchange,
    /// Clients of the connection, if a trusted proxy has opened it.
    pub(super) proxied: Option<ProxiedClients>,
}

/// Body of an HTTP response.
pub(crate) enum Reply {
    Whole(Bytes),
    Stream(Box<EncodedReplies>),
    #[cfg(feature = "mcp")]
    Events(Box<crate::mcp::http::Events>),
}

impl Reply {
    /// Returns the number of bytes of the response body that are already in memory.
    pub(crate) fn buffered(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Stream(replies) => replies.buffered(),
            #[cfg(feature = "mcp")]
            Self::Events(_) => 0,
        }
    }

    pub(crate) fn poll_frame(&mut self, task: &mut Context<'_>) -> Poll<Option<Frame<Bytes>>> {
        match self {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Frame::data(std::mem::take(bytes)))),
            Self::Stream(replies) => replies.poll_frame(task),
            #[cfg(feature = "mcp")]
            Self::Events(events) => events.poll_frame(task),
        }
    }

    /// Returns whether the rest of the response body is already in memory.
    pub(crate) fn is_buffered(&self) -> bool {
        match self {
            Self::Whole(_) => true,
            Self::Stream(replies) => replies.is_buffered(),
            #[cfg(feature = "mcp")]
            Self::Events(_) => false,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Stream(replies) => replies.is_over(),
            #[cfg(feature = "mcp")]
            Self::Events(_) => false,
        }
    }
}

/// Head of a request, which HTTP/1 requests are converted to as well, and the HTTP version of the connection.
#[derive(Clone, Copy)]
pub(crate) struct RequestParts<'a> {
    pub(super) head: &'a Head,
    pub(super) version: Version,
}

impl<'a> RequestParts<'a> {
    pub(super) fn http2(head: &'a Head) -> Self {
        Self { head, version: Version::HTTP_2 }
    }

    pub(super) fn method(self) -> &'a str {
        self.head.method().unwrap_or_default()
    }

    /// Returns the path and the query string of the request.
    pub(super) fn target(self) -> (&'a str, &'a str) {
        let target = self.head.path().unwrap_or_default();
        target.split_once('?').unwrap_or((target, ""))
    }
}

/// Converts the head of an HTTP/1 request.
fn head_of(parts: &request::Parts) -> Head {
    let target = parts.uri.path_and_query().map_or("", PathAndQuery::as_str);
    let authority = parts.uri.authority().map(|authority| (":authority", authority.as_str()));
    let mut head = Head::default();
    for (name, value) in [(":method", parts.method.as_str()), (":path", target)].into_iter().chain(authority) {
        head.push(name, value);
    }
    for (name, value) in &parts.headers {
        head.push(name.as_str(), value.as_bytes());
    }
    head
}

impl Service {
    pub(crate) fn new(gateway: &Arc<Gateway>, context: &AdapterContext) -> Self {
        let proxied = is_proxied(gateway, context).then(ProxiedClients::default);
        Self { gateway: gateway.clone(), context: context.clone(), exchange: Exchange::new(), proxied }
    }

    /// Handles an HTTP/1.1 request.
    pub(crate) async fn respond(&self, request: Request<Incoming>) -> Response<Reply> {
        let (parts, body) = request.into_parts();
        let (body, is_over) = Inbound::http1(body);
        let (head, version) = (head_of(&parts), parts.version);
        // Release the head that hyper has parsed, because the call may take long.
        drop(parts);
        let is_chunked = head.get("transfer-encoding").is_some();
        let (mut response, is_valid) = self.answer(RequestParts { head: &head, version }, body).await;
        // Close the connection in three cases. The guard passes all bytes after a request in chunks. hyper closes the
        // connection after a request that was not fully read, often too late to announce it. A request with an
        // ambiguous host may be followed by a request of another client.
        if is_chunked || !is_valid || !is_over.load(Ordering::Relaxed) {
            // Append, because the response may also have the option `upgrade`.
            response.headers_mut().append(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// Handles a request. Also returns `false` if the request is malformed: it does not name exactly one host, or
    /// repeats a field that must occur once.
    pub(crate) async fn answer(&self, parts: RequestParts<'_>, body: Inbound) -> (Response<Reply>, bool) {
        let Some(http) = &self.gateway.http else { return (respond(Answer::not_found("/")), true) };
        if let Some(proxied) = &self.proxied
            && let Some(context) = proxied.context(&http.proxies, &self.context, parts.head.fields())
        {
            let context = match context {
                Ok(context) => context,
                Err(answer) => return (respond(answer), true),
            };
            // Do not pause reading for this client, because other clients share the connection.
            if context.is_throttled() {
                return (respond(Answer::refusal(429, "too many useless requests")), true);
            }
            return Self { context, ..self.clone() }.answer_client(http, parts, body).await;
        }
        self.answer_client(http, parts, body).await
    }

    async fn answer_client(&self, http: &Http, parts: RequestParts<'_>, body: Inbound) -> (Response<Reply>, bool) {
        let mut known = KnownFields::of(parts.head.fields());
        if let Err(answer) = is_addressed(parts, &mut known, &self.context) {
            self.context.charge_abuse(0);
            return (respond(answer), false);
        }
        let is_upgrade = upgrade::is_wanted(&self.gateway, parts, &known);
        let response =
            if is_upgrade { self.upgrade(http, parts, &known) } else { self.admit(http, parts, &known, body).await };
        (response, true)
    }

    /// Handles a request after checking its host and origin.
    async fn admit(
        &self,
        http: &Http,
        parts: RequestParts<'_>,
        known: &KnownFields<'_>,
        body: Inbound,
    ) -> Response<Reply> {
        let answer = probe(http, &self.context, parts.method(), parts.target().0);
        let admitted = answer.map_or_else(|| http.locks.admit(known, self.context.connection().local_addr()), Err);
        if admitted.as_ref().is_err_and(Answer::is_clients_fault) {
            self.context.charge_abuse(0);
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

    /// Handles a WebSocket upgrade request. If it is granted, the connection is upgraded after the response.
    fn upgrade(&self, http: &Http, parts: RequestParts<'_>, known: &KnownFields<'_>) -> Response<Reply> {
        let upgrade = http.locks.admit_socket(known, &self.context).and_then(|()| {
            let metadata = fields::metadata(parts.head.fields(), known).map_err(|invalid| invalid.answer())?;
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
        self.exchange.upgrade((upgrade, metadata, self.context.clone()));
        response
    }

    /// Handles a request after its host and origin were accepted.
    async fn admitted(
        &self,
        http: &Http,
        parts: RequestParts<'_>,
        known: &KnownFields<'_>,
        body: Inbound,
    ) -> Response<Reply> {
        let (method, (path, _)) = (parts.method(), parts.target());
        let is_http2 = parts.version == Version::HTTP_2;
        let request_head = RequestHead { method, path, known, is_http2 };
        let route = match route(&self.gateway, http, &self.context, request_head) {
            Route::Answer(answer) => {
                if answer.is_clients_fault() {
                    self.context.charge_abuse(0);
                }
                return respond(answer);
            }
            Route::NoMethod(protocol) => return streams::no_method(protocol, path),
            route => route,
        };
        let metadata = match fields::metadata(parts.head.fields(), known) {
            Ok(metadata) => metadata,
            Err(invalid) => {
                self.context.charge_abuse(0);
                return match route {
                    Route::Call(_, protocol) if !matches!(protocol, Protocol::Unary(_)) => {
                        streams::failure(protocol, invalid.into_status())
                    }
                    _ => respond(invalid.answer()),
                };
            }
        };
        self.call(route, parts, known, metadata, body).await.unwrap_or_else(respond)
    }

    /// Makes the call of a request that was routed.
    ///
    /// # Errors
    /// The response to send if the body or the query is invalid, or if there is no memory for the reply.
    async fn call(
        &self,
        route: Route,
        parts: RequestParts<'_>,
        known: &KnownFields<'_>,
        metadata: Metadata,
        body: Inbound,
    ) -> Result<Response<Reply>, Answer> {
        let (path, query) = parts.target();
        let encodings = known.accept_encoding.as_deref();
        let answer = match route {
            Route::Answer(_) | Route::NoMethod(_) => Answer::not_found(path),
            Route::JsonRpc => {
                let body = self.whole(body, known).await?;
                match json_rpc::answer(&self.gateway, &self.context, metadata, body).await {
                    Some(reply) => Answer::new(200, answer::JSON, reply).compressed(encodings),
                    None => Answer::empty(204),
                }
            }
            #[cfg(feature = "ion")]
            Route::Ion => {
                let body = self.whole(body, known).await?;
                json_rpc::answer_ion(&self.gateway, &self.context, metadata, body).await.compressed(encodings)
            }
            #[cfg(feature = "mcp")]
            Route::Mcp => {
                let body = self.whole(body, known).await?;
                match self.mcp(known, metadata, body).await {
                    Ok(answer) => answer.compressed(encodings),
                    Err(events) => return Ok(events),
                }
            }
            Route::Get(method) => {
                let query = get::Query::parse(query, self.context.config().body_limit().into())?;
                // Only responses to GET need this field, because caches do not store responses to POST.
                let call = (metadata, query.message);
                self.unary(&method, query.format, call, known, now()).await.with("vary", "accept-encoding")
            }
            Route::Call(method, Protocol::Unary(format)) => {
                let began = now();
                let body = within(known.connect_timeout().ok().flatten(), self.whole(body, known)).await?;
                self.unary(&method, format, (metadata, body), known, began).await
            }
            Route::Call(method, protocol) => {
                return Ok(match CallOptions::new(protocol, known, metadata) {
                    Ok(options) => streams::call(&self.context, &method, options, body).await,
                    Err(status) => {
                        self.context.charge_abuse(0);
                        streams::failure(protocol, status)
                    }
                });
            }
        };
        check_room(&self.context, answer.body.len()).map_err(|status| unary::failure(&status))?;
        Ok(respond(answer))
    }

    /// Handles a message of the Model Context Protocol. A response that is an event stream is returned as `Err`.
    #[cfg(feature = "mcp")]
    async fn mcp(&self, known: &KnownFields<'_>, metadata: Metadata, body: Bytes) -> Result<Answer, Response<Reply>> {
        use crate::mcp::http::{self as mcp, Outcome};
        let Some(settings) = &self.gateway.mcp else { return Ok(Answer::not_found("/mcp")) };
        match mcp::answer(&self.gateway, settings, &self.context, known, metadata, body).await {
            Outcome::Whole(answer) => Ok(answer),
            Outcome::Events(events) => {
                let mut response = Response::new(Reply::Events(events));
                // Disable buffering in proxies, so that each event is forwarded immediately.
                let fields =
                    [("content-type", mcp::EVENTS), ("cache-control", "no-store"), ("x-accel-buffering", "no")];
                for (name, value) in fields {
                    add(response.headers_mut(), name, value.to_owned());
                }
                Err(response)
            }
        }
    }

    /// Makes a unary Connect call whose head was received at `began`.
    async fn unary(
        &self,
        method: &frpc::AdapterMethod,
        format: unary::Format,
        (metadata, message): (Metadata, Bytes),
        known: &KnownFields<'_>,
        began: Instant,
    ) -> Answer {
        match known.connect_timeout() {
            Ok(timeout) => {
                // The client's timeout covers the time spent receiving the body.
                let timeout = timeout.map(|timeout| timeout.saturating_sub(now() - began));
                let answer = unary::call(method, format, metadata, timeout, message).await;
                answer.compressed(known.accept_encoding.as_deref())
            }
            Err(reason) => {
                self.context.charge_abuse(0);
                unary::invalid(reason)
            }
        }
    }

    /// Reads the whole request body and decompresses it.
    async fn whole(&self, mut body: Inbound, known: &KnownFields<'_>) -> Result<Bytes, Answer> {
        let malformed = |answer: Answer| {
            self.context.charge_abuse(0);
            answer
        };
        let invalid = |status: Status| malformed(unary::failure(&status));
        let encoding = Compression::of(known.content_encoding.as_deref()).map_err(invalid)?;
        let config = self.context.config();
        let limit = u64::from(config.body_limit());
        let length = body.length();
        if length > limit {
            return Err(malformed(Answer::too_long(limit)));
        }
        let mut pace = MessagePace::new(config);
        let most = usize::try_from(length).unwrap_or(usize::MAX);
        let mut whole = GrowingBody::default();
        loop {
            let frame = poll_fn(|task| match body.poll_frame(task) {
                Poll::Ready(frame) => Poll::Ready(Some(frame)),
                Poll::Pending => pace.poll_too_slow(task).map(|()| None),
            });
            match frame.await {
                None => return Err(Answer::refusal(408, "the body of the request came too slowly")),
                Some(None) => break,
                Some(Some(Err(BodyError::Early(_)))) => {
                    return Err(Answer::refusal(400, "the body of the request ended early"));
                }
                Some(Some(Err(BodyError::Refused(status)))) => return Err(unary::failure(&status)),
                Some(Some(Ok(frame))) => {
                    let part = match frame.into_data() {
                        Ok(part) => part,
                        Err(frame) => {
                            inbound::refuse_trailers(&frame).map_err(invalid)?;
                            continue;
                        }
                    };
                    if (whole.bytes.len() + part.len()) as u64 > limit {
                        return Err(malformed(Answer::too_long(limit)));
                    }
                    whole.extend(&self.context, &part, most).map_err(|status| unary::failure(&status))?;
                    pace.handle_read(part.len());
                }
            }
        }
        match encoding {
            Compression::Identity => Ok(whole.freeze()),
            Compression::Gzip => gzip::inflate(&whole.bytes, limit).map_err(invalid),
        }
    }
}

/// Receives a body within the timeout of its call.
async fn within(timeout: Option<Duration>, body: impl Future<Output = Result<Bytes, Answer>>) -> Result<Bytes, Answer> {
    let Some(timeout) = timeout else { return body.await };
    let late = |_| unary::failure(&Status::deadline_exceeded(streams::LATE));
    tokio::time::timeout(timeout, body).await.map_err(late)?
}

/// Returns whether a trusted proxy has opened the connection of this context.
pub(super) fn is_proxied(gateway: &Gateway, context: &AdapterContext) -> bool {
    let peer = context.connection().peer_addr();
    gateway.http.as_ref().zip(peer).is_some_and(|(http, peer)| http.proxies.contains(peer.ip()))
}

/// Checks that a request names exactly one host and does not repeat a field that must occur once. Stores the host in
/// `known`.
pub(super) fn is_addressed<'a>(
    parts: RequestParts<'a>,
    known: &mut KnownFields<'a>,
    context: &AdapterContext,
) -> Result<(), Answer> {
    if let Some(name) = known.repeated {
        return Err(Answer::refusal(400, &format!("the header field {name} occurs more than once")));
    }
    let mut authority = parts.head.authority().map(str::as_bytes);
    // Some gRPC clients send the path of a Unix socket as the host. Accept it there, because web pages cannot reach
    // Unix sockets.
    if authority.is_some_and(is_socket_path) && context.connection().peer_addr().is_none() {
        authority = Some(b"localhost");
    }
    let is_one = match (known.host, authority) {
        // The `host` field is required even with an absolute target (RFC 9112, section 3.2).
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

/// Returns whether an authority is a socket path, possibly percent-encoded.
fn is_socket_path(authority: &[u8]) -> bool {
    authority.contains(&b'/') || authority.windows(3).any(|part| part.eq_ignore_ascii_case(b"%2f"))
}

/// Returns whether two hosts are equal, ignoring case and default ports. The default ports of both schemes are ignored
/// because a proxy may have terminated TLS.
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

/// Converts a complete response to hyper's response type.
pub(super) fn respond(answer: Answer) -> Response<Reply> {
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

/// Adds a header field if its name and value are valid.
pub(crate) fn add(headers: &mut HeaderMap, name: &str, value: String) {
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
        headers.append(name, value);
    }
}

//! Calls of a connection on the fast path. If a handler completes immediately, its response is encoded directly into
//! the connection's output, without a separate buffer.

use super::answer::{Answer, JSON};
use super::fields::KnownFields;
use super::route::Protocol;
use super::written::{self, OpenResponse};
use crate::Gateway;
use crate::charge::check_room;
use crate::clock::now;
use crate::connect::envelope::{Compression, PREFIX};
use crate::connect::unary::{self, Format};
use crate::json_rpc::{Session, complete};
use crate::locks::Pass;
use crate::{grpc, streams, web};
use bytes::Bytes;
use frisbee::MemoryCharge;
use frpc::{AdapterBatch, AdapterCall, AdapterContext, AdapterMethod, AdapterSlot, AdapterTask, CallKind};
use frpc::{Metadata, Request, Response, Status};
use std::borrow::Cow;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Maximum number of methods cached per connection. The cache is searched linearly.
const METHODS_MAX: usize = 64;

/// Target of an HTTP call: a method, or the JSON-RPC session of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallTarget {
    /// Index of the method in [`Calls`], and the protocol: Connect or gRPC-Web.
    Method(usize, Protocol),
    JsonRpc,
}

impl CallTarget {
    /// Returns the format of the messages if the call uses gRPC-Web.
    pub(crate) fn web(self) -> Option<Format> {
        match self {
            Self::Method(_, Protocol::Web(format)) => Some(format),
            _ => None,
        }
    }

    /// Returns the timeout of a call with these header fields, if it is valid.
    pub(crate) fn timeout(self, known: &KnownFields<'_>) -> Option<Duration> {
        match self {
            Self::Method(_, Protocol::Web(_)) => grpc::timeout(known.grpc_timeout).ok()?,
            Self::Method(..) => known.connect_timeout().ok()?,
            Self::JsonRpc => None,
        }
    }
}

/// Methods and JSON-RPC session that are shared by all calls of a connection.
pub(crate) struct Calls<'a> {
    gateway: &'a Gateway,
    context: &'a AdapterContext,
    called: Vec<ResolvedMethod>,
    /// The JSON-RPC session, unless one of its calls is pending. Created by the first JSON-RPC call.
    pub(super) session: Option<Box<Session>>,
    /// Number of digits in the `content-length` of the last JSON-RPC response. The same number is reserved in the next
    /// response head.
    digits: usize,
}

/// A method that was called on this connection, cached so that further calls need no lookup.
struct ResolvedMethod {
    path: Box<str>,
    protocol: Protocol,
    content_type: &'static str,
    slot: AdapterSlot,
    /// Number of digits in the `content-length` of the method's last response. The same number is reserved in the next
    /// response head.
    digits: usize,
}

/// A call with a pending handler. Dropping the value cancels the call.
pub(crate) enum PendingCall {
    Method(
        ReplyForm,
        oneshot::Receiver<(Result<Response<Bytes>, Status>, MemoryCharge)>,
        #[allow(dead_code)] AdapterTask,
    ),
    JsonRpc(Box<Session>),
}

/// Data of a call that is taken from the request head.
#[derive(Debug)]
pub(crate) struct CallHead {
    pub(crate) callee: CallTarget,
    pub(crate) metadata: Metadata,
    pub(crate) timeout: Option<Duration>,
    /// Compression of the message in a gRPC-Web response.
    pub(crate) accepted: Compression,
}

/// How the response to a method call is encoded.
#[derive(Clone, Copy)]
pub(crate) struct ReplyForm {
    protocol: Protocol,
    accepted: Compression,
}

impl ReplyForm {
    fn is_web(self) -> bool {
        matches!(self.protocol, Protocol::Web(_))
    }

    fn answer(self, result: Result<Response<Bytes>, Status>) -> Answer {
        let format = self.protocol.format();
        if self.is_web() { web::answer(format, self.accepted, result) } else { unary::answer(format, result) }
    }
}

/// Properties of a response that depend on the request.
#[derive(Clone, Copy)]
pub(crate) struct ResponseOptions<'a> {
    pub(crate) pass: Pass<'a>,
    /// Whether the connection closes after the response.
    pub(crate) is_last: bool,
    /// Value of the client's field `accept-encoding`.
    pub(crate) encodings: &'a Option<Cow<'a, [u8]>>,
    pub(crate) now: Instant,
}

impl ResponseOptions<'_> {
    /// Returns the options of a response that rejects a request and closes the connection.
    pub(crate) fn last() -> Self {
        Self { pass: Pass::default(), is_last: true, encodings: &None, now: now() }
    }
}

impl<'a> Calls<'a> {
    pub(crate) fn new(gateway: &'a Gateway, context: &'a AdapterContext) -> Self {
        Self { gateway, context, called: Vec::new(), session: None, digits: 2 }
    }

    /// Returns the method at a path for calls in the given protocol. Returns `None` if the method does not support the
    /// format of its messages.
    pub(crate) fn enter(&mut self, path: &str, method: &AdapterMethod, protocol: Protocol) -> Option<CallTarget> {
        let position = self.called.iter().position(|called| called.protocol == protocol && *called.path == *path);
        let position = match position {
            Some(position) => position,
            None => {
                // In gRPC-Web, streams have the same content type as unary calls.
                if method.kind() != CallKind::Unary {
                    return None;
                }
                let format = protocol.format();
                let content_type = match protocol {
                    Protocol::Web(_) => web::content_type(format),
                    _ => format.content_type(),
                };
                let slot = method.slot(format.name())?;
                // Begin again with an empty cache, so that a connection that calls many methods keeps using this path.
                if self.called.len() == METHODS_MAX {
                    self.called.clear();
                }
                self.called.push(ResolvedMethod { path: path.into(), protocol, content_type, slot, digits: 2 });
                self.called.len() - 1
            }
        };
        Some(CallTarget::Method(position, protocol))
    }

    /// Starts a call. If the call completes immediately, appends the response to `out`. Otherwise, returns the
    /// pending call.
    pub(crate) fn begin(
        &mut self,
        head: CallHead,
        body: Bytes,
        options: &ResponseOptions<'_>,
        out: &mut Vec<u8>,
    ) -> Option<PendingCall> {
        match head.callee {
            CallTarget::Method(number, _) => {
                let request = streams::request(body, head.timeout, head.metadata);
                let mut batch = self.context.methods().batch(options.now);
                self.called.get_mut(number)?.begin(&mut batch, self.context, (request, head.accepted), options, out)
            }
            CallTarget::JsonRpc => {
                let mut session = self.session.take().unwrap_or_else(|| {
                    Box::new(Session::new(self.gateway, self.context, Metadata::new()).without_notices())
                });
                *session.metadata_mut() = head.metadata;
                // Let the session append replies that are ready immediately to the output, so that they are not
                // copied.
                let open = OpenResponse::begin(out, JSON, self.digits, options.now);
                let begin = out.len();
                std::mem::swap(session.output(), out);
                session.handle(&body);
                std::mem::swap(session.output(), out);
                // Undo the response head if calls are pending or no reply is due, because it announces a complete JSON
                // reply.
                if session.calls() > 0 || out.len() == begin {
                    session.output().extend_from_slice(out.get(begin..).unwrap_or_default());
                    open.undo(out);
                    if session.calls() > 0 {
                        return Some(PendingCall::JsonRpc(session));
                    }
                    // The body contained only notifications.
                    written::put(out, &Answer::empty(204), options, true);
                } else if let Err(status) = check_room(self.context, out.len() - begin) {
                    open.undo(out);
                    written::put(out, &unary::failure(&status), options, true);
                } else {
                    // Remove the trailing line feed, which is meant for connections without HTTP.
                    out.pop();
                    self.digits = open.end(out, &[], options);
                }
                self.session = Some(session);
                None
            }
        }
    }
}

impl ResolvedMethod {
    #[inline]
    fn begin(
        &mut self,
        batch: &mut AdapterBatch<'_>,
        context: &AdapterContext,
        (request, accepted): (Request<Bytes>, Compression),
        options: &ResponseOptions<'_>,
        out: &mut Vec<u8>,
    ) -> Option<PendingCall> {
        let Self { protocol, content_type, slot, digits, .. } = self;
        let form = ReplyForm { protocol: *protocol, accepted };
        let is_web = form.is_web();
        let open = OpenResponse::begin(out, content_type, *digits, options.now);
        let content = out.len();
        if is_web {
            out.extend_from_slice(&[0; PREFIX]);
        }
        let mut result = None;
        let called = slot.call(batch, request, out, || {
            let (done, receiver) = oneshot::channel();
            result = Some(receiver);
            // Ignore a failed send: the receiver was dropped because the client has disconnected.
            move |response, hold| drop(done.send((response, hold)))
        });
        let called = match called {
            AdapterCall::Ready(result) => AdapterCall::Ready(
                result.and_then(|response| check_room(context, out.len() - content).map(|()| response)),
            ),
            pending => pending,
        };
        match called {
            AdapterCall::Ready(Ok(response)) => {
                let fields = match is_web {
                    true => web::end(out, content, accepted, &response),
                    false => unary::fields(&response),
                };
                *digits = open.end(out, &fields, options);
                None
            }
            AdapterCall::Ready(Err(status)) => {
                open.undo(out);
                let answer = form.answer(Err(status)).compressed(options.encodings.as_deref());
                written::put(out, &answer, options, true);
                None
            }
            AdapterCall::InProgress(task) => {
                open.undo(out);
                // Never `None`, because a call that stays in progress has run the closure above, which sets `result`.
                result.map(|result| PendingCall::Method(form, result, task))
            }
        }
    }
}

/// Result of a call that did not complete immediately.
pub(crate) enum FinishedCall {
    /// The response to a method call, and its memory charge.
    Method(Answer, Option<MemoryCharge>),
    /// The response to a JSON-RPC body, and the session for further ones.
    JsonRpc(Answer, Box<Session>),
}

impl PendingCall {
    /// Waits until the call completes.
    pub(crate) async fn end(self) -> FinishedCall {
        match self {
            Self::Method(form, result, _task) => {
                let stopped = Status::unavailable("the server is shutting down");
                let (result, hold) = result.await.map_or((Err(stopped), None), |(result, hold)| (result, Some(hold)));
                FinishedCall::Method(form.answer(result), hold)
            }
            Self::JsonRpc(mut session) => {
                let replies = complete(&mut session).await;
                // Without replies, the body contained only notifications.
                let answer = replies.map_or_else(|| Answer::empty(204), |replies| Answer::new(200, JSON, replies));
                FinishedCall::JsonRpc(answer, session)
            }
        }
    }
}

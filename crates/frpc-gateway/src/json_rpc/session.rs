//! JSON-RPC calls of one connection, independent of the transport of their messages.
//!
//! If a handler completes immediately, its reply is encoded while the message is being handled. Other calls are tasks
//! that send their results through a mailbox.
//!
//! * `session/calls.rs`: requests and the calls that they start
//! * `session/replies.rs`: encoding of replies
//! * `session/streams.rs`: streaming calls
//! * `session/batch.rs`: batches
//! * `session/tools.rs`: tools of the Model Context Protocol (MCP)
//! * `session/ids.rs`: ids of requests

mod batch;
mod calls;
mod ids;
mod replies;
mod streams;
#[cfg(feature = "mcp")]
mod tools;

use super::framing::{FramingError, ScanLimits};
use super::mailbox::{CallNumber, SessionMailbox, SessionMessage};
use super::reply;
use crate::Gateway;
use crate::charge::Charge;
use crate::clock::now;
use batch::Batches;
use bytes::Bytes;
use calls::MessageBatch;
use frisbee::MemoryCharge;
use frpc::{AdapterContext, AdapterMethod, AdapterSlot, AdapterTask, Metadata, Status};
use ids::CallIds;
use replies::{reject, shortened, too_long};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Instant;
use streams::{StreamEnds, StreamTask};

/// UTF-8 byte order mark, which some editors write at the start of a file.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Minimum length in bytes of a request id that is charged to the client's memory limit while its call is in progress.
const ID_CHARGED: usize = 256;

/// Names of the message formats for params by name and by position.
pub(crate) const NAMED: &str = "json";
const POSITIONAL: &str = "json-positional";

/// JSON-RPC calls of one connection. A session performs no I/O: its owner passes messages to [`handle`](Self::handle),
/// polls the session, and sends [`output`](Self::output). Dropping the session cancels all calls in progress.
pub(crate) struct Session {
    /// Connection that the messages arrive on.
    pub(crate) context: AdapterContext,
    inner: Inner,
}

/// State of a [`Session`], except for the client's context, which a batch borrows separately.
struct Inner {
    bounds: ScanLimits,
    /// Maximum nesting depth of a message.
    levels: u32,
    /// Maximum size of a reply in bytes. An error replaces a longer reply.
    reply_max: usize,
    /// Whether notifications can be sent to the peer. Streaming methods require them.
    has_notices: bool,
    /// Whether an invalid message is answered with an error.
    answers_invalid: bool,
    metadata: Metadata,
    /// Reply to `rpc.discover`, shared by all sessions of the server.
    discovered: Arc<OnceLock<Vec<u8>>>,
    output: Vec<u8>,
    /// Memory charge of the output.
    charge: Charge,
    /// Methods called in this session, by the names that the peer used, so that further calls need no lookup.
    called: Vec<ResolvedMethod>,
    by_name: HashMap<Box<[u8]>, usize>,
    /// Index in `called` of the method that was called last, which is checked first.
    last: usize,
    calls: HashMap<CallNumber, Call>,
    ids: CallIds,
    next: CallNumber,
    streams: usize,
    batches: Batches,
    mailbox: Arc<SessionMailbox>,
    /// Messages of calls, to be handled once the peer has read its pending output.
    events: VecDeque<SessionMessage>,
    backlog_max: usize,
    /// Whether methods can be called by name. False for sessions that offer only tools.
    takes_methods: bool,
    /// Status that new calls are rejected with. `None` while calls are accepted.
    refusal: Option<Status>,
    #[cfg(feature = "mcp")]
    tools: Option<Box<tools::ToolSession>>,
}

/// A method called in this session, resolved once so that further calls need no lookup.
struct ResolvedMethod {
    name: Box<[u8]>,
    method: AdapterMethod,
    /// Handles of the method for params by name and by position. `None` if it does not support JSON messages.
    slots: [Option<AdapterSlot>; 2],
}

/// A call of the session that has not been answered.
struct Call {
    /// Request id as JSON. `None` for notifications, which have no reply.
    id: Option<Arc<[u8]>>,
    /// Memory charge of an id that has at least [`ID_CHARGED`] bytes.
    _charge: Option<MemoryCharge>,
    batch: Option<usize>,
    /// Whether the reply includes the metadata of the response.
    shows_metadata: bool,
    work: CallTask,
    /// State of an MCP tool call. `None` for other calls.
    #[cfg(feature = "mcp")]
    tool: Option<Box<tools::ToolCall>>,
}

/// Task of a call, which is aborted when the call is cancelled.
enum CallTask {
    Unary(#[allow(dead_code)] AdapterTask),
    Stream(StreamEnds, #[allow(dead_code)] StreamTask),
}

/// Data of a parsed request that is needed to start its call.
struct ParsedCall<'a> {
    id: Option<&'a [u8]>,
    batch: Option<usize>,
    shows_metadata: bool,
    request: frpc::Request<Bytes>,
    is_positional: bool,
    /// The whole message, if its params were not validated as JSON yet.
    unread: Option<&'a [u8]>,
}

impl Session {
    /// Creates the session of a client. `metadata` is added to every call, for example the header fields of the request
    /// that opened the connection.
    pub(crate) fn new(gateway: &Gateway, context: &AdapterContext, metadata: Metadata) -> Self {
        let config = context.config();
        let levels = context.methods().nesting_max();
        // In JSON, each level of a message may take two levels: an object, and an array or map. The request itself adds
        // an object and an array.
        let bounds = ScanLimits { depth_max: 2 * levels + 2, batch_max: gateway.batch_max };
        let inner = Inner {
            bounds,
            levels,
            reply_max: usize::try_from(config.body_limit()).unwrap_or(usize::MAX),
            has_notices: true,
            answers_invalid: true,
            metadata,
            discovered: gateway.discovered.clone(),
            output: Vec::new(),
            charge: Charge::default(),
            called: Vec::new(),
            by_name: HashMap::new(),
            last: 0,
            calls: HashMap::new(),
            ids: CallIds::default(),
            next: 0,
            streams: 0,
            batches: Batches::default(),
            mailbox: Arc::default(),
            events: VecDeque::new(),
            backlog_max: config.backlog_max,
            takes_methods: true,
            refusal: None,
            #[cfg(feature = "mcp")]
            tools: None,
        };
        Self { context: context.clone(), inner }
    }

    /// Sets the maximum size in bytes of replies to later calls.
    pub(crate) fn set_reply_max(&mut self, bytes: usize) {
        self.inner.reply_max = bytes;
    }

    /// Disables error replies to invalid messages. Otherwise, two servers could reply to each other's errors forever.
    pub(crate) fn for_datagrams(mut self) -> Self {
        self.inner.answers_invalid = false;
        self
    }

    /// Disables notifications, for peers that receive only replies.
    pub(crate) fn without_notices(mut self) -> Self {
        self.inner.has_notices = false;
        self
    }

    /// Returns the metadata that is added to later calls.
    #[cfg(feature = "http")]
    pub(crate) fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.inner.metadata
    }

    /// Handles a complete message. Appends replies that are available immediately to the output.
    pub(crate) fn handle(&mut self, message: &Bytes) {
        let spaces = message.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let message = message.slice(spaces..);
        let message =
            if message.starts_with(BYTE_ORDER_MARK) { message.slice(BYTE_ORDER_MARK.len()..) } else { message };
        self.run_batch(now(), |session| {
            if session.take_plain(&message, |behind| behind.iter().all(u8::is_ascii_whitespace)).is_none() {
                session.handle_whole(&message);
            }
        });
    }

    /// Handles several messages as one batch that began at `now`.
    pub(super) fn run_batch<T>(&mut self, now: Instant, handle: impl FnOnce(&mut MessageBatch<'_>) -> T) -> T {
        let Self { context, inner } = self;
        let methods = context.methods().batch(now);
        handle(&mut MessageBatch { context, inner, methods })
    }

    /// Waits until calls complete, and appends their replies to the output. Returns true if the output has grown, and
    /// false if no call is in progress.
    ///
    /// Nothing is added while the output has reached [`backlog_max`](frpc::Config::backlog_max). After draining it,
    /// poll again.
    pub(crate) fn poll(&mut self, task: &mut Context<'_>) -> Poll<bool> {
        let inner = &mut self.inner;
        if inner.next == 0 {
            return Poll::Ready(false);
        }
        let before = inner.output.len();
        inner.mailbox.take(&mut inner.events, task);
        if inner.calls.is_empty() {
            // Drop all messages: without calls in progress, they come from cancelled calls.
            inner.events.clear();
            return Poll::Ready(false);
        }
        while inner.output.len() < inner.backlog_max {
            let Some(event) = inner.events.pop_front() else { break };
            let hold = inner.read(event, &self.context);
            // Release the charge of the reply only after charging the output that it was copied to.
            inner.charge.set(&self.context, inner.output.capacity());
            drop(hold);
        }
        match inner.calls.len() {
            _ if inner.output.len() > before => Poll::Ready(true),
            0 => Poll::Ready(false),
            _ => Poll::Pending,
        }
    }

    /// Returns the output buffer: messages for the peer, each followed by a line feed. The owner removes the messages
    /// that it sends, and calls [`charge_output`](Self::charge_output).
    pub(crate) fn output(&mut self) -> &mut Vec<u8> {
        &mut self.inner.output
    }

    /// Adjusts the memory charge to the current size of the output buffer.
    pub(crate) fn charge_output(&mut self) {
        self.inner.charge.set(&self.context, self.inner.output.capacity());
    }

    /// Waits until no call is in progress. For sessions that send their whole output at the end.
    pub(crate) async fn finish(&mut self) {
        std::future::poll_fn(|task| {
            while self.calls() > 0 {
                std::task::ready!(self.poll(task));
            }
            Poll::Ready(())
        })
        .await;
    }

    pub(crate) fn calls(&self) -> usize {
        self.inner.calls.len()
    }

    /// Stops accepting messages. Calls in progress continue, but request streams end with `status`.
    pub(crate) fn cut_off(&mut self, status: &Status) {
        self.inner.cut_off(status);
    }

    /// Rejects new calls with `status`. Calls in progress continue and still receive request items.
    pub(crate) fn refuse_calls(&mut self) {
        self.inner.refusal = Some(if self.context.is_shutting_down() {
            Status::unavailable("the server is shutting down")
        } else {
            Status::unavailable("the connection has reached its maximum age")
        });
    }

    /// Returns whether the output has reached its limit. No messages are handled until the peer reads.
    pub(super) fn is_full(&self) -> bool {
        self.inner.output.len() >= self.inner.backlog_max
    }

    pub(super) fn bounds(&self) -> ScanLimits {
        self.inner.bounds
    }

    /// Appends an error reply that belongs to no request.
    pub(super) fn refuse(&mut self, refusal: FramingError) {
        let code = if refusal == FramingError::NotJson { reply::PARSE_ERROR } else { reply::INVALID_REQUEST };
        self.inner.refuse(code, &refusal.to_string());
    }

    /// Like [`refuse`](Self::refuse), but takes a status.
    pub(super) fn fail(&mut self, status: &Status) {
        reply::failure(&mut self.inner.output, reply::NO_ID, status);
        self.inner.output.push(b'\n');
    }
}

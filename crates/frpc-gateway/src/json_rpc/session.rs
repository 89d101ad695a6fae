//! JSON-RPC calls of one connection, independent of the transport of their messages.
//!
//! If a handler completes immediately, its reply is encoded while the message is being handled. Other calls are tasks
//! that send their results through a mailbox. `session/streams.rs` contains streams, `session/batch.rs` batches, and
//! `session/ids.rs` request ids.

mod batch;
mod ids;
mod streams;
#[cfg(feature = "mcp")]
mod tools;

use super::envelope::{InvalidRequest, Item, Message, Plain, Request};
use super::framing::{Framed, FramingError, MessageFraming, ScanLimits};
use super::mailbox::{CallNumber, SessionMailbox, SessionMessage};
use super::{discover, metadata, reply};
use crate::Gateway;
use crate::charge::check_room;
use crate::clock::now;
use batch::Batches;
use bytes::Bytes;
use frisbee::MemoryCharge;
use frisbee_core::cost;
use frpc::{AdapterBatch, AdapterCall, AdapterContext, AdapterMethod, AdapterSlot, AdapterTask, CallKind, Code};
use frpc::{Metadata, Response, Status};
use ids::CallIds;
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

/// Prefix of method names that JSON-RPC reserves.
const RESERVED: &str = "rpc.";

/// JSON-RPC calls of one connection. A session performs no I/O: its owner passes messages to [`handle`](Self::handle),
/// polls the session, and sends [`output`](Self::output). Dropping the session cancels all calls in progress.
///
pub(crate) struct Session {
    context: AdapterContext,
    inner: Inner,
}

/// State of a [`Session`] except the client's context, which a batch borrows separately.
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
    /// Whether the peer has called `rpc.discover`.
    has_discovered: bool,
    output: Vec<u8>,
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
    /// Status with which new calls are rejected. `None` while calls are accepted.
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
        // Each level of a message takes an object and possibly an array or map. The request itself adds an object and
        // an array.
        let bounds = ScanLimits { depth_max: 2 * levels + 2, batch_max: gateway.batch_max };
        let inner = Inner {
            bounds,
            levels,
            reply_max: usize::try_from(config.body_limit()).unwrap_or(usize::MAX),
            has_notices: true,
            answers_invalid: true,
            metadata,
            discovered: gateway.discovered.clone(),
            has_discovered: false,
            output: Vec::new(),
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

    /// Returns the context of the client's connection.
    pub(crate) fn context(&self) -> &AdapterContext {
        &self.context
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
            // Without calls in progress, all messages come from cancelled calls.
            inner.events.clear();
            return Poll::Ready(false);
        }
        while inner.output.len() < inner.backlog_max {
            let Some(event) = inner.events.pop_front() else { break };
            inner.read(event, &self.context);
        }
        match inner.calls.len() {
            _ if inner.output.len() > before => Poll::Ready(true),
            0 => Poll::Ready(false),
            _ => Poll::Pending,
        }
    }

    /// Returns the output buffer: messages for the peer, each followed by a line feed. The owner removes the messages
    /// that it sends.
    pub(crate) fn output(&mut self) -> &mut Vec<u8> {
        &mut self.inner.output
    }

    /// Waits until no call is in progress, for a session whose output is read at its end.
    #[cfg(feature = "http")]
    pub(crate) async fn finish(&mut self) {
        std::future::poll_fn(|task| {
            while self.calls() > 0 {
                std::task::ready!(self.poll(task));
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Returns the number of calls in progress.
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

/// Messages that are handled in order as one batch.
pub(super) struct MessageBatch<'a> {
    context: &'a AdapterContext,
    inner: &'a mut Inner,
    methods: AdapterBatch<'a>,
}

impl MessageBatch<'_> {
    /// Returns whether the output has reached its limit. No messages are handled until the peer reads.
    pub(super) fn is_full(&self) -> bool {
        self.inner.output.len() >= self.inner.backlog_max
    }

    /// Returns whether methods can be called by name.
    pub(super) fn takes_methods(&self) -> bool {
        self.inner.takes_methods
    }

    /// Handles the request at the start of `input` with the fast parser if it calls a unary method. `accepts` must
    /// approve the bytes after the request. Returns the length of the request.
    #[inline]
    pub(super) fn take_plain(&mut self, input: &Bytes, accepts: impl FnOnce(&[u8]) -> bool) -> Option<usize> {
        let Self { context, inner, methods } = self;
        // The general parser replies with the refusal.
        if inner.refusal.is_some() {
            return None;
        }
        let Plain { id, method, params, end } = Plain::read(input, inner.bounds)?;
        let slot = inner.unary(method, context)?;
        // Checked before anything is changed, because `None` makes the caller parse the message again.
        if !accepts(input.get(end..)?) {
            return None;
        }
        let id = id.and_then(|id| input.get(id));
        let is_positional = params.as_ref().is_some_and(|params| input.get(params.start) == Some(&b'['));
        let params = params.map_or(Bytes::from_static(b"{}"), |params| input.slice(params));
        let mut request = frpc::Request::new(params);
        if !inner.metadata.is_empty() {
            *request.metadata_mut() = inner.metadata.clone();
        }
        let unread = input.get(..end);
        let call = ParsedCall { id, batch: None, shows_metadata: false, request, is_positional, unread };
        let mut out = std::mem::take(&mut inner.output);
        inner.call_unary(slot, call, methods, context, &mut out);
        inner.output = out;
        Some(end)
    }

    /// Handles a complete message.
    pub(super) fn handle_whole(&mut self, message: &Bytes) {
        // Text that is not JSON goes to the parser below, which reports a parse error.
        if let Framed::Refused(refusal) = MessageFraming::default().scan(message, self.inner.bounds)
            && refusal != FramingError::NotJson
        {
            self.context.charge_abuse(message.len());
            return self.inner.refuse(reply::INVALID_REQUEST, &refusal.to_string());
        }
        self.handle_framed(message);
    }

    /// Handles a complete message that the framing scan has already checked.
    pub(super) fn handle_framed(&mut self, message: &Bytes) {
        match Message::read(message, self.inner.levels + 1) {
            Ok(Message::One(item)) => {
                let mut out = std::mem::take(&mut self.inner.output);
                let start = out.len();
                self.handle_item(item, message, None, &mut out);
                if out.len() > start {
                    out.push(b'\n');
                }
                // A notification may have ended another call, whose reply is then in the output.
                let ended = std::mem::replace(&mut self.inner.output, out);
                self.inner.output.extend_from_slice(&ended);
            }
            Ok(Message::Batch(items)) => self.handle_batch(items, message),
            Err(error) => {
                self.context.charge_abuse(message.len());
                self.inner.refuse(reply::PARSE_ERROR, &error.to_string());
            }
        }
    }

    /// Handles a request. Appends its reply if it is available immediately.
    fn handle_item(&mut self, item: Item<'_>, message: &Bytes, batch: Option<usize>, out: &mut Vec<u8>) {
        let request = match item {
            Item::Request(request) => request,
            Item::Response => {
                // Do not reply, because two peers that reply to invalid messages would do so forever.
                return self.context.charge_abuse(if batch.is_none() { message.len() } else { 0 });
            }
            Item::Invalid(InvalidRequest { id, reason }) => {
                // Count every invalid element of a batch.
                self.context.charge_abuse(if batch.is_none() { message.len() } else { 0 });
                if !self.inner.answers_invalid {
                    return;
                }
                let id = id.map_or(reply::NO_ID, str::as_bytes);
                return reply::error(out, id, reply::INVALID_REQUEST, reason);
            }
        };
        #[cfg(feature = "mcp")]
        if self.take_mcp(&request, message, batch, out) {
            return;
        }
        let Self { context, inner, methods } = self;
        let id = request.id.map(str::as_bytes);
        if request.method.starts_with(RESERVED) {
            return inner.handle_reserved(&request, message, context, out);
        }
        if let Some(status) = &inner.refusal {
            let Some(id) = id else { return };
            return reply::failure(out, id, status);
        }
        let Some(at) = inner.find(request.method.as_bytes(), context) else {
            let Some(id) = id else { return };
            let text = format!("unknown method {:?}", shortened(&request.method));
            return reply::error(out, id, reply::METHOD_NOT_FOUND, &text);
        };
        let mut head = frpc::Request::new(());
        if let Some(timeout) = request.timeout {
            head.set_timeout(timeout);
        }
        if !inner.metadata.is_empty() {
            *head.metadata_mut() = inner.metadata.clone();
        }
        if let Some(json) = request.metadata
            && let Err(reason) = metadata::read(json, head.metadata_mut())
        {
            context.charge_abuse(json.len());
            let Some(id) = id else { return };
            return reply::error(out, id, reply::INVALID_REQUEST, &reason);
        }
        let params = match request.params {
            Some(params) => message.slice_ref(params.as_bytes()),
            None => Bytes::from_static(b"{}"),
        };
        let is_positional = params.first() == Some(&b'[');
        let call = ParsedCall {
            id,
            batch,
            shows_metadata: request.metadata.is_some(),
            request: head.map(|()| params),
            is_positional,
            unread: None,
        };
        let start = out.len();
        if inner.called.get(at).is_some_and(|called| called.method.kind() == CallKind::Unary) {
            inner.call_unary(at, call, methods, context, out);
            if out.len() > start {
                // Remove the line feed, because the caller adds the separator.
                out.pop();
            }
        } else if let Err(status) = inner.open(at, call, &request, context) {
            context.charge_abuse(request.params.map_or(0, str::len));
            if let Some(id) = id {
                reply::failure(out, id, &status);
            }
        }
    }
}

impl Inner {
    /// Returns the index of the method with this name, given as `pkg.Service/Method` or `pkg.Service.Method`.
    #[inline]
    fn find(&mut self, name: &[u8], context: &AdapterContext) -> Option<usize> {
        if self.called.get(self.last).is_some_and(|called| *called.name == *name) {
            return Some(self.last);
        }
        self.last = match self.by_name.get(name) {
            Some(at) => *at,
            None => self.enter(name, context)?,
        };
        Some(self.last)
    }

    /// Looks up a method that was not called by this name before.
    #[cold]
    fn enter(&mut self, name: &[u8], context: &AdapterContext) -> Option<usize> {
        let text = std::str::from_utf8(name).ok()?;
        let (service, method) = text.rsplit_once('/').or_else(|| text.rsplit_once('.'))?;
        let method = context.methods().get(service, method)?;
        let slots = [NAMED, POSITIONAL].map(|format| method.slot(format));
        let at = self.called.len();
        self.called.push(ResolvedMethod { name: name.into(), method, slots });
        self.by_name.insert(name.into(), at);
        Some(at)
    }

    /// Like [`find`](Self::find), but returns only unary methods.
    #[inline]
    fn unary(&mut self, name: &[u8], context: &AdapterContext) -> Option<usize> {
        let at = self.find(name, context)?;
        self.called.get(at).is_some_and(|called| called.slots[0].is_some()).then_some(at)
    }

    /// Calls a unary method. Appends the reply and a line feed if the call completes immediately.
    #[inline]
    fn call_unary(
        &mut self,
        at: usize,
        call: ParsedCall<'_>,
        methods: &mut AdapterBatch<'_>,
        context: &AdapterContext,
        out: &mut Vec<u8>,
    ) {
        let ParsedCall { id, batch, shows_metadata, request, is_positional, unread } = call;
        let start = out.len();
        let Some(ResolvedMethod { slots: [named, positional], method, .. }) = self.called.get_mut(at) else { return };
        let Some(slot) = (if is_positional { positional } else { named }) else {
            if let Some(id) = id {
                let text = format!("{}/{} has no messages in JSON", method.service(), method.name());
                reply::failure(out, id, &Status::unimplemented(text));
                out.push(b'\n');
            }
            return;
        };
        if let Some(id) = id
            && let Err(status) = check_room(context, id.len())
        {
            reply::failure(out, reply::NO_ID, &status);
            return out.push(b'\n');
        }
        reply::begin_result(out, id.unwrap_or_default());
        let content = out.len();
        let (next, mailbox) = (&mut self.next, &self.mailbox);
        let called = slot.call(methods, request, out, || {
            let (number, mailbox) = (*next, mailbox.clone());
            *next += 1;
            move |result, hold| mailbox.send(SessionMessage::Done(number, result, hold))
        });
        let result = match called {
            AdapterCall::Ready(result) => result,
            AdapterCall::InProgress(task) => {
                out.truncate(start);
                self.begin(id, batch, shows_metadata, CallTask::Unary(task), context);
                return;
            }
        };
        let Some(id) = id else { return out.truncate(start) };
        let length = out.len() - content;
        let result = result.and_then(|response| check_room(context, length).map(|()| response));
        match result {
            Ok(response) if length <= self.reply_max => {
                reply::end_result(out, Some(response.metadata()).filter(|_| shows_metadata));
            }
            Ok(_) => {
                out.truncate(start);
                reply::failure(out, id, &too_long(length, self.reply_max));
            }
            Err(status) => {
                out.truncate(start);
                self.put_failure(out, id, &status, unread);
            }
        }
        out.push(b'\n');
    }

    /// Appends the error reply of a call that failed immediately.
    #[cold]
    fn put_failure(&self, out: &mut Vec<u8>, id: &[u8], status: &Status, unread: Option<&[u8]>) {
        if let Some(message) = unread.filter(|_| status.code() == Code::InvalidArgument)
            && let Err(error) = Message::read(message, self.levels + 1)
        {
            return reply::error(out, reply::NO_ID, reply::PARSE_ERROR, &error.to_string());
        }
        reply::failure(out, id, status);
    }

    /// Registers a call in progress, so that messages from its task are handled.
    fn begin(
        &mut self,
        id: Option<&[u8]>,
        batch: Option<usize>,
        shows_metadata: bool,
        work: CallTask,
        context: &AdapterContext,
    ) {
        // The caller has taken the number and advanced `next`.
        let number = self.next - 1;
        let charge = id.map_or(0, <[u8]>::len);
        let charge = (charge >= ID_CHARGED).then(|| context.charge(charge));
        let id: Option<Arc<[u8]>> = id.map(Arc::from);
        if let Some(id) = &id {
            self.ids.insert(id, number);
        }
        if let Some(batch) = batch {
            self.batches.wait(batch);
        }
        let call = Call {
            id,
            _charge: charge,
            batch,
            shows_metadata,
            work,
            #[cfg(feature = "mcp")]
            tool: None,
        };
        self.calls.insert(number, call);
    }

    /// Removes a call that has ended.
    fn end(&mut self, number: CallNumber) -> Option<Call> {
        let call = self.calls.remove(&number)?;
        if let Some(id) = &call.id {
            self.ids.remove(id, number);
        }
        if matches!(call.work, CallTask::Stream(..)) {
            self.streams -= 1;
        }
        Some(call)
    }

    fn read(&mut self, event: SessionMessage, context: &AdapterContext) {
        match event {
            SessionMessage::Done(number, result, hold) => {
                if let Some(call) = self.end(number) {
                    self.answer(call, result, context);
                }
                // The reply stays charged until it is part of the output.
                drop(hold);
            }
            SessionMessage::Item(number, item, permits, hold) => {
                #[cfg(feature = "mcp")]
                if self.put_tool_item(number, &item, permits, context) {
                    return;
                }
                self.put_item(number, &item, permits);
                drop(hold);
            }
            SessionMessage::Consumed(number, count) => self.grant(number, count),
            #[cfg(feature = "mcp")]
            SessionMessage::Cancelled(number) => drop(self.end(number)),
        }
    }

    /// Appends the reply of a completed call.
    fn answer(&mut self, call: Call, result: Result<Response<Bytes>, Status>, context: &AdapterContext) {
        #[cfg(feature = "mcp")]
        if let (Some(tool), Some(id)) = (call.tool, &call.id) {
            return self.answer_tool(id, *tool, result, context);
        }
        let Call { id, batch, shows_metadata, .. } = call;
        let reply_max = self.reply_max;
        let put = |out: &mut Vec<u8>| {
            let Some(id) = &id else { return };
            match result {
                Ok(response) if response.get_ref().len() <= reply_max => {
                    reply::begin_result(out, id);
                    out.extend_from_slice(response.get_ref());
                    reply::end_result(out, Some(response.metadata()).filter(|_| shows_metadata));
                }
                Ok(response) => reply::failure(out, id, &too_long(response.get_ref().len(), reply_max)),
                Err(status) => reply::failure(out, id, &status),
            }
        };
        match batch {
            Some(batch) => {
                self.batches.add(batch, id.as_deref(), self.reply_max, context, put);
                self.batches.end(batch, &mut self.output);
            }
            None => {
                let start = self.output.len();
                put(&mut self.output);
                if self.output.len() > start {
                    self.output.push(b'\n');
                }
            }
        }
    }

    /// Handles a request whose method name starts with `rpc.`.
    fn handle_reserved(&mut self, request: &Request<'_>, message: &Bytes, context: &AdapterContext, out: &mut Vec<u8>) {
        match request.id.map(str::as_bytes) {
            Some(id) if request.method == "rpc.discover" => {
                let mut metadata = self.metadata.clone();
                if let Some(json) = request.metadata
                    && let Err(reason) = metadata::read(json, &mut metadata)
                {
                    return reply::error(out, id, reply::INVALID_REQUEST, &reason);
                }
                if let Err(status) = discover::check_access(context.methods(), &metadata) {
                    context.charge_abuse(message.len());
                    return reply::failure(out, id, &status);
                }
                // Only the first document is free, because later ones are the same.
                if std::mem::replace(&mut self.has_discovered, true) {
                    context.charge_abuse(cost::DISCOVER as usize);
                }
                let document = self.discovered.get_or_init(|| discover::document(context.methods()));
                if document.len() > self.reply_max {
                    return reply::failure(out, id, &too_long(document.len(), self.reply_max));
                }
                reply::begin_result(out, id);
                out.extend_from_slice(document);
                reply::end_result(out, None);
            }
            Some(id) => {
                let text = format!("unknown method {:?}", shortened(&request.method));
                reply::error(out, id, reply::METHOD_NOT_FOUND, &text);
            }
            None => self.handle_notice(request, message, context),
        }
    }

    /// Appends an error reply that belongs to no request.
    fn refuse(&mut self, code: i32, text: &str) {
        if self.answers_invalid {
            reply::error(&mut self.output, reply::NO_ID, code, text);
            self.output.push(b'\n');
        }
    }
}

/// Maximum length in characters of an unknown method name that is quoted in an error.
const NAME_SHOWN: usize = 64;

fn shortened(name: &str) -> String {
    name.chars().take(NAME_SHOWN).collect()
}

fn too_long(length: usize, max: usize) -> Status {
    Status::resource_exhausted(format!("a reply of {length} bytes exceeds the limit of {max}"))
}

//! Requests of a session, and the calls that they start.

use super::{
    Call, CallTask, ID_CHARGED, Inner, NAMED, POSITIONAL, ParsedCall, ResolvedMethod, reject, shortened, too_long,
};
use crate::charge::check_room;
use crate::json_rpc::envelope::{InvalidRequest, Item, Message, Plain, Request};
use crate::json_rpc::framing::{Framed, FramingError, MessageFraming};
use crate::json_rpc::mailbox::{CallNumber, SessionMailbox, SessionMessage};
use crate::json_rpc::{metadata, reply};
use bytes::Bytes;
use frpc::{AdapterBatch, AdapterCall, AdapterContext, AdapterSlot, CallKind, Code, Metadata, Status};
use std::sync::Arc;

/// Prefix of method names that JSON-RPC reserves.
const RESERVED: &str = "rpc.";

/// Params of a request that has none.
pub(super) const NO_PARAMS: Bytes = Bytes::from_static(b"{}");

/// Messages that are handled in order as one batch.
pub(in crate::json_rpc) struct MessageBatch<'a> {
    pub(super) context: &'a AdapterContext,
    pub(super) inner: &'a mut Inner,
    pub(super) methods: AdapterBatch<'a>,
}

impl MessageBatch<'_> {
    /// Returns whether the output has reached its limit. No messages are handled until the peer reads.
    pub(in crate::json_rpc) fn is_full(&self) -> bool {
        self.inner.output.len() >= self.inner.backlog_max
    }

    /// Returns whether methods can be called by name.
    pub(in crate::json_rpc) fn takes_methods(&self) -> bool {
        self.inner.takes_methods
    }

    /// Handles the request at the start of `input` with the fast parser and returns its length. Returns `None` if the
    /// request needs the general parser, does not call a unary method, or is followed by bytes that `accepts`
    /// rejects.
    #[inline]
    pub(in crate::json_rpc) fn take_plain(
        &mut self,
        input: &Bytes,
        accepts: impl FnOnce(&[u8]) -> bool,
    ) -> Option<usize> {
        let Self { context, inner, methods } = self;
        // Fall back to the general parser, which replies with the refusal.
        if inner.refusal.is_some() {
            return None;
        }
        let Plain { id, method, params, end } = Plain::read(input, inner.bounds)?;
        let slot = inner.unary(method, context)?;
        // Check before changing any state, because `None` makes the caller handle the message again from the start.
        if !accepts(input.get(end..)?) {
            return None;
        }
        let id = id.and_then(|id| input.get(id));
        let is_positional = params.as_ref().is_some_and(|params| input.get(params.start) == Some(&b'['));
        let params = params.map_or(NO_PARAMS, |params| input.slice(params));
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

    pub(in crate::json_rpc) fn handle_whole(&mut self, message: &Bytes) {
        // Pass text that is not JSON on to the general parser, which reports a parse error.
        if let Framed::Refused(refusal) = MessageFraming::default().scan(message, self.inner.bounds)
            && refusal != FramingError::NotJson
        {
            self.context.charge_abuse(message.len());
            return self.inner.refuse(reply::INVALID_REQUEST, &refusal.to_string());
        }
        self.handle_framed(message);
    }

    /// Handles a complete message that the framing scan has already checked.
    pub(in crate::json_rpc) fn handle_framed(&mut self, message: &Bytes) {
        match Message::read(message, self.inner.levels + 1) {
            Ok(Message::One(item)) => {
                let mut out = std::mem::take(&mut self.inner.output);
                let start = out.len();
                self.handle_item(item, message, None, &mut out);
                if out.len() > start {
                    out.push(b'\n');
                }
                // A notification may have ended another call. The reply to that call is then in the output.
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

    /// Returns the request of an item. Charges other items as abuse, and appends an error reply if they are invalid.
    fn request_of<'i>(
        &self,
        item: Item<'i>,
        message: &Bytes,
        batch: Option<usize>,
        out: &mut Vec<u8>,
    ) -> Option<Request<'i>> {
        // Charge an element of a batch without its length. Otherwise, the length of the whole batch would be charged
        // for each.
        let malformed = if batch.is_none() { message.len() } else { 0 };
        match item {
            Item::Request(request) => return Some(request),
            // Do not reply, because two peers that reply to invalid messages would do so forever.
            Item::Response => self.context.charge_abuse(malformed),
            Item::Invalid(InvalidRequest { id, reason }) => {
                self.context.charge_abuse(malformed);
                if self.inner.answers_invalid {
                    reply::error(out, id.map_or(reply::NO_ID, str::as_bytes), reply::INVALID_REQUEST, reason);
                }
            }
        }
        None
    }

    /// Handles a request. Appends its reply if it is available immediately.
    pub(super) fn handle_item(&mut self, item: Item<'_>, message: &Bytes, batch: Option<usize>, out: &mut Vec<u8>) {
        let Some(request) = self.request_of(item, message, batch, out) else { return };
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
            return reject(context, out, id, reply::METHOD_NOT_FOUND, &text);
        };
        let metadata = match inner.metadata_of(&request) {
            Ok(metadata) => metadata,
            Err(reason) => {
                context.charge_abuse(request.metadata.map_or(0, str::len));
                let Some(id) = id else { return };
                return reply::error(out, id, reply::INVALID_REQUEST, &reason);
            }
        };
        let params = request.params.map_or(NO_PARAMS, |params| message.slice_ref(params.as_bytes()));
        let is_positional = params.first() == Some(&b'[');
        let mut head = frpc::Request::new(params);
        if let Some(timeout) = request.timeout {
            head.set_timeout(timeout);
        }
        if !metadata.is_empty() {
            *head.metadata_mut() = metadata;
        }
        let shows_metadata = request.metadata.is_some();
        let call = ParsedCall { id, batch, shows_metadata, request: head, is_positional, unread: None };
        let start = out.len();
        if inner.called.get(at).is_some_and(|called| called.method.kind() == CallKind::Unary) {
            inner.call_unary(at, call, methods, context, out);
            if out.len() > start {
                // Remove the line feed, because the caller adds the separator.
                out.pop();
            }
        } else if let Err(status) = inner.open(at, call, &request, context) {
            // Do not charge the client for the server's lack of memory. `charge_stream` charges it for too many
            // streams.
            if status.code() != Code::ResourceExhausted {
                context.charge_abuse(request.params.map_or(0, str::len));
            }
            if let Some(id) = id {
                reply::failure(out, id, &status);
            }
        }
    }
}

impl Inner {
    /// Returns the index of the method with this name, given as `pkg.Service/Method` or `pkg.Service.Method`.
    #[inline]
    pub(super) fn find(&mut self, name: &[u8], context: &AdapterContext) -> Option<usize> {
        if self.called.get(self.last).is_some_and(|called| *called.name == *name) {
            return Some(self.last);
        }
        self.last = match self.by_name.get(name) {
            Some(at) => *at,
            None => self.enter(name, context)?,
        };
        Some(self.last)
    }

    /// Looks up a method that this session has not called by this name yet. Returns its index in `called`.
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

    /// Returns the metadata of a call, which combines that of the session and of the request.
    ///
    /// # Errors
    /// Returns the reason if the request's metadata is invalid.
    pub(super) fn metadata_of(&self, request: &Request<'_>) -> Result<Metadata, String> {
        let mut metadata = self.metadata.clone();
        request.metadata.map_or(Ok(()), |json| metadata::read(json, &mut metadata))?;
        Ok(metadata)
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
        let called = invoke(slot, request, methods, (&mut self.next, &self.mailbox), out);
        let result = match called {
            AdapterCall::Ready(result) => result,
            AdapterCall::InProgress(task) => {
                out.truncate(start);
                self.begin(id, batch, shows_metadata, CallTask::Unary(task), context);
                return;
            }
        };
        let Some(id) = id else {
            out.truncate(start);
            return result.err().into_iter().for_each(|status| self.put_failure(out, None, &status, unread));
        };
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
                return self.put_failure(out, Some(id), &status, unread);
            }
        }
        out.push(b'\n');
    }

    /// Registers a call in progress, so that messages from its task are handled.
    pub(super) fn begin(
        &mut self,
        id: Option<&[u8]>,
        batch: Option<usize>,
        shows_metadata: bool,
        work: CallTask,
        context: &AdapterContext,
    ) {
        // The caller has advanced `next`, so the call's number is the previous one.
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

    pub(super) fn end(&mut self, number: CallNumber) -> Option<Call> {
        let call = self.calls.remove(&number)?;
        if let Some(id) = &call.id {
            self.ids.remove(id, number);
        }
        if matches!(call.work, CallTask::Stream(..)) {
            self.streams -= 1;
        }
        Some(call)
    }
}

/// Calls a unary method, which appends its reply to `out` if it completes immediately. Otherwise, the call gets the
/// number `next`, and sends its result to the mailbox.
#[inline]
pub(super) fn invoke(
    slot: &mut AdapterSlot,
    request: frpc::Request<Bytes>,
    methods: &mut AdapterBatch<'_>,
    (next, mailbox): (&mut CallNumber, &Arc<SessionMailbox>),
    out: &mut Vec<u8>,
) -> AdapterCall {
    slot.call(methods, request, out, || {
        // This runs only if the call stays in progress. A call that completes immediately needs no number.
        let (number, mailbox) = (*next, mailbox.clone());
        *next += 1;
        move |result, hold| mailbox.send(SessionMessage::Done(number, result, hold))
    })
}

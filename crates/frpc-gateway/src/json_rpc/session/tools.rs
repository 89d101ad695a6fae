//! Model Context Protocol messages in a session: tool calls are calls of the session with a different result format.

use super::calls::{MessageBatch, NO_PARAMS, invoke};
use super::{Call, CallTask, Inner, ParsedCall, Session, reply};
use crate::Mcp;
use crate::charge::{Charge, check_room};
use crate::json_rpc::envelope::{Request, members};
use crate::json_rpc::mailbox::{CallNumber, Canceller};
use crate::mcp::params::{self, CANCELLED, DISCOVER, INITIALIZE, PING, Params, RequestError, TOOLS_CALL, TOOLS_LIST};
use crate::mcp::reply::{
    Revision, end_object, put_cache, put_discovered, put_failure, put_initialized, put_progress, put_result,
};
use crate::mcp::{ResultShape, Tool};
use bytes::Bytes;
use frpc::{AdapterCall, AdapterContext, Code, Metadata, Response, Status};
use std::sync::Arc;

/// Size in bytes of unsent output above which progress notifications are dropped, because later ones supersede them.
const PROGRESS_MAX: usize = 64 * 1024;

/// MCP state of a session that offers methods as tools.
pub(super) struct ToolSession {
    mcp: Arc<Mcp>,
    /// Whether a request failed because the caller is not authenticated.
    is_denied: bool,
}

/// State of a tool call until its result is sent.
pub(super) struct ToolCall {
    revision: Revision,
    shape: ResultShape,
    /// Progress token of the call, as JSON. `None` if the client did not request progress notifications.
    token: Option<Box<str>>,
    /// Number of messages that the stream has produced.
    count: u64,
    /// JSON of the messages that the stream has produced, separated by commas.
    items: Vec<u8>,
    charge: Charge,
}

impl Session {
    /// Enables MCP tool calls in addition to calls by method name.
    pub(crate) fn with_tools(mut self, mcp: &Arc<Mcp>) -> Self {
        self.inner.tools = Some(Box::new(ToolSession { mcp: mcp.clone(), is_denied: false }));
        self
    }

    /// Enables MCP tool calls and disables calls by method name.
    pub(crate) fn for_tools(self, mcp: &Arc<Mcp>) -> Self {
        let mut session = self.with_tools(mcp);
        session.inner.takes_methods = false;
        session
    }

    /// Handles an MCP request after its params were parsed and checked.
    pub(crate) fn handle_mcp(
        &mut self,
        request: &Request<'_>,
        params: &Params<'_>,
        revision: Revision,
        message: &Bytes,
    ) {
        self.run_batch(super::now(), |batch| {
            // Move the output out, because `answer_mcp` borrows the whole session.
            let mut out = std::mem::take(&mut batch.inner.output);
            let start = out.len();
            batch.answer_mcp(request, params, revision, message, &mut out);
            if out.len() > start {
                out.push(b'\n');
            }
            batch.inner.output = out;
        });
    }

    /// Returns a handle that cancels the next call of this session.
    pub(crate) fn canceller(&self) -> Canceller {
        Canceller { mailbox: self.inner.mailbox.clone(), number: self.inner.next }
    }

    /// Returns whether any call in progress sends progress notifications.
    pub(crate) fn has_progress(&self) -> bool {
        let has_progress = |call: &Call| call.tool.as_ref().is_some_and(|tool| tool.token.is_some());
        self.inner.calls.values().any(|call| matches!(call.work, CallTask::Stream(..)) && has_progress(call))
    }

    /// Returns whether a request failed because the caller is not authenticated.
    pub(crate) fn is_denied(&self) -> bool {
        self.inner.tools.as_ref().is_some_and(|tools| tools.is_denied)
    }
}

impl MessageBatch<'_> {
    /// Handles a message if it belongs to MCP and appends its reply if that is available. Returns whether the message
    /// belongs to MCP.
    pub(super) fn take_mcp(
        &mut self,
        request: &Request<'_>,
        message: &Bytes,
        batch: Option<usize>,
        out: &mut Vec<u8>,
    ) -> bool {
        let inner = &mut *self.inner;
        if inner.tools.is_none() || inner.takes_methods && !params::is_method(&request.method) {
            return false;
        }
        let read = Params::read(request.params);
        let Some(id) = request.id else {
            if let (CANCELLED, Ok(Params { request_id: Some(id), .. })) = (&*request.method, &read)
                && let Some(number) = inner.ids.get(id.as_bytes())
                // Check the kind of the call: `notifications/cancelled` must not cancel a JSON-RPC call on the same
                // connection.
                && inner.calls.get(&number).is_some_and(|call| call.tool.is_some())
            {
                // Drop the call without a reply, as MCP recommends for cancelled requests.
                drop(inner.end(number));
            }
            return true;
        };
        let checked =
            read.map_err(|error| RequestError::new(reply::INVALID_PARAMS, error.to_string())).and_then(|params| {
                if batch.is_some() {
                    return Err(RequestError::new(reply::INVALID_REQUEST, "batch not supported: send one message"));
                }
                params.check(request, None).map(|revision| (params, revision))
            });
        match checked {
            Ok((params, revision)) => self.answer_mcp(request, &params, revision, message, out),
            Err(RequestError { code, text, data }) => {
                self.context.charge_abuse(text.len());
                reply::error_with(out, id.as_bytes(), code, &text, data.as_deref());
            }
        }
        true
    }

    /// Handles an MCP request. Appends the reply if it is available immediately.
    fn answer_mcp(
        &mut self,
        request: &Request<'_>,
        params: &Params<'_>,
        revision: Revision,
        message: &Bytes,
        out: &mut Vec<u8>,
    ) {
        let Self { context, inner, .. } = self;
        let Some(tools) = &inner.tools else { return };
        let mcp = &tools.mcp;
        let id = request.id.map_or(reply::NO_ID, str::as_bytes);
        let metadata = match inner.metadata_of(request) {
            Ok(metadata) => metadata,
            Err(reason) => return super::reject(context, out, id, reply::INVALID_REQUEST, &reason),
        };
        if let Err(status) = context.methods().check_caller(&metadata) {
            if let Some(tools) = &mut inner.tools {
                tools.is_denied = true;
            }
            return reply::failure(out, id, &status);
        }
        match &*request.method {
            method if !params::is_served(method, revision) => {
                let text = format!("unknown method {:?}", super::shortened(method));
                super::reject(context, out, id, reply::METHOD_NOT_FOUND, &text);
            }
            INITIALIZE => put_initialized(out, id, mcp, params.requested.as_deref()),
            PING => {
                reply::begin_result(out, id);
                out.extend_from_slice(b"{}");
                reply::end_result(out, None);
            }
            DISCOVER => put_discovered(out, id, mcp),
            TOOLS_LIST => inner.list_tools(out, id, params, &metadata, revision, context),
            TOOLS_CALL => self.call_tool(request, params, metadata, revision, message, out),
            _ => {}
        }
    }

    /// Calls the method of a tool with the request message from the tool's arguments.
    fn call_tool(
        &mut self,
        request: &Request<'_>,
        params: &Params<'_>,
        metadata: Metadata,
        revision: Revision,
        message: &Bytes,
        out: &mut Vec<u8>,
    ) {
        let Self { context, ref mut inner, .. } = *self;
        let (Some(tools), Some(id)) = (&inner.tools, request.id) else { return };
        let mcp = tools.mcp.clone();
        let id = id.as_bytes();
        if let Some(status) = inner.refusal.clone() {
            return inner.put_tool_failure(out, id, revision, &status);
        }
        let Some(tool) = params.name.as_deref().and_then(|name| mcp.tools(context).get(name)) else {
            let name = params.name.as_deref().unwrap_or_default();
            let text = format!("unknown tool {:?}: see tools/list", super::shortened(name));
            return super::reject(context, out, id, reply::INVALID_PARAMS, &text);
        };
        // Reject a duplicate id, because replies and cancellations identify a call only by its id.
        if inner.ids.get(id).is_some() {
            let text = "the id is that of a request in progress: use another one";
            return super::reject(context, out, id, reply::INVALID_REQUEST, text);
        }
        let arguments = match message_of(tool, params.arguments) {
            Ok(arguments) => arguments.map_or(NO_PARAMS, |json| message.slice_ref(json.as_bytes())),
            Err(text) => return super::reject(context, out, id, reply::INVALID_PARAMS, text),
        };
        let mut call = frpc::Request::new(arguments);
        call.set_timeout(request.timeout.map_or(mcp.timeout, |timeout| timeout.min(mcp.timeout)));
        *call.metadata_mut() = metadata;
        put_trace(call.metadata_mut(), params.traceparent.as_deref());
        if let Err(status) = self.run_tool(tool, id, call, params, revision, out) {
            self.inner.put_tool_failure(out, id, revision, &status);
        }
    }

    /// Starts the call of a tool. Appends its result if the call completes immediately.
    ///
    /// # Errors
    /// If the call failed immediately.
    fn run_tool(
        &mut self,
        tool: &Tool,
        id: &[u8],
        call: frpc::Request<Bytes>,
        params: &Params<'_>,
        revision: Revision,
        out: &mut Vec<u8>,
    ) -> Result<(), Status> {
        let Self { context, inner, methods } = self;
        let at = inner.find(tool.path.as_bytes(), context);
        let called = at.and_then(|at| Some((at, inner.called.get_mut(at)?)));
        let (at, called) = called.ok_or_else(|| Status::unimplemented("the method is not served"))?;
        let missing = tool.missing(params.arguments.unwrap_or("{}"));
        // Check access before the response of a stream starts, because status 401 cannot be sent later. Also check it
        // before reporting missing arguments, so that callers without access do not learn their names.
        if !missing.is_empty() || tool.shape == ResultShape::Items {
            called.method.check_access(call.metadata())?;
        }
        if !missing.is_empty() {
            return Err(Status::invalid_argument(format!("missing arguments: {}", missing.join(", "))));
        }
        let token = params.progress_token.map(Into::into);
        let (shape, items, charge) = (tool.shape, Vec::new(), Charge::default());
        let mut form = ToolCall { revision, shape, token, count: 0, items, charge };
        // Read the number before starting the call, which advances `next`.
        let number = inner.next;
        if shape == ResultShape::Items {
            let id = Some(id);
            let (batch, shows_metadata, is_positional, unread) = (None, false, false, None);
            let parsed = ParsedCall { id, batch, shows_metadata, request: call, is_positional, unread };
            inner.open(at, parsed, &Request::default(), context)?;
        } else {
            let Some(slot) = &mut called.slots[0] else { return Ok(()) };
            match invoke(slot, call, methods, (&mut inner.next, &inner.mailbox), &mut form.items) {
                AdapterCall::Ready(Ok(_)) => {
                    inner.put_tool(out, id, &form, Ok(()), context);
                    return Ok(());
                }
                AdapterCall::Ready(Err(status)) => return Err(status),
                AdapterCall::InProgress(task) => {
                    form.items.clear();
                    inner.begin(Some(id), None, false, CallTask::Unary(task), context);
                }
            }
        }
        if let Some(call) = inner.calls.get_mut(&number) {
            call.tool = Some(Box::new(form));
        }
        Ok(())
    }
}

/// Extracts the request message from the arguments of a tool. Returns `None` if the message is empty.
fn message_of<'a>(tool: &Tool, arguments: Option<&'a str>) -> Result<Option<&'a str>, &'static str> {
    let arguments = arguments.filter(|json| *json != "null");
    if arguments.is_some_and(|json| !json.starts_with('{')) {
        return Err("invalid arguments: use an object");
    }
    if !tool.takes_value {
        return Ok(arguments);
    }
    let mut value = None;
    let read = members(arguments.unwrap_or("{}"), |key, json| {
        if key == "value" {
            value = Some(json);
        }
        Ok(())
    });
    read.map_err(|_| "invalid arguments: use an object")?;
    value.map(Some).ok_or("missing argument \"value\"")
}

/// Adds the trace context of an MCP request to the metadata, unless the header fields already contain one.
fn put_trace(metadata: &mut Metadata, traceparent: Option<&str>) {
    const TRACEPARENT: &str = "traceparent";
    if let Some(trace) = traceparent
        && metadata.get(TRACEPARENT).is_none()
    {
        // Ignore a trace context that is not valid metadata.
        let _ = metadata.insert(TRACEPARENT, trace);
    }
}

impl Inner {
    /// Appends the reply to `tools/list`: one page of the tools that the caller is permitted to call.
    fn list_tools(
        &mut self,
        out: &mut Vec<u8>,
        id: &[u8],
        params: &Params<'_>,
        metadata: &Metadata,
        revision: Revision,
        context: &AdapterContext,
    ) {
        let Some(ToolSession { mcp, is_denied }) = self.tools.as_deref_mut() else { return };
        let tools = mcp.tools(context);
        let from = match params.cursor.as_deref().map(str::parse) {
            None => 0,
            Some(Ok(from)) if from <= tools.len() => from,
            Some(_) => {
                return super::reject(context, out, id, reply::INVALID_PARAMS, "invalid cursor: begin without one");
            }
        };
        let token = context.methods().check_caller(metadata);
        let (mut refused, mut is_any) = (token.err(), false);
        let has_token = refused.is_none();
        let start = out.len();
        reply::begin_result(out, id);
        out.extend_from_slice(b"{\"tools\":[");
        let next = tools.put_page(out, from, mcp.page_max, |tool| {
            let method = context.methods().get(tool.service, tool.method).filter(|_| has_token);
            let allowed = method.map(|method| method.check_access(metadata));
            let is_open = allowed == Some(Ok(()));
            is_any |= is_open;
            refused = refused.take().or(allowed.and_then(Result::err));
            is_open
        });
        out.push(b']');
        if let Some(next) = next {
            out.extend_from_slice(format!(",\"nextCursor\":\"{next}\"").as_bytes());
        }
        if revision == Revision::Modern {
            put_cache(out);
        }
        end_object(out, mcp, revision);
        reply::end_result(out, None);
        let length = out.len() - start;
        let failure = match refused.filter(|status| !is_any && status.code() == Code::Unauthenticated) {
            Some(status) => {
                *is_denied = true;
                Some(status)
            }
            None if length > self.reply_max => Some(super::too_long(length, self.reply_max)),
            None => check_room(context, length).err(),
        };
        if let Some(status) = failure {
            out.truncate(start);
            reply::failure(out, id, &status);
        }
    }

    /// Appends the result of a tool after its stream has ended, with the messages collected in `call`.
    fn put_tool(
        &mut self,
        out: &mut Vec<u8>,
        id: &[u8],
        call: &ToolCall,
        result: Result<(), Status>,
        context: &AdapterContext,
    ) {
        let Some(ToolSession { mcp, .. }) = self.tools.as_deref() else { return };
        let length = call.items.len();
        let result = result.and_then(|()| match length {
            // Check room for three times the length: the reply contains the result twice, the second time as text
            // with more escapes.
            length if length <= mcp.result_max => check_room(context, 3 * length),
            length => Err(too_large(length, mcp.result_max)),
        });
        match result {
            Ok(()) => put_result(out, id, mcp, call.revision, call.shape, &call.items),
            Err(status) => self.put_tool_failure(out, id, call.revision, &status),
        }
    }

    /// Appends the result of a completed tool call.
    pub(super) fn answer_tool(
        &mut self,
        id: &[u8],
        mut call: ToolCall,
        result: Result<Response<Bytes>, Status>,
        context: &AdapterContext,
    ) {
        let result = result.map(|response| {
            if call.shape != ResultShape::Items {
                call.items = response.into_inner().into();
            }
        });
        let mut out = std::mem::take(&mut self.output);
        self.put_tool(&mut out, id, &call, result, context);
        out.push(b'\n');
        self.output = out;
    }

    fn put_tool_failure(&mut self, out: &mut Vec<u8>, id: &[u8], revision: Revision, status: &Status) {
        let Some(ToolSession { mcp, is_denied }) = self.tools.as_deref_mut() else { return };
        *is_denied |= status.code() == Code::Unauthenticated;
        put_failure(out, id, mcp, revision, status);
    }

    /// Stores a message of a tool's stream and sends a progress notification. Returns false if the call is not a tool
    /// call.
    pub(super) fn put_tool_item(
        &mut self,
        number: CallNumber,
        item: &Bytes,
        permits: usize,
        context: &AdapterContext,
    ) -> bool {
        let Self { calls, tools, output, .. } = self;
        let Some(Call { tool: Some(call), work: CallTask::Stream(ends, _), .. }) = calls.get_mut(&number) else {
            return false;
        };
        let Some(ToolSession { mcp, .. }) = tools.as_deref() else { return false };
        let length = call.items.len() + item.len() + 1;
        let has_grown = call.charge.set(context, length);
        let refused = match () {
            () if length > mcp.result_max => Some(too_large(length, mcp.result_max)),
            () if has_grown && context.is_overloaded() => Some(crate::charge::overloaded()),
            () => None,
        };
        if let Some(status) = refused {
            self.finish(number, status, context);
            return true;
        }
        if call.count > 0 {
            call.items.push(b',');
        }
        call.items.extend_from_slice(item);
        call.count += 1;
        // Skip progress notifications, which are optional, while the client has not read much of its output.
        if let Some(token) = call.token.as_deref().filter(|_| output.len() < PROGRESS_MAX) {
            put_progress(output, token, call.count, item);
        }
        // Release the item's window permits although it is still stored, because stored items have a separate limit.
        ends.window.add_permits(permits);
        true
    }
}

fn too_large(length: usize, max: usize) -> Status {
    Status::resource_exhausted(format!("a result of {length} bytes exceeds the limit of {max}: ask for less"))
}

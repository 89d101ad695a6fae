//! Replies of a session: results of calls, errors, and the document of `rpc.discover`.

use super::{Call, Inner};
use crate::charge::CHARGED_MIN;
use crate::json_rpc::envelope::{Message, Request};
use crate::json_rpc::mailbox::SessionMessage;
use crate::json_rpc::{discover, reply};
use bytes::Bytes;
use frisbee::MemoryCharge;
use frisbee_core::cost;
use frpc::{AdapterContext, Code, Response, Status};

/// Space in bytes for the parts of a reply other than its id and body.
const RESERVED_LEAST: usize = 1024;

/// Reserves space in `out` for a reply with a body of `length` bytes. For long replies, the buffer grows by an eighth
/// rather than doubling, because its whole capacity is charged to the client.
fn reserve(out: &mut Vec<u8>, length: usize) {
    if length >= CHARGED_MIN && out.capacity() - out.len() < length + RESERVED_LEAST {
        out.reserve_exact((length + RESERVED_LEAST).max(out.len() / 8));
    }
}

impl Inner {
    /// Handles a message of a call. Returns the memory charge of the reply or item, if the message contained one.
    pub(super) fn read(&mut self, event: SessionMessage, context: &AdapterContext) -> Option<MemoryCharge> {
        match event {
            SessionMessage::Done(number, result, hold) => {
                if let Some(call) = self.end(number) {
                    self.answer(call, result, context);
                }
                Some(hold)
            }
            SessionMessage::Item(number, item, permits, hold) => {
                #[cfg(feature = "mcp")]
                if self.put_tool_item(number, &item, permits, context) {
                    return Some(hold);
                }
                self.put_item(number, &item, permits);
                Some(hold)
            }
            SessionMessage::Consumed(number, count) => {
                self.grant(number, count);
                None
            }
            #[cfg(feature = "mcp")]
            SessionMessage::Cancelled(number) => {
                self.end(number);
                None
            }
        }
    }

    /// Appends the reply of a completed call.
    pub(super) fn answer(&mut self, call: Call, result: Result<Response<Bytes>, Status>, context: &AdapterContext) {
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
                    reserve(out, id.len() + response.get_ref().len());
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

    /// Appends the error reply of a call that failed immediately, and a line feed. Only a message that is not JSON has
    /// a reply without an id.
    #[cold]
    pub(super) fn put_failure(&self, out: &mut Vec<u8>, id: Option<&[u8]>, status: &Status, unread: Option<&[u8]>) {
        if let Some(message) = unread.filter(|_| status.code() == Code::InvalidArgument)
            && let Err(error) = Message::read(message, self.levels + 1)
        {
            if !self.answers_invalid {
                return;
            }
            reply::error(out, reply::NO_ID, reply::PARSE_ERROR, &error.to_string());
        } else if let Some(id) = id {
            reply::failure(out, id, status);
        } else {
            return;
        }
        out.push(b'\n');
    }

    /// Handles a request for a method named `rpc.…`.
    pub(super) fn handle_reserved(
        &mut self,
        request: &Request<'_>,
        message: &Bytes,
        context: &AdapterContext,
        out: &mut Vec<u8>,
    ) {
        match request.id.map(str::as_bytes) {
            Some(id) if request.method == "rpc.discover" => {
                let metadata = match self.metadata_of(request) {
                    Ok(metadata) => metadata,
                    Err(reason) => return reject(context, out, id, reply::INVALID_REQUEST, &reason),
                };
                if let Err(status) = discover::check_access(context.methods(), &metadata) {
                    context.charge_abuse(message.len());
                    return reply::failure(out, id, &status);
                }
                // Charge each request, although the document is encoded only once, because the reply is long.
                context.charge_abuse(cost::DISCOVER as usize);
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
                reject(context, out, id, reply::METHOD_NOT_FOUND, &text);
            }
            None => self.handle_notice(request, context),
        }
    }

    /// Appends an error reply that belongs to no request.
    pub(super) fn refuse(&mut self, code: i32, text: &str) {
        if self.answers_invalid {
            reply::error(&mut self.output, reply::NO_ID, code, text);
            self.output.push(b'\n');
        }
    }
}

/// Replies to a useless request with an error, and charges the request to the client.
pub(super) fn reject(context: &AdapterContext, out: &mut Vec<u8>, id: &[u8], code: i32, text: &str) {
    context.charge_abuse(text.len());
    reply::error(out, id, code, text);
}

/// Maximum length in characters of an unknown method name that is quoted in an error.
const NAME_SHOWN: usize = 64;

pub(super) fn shortened(name: &str) -> String {
    name.chars().take(NAME_SHOWN).collect()
}

pub(super) fn too_long(length: usize, max: usize) -> Status {
    Status::resource_exhausted(format!("a reply of {length} bytes exceeds the limit of {max}"))
}

//! The calls of one connection: messages of the peer in, messages for it out, whatever carries them.

use super::envelope::Request;
use super::reply;
use crate::Gateway;
use bytes::Bytes;
use frpc::{ForeignContext, ForeignMethod, Metadata};
use std::task::{Context, Poll, ready};
use tokio::task::JoinSet;

/// The calls of one connection. It does no I/O: who carries messages gives each to [`handle`](Self::handle), polls, and
/// sends what is in [`output`](Self::output).
///
/// Dropping it ends the calls in progress.
pub(crate) struct Session {
    context: ForeignContext,
    metadata: Metadata,
    output: Vec<u8>,
    calls: JoinSet<Vec<u8>>,
}

impl Session {
    /// A session of the client with this context. `metadata` is that of all its calls, such as the header of the
    /// request that began the connection.
    pub(crate) fn new(_gateway: &Gateway, context: &ForeignContext, metadata: Metadata) -> Self {
        Self { context: context.clone(), metadata, output: Vec::new(), calls: JoinSet::new() }
    }

    /// Handles a whole message of the peer. Calls that end at once have their replies in the output.
    pub(crate) fn handle(&mut self, message: &Bytes) {
        let request = match Request::read(message) {
            Ok(request) => request,
            Err(error) => return reply::error(&mut self.output, "null", reply::PARSE_ERROR, &error.to_string()),
        };
        let id = request.id.map(str::to_owned);
        let Some(method) = self.method(request.method) else {
            let Some(id) = id else { return };
            return reply::error(&mut self.output, &id, reply::METHOD_NOT_FOUND, "there is no such method");
        };
        let params = message.slice_ref(request.params.unwrap_or("{}").as_bytes());
        let mut request = frpc::Request::new(params);
        *request.metadata_mut() = self.metadata.clone();
        let call = async move {
            let mut out = Vec::new();
            let called = method.unary(request, "json").await;
            let Some(id) = id else { return out };
            match called {
                Ok(response) => reply::result(&mut out, &id, response.get_ref()),
                Err(status) => reply::status(&mut out, &id, &status),
            }
            out
        };
        self.calls.spawn_on(call, self.context.runtime_handle());
    }

    /// Waits until calls have ended, and appends their replies to the output. Ready, with `true`, if it has grown, and
    /// with `false` if no call is in progress.
    pub(crate) fn poll(&mut self, task: &mut Context<'_>) -> Poll<bool> {
        let Some(reply) = ready!(self.calls.poll_join_next(task)) else { return Poll::Ready(false) };
        self.output.extend_from_slice(&reply.unwrap_or_default());
        Poll::Ready(true)
    }

    /// The messages for the peer, each with a line feed at its end and none within. Who sends them takes them out.
    pub(crate) fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// The number of calls in progress.
    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    fn method(&self, name: &str) -> Option<ForeignMethod> {
        let (service, method) = name.rsplit_once(['/', '.'])?;
        self.context.methods().get(service, method)
    }
}

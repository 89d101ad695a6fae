//! The Streamable HTTP endpoint: each client message is a POST. The response is one JSON object, or an event stream for
//! a call with progress notifications.

use super::in_flight::Registered;
use super::params::{self, HeaderFields, INITIALIZE, Params, RequestError, TOOLS_CALL};
use super::reply::Revision;
use super::settings::{Mcp, Resource};
use crate::Gateway;
use crate::charge::metadata_size;
use crate::connect::unary::Format;
use crate::gzip;
use crate::http::answer::{Answer, JSON};
use crate::http::fields::KnownFields;
use crate::http::route::{Protocol, RequestHead, Route};
use crate::json_rpc::Session;
use crate::json_rpc::envelope::{InvalidRequest, Item, Request};
use crate::json_rpc::reply::{self, INVALID_REQUEST, PARSE_ERROR, Quoted, put_list, put_text};
use bytes::{Bytes, BytesMut};
use frisbee::MemoryCharge;
use frpc::{AdapterContext, Metadata};
use http_body::Frame;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

const PATH: &str = "/mcp";

/// Path of the protected resource metadata (RFC 9728). The path of the resource is appended.
const RESOURCE_PATH: &str = "/.well-known/oauth-protected-resource";

pub(crate) const EVENTS: &str = "text/event-stream";

/// Header field that carries the MCP session id.
const SESSION: &str = "mcp-session-id";

/// Memory in bytes that is charged for the session of a request in addition to its metadata, measured by the test
/// `waiting_calls_are_charged_as_allocated`.
const SESSION_COST: usize = 1536;

/// Returns the route of a request to the MCP endpoint or its metadata, and `None` for other requests.
pub(crate) fn route(mcp: &Mcp, asked: &RequestHead<'_>, protocol: Option<Protocol>) -> Option<Route> {
    let RequestHead { method, path, known, .. } = asked;
    if let Some(resource) = &mcp.resource
        && let Some(PATH | "") = path.strip_prefix(RESOURCE_PATH)
    {
        return Some(Route::Answer(match *method {
            "GET" | "HEAD" => Answer::new(200, JSON, document(resource)).with("cache-control", "no-store"),
            _ => Answer::wrong_method("GET, HEAD", "the document about this resource is read by GET"),
        }));
    }
    if *path != PATH {
        return None;
    }
    Some(match *method {
        "POST" if protocol != Some(Protocol::Unary(Format::Json)) => {
            Route::Answer(Answer::wrong_type(JSON, "a message is sent as application/json"))
        }
        "POST" if !is_accepted(known, JSON) || !is_accepted(known, EVENTS) => {
            Route::Answer(Answer::refusal(406, "a client accepts application/json and text/event-stream"))
        }
        "POST" => Route::Mcp,
        // Reject other methods, because there is no separate event stream and no session to delete.
        _ => Route::Answer(Answer::wrong_method("POST", "a message is sent by POST")),
    })
}

/// Returns whether the client accepts a media type, according to its `accept` field.
fn is_accepted(known: &KnownFields<'_>, media_type: &str) -> bool {
    gzip::accepts(known.accept.as_deref(), |range| match range.strip_suffix("/*") {
        Some("*") => true,
        Some(kind) => media_type.split('/').next().is_some_and(|of| of.eq_ignore_ascii_case(kind)),
        None => range.eq_ignore_ascii_case(media_type),
    })
}

/// Encodes the OAuth protected resource metadata of the endpoint.
fn document(resource: &Resource) -> Vec<u8> {
    let mut out = format!(r#"{{"resource":{},"authorization_servers":["#, Quoted(&resource.url)).into_bytes();
    put_list(&mut out, &resource.authorization_servers, |out, url| put_text(out, url));
    out.extend_from_slice(b"],\"bearer_methods_supported\":[\"header\"]");
    if !resource.scopes.is_empty() {
        out.extend_from_slice(b",\"scopes_supported\":[");
        put_list(&mut out, &resource.scopes, |out, scope| put_text(out, scope));
        out.push(b']');
    }
    out.push(b'}');
    out
}

/// Returns the `www-authenticate` field for a caller without a valid token.
fn challenge(mcp: &Mcp) -> String {
    let Some(Resource { url, scopes, .. }) = &mcp.resource else { return "Bearer".to_owned() };
    let authority = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(authority..).and_then(|rest| rest.find('/')).map_or(url.len(), |at| authority + at);
    let (origin, path) = url.split_at(end);
    let scope = if scopes.is_empty() { String::new() } else { format!(", scope=\"{}\"", scopes.join(" ")) };
    format!("Bearer resource_metadata=\"{origin}{RESOURCE_PATH}{}\"{scope}", path.trim_end_matches('/'))
}

/// Response of the MCP endpoint to a message.
pub(crate) enum Outcome {
    Whole(Answer),
    Events(Box<Events>),
}

/// Handles one MCP message that was sent over HTTP.
pub(crate) async fn answer(
    gateway: &Gateway,
    mcp: &Arc<Mcp>,
    context: &AdapterContext,
    known: &KnownFields<'_>,
    metadata: Metadata,
    body: Bytes,
) -> Outcome {
    let levels = context.methods().nesting_max() + 1;
    let (id, refusal) = match Item::read_whole(&body, levels) {
        Ok(Item::Request(request)) => {
            let id = request.id.unwrap_or("null");
            let endpoint = McpEndpoint { gateway, mcp, context, known };
            match endpoint.serve(&request, metadata, &body).await {
                Ok(outcome) => return outcome,
                Err(refusal) => (id, refusal),
            }
        }
        // This includes batches, which the protocol does not permit.
        Ok(Item::Invalid(InvalidRequest { id, reason })) => {
            (id.unwrap_or("null"), RequestError::new(INVALID_REQUEST, reason))
        }
        Ok(Item::Response) => return Outcome::Whole(Answer::empty(202)),
        Err(error) => ("null", RequestError::new(PARSE_ERROR, error.to_string())),
    };
    context.charge_abuse(body.len());
    let mut out = Vec::new();
    reply::error_with(&mut out, id.as_bytes(), refusal.code, &refusal.text, refusal.data.as_deref());
    Outcome::Whole(Answer::new(400, JSON, out))
}

/// Context of one HTTP request to the MCP endpoint.
struct McpEndpoint<'a> {
    gateway: &'a Gateway,
    mcp: &'a Arc<Mcp>,
    context: &'a AdapterContext,
    known: &'a KnownFields<'a>,
}

impl McpEndpoint<'_> {
    async fn serve(&self, request: &Request<'_>, metadata: Metadata, body: &Bytes) -> Result<Outcome, RequestError> {
        let Self { gateway, mcp, context, known } = self;
        // Authenticate before parsing the params, so that rejected callers cannot make the server parse them.
        if let Err(status) = context.methods().check_caller(&metadata) {
            context.charge_abuse(body.len());
            let mut out = Vec::new();
            reply::failure(&mut out, request.id.unwrap_or("null").as_bytes(), &status);
            let answer = Answer { status: 401, ..Answer::new(200, JSON, out) };
            return Ok(Outcome::Whole(answer.with("www-authenticate", challenge(mcp))));
        }
        let params = Params::read(request.params).map_err(|error| RequestError::new(PARSE_ERROR, error.to_string()))?;
        let Some(id) = request.id else {
            if let (params::CANCELLED, Some(session), Some(id)) =
                (&*request.method, known.mcp_session, params.request_id)
            {
                mcp.in_flight.cancel(session, id);
            }
            return Ok(Outcome::Whole(Answer::empty(202)));
        };
        let head = HeaderFields {
            version: known.mcp_version.map(text),
            method: known.mcp_method.map(text),
            name: known.mcp_name.map(text),
        };
        let revision = params.check(request, Some(&head))?;
        let charged = context.charge(SESSION_COST + metadata_size(&metadata));
        let mut session = Session::new(gateway, context, metadata).for_tools(mcp);
        // Only older clients cancel a call with a request. In later versions of the protocol, they close its response.
        let registered =
            match known.mcp_session.filter(|_| revision == Revision::Legacy && request.method == TOOLS_CALL) {
                None => None,
                Some(of) => {
                    let registered = mcp.in_flight.register(of, id, session.canceller());
                    Some(registered.ok_or_else(|| {
                        RequestError::new(INVALID_REQUEST, "the id is that of a request in progress: use another one")
                    })?)
                }
            };
        // Start the call after registering it, so that an immediate cancellation finds it.
        session.handle_mcp(request, &params, revision, body);
        if session.has_progress() {
            return Ok(Outcome::Events(Box::new(Events { session, _registered: registered, _charged: charged })));
        }
        // Charge the body, because `answer` retains it until this function returns.
        let body_charge = context.charge(body.len());
        session.finish().await;
        drop((charged, body_charge));
        let mut output = std::mem::take(session.output());
        if output.pop().is_none() {
            // The call was cancelled, so the client expects no reply.
            return Ok(Outcome::Whole(Answer::empty(202)));
        }
        let answer = Answer::new(200, JSON, output);
        Ok(Outcome::Whole(match () {
            () if session.is_denied() => Answer { status: 401, ..answer }.with("www-authenticate", challenge(mcp)),
            () if revision == Revision::Modern && !params::is_served(&request.method, revision) => {
                Answer { status: 404, ..answer }
            }
            () if request.method == INITIALIZE => answer.with(SESSION, mcp.in_flight.new_session()),
            () => answer,
        }))
    }
}

/// Returns the value of a field as text. A value that is not UTF-8 becomes empty text, which never matches the body.
fn text(field: &[u8]) -> &str {
    std::str::from_utf8(field.trim_ascii()).unwrap_or_default()
}

/// Event stream with progress notifications of a tool call. The last event is the result.
pub(crate) struct Events {
    session: Session,
    _registered: Option<Registered>,
    _charged: MemoryCharge,
}

impl Events {
    /// Polls for the next events of the stream.
    pub(crate) fn poll_frame(&mut self, task: &mut Context<'_>) -> Poll<Option<Frame<Bytes>>> {
        if !ready!(self.session.poll(task)) {
            return Poll::Ready(None);
        }
        let output = std::mem::take(self.session.output());
        self.session.charge_output();
        let mut events = BytesMut::with_capacity(output.len() + 32);
        for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            for part in [b"event: message\ndata: ", line, b"\n\n"] {
                events.extend_from_slice(part);
            }
        }
        Poll::Ready(Some(Frame::data(events.freeze())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accept_must_cover_json_and_events() {
        let accepts = |accept: Option<&'static str>| {
            let known = KnownFields { accept: accept.map(|text| text.as_bytes().into()), ..KnownFields::default() };
            is_accepted(&known, JSON) && is_accepted(&known, EVENTS)
        };
        for both in [
            "application/json, text/event-stream",
            "text/event-stream;q=0.5,Application/JSON",
            "*/*",
            "text/*, application/*",
        ] {
            assert!(accepts(Some(both)), "{both}");
        }
        for other in [None, Some(""), Some("application/json"), Some("text/event-stream"), Some("*/*;q=0")] {
            assert!(!accepts(other), "{other:?}");
        }
    }

    #[test]
    fn challenge_links_resource_metadata_document() {
        let protected = |url| challenge(&Mcp::new().protected_by(url, ["https://login.example.com"], ["a", "b"]));
        let expected = "Bearer resource_metadata=\"https://api.example.com:8443/.well-known/oauth-protected-resource/mcp\", scope=\"a b\"";
        assert_eq!(protected("https://api.example.com:8443/mcp"), expected);
        let root =
            "Bearer resource_metadata=\"https://api.example.com/.well-known/oauth-protected-resource\", scope=\"a b\"";
        assert_eq!(protected("https://api.example.com/"), root);
        assert_eq!(challenge(&Mcp::new()), "Bearer");
    }
}

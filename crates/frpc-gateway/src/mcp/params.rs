//! Parser for the params of MCP requests, and checks of the protocol version and the header fields.

use super::reply::{MODERN, Revision, VERSIONS};
use crate::base64;
use crate::json_rpc::envelope::{Request, members, text};
use crate::json_rpc::reply::{INVALID_PARAMS, INVALID_REQUEST, Quoted};
use frpc::json::DecodeError;
use std::borrow::Cow;

/// Maximum size in bytes of request ids and progress tokens, which are stored while a call is in progress.
const ID_MAX: usize = 256;

/// MCP error code: the header fields contradict the body.
const HEADER_MISMATCH: i32 = -32020;

/// MCP error code: the protocol version is not supported.
const UNSUPPORTED_VERSION: i32 = -32022;

pub(crate) const INITIALIZE: &str = "initialize";
pub(crate) const PING: &str = "ping";
pub(crate) const DISCOVER: &str = "server/discover";
pub(crate) const TOOLS_LIST: &str = "tools/list";
pub(crate) const TOOLS_CALL: &str = "tools/call";

/// Prefix of the method names of MCP notifications.
const NOTIFICATIONS: &str = "notifications/";

/// MCP notification that cancels a request.
pub(crate) const CANCELLED: &str = "notifications/cancelled";

/// Returns whether a method name belongs to MCP.
pub(crate) fn is_method(name: &str) -> bool {
    [Revision::Legacy, Revision::Modern].into_iter().any(|revision| is_served(name, revision))
        || name.starts_with(NOTIFICATIONS)
}

/// Returns whether a revision of MCP defines this request method.
pub(crate) fn is_served(name: &str, revision: Revision) -> bool {
    match name {
        TOOLS_LIST | TOOLS_CALL => true,
        INITIALIZE | PING => revision == Revision::Legacy,
        DISCOVER => revision == Revision::Modern,
        _ => false,
    }
}

/// Members of MCP request params that the server uses. Their values are not parsed further.
#[derive(Debug, Default)]
pub(crate) struct Params<'a> {
    pub(crate) name: Option<Cow<'a, str>>,
    /// Arguments of the tool as JSON of any type.
    pub(crate) arguments: Option<&'a str>,
    pub(crate) cursor: Option<Cow<'a, str>>,
    /// Protocol version that `initialize` requests.
    pub(crate) requested: Option<Cow<'a, str>>,
    pub(crate) request_id: Option<&'a str>,
    /// Progress token as JSON, a string or a number.
    pub(crate) progress_token: Option<&'a str>,
    pub(crate) traceparent: Option<Cow<'a, str>>,
    /// Protocol version in the member `_meta`.
    version: Option<Cow<'a, str>>,
    has_capabilities: bool,
}

impl<'a> Params<'a> {
    /// Parses the params of an MCP request.
    pub(crate) fn read(params: Option<&'a str>) -> Result<Self, DecodeError> {
        let mut read = Self::default();
        let Some(params) = params.filter(|params| params.starts_with('{')) else { return Ok(read) };
        members(params, |key, value| {
            match key {
                "name" => read.name = text(value)?,
                "arguments" => read.arguments = Some(value),
                "cursor" => read.cursor = Some(text(value)?.unwrap_or(Cow::Borrowed(value))),
                "protocolVersion" => read.requested = text(value)?,
                "requestId" => read.request_id = Some(value),
                "_meta" if value.starts_with('{') => {
                    members(value, |key, value| {
                        match key {
                            // Limit the length, because the token is repeated in each notification.
                            "progressToken" if value.len() <= ID_MAX && is_id(value) => {
                                read.progress_token = Some(value);
                            }
                            "traceparent" => read.traceparent = text(value)?,
                            "io.modelcontextprotocol/protocolVersion" => read.version = text(value)?,
                            "io.modelcontextprotocol/clientCapabilities" => {
                                read.has_capabilities = value.starts_with('{');
                            }
                            _ => {}
                        }
                        Ok(())
                    })?;
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(read)
    }

    /// Checks the protocol version of a request. Over HTTP, also checks that the header fields match the body.
    pub(crate) fn check(
        &self,
        request: &Request<'_>,
        head: Option<&HeaderFields<'_>>,
    ) -> Result<Revision, RequestError> {
        if request.id.is_none_or(|id| !is_id(id) || id.len() > ID_MAX) {
            return Err(RequestError::new(INVALID_REQUEST, "an id is a string or a number of at most 256 bytes"));
        }
        let stated = self.version.as_deref();
        if request.method == INITIALIZE && stated != Some(MODERN) {
            // Permit an unsupported version in the header field, because `initialize` negotiates the version by its
            // params.
            return Ok(Revision::Legacy);
        }
        if let Some(head) = head {
            match (head.version, stated) {
                (Some(field), Some(stated)) if field != stated => {
                    return Err(RequestError::mismatch("MCP-Protocol-Version"));
                }
                (None, Some(stated)) if stated == MODERN || !VERSIONS.contains(&stated) => {
                    return Err(RequestError::mismatch("MCP-Protocol-Version"));
                }
                (Some(field), _) if !VERSIONS.contains(&field) => return Err(RequestError::version(field)),
                _ => {}
            }
        }
        if let Some(stated) = stated.filter(|stated| !VERSIONS.contains(stated)) {
            return Err(RequestError::version(stated));
        }
        let is_modern =
            request.method == DISCOVER || [stated, head.and_then(|head| head.version)].contains(&Some(MODERN));
        if !is_modern {
            return Ok(Revision::Legacy);
        }
        if stated != Some(MODERN) || !self.has_capabilities {
            return Err(RequestError::new(
                INVALID_PARAMS,
                "_meta lacks io.modelcontextprotocol/protocolVersion or io.modelcontextprotocol/clientCapabilities",
            ));
        }
        if let Some(head) = head {
            if head.method != Some(&*request.method) {
                return Err(RequestError::mismatch("Mcp-Method"));
            }
            if request.method == TOOLS_CALL && head.name() != self.name {
                return Err(RequestError::mismatch("Mcp-Name"));
            }
        }
        Ok(Revision::Modern)
    }
}

/// Returns whether a JSON value is a string or a number.
fn is_id(value: &str) -> bool {
    matches!(value.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'))
}

/// Header fields of an HTTP request that MCP defines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeaderFields<'a> {
    pub(crate) version: Option<&'a str>,
    pub(crate) method: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
}

impl<'a> HeaderFields<'a> {
    /// Returns the tool name from the header fields. Names that a header field cannot hold are encoded in base64.
    fn name(&self) -> Option<Cow<'a, str>> {
        let name = self.name?;
        match name.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
            None => Some(Cow::Borrowed(name)),
            Some(encoded) => Some(String::from_utf8(base64::decode(encoded.as_bytes())?).ok()?.into()),
        }
    }
}

/// Error of a rejected MCP request. It is sent as a JSON-RPC error, over HTTP with status 400.
#[derive(Debug)]
pub(crate) struct RequestError {
    pub(crate) code: i32,
    pub(crate) text: String,
    /// Additional error data as JSON.
    pub(crate) data: Option<String>,
}

impl RequestError {
    pub(crate) fn new(code: i32, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), data: None }
    }

    fn mismatch(field: &str) -> Self {
        Self::new(HEADER_MISMATCH, format!("the header field {field} is missing or differs from the body"))
    }

    fn version(requested: &str) -> Self {
        let requested: String = requested.chars().take(64).collect();
        let data = format!(r#"{{"supported":["{}"],"requested":{}}}"#, VERSIONS.join("\",\""), Quoted(&requested));
        let text = format!("unsupported protocol version {requested:?}: use {}", VERSIONS.join(", "));
        Self { code: UNSUPPORTED_VERSION, text, data: Some(data) }
    }
}

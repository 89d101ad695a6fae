//! Selection of the protocol and the method of a request.

use super::answer::{Answer, JSON, TEXT};
use super::fields::KnownFields;
use crate::connect::unary::{ACCEPTED, Format};
use crate::{Gateway, Http};
use frpc::{AdapterContext, AdapterMethod, CallKind};
use std::borrow::Cow;

/// Parts of a request head that select the protocol and the method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestHead<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) known: &'a KnownFields<'a>,
    pub(crate) is_http2: bool,
}

/// RPC protocol of a call, determined by its content type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Protocol {
    /// A unary Connect call. Its body is the message.
    Unary(Format),
    /// A streaming Connect call. Its messages are in envelopes.
    Stream(Format),
    Grpc(Format),
    /// gRPC-Web, which sends the trailers at the end of the body.
    Web(Format),
    /// gRPC-Web with a body in base64.
    WebText(Format),
}

/// How an admitted request is handled.
#[derive(Debug)]
pub(crate) enum Route {
    /// A response that is available without a call.
    Answer(Answer),
    JsonRpc,
    /// JSON-RPC in Ion.
    #[cfg(feature = "ion")]
    Ion,
    /// A message of the Model Context Protocol.
    #[cfg(feature = "mcp")]
    Mcp,
    /// A unary Connect call by GET.
    Get(AdapterMethod),
    Call(AdapterMethod, Protocol),
    /// A call of an unknown method, which is rejected in the caller's protocol.
    NoMethod(Protocol),
}

impl Protocol {
    /// Returns the RPC protocol of a content type.
    pub(crate) fn of(content_type: &[u8]) -> Option<Self> {
        let essence = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let lower = match essence.iter().any(u8::is_ascii_uppercase) {
            true => Cow::Owned(essence.to_ascii_lowercase()),
            false => Cow::Borrowed(essence),
        };
        let subtype = lower.strip_prefix(b"application/")?;
        if let Some(format) = Format::named(subtype) {
            return Some(Self::Unary(format));
        }
        let plus = subtype.iter().position(|byte| *byte == b'+');
        let (protocol, format) = match plus {
            Some(plus) => (subtype.get(..plus)?, Format::named(subtype.get(plus + 1..)?)?),
            None => (subtype, Format::Proto),
        };
        match protocol {
            b"connect" if plus.is_some() => Some(Self::Stream(format)),
            b"grpc" => Some(Self::Grpc(format)),
            b"grpc-web" => Some(Self::Web(format)),
            b"grpc-web-text" => Some(Self::WebText(format)),
            _ => None,
        }
    }

    pub(crate) fn format(self) -> Format {
        match self {
            Self::Unary(format)
            | Self::Stream(format)
            | Self::Grpc(format)
            | Self::Web(format)
            | Self::WebText(format) => format,
        }
    }

    fn is_open(self, http: &Http) -> bool {
        match self {
            Self::Unary(_) | Self::Stream(_) => http.connect,
            Self::Grpc(_) | Self::Web(_) | Self::WebText(_) => http.grpc,
        }
    }
}

/// Returns the response to a health check at `/healthz` or `/readyz` if health checks are enabled.
pub(crate) fn probe(http: &Http, context: &AdapterContext, method: &str, path: &str) -> Option<Answer> {
    if !http.health || !matches!(method, "GET" | "HEAD") {
        return None;
    }
    match path {
        "/healthz" => Some(Answer::new(200, TEXT, "ok\n")),
        "/readyz" if context.is_shutting_down() => Some(Answer::new(503, TEXT, "stopping\n")),
        "/readyz" if context.is_overloaded() => Some(Answer::new(503, TEXT, "short of memory\n")),
        "/readyz" if !context.methods().is_ready() => Some(Answer::new(503, TEXT, "not serving\n")),
        "/readyz" => Some(Answer::new(200, TEXT, "ok\n")),
        _ => None,
    }
}

/// Determines how an admitted request is handled.
pub(crate) fn route(gateway: &Gateway, http: &Http, context: &AdapterContext, request: RequestHead<'_>) -> Route {
    let RequestHead { method, path, known, .. } = request;
    let protocol = known.content_type.and_then(Protocol::of);
    if method == "OPTIONS" && known.preflight.is_some() && known.origin.is_some() {
        return Route::Answer(http.locks.preflight(known));
    }
    #[cfg(feature = "console")]
    if let Some(answer) =
        http.locks.console.as_ref().and_then(|console| console.answer(&request, context.connection().peer_addr()))
    {
        return Route::Answer(answer);
    }
    #[cfg(feature = "mcp")]
    if let Some(route) = gateway.mcp.as_ref().and_then(|mcp| crate::mcp::http::route(mcp, &request, protocol)) {
        return route;
    }
    #[cfg(feature = "metrics")]
    if path == "/metrics"
        && let Some(answer) = http.metrics.answer(context, method)
    {
        return Route::Answer(answer);
    }
    if path == "/" && method == "GET" && gateway.web_socket {
        return Route::Answer(Answer::needs_upgrade("websocket", "a GET of this path takes an upgrade to WebSocket"));
    }
    if path == "/" && gateway.json_rpc {
        return match (method, protocol) {
            ("POST", Some(Protocol::Unary(Format::Json))) => Route::JsonRpc,
            #[cfg(feature = "ion")]
            ("POST", None) if known.content_type.is_some_and(is_ion) => Route::Ion,
            ("POST", _) => {
                Route::Answer(Answer::wrong_type(JSON_RPC_TYPES, "a JSON-RPC message is sent as application/json"))
            }
            _ => Route::Answer(Answer::wrong_method("POST", "a JSON-RPC message is sent by POST")),
        };
    }
    if path == "/debug/frpc"
        && let Some(page) = &http.debug
    {
        return Route::Answer(match method {
            "GET" | "HEAD" => Answer::new(200, JSON, page.json()).with("cache-control", "no-store"),
            _ => Answer::wrong_method("GET, HEAD", "the debug page is read by GET"),
        });
    }
    route_call(http, context, &request, protocol)
}

/// Determines how a request to the path of a method is handled.
fn route_call(http: &Http, context: &AdapterContext, request: &RequestHead<'_>, protocol: Option<Protocol>) -> Route {
    let RequestHead { method, path, is_http2, .. } = *request;
    let found = path.strip_prefix('/').and_then(|path| path.rsplit_once('/'));
    let found = found.and_then(|(service, name)| context.methods().get(service, name));
    let Some(found) = found.filter(|_| http.connect || http.grpc) else {
        return match protocol {
            Some(protocol @ (Protocol::Grpc(_) | Protocol::Web(_) | Protocol::WebText(_))) if http.grpc => {
                Route::NoMethod(protocol)
            }
            _ => Route::Answer(Answer::not_found(path)),
        };
    };
    let may_get = http.connect && found.kind() == CallKind::Unary && !found.has_side_effects();
    match method {
        "POST" => {}
        "GET" if may_get => return Route::Get(found),
        _ if may_get => {
            return Route::Answer(Answer::wrong_method("GET, POST", "the method is called by POST, or by GET"));
        }
        _ => return Route::Answer(Answer::wrong_method("POST", "the method is called by POST")),
    }
    let is_unary = found.kind() == CallKind::Unary;
    let accepted = if is_unary { ACCEPTED } else { ACCEPTED_OF_STREAMS };
    // Reject a unary content type for a streaming method and a streaming one for a unary method.
    let is_accepted = |protocol: &Protocol| match protocol {
        Protocol::Unary(_) => is_unary,
        Protocol::Stream(_) => !is_unary,
        _ => true,
    };
    let Some(protocol) = protocol.filter(|protocol| protocol.is_open(http) && is_accepted(protocol)) else {
        let text = format!("the content type of a call of this method is one of {accepted}");
        return Route::Answer(Answer::wrong_type(accepted, &text));
    };
    match protocol {
        Protocol::Grpc(_) if !is_http2 => {
            let text =
                "gRPC takes HTTP/2, without an upgrade if there is no TLS; gRPC-Web and Connect take HTTP/1.1 too";
            Route::Answer(Answer::needs_upgrade("h2c", text))
        }
        protocol => Route::Call(found, protocol),
    }
}

/// Content types of JSON-RPC requests.
const JSON_RPC_TYPES: &str =
    if cfg!(feature = "ion") { "application/json, application/ion" } else { "application/json" };

#[cfg(feature = "ion")]
fn is_ion(content_type: &[u8]) -> bool {
    let essence = content_type.split(|byte| *byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(super::answer::ION.as_bytes())
}

/// Content types accepted for requests to streaming methods.
const ACCEPTED_OF_STREAMS: &str = "application/connect+json, application/connect+proto";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_type_selects_protocol_and_format() {
        for (text, expected) in [
            ("application/json", Some(Protocol::Unary(Format::Json))),
            ("Application/JSON; charset=utf-8", Some(Protocol::Unary(Format::Json))),
            ("application/proto", Some(Protocol::Unary(Format::Proto))),
            ("application/connect+json", Some(Protocol::Stream(Format::Json))),
            ("application/connect+proto", Some(Protocol::Stream(Format::Proto))),
            ("application/grpc", Some(Protocol::Grpc(Format::Proto))),
            ("application/grpc+json", Some(Protocol::Grpc(Format::Json))),
            ("application/grpc-web", Some(Protocol::Web(Format::Proto))),
            ("application/grpc-web-text+proto", Some(Protocol::WebText(Format::Proto))),
            ("application/connect", None),
            ("application/grpc+thrift", None),
            ("application/x-www-form-urlencoded", None),
            ("text/plain", None),
            ("application/json+proto", None),
            ("", None),
        ] {
            assert_eq!(Protocol::of(text.as_bytes()), expected, "{text:?}");
        }
    }
}

//! Header fields that HTTP or an RPC protocol defines, so that no other value may be sent.

/// Returns whether a header field controls HTTP itself, in requests as well as in responses.
pub(crate) fn is_of_http(name: &str) -> bool {
    matches!(
        name,
        "host"
            | "connection"
            | "keep-alive"
            | "transfer-encoding"
            | "te"
            | "trailer"
            | "upgrade"
            | "expect"
            | "accept"
            | "accept-encoding"
            | "origin"
            | "proxy-connection"
            | "http2-settings"
    ) || ["sec-", "access-control-"].iter().any(|prefix| name.starts_with(prefix))
}

/// Returns whether a response field is used by HTTP or the RPC protocol, so that a handler's metadata must not set it.
pub(crate) fn is_of_response(name: &str) -> bool {
    is_of_http(name)
        || matches!(name, "proxy-authenticate" | "proxy-authentication-info" | "date" | "server" | "vary")
        || ["content-", "connect-", "grpc-", "trailer-", "accept-"].iter().any(|prefix| name.starts_with(prefix))
}

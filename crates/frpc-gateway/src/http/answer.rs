//! Responses with complete bodies, and the texts of responses that reject a request.

use crate::{connect, gzip};
use bytes::Bytes;
use frpc::Code;
use std::borrow::Cow;

pub(crate) const JSON: &str = "application/json";
#[cfg(feature = "ion")]
pub(crate) const ION: &str = "application/ion";
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";

/// A complete HTTP response, independent of HTTP version and of hyper.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The content type of the body, or `None` if there is no body.
    pub(crate) content_type: Option<&'static str>,
    /// Header fields in addition to `content-type` and `content-length`.
    pub(crate) fields: Vec<(Cow<'static, str>, String)>,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn new(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status, content_type: Some(content_type), fields: Vec::new(), body: body.into() }
    }

    pub(crate) fn empty(status: u16) -> Self {
        Self { status, content_type: None, fields: Vec::new(), body: Bytes::new() }
    }

    /// Creates a response with a Connect error, for a call that cannot be made.
    pub(crate) fn failure(status: u16, code: Code, text: &str) -> Self {
        Self::new(status, JSON, connect::error::json(code, text, &[]))
    }

    /// Creates the response to a request that is not a call, with a plain text for the user. The RPC protocols define
    /// no error for such requests.
    pub(crate) fn refusal(status: u16, text: &str) -> Self {
        Self::new(status, TEXT, format!("{text}\n"))
    }

    pub(crate) fn not_found(path: &str) -> Self {
        // Remove control characters, because the text is displayed to users.
        let path: String = path.chars().filter(|letter| !letter.is_control()).take(200).collect();
        let text = format!("{path} not found; call a method at /package.Service/Method");
        Self::refusal(404, &text)
    }

    pub(crate) fn wrong_method(allow: &'static str, text: &str) -> Self {
        Self::refusal(405, text).with("allow", allow)
    }

    pub(crate) fn wrong_type(accept: &str, text: &str) -> Self {
        Self::refusal(415, text).with("accept-post", accept)
    }

    pub(crate) fn too_long(limit: u64) -> Self {
        Self::failure(413, Code::ResourceExhausted, &format!("the body may have {limit} bytes at most"))
    }

    pub(crate) fn needs_upgrade(protocol: &'static str, text: &str) -> Self {
        Self::refusal(426, text).with("upgrade", protocol).with("connection", "upgrade")
    }

    /// Returns whether the client caused the error. Status codes from 500 report the state of the server instead, for
    /// example to a health check during shutdown.
    pub(crate) fn is_clients_fault(&self) -> bool {
        (400..500).contains(&self.status)
    }

    /// Compresses the body if it is long enough and the client accepts gzip.
    pub(crate) fn compressed(mut self, encodings: Option<&[u8]>) -> Self {
        let Some(body) = gzip::compressed(&self.body, encodings) else { return self };
        self.body = body;
        self.with("content-encoding", "gzip")
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((Cow::Borrowed(name), value.into()));
        self
    }
}

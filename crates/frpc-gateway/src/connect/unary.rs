//! Unary Connect calls. Request and response messages are HTTP bodies.

use super::error;
use crate::http::answer::{Answer, JSON};
use crate::http::fields;
use crate::streams;
use bytes::Bytes;
use frpc::Trailers;
use frpc::{AdapterMethod, Metadata, Response, Status};
use std::borrow::Cow;
use std::time::Duration;

/// Supported content types, listed in the response to a client that sent another one.
pub(crate) const ACCEPTED: &str = "application/json, application/proto";

/// Message format of a request or response body: JSON or protobuf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Json,
    Proto,
}

impl Format {
    /// Returns the format's name, which is also its suffix in content types.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Proto => "proto",
        }
    }

    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"json" => Some(Self::Json),
            b"proto" => Some(Self::Proto),
            _ => None,
        }
    }

    /// Returns the content type of a unary Connect call in this format.
    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            Self::Json => JSON,
            Self::Proto => "application/proto",
        }
    }
}

/// Calls a unary method and converts its result to an HTTP response.
pub(crate) async fn call(
    method: &AdapterMethod,
    format: Format,
    metadata: Metadata,
    timeout: Option<Duration>,
    message: Bytes,
) -> Answer {
    answer(format, method.unary(streams::request(message, timeout, metadata), format.name()).await)
}

/// Converts the result of a unary call to an HTTP response.
pub(crate) fn answer(format: Format, result: Result<Response<Bytes>, Status>) -> Answer {
    match result {
        Ok(response) => {
            let fields = fields(&response);
            Answer { status: 200, content_type: Some(format.content_type()), fields, body: response.into_inner() }
        }
        Err(status) => failure(&status),
    }
}

/// Converts the metadata of a response to header fields.
pub(crate) fn fields<T>(response: &Response<T>) -> Vec<(Cow<'static, str>, String)> {
    let mut fields = Vec::new();
    if !response.metadata().is_empty() {
        fields.extend(named(fields::fields(response.metadata(), "")));
    }
    if let Some(Trailers(trailers)) = response.extensions().get() {
        fields.extend(named(fields::fields(trailers, "trailer-")));
    }
    fields
}

/// Converts the status of a failed call to an HTTP response.
pub(crate) fn failure(status: &Status) -> Answer {
    Answer {
        status: error::http_status(status.code()),
        content_type: Some(JSON),
        fields: named(fields::fields(status.metadata(), "")).collect(),
        body: error::of_status(status),
    }
}

/// Returns the response to a call with an invalid header field or query.
pub(crate) fn invalid(reason: &str) -> Answer {
    Answer::failure(400, frpc::Code::InvalidArgument, reason)
}

/// Converts names and values to header fields.
pub(crate) fn named(fields: Vec<(String, String)>) -> impl Iterator<Item = (Cow<'static, str>, String)> {
    fields.into_iter().map(|(name, value)| (Cow::Owned(name), value))
}

//! Statuses and metadata of gRPC calls, converted from HTTP/2 fields and errors:
//! <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>.

use crate::api::metadata::BASE64;
use crate::client::attempt::SentState;
use crate::{Code, Metadata, Status};
use base64::Engine as _;
use frisbee_http2::{ErrorCode, Head};
use percent_encoding::percent_decode;
use std::sync::Arc;
use std::time::Duration;

/// Reason why a call failed without a status from the server.
#[derive(Clone, Debug)]
pub(super) enum CallError {
    Reset(ErrorCode),
    /// The connection was lost for this reason.
    Lost(Arc<str>),
    /// A request message could not be sent. Contains the status of the call.
    Unsent(Status),
}

impl CallError {
    /// Returns the progress of the failed call, which determines whether it may be retried.
    pub(super) fn sent_state(&self) -> SentState {
        match self {
            Self::Lost(_) => SentState::Disconnected,
            Self::Reset(ErrorCode::REFUSED_STREAM) => SentState::Refused,
            Self::Reset(_) | Self::Unsent(_) => SentState::Answered,
        }
    }

    pub(super) fn status(&self, authority: &str) -> Status {
        match self {
            Self::Lost(reason) => Status::unavailable(format!(
                "the connection to {authority} was lost and the call may have run: {reason}"
            )),
            Self::Unsent(status) => status.clone(),
            Self::Reset(ErrorCode::REFUSED_STREAM) => {
                Status::unavailable(format!("{authority} refused the call, which has not run")).not_run()
            }
            Self::Reset(code) => Status::new(
                match *code {
                    ErrorCode::CANCEL => Code::Cancelled,
                    ErrorCode::ENHANCE_YOUR_CALM => Code::ResourceExhausted,
                    ErrorCode::INADEQUATE_SECURITY => Code::PermissionDenied,
                    ErrorCode::STREAM_CLOSED | ErrorCode::HTTP_1_1_REQUIRED => Code::Unknown,
                    _ => Code::Internal,
                },
                format!("{authority} reset the call: {code}"),
            ),
        }
    }
}

/// Checks that a response head is a gRPC response. Responses of proxies are mapped to a status as defined in
/// <https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md>.
pub(super) fn check_head(head: &Head) -> Result<(), Status> {
    if head.is_truncated() {
        return Err(Status::resource_exhausted("the reply has more header fields than allowed"));
    }
    let status = head.status().unwrap_or(0);
    let content_type = head.get("content-type").unwrap_or_default();
    let rest = content_type.strip_prefix(b"application/grpc");
    if status == 200 && rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';'))) {
        return Ok(());
    }
    if head.get("grpc-status").is_some() {
        return outcome(head);
    }
    let code = match status {
        400 => Code::Internal,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::Unimplemented,
        429 | 502..=504 => Code::Unavailable,
        _ => Code::Unknown,
    };
    let content_type = content_type.escape_ascii();
    Err(Status::new(code, format!("not a gRPC reply: HTTP status {status}, content type \"{content_type}\"")))
}

/// Returns the outcome of a call from its trailers.
pub(super) fn outcome(trailers: &Head) -> Result<(), Status> {
    let code = trailers.get("grpc-status").and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
    let code = match code {
        // The status of a failed call is more important than missing fields.
        None | Some(0) if trailers.is_truncated() => {
            return Err(Status::resource_exhausted("the trailers of the reply exceed the limit"));
        }
        Some(0) => return Ok(()),
        Some(code) => Code::from_i32(code),
        None => return Err(Status::unknown("the trailers of the reply have no valid grpc-status")),
    };
    // Replace invalid sequences instead of failing, because they must not hide the status code.
    let message = percent_decode(trailers.get("grpc-message").unwrap_or_default()).decode_utf8_lossy();
    let mut status = Status::new(code, message);
    if let Some(details) = trailers.get("grpc-status-details-bin").and_then(|text| BASE64.decode(text).ok()) {
        status = status.with_details(details);
    }
    let metadata = metadata(trailers);
    Err(if metadata.is_empty() { status } else { status.with_metadata(metadata) })
}

/// Converts header fields to metadata, without the fields that gRPC itself uses. Entries that [`Metadata`] cannot
/// represent are dropped.
pub(super) fn metadata(head: &Head) -> Metadata {
    let mut metadata = Metadata::new();
    for (key, value) in head.fields() {
        if key.starts_with("grpc-") || matches!(key, "content-type" | "content-length" | "date" | "server") {
            continue;
        }
        let inserted = if key.ends_with("-bin") {
            metadata.append_base64(key, value)
        } else {
            metadata.append(key, String::from_utf8_lossy(value))
        };
        if let Err(error) = inserted {
            tracing::debug!(%error, "metadata entry of a gRPC server dropped");
        }
    }
    metadata
}

/// Encodes a timeout as a `grpc-timeout` value of at most eight digits, rounded up.
pub(super) fn timeout(timeout: Duration) -> String {
    let (micros, millis) = (timeout.as_nanos().div_ceil(1000), timeout.as_micros().div_ceil(1000));
    match (micros, millis) {
        (..=99_999_999, _) => format!("{micros}u"),
        (_, ..=99_999_999) => format!("{millis}m"),
        _ => format!("{}S", timeout.as_secs().saturating_add(1).min(99_999_999)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_metadata_of_reply_is_kept() {
        let mut head = Head::trailers();
        for value in ["a", "b"] {
            head.push("x-part", value);
            head.push("grpc-accept-encoding", value);
            head.push("raw-bin", BASE64.encode(value));
        }
        head.push("raw-bin", "Yw, ZA==");
        let metadata = metadata(&head);
        assert!(metadata.get_all("x-part").eq(["a", "b"]));
        assert!(metadata.get_all_bin("raw-bin").eq([b"a", b"b", b"c", b"d"]));
    }

    #[test]
    fn invalid_message_keeps_code() {
        for (sent, expected) in [("100%25 %C3%BC", "100% \u{fc}"), ("50%, %zz %4", "50%, %zz %4"), ("%FF", "\u{fffd}")]
        {
            let mut trailers = Head::trailers();
            trailers.push("grpc-status", "5");
            trailers.push("grpc-message", sent);
            let status = outcome(&trailers).expect_err("trailers should contain an error status");
            assert_eq!((status.code(), status.message()), (Code::NotFound, expected));
        }
    }

    #[test]
    fn proxy_reply_is_mapped_by_http_status() {
        for (status, content_type, code) in [
            (502, "text/html", Code::Unavailable),
            (503, "application/grpc", Code::Unavailable),
            (404, "text/plain", Code::Unimplemented),
            (401, "", Code::Unauthenticated),
            (200, "application/grpc-web", Code::Unknown),
        ] {
            let mut head = Head::response(status);
            head.push("content-type", content_type);
            assert_eq!(check_head(&head).map_err(|status| status.code()), Err(code), "{status}");
        }
        let mut head = Head::response(200);
        head.push("content-type", "application/grpc+proto");
        assert!(check_head(&head).is_ok());
    }

    #[test]
    fn resets_have_codes_of_grpc() {
        for (reset, code) in [
            (ErrorCode::CANCEL, Code::Cancelled),
            (ErrorCode::ENHANCE_YOUR_CALM, Code::ResourceExhausted),
            (ErrorCode::REFUSED_STREAM, Code::Unavailable),
            (ErrorCode::PROTOCOL_ERROR, Code::Internal),
        ] {
            assert_eq!(CallError::Reset(reset).status("backend").code(), code, "{reset}");
        }
    }

    #[test]
    fn timeout_is_rounded_up_to_eight_digits() {
        for (time, expected) in [
            (Duration::from_nanos(1), "1u"),
            (Duration::from_secs(99), "99000000u"),
            (Duration::from_secs(100), "100000m"),
            (Duration::from_secs(200_000), "200001S"),
            (Duration::MAX, "99999999S"),
        ] {
            assert_eq!(timeout(time), expected);
        }
    }
}

//! Errors of the Connect protocol: a status as JSON, with an HTTP status code.

use crate::json_rpc::reply::{Quoted, put_json, put_list};
use bytes::Bytes;
use frpc::{Code, Status};
use prost::Message as _;
use prost_types::Any;

/// The protobuf message `google.rpc.Status`, which encodes the details of a status.
#[derive(Clone, PartialEq, prost::Message)]
struct RpcStatus {
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// Encodes a status as a Connect error in JSON.
pub(crate) fn of_status(status: &Status) -> Bytes {
    // Omit details that are not an encoded `google.rpc.Status`, because they have no form in JSON.
    let details = match status.details() {
        [] => Vec::new(),
        details => RpcStatus::decode(details).map_or_else(|_| Vec::new(), |status| status.details),
    };
    json(status.code(), status.message(), &details)
}

/// Encodes a code, message and details as a Connect error in JSON.
pub(crate) fn json(code: Code, message: &str, details: &[Any]) -> Bytes {
    let mut out = format!(r#"{{"code":"{}""#, name(code)).into_bytes();
    if !message.is_empty() {
        put_json(&mut out, format_args!(r#","message":{}"#, Quoted(message)));
    }
    if !details.is_empty() {
        out.extend_from_slice(b",\"details\":[");
        put_list(&mut out, details, |out, any| {
            let kind = Quoted(any.type_url.rsplit('/').next().unwrap_or_default());
            put_json(out, format_args!(r#"{{"type":{kind},"value":"{}"}}"#, crate::base64::encode(&any.value)));
        });
        out.push(b']');
    }
    out.push(b'}');
    out.into()
}

/// Returns the name of a status code in the Connect protocol.
fn name(code: Code) -> String {
    match code {
        Code::Cancelled => "canceled".to_owned(),
        // The code of an error must not be `ok`.
        Code::Ok => "unknown".to_owned(),
        code => code.name().to_ascii_lowercase(),
    }
}

/// Returns the HTTP status that the Connect protocol assigns to a status code.
pub(crate) const fn http_status(code: Code) -> u16 {
    match code {
        Code::Cancelled => 499,
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => 400,
        Code::DeadlineExceeded => 504,
        Code::NotFound => 404,
        Code::AlreadyExists | Code::Aborted => 409,
        Code::PermissionDenied => 403,
        Code::ResourceExhausted => 429,
        Code::Unimplemented => 501,
        Code::Unavailable => 503,
        Code::Unauthenticated => 401,
        Code::Unknown | Code::Ok | Code::Internal | Code::DataLoss => 500,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frpc::details::LocalizedMessage;

    #[test]
    fn connect_error_includes_status_details() {
        let status = Status::not_found("no \"tea\"\n");
        assert_eq!(&of_status(&status)[..], br#"{"code":"not_found","message":"no \"tea\"\n"}"#);
        let detail = LocalizedMessage { locale: "de".into(), message: "weg".into() };
        let expected =
            r#"{"code":"not_found","details":[{"type":"google.rpc.LocalizedMessage","value":"CgJkZRIDd2Vn"}]}"#;
        assert_eq!(of_status(&Status::not_found("").with_detail(&detail)), expected);
        assert_eq!(of_status(&Status::not_found("").with_details(vec![255])), r#"{"code":"not_found"}"#);
    }
}

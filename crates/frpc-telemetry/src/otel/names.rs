//! Names of OpenTelemetry's semantic conventions for RPC, version 1.42, in which they are release candidates.

use frpc::Code;

/// Attribute: the RPC system.
pub(crate) const SYSTEM: &str = "rpc.system.name";
/// Attribute: the full name of the method, including its service.
pub(crate) const METHOD: &str = "rpc.method";
/// Attribute: the status code of the call, by its gRPC name.
pub(crate) const STATUS_CODE: &str = "rpc.response.status_code";
/// Attribute: the status code of a failed call.
pub(crate) const ERROR_TYPE: &str = "error.type";
/// Histogram: duration of calls at clients, in seconds.
pub(crate) const CLIENT_DURATION: &str = "rpc.client.call.duration";
/// Histogram: duration of calls at servers, in seconds.
pub(crate) const SERVER_DURATION: &str = "rpc.server.call.duration";

/// Value of [`SYSTEM`].
pub(crate) const FRPC: &str = "frpc";
/// Attribute: the number of an attempt, from 1. Not part of the conventions.
pub(crate) const ATTEMPT: &str = "frpc.attempt";
/// Attributes: the sizes of request and reply in bytes. Not part of the conventions.
pub(crate) const REQUEST_SIZE: &str = "frpc.request.size";
pub(crate) const REPLY_SIZE: &str = "frpc.reply.size";

/// Bucket boundaries that the conventions recommend for durations, in seconds.
pub(crate) const BOUNDS: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

/// Returns the name of a code.
pub(crate) fn code(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// Returns whether a code counts as an error of the server, by the conventions for gRPC. For clients every code except
/// OK is an error.
pub(crate) fn is_server_fault(code: Code) -> bool {
    use Code::{DataLoss, DeadlineExceeded, Internal, Unavailable, Unimplemented, Unknown};
    matches!(code, Unknown | DeadlineExceeded | Unimplemented | Internal | Unavailable | DataLoss)
}

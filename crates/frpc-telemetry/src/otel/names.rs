//! The names of OpenTelemetry's semantic conventions for RPC, all in one place. They are release candidates of version
//! 1.42 of the conventions.

use frpc::Code;

/// The parts of the name of a call.
pub(crate) const SYSTEM: &str = "rpc.system.name";
/// The full name of the method, with that of the service.
pub(crate) const METHOD: &str = "rpc.method";
/// How the call has ended, by the name of gRPC's code.
pub(crate) const STATUS_CODE: &str = "rpc.response.status_code";
/// The same, if it is a failure.
pub(crate) const ERROR_TYPE: &str = "error.type";
/// How long calls of clients took, in seconds.
pub(crate) const CLIENT_DURATION: &str = "rpc.client.call.duration";
/// How long calls took at their servers, in seconds.
pub(crate) const SERVER_DURATION: &str = "rpc.server.call.duration";

/// The system that is named.
pub(crate) const FRPC: &str = "frpc";
/// The number of an attempt at a call, from 1. Not of the conventions, which have nothing for it.
pub(crate) const ATTEMPT: &str = "frpc.attempt";
/// The lengths of request and reply, in bytes. Not of the conventions.
pub(crate) const REQUEST_SIZE: &str = "frpc.request.size";
pub(crate) const REPLY_SIZE: &str = "frpc.reply.size";

/// The upper bounds of a histogram of durations, in seconds, which the conventions recommend.
pub(crate) const BOUNDS: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

/// The name of a code.
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

/// Whether a call with this code has failed by the fault of its server, as the conventions for gRPC have it. For a
/// client each code but OK is a failure.
pub(crate) fn is_server_fault(code: Code) -> bool {
    use Code::{DataLoss, DeadlineExceeded, Internal, Unavailable, Unimplemented, Unknown};
    matches!(code, Unknown | DeadlineExceeded | Unimplemented | Internal | Unavailable | DataLoss)
}

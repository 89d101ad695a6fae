//! Names of OpenTelemetry's semantic conventions for RPC, version 1.42, where they are release candidates.

use frpc::Code;

/// Span attribute with the name of the RPC system.
pub(crate) const SYSTEM: &str = "rpc.system.name";
/// Span attribute with the full name of the method, including its service.
pub(crate) const METHOD: &str = "rpc.method";
/// Span attribute with the status code of the call, as its gRPC name.
pub(crate) const STATUS_CODE: &str = "rpc.response.status_code";
/// Span attribute with the status code of a failed call.
pub(crate) const ERROR_TYPE: &str = "error.type";
/// Name of the histogram of call durations on clients, in seconds.
pub(crate) const CLIENT_DURATION: &str = "rpc.client.call.duration";
/// Name of the histogram of call durations on servers, in seconds.
pub(crate) const SERVER_DURATION: &str = "rpc.server.call.duration";

/// Value of the attribute [`SYSTEM`].
pub(crate) const FRPC: &str = "frpc";
/// Span attribute with the number of an attempt, starting at 1. Not part of OpenTelemetry's semantic conventions.
pub(crate) const ATTEMPT: &str = "frpc.attempt";
/// Span attributes with the sizes of request and reply in bytes. Not part of OpenTelemetry's semantic conventions.
pub(crate) const REQUEST_SIZE: &str = "frpc.request.size";
pub(crate) const REPLY_SIZE: &str = "frpc.reply.size";

/// Bucket boundaries in seconds that OpenTelemetry's semantic conventions recommend for durations.
pub(crate) const BOUNDS: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

/// Returns whether a status code counts as an error on the server, according to the semantic conventions for gRPC. On
/// clients, every code except OK is an error.
pub(crate) fn is_server_fault(code: Code) -> bool {
    use Code::{DataLoss, DeadlineExceeded, Internal, Unavailable, Unimplemented, Unknown};
    matches!(code, Unknown | DeadlineExceeded | Unimplemented | Internal | Unavailable | DataLoss)
}

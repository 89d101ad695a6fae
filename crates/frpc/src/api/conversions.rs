//! Conversions of errors to statuses, so that `?` works in handlers and around calls.

#[cfg(feature = "tonic")]
mod tonic;

use crate::{Error, MetadataError, Status};
use frisbee::{HandOffError, TrySendError};
#[cfg(feature = "pubsub")]
use frisbee_pubsub::{PubSubError, RecvError};
#[cfg(feature = "batch")]
use frpc_tensor::batch::BatchError;
use std::io::{self, ErrorKind};
use tokio::task::JoinError;
use tokio::time::error::Elapsed;

/// Converts the kind of the I/O error to a code, and its text to the message.
///
/// | kinds | code |
/// |---|---|
/// | `NotFound` | [`NotFound`](crate::Code::NotFound) |
/// | `AlreadyExists` | [`AlreadyExists`](crate::Code::AlreadyExists) |
/// | `PermissionDenied` | [`PermissionDenied`](crate::Code::PermissionDenied) |
/// | `InvalidInput` | [`InvalidArgument`](crate::Code::InvalidArgument) |
/// | `TimedOut` | [`DeadlineExceeded`](crate::Code::DeadlineExceeded) |
/// | `InvalidData`, `UnexpectedEof` | [`DataLoss`](crate::Code::DataLoss) |
/// | `OutOfMemory`, `StorageFull` | [`ResourceExhausted`](crate::Code::ResourceExhausted) |
/// | `QuotaExceeded`, `FileTooLarge` | [`ResourceExhausted`](crate::Code::ResourceExhausted) |
/// | `Unsupported` | [`Unimplemented`](crate::Code::Unimplemented) |
/// | `IsADirectory`, `NotADirectory` | [`FailedPrecondition`](crate::Code::FailedPrecondition) |
/// | `DirectoryNotEmpty`, `ReadOnlyFilesystem` | [`FailedPrecondition`](crate::Code::FailedPrecondition) |
/// | connection and network errors, `ResourceBusy` | [`Unavailable`](crate::Code::Unavailable) |
/// | others | [`Unknown`](crate::Code::Unknown) |
///
/// An error that wraps a status, such as `io::Error::other(status)`, is converted back to that status.
///
/// ```
/// use frpc::{Request, Response, Status};
///
/// async fn motto(_request: Request<()>) -> Result<Response<String>, Status> {
///     Ok(Response::new(std::fs::read_to_string("/no/such/file")?))
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(motto(Request::new(())).await.unwrap_err().code(), frpc::Code::NotFound);
/// # }
/// ```
impl From<io::Error> for Status {
    fn from(error: io::Error) -> Self {
        // Unwrap a status that was wrapped in an I/O error, so that its code is kept.
        let error = match error.downcast::<Self>() {
            Ok(status) => return status,
            Err(error) => error,
        };
        let status = match error.kind() {
            ErrorKind::NotFound => Self::not_found,
            ErrorKind::AlreadyExists => Self::already_exists,
            ErrorKind::PermissionDenied => Self::permission_denied,
            ErrorKind::InvalidInput => Self::invalid_argument,
            ErrorKind::TimedOut => Self::deadline_exceeded,
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => Self::data_loss,
            ErrorKind::OutOfMemory | ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::resource_exhausted
            }
            ErrorKind::Unsupported => Self::unimplemented,
            ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::DirectoryNotEmpty
            | ErrorKind::ReadOnlyFilesystem => Self::failed_precondition,
            ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::NotConnected
            | ErrorKind::BrokenPipe
            | ErrorKind::AddrInUse
            | ErrorKind::AddrNotAvailable
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::ResourceBusy => Self::unavailable,
            _ => Self::unknown,
        };
        status(error.to_string())
    }
}

/// Converts the error through the corresponding [`io::Error`]. For example, an unreachable server becomes
/// [`Unavailable`](crate::Code::Unavailable).
impl From<frisbee::Error> for Status {
    fn from(error: frisbee::Error) -> Self {
        let status = match &error {
            // Matched explicitly, because a failed name resolution has no specific `io::ErrorKind`.
            frisbee::Error::Connect { .. } => Self::unavailable(error.to_string()),
            #[cfg(feature = "tls")]
            frisbee::Error::Tls { .. } => Self::unavailable(error.to_string()),
            _ => io::Error::from(error).into(),
        };
        // Mark the call as not run, because it cannot have been sent without a connection.
        status.not_run()
    }
}

/// Converts connection errors to [`Unavailable`](crate::Code::Unavailable) or
/// [`DeadlineExceeded`](crate::Code::DeadlineExceeded). Errors in the setup of a server or channel become
/// [`Internal`](crate::Code::Internal), because they are bugs of this program rather than of its caller. The error of a
/// failed call becomes the original status.
impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match error {
            Error::Transport(error) => error.into(),
            Error::Call(status) => status,
            error => Self::internal(error.to_string()),
        }
    }
}

/// Converts a panic of a task to [`Internal`](crate::Code::Internal), without the panic message, and an aborted task to
/// [`Cancelled`](crate::Code::Cancelled).
impl From<JoinError> for Status {
    fn from(error: JoinError) -> Self {
        if error.is_panic() { Self::internal("a task panicked") } else { Self::cancelled("a task was aborted") }
    }
}

/// Converts a decoding failure to [`InvalidArgument`](crate::Code::InvalidArgument), because it typically concerns
/// request data that a handler decodes itself.
impl From<polyglot::DecodeError> for Status {
    fn from(error: polyglot::DecodeError) -> Self {
        Self::invalid_argument(format!("the request cannot be read: {error}"))
    }
}

/// Implements conversions from errors to [`Status`]. The first matching pattern determines the code, and the error's
/// text becomes the message. A wrapped error is converted by its own implementation.
macro_rules! statuses {
    ($($(#[$attribute:meta])* $error:ty $(, wrapped in $variant:path)? { $($pattern:pat => $status:ident,)* })*) => {$(
        $(#[$attribute])*
        impl From<$error> for Status {
            fn from(error: $error) -> Self {
                let status = match error {
                    $($variant(error) => return error.into(),)?
                    $($pattern => Self::$status,)*
                };
                status(error.to_string())
            }
        }
    )*};
}

statuses! {
    /// Converts a full send queue to [`ResourceExhausted`](crate::Code::ResourceExhausted). Other errors are converted
    /// like the wrapped [`SendError`](frisbee::SendError).
    TrySendError, wrapped in TrySendError::Failed {
        _ => resource_exhausted,
    }

    /// Converts to [`Unavailable`](crate::Code::Unavailable) if the connection has closed, to
    /// [`ResourceExhausted`](crate::Code::ResourceExhausted) if the packet is too long, and to
    /// [`FailedPrecondition`](crate::Code::FailedPrecondition) otherwise.
    HandOffError {
        HandOffError::Closed(_) => unavailable,
        HandOffError::TooLong(_) => resource_exhausted,
        HandOffError::NotServed | HandOffError::Unsupported => unimplemented,
        _ => failed_precondition,
    }

    /// Converts an elapsed timeout to [`DeadlineExceeded`](crate::Code::DeadlineExceeded).
    Elapsed {
        _ => deadline_exceeded,
    }

    /// Converts invalid metadata to [`InvalidArgument`](crate::Code::InvalidArgument).
    MetadataError {
        _ => invalid_argument,
    }

    /// Converts an error of request batching to [`ResourceExhausted`](crate::Code::ResourceExhausted) if too many calls
    /// are queued, to [`Unavailable`](crate::Code::Unavailable) if the runtime of the batches has shut down, and to
    /// [`Internal`](crate::Code::Internal) otherwise.
    #[cfg(feature = "batch")]
    BatchError {
        BatchError::Full => resource_exhausted,
        BatchError::Ended => unavailable,
        _ => internal,
    }

    /// Converts a tensor error to [`InvalidArgument`](crate::Code::InvalidArgument), because it typically concerns a
    /// tensor that the caller has sent.
    #[cfg(feature = "tensor")]
    frpc_tensor::TensorError {
        _ => invalid_argument,
    }

    /// Converts an invalid topic to [`InvalidArgument`](crate::Code::InvalidArgument), and a request that the broker
    /// rejects to [`FailedPrecondition`](crate::Code::FailedPrecondition). A full queue becomes
    /// [`ResourceExhausted`](crate::Code::ResourceExhausted). A closed connection and a broker that does not respond
    /// become [`Unavailable`](crate::Code::Unavailable), and messages that may be lost become
    /// [`DataLoss`](crate::Code::DataLoss).
    #[cfg(feature = "pubsub")]
    PubSubError, wrapped in PubSubError::Send {
        PubSubError::Topic(_) => invalid_argument,
        PubSubError::Refused(_) | PubSubError::NotNative => failed_precondition,
        PubSubError::Encoding(_) => internal,
        PubSubError::TooMany => resource_exhausted,
        PubSubError::NoAnswer => unavailable,
        PubSubError::Unconfirmed => data_loss,
        _ => unknown,
    }

    /// Converts a receive error to [`DataLoss`](crate::Code::DataLoss) if messages were or may have been lost, and to
    /// [`Unavailable`](crate::Code::Unavailable) if the connection is closed.
    #[cfg(feature = "pubsub")]
    RecvError {
        RecvError::Lagged(_) | RecvError::Reconnected => data_loss,
        RecvError::Undecodable(_) => internal,
        _ => unavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn io_error_kind_selects_status_code() {
        for (kind, code) in [
            (ErrorKind::NotFound, Code::NotFound),
            (ErrorKind::AlreadyExists, Code::AlreadyExists),
            (ErrorKind::PermissionDenied, Code::PermissionDenied),
            (ErrorKind::InvalidInput, Code::InvalidArgument),
            (ErrorKind::TimedOut, Code::DeadlineExceeded),
            (ErrorKind::UnexpectedEof, Code::DataLoss),
            (ErrorKind::StorageFull, Code::ResourceExhausted),
            (ErrorKind::Unsupported, Code::Unimplemented),
            (ErrorKind::ReadOnlyFilesystem, Code::FailedPrecondition),
            (ErrorKind::BrokenPipe, Code::Unavailable),
            (ErrorKind::Other, Code::Unknown),
        ] {
            let status = Status::from(io::Error::new(kind, "the disk is full of eels"));
            assert_eq!((status.code(), status.message()), (code, "the disk is full of eels"), "{kind:?}");
        }
    }

    #[test]
    fn status_survives_conversion_to_io_error() {
        let status = Status::aborted("by hand").with_details(vec![1, 2]);
        assert_eq!(Status::from(io::Error::other(status.clone())), status);
    }

    #[test]
    fn unreachable_server_is_unavailable_and_misuse_internal() {
        let address = || "host:1".to_owned();
        let refused = io::Error::from(ErrorKind::ConnectionRefused);
        let unreachable = frisbee::Error::Connect { address: address(), source: refused };
        assert_eq!(Status::from(Error::from(unreachable)).code(), Code::Unavailable);
        let late = frisbee::Error::ConnectTimeout { address: address() };
        assert_eq!(Status::from(Error::from(late)).code(), Code::DeadlineExceeded);
        assert_eq!(Status::from(Error::UnknownMethod("a.B/C".to_owned())).code(), Code::Internal);
    }

    #[tokio::test]
    async fn status_round_trips_through_common_error() {
        async fn program() -> Result<(), Error> {
            let refused = Err::<(), _>(Status::not_found("no such book").with_details(vec![1, 2]));
            Ok(refused?)
        }
        let error = program().await.unwrap_err();
        assert_eq!(format!("{error:?}"), "not found: no such book");
        assert_eq!(Status::from(error), Status::not_found("no such book").with_details(vec![1, 2]));
    }

    #[test]
    fn full_peer_differs_from_disconnected_peer() {
        assert_eq!(Status::from(TrySendError::Full).code(), Code::ResourceExhausted);
        let gone = frisbee::SendError::Closed(frisbee::CloseReason::ClosedByPeer);
        assert_eq!(Status::from(TrySendError::Failed(gone)).code(), Code::Unavailable);
    }

    /// Checks at compile time that `?` converts the error types that handlers commonly encounter.
    #[tokio::test(start_paused = true)]
    async fn question_mark_converts_common_errors_to_status() {
        async fn aborted() -> Result<(), Status> {
            let task = tokio::spawn(std::future::pending());
            task.abort();
            Ok(task.await?)
        }
        async fn late() -> Result<(), Status> {
            Ok(tokio::time::timeout(std::time::Duration::from_secs(1), std::future::pending()).await?)
        }
        fn named() -> Result<(), Status> {
            Ok(crate::Metadata::new().insert("No", "upper case")?)
        }
        assert_eq!(aborted().await.unwrap_err().code(), Code::Cancelled);
        assert_eq!(late().await.unwrap_err().code(), Code::DeadlineExceeded);
        assert_eq!(named().unwrap_err().code(), Code::InvalidArgument);
    }
}

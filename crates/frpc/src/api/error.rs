//! Errors of servers and clients.

use crate::Status;
use frisbee::MountError;
use std::{fmt, io};

/// The error of setting up or running a server, channel or blocking client.
///
/// A failed call returns a [`Status`]. The operator `?` converts a status to this error, so `main` can return this type
/// for both kinds of failures. Its `Debug` output is the error text, because `main` prints errors with `Debug`.
///
/// ```
/// use frpc::{Channel, Error, frisbee};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// match Channel::connect("127.0.0.1:1").await {
///     Ok(_) => println!("connected"),
///     // `Connect` has the system's error as its source.
///     Err(Error::Transport(frisbee::Error::Connect { address, source })) => println!("{address}: {source}"),
///     Err(other) => println!("{other}"),
/// }
/// # }
/// ```
#[non_exhaustive]
pub enum Error {
    /// Listening, connecting, or mounting a router failed.
    Transport(frisbee::Error),
    /// A call failed.
    Call(Status),
    /// The list of servers to connect to is empty.
    NoServers,
    /// No endpoint returned by the resolver accepted a connection before the timeout.
    NoEndpoint {
        /// Name of the resolver, as shown in logs.
        resolver: String,
        /// Errors of the failed connection attempts, if known.
        failure: String,
    },
    /// The operating system could not start a thread.
    Thread(io::Error),
    /// Two services of the same server or channel use the same operation number for different methods.
    Overlap {
        /// Operation number that two methods share.
        operation: u16,
        /// Names of the two conflicting methods, as `package.Service/Method`.
        methods: [String; 2],
    },
    /// No service of the server or channel has a method with this name.
    UnknownMethod(String),
    /// [`Policy::AtMost`](crate::Policy::AtMost) was set for a streaming method, which does not support it. Use
    /// `Config::streams_max` to limit streams.
    StreamingPolicy(String),
    /// Connection hand-off was enabled for a streaming method. Only unary methods support it.
    StreamingHandOff(String),
    /// The [wire layout for compat clients](crate::ServerBuilder::compat_layout) cannot be used.
    CompatLayout {
        /// Full name of the service with the configured compat layout.
        service: String,
        /// Reason why the compat layout cannot be used.
        reason: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(f),
            Self::Call(status) => status.fmt(f),
            Self::NoServers => f.write_str("the list of servers to connect to is empty"),
            Self::NoEndpoint { resolver, failure } => write!(f, "{failure} (resolved by {resolver})"),
            Self::Thread(error) => write!(f, "starting a thread failed: {error}"),
            Self::Overlap { operation, methods: [one, other] } => {
                write!(f, "the methods {one} and {other} both have operation {operation}: ")?;
                f.write_str(if one == other {
                    "a service was added twice"
                } else {
                    "compile their .proto files with one call of `compile_protos` in the build script, or separate \
                     them by `frpc_build::configure().operation_base(\"FILE.proto\", 100)`; do so at both ends"
                })
            }
            Self::UnknownMethod(name) => write!(f, "this server has no method {name}"),
            Self::StreamingPolicy(name) => {
                write!(
                    f,
                    "Policy::AtMost requires a unary method, but {name} is a streaming method; to limit streams, use `streams_max`"
                )
            }
            Self::CompatLayout { service, reason } => {
                write!(f, "invalid compat layout of {service}: {reason}")
            }
            Self::StreamingHandOff(name) => {
                write!(f, "only unary methods can hand off connections, but {name} is a streaming method")
            }
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Transport(error) => error.source(),
            Self::Call(status) => status.source(),
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}

impl From<frisbee::Error> for Error {
    fn from(error: frisbee::Error) -> Self {
        Self::Transport(error)
    }
}

impl From<MountError> for Error {
    fn from(error: MountError) -> Self {
        Self::Transport(error.into())
    }
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        Self::Call(status)
    }
}

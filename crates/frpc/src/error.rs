//! What can go wrong outside a call.

use frisbee::{ConnectError, MountError};
use std::{fmt, io};

/// Why a server cannot serve or a client cannot connect.
///
/// `Debug` writes the same text as `Display`, because that is what a program shows when its `main` returns an error.
#[non_exhaustive]
pub enum Error {
    /// No connection came about.
    Connect(ConnectError),
    /// The system refused: an address in use, no more threads.
    Io(io::Error),
    /// Two services of one server have a method on the same operation.
    Overlap {
        /// The operation.
        operation: u16,
        /// The two methods, as `package.Service/Method`.
        methods: [String; 2],
    },
    /// A router cannot be mounted where it was to be.
    Mount(MountError),
    /// A method was named that no service of the server has.
    UnknownMethod(String),
    /// A policy was set for a method with streams, whose handlers have tasks of their own in any case.
    StreamingPolicy(String),
    /// A method with streams was to hand connections off, which only unary methods can.
    StreamingHandOff(String),
    /// The services cannot all be named to a peer.
    TooManyServices {
        /// What naming them takes, in bytes.
        length: usize,
        /// What there is room for.
        limit: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
            Self::Overlap { operation, methods: [one, other] } => {
                write!(f, "the methods {one} and {other} both have operation {operation}: ")?;
                f.write_str(if one == other {
                    "a service was added twice"
                } else {
                    "compile their .proto files with one call of `compile_protos` in the build script, or keep them \
                     apart there by `frpc_build::configure().operation_base(\"FILE.proto\", 100)`; both ends need the \
                     same"
                })
            }
            Self::Mount(error) => error.fmt(f),
            Self::TooManyServices { length, limit } => write!(
                f,
                "naming all services to a peer takes {length} bytes, which exceeds the limit of {limit}: serve some of \
                 them on another port"
            ),
            Self::UnknownMethod(name) => write!(f, "no service of this server has a method {name}"),
            Self::StreamingPolicy(name) => {
                write!(f, "policies are for unary methods, and {name} has streams, each of which has a task of its own")
            }
            Self::StreamingHandOff(name) => {
                write!(f, "connections are handed off by unary methods, and {name} has streams")
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
            Self::Connect(error) => error.source(),
            Self::Io(error) => error.source(),
            Self::Mount(error) => error.source(),
            Self::Overlap { .. }
            | Self::UnknownMethod(_)
            | Self::StreamingPolicy(_)
            | Self::StreamingHandOff(_)
            | Self::TooManyServices { .. } => None,
        }
    }
}

impl From<ConnectError> for Error {
    fn from(error: ConnectError) -> Self {
        Self::Connect(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

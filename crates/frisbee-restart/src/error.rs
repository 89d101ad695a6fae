//! [`RestartError`]: reasons why a process cannot take over from its predecessor.

use std::{fmt, io};

/// Reason why a process cannot take over from its predecessor.
#[non_exhaustive]
pub enum RestartError {
    /// A system call failed.
    Io {
        /// Operation that failed, such as "reading from the other process".
        doing: &'static str,
        /// Error that the operating system returned.
        source: io::Error,
    },
    /// A socket could not be bound.
    Bind {
        /// Address or path that could not be bound.
        address: String,
        /// Error that the operating system returned.
        source: io::Error,
    },
    /// The running process rejected its successor and continues to serve.
    Refused(Refusal),
    /// The peer process on the control socket belongs to another user.
    OtherUser {
        /// Id of the other user.
        user: u32,
    },
    /// The other process violated the protocol of the control socket.
    Protocol(&'static str),
    /// The other process did not reply in time.
    Timeout,
    /// The running process exited before it passed its sockets.
    PredecessorEnded,
    /// The successor exited before it was ready.
    SuccessorEnded,
    /// A socket name is empty, contains `:` or a control character, or is longer than 255 bytes.
    Name(String),
    /// The process has more than the maximum of 64 sockets.
    TooManySockets,
    /// A setting is out of range. Contains its name and the problem.
    Setting(&'static str),
}

/// Reason why a running process rejects a successor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// Another successor is taking over.
    Busy,
    /// The two processes support no common protocol version.
    Version,
    /// The successor was not ready in [time](crate::Restart::ready_timeout).
    TooLate,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busy => "another successor is taking over",
            Self::Version => "no common protocol version",
            Self::TooLate => "successor was not ready in time",
        })
    }
}

impl RestartError {
    pub(crate) fn io(doing: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

impl fmt::Display for RestartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, source } => write!(f, "{doing} failed: {source}"),
            Self::Bind { address, source } => write!(f, "listening on {address} failed: {source}"),
            Self::Refused(refusal) => write!(f, "rejected by the running process: {refusal}"),
            Self::OtherUser { user } => write!(f, "other process belongs to user {user}"),
            Self::Protocol(text) => write!(f, "protocol violation by the other process: {text}"),
            Self::Timeout => f.write_str("timeout: no answer from the other process"),
            Self::PredecessorEnded => f.write_str("running process ended before it passed its sockets"),
            Self::SuccessorEnded => f.write_str("successor ended before it was ready"),
            Self::Name(name) => {
                write!(f, "invalid socket name {name:?}: must have 1 to 255 bytes without `:` and control characters")
            }
            Self::TooManySockets => f.write_str("too many sockets: at most 64 can be passed"),
            Self::Setting(text) => write!(f, "invalid setting: {text}"),
        }
    }
}

impl fmt::Debug for RestartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RestartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::Bind { source, .. } => Some(source),
            _ => None,
        }
    }
}

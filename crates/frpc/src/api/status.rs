//! How a call failed.

use crate::api::metadata::Metadata;
use crate::wire::prefix::{Failure, Prefix};
use bytes::Bytes;
use std::fmt;

/// gRPC's status codes, with gRPC's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i32)]
pub enum Code {
    /// No failure.
    Ok = 0,
    /// The caller gave up.
    Cancelled = 1,
    /// A failure without a known code. What a Go peer reports arrives with this, since its wire carries only text.
    Unknown = 2,
    /// The request makes no sense, whatever the state of the system.
    InvalidArgument = 3,
    /// The deadline passed. The call may have run.
    DeadlineExceeded = 4,
    /// What was asked for does not exist.
    NotFound = 5,
    /// What was to be created exists.
    AlreadyExists = 6,
    /// The caller may not do this.
    PermissionDenied = 7,
    /// Something is used up: a quota, memory, places for calls.
    ResourceExhausted = 8,
    /// The system is not in the state that the call needs.
    FailedPrecondition = 9,
    /// The call was broken off, by a conflict for example.
    Aborted = 10,
    /// A value is outside the valid range.
    OutOfRange = 11,
    /// There is no such method, or it is not implemented.
    Unimplemented = 12,
    /// An internal invariant was violated.
    Internal = 13,
    /// The peer cannot be reached, or was lost. The call may have run.
    Unavailable = 14,
    /// Data was lost or damaged beyond repair.
    DataLoss = 15,
    /// The caller did not say who it is.
    Unauthenticated = 16,
}

impl Code {
    /// The code with a gRPC number; unknown numbers are [`Code::Unknown`].
    pub const fn from_i32(number: i32) -> Self {
        match number {
            0 => Self::Ok,
            1 => Self::Cancelled,
            3 => Self::InvalidArgument,
            4 => Self::DeadlineExceeded,
            5 => Self::NotFound,
            6 => Self::AlreadyExists,
            7 => Self::PermissionDenied,
            8 => Self::ResourceExhausted,
            9 => Self::FailedPrecondition,
            10 => Self::Aborted,
            11 => Self::OutOfRange,
            12 => Self::Unimplemented,
            13 => Self::Internal,
            14 => Self::Unavailable,
            15 => Self::DataLoss,
            16 => Self::Unauthenticated,
            _ => Self::Unknown,
        }
    }

    /// What the code means, in a few words.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Ok => "no failure",
            Self::Cancelled => "the caller gave up",
            Self::Unknown => "unknown failure",
            Self::InvalidArgument => "invalid argument",
            Self::DeadlineExceeded => "deadline exceeded",
            Self::NotFound => "not found",
            Self::AlreadyExists => "already exists",
            Self::PermissionDenied => "permission denied",
            Self::ResourceExhausted => "resource exhausted",
            Self::FailedPrecondition => "failed precondition",
            Self::Aborted => "aborted",
            Self::OutOfRange => "out of range",
            Self::Unimplemented => "unimplemented",
            Self::Internal => "internal error",
            Self::Unavailable => "unavailable",
            Self::DataLoss => "data loss",
            Self::Unauthenticated => "unauthenticated",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description())
    }
}

/// How a call failed: a code, a message and, between two of ours, details and metadata.
///
/// A Go peer gets the message alone, and what it reports arrives as [`Code::Unknown`].
///
/// ```
/// use frpc::{Code, Status};
///
/// let status = Status::not_found("no such user").with_details(vec![1, 2, 3]);
/// assert_eq!(status.code(), Code::NotFound);
/// assert_eq!(status.message(), "no such user");
/// assert_eq!(status.details()[..], [1, 2, 3]);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Status(Box<StatusInner>);

/// In a box, so that a result is not larger, nor slower to pass on, because of what it is not.
#[derive(Clone, PartialEq, Eq)]
struct StatusInner {
    code: Code,
    /// The call cannot have run.
    not_run: bool,
    message: Box<str>,
    details: Bytes,
    metadata: Metadata,
}

impl Status {
    /// A status of the given code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into().into_boxed_str();
        Self(Box::new(StatusInner {
            code,
            not_run: false,
            message,
            details: Bytes::new(),
            metadata: Metadata::default(),
        }))
    }

    /// Adds details, whose meaning is up to both ends; gRPC's are an encoded `google.rpc.Status`. With the metadata
    /// they have to fit into 64 KiB; longer ones are left out when the status is sent, which is logged for debugging.
    pub fn with_details(mut self, details: impl Into<Bytes>) -> Self {
        self.0.details = details.into();
        self
    }

    /// Adds metadata.
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        self.0.metadata = metadata;
        self
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The details, which are empty if there are none.
    pub fn details(&self) -> &[u8] {
        &self.0.details
    }

    /// The metadata, if there is any.
    pub fn metadata(&self) -> Option<&Metadata> {
        Some(&self.0.metadata).filter(|metadata| !metadata.is_empty())
    }

    /// Whether the call may have run on the server. If not, making it once more does no harm.
    ///
    /// It has not if it was not sent, and if a server of ours has refused it before its handler or any middleware was
    /// called: there is no such method, the layouts do not fit, the deadline had passed, the request cannot be read, or
    /// there is no room for it. Of any other failure that the server has reported it is unknown.
    pub fn may_have_run(&self) -> bool {
        !self.0.not_run
    }

    /// Says that the request was not sent.
    pub(crate) fn unsent(self) -> Self {
        self.not_run()
    }

    /// Says that the call has not run.
    pub(crate) fn not_run(mut self) -> Self {
        self.0.not_run = true;
        self
    }

    /// Says that the call may have run although what failed was not sent: it was not the first.
    pub(crate) fn may_run(mut self) -> Self {
        self.0.not_run = false;
        self
    }

    /// What travels in front of the message between two of ours, if it says anything.
    pub(crate) fn in_prefix(&self) -> Option<(Code, &[u8])> {
        let details = self.details();
        (self.code() != Code::Unknown || !details.is_empty()).then_some((self.code(), details))
    }

    /// A failure as it was received.
    pub(crate) fn received(text: String, prefix: Option<Prefix>) -> Self {
        let Some(prefix) = prefix else { return Self::unknown(text) };
        // An error is an error, whatever its code says.
        let failure = prefix.failure.filter(|failure| failure.code != Code::Ok);
        let mut status = Self::new(failure.as_ref().map_or(Code::Unknown, |failure| failure.code), text);
        if let Some(Failure { is_refusal, details, .. }) = failure {
            status.0.details = details;
            status.0.not_run = is_refusal;
        }
        if let Some(along) = prefix.along {
            status = status.with_metadata(along.into_metadata());
        }
        status
    }
}

macro_rules! constructors {
    ($($name:ident $code:ident),* $(,)?) => {
        impl Status {
            $(
                #[doc = concat!("A status of [`Code::", stringify!($code), "`].")]
                pub fn $name(message: impl Into<String>) -> Self {
                    Self::new(Code::$code, message)
                }
            )*
        }
    };
}

constructors! {
    cancelled Cancelled,
    unknown Unknown,
    invalid_argument InvalidArgument,
    deadline_exceeded DeadlineExceeded,
    not_found NotFound,
    already_exists AlreadyExists,
    permission_denied PermissionDenied,
    resource_exhausted ResourceExhausted,
    failed_precondition FailedPrecondition,
    aborted Aborted,
    out_of_range OutOfRange,
    unimplemented Unimplemented,
    internal Internal,
    unavailable Unavailable,
    data_loss DataLoss,
    unauthenticated Unauthenticated,
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Status");
        debug.field("code", &self.code()).field("message", &self.message());
        if !self.details().is_empty() {
            debug.field("details", &self.0.details);
        }
        if let Some(metadata) = self.metadata() {
            debug.field("metadata", metadata);
        }
        debug.field("may_have_run", &self.may_have_run()).finish()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}

impl std::error::Error for Status {}

/// What a handler found in a request that it decodes itself: the caller's fault.
impl From<polyglot::DecodeError> for Status {
    fn from(error: polyglot::DecodeError) -> Self {
        Self::invalid_argument(format!("the request cannot be read: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grpcs_and_survive_both_ways() {
        for number in 0..=16 {
            assert_eq!(Code::from_i32(number) as i32, number);
        }
        assert_eq!(Code::from_i32(17), Code::Unknown);
        assert_eq!(Code::from_i32(-1), Code::Unknown);
    }
}

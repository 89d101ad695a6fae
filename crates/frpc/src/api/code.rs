//! The code of a status.

use std::fmt;

/// gRPC's status codes, with gRPC's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i32)]
pub enum Code {
    /// No failure.
    Ok = 0,
    /// The caller cancelled the call.
    Cancelled = 1,
    /// A failure without a known code. Failures that a compat peer reports have this code, since its wire carries only
    /// text.
    Unknown = 2,
    /// The request is invalid, in every state of the system.
    InvalidArgument = 3,
    /// The deadline passed. The call may have run.
    DeadlineExceeded = 4,
    /// The requested thing does not exist.
    NotFound = 5,
    /// The thing to be created exists.
    AlreadyExists = 6,
    /// The caller may not do this.
    PermissionDenied = 7,
    /// A resource is used up: a quota, memory, or slots for calls.
    ResourceExhausted = 8,
    /// The system is not in the state that the call needs.
    FailedPrecondition = 9,
    /// The call was broken off, by a conflict for example.
    Aborted = 10,
    /// A value is outside the valid range.
    OutOfRange = 11,
    /// The method does not exist or is not implemented.
    Unimplemented = 12,
    /// An internal invariant was violated.
    Internal = 13,
    /// The peer cannot be reached, or the connection was lost. The call may have run.
    Unavailable = 14,
    /// Data was lost or damaged beyond repair.
    DataLoss = 15,
    /// The caller did not identify itself.
    Unauthenticated = 16,
}

impl Code {
    /// The code with a gRPC number; unknown numbers are [`Code::Unknown`].
    ///
    /// ```
    /// use frpc::Code;
    ///
    /// assert_eq!(Code::from_i32(5), Code::NotFound);
    /// ```
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

    /// The name of the code as gRPC writes it, in capitals.
    ///
    /// ```
    /// assert_eq!(frpc::Code::NotFound.name(), "NOT_FOUND");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Cancelled => "CANCELLED",
            Self::Unknown => "UNKNOWN",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Aborted => "ABORTED",
            Self::OutOfRange => "OUT_OF_RANGE",
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
            Self::DataLoss => "DATA_LOSS",
            Self::Unauthenticated => "UNAUTHENTICATED",
        }
    }

    /// The meaning of the code, in a few words.
    ///
    /// ```
    /// use frpc::Code;
    ///
    /// println!("{}", Code::NotFound.description());
    /// ```
    pub const fn description(self) -> &'static str {
        match self {
            Self::Ok => "no failure",
            Self::Cancelled => "the caller cancelled",
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

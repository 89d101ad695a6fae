//! The status codes of calls, which are those of gRPC.

use std::fmt;

/// Defines the status codes, each with its number, its name in gRPC and a description.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $number:literal, $name:literal, $description:literal;)*) => {
        /// Status codes of gRPC, with the same names and numbers.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(i32)]
        pub enum Code {
            $($(#[$doc])* $code = $number,)*
        }

        impl Code {
            /// Converts a gRPC number to a code. Unknown numbers become [`Code::Unknown`].
            ///
            /// ```
            /// use frpc::Code;
            ///
            /// assert_eq!(Code::from_i32(5), Code::NotFound);
            /// ```
            pub const fn from_i32(number: i32) -> Self {
                match number {
                    $($number => Self::$code,)*
                    _ => Self::Unknown,
                }
            }

            /// Returns the name of the code in gRPC, in upper case.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)*
                }
            }

            /// Returns a short description of the code.
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$code => $description,)*
                }
            }
        }
    };
}

codes! {
    /// The call succeeded.
    Ok = 0, "OK", "no failure";
    /// The call was cancelled by its caller.
    Cancelled = 1, "CANCELLED", "the caller cancelled";
    /// An unknown error. All failures reported by compat peers, such as Go servers, have this code, because their wire
    /// format carries only a text.
    Unknown = 2, "UNKNOWN", "unknown failure";
    /// The request is invalid, regardless of the state of the system.
    InvalidArgument = 3, "INVALID_ARGUMENT", "invalid argument";
    /// The deadline passed before the call completed. The server may have run it.
    DeadlineExceeded = 4, "DEADLINE_EXCEEDED", "deadline exceeded";
    /// The requested entity does not exist.
    NotFound = 5, "NOT_FOUND", "not found";
    /// The entity that the caller tried to create already exists.
    AlreadyExists = 6, "ALREADY_EXISTS", "already exists";
    /// The caller does not have permission to make this call.
    PermissionDenied = 7, "PERMISSION_DENIED", "permission denied";
    /// A resource is exhausted, such as a quota, memory or the number of concurrent calls.
    ResourceExhausted = 8, "RESOURCE_EXHAUSTED", "resource exhausted";
    /// The system is not in the state required for the call.
    FailedPrecondition = 9, "FAILED_PRECONDITION", "failed precondition";
    /// The call was aborted, for example because of a concurrency conflict.
    Aborted = 10, "ABORTED", "aborted";
    /// A value is outside the valid range.
    OutOfRange = 11, "OUT_OF_RANGE", "out of range";
    /// The method does not exist or is not implemented.
    Unimplemented = 12, "UNIMPLEMENTED", "unimplemented";
    /// An internal invariant was violated.
    Internal = 13, "INTERNAL", "internal error";
    /// The peer is unreachable, or the connection was lost. The server may have run the call.
    Unavailable = 14, "UNAVAILABLE", "unavailable";
    /// Data was lost or corrupted irrecoverably.
    DataLoss = 15, "DATA_LOSS", "data loss";
    /// The caller did not provide valid credentials.
    Unauthenticated = 16, "UNAUTHENTICATED", "unauthenticated";
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

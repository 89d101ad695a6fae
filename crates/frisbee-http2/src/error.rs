//! Error codes, and the end of a connection.

use std::fmt;

/// An error code of RST_STREAM and GOAWAY: RFC 9113, section 7.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub u32);

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        impl ErrorCode {
            $($(#[$doc])* pub const $name: Self = Self($code);)*

            /// Returns the name in RFC 9113, if it has one.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// A graceful shutdown, or a request that needs no body.
    NO_ERROR = 0;
    /// A violation of the protocol without a code of its own.
    PROTOCOL_ERROR = 1;
    /// An internal error.
    INTERNAL_ERROR = 2;
    /// A violation of flow control.
    FLOW_CONTROL_ERROR = 3;
    /// SETTINGS that were not acknowledged in time.
    SETTINGS_TIMEOUT = 4;
    /// A frame for a stream that is closed in this direction.
    STREAM_CLOSED = 5;
    /// A frame of invalid length.
    FRAME_SIZE_ERROR = 6;
    /// A stream that was not processed, and may be tried again.
    REFUSED_STREAM = 7;
    /// A stream that is no longer needed.
    CANCEL = 8;
    /// A field block that cannot be decoded.
    COMPRESSION_ERROR = 9;
    /// A failed CONNECT.
    CONNECT_ERROR = 10;
    /// A peer that causes too much work.
    ENHANCE_YOUR_CALM = 11;
    /// Insufficient security of the transport.
    INADEQUATE_SECURITY = 12;
    /// A resource that requires HTTP/1.1.
    HTTP_1_1_REQUIRED = 13;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "error code {}", self.0),
        }
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why this end closes a connection. GOAWAY with the code is in the output: write it, then close.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ConnectionError {
    /// The code.
    pub code: ErrorCode,
    /// The problem, for logs and for the peer's.
    pub reason: &'static str,
}

impl ConnectionError {
    pub(crate) const fn new(code: ErrorCode, reason: &'static str) -> Self {
        Self { code, reason }
    }

    pub(crate) const fn protocol(reason: &'static str) -> Self {
        Self::new(ErrorCode::PROTOCOL_ERROR, reason)
    }

    pub(crate) const fn frame_size(reason: &'static str) -> Self {
        Self::new(ErrorCode::FRAME_SIZE_ERROR, reason)
    }

    pub(crate) const fn flow_control(reason: &'static str) -> Self {
        Self::new(ErrorCode::FLOW_CONTROL_ERROR, reason)
    }

    pub(crate) const fn closed(reason: &'static str) -> Self {
        Self::new(ErrorCode::STREAM_CLOSED, reason)
    }

    pub(crate) const fn calm(reason: &'static str) -> Self {
        Self::new(ErrorCode::ENHANCE_YOUR_CALM, reason)
    }
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.reason)
    }
}

impl std::error::Error for ConnectionError {}

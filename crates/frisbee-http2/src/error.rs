//! Error codes and connection errors.

use std::fmt;

/// An error code in RST_STREAM and GOAWAY: RFC 9113, section 7.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub u32);

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        impl ErrorCode {
            $($(#[$doc])* pub const $name: Self = Self($code);)*

            /// Returns the name of the error code in RFC 9113, or `None` for other codes.
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
    /// Graceful shutdown, or reset of a request because its body is not needed.
    NO_ERROR = 0;
    /// Protocol violation without a more specific code.
    PROTOCOL_ERROR = 1;
    /// Internal error.
    INTERNAL_ERROR = 2;
    /// A flow-control window was exceeded or overflowed.
    FLOW_CONTROL_ERROR = 3;
    /// SETTINGS were not acknowledged in time.
    SETTINGS_TIMEOUT = 4;
    /// A frame arrived for a stream that is already closed in this direction.
    STREAM_CLOSED = 5;
    /// The frame has an invalid length.
    FRAME_SIZE_ERROR = 6;
    /// The stream was not processed and may be retried.
    REFUSED_STREAM = 7;
    /// The stream is no longer needed.
    CANCEL = 8;
    /// The field block cannot be decoded.
    COMPRESSION_ERROR = 9;
    /// The connection that a CONNECT request opened was reset or closed abnormally.
    CONNECT_ERROR = 10;
    /// The peer causes excessive load.
    ENHANCE_YOUR_CALM = 11;
    /// The transport does not meet the security requirements.
    INADEQUATE_SECURITY = 12;
    /// The resource requires HTTP/1.1.
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

/// Reason why this end closes a connection. The output ends with a GOAWAY frame that contains the error code. Write the
/// output before closing the transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ConnectionError {
    /// Error code of the GOAWAY frame.
    pub code: ErrorCode,
    /// Description of the problem, for logs and for the debug data of the GOAWAY frame.
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

//! The status of a failed call.

use crate::api::code::Code;
use crate::api::metadata::Metadata;
use bytes::Bytes;
use std::fmt;

/// The status of a failed call: a code and a message. Between native peers it also contains details and metadata.
///
/// A compat peer receives only the message. Failures reported by a compat peer have [`Code::Unknown`].
///
/// ```
/// use frpc::{Code, Metadata, Status};
///
/// let mut metadata = Metadata::new();
/// metadata.insert("shard", "north").unwrap();
/// let status = Status::not_found("no such user").with_details(vec![1, 2, 3]).with_metadata(metadata);
/// assert_eq!(status.code(), Code::NotFound);
/// assert_eq!(status.message(), "no such user");
/// assert_eq!(status.details()[..], [1, 2, 3]);
/// assert_eq!(status.metadata().get("shard"), Some("north"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Status(Box<StatusInner>);

/// Contents of a [`Status`], boxed so that results stay small.
#[derive(Clone, PartialEq, Eq)]
struct StatusInner {
    code: Code,
    /// Whether the call is known not to have run, so that retrying it is safe.
    not_run: bool,
    /// Whether a handler has [rejected](Status::rejected) its call.
    is_rejection: bool,
    /// Whether this end rejected the call because the memory of its caller is used up at present.
    is_overload: bool,
    message: Box<str>,
    details: Bytes,
    metadata: Metadata,
}

impl Status {
    /// Creates a status from a code and a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into().into_boxed_str();
        Self(Box::new(StatusInner {
            code,
            not_run: false,
            is_rejection: false,
            is_overload: false,
            message,
            details: Bytes::new(),
            metadata: Metadata::default(),
        }))
    }

    /// Sets error details in a format chosen by the application; see [`with_detail`](Self::with_detail) for the format
    /// of gRPC. Details and metadata together are limited to 64 KiB. Longer details are not sent, which is logged at
    /// debug level.
    pub fn with_details(mut self, details: impl Into<Bytes>) -> Self {
        self.0.details = details.into();
        self
    }

    /// Sets the metadata.
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        self.0.metadata = metadata;
        self
    }

    /// Returns the code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the error message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the error details, or an empty slice if there are none.
    pub fn details(&self) -> &[u8] {
        &self.0.details
    }

    /// Returns the metadata of the status, which may be empty.
    pub fn metadata(&self) -> &Metadata {
        &self.0.metadata
    }

    /// Returns a mutable reference to the metadata of the status.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut status = frpc::Status::unavailable("the shard is moving");
    /// status.metadata_mut().insert("retry-after", "3")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.0.metadata
    }

    /// Returns whether the call may have run on the server. If not, it is safe to retry.
    ///
    /// A call has not run if it was not sent, or if a native server rejected it before running middleware and handler.
    /// A native server rejects a call if the method does not exist, the layouts are incompatible, the deadline has
    /// passed, the request cannot be decoded, or the server is out of capacity. A call has also not run if its handler
    /// [rejects](Self::rejected) it. After any other failure reported by the server, the call may have run.
    ///
    /// ```
    /// use frpc::Status;
    ///
    /// /// Whether a non-idempotent call may be retried.
    /// fn is_safe_to_repeat(status: &Status) -> bool {
    ///     !status.may_have_run()
    /// }
    /// ```
    pub fn may_have_run(&self) -> bool {
        !self.0.not_run
    }

    /// Declares that the handler has had no effect, so that the call counts as [not run](Self::may_have_run). A native
    /// caller may then retry the call. Useful for handlers that forward calls.
    ///
    /// ```
    /// let status = frpc::Status::unavailable("the queue is full").rejected();
    /// assert!(!status.may_have_run());
    /// ```
    pub fn rejected(mut self) -> Self {
        (self.0.not_run, self.0.is_rejection) = (true, true);
        self
    }

    /// Returns whether a handler has [rejected](Self::rejected) the call.
    pub(crate) fn is_rejection(&self) -> bool {
        self.0.is_rejection
    }

    /// Marks the status of a call that was rejected because the memory of its caller is used up at present.
    pub(crate) fn overload(mut self) -> Self {
        self.0.is_overload = true;
        self
    }

    /// Returns whether the status was marked by [`overload`](Self::overload).
    pub(crate) fn is_overload(&self) -> bool {
        self.0.is_overload
    }

    /// Marks the call as not run, because it was not sent or was rejected. Such a call may be retried.
    pub(crate) fn not_run(mut self) -> Self {
        self.0.not_run = true;
        self
    }

    /// Marks the call as possibly run, for example because an earlier attempt of it may have run.
    pub(crate) fn may_run(mut self) -> Self {
        self.0.not_run = false;
        self
    }

    /// Returns the code and details for the prefix of the reply, or `None` if the message alone suffices.
    pub(crate) fn in_prefix(&self) -> Option<(Code, &[u8])> {
        let details = self.details();
        (self.code() != Code::Unknown || !details.is_empty()).then_some((self.code(), details))
    }
}

macro_rules! constructors {
    ($($name:ident $code:ident),* $(,)?) => {
        impl Status {
            $(
                #[doc = concat!("Creates a status with the code [`Code::", stringify!($code), "`].")]
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
        if !self.metadata().is_empty() {
            debug.field("metadata", self.metadata());
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

//! Standard gRPC error details: the types of `google/rpc/error_details.proto`.
//!
//! [`Status::with_detail`](crate::Status::with_detail) adds a detail to a status, and
//! [`Status::detail`](crate::Status::detail) extracts it from a received one.
//!
//! ```
//! use frpc::details::{BadRequest, RetryInfo};
//! use frpc::{Code, Status};
//! use std::time::Duration;
//!
//! let status = Status::invalid_argument("no such fruit")
//!     .with_detail(&BadRequest::new([("basket.fruit", "is a vegetable")]))
//!     .with_detail(&RetryInfo::new(Duration::from_secs(3)));
//!
//! let bad: BadRequest = status.detail().expect("status should contain the detail that was added");
//! assert_eq!(bad.field_violations[0].field, "basket.fruit");
//! assert_eq!(status.detail::<RetryInfo>().and_then(|info| info.delay()), Some(Duration::from_secs(3)));
//! ```
mod status;

use prost::Name;
use std::collections::HashMap;
use std::time::Duration;

/// Defines the error detail messages of the package `google.rpc`.
macro_rules! details {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field:meta])* $of:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, PartialEq, prost::Message)]
            pub struct $name {
                $($(#[$field])* pub $of: $type,)*
            }

            impl Name for $name {
                const PACKAGE: &'static str = "google.rpc";
                const NAME: &'static str = stringify!($name);
            }
        )*
    };
}

details! {
    /// Machine-readable reason of an error, unique within its domain.
    ErrorInfo {
        /// Error reason in upper snake case, such as `QUOTA_EXCEEDED`.
        #[prost(string, tag = "1")]
        reason: String,
        /// Service that defines the error reason, such as `pubsub.example.com`.
        #[prost(string, tag = "2")]
        domain: String,
        /// Additional values that describe the error, by key.
        #[prost(map = "string, string", tag = "3")]
        metadata: HashMap<String, String>,
    }

    /// The time that clients should wait before they retry.
    RetryInfo {
        /// Minimum time that a client should wait before it retries.
        #[prost(message, optional, tag = "1")]
        retry_delay: Option<prost_types::Duration>,
    }

    /// Debugging information for developers, not intended for users.
    DebugInfo {
        /// Stack trace entries, innermost call first.
        #[prost(string, repeated, tag = "1")]
        stack_entries: Vec<String>,
        /// Additional debugging information provided by the server.
        #[prost(string, tag = "2")]
        detail: String,
    }

    /// Exceeded quotas.
    QuotaFailure {
        /// Violated quotas.
        #[prost(message, repeated, tag = "1")]
        violations: Vec<QuotaViolation>,
    }

    /// The preconditions that a request failed to meet.
    PreconditionFailure {
        /// The preconditions that were violated.
        #[prost(message, repeated, tag = "1")]
        violations: Vec<PreconditionViolation>,
    }

    /// The invalid fields of a request.
    BadRequest {
        /// The invalid fields, each with a description of its error.
        #[prost(message, repeated, tag = "1")]
        field_violations: Vec<FieldViolation>,
    }

    /// Identification of a failed request, for bug reports.
    RequestInfo {
        /// Request id, meaningful only to the service that generated it.
        #[prost(string, tag = "1")]
        request_id: String,
        /// Opaque data that helps to find the request, such as an encrypted stack trace.
        #[prost(string, tag = "2")]
        serving_data: String,
    }

    /// The resource that an error refers to.
    ResourceInfo {
        /// Type of the resource, such as `sql table`.
        #[prost(string, tag = "1")]
        resource_type: String,
        /// Name of the resource that the error refers to.
        #[prost(string, tag = "2")]
        resource_name: String,
        /// Owner of the resource that the error refers to.
        #[prost(string, tag = "3")]
        owner: String,
        /// Description of the error that occurred when accessing the resource.
        #[prost(string, tag = "4")]
        description: String,
    }

    /// Links to documentation about an error.
    Help {
        /// Documentation links with descriptions.
        #[prost(message, repeated, tag = "1")]
        links: Vec<HelpLink>,
    }

    /// An error message in the user's language.
    LocalizedMessage {
        /// Locale of the message as a language tag, such as `fr-CH`.
        #[prost(string, tag = "1")]
        locale: String,
        /// Text of the message, in the language of the locale.
        #[prost(string, tag = "2")]
        message: String,
    }
}

/// An exceeded quota in a [`QuotaFailure`].
#[derive(Clone, PartialEq, prost::Message)]
pub struct QuotaViolation {
    /// Subject whose quota was exceeded, such as `clientip:192.0.2.1`.
    #[prost(string, tag = "1")]
    pub subject: String,
    /// Description of how the quota was exceeded.
    #[prost(string, tag = "2")]
    pub description: String,
}

/// A failed precondition in a [`PreconditionFailure`].
#[derive(Clone, PartialEq, prost::Message)]
pub struct PreconditionViolation {
    /// Type of the precondition, such as `TOS` for terms of service.
    #[prost(string, tag = "1")]
    pub r#type: String,
    /// Subject of the precondition within its type. For the type `TOS`, the subject `google.com/cloud` names the terms
    /// of service that were not accepted.
    #[prost(string, tag = "2")]
    pub subject: String,
    /// Description of how the subject violates the precondition.
    #[prost(string, tag = "3")]
    pub description: String,
}

/// An invalid field in a [`BadRequest`].
#[derive(Clone, PartialEq, prost::Message)]
pub struct FieldViolation {
    /// Path of the invalid field in the request, such as `basket.fruit[2]`.
    #[prost(string, tag = "1")]
    pub field: String,
    /// Description of why the field is invalid.
    #[prost(string, tag = "2")]
    pub description: String,
}

/// A link in [`Help`].
#[derive(Clone, PartialEq, prost::Message)]
pub struct HelpLink {
    /// Description of the page that the link leads to.
    #[prost(string, tag = "1")]
    pub description: String,
    /// URL of the link.
    #[prost(string, tag = "2")]
    pub url: String,
}

impl ErrorInfo {
    /// Creates a detail with a reason and a domain, without additional values.
    ///
    /// ```
    /// use frpc::details::ErrorInfo;
    ///
    /// let info = ErrorInfo::new("OUT_OF_STOCK", "shop.example");
    /// assert_eq!(info.domain, "shop.example");
    /// ```
    pub fn new(reason: impl Into<String>, domain: impl Into<String>) -> Self {
        Self { reason: reason.into(), domain: domain.into(), metadata: HashMap::new() }
    }
}

impl RetryInfo {
    /// Creates a detail that permits a retry after `delay`. A delay beyond the range of protobuf durations is omitted.
    ///
    /// ```
    /// use frpc::details::RetryInfo;
    /// use std::time::Duration;
    ///
    /// let retry = RetryInfo::new(Duration::from_millis(500));
    /// ```
    pub fn new(delay: Duration) -> Self {
        Self { retry_delay: delay.try_into().ok() }
    }

    /// Returns the minimum delay before a retry, or `None` if it is missing or negative.
    ///
    /// ```
    /// use frpc::details::RetryInfo;
    /// use std::time::Duration;
    ///
    /// assert_eq!(RetryInfo::new(Duration::from_secs(1)).delay(), Some(Duration::from_secs(1)));
    /// ```
    pub fn delay(&self) -> Option<Duration> {
        self.retry_delay.and_then(|delay| delay.try_into().ok())
    }
}

impl BadRequest {
    /// Creates a detail from invalid fields, each with a description.
    ///
    /// ```
    /// use frpc::Status;
    /// use frpc::details::BadRequest;
    ///
    /// let faults = BadRequest::new([("email", "is empty"), ("age", "is negative")]);
    /// let status = Status::invalid_argument("the form has errors").with_detail(&faults);
    /// ```
    pub fn new<F: Into<String>, D: Into<String>>(fields: impl IntoIterator<Item = (F, D)>) -> Self {
        let violation =
            |(field, description): (F, D)| FieldViolation { field: field.into(), description: description.into() };
        Self { field_violations: fields.into_iter().map(violation).collect() }
    }
}

//! The details of errors that gRPC's programs exchange: the types of `google/rpc/error_details.proto`.
//!
//! [`StatusExt::with_detail`] adds a detail to a status of [frpc](https://docs.rs/frpc-rs), and [`StatusExt::detail`] reads it
//! at the other end.
//!
//! ```
//! use frpc::{Code, Status};
//! use frpc_details::{BadRequest, RetryInfo, StatusExt};
//! use std::time::Duration;
//!
//! let status = Status::invalid_argument("no such fruit")
//!     .with_detail(&BadRequest::new([("basket.fruit", "is a vegetable")]))
//!     .with_detail(&RetryInfo::new(Duration::from_secs(3)));
//!
//! let bad: BadRequest = status.detail().expect("it was added");
//! assert_eq!(bad.field_violations[0].field, "basket.fruit");
//! assert_eq!(status.detail::<RetryInfo>().and_then(|info| info.delay()), Some(Duration::from_secs(3)));
//! ```
#![forbid(unsafe_code)]

mod status;

use prost::Name;
pub use status::StatusExt;
use std::collections::HashMap;
use std::time::Duration;

/// Declares a message of `google.rpc`.
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
    /// Why a call failed, for programs: a reason that is unique within its domain.
    ErrorInfo {
        /// The reason, in upper snake case, such as `QUOTA_EXCEEDED`.
        #[prost(string, tag = "1")]
        reason: String,
        /// The service that gives the reason, such as `pubsub.example.com`.
        #[prost(string, tag = "2")]
        domain: String,
        /// Further values.
        #[prost(map = "string, string", tag = "3")]
        metadata: HashMap<String, String>,
    }

    /// When a client may try again.
    RetryInfo {
        /// How long the client waits at least.
        #[prost(message, optional, tag = "1")]
        retry_delay: Option<prost_types::Duration>,
    }

    /// Information for a developer to find the fault. It is not for users.
    DebugInfo {
        /// The calls that led to the fault, the innermost first.
        #[prost(string, repeated, tag = "1")]
        stack_entries: Vec<String>,
        /// Further text.
        #[prost(string, tag = "2")]
        detail: String,
    }

    /// Which quotas were exceeded.
    QuotaFailure {
        /// The quotas.
        #[prost(message, repeated, tag = "1")]
        violations: Vec<QuotaViolation>,
    }

    /// Which preconditions were not met.
    PreconditionFailure {
        /// The preconditions.
        #[prost(message, repeated, tag = "1")]
        violations: Vec<PreconditionViolation>,
    }

    /// Which fields of a request were wrong.
    BadRequest {
        /// The fields.
        #[prost(message, repeated, tag = "1")]
        field_violations: Vec<FieldViolation>,
    }

    /// Which request failed, for reports to its service.
    RequestInfo {
        /// An id that the service recognises.
        #[prost(string, tag = "1")]
        request_id: String,
        /// Values that help to find the request, such as an encrypted stack trace.
        #[prost(string, tag = "2")]
        serving_data: String,
    }

    /// Which resource the failure is about.
    ResourceInfo {
        /// The type of the resource, such as `sql table`.
        #[prost(string, tag = "1")]
        resource_type: String,
        /// The name of the resource.
        #[prost(string, tag = "2")]
        resource_name: String,
        /// The owner of the resource.
        #[prost(string, tag = "3")]
        owner: String,
        /// What failed about the resource.
        #[prost(string, tag = "4")]
        description: String,
    }

    /// Where help is found.
    Help {
        /// The links.
        #[prost(message, repeated, tag = "1")]
        links: Vec<HelpLink>,
    }

    /// A message for users, in one language.
    LocalizedMessage {
        /// The language, such as `fr-CH`.
        #[prost(string, tag = "1")]
        locale: String,
        /// The message.
        #[prost(string, tag = "2")]
        message: String,
    }
}

/// One quota of a [`QuotaFailure`].
#[derive(Clone, PartialEq, prost::Message)]
pub struct QuotaViolation {
    /// The subject of the quota, such as `clientip:192.0.2.1`.
    #[prost(string, tag = "1")]
    pub subject: String,
    /// How the quota was exceeded.
    #[prost(string, tag = "2")]
    pub description: String,
}

/// One precondition of a [`PreconditionFailure`].
#[derive(Clone, PartialEq, prost::Message)]
pub struct PreconditionViolation {
    /// The type of the precondition, such as `TOS`.
    #[prost(string, tag = "1")]
    pub r#type: String,
    /// The subject that does not meet the precondition.
    #[prost(string, tag = "2")]
    pub subject: String,
    /// How the precondition is not met.
    #[prost(string, tag = "3")]
    pub description: String,
}

/// One field of a [`BadRequest`].
#[derive(Clone, PartialEq, prost::Message)]
pub struct FieldViolation {
    /// The path of the field in the request, such as `basket.fruit[2]`.
    #[prost(string, tag = "1")]
    pub field: String,
    /// The error of the field.
    #[prost(string, tag = "2")]
    pub description: String,
}

/// One link of a [`Help`].
#[derive(Clone, PartialEq, prost::Message)]
pub struct HelpLink {
    /// The contents of the link.
    #[prost(string, tag = "1")]
    pub description: String,
    /// The address.
    #[prost(string, tag = "2")]
    pub url: String,
}

impl ErrorInfo {
    /// A reason within a domain, without further values.
    ///
    /// ```
    /// use frpc_details::ErrorInfo;
    ///
    /// let info = ErrorInfo::new("OUT_OF_STOCK", "shop.example");
    /// assert_eq!(info.domain, "shop.example");
    /// ```
    pub fn new(reason: impl Into<String>, domain: impl Into<String>) -> Self {
        Self { reason: reason.into(), domain: domain.into(), metadata: HashMap::new() }
    }
}

impl RetryInfo {
    /// The client may try again after `delay`. A delay beyond the range of protobuf's durations is left out.
    ///
    /// ```
    /// use frpc_details::RetryInfo;
    /// use std::time::Duration;
    ///
    /// let retry = RetryInfo::new(Duration::from_millis(500));
    /// ```
    pub fn new(delay: Duration) -> Self {
        Self { retry_delay: delay.try_into().ok() }
    }

    /// How long the client waits at least; `None` if that is missing or negative.
    ///
    /// ```
    /// use frpc_details::RetryInfo;
    /// use std::time::Duration;
    ///
    /// assert_eq!(RetryInfo::new(Duration::from_secs(1)).delay(), Some(Duration::from_secs(1)));
    /// ```
    pub fn delay(&self) -> Option<Duration> {
        self.retry_delay.and_then(|delay| delay.try_into().ok())
    }
}

impl BadRequest {
    /// The fields that are wrong, each with a description.
    ///
    /// ```
    /// use frpc::Status;
    /// use frpc_details::{BadRequest, StatusExt};
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

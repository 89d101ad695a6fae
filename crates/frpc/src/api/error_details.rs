//! The details of errors that gRPC's programs exchange: the types of `google/rpc/error_details.proto`.
//!
//! [`Status::with_detail`] adds a detail to a status, and [`Status::detail`] reads it at the other end. They are in the
//! details of the status as an encoded `google.rpc.Status`, which gRPC carries as `grpc-status-details-bin`: with the
//! feature `tonic` they reach gRPC's programs, and come from them, unchanged. A compat peer gets the message alone.
//!
//! ```
//! use frpc::error_details::{BadRequest, RetryInfo};
//! use frpc::{Code, Status};
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
//!
//! A message of your own is a detail if it implements [`prost::Name`].

use crate::Status;
use prost::{Message, Name};
use prost_types::Any;
use std::collections::HashMap;
use std::time::Duration;

/// `google.rpc.Status`: gRPC's form of the details of a status.
#[derive(Clone, PartialEq, prost::Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

impl Status {
    /// Appends a detail. [Details](Self::with_details) that are no `google.rpc.Status` are replaced.
    ///
    /// Together with the metadata, details have to fit into 64 KiB; longer ones are not sent.
    ///
    /// ```
    /// use frpc::Status;
    /// use frpc::error_details::ErrorInfo;
    ///
    /// let status = Status::failed_precondition("the shop is closed").with_detail(&ErrorInfo::new("CLOSED", "shop.example"));
    /// assert_eq!(status.detail::<ErrorInfo>().unwrap().reason, "CLOSED");
    /// ```
    pub fn with_detail<D: Message + Name>(self, detail: &D) -> Self {
        let details = RpcStatus::decode(self.details()).map_or_else(|_| Vec::new(), |status| status.details);
        let mut status = RpcStatus { code: self.code() as i32, message: self.message().to_owned(), details };
        status.details.push(Any { type_url: type_url::<D>(), value: detail.encode_to_vec() });
        self.with_details(status.encode_to_vec())
    }

    /// The first detail of a type; `None` if there is none, or it cannot be read.
    ///
    /// ```
    /// use frpc::Status;
    /// use frpc::error_details::RetryInfo;
    /// use std::time::Duration;
    ///
    /// let status = Status::unavailable("try later").with_detail(&RetryInfo::new(Duration::from_secs(2)));
    /// let retry: RetryInfo = status.detail().unwrap();
    /// assert_eq!(retry.delay(), Some(Duration::from_secs(2)));
    /// ```
    pub fn detail<D: Message + Name + Default>(&self) -> Option<D> {
        self.all_details().next()
    }

    /// All details of a type, such as one [`LocalizedMessage`] for each language. Those that cannot be read are left
    /// out.
    ///
    /// ```
    /// use frpc::Status;
    /// use frpc::error_details::ErrorInfo;
    ///
    /// let status = Status::aborted("two reasons")
    ///     .with_detail(&ErrorInfo::new("ONE", "example"))
    ///     .with_detail(&ErrorInfo::new("TWO", "example"));
    /// assert_eq!(status.all_details::<ErrorInfo>().count(), 2);
    /// ```
    pub fn all_details<D: Message + Name + Default>(&self) -> impl Iterator<Item = D> + use<D> {
        let details = RpcStatus::decode(self.details()).map_or_else(|_| Vec::new(), |status| status.details);
        details.into_iter().filter(|any| is_of::<D>(&any.type_url)).filter_map(|any| D::decode(&any.value[..]).ok())
    }
}

fn type_url<D: Name>() -> String {
    format!("type.googleapis.com/{}", D::full_name())
}

/// Whether a URL names the type. Its host does not matter.
fn is_of<D: Name>(url: &str) -> bool {
    url.rsplit('/').next() == Some(&D::full_name())
}

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
    /// use frpc::error_details::ErrorInfo;
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
    /// use frpc::error_details::RetryInfo;
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
    /// use frpc::error_details::RetryInfo;
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
    /// use frpc::error_details::BadRequest;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn details_are_the_bytes_of_google_rpc_status() {
        let status = Status::not_found("gone")
            .with_detail(&LocalizedMessage { locale: "de".to_owned(), message: "weg".to_owned() });
        let mut expected = b"\x08\x05\x12\x04gone\x1a\x3b\x0a\x2e".to_vec();
        expected.extend(b"type.googleapis.com/google.rpc.LocalizedMessage\x12\x09\x0a\x02de\x12\x03weg");
        // The lengths of the URL and of what holds it.
        let url = "type.googleapis.com/google.rpc.LocalizedMessage".len() as u8;
        (expected[11], expected[9]) = (url, url + 2 + 11);
        assert_eq!(status.details(), expected);
    }

    #[test]
    fn details_are_read_back_by_type_and_others_skipped() {
        let quota = QuotaFailure {
            violations: vec![QuotaViolation { subject: "user:7".to_owned(), description: "100 a day".to_owned() }],
        };
        let mut info = ErrorInfo::new("QUOTA_EXCEEDED", "example.com");
        info.metadata.insert("limit".to_owned(), "100".to_owned());
        let german = LocalizedMessage { locale: "de".to_owned(), message: "zu viel".to_owned() };
        let french = LocalizedMessage { locale: "fr".to_owned(), message: "trop".to_owned() };
        let status = Status::new(Code::ResourceExhausted, "too much")
            .with_detail(&info)
            .with_detail(&german)
            .with_detail(&quota)
            .with_detail(&french)
            .with_detail(&RetryInfo::new(Duration::from_millis(1500)));
        assert_eq!(status.detail(), Some(info));
        assert_eq!(status.detail(), Some(quota));
        assert_eq!(status.all_details().collect::<Vec<LocalizedMessage>>(), [german, french]);
        assert_eq!(status.detail::<RetryInfo>().unwrap().delay(), Some(Duration::from_millis(1500)));
        assert_eq!(status.detail::<Help>(), None);
    }

    #[test]
    fn details_of_other_types_hold_none_and_are_replaced() {
        let status = Status::internal("raw").with_details(&b"\xff\xff\xff"[..]);
        assert_eq!(status.detail::<Help>(), None);
        let help =
            Help { links: vec![HelpLink { description: "why".to_owned(), url: "https://example.com".to_owned() }] };
        assert_eq!(status.with_detail(&help).detail(), Some(help));
    }

    #[test]
    fn a_negative_delay_of_a_peer_is_none() {
        let negative = RetryInfo { retry_delay: Some(prost_types::Duration { seconds: -1, nanos: 0 }) };
        assert_eq!(Status::unavailable("").with_detail(&negative).detail::<RetryInfo>().unwrap().delay(), None);
    }

    /// As tonic-types and grpc-go read them.
    #[cfg(feature = "tonic")]
    #[test]
    fn details_cross_to_grpc_and_back_unchanged() {
        let bad = BadRequest::new([("name", "is empty")]);
        let status = Status::invalid_argument("bad").with_detail(&bad);
        let theirs = tonic::Status::from(status.clone());
        let mut headers = http::HeaderMap::new();
        theirs.add_header(&mut headers).expect("it fits");
        assert!(headers.contains_key("grpc-status-details-bin"));
        let back = tonic::Status::from_header_map(&headers).expect("it was written");
        let back = Status::from(back);
        assert_eq!((back.code(), back.message()), (Code::InvalidArgument, "bad"));
        assert_eq!(back.detail(), Some(bad));
    }
}

//! Details of a status in the encoding of gRPC.

use crate::Status;
use prost::{Message, Name};
use prost_types::Any;

/// `google.rpc.Status`, gRPC's encoding of error details.
#[derive(Clone, PartialEq, prost::Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// Accessors for details in the encoding of gRPC: a `google.rpc.Status`, which gRPC sends as `grpc-status-details-bin`.
///
/// With the feature `tonic`, details can be exchanged unchanged with gRPC programs. Compat peers receive only the
/// message of a status. Details and metadata together are limited to 64 KiB. Longer ones are not sent.
impl Status {
    /// Appends a detail, which is a type of [`details`](crate::details) or a custom message that implements
    /// [`prost::Name`]. Replaces existing [details](Status::with_details) that are not a `google.rpc.Status`.
    ///
    /// ```
    /// use frpc::Status;
    /// use frpc::details::ErrorInfo;
    ///
    /// let status = Status::failed_precondition("the shop is closed").with_detail(&ErrorInfo::new("CLOSED", "shop.example"));
    /// assert_eq!(status.detail::<ErrorInfo>().unwrap().reason, "CLOSED");
    /// ```
    #[must_use]
    pub fn with_detail<D: Message + Name>(self, detail: &D) -> Self {
        let mut status =
            RpcStatus { code: self.code() as i32, message: self.message().to_owned(), details: details(&self) };
        status.details.push(Any { type_url: type_url::<D>(), value: detail.encode_to_vec() });
        self.with_details(status.encode_to_vec())
    }

    /// Returns all details of a type, for example one `LocalizedMessage` per language. Skips malformed details.
    ///
    /// ```
    /// use frpc::Status;
    /// use frpc::details::ErrorInfo;
    ///
    /// let status = Status::aborted("two reasons")
    ///     .with_detail(&ErrorInfo::new("ONE", "example"))
    ///     .with_detail(&ErrorInfo::new("TWO", "example"));
    /// assert_eq!(status.all_details::<ErrorInfo>().count(), 2);
    /// ```
    pub fn all_details<D: Message + Name + Default>(&self) -> impl Iterator<Item = D> + use<D> {
        let details = details(self).into_iter().filter(|any| is_of::<D>(&any.type_url));
        details.filter_map(|any| D::decode(&any.value[..]).ok())
    }

    /// Returns the first detail of a type. Returns `None` if there is none or it is malformed.
    ///
    /// ```
    /// use frpc::Status;
    /// use frpc::details::RetryInfo;
    /// use std::time::Duration;
    ///
    /// let status = Status::unavailable("try later").with_detail(&RetryInfo::new(Duration::from_secs(2)));
    /// let retry: RetryInfo = status.detail().unwrap();
    /// assert_eq!(retry.delay(), Some(Duration::from_secs(2)));
    /// ```
    pub fn detail<D: Message + Name + Default>(&self) -> Option<D> {
        self.all_details().next()
    }
}

/// Decodes error details. Returns an empty list if they use another encoding.
fn details(status: &Status) -> Vec<Any> {
    RpcStatus::decode(status.details()).map_or_else(|_| Vec::new(), |status| status.details)
}

fn type_url<D: Name>() -> String {
    format!("type.googleapis.com/{}", D::full_name())
}

/// Returns whether a type URL names this message type, regardless of the URL's host.
fn is_of<D: Name>(url: &str) -> bool {
    url.rsplit('/').next() == Some(&D::full_name())
}

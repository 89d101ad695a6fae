//! The details of a status in gRPC's form.

use frpc::Status;
use prost::{Message, Name};
use prost_types::Any;

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

/// Details of a [`Status`] in gRPC's form: an encoded `google.rpc.Status`, which gRPC carries as `grpc-status-details-bin`.
///
/// With frpc's feature `tonic` they are exchanged with gRPC's programs unchanged. A compat peer gets the message of a status
/// alone. Together with the metadata, details have to fit into 64 KiB; longer ones are not sent.
pub trait StatusExt: Sized {
    /// Appends a detail: one of gRPC's, which this crate has, or a message of your own with [`prost::Name`].
    /// [Details](Status::with_details) that are no `google.rpc.Status` are replaced.
    ///
    /// ```
    /// use frpc::Status;
    /// use frpc_details::{ErrorInfo, StatusExt};
    ///
    /// let status = Status::failed_precondition("the shop is closed").with_detail(&ErrorInfo::new("CLOSED", "shop.example"));
    /// assert_eq!(status.detail::<ErrorInfo>().unwrap().reason, "CLOSED");
    /// ```
    #[must_use]
    fn with_detail<D: Message + Name>(self, detail: &D) -> Self;

    /// All details of a type, such as one `LocalizedMessage` for each language. Those that cannot be read are left
    /// out.
    ///
    /// ```
    /// use frpc::Status;
    /// use frpc_details::{ErrorInfo, StatusExt};
    ///
    /// let status = Status::aborted("two reasons")
    ///     .with_detail(&ErrorInfo::new("ONE", "example"))
    ///     .with_detail(&ErrorInfo::new("TWO", "example"));
    /// assert_eq!(status.all_details::<ErrorInfo>().count(), 2);
    /// ```
    fn all_details<D: Message + Name + Default>(&self) -> impl Iterator<Item = D> + use<D, Self>;

    /// The first detail of a type; `None` if there is none, or it cannot be read.
    ///
    /// ```
    /// use frpc::Status;
    /// use frpc_details::{RetryInfo, StatusExt};
    /// use std::time::Duration;
    ///
    /// let status = Status::unavailable("try later").with_detail(&RetryInfo::new(Duration::from_secs(2)));
    /// let retry: RetryInfo = status.detail().unwrap();
    /// assert_eq!(retry.delay(), Some(Duration::from_secs(2)));
    /// ```
    fn detail<D: Message + Name + Default>(&self) -> Option<D> {
        self.all_details().next()
    }
}

impl StatusExt for Status {
    fn with_detail<D: Message + Name>(self, detail: &D) -> Self {
        let mut status =
            RpcStatus { code: self.code() as i32, message: self.message().to_owned(), details: details(&self) };
        status.details.push(Any { type_url: type_url::<D>(), value: detail.encode_to_vec() });
        self.with_details(status.encode_to_vec())
    }

    fn all_details<D: Message + Name + Default>(&self) -> impl Iterator<Item = D> + use<D> {
        let details = details(self).into_iter().filter(|any| is_of::<D>(&any.type_url));
        details.filter_map(|any| D::decode(&any.value[..]).ok())
    }
}

/// All details; none if they have another form.
fn details(status: &Status) -> Vec<Any> {
    RpcStatus::decode(status.details()).map_or_else(|_| Vec::new(), |status| status.details)
}

fn type_url<D: Name>() -> String {
    format!("type.googleapis.com/{}", D::full_name())
}

/// Whether a URL names the type. Its host does not matter.
fn is_of<D: Name>(url: &str) -> bool {
    url.rsplit('/').next() == Some(&D::full_name())
}

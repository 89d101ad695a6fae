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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BadRequest, ErrorInfo, Help, HelpLink, LocalizedMessage, QuotaFailure, QuotaViolation, RetryInfo};
    use frpc::Code;
    use std::time::Duration;

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

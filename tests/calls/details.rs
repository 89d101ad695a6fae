//! Tests of status details in gRPC's format, encoded by `frpc::details`.

use frpc::details::{BadRequest, ErrorInfo, Help, HelpLink, LocalizedMessage, QuotaFailure, QuotaViolation, RetryInfo};
use frpc::{Code, Status};
use std::time::Duration;

#[test]
fn details_encode_as_google_rpc_status() {
    let status =
        Status::not_found("gone").with_detail(&LocalizedMessage { locale: "de".to_owned(), message: "weg".to_owned() });
    let mut expected = b"\x08\x05\x12\x04gone\x1a\x3b\x0a\x2e".to_vec();
    expected.extend(b"type.googleapis.com/google.rpc.LocalizedMessage\x12\x09\x0a\x02de\x12\x03weg");
    // The length of the type URL, and the length of the message that contains it.
    let url = "type.googleapis.com/google.rpc.LocalizedMessage".len() as u8;
    (expected[11], expected[9]) = (url, url + 2 + 11);
    assert_eq!(status.details(), expected);
}

#[test]
fn details_decode_by_type_and_skip_others() {
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
fn foreign_details_are_ignored_and_replaced() {
    let status = Status::internal("raw").with_details(&b"\xff\xff\xff"[..]);
    assert_eq!(status.detail::<Help>(), None);
    let help = Help { links: vec![HelpLink { description: "why".to_owned(), url: "https://example.com".to_owned() }] };
    assert_eq!(status.with_detail(&help).detail(), Some(help));
}

#[test]
fn negative_delay_from_peer_is_ignored() {
    let negative = RetryInfo { retry_delay: Some(prost_types::Duration { seconds: -1, nanos: 0 }) };
    assert_eq!(Status::unavailable("").with_detail(&negative).detail::<RetryInfo>().unwrap().delay(), None);
}

/// tonic-types and grpc-go expect this encoding of details.
#[test]
fn details_cross_to_grpc_and_back_unchanged() {
    let bad = BadRequest::new([("name", "is empty")]);
    let status = Status::invalid_argument("bad").with_detail(&bad);
    let theirs = tonic::Status::from(status.clone());
    let mut headers = http::HeaderMap::new();
    theirs.add_header(&mut headers).expect("status should fit into headers");
    assert!(headers.contains_key("grpc-status-details-bin"));
    let back = tonic::Status::from_header_map(&headers).expect("headers should contain the status");
    let back = Status::from(back);
    assert_eq!((back.code(), back.message()), (Code::InvalidArgument, "bad"));
    assert_eq!(back.detail(), Some(bad));
}

//! Tests the extensions of native peers with the vectors in `extensions.json`. Implementations in all languages use
//! this file.

use crate::wire::measured::{hex, list, text};
use bytes::Bytes;
use frisbee_core::{
    CloseReason, Connection, Decoder, Event, HeaderForm, Hello, Operation, Packet, ProtocolError, ServerConfig,
    extension,
};
use frisbee_tests::extension::{ExtensionClient, Time};
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::serve_interop;
use frisbee_tests::vec::VSparse;
use frpc::polyglot::{self, Encoder, Form, Root};
use frpc::{Channel, Code, Status};
use serde_json::Value as Json;
use std::time::Instant;

/// Returns the entries of a list in the file.
fn vectors(name: &str) -> Vec<Json> {
    let file: Json = serde_json::from_str(include_str!("extensions.json")).expect("text should be valid JSON");
    list(&file[name]).to_vec()
}

#[test]
fn extension_packets_match_listed_outcomes() {
    let now = Instant::now();
    let types = [
        extension::HELLO,
        extension::ASK,
        extension::LAYOUT,
        extension::CALLS,
        extension::CLOSE,
        extension::HEADERS,
        extension::TRAILERS,
        extension::FRAGMENT,
    ];
    let packets = vectors("packets");
    for (at, vector) in packets.iter().chain(&vectors("fragments")).enumerate() {
        let bytes = Bytes::from(hex(text(&vector["hex"])));
        let header = Decoder::new(HeaderForm::Current, 1 << 20)
            .next(&mut bytes.clone())
            .expect("frame should be valid")
            .expect("frame should be complete");
        assert_eq!(header.operation, Operation::EXTENSION, "{vector}");
        assert!(types.get(at).is_none_or(|kind| *kind == header.id), "{vector}");
        let mut server = Connection::server(&ServerConfig::default(), now);
        let mut input = Bytes::from(hex(text(&packets[0]["hex"])));
        let mut feed = |input: &mut Bytes| {
            while let Some(event) = server.poll_event(input, now)? {
                if let Event::Control(Packet { id: extension::CLOSE, body, .. }) = event {
                    let malformed = CloseReason::Protocol(ProtocolError::Malformed(Operation::EXTENSION));
                    return Err(CloseReason::from_packet(&body).unwrap_or(malformed));
                }
            }
            Ok::<_, CloseReason>(())
        };
        feed(&mut input).expect("HELLO should be accepted");
        let fed = feed(&mut bytes.clone());
        match &vector["error"] {
            Json::Null => fed.unwrap_or_else(|error| panic!("{vector}: {error}")),
            expected => {
                let reason = fed.expect_err("the connection should end");
                assert!(reason.to_string().contains(text(expected)), "{vector}: {reason}");
            }
        }
    }
}

/// Opens a connection on which the test plays the server, and sends packets of stream 1. Returns the result of the
/// client's first read from this stream.
async fn read_stream(packets: &[u8]) -> (Vec<String>, Option<Status>) {
    let (address, accepted) = Raw::listen().await;
    let channel = Channel::builder().calls::<ExtensionClient>().connect(address).await;
    let client = ExtensionClient::new(channel.expect("server should be listening"));
    let mut server = accepted.await;
    // A HELLO with credit, so that the client can send the request.
    server.write(&packet(0, 3, b"fris\x01\x04\x03\xff\xff\x03")).await;
    let mut replies = client.flood(Time::default()).await.expect("stream should open").into_inner();
    server.write(packets).await;
    let failure = replies.message().await.err();
    (replies.metadata().get_all("k").map(str::to_owned).collect(), failure)
}

#[tokio::test]
async fn headers_are_accepted_or_refused_as_listed() {
    for vector in vectors("headers") {
        let headers = packet(5, 3, &[&[1][..], &hex(text(&vector["hex"]))].concat());
        let (metadata, failure) = read_stream(&[headers, packet(1, 7, &[])].concat()).await;
        let expected = vector["metadata"].as_array().cloned().unwrap_or_default();
        assert_eq!(serde_json::json!(metadata), Json::from(expected), "{vector}");
        let code = vector["error"].as_str().map(|_| Code::Internal);
        assert_eq!(failure.map(|status| status.code()), code, "{vector}");
    }
}

#[tokio::test]
async fn trailers_end_streams_as_listed() {
    for vector in vectors("trailers") {
        let (_, failure) = read_stream(&packet(6, 3, &[&[1][..], &hex(text(&vector["hex"]))].concat())).await;
        assert_eq!(failure.is_some(), vector["code"].is_number(), "{vector}");
        let Some(failure) = failure else { continue };
        assert_eq!(failure.code() as i64, vector["code"], "{vector}");
        assert_eq!(failure.may_have_run(), vector["may_have_run"], "{vector}");
        assert!(vector["text"].as_str().is_none_or(|text| text == failure.message()), "{vector}");
        let metadata = failure.metadata().get_all("k").count();
        assert_eq!(metadata, vector["metadata"].as_array().map_or(0, Vec::len), "{vector}");
    }
}

#[test]
fn hello_is_accepted_or_refused_as_listed() {
    for vector in vectors("hello") {
        match Hello::decode(&hex(text(&vector["hex"])).into()) {
            Ok(hello) => {
                let limits = [hello.body_max, hello.streams_max, hello.calls_max, hello.stream_credit];
                assert_eq!(serde_json::json!(limits), vector["limits"], "{vector}");
            }
            Err(error) => assert!(error.to_string().contains(text(&vector["error"])), "{vector}: {error}"),
        }
    }
}

#[tokio::test]
async fn prefix_is_accepted_or_refused_as_listed() {
    let mut raw = Raw::connect(serve_interop().await).await;
    raw.write(&packet(0, 3, b"fris\x01")).await;
    for vector in vectors("prefix") {
        raw.write(&packet(7, 18, &hex(text(&vector["hex"])))).await;
        let reply = raw.next().await.expect("every request should be answered").body;
        let code = match text(&vector["reply"]) {
            "OK" => None,
            "INVALID_ARGUMENT" => Some(3),
            "UNIMPLEMENTED" => Some(12),
            other => panic!("unknown code {other}"),
        };
        match code {
            None => assert_eq!(reply[..2], [8, 0], "{vector}"),
            // The code, and the item that states that the call has not run.
            Some(code) => assert_eq!(reply[..7], [0x10, 5, 3, 1, code, 5, 0], "{vector}"),
        }
    }
}

#[test]
fn enum_numbers_round_trip_as_listed() {
    for vector in vectors("enums") {
        let bytes = hex(text(&vector["hex"]));
        let Ok(Root::Message(message)) = polyglot::decode_root::<VSparse>(&mut polyglot::Decoder::new(&bytes)) else {
            panic!("{vector}")
        };
        assert_eq!(i64::from(message.v), vector["number"], "{vector}");
        let mut again = Vec::new();
        let mut encoder = Encoder::new(&mut again).with_form(Form::Extended);
        polyglot::encode_root(&message, &mut encoder).expect("every enum number should be encodable");
        assert_eq!(again, bytes, "{vector}");
    }
}

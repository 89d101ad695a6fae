//! Attacks on gateway protocols.

use crate::attacks::{Attack, Ending, Target};
use crate::raw::{HTTP2_PREFACE, http2_frame as frame};
use flate2::{Compression, write::GzEncoder};
use std::io::Write as _;
use std::time::Duration;

/// Returns all attacks on gateway protocols.
pub(super) fn all() -> Vec<Attack> {
    [json_rpc(), http(), web_socket()].concat()
}

fn json_rpc() -> Vec<Attack> {
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"interop.Interop/Sleep","params":[3600000]}"#;
    let notice = br#"{"jsonrpc":"2.0","method":"interop.Interop/Add","params":{"a":1,"b":2}}"#;
    vec![
        Attack::new("a batch of a million by JSON-RPC", &[42], Target::Interop, b"[".to_vec())
            .again(b"1,".repeat(32 * 1024)),
        Attack::new("brackets by JSON-RPC", &[42], Target::Interop, b"[".repeat(100_000)),
        Attack::new("a message of JSON-RPC in single bytes", &[42], Target::Interop, b"{\"a\":\"".to_vec())
            .again(b"x".to_vec()),
        Attack::new("5 MiB by JSON-RPC without an end", &[42], Target::Interop, b"{\"a\":\"".to_vec())
            .again(b"x".repeat(64 * 1024)),
        Attack::new("calls beyond the limit by JSON-RPC", &[22], Target::Interop, Vec::new()).again(call.repeat(800)),
        Attack::new("notifications by JSON-RPC", &[19], Target::Interop, Vec::new()).again(notice.repeat(800)),
    ]
}

/// Returns the head of a POST request whose body has `length` bytes.
fn head(content_type: &str, length: usize) -> String {
    format!(
        "POST /interop.Interop/EchoPayload HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/{content_type}\r\n\
         content-length: {length}\r\n"
    )
}

/// Returns a request with a compressed body of 8 MiB.
fn bomb(content_type: &str, field: &str, is_enveloped: bool) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b' '; 8 << 20]).expect("write should succeed");
    let body = encoder.finish().expect("connection in memory should succeed");
    let length = u32::try_from(body.len()).expect("length should fit u32").to_be_bytes();
    let body = if is_enveloped { [&[1], &length[..], &body].concat() } else { body };
    [format!("{}{field}: gzip\r\n\r\n", head(content_type, body.len())).as_bytes(), &body].concat()
}

fn http() -> Vec<Attack> {
    let slow_head = b"POST / HTTP/1.1\r\nhost: localhost\r\nx: ".to_vec();
    let body = || format!("{}\r\n", head("json", 5 << 20)).into_bytes();
    let chunked =
        b"POST /interop.Interop/EchoPayload HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
        transfer-encoding: chunked\r\n\r\n5\r\n{\"a\":";
    let every = Duration::from_millis(50);
    vec![
        Attack::new("gzip bombs by Connect", &[43], Target::Interop, bomb("json", "content-encoding", false))
            .ending(Ending::HalfClose),
        Attack::new("gzip bombs by gRPC-Web", &[43], Target::Interop, bomb("grpc-web+json", "grpc-encoding", true))
            .ending(Ending::HalfClose),
        Attack::new("heads of HTTP byte by byte", &[44], Target::Interop, slow_head)
            .again(b"y".to_vec())
            .every(every)
            .connections(200),
        Attack::new("bodies of HTTP byte by byte", &[44], Target::Interop, body())
            .again(b" ".to_vec())
            .every(every)
            .connections(200),
        Attack::new("a body of HTTP in single bytes", &[44], Target::Interop, body()).again(b" ".to_vec()),
        Attack::new("chunks of HTTP of one byte", &[44], Target::Interop, chunked.to_vec())
            .again(b"\r\n1\r\n ".to_vec()),
        Attack::new("streams of HTTP/2 that are reset at once", &[21], Target::Interop, resets(20_000))
            .ending(Ending::HalfClose),
    ]
}

/// Returns the bytes of an HTTP/2 connection with `count` calls. Each call is reset immediately.
fn resets(count: u32) -> Vec<u8> {
    let path = b"/interop.Interop/Sleep";
    // Entries of HPACK's static table: POST, http, and the names of the path and of the authority.
    let fields = [&[0x83, 0x86, 0x04, path.len() as u8], &path[..], &[0x01, 9], b"localhost"].concat();
    let mut bytes = [HTTP2_PREFACE, &frame(4, 0, 0, b"")].concat();
    for stream in (1..).step_by(2).take(count as usize) {
        bytes.extend(frame(1, 4, stream, &fields));
        bytes.extend(frame(3, 0, stream, &[0, 0, 0, 8]));
    }
    bytes
}

fn web_socket() -> Vec<Attack> {
    let upgrade = |protocol: &str| {
        format!(
            "GET / HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: \
             dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\nsec-websocket-protocol: {protocol}\r\n\r\n"
        )
    };
    let opening = |protocol: &str, frame: &[u8]| [upgrade(protocol).as_bytes(), frame].concat();
    // The mask is zero, so the payload is unchanged.
    let started = [&[0x01, 0xFE, 0xFF, 0xFF, 0, 0, 0, 0][..], b"{\"a\":\""].concat();
    vec![
        Attack::new("idle WebSockets", &[46], Target::Interop, opening("jsonrpc", b"")).connections(1_000),
        Attack::new("texts of WebSocket in single bytes", &[15], Target::Interop, opening("jsonrpc", &started))
            .again(b"x".to_vec()),
        Attack::new(
            "fragments of WebSocket without data",
            &[19],
            Target::Interop,
            opening("jsonrpc", &[1, 0x80, 0, 0, 0, 0]),
        )
        .again([0, 0x80, 0, 0, 0, 0].repeat(1_000)),
        Attack::new("PINGs of WebSocket", &[18], Target::Interop, opening("frisbee.1", b""))
            .again([0x89, 0x80, 0, 0, 0, 0].repeat(1_000))
            .deaf(),
    ]
}

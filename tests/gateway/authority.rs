//! Tests of `:authority` and `host` in HTTP/2 requests. The test encodes the requests by hand.

use crate::gateway::greeter::{Open, all, builder};
use samples::greet::GreeterServer;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Indices in HPACK's static table. The first ones select a name with a value, the others only a name.
const POST: u8 = 3;
const HTTP: u8 = 6;
const HTTPS: u8 = 7;
const STATUS_200: u8 = 8;
const STATUS_400: u8 = 12;
const AUTHORITY: u8 = 1;
const PATH: u8 = 4;
const CONTENT_TYPE: u8 = 31;
const HOST: u8 = 38;

/// Frame types.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Encodes a field as an index of the static table.
fn indexed(number: u8) -> Vec<u8> {
    vec![0x80 | number]
}

/// Encodes a field with an indexed name and a literal value.
fn field(name: u8, value: &str) -> Vec<u8> {
    let name = if name < 15 { vec![name] } else { vec![15, name - 15] };
    [name, vec![value.len() as u8], value.into()].concat()
}

/// Makes a call with the given authority and further fields. Returns the type and the payload of the first frame of the
/// response.
async fn answer(
    mut socket: impl AsyncRead + AsyncWrite + Unpin,
    scheme: u8,
    authority: &str,
    host: Option<&str>,
) -> (u8, Vec<u8>) {
    let fields = [
        indexed(POST),
        indexed(scheme),
        field(AUTHORITY, authority),
        field(PATH, "/greet.Greeter/Greet"),
        field(CONTENT_TYPE, "application/json"),
        host.map(|host| field(HOST, host)).unwrap_or_default(),
    ];
    let request = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(SETTINGS, 0, 0, &[]),
        frame(HEADERS, 4, 1, &fields.concat()),
        frame(DATA, 1, 1, br#"{"name":"Ada"}"#),
    ];
    socket.write_all(&request.concat()).await.expect("write should succeed");
    loop {
        let mut length = [0; 4];
        socket.read_exact(&mut length[1..]).await.expect("peer should send the expected bytes");
        let kind = socket.read_u8().await.expect("peer should send a byte");
        socket.read_u8().await.expect("peer should send a byte");
        let stream = socket.read_u32().await.expect("peer should send the expected bytes");
        let mut payload = vec![0; u32::from_be_bytes(length) as usize];
        socket.read_exact(&mut payload).await.expect("peer should send the expected bytes");
        if stream == 1 && [HEADERS, RST_STREAM].contains(&kind) {
            return (kind, payload);
        }
    }
}

/// An HTTP/2 client does not normalize the field, so the gateway receives it unchanged.
#[tokio::test]
async fn http2_host_must_equal_normalized_authority() {
    let server = Open::new(all()).await;
    for scheme in [HTTP, HTTPS] {
        for (authority, host, status) in [
            ("localhost", None, STATUS_200),
            ("localhost", Some("localhost"), STATUS_200),
            ("localhost", Some("LocalHost"), STATUS_200),
            ("LOCALHOST", Some("localhost"), STATUS_200),
            ("localhost:80", Some("localhost"), STATUS_200),
            ("localhost", Some("localhost:80"), STATUS_200),
            ("localhost:443", Some("Localhost"), STATUS_200),
            ("localhost", Some("localhost:443"), STATUS_200),
            ("localhost:8080", Some("LOCALHOST:8080"), STATUS_200),
            ("localhost", Some("127.0.0.1"), STATUS_400),
            ("localhost", Some("localhost.example"), STATUS_400),
            ("localhost:8080", Some("localhost"), STATUS_400),
            ("localhost:8080", Some("localhost:8081"), STATUS_400),
            ("localhost", Some(""), STATUS_400),
        ] {
            let (kind, block) = answer(server.connect().await, scheme, authority, host).await;
            let expected = (HEADERS, indexed(status).first().copied());
            assert_eq!((kind, block.first().copied()), expected, "{authority}, {host:?}, scheme {scheme}");
        }
    }
}

/// gRPC clients may send the path of a Unix socket as the authority. Over TCP, such a path is not a valid host.
#[tokio::test]
async fn socket_path_authority_is_rejected_over_tcp() {
    let (builder, host, _events) = builder(all());
    let local = builder.add_service(GreeterServer::new(host)).build().expect("services should not overlap");
    for authority in ["%2Frun%2Fservice.sock", "run%2fservice.sock", "/run/service.sock"] {
        let (here, there) = tokio::io::duplex(1024);
        let local = local.clone();
        tokio::spawn(async move { local.serve_connection(there).await });
        let (kind, block) = answer(here, HTTP, authority, None).await;
        assert_eq!((kind, block.first().copied()), (HEADERS, indexed(STATUS_200).first().copied()), "{authority}");
    }
    let server = Open::new(all()).await;
    let (kind, block) = answer(server.connect().await, HTTP, "%2Frun%2Fservice.sock", None).await;
    assert!(kind == HEADERS && !block.starts_with(&indexed(STATUS_200)), "{block:?}");
    let (kind, code) = answer(server.connect().await, HTTP, "/run/service.sock", None).await;
    assert_eq!((kind, &code[..]), (RST_STREAM, &[0, 0, 0, 1][..]));
}

//! JSON-RPC in Ion over HTTP/1.1 and HTTP/2.

use frpc::{Acceptor, Request, Response, ResponseStream, Server, ServerBuilder, Status};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

struct Host;

impl Greeter for Host {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        // Let the handler be pending once.
        tokio::task::yield_now().await;
        Ok(Response::new(Greeting { text: format!("Hello, {}!", request.into_inner().name) }))
    }

    async fn recite(&self, _: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("there are no verses"))
    }
}

fn server(settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Acceptor {
    let builder = Server::builder().add_service(GreeterServer::new(Host));
    settings(builder.gateway(Gateway::new().json_rpc().http(Http::new())))
        .build()
        .expect("server settings should be valid")
}

/// Sends bytes, shuts down writing, and returns everything the server sends.
async fn exchange(server: &Acceptor, sent: &[u8]) -> Vec<u8> {
    let (mut io, there) = frpc::memory();
    let server = server.clone();
    tokio::spawn(async move { server.serve_connection(there).await });
    io.write_all(sent).await.expect("server should accept the request");
    let mut received = Vec::new();
    io.read_to_end(&mut received).await.expect("server should close the connection cleanly");
    received
}

/// Sends a POST and returns the status, the content type and the body of the response.
async fn post(server: &Acceptor, fields: &str, body: &[u8]) -> (u16, String, Vec<u8>) {
    let head = format!("POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{fields}\r\n");
    let response = exchange(server, &[head.as_bytes(), body].concat()).await;
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("response should have a header") + 4;
    let head = String::from_utf8_lossy(&response[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("response should have a status");
    let content_type = head.split("content-type: ").nth(1).and_then(|rest| rest.lines().next());
    (status, content_type.unwrap_or_default().to_owned(), response[end..].to_vec())
}

async fn post_ion(server: &Acceptor, body: &[u8]) -> (u16, String, Vec<u8>) {
    post(server, &format!("content-type: application/ion\r\ncontent-length: {}\r\n", body.len()), body).await
}

const REQUEST: &[u8] = b"a::{jsonrpc:'2.0', id:1, method:\"greet.Greeter/Greet\", params:{name:'''Ada''',},}";
const REPLY: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":{"text":"Hello, Ada!"}}"#;

/// Returns the binary encoding of the request `{jsonrpc:"2.0",id:1,method:"greet.Greeter/Greet",params:{name:"Ada"}}`.
fn binary_request() -> Vec<u8> {
    let table = b"\xee\xa0\x81\x83\xde\x9c\x87\xbe\x99\x87jsonrpc\x82id\x86method\x86params";
    let fields = b"\xde\xa5\x8a\x832.0\x8b\x21\x01\x8c\x8e\x93greet.Greeter/Greet\x8d\xd5\x84\x83Ada";
    [&b"\xe0\x01\x00\xea"[..], table, fields].concat()
}

/// Binary encoding of the reply. Its field names are the symbols 10 to 13 in order of appearance.
const BINARY_REPLY: &[u8] = b"\xe0\x01\x00\xea\xee\x9e\x81\x83\xde\x9a\x87\xbe\x97\x87jsonrpc\x82id\x86result\x84text\
    \xde\x97\x8a\x832.0\x8b\x21\x01\x8c\xdd\x8d\x8bHello, Ada!";

#[tokio::test]
async fn ion_reply_uses_form_of_request() {
    let server = server(|builder| builder);
    let ion = |body: &[u8]| (200, "application/ion".to_owned(), body.to_vec());
    assert_eq!(post_ion(&server, REQUEST).await, ion(REPLY));
    assert_eq!(post_ion(&server, &binary_request()).await, ion(BINARY_REPLY));
    // JSON is valid Ion.
    let json = br#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter.Greet","params":["Ada"]}"#;
    assert_eq!(post_ion(&server, json).await, ion(REPLY));
    // A chunked body, which hyper reads, and a content type with a parameter.
    let body = binary_request();
    let chunks = [format!("{:x}\r\n", body.len()).as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
    let fields = "content-type: Application/Ion; q=1\r\ntransfer-encoding: chunked\r\n";
    let (status, content_type, reply) = post(&server, fields, &chunks).await;
    assert_eq!((status, &*content_type), (200, "application/ion"));
    assert!(reply.windows(BINARY_REPLY.len()).any(|part| part == BINARY_REPLY), "{reply:x?}");
}

#[tokio::test]
async fn ion_batch_and_notification_behave_like_json() {
    let server = server(|builder| builder);
    let notification = b"{jsonrpc:\"2.0\",method:'greet.Greeter/Greet'}";
    let batch = [b"[", REQUEST, b",", notification, b", x]"].concat();
    let (_, _, reply) = post_ion(&server, &batch).await;
    let reply: serde_json::Value = serde_json::from_slice(&reply).expect("reply should be valid JSON");
    let replies = reply.as_array().expect("reply should be a batch");
    assert_eq!(replies.len(), 2, "{replies:?}");
    assert!(replies.iter().any(|reply| reply["error"]["code"] == -32600));
    assert!(replies.iter().any(|reply| reply["result"]["text"] == "Hello, Ada!"));
    assert_eq!(post_ion(&server, notification).await, (204, String::new(), Vec::new()));
}

#[tokio::test]
async fn malformed_ion_is_parse_error_with_offset() {
    let mut config = frpc::Config::default();
    config.body_max = 20_000;
    let server = server(|builder| builder.config(config));
    let deep = "[".repeat(1000);
    let table = format!("$ion_symbol_table::{{symbols:[\"{}\"]}} [{}]", "x".repeat(1000), "$10,".repeat(100));
    for (body, code, text) in [
        (&b"{a:1"[..], -32700, "invalid Ion at byte 4: a comma or `}` is missing"),
        (b"{jsonrpc:$10}", -32700, "invalid Ion at byte 12: the symbol $10 has no text"),
        (b"{} {}", -32700, "a message is one value"),
        (deep.as_bytes(), -32600, "202"),
        (table.as_bytes(), -32008, "a message exceeds the limit of 20000 bytes as JSON"),
    ] {
        let (status, content_type, reply) = post_ion(&server, body).await;
        assert_eq!((status, &*content_type), (200, "application/ion"));
        let reply: serde_json::Value = serde_json::from_slice(&reply).expect("reply should be valid JSON");
        assert_eq!(reply["error"]["code"], code, "{reply}");
        assert!(reply["error"]["message"].as_str().is_some_and(|message| message.contains(text)), "{reply}");
        assert!(reply["id"].is_null());
    }
    let (_, _, reply) = post_ion(&server, b"\xe0\x01\x00\xea\xff").await;
    assert!(reply.starts_with(b"\xe0\x01\x00\xea"), "error should be binary as well");
    let json = post(&server, "content-type: text/plain\r\ncontent-length: 0\r\n", b"").await;
    assert_eq!(json.0, 415);
}

/// Regression test: only the length of the message was charged, although its JSON can be much longer.
#[tokio::test]
async fn json_of_ion_message_is_charged() {
    let server = server(|builder| builder.memory_max(1 << 20));
    let table = format!("$ion_symbol_table::{{symbols:[\"{}\"]}}", "x".repeat(2000));
    let post = async |count| {
        let call = "jsonrpc:'2.0', id:1, method:\"greet.Greeter/Greet\", params:{name:Ada}";
        post_ion(&server, format!("{table} {{{call}, more:[{}]}}", "$10,".repeat(count)).as_bytes()).await
    };
    assert_eq!(post(2).await.2, REPLY);
    let (status, _, reply) = post(2000).await;
    let reply: serde_json::Value = serde_json::from_slice(&reply).expect("reply should be valid JSON");
    assert_eq!((status, &reply["code"]), (429, &"resource_exhausted".into()), "{reply}");
}

/// Regression test: a client that sent 1 MB/s of messages with symbols for long texts kept half a core busy.
#[tokio::test(start_paused = true)]
async fn long_json_of_ion_message_is_charged_as_abuse() {
    let table = format!("$ion_symbol_table::{{symbols:[\"{}\"]}}", "x".repeat(2000));
    let call = "jsonrpc:'2.0', id:1, method:\"greet.Greeter/Greet\", params:{name:Ada}";
    for (count, is_paused) in [(2, false), (2000, true)] {
        let (mut io, there) = frpc::memory();
        let server = server(|builder| builder);
        tokio::spawn(async move { server.serve_connection(there).await });
        let body = format!("{table} {{{call}, more:[{}]}}", "$10,".repeat(count));
        let head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/ion\r\n";
        let start = tokio::time::Instant::now();
        for _ in 0..2 {
            let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
            io.write_all(request.as_bytes()).await.expect("server should accept the request");
            let mut response = Vec::new();
            while !response.ends_with(REPLY) {
                response.push(io.read_u8().await.expect("server should respond to the request"));
            }
        }
        assert_eq!(!start.elapsed().is_zero(), is_paused, "{count} symbols");
    }
}

#[tokio::test]
async fn ion_is_served_over_http2() {
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        let [.., high, low] = payload.len().to_be_bytes();
        [&[0, high, low, kind, flags, 0, 0, 0, stream][..], payload].concat()
    };
    // Use entries of the static table: POST, http and `/`. Other values are literals with names from the table.
    let mut head = vec![0x83, 0x86, 0x84];
    for (name, value) in [(1, "localhost"), (31, "application/ion")] {
        head.extend_from_slice(&[0x40 | name, value.len() as u8]);
        head.extend_from_slice(value.as_bytes());
    }
    let sent = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &[]),
        frame(1, 4, 1, &head),
        frame(0, 1, 1, &binary_request()),
    ]
    .concat();
    let (mut io, there) = frpc::memory();
    let server = server(|builder| builder);
    tokio::spawn(async move { server.serve_connection(there).await });
    io.write_all(&sent).await.expect("server should accept the request");
    loop {
        let mut head = [0; 9];
        io.read_exact(&mut head).await.expect("server should send a frame header");
        let mut payload = vec![0; usize::from(u16::from_be_bytes([head[1], head[2]]))];
        io.read_exact(&mut payload).await.expect("server should send the frame payload");
        if head[3] == 0 {
            return assert_eq!(payload, BINARY_REPLY);
        }
    }
}

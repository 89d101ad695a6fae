//! Fuzz targets of HTTP/2: header compression, and a comparison of this server with that of h2.
//!
//! # Decisions
//!
//! The input of a connection is a script, because random bytes hardly ever form a frame. Each command of the script
//! creates a frame, valid or not. Both servers receive the same frames one by one. Requests that both accept completely
//! must be equal. A request that only one of them accepts is a defect, except for those of [`is_refused_by_us_alone`].

use crate::raw::{HTTP2_PREFACE, http2_frame as frame};
use bytes::Bytes;
use frisbee_core::ServerConfig;
use frisbee_http2::hpack::{Decoder, Encoder};
use frisbee_http2::{Connection, Event, Head, StreamKey};
use h2::RecvStream;
use h2::server::SendResponse;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Checks that header blocks that are decoded and encoded again have the same fields, and that no block takes much
/// memory.
pub fn hpack(data: &[u8]) {
    let (mut decoder, mut encoder, mut second) = (Decoder::new(), Encoder::new(), Decoder::new());
    // The first byte of a block is its length.
    let mut rest = data;
    while let Some((&length, behind)) = rest.split_first() {
        let (block, behind) = behind.split_at(behind.len().min(length.into()));
        rest = behind;
        let mut fields = Vec::new();
        let result = decoder.decode(block, |field| {
            fields.push((field.name.to_vec(), field.value.to_vec(), field.is_sensitive));
        });
        let size: usize = fields.iter().map(|(name, value, _)| name.len() + value.len() + 32).sum();
        assert!(size <= 64 * 1024 + 8 * 1024, "{size} bytes from {}", block.len());
        if result.is_err() {
            break;
        }
        if length & 1 == 1 {
            encoder.set_size_max(u32::from(length) * 20);
        }
        let mut again = Vec::new();
        encoder.begin(&mut again);
        fields.iter().for_each(|(name, value, is_sensitive)| encoder.put(name, value, *is_sensitive, &mut again));
        let mut read = Vec::new();
        let result = second.decode(&again, |field| {
            read.push((field.name.to_vec(), field.value.to_vec(), field.is_sensitive));
        });
        assert!(result.is_ok() && read == fields, "{result:?}");
    }
    assert!(decoder.memory() + encoder.memory() + second.memory() < 64 * 1024);
}

/// A request that a server has received. The fields are sorted, because the header maps of h2 do not keep their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Request {
    fields: Vec<(String, String)>,
    body: Vec<u8>,
    trailers: Vec<(String, String)>,
}

/// The requests of a connection by stream id, complete or partial, and whether the server has failed.
#[derive(Default, Debug)]
struct Received {
    whole: BTreeMap<u32, Request>,
    open: BTreeMap<u32, Request>,
    has_failed: bool,
}

/// Sends the same frames to both servers and compares the requests that they accept.
pub fn http2(data: &[u8]) {
    let frames = script(data);
    let ours = serve(&frames, |bytes| vec![bytes.to_vec()]);
    let cut = |bytes: &[u8]| bytes.chunks(usize::from(data.len() as u8 % 7) + 1).map(<[u8]>::to_vec).collect();
    let in_pieces = serve(&frames, cut);
    assert_eq!((&ours.whole, &ours.open), (&in_pieces.whole, &in_pieces.open), "cuts change no request");
    assert_eq!(ours.has_failed, in_pieces.has_failed);
    let theirs = serve_by_h2(&frames);
    for (id, request) in &ours.whole {
        match theirs.whole.get(id) {
            Some(other) => assert_eq!(request, other, "stream {id}"),
            None => assert!(theirs.has_failed, "h2 refuses {id}: {request:?}"),
        }
    }
    for (id, other) in &theirs.whole {
        let is_accepted = ours.whole.contains_key(id) || ours.has_failed || is_refused_by_us_alone(other);
        assert!(is_accepted, "h2 alone accepts {id}: {other:?}");
    }
}

/// Names and values of header fields, from which a script selects. The first four form a valid request.
const FIELDS: [(&str, &str); 48] = [
    (":method", "POST"),
    (":scheme", "http"),
    (":path", "/a/b?c=d"),
    (":authority", "host:80"),
    (":method", "CONNECT"),
    (":method", "OPTIONS"),
    (":method", "G T"),
    (":method", ""),
    (":scheme", "https"),
    (":scheme", "a/b"),
    (":scheme", "a b"),
    (":path", "*"),
    (":path", ""),
    (":path", "a"),
    (":path", "/{}\"<>|^`\\"),
    (":path", "/#x"),
    (":path", "/\u{e4}"),
    (":authority", ""),
    (":authority", "a@b"),
    (":authority", "/run/socket"),
    (":authority", "[::1]:5"),
    (":authority", "a:b"),
    (":status", "200"),
    (":protocol", "websocket"),
    (":unknown", "x"),
    ("te", "trailers"),
    ("te", "gzip"),
    ("te", "Trailers"),
    ("connection", "close"),
    ("keep-alive", "1"),
    ("transfer-encoding", "chunked"),
    ("upgrade", "x"),
    ("proxy-connection", "x"),
    ("host", "host:80"),
    ("host", "other"),
    ("content-length", "5"),
    ("content-length", "0"),
    ("content-length", "+5"),
    ("content-length", "x"),
    ("", "x"),
    ("Upper", "x"),
    ("a b", "x"),
    ("a", " b "),
    ("a", "b\r\nc"),
    ("a", "b\0"),
    ("a", "\u{1}"),
    ("a", "\u{7f}"),
    ("a", "\u{e4}\t!"),
];

/// Returns the fields of a valid request. The next bytes of the input may select changes.
fn fields(input: &mut Input<'_>) -> Vec<(&'static str, &'static str)> {
    let mut fields = FIELDS[..4].to_vec();
    let changes = input.byte() % 4;
    for _ in 0..changes {
        let field = FIELDS[usize::from(input.byte()) % FIELDS.len()];
        match input.byte() % 4 {
            0 => fields.insert(usize::from(input.byte()) % (fields.len() + 1), field),
            1 => drop(fields.remove(usize::from(input.byte()) % fields.len().max(1))),
            2 if !fields.is_empty() => {
                let at = usize::from(input.byte()) % fields.len();
                fields[at] = field;
            }
            _ => fields.push(field),
        }
        if fields.is_empty() {
            break;
        }
    }
    fields
}

/// The bytes of a script that have not been read.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }
}

/// Translates a script to frames. They follow the connection preface and SETTINGS.
fn script(data: &[u8]) -> Vec<Vec<u8>> {
    let mut input = Input(data);
    let mut encoder = Encoder::new();
    let mut frames = vec![[HTTP2_PREFACE, &frame(4, 0, 0, &[])].concat()];
    frames.push(frame(4, 1, 0, &[]));
    let mut next = 1_u32;
    while !input.0.is_empty() && frames.len() < 60 {
        let (command, which) = (input.byte(), input.byte());
        // Selects a recently opened stream, the next one, or an arbitrary one.
        let stream = match which {
            0..250 => next.saturating_sub(u32::from(which % 3 * 2 + 2)).max(1),
            250 => next,
            other => u32::from(other % 16),
        };
        let end = u8::from(command & 0x10 != 0);
        let flags = end | 4 | if command & 0xe0 == 0xe0 { 8 } else { 0 };
        match command & 0x0f {
            0..4 | 15 => {
                let mut block = Vec::new();
                let is_sensitive = command & 0x20 != 0;
                // h2 0.4.20 accepts a malformed block if the violation comes before a CONTINUATION frame.
                let is_split = which < 10;
                let fields = if is_split { FIELDS[..4].to_vec() } else { fields(&mut input) };
                fields.iter().for_each(|(name, value)| {
                    encoder.put(name.as_bytes(), value.as_bytes(), is_sensitive, &mut block);
                });
                if is_split && block.len() > 3 {
                    frames.push(frame(1, end, next, &block[..3]));
                    frames.push(frame(9, 4, next, &block[3..]));
                } else {
                    frames.push(frame(1, flags & !8, next, &block));
                }
                next += 2;
            }
            4..7 => {
                let body = [&[command & 3][..], &[b'x'; 4], &[0; 3]].concat();
                let length = usize::from(input.byte() % 9);
                frames.push(frame(0, flags & !4, stream, &body[..length]));
            }
            7 => {
                let mut block = Vec::new();
                // h2 ignores pseudo-header fields in trailers, although such trailers are malformed.
                let (name, value) = FIELDS[25 + usize::from(input.byte()) % (FIELDS.len() - 25)];
                encoder.put(name.as_bytes(), value.as_bytes(), false, &mut block);
                frames.push(frame(1, flags & !8, stream, &block));
            }
            8 => frames.push(frame(3, 0, stream, &[0, 0, 0, input.byte() % 16])),
            9 => frames.push(frame(8, 0, stream * u32::from(end), &[input.byte() & 0x80, 0, 0, input.byte()])),
            10 => {
                let (id, high, low) = (input.byte() % 10, input.byte() & 0xc0, input.byte());
                frames.push(frame(4, 0, 0, &[0, id, high, 0, low & 1, low]));
            }
            11 => frames.push(frame(6, end, 0, &[which; 8])),
            12 => frames.push(frame(2, 0, stream, &[0, 0, 0, input.byte(), 1])),
            13 => frames.push(frame(7, 0, 0, &[0, 0, 0, which, 0, 0, 0, 0])),
            14 if which < 200 => {}
            _ => {
                let (kind, flags, length) = (input.byte() % 12, input.byte(), usize::from(input.byte() % 16));
                let (payload, rest) = input.0.split_at(input.0.len().min(length));
                input.0 = rest;
                frames.push(frame(kind, flags, stream * u32::from(end), payload));
            }
        }
    }
    frames
}

/// Passes the frames to the server of this project. `cut` splits each frame into pieces.
fn serve(frames: &[Vec<u8>], cut: impl Fn(&[u8]) -> Vec<Vec<u8>>) -> Received {
    let now = Instant::now();
    let mut connection = Connection::server(&ServerConfig::default(), now);
    let mut streams: BTreeMap<u32, StreamKey> = BTreeMap::new();
    let mut received = Received::default();
    for frame in frames {
        for piece in cut(frame) {
            let mut input = Bytes::from(piece);
            loop {
                match connection.poll_event(&mut input, now) {
                    Ok(Some(event)) => handle(&mut connection, &mut streams, &mut received, event),
                    Ok(None) if input.is_empty() => break,
                    Ok(None) => _ = connection.take_output(now),
                    Err(_) => {
                        received.has_failed = true;
                        return received;
                    }
                }
            }
            connection.take_output(now);
            assert!(connection.memory() < 256 * 1024, "{} bytes", connection.memory());
        }
    }
    received
}

fn handle(connection: &mut Connection, streams: &mut BTreeMap<u32, StreamKey>, received: &mut Received, event: Event) {
    let id = |streams: &BTreeMap<u32, StreamKey>, key| {
        *streams.iter().find(|(_, other)| **other == key).expect("stream should be known").0
    };
    let ended = match event {
        Event::Head { stream, is_end } => {
            // When both ends of a stream have ended, it has no id. Here requests are not answered, so the id exists.
            let number = connection.stream_id(stream).expect("stream should be open");
            streams.insert(number, stream);
            received.open.insert(number, Request { fields: request_fields(connection.head()), ..Request::default() });
            is_end.then_some(number)
        }
        Event::Data { stream, data, is_end } => {
            connection.consume(stream, data.len());
            let number = id(streams, stream);
            received.open.get_mut(&number).expect("request should be open").body.extend_from_slice(&data);
            is_end.then_some(number)
        }
        Event::Trailers { stream } => {
            let number = id(streams, stream);
            let request = received.open.get_mut(&number).expect("request should be open");
            request.trailers = sorted(connection.head().fields());
            Some(number)
        }
        Event::Reset { stream, .. } => {
            let number = id(streams, stream);
            received.open.remove(&number);
            None
        }
        _ => None,
    };
    if let Some(number) = ended
        && let Some(request) = received.open.remove(&number)
    {
        received.whole.insert(number, request);
    }
}

fn sorted<'a>(fields: impl Iterator<Item = (&'a str, &'a [u8])>) -> Vec<(String, String)> {
    let mut fields: Vec<_> = fields.map(|(name, value)| (name.to_owned(), value.escape_ascii().to_string())).collect();
    fields.sort_by(|(one, _), (other, _)| one.cmp(other));
    fields
}

fn request_fields(head: &Head) -> Vec<(String, String)> {
    let pseudo = [(":method", head.method()), (":authority", head.authority()), (":path", head.path())];
    let pseudo = pseudo.into_iter().filter_map(|(name, value)| Some((name, value?.as_bytes())));
    sorted(pseudo.chain(head.fields()))
}

/// A transport whose input is provided by the test.
#[derive(Clone, Default)]
struct Transport(Rc<RefCell<Bytes>>);

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut input = self.0.borrow_mut();
        if input.is_empty() {
            return Poll::Pending;
        }
        let length = input.len().min(buffer.remaining());
        buffer.put_slice(&input.split_to(length));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A request that h2 has accepted. Its response handle is kept, because dropping it would reset the stream.
struct Accepted {
    request: Request,
    body: RecvStream,
    _reply: SendResponse<Bytes>,
}

/// Passes the frames to a server of h2.
fn serve_by_h2(frames: &[Vec<u8>]) -> Received {
    let transport = Transport::default();
    let mut received = Received::default();
    let mut handshake = pin!(
        h2::server::Builder::new()
            .initial_window_size(256 * 1024)
            .initial_connection_window_size(1024 * 1024)
            .max_frame_size(64 * 1024)
            .max_header_list_size(16 * 1024)
            .max_concurrent_streams(256)
            .handshake::<_, Bytes>(transport.clone())
    );
    let mut context = Context::from_waker(Waker::noop());
    let mut connection = None;
    let mut accepted = BTreeMap::new();
    for frame in frames {
        *transport.0.borrow_mut() = Bytes::copy_from_slice(frame);
        if connection.is_none()
            && let Poll::Ready(result) = handshake.as_mut().poll(&mut context)
        {
            connection = result.ok();
        }
        let Some(connection) = &mut connection else { break };
        loop {
            match connection.poll_accept(&mut context) {
                Poll::Ready(Some(Ok((request, reply)))) => {
                    let (head, body) = request.into_parts();
                    let request = Request { fields: fields_of_h2(&head), ..Request::default() };
                    accepted.insert(reply.stream_id().into(), Accepted { request, body, _reply: reply });
                }
                Poll::Ready(_) => {
                    received.has_failed = true;
                    break;
                }
                Poll::Pending => break,
            }
        }
        accepted.retain(|id, stream: &mut Accepted| match read_body(stream, &mut context) {
            Some(is_whole) => {
                if is_whole {
                    received.whole.insert(*id, stream.request.clone());
                }
                false
            }
            None => true,
        });
        if received.has_failed {
            break;
        }
    }
    received
}

/// Reads the part of a body that has arrived. Returns `None` if the body is incomplete, and `Some(false)` if the stream
/// was reset.
fn read_body(stream: &mut Accepted, context: &mut Context<'_>) -> Option<bool> {
    loop {
        match stream.body.poll_data(context) {
            Poll::Ready(Some(Ok(data))) => stream.request.body.extend_from_slice(&data),
            Poll::Ready(Some(Err(_))) => return Some(false),
            Poll::Ready(None) => break,
            Poll::Pending => return None,
        }
    }
    match stream.body.poll_trailers(context) {
        Poll::Ready(Ok(trailers)) => {
            let trailers = trailers.unwrap_or_default();
            stream.request.trailers = sorted(trailers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())));
            Some(true)
        }
        Poll::Ready(Err(_)) => Some(false),
        Poll::Pending => None,
    }
}

fn fields_of_h2(head: &http::request::Parts) -> Vec<(String, String)> {
    let path = head.uri.path_and_query().map(http::uri::PathAndQuery::as_str);
    let authority = head.uri.authority().map(http::uri::Authority::as_str);
    let pseudo = [(":method", Some(head.method.as_str())), (":authority", authority), (":path", path)];
    let pseudo = pseudo.into_iter().filter_map(|(name, value)| Some((name, value?.as_bytes())));
    sorted(pseudo.chain(head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))))
}

/// Returns whether a request is malformed by RFC 9113 although h2 accepts it: without `:path` or with a fragment in it
/// (h2 reports `/`), `*` for a method other than OPTIONS, CONNECT without authority, user information in the authority,
/// spaces at the ends of values, or non-ASCII characters in the path.
fn is_refused_by_us_alone(request: &Request) -> bool {
    let get = |name: &str| request.fields.iter().find(|(other, _)| other == name).map(|(_, value)| &value[..]);
    let (method, path, authority) = (get(":method"), get(":path").unwrap_or_default(), get(":authority"));
    path == "/"
        || (path == "*" && method != Some("OPTIONS"))
        || path.contains("\\x")
        || authority.is_some_and(|authority| authority.contains('@'))
        || request
            .fields
            .iter()
            .chain(&request.trailers)
            .any(|(_, value)| value.starts_with(' ') || value.ends_with(' '))
}

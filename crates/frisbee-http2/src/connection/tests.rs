//! Tests of connections, with raw frames against one end, and with two ends against each other.

mod limits;
mod pair;
mod rules;

use super::Connection;
use crate::frame::{self, FrameHead, kind};
use crate::{ConnectionError, ErrorCode, Event, Head, StreamKey, hpack};
use bytes::Bytes;
use frisbee_core::{ClientConfig, Config, ServerConfig};
use std::io::IoSlice;
use std::time::Instant;

fn frame(kind: u8, flags: u8, stream: u32, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    let head = FrameHead { length: payload.len() as u32, kind, flags, stream };
    [&head.encode()[..], payload].concat()
}

/// Encodes a field block without using the dynamic table.
fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        hpack::Encoder::new().put(name.as_bytes(), value.as_bytes(), true, &mut block);
    }
    block
}

const REQUEST: [(&str, &str); 4] = [(":method", "POST"), (":scheme", "http"), (":path", "/a"), (":authority", "a")];

const END_STREAM: u8 = frame::flag::END_STREAM;
const END_HEADERS: u8 = frame::flag::END_HEADERS;
const ACK: u8 = frame::flag::ACK;
const PADDED: u8 = frame::flag::PADDED;

fn headers(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(kind::HEADERS, flags | END_HEADERS, stream, block(fields))
}

fn request(stream: u32, flags: u8) -> Vec<u8> {
    headers(stream, flags, &REQUEST)
}

fn data(stream: u32, flags: u8, payload: impl AsRef<[u8]>) -> Vec<u8> {
    frame(kind::DATA, flags, stream, payload)
}

fn reset(stream: u32, code: ErrorCode) -> Vec<u8> {
    frame(kind::RST_STREAM, 0, stream, code.0.to_be_bytes())
}

fn window_update(stream: u32, credit: u32) -> Vec<u8> {
    frame(kind::WINDOW_UPDATE, 0, stream, credit.to_be_bytes())
}

fn settings(entries: &[(u16, u32)]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::put_settings(&mut out, entries);
    out
}

/// One end of a connection in these tests, with simulated time.
struct End {
    connection: Connection,
    now: Instant,
}

impl End {
    /// Creates a server that has received the preface, SETTINGS, and the acknowledgement of its own SETTINGS.
    fn server() -> Self {
        Self::server_with(&Config::default())
    }

    fn server_with(config: &Config) -> Self {
        let now = Instant::now();
        let mut end =
            Self { connection: Connection::server(&ServerConfig::default().common(config.clone()), now), now };
        let begin = [&frame::PREFACE[..], &settings(&[]), &frame(kind::SETTINGS, ACK, 0, [])].concat();
        assert_eq!(end.feed(&begin), Ok(Vec::new()));
        end.frames();
        end
    }

    /// Creates a client that has received the server's SETTINGS.
    fn client() -> Self {
        let now = Instant::now();
        let mut end = Self { connection: Connection::client(&ClientConfig::default(), now), now };
        assert_eq!(end.feed(&[settings(&[]), frame(kind::SETTINGS, ACK, 0, [])].concat()), Ok(Vec::new()));
        end.connection.take_output(now);
        end
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, ConnectionError> {
        let mut input = Bytes::copy_from_slice(bytes);
        let mut events = Vec::new();
        while let Some(event) = self.connection.poll_event(&mut input, self.now)? {
            events.push(event);
        }
        assert!(input.is_empty() || !self.connection.may_read());
        Ok(events)
    }

    /// Passes input that must make the connection fail with this error code. Asserts that its GOAWAY frame contains the
    /// same code.
    #[track_caller]
    fn fails(&mut self, bytes: &[u8], code: ErrorCode) {
        self.frames();
        assert_eq!(self.feed(bytes).map_err(|error| error.code), Err(code));
        let last = self.frames().pop().expect("output should contain a GOAWAY frame");
        assert_eq!((last.0.kind, &last.1[4..8]), (kind::GOAWAY, &code.0.to_be_bytes()[..]));
    }

    /// Decodes the pending output into frames.
    fn frames(&mut self) -> Vec<(FrameHead, Bytes)> {
        let mut output = self.connection.take_output(self.now);
        let mut frames = Vec::new();
        while !output.is_empty() {
            let head = FrameHead::parse(
                output.split_to(frame::HEAD)[..].try_into().expect("frame header should have nine bytes"),
            );
            frames.push((head, output.split_to(head.length as usize)));
        }
        frames
    }

    fn kinds(&mut self) -> Vec<u8> {
        self.frames().into_iter().map(|(head, _)| head.kind).collect()
    }

    /// Passes the head of a request to the server and returns the key of its stream.
    fn open(&mut self, stream: u32, flags: u8) -> StreamKey {
        match self.feed(&request(stream, flags)).as_deref() {
            Ok([Event::Head { stream, .. }]) => *stream,
            other => panic!("event should be a head: {other:?}"),
        }
    }
}

fn bytes(count: usize) -> Bytes {
    Bytes::from(vec![b'x'; count])
}

/// Decodes the names and values of a field block.
fn fields(decoder: &mut hpack::Decoder, block: &[u8]) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    decoder
        .decode(block, |field| fields.push((text(field.name), text(field.value))))
        .expect("field block should be valid");
    fields
}

#[test]
fn server_begins_with_settings_and_its_window() {
    let now = Instant::now();
    let mut end = End { connection: Connection::server(&ServerConfig::default(), now), now };
    let frames = end.frames();
    assert_eq!(frames[0].0, FrameHead { length: 30, kind: kind::SETTINGS, flags: 0, stream: 0 });
    assert_eq!(frames[1].0.kind, kind::WINDOW_UPDATE);
    assert_eq!(frames[1].1, ((1 << 20) - 65_535_u32).to_be_bytes()[..]);
}

#[test]
fn unary_call_is_answered_in_place() {
    let mut end = End::server();
    let stream = end.open(1, 0);
    assert_eq!(end.connection.head().path(), Some("/a"));
    let events = end.feed(&data(1, END_STREAM, "ping"));
    assert_eq!(events, Ok(vec![Event::Data { stream, data: Bytes::from_static(b"ping"), is_end: true }]));
    let mut trailers = Head::trailers();
    trailers.push("grpc-status", "0");
    let put = |out: &mut Vec<u8>| {
        out.extend_from_slice(b"pong");
        true
    };
    assert_eq!(end.connection.reply(stream, &Head::response(200), &trailers, put), Ok(true));
    assert_eq!(end.connection.stream_count(), 0);
    let frames = end.frames();
    let flags: Vec<_> = frames.iter().map(|(head, _)| (head.kind, head.flags, head.stream)).collect();
    assert_eq!(flags, [(1, END_HEADERS, 1), (0, 0, 1), (1, END_HEADERS | END_STREAM, 1)]);
    assert_eq!(frames[1].1, "pong");
    let mut decoder = hpack::Decoder::new();
    assert_eq!(fields(&mut decoder, &frames[0].1), [(":status".to_owned(), "200".to_owned())]);
    assert_eq!(fields(&mut decoder, &frames[2].1), [("grpc-status".to_owned(), "0".to_owned())]);
    assert_eq!(end.connection.reply(stream, &Head::response(200), &trailers, put), Err(crate::SendError::Closed));
}

#[test]
fn withdrawn_reply_leaves_output_and_table() {
    let mut end = End::server();
    let stream = end.open(1, END_STREAM);
    let mut head = Head::response(200);
    head.push("content-type", "application/grpc");
    let put = |out: &mut Vec<u8>| {
        out.extend_from_slice(b"too long");
        false
    };
    assert_eq!(end.connection.reply(stream, &head, &Head::trailers(), put), Ok(false));
    assert!(end.connection.is_flushed());
    assert_eq!(end.connection.send_head(stream, &head, true), Ok(()));
    let frames = end.frames();
    assert_eq!(
        fields(&mut hpack::Decoder::new(), &frames[0].1).len(),
        2,
        "field block should not use entries of the withdrawn block"
    );
}

#[test]
fn reply_beyond_window_waits_for_it() {
    let mut end = End::server();
    let stream = end.open(1, END_STREAM);
    let put = |out: &mut Vec<u8>| {
        out.extend_from_slice(&[b'x'; 100_000]);
        true
    };
    let mut trailers = Head::trailers();
    trailers.push("grpc-status", "0");
    assert_eq!(end.connection.reply(stream, &Head::response(200), &trailers, put), Ok(true));
    let lengths = |frames: Vec<(FrameHead, Bytes)>| frames.iter().map(|(head, _)| head.length).collect::<Vec<_>>();
    assert_eq!(lengths(end.frames()), [1, 16_384, 16_384, 16_384, 16_383]);
    assert_eq!(end.feed(&[window_update(0, 100_000), window_update(1, 100_000)].concat()), Ok(Vec::new()));
    let frames = end.frames();
    assert_eq!(lengths(frames.clone()), [16_384, 16_384, 1697, 12]);
    assert_eq!(frames[3].0.flags, END_HEADERS | END_STREAM);
    assert_eq!(end.connection.stream_count(), 0);
}

#[test]
fn long_reply_is_sent_from_its_own_buffer() {
    let mut end = End::server();
    assert!(end.feed(&[settings(&[(4, 1 << 20)]), window_update(0, 1 << 20)].concat()).is_ok());
    let stream = end.open(1, END_STREAM);
    let mut buffer = 0..0;
    let put = |out: &mut Vec<u8>| {
        out.reserve(1 << 19);
        out.resize(out.len() + (1 << 19), b'x');
        buffer = out.as_ptr() as usize..out.as_ptr() as usize + out.len();
        true
    };
    assert_eq!(end.connection.reply(stream, &Head::response(200), &Head::trailers(), put), Ok(true));
    let mut slices = [IoSlice::new(&[]); 64];
    let filled = end.connection.output(&mut slices);
    let bodies = || slices[..filled].iter().filter(|slice| slice.len() >= 16_384);
    assert!(bodies().count() >= 8, "{filled} slices are to be written");
    assert!(bodies().all(|body| buffer.contains(&(body.as_ptr() as usize))), "reply should not be copied");
}

#[test]
fn long_bodies_share_connection_by_turns() {
    let mut end = End::server();
    assert!(end.feed(&[settings(&[(4, 1 << 20)]), window_update(0, 1 << 20)].concat()).is_ok());
    for id in [1, 3, 5] {
        let stream = end.open(id, END_STREAM);
        assert_eq!(end.connection.send_head(stream, &Head::response(200), false), Ok(()));
        assert_eq!(end.connection.send_data(stream, bytes(100_000), true), Ok(()));
    }
    let late = end.open(7, END_STREAM);
    let mut sent = Vec::new();
    let mut rounds = 0;
    while !end.connection.is_flushed() {
        let frames = end.frames();
        sent.extend(frames.iter().filter(|(head, _)| head.kind == kind::DATA).map(|(head, _)| head.stream));
        rounds += 1;
        if rounds == 1 {
            assert_eq!(end.connection.send_head(late, &Head::response(200), false), Ok(()));
            assert_eq!(end.connection.send_data(late, bytes(1000), true), Ok(()));
        }
    }
    assert_eq!(sent[..6], [1, 1, 3, 3, 5, 5], "each stream should send 32 KiB in frames of 16 KiB");
    assert_eq!(sent.iter().filter(|id| **id == 1).count(), 7);
}

#[test]
fn unblocked_stream_is_reported_writable() {
    let mut end = End::server();
    assert!(end.feed(&settings(&[(4, 10)])).is_ok());
    let stream = end.open(1, END_STREAM);
    assert_eq!(end.connection.send_head(stream, &Head::response(200), false), Ok(()));
    assert_eq!(end.connection.poll_writable(stream), Ok(true));
    assert_eq!(end.connection.send_data(stream, bytes(20), false), Ok(()));
    end.frames();
    assert_eq!(end.connection.poll_writable(stream), Ok(false));
    assert_eq!(end.feed(&window_update(1, 10)), Ok(Vec::new()), "rest of the data should be sent first");
    end.frames();
    assert_eq!(end.feed(&window_update(1, 1)), Ok(vec![Event::Writable { stream }]));
}

#[test]
fn wrong_order_of_sending_is_error() {
    use crate::SendError;
    let mut end = End::server();
    let stream = end.open(1, 0);
    let connection = &mut end.connection;
    assert_eq!(connection.send_data(stream, bytes(1), false), Err(SendError::OutOfOrder));
    assert_eq!(connection.send_head(stream, &Head::response(103), false), Ok(()));
    assert_eq!(connection.send_head(stream, &Head::response(200), false), Ok(()));
    assert_eq!(connection.send_head(stream, &Head::response(200), false), Err(SendError::OutOfOrder));
    assert_eq!(connection.send_data(stream, bytes(100_000), true), Ok(()));
    assert_eq!(connection.send_data(stream, bytes(1), true), Err(SendError::Ended));
    assert_eq!(connection.send_trailers(stream, &Head::trailers()), Err(SendError::Ended));
    connection.reset(stream, ErrorCode::CANCEL);
    assert_eq!(connection.send_data(stream, bytes(1), true), Err(SendError::Closed));
    assert_eq!(connection.poll_writable(stream), Err(SendError::Closed));
}

#[test]
fn early_response_asks_client_to_stop() {
    let mut end = End::server();
    let stream = end.open(1, 0);
    assert_eq!(end.connection.send_head(stream, &Head::response(200), true), Ok(()));
    let frames = end.frames();
    assert_eq!(frames[1].0.kind, kind::RST_STREAM);
    assert_eq!(frames[1].1, ErrorCode::NO_ERROR.0.to_be_bytes()[..]);
    // Discarded bytes of a body still count towards the connection window.
    for _ in 0..20 {
        assert_eq!(end.feed(&data(1, 0, [0; 16_384])), Ok(Vec::new()));
    }
    assert!(end.kinds().contains(&kind::WINDOW_UPDATE));
}

#[test]
fn shutdown_names_last_stream_after_round_trip() {
    let mut end = End::server();
    end.open(1, 0);
    end.connection.shut_down(end.now);
    let frames = end.frames();
    assert_eq!(frames[0].1, [&[0x7f, 0xff, 0xff, 0xff][..], &[0; 4]].concat());
    let stream = end.open(3, END_STREAM);
    assert!(end.feed(&frame(kind::PING, ACK, 0, &frames[1].1)).is_ok());
    assert_eq!(end.frames()[0].1, [&[0, 0, 0, 3][..], &[0; 4]].concat());
    assert_eq!(end.feed(&request(5, END_STREAM)), Ok(Vec::new()), "refused stream should report no event");
    assert_eq!(end.frames()[0].1, ErrorCode::REFUSED_STREAM.0.to_be_bytes()[..]);
    assert!(!end.connection.is_shut_down());
    assert_eq!(end.connection.send_head(stream, &Head::response(200), true), Ok(()));
    assert!(end.feed(&reset(1, ErrorCode::CANCEL)).is_ok());
    assert!(end.connection.is_shut_down());
}

#[test]
fn shutdown_of_silent_peer_times_out() {
    let mut end = End::server();
    end.connection.shut_down(end.now);
    end.frames();
    end.now = end.connection.next_timeout().expect("graceful shutdown should have a deadline");
    assert_eq!(end.connection.handle_timeout(end.now), Ok(()));
    assert_eq!(end.kinds(), [kind::GOAWAY]);
    assert!(end.connection.is_shut_down());
}

#[test]
fn goaway_resets_streams_that_were_not_processed() {
    let mut end = End::client();
    let head = Head::request("POST", "http", "a", "/a");
    let streams = [(); 3].map(|()| end.connection.open(&head, true).expect("client should open three streams"));
    let go_away = |last: u32| frame(kind::GOAWAY, 0, 0, [&last.to_be_bytes()[..], &[0; 4], b"bye"].concat());
    let refused = |stream| Event::Reset { stream, code: ErrorCode::REFUSED_STREAM };
    let events = end.feed(&go_away(3));
    let notice = Event::GoAway { code: ErrorCode::NO_ERROR, debug: Bytes::from_static(b"bye") };
    assert_eq!(events, Ok(vec![notice, refused(streams[2])]));
    assert_eq!(end.connection.open(&head, true), Err(crate::OpenError::ShutDown));
    let answer = headers(1, END_STREAM, &[(":status", "200")]);
    assert_eq!(end.feed(&answer), Ok(vec![Event::Head { stream: streams[0], is_end: true }]));
    end.fails(&go_away(5), ErrorCode::PROTOCOL_ERROR);
}

#[test]
fn client_waits_for_concurrent_streams() {
    let mut end = End::client();
    let head = Head::request("POST", "http", "a", "/a");
    assert_eq!(end.connection.open_max(), 100);
    assert!(end.feed(&settings(&[(3, 1)])).is_ok());
    assert!(end.connection.open(&head, true).is_ok());
    assert_eq!(end.connection.open(&head, true), Err(crate::OpenError::Busy));
    assert!(end.feed(&headers(1, END_STREAM, &[(":status", "204")])).is_ok());
    assert!(end.connection.open(&head, true).is_ok());
}

#[test]
fn informational_responses_precede_head() {
    let mut end = End::client();
    let stream = end
        .connection
        .open(&Head::request("HEAD", "http", "a", "/"), true)
        .expect("client should open a stream for HEAD");
    assert_eq!(end.feed(&headers(1, 0, &[(":status", "103"), ("link", "x")])), Ok(Vec::new()));
    let head = headers(1, END_STREAM, &[(":status", "200"), ("content-length", "77")]);
    assert_eq!(end.feed(&head), Ok(vec![Event::Head { stream, is_end: true }]), "response to HEAD should have no body");
    assert_eq!(end.connection.head().get("content-length"), Some(&b"77"[..]));
}

#[test]
fn ping_of_this_end_is_answered_once() {
    let mut end = End::client();
    end.connection.ping();
    end.connection.ping();
    let frames = end.frames();
    assert_eq!(frames.len(), 1);
    let pong = frame(kind::PING, ACK, 0, &frames[0].1);
    assert_eq!(end.feed(&[&pong[..], &pong].concat()), Ok(vec![Event::Pong]));
}

#[test]
fn peer_frame_and_table_limits_are_respected() {
    let mut end = End::server();
    let stream = end.open(1, END_STREAM);
    assert!(end.feed(&settings(&[(1, 0), (5, 20_000)])).is_ok());
    end.frames();
    let mut head = Head::response(200);
    head.push("content-type", "application/grpc");
    head.push("x-long", vec![b'y'; 50_000]);
    assert_eq!(end.connection.send_head(stream, &head, true), Ok(()));
    let frames = end.frames();
    let kinds: Vec<_> = frames.iter().map(|(head, _)| (head.kind, head.length <= 20_000)).collect();
    assert_eq!(kinds, [(kind::HEADERS, true), (kind::CONTINUATION, true), (kind::CONTINUATION, true)]);
    let block: Vec<u8> = frames.iter().flat_map(|(_, payload)| payload.iter().copied()).collect();
    assert_eq!(fields(&mut hpack::Decoder::new(), &block).len(), 3);
    assert_eq!(block[..2], [0x20, 0x20], "block should start with both updates of the table's size");
}

/// Regression test: if a SETTINGS frame contained two table sizes, the smaller first one was not signaled. Later header
/// blocks then referred to entries that the peer had evicted.
#[test]
fn smallest_table_size_within_frame_is_signaled() {
    let mut end = End::server();
    let stream = end.open(1, END_STREAM);
    assert!(end.feed(&settings(&[(1, 100), (1, 4096)])).is_ok());
    assert_eq!(end.connection.send_head(stream, &Head::response(204), true), Ok(()));
    let frames = end.frames();
    let (_, block) = frames.last().expect("response should be queued");
    assert_eq!(&block[..4], [0x20, 0x3F, 0xE1, 0x1F], "table size updates to 0 and 4096 should come first");
}

#[test]
fn memory_of_burst_is_released() {
    let mut end = End::server();
    assert!(end.feed(&window_update(0, 1 << 20)).is_ok());
    let before = end.connection.memory();
    for id in 0..200 {
        let stream = end.open(2 * id + 1, END_STREAM);
        assert_eq!(end.connection.send_head(stream, &Head::response(200), false), Ok(()));
        assert_eq!(end.connection.send_data(stream, bytes(1000), true), Ok(()));
    }
    assert!(end.connection.memory() > before + 100_000);
    end.frames();
    end.connection.release();
    assert!(
        end.connection.memory() < before + 4096,
        "connection holds {} bytes, after {before} before",
        end.connection.memory()
    );
}

#[test]
fn equal_blocks_share_memo_until_table_changes() {
    let mut end = End::server();
    let mut encoder = hpack::Encoder::new();
    let mut put = |path: &str, is_sensitive| {
        let mut block = Vec::new();
        for (name, value) in [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "a")] {
            encoder.put(name.as_bytes(), value.as_bytes(), is_sensitive, &mut block);
        }
        block
    };
    let blocks = [put("/a", false), put("/a", false), put("/a", false), put("/b", false), put("/a", false)];
    let secret = [put("/c", true), put("/c", true)];
    let mut heads = Vec::new();
    for (number, block) in (0..).zip(blocks.iter().chain(&secret)) {
        assert!(end.feed(&frame(kind::HEADERS, END_HEADERS | END_STREAM, 2 * number + 1, block)).is_ok());
        heads.push((end.connection.head().path().map(str::to_owned), end.connection.head().memo()));
    }
    let paths: Vec<_> = heads.iter().map(|(path, _)| path.as_deref().unwrap_or_default()).collect();
    assert_eq!(paths, ["/a", "/a", "/a", "/b", "/a", "/c", "/c"]);
    let memos: Vec<_> = heads.iter().map(|(_, memo)| *memo).collect();
    assert_eq!(memos, [None, Some(1), Some(1), None, Some(2), None, None]);
}

#[test]
fn body_end_ignores_exhausted_connection_window() {
    let mut end = End::server();
    let [long, short] = [1, 3].map(|id| end.open(id, END_STREAM));
    for stream in [long, short] {
        assert_eq!(end.connection.send_head(stream, &Head::response(200), false), Ok(()));
    }
    assert_eq!(end.connection.send_data(long, bytes(100_000), true), Ok(()));
    while !end.connection.is_flushed() {
        end.frames();
    }
    assert_eq!(end.connection.send_data(short, Bytes::new(), true), Ok(()));
    assert_eq!(end.frames(), [(FrameHead { length: 0, kind: kind::DATA, flags: END_STREAM, stream: 3 }, Bytes::new())]);
}

#[test]
fn smaller_window_binds_once_bytes_are_consumed() {
    let mut end = End::server();
    end.connection.set_stream_window(0);
    let stream = end.open(1, 0);
    for _ in 0..16 {
        assert_eq!(
            end.feed(&data(1, 0, [0; 16_384])).map(|events| events.len()),
            Ok(1),
            "server should accept the announced 256 KiB"
        );
    }
    end.frames();
    end.connection.consume(stream, 200_000);
    assert!(end.frames().is_empty(), "window should stay closed while 62 144 bytes are held");
    end.connection.consume(stream, 62_144);
    assert_eq!(end.frames()[0].1, 65_535_u32.to_be_bytes()[..]);
}

#[test]
fn acknowledgements_before_long_body_resume_reading() {
    let mut end = End::server();
    assert!(end.feed(&[settings(&[(4, 1 << 30)]), window_update(0, 1 << 30)].concat()).is_ok());
    let stream = end.open(1, END_STREAM);
    end.frames();
    assert!(end.feed(&frame(kind::PING, 0, 0, [0; 8]).repeat(64)).is_ok());
    assert!(!end.connection.may_read());
    assert_eq!(end.connection.send_head(stream, &Head::response(200), false), Ok(()));
    assert_eq!(end.connection.send_data(stream, bytes(10_000_000), true), Ok(()));
    end.connection.output(&mut []);
    end.connection.handle_written(64 * 17, end.now);
    assert!(end.connection.may_read());
}

//! Tests of violations of RFC 9113, and the resulting errors.

use super::*;
use std::time::Duration;

/// Checks the error of frames sent after the preface.
#[track_caller]
fn server_fails(bytes: &[u8], code: ErrorCode) {
    End::server().fails(bytes, code);
}

#[track_caller]
fn open_server_fails(bytes: &[u8], code: ErrorCode) {
    let mut end = End::server();
    end.open(1, 0);
    end.fails(bytes, code);
}

#[test]
fn connection_without_preface_is_closed() {
    for bytes in [&b"GET / HTTP/1.1\r\n"[..], b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"] {
        let now = Instant::now();
        let mut end = End { connection: Connection::server(&ServerConfig::default(), now), now };
        end.fails(bytes, ErrorCode::PROTOCOL_ERROR);
    }
}

#[test]
fn first_frame_has_to_be_settings() {
    for first in [request(1, END_STREAM), frame(kind::SETTINGS, ACK, 0, []), frame(77, 0, 0, [])] {
        let now = Instant::now();
        let mut end = End { connection: Connection::server(&ServerConfig::default(), now), now };
        end.fails(&[&frame::PREFACE[..], &first].concat(), ErrorCode::PROTOCOL_ERROR);
        let mut end = End { connection: Connection::client(&ClientConfig::default(), now), now };
        end.connection.take_output(now);
        end.fails(&first, ErrorCode::PROTOCOL_ERROR);
    }
}

#[test]
fn frames_of_invalid_length_are_rejected() {
    for (kind, flags, stream, length) in [
        (kind::PING, 0, 0, 7),
        (kind::SETTINGS, 0, 0, 7),
        (kind::SETTINGS, ACK, 0, 6),
        (kind::GOAWAY, 0, 0, 7),
        (kind::WINDOW_UPDATE, 0, 0, 3),
        (kind::WINDOW_UPDATE, 0, 1, 5),
        (kind::RST_STREAM, 0, 1, 5),
        (kind::PRIORITY, 0, 1, 4),
        (kind::DATA, PADDED, 1, 0),
        (kind::DATA, 0, 1, 64 * 1024 + 1),
    ] {
        open_server_fails(&frame(kind, flags, stream, vec![0; length]), ErrorCode::FRAME_SIZE_ERROR);
    }
}

#[test]
fn frames_with_wrong_stream_id_are_rejected() {
    for (kind, stream, length) in [
        (kind::DATA, 0, 1),
        (kind::HEADERS, 0, 1),
        (kind::PRIORITY, 0, 5),
        (kind::RST_STREAM, 0, 4),
        (kind::CONTINUATION, 0, 1),
        (kind::SETTINGS, 1, 0),
        (kind::PING, 1, 8),
        (kind::GOAWAY, 1, 8),
        (kind::PUSH_PROMISE, 1, 4),
        (kind::HEADERS, 2, 1),
        // The streams of these frames are idle.
        (kind::DATA, 3, 1),
        (kind::RST_STREAM, 3, 4),
        (kind::WINDOW_UPDATE, 3, 4),
        (kind::RST_STREAM, 2, 4),
    ] {
        open_server_fails(&frame(kind, END_HEADERS, stream, vec![1; length]), ErrorCode::PROTOCOL_ERROR);
    }
}

#[test]
fn field_block_has_to_be_continuous() {
    let begin = frame(kind::HEADERS, 0, 1, block(&REQUEST));
    for next in [
        frame(kind::PING, 0, 0, [0; 8]),
        frame(77, 0, 0, []),
        data(1, 0, "x"),
        request(3, 0),
        frame(kind::CONTINUATION, END_HEADERS, 3, []),
    ] {
        server_fails(&[&begin[..], &next].concat(), ErrorCode::PROTOCOL_ERROR);
    }
    server_fails(&frame(kind::CONTINUATION, END_HEADERS, 1, block(&REQUEST)), ErrorCode::PROTOCOL_ERROR);
    open_server_fails(&frame(kind::CONTINUATION, END_HEADERS, 1, []), ErrorCode::PROTOCOL_ERROR);
}

#[test]
fn undecodable_blocks_close_connection() {
    server_fails(&frame(kind::HEADERS, END_HEADERS, 1, [0xff]), ErrorCode::COMPRESSION_ERROR);
    let mut end = End::server();
    let stream = end.open(1, 0);
    end.connection.reset(stream, ErrorCode::CANCEL);
    end.fails(&frame(kind::HEADERS, END_HEADERS | END_STREAM, 1, [0xff]), ErrorCode::COMPRESSION_ERROR);
}

#[test]
fn padding_longer_than_its_frame_is_rejected() {
    open_server_fails(&data(1, PADDED, [4, b'x', 0, 0]), ErrorCode::PROTOCOL_ERROR);
    server_fails(&frame(kind::HEADERS, PADDED | END_HEADERS, 1, [2, 0]), ErrorCode::PROTOCOL_ERROR);
    let mut end = End::server();
    let stream = end.open(1, 0);
    let events = end.feed(&data(1, PADDED | END_STREAM, [3, 0, 0, 0]));
    assert_eq!(events, Ok(vec![Event::Data { stream, data: Bytes::new(), is_end: true }]));
}

#[test]
fn ended_and_closed_streams_accept_no_messages() {
    let ended = |frames: &[u8]| {
        let mut end = End::server();
        end.open(1, END_STREAM);
        end.fails(frames, ErrorCode::STREAM_CLOSED);
    };
    ended(&data(1, 0, "x"));
    ended(&headers(1, END_STREAM, &[("a", "b")]));
    ended(&headers(1, 0, &[("a", "b")]));
    let closed = |frames: &[u8]| {
        let mut end = End::server();
        let stream = end.open(1, END_STREAM);
        assert_eq!(end.connection.send_head(stream, &Head::response(200), true), Ok(()));
        assert!(
            end.feed(&[window_update(1, 9), reset(1, ErrorCode::CANCEL)].concat()).is_ok(),
            "frames that crossed the reset should be ignored"
        );
        end.fails(frames, ErrorCode::STREAM_CLOSED);
    };
    closed(&data(1, 0, "x"));
    closed(&request(1, END_STREAM));
    // Use an id that was skipped, which counts as closed.
    let mut end = End::server();
    end.open(5, 0);
    end.fails(&request(3, 0), ErrorCode::STREAM_CLOSED);
    // Use a stream that the peer has reset.
    let mut end = End::server();
    end.open(1, 0);
    assert!(end.feed(&reset(1, ErrorCode::CANCEL)).is_ok());
    end.fails(&data(1, 0, "x"), ErrorCode::STREAM_CLOSED);
}

/// Regression test: replies to calls that the client had cancelled closed the connection if more than 256 calls were
/// cancelled at once, and the remaining calls failed.
#[test]
fn late_replies_to_many_cancelled_calls_are_dropped() {
    const CALLS: usize = 400;
    let mut end = End::client();
    assert!(end.feed(&settings(&[(3, 1000)])).is_ok());
    let head = Head::request("POST", "http", "a", "/a");
    let mut open = || end.connection.open(&head, true).expect("server should permit the stream");
    let streams: Vec<_> = (0..CALLS).map(|_| open()).collect();
    let kept = open();
    streams.iter().for_each(|stream| end.connection.reset(*stream, ErrorCode::CANCEL));
    let reply = |id| [headers(id, 0, &[(":status", "200")]), data(id, END_STREAM, "x")].concat();
    for call in 0..CALLS as u32 {
        assert_eq!(end.feed(&reply(2 * call + 1)), Ok(Vec::new()));
        end.now += Duration::from_millis(10);
    }
    let events = end.feed(&reply(2 * CALLS as u32 + 1)).expect("connection should stay open");
    assert_eq!(events.first(), Some(&Event::Head { stream: kept, is_end: false }));
}

/// Regression test: requests in flight closed the connection if the server had reset more than 256 streams at once.
#[test]
fn late_bodies_of_many_reset_streams_are_dropped() {
    const CALLS: u32 = 400;
    let mut end = End::server_with(&Config::default().streams_max(1000));
    let streams: Vec<_> = (0..CALLS).map(|call| end.open(2 * call + 1, 0)).collect();
    let kept = end.open(2 * CALLS + 1, 0);
    streams.iter().for_each(|stream| end.connection.reset(*stream, ErrorCode::CANCEL));
    for call in 0..CALLS {
        let rest = [data(2 * call + 1, 0, "x"), headers(2 * call + 1, END_STREAM, &[("a", "b")])].concat();
        assert_eq!(end.feed(&rest), Ok(Vec::new()));
        end.now += Duration::from_millis(10);
    }
    let events = end.feed(&data(2 * CALLS + 1, END_STREAM, "x"));
    assert_eq!(events, Ok(vec![Event::Data { stream: kept, data: Bytes::from_static(b"x"), is_end: true }]));
    end.fails(&request(2, END_STREAM), ErrorCode::PROTOCOL_ERROR);
}

#[test]
fn frames_for_reset_stream_are_dropped() {
    let mut end = End::server();
    let stream = end.open(1, 0);
    end.connection.reset(stream, ErrorCode::CANCEL);
    let frames = [data(1, 0, "x"), window_update(1, 7), headers(1, END_STREAM, &[("a", "b")]), reset(1, ErrorCode(8))];
    assert_eq!(end.feed(&frames.concat()), Ok(Vec::new()));
    end.open(3, 0);
}

#[test]
fn windows_are_not_exceeded() {
    let mut end = End::server();
    end.open(1, 0);
    for _ in 0..16 {
        assert_eq!(end.feed(&data(1, 0, [0; 16_384])).map(|events| events.len()), Ok(1));
    }
    end.fails(&data(1, 0, "x"), ErrorCode::FLOW_CONTROL_ERROR);
    open_server_fails(&window_update(1, 0), ErrorCode::PROTOCOL_ERROR);
    server_fails(&window_update(0, 0), ErrorCode::PROTOCOL_ERROR);
    server_fails(&window_update(0, frame::WINDOW_MAX), ErrorCode::FLOW_CONTROL_ERROR);
    open_server_fails(&window_update(1, frame::WINDOW_MAX), ErrorCode::FLOW_CONTROL_ERROR);
    open_server_fails(&[window_update(1, 1 << 30), settings(&[(4, 1 << 30)])].concat(), ErrorCode::FLOW_CONTROL_ERROR);
}

#[test]
fn windows_of_processed_bytes_are_returned() {
    let mut end = End::server();
    let stream = end.open(1, 0);
    for _ in 0..1000 {
        assert_eq!(end.feed(&data(1, PADDED, [&[99][..], &[0; 16_000]].concat())).map(|events| events.len()), Ok(1));
        end.connection.consume(stream, 16_000 - 99);
        end.now += Duration::from_millis(20);
    }
}

#[test]
fn rest_of_known_body_is_granted_at_once() {
    const PART: usize = 16_384;
    let mut end = End::server();
    let stream = end.open(1, 0);
    let (mut rest, mut granted) = (3 << 20, Vec::new());
    while rest > 0 {
        rest -= PART;
        assert_eq!(end.feed(&data(1, 0, [0; PART])).map(|events| events.len()), Ok(1));
        end.connection.consume_part(stream, PART, rest);
        let frames = end.frames();
        granted.extend(frames.iter().filter(|(head, _)| head.stream == 1).map(|(_, credit)| frame::number(credit)));
    }
    let sum: u32 = granted.iter().flatten().sum();
    // The initial window is 256 KiB.
    assert_eq!(sum, (3 << 20) - (256 << 10));
    assert!(granted.len() <= 10, "{granted:?}");
    end.fails(&data(1, 0, "x"), ErrorCode::FLOW_CONTROL_ERROR);
}

/// Regression test: the missing part of the current frame was granted a second time, in a WINDOW_UPDATE of its own.
#[test]
fn frames_that_arrive_in_parts_are_granted_once() {
    const FRAME: usize = 65_536;
    let mut end = End::server();
    let stream = end.open(1, 0);
    let (mut rest, mut granted) = (1 << 20, Vec::new());
    while rest > 0 {
        let frame = data(1, 0, [0; FRAME]);
        for part in frame.chunks(frame.len() - 300) {
            let events = end.feed(part).expect("frame should be within the granted window");
            let [Event::Data { data, .. }] = &events[..] else { panic!("{events:?}") };
            rest -= data.len();
            end.connection.consume_part(stream, data.len(), rest);
            let updates = end.frames().into_iter().filter(|(head, _)| head.stream == 1);
            granted.extend(updates.filter_map(|(_, credit)| frame::number(&credit)));
        }
    }
    // The initial window is 256 KiB.
    assert_eq!(granted, [(1 << 20) - (256 << 10)]);
}

#[test]
fn malformed_messages_reset_their_stream() {
    for message in [
        headers(1, END_STREAM, &REQUEST[1..]),
        headers(1, END_STREAM, &[&REQUEST[..], &[("Upper", "x")]].concat()),
        headers(1, END_STREAM, &[&REQUEST[..], &[("content-length", "1")]].concat()),
        [headers(1, 0, &[&REQUEST[..], &[("content-length", "1")]].concat()), data(1, END_STREAM, "xx")].concat(),
        [headers(1, 0, &[&REQUEST[..], &[("content-length", "3")]].concat()), data(1, END_STREAM, "xx")].concat(),
        [headers(1, 0, &[&REQUEST[..], &[("content-length", "3")]].concat()), headers(1, END_STREAM, &[])].concat(),
        [request(1, 0), headers(1, 0, &[("a", "b")])].concat(),
        [request(1, 0), headers(1, END_STREAM, &[(":path", "/")])].concat(),
        [request(1, 0), headers(1, END_STREAM, &[("connection", "close")])].concat(),
    ] {
        let mut end = End::server();
        let events = end.feed(&message).expect("malformed request should not fail the connection");
        let expected = |event: &Event| matches!(event, Event::Reset { code: ErrorCode::PROTOCOL_ERROR, .. });
        assert!(events.is_empty() || events.last().is_some_and(expected), "{events:?}");
        let frames = end.frames();
        assert_eq!(frames.last().map(|(head, _)| (head.kind, head.stream)), Some((kind::RST_STREAM, 1)));
        assert_eq!(end.connection.stream_count(), 0);
        end.open(3, 0);
    }
}

/// Depending on timing, h2spec's test "second HEADERS frame without the END_STREAM flag" observes either outcome.
#[test]
fn second_head_resets_only_unanswered_stream() {
    let second = || headers(1, 0, &[("x-test", "ok")]);
    let mut end = End::server();
    let stream = end.open(1, 0);
    assert_eq!(end.feed(&data(1, 0, "test")).map(|events| events.len()), Ok(1));
    // Section 8.1: a request with a second head that does not end it is malformed.
    let reset = Event::Reset { stream, code: ErrorCode::PROTOCOL_ERROR };
    assert_eq!(end.feed(&second()), Ok(vec![reset]));
    let frames = end.frames();
    let code = frames.last().map(|(head, code)| (head.kind, head.stream, code.to_vec()));
    assert_eq!(code, Some((kind::RST_STREAM, 1, ErrorCode::PROTOCOL_ERROR.0.to_be_bytes().to_vec())));

    // After a complete response, this end has reset the stream with NO_ERROR. Section 5.1, closed: "An endpoint MUST
    // minimally process and then discard any frames it receives in this state."
    let stream = end.open(3, 0);
    assert_eq!(end.connection.send_head(stream, &Head::response(404), true), Ok(()));
    assert_eq!(end.kinds(), [kind::HEADERS, kind::RST_STREAM]);
    assert_eq!(end.feed(&[data(3, 0, "test"), headers(3, 0, &[("x-test", "ok")])].concat()), Ok(Vec::new()));
    assert!(end.frames().is_empty(), "frames for the reset stream should be discarded");
    end.open(5, END_STREAM);
}

#[test]
fn malformed_responses_reset_their_stream() {
    for message in [
        headers(1, 0, &[]),
        headers(1, 0, &[(":status", "101")]),
        headers(1, END_STREAM, &[(":status", "100")]),
        headers(1, 0, &[(":status", "200"), (":path", "/")]),
        headers(1, END_STREAM, &[(":status", "200"), ("content-length", "5")]),
    ] {
        let mut end = End::client();
        let head = Head::request("GET", "http", "a", "/");
        let stream = end.connection.open(&head, true).expect("connection should be open");
        end.frames();
        assert_eq!(end.feed(&message), Ok(vec![Event::Reset { stream, code: ErrorCode::PROTOCOL_ERROR }]));
        assert_eq!(end.kinds(), [kind::RST_STREAM]);
    }
}

#[test]
fn server_may_neither_open_streams_nor_push() {
    for bytes in [
        headers(2, 0, &[(":status", "200")]),
        headers(1, 0, &[(":status", "200")]),
        frame(kind::PUSH_PROMISE, END_HEADERS, 1, [0, 0, 0, 2]),
        settings(&[(2, 1)]),
    ] {
        End::client().fails(&bytes, ErrorCode::PROTOCOL_ERROR);
    }
    let mut end = End::client();
    end.connection.open(&Head::request("GET", "http", "a", "/"), true).expect("connection should be open");
    end.frames();
    end.fails(&data(1, 0, "x"), ErrorCode::PROTOCOL_ERROR);
}

#[test]
fn self_dependency_is_rejected() {
    let priority = |stream: u32| [&stream.to_be_bytes()[..], &[16]].concat();
    open_server_fails(&frame(kind::PRIORITY, 0, 1, priority(1)), ErrorCode::PROTOCOL_ERROR);
    let flags = END_HEADERS | frame::flag::PRIORITY;
    let headers = frame(kind::HEADERS, flags, 1, [priority(1), block(&REQUEST)].concat());
    server_fails(&headers, ErrorCode::PROTOCOL_ERROR);
    let mut end = End::server();
    assert_eq!(
        end.feed(&frame(kind::PRIORITY, 0, 7, priority(3))),
        Ok(Vec::new()),
        "PRIORITY should be accepted for idle streams"
    );
}

//! Tests of attacks: the bytes sent, and the expected reaction.

use super::*;
use crate::limits;
use std::time::Duration;

/// Reaction of a server to a flood of useless frames.
#[derive(PartialEq, Eq, Debug)]
enum Answer {
    /// Reading from the peer is paused.
    Rest,
    /// The connection is closed with this error code.
    Close(ErrorCode),
    /// The server does not react within a thousand rounds.
    None,
}

/// Repeats a round until the server reacts. `turn` returns the bytes of the round with the given number.
fn flood(end: &mut End, mut turn: impl FnMut(&mut End, u32) -> Vec<u8>) -> Answer {
    for number in 0..1000 {
        let bytes = turn(end, number);
        match end.feed(&bytes) {
            Err(error) => return Answer::Close(error.code),
            Ok(_) if !end.connection.may_read() => return Answer::Rest,
            Ok(_) => _ = end.frames(),
        }
    }
    Answer::None
}

/// Returns the id of the stream opened in a round.
fn id(number: u32) -> u32 {
    2 * number + 1
}

/// Repeats the bytes of a frame ten times, because a single frame costs more than its length.
fn repeated(bytes: &[u8]) -> Vec<u8> {
    bytes.repeat(10)
}

#[test]
fn useless_frame_flood_pauses_peer() {
    let priority = frame(kind::PRIORITY, 0, 7, [0, 0, 0, 3, 16]);
    for (name, bytes) in [
        ("PING", frame(kind::PING, 0, 0, [0; 8])),
        ("answers to no PING", frame(kind::PING, ACK, 0, [0; 8])),
        ("SETTINGS", settings(&[])),
        ("acknowledgements of no SETTINGS", frame(kind::SETTINGS, ACK, 0, [])),
        ("PRIORITY", priority),
        ("PRIORITY_UPDATE", frame(16, 0, 0, [0, 0, 0, 1, b'u'])),
        ("unknown frames", frame(200, 0, 0, [0; 10])),
        ("WINDOW_UPDATE", window_update(0, 1)),
        ("WINDOW_UPDATE of a stream", window_update(1, 1)),
        ("empty DATA", data(1, 0, [])),
        ("padding", data(1, PADDED, [1, b'x', 0])),
        ("GOAWAY", frame(kind::GOAWAY, 0, 0, [0; 8])),
        ("resets of closed streams", reset(3, ErrorCode::CANCEL)),
    ] {
        let mut end = End::server();
        end.open(1, 0);
        let skipped = end.open(5, END_STREAM);
        assert_eq!(end.connection.send_head(skipped, &Head::response(200), true), Ok(()));
        end.frames();
        // Send only seven SETTINGS frames per round, because reading pauses at eight unsent acknowledgements.
        let turn = if name == "SETTINGS" { bytes.repeat(7) } else { repeated(&bytes) };
        assert_eq!(flood(&mut end, |_, _| turn.clone()), Answer::Rest, "{name}");
    }
}

#[test]
fn peer_that_never_stops_is_disconnected() {
    let mut end = End::server();
    let bytes = frame(kind::PRIORITY, 0, 7, [0, 0, 0, 3, 16]).repeat(100);
    let start = end.now;
    loop {
        if let Err(error) = end.feed(&bytes) {
            assert_eq!(error.code, ErrorCode::ENHANCE_YOUR_CALM);
            break;
        }
        if let Some(until) = end.connection.next_timeout().filter(|_| !end.connection.may_read()) {
            end.now = until;
            assert_eq!(end.connection.handle_timeout(until), Ok(()));
        }
        assert!(end.now - start < Duration::from_secs(30));
    }
}

#[test]
fn rapid_reset_makes_peer_rest() {
    let mut end = End::server();
    let answer = flood(&mut end, |_, number| {
        (10 * number..10 * number + 10)
            .flat_map(|n| [request(id(n), END_STREAM), reset(id(n), ErrorCode::CANCEL)].concat())
            .collect()
    });
    assert_eq!(answer, Answer::Rest);
    assert!(end.connection.memory() < 64 * 1024, "{}", end.connection.memory());
}

#[test]
fn useful_bytes_pay_for_resets() {
    let mut end = End::server();
    let answer = flood(&mut end, |_, number| {
        [request(id(number), 0), data(id(number), END_STREAM, [0; 2000]), reset(id(number), ErrorCode::CANCEL)].concat()
    });
    assert_eq!(answer, Answer::None);
}

#[test]
fn malformed_messages_are_limited() {
    let mut end = End::server();
    let answer = flood(&mut end, |_, number| headers(id(number), END_STREAM, &REQUEST[1..]));
    assert_eq!(answer, Answer::Rest);
    // The limit applies even if the peer also sends enough useful bytes to offset the cost.
    let mut end = End::server();
    let answer = flood(&mut end, |_, number| {
        let head = headers(id(2 * number), 0, &REQUEST);
        let useful = [head, data(id(2 * number), END_STREAM, [0; 6000])].concat();
        [useful, reset(id(2 * number), ErrorCode::CANCEL), headers(id(2 * number + 1), END_STREAM, &REQUEST[1..])]
            .concat()
    });
    assert_eq!(answer, Answer::Close(ErrorCode::ENHANCE_YOUR_CALM));
}

#[test]
fn streams_beyond_limit_are_refused() {
    let mut end = End::server_with(&Config::default().streams_max(10));
    for number in 0..10 {
        end.open(id(number), 0);
    }
    assert_eq!(end.feed(&request(id(10), 0)), Ok(Vec::new()));
    let frames = end.frames();
    assert_eq!(frames[0].0.kind, kind::RST_STREAM);
    assert_eq!(frames[0].1, ErrorCode::REFUSED_STREAM.0.to_be_bytes()[..]);
    assert_eq!(end.connection.stream_count(), 10);
    let answer = flood(&mut end, |_, number| {
        (10 * number..10 * number + 10)
            .flat_map(|n| frame(kind::HEADERS, END_HEADERS, id(11 + n), [0x82, 0x86, 0x84]))
            .collect()
    });
    assert_eq!(answer, Answer::Rest);
}

#[test]
fn flood_of_continuation_closes_connection() {
    let begin = frame(kind::HEADERS, 0, 1, block(&REQUEST));
    let continuation = |length: usize| frame(kind::CONTINUATION, 0, 1, vec![0; length]);
    let mut end = End::server();
    assert_eq!(end.feed(&[&begin[..], &continuation(1).repeat(8)].concat()), Ok(Vec::new()));
    end.fails(&continuation(1), ErrorCode::ENHANCE_YOUR_CALM);
    let mut end = End::server();
    assert_eq!(end.feed(&[&begin[..], &continuation(16_000)].concat()), Ok(Vec::new()));
    let head = &continuation(17_000)[..9];
    end.fails(head, ErrorCode::ENHANCE_YOUR_CALM);
    assert!(end.connection.memory() < 64 * 1024);
    let long = frame(kind::HEADERS, 0, 1, vec![0; 32 * 1024 + 1]);
    End::server().fails(&long[..9], ErrorCode::ENHANCE_YOUR_CALM);
}

#[test]
fn header_list_is_truncated_and_bomb_closes() {
    let mut end = End::server();
    let entry = [&[0x40, 0x01, b'a', 0x7f, 0xa1, 0x1e][..], &[b'x'; 4000]].concat();
    let bomb = |count: usize| [block(&REQUEST), entry.clone(), vec![0xbe; count]].concat();
    assert_eq!(end.feed(&frame(kind::HEADERS, END_HEADERS | END_STREAM, 1, bomb(10))).map(|it| it.len()), Ok(1));
    assert!(end.connection.head().is_truncated());
    assert!(end.connection.head().size() <= 16 * 1024);
    end.fails(&frame(kind::HEADERS, END_HEADERS | END_STREAM, 3, bomb(16)), ErrorCode::ENHANCE_YOUR_CALM);
}

#[test]
fn pings_between_replies_are_free() {
    let mut end = End::server();
    let answer = flood(&mut end, |end, number| {
        let stream = end.open(id(number), END_STREAM);
        let reply = end.connection.reply(stream, &Head::response(200), &Head::trailers(), |out| {
            out.push(b'x');
            true
        });
        assert_eq!(reply, Ok(true));
        [frame(kind::PING, 0, 0, [0; 8]), window_update(0, 1).repeat(10)].concat()
    });
    assert_eq!(answer, Answer::None);
}

#[test]
fn unsent_acknowledgements_stop_reading() {
    for (bytes, count) in [(frame(kind::PING, 0, 0, [0; 8]), 64), (settings(&[]), 8)] {
        let mut end = End::server();
        let mut input = Bytes::from(bytes.repeat(200));
        assert_eq!(end.connection.poll_event(&mut input, end.now), Ok(None));
        assert_eq!(input.len(), (200 - count) * bytes.len(), "input should wait until the output is written");
        assert_eq!(end.frames().len(), count);
    }
}

#[test]
fn settings_with_many_entries_close_connection() {
    let mut end = End::server();
    assert_eq!(end.feed(&settings(&[(77, 0); 32])), Ok(Vec::new()));
    end.fails(&settings(&[(77, 0); 33])[..9], ErrorCode::ENHANCE_YOUR_CALM);
}

#[test]
fn settings_have_to_be_acknowledged() {
    let now = Instant::now();
    let mut end = End { connection: Connection::server(&ServerConfig::default(), now), now };
    assert!(end.feed(&[&frame::PREFACE[..], &settings(&[])].concat()).is_ok());
    assert_eq!(end.connection.next_timeout(), Some(now + Duration::from_secs(10)));
    let result = end.connection.handle_timeout(now + Duration::from_secs(10));
    assert_eq!(result.map_err(|error| error.code), Err(ErrorCode::SETTINGS_TIMEOUT));
}

#[test]
fn small_incomplete_fragments_are_charged() {
    for (length, completes, answer) in [(1, false, Answer::Rest), (1, true, Answer::None), (256, false, Answer::None)] {
        let mut end = End::server();
        let stream = end.open(1, 0);
        let result = flood(&mut end, |end, _| {
            for _ in 0..10 {
                assert_eq!(end.feed(&data(1, 0, vec![0; length])).map(|it| it.len()), Ok(1));
                if !completes {
                    end.connection.charge_fragment();
                }
                end.connection.consume(stream, length);
            }
            Vec::new()
        });
        assert_eq!(result, answer, "{length} bytes, completes: {completes}");
    }
}

/// Regression test: when a DATA frame arrived in parts, the first part was charged like the previous frame, even if
/// that frame had completed a message.
#[test]
fn partial_frame_is_not_charged_for_previous_one() {
    let mut end = End::server();
    let (stream, split) = (end.open(1, 0), data(1, 0, [0; 2]));
    let (whole, (first, rest)) = (data(1, 0, [0]), split.split_at(frame::HEAD + 1));
    let result = flood(&mut end, |end, _| {
        for _ in 0..10 {
            assert_eq!(end.feed(&[&whole[..], first].concat()).map(|it| it.len()), Ok(2));
            end.connection.charge_fragment();
            assert_eq!(end.feed(rest).map(|it| it.len()), Ok(1));
            end.connection.consume(stream, 3);
        }
        Vec::new()
    });
    assert_eq!(result, Answer::None);
}

#[test]
fn reply_to_closed_window_is_cancelled() {
    let mut end = End::server();
    assert!(end.feed(&settings(&[(4, 0)])).is_ok());
    let stream = end.open(1, END_STREAM);
    let put = |out: &mut Vec<u8>| {
        out.extend_from_slice(&[0; 100_000]);
        true
    };
    assert_eq!(end.connection.reply(stream, &Head::response(200), &Head::trailers(), put), Ok(true));
    end.frames();
    for _ in 0..3 {
        // A client that accepts 20 kB per idle timeout is fast enough.
        end.now = end.connection.next_timeout().expect("reply that the peer does not read should have a deadline");
        assert_eq!(end.connection.handle_timeout(end.now), Ok(()));
        assert_eq!(end.feed(&window_update(1, 20_000)), Ok(Vec::new()));
        end.frames();
    }
    for _ in 0..2 {
        end.now = end.connection.next_timeout().expect("reply that the peer does not read should have a deadline");
        assert_eq!(end.connection.handle_timeout(end.now), Ok(()));
    }
    assert_eq!(end.feed(&[]), Ok(vec![Event::Reset { stream, code: ErrorCode::CANCEL }]));
    assert_eq!(end.kinds(), [kind::RST_STREAM]);
    assert_eq!(end.connection.next_timeout(), None);
}

#[test]
fn stream_may_pause_at_closed_window() {
    let mut end = End::server();
    assert!(end.feed(&settings(&[(4, 0)])).is_ok());
    let stream = end.open(1, END_STREAM);
    assert_eq!(end.connection.send_head(stream, &Head::response(200), false), Ok(()));
    assert_eq!(end.connection.send_data(stream, bytes(100), false), Ok(()));
    end.frames();
    assert_eq!(end.connection.next_timeout(), None);
}

#[test]
fn long_output_stops_reading() {
    let mut end = End::server();
    assert!(end.feed(&[settings(&[(4, 1 << 20)]), window_update(0, 1 << 30)].concat()).is_ok());
    let mut input = Bytes::from((0..100).flat_map(|number| request(id(number), END_STREAM)).collect::<Vec<u8>>());
    let (mut replies, mut writes) = (0, 0);
    while replies < 100 {
        let event = end.connection.poll_event(&mut input, end.now).expect("requests should follow the protocol");
        let Some(Event::Head { stream, .. }) = event else {
            assert!(!input.is_empty() && !end.connection.may_read());
            end.frames();
            writes += 1;
            continue;
        };
        let put = |out: &mut Vec<u8>| {
            out.extend_from_slice(&[0; 16_000]);
            true
        };
        assert_eq!(end.connection.reply(stream, &Head::response(200), &Head::trailers(), put), Ok(true));
        assert!(end.connection.stream_count() == 0, "no stream should be queued");
        assert!(end.connection.memory() < 3 * limits::OUTPUT_MAX, "{}", end.connection.memory());
        replies += 1;
    }
    assert_eq!(writes, 3, "window updates should be written after each 512 KiB");
}

#[test]
fn slow_reader_is_disconnected() {
    let mut end = End::server();
    let stream = end.open(1, END_STREAM);
    assert_eq!(end.connection.send_head(stream, &Head::response(200), true), Ok(()));
    end.connection.handle_written(0, end.now);
    end.now = end.connection.next_timeout().expect("output that the peer does not read should have a deadline");
    assert!(end.connection.handle_timeout(end.now).is_err());
}

#[test]
fn slow_preface_block_or_frame_times_out() {
    let now = Instant::now();
    let mut end = End { connection: Connection::server(&ServerConfig::default(), now), now };
    assert!(end.feed(&frame::PREFACE[..20]).is_ok());
    end.now = end.connection.next_timeout().expect("connection preface should have a deadline");
    assert!(end.connection.handle_timeout(end.now).is_err());
    for begun in [&request(1, 0)[..12], &frame(kind::HEADERS, 0, 1, block(&REQUEST)), &data(1, 0, [0; 100])[..50]] {
        let mut end = End::server();
        if begun[3] == kind::DATA {
            end.open(1, 0);
        }
        assert!(end.feed(begun).is_ok());
        end.now = end.connection.next_timeout().expect("partially received frame should have a deadline");
        assert!(end.connection.handle_timeout(end.now).is_err(), "{begun:?}");
    }
}

/// Regression test: a client that sent a frame while it slowly read a long reply was disconnected, because the server
/// did not read the rest of the frame meanwhile.
#[test]
fn frame_rate_is_not_measured_while_output_is_full() {
    const SECOND: Duration = Duration::from_secs(1);
    let mut end = End::server();
    let windows = [settings(&[(4, 1 << 24), (5, 1 << 20)]), window_update(0, 1 << 24)].concat();
    assert!(end.feed(&windows).is_ok());
    end.open(1, 0);
    let stream = end.open(3, END_STREAM);
    assert!(end.feed(&data(1, 0, [0; 100])[..50]).is_ok());
    let put = |out: &mut Vec<u8>| {
        out.resize(out.len() + (1 << 20), 0);
        true
    };
    assert_eq!(end.connection.reply(stream, &Head::response(200), &Head::trailers(), put), Ok(true));
    for _ in 0..10 {
        end.connection.handle_written(32 * 1024, end.now);
        end.now += SECOND;
        assert_eq!(end.connection.handle_timeout(end.now), Ok(()));
        assert_eq!(end.feed(&[]), Ok(Vec::new()));
        assert!(!end.connection.may_read());
    }
    // The rest of the frame must arrive once reading has resumed.
    end.connection.take_output(end.now);
    assert_eq!(end.feed(&[]), Ok(Vec::new()));
    end.now += 4 * SECOND;
    assert_eq!(end.connection.handle_timeout(end.now), Ok(()));
    end.now += SECOND;
    assert!(end.connection.handle_timeout(end.now).is_err());
}

#[test]
fn empty_frames_without_use_are_complete() {
    let mut end = End::server();
    let stream = end.open(1, 0);
    end.connection.reset(stream, ErrorCode::CANCEL);
    for bytes in [frame(200, 0, 0, []), data(1, 0, []), data(1, PADDED, [0])] {
        assert_eq!(end.feed(&bytes), Ok(Vec::new()));
        assert!(!end.connection.is_mid_frame() && end.connection.next_timeout().is_none());
    }
}

#[test]
fn server_shuts_down_before_ids_are_exhausted() {
    let mut end = End::server();
    end.open((1 << 29) * 3 + 1, END_STREAM);
    assert_eq!(end.kinds(), [kind::GOAWAY, kind::PING]);
}

#[test]
fn each_open_stream_uses_bounded_memory() {
    let mut end = End::server();
    let before = end.connection.memory();
    (0..256).for_each(|number| _ = end.open(id(number), 0));
    let each = (end.connection.memory() - before) / 256;
    assert!(each <= 160, "stream takes {each} bytes");
}

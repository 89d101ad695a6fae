//! Tests of a client and a server that exchange frames, and of inputs split at arbitrary positions.

use super::*;
use frisbee_core::Role;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

/// Feeds bytes in pieces. Consecutive body parts are joined, because they depend on the split positions.
fn feed_in_pieces(role: Role, stream: &[u8], sizes: &[usize]) -> (Vec<String>, Option<ConnectionError>, Vec<u8>) {
    let now = Instant::now();
    let mut connection = match role {
        Role::Server => Connection::server(&ServerConfig::default(), now),
        Role::Client => Connection::client(&ClientConfig::default(), now),
    };
    if role == Role::Client {
        let head = Head::request("POST", "http", "a", "/a");
        (0..4).for_each(|_| assert!(connection.open(&head, false).is_ok()));
    }
    let mut events: Vec<String> = Vec::new();
    let (mut rest, mut sizes) = (stream, sizes.iter().cycle());
    let mut bodies: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    let mut output = Vec::new();
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(rest.len().min(*sizes.next().unwrap_or(&1)));
        rest = tail;
        let mut input = Bytes::copy_from_slice(piece);
        loop {
            match connection.poll_event(&mut input, now) {
                Ok(Some(Event::Data { stream, data, is_end })) => {
                    let body = bodies.entry(stream.slot).or_default();
                    body.extend_from_slice(&data);
                    if is_end {
                        events.push(format!("{stream:?}: {:?}", std::mem::take(body)));
                    }
                }
                Ok(Some(event)) => events.push(format!("{event:?} {:?}", connection.head())),
                Ok(None) if input.is_empty() => break,
                Ok(None) => output.extend_from_slice(&connection.take_output(now)),
                Err(error) => {
                    output.extend_from_slice(&connection.take_output(now));
                    return (events, Some(error), output);
                }
            }
        }
    }
    output.extend_from_slice(&connection.take_output(now));
    (events, None, output)
}

fn script() -> Vec<u8> {
    [
        &frame::PREFACE[..],
        &settings(&[(4, 100_000), (5, 20_000)]),
        &frame(kind::SETTINGS, ACK, 0, []),
        &request(1, 0),
        &data(1, 0, "first"),
        &frame(kind::PING, 0, 0, *b"8 bytes."),
        &data(1, PADDED, b"\x03second\0\0\0"),
        &frame(kind::HEADERS, END_STREAM, 3, &block(&REQUEST)[..7]),
        &frame(kind::CONTINUATION, 0, 3, []),
        &frame(kind::CONTINUATION, END_HEADERS, 3, &block(&REQUEST)[7..]),
        &frame(99, 0, 0, "unknown"),
        &window_update(1, 77),
        &headers(1, END_STREAM, &[("trailer", "x")]),
        &frame(kind::PRIORITY, 0, 9, [0, 0, 0, 3, 1]),
        &headers(5, 0, &REQUEST[1..]),
        &data(5, END_STREAM, "of a malformed request"),
        &request(7, 0),
        &reset(7, ErrorCode::CANCEL),
        &request(9, 0),
        &data(9, END_STREAM, []),
        &frame(kind::GOAWAY, 0, 0, [0; 12]),
        &data(11, 0, "idle"),
    ]
    .concat()
}

/// Returns the encoded replies to the four streams of a client.
fn replies() -> Vec<u8> {
    [
        &settings(&[(3, 4), (4, 100_000)])[..],
        &frame(kind::SETTINGS, ACK, 0, []),
        &headers(1, 0, &[(":status", "103")]),
        &headers(1, 0, &[(":status", "200")]),
        &data(1, 0, "first"),
        &frame(kind::PING, 0, 0, *b"8 bytes."),
        &data(1, PADDED, b"\x03second\0\0\0"),
        &headers(3, END_STREAM, &[(":status", "404")]),
        &reset(5, ErrorCode::REFUSED_STREAM),
        &headers(1, END_STREAM, &[("trailer", "x")]),
        &frame(kind::GOAWAY, 0, 0, [&[0, 0, 0, 5][..], &[0; 4], b"bye"].concat()),
        &data(9, 0, "idle"),
    ]
    .concat()
}

#[test]
fn split_input_gives_equal_events() {
    for (role, stream, count) in [(Role::Server, script(), 8), (Role::Client, replies(), 6)] {
        let whole = feed_in_pieces(role, &stream, &[stream.len()]);
        assert_eq!(whole.0.len(), count, "{:#?}", whole.0);
        assert!(whole.1.is_some());
        for cut in 1..stream.len() {
            assert_eq!(feed_in_pieces(role, &stream, &[cut, stream.len()]), whole, "cut at {cut}");
        }
        for size in 1..40 {
            assert_eq!(feed_in_pieces(role, &stream, &[size]), whole, "in pieces of {size}");
        }
    }
}

/// A step of a simulation with a client and a server.
#[derive(Clone, Copy, Debug)]
enum Action {
    Open {
        body: usize,
        is_split: bool,
    },
    Respond {
        which: usize,
        body: usize,
    },
    Reset {
        which: usize,
        by_server: bool,
    },
    /// Transfers at most `count` bytes in each direction.
    Move {
        count: usize,
    },
    Tick,
}

fn action() -> impl Strategy<Value = Action> {
    let length = || prop_oneof![0_usize..2000, Just(16_384), 10_000_usize..400_000];
    prop_oneof![
        4 => (length(), any::<bool>()).prop_map(|(body, is_split)| Action::Open { body, is_split }),
        4 => (any::<usize>(), length()).prop_map(|(which, body)| Action::Respond { which, body }),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(which, by_server)| Action::Reset { which, by_server }),
        8 => prop_oneof![1_usize..100, Just(1_000_000)].prop_map(|count| Action::Move { count }),
        1 => Just(Action::Tick),
    ]
}

/// Messages sent by one end or received by the other, by number: length of the body, and whether the message has ended.
type Messages = BTreeMap<usize, (usize, bool)>;

#[derive(Default)]
struct Side {
    sent: Messages,
    received: Messages,
    reset: Vec<usize>,
}

struct World {
    now: Instant,
    client: Connection,
    server: Connection,
    /// Bytes in transit from the client to the server (`up`), and back (`down`).
    up: Vec<u8>,
    down: Vec<u8>,
    calls: Vec<StreamKey>,
    requests: VecDeque<(StreamKey, usize)>,
    server_streams: BTreeMap<usize, StreamKey>,
    up_side: Side,
    down_side: Side,
    /// Calls to which the server has replied before the whole request had arrived, so the rest is not sent.
    early: Vec<usize>,
}

impl World {
    fn new() -> Self {
        let now = Instant::now();
        let client = Connection::client(&ClientConfig::default(), now);
        let server = Connection::server(&ServerConfig::default(), now);
        let (up_side, down_side) = (Side::default(), Side::default());
        Self {
            now,
            client,
            server,
            up: Vec::new(),
            down: Vec::new(),
            calls: Vec::new(),
            requests: VecDeque::new(),
            server_streams: BTreeMap::new(),
            up_side,
            down_side,
            early: Vec::new(),
        }
    }

    fn run(&mut self, action: Action) {
        match action {
            Action::Open { body, is_split } => self.open(body, is_split),
            Action::Respond { which, body } => self.respond(which, body),
            Action::Reset { which, by_server } => self.reset(which, by_server),
            Action::Move { count } => self.pass(count),
            Action::Tick => {
                self.now += std::time::Duration::from_millis(1);
                assert_eq!(self.client.handle_timeout(self.now), Ok(()));
                assert_eq!(self.server.handle_timeout(self.now), Ok(()));
            }
        }
    }

    fn open(&mut self, body: usize, is_split: bool) {
        let number = self.calls.len();
        let mut head = Head::request("POST", "http", "a", "/a");
        head.push("number", number.to_string());
        let Ok(stream) = self.client.open(&head, false) else { return };
        self.calls.push(stream);
        if is_split {
            assert_eq!(self.client.send_data(stream, bytes(body / 2), false), Ok(()));
            assert_eq!(self.client.send_data(stream, bytes(body - body / 2), false), Ok(()));
            let mut trailers = Head::trailers();
            trailers.push("x", "y");
            assert_eq!(self.client.send_trailers(stream, &trailers), Ok(()));
        } else {
            assert_eq!(self.client.send_data(stream, bytes(body), true), Ok(()));
        }
        self.up_side.sent.insert(number, (body, true));
    }

    fn respond(&mut self, which: usize, body: usize) {
        if self.requests.is_empty() {
            return;
        }
        let at = which % self.requests.len();
        let (stream, number) = self.requests.remove(at).expect("request should contain an index in range");
        let mut trailers = Head::trailers();
        if which.is_multiple_of(2) {
            trailers.push("grpc-status", "0");
        }
        let put = |out: &mut Vec<u8>| {
            out.resize(out.len() + body, b'x');
            true
        };
        if self.server.reply(stream, &Head::response(200), &trailers, put) == Ok(true) {
            self.down_side.sent.insert(number, (body, true));
            if !self.up_side.received.get(&number).is_some_and(|(_, is_complete)| *is_complete) {
                self.early.push(number);
            }
        }
    }

    fn reset(&mut self, which: usize, by_server: bool) {
        if self.calls.is_empty() {
            return;
        }
        let number = which % self.calls.len();
        self.down_side.reset.push(number);
        match self.server_streams.get(&number).filter(|_| by_server) {
            Some(stream) => self.server.reset(*stream, ErrorCode::CANCEL),
            None => self.client.reset(self.calls[number], ErrorCode::CANCEL),
        }
    }

    fn pass(&mut self, count: usize) {
        self.up.extend_from_slice(&self.client.take_output(self.now));
        self.down.extend_from_slice(&self.server.take_output(self.now));
        let mut input: Bytes = self.up.drain(..self.up.len().min(count)).collect::<Vec<_>>().into();
        while let Some(event) = self.server.poll_event(&mut input, self.now).expect("client should follow the protocol")
        {
            self.handle_at_server(event);
        }
        assert!(input.is_empty());
        let mut input: Bytes = self.down.drain(..self.down.len().min(count)).collect::<Vec<_>>().into();
        while let Some(event) = self.client.poll_event(&mut input, self.now).expect("server should follow the protocol")
        {
            self.handle_at_client(event);
        }
        assert!(input.is_empty());
    }

    fn handle_at_server(&mut self, event: Event) {
        let number = |world: &Self, stream: StreamKey| {
            world.server_streams.iter().find(|(_, other)| **other == stream).map(|(number, _)| *number)
        };
        match event {
            Event::Head { stream, .. } => {
                let text = self.server.head().get("number").expect("request should contain a number");
                let number = std::str::from_utf8(text)
                    .ok()
                    .and_then(|text| text.parse().ok())
                    .expect("request should contain a valid number");
                self.server_streams.insert(number, stream);
                self.requests.push_back((stream, number));
                self.up_side.received.insert(number, (0, false));
            }
            Event::Data { stream, data, is_end } => {
                let number = number(self, stream).expect("stream should have been opened by a request");
                let message = self.up_side.received.get_mut(&number).expect("stream should receive a head before data");
                *message = (message.0 + data.len(), is_end);
                self.server.consume(stream, data.len());
            }
            Event::Trailers { stream } => {
                let number = number(self, stream).expect("stream should have been opened by a request");
                self.up_side.received.get_mut(&number).expect("stream should receive a head before trailers").1 = true;
            }
            Event::Reset { stream, .. } => self.requests.retain(|(other, _)| *other != stream),
            other => panic!("{other:?}"),
        }
    }

    fn handle_at_client(&mut self, event: Event) {
        let number = |stream| self.calls.iter().position(|other| *other == stream).expect("stream should be open");
        match event {
            Event::Head { stream, is_end } => _ = self.down_side.received.insert(number(stream), (0, is_end)),
            Event::Data { stream, data, is_end } => {
                let message =
                    self.down_side.received.get_mut(&number(stream)).expect("stream should receive a head before data");
                *message = (message.0 + data.len(), is_end);
                self.client.consume(stream, data.len());
            }
            Event::Trailers { stream } => {
                self.down_side
                    .received
                    .get_mut(&number(stream))
                    .expect("stream should receive a head before trailers")
                    .1 = true;
            }
            Event::Reset { code: ErrorCode::NO_ERROR, .. } => {}
            Event::Reset { stream, .. } => self.down_side.reset.push(number(stream)),
            other => panic!("{other:?}"),
        }
    }

    /// Replies to all calls and transfers all bytes. Checks that every request and response of a call that was not
    /// reset has arrived completely, and that no streams remain.
    fn finish(mut self) {
        // Transfer the requests first, so that few of them are still incomplete when the server replies.
        (0..100).for_each(|_| self.pass(usize::MAX));
        for _ in 0..200 {
            self.respond(0, 10);
            self.pass(usize::MAX);
        }
        let is_reset = |number: &usize| self.down_side.reset.contains(number);
        for (number, sent) in self.up_side.sent.iter().filter(|(number, _)| !is_reset(number)) {
            if !self.early.contains(number) {
                assert_eq!(self.up_side.received.get(number), Some(sent), "request {number}");
            }
        }
        for (number, sent) in self.down_side.sent.iter().filter(|(number, _)| !is_reset(number)) {
            assert_eq!(self.down_side.received.get(number), Some(sent), "response {number}");
        }
        assert_eq!(self.server.stream_count(), 0);
        assert_eq!(self.client.stream_count(), 0);
        assert!(self.client.is_flushed() && self.server.is_flushed());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn client_and_server_understand_each_other(actions in prop::collection::vec(action(), 1..80)) {
        let mut world = World::new();
        actions.into_iter().for_each(|action| world.run(action));
        world.finish();
    }

    #[test]
    fn any_bytes_are_handled(bytes in prop::collection::vec(any::<u8>(), 0..400), size in 1_usize..50) {
        for (role, preface) in [(Role::Server, &frame::PREFACE[..]), (Role::Client, &[][..])] {
            let stream = [preface, &settings(&[]), &bytes].concat();
            let whole = feed_in_pieces(role, &stream, &[stream.len()]);
            prop_assert_eq!(feed_in_pieces(role, &stream, &[size]), whole);
        }
    }
}

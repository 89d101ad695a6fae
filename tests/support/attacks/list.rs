//! The list of attacks on servers.

mod gateway;

use super::{ADD, Attack, CHAT, Ending, FORGED, SLEEP, Target, breaches};
use crate::interop::{AddRequest, Lists, Payload, Range, Scalars, SleepRequest, Text};
use crate::pki::Authority;
use crate::raw::{encoded, header, packet};
use frisbee_core::tlv::{put_item, put_varint};
use frisbee_pubsub::FIRST_OPERATION;
use polyglot::{Encoder, Kind};
use samples::benchmark::Request as Echo;
use std::time::{Duration, Instant};

/// The only method of the benchmark's schema.
const ECHO: u16 = 10;

/// Number of bytes per write of a flood.
const PIECE: usize = 64 * 1024;

/// Returns all attacks on servers.
pub fn all() -> Vec<Attack> {
    [bodies(), frames(), packets(), silence(), connections(), calls(), streams(), topics(), tls(), gateway::all()]
        .concat()
}

/// Repeats a packet as many times as it fits into a [`PIECE`].
fn flood(packet: &[u8]) -> Vec<u8> {
    packet.repeat((PIECE / packet.len()).max(1))
}

fn echo(length: usize) -> Vec<u8> {
    encoded(&Echo { message: "x".repeat(length) })
}

fn add(id: u16) -> Vec<u8> {
    packet(id, ADD, &encoded(&AddRequest { a: 20, b: 22 }))
}

/// Returns the first packet of a native peer.
fn hello() -> Vec<u8> {
    let mut core = frisbee_core::Connection::client(&Default::default(), Instant::now());
    core.outbox().take_bytes().to_vec()
}

/// Returns attacks with bodies that cannot be decoded.
fn bodies() -> Vec<Attack> {
    let body = echo(64);
    let cut: Vec<_> = (0..body.len()).flat_map(|cut| packet(cut as u16, ECHO, &body[..cut])).collect();
    let forged: Vec<_> = FORGED.iter().flat_map(|(operation, body)| packet(1, *operation, body)).collect();
    let wrong: Vec<_> = [&[9, 0][..], &[8, 0, 7, 1], &[8, 0, 5, 0x0a, 2, 0xc3, 0x28], &[6, 5, 0x0a, 2, b'n', b'o']]
        .iter()
        .flat_map(|body| packet(1, ECHO, body))
        .collect();
    let mut colorless = encoded(&Scalars::default());
    colorless.splice(colorless.len() - 1.., [0xff, 0xff, 0xff, 0xff, 0x0f]);
    let odd = [packet(1, 10, &[8, 0, 7, 2]), packet(1, 10, &colorless)].concat();
    let longer: Vec<_> = packet(1, ECHO, &[8, 0, 5, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, b'x']);
    vec![
        Attack::new("bodies cut anywhere", &[1], Target::Echo, Vec::new()).again(flood(&cut)),
        Attack::new("text of 4 GiB in 10 bytes", &[2], Target::Echo, Vec::new()).again(flood(&longer)),
        Attack::new("lists and maps of 2^32", &[2, 3, 7, 9], Target::Interop, Vec::new()).again(flood(&forged)),
        Attack::new("bodies of other kinds", &[6, 7, 11], Target::Echo, Vec::new()).again(flood(&wrong)),
        Attack::new("messages that are one byte each", &[4], Target::Interop, Vec::new())
            .again([nils((2 << 20) + 1), nils(50_000)].concat()),
        Attack::new("messages within messages", &[5], Target::Echo, Vec::new()).again(packet(
            1,
            ECHO,
            &[8, 0].repeat(500_000),
        )),
        Attack::new("one key 10 000 times", &[8], Target::Interop, Vec::new()).again(packet(1, 13, &same_keys(10_000))),
        Attack::new("neither true nor false, no color", &[10], Target::Interop, Vec::new()).again(flood(&odd)),
    ]
}

/// Returns a request of the interop schema with a list of `count` nil messages. Each takes 32 bytes in memory, so more
/// than 2^21 exceed the memory limit of the decoder.
fn nils(count: u32) -> Vec<u8> {
    let mut body = encoded(&Lists::default());
    assert!(body.ends_with(&[1, 3, 0x0a, 0]), "last list of the message should contain messages");
    body.truncate(body.len() - 4);
    Encoder::new(&mut body).list(Kind::Any, count as usize).expect("list should be shorter than 2^32");
    body.resize(body.len() + count as usize, 0);
    packet(1, 12, &body)
}

/// Returns a body of the interop schema with a map in which the same key occurs `count` times.
fn same_keys(count: usize) -> Vec<u8> {
    let mut body = vec![8, 0];
    Encoder::new(&mut body).map(Kind::String, Kind::String, count).expect("map should be shorter than 2^32");
    body.extend([5, 0x0a, 1, b'k', 5, 0x0a, 0].repeat(count));
    body.extend([0; 6]); // The other maps.
    body
}

/// Returns attacks with malformed frames or with lengths beyond the limit.
fn frames() -> Vec<Attack> {
    let promise = [header(1, ECHO, 5 << 20), vec![0; 10_000]].concat();
    let one_byte = header(1, ECHO, 5 << 20);
    let breaches = breaches();
    vec![
        Attack::new("other protocols", &[12], Target::Echo, breaches[0].clone()),
        Attack::new("lengths over the limit", &[13], Target::Echo, breaches[2].clone()),
        Attack::new("5 MiB promised, 10 kB sent", &[14], Target::Echo, promise).connections(500),
        Attack::new("half a header", &[15], Target::Echo, vec![0, 15, 0]).connections(500),
        Attack::new("bodies byte by byte", &[15], Target::Echo, one_byte)
            .again(vec![0])
            .every(Duration::from_millis(50))
            .connections(200),
        Attack::new("half a frame, then gone", &[15, 28], Target::Echo, packet(1, ECHO, &echo(500))[..300].to_vec())
            .ending(Ending::Leave),
        Attack::new("headers of 8 bytes", &[40], Target::Echo, vec![0; 8])
            .again(flood(&[0, 1, 0, ECHO as u8, 0, 0, 0, 0])),
    ]
}

/// Returns attacks with packets that the protocol layer itself answers or ignores.
fn packets() -> Vec<Attack> {
    let reserved: Vec<_> = (3..=9).flat_map(|operation| packet(5, operation, b"whatever")).collect();
    let control: Vec<_> = [(5, &[4][..]), (6, &[10]), (7, &[]), (9, &[0, 0])]
        .iter()
        .flat_map(|(operation, body)| packet(77, *operation, body))
        .collect();
    vec![
        Attack::new("PING with content", &[17], Target::Echo, packet(0, 0, b"!")),
        Attack::new("PINGs", &[18], Target::Echo, Vec::new()).again(packet(0, 0, b"").repeat(30)),
        Attack::new("PONGs", &[18], Target::Echo, Vec::new()).again(flood(&packet(0, 1, b""))),
        Attack::new("empty requests", &[19], Target::Echo, Vec::new()).again(flood(&packet(1, ECHO, b""))),
        Attack::new("reserved operations", &[25], Target::Echo, Vec::new()).again(flood(&reserved)),
        Attack::new("unknown operations", &[24], Target::Echo, Vec::new()).again(flood(&packet(1, 999, b"x"))),
        Attack::new("HELLO again and again", &[25], Target::Echo, hello()).again(flood(&packet(0, 3, b"fris\x01"))),
        Attack::new("the connection requested", &[25, 36], Target::Echo, hello()).again(flood(&packet(
            0,
            8,
            &[&[ECHO as u8], &echo(8)[..]].concat(),
        ))),
        Attack::new(
            "reply to a server without calls",
            &[31],
            Target::Echo,
            [hello(), packet(0x8001, ECHO, &echo(8))].concat(),
        ),
        Attack::new("credit, cancels, ends of nothing", &[25, 32], Target::Echo, hello()).again(flood(&control)),
    ]
}

/// Returns attacks by peers that never write, or never read.
fn silence() -> Vec<Attack> {
    let megabyte = packet(1, ECHO, &echo(1 << 20));
    vec![
        Attack::new("silent connections", &[16], Target::Echo, Vec::new()).connections(1_000),
        Attack::new("a thousand silent clients a second", &[16], Target::Echo, Vec::new()).per_second(1_000),
        Attack::new("large replies not read", &[26], Target::Echo, Vec::new()).again(megabyte).deaf(),
        Attack::new("small replies not read", &[26], Target::Echo, Vec::new())
            .again(flood(&packet(1, ECHO, &echo(1))))
            .deaf(),
    ]
}

/// Returns attacks with short-lived connections.
fn connections() -> Vec<Attack> {
    let requests = packet(1, ECHO, &echo(100)).repeat(100);
    vec![
        Attack::new("connections that come and go", &[16, 30], Target::Echo, Vec::new()).ending(Ending::Leave),
        Attack::new("resets within replies", &[28], Target::Echo, requests.clone()).ending(Ending::Reset),
        Attack::new("half closes", &[27], Target::Echo, requests).ending(Ending::HalfClose),
    ]
}

/// Returns attacks with too many calls.
fn calls() -> Vec<Attack> {
    let sleep = packet(1, SLEEP, &encoded(&SleepRequest { millis: 3_600_000, tag: 1 }));
    let large = packet(1, 17, &encoded(&Payload { seq: 1, data: vec![0; 5_000_000] }));
    vec![
        Attack::new("valid requests, one id", &[22, 23], Target::Echo, Vec::new()).again(flood(&packet(
            1,
            ECHO,
            &echo(8),
        ))),
        Attack::new("calls beyond the limit", &[22], Target::Interop, Vec::new()).again(flood(&sleep)),
        Attack::new("calls begun and cancelled", &[21, 22], Target::Interop, hello())
            .again(flood(&[sleep.clone(), packet(1, 6, &[SLEEP as u8])].concat())),
        Attack::new("metadata of 10 000 entries", &[19], Target::Echo, hello()).again(packet(
            1,
            ECHO,
            &metadata(10_000),
        )),
        Attack::new("requests of 5 MB", &[13, 22], Target::Interop, Vec::new()).again(large),
        Attack::new("waiting calls with 50 kB of metadata", &[22, 41], Target::Interop, hello())
            .again(waiting_calls(50)),
        Attack::new("waiting calls of 16 kB on one connection", &[22, 41], Target::Interop, hello())
            .again(waiting_calls(16).repeat(100))
            .connections(1),
        Attack::new("waiting calls on 1000 connections", &[22, 41], Target::Interop, flood(&waits(5_000)))
            .again(flood(&waits(5_000)))
            .every(Duration::from_secs(1))
            .connections(1_000),
    ]
}

/// Returns a request. Its handler sleeps for the given number of milliseconds.
fn waits(millis: u32) -> Vec<u8> {
    packet(1, SLEEP, &encoded(&SleepRequest { millis, tag: 1 }))
}

/// Returns a request with the given number of kilobytes of metadata. Its handler sleeps for five seconds.
fn waiting_calls(kilobytes: u16) -> Vec<u8> {
    let mut items = Vec::new();
    for number in 0..kilobytes {
        let mut entry = vec![2];
        entry.extend(number.to_be_bytes().map(|byte| b'a' + byte % 26));
        entry.resize(1_000, b'v');
        put_item(&mut items, 2, &entry);
    }
    let mut body = vec![0x10];
    put_varint(&mut body, items.len() as u64);
    packet(1, SLEEP, &[body, items, encoded(&SleepRequest { millis: 5_000, tag: 1 })].concat())
}

/// Returns a request with the given number of metadata entries. Each has the key `k` and an empty value.
fn metadata(entries: usize) -> Vec<u8> {
    let items = [2, 2, 1, b'k'].repeat(entries);
    let mut body = vec![0x10];
    put_varint(&mut body, items.len() as u64);
    [body, items, echo(8)].concat()
}

/// Returns attacks with streams.
fn streams() -> Vec<Attack> {
    let open = |id| packet(id, 2, &[9, CHAT as u8]);
    let text = |length| encoded(&Text { value: "x".repeat(length) });
    let opens: Vec<_> = (1..3_000).flat_map(open).collect();
    let unary: Vec<_> = (1..3_000).flat_map(|id| packet(id, 2, &[9, ECHO as u8])).collect();
    let open_close: Vec<_> = (1..1_000).flat_map(|id| [open(id), packet(id, 2, &[])].concat()).collect();
    let endless = [packet(1, 2, &[9, 21]), packet(1, 2, &encoded(&Range { from: 0, count: i64::MAX }))].concat();
    vec![
        Attack::new("streams opened", &[20], Target::Interop, Vec::new()).again(opens),
        Attack::new("streams opened where there are none", &[20, 24], Target::Echo, Vec::new()).again(unary),
        Attack::new("streams opened and closed", &[21], Target::Interop, Vec::new()).again(open_close),
        Attack::new("a live stream opened", &[38], Target::Interop, Vec::new()).again(flood(&open(1))),
        Attack::new("empty messages of a stream", &[19], Target::Interop, open(1)).again(flood(&packet(1, 2, &[8, 0]))),
        Attack::new("unread messages", &[19, 26], Target::Interop, open(1))
            .again(flood(&packet(1, 2, &text(1_000))))
            .deaf(),
        Attack::new("messages without credit", &[19, 26], Target::Interop, [hello(), open(1)].concat())
            .again(flood(&packet(1, 2, &text(1_000))))
            .deaf(),
        Attack::new("endless answers not read", &[26, 39], Target::Interop, endless).again(add(1)).deaf(),
    ]
}

/// Returns attacks with subscriptions, for a server that is also a broker.
fn topics() -> Vec<Attack> {
    vec![
        Attack::new("400 000 patterns subscribed to", &[33], Target::Interop, Vec::new())
            .own(|number| (1..=1_000).flat_map(|id| subscribe(id, &format!("{number}-{id}"))).collect())
            .connections(400),
        Attack::new("one topic subscribed to 100 000 times and published", &[33], Target::Interop, Vec::new())
            .own(|_| (1..=1_000).flat_map(|id| subscribe(id, "topic")).collect())
            .again(packet(0, FIRST_OPERATION + 2, b"\x05topic"))
            .every(Duration::from_millis(10))
            .connections(100),
    ]
}

fn subscribe(id: u16, pattern: &str) -> Vec<u8> {
    packet(id, FIRST_OPERATION, &[&[pattern.len() as u8], pattern.as_bytes()].concat())
}

/// Returns attacks with TLS handshakes.
fn tls() -> Vec<Attack> {
    vec![
        Attack::new("plain text where TLS is spoken", &[29], Target::Tls, add(1)),
        Attack::new("silent handshakes", &[16, 29], Target::Tls, Vec::new()).connections(600),
        Attack::new("a thousand silent handshakes a second", &[16, 29], Target::Tls, Vec::new()).per_second(1_000),
        Attack::new("handshakes broken off", &[29], Target::Tls, Authority::default().client_hello())
            .connections(4)
            .every(Duration::ZERO)
            .ending(Ending::Reset),
    ]
}

//! Runs every file in the fuzzers' corpus through its target, with any compiler.
//!
//! `UPDATE_CORPUS=1` writes the generated files again: measured vectors, frames, schemas of the tests, and mutations of
//! them.

use fastrand::Rng;
use frisbee_tests::json::All;
use frisbee_tests::packed::EXAMPLE;
use frisbee_tests::process::panics;
use frisbee_tests::raw::packet;
use frisbee_tests::targets::{ALL, Target};
use polyglot::layout::{Description, Field, Shape, Type, TypeLayout};
use polyglot::{Encoder, Form, encode_root};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target)
}

fn files(target: &str) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder(target)).expect("folder should be readable");
    let mut files: Vec<_> = listed.map(|entry| entry.expect("folder entry should be readable").path()).collect();
    files.sort();
    files
}

/// Runs a fuzz target. Panics in tasks, which the runtime catches, make the test fail too.
#[track_caller]
fn run((name, target): Target, data: &[u8], what: &str) {
    let before = panics();
    target(data);
    assert_eq!(panics(), before, "{name} panics at {what}");
}

/// Runs a fuzz target with each file of its corpus.
fn replay(name: &str) {
    if std::env::var_os("UPDATE_CORPUS").is_some() {
        return;
    }
    let target = *ALL.iter().find(|(other, _)| *other == name).expect("fuzz target should exist");
    let files = files(name);
    assert!(files.len() >= 50, "{name} has {} files only", files.len());
    for file in files {
        let data = fs::read(&file).expect("file should be readable");
        run(target, &data, &file.display().to_string());
    }
    // Also runs the target with empty input, and with every single byte.
    run(target, &[], "nothing");
    for byte in (0..=u8::MAX).filter(|_| name != "proto") {
        run(target, &[byte], "one byte");
    }
}

macro_rules! replays {
    ($($test:ident $target:literal)*) => {$(
        #[test]
        fn $test() {
            replay($target);
        }
    )*};
}

replays! {
    header_takes_its_corpus "header"
    frames_take_their_corpus "frames"
    a_connection_takes_its_corpus "connection"
    hello_takes_its_corpus "hello"
    values_take_their_corpus "values"
    messages_take_their_corpus "messages"
    json_takes_its_corpus "json"
    a_codec_by_descriptors_takes_its_corpus "dynamic"
    layouts_take_their_corpus "layout"
    tensors_take_their_corpus "tensor"
    json_rpc_takes_its_corpus "json_rpc"
    a_server_takes_its_corpus "server"
    a_server_that_unpacks_takes_its_corpus "packed"
    a_client_takes_its_corpus "client"
    calls_of_the_accepting_end_take_their_corpus "two_way"
    hand_offs_take_their_corpus "hand_off"
    header_compression_takes_its_corpus "hpack"
    http2_servers_take_their_corpus "http2"
    a_broker_takes_its_corpus "broker"
    a_subscriber_takes_its_corpus "subscriber"
    the_generator_takes_its_corpus "proto"
    shared_memory_takes_its_corpus "shared_memory"
}

#[test]
fn fuzz_targets_exist_with_bounded_corpus() {
    if std::env::var_os("UPDATE_CORPUS").is_some() {
        return update();
    }
    let mut count = 0;
    let mut bytes = 0;
    for (name, _) in ALL {
        let binary = folder(name).join("../../fuzz_targets").join(format!("{name}.rs"));
        assert!(binary.exists(), "{} is missing", binary.display());
        for file in files(name) {
            count += 1;
            bytes += fs::metadata(file).expect("file should have metadata").len();
        }
    }
    assert!(count >= 500, "{count} files");
    assert!(bytes < 1_500_000, "{bytes} bytes are too much for a repository");
}

/// Number of generated files per target. Files that fuzzers have found have other names.
const SEEDS: usize = 70;

/// Maximum length of a generated file in bytes. Fuzzers work better with short files.
const LONGEST: usize = 600;

fn update() {
    for (name, _) in ALL {
        let mut rng = Rng::with_seed(name.bytes().map(u64::from).sum());
        let mut seeds = seeds(name);
        rng.shuffle(&mut seeds);
        let longest = if name == "proto" { 4_000 } else { LONGEST };
        seeds.iter_mut().for_each(|seed| seed.truncate(longest));
        let originals = seeds.len().min(SEEDS * 2 / 3);
        seeds.truncate(originals);
        while seeds.len() < SEEDS {
            let original = seeds[rng.usize(..originals)].clone();
            let other = seeds[rng.usize(..originals)].clone();
            seeds.push(mutated(original, &other, &mut rng));
        }
        let folder = folder(name);
        fs::create_dir_all(&folder).expect("folder should be created");
        for file in files(name) {
            if file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("seed-")) {
                fs::remove_file(file).expect("file should be removed");
            }
        }
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:03}")), seed).expect("file should be written");
        }
    }
}

fn mutated(mut bytes: Vec<u8>, other: &[u8], rng: &mut Rng) -> Vec<u8> {
    if bytes.is_empty() {
        return other.to_vec();
    }
    for _ in 0..rng.usize(1..4) {
        let at = rng.usize(..bytes.len());
        match rng.u32(..5) {
            0 => bytes[at] ^= 1 << rng.u32(..8),
            1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][rng.usize(..5)],
            2 => bytes.truncate(at.max(1)),
            3 => bytes.insert(at, rng.u8(..)),
            _ => {
                let from = rng.usize(..other.len().max(1));
                bytes.splice(at.., other.get(from..).unwrap_or_default().iter().copied());
                bytes.push(0);
            }
        }
    }
    bytes
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let bodies = bodies();
    let frames = frames();
    let with = |head: &[u8], rest: &[u8]| [head, rest].concat();
    let numbered = |rests: &[Vec<u8>], head: &dyn Fn(u8) -> Vec<u8>| {
        let rests = rests.iter().enumerate();
        rests.map(|(number, rest)| with(&head(number as u8), rest)).collect::<Vec<_>>()
    };
    match target {
        "header" => frames.iter().map(|frame| frame[..frame.len().min(10)].to_vec()).collect(),
        "frames" => {
            let streams = frames.windows(3).map(<[_]>::concat).collect::<Vec<_>>();
            numbered(&streams, &|number| vec![number % 40, number])
        }
        "connection" => {
            let streams = frames.windows(2).map(|pair| [hello_packet(), pair.concat()].concat()).collect::<Vec<_>>();
            numbered(&streams, &|number| vec![number.wrapping_mul(7), number])
        }
        "hello" => (0..20).map(|items| hello(items).split_off(10)).collect(),
        "values" => numbered(&bodies, &|number| (0..16).map(|at| number.wrapping_mul(5).wrapping_add(at)).collect()),
        "messages" => {
            let bodies = bodies.iter().flat_map(|body| (0..16).map(move |which| with(&[which, which / 3], body)));
            bodies.collect()
        }
        "server" => {
            let calls = (10..24).map(|operation| packet(1, operation, &bodies[usize::from(operation)]));
            let mut streams: Vec<_> = calls.collect();
            for operation in 21..24 {
                let open = packet(5, 2, &[9, operation]);
                let range = packet(5, 2, &[8, 0, 0x0d, 0, 0x0d, 6]);
                streams.push([open.clone(), range.clone(), packet(5, 2, &[])].concat());
                streams.push([hello_packet(), open, range, packet(5, 7, &[]), packet(5, 5, &[10])].concat());
            }
            streams.extend(frames.windows(2).map(<[_]>::concat));
            streams.extend(frames.iter().map(|frame| [hello_packet(), frame.clone()].concat()));
            numbered(&streams, &|number| vec![number.wrapping_mul(2)])
        }
        "client" => {
            let replies: [&[u8]; 6] =
                [&[8, 0, 0x0d, 4, 0x0d, 4], &[8, 0, 5, 0], &[6, 5, 0x0a, 2, b'n', b'o'], &[8], &[9, 21], &[]];
            let mut streams = Vec::new();
            for reply in replies {
                for (id, operation) in [(0, 18), (1, 17), (0, 17), (1, 2), (2, 2)] {
                    let pong = if id == 0 { hello_packet() } else { packet(0, 1, &[]) };
                    streams.push([pong, packet(id, operation, reply), packet(id, operation, reply)].concat());
                }
            }
            streams.extend(frames.windows(2).map(<[_]>::concat));
            numbered(&streams, &|number| vec![number.wrapping_mul(2)])
        }
        "packed" => numbered(&packed(&bodies), &|number| vec![number.wrapping_mul(2)]),
        "two_way" => numbered(&two_way(&bodies), &|number| vec![number.wrapping_mul(8) | number >> 3 & 6]),
        "hand_off" => numbered(&hand_offs(), &|number| vec![number.wrapping_mul(8) | number >> 3 & 6]),
        "broker" | "subscriber" => numbered(&pubsub(), &|number| vec![number.wrapping_mul(8) | number >> 3 & 6]),
        "hpack" => field_blocks(),
        "http2" => {
            let mut rng = Rng::with_seed(2);
            (0..60).map(|length| (0..4 * length).map(|_| rng.u8(..)).collect()).collect()
        }
        "json" => numbered(&texts(), &|number| vec![number]),
        "dynamic" => dynamic(),
        "json_rpc" => numbered(&json_rpc(), &|number| vec![number.wrapping_mul(2)]),
        "layout" => layouts(),
        "tensor" => tensors(),
        "shared_memory" => shared_memory(),
        _ => protos(),
    }
}

/// Returns messages that negotiate shared memory, and actions of a peer on it. The actions write bytes, and positions
/// that are valid, at the end of a ring, or impossible.
fn shared_memory() -> Vec<Vec<u8>> {
    let message = |message_kind: u8| [b"\xF5SHM\xFF\xFF\r\n\0\x01\0".as_slice(), &[message_kind, 0, 1, 0, 0]].concat();
    let step = |kind: u8, value: u32| [&[kind][..], &value.to_be_bytes()].concat();
    let round = |at: u32| [step(2, at), step(0, at + 299), step(4, 299), step(3, 299), step(1, at + 299)].concat();
    let rounds = |count: u32| (0..count).flat_map(|number| round(number * 299)).collect::<Vec<u8>>();
    let impossible = [4097, u32::MAX, 298, 1 << 31].into_iter().flat_map(|claimed| {
        (0..9).map(move |kind| [round(0), step(kind % 2, claimed), step(3 + kind % 2, u32::from(kind))].concat())
    });
    (0..7).map(message).chain((1..20).map(rounds)).chain(impossible).collect()
}

/// Returns JSON, and the same messages as bodies in both encodings.
fn dynamic() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for text in texts() {
        if let Ok(message) = frpc::json::from_json::<All>(&text) {
            for form in [Form::Flat, Form::Extended] {
                let mut seed = vec![1];
                // An enum number without a name cannot always be encoded.
                if encode_root(&message, &mut Encoder::new(&mut seed).with_form(form)).is_ok() {
                    seeds.push(seed);
                }
            }
        }
        seeds.push([&[0], &text[..]].concat());
    }
    seeds
}

/// Returns `.npy` files, and tensors and images as JSON.
fn tensors() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (descriptor, size) in [("<f4", 4), (">i2", 2), ("|b1", 1), ("<c16", 16), ("|O", 8), ("<U1", 4)] {
        for (shape, count) in [("()", 1), ("(2,)", 2), ("(2, 3)", 6), ("(0, 4294967295)", 0)] {
            for order in ["False", "True"] {
                let header = format!("{{'descr': '{descriptor}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
                let version: &[u8] = if size > 2 { &[1, 0] } else { &[2, 0] };
                let length = &(header.len() as u32).to_le_bytes()[..2 * usize::from(version[0])];
                let data = vec![1; size * count];
                seeds.push([b"\x00\x93NUMPY", version, length, header.as_bytes(), &data].concat());
            }
        }
    }
    for (form, text) in [
        (1, r#"{"dtype":"<f4","shape":[2],"data":"AACAPwAAAEA="}"#),
        (1, r#"{"data":[[1,2.5,-3e2],["NaN","-Infinity","7"]]}"#),
        (1, r#"{"dtype":"float16","shape":[2,1],"data":[[1],[65504]]}"#),
        (1, r#"{"dtype":"bool","data":[true,false]}"#),
        (1, "[[[]],[[]]]"),
        (1, "[18446744073709551615,1]"),
        (1, r#""k05VTVBZAQB2AHsnZGVzY3InOiAnPGYyJ30=""#),
        (2, r#"["int32",[2],[1,2]]"#),
        (3, r#"{"mediaType":"image/png","data":"iVBORw=="}"#),
        (3, r#""data:image/png;base64,iVBORw==""#),
    ] {
        seeds.push([&[form][..], text.as_bytes()].concat());
    }
    seeds
}

/// Returns messages in zstd frames, as requests and as stream messages.
fn packed(bodies: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let open = packet(5, 2, &[9, 23]);
    let mut streams = vec![[hello_packet(), packet(1, 16, EXAMPLE), open.clone(), packet(5, 2, EXAMPLE)].concat()];
    for operation in 10..24 {
        let body = &bodies[usize::from(operation)];
        for whole in [body.clone(), body.repeat(20)] {
            let frame = zstd::bulk::compress(&whole, 1).expect("memory should be available");
            let packed = frisbee_tests::packed::body(whole.len() as u64, &frame);
            streams.push([hello_packet(), packet(1, operation, &packed)].concat());
            streams.push([hello_packet(), open.clone(), packet(5, 2, &packed), packet(5, 7, &[])].concat());
        }
    }
    streams
}

/// Returns calls made by the accepting end, and replies to them.
fn two_way(bodies: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let marked = |id: u16, operation, body: &[u8]| packet(0x8000 | id, operation, body);
    let mut streams = Vec::new();
    for operation in 10..24 {
        let body = &bodies[usize::from(operation)];
        streams.push([hello_packet(), marked(operation, operation, body)].concat());
        streams.push([hello_packet(), marked(0, operation, body), packet(0x8000, 6, &[10])].concat());
    }
    for reply in [&[8, 0, 0x0d, 4, 0x0d, 4][..], &[6, 5, 0x0a, 2, b'n', b'o'], &[0], &[]] {
        for (id, operation) in [(0, 18), (1, 17), (0, 17), (0x8000, 2), (0x8001, 2), (1, 2)] {
            streams.push([hello_packet(), marked(id, operation, reply), packet(id, operation, reply)].concat());
        }
    }
    streams
}

/// Returns packets of both ends of a hand-off, and the bytes after it.
fn hand_offs() -> Vec<Vec<u8>> {
    let behind = b"what is no packet";
    let mut streams = Vec::new();
    for first in 0..5 {
        let answer = packet(0, 8, &[&[first][..], b"ok"].concat());
        let hand_off_request = packet(0, 8, &[10, first, b'x']);
        let by_packet = packet(1, 10, &[first]);
        for bytes in [answer, hand_off_request, by_packet] {
            streams.push([hello_packet(), bytes.clone()].concat());
            streams.push([&hello_packet()[..], &bytes, behind].concat());
            streams.push([&hello_packet()[..], &packet(1, 10, &[1]), &bytes, &packet(0, 0, &[]), &bytes].concat());
        }
    }
    streams.push([hello_packet(), packet(1, 2, &[9, 10]), packet(0, 8, &[10, 0])].concat());
    streams
}

/// Returns HTTP/2 field blocks. Each is preceded by its length.
fn field_blocks() -> Vec<Vec<u8>> {
    let representations: [&[u8]; 12] = [
        &[0x82],
        &[0xbe],
        &[0xc0],
        b"\x40\x0acustom-key\x0dcustom-header",
        b"\x04\x0c/sample/path",
        b"\x10\x08password\x06secret",
        b"\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff",
        b"\x58\x86\xa8\xeb\x10\x64\x9c\xbf",
        &[0x20],
        &[0x3f, 0xe1, 0x1f],
        &[0x7f, 0x00, 0x00],
        &[0x5f, 0x81, 0xff],
    ];
    let block = |parts: &[&[u8]]| [&[parts.concat().len() as u8], &parts.concat()[..]].concat();
    let pairs = (0..12).flat_map(|one| (0..12).map(move |other| [one, other]));
    let stories = pairs.map(|pair| {
        let [one, other] = pair.map(|at| representations[at]);
        [block(&[one, other]), block(&[other]), block(&[one, one, &[0xbe]])].concat()
    });
    stories.collect()
}

/// Returns packets between clients and brokers.
fn pubsub() -> Vec<Vec<u8>> {
    let name = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    let first = frisbee_pubsub::FIRST_OPERATION;
    let topics = ["a.b", "a.>", "*.b", ">", "a", "a..b", "", "a.*.c", "x.y.z.x.y.z"];
    let mut streams = Vec::new();
    for (id, topic) in (1..).zip(topics) {
        let subscribe = packet(id, first, &name(topic));
        let in_group = packet(id, first, &[&name(topic)[..], b"group"].concat());
        let message = packet(0, first + 2, &[&name(topic)[..], &[b'x'; 100]].concat());
        let leave = packet(id, first + 1, &[]);
        streams.push([hello_packet(), subscribe.clone(), message.repeat(5), leave.clone()].concat());
        streams.push([in_group.clone(), message.repeat(3), packet(7, first + 3, &[]), leave].concat());
        streams.push([subscribe.clone(), subscribe, in_group, message.repeat(30)].concat());
    }
    let position = |topic: &str, offset: u8| [&name(topic)[..], &7_u64.to_be_bytes(), &[offset]].concat();
    for (id, topic) in (1..).zip(["a.b", "a.>", "$presence.a.b"]) {
        for start in 0..4 {
            let follow = packet(id, first + 6, &[&name(topic)[..], &[start], &position("a.b", start)].concat());
            let message = packet(0, first + 2, &[&name("a.b")[..], b"hi"].concat());
            streams.push([hello_packet(), message.repeat(2), follow, message, packet(id, first + 1, &[])].concat());
        }
        // Packets of the broker: the reply, the position and the messages of a history, and the next message for all
        // subscriptions.
        let answer = packet(id, first + 6, &[&[0, 1][..], &7_u64.to_be_bytes(), &[1]].concat());
        let replayed = packet(id, first + 2, &[&name("a.b")[..], b"hi"].concat());
        let message = packet(0, first + 2, &[&name("a.b")[..], b"ho"].concat());
        for (own, shared) in [(1, 2), (3, 9), (5, 1)] {
            let positions =
                [packet(id, first + 7, &position("a.b", own)), packet(0, first + 7, &position("a.b", shared))];
            let [own, shared] = positions;
            streams.push(
                [&hello_packet()[..], &answer, &own, &replayed, &message, &shared, &message, &own, &answer].concat(),
            );
        }
    }
    for id in 0..4 {
        let answers = [packet(id, first, &[]), packet(id, first, &[3, b'n', b'o']), packet(id, first + 5, &[1, b'n'])];
        for answer in answers {
            let message = packet(id, first + 2, &[&name("a.b")[..], b"hi"].concat());
            let lagged = packet(0, first + 4, &[7]);
            streams.push(
                [&hello_packet()[..], &answer, &message, &lagged, &packet(id, first + 3, &[]), &message].concat(),
            );
        }
    }
    streams
}

/// Returns JSON-RPC messages: calls of each kind, batches, and invalid bytes around them.
fn json_rpc() -> Vec<Vec<u8>> {
    let call = |id: &str, method: &str, rest: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"interop.Interop/{method}"{rest}}}"#)
    };
    let notice = |method: &str, params: &str| format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
    let add = call("1", "Add", r#","params":{"a":1,"b":"41"}"#);
    let item = notice("rpc.item", r#"{"id":1,"item":{"value":"7"}}"#);
    let texts = [
        add.clone(),
        call("\"a\\n\"", "Add", r#","params":[1,2]"#),
        call("1e9", "Fail", r#","params":["no"],"metadata":{"a":"b","c-bin":"AQ=="}"#),
        call("null", "DoNothing", r#","timeoutMs":5"#),
        call("1", "Sleep", r#","params":{"millis":1}"#),
        call("1", "Sleep", r#","params":[60000]"#) + &notice("rpc.cancel", r#"{"id":1}"#),
        call("1", "CountUp", r#","params":[1,40],"credit":2"#) + &notice("rpc.credit", r#"{"id":1,"items":9}"#),
        call("1", "SumUp", "") + &item.repeat(9) + &notice("rpc.end", r#"{"id":1}"#),
        call("1", "Chat", r#","params":[]"#) + &item.repeat(17),
        call("1", "Chat", "") + &item + &call("1", "Chat", ""),
        format!("[{add},{add},7,{}]", call("2", "Sleep", r#","params":[1]"#)),
        format!("[{}]", [&add[..]; 9].join(",")),
        r#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#.to_owned(),
        "[]".to_owned(),
        "{\"a\":".repeat(30),
        "[".repeat(300),
        format!("{add}\n {add}x{add}"),
        r#"{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"m"}"#.to_owned(),
    ];
    let pairs = texts.iter().zip(texts.iter().cycle().skip(3)).map(|(first, second)| format!("{first}\n{second}"));
    texts.iter().cloned().chain(pairs).map(String::into_bytes).collect()
}

/// Returns JSON of every kind of value, each alone and all in one message.
fn texts() -> Vec<Vec<u8>> {
    let fields = [
        r#""flag":true"#,
        r#""small":-2147483648"#,
        r#""largeNumber":"-9223372036854775808""#,
        r#""count":4.294967295e9"#,
        r#""large_count":18446744073709551615"#,
        r#""weight":"-Infinity""#,
        r#""total":-0.0"#,
        r#""name":"\ud83e\udd80\u00e4\n\"""#,
        r#""data":"+_8""#,
        r#""color":"AZURE""#,
        r#""maybe":null"#,
        r#""inner":{"inner":{"name":"x"}}"#,
        r#""parts":[{},{"parts":[]},{"color":7}]"#,
        r#""words":["","a"]"#,
        r#""colors":["DARK",5,"RED"]"#,
        r#""numbers":[1e-7,1.5,"NaN",1e300]"#,
        r#""byName":{"":{},"a\tb":{"flag":true}}"#,
        r#""byNumber":{"-1":"DARK","9223372036854775807":5}"#,
        r#""byFlag":{"true":"","false":"AA=="}"#,
        r#""word":"x""#,
        r#""other":{"null":null}"#,
        r#""anyValue":[null,{"a":[true,1.0,"x"]}]"#,
        r#""any":{"@type":"x/json.All","name":"x","any":{}}"#,
        r#""any":{"value":"1.5s","@type":"x/google.protobuf.Duration"}"#,
        r#""any":{"@type":"x/google.protobuf.Any","value":{"@type":"x/google.protobuf.Empty"}}"#,
        r#""duration":"-315576000000.999999999s""#,
        r#""at":"1972-01-01T10:00:20.021-08:00""#,
        r#""mask":"a.bC,dE""#,
        r#""structure":{"a":{"b":[]},"c":null}"#,
        r#""value":{"a":"b"}"#,
        r#""list":[[],[[]],{}]"#,
        r#""wrapped":"0""#,
        r#""wrappedBytes":"AAECAw""#,
        r#""@other name":1.0"#,
        r#""unknown":[{"a":[1,{"b":null}]},"x",false]"#,
    ];
    let mut texts: Vec<_> = fields.iter().map(|field| format!("{{{field}}}")).collect();
    texts.push(format!("{{{}}}", fields[..19].join(",")));
    texts.push(format!(
        "{{ {} }}",
        fields[20..21].iter().chain(&fields[24..]).copied().collect::<Vec<_>>().join(" ,\n")
    ));
    texts.push(r#"[true, 1, "2", 3, null, 0.5, 1, "x", "AA==", "BLUE", 1, {}, [{}]]"#.to_owned());
    texts.push("{\"inner\":".repeat(30));
    texts.into_iter().map(String::into_bytes).collect()
}

/// Returns pairs of schema versions, with bodies of the first version in both encodings.
fn layouts() -> Vec<Vec<u8>> {
    let field = |number, shape, of| Field { number, shape, of };
    let implicit = |number, of| field(number, Shape::Implicit, of);
    let member = |number, member, of| field(number, Shape::Member { oneof: 0, member }, of);
    let list = |number, of| field(number, Shape::Repeated, of);
    let message = |number, of| field(number, Shape::Optional, Type::Message(of));
    let map = |number, key, of| field(number, Shape::Map(key), of);
    let fields = |fields: &[Field]| TypeLayout::Message(fields.to_vec());
    let versions = [
        vec![fields(&[implicit(1, Type::Int32), member(2, 1, Type::String), member(3, 2, Type::Bool), message(4, 0)])],
        vec![
            fields(&[implicit(5, Type::Double), implicit(1, Type::Int64), implicit(3, Type::Enum(1)), message(4, 0)]),
            TypeLayout::Enum(vec![0, 1, 1, -5]),
        ],
        vec![
            fields(&[member(3, 1, Type::Uint64), member(1, 2, Type::Uint32), list(6, Type::Enum(1)), message(4, 0)]),
            TypeLayout::Enum(vec![0, 7, 1]),
        ],
        vec![
            fields(&[implicit(3, Type::Bool), list(6, Type::Int32), list(7, Type::Message(1)), message(4, 0)]),
            fields(&[implicit(2, Type::Bytes), implicit(1, Type::Int32)]),
        ],
        vec![
            fields(&[list(6, Type::Enum(1)), map(7, Type::Int64, Type::String), message(4, 0)]),
            TypeLayout::Enum(vec![0, 1]),
        ],
    ];
    let bodies: [&[&[u8]]; 5] = [
        &[
            b"\x08\x00\x0c\x02\x03\x01\x05\x0a\x02hi\x08\x00\x0c\x00\x03\x02\x07\x01\x00",
            b"\x08\x00\x0c\x02\x05\x0a\x00\x07\x01\x00",
            b"\x08\x00\x0c\x02\x03\x00\x00",
        ],
        &[b"\x08\x00\x0f\x3f\xf0\x00\x00\x00\x00\x00\x00\x0d\xff\x01\x0a\x03\x00"],
        &[
            b"\x08\x00\x03\x01\x0b\xac\x02\x01\x0a\x0a\x03\x0a\x01\x0c\x0e\x0a\x02\x00",
            b"\x08\x00\x0b\x00\x0a\x05\x01\x0a\x0a\x00\x08\x00\x0b\x01\x0a\x00\x01\x0a\x0a\x00\x00",
        ],
        &[b"\x08\x00\x07\x01\x01\x0c\x0a\x02\x0c\x02\x0c\x01\x01\x03\x0a\x02\x00\x08\x00\x04\x0a\x01a\x0c\x02\x00"],
        &[b"\x08\x00\x01\x0a\x0a\x01\x0a\x01\x02\x0d\x05\x0a\x02\x0d\x02\x05\x0a\x01a\x0d\x02\x05\x0a\x00\x00"],
    ];
    let described = versions.map(|types| {
        let bytes = Description { name: "m".to_owned(), types, methods: Vec::new() }.encode();
        let length = u16::try_from(bytes.len()).expect("description should be short");
        [&length.to_le_bytes()[..], &bytes].concat()
    });
    let mut seeds = Vec::new();
    for (writer, bodies) in described.iter().zip(bodies) {
        for (reader, body) in described.iter().flat_map(|reader| bodies.iter().map(move |body| (reader, body))) {
            seeds.push([writer, reader, *body].concat());
        }
    }
    seeds
}

fn hello_packet() -> Vec<u8> {
    hello(2)
}

/// Returns a HELLO with many items of higher layers.
fn hello(items: u8) -> Vec<u8> {
    let item = |kind| (32 + kind, vec![kind; usize::from(kind)].into());
    let config = frisbee_core::ClientConfig::default().hello_items((0..items).map(item).collect());
    let now = std::time::Instant::now();
    let mut core = frisbee_core::Connection::client(&config, now);
    let begins = core.outbox().take_bytes();
    begins[..begins.len() - 10].to_vec() // Without the PING behind it.
}

fn vectors() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("wire/vectors.json");
    serde_json::from_slice(&fs::read(path).expect("file should be readable")).expect("bytes should be valid JSON")
}

fn hexes(of: &str) -> Vec<Vec<u8>> {
    let vectors = vectors();
    let entries = vectors[of].as_array().expect("vectors should be a list");
    entries.iter().filter_map(|entry| unhex(entry["hex"].as_str()?)).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()).collect()
}

fn bodies() -> Vec<Vec<u8>> {
    [hexes("encode"), hexes("decode")].concat()
}

fn frames() -> Vec<Vec<u8>> {
    hexes("frames").into_iter().filter(|frame| !frame.is_empty()).collect()
}

fn protos() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    for folder in ["proto", "../crates/frpc-build/tests/proto", "schemas/proto", "conformance/proto"] {
        let Ok(entries) = fs::read_dir(root.join(folder)) else { continue };
        let mut paths: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        paths.sort();
        let texts_here = paths.iter().filter(|path| path.extension().is_some_and(|is| is == "proto"));
        texts.extend(texts_here.filter_map(|path| fs::read(path).ok()));
    }
    // Fuzzers mutate short pieces better than whole files.
    let head = b"syntax = \"proto3\";\npackage test;\n".to_vec();
    let mut pieces = Vec::new();
    for text in &texts {
        let text = String::from_utf8_lossy(text);
        for block in text.split("\n}\n").filter(|block| block.contains('{')) {
            let from = block.find("message ").or_else(|| block.find("enum ")).or_else(|| block.find("service "));
            if let Some(from) = from {
                pieces.push([&head, &block.as_bytes()[from..], b"\n}\n"].concat());
            }
        }
    }
    pieces.extend(texts.into_iter().filter(|text| text.len() < 1_500));
    pieces
}

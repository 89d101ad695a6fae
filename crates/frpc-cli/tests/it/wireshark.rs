//! Tests of the Wireshark dissector: tshark reads captures whose segments are split at all positions.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// Port of the server in the captures.
const PORT: u16 = 9000;

/// Returns whether tshark is installed. Panics if it is required but missing.
fn has_tshark() -> bool {
    let is_there = Command::new("tshark").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !is_there {
        assert!(
            env::var_os("FRISBEE_REQUIRE_TSHARK").is_none_or(|value| value != "1"),
            "tshark should be installed, because FRISBEE_REQUIRE_TSHARK is set"
        );
        println!("skipped: there is no tshark");
    }
    is_there
}

/// Writes the dissector for the methods of a schema to a file, and returns its path.
fn dissector(folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_frpc"));
    command.current_dir(root.join("examples")).env_remove("FRPC_SERVER");
    let output =
        command.args(["decode", "--wireshark", "-p", "proto/greet.proto"]).output().expect("process should start");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = folder.join("frpc.lua");
    fs::write(&path, output.stdout).expect("dissector should be written");
    path
}

fn frame(id: u16, operation: u16, body: &[u8], is_old: bool) -> Vec<u8> {
    let mut out = if is_old { Vec::new() } else { vec![0, 0x0f] };
    out.extend(id.to_be_bytes());
    out.extend(operation.to_be_bytes());
    out.extend(u32::try_from(body.len()).expect("length should fit u32").to_be_bytes());
    out.extend(body);
    out
}

/// Returns the packets that a client and its server send alternately, beginning with the client.
fn conversation(is_old: bool) -> [Vec<u8>; 2] {
    let one = |id, operation, body: &[u8]| frame(id, operation, body, is_old);
    let client = [
        one(0, 3, b"fris\x01\x02\x01\x05\x04\x01\x40\x23\x01\x01\xf0\x02\x01\x02\x21\x0e\x0dgreet.Greeter"),
        one(7, 10, b"\x10\x09\x01\x02\xe8\x07\x02\x03\x01aXYZ\x08\x00\x05\x0a\x03you"),
        one(1, 2, b"\x09\x0b"),
        one(1, 2, b"\x08\x00"),
        one(1, 2, b""),
        one(9, 6, b"\x0a"),
    ];
    let server = [
        one(7, 10, b"\x10\x03\x03\x01\x05\x06\x05\x0a\x02no"),
        one(1, 7, b"\x05late"),
        one(0, 4, b""),
        one(0, 77, b"\x08\x00"),
    ];
    [client.concat(), server.concat()]
}

/// The frames that tshark must show for each direction, regardless of how the stream is split.
const SHOWN: [&str; 2] = [
    "HELLO; request 7 greet.Greeter/Greet; STREAM 1 greet.Greeter/Recite; STREAM 1 greet.Greeter/Recite; \
     STREAM 1 greet.Greeter/Recite; CANCEL 9 greet.Greeter/Greet",
    "reply 7 greet.Greeter/Greet NOT_FOUND; END 1; GOING_AWAY; reply 0 operation 77",
];

/// A capture of raw IP packets in the classic pcap format.
struct Capture {
    bytes: Vec<u8>,
    time: u32,
}

impl Capture {
    fn new() -> Self {
        let mut bytes = Vec::new();
        for number in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101] {
            bytes.extend(number.to_le_bytes());
        }
        Self { bytes, time: 0 }
    }

    /// Adds a segment of a connection, identified by its client's port.
    fn segment(&mut self, client: u16, from_client: bool, sequence: u32, data: &[u8]) {
        let ports = if from_client { [client, PORT] } else { [PORT, client] };
        let addresses: [u8; 8] = if from_client { [10, 0, 0, 1, 10, 0, 0, 2] } else { [10, 0, 0, 2, 10, 0, 0, 1] };
        let total = u16::try_from(40 + data.len()).expect("segment length should fit in u16");
        let mut packet = vec![0x45, 0];
        packet.extend(total.to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        packet.extend(addresses);
        packet.extend(ports.into_iter().flat_map(u16::to_be_bytes));
        packet.extend(sequence.to_be_bytes());
        packet.extend([0, 0, 0, 1, 0x50, 0x18, 0x20, 0, 0, 0, 0, 0]);
        packet.extend(data);
        self.time += 1;
        let length = u32::from(total);
        for number in [self.time, 0, length, length] {
            self.bytes.extend(number.to_le_bytes());
        }
        self.bytes.extend(packet);
    }

    /// Adds a connection whose two directions are split into segments at these positions.
    fn connection(&mut self, client: u16, sent: &[Vec<u8>; 2], cuts: [&[usize]; 2]) {
        for ((bytes, cuts), from_client) in sent.iter().zip(cuts).zip([true, false]) {
            let mut offsets = vec![0];
            offsets.extend(cuts);
            offsets.push(bytes.len());
            for pair in offsets.windows(2) {
                let data = &bytes[pair[0]..pair[1]];
                if !data.is_empty() {
                    self.segment(
                        client,
                        from_client,
                        1 + u32::try_from(pair[0]).expect("sequence number should fit in u32"),
                        data,
                    );
                }
            }
        }
    }
}

/// Runs tshark on a capture and returns the fields of the packets that contain frames.
fn fields(folder: &Path, lua: &Path, capture: &[u8], by_port: bool, fields: &[&str]) -> String {
    let path = folder.join("capture.pcap");
    fs::write(&path, capture).expect("capture file should be written");
    let mut command = Command::new("tshark");
    command.env("HOME", folder).arg("-r").arg(&path).arg("-X").arg(format!("lua_script:{}", lua.display()));
    if by_port {
        command.args(["-d", &format!("tcp.port=={PORT},frpc")]);
    }
    command.args(["-Y", "frpc", "-T", "fields"]).args(fields.iter().flat_map(|field| ["-e", field]));
    let output = command.args(["-E", "aggregator=;"]).output().expect("process should start");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!errors.contains("Lua") && !text.contains("Lua"), "{errors}\n{text}");
    text.into_owned()
}

/// Returns the frames that tshark finds in a capture, by connection and direction. Connections are identified by the
/// client's port.
fn shown(folder: &Path, lua: &Path, capture: &[u8], by_port: bool) -> Vec<(u16, [Vec<String>; 2])> {
    let text = fields(folder, lua, capture, by_port, &["tcp.srcport", "tcp.dstport", "frpc.name"]);
    let mut found: Vec<(u16, [Vec<String>; 2])> = Vec::new();
    for line in text.lines() {
        let mut columns = line.split('\t');
        let mut port = || columns.next().and_then(|port| port.parse::<u16>().ok()).expect("column should be a port");
        let (from, to) = (port(), port());
        let names = columns.next().unwrap_or_default().split(';').filter(|name| !name.is_empty()).map(str::to_owned);
        let (client, side) = if to == PORT { (from, 0) } else { (to, 1) };
        if !found.iter().any(|(port, _)| *port == client) {
            found.push((client, Default::default()));
        }
        let (_, sides) = found.iter_mut().find(|(port, _)| *port == client).expect("connection should have been added");
        sides[side].extend(names);
    }
    found
}

fn check(found: &[(u16, [Vec<String>; 2])], count: usize) {
    assert_eq!(found.len(), count);
    for (client, sides) in found {
        for (side, names) in sides.iter().enumerate() {
            assert_eq!(names.join("; "), SHOWN[side], "frames of connection {client}, side {side}, should be shown");
        }
    }
}

#[test]
fn dissection_ignores_segments_and_header_form() {
    if !has_tshark() {
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let lua = dissector(folder.path());
    for is_old in [false, true] {
        let sent = conversation(is_old);
        let mut capture = Capture::new();
        let longest = sent.iter().map(Vec::len).max().expect("two connections should have sent data");
        for at in 0..longest {
            let client = 10_000 + u16::try_from(at).expect("port offset should fit in u16");
            let cut = |side: usize| [at.min(sent[side].len())];
            capture.connection(client, &sent, [&cut(0), &cut(1)]);
        }
        // Each byte is sent in a separate segment.
        let all = |side: usize| (1..sent[side].len()).collect::<Vec<_>>();
        capture.connection(9999, &sent, [&all(0), &all(1)]);
        check(&shown(folder.path(), &lua, &capture.bytes, true), longest + 1);
    }
}

/// Regression test: a stream was shown with the method of an earlier stream that had the same id.
#[test]
fn reused_stream_id_has_new_method() {
    if !has_tshark() {
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let lua = dissector(folder.path());
    let frames: [(u16, &[u8]); 3] = [(2, b"\x09\x0b"), (7, b""), (2, b"\x09\x0a")];
    let client = frames.map(|(operation, body)| frame(1, operation, body, false)).concat();
    let mut capture = Capture::new();
    capture.connection(20_000, &[client, Vec::new()], [&[], &[]]);
    let names = fields(folder.path(), &lua, &capture.bytes, true, &["frpc.name"]);
    assert_eq!(names.trim(), "STREAM 1 greet.Greeter/Recite;END 1;STREAM 1 greet.Greeter/Greet");
}

#[test]
fn only_current_connections_are_recognised_on_any_port() {
    if !has_tshark() {
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let lua = dissector(folder.path());
    let mut capture = Capture::new();
    capture.connection(20_000, &conversation(false), [&[30], &[20]]);
    let http = [b"GET / HTTP/1.1\r\n\r\n".to_vec(), b"HTTP/1.1 200 OK\r\n\r\n".to_vec()];
    capture.connection(20_001, &http, [&[], &[]]);
    check(&shown(folder.path(), &lua, &capture.bytes, false), 1);
}

#[test]
fn damaged_captures_cause_no_script_error() {
    if !has_tshark() {
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let lua = dissector(folder.path());
    let mut capture = Capture::new();
    let mut random = fastrand::Rng::with_seed(1);
    for client in 0..300 {
        let mut bytes: Vec<u8> = (0..random.usize(1..120)).map(|_| random.u8(..)).collect();
        if random.bool() {
            bytes = frame(random.u16(..3), random.u16(..12), &bytes, false);
        }
        capture.connection(30_000 + client, &[bytes.clone(), bytes], [&[], &[]]);
    }
    // Each packet was truncated: its record is shorter than the length in its header.
    let sent = conversation(false);
    for length in 1..sent[0].len() {
        let at = capture.bytes.len();
        capture.segment(40_000 + u16::try_from(length).expect("packet length should fit in u16"), true, 1, &sent[0]);
        let captured = 40 + length;
        capture.bytes[at + 8..at + 12]
            .copy_from_slice(&u32::try_from(captured).expect("captured length should fit in u32").to_le_bytes());
        capture.bytes.truncate(at + 16 + captured);
    }
    let found = shown(folder.path(), &lua, &capture.bytes, true);
    assert!(found.len() > 300, "{}", found.len());
    for end in [capture.bytes.len() - 7, capture.bytes.len() - 30] {
        shown(folder.path(), &lua, &capture.bytes[..end], true);
    }
}

#[test]
fn compressed_message_length_is_shown() {
    if !has_tshark() {
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let lua = dissector(folder.path());
    let compressed = b"\x10\x02\x05\x00\x11\xb6\x09\x28\xb5\x2f\xfd\x60";
    let mut capture = Capture::new();
    capture.connection(20_000, &[frame(7, 10, compressed, false), frame(1, 2, &compressed[4..], false)], [&[], &[]]);
    let text = fields(folder.path(), &lua, &capture.bytes, true, &["frpc.compressed"]);
    assert_eq!(text.split_whitespace().flat_map(|line| line.split(',')).collect::<Vec<_>>(), ["1206"; 2], "{text}");
}

/// Regression test: only the fragments were shown, without the packet that they contain.
#[test]
fn packet_in_fragments_is_joined() {
    if !has_tshark() {
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let lua = dissector(folder.path());
    let one = |body: &[u8]| frame(7, 3, body, false);
    // A request, and on another channel a message that opens a stream.
    let client = [one(b"\x00\x0a\x07\x08\x08\x00\x05"), one(b"\x01\x02\x01\x02\x09"), one(b"\x01\x0b")];
    let client = [&client.concat()[..], &one(b"\x00\x0a\x03you")].concat();
    let server = [one(b"\x00\x0a\x07\x0b\x10\x03"), one(b"\x00\x03\x01\x05\x06\x05\x0a\x02no")].concat();
    for cut in [0, 13, 30] {
        let mut capture = Capture::new();
        capture.connection(20_000, &[client.clone(), server.clone()], [&[cut], &[cut]]);
        let text = fields(folder.path(), &lua, &capture.bytes, true, &["frpc.name"]);
        let names: Vec<_> = text.split(['\n', ';']).filter(|name| !name.is_empty()).collect();
        let stream = "FRAGMENT, STREAM 1 greet.Greeter/Recite";
        let request = "FRAGMENT, request 7 greet.Greeter/Greet";
        let reply = "FRAGMENT, reply 7 greet.Greeter/Greet NOT_FOUND";
        assert_eq!(names, ["FRAGMENT", "FRAGMENT", stream, request, "FRAGMENT", reply], "{text}");
    }
}

#[test]
fn trace_context_of_call_is_shown() {
    if !has_tshark() {
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let lua = dissector(folder.path());
    let item = [&[0x10, 27, 6, 25][..], &[0x4b; 16], &[0x0f; 8], &[1], b"\x08\x00\x05\x0a\x03you"].concat();
    let mut capture = Capture::new();
    capture.connection(20_000, &[frame(7, 10, &item, false), Vec::new()], [&[], &[]]);
    let text = fields(folder.path(), &lua, &capture.bytes, true, &["frpc.trace", "frpc.span", "frpc.sampled"]);
    let columns: Vec<_> = text.trim().split('\t').collect();
    let is_true = |text: &str| ["1", "True"].contains(&text);
    assert_eq!(columns[..2], ["4b".repeat(16), "0f".repeat(8)], "{text}");
    assert!(is_true(columns[2]), "{text}");
}

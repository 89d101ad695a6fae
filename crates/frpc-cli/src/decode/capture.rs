//! Reader for captures in the classic pcap format. It reassembles their TCP connections.
//!
//! Supports Ethernet, raw IP, BSD loopback and Linux's cooked captures, with IPv4 and IPv6.

use std::collections::{BTreeMap, HashMap};

/// Maximum length in bytes of a captured packet.
const PACKET_MAX: usize = 1 << 20;

/// Maximum number of bytes that are buffered in each direction of a connection because earlier bytes have not arrived.
const EARLY_MAX: usize = 16 << 20;

/// One end of a TCP connection: IP address and port.
pub(crate) type End = (Vec<u8>, u16);

/// Consecutive bytes that were sent in one direction of a TCP connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CapturedBytes {
    pub(crate) from: End,
    pub(crate) to: End,
    pub(crate) bytes: Vec<u8>,
    /// Whether the capture lacks bytes that were sent before these.
    pub(crate) is_behind_gap: bool,
    /// Number of earlier connections in the capture between the same addresses and ports.
    pub(crate) earlier: u32,
}

/// Parses a capture. Returns the bytes of its TCP connections, in the order of sending for each direction.
pub(crate) fn pieces(capture: &[u8]) -> Result<Vec<CapturedBytes>, String> {
    let magic: [u8; 4] = capture.get(..4).and_then(|magic| magic.try_into().ok()).ok_or("truncated")?;
    let is_little = match magic {
        [0xd4, 0xc3, 0xb2, 0xa1] | [0x4d, 0x3c, 0xb2, 0xa1] => true,
        [0xa1, 0xb2, 0xc3, 0xd4] | [0xa1, 0xb2, 0x3c, 0x4d] => false,
        [0x0a, 0x0d, 0x0d, 0x0a] => {
            return Err(
                "unsupported format pcapng: convert it by `editcap -F pcap IN OUT`, or capture by `tcpdump -w`"
                    .to_owned(),
            );
        }
        _ => return Err("not a capture file".to_owned()),
    };
    let u32_at = |at: usize| -> Option<u32> {
        let bytes: [u8; 4] = capture.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    };
    let link = u32_at(20).ok_or("truncated")? & 0xffff;
    let mut order = Order::default();
    let mut at = 24;
    while let Some(length) = u32_at(at + 8) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > PACKET_MAX {
            return Err(format!("invalid packet length {length}"));
        }
        let start = at + 16;
        // The last packet may be truncated.
        let Some(packet) = capture.get(start..start + length) else { break };
        if let Some(segment) = internet(link, packet).and_then(segment) {
            order.add(segment);
        }
        at = start + length;
    }
    order.flush();
    Ok(order.pieces)
}

/// Returns the IP packet in a frame of the link layer. `link` is the type of the link layer.
fn internet(link: u32, packet: &[u8]) -> Option<&[u8]> {
    match link {
        // Skip the address family.
        0 | 108 => packet.get(4..),
        1 => {
            let mut rest = packet.get(12..)?;
            loop {
                match rest {
                    // Skip VLAN tags.
                    [0x81, 0x00, _, _, behind @ ..] | [0x88, 0xa8, _, _, behind @ ..] => rest = behind,
                    [0x08, 0x00, ip @ ..] | [0x86, 0xdd, ip @ ..] => return Some(ip),
                    _ => return None,
                }
            }
        }
        12 | 101 | 228 | 229 => Some(packet),
        113 => packet.get(16..),
        276 => packet.get(20..),
        _ => None,
    }
}

struct TcpSegment<'a> {
    from: End,
    to: End,
    sequence: u32,
    is_syn: bool,
    is_ack: bool,
    bytes: &'a [u8],
}

/// Returns the TCP segment in an IP packet.
fn segment(ip: &[u8]) -> Option<TcpSegment<'_>> {
    let (from, to, tcp) = match ip.first()? >> 4 {
        4 => {
            let head = usize::from(ip.first()? & 15) * 4;
            let total = usize::from(u16::from_be_bytes([*ip.get(2)?, *ip.get(3)?]));
            let offset = u16::from_be_bytes([*ip.get(6)?, *ip.get(7)?]) & 0x1fff;
            if *ip.get(9)? != 6 || offset != 0 {
                return None;
            }
            // The packet may be padded. A length of 0 means that the network card computes the length.
            let end = if total == 0 { ip.len() } else { total.min(ip.len()) };
            (ip.get(12..16)?, ip.get(16..20)?, ip.get(head..end)?)
        }
        6 if *ip.get(6)? == 6 => {
            let length = usize::from(u16::from_be_bytes([*ip.get(4)?, *ip.get(5)?]));
            let end = if length == 0 { ip.len() } else { (40 + length).min(ip.len()) };
            (ip.get(8..24)?, ip.get(24..40)?, ip.get(40..end)?)
        }
        _ => return None,
    };
    let port = |at: usize| Some(u16::from_be_bytes([*tcp.get(at)?, *tcp.get(at + 1)?]));
    let sequence: [u8; 4] = tcp.get(4..8)?.try_into().ok()?;
    let head = usize::from(tcp.get(12)? >> 4) * 4;
    Some(TcpSegment {
        from: (from.to_vec(), port(0)?),
        to: (to.to_vec(), port(2)?),
        sequence: u32::from_be_bytes(sequence),
        is_syn: tcp.get(13)? & 2 != 0,
        is_ack: tcp.get(13)? & 16 != 0,
        bytes: tcp.get(head..)?,
    })
}

/// Restores the order of the bytes of all captured TCP connections.
#[derive(Default)]
struct Order {
    directions: HashMap<(End, End), Direction>,
    pieces: Vec<CapturedBytes>,
}

struct Direction {
    /// Sequence number of the SYN, or `None` if the capture begins later.
    opening: Option<u32>,
    /// Like [`CapturedBytes::earlier`].
    earlier: u32,
    /// Sequence number of the byte that is expected next.
    next: u32,
    /// Segments that arrived too early, by their distance from `next` at the time of arrival.
    early: BTreeMap<u32, Vec<u8>>,
    early_bytes: usize,
}

impl Order {
    fn add(&mut self, segment: TcpSegment<'_>) {
        let key = (segment.from, segment.to);
        if segment.is_syn {
            self.open(key, segment.sequence, segment.is_ack);
            return;
        }
        if segment.bytes.is_empty() {
            return;
        }
        // A capture may begin in the middle of a connection.
        let opposite = self.directions.get(&(key.1.clone(), key.0.clone()));
        let earlier = opposite.map_or(0, |opposite| opposite.earlier);
        let fresh = || Direction::new(None, earlier, segment.sequence);
        let direction = self.directions.entry(key.clone()).or_insert_with(fresh);
        direction.early_bytes += segment.bytes.len();
        let buffered = direction.early.entry(segment.sequence).or_default();
        if buffered.len() < segment.bytes.len() {
            *buffered = segment.bytes.to_vec();
        }
        let is_full = direction.early_bytes > EARLY_MAX;
        direction.drain(&key, is_full, &mut self.pieces);
    }

    /// Begins one direction of a connection, at its SYN. Clients may reuse the port of an earlier connection.
    fn open(&mut self, key: (End, End), sequence: u32, is_ack: bool) {
        let own = self.directions.get(&key);
        if own.is_some_and(|own| own.opening == Some(sequence)) {
            return; // A retransmission.
        }
        let opposite_key = (key.1.clone(), key.0.clone());
        let opposite = self.directions.get(&opposite_key);
        let is_opened = own.is_none_or(|own| own.opening.is_none()) && opposite.is_some_and(|it| it.opening.is_some());
        let (own, opposite) = (own.map(|own| own.earlier), opposite.map(|opposite| opposite.earlier));
        let earlier = match (own, opposite) {
            // The SYN of the other end has begun the connection.
            (own, Some(opposite)) if is_ack && (is_opened || own < Some(opposite)) => opposite,
            (own, opposite) => own.max(opposite).map_or(0, |earlier| earlier.saturating_add(1)),
        };
        // Skip the gaps of the previous connection, because its missing bytes will not arrive any more. Forget both of
        // its directions, because the capture may lack the SYN of the other end.
        for key in [&key, &opposite_key] {
            if self.directions.get(key).is_some_and(|before| before.earlier < earlier)
                && let Some(mut before) = self.directions.remove(key)
            {
                before.drain(key, true, &mut self.pieces);
            }
        }
        self.directions.insert(key, Direction::new(Some(sequence), earlier, sequence.wrapping_add(1)));
    }

    fn flush(&mut self) {
        for (key, direction) in &mut self.directions {
            direction.drain(key, true, &mut self.pieces);
        }
    }
}

impl Direction {
    fn new(opening: Option<u32>, earlier: u32, next: u32) -> Self {
        Self { opening, earlier, next, early: BTreeMap::new(), early_bytes: 0 }
    }

    /// Moves buffered segments to `pieces` if they are next in order. If `skip` is set, moves segments after a gap too.
    fn drain(&mut self, key: &(End, End), skip: bool, pieces: &mut Vec<CapturedBytes>) {
        loop {
            // Find the segment that begins first. Sequence numbers up to half of their range before `next` count as
            // earlier.
            let first = self.next.wrapping_add(1 << 31);
            let nearest = self.early.range(first..).next().or_else(|| self.early.first_key_value());
            let Some(at) = nearest.map(|(at, _)| *at) else { break };
            let distance = at.wrapping_sub(self.next).cast_signed();
            if distance > 0 && !skip {
                break;
            }
            let bytes = self.early.remove(&at).unwrap_or_default();
            let overlap = usize::try_from(-i64::from(distance.min(0))).unwrap_or(0);
            let Some(new) = bytes.get(overlap..).filter(|new| !new.is_empty()) else { continue };
            self.next = at.wrapping_add(u32::try_from(bytes.len()).unwrap_or(0));
            let (from, to) = key.clone();
            let (is_behind_gap, earlier) = (distance > 0, self.earlier);
            pieces.push(CapturedBytes { from, to, bytes: new.to_vec(), is_behind_gap, earlier });
        }
        if self.early.is_empty() {
            self.early_bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(sequence: u32, flags: u8, bytes: &[u8]) -> Vec<u8> {
        between([0x30, 0x39, 0x1f, 0x90], [[127, 0, 0, 1], [127, 0, 0, 2]], sequence, flags, bytes)
    }

    /// Returns a packet of the server.
    fn answer(sequence: u32, flags: u8, bytes: &[u8]) -> Vec<u8> {
        between([0x1f, 0x90, 0x30, 0x39], [[127, 0, 0, 2], [127, 0, 0, 1]], sequence, flags, bytes)
    }

    fn between(ports: [u8; 4], hosts: [[u8; 4]; 2], sequence: u32, flags: u8, bytes: &[u8]) -> Vec<u8> {
        let mut tcp = ports.to_vec();
        tcp.extend(sequence.to_be_bytes());
        tcp.extend([0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        tcp.extend(bytes);
        let mut ip = vec![0x45, 0];
        ip.extend(u16::try_from(20 + tcp.len()).unwrap().to_be_bytes());
        ip.extend([0, 0, 0, 0, 64, 6, 0, 0]);
        ip.extend(hosts.concat());
        [ip, tcp].concat()
    }

    fn capture(packets: &[Vec<u8>]) -> Vec<u8> {
        let mut out = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0];
        for packet in packets {
            let length = u32::try_from(packet.len()).unwrap().to_le_bytes();
            out.extend([&[0; 8][..], &length, &length, packet].concat());
        }
        out
    }

    fn text(capture: &[u8]) -> String {
        let pieces = pieces(capture).unwrap();
        assert!(pieces.iter().all(|piece| piece.from == (vec![127, 0, 0, 1], 12345)));
        let mark = |piece: &CapturedBytes| if piece.is_behind_gap { "…" } else { "" };
        pieces.iter().map(|piece| mark(piece).to_owned() + &String::from_utf8_lossy(&piece.bytes)).collect()
    }

    #[test]
    fn segments_are_ordered_across_sequence_wrap() {
        let start = u32::MAX - 2;
        let at = |offset: u32| start.wrapping_add(1).wrapping_add(offset);
        let packets = [
            tcp(start, 2, b""),
            tcp(at(3), 16, b"def"),
            tcp(at(0), 16, b"abc"),
            tcp(at(0), 16, b"abc"),
            tcp(at(4), 16, b"efgh"),
        ];
        assert_eq!(text(&capture(&packets)), "abcdefgh");
    }

    #[test]
    fn bytes_after_gap_are_marked() {
        let packets = [tcp(9, 2, b""), tcp(10, 16, b"ab"), tcp(20, 16, b"xy")];
        assert_eq!(text(&capture(&packets)), "ab…xy");
    }

    /// Regression test: a reused pair of ports continued the earlier connection, and lost its bytes after a gap.
    #[test]
    fn reused_ports_belong_to_new_connection() {
        let first =
            [tcp(9, 2, b""), answer(70, 18, b""), tcp(10, 16, b"ab"), tcp(20, 16, b"xy"), answer(71, 16, b"re")];
        let second = [tcp(500, 2, b""), tcp(500, 2, b""), answer(900, 18, b""), tcp(501, 16, b"cd"), tcp(500, 2, b"")];
        let last = [answer(901, 16, b"ok"), tcp(503, 16, b"ef")];
        let found = pieces(&capture(&[&first[..], &second, &last].concat())).expect("capture should be valid");
        let found: Vec<_> = found
            .iter()
            .map(|piece| (piece.earlier, String::from_utf8_lossy(&piece.bytes).into_owned(), piece.is_behind_gap))
            .collect();
        let piece = |earlier, text: &str, is_behind_gap| (earlier, text.to_owned(), is_behind_gap);
        let before = [piece(0, "ab", false), piece(0, "re", false), piece(0, "xy", true)];
        let after = [piece(1, "cd", false), piece(1, "ok", false), piece(1, "ef", false)];
        assert_eq!(found, [before, after].concat());
    }

    /// Regression test: the bytes of an end whose SYN was missing continued the earlier connection.
    #[test]
    fn reused_ports_are_recognised_by_either_syn() {
        let first = [tcp(9, 2, b""), answer(70, 18, b""), tcp(10, 16, b"ab"), answer(71, 16, b"re")];
        let request = [tcp(501, 16, b"cd"), answer(901, 16, b"ok")];
        let late_ack = [answer(901, 16, b"ok"), answer(900, 18, b""), tcp(501, 16, b"cd")];
        for second in [
            &[&[tcp(500, 2, b"")][..], &request].concat(),
            &[&[answer(900, 18, b"")][..], &request].concat(),
            &[&[tcp(500, 2, b"")][..], &late_ack].concat(),
        ] {
            let found = pieces(&capture(&[&first[..], second].concat())).expect("capture should be valid");
            let of_connection = |earlier| {
                let of = found.iter().filter(|piece| piece.earlier == earlier && !piece.is_behind_gap);
                let mut texts: Vec<_> = of.map(|piece| String::from_utf8_lossy(&piece.bytes).into_owned()).collect();
                texts.sort();
                texts
            };
            assert_eq!(
                (of_connection(0), of_connection(1)),
                (vec!["ab".into(), "re".into()], vec!["cd".into(), "ok".into()])
            );
        }
    }

    #[test]
    fn malformed_captures_do_not_panic() {
        let whole = capture(&[tcp(9, 2, b""), tcp(10, 16, b"abcdef")]);
        for end in 0..whole.len() {
            drop(pieces(&whole[..end]));
        }
        assert!(pieces(b"\x0a\x0d\x0d\x0a....").unwrap_err().contains("editcap"));
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..3000 {
            let mut bytes = whole.clone();
            for _ in 0..3 {
                let at = random.usize(4..bytes.len());
                bytes[at] = random.u8(..);
            }
            drop(pieces(&bytes));
        }
    }
}

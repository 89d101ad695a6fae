//! Layout of frames (RFC 9113, sections 4 and 6). The module `connection` implements their meaning.

use crate::ErrorCode;
use crate::error::ConnectionError;

/// Connection preface of a client, a sequence of 24 octets: RFC 9113, section 3.4.
pub(crate) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Length of a frame header in bytes: RFC 9113, section 4.1.
pub(crate) const HEAD: usize = 9;

/// Minimum and initial value of SETTINGS_MAX_FRAME_SIZE: RFC 9113, section 6.5.2.
pub(crate) const SIZE_LEAST: u32 = 1 << 14;

/// Maximum value of SETTINGS_MAX_FRAME_SIZE: RFC 9113, section 6.5.2.
const SIZE_MOST: u32 = (1 << 24) - 1;

/// Maximum flow-control window: RFC 9113, section 6.9.1.
pub(crate) const WINDOW_MAX: u32 = (1 << 31) - 1;

/// Initial flow-control window: RFC 9113, section 6.9.2.
pub(crate) const WINDOW_INITIAL: u32 = 65_535;

pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const PRIORITY: u8 = 2;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PUSH_PROMISE: u8 = 5;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
}

pub(crate) mod flag {
    pub(crate) const END_STREAM: u8 = 0x1;
    pub(crate) const ACK: u8 = 0x1;
    pub(crate) const END_HEADERS: u8 = 0x4;
    pub(crate) const PADDED: u8 = 0x8;
    pub(crate) const PRIORITY: u8 = 0x20;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameHead {
    pub(crate) length: u32,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
}

impl FrameHead {
    pub(crate) fn parse(bytes: [u8; HEAD]) -> Self {
        let [a, b, c, kind, flags, stream @ ..] = bytes;
        // "This reserved bit MUST be ignored when receiving."
        let stream = u32::from_be_bytes(stream) & WINDOW_MAX;
        Self { length: u32::from_be_bytes([0, a, b, c]), kind, flags, stream }
    }

    pub(crate) fn encode(self) -> [u8; HEAD] {
        let [_, a, b, c] = self.length.to_be_bytes();
        let [d, e, f, g] = self.stream.to_be_bytes();
        [a, b, c, self.kind, self.flags, d, e, f, g]
    }

    /// Returns the length of the whole frame, including its header.
    pub(crate) fn size(self) -> u32 {
        self.length.saturating_add(HEAD as u32)
    }

    pub(crate) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Parses a payload of exactly four bytes as a big-endian number.
pub(crate) fn number(payload: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(payload.try_into().ok()?))
}

/// Returns the field block of a HEADERS frame, without padding and priority. Also returns the id of the stream that
/// this stream depends on, if any.
pub(crate) fn block(head: FrameHead, payload: &[u8]) -> Result<(&[u8], Option<u32>), ConnectionError> {
    const TOO_SHORT: ConnectionError = ConnectionError::frame_size("HEADERS frame is too short for its flags");
    let (mut rest, mut padding) = (payload, 0);
    if head.has(flag::PADDED) {
        let (&length, tail) = rest.split_first().ok_or(TOO_SHORT)?;
        (rest, padding) = (tail, usize::from(length));
    }
    let mut dependency = None;
    if head.has(flag::PRIORITY) {
        let (priority, tail) = rest.split_at_checked(5).ok_or(TOO_SHORT)?;
        dependency = priority.get(..4).and_then(number).map(|stream| stream & WINDOW_MAX);
        rest = tail;
    }
    // Section 6.2: "Padding that exceeds the size remaining for the field block fragment MUST be treated as a
    // connection error of type PROTOCOL_ERROR."
    let length = rest.len().checked_sub(padding).ok_or(ConnectionError::protocol("padding exceeds its frame"))?;
    Ok((rest.get(..length).unwrap_or_default(), dependency))
}

/// Settings that a peer has sent: RFC 9113, section 6.5.2. A setting has its initial value until the peer changes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) header_table_size: u32,
    /// Smallest value of `header_table_size` during the last SETTINGS frame, including the value before the frame.
    pub(crate) header_table_least: u32,
    pub(crate) streams_max: Option<u32>,
    pub(crate) initial_window: u32,
    pub(crate) frame_size_max: u32,
    pub(crate) list_size_max: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            header_table_size: 4096,
            header_table_least: 4096,
            streams_max: None,
            initial_window: WINDOW_INITIAL,
            frame_size_max: SIZE_LEAST,
            list_size_max: u32::MAX,
        }
    }
}

pub(crate) mod setting {
    pub(crate) const HEADER_TABLE_SIZE: u16 = 1;
    pub(crate) const ENABLE_PUSH: u16 = 2;
    pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(crate) const MAX_FRAME_SIZE: u16 = 5;
    pub(crate) const MAX_HEADER_LIST_SIZE: u16 = 6;
    /// Identifier of SETTINGS_ENABLE_CONNECT_PROTOCOL: RFC 8441, section 3.
    pub(crate) const ENABLE_CONNECT_PROTOCOL: u16 = 8;
    /// Identifier of SETTINGS_NO_RFC7540_PRIORITIES: RFC 9218, section 2.1.
    pub(crate) const NO_RFC7540_PRIORITIES: u16 = 9;
}

/// Length of an entry in a SETTINGS frame: a two-byte identifier and a four-byte value.
pub(crate) const SETTING: usize = 6;

impl Settings {
    /// Applies a SETTINGS frame that the peer has sent. `is_client` states whether this end is the client.
    pub(crate) fn apply(&mut self, payload: &[u8], is_client: bool) -> Result<(), ConnectionError> {
        let (entries, rest) = payload.as_chunks::<SETTING>();
        if !rest.is_empty() {
            return Err(ConnectionError::frame_size("length of SETTINGS is not a multiple of 6"));
        }
        self.header_table_least = self.header_table_size;
        for &[a, b, value @ ..] in entries {
            let value = u32::from_be_bytes(value);
            match u16::from_be_bytes([a, b]) {
                setting::HEADER_TABLE_SIZE => {
                    self.header_table_size = value;
                    self.header_table_least = self.header_table_least.min(value);
                }
                // "A server MUST NOT explicitly set this value to 1."
                setting::ENABLE_PUSH if value > u32::from(!is_client) => {
                    return Err(ConnectionError::protocol("invalid value of SETTINGS_ENABLE_PUSH"));
                }
                setting::MAX_CONCURRENT_STREAMS => self.streams_max = Some(value),
                setting::INITIAL_WINDOW_SIZE if value > WINDOW_MAX => {
                    return Err(ConnectionError::flow_control("SETTINGS_INITIAL_WINDOW_SIZE exceeds 2^31 - 1"));
                }
                setting::INITIAL_WINDOW_SIZE => self.initial_window = value,
                setting::MAX_FRAME_SIZE if !(SIZE_LEAST..=SIZE_MOST).contains(&value) => {
                    return Err(ConnectionError::protocol("SETTINGS_MAX_FRAME_SIZE is out of range"));
                }
                setting::MAX_FRAME_SIZE => self.frame_size_max = value,
                setting::MAX_HEADER_LIST_SIZE => self.list_size_max = value,
                setting::ENABLE_CONNECT_PROTOCOL | setting::NO_RFC7540_PRIORITIES if value > 1 => {
                    return Err(ConnectionError::protocol("setting that is neither 0 nor 1"));
                }
                // "An endpoint that receives a SETTINGS frame with any unknown or unsupported identifier MUST ignore
                // that setting."
                _ => {}
            }
        }
        Ok(())
    }
}

pub(crate) fn put_head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    let length = u32::try_from(length).unwrap_or(SIZE_MOST);
    out.extend_from_slice(&FrameHead { length, kind, flags, stream }.encode());
}

pub(crate) fn put_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    put_head(out, settings.len().saturating_mul(SETTING), kind::SETTINGS, 0, 0);
    for (setting, value) in settings {
        out.extend_from_slice(&setting.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

pub(crate) fn put_settings_ack(out: &mut Vec<u8>) {
    put_head(out, 0, kind::SETTINGS, flag::ACK, 0);
}

pub(crate) fn put_ping(out: &mut Vec<u8>, flags: u8, payload: [u8; 8]) {
    put_head(out, payload.len(), kind::PING, flags, 0);
    out.extend_from_slice(&payload);
}

pub(crate) fn put_reset(out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
    put_head(out, 4, kind::RST_STREAM, 0, stream);
    out.extend_from_slice(&code.0.to_be_bytes());
}

pub(crate) fn put_window_update(out: &mut Vec<u8>, stream: u32, credit: u32) {
    put_head(out, 4, kind::WINDOW_UPDATE, 0, stream);
    out.extend_from_slice(&credit.to_be_bytes());
}

pub(crate) fn put_go_away(out: &mut Vec<u8>, last: u32, code: ErrorCode, debug: &str) {
    put_head(out, debug.len().saturating_add(8), kind::GOAWAY, 0, 0);
    out.extend_from_slice(&last.to_be_bytes());
    out.extend_from_slice(&code.0.to_be_bytes());
    out.extend_from_slice(debug.as_bytes());
}

/// Writes the header of a HEADERS frame in front of the field block, which starts at `at + HEAD`. Splits a block that
/// is longer than the peer's maximum frame size into CONTINUATION frames.
pub(crate) fn finish_headers(out: &mut Vec<u8>, at: usize, stream: u32, is_end: bool, frame_size_max: u32) {
    let start = at.saturating_add(HEAD);
    let (size_max, length) = (frame_size_max as usize, out.len().saturating_sub(start));
    let end_stream = if is_end { flag::END_STREAM } else { 0 };
    let mut head = |length: usize, kind, flags, at: usize| {
        let length = u32::try_from(length).unwrap_or(SIZE_MOST);
        if let Some(room) = out.get_mut(at..at.saturating_add(HEAD)) {
            room.copy_from_slice(&FrameHead { length, kind, flags, stream }.encode());
        }
    };
    if length <= size_max {
        return head(length, kind::HEADERS, end_stream | flag::END_HEADERS, at);
    }
    head(size_max, kind::HEADERS, end_stream, at);
    let rest = out.split_off(start.saturating_add(size_max));
    let mut pieces = rest.chunks(size_max).peekable();
    while let Some(piece) = pieces.next() {
        let flags = if pieces.peek().is_none() { flag::END_HEADERS } else { 0 };
        put_head(out, piece.len(), kind::CONTINUATION, flags, stream);
        out.extend_from_slice(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_survives_encoding_without_its_reserved_bit() {
        let head = FrameHead { length: 0x01_02_03, kind: kind::DATA, flags: flag::PADDED, stream: 5 };
        let mut bytes = head.encode();
        assert_eq!(bytes, [1, 2, 3, 0, 8, 0, 0, 0, 5]);
        bytes[5] |= 0x80;
        assert_eq!(FrameHead::parse(bytes), head);
    }

    #[test]
    fn block_is_found_between_padding_and_priority() {
        let head = |flags| FrameHead { length: 0, kind: kind::HEADERS, flags, stream: 1 };
        assert_eq!(block(head(0), b"ab"), Ok((&b"ab"[..], None)));
        assert_eq!(block(head(flag::PADDED), b"\x01ab"), Ok((&b"a"[..], None)));
        let both = head(flag::PADDED | flag::PRIORITY);
        assert_eq!(block(both, b"\x01\x80\0\0\x03\x10ab"), Ok((&b"a"[..], Some(3))));
        assert_eq!(block(both, b"\x02\x80\0\0\x03\x10a").map_err(|error| error.code), Err(ErrorCode::PROTOCOL_ERROR));
        assert_eq!(block(both, b"\x01\x80\0").map_err(|error| error.code), Err(ErrorCode::FRAME_SIZE_ERROR));
        assert_eq!(block(head(flag::PADDED), b"").map_err(|error| error.code), Err(ErrorCode::FRAME_SIZE_ERROR));
    }

    #[test]
    fn settings_outside_their_range_are_rejected() {
        let entry = |id: u16, value: u32| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
        for (id, value, is_client, code) in [
            (setting::ENABLE_PUSH, 2, false, ErrorCode::PROTOCOL_ERROR),
            (setting::ENABLE_PUSH, 1, true, ErrorCode::PROTOCOL_ERROR),
            (setting::INITIAL_WINDOW_SIZE, 1 << 31, false, ErrorCode::FLOW_CONTROL_ERROR),
            (setting::MAX_FRAME_SIZE, SIZE_LEAST - 1, false, ErrorCode::PROTOCOL_ERROR),
            (setting::MAX_FRAME_SIZE, SIZE_MOST + 1, false, ErrorCode::PROTOCOL_ERROR),
            (setting::ENABLE_CONNECT_PROTOCOL, 2, false, ErrorCode::PROTOCOL_ERROR),
        ] {
            let result = Settings::default().apply(&entry(id, value), is_client);
            assert_eq!(result.map_err(|error| error.code), Err(code), "{id} = {value}");
        }
        let mut settings = Settings::default();
        let known = [entry(1, 100), entry(3, 7), entry(4, 9), entry(5, SIZE_MOST), entry(6, 1), entry(77, 9)].concat();
        assert_eq!(settings.apply(&known, false), Ok(()));
        assert_eq!((settings.header_table_size, settings.streams_max), (100, Some(7)));
        assert_eq!((settings.initial_window, settings.frame_size_max, settings.list_size_max), (9, SIZE_MOST, 1));
        assert!(settings.apply(&known[1..], false).is_err(), "partial setting should be rejected");
    }

    #[test]
    fn long_block_continues_in_further_frames() {
        for (length, frames) in [(0, 1), (16, 1), (17, 2), (32, 2), (33, 3)] {
            let mut out = vec![7; 3 + HEAD];
            out.extend(0..length);
            finish_headers(&mut out, 3, 5, true, 16);
            let (mut at, mut block, mut heads) = (3, Vec::new(), Vec::new());
            while at < out.len() {
                let head =
                    FrameHead::parse(out[at..at + HEAD].try_into().expect("frame header should have nine bytes"));
                block.extend_from_slice(&out[at + HEAD..at + HEAD + head.length as usize]);
                at += HEAD + head.length as usize;
                heads.push((head.kind, head.flags));
            }
            assert_eq!(block, (0..length).collect::<Vec<u8>>());
            assert_eq!(heads.len(), frames);
            assert_eq!(heads[0].0, kind::HEADERS);
            assert_eq!(heads.last().map(|(_, flags)| flags & flag::END_HEADERS), Some(flag::END_HEADERS));
            assert!(heads[0].1 & flag::END_STREAM != 0);
        }
    }
}

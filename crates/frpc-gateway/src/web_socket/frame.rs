//! WebSocket frames (RFC 6455) without I/O: incremental decoding, and encoding of frame headers. `transport.rs` and
//! `messages.rs` handle messages and connections.
//!
//! WebSocket libraries assemble each message in a buffer. Native frames do not need this, because they do not depend on
//! message boundaries: the bytes are passed directly to the driver's buffers, in any pieces, and an idle connection
//! keeps no buffer.

use std::fmt;
use std::io;
use std::ops::Range;
use std::time::Instant;

/// Maximum payload in bytes of a control frame: RFC 6455, section 5.5.
const CONTROL_MAX: u64 = 125;

/// Maximum length of a frame header in bytes: two bytes, an eight-byte length and a mask.
pub(crate) const HEAD_MAX: usize = 14;

/// Rate limit of frames without data: a burst of 1024, and 128 per second. Browsers only reply with PONG, and programs
/// send about one PING per second.
type ControlAllowance = frisbee_core::Bucket<1024, 128>;

/// WebSocket close code: RFC 6455, section 7.4.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CloseCode(pub(crate) u16);

impl CloseCode {
    pub(crate) const NORMAL: Self = Self(1000);
    pub(crate) const GOING_AWAY: Self = Self(1001);
    pub(crate) const PROTOCOL_ERROR: Self = Self(1002);
    pub(crate) const UNSUPPORTED: Self = Self(1003);
    pub(crate) const NOT_TEXT: Self = Self(1007);
    pub(crate) const POLICY: Self = Self(1008);
    pub(crate) const TOO_LONG: Self = Self(1009);
    pub(crate) const INTERNAL: Self = Self(1011);
    /// Close code 1013 (try again later) of the IANA registry, for an overloaded server.
    pub(crate) const TRY_LATER: Self = Self(1013);

    /// Returns whether a peer is permitted to send this close code: standard, registered or private.
    fn is_sendable(self) -> bool {
        matches!(self.0, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }
}

/// Protocol violation by the peer, and the close code to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) code: CloseCode,
    pub(crate) text: &'static str,
}

impl Fault {
    pub(crate) const fn new(code: CloseCode, text: &'static str) -> Self {
        Self { code, text }
    }

    const fn protocol(text: &'static str) -> Self {
        Self::new(CloseCode::PROTOCOL_ERROR, text)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebSocket: {}", self.text)
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        Self::new(io::ErrorKind::InvalidData, fault)
    }
}

/// Role of the local end. Clients mask their frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Client,
    Server,
}

/// Type of a data message: text or binary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Text,
    Binary,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Opcode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

impl Opcode {
    fn of(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// Result of decoding the next part of the input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// Unmasked bytes of a message, as a range of the input. `ends` is set for the last bytes of the message.
    Data {
        kind: Kind,
        range: Range<usize>,
        ends: bool,
    },
    /// A PING frame. Its payload is in [`Decoder::control`].
    Ping,
    Pong,
    /// A CLOSE frame, with its close code if present.
    Close(Option<CloseCode>),
}

#[derive(Clone, Copy, Debug)]
struct Head {
    opcode: Opcode,
    is_last: bool,
    length: u64,
    mask: [u8; 4],
}

/// Incremental decoder of WebSocket frames.
#[derive(Debug)]
pub(crate) struct Decoder {
    end: Role,
    /// Received bytes of an incomplete frame header, and their number.
    head: [u8; HEAD_MAX],
    have: u8,
    /// Frame with an incomplete payload, and the number of missing payload bytes.
    frame: Option<Head>,
    missing: u64,
    /// Type of the message that is being received.
    message: Option<Kind>,
    /// Size in bytes of the current message, including the whole current frame.
    length: u64,
    length_max: u64,
    /// Payload of the last control frame.
    control: Vec<u8>,
    spare: ControlAllowance,
    has_closed: bool,
}

impl Decoder {
    /// Creates a decoder for frames that are received by this role. Messages may have up to `length_max` bytes.
    pub(crate) fn new(end: Role, length_max: u64, now: Instant) -> Self {
        Self {
            end,
            head: [0; HEAD_MAX],
            have: 0,
            frame: None,
            missing: 0,
            message: None,
            length: 0,
            length_max,
            control: Vec::new(),
            spare: ControlAllowance::new(now),
            has_closed: false,
        }
    }

    /// Returns the payload of the last control frame.
    pub(crate) fn control(&self) -> &[u8] {
        &self.control
    }

    /// Returns whether the peer has sent CLOSE. It must not send anything afterwards.
    pub(crate) fn has_closed(&self) -> bool {
        self.has_closed
    }

    /// Returns whether a message was received only partially.
    pub(crate) fn is_mid_message(&self) -> bool {
        self.message.is_some() || self.frame.is_some() || self.have > 0
    }

    /// Returns the number of missing bytes of the current data frame, or 0 if there is none.
    pub(crate) fn missing_data(&self) -> u64 {
        self.frame.filter(|frame| !frame.opcode.is_control()).map_or(0, |_| self.missing)
    }

    /// Decodes the next event in `input` from offset `at`, or returns `None` at the end. `now` provides the time for
    /// the rate limit of frames without data.
    ///
    /// # Errors
    /// Returns the peer's protocol violation. The decoder must not be used afterwards.
    pub(crate) fn next(
        &mut self,
        input: &mut [u8],
        at: &mut usize,
        now: impl Fn() -> Instant,
    ) -> Result<Option<Event>, Fault> {
        while !self.has_closed {
            let Some(head) = self.frame else {
                let Some(head) = self.read_head(input, at)? else { return Ok(None) };
                self.begin(head)?;
                // Limit the number of control and empty frames, because limits on bytes would let a client flood the
                // server with them.
                if (head.opcode.is_control() || head.length == 0) && !self.spare.take(now()) {
                    return Err(Fault::new(CloseCode::POLICY, "too many frames without data"));
                }
                continue;
            };
            let left = input.len().saturating_sub(*at);
            if left == 0 && self.missing > 0 {
                return Ok(None);
            }
            let count = usize::try_from(self.missing).map_or(left, |missing| missing.min(left));
            let range = *at..*at + count;
            *at = range.end;
            let Some(payload) = input.get_mut(range.clone()) else { return Ok(None) };
            // Unmask before reducing `missing`, which determines the mask offset.
            unmask(payload, head.mask, head.length - self.missing);
            self.missing -= count as u64;
            let is_whole = self.missing == 0;
            if is_whole {
                self.frame = None;
            }
            if head.opcode.is_control() {
                self.control.extend_from_slice(payload);
                if is_whole {
                    return self.control_event(head.opcode).map(Some);
                }
                continue;
            }
            let kind = self.message.unwrap_or(Kind::Binary);
            let ends = is_whole && head.is_last;
            if ends {
                (self.message, self.length) = (None, 0);
            }
            if count > 0 || ends {
                return Ok(Some(Event::Data { kind, range, ends }));
            }
        }
        Ok(None)
    }

    /// Reads the available bytes of a frame header. Returns `None` if the header is incomplete.
    fn read_head(&mut self, input: &[u8], at: &mut usize) -> Result<Option<Head>, Fault> {
        loop {
            let have = usize::from(self.have);
            let needed = head_len(&self.head[..have]);
            if have == needed {
                let head = self.parse_head(needed)?;
                self.have = 0;
                return Ok(Some(head));
            }
            let Some(byte) = input.get(*at) else { return Ok(None) };
            self.head[have] = *byte;
            self.have += 1;
            *at += 1;
            // Check each byte on arrival, so that an invalid frame is rejected before its header is complete.
            if have == 0 {
                self.check_kind(*byte)?;
            } else if have == 1 {
                self.check_length(*byte)?;
            }
        }
    }

    /// Checks the first byte of a frame header, so that violations are detected as early as possible.
    fn check_kind(&self, byte: u8) -> Result<(), Fault> {
        if byte & 0x70 != 0 {
            return Err(Fault::protocol("a reserved bit is set, without an extension"));
        }
        let Some(opcode) = Opcode::of(byte & 0x0f) else { return Err(Fault::protocol("a reserved opcode")) };
        let is_last = byte & 0x80 != 0;
        match (opcode, self.message) {
            (Opcode::Continuation, None) => Err(Fault::protocol("a continuation of no message")),
            (Opcode::Text | Opcode::Binary, Some(_)) => Err(Fault::protocol("a message within another one")),
            _ if opcode.is_control() && !is_last => Err(Fault::protocol("a control frame in fragments")),
            _ => Ok(()),
        }
    }

    /// Checks the second byte of a frame header.
    fn check_length(&self, byte: u8) -> Result<(), Fault> {
        match (self.end, byte & 0x80 != 0) {
            (Role::Server, false) => return Err(Fault::protocol("a client has to mask its frames")),
            (Role::Client, true) => return Err(Fault::protocol("a server may not mask its frames")),
            _ => {}
        }
        let is_control = Opcode::of(self.head[0] & 0x0f).is_some_and(Opcode::is_control);
        if is_control && u64::from(byte & 0x7f) > CONTROL_MAX {
            return Err(Fault::protocol("a control frame with more than 125 bytes"));
        }
        Ok(())
    }

    fn parse_head(&self, end: usize) -> Result<Head, Fault> {
        let head = &self.head[..end];
        let is_masked = head[1] & 0x80 != 0;
        let (length, mask) = match head[1] & 0x7f {
            126 => (u64::from(u16::from_be_bytes([head[2], head[3]])), 4),
            127 => (u64::from_be_bytes([head[2], head[3], head[4], head[5], head[6], head[7], head[8], head[9]]), 10),
            short => (u64::from(short), 2),
        };
        if mask == 4 && length < 126 || mask == 10 && length <= u64::from(u16::MAX) {
            return Err(Fault::protocol("a length in more bytes than it takes"));
        }
        let mask = if is_masked { [head[mask], head[mask + 1], head[mask + 2], head[mask + 3]] } else { [0; 4] };
        let opcode = Opcode::of(head[0] & 0x0f).ok_or(Fault::protocol("a reserved opcode"))?;
        Ok(Head { opcode, is_last: head[0] & 0x80 != 0, length, mask })
    }

    /// Begins decoding the payload of a frame after its header.
    fn begin(&mut self, head: Head) -> Result<(), Fault> {
        match head.opcode {
            Opcode::Text => self.message = Some(Kind::Text),
            Opcode::Binary => self.message = Some(Kind::Binary),
            Opcode::Continuation => {}
            _ => self.control.clear(),
        }
        if !head.opcode.is_control() {
            self.length = self.length.saturating_add(head.length);
            // Check the announced length, so that the payload of a message over the limit is never buffered.
            if self.length > self.length_max {
                return Err(Fault::new(CloseCode::TOO_LONG, "a message that is longer than the limit"));
            }
        }
        self.missing = head.length;
        self.frame = Some(head);
        Ok(())
    }

    fn control_event(&mut self, opcode: Opcode) -> Result<Event, Fault> {
        match opcode {
            Opcode::Ping => Ok(Event::Ping),
            Opcode::Pong => Ok(Event::Pong),
            _ => {
                self.has_closed = true;
                self.read_close().map(Event::Close)
            }
        }
    }

    fn read_close(&self) -> Result<Option<CloseCode>, Fault> {
        let (code, text) = match self.control[..] {
            [] => return Ok(None),
            [_] => return Err(Fault::protocol("a code with one byte")),
            [first, second, ref text @ ..] => (CloseCode(u16::from_be_bytes([first, second])), text),
        };
        if !code.is_sendable() {
            return Err(Fault::protocol("a code that may not be sent"));
        }
        if std::str::from_utf8(text).is_err() {
            return Err(Fault::new(CloseCode::NOT_TEXT, "a close reason that is not text"));
        }
        Ok(Some(code))
    }
}

/// Returns the length of the frame header that starts with `head`, or its minimum length if `head` is too short to
/// tell.
fn head_len(head: &[u8]) -> usize {
    let Some(second) = head.get(1) else { return 2 };
    let length = match second & 0x7f {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    2 + length + if second & 0x80 != 0 { 4 } else { 0 }
}

/// Masks or unmasks bytes that start at the offset `at` in the payload.
pub(crate) fn unmask(bytes: &mut [u8], mut mask: [u8; 4], at: u64) {
    if mask == [0; 4] {
        return;
    }
    mask.rotate_left((at % 4) as usize);
    let wide = u64::from_ne_bytes([mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3]]);
    let (chunks, rest) = bytes.as_chunks_mut::<8>();
    for chunk in chunks {
        *chunk = (u64::from_ne_bytes(*chunk) ^ wide).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

/// Encodes the header of an unfragmented frame.
pub(crate) fn head(opcode: Opcode, length: usize, mask: Option<[u8; 4]>) -> ([u8; HEAD_MAX], usize) {
    let mut head = [0; HEAD_MAX];
    head[0] = 0x80 | opcode as u8;
    let mut end = match length {
        0..=125 => {
            head[1] = length as u8;
            2
        }
        126..=0xffff => {
            head[1] = 126;
            head[2..4].copy_from_slice(&(length as u16).to_be_bytes());
            4
        }
        _ => {
            head[1] = 127;
            head[2..10].copy_from_slice(&(length as u64).to_be_bytes());
            10
        }
    };
    if let Some(mask) = mask {
        head[1] |= 0x80;
        head[end..end + 4].copy_from_slice(&mask);
        end += 4;
    }
    (head, end)
}

#[cfg(test)]
mod tests;

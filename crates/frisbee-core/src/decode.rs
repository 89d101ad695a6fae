//! Byte stream to packets: bounded before it allocates, and without copying a packet that arrived in one read.

use crate::hello::HELLO_MAX;
use crate::{
    BodyMemory, Header, HeaderForm, HelloError, MAGIC, MemoryPool, Operation, OtherProtocol, Packet, PacketId,
};
use bytes::{Buf, Bytes};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The first capacity of a buffer for a body that has not arrived yet, in bytes: the size of one read.
const FIRST_CAPACITY: usize = 64 * 1024;

/// The factor between its capacity and the bytes received. A body is copied when its buffer grows: the longest
/// twice, and less than half of it in all.
const GROWTH: usize = 4;

/// Once so many bytes of a body have come, its buffer may get the capacity that the body before it took, so that it
/// need not grow and be copied. A peer gains nothing that it could not have by sending the bodies side by side.
const TRUSTED_FROM: usize = 32 * 1024;

/// How many bytes are kept of a body that is discarded: those in front of a message, which identify it.
const REJECTED_KEEPS: usize = 64;

/// Bodies that miss at least this much are read straight into their own buffer (see
/// [`Decoder::body_mut`]). Below it a second read call costs more than the copy it saves.
const DIRECT_MIN: usize = 16 * 1024;

/// Splits a byte stream into packets.
///
/// It is fed chunks of any size, cut anywhere. A packet that lies whole in a chunk shares its memory; one that
/// does not is gathered in a buffer that grows with the bytes received, never with the bytes promised.
///
/// ```
/// use bytes::Bytes;
/// use frisbee_core::{BODY_MAX, Decoder, HeaderForm};
///
/// let mut decoder = Decoder::new(HeaderForm::Current, BODY_MAX);
/// let mut first = Bytes::from_static(&[0, 0x0F, 0, 1, 0, 18, 0, 0, 0, 2, b'h']);
/// assert_eq!(decoder.next(&mut first)?, None);
/// let mut second = Bytes::from_static(b"i");
/// assert_eq!(decoder.next(&mut second)?.unwrap().body, "hi");
/// # Ok::<(), frisbee_core::ProtocolError>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    /// `None` until the first header of a peer that may speak either.
    form: Option<HeaderForm>,
    /// The operations that the first packet of a peer with old headers may name.
    served: Arc<[RangeInclusive<u16>]>,
    limit: u32,
    /// The bytes of a header that is not complete: `head[..head_len]`.
    head: [u8; Header::MAX_LEN],
    head_len: u8,
    /// In a box, since most bodies arrive in one read.
    body: Option<Box<Partial>>,
    /// The length of the last one that was gathered.
    last: u32,
    pool: Option<&'static dyn MemoryPool>,
}

/// A packet whose header is complete and whose body is not.
#[derive(Debug)]
struct Partial {
    header: Header,
    received: BodyMemory,
    /// `header.length - received.len()`, above zero; of a body that is discarded, the bytes still to come.
    missing: usize,
    /// There is no memory for it: bytes that come are discarded.
    is_discarded: bool,
    /// The length of the body before it.
    last: u32,
}

impl Decoder {
    /// A decoder for a peer that is known to send headers of `form`, with bodies of up to `limit` bytes.
    pub fn new(form: HeaderForm, limit: u32) -> Self {
        Self {
            form: Some(form),
            served: Arc::new([]),
            limit,
            head: [0; Header::MAX_LEN],
            head_len: 0,
            body: None,
            last: 0,
            pool: None,
        }
    }

    /// Takes the memory of large bodies from a pool.
    pub fn set_pool(&mut self, pool: &'static dyn MemoryPool) {
        self.pool = Some(pool);
    }

    /// A decoder that finds out the form from the first header.
    ///
    /// Headers in the current form begin with the magic. Anything else is taken for the old form if it is a PING
    /// without a body, a STREAM packet, a packet of operation 3, as HELLO, or one of the operations `served`, with a length
    /// within the limit; otherwise it is no Frisbee peer. An old peer whose first id is 15 cannot be distinguished.
    pub fn detecting(served: Arc<[RangeInclusive<u16>]>, limit: u32) -> Self {
        Self { form: None, served, limit, head: [0; Header::MAX_LEN], head_len: 0, body: None, last: 0, pool: None }
    }

    /// The form of the peer's headers; `None` before the first one.
    pub fn form(&self) -> Option<HeaderForm> {
        self.form
    }

    /// Whether part of a packet has been received and the rest has not.
    #[inline]
    pub fn is_mid_packet(&self) -> bool {
        self.head_len > 0 || self.body.is_some()
    }

    /// Whether [`next`](Self::next) has a packet without any input: all of its body was appended to
    /// [`body_mut`](Self::body_mut).
    #[inline]
    pub fn holds_packet(&self) -> bool {
        self.body.as_ref().is_some_and(|partial| partial.missing == 0)
    }

    /// The operation of the packet whose header has been received and whose body has not.
    pub(crate) fn arriving(&self) -> Option<Operation> {
        self.body.as_ref().map(|partial| partial.header.operation)
    }

    /// Whether the next byte is the first of a header in the current form, so that [`next_whole`](Self::next_whole) may
    /// be called.
    #[inline]
    pub(crate) fn is_at_header(&self) -> bool {
        self.head_len == 0 && self.body.is_none() && self.form == Some(HeaderForm::Current)
    }

    /// Takes the next packet from `input` if all of it is there and it is of a call or a stream, as most are. Otherwise
    /// [`next`](Self::next) has to look, and nothing has changed. Only for a decoder that [is at a
    /// header](Self::is_at_header), which it still is afterwards.
    #[inline(always)] // As `next`, with fewer cases to distinguish.
    pub(crate) fn next_whole(&self, input: &mut Bytes) -> Option<Packet> {
        debug_assert!(self.is_at_header(), "checked by the caller, and no bytes were taken since");
        let header = Header::decode(input.first_chunk()?).ok()?;
        let available = input.len().saturating_sub(HeaderForm::Current.size());
        let length = header.length as usize;
        let is_control = header.operation.is_reserved() && header.operation != Operation::STREAM;
        if is_control || length > available || header.length > self.limit {
            return None;
        }
        input.advance(HeaderForm::Current.size());
        let body = if length == 0 { Bytes::new() } else { input.split_to(length) };
        Some(Packet { id: header.id, operation: header.operation, body })
    }

    /// Takes the next packet from `input`, which keeps the bytes after it.
    ///
    /// `None` means that `input` has been used up.
    ///
    /// # Errors
    /// The peer does not speak the protocol; nothing more can be decoded.
    #[inline(always)] // As `Connection::poll_event`.
    pub fn next(&mut self, input: &mut Bytes) -> Result<Option<Packet>, ProtocolError> {
        if self.body.is_some() {
            let packet = self.continue_body(input);
            // The input may continue after a discarded body.
            if packet.is_some() || self.body.is_some() {
                return Ok(packet);
            }
        }
        let Some(header) = self.header(input)? else { return Ok(None) };
        if header.length > self.limit {
            self.check_long(header)?;
        }
        let length = header.length as usize;
        if input.len() < length {
            return Ok(self.begin_body(header, input));
        }
        let body = if length == 0 { Bytes::new() } else { input.split_to(length) };
        Ok(Some(Packet { id: header.id, operation: header.operation, body }))
    }

    /// The buffer of a large body that has begun to arrive, and how many bytes it can take.
    ///
    /// A driver may append up to that many bytes to it, straight from the socket, and then call
    /// [`next`](Self::next) with an empty input.
    pub fn body_mut(&mut self) -> Option<BodyMut<'_>> {
        let partial = self.body.as_mut().filter(|partial| partial.missing >= DIRECT_MIN && !partial.is_discarded)?;
        partial.grow(0, self.pool);
        Some(BodyMut(partial))
    }

    /// The memory that the body takes which has begun to arrive, in bytes.
    pub fn buffered(&self) -> usize {
        self.body.as_ref().map_or(0, |partial| partial.received.room())
    }

    /// Discards the body that has begun to arrive, including the bytes still to come. Returns its packet, with up to 64
    /// bytes from the beginning of the body; `None` if there is no such body or it is discarded already.
    pub fn discard_body(&mut self) -> Option<Packet> {
        let partial = self.body.as_mut().filter(|partial| !partial.is_discarded)?;
        partial.is_discarded = true;
        let received = std::mem::take(&mut partial.received);
        let received = received.as_ref();
        let body = Bytes::copy_from_slice(received.get(..REJECTED_KEEPS).unwrap_or(received));
        Some(Packet { id: partial.header.id, operation: partial.header.operation, body })
    }

    #[inline(always)]
    fn header(&mut self, input: &mut Bytes) -> Result<Option<Header>, ProtocolError> {
        if self.head_len == 0
            && self.form == Some(HeaderForm::Current)
            && let Some(bytes) = input.first_chunk()
        {
            let header = Header::decode(bytes).map_err(|_| not_frisbee(bytes, self.form))?;
            input.advance(HeaderForm::Current.size());
            return Ok(Some(header));
        }
        self.gather_header(input)
    }

    /// The way for headers that are cut, old, or the first.
    #[inline(never)]
    fn gather_header(&mut self, input: &mut Bytes) -> Result<Option<Header>, ProtocolError> {
        loop {
            let [m0, m1, ..] = self.head;
            // Another protocol's server may send too few bytes for a header. After a zero, the first byte of several
            // protocols, two more bytes identify it.
            let enough = if m0 == 0 { 4 } else { 2 };
            let magic = u16::from_be_bytes([m0, m1]);
            let come = usize::from(self.head_len);
            let needed = match self.form {
                Some(HeaderForm::Current) if come >= enough && magic != MAGIC => {
                    return Err(not_frisbee(self.head.get(..come).unwrap_or_default(), self.form));
                }
                Some(form) => form.size(),
                None if come < 2 => 2,
                None if magic == MAGIC => HeaderForm::Current.size(),
                None => HeaderForm::Old.size(),
            };
            let free = self.head.get_mut(come..needed).unwrap_or_default();
            if free.is_empty() {
                self.head_len = 0;
                return self.parse_head(magic).map(Some);
            }
            let count = free.len().min(input.len());
            if count == 0 {
                return Ok(None);
            }
            if let Some(free) = free.get_mut(..count) {
                input.copy_to_slice(free);
            }
            self.head_len = u8::try_from(come.saturating_add(count)).unwrap_or(u8::MAX);
        }
    }

    fn parse_head(&mut self, magic: u16) -> Result<Header, ProtocolError> {
        let form = match self.form {
            Some(form) => form,
            None if magic == MAGIC => HeaderForm::Current,
            None => HeaderForm::Old,
        };
        let header = match form {
            HeaderForm::Current => Header::decode(&self.head).map_err(|_| not_frisbee(&self.head, self.form))?,
            HeaderForm::Old => {
                let [head @ .., _, _] = &self.head;
                Header::decode_old(head)
            }
        };
        if self.form.is_none() && form == HeaderForm::Old && !self.may_open(header) {
            return Err(not_frisbee(&self.head, None));
        }
        self.form = Some(form);
        Ok(header)
    }

    /// Whether a peer with old headers may begin with this one.
    fn may_open(&self, header: Header) -> bool {
        match header.operation {
            Operation::PING => header.length == 0,
            Operation::STREAM => header.length <= self.limit,
            Operation::EXTENSION => header.length <= HELLO_MAX,
            operation => {
                let served = self.served.iter().any(|range| range.contains(&operation.number()));
                served && header.length <= self.limit
            }
        }
    }

    /// Whether a packet that exceeds the limit may do so. HELLO and its like have a limit of their own.
    #[cold]
    fn check_long(&self, header: Header) -> Result<(), ProtocolError> {
        if header.operation == Operation::EXTENSION && header.length <= HELLO_MAX {
            return Ok(());
        }
        Err(ProtocolError::TooLong { length: header.length, limit: self.limit })
    }

    #[cold]
    fn begin_body(&mut self, header: Header, input: &mut Bytes) -> Option<Packet> {
        let Header { length, .. } = header;
        let received = BodyMemory::default();
        let mut partial = Partial { header, received, missing: length as usize, is_discarded: false, last: self.last };
        partial.grow(input.len(), self.pool);
        self.body = Some(Box::new(partial));
        self.continue_body(input)
    }

    #[inline(never)]
    fn continue_body(&mut self, input: &mut Bytes) -> Option<Packet> {
        let partial = self.body.as_mut()?;
        if partial.is_discarded {
            let thrown_away = input.len().min(partial.missing);
            input.advance(thrown_away);
            partial.missing = partial.missing.saturating_sub(thrown_away);
            self.body = self.body.take().filter(|partial| partial.missing > 0);
            return None;
        }
        while !input.is_empty() && partial.missing > 0 {
            partial.grow(input.len(), self.pool);
            let count = input.len().min(partial.missing).min(partial.received.available());
            partial.received.buffer().extend_from_slice(&input.split_to(count));
            partial.missing = partial.missing.saturating_sub(count);
        }
        if partial.missing > 0 {
            return None;
        }
        let Partial { header, received, .. } = *self.body.take()?;
        self.last = header.length;
        Some(Packet { id: header.id, operation: header.operation, body: received.freeze() })
    }
}

/// The error for a header that begins differently, of a peer with this form of headers. A TLS record begins with its
/// kind, 21 for an alert and 22 for a handshake, and the version 3.
#[cold]
fn not_frisbee(bytes: &[u8], form: Option<HeaderForm>) -> ProtocolError {
    let magic = bytes.first_chunk().map_or(0, |magic| u16::from_be_bytes(*magic));
    // An end that takes both forms of headers has found that it is neither.
    let is_known = |protocol: &OtherProtocol| *protocol != OtherProtocol::OldHeaders || form.is_some();
    match OtherProtocol::of(bytes).filter(is_known) {
        _ if matches!(magic, 0x1503 | 0x1603) => ProtocolError::SpeaksTls,
        Some(protocol) => ProtocolError::OtherProtocol(protocol),
        None => ProtocolError::BadMagic(magic),
    }
}

impl Partial {
    /// Makes room if there is none, with a view to so many bytes that have come and are to be appended.
    fn grow(&mut self, more: usize, pool: Option<&'static dyn MemoryPool>) {
        if self.received.available() > 0 {
            return;
        }
        let total = self.header.length as usize;
        let received = self.received.len().saturating_add(more);
        let trusted = if received < TRUSTED_FROM { 0 } else { self.last as usize };
        let most = FIRST_CAPACITY.saturating_add(received.saturating_mul(GROWTH).max(trusted));
        // Memory of few sizes is more often there to be used again.
        let room = if total <= most { total } else { most.saturating_sub(most % FIRST_CAPACITY) };
        let mut grown = BodyMemory::new(room, pool);
        grown.buffer().extend_from_slice(self.received.as_ref());
        self.received = grown;
    }
}

/// The unfilled part of a large body; see [`Decoder::body_mut`].
#[derive(Debug)]
pub struct BodyMut<'a>(&'a mut Partial);

impl BodyMut<'_> {
    /// The buffer to append to, after its present bytes. It has room for at least one byte.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.0.received.buffer()
    }

    /// How many bytes may be appended.
    pub fn missing(&self) -> usize {
        self.0.missing.min(self.0.received.available())
    }

    /// Records that the buffer has been appended to.
    ///
    /// # Panics
    /// If more has been appended than was missing, which is the driver's mistake.
    pub fn appended(self) {
        let length = self.0.header.length as usize;
        let missing = length.checked_sub(self.0.received.len());
        self.0.missing = missing.expect("a driver appends no more than the missing bytes");
    }
}

/// A violation of the protocol by the peer. The connection is closed; there is no way to find the next packet.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A header does not begin with [`MAGIC`], but with this.
    BadMagic(u16),
    /// The peer speaks something else, which was recognised.
    OtherProtocol(OtherProtocol),
    /// The peer speaks TLS and this end does not: where [`MAGIC`] should be, a TLS record begins.
    SpeaksTls,
    /// A header declares a longer body than the limit allows.
    TooLong {
        /// The declared length.
        length: u32,
        /// The limit.
        limit: u32,
    },
    /// A PING or PONG declares a body, which Go peers read as the next header.
    KeepaliveWithBody {
        /// The declared length.
        length: u32,
    },
    /// The body of a CREDIT, CANCEL, END, HAND_OFF or BATCH is malformed.
    Malformed(Operation),
    /// A HELLO cannot be accepted. The peer is not taken for one of the base protocol.
    Hello(HelloError),
    /// A packet of [`Operation::EXTENSION`] has a type that this end must understand, and does not.
    NotUnderstood(PacketId),
    /// A packet from a peer that waits for the answer to its hand-off, or an answer to no request.
    HandOff,
    /// More PINGs than 20 per second and a burst of 40.
    PingFlood,
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherProtocol(protocol) => protocol.fmt(f),
            Self::SpeaksTls => f.write_str("the peer speaks TLS and this end does not: set `tls` here"),
            Self::BadMagic(found) => {
                write!(f, "the header begins with {found:#06x} instead of {MAGIC:#06x}")?;
                let text = found.to_be_bytes();
                if text.iter().all(u8::is_ascii_graphic) {
                    write!(f, ", the text {:?}", String::from_utf8_lossy(&text))?;
                }
                f.write_str(": the peer does not speak Frisbee, check the port")
            }
            Self::TooLong { length, limit } => write!(f, "a body of {length} bytes exceeds the limit of {limit}"),
            Self::KeepaliveWithBody { length } => write!(f, "a PING or PONG declares a body of {length} bytes"),
            Self::Malformed(operation) => write!(f, "malformed body of {operation:?}"),
            Self::Hello(error) => write!(f, "malformed HELLO: {error}"),
            Self::NotUnderstood(id) => {
                write!(f, "packet type {id} of operation 3 must be understood and is unknown here: update this end")
            }
            Self::HandOff => f.write_str("unexpected hand-off frame"),
            Self::PingFlood => f.write_str("too many PINGs"),
        }
    }
}

impl std::error::Error for ProtocolError {}

impl From<HelloError> for ProtocolError {
    fn from(error: HelloError) -> Self {
        Self::Hello(error)
    }
}

#[cfg(test)]
mod tests;

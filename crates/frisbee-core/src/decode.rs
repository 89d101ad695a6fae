//! Decoding of a byte stream into packets. Limits are checked before memory is allocated. A packet received in a single
//! read is not copied.

mod fragments;

pub(crate) use self::fragments::FRAGMENT_LEAST;
pub use self::fragments::FragmentError;
use crate::hello::HELLO_MAX;
use crate::{
    BodyMemory, Header, HeaderForm, HelloError, MAGIC, MemoryPool, Operation, Operations, OtherProtocol, Packet,
    PacketId,
};
use bytes::{Buf, Bytes};
use std::fmt;
use std::sync::Arc;

/// Initial capacity in bytes of the buffer for a partially received body, equal to the size of a read.
const FIRST_CAPACITY: usize = 64 * 1024;

/// Maximum capacity of a body's buffer, as a multiple of the number of bytes received so far. Growing the buffer copies
/// these bytes. With this factor, the longest body is grown twice, and the two copies together are less than half of
/// its length.
const GROWTH: usize = 4;

/// Once this many bytes of a body have been received, its buffer may grow directly to the size of the previous body.
/// This avoids copying the body each time that the buffer grows. A peer cannot exploit this to occupy more memory than
/// it could by sending several bodies concurrently.
const TRUSTED_FROM: usize = 32 * 1024;

/// Number of bytes of a discarded body that are kept. They suffice to identify the message.
const REJECTED_KEEPS: usize = 64;

/// Minimum number of missing bytes for reading the rest of a body directly into its buffer; see [`Decoder::body_mut`].
/// For fewer bytes, the additional system call costs more than a copy.
const DIRECT_MIN: usize = 16 * 1024;

/// Decoder of a byte stream into packets.
///
/// Accepts chunks of any size. A packet that is complete within a chunk shares the chunk's memory. Other packets are
/// assembled in a buffer. Its size depends on the number of bytes received, never on the announced length alone.
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
    /// Header format of the peer. `None` until the first header; until then, both formats are accepted.
    form: Option<HeaderForm>,
    /// Operations of this endpoint. The first packet of a peer with old headers must be of a served one.
    pub(crate) operations: Option<Arc<Operations>>,
    limit: u32,
    /// Partially received header. Its first `head_len` bytes have arrived.
    head: [u8; Header::MAX_LEN],
    head_len: u8,
    /// Linked list of packets with incomplete bodies. If the next input byte belongs to such a packet, that packet is
    /// the first of the list. Boxed because most bodies arrive in a single read.
    body: Option<Box<Partial>>,
    /// Number of channels that the peer may send fragments on.
    channels: u8,
    /// Length in bytes of the last body that arrived in several reads. Predicts the size of the next buffer.
    last: u32,
    pool: Option<&'static dyn MemoryPool>,
}

/// A packet with a complete header and an incomplete body.
#[derive(Debug)]
struct Partial {
    header: Header,
    received: BodyMemory,
    /// Number of body bytes still to be received. Zero only if the packet is complete but [not returned
    /// yet](Decoder::holds_packet).
    missing: usize,
    /// Number of missing bytes that belong to the current fragment. Equal to `missing` if the packet is not fragmented.
    piece: usize,
    /// Length in bytes of the current fragment's part of the body, or of the body if the packet is not fragmented.
    fragment: usize,
    /// Channel of this packet's fragments.
    channel: u8,
    /// Number of bytes at the end of `received` that were read past the end of the current fragment.
    ahead: u8,
    /// Whether the body is discarded because no memory is available for it.
    is_discarded: bool,
    /// Length in bytes of the previous body that arrived in several reads. Predicts the size of this body's buffer.
    last: u32,
    /// Next incomplete packet of the list.
    next: Option<Box<Self>>,
}

impl Decoder {
    /// Creates a decoder for headers in the format `form` and bodies of up to `limit` bytes.
    pub fn new(form: HeaderForm, limit: u32) -> Self {
        Self { form: Some(form), ..Self::detecting(None, limit) }
    }

    /// Sets the memory pool for the buffers of large bodies.
    pub fn set_pool(&mut self, pool: &'static dyn MemoryPool) {
        self.pool = Some(pool);
    }

    /// Creates a decoder that detects the header form from the first header.
    ///
    /// Headers in the current form start with [`MAGIC`]. Otherwise the header is assumed to be in the old form if it is
    /// valid for a first packet: a PING without a body, a STREAM packet, a packet of operation 3 such as HELLO, or a
    /// packet of one of the [served](Operations::served) operations, with a length within the limit. Any other header
    /// is a protocol error. An old header with packet id 15 cannot be distinguished from a current header.
    pub fn detecting(operations: Option<Arc<Operations>>, limit: u32) -> Self {
        Self {
            form: None,
            operations,
            limit,
            head: [0; Header::MAX_LEN],
            head_len: 0,
            body: None,
            channels: 0,
            last: 0,
            pool: None,
        }
    }

    /// Returns the format of the peer's headers, or `None` before the first header has arrived.
    pub fn form(&self) -> Option<HeaderForm> {
        self.form
    }

    /// Returns whether a packet has been received only partially.
    #[inline]
    pub fn is_mid_packet(&self) -> bool {
        self.head_len > 0 || self.body.is_some()
    }

    /// Returns whether [`next`](Self::next) will return a packet without further input. This is the case if its whole
    /// body was read into [`body_mut`](Self::body_mut).
    #[inline]
    pub fn holds_packet(&self) -> bool {
        self.body.as_ref().is_some_and(|partial| partial.missing == 0)
    }

    /// Returns the operation of the partially received packet, or `None` between packets.
    pub(crate) fn arriving(&self) -> Option<Operation> {
        self.body.as_ref().map(|partial| partial.header.operation)
    }

    /// Returns whether the next input byte starts a header in the current format. This is the precondition of
    /// [`next_whole`](Self::next_whole).
    #[inline]
    pub(crate) fn is_at_header(&self) -> bool {
        // Between fragments, packets must take the slow path, which checks their order.
        self.head_len == 0 && self.body.is_none() && self.form == Some(HeaderForm::Current)
    }

    /// Decodes the next packet if it is complete and belongs to a call or a stream. This is the fast path for most
    /// packets. Otherwise returns `None` and leaves `input` unchanged for [`next`](Self::next). The decoder must be [at
    /// a header](Self::is_at_header), and still is afterwards.
    #[inline(always)] // Hot path with fewer branches than `next`.
    pub(crate) fn next_whole(&self, input: &mut Bytes) -> Option<Packet> {
        debug_assert!(self.is_at_header(), "decoder should be at the start of a header");
        let header = Header::decode(input.first_chunk()?).ok()?;
        let available = input.len().saturating_sub(HeaderForm::Current.size());
        let length = header.length as usize;
        // Leave control packets, incomplete bodies and lengths above the limit to `next`.
        let is_control = header.operation.is_reserved() && header.operation != Operation::STREAM;
        if is_control || length > available || header.length > self.limit {
            return None;
        }
        input.advance(HeaderForm::Current.size());
        let body = if length == 0 { Bytes::new() } else { input.split_to(length) };
        Some(Packet { id: header.id, operation: header.operation, body })
    }

    /// Decodes the next packet and removes it from `input`. Returns `None` if `input` is exhausted.
    ///
    /// # Errors
    /// If the peer violates the protocol. The decoder must not be used afterwards.
    #[inline(always)] // Avoids extra moves of each packet.
    pub fn next(&mut self, input: &mut Bytes) -> Result<Option<Packet>, ProtocolError> {
        if self.body.is_some() {
            let ahead = self.take_ahead();
            let packet = self.continue_body(input);
            // Continue if a fragment or a discarded body is complete but yields no packet, because the input may
            // contain more.
            if packet.is_some() || self.body.as_ref().is_some_and(|partial| partial.piece > 0) {
                return Ok(packet);
            }
            if self.body.as_ref().is_some_and(|partial| partial.channel == fragments::HEAD) {
                return self.begin_assembled(input);
            }
            if !ahead.is_empty() {
                return self.next_ahead(ahead);
            }
        }
        let Some(header) = self.header(input)? else { return Ok(None) };
        if header.length > self.limit {
            self.check_long(header)?;
        }
        let length = header.length as usize;
        if input.len() < length {
            return self.begin_body(header, input);
        }
        let body = if length == 0 { Bytes::new() } else { input.split_to(length) };
        Ok(Some(Packet { id: header.id, operation: header.operation, body }))
    }

    /// Returns the buffer of a large, partially received body, or `None` if there is no such body.
    ///
    /// A driver may read up to `BodyMut::missing` bytes from the socket directly into it, and must then call
    /// [`next`](Self::next) with empty input.
    pub fn body_mut(&mut self) -> Option<BodyMut<'_>> {
        // Read the rest of a long fragment even if little of it is missing, so that the next fragment starts at a read
        // boundary. Read short fragments together, because a read of each costs more than its bytes.
        let is_direct = |partial: &&mut Box<Partial>| {
            let is_large = partial.piece > 0 && partial.missing >= DIRECT_MIN;
            is_large && partial.fragment >= FRAGMENT_LEAST && !partial.is_discarded
        };
        let partial = self.body.as_mut().filter(is_direct)?;
        partial.grow(0, self.pool);
        Some(BodyMut(partial))
    }

    /// Returns the memory reserved for partially received bodies, in bytes.
    pub fn buffered(&self) -> usize {
        self.partials().map(|partial| partial.received.room()).sum()
    }

    /// Discards the partially received body that grew last, including the part that has yet to arrive. Returns a packet
    /// with up to 64 bytes of the body. Returns `None` if no body is incomplete or if all are already being discarded.
    pub fn discard_body(&mut self) -> Option<Packet> {
        let mut partial = self.body.as_mut()?;
        while partial.is_discarded || partial.channel == fragments::HEAD {
            partial = partial.next.as_mut()?;
        }
        partial.is_discarded = true;
        let discarded = std::mem::take(&mut partial.received);
        let discarded = discarded.as_ref();
        let end = discarded.len().saturating_sub(partial.ahead.into());
        let (received, ahead) = discarded.split_at(end);
        if !ahead.is_empty() {
            // Keep the start of the next packet, which is not part of the body.
            partial.received = BodyMemory::new(ahead.len(), None);
            partial.received.buffer().extend_from_slice(ahead);
        }
        let body = Bytes::copy_from_slice(received.get(..REJECTED_KEEPS).unwrap_or(received));
        Some(Packet { id: partial.header.id, operation: partial.header.operation, body })
    }

    /// Returns the number of missing bytes of the packet or fragment that is being [discarded](Self::discard_body), if
    /// the next input byte belongs to it.
    pub(crate) fn discarding(&self) -> Option<usize> {
        self.body.as_ref().filter(|partial| partial.is_discarded && partial.piece > 0).map(|partial| partial.piece)
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

    /// Assembles a header on the slow path, which handles partially received headers, old headers and the first header.
    #[inline(never)]
    fn gather_header(&mut self, input: &mut Bytes) -> Result<Option<Header>, ProtocolError> {
        loop {
            let [m0, m1, ..] = self.head;
            // Two bytes identify most other protocols. Do not wait for a whole header, because a server of another
            // protocol may send fewer bytes. If the first byte is 0, four bytes are needed, because several protocols
            // start with it.
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

    /// Returns whether a peer with old headers may send this header in its first packet.
    fn may_open(&self, header: Header) -> bool {
        match header.operation {
            Operation::PING => header.length == 0,
            Operation::STREAM => header.length <= self.limit,
            Operation::EXTENSION => header.length <= HELLO_MAX,
            operation => {
                self.operations.as_ref().is_some_and(|all| all.serves(operation)) && header.length <= self.limit
            }
        }
    }

    /// Checks a packet length that exceeds the body limit. Extension packets such as HELLO have their own limit.
    #[cold]
    fn check_long(&self, header: Header) -> Result<(), ProtocolError> {
        if header.operation == Operation::EXTENSION && header.length <= HELLO_MAX {
            return Ok(());
        }
        Err(ProtocolError::TooLong { length: header.length, limit: self.limit })
    }

    #[cold]
    fn begin_body(&mut self, header: Header, input: &mut Bytes) -> Result<Option<Packet>, ProtocolError> {
        if self.is_open_fragment(header, input) {
            self.begin_fragment(header.length as usize, input)?;
        } else {
            let mut partial = self.partial(header);
            partial.grow(input.len(), self.pool);
            partial.next = self.body.take();
            self.body = Some(Box::new(partial));
        }
        Ok(self.continue_body(input))
    }

    #[inline(never)]
    fn continue_body(&mut self, input: &mut Bytes) -> Option<Packet> {
        let partial = self.body.as_mut()?;
        while !input.is_empty() && partial.piece > 0 {
            let count = if partial.is_discarded {
                let count = input.len().min(partial.piece);
                input.advance(count);
                count
            } else {
                partial.grow(input.len().min(partial.piece), self.pool);
                let count = input.len().min(partial.piece).min(partial.received.available());
                partial.received.buffer().extend_from_slice(&input.split_to(count));
                count
            };
            partial.missing = partial.missing.saturating_sub(count);
            partial.piece = partial.piece.saturating_sub(count);
        }
        // The rest of the body follows, perhaps in other fragments.
        if partial.missing > 0 {
            return None;
        }
        let Partial { header, received, is_discarded, next, .. } = *self.body.take()?;
        self.body = next;
        // Return no packet, because `discard_body` has already returned the packet with the start of its body.
        if is_discarded {
            return None;
        }
        self.last = header.length;
        Some(Packet { id: header.id, operation: header.operation, body: received.freeze() })
    }
}

/// Returns the error for bytes that are not a valid header. `form` is the header format of the peer, if known. A TLS
/// record starts with its type, 21 for alerts and 22 for handshakes, and the major version 3.
#[cold]
fn not_frisbee(bytes: &[u8], form: Option<HeaderForm>) -> ProtocolError {
    let magic = bytes.first_chunk().map_or(0, |magic| u16::from_be_bytes(*magic));
    // Exclude old headers while both formats are accepted, because the decoder would have accepted them.
    let is_known = |protocol: &OtherProtocol| *protocol != OtherProtocol::OldHeaders || form.is_some();
    match OtherProtocol::of(bytes).filter(is_known) {
        _ if matches!(magic, 0x1503 | 0x1603) => ProtocolError::SpeaksTls,
        Some(protocol) => ProtocolError::OtherProtocol(protocol),
        None => ProtocolError::BadMagic(magic),
    }
}

impl Partial {
    /// Grows the body buffer if it is full. `more` is the number of bytes available to be appended.
    fn grow(&mut self, more: usize, pool: Option<&'static dyn MemoryPool>) {
        if self.received.available() > 0 {
            return;
        }
        let total = self.header.length as usize;
        let received = self.received.len().saturating_add(more);
        let trusted = if received < TRUSTED_FROM { 0 } else { self.last as usize };
        let most = FIRST_CAPACITY.saturating_add(received.saturating_mul(GROWTH).max(trusted));
        // Round the size down, because fewer distinct sizes make the reuse of pooled memory more likely.
        let room = if total <= most { total } else { most.saturating_sub(most % FIRST_CAPACITY) };
        let mut grown = BodyMemory::new(room, pool);
        grown.buffer().extend_from_slice(self.received.as_ref());
        self.received = grown;
    }
}

/// Buffer of a large, partially received body; see [`Decoder::body_mut`].
#[derive(Debug)]
pub struct BodyMut<'a>(&'a mut Partial);

impl BodyMut<'_> {
    /// Returns the buffer to append received bytes to. It has capacity for at least one more byte.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.0.received.buffer()
    }

    /// Returns the maximum number of bytes that may be appended to the body.
    pub fn missing(&self) -> usize {
        let Partial { piece, missing, received, ahead, .. } = &*self.0;
        // Also read the head of the next fragment, so that each fragment takes only one read.
        let more = if piece < missing { fragments::AHEAD_MAX.saturating_sub((*ahead).into()) } else { 0 };
        piece.saturating_add(more).min(received.available())
    }

    /// Updates the decoder after bytes were appended to the buffer of the body. Returns whether the next fragment of
    /// the body follows, so that reading may continue.
    ///
    /// # Panics
    /// If more bytes were appended than were missing.
    pub fn appended(&mut self) -> bool {
        let Partial { header, received, missing, piece, ahead, .. } = &mut *self.0;
        let before = (header.length as usize).saturating_sub(*missing);
        let count = received.len().saturating_sub(before);
        let beyond = count.saturating_sub(*piece);
        assert!(
            beyond == 0 || beyond <= fragments::AHEAD_MAX && *piece < *missing,
            "driver should not append more bytes than the body lacks"
        );
        *missing = missing.saturating_sub(count.min(*piece));
        *piece = piece.saturating_sub(count);
        *ahead = beyond as u8; // At most `AHEAD_MAX`.
        beyond == fragments::AHEAD_MAX && self.0.begin_next_fragment()
    }
}

/// A protocol violation by the peer. The connection must be closed, because the start of the next packet is unknown.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The packet header starts with the given two bytes instead of [`MAGIC`].
    BadMagic(u16),
    /// The peer sent bytes of another known protocol, such as HTTP or TLS.
    OtherProtocol(OtherProtocol),
    /// The peer uses TLS, but this end does not: a TLS record was received in place of [`MAGIC`].
    SpeaksTls,
    /// The body length in a header exceeds the limit.
    TooLong {
        /// Length of the body in bytes, as announced by the header.
        length: u32,
        /// Maximum body length in bytes.
        limit: u32,
    },
    /// A PING or PONG has a body. Go peers would interpret it as the next header.
    KeepaliveWithBody {
        /// Length of the body in bytes, as announced by the header.
        length: u32,
    },
    /// The body of a CREDIT, END, HAND_OFF, BATCH or EXTENSION packet is malformed.
    Malformed(Operation),
    /// The peer sent an invalid HELLO.
    Hello(HelloError),
    /// An [`Operation::EXTENSION`] packet has an unknown type that the receiver must understand.
    NotUnderstood(PacketId),
    /// The peer sent a packet while waiting for a hand-off reply, or sent a hand-off reply without a request.
    HandOff,
    /// The peer sent an invalid fragment, or a packet that must not overtake an incomplete one.
    Fragment(FragmentError),
    /// The peer exceeded the limit of 20 PINGs per second with a burst of 40, or sent too many useless packets.
    Flood,
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
            Self::Fragment(error) => write!(f, "malformed FRAGMENT: {error}"),
            Self::Flood => f.write_str("too many PINGs or useless packets"),
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

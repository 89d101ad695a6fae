//! Assembly of packets that arrive in fragments.

use super::{DIRECT_MIN, Decoder, Partial, ProtocolError};
use crate::hello::HELLO_MAX;
use crate::{BodyMemory, Header, Operation, Packet, PacketId, extension, tlv};
use bytes::{Buf, Bytes};
use std::fmt;

/// Maximum length in bytes of a fragment's head: the channel and, in the first fragment of a packet, the packet's
/// operation, id and length as varints.
const HEAD_MAX: usize = 1 + 3 * 10;

/// Minimum length in bytes of a fragment, except for the last one of a packet. Shorter fragments are charged as useless
/// packets, because handling them costs more than handling whole packets.
pub(crate) const FRAGMENT_LEAST: usize = 1024;

/// Pseudo-channel of a fragment with a partially received head. Above every valid channel.
pub(super) const HEAD: u8 = u8::MAX;

/// Maximum number of bytes that are read past the end of a fragment. They contain the packet header and the channel of
/// the next fragment, so that each fragment takes one read.
pub(super) const AHEAD_MAX: usize = Header::MAX_LEN + 1;

impl Decoder {
    /// Sets the number of channels that the peer may send fragments on.
    pub(crate) fn set_channels(&mut self, channels: u8) {
        self.channels = channels;
    }

    /// Returns whether the packet with this header is a fragment that can be read directly into the body of its packet.
    /// `input` is the start of the fragment.
    pub(super) fn is_open_fragment(&self, header: Header, input: &[u8]) -> bool {
        let is_open = |channel: &u8| self.partials().any(|partial| partial.channel == *channel);
        let has_head = input.len() >= HEAD_MAX.min(header.length as usize) || input.first().is_some_and(is_open);
        has_head && self.is_fragment(header)
    }

    fn is_fragment(&self, header: Header) -> bool {
        self.channels > 0 && header.operation == Operation::EXTENSION && header.id == extension::FRAGMENT
    }

    /// Creates the state for assembling a packet with an incomplete body. For a long fragment, buffers only the head,
    /// because the rest is read directly into the body of the fragmented packet.
    pub(super) fn partial(&self, header: Header) -> Partial {
        let mut partial = Partial::new(header, self.last);
        if self.is_fragment(header) && partial.missing > HEAD_MAX {
            partial.received = BodyMemory::new(HEAD_MAX, None);
            (partial.piece, partial.channel) = (HEAD_MAX, HEAD);
        }
        partial
    }

    /// Begins a fragment after its head has been assembled, and decodes the next packet.
    #[cold]
    pub(super) fn begin_assembled(&mut self, input: &mut Bytes) -> Result<Option<Packet>, ProtocolError> {
        let Some(partial) = self.body.take() else { return Ok(None) };
        let Partial { header, received, next, .. } = *partial;
        self.body = next;
        let mut head = received.freeze();
        self.begin_fragment(header.length as usize, &mut head)?;
        let packet = self.continue_body(&mut head);
        if packet.is_some() { Ok(packet) } else { self.next(input) }
    }

    /// Removes and returns the bytes that were read past the end of a fragment.
    pub(super) fn take_ahead(&mut self) -> Bytes {
        let Some(partial) = self.body.as_mut().filter(|partial| partial.ahead > 0) else { return Bytes::new() };
        let count = usize::from(std::mem::take(&mut partial.ahead));
        let buffer = partial.received.buffer();
        buffer.split_off(buffer.len().saturating_sub(count)).into()
    }

    /// Decodes the bytes that were read past the end of a fragment.
    #[cold]
    pub(super) fn next_ahead(&mut self, mut ahead: Bytes) -> Result<Option<Packet>, ProtocolError> {
        let Some(header) = self.header(&mut ahead)? else { return Ok(None) };
        if header.length > self.limit {
            self.check_long(header)?;
        }
        if ahead.len() < header.length as usize {
            return self.begin_body(header, &mut ahead);
        }
        let body = ahead.split_to(header.length as usize);
        let next = self.header(&mut ahead)?;
        debug_assert_eq!(next, None, "at most a byte of the next header should be left");
        Ok(Some(Packet { id: header.id, operation: header.operation, body }))
    }

    /// Adds the body of a fragment to its packet. Returns the packet if it is complete.
    pub(crate) fn add_fragment(&mut self, mut body: Bytes) -> Result<Option<Packet>, ProtocolError> {
        self.begin_fragment(body.len(), &mut body)?;
        Ok(self.continue_body(&mut body))
    }

    /// Begins a fragment with a body of `length` bytes. `input` must contain at least the fragment's head.
    #[cold]
    pub(super) fn begin_fragment(&mut self, length: usize, input: &mut Bytes) -> Result<(), ProtocolError> {
        let mut rest = &input[..];
        let Some((&channel, after)) = rest.split_first() else { return Err(FragmentError::Head.into()) };
        rest = after;
        let mut partial = match self.take_partial(channel) {
            Some(partial) => partial,
            None if channel >= self.channels => {
                return Err(FragmentError::Channel { channel, count: self.channels }.into());
            }
            None => Box::new(Partial { channel, ..Partial::new(self.header_of_packet(&mut rest)?, self.last) }),
        };
        let head = input.len().saturating_sub(rest.len());
        partial.piece = length.saturating_sub(head);
        // Reject empty fragments. They make no progress, so a peer could send them endlessly for one packet.
        if partial.piece == 0 || partial.piece > partial.missing {
            return Err(FragmentError::Length { length: partial.piece, missing: partial.missing }.into());
        }
        partial.fragment = partial.piece;
        input.advance(head);
        // Insert at the front of the list, because `continue_body` appends to its first entry.
        partial.next = self.body.take();
        self.body = Some(partial);
        Ok(())
    }

    /// Returns the incomplete packets.
    pub(super) fn partials(&self) -> impl Iterator<Item = &Partial> {
        std::iter::successors(self.body.as_deref(), |partial| partial.next.as_deref())
    }

    /// Removes the incomplete packet of a channel from the list.
    fn take_partial(&mut self, channel: u8) -> Option<Box<Partial>> {
        let mut link = &mut self.body;
        while link.as_ref()?.channel != channel {
            link = &mut link.as_mut()?.next;
        }
        let mut partial = link.take()?;
        *link = partial.next.take();
        Some(partial)
    }

    /// Decodes the operation, the id and the length of a packet from its first fragment.
    fn header_of_packet(&self, head: &mut &[u8]) -> Result<Header, ProtocolError> {
        let mut number = || tlv::take_varint(head).ok_or(FragmentError::Head);
        let (operation, id, length) = (number()?, number()?, number()?);
        let operation = u16::try_from(operation).ok().map(|number| match Operation::user(number) {
            None if number == Operation::STREAM.number() => Some(Operation::STREAM),
            operation => operation,
        });
        let (Some(Some(operation)), Ok(id)) = (operation, u16::try_from(id)) else {
            return Err(FragmentError::Head.into());
        };
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        if length > self.limit {
            return Err(ProtocolError::TooLong { length, limit: self.limit });
        }
        self.check_order(&Packet::new(PacketId(id), operation, Bytes::new()))?;
        Ok(Header { id: PacketId(id), operation, length })
    }

    /// Checks that a packet may arrive between the fragments of the incomplete packets.
    #[inline]
    pub(crate) fn check_order(&self, packet: &Packet) -> Result<(), ProtocolError> {
        if self.body.is_none() { Ok(()) } else { self.check_order_of(packet) }
    }

    #[cold]
    fn check_order_of(&self, packet: &Packet) -> Result<(), ProtocolError> {
        match self.partials().find(|partial| packet.must_follow(partial.header)) {
            Some(partial) => Err(FragmentError::Order { operation: packet.operation, id: partial.header.id }.into()),
            None => Ok(()),
        }
    }
}

impl Packet {
    /// Returns whether this packet must not overtake the incomplete packet with this header.
    pub(crate) fn must_follow(&self, incomplete: Header) -> bool {
        let is_of_stream = incomplete.operation == Operation::STREAM;
        match self.operation {
            // CREDIT may overtake the messages of its stream, because it concerns the other direction.
            Operation::CREDIT => false,
            Operation::CANCEL => !is_of_stream && self.id == incomplete.id,
            operation if operation.is_reserved() => is_of_stream && self.stream() == Some(incomplete.id),
            operation => operation == incomplete.operation && self.id == incomplete.id,
        }
    }
}

impl Partial {
    pub(super) fn new(header: Header, last: u32) -> Self {
        let missing = header.length as usize;
        let received = BodyMemory::default();
        let (piece, fragment) = (missing, missing);
        let is_discarded = false;
        Self { header, received, missing, piece, fragment, channel: 0, ahead: 0, is_discarded, last, next: None }
    }

    /// Begins the next fragment if the bytes that were read past the end of the last one are the start of another
    /// fragment of this packet. Returns whether they were. Leaves all other packets to [`Decoder::next`], including
    /// short and invalid fragments.
    pub(super) fn begin_next_fragment(&mut self) -> bool {
        let Some((rest, [head @ .., channel])) = self.received.buffer().split_last_chunk::<AHEAD_MAX>() else {
            return false;
        };
        let Ok(Header { id, operation, length }) = Header::decode(head) else { return false };
        let length = (length as usize).saturating_sub(1);
        let is_next = (id, operation, *channel) == (extension::FRAGMENT, Operation::EXTENSION, self.channel);
        if !is_next || !(DIRECT_MIN.min(self.missing)..=self.missing.min(HELLO_MAX as usize)).contains(&length) {
            return false;
        }
        let end = rest.len();
        self.received.buffer().truncate(end);
        (self.piece, self.fragment, self.ahead) = (length, length, 0);
        true
    }
}

/// Reason why a fragment is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FragmentError {
    /// The channel was not announced by the receiver.
    Channel {
        /// Channel of the fragment.
        channel: u8,
        /// Number of channels that the receiver has announced.
        count: u8,
    },
    /// The head of the fragment is malformed, or its packet must not be sent in fragments.
    Head,
    /// The fragment is empty, or longer than the rest of its packet.
    Length {
        /// Length of the fragment's part of the body in bytes.
        length: usize,
        /// Number of bytes that the packet still lacks.
        missing: usize,
    },
    /// A packet has overtaken a fragmented packet that it must follow.
    Order {
        /// Operation of the packet that arrived too early.
        operation: Operation,
        /// Id of the incomplete packet.
        id: PacketId,
    },
}

impl fmt::Display for FragmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel { channel, count } => write!(f, "channel {channel} is not among the {count} announced ones"),
            Self::Head => f.write_str("its channel, operation, id or length is missing or invalid"),
            Self::Length { length, missing } => write!(f, "it has {length} bytes, but its packet lacks {missing}"),
            Self::Order { operation, id } => write!(f, "a packet of {operation} overtook the incomplete packet {id}"),
        }
    }
}

impl std::error::Error for FragmentError {}

impl From<FragmentError> for ProtocolError {
    fn from(error: FragmentError) -> Self {
        Self::Fragment(error)
    }
}

#[cfg(test)]
mod tests;

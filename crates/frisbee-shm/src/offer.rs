//! Handshake messages on the socket, and their descriptors.
//!
//! ```text
//! client                                server
//!   OFFER   the largest rings it takes ->
//!                                       <- ACCEPTED  the same for both; a page of memory and two pipes beside it
//!   CONFIRMED                          ->
//! ```
//!
//! Later either end may send `RING` with a descriptor of new memory, to continue in a larger ring.
//!
//! A server may reply `REFUSED` and a client `DECLINED`; the socket then carries the connection. In every version a
//! message has sixteen bytes and is written at once, so it is received as a whole or is malformed:
//!
//! | bytes | |
//! |---|---|
//! | 0 to 7 | the magic |
//! | 8, 9 | the version, big-endian |
//! | 10, 11 | the kind of message |
//! | 12 to 15 | the size of a ring, or zero |

use crate::received::Received;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};

/// Prefix of handshake messages, which cannot occur in other protocols. It is not valid UTF-8 and therefore no HTTP
/// request, and it is not a TLS record. As a frisbee header without a magic number, which older peers send, it would
/// state a length of 4 GiB.
pub(crate) const MAGIC: [u8; 8] = [0xF5, b'S', b'H', b'M', 0xFF, 0xFF, b'\r', b'\n'];

pub(crate) const VERSION: u16 = 2;

/// Length of every handshake message in bytes.
pub(crate) const LEN: usize = 16;

/// Number of descriptors sent with `ACCEPTED`: the memory, and the wake-up pipes of client and server.
pub(crate) const DESCRIPTORS: usize = 3;

/// Maximum number of slices per system call, which is Linux's `UIO_MAXIOV`.
const SLICES_MAX: usize = 1024;

/// A message of the handshake that sets up shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Message {
    pub(crate) version: u16,
    pub(crate) content: OfferContent,
    pub(crate) ring: u32,
}

/// Kind of a handshake message. Its value is the number on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OfferContent {
    Offer = 1,
    Accepted = 2,
    Refused = 3,
    Confirmed = 4,
    Declined = 5,
    Ring = 6,
}

impl Message {
    pub(crate) fn new(content: OfferContent, ring: u32) -> Self {
        Self { version: VERSION, content, ring }
    }

    pub(crate) fn encode(self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&self.version.to_be_bytes());
        bytes[10..12].copy_from_slice(&(self.content as u16).to_be_bytes());
        bytes[12..].copy_from_slice(&self.ring.to_be_bytes());
        bytes
    }

    /// Decodes a handshake message. Returns `None` if it is malformed.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let [magic @ .., v0, v1, s0, s1, r0, r1, r2, r3] = <&[u8; LEN]>::try_from(bytes).ok()?;
        if *magic != MAGIC {
            return None;
        }
        let content = [
            OfferContent::Offer,
            OfferContent::Accepted,
            OfferContent::Refused,
            OfferContent::Confirmed,
            OfferContent::Declined,
            OfferContent::Ring,
        ];
        let code = u16::from_be_bytes([*s0, *s1]);
        let content = content.into_iter().find(|content| *content as u16 == code)?;
        let ring = u32::from_be_bytes([*r0, *r1, *r2, *r3]);
        Some(Self { version: u16::from_be_bytes([*v0, *v1]), content, ring })
    }
}

/// Peeks at the handshake message on a socket without consuming it. Returns `None` for anything else, including the end
/// of the stream.
pub(crate) fn peek(socket: impl AsFd) -> io::Result<Option<Message>> {
    let mut bytes = [0; LEN];
    let (_, count) = rustix::net::recv(socket, &mut bytes, RecvFlags::PEEK | RecvFlags::DONTWAIT)?;
    Ok(bytes.get(..count).and_then(Message::decode))
}

/// Receives a handshake message from a socket. Returns `None` for anything else, including the end of the stream.
pub(crate) fn take(socket: impl AsFd) -> io::Result<Option<Message>> {
    let mut bytes = [0; LEN];
    let (_, count) = rustix::net::recv(socket, &mut bytes, RecvFlags::DONTWAIT)?;
    Ok(bytes.get(..count).and_then(Message::decode))
}

/// Receives a handshake message with its descriptors. Returns `None` for anything else.
pub(crate) fn take_with_descriptors(socket: impl AsFd) -> io::Result<Option<(Message, Received)>> {
    let mut bytes = [0; LEN];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let read = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags)?;
    let mut descriptors = Received::default();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.0.extend(received);
        }
    }
    // Descriptors are missing if this process is at its limit. Drop all of them, so that the message fails the check of
    // their number.
    if read.flags.contains(ReturnFlags::CTRUNC) {
        descriptors = Received::default();
    }
    Ok(bytes.get(..read.bytes).and_then(Message::decode).map(|message| (message, descriptors)))
}

/// Sends a whole handshake message. It always fits into the socket buffer, because only a few such messages are sent.
pub(crate) fn send(socket: impl AsFd, message: Message, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many descriptors"));
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    let sent = rustix::net::sendmsg(socket, &[IoSlice::new(&message.encode())], &mut ancillary, flags)?;
    if sent == LEN { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// Sends bytes over the socket of a connection that does not share memory. Unlike std's `write_vectored`, it does not
/// raise SIGPIPE if the peer has closed the socket.
pub(crate) fn send_bytes(socket: impl AsFd, from: &[IoSlice<'_>]) -> io::Result<usize> {
    let from = from.get(..SLICES_MAX).unwrap_or(from);
    Ok(rustix::net::sendmsg(socket, from, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn offer_bytes_match_no_other_protocol() {
        let bytes = Message::new(OfferContent::Offer, 65_536).encode();
        assert!(std::str::from_utf8(&bytes[..1]).is_err(), "no text, and so no request of HTTP");
        assert!(!(20..=24).contains(&bytes[0]) && bytes[0] != 0x80, "no record of TLS");
        assert_ne!(bytes[..2], [0x00, 0x0F], "no frame");
        let length = u32::from_be_bytes(bytes[4..8].try_into().expect("prefix should contain a four-byte length"));
        assert!(length > 4_000_000_000, "no header without a magic");
    }

    #[test]
    fn truncated_or_overlong_offer_is_rejected() {
        let bytes = Message::new(OfferContent::Offer, 4096).encode();
        assert_eq!(Message::decode(&bytes), Some(Message::new(OfferContent::Offer, 4096)));
        assert!((0..LEN).all(|count| Message::decode(&bytes[..count]).is_none()));
        assert_eq!(Message::decode(&[&bytes[..], &[0]].concat()), None);
    }

    proptest! {
        #[test]
        fn decoded_messages_are_encoded_alike(magic: bool, mut bytes: [u8; LEN], content in 0..8_u8) {
            if magic {
                bytes[..8].copy_from_slice(&MAGIC);
                bytes[10..12].copy_from_slice(&[0, content]);
            }
            if let Some(message) = Message::decode(&bytes) {
                prop_assert_eq!(message.encode(), bytes);
            }
        }
    }
}

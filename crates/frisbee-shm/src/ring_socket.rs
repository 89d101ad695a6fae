//! Sending and receiving rings on the socket of a connection.

use crate::memory::Memory;
use crate::offer::{self, Message, OfferContent};
use rustix::net::RecvFlags;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Peeks at a socket. Returns 1 if bytes are available and 0 at the end of the stream.
pub(crate) fn peek(socket: impl AsFd) -> io::Result<usize> {
    Ok(rustix::net::recv(socket, &mut [0], RecvFlags::PEEK | RecvFlags::DONTWAIT)?.1)
}

/// Creates a ring and sends its memory to the peer. Fails with `WouldBlock` until the peer has received the previous
/// one, because unreceived messages use memory of this end.
pub(crate) fn send_ring(socket: BorrowedFd<'_>, size: u32) -> io::Result<Memory> {
    if crate::memory::unread(socket)? > 0 {
        return Err(io::Error::new(io::ErrorKind::WouldBlock, "the peer has not received the previous ring"));
    }
    let (ring, file) = Memory::create(size)?;
    offer::send(socket, Message::new(OfferContent::Ring, size), &[file.as_fd()])?;
    Ok(ring)
}

/// Receives the memory of a ring from the peer. Returns `None` if there is no message or the ring is not valid.
pub(crate) fn receive_ring(socket: BorrowedFd<'_>, ring_max: u32) -> io::Result<Option<Memory>> {
    match offer::take_with_descriptors(socket) {
        Ok(Some((Message { content: OfferContent::Ring, ring, .. }, descriptors))) if ring <= ring_max => {
            // Use the first descriptor and close the others.
            let file = descriptors.first().ok_or_else(|| io::Error::other("the peer's ring has no descriptor"))?;
            Memory::map(file, ring).map(Some)
        }
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

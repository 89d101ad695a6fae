//! Rings as messages on the socket of a connection.

use crate::memory::Memory;
use crate::offer::{self, Message, OfferContent};
use rustix::net::RecvFlags;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// The number of bytes at the beginning of a socket, up to one, which stay there; zero at its end.
pub(crate) fn peek(socket: impl AsFd) -> io::Result<usize> {
    Ok(rustix::net::recv(socket, &mut [0], RecvFlags::PEEK | RecvFlags::DONTWAIT)?.1)
}

/// Makes a ring and sends it to the peer; `WouldBlock` while the peer has not received an earlier one, since unreceived
/// messages take memory of this end.
#[cold]
pub(crate) fn send_ring(socket: BorrowedFd<'_>, size: u32) -> io::Result<Memory> {
    if crate::memory::unread(socket)? > 0 {
        return Err(io::Error::new(io::ErrorKind::WouldBlock, "the peer has not received the previous ring"));
    }
    let (ring, file) = Memory::create(size)?;
    offer::send(socket, Message::new(OfferContent::Ring, size), &[file.as_fd()])?;
    Ok(ring)
}

/// Receives a ring that the peer has sent; `None` if the next message is something else, or there is none.
#[cold]
pub(crate) fn receive_ring(socket: BorrowedFd<'_>, ring_max: u32) -> io::Result<Option<Memory>> {
    match offer::take_with_descriptors(socket) {
        Ok(Some((Message { content: OfferContent::Ring, ring, .. }, descriptors))) if ring <= ring_max => {
            // Further descriptors are closed.
            let file = descriptors.first().ok_or_else(|| io::Error::other("the peer's ring has no descriptor"))?;
            Memory::map(file, ring).map(Some)
        }
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

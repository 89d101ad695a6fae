//! A connection between two generations, which carries messages with descriptors.

use crate::error::RestartError;
use crate::protocol::{Message, SOCKETS_MAX};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use tokio::io::Interest;
use tokio::net::UnixStream;

/// Maximum number of descriptors in a message: all sockets plus the control socket.
const DESCRIPTORS_MAX: usize = SOCKETS_MAX + 1;

/// Maximum number of bytes per read, which most messages do not reach.
const READ: usize = 4096;

/// Flags of a read. Received descriptors are closed on exec, so that child processes do not inherit them.
#[cfg(target_os = "linux")]
const FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const FLAGS: RecvFlags = RecvFlags::empty();

/// Flags of a write. Without them, SIGPIPE would kill a process that does not ignore it. On Apple systems mio sets a
/// socket option instead.
#[cfg(not(target_vendor = "apple"))]
const SEND_FLAGS: SendFlags = SendFlags::NOSIGNAL;
#[cfg(target_vendor = "apple")]
const SEND_FLAGS: SendFlags = SendFlags::empty();

#[derive(Debug)]
pub(crate) struct Wire {
    socket: UnixStream,
    unread: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl Wire {
    /// Creates a connection from a connected Unix socket. Fails if the peer belongs to another user.
    pub(crate) fn new(socket: UnixStream) -> Result<Self, RestartError> {
        let peer = socket.peer_cred().map_err(RestartError::io("reading the credentials of the other process"))?;
        if peer.uid() != rustix::process::geteuid().as_raw() {
            return Err(RestartError::OtherUser { user: peer.uid() });
        }
        Ok(Self { socket, unread: Vec::new(), descriptors: Vec::new() })
    }

    /// Sends a message along with at most [`DESCRIPTORS_MAX`] descriptors.
    pub(crate) async fn send(&mut self, message: &Message, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let bytes = message.encode();
        let (mut unsent, mut descriptors) = (&bytes[..], descriptors);
        while !unsent.is_empty() {
            let send = || {
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
                let mut ancillary = SendAncillaryBuffer::new(&mut space);
                if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many descriptors"));
                }
                Ok(rustix::net::sendmsg(&self.socket, &[IoSlice::new(unsent)], &mut ancillary, SEND_FLAGS)?)
            };
            let sent = self.socket.async_io(Interest::WRITABLE, send).await?;
            unsent = unsent.get(sent..).unwrap_or_default();
            descriptors = &[];
        }
        Ok(())
    }

    /// Receives the next message and its descriptors, or `None` at the end of input.
    pub(crate) async fn receive(&mut self) -> Result<Option<(Message, Vec<OwnedFd>)>, RestartError> {
        loop {
            if let Some(length) = Message::length(&self.unread).map_err(RestartError::Protocol)?
                && let Some(bytes) = self.unread.get(..length)
            {
                let message = Message::decode(bytes).map_err(RestartError::Protocol)?;
                self.unread.drain(..length);
                return Ok(Some((message, std::mem::take(&mut self.descriptors))));
            }
            match self.read().await {
                Ok(0) if self.unread.is_empty() => return Ok(None),
                Ok(0) => return Err(RestartError::Protocol("a message is cut off")),
                Ok(_) => {}
                // A reset is equivalent to the end of input, because the process closed the connection with unread
                // bytes.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return Err(RestartError::Protocol("more descriptors than there may be"));
                }
                Err(source) => return Err(RestartError::Io { doing: "reading from the other process", source }),
            }
        }
    }

    /// Makes later messages of the other process fail. Linux still delivers those that have already arrived, while
    /// Apple systems may discard them.
    pub(crate) fn shut_down(&self) {
        // Ignore the error: the connection has already ended.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
    }

    /// Reads from the socket once and returns the number of bytes received.
    async fn read(&mut self) -> io::Result<usize> {
        let mut bytes = [0; READ];
        let (socket, descriptors) = (&self.socket, &mut self.descriptors);
        let read = || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let read = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, FLAGS)?;
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(received) = message {
                    descriptors.extend(received);
                }
            }
            let is_cut_off = read.flags.contains(rustix::net::ReturnFlags::CTRUNC);
            if is_cut_off || descriptors.len() > DESCRIPTORS_MAX {
                return Err(io::Error::from(io::ErrorKind::InvalidData));
            }
            Ok(read.bytes)
        };
        let count = socket.async_io(Interest::READABLE, read).await?;
        self.unread.extend_from_slice(bytes.get(..count).unwrap_or_default());
        #[cfg(not(target_os = "linux"))]
        for descriptor in &self.descriptors {
            rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC)?;
        }
        Ok(count)
    }
}

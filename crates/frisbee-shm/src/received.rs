//! Descriptors that a peer has sent, and how they are closed.
//!
//! A peer may send any descriptor that it has open. Closing some of them waits for their creator: the last reference to
//! a socket that lingers, or a file whose file system is a process. Descriptors that are neither memory nor a pipe are
//! therefore closed by a separate thread. While such threads do not end, no memory is shared with further peers.

use std::io;
use std::ops::Deref;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The limit of threads that wait for such a close. An honest peer sends no such descriptor.
const CLOSING_MAX: usize = 8;

static CLOSING: AtomicUsize = AtomicUsize::new(0);

/// Descriptors that a peer has sent.
#[derive(Debug, Default)]
pub(crate) struct Received(pub(crate) Vec<OwnedFd>);

impl Deref for Received {
    type Target = [OwnedFd];

    fn deref(&self) -> &[OwnedFd] {
        &self.0
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        let others: Vec<_> = self.0.drain(..).filter(|descriptor| !closes_at_once(descriptor)).collect();
        if !others.is_empty() {
            let closing = Closing::begin();
            let close = move || {
                let _closing = closing;
                drop(others);
            };
            // Without a thread they are closed here.
            let _ = std::thread::Builder::new().name("frisbee-shm".into()).spawn(close);
        }
    }
}

struct Closing(());

impl Closing {
    fn begin() -> Self {
        CLOSING.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        CLOSING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Fails while too much that peers have sent cannot be closed.
pub(crate) fn check_closing() -> io::Result<()> {
    if CLOSING.load(Ordering::Relaxed) < CLOSING_MAX {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "descriptors of other peers cannot be closed"))
}

/// Whether a descriptor is memory or a pipe.
pub(crate) fn closes_at_once(descriptor: &OwnedFd) -> bool {
    is_pipe(descriptor) || rustix::fs::fcntl_get_seals(descriptor).is_ok()
}

/// Whether a descriptor is a pipe, by its name, which is not one that a file can have.
pub(crate) fn is_pipe(descriptor: &OwnedFd) -> bool {
    let path = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    rustix::fs::readlink(path, Vec::new()).is_ok_and(|name| name.to_bytes().starts_with(b"pipe:["))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read};
    use std::os::unix::net::UnixStream;

    #[test]
    fn received_descriptors_are_closed_slow_ones_by_a_thread() {
        let (here, there) = UnixStream::pair().expect("socket pair should be created");
        let (mut reader, writer) = io::pipe().expect("there are pipes");
        let (_, memory) = crate::memory::Memory::create(4096).expect("memory should be available");
        assert!(closes_at_once(&memory));
        let there = there.into();
        assert!(!closes_at_once(&there));
        let writer = writer.into();
        assert!(closes_at_once(&writer));
        drop(Received(vec![memory, there, writer]));
        assert_eq!(reader.read(&mut [0]).expect("read should succeed"), 0, "the pipe has been closed here");
        assert_eq!((&here).read(&mut [0]).expect("read should succeed"), 0, "a thread closes the socket");
    }

    #[test]
    fn no_memory_is_shared_while_too_much_cannot_be_closed() {
        let mut closing: Vec<_> = (0..CLOSING_MAX).map(|_| Closing::begin()).collect();
        assert_eq!(check_closing().expect_err("that is too much").kind(), ErrorKind::ResourceBusy);
        closing.clear();
        // Another test may have something closed at the moment.
        check_closing().expect("nothing is being closed any more");
    }
}

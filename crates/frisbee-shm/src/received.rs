//! Descriptors received from a peer, and how they are closed.
//!
//! A peer may send any descriptor. Closing some of them blocks, for example the last reference to a lingering socket,
//! or a file on a FUSE file system. Descriptors that are neither memory nor a pipe are therefore closed by a separate
//! thread. While too many such threads are blocked, no memory is shared with further peers.

use std::io;
use std::ops::Deref;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of threads that are blocked in closing descriptors. Closing a descriptor that a correct peer sends
/// never blocks.
const CLOSING_MAX: usize = 8;

pub(crate) static CLOSING: Closing = Closing(AtomicUsize::new(0));

/// Descriptors received from a peer, which are closed without blocking the current thread.
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
            let closing = CLOSING.begin();
            let close = move || {
                let _closing = closing;
                drop(others);
            };
            // If no thread can be started, this closes the descriptors on the current thread.
            let _ = std::thread::Builder::new().name("frisbee-shm".into()).spawn(close);
        }
    }
}

/// Counts the threads that close descriptors.
pub(crate) struct Closing(AtomicUsize);

impl Closing {
    fn begin(&self) -> ClosingThread<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        ClosingThread(self)
    }

    /// Fails while too many threads are blocked in closing descriptors from peers.
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Relaxed) < CLOSING_MAX {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "descriptors of other peers cannot be closed"))
    }
}

/// A thread that is counted until this is dropped.
struct ClosingThread<'a>(&'a Closing);

impl Drop for ClosingThread<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns whether the descriptor is memory or a pipe, which can be closed without blocking.
pub(crate) fn closes_at_once(descriptor: &OwnedFd) -> bool {
    is_pipe(descriptor) || rustix::fs::fcntl_get_seals(descriptor).is_ok()
}

/// Returns whether a descriptor is a pipe, by its link target in `/proc`. No file path can start with `pipe:[`.
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
    fn slow_descriptors_are_closed_by_thread() {
        let (here, there) = UnixStream::pair().expect("socket pair should be created");
        let (mut reader, writer) = io::pipe().expect("pipe should be created");
        let (_, memory) = crate::memory::Memory::create(4096).expect("shared memory should be created");
        assert!(closes_at_once(&memory));
        let there = there.into();
        assert!(!closes_at_once(&there));
        let writer = writer.into();
        assert!(closes_at_once(&writer));
        drop(Received(vec![memory, there, writer]));
        assert_eq!(
            reader.read(&mut [0]).expect("read of the closed pipe should succeed"),
            0,
            "the pipe has been closed here"
        );
        assert_eq!(
            (&here).read(&mut [0]).expect("read of the closed socket should succeed"),
            0,
            "a thread closes the socket"
        );
    }

    #[test]
    fn too_many_pending_closes_block_sharing() {
        let closing = Closing(AtomicUsize::new(0));
        let mut threads: Vec<_> = (0..CLOSING_MAX).map(|_| closing.begin()).collect();
        let error = closing.check().expect_err("shared memory should be rejected at the limit");
        assert_eq!(error.kind(), ErrorKind::ResourceBusy);
        drop(threads.pop());
        closing.check().expect("shared memory should be accepted below the limit");
    }
}

//! Bells, which wake a peer that sleeps: a pipe for each direction, into which a byte is written.
//!
//! Each process reopens the pipes, by `/proc/self/fd`, and so has its own file descriptions. Whether a description
//! blocks is a property that all its holders can change, and a peer could set it to block, so writing to it would be
//! unsafe; that rules out an eventfd, which cannot be reopened. Both are open for reading and writing, so that no write
//! finds a pipe without a reader, which would be a signal that ends processes.
//!
//! # Decisions
//!
//! A write that wakes a peer must never block. An eventfd can be made blocking by the peer, since the flag belongs to
//! the file description shared by both ends. A pipe can be reopened by `/proc/self/fd`, so each end has its own
//! description. A wake-up costs 0.13 µs more than by an eventfd and 1.1 µs less than by a byte on a Unix socket.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::task::{Context, Poll};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// After how many bells those that have been heard are taken out of the pipe. Each wakes by itself, so there is no need
/// to do it every time; a pipe of one page has room for 4096.
const DRAINED_AFTER: u32 = 32;

/// The size of a pipe: the least, since the pages that the pipes of a user may have are counted.
const PIPE: usize = 4096;

/// The bell of this end, which the peer rings, and that of the peer.
#[derive(Debug)]
pub(crate) struct Bells {
    own: AsyncFd<OwnedFd>,
    peer: OwnedFd,
    heard: u32,
}

impl Bells {
    /// Reopens both pipes and registers them with the current runtime.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub(crate) fn open(own: &OwnedFd, peer: &OwnedFd) -> io::Result<Self> {
        Ok(Self { own: register(reopen(own)?)?, peer: reopen(peer)?, heard: 0 })
    }

    /// Moves the own bell to the current runtime. Rings of the interval are received there.
    pub(crate) fn move_to_current_runtime(&mut self) -> io::Result<()> {
        self.own = register(self.own.get_ref().try_clone()?)?;
        Ok(())
    }

    /// Rings the bell of the peer.
    pub(crate) fn ring(&self) -> io::Result<()> {
        ring(&self.peer)
    }

    /// The own bell and that of the peer, which no runtime watches any more.
    pub(crate) fn into_pipes(self) -> (OwnedFd, OwnedFd) {
        (self.own.into_inner(), self.peer)
    }

    /// Ready if the bell has rung since it was last heard; otherwise the task is woken when it does.
    pub(crate) fn poll_rung(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut ready = std::task::ready!(self.own.poll_read_ready(context))?;
        ready.clear_ready();
        self.heard += 1;
        if self.heard == DRAINED_AFTER {
            self.heard = 0;
            drain(self.own.get_ref());
        }
        Poll::Ready(Ok(()))
    }
}

/// Rings a bell.
pub(crate) fn ring(bell: &OwnedFd) -> io::Result<()> {
    match rustix::io::write(bell, &[1]) {
        // The peer has so many bells to hear that one more says nothing new.
        Ok(_) | Err(Errno::AGAIN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Drains a bell. Bytes that do not fit stay for the next time.
pub(crate) fn drain(bell: &OwnedFd) {
    let _ = rustix::io::read(bell, &mut [0; PIPE]);
}

/// Creates a bell: a pipe, by one of its ends.
pub(crate) fn create() -> io::Result<OwnedFd> {
    let (end, _) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    // A larger one does as well.
    let _ = rustix::pipe::fcntl_setpipe_size(&end, PIPE);
    Ok(end)
}

/// Reopens a pipe. Anything else is refused: opening a file of the peer's choice might never return.
pub(crate) fn reopen(pipe: &OwnedFd) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    if !crate::received::is_pipe(pipe) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the peer's bell is not a pipe"));
    }
    Ok(rustix::fs::open(&path, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?)
}

/// Has the current runtime watch a pipe.
fn register(pipe: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is open and owned by the registered value, which cannot be replaced or closed before it is
    // dropped, and its number never changes.
    #[allow(unsafe_code)]
    let registered = unsafe { AsyncFd::register_with_interest(pipe, Interest::READABLE) };
    registered.map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    #[tokio::test]
    async fn every_bell_wakes_after_many_bells() {
        let (here, there) = (create().expect("there are pipes"), create().expect("there are pipes"));
        let mut listens = Bells::open(&here, &there).expect("there is /proc");
        let rings = Bells::open(&there, &here).expect("there is /proc");
        for _ in 0..10_000 {
            rings.ring().expect("the pipe is open");
            std::future::poll_fn(|context| listens.poll_rung(context)).await.expect("the pipe is open");
        }
        assert!(listens.poll_rung(&mut Context::from_waker(Waker::noop())).is_pending());
    }

    #[tokio::test]
    async fn full_blocking_pipe_of_the_peer_does_not_block_ringing() {
        let (here, there) = (create().expect("there are pipes"), create().expect("there are pipes"));
        let rings = Bells::open(&here, &there).expect("there is /proc");
        // As a peer can with a received descriptor: it may block, and is full.
        rustix::fs::fcntl_setfl(&there, OFlags::empty()).expect("it is a file");
        for _ in 0..3 * PIPE {
            rings.ring().expect("the pipe is open");
        }
        drop(there);
        rings.ring().expect("there is always a reader");
    }

    #[tokio::test]
    async fn only_pipes_are_bells() {
        let bell = create().expect("there are pipes");
        let file: OwnedFd = tempfile::tempfile().expect("there is room for a file").into();
        let socket: OwnedFd = std::os::unix::net::UnixStream::pair().expect("there are sockets").0.into();
        for other in [&file, &socket] {
            assert!(Bells::open(&bell, other).expect_err("it is no pipe").to_string().contains("not a pipe"));
            assert!(Bells::open(other, &bell).expect_err("it is no pipe").to_string().contains("not a pipe"));
        }
    }
}

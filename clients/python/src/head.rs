//! The heads of long messages, which may leave from a page of their own.
//!
//! The kernel copies what is sent to pages, from the beginning of a page if all that was sent before has been received. A
//! copy whose destination is some bytes above its source, modulo a page, takes four times as long: the processor holds each
//! read to be one of bytes that it has still to write. That is the usual case of an array, for long memory of the allocator
//! begins 16 bytes behind the beginning of a page, and the head in front of the elements takes a bit more. A head that comes
//! through a pipe brings its page with it, and the copy of the rest begins at a page.
#![cfg_attr(target_os = "linux", allow(unsafe_code))]

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;

/// From how many bytes on a message gains more than the pipe costs.
#[cfg(target_os = "linux")]
const LONG: usize = 64 * 1024;

/// Sends the head in front of a long message, if that has to leave apart: how many bytes were sent.
#[cfg(not(target_os = "linux"))]
pub(crate) fn send_apart(_: BorrowedFd<'_>, _: &[IoSlice<'_>]) -> Option<io::Result<usize>> {
    None
}

#[cfg(target_os = "linux")]
pub(crate) use linux::send_apart;

#[cfg(target_os = "linux")]
mod linux {
    use super::{BorrowedFd, IoSlice, LONG, io};
    use crate::fork;
    use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, splice};
    use std::cell::Cell;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::ptr;

    const PAGE: usize = 4096;

    /// How many bytes the destination of a copy is above its source, modulo a page, when that takes long.
    const NEAR: std::ops::Range<usize> = 0..16;

    /// A pipe, empty between two uses.
    struct Pipe {
        read: OwnedFd,
        write: OwnedFd,
        made: fork::Generation,
    }

    thread_local! {
        static PIPE: Cell<Option<Pipe>> = const { Cell::new(None) };
    }

    /// Sends the head in front of a long message, if that has to leave apart: how many bytes were sent.
    pub(crate) fn send_apart(socket: BorrowedFd<'_>, from: &[IoSlice<'_>]) -> Option<io::Result<usize>> {
        let [head, long, ..] = from else { return None };
        let distance = head.len().wrapping_sub(long.as_ptr().addr()) % PAGE;
        if long.len() < LONG || head.is_empty() || head.len() > PAGE || !NEAR.contains(&distance) {
            return None;
        }
        if !ignores_broken_pipes() {
            return None;
        }
        let pipe = PIPE.take().filter(|pipe| pipe.made.check().is_ok()).or_else(open)?;
        // What fails here, such as for want of memory, fails again and is reported where the message is sent at once.
        if rustix::io::write(&pipe.write, head) != Ok(head.len()) {
            return None;
        }
        // The rest follows at once, so nothing is sent for the head alone.
        let flags = SpliceFlags::MORE | SpliceFlags::NONBLOCK;
        match splice(&pipe.read, None, socket, None, head.len(), flags) {
            Ok(sent) => {
                if sent == head.len() {
                    PIPE.set(Some(pipe));
                }
                Some(Ok(sent))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(Err(error.into())),
            Err(_) => None,
        }
    }

    /// A new pipe. That of a process is not for its forks, which would mix their heads.
    #[cold]
    fn open() -> Option<Pipe> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
        Some(Pipe { read, write, made: fork::Generation::current() })
    }

    /// Whether a write to a connection that is gone is an error and no signal, which `splice` cannot choose. Python has it
    /// so, but programs may change it.
    fn ignores_broken_pipes() -> bool {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a null pointer for the new action changes nothing, and the old one is written to memory of its type, of
        // which zeros are a valid value.
        let (asked, action) = unsafe {
            let asked = libc::sigaction(libc::SIGPIPE, ptr::null(), action.as_mut_ptr());
            (asked, action.assume_init())
        };
        asked == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

//! [`Socket`]: a transport over a socket that an event loop watches together with its own sockets. When the socket is
//! ready, the loop drives the runtime.

use crate::buffer;
use crate::loop_runtime::LoopRuntime;
#[cfg(target_os = "linux")]
use frpc::frisbee::send_split;
use parking_lot::Mutex;
use pyo3::prelude::*;
use std::io::{self, IoSlice, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Maximum number of consecutive reads of a socket. Afterwards the event loop runs other callbacks first.
const READS: u32 = 64;

/// A connected, nonblocking TCP or Unix socket.
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn write(&self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        match (self, from) {
            // Use `write` for a single buffer, because it is cheaper than `writev`.
            (Self::Tcp(stream), [one]) => (&*stream).write(one),
            (Self::Unix(stream), [one]) => (&*stream).write(one),
            #[cfg(target_os = "linux")]
            (Self::Tcp(stream), many) => {
                send_split(stream.as_fd(), many).unwrap_or_else(|| (&*stream).write_vectored(many))
            }
            #[cfg(not(target_os = "linux"))]
            (Self::Tcp(stream), many) => (&*stream).write_vectored(many),
            (Self::Unix(stream), many) => (&*stream).write_vectored(many),
        }
    }

    fn shutdown(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Self::Unix(stream) => stream.shutdown(Shutdown::Write),
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

/// A transport over a socket that an event loop watches.
pub(crate) struct Socket {
    shared: Arc<Shared>,
    loop_runtime: Weak<LoopRuntime>,
}

/// State shared by a transport and the event loop's callbacks for its socket.
pub(crate) struct Shared {
    stream: Stream,
    /// States of the two directions of the socket: reading and writing.
    sides: [Mutex<Side>; 2],
}

/// State of one direction of a socket, reading or writing.
#[derive(Default)]
struct Side {
    /// Whether the last attempt to read or write would have blocked.
    is_blocked: bool,
    is_watched: bool,
    /// Number of reads since the last callback of the event loop.
    reads: u32,
    waker: Option<Waker>,
}

pub(crate) const READING: usize = 0;
const WRITING: usize = 1;

impl Socket {
    pub(crate) fn new(stream: Stream, loop_runtime: Weak<LoopRuntime>) -> Self {
        let sides: [Mutex<Side>; 2] = Default::default();
        // Assume that reading would block, because no data can have arrived yet.
        sides[READING].lock().is_blocked = true;
        let shared = Arc::new(Shared { stream, sides });
        if let Some(loop_runtime) = loop_runtime.upgrade() {
            loop_runtime.add(Arc::downgrade(&shared));
        }
        Self { shared, loop_runtime }
    }

    /// Attempts to read or write, unless it is known that this would block.
    fn attempt<T>(
        &self,
        side: usize,
        context: &Context<'_>,
        run: impl FnOnce(&Stream) -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        let mut state = self.shared.sides[side].lock();
        state.reads += u32::from(side == READING);
        // After `READS` reads, wait for the event loop, so that a fast peer cannot starve its other callbacks.
        if !state.is_blocked && state.reads <= READS {
            match run(&self.shared.stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => state.is_blocked = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                done => return Poll::Ready(done),
            }
        }
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            state.waker = Some(context.waker().clone());
        }
        if !std::mem::replace(&mut state.is_watched, true)
            && let Some(loop_runtime) = self.loop_runtime.upgrade()
        {
            let shared = self.shared.clone();
            let weak = Arc::downgrade(&loop_runtime);
            // Register the descriptor in a callback, because asyncio's methods may only be called on the loop's thread.
            loop_runtime.sender.leave(Box::new(move |py| watch(py, shared, side, &weak)));
        }
        Poll::Pending
    }
}

impl Shared {
    /// Allows another attempt to read or write. Returns whether a task is waiting for that.
    pub(crate) fn free(&self, side: usize) -> bool {
        let mut state = self.sides[side].lock();
        state.is_blocked = false;
        state.reads = 0;
        let waker = state.waker.take();
        // Release the lock before waking, because the woken task locks this side.
        drop(state);
        waker.map(Waker::wake).is_some()
    }
}

/// Registers a callback with the event loop for the socket becoming readable or writable.
fn watch(py: Python<'_>, shared: Arc<Shared>, side: usize, loop_runtime: &Weak<LoopRuntime>) -> PyResult<()> {
    let Some(loop_runtime) = loop_runtime.upgrade() else { return Ok(()) };
    let Some(event_loop) = loop_runtime.event_loop(py)? else { return Ok(()) };
    let fd: RawFd = shared.stream.fd().as_raw_fd();
    let method = if side == READING { "add_reader" } else { "add_writer" };
    event_loop.call_method1(method, (fd, Ready { shared, side, loop_runtime })).map(drop)
}

fn unwatch(py: Python<'_>, shared: &Shared, side: usize, loop_runtime: &LoopRuntime) -> PyResult<()> {
    if !std::mem::take(&mut shared.sides[side].lock().is_watched) {
        return Ok(());
    }
    let Some(event_loop) = loop_runtime.event_loop(py)? else { return Ok(()) };
    let method = if side == READING { "remove_reader" } else { "remove_writer" };
    event_loop.call_method1(method, (shared.stream.fd().as_raw_fd(),)).map(drop)
}

impl Drop for Socket {
    fn drop(&mut self) {
        let Some(loop_runtime) = self.loop_runtime.upgrade() else { return };
        let (shared, weak) = (self.shared.clone(), Arc::downgrade(&loop_runtime));
        // Let the loop remove the descriptor before it is closed, because its number can be reused.
        loop_runtime.sender.leave(Box::new(move |py| {
            let Some(loop_runtime) = weak.upgrade() else { return Ok(()) };
            unwatch(py, &shared, READING, &loop_runtime)?;
            unwatch(py, &shared, WRITING, &loop_runtime)
        }));
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let room = into.remaining();
        let read = ready!(self.attempt(READING, context, |stream| buffer::read_into(stream.fd(), into)))?;
        if (1..room).contains(&read) {
            // The read returned all available data, so the next one would block.
            self.shared.sides[READING].lock().is_blocked = true;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        self.attempt(WRITING, context, |stream| stream.write(&[IoSlice::new(from)]))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.attempt(WRITING, context, |stream| stream.write(from))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.shared.stream.shutdown())
    }
}

/// Python callback that the event loop calls when a socket is readable or writable.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Ready {
    shared: Arc<Shared>,
    side: usize,
    loop_runtime: Arc<LoopRuntime>,
}

#[pymethods]
impl Ready {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        let is_awaited = self.shared.free(self.side);
        // Remove a ready side without a waiting task from the loop, which would otherwise call back continuously.
        if self.side == WRITING || !is_awaited {
            unwatch(py, &self.shared, self.side, &self.loop_runtime)?;
        }
        self.loop_runtime.run_from_loop(py)
    }
}

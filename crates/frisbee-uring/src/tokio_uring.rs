//! The interface of this crate on top of the crate `tokio-uring`, for comparison (feature `tokio-uring`).
//!
//! Its operations are single-shot. Each read holds a buffer until bytes arrive, so an idle connection needs as much
//! memory as an active one. Each turn of its event loop makes two system calls, one to wait and one to submit.

use std::cell::RefCell;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::mpsc as blocking;
use std::task::{Context, Poll, ready};
use std::thread;
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// Maximum number of bytes per read or write.
const BUFFER_LEN: usize = 16 * 1024;

type BoxFuture<T> = Pin<Box<dyn Future<Output = T>>>;
type Make = Box<dyn FnOnce() -> BoxFuture<()> + Send>;

/// A thread that runs tokio-uring. Dropping the worker ends the thread and its tasks.
#[derive(Debug)]
pub struct Worker {
    tasks: mpsc::UnboundedSender<Make>,
}

impl Worker {
    /// Starts a thread that runs a tokio-uring runtime.
    ///
    /// # Errors
    /// If the thread or the ring cannot be created.
    pub fn start(name: String) -> io::Result<Self> {
        let (tasks, mut made) = mpsc::unbounded_channel::<Make>();
        let (report, started) = blocking::channel();
        thread::Builder::new().name(name).spawn(move || {
            let runtime = match tokio_uring::Runtime::new(&tokio_uring::builder()) {
                Ok(runtime) => runtime,
                Err(error) => return drop(report.send(Err(error))),
            };
            let _ = report.send(Ok(()));
            runtime.block_on(async {
                while let Some(make) = made.recv().await {
                    tokio_uring::spawn(tokio::task::unconstrained(make()));
                }
            });
        })?;
        started.recv().unwrap_or_else(|_| Err(io::Error::other("the thread of a ring ended during its start")))?;
        Ok(Self { tasks })
    }

    /// Spawns a task on the worker's thread. `make` runs on that thread, so its future need not be `Send`.
    pub fn spawn<F>(&self, make: impl FnOnce() -> F + Send + 'static)
    where
        F: Future<Output = ()> + 'static,
    {
        let _ = self.tasks.send(Box::new(move || Box::pin(make())));
    }

    /// Returns whether the worker's thread has ended. New tasks are then dropped unpolled.
    pub fn has_ended(&self) -> bool {
        self.tasks.is_closed()
    }

    /// Returns `None`, because tasks already run within a tokio runtime and cannot enter another one.
    pub fn spawner(&self) -> Option<Spawner> {
        None
    }
}

/// A handle to spawn tasks on a [`Worker`]. Never constructed.
#[derive(Clone, Debug)]
pub struct Spawner(std::convert::Infallible);

impl Spawner {
    /// Never called, because no [`Spawner`] is ever created.
    pub fn spawn<F>(&self, _make: impl FnOnce() -> F + Send + 'static)
    where
        F: Future<Output = ()> + 'static,
    {
        match self.0 {}
    }
}

/// Checks whether tokio-uring works on this system.
///
/// # Errors
/// The error of the system.
pub fn probe() -> Result<(), &'static str> {
    static PROBED: std::sync::OnceLock<Result<(), String>> = std::sync::OnceLock::new();
    let probed =
        PROBED.get_or_init(|| Worker::start("frisbee-probe".to_owned()).map(drop).map_err(|error| error.to_string()));
    probed.as_ref().copied().map_err(String::as_str)
}

type Transferred = (io::Result<usize>, Vec<u8>);

/// A TCP socket of a [`Worker`].
pub struct Socket {
    stream: Rc<tokio_uring::net::TcpStream>,
    reading: Option<BoxFuture<Transferred>>,
    received: Vec<u8>,
    read: usize,
    writing: Option<BoxFuture<(io::Result<()>, Vec<u8>)>>,
    spare: RefCell<Vec<u8>>,
}

impl std::fmt::Debug for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Socket").finish_non_exhaustive()
    }
}

impl Socket {
    /// Adds a TCP socket to the ring of the current thread. `_gauge` is never called.
    ///
    /// # Errors
    /// If the socket cannot be set to blocking mode.
    pub fn new(stream: TcpStream, _gauge: impl Fn(usize) + 'static) -> io::Result<Self> {
        // On a nonblocking socket, operations of the ring would fail instead of waiting.
        stream.set_nonblocking(false)?;
        let stream = Rc::new(tokio_uring::net::TcpStream::from_std(stream));
        Ok(Self { stream, reading: None, received: Vec::new(), read: 0, writing: None, spare: RefCell::default() })
    }

    /// Always fails, because a pending read cannot be cancelled without losing its bytes.
    ///
    /// # Errors
    /// Always.
    pub async fn release(self) -> io::Result<(TcpStream, Vec<u8>)> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "tokio-uring cannot return a socket"))
    }

    fn poll_written(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(writing) = &mut self.writing else { return Poll::Ready(Ok(())) };
        let (result, mut buffer) = ready!(writing.as_mut().poll(context));
        self.writing = None;
        buffer.clear();
        self.spare.replace(buffer);
        Poll::Ready(result)
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.read == this.received.len() {
            let reading = this.reading.get_or_insert_with(|| {
                let (stream, mut free) = (this.stream.clone(), std::mem::take(&mut this.received));
                this.read = 0;
                free.clear();
                free.reserve(BUFFER_LEN);
                Box::pin(async move { stream.read(free).await })
            });
            let (result, received) = ready!(reading.as_mut().poll(context));
            this.reading = None;
            (this.received, this.read) = (received, 0);
            if result? == 0 {
                return Poll::Ready(Ok(()));
            }
        }
        let rest = &this.received[this.read..];
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        this.read += count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_written(context))?;
        let count = bytes.len().min(4 * BUFFER_LEN);
        let (stream, mut buffer) = (self.stream.clone(), self.spare.take());
        buffer.extend_from_slice(&bytes[..count]);
        self.writing = Some(Box::pin(async move { stream.write_all(buffer).await }));
        // Poll the write once, because it starts when its future is first polled.
        match self.poll_written(context) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(count)),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_written(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_written(context))?;
        Poll::Ready(self.stream.shutdown(Shutdown::Write))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Shut down the socket, because operations in flight keep it open, and only a shutdown ends a pending read.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// A timer for tasks of a [`Worker`].
#[derive(Debug)]
pub struct Timer(Pin<Box<tokio::time::Sleep>>);

impl Timer {
    /// Creates a timer.
    pub fn new(deadline: Instant) -> Option<Self> {
        Some(Self(Box::pin(tokio::time::sleep_until(deadline.into()))))
    }

    /// Returns the deadline of the timer.
    pub fn deadline(&self) -> Instant {
        self.0.deadline().into_std()
    }

    /// Changes the deadline of the timer.
    pub fn reset(&mut self, deadline: Instant) {
        self.0.as_mut().reset(deadline.into());
    }

    /// Completes when the deadline has passed.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

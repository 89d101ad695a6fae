//! Listening on a path for clients that offer shared memory and for all others.

use crate::handshake::SharingServer;
use crate::sharing::Sharing;
use crate::stream::Stream;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::convert::Infallible;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::time::sleep;

/// Default maximum size of a ring buffer in bytes. With smaller rings long messages use more CPU time than over TCP.
/// Larger rings gain nothing and exceed CPU caches.
const RING_MAX: u32 = 1024 * 1024;

/// Default maximum number of connections that share memory. Sufficient for the processes of one host. With three file
/// descriptors each, they take three quarters of the usual limit of 1024.
const SHARED_MAX: usize = 256;

/// Default maximum memory in bytes that a server shares with all its clients. Equal to the default memory limit of a
/// frisbee server.
const MEMORY_MAX: usize = 256 * 1024 * 1024;

/// Pause after an accept has failed, usually because no file descriptors are left.
const PAUSE: Duration = Duration::from_millis(20);

/// Maximum number of attempts to lock a folder, and the pause between them. Other servers hold the lock only for a few
/// system calls.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// A Unix socket that accepts clients that [offer](crate::connect) shared memory as well as all others.
///
/// ```
/// use frisbee_shm::Listener;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("service.sock");
/// let listener = Listener::bind(&path)?;
/// let mut client = frisbee_shm::connect(&path);
/// # let mut client = std::pin::pin!(client);
/// # let (accepted, client) = tokio::join!(async {
/// #     let mut stream = listener.accept().await?;
/// let mut request = [0; 5];
/// stream.read_exact(&mut request).await?;
/// stream.write_all(&request).await?;
/// #     std::io::Result::Ok(stream)
/// # }, async {
/// #     let mut stream = client.as_mut().await?;
/// #     stream.write_all(b"hello").await?;
/// #     let mut reply = [0; 5];
/// #     stream.read_exact(&mut reply).await?;
/// #     std::io::Result::Ok((stream, reply))
/// # });
/// # assert!(accepted?.is_shared());
/// # assert_eq!(client?.1, *b"hello");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    sharing: Sharing,
    file: Option<File>,
}

impl Listener {
    /// Binds a listener to a path with the default settings.
    ///
    /// # Errors
    /// Like [`ListenerBuilder::bind`].
    ///
    /// # Panics
    /// If called outside of a tokio runtime.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::builder().bind(path)
    }

    /// Returns a builder for a listener with custom settings.
    pub fn builder() -> ListenerBuilder {
        ListenerBuilder::default()
    }

    /// Accepts the next connection. Returns before the handshake, which is part of the first read, so a silent client
    /// does not delay others.
    ///
    /// # Errors
    /// If the operating system reports an error, usually because no file descriptors are left. The listener remains
    /// usable.
    ///
    /// # Cancel safety
    /// Dropping the future loses no connection.
    pub async fn accept(&self) -> io::Result<Stream> {
        let (socket, _) = self.socket.accept().await?;
        Ok(self.sharing.stream(socket))
    }

    /// Accepts connections and serves each by the future that `serve` returns for it, in a separate task of the current
    /// runtime.
    ///
    /// An acceptor of frpc or frisbee is used like this:
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let acceptor = frpc::Server::builder().build()?;
    /// let listener = frisbee_shm::Listener::bind("/run/service.sock")?;
    /// listener.serve(move |stream| {
    ///     let acceptor = acceptor.clone();
    ///     async move { acceptor.serve_connection(stream).await }
    /// }).await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// If called outside of a tokio runtime.
    ///
    /// # Cancel safety
    /// Dropping the future stops accepting and removes the socket file. Open connections continue; `Acceptor::shutdown`
    /// closes them.
    pub async fn serve<F>(self, mut serve: impl FnMut(Stream) -> F) -> Infallible
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let mut is_failing = false;
        loop {
            match self.accept().await {
                Ok(stream) => {
                    is_failing = false;
                    tokio::spawn(serve(stream));
                }
                Err(error) => {
                    if !std::mem::replace(&mut is_failing, true) {
                        tracing::warn!(target: "frisbee::listener", %error, "accept failed on a shared-memory socket");
                    }
                    sleep(PAUSE).await;
                }
            }
        }
    }
}

impl Drop for Listener {
    /// Removes the socket file, unless it belongs to another server or another server has replaced it.
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            file.remove();
        }
    }
}

/// Builder of a [`Listener`].
#[derive(Clone, Debug)]
pub struct ListenerBuilder {
    ring_max: u32,
    users: Vec<u32>,
    shared_max: usize,
    memory_max: usize,
    spin: Duration,
}

impl Default for ListenerBuilder {
    /// Returns a builder with the default limits that accepts only the current user, like [`Listener::builder`].
    fn default() -> Self {
        let users = vec![rustix::process::geteuid().as_raw()];
        Self { ring_max: RING_MAX, users, shared_max: SHARED_MAX, memory_max: MEMORY_MAX, spin: Duration::ZERO }
    }
}

impl ListenerBuilder {
    /// Sets the maximum size of the ring of each direction in bytes. Must be a power of two from
    /// [`RING_MIN`](crate::RING_MIN) to [`RING_MAX`](crate::RING_MAX). Defaults to 1 MiB.
    ///
    /// A direction starts with a ring of 1 KiB; all initial memory of a connection fits in one page. A ring that is
    /// full or smaller than a single write is replaced by a larger one of at least 64 KiB. The larger ring is released
    /// after a second of short messages.
    pub fn ring_max(mut self, bytes: u32) -> Self {
        self.ring_max = bytes;
        self
    }

    /// Sets the maximum memory of the rings of all connections in bytes. Defaults to 256 MiB. Each ring counts with its
    /// maximum size. A connection gets at most a 16th of the remaining memory, so that later connections have smaller
    /// rings. If not even the minimum is left, a connection continues over the socket.
    pub fn memory_max(mut self, bytes: usize) -> Self {
        self.memory_max = bytes;
        self
    }

    /// Shares memory with another user, given by uid. By default memory is shared only with processes of the same user.
    /// Other users continue over the socket, if the permissions of its file let them connect.
    pub fn allow_user(mut self, user: u32) -> Self {
        self.users.push(user);
        self
    }

    /// Sets the maximum number of connections that share memory. Defaults to 256. Further connections continue over the
    /// socket; 0 disables sharing.
    pub fn shared_max(mut self, connections: usize) -> Self {
        self.shared_max = connections;
        self
    }

    /// Sets the maximum time that this end spins, like [`Connector::spin`](crate::Connector::spin).
    pub fn spin(mut self, most: Duration) -> Self {
        self.spin = most;
        self
    }

    /// Like [`spin`](Self::spin), but keeps the current spin time if it is longer.
    pub fn spin_at_least(self, least: Duration) -> Self {
        let most = self.spin.max(least);
        self.spin(most)
    }

    /// Binds the listener to a path. Replaces the stale socket file of a killed server. The umask determines who may
    /// connect, so restrict access to the folder if necessary.
    ///
    /// # Errors
    /// If another process listens on the path, the path is a file of another kind, or the ring size is invalid.
    ///
    /// # Panics
    /// If called outside of a tokio runtime.
    pub fn bind(self, path: impl AsRef<Path>) -> io::Result<Listener> {
        let sharing = self.sharing()?;
        let path = path.as_ref();
        // Hold the lock until the socket is listening, because another server would otherwise consider the new file
        // stale.
        let lock = lock_folder(path);
        let socket = match UnixListener::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && lock.is_ok() && is_abandoned(path) => {
                std::fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            bound => bound?,
        };
        let file = File::at(path.to_owned())?;
        Ok(Listener { socket, sharing, file: Some(file) })
    }

    /// Uses a socket that is already listening, for example from `frisbee-restart` or systemd. Its file is not removed.
    ///
    /// # Errors
    /// If the operating system rejects the socket, or the ring size is invalid.
    ///
    /// # Panics
    /// If called outside of a tokio runtime.
    pub fn listen_on(self, socket: impl Into<std::os::unix::net::UnixListener>) -> io::Result<Listener> {
        let sharing = self.sharing()?;
        let socket = socket.into();
        socket.set_nonblocking(true)?;
        Ok(Listener { socket: UnixListener::from_std(socket)?, sharing, file: None })
    }

    /// Returns a [`Sharing`] with these settings, for a server that accepts connections itself.
    ///
    /// # Errors
    /// If the ring size is invalid.
    pub fn sharing(self) -> io::Result<Sharing> {
        crate::system::check_ring(self.ring_max)?;
        let Self { ring_max, users, shared_max, memory_max, spin } = self;
        Ok(Sharing::new(SharingServer { ring_max, users, shared_max, memory_max, spin, shared: Mutex::default() }))
    }
}

/// A socket file, identified by device and inode number.
#[derive(Debug)]
struct File {
    path: PathBuf,
    made: (u64, u64),
}

impl File {
    fn at(path: PathBuf) -> io::Result<Self> {
        Ok(Self { made: number(&path)?, path })
    }

    fn remove(&self) {
        if number(&self.path).ok() == Some(self.made) {
            // Ignore the error: removal fails if another process removes the file concurrently, which has the same
            // effect.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn number(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Locks the folder of a socket file, so that only one server at a time checks for a listener and replaces the file.
/// Fails if the folder cannot be read or another program holds the lock.
fn lock_folder(path: &Path) -> io::Result<OwnedFd> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = OwnedFd::from(std::fs::File::open(folder)?);
    for _ in 0..LOCK_TRIES {
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => std::thread::sleep(LOCK_PAUSE),
            locked => return Ok(locked.map(|()| folder)?),
        }
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// Returns whether the path is a socket file without a listener, left by a killed server. Does not wait if the
/// listener's backlog is full.
fn is_abandoned(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let connected = || pin!(UnixStream::connect(path)).poll(&mut Context::from_waker(Waker::noop()));
    is_socket && matches!(connected(), Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused)
}

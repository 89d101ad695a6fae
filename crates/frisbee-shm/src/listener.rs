//! Listening on a path for clients that share memory, and for all others.

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

/// The default maximum size of a ring: in smaller ones long messages take more of the processor than over TCP,
/// in larger ones no less, and they leave its caches.
const RING_MAX: u32 = 1024 * 1024;

/// How many connections share memory by default: a fleet of processes on one host, with a quarter of the descriptors that
/// a process has at least.
const SHARED_MAX: usize = 256;

/// How much memory the connections of a server may take by default, all together: what frisbee's servers hold for peers.
const MEMORY_MAX: usize = 256 * 1024 * 1024;

/// The pause after the system has refused to accept: mostly it is out of descriptors.
const PAUSE: Duration = Duration::from_millis(20);

/// How often, and after which pauses, a folder is locked that another server has locked: for some system calls.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// A Unix socket on which clients that [offer](crate::connect) to share memory are accepted as well as all others.
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
    /// Listens on a path with the defaults of [`builder`](Self::builder).
    ///
    /// # Errors
    /// As [`ListenerBuilder::bind`].
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::builder().bind(path)
    }

    /// Sets whom memory is shared with, and how much.
    pub fn builder() -> ListenerBuilder {
        ListenerBuilder::default()
    }

    /// The next connection. Whether it shares memory is settled when it is first read from: a client that says nothing
    /// blocks no other client.
    ///
    /// # Errors
    /// If the system refuses, mostly for lack of descriptors. The listener may be used further.
    ///
    /// # Cancel safety
    /// Dropping the future loses no connection.
    pub async fn accept(&self) -> io::Result<Stream> {
        let (socket, _) = self.socket.accept().await?;
        Ok(self.sharing.stream(socket))
    }

    /// Serves each connection by the future that the function makes of it, in a task of its own on the current runtime.
    ///
    /// An acceptor of frpc, and one of frisbee as well, serves so:
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
    /// Outside of a tokio runtime.
    ///
    /// # Cancel safety
    /// Dropping the future stops accepting and removes the socket's file. Connections continue; `Acceptor::shutdown`
    /// ends them.
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
    /// Removes the file, unless it is another server's, or was replaced by another's since.
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            file.remove();
        }
    }
}

/// The peers that share memory with a server, and the sizes.
#[derive(Clone, Debug)]
pub struct ListenerBuilder {
    ring_max: u32,
    users: Vec<u32>,
    shared_max: usize,
    memory_max: usize,
    spin: Duration,
}

impl Default for ListenerBuilder {
    /// As [`Listener::builder`].
    fn default() -> Self {
        let users = vec![rustix::process::geteuid().as_raw()];
        Self { ring_max: RING_MAX, users, shared_max: SHARED_MAX, memory_max: MEMORY_MAX, spin: Duration::ZERO }
    }
}

impl ListenerBuilder {
    /// The maximum size of the ring of each direction, in bytes: a power of two from
    /// [`RING_MIN`](crate::RING_MIN) to [`RING_MAX`](crate::RING_MAX), by default 1 MiB.
    ///
    /// A ring begins with 1 KiB; both of them and all other shared memory are one page. One that is full, or shorter
    /// than a single write, is replaced by a longer one, of 64 KiB at least, which is released when short messages have
    /// been all for a second.
    pub fn ring_max(mut self, bytes: u32) -> Self {
        self.ring_max = bytes;
        self
    }

    /// The limit of memory that the rings of all connections may take together, in bytes, by default 256 MiB. The
    /// maximum of each ring counts. A connection gets a 16th of the rest at most, so that the rings of later ones are
    /// smaller; if not even the least are left, it is served over the socket.
    pub fn memory_max(mut self, bytes: usize) -> Self {
        self.memory_max = bytes;
        self
    }

    /// Shares memory with a further user, by number. By default only processes of the same user as this one get any. Other
    /// users are served over the socket, if its file lets them connect.
    pub fn allow_user(mut self, user: u32) -> Self {
        self.users.push(user);
        self
    }

    /// How many connections share memory at once, by default 256. Further ones are served over the socket; with zero, all
    /// are.
    pub fn shared_max(mut self, connections: usize) -> Self {
        self.shared_max = connections;
        self
    }

    /// As [`Connector::spin`](crate::Connector::spin), for this end.
    pub fn spin(mut self, most: Duration) -> Self {
        self.spin = most;
        self
    }

    /// As [`spin`](Self::spin), unless it spins for longer already.
    pub fn spin_at_least(self, least: Duration) -> Self {
        let most = self.spin.max(least);
        self.spin(most)
    }

    /// Listens on a path. A stale file of a killed server is replaced. The umask decides who may connect: restrict the
    /// folder.
    ///
    /// # Errors
    /// If a process listens there, if the path is a file of another kind, or if the size of the rings is none.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn bind(self, path: impl AsRef<Path>) -> io::Result<Listener> {
        let sharing = self.sharing()?;
        let path = path.as_ref();
        // Held until the socket listens: another server would take a file that does not yet for an abandoned one.
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

    /// Listens by a socket that does so already, such as one of `frisbee-restart` or systemd; its file stays.
    ///
    /// # Errors
    /// If the system does not take the socket, or if the size of the rings is none.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn listen_on(self, socket: impl Into<std::os::unix::net::UnixListener>) -> io::Result<Listener> {
        let sharing = self.sharing()?;
        let socket = socket.into();
        socket.set_nonblocking(true)?;
        Ok(Listener { socket: UnixListener::from_std(socket)?, sharing, file: None })
    }

    /// The same for a server that accepts connections itself: see [`Sharing`].
    ///
    /// # Errors
    /// If the size of the rings is none.
    pub fn sharing(self) -> io::Result<Sharing> {
        crate::system::check_ring(self.ring_max)?;
        let Self { ring_max, users, shared_max, memory_max, spin } = self;
        Ok(Sharing::new(SharingServer { ring_max, users, shared_max, memory_max, spin, shared: Mutex::default() }))
    }
}

/// The file of a socket, known again by its device and number.
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
            // A process that removes it at this moment has the same intention.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn number(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Locks the folder of a socket's file, so that one server at a time looks for a listener and replaces the file. Fails if
/// the folder cannot be read, or another program keeps it locked.
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

/// Whether there is a socket without a listener, left by a server that was killed. Waits for none whose queue is full.
fn is_abandoned(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let connected = || pin!(UnixStream::connect(path)).poll(&mut Context::from_waker(Waker::noop()));
    is_socket && matches!(connected(), Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused)
}

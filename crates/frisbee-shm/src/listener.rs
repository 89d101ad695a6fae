//! Listening on a path for clients that share memory, and for all others.

use crate::deciding::{Deciding, Host};
use crate::stream::Stream;
use std::convert::Infallible;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use tokio::net::UnixListener;
use tokio::time::sleep;

/// The size of a ring by default, that of one read of a connection.
const RING: u32 = 64 * 1024;

/// How many connections share memory by default: 33 MiB in all, once each has been busy.
const SHARED_MAX: usize = 256;

/// The pause after the system has refused to accept: mostly it is out of descriptors.
const PAUSE: Duration = Duration::from_millis(20);

/// A Unix socket on which clients that [offer](crate::connect) to share memory are accepted beside all others.
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
    host: Arc<Host>,
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
        let users = vec![rustix::process::geteuid().as_raw()];
        ListenerBuilder { ring: RING, users, shared_max: SHARED_MAX, spin: Duration::ZERO }
    }

    /// The next connection. Whether it shares memory is settled when it is first read from: a client that says nothing
    /// holds nobody up.
    ///
    /// # Errors
    /// If the system refuses, mostly for lack of descriptors. The listener may be used further.
    ///
    /// # Cancel safety
    /// Dropping the future loses no connection.
    pub async fn accept(&self) -> io::Result<Stream> {
        let (socket, _) = self.socket.accept().await?;
        Ok(Stream::deciding(Deciding::new(socket, self.host.clone())))
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
    /// Dropping the future stops accepting and removes the socket's file. Connections go on; `Acceptor::shutdown` ends
    /// them.
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
                        tracing::warn!(%error, "a socket for shared memory could not accept");
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

/// Whom a server shares memory with, and how much.
#[derive(Clone, Debug)]
pub struct ListenerBuilder {
    ring: u32,
    users: Vec<u32>,
    shared_max: usize,
    spin: Duration,
}

impl ListenerBuilder {
    /// The size of the ring for each direction in bytes: a power of two from [`RING_MIN`](crate::RING_MIN) to
    /// [`RING_MAX`](crate::RING_MAX), by default 65,536. Larger ones serve long messages better. A connection takes a page,
    /// and more as its bytes go around: both rings in the end.
    pub fn ring_size(mut self, bytes: u32) -> Self {
        self.ring = bytes;
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

    /// Listens on a path. A file that a killed server has left behind is replaced. The umask decides who may connect:
    /// restrict the folder.
    ///
    /// # Errors
    /// If a process listens there, if the path is a file of another kind, or if the size of the rings is none.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn bind(self, path: impl AsRef<Path>) -> io::Result<Listener> {
        crate::system::check_ring(self.ring)?;
        let path = path.as_ref();
        let socket = match UnixListener::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_abandoned(path) => {
                std::fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            bound => bound?,
        };
        let file = File::at(path.to_owned())?;
        Ok(Listener { socket, host: self.host(), file: Some(file) })
    }

    /// Listens by a socket that does so already, such as one of `frisbee-restart` or systemd; its file stays.
    ///
    /// # Errors
    /// If the system does not take the socket, or if the size of the rings is none.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn listen_on(self, socket: impl Into<std::os::unix::net::UnixListener>) -> io::Result<Listener> {
        crate::system::check_ring(self.ring)?;
        let socket = socket.into();
        socket.set_nonblocking(true)?;
        Ok(Listener { socket: UnixListener::from_std(socket)?, host: self.host(), file: None })
    }

    fn host(self) -> Arc<Host> {
        let Self { ring, users, shared_max, spin } = self;
        Arc::new(Host { ring, users, shared_max, spin, shared: AtomicUsize::new(0) })
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

/// Whether there is a socket without a listener, left by a server that was killed.
fn is_abandoned(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    is_socket && std::os::unix::net::UnixStream::connect(path).is_err_and(refused)
}

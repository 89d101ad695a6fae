//! Unix sockets: the socket file of a listener, and the credentials of clients.

use super::endpoint::{EndpointInfo, UnixCredentials};
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::net::unix::UCred;
use tokio::net::{UnixListener, UnixStream};

/// Delay before retrying to lock the folder of a socket file.
const PAUSE: Duration = Duration::from_millis(10);

/// A listening Unix socket with its file.
#[derive(Debug)]
pub struct UnixSocket {
    pub(crate) listener: UnixListener,
    pub(crate) path: PathBuf,
    /// Device and inode number of the socket file that this server created. A file with other numbers belongs to
    /// another server and is not removed on drop.
    made: Option<(u64, u64)>,
    /// Settings for sharing memory with clients that offer it, if enabled.
    pub(crate) sharing: Option<Sharing>,
}

/// Settings for sharing memory with clients. Without the feature `shm`, this type has no values.
#[cfg(all(feature = "shm", target_os = "linux"))]
pub(crate) use crate::shm::Sharing;
#[cfg(not(all(feature = "shm", target_os = "linux")))]
pub(crate) type Sharing = std::convert::Infallible;

impl UnixSocket {
    pub(crate) fn bind(path: &Path) -> io::Result<Self> {
        // Hold the lock until the socket is listening, because another server would otherwise treat the file as
        // abandoned.
        let lock = lock_folder(path);
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && lock.is_some() && is_abandoned(path) => {
                std::fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            bound => bound?,
        };
        Ok(Self { listener, path: path.to_owned(), made: Some(file(path)?), sharing: None })
    }

    /// Sets whether and how memory is shared with clients.
    pub(crate) fn sharing(mut self, sharing: Option<Sharing>) -> Self {
        #[cfg(target_os = "linux")]
        if sharing.is_none() {
            reject_descriptors(&self.listener);
        }
        self.sharing = sharing;
        self
    }

    /// Creates a listener from a listening socket. Its socket file belongs to another program.
    pub(crate) fn inherited(listener: std::os::unix::net::UnixListener) -> io::Result<Self> {
        let path = listener.local_addr()?.as_pathname().map(Path::to_owned).unwrap_or_default();
        super::send::disable_signal(&listener);
        listener.set_nonblocking(true)?;
        Ok(Self { listener: UnixListener::from_std(listener)?, path, made: None, sharing: None })
    }
}

/// Makes the system reject descriptors that clients send to the sockets of `listener`. Otherwise, the thread that reads
/// such a socket would close them, and closing a lingering TCP socket blocks the thread as long as its sender wants.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // No crate has a safe binding.
fn reject_descriptors(listener: &UnixListener) {
    /// Number of the option `SO_PASSRIGHTS`, except on SPARC. Linux has it since version 6.16.
    const PASS_RIGHTS: libc::c_int = 83;
    let off: libc::c_int = 0;
    if cfg!(not(any(target_arch = "sparc", target_arch = "sparc64"))) {
        // SAFETY: the listener owns its descriptor, and the pointer and the length are those of `off`. Ignore the error
        // of an older kernel.
        unsafe {
            let (value, length) = ((&raw const off).cast(), size_of_val(&off) as libc::socklen_t);
            libc::setsockopt(listener.as_raw_fd(), libc::SOL_SOCKET, PASS_RIGHTS, value, length);
        }
    }
}

/// Locks the folder of a socket file, so that only one server at a time checks for a listener and replaces the file.
///
/// Returns `None` if locking fails or takes more than a second. A server holds the lock for a few system calls, but
/// other programs may hold it longer.
fn lock_folder(path: &Path) -> Option<Flock<File>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or(Path::new("."))).ok()?;
    let lock = || Flock::lock(folder.try_clone().ok()?, FlockArg::LockExclusiveNonblock).ok();
    (0..100).find_map(|_| lock().or_else(|| (std::thread::sleep(PAUSE), None).1))
}

/// Returns whether the path is a socket file without a listener, which a killed server leaves behind. Does not wait if
/// the listen backlog of a live server is full.
fn is_abandoned(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let connected = || pin!(UnixStream::connect(path)).poll(&mut Context::from_waker(Waker::noop()));
    is_socket && matches!(connected(), Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused)
}

fn file(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

impl Drop for UnixSocket {
    /// Removes the socket file, unless it belongs to another server or has been replaced.
    fn drop(&mut self) {
        if self.made.is_some() && file(&self.path).ok() == self.made {
            // Ignore the error, because another process may have removed the file for the same reason.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Returns the addresses and credentials of both ends of a Unix socket, as far as the system reports them.
pub(crate) fn ends(peer: io::Result<UCred>) -> EndpointInfo {
    let credentials = peer.ok().map(|credentials| UnixCredentials {
        user: credentials.uid(),
        group: credentials.gid(),
        process: credentials.pid(),
    });
    EndpointInfo { credentials: credentials.map(Box::new), ..EndpointInfo::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    /// A temporary folder, which is removed when this value is dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("frisbee-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("folder should be created");
            Self(folder)
        }

        fn path(&self) -> PathBuf {
            self.0.join("socket")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// Regression test: two servers replaced an abandoned socket file at the same time. One of them removed the new
    /// file of the other, so clients could no longer connect to it.
    #[tokio::test]
    async fn one_of_many_servers_replaces_abandoned_file() {
        let folder = Folder::new("replaced");
        let path = folder.path();
        let runtime = tokio::runtime::Handle::current();
        for _ in 0..300 {
            drop(std::os::unix::net::UnixListener::bind(&path).expect("listener should bind to the socket path"));
            let barrier = Barrier::new(8);
            let bind = || {
                let _entered = runtime.enter();
                barrier.wait();
                UnixSocket::bind(&path)
            };
            let bound = std::thread::scope(|scope| {
                let binding = [(); 8].map(|()| scope.spawn(bind));
                binding.map(|binding| binding.join().expect("thread of a binding server should not panic"))
            });
            assert_eq!(bound.iter().filter(|bound| bound.is_ok()).count(), 1, "{bound:?}");
            std::os::unix::net::UnixStream::connect(&path).expect("one of the servers should accept the connection");
        }
    }

    /// Regression test: a client that sent a lingering TCP socket blocked the thread that read the Unix socket.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn descriptors_from_clients_are_rejected() {
        let folder = Folder::new("descriptors");
        let path = folder.path();
        let socket = UnixSocket::bind(&path).expect("listener should bind to the socket path").sharing(None);
        let client = UnixStream::connect(&path).await.expect("listener should accept the connection");
        // A control message with one descriptor: its length, SOL_SOCKET, SCM_RIGHTS, and the descriptor.
        let rights = [libc::SOL_SOCKET, libc::SCM_RIGHTS, client.as_raw_fd()].map(i32::to_ne_bytes).concat();
        let length = size_of::<usize>() + rights.len();
        let control = [&length.to_ne_bytes()[..], &rights, &[0; 4]].concat();
        let send = || {
            let text = [io::IoSlice::new(b"x")];
            let message = socket2::MsgHdr::new().with_buffers(&text).with_control(&control);
            socket2::SockRef::from(&client).sendmsg(&message, 0)
        };
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("kernel should state its release");
        let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().ok());
        let is_supported = (numbers.next(), numbers.next()) >= (Some(Some(6)), Some(Some(16)));
        let error = is_supported.then_some(io::ErrorKind::PermissionDenied);
        assert_eq!(send().err().map(|error| error.kind()), error);
        let _accepted = socket.listener.accept().await;
        assert_eq!(send().err().map(|error| error.kind()), error, "accepted socket should reject descriptors too");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test(start_paused = true)]
    async fn client_waits_while_accept_queue_is_full() {
        use socket2::{Domain, SockAddr, Socket, Type};
        let folder = Folder::new("full");
        let path = folder.path();
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).expect("socket should be created");
        socket
            .bind(&SockAddr::unix(&path).expect("path should fit into a socket address"))
            .expect("listener should bind to the socket path");
        socket.listen(0).expect("socket should listen");
        socket.set_nonblocking(true).expect("socket should switch to nonblocking mode");
        let listener = UnixListener::from_std(std::os::fd::OwnedFd::from(socket).into())
            .expect("listener should be registered with the runtime");
        let mut queued = Vec::new();
        let full = loop {
            match UnixStream::connect(&path).await {
                Ok(stream) => queued.push(stream),
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        let address = format!("unix:{}", path.display());
        let mut connecting = pin!(crate::Client::builder().connect(address, crate::Handlers::new()));
        let waits = std::future::poll_fn(|context| Poll::Ready(connecting.as_mut().poll(context).is_pending()));
        assert!(waits.await, "queue should have space in time");
        drop(listener.accept().await.expect("client should connect"));
        connecting.await.expect("listener should accept the pending connection");
    }
}

//! Named listening sockets: their kind and address, and binding of new ones.

use crate::error::RestartError;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, sockopt};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::TcpSocket;

/// Length of the accept queue. Equal to Linux's default limit, as in frisbee's servers.
const BACKLOG: u32 = 4096;

/// Number of attempts to lock a folder, and the pause between them. Another server holds the lock only for a few system
/// calls.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Type of a socket, with its address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Tcp(SocketAddr),
    Udp(SocketAddr),
    /// A Unix socket with the path of its file, if it has one.
    Unix(Option<PathBuf>),
}

/// A named socket that is passed from one generation to the next.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) name: String,
    pub(crate) descriptor: OwnedFd,
    pub(crate) kind: Kind,
    pub(crate) origin: Origin,
    file: Option<File>,
}

/// Creator of a socket, which determines whether its file is removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// This process bound the socket.
    Here,
    /// A previous generation bound the socket.
    Before,
    /// A service manager bound the socket before the first generation. Generations do not remove its file.
    Manager,
}

/// Identity of a Unix socket's file: its device and inode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct File(u64, u64);

impl File {
    /// Returns the identity of the file that exists at the path now.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        std::fs::symlink_metadata(path).ok().map(|found| Self(found.dev(), found.ino()))
    }

    /// Removes the file at the path, unless it has been replaced by another one.
    pub(crate) fn remove(self, path: &Path) {
        if Self::at(path) == Some(self) {
            // Ignore the error: another process may remove the file concurrently, and the permissions may prevent its
            // removal.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Socket {
    /// Creates a socket from a descriptor passed by another process. Fails if the descriptor is neither a listening
    /// stream socket nor a UDP socket.
    pub(crate) fn new(name: String, descriptor: OwnedFd, origin: Origin) -> io::Result<Self> {
        let kind = kind(&descriptor)?;
        let file = if let Kind::Unix(Some(path)) = &kind { File::at(path) } else { None };
        Ok(Self { name, descriptor, kind, origin, file })
    }

    /// Removes the file of a Unix socket.
    pub(crate) fn remove_file(&self) {
        if let (Kind::Unix(Some(path)), Some(file)) = (&self.kind, self.file) {
            file.remove(path);
        }
    }
}

fn kind(socket: &OwnedFd) -> io::Result<Kind> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "neither a listening stream socket nor a UDP socket");
    let address = rustix::net::getsockname(socket)?;
    match sockopt::socket_type(socket)? {
        SocketType::STREAM => {}
        SocketType::DGRAM => return SocketAddr::try_from(address).map(Kind::Udp).map_err(|_| refused()),
        _ => return Err(refused()),
    }
    #[cfg(target_os = "linux")]
    if !sockopt::socket_acceptconn(socket)? {
        return Err(refused());
    }
    if address.address_family() == AddressFamily::UNIX {
        let listener = UnixListener::from(socket.try_clone()?);
        return Ok(Kind::Unix(listener.local_addr()?.as_pathname().map(Path::to_owned)));
    }
    SocketAddr::try_from(address).map(Kind::Tcp).map_err(|_| refused())
}

/// Returns whether a socket bound to `local` can serve the requested `address`. Port 0 matches any port.
pub(crate) fn can_serve(local: SocketAddr, address: SocketAddr) -> bool {
    local.ip() == address.ip() && (address.port() == 0 || local.port() == address.port())
}

/// Creates a listening socket on the first of the addresses that can be bound.
pub(crate) fn bind_tcp(addresses: &[SocketAddr]) -> io::Result<OwnedFd> {
    let none = Err(io::Error::new(io::ErrorKind::InvalidInput, "the name resolves to no address"));
    addresses.iter().fold(none, |bound, address| bound.or_else(|_| bind_one(*address)))
}

fn bind_one(address: SocketAddr) -> io::Result<OwnedFd> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket.listen(BACKLOG)?.into_std()?.into())
}

/// Creates a listening socket at a path. Replaces a socket file without a listener, which a killed process has left.
pub(crate) fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    // Hold the lock until the socket is listening, because another server would otherwise consider the file abandoned.
    let lock = lock_folder(path);
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && lock.is_ok() && is_abandoned(path) => {
            std::fs::remove_file(path)?;
            UnixListener::bind(path)?
        }
        bound => bound?,
    };
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Locks the folder of a socket file, so that only one server at a time checks for a listener and replaces the file.
/// Fails if the folder cannot be read or another program keeps it locked.
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

/// Returns whether the path is a socket file of this user that has no listener.
fn is_abandoned(path: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let found = std::fs::symlink_metadata(path);
    let is_ours = found.is_ok_and(|found| found.file_type().is_socket() && found.uid() == user);
    // Connect without blocking, because a blocking connect would wait for a process with a full accept queue.
    let connect = || {
        let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
        rustix::io::ioctl_fionbio(&socket, true)?;
        rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)
    };
    is_ours && connect() == Err(Errno::CONNREFUSED)
}

/// Duplicates the file descriptor of a socket.
pub(crate) fn duplicate<T: From<OwnedFd>>(socket: &impl AsFd) -> Result<T, RestartError> {
    let duplicate = socket.as_fd().try_clone_to_owned();
    duplicate.map(T::from).map_err(RestartError::io("duplicating a descriptor"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn of(socket: impl Into<OwnedFd>) -> io::Result<Socket> {
        Socket::new("s".to_owned(), socket.into(), Origin::Here)
    }

    #[test]
    fn only_listening_and_udp_sockets_are_accepted() {
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("socket should bind to the loopback address");
        let address = tcp.local_addr().expect("socket should have a local address");
        assert_eq!(of(tcp).expect("server should be listening on the socket").kind, Kind::Tcp(address));

        let folder = tempfile::tempdir().expect("temporary folder should be created");
        let path = folder.path().join("socket");
        let unix = of(bind_unix(&path).expect("server should bind to a free path"))
            .expect("server should be listening on the socket");
        assert_eq!(unix.kind, Kind::Unix(Some(path)));

        let udp = std::net::UdpSocket::bind("127.0.0.1:0").expect("socket should bind to the loopback address");
        let address = udp.local_addr().expect("socket should have a local address");
        assert_eq!(of(udp).expect("socket should be bound").kind, Kind::Udp(address));
        let datagrams = std::os::unix::net::UnixDatagram::unbound().expect("socket should be created");
        assert!(of(datagrams).is_err());
        let file = std::fs::File::create(folder.path().join("file")).expect("socket folder should be writable");
        assert!(of(file).is_err());
        #[cfg(target_os = "linux")]
        {
            let (one, _other) = UnixStream::pair().expect("socket pair should be created");
            assert!(of(one).is_err());
        }
    }

    #[test]
    fn only_unused_socket_file_is_replaced() {
        let folder = tempfile::tempdir().expect("temporary folder should be created");
        let path = folder.path().join("socket");
        drop(bind_unix(&path).expect("server should bind to a free path"));
        assert!(path.exists());
        let _listens = bind_unix(&path).expect("server should bind to a free path");
        assert_eq!(
            bind_unix(&path).expect_err("server should be listening on the socket").kind(),
            io::ErrorKind::AddrInUse
        );
        let file = folder.path().join("file");
        std::fs::write(&file, "precious").expect("regular file should be written");
        bind_unix(&file).expect_err("binding should not replace a regular file");
        assert_eq!(std::fs::read_to_string(file).expect("regular file should be readable"), "precious");
    }

    /// Regression test: two processes replaced an abandoned socket file at the same time. One of them removed the new
    /// file of the other, so clients could no longer connect to it.
    #[test]
    fn one_of_many_processes_replaces_abandoned_file() {
        let folder = tempfile::tempdir().expect("temporary folder should be created");
        let path = folder.path().join("socket");
        for _ in 0..300 {
            drop(UnixListener::bind(&path).expect("listener should bind to the socket path"));
            let barrier = std::sync::Barrier::new(8);
            let bind = || {
                barrier.wait();
                bind_unix(&path)
            };
            let bound = std::thread::scope(|scope| {
                let binding = [(); 8].map(|()| scope.spawn(bind));
                binding.map(|binding| binding.join().expect("thread should not panic"))
            });
            assert_eq!(bound.iter().filter(|bound| bound.is_ok()).count(), 1, "{bound:?}");
            UnixStream::connect(&path).expect("server should accept the connection");
            drop(bound);
            std::fs::remove_file(&path).expect("socket file should be removed");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn full_accept_queue_keeps_path_in_use() {
        let folder = tempfile::tempdir().expect("temporary folder should be created");
        let path = folder.path().join("socket");
        let silent = UnixListener::bind(&path).expect("listener should bind to the socket path");
        rustix::net::listen(&silent, 0).expect("server should be listening on the socket");
        let _queued = UnixStream::connect(&path).expect("server should accept the connection");
        let (sender, bound) = std::sync::mpsc::channel();
        let binding =
            std::thread::spawn(move || sender.send(bind_unix(&path).expect_err("path should be in use").kind()));
        let bound = bound.recv_timeout(Duration::from_secs(60));
        drop(silent);
        assert_eq!(bound.expect("binding should not block"), io::ErrorKind::AddrInUse);
        binding.join().expect("thread should not panic").expect("receiver of the channel should not be dropped");
    }

    #[test]
    fn passed_socket_serves_same_or_any_port() {
        let address = |text: &str| text.parse::<SocketAddr>().expect("socket address should parse");
        let local = address("127.0.0.1:9090");
        assert!(can_serve(local, address("127.0.0.1:9090")) && can_serve(local, address("127.0.0.1:0")));
        assert!(!can_serve(local, address("127.0.0.1:9091")) && !can_serve(local, address("0.0.0.0:9090")));
    }
}

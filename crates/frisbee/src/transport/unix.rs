//! Unix sockets: listening on a path, and the credentials of clients.

use super::{Transport, second};
use crate::connection::{EndpointInfo, UnixCredentials};
use crate::server::Listener;
use crate::{Protocol, Server};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tokio::net::unix::UCred;
use tokio::net::{UnixListener, UnixStream};

/// A server that listens on a Unix socket. Made by [`ServerBuilder::bind_unix`](crate::ServerBuilder::bind_unix) or
/// [`listen_on_unix`](crate::ServerBuilder::listen_on_unix).
pub type UnixServer<R> = Server<R, UnixSocket>;

impl<R: Protocol> UnixServer<R> {
    /// The path that is listened on; empty if a socket that was [passed](crate::ServerBuilder::listen_on_unix) has none.
    pub fn local_path(&self) -> &Path {
        &self.listener.path
    }
}

/// A listening socket and its file.
#[derive(Debug)]
pub struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and number of the file made by this server, which identify it.
    made: Option<(u64, u64)>,
    /// The memory shared with clients that offer to.
    sharing: Option<Sharing>,
}

/// The memory that a server shares with its clients: absent without the feature.
#[cfg(all(feature = "shm", target_os = "linux"))]
pub(crate) use crate::shm::Sharing;
#[cfg(not(all(feature = "shm", target_os = "linux")))]
pub(crate) type Sharing = std::convert::Infallible;

impl UnixSocket {
    pub(crate) fn bind(path: &Path) -> io::Result<Self> {
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_abandoned(path) => {
                std::fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            bound => bound?,
        };
        Ok(Self { listener, path: path.to_owned(), made: Some(file(path)?), sharing: None })
    }

    /// Sets the shared memory of clients.
    pub(crate) fn sharing(mut self, sharing: Option<Sharing>) -> Self {
        self.sharing = sharing;
        self
    }

    /// Of a socket that listens already, whose file belongs to others.
    pub(crate) fn inherited(listener: std::os::unix::net::UnixListener) -> io::Result<Self> {
        let path = listener.local_addr()?.as_pathname().map(Path::to_owned).unwrap_or_default();
        listener.set_nonblocking(true)?;
        Ok(Self { listener: UnixListener::from_std(listener)?, path, made: None, sharing: None })
    }
}

/// Whether there is a socket without a listener, left by a server that was killed. Waits for none whose queue is full.
fn is_abandoned(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let connected = || pin!(UnixStream::connect(path)).poll(&mut Context::from_waker(Waker::noop()));
    is_socket && matches!(connected(), Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused)
}

fn file(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

impl Drop for UnixSocket {
    /// Removes the file, unless it is another server's, or was replaced by another's since.
    fn drop(&mut self) {
        if self.made.is_some() && file(&self.path).ok() == self.made {
            // A process that removes it at this moment has the same intention.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Listener for UnixSocket {
    const TAKES_RINGS: bool = false;

    fn move_to_current_runtime(&mut self) -> io::Result<()> {
        self.listener = UnixListener::from_std(second(&self.listener)?.into())?;
        Ok(())
    }

    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<(Transport, EndpointInfo)>> {
        self.listener.poll_accept(context).map_ok(|(socket, _)| {
            let ends = ends(socket.peer_cred());
            match &self.sharing {
                None => (Transport::Unix(socket), ends),
                #[cfg(all(feature = "shm", target_os = "linux"))]
                Some(sharing) => (Transport::Shared(sharing.stream(socket)), ends),
                #[cfg(not(all(feature = "shm", target_os = "linux")))]
                Some(never) => match *never {},
            }
        })
    }
}

/// The addresses and credentials of the two ends of a socket with this peer, as far as the system reports them.
pub(crate) fn ends(peer: io::Result<UCred>) -> EndpointInfo {
    let credentials = peer.ok().map(|credentials| UnixCredentials {
        user: credentials.uid(),
        group: credentials.gid(),
        process: credentials.pid(),
    });
    EndpointInfo { credentials: credentials.map(Box::new), ..EndpointInfo::default() }
}

//! The control socket, through which generations find each other.

use crate::error::{Refusal, RestartError};
use crate::protocol::{Message, PassedSocket, VERSION};
use crate::sockets::{File, Origin, Socket, bind_unix, duplicate};
use crate::systemd::{notify, notify_reloading};
use crate::wire::Wire;
use rustix::fs::{FlockOperation, Mode, OFlags};
use sd_notify::NotifyState;
use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::Permissions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{sleep, timeout};

/// Timeout for replies that the other process can send immediately.
pub(crate) const ANSWER: Duration = Duration::from_secs(5);

/// Pause after a failed accept, and before retrying a lock or a full accept queue.
const PAUSE: Duration = Duration::from_millis(20);

/// A control socket that is listening for the next generation.
#[derive(Debug)]
pub(crate) struct Control {
    listener: UnixListener,
    path: PathBuf,
    file: Option<File>,
}

/// Result of searching for the previous generation.
pub(crate) enum Discovery {
    Predecessor(Wire),
    /// No previous generation exists, and this process listens for the next one.
    None(Control),
}

/// Connects to the previous generation. If there is none, becomes the first generation.
pub(crate) async fn find(path: &Path) -> Result<Discovery, RestartError> {
    if let Some(wire) = connect(path).await? {
        return Ok(Discovery::Predecessor(wire));
    }
    // Without the lock, two processes that start at the same time could both bind the path, and neither would find the
    // other.
    let _lock = timeout(ANSWER, lock(path)).await.map_err(|_| RestartError::Timeout)??;
    if let Some(wire) = connect(path).await? {
        return Ok(Discovery::Predecessor(wire));
    }
    let failed = |source| RestartError::Bind { address: path.display().to_string(), source };
    let listener = bind_unix(path).map_err(failed)?;
    // Permit only this user to connect. Connections of other users are also rejected by their credentials, in case the
    // permissions are changed later.
    std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(failed)?;
    Control::new(listener.into(), path).map(Discovery::None)
}

async fn connect(path: &Path) -> Result<Option<Wire>, RestartError> {
    let connecting = async {
        loop {
            match UnixStream::connect(path).await {
                // Retry, because the accept queue of the running process is full. Linux fails immediately where a TCP
                // socket would wait.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(PAUSE).await,
                connected => return connected,
            }
        }
    };
    match timeout(ANSWER, connecting).await.map_err(|_| RestartError::Timeout)? {
        Ok(socket) => Wire::new(socket).map(Some),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => Ok(None),
        Err(source) => Err(RestartError::Io { doing: "connecting to the running process", source }),
    }
}

/// Acquires the lock file next to the socket, which must be held while binding. The file is not removed.
async fn lock(path: &Path) -> Result<OwnedFd, RestartError> {
    let mut name = OsString::from(path);
    name.push(".lock");
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let failed = |source: rustix::io::Errno| RestartError::Io {
        doing: "locking the file of the control socket",
        source: source.into(),
    };
    let file = rustix::fs::open(&name, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => sleep(PAUSE).await,
            Err(error) => return Err(failed(error)),
        }
    }
}

impl Control {
    /// Creates a control socket from a socket that is listening at `path`.
    pub(crate) fn new(listener: OwnedFd, path: &Path) -> Result<Self, RestartError> {
        let listener = std::os::unix::net::UnixListener::from(listener);
        let failed = RestartError::io("listening on the control socket");
        listener.set_nonblocking(true).map_err(&failed)?;
        let listener = UnixListener::from_std(listener).map_err(&failed)?;
        Ok(Self { listener, path: path.to_owned(), file: File::at(path) })
    }

    pub(crate) fn remove_file(&self) {
        if let Some(file) = self.file {
            file.remove(&self.path);
        }
    }

    /// Waits until a successor has taken over the sockets. Failed attempts are logged. `has_passed` is true while a
    /// successor holds the sockets.
    pub(crate) async fn replaced(&self, sockets: &[Socket], ready_timeout: Duration, has_passed: &mut bool) {
        loop {
            let mut wire = self.accept().await;
            let handed_over = tokio::select! {
                handed_over = hand_over(&mut wire, self, sockets, ready_timeout, has_passed) => handed_over,
                never = self.refuse_others() => match never {},
            };
            match handed_over {
                Ok(()) => return,
                Err(error) => {
                    tracing::warn!(target: "frisbee::restart", %error, "successor failed, this process continues to serve");
                }
            }
            if std::mem::take(has_passed) {
                notify(&[NotifyState::Ready]);
            }
        }
    }

    /// Accepts the next connection from a process of the same user.
    async fn accept(&self) -> Wire {
        loop {
            match self.listener.accept().await.map(|(socket, _)| Wire::new(socket)) {
                Ok(Ok(wire)) => return wire,
                Ok(Err(error)) => tracing::warn!(target: "frisbee::restart", %error, "successor rejected"),
                Err(error) => {
                    tracing::warn!(target: "frisbee::restart", %error, "accept failed on the control socket");
                    sleep(PAUSE).await;
                }
            }
        }
    }

    async fn refuse_others(&self) -> Infallible {
        loop {
            // Ignore errors, because the process may have exited. The short reply does not wait for its reader.
            let _ = self.accept().await.send(&Message::Refused(Refusal::Busy), &[]).await;
        }
    }
}

/// Passes the sockets to a connected successor and waits until it is ready.
async fn hand_over(
    wire: &mut Wire,
    control: &Control,
    sockets: &[Socket],
    ready_timeout: Duration,
    has_passed: &mut bool,
) -> Result<(), RestartError> {
    let sending = RestartError::io("writing to the successor");
    let hello = timeout(ANSWER, wire.receive()).await.map_err(|_| RestartError::Timeout)??;
    match hello.ok_or(RestartError::SuccessorEnded)? {
        (Message::Hello { oldest, newest }, descriptors) if descriptors.is_empty() => {
            if !(oldest..=newest).contains(&VERSION) {
                wire.send(&Message::Refused(Refusal::Version), &[]).await.map_err(&sending)?;
                return Err(RestartError::Refused(Refusal::Version));
            }
        }
        _ => return Err(RestartError::Protocol("it does not begin with HELLO")),
    }
    tracing::info!(target: "frisbee::restart", sockets = sockets.len(), "passing sockets to successor");
    *has_passed = true;
    notify_reloading();
    let passed =
        |socket: &Socket| PassedSocket { name: socket.name.clone(), owns_file: socket.origin != Origin::Manager };
    let list = Message::Sockets { version: VERSION, sockets: sockets.iter().map(passed).collect() };
    let descriptors: Vec<BorrowedFd<'_>> = std::iter::once(control.listener.as_fd())
        .chain(sockets.iter().map(|socket| socket.descriptor.as_fd()))
        .collect();
    let passing = timeout(ANSWER, wire.send(&list, &descriptors)).await;
    passing.map_err(|_| RestartError::Timeout)?.map_err(&sending)?;
    let Ok(ready) = timeout(ready_timeout, wire.receive()).await else {
        wire.send(&Message::Refused(Refusal::TooLate), &[]).await.map_err(&sending)?;
        return Err(RestartError::Refused(Refusal::TooLate));
    };
    match ready?.ok_or(RestartError::SuccessorEnded)? {
        (Message::Ready, descriptors) if descriptors.is_empty() => {}
        _ => return Err(RestartError::Protocol("READY was expected")),
    }
    // Fails if the successor has exited.
    wire.send(&Message::Go, &[]).await.map_err(|_| RestartError::SuccessorEnded)
}

/// Requests the sockets of the previous generation. The first descriptor received is that of the control socket.
pub(crate) async fn inherit(wire: &mut Wire) -> Result<(OwnedFd, Vec<Socket>), RestartError> {
    // Ignore the error: a process that rejects the request may already have closed the connection, but its reason can
    // still be read.
    let _ = wire.send(&Message::Hello { oldest: VERSION, newest: VERSION }, &[]).await;
    let answer = timeout(2 * ANSWER, wire.receive()).await.map_err(|_| RestartError::Timeout)??;
    let (list, descriptors) = match answer.ok_or(RestartError::PredecessorEnded)? {
        (Message::Sockets { version: VERSION, sockets }, descriptors) => (sockets, descriptors),
        (Message::Refused(refusal), _) => return Err(RestartError::Refused(refusal)),
        _ => return Err(RestartError::Protocol("SOCKETS were expected")),
    };
    if descriptors.len() != list.len() + 1 {
        return Err(RestartError::Protocol("the number of descriptors is not that of the sockets"));
    }
    let mut descriptors = descriptors.into_iter();
    let control = descriptors.next().ok_or(RestartError::Protocol("the control socket is missing"))?;
    // Check that the descriptor is a listening socket, like the others.
    let failed = |_| RestartError::Protocol("a descriptor is not that of a listening socket");
    Socket::new("control".to_owned(), duplicate(&control)?, Origin::Before).map_err(failed)?;
    let sockets = list.into_iter().zip(descriptors).map(|(passed, descriptor)| {
        let origin = if passed.owns_file { Origin::Before } else { Origin::Manager };
        Socket::new(passed.name, descriptor, origin).map_err(failed)
    });
    Ok((control, sockets.collect::<Result<_, _>>()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    #[tokio::test(start_paused = true)]
    async fn successor_waits_for_accept_queue_room() {
        let folder = tempfile::tempdir().expect("temporary folder should be created");
        let path = folder.path().join("control");
        let listener = bind_unix(&path).expect("server should bind to a free path");
        rustix::net::listen(&listener, 0).expect("server should be listening on the socket");
        let listener = UnixListener::from_std(listener).expect("socket should be nonblocking");
        let _queued = UnixStream::connect(&path).await.expect("server should accept the connection");
        let mut connecting = pin!(connect(&path));
        let waits = poll_fn(|context| Poll::Ready(connecting.as_mut().poll(context).is_pending()));
        assert!(waits.await, "queue should have space in time");
        drop(listener.accept().await.expect("client should connect"));
        assert!(connecting.await.expect("connection should be accepted within the timeout").is_some());
        // The second connection waits in the accept queue.
        assert!(matches!(connect(&path).await, Err(RestartError::Timeout)));
    }
}

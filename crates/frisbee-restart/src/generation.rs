//! A generation: one of the processes that successively serve on the same sockets.
//!
//! # Decisions
//!
//! A restart passes sockets, not addresses. Connections in the accept queue belong to the socket and not to a process.
//! Two processes may accept from a socket at the same time, so the old one continues to accept until its successor
//! serves. The control socket is passed in the same way.

use crate::control::{ANSWER, Control, Discovery, find, inherit};
use crate::error::{Refusal, RestartError};
use crate::protocol::{Message, SOCKETS_MAX, is_name};
use crate::sockets::{Kind, Origin, Socket, bind_tcp, bind_unix, can_serve, duplicate};
use crate::systemd::{self, notify};
use crate::wire::Wire;
use sd_notify::NotifyState;
use std::fmt;
use std::future::pending;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;
use tokio::net::{ToSocketAddrs, lookup_host};
use tokio::time::timeout;

/// Default time within which a successor must report that it is ready. It leaves room for programs that fill caches for
/// up to ten seconds or so, and ends before the start timeout of systemd, which is 90 s.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// Settings for taking over from the previous generation and for passing the sockets to the next one.
///
/// ```
/// use frisbee_restart::Restart;
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("restart.sock");
/// let mut generation = Restart::new(&path).ready_timeout(Duration::from_secs(10)).take_over().await?;
/// assert!(generation.is_first());
/// let listener = generation.tcp("rpc", "127.0.0.1:0").await?;
/// generation.ready().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Restart {
    path: PathBuf,
    ready_timeout: Duration,
}

impl Restart {
    /// Creates settings with a control socket at this path, where the generations find each other.
    ///
    /// It should be in a folder that only the user of the service can write to, such as a `RuntimeDirectory` of
    /// systemd. The socket has mode 0600, and both ends check that the other one belongs to their user, so that sockets
    /// are neither passed to nor accepted from another user. A file with the extension `.lock` is created next to it
    /// and is not removed.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), ready_timeout: READY_TIMEOUT }
    }

    /// Sets the time that a successor of this process may take from its first message until it is
    /// [ready](Generation::ready). Defaults to 60 s. A later successor is rejected, and this process continues to
    /// serve.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let restart = frisbee_restart::Restart::new("/run/greeter/restart.sock").ready_timeout(Duration::from_secs(30));
    /// ```
    pub fn ready_timeout(mut self, timeout: Duration) -> Self {
        self.ready_timeout = timeout;
        self
    }

    /// Requests the sockets of the running process. If none is running, this is the first generation. Its sockets come
    /// from systemd or are bound. The running process continues to serve until this one is [ready](Generation::ready).
    ///
    /// systemd's variables for sockets are removed from the environment. Call this before other threads use C libraries
    /// that read the environment.
    ///
    /// # Errors
    /// If a setting is zero, or if the control socket cannot be bound. Also if the running process rejects this one,
    /// does not reply within 10 s, or belongs to another user.
    ///
    /// # Cancel safety
    /// Dropping the future does not affect the running process.
    ///
    /// ```
    /// # async fn example() -> Result<(), frisbee_restart::RestartError> {
    /// let generation = frisbee_restart::Restart::new("/run/greeter/restart.sock").take_over().await?;
    /// println!("first generation: {}", generation.is_first());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn take_over(self) -> Result<Generation, RestartError> {
        let Self { path, ready_timeout } = self;
        if ready_timeout.is_zero() {
            return Err(RestartError::Setting("ready_timeout = 0ns: must be greater than zero"));
        }
        let (control, predecessor, inherited) = match find(&path).await? {
            Discovery::Predecessor(mut wire) => {
                let (control, sockets) = inherit(&mut wire).await?;
                (Control::new(control, &path)?, Some(wire), sockets)
            }
            Discovery::None(control) => (control, None, Vec::new()),
        };
        let is_first = predecessor.is_none();
        let mut generation = Generation {
            phase: if is_first { Phase::First } else { Phase::Successor },
            predecessor,
            control: Some(control),
            inherited,
            sockets: Vec::new(),
            is_first,
            has_passed: false,
            ready_timeout,
        };
        if is_first {
            generation.inherited = systemd::sockets()?;
        }
        Ok(generation)
    }
}

/// This process, one of the successive generations that serve on the same sockets. Created by [`Restart::take_over`].
///
/// Dropping it before a successor has taken over removes the files of the Unix sockets that the generations created.
/// Listeners that it has returned stay open.
pub struct Generation {
    phase: Phase,
    predecessor: Option<Wire>,
    control: Option<Control>,
    /// Inherited sockets that the program has not requested yet.
    inherited: Vec<Socket>,
    sockets: Vec<Socket>,
    is_first: bool,
    /// Whether a successor holds the sockets.
    has_passed: bool,
    ready_timeout: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// This is the first generation, and it is not ready yet.
    First,
    /// The previous generation serves and does not know yet that this one is ready.
    Successor,
    /// The previous generation knows that this one is ready.
    Announced,
    /// GO did not arrive in time, and the connection to the previous generation is shut down.
    TimedOut,
    /// This generation serves and has no predecessor.
    Ready,
    /// The next generation has taken over.
    Replaced,
    /// The previous generation has rejected this one and continues to serve. Distinct from the case that it has exited.
    Refused(Refusal),
    /// The previous generation has violated the protocol instead of replying.
    Violated(&'static str),
}

impl Generation {
    /// Returns whether this is the first generation, so that there was no process to take over from.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Returns the listening TCP socket with this name: that of the previous generation or of systemd, or else a new
    /// one. Pass it to `ServerBuilder::listen_on` of `frpc` or `frisbee`.
    ///
    /// A socket of the previous generation is used if it listens on this address, where port 0 matches any port. If the
    /// configuration now contains another address, that one is bound, and the old socket is closed with the previous
    /// generation. A socket of systemd is used regardless of its address, which the unit determines.
    ///
    /// # Errors
    /// Fails if the name is invalid, there are already 64 sockets, or none of the addresses can be bound.
    ///
    /// # Cancel safety
    /// Dropping the future binds nothing.
    ///
    /// ```
    /// # async fn example() -> Result<(), frisbee_restart::RestartError> {
    /// let mut generation = frisbee_restart::Restart::new("/run/greeter/restart.sock").take_over().await?;
    /// let listener = generation.tcp("rpc", "0.0.0.0:9090").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn tcp(
        &mut self,
        name: &str,
        address: impl ToSocketAddrs + fmt::Debug,
    ) -> Result<TcpListener, RestartError> {
        let (text, addresses) = resolve(address).await?;
        let fits = |kind: &Kind, is_fixed: bool| matches!(kind, Kind::Tcp(local) if is_fixed || addresses.iter().any(|address| can_serve(*local, *address)));
        let bind = || bind_tcp(&addresses).map_err(|source| RestartError::Bind { address: text, source });
        duplicate(&self.socket(name, fits, bind)?.descriptor)
    }

    /// Returns the UDP socket with this name, like [`tcp`](Self::tcp). Pass it to `Udp::from_socket` of `frpc-gateway`.
    /// Until the previous generation stops, each datagram is received by either of the two processes.
    ///
    /// # Errors
    /// Like [`tcp`](Self::tcp).
    ///
    /// # Cancel safety
    /// Dropping the future binds nothing.
    pub async fn udp(
        &mut self,
        name: &str,
        address: impl ToSocketAddrs + fmt::Debug,
    ) -> Result<UdpSocket, RestartError> {
        let (text, addresses) = resolve(address).await?;
        let fits = |kind: &Kind, is_fixed: bool| matches!(kind, Kind::Udp(local) if is_fixed || addresses.iter().any(|address| can_serve(*local, *address)));
        let bind = || match UdpSocket::bind(&addresses[..]) {
            Ok(socket) => Ok(socket.into()),
            Err(source) => Err(RestartError::Bind { address: text, source }),
        };
        duplicate(&self.socket(name, fits, bind)?.descriptor)
    }

    /// Returns the listening Unix socket with this name, like [`tcp`](Self::tcp) for TCP sockets. Pass it to
    /// `ServerBuilder::listen_on_unix`.
    ///
    /// A new socket has permissions according to the umask. A socket file without a listener is replaced if it belongs
    /// to this user. The file is kept as long as there are successors.
    ///
    /// # Errors
    /// Fails if the name is invalid, there are already 64 sockets, or another process listens on the path.
    ///
    /// ```
    /// # async fn example() -> Result<(), frisbee_restart::RestartError> {
    /// let mut generation = frisbee_restart::Restart::new("/run/greeter/restart.sock").take_over().await?;
    /// let listener = generation.unix("local", "/run/greeter/rpc.sock")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn unix(&mut self, name: &str, path: impl AsRef<Path>) -> Result<UnixListener, RestartError> {
        let path = path.as_ref();
        let failed = |source| RestartError::Bind { address: path.display().to_string(), source };
        let fits = |kind: &Kind, is_fixed: bool| match kind {
            Kind::Unix(local) => is_fixed || local.as_deref() == Some(path),
            Kind::Tcp(_) | Kind::Udp(_) => false,
        };
        let bind = || bind_unix(path).map(Into::into).map_err(failed);
        duplicate(&self.socket(name, fits, bind)?.descriptor)
    }

    fn socket(
        &mut self,
        name: &str,
        fits: impl Fn(&Kind, bool) -> bool,
        bind: impl FnOnce() -> Result<std::os::fd::OwnedFd, RestartError>,
    ) -> Result<&Socket, RestartError> {
        if !is_name(name) {
            return Err(RestartError::Name(name.to_owned()));
        }
        if self.sockets.len() >= SOCKETS_MAX {
            return Err(RestartError::TooManySockets);
        }
        let is_it = |socket: &Socket| socket.name == name && fits(&socket.kind, socket.origin == Origin::Manager);
        let socket = match self.inherited.iter().position(is_it) {
            Some(at) => self.inherited.remove(at),
            None => Socket::new(name.to_owned(), bind()?, Origin::Here)
                .map_err(RestartError::io("looking at a socket that was bound"))?,
        };
        self.sockets.push(socket);
        self.sockets.last().ok_or(RestartError::TooManySockets)
    }

    /// Notifies the previous generation and systemd that this process serves or is about to. The previous generation
    /// then stops accepting and finishes its work. New connections wait in the queues of the sockets until they are
    /// accepted. [`serve`](Self::serve) calls this method.
    ///
    /// Inherited sockets that the program has not requested are closed.
    ///
    /// # Errors
    /// Fails if the previous generation refuses because this process is too late, or does not reply within five
    /// seconds. The previous generation continues to serve, and this process should exit. Further calls return the same
    /// error. If the previous generation has ended in the meantime, the method succeeds.
    ///
    /// # Cancel safety
    /// Cancel safe. The method may be called again.
    ///
    /// ```
    /// # async fn example() -> Result<(), frisbee_restart::RestartError> {
    /// let mut generation = frisbee_restart::Restart::new("/run/greeter/restart.sock").take_over().await?;
    /// generation.ready().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn ready(&mut self) -> Result<(), RestartError> {
        match self.phase {
            Phase::Refused(refusal) => return Err(RestartError::Refused(refusal)),
            Phase::Violated(text) => return Err(RestartError::Protocol(text)),
            _ => {}
        }
        if let Some(wire) = &mut self.predecessor {
            if self.phase == Phase::Successor {
                // Ignore the error: if the previous generation has exited, there is nothing to read. If it has refused,
                // its reason can still be read.
                let _ = wire.send(&Message::Ready, &[]).await;
                // Set the phase after sending. A cancelled call has sent nothing, because the short message is sent at
                // once or not at all.
                self.phase = Phase::Announced;
            }
            let answer = match timeout(ANSWER, wire.receive()).await {
                Ok(answer) => answer,
                Err(_) => {
                    // From now on, the previous generation cannot send GO, so it continues to serve. Otherwise, it
                    // could stop after this process has failed. GO may have arrived in the meantime.
                    self.phase = Phase::TimedOut;
                    wire.shut_down();
                    wire.receive().await
                }
            };
            match answer {
                Ok(Some((Message::Go, _))) => {}
                Ok(Some((Message::Refused(refusal), _))) => {
                    self.phase = Phase::Refused(refusal);
                    return Err(RestartError::Refused(refusal));
                }
                Ok(Some(_)) => {
                    self.phase = Phase::Violated("GO was expected");
                    return Err(RestartError::Protocol("GO was expected"));
                }
                Err(error) => {
                    if let RestartError::Protocol(text) = error {
                        self.phase = Phase::Violated(text);
                    }
                    return Err(error);
                }
                Ok(None) if self.phase == Phase::TimedOut => return Err(RestartError::Timeout),
                Ok(None) => tracing::warn!(target: "frisbee::restart", "previous generation ended without a reply"),
            }
        }
        if !matches!(self.phase, Phase::Ready | Phase::Replaced) {
            self.take_over();
        }
        Ok(())
    }

    /// Closes unused inherited sockets, and notifies the service manager that this process serves.
    fn take_over(&mut self) {
        self.predecessor = None;
        self.phase = Phase::Ready;
        for socket in self.inherited.drain(..) {
            tracing::info!(target: "frisbee::restart", name = socket.name, kind = ?socket.kind, "closing unused inherited socket");
            // Remove the socket file, because clients would otherwise connect to a path without a server.
            if socket.origin != Origin::Manager {
                socket.remove_file();
            }
        }
        if self.is_first {
            notify(&[NotifyState::Ready]);
        } else {
            notify(&[NotifyState::MainPid(process::id()), NotifyState::Ready]);
        }
    }

    /// Waits until a successor has taken over. This process should then stop accepting and finish its work, for example
    /// by `serve_with_shutdown` of `frpc` or `frisbee`. [`serve`](Self::serve) does this itself.
    ///
    /// Only one successor at a time is admitted; others are refused until it has failed. Failures are logged. The
    /// future stays pending until this process is [ready](Self::ready).
    ///
    /// # Cancel safety
    /// Cancel safe if no successor is starting. A successor that has the sockets but is not ready interprets a dropped
    /// future as the end of this process and serves. Drop the future only when this process ends.
    pub async fn replaced(&mut self) {
        match (self.phase, &self.control) {
            (Phase::Ready, Some(control)) => {
                control.replaced(&self.sockets, self.ready_timeout, &mut self.has_passed).await;
            }
            (Phase::Replaced, _) => return,
            _ => pending().await,
        }
        self.phase = Phase::Replaced;
        // Close only the descriptors, because the socket files now belong to the successor.
        self.sockets.clear();
        self.control = None;
    }
}

/// Resolves an address. Also returns the address as text for use in errors.
async fn resolve(address: impl ToSocketAddrs + fmt::Debug) -> Result<(String, Vec<SocketAddr>), RestartError> {
    let text = format!("{address:?}");
    match lookup_host(address).await {
        Ok(addresses) => Ok((text, addresses.collect())),
        Err(source) => Err(RestartError::Bind { address: text, source }),
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        // Keep the socket files, because a successor that is starting interprets this as the end of the process and
        // serves.
        if self.has_passed {
            return;
        }
        let serves = matches!(self.phase, Phase::First | Phase::Ready);
        for socket in &self.sockets {
            if socket.origin == Origin::Here && self.phase != Phase::Replaced
                || socket.origin == Origin::Before && serves
            {
                socket.remove_file();
            }
        }
        if let Some(control) = self.control.as_ref().filter(|_| serves) {
            control.remove_file();
        }
    }
}

impl fmt::Debug for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.sockets.iter().map(|socket| &socket.name).collect();
        f.debug_struct("Generation").field("phase", &self.phase).field("sockets", &names).finish_non_exhaustive()
    }
}

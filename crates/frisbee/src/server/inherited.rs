//! Servers on existing listening sockets, which the previous process or a service manager has passed on, or the program
//! has created.

use super::{Server, ServerBuilder, TcpSocketListener};
use crate::{Error, Router};
use std::net;
use tokio::net::TcpListener;

#[cfg(unix)]
use super::unix::UnixServer;
#[cfg(unix)]
use crate::transport::unix::UnixSocket;
#[cfg(target_os = "linux")]
use std::io;
#[cfg(unix)]
use std::os::unix;

impl ServerBuilder {
    /// Creates a server on a listening TCP socket, instead of [`bind`](Self::bind). The socket may have been passed on
    /// by the previous process, or have options that `bind` does not set. On Unix an `OwnedFd` is accepted. The socket
    /// is set to nonblocking mode and receives the options that `bind` sets.
    ///
    /// Connections in the backlog belong to the socket and not to a process, so any process that shares the socket may
    /// accept them.
    ///
    /// ```
    /// use frisbee::{Handlers, Server};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// let server = Server::builder().listen_on(listener, Handlers::new())?;
    /// println!("listening on {}", server.local_addr());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If `listener` is not a listening TCP socket, or the router reports a [defect](crate::Declaration::check).
    /// Whether the socket listens is checked on Linux only.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn listen_on<R: Router>(self, listener: impl Into<net::TcpListener>, router: R) -> Result<Server<R>, Error> {
        router.declaration().check()?;
        let listener = listener.into();
        let failed = |source| Error::Bind { address: String::from("a socket that was passed"), source };
        let local = listener.local_addr().map_err(failed)?;
        let failed = |source| Error::Bind { address: local.to_string(), source };
        #[cfg(target_os = "linux")]
        check(&listener).and_then(|()| super::set_options(&listener)).map_err(failed)?;
        #[cfg(unix)]
        crate::transport::send::disable_signal(&listener);
        listener.set_nonblocking(true).map_err(failed)?;
        let listener = TcpListener::from_std(listener).map_err(failed)?;
        self.bound(TcpSocketListener { listener, local }, router)
    }

    /// Creates a server on a listening Unix socket, like [`listen_on`](Self::listen_on) for a TCP socket.
    ///
    /// Unlike [`bind_unix`](Self::bind_unix), this keeps the socket file when the server is dropped. Another process
    /// may serve on the same socket, and the creator of the file removes it.
    ///
    /// ```
    /// use frisbee::{Handlers, Server};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = std::env::temp_dir().join(format!("frisbee-passed-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("socket");
    /// let listener = std::os::unix::net::UnixListener::bind(&path)?;
    /// let server = Server::builder().listen_on_unix(listener, Handlers::new())?;
    /// drop(server);
    /// assert!(path.exists());
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Same as [`listen_on`](Self::listen_on).
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[cfg(unix)]
    pub fn listen_on_unix<R: Router>(
        self,
        listener: impl Into<unix::net::UnixListener>,
        router: R,
    ) -> Result<UnixServer<R>, Error> {
        router.declaration().check()?;
        let listener = listener.into();
        let failed = |source| Error::Bind { address: String::from("a Unix socket that was passed"), source };
        #[cfg(target_os = "linux")]
        check(&listener).map_err(failed)?;
        let sharing = self.sharing().map_err(failed)?;
        let listener = UnixSocket::inherited(listener).map_err(failed)?.sharing(sharing);
        self.bound(listener, router)
    }
}

/// Checks that the socket is listening. Otherwise every accept would fail, and the server would retry as if file
/// descriptors were exhausted.
#[cfg(target_os = "linux")]
fn check(socket: &impl std::os::fd::AsFd) -> io::Result<()> {
    let socket = socket2::SockRef::from(socket);
    if socket.r#type()? == socket2::Type::STREAM && socket.is_listener()? {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "the socket does not listen"))
}

#[cfg(test)]
mod tests {
    use crate::Server;
    use crate::tests::echo::{EchoClient, echo};

    #[tokio::test]
    async fn queued_connections_of_passed_listener_are_served() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("socket should bind to the loopback address");
        let address = listener.local_addr().expect("socket should have a local address");
        let mut client = EchoClient::connect(address).await;
        let server = Server::builder().listen_on(listener, echo()).expect("server settings should be valid");
        assert_eq!(server.local_addr(), address);
        #[cfg(target_os = "linux")]
        {
            let socket = socket2::SockRef::from(&server.listener.listener);
            assert!(
                socket.tcp_nodelay().expect("accepted socket should report whether TCP_NODELAY is set")
                    && socket.keepalive().expect("accepted socket should report whether keepalive is set")
            );
        }
        tokio::spawn(server.serve());
        assert_eq!(client.ask("waits").await, "waits");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn non_listening_socket_is_rejected() {
        use crate::{Error, Handlers, ServerBuilder};
        use std::os::fd::OwnedFd;
        let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").expect("socket should bind to the loopback address");
        let address = datagrams.local_addr().expect("socket should have a local address").to_string();
        let refused = Server::builder().listen_on(OwnedFd::from(datagrams), Handlers::new());
        match refused.expect_err("server should reject the socket") {
            Error::Bind { address: named, source } => {
                assert_eq!((named, source.kind()), (address, std::io::ErrorKind::InvalidInput));
            }
            other => panic!("{other}"),
        }
        let (one, _other) = std::os::unix::net::UnixStream::pair().expect("socket pair should be created");
        let refused = |refused: Result<(), Error>| assert!(matches!(refused, Err(Error::Bind { .. })), "{refused:?}");
        let one = OwnedFd::from(one);
        let unix = |builder: ServerBuilder, one: OwnedFd| builder.listen_on_unix(one, Handlers::new()).map(drop);
        refused(unix(Server::builder(), one.try_clone().expect("socket should be duplicated")));
        refused(Server::builder().listen_on(one, Handlers::new()).map(drop));
    }
}

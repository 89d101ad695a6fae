//! Servers on Unix sockets.

use super::{Listener, Server};
use crate::Router;
use crate::transport::endpoint::EndpointInfo;
use crate::transport::unix::{UnixSocket, ends};
use crate::transport::{Transport, second};
use std::io;
use std::path::Path;
use std::task::{Context, Poll};
use tokio::net::UnixListener;

/// A server on a Unix socket. Created by [`ServerBuilder::bind_unix`](crate::ServerBuilder::bind_unix) or
/// [`listen_on_unix`](crate::ServerBuilder::listen_on_unix).
pub type UnixServer<R> = Server<R, UnixSocket>;

impl<R: Router> UnixServer<R> {
    /// Returns the path of the Unix socket. It is empty if an [existing socket](crate::ServerBuilder::listen_on_unix)
    /// has none.
    pub fn local_path(&self) -> &Path {
        &self.listener.path
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

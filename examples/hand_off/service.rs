//! The service of the gateway: calls at first, then the bytes of any protocol.

use crate::gateway::{Credentials, Gateway, Opened, Session, Target};
use frpc::{Request, Response, Status};
use std::collections::BTreeMap;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

/// Authenticates users and connects them to targets.
#[derive(Clone, Debug, Default)]
pub struct Service {
    /// Passwords by user.
    pub users: BTreeMap<String, String>,
    /// Addresses by name.
    pub targets: BTreeMap<String, String>,
}

/// Connection attachment that marks a user as logged in.
struct LoggedIn {
    user: String,
}

impl Gateway for Service {
    async fn login(&self, request: Request<Credentials>) -> Result<Response<Session>, Status> {
        let connection = request.connection().cloned().ok_or_else(|| Status::internal("no connection"))?;
        let Credentials { user, password } = request.into_inner();
        // A real implementation would compare hashes in constant time.
        if self.users.get(&user) != Some(&password) {
            return Err(Status::unauthenticated("no such user, or another password"));
        }
        connection.attachments().insert(LoggedIn { user });
        Ok(Response::new(Session { targets: self.targets.keys().cloned().collect() }))
    }

    async fn open(&self, request: Request<Target>) -> Result<Response<Opened>, Status> {
        let user = request.connection().and_then(|connection| connection.attachments().get::<LoggedIn>());
        let user = user.ok_or_else(|| Status::unauthenticated("log in first, on the same connection"))?;
        let hand_off = request.hand_off().ok_or_else(|| Status::failed_precondition("request the connection"))?;
        let name = &request.get_ref().name;
        let address = self.targets.get(name).ok_or_else(|| Status::not_found(format!("no target {name:?}")))?;
        let target = TcpStream::connect(address).await;
        let mut target = target.map_err(|error| Status::unavailable(format!("{name} at {address}: {error}")))?;
        println!("{} is connected to {name}", user.user);
        hand_off.accept(|mut raw| async move {
            // From here on, bytes are forwarded in both directions until either side closes.
            let _ = copy_bidirectional(&mut raw, &mut target).await;
        });
        Ok(Response::new(Opened { address: address.clone() }))
    }
}

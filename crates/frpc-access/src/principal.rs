//! The caller of a call, as verified by this end.

use crate::now;
use frpc::frisbee::Attachments;
use frpc::{Call, Connection, Extensions, Request, Status};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The caller of a call, as verified by this end: a certificate, a user of this machine, or the bearer of a token.
///
/// [Access rules](crate::Access) make one for each connection and token, and handlers find it by [`of_request`](Self::of_request).
/// Nothing that a peer writes into metadata becomes one without proof. Clones are the same principal.
///
/// ```
/// use frpc_access::{Principal, Proof};
///
/// let principal = Principal::new("robot 7", Proof::Other).with_role("cleaner");
/// assert!(principal.has_role("cleaner") && !principal.has_role("owner"));
/// ```
#[derive(Clone)]
pub struct Principal(Arc<PrincipalData>);

#[derive(Clone)]
struct PrincipalData {
    name: String,
    proof: Proof,
    roles: Vec<String>,
    expires: Option<Instant>,
    extensions: Extensions,
}

/// The proof of a [`Principal`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Proof {
    /// A certificate that the peer has shown in the handshake of TLS, from an authority that this end trusts.
    Certificate(CertificateNames),
    /// The kernel's word for a peer on a Unix socket.
    #[cfg(unix)]
    Unix(frpc::frisbee::UnixCredentials),
    /// A token of this issuer.
    Token {
        /// Its issuer.
        issuer: String,
    },
    /// Something that the program has verified by itself.
    Other,
}

/// The names in a certificate.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct CertificateNames {
    /// The SPIFFE ID, such as `spiffe://example.org/billing`, if the certificate is an X.509-SVID.
    pub spiffe: Option<String>,
    /// The names of hosts among the subject alternative names, in the order of the certificate.
    pub hosts: Vec<String>,
    /// The common name of the subject. It names no host.
    pub common_name: Option<String>,
}

impl Principal {
    /// A principal with a name, which should be unique among those with the same kind of proof.
    ///
    /// ```
    /// use frpc_access::{Principal, Proof};
    ///
    /// let principal = Principal::new("ada", Proof::Token { issuer: "example".into() });
    /// assert_eq!(principal.name(), "ada");
    /// ```
    #[must_use]
    pub fn new(name: impl Into<String>, proof: Proof) -> Self {
        let (name, extensions) = (name.into(), Extensions::new());
        Self(Arc::new(PrincipalData { name, proof, roles: Vec::new(), expires: None, extensions }))
    }

    /// Adds a role. [Rules](crate::Access) admit principals by their roles.
    ///
    /// ```
    /// use frpc_access::{Principal, Proof};
    ///
    /// let principal = Principal::new("ada", Proof::Token { issuer: "example".into() }).with_role("admin");
    /// assert!(principal.has_role("admin"));
    /// ```
    #[must_use]
    pub fn with_role(mut self, role: impl Into<String>) -> Self {
        self.facts().roles.push(role.into());
        self
    }

    /// Sets when it is no longer valid, by the runtime's clock: calls are refused from then on, and streams end.
    ///
    /// ```
    /// use frpc_access::{Principal, Proof};
    /// use std::time::{Duration, Instant};
    ///
    /// let at = Instant::now() + Duration::from_secs(60);
    /// assert_eq!(Principal::new("ada", Proof::Other).with_expiry(at).expires(), Some(at));
    /// ```
    #[must_use]
    pub fn with_expiry(mut self, at: Instant) -> Self {
        self.facts().expires = Some(at);
        self
    }

    /// As [`with_expiry`](Self::with_expiry), so long from now. A time beyond the clock's range is no expiry.
    ///
    /// ```
    /// use frpc_access::{Principal, Proof};
    /// use std::time::Duration;
    ///
    /// let principal = Principal::new("ada", Proof::Other).expiring_in(Duration::from_secs(60));
    /// assert!(principal.expires().is_some());
    /// ```
    #[must_use]
    pub fn expiring_in(mut self, time: Duration) -> Self {
        self.facts().expires = now().checked_add(time);
        self
    }

    /// Adds a value for handlers, such as the claims of a token. There is one of each type.
    ///
    /// ```
    /// use frpc_access::{Principal, Proof};
    ///
    /// #[derive(Clone)]
    /// struct Tenant(u32);
    ///
    /// let principal = Principal::new("ada", Proof::Other).with(Tenant(7));
    /// assert_eq!(principal.get::<Tenant>().map(|tenant| tenant.0), Some(7));
    /// ```
    #[must_use]
    pub fn with<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.facts().extensions.insert(value);
        self
    }

    fn facts(&mut self) -> &mut PrincipalData {
        Arc::make_mut(&mut self.0)
    }

    /// The name: a SPIFFE ID, the first host of a certificate or its common name, `uid 1000`, or the subject of a token.
    /// Names of different kinds of proof may be equal.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its proof.
    pub fn proof(&self) -> &Proof {
        &self.0.proof
    }

    /// The roles, as the token states them or the program has added them.
    ///
    /// ```
    /// use frpc_access::{Principal, Proof};
    ///
    /// let principal = Principal::new("ada", Proof::Other).with_role("teller").with_role("auditor");
    /// assert_eq!(principal.roles(), ["teller", "auditor"]);
    /// ```
    pub fn roles(&self) -> &[String] {
        &self.0.roles
    }

    /// Whether it has a role.
    ///
    /// ```
    /// use frpc_access::{Principal, Proof};
    ///
    /// let principal = Principal::new("ada", Proof::Other).with_role("teller");
    /// assert!(principal.has_role("teller") && !principal.has_role("auditor"));
    /// ```
    pub fn has_role(&self, role: &str) -> bool {
        self.0.roles.iter().any(|own| own == role)
    }

    /// When it is no longer valid, if ever.
    pub fn expires(&self) -> Option<Instant> {
        self.0.expires
    }

    /// The value of a type that was added by [`with`](Self::with).
    ///
    /// ```
    /// use frpc_access::{Principal, Proof};
    ///
    /// assert_eq!(Principal::new("ada", Proof::Other).with(7_u32).get::<u32>(), Some(&7));
    /// ```
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.extensions.get()
    }

    /// The names in its certificate, if it is known by one.
    pub fn certificate(&self) -> Option<&CertificateNames> {
        match &self.0.proof {
            Proof::Certificate(names) => Some(names),
            _ => None,
        }
    }

    /// The principal of a connection: what its calls have that bring no token.
    pub fn of(connection: &Connection) -> Option<Self> {
        Self::attached(connection.attachments())
    }

    fn attached(attachments: &Attachments) -> Option<Self> {
        attachments.get::<ConnectionPrincipal>().map(|own| own.0.clone())
    }

    /// In a handler: the caller, if it is known. A token of the call takes precedence over the connection.
    ///
    /// ```
    /// use frpc::{Request, Status};
    /// use frpc_access::Principal;
    ///
    /// fn caller<M>(request: &Request<M>) -> Result<String, Status> {
    ///     let principal = Principal::of_request(request).ok_or_else(|| Status::unauthenticated("sign in first"))?;
    ///     Ok(principal.name().to_owned())
    /// }
    /// ```
    pub fn of_request<T>(request: &Request<T>) -> Option<Self> {
        Self::of_call_with(request.extensions(), request.attachments())
    }

    /// In middleware at the serving end: the caller, as [`of_request`](Self::of_request).
    ///
    /// ```
    /// # async fn example(call: frpc::Call) -> Result<(), Box<dyn std::error::Error>> {
    /// if let Some(principal) = frpc_access::Principal::of_call(&call) {
    ///     println!("{} calls {}", principal.name(), call.method());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_call(call: &Call) -> Option<Self> {
        Self::of_call_with(call.extensions(), call.attachments())
    }

    fn of_call_with(extensions: &Extensions, connection: Option<&Attachments>) -> Option<Self> {
        extensions.get().cloned().or_else(|| Self::attached(connection?))
    }

    /// Makes this the principal of a connection: calls on it that bring no token are its calls from now on, and so is what
    /// it sends to mounted routers. When the principal expires, the connection is closed, unless another one was made the
    /// connection's before; a client of another protocol is refused from then on, and its connection stays open.
    ///
    /// For a sign-in method, with one user for each connection. Every sender on the connection is that user: a proxy
    /// that carries the calls of several must not sign in.
    ///
    /// ```
    /// use frpc::{Request, Response, Status};
    /// use frpc_access::{Principal, Proof};
    ///
    /// // The handler of a method `SignIn`: later calls on this connection come from "ada".
    /// fn sign_in(request: &Request<String>) -> Result<Response<()>, Status> {
    ///     if request.get_ref() != "secret" {
    ///         return Err(Status::unauthenticated("wrong password"));
    ///     }
    ///     let connection = request.connection().ok_or_else(|| Status::internal("no connection"))?;
    ///     Principal::new("ada", Proof::Other).sign_in(connection)?;
    ///     Ok(Response::new(()))
    /// }
    /// # let _ = sign_in;
    /// ```
    ///
    /// # Errors
    /// [`FailedPrecondition`](frpc::Code::FailedPrecondition) if the connection has a principal that does not expire,
    /// such as that of a certificate.
    pub fn sign_in(&self, connection: &Connection) -> Result<(), Status> {
        let lock = connection.attachments().get_or_insert::<SignInLock>();
        let signing_in = lock.0.lock();
        if Self::of(connection).is_some_and(|own| own.expires().is_none()) {
            return Err(Status::failed_precondition("the connection itself identifies the caller"));
        }
        self.own(connection);
        drop(signing_in);
        let Some(expires) = self.expires() else { return Ok(()) };
        let (of, signed_in) = (connection.clone(), Arc::downgrade(&self.0));
        // No task of the connection, whose end a shutdown would wait for.
        connection.runtime_handle().spawn(async move {
            if tokio::time::timeout_at(expires.into(), of.closed()).await.is_ok() {
                return;
            }
            if Self::of(&of).is_some_and(|own| std::ptr::eq(Arc::as_ptr(&own.0), signed_in.as_ptr())) {
                tracing::debug!(peer = ?of.peer_addr(), "the principal of a connection has expired: it is closed");
                of.close();
            }
        });
        Ok(())
    }

    /// Makes this the principal of a connection.
    pub(crate) fn own(&self, connection: &Connection) {
        connection.attachments().insert(ConnectionPrincipal(self.clone()));
    }

    /// Records the identities that the transport of a connection has verified. The first one is its principal.
    pub(crate) fn own_all(transport: [Option<Self>; 2], connection: &Connection) {
        if let Some(principal) = transport.iter().flatten().next() {
            principal.own(connection);
            connection.attachments().insert(TransportPrincipals(transport));
        }
    }

    /// All verified identities of the peer of a connection: its principal, a certificate and a user.
    pub(crate) fn all_of(connection: &Connection) -> Vec<Self> {
        let transport = connection.attachments().get::<TransportPrincipals>();
        let transport = transport.iter().flat_map(|principals| principals.0.iter().flatten().cloned());
        Self::of(connection).into_iter().chain(transport).collect()
    }
}

/// The principal of a connection, as its attachment. A type that users have not, so that they cannot set it by mistake.
struct ConnectionPrincipal(Principal);

/// The identities that the transport has verified.
struct TransportPrincipals([Option<Principal>; 2]);

/// Held by a sign-in from its look at the connection's principal to the new one.
#[derive(Default)]
struct SignInLock(Mutex<()>);

impl fmt::Debug for Principal {
    /// Without the values for handlers, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Principal")
            .field("name", &self.0.name)
            .field("proof", &self.0.proof)
            .field("roles", &self.0.roles)
            .field("expires", &self.0.expires)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frpc::{Channel, Server};
    use std::sync::Barrier;
    use tokio::sync::mpsc;

    /// Two callers that signed in at the same moment both succeeded, and the first one's later calls were the second one's.
    #[tokio::test]
    async fn of_two_sign_ins_at_one_moment_one_fails() {
        let (connects, mut connected) = mpsc::unbounded_channel();
        let server = Server::builder().on_connect(move |connection| drop(connects.send(connection.clone())));
        let server = server.build().expect("settings should be valid");
        let (here, there) = frpc::memory();
        tokio::spawn(async move { server.serve_connection(there).await });
        let _client = Channel::connect_io(here).await.expect("connection in memory should be accepted");
        let connection = connected.recv().await.expect("channel should stay open");
        let barrier = Barrier::new(2);
        let sign_in = |name: &str| {
            barrier.wait();
            Principal::new(name, Proof::Other).sign_in(&connection).is_ok()
        };
        for round in 0..2000 {
            // One that expires may be replaced.
            Principal::new("guest", Proof::Other).expiring_in(Duration::from_secs(60)).own(&connection);
            let signed_in = std::thread::scope(|scope| {
                let other = scope.spawn(|| sign_in("ada"));
                [sign_in("bob"), other.join().expect("thread should not panic")]
            });
            assert!(signed_in[0] != signed_in[1], "round {round}: {signed_in:?}");
        }
    }
}

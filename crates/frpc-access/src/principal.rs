//! The authenticated caller of a call.

use crate::now;
use frpc::frisbee::Attachments;
use frpc::frisbee::rpc::ConnectionExt;
use frpc::{Call, Connection, Extensions, Request, Status};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;

/// An authenticated caller: the subject of a certificate, a local Unix user, or the bearer of a token.
///
/// [Access rules](crate::Access) create one principal per connection and token. Handlers retrieve the principal by
/// [`of_request`](Self::of_request). Unverified metadata never creates a principal. Clones share the same principal.
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

/// Proof of a [`Principal`]'s identity.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Proof {
    /// A certificate from a trusted authority, which the peer presented in the TLS handshake.
    Certificate(CertificateNames),
    /// Credentials of a peer on a Unix socket, as reported by the kernel.
    #[cfg(unix)]
    Unix(frpc::frisbee::UnixCredentials),
    /// A token with a verified signature.
    Token {
        /// Issuer of the token, as stated in its `iss` claim.
        issuer: String,
    },
    /// A custom verification implemented by the program.
    Other,
}

/// Names in a certificate that access rules can identify its owner by.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct CertificateNames {
    /// SPIFFE ID of the owner, such as `spiffe://example.org/billing`, if the certificate is an X.509-SVID.
    pub spiffe: Option<String>,
    /// DNS names among the subject alternative names, in the order of the certificate. Access rules match them as host
    /// names.
    pub hosts: Vec<String>,
    /// Common name of the certificate's subject. It is not used as a host name.
    pub common_name: Option<String>,
}

impl Principal {
    /// Creates a principal. The name should be unique among principals with the same kind of proof.
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

    /// Adds a role. [Rules](crate::Access) can refer to roles.
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

    /// Sets the expiry of the authentication by the runtime's clock. Afterwards, calls are rejected and streams end.
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

    /// Like [`with_expiry`](Self::with_expiry), but with a duration from now. A time beyond the range of the clock
    /// means no expiry.
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

    /// Attaches a value for handlers, such as the claims of a token. Replaces an earlier value of the same type.
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

    /// Returns the name of the principal: a SPIFFE ID, the first host name of a certificate or its common name, `uid
    /// 1000` for a Unix user, or the subject of a token. Principals with different kinds of proof may have the same
    /// name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the proof of the principal's identity.
    pub fn proof(&self) -> &Proof {
        &self.0.proof
    }

    /// Returns the roles from the token and the roles that the program has added.
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

    /// Returns whether the principal has a role.
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

    /// Returns the time at which the authentication expires, or `None` for no expiry.
    pub fn expires(&self) -> Option<Instant> {
        self.0.expires
    }

    /// Returns the value of the type `T` that was attached by [`with`](Self::with).
    ///
    /// ```
    /// use frpc_access::{Principal, Proof};
    ///
    /// assert_eq!(Principal::new("ada", Proof::Other).with(7_u32).get::<u32>(), Some(&7));
    /// ```
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.extensions.get()
    }

    /// Returns the names in the certificate, if the principal was authenticated by one.
    pub fn certificate(&self) -> Option<&CertificateNames> {
        match &self.0.proof {
            Proof::Certificate(names) => Some(names),
            _ => None,
        }
    }

    /// Returns the principal of a connection, which makes all calls on the connection that carry no token.
    pub fn of(connection: &Connection) -> Option<Self> {
        Self::attached(connection.attachments())
    }

    fn attached(attachments: &Attachments) -> Option<Self> {
        attachments.get::<ConnectionPrincipal>().map(|own| own.0.clone())
    }

    /// Returns the caller of a request, for handlers. A token of the call takes precedence over the connection.
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

    /// Returns the caller of a call, for server middleware. A token of the call takes precedence over the connection.
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

    /// Makes this the principal of a connection, for later calls without a token and for packets to mounted routers.
    /// When the principal expires, the connection is closed, unless another principal has replaced it. A connection
    /// that uses another protocol stays open, but its calls are rejected.
    ///
    /// Intended for sign-in methods, on connections that belong to a single user. Every sender on the connection acts
    /// as this user, so a proxy that multiplexes several users must not sign in.
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
    /// [`FailedPrecondition`](frpc::Code::FailedPrecondition) if the connection has a principal without an expiry, such
    /// as one authenticated by a certificate.
    pub fn sign_in(&self, connection: &Connection) -> Result<(), Status> {
        let lock = connection.attachments().get_or_insert::<SignInLock>();
        // Declared before the guard, so that both principals are dropped after it: destructors of their values may sign
        // in on the same connection.
        let (current, _replaced);
        // Hold the lock during both the check and the replacement, because otherwise concurrent sign-ins could both
        // succeed.
        let mut closing = lock.0.lock();
        current = Self::of(connection);
        if current.as_ref().is_some_and(|own| own.expires().is_none()) {
            return Err(Status::failed_precondition("the connection itself identifies the caller"));
        }
        _replaced = self.own(connection);
        // Abort the task of the replaced principal, because the tasks of repeated sign-ins would accumulate.
        closing.take().iter().for_each(AbortHandle::abort);
        let Some(expires) = self.expires() else { return Ok(()) };
        let (of, signed_in) = (connection.clone(), Arc::downgrade(&self.0));
        // Spawn the task on the runtime rather than on the connection, because a shutdown would wait for tasks of the
        // connection.
        let task = connection.runtime_handle().spawn(async move {
            if tokio::time::timeout_at(expires.into(), of.closed()).await.is_ok() {
                return;
            }
            if Self::of(&of).is_some_and(|own| std::ptr::eq(Arc::as_ptr(&own.0), signed_in.as_ptr())) {
                tracing::debug!(peer = ?of.peer_addr(), "the principal of a connection has expired: it is closed");
                of.close();
            }
        });
        *closing = Some(task.abort_handle());
        Ok(())
    }

    /// Makes this the principal of a connection without any checks. Returns the replaced principal.
    fn own(&self, connection: &Connection) -> Option<Arc<ConnectionPrincipal>> {
        connection.attachments().insert(ConnectionPrincipal(self.clone()))
    }

    /// Stores the identities that the transport of a connection has verified. The first one becomes the connection's
    /// principal.
    pub(crate) fn own_all(transport: [Option<Self>; 2], connection: &Connection) {
        if let Some(principal) = transport.iter().flatten().next() {
            principal.own(connection);
            connection.attachments().insert(TransportPrincipals(transport));
        }
    }

    /// Returns all verified identities of a connection's peer: its principal, its certificate and its Unix user.
    pub(crate) fn all_of(connection: &Connection) -> Vec<Self> {
        let transport = connection.attachments().get::<TransportPrincipals>();
        let transport = transport.iter().flat_map(|principals| principals.0.iter().flatten().cloned());
        Self::of(connection).into_iter().chain(transport).collect()
    }
}

/// Attachment that stores the principal of a connection. The type is private, so that users cannot replace the
/// attachment by mistake.
struct ConnectionPrincipal(Principal);

/// Attachment that stores the identities verified by a connection's transport.
struct TransportPrincipals([Option<Principal>; 2]);

/// Lock held while a sign-in checks and replaces the principal of a connection, so that concurrent sign-ins cannot both
/// succeed. Contains the task that closes the connection when its principal expires.
#[derive(Default)]
struct SignInLock(Mutex<Option<AbortHandle>>);

impl fmt::Debug for Principal {
    /// Formats the principal without the values attached for handlers, which may be secrets.
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
pub(crate) mod tests {
    use super::*;
    use frpc::{Channel, Server};
    use std::sync::Barrier;
    use tokio::runtime::Handle;
    use tokio::sync::mpsc;

    /// Connects a client, and returns it with the connection at its server.
    pub(crate) async fn connected() -> (Channel, Connection) {
        let (connects, mut connected) = mpsc::unbounded_channel();
        let server = Server::builder().on_connect(move |connection| drop(connects.send(connection.clone())));
        let server = server.build().expect("default server settings should be valid");
        let (here, there) = frpc::memory();
        tokio::spawn(async move { server.serve_connection(there).await });
        let client = Channel::connect_io(here).await.expect("server should accept the in-memory connection");
        (client, connected.recv().await.expect("server should report the new connection"))
    }

    /// Regression test: each sign-in left a task until its principal expired.
    #[tokio::test]
    async fn repeated_sign_ins_leave_one_task() {
        let (_client, connection) = connected().await;
        let before = Handle::current().metrics().num_alive_tasks();
        let principal = Principal::new("ada", Proof::Other).expiring_in(Duration::from_secs(60));
        for _ in 0..100 {
            principal.sign_in(&connection).expect("connection should accept a sign-in");
            tokio::task::yield_now().await;
        }
        tokio::task::yield_now().await;
        let left = Handle::current().metrics().num_alive_tasks() - before;
        assert!(left <= 1, "{left} tasks are left");
    }

    /// When dropped, sends whether the sign-in lock of a connection is held.
    struct SignInProbe(Connection, mpsc::UnboundedSender<bool>);

    impl Drop for SignInProbe {
        fn drop(&mut self) {
            let lock = self.0.attachments().get_or_insert::<SignInLock>();
            // Ignore the error, because the test may have ended.
            let _ = self.1.send(lock.0.is_locked());
        }
    }

    /// Regression test: values of a replaced principal were dropped while the sign-in lock was held. A destructor that
    /// signed in on the same connection deadlocked.
    #[tokio::test]
    async fn replaced_principal_is_dropped_without_lock() {
        let ((_client, connection), (reports, mut reported)) = (connected().await, mpsc::unbounded_channel());
        let guest = Principal::new("guest", Proof::Other).expiring_in(Duration::from_secs(60));
        let probe = Arc::new(SignInProbe(connection.clone(), reports));
        guest.clone().with(probe).sign_in(&connection).expect("connection should accept a sign-in");
        guest.sign_in(&connection).expect("connection should accept another sign-in");
        assert_eq!(reported.recv().await, Some(false));
    }

    /// Regression test: two concurrent sign-ins both succeeded, and later calls of the first caller were attributed to
    /// the second caller.
    #[tokio::test]
    async fn one_of_concurrent_sign_ins_fails() {
        let (_client, connection) = connected().await;
        let barrier = Barrier::new(2);
        let sign_in = |name: &str| {
            barrier.wait();
            Principal::new(name, Proof::Other).sign_in(&connection).is_ok()
        };
        for round in 0..2000 {
            // Set a principal that expires, because only such a principal may be replaced by another sign-in.
            Principal::new("guest", Proof::Other).expiring_in(Duration::from_secs(60)).own(&connection);
            let signed_in = std::thread::scope(|scope| {
                let other = scope.spawn(|| sign_in("ada"));
                [sign_in("bob"), other.join().expect("sign-in thread should not panic")]
            });
            assert!(signed_in[0] != signed_in[1], "round {round}: {signed_in:?}");
        }
    }
}

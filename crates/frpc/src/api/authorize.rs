//! Access control for incoming calls. Callers are authorized before their requests are decoded.

use crate::api::metadata::Metadata;
use crate::{Connection, Extensions, Status};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Access rules for incoming calls, set on the builders of [servers](crate::ServerBuilder::access) and
/// [channels](crate::ChannelBuilder::access). The crate `frpc-access` provides an implementation.
///
/// The rules apply to every incoming call: calls of each kind over frpc's own protocol in either direction, hand-off
/// requests, calls over other protocols, and the packets of mounted routers. The functions run on threads that drive
/// connections and must not block.
///
/// ```
/// use frpc::{Admitted, Authorize, Connection, Metadata, PeerRules, Server, Status};
/// use std::fmt::Display;
/// use std::sync::Arc;
///
/// /// Admits the calls that present a password.
/// #[derive(Clone)]
/// struct Password(&'static str);
///
/// impl Authorize for Password {
///     fn connected(&self, _connection: &Connection) -> Arc<dyn PeerRules> {
///         Arc::new(self.clone())
///     }
/// }
///
/// impl PeerRules for Password {
///     fn admit(&self, _rule: Option<usize>, _: &dyn Display, metadata: &Metadata) -> Result<Admitted, Status> {
///         if metadata.get("authorization") != Some(self.0) {
///             return Err(Status::unauthenticated("invalid password"));
///         }
///         Ok(Admitted::default())
///     }
///
///     fn admit_mounted(&self, _operation: u16) -> Result<(), Status> {
///         Err(Status::permission_denied("mounted routers are closed"))
///     }
///
///     fn admit_fallback(&self) -> Result<(), Status> {
///         Err(Status::permission_denied("streams without an operation are closed"))
///     }
/// }
///
/// let builder = Server::builder().access(Password("letmein"));
/// ```
pub trait Authorize: Send + Sync + 'static {
    /// Returns the full names of the methods that the rules refer to, as `package.Service/Method`. If one of them does
    /// not exist, building the server or channel fails with [`UnknownMethod`](crate::Error::UnknownMethod). Defaults to
    /// an empty list.
    fn methods(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the index of the access rule for a method, or `None` (the default) if the method has no rule. Called
    /// once for each method. [`PeerRules::admit`] later receives the index.
    fn rule(&self, method: &str) -> Option<usize> {
        let _ = method;
        None
    }

    /// Creates the access rules that apply to the peer of a new connection.
    fn connected(&self, connection: &Connection) -> Arc<dyn PeerRules>;
}

/// The [access rules](Authorize) for the peer of one connection.
pub trait PeerRules: Send + Sync {
    /// Returns whether the peer may always call the methods with this [rule](Authorize::rule) without metadata. If so,
    /// [`admit`](Self::admit) is not called for calls without metadata. Defaults to `false`.
    fn is_open(&self, rule: Option<usize>) -> bool {
        let _ = rule;
        false
    }

    /// Authorizes a call before its request is decoded. `rule` is the index that [`Authorize::rule`] returned for the
    /// method.
    ///
    /// # Errors
    /// The status to fail the call with, if the peer may not make it.
    fn admit(&self, rule: Option<usize>, method: &dyn fmt::Display, metadata: &Metadata) -> Result<Admitted, Status>;

    /// Checks whether [`admit`](Self::admit) would allow a call, without counting the call against a rate limit. Used
    /// to list the methods that a peer may call. Defaults to calling [`admit`](Self::admit).
    ///
    /// # Errors
    /// Like [`admit`](Self::admit), except that no rate limit applies.
    fn check(&self, rule: Option<usize>, method: &dyn fmt::Display, metadata: &Metadata) -> Result<(), Status> {
        self.admit(rule, method, metadata).map(drop)
    }

    /// Authenticates the caller by metadata, such as a bearer token. Accepts every caller by default.
    ///
    /// # Errors
    /// [`Unauthenticated`](crate::Code::Unauthenticated) if every call with this metadata would be rejected.
    fn check_caller(&self, metadata: &Metadata) -> Result<(), Status> {
        let _ = metadata;
        Ok(())
    }

    /// Authorizes a packet or stream whose operation number belongs to a mounted router.
    ///
    /// # Errors
    /// If the peer may not use the operation.
    fn admit_mounted(&self, operation: u16) -> Result<(), Status>;

    /// Authorizes a stream whose first packet names no operation. The [fallback](crate::ServerBuilder::fallback) router
    /// handles such streams.
    ///
    /// # Errors
    /// If the peer may not open such streams.
    fn admit_fallback(&self) -> Result<(), Status>;
}

/// Result of authorizing a call, which may expire.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Admitted {
    /// Values to add to the [extensions](crate::Request::extensions) of the call, such as the verified identity of its
    /// caller.
    pub extensions: Extensions,
    /// Time at which the authorization expires, by the runtime's clock. A streaming call that is still running at that
    /// time fails with [`Unauthenticated`](crate::Code::Unauthenticated).
    pub expires: Option<Instant>,
}

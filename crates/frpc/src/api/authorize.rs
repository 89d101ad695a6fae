//! The interface for access control: callers are authorized before their requests are decoded.

use crate::api::metadata::Metadata;
use crate::{Connection, Extensions, Status};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Access rules of an end, for the builders of [servers](crate::ServerBuilder::access) and
/// [channels](crate::ChannelBuilder::access). The crate `frpc-access` has rules that implement it.
///
/// They apply to every call that this end serves: native calls of each kind and direction, hand-offs, calls over other
/// protocols, and the packets of mounted routers. The functions run on threads that drive connections and must not
/// block.
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
    /// Returns the methods named by rules, as `package.Service/Method`. Creating the end fails with
    /// [`UnknownMethod`](crate::Error::UnknownMethod) if one does not exist. Defaults to none.
    fn methods(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the number of a method's rule, which is passed to [`PeerRules::admit`]. Called once for each method of
    /// the end. Defaults to no rule.
    fn rule(&self, method: &str) -> Option<usize> {
        let _ = method;
        None
    }

    /// Returns the rules for the peer of a new connection.
    fn connected(&self, connection: &Connection) -> Arc<dyn PeerRules>;
}

/// The [access rules](Authorize) of an end for the peer of one connection.
pub trait PeerRules: Send + Sync {
    /// Returns whether calls of a method without metadata are allowed for the life of the connection, so that
    /// [`admit`](Self::admit) is not called for them. Defaults to `false`.
    fn is_open(&self, rule: Option<usize>) -> bool {
        let _ = rule;
        false
    }

    /// Authorizes a call by its method, the number of the method's rule, and its metadata, before the request is
    /// decoded.
    ///
    /// # Errors
    /// The status of the call if the peer may not make it.
    fn admit(&self, rule: Option<usize>, method: &dyn fmt::Display, metadata: &Metadata) -> Result<Admitted, Status>;

    /// Checks whether [`admit`](Self::admit) would allow a call, without counting it against a limit. Used to list the
    /// methods that a peer may call. Defaults to [`admit`](Self::admit).
    ///
    /// # Errors
    /// Like [`admit`](Self::admit), except for limits.
    fn check(&self, rule: Option<usize>, method: &dyn fmt::Display, metadata: &Metadata) -> Result<(), Status> {
        self.admit(rule, method, metadata).map(drop)
    }

    /// Authenticates the caller by metadata, such as a token. By default every caller passes.
    ///
    /// # Errors
    /// [`Unauthenticated`](crate::Code::Unauthenticated) if no call with this metadata would be admitted.
    fn check_caller(&self, metadata: &Metadata) -> Result<(), Status> {
        let _ = metadata;
        Ok(())
    }

    /// Authorizes a packet or stream for a mounted router.
    ///
    /// # Errors
    /// If the peer may not use the operation.
    fn admit_mounted(&self, operation: u16) -> Result<(), Status>;

    /// Authorizes a stream without an operation, for the [fallback](crate::ServerBuilder::fallback).
    ///
    /// # Errors
    /// If the peer may not open such streams.
    fn admit_fallback(&self) -> Result<(), Status>;
}

/// The result of a successful authorization.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Admitted {
    /// Values for the [extensions](crate::Request::extensions) of the call, such as its verified caller.
    pub extensions: Extensions,
    /// Expiry of the authorization, by the runtime's clock. A streaming call then fails with
    /// [`Unauthenticated`](crate::Code::Unauthenticated).
    pub expires: Option<Instant>,
}

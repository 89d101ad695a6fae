//! The seam for access rules: verdicts on callers, before their requests are decoded.

use crate::api::metadata::Metadata;
use crate::{Connection, Extensions, Status};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Access rules of an end, for the builders of [servers](crate::ServerBuilder::access) and
/// [channels](crate::ChannelBuilder::access). The rules of the crate `frpc-access` are one.
///
/// They apply to every call that this end serves: native calls of each kind and direction, hand-offs, calls of other
/// protocols, and the packets of mounted routers. Their functions run on threads that drive connections, so they must not
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
    /// The methods that rules name, as `package.Service/Method`. Creating the end fails with
    /// [`UnknownMethod`](crate::Error::UnknownMethod) if it lacks one. Default: none.
    fn methods(&self) -> Vec<String> {
        Vec::new()
    }

    /// The number of the rule for a method, which [`PeerRules::admit`] gets. Called once for each method of the end.
    /// Default: no rule.
    fn rule(&self, method: &str) -> Option<usize> {
        let _ = method;
        None
    }

    /// The rules for the peer of a new connection.
    fn connected(&self, connection: &Connection) -> Arc<dyn PeerRules>;
}

/// The [access rules](Authorize) of an end for the peer of one connection.
pub trait PeerRules: Send + Sync {
    /// Whether calls of a method without metadata are admitted for as long as the connection lives, so that
    /// [`admit`](Self::admit) need not be called for them. Default: no.
    fn is_open(&self, rule: Option<usize>) -> bool {
        let _ = rule;
        false
    }

    /// Admits a call of a method by the number of its rule and its metadata, before its request is decoded.
    ///
    /// # Errors
    /// The status of the call if the peer may not make it.
    fn admit(&self, rule: Option<usize>, method: &dyn fmt::Display, metadata: &Metadata) -> Result<Admitted, Status>;

    /// Checks that [`admit`](Self::admit) would admit a call, without counting it against a limit, for a list of the
    /// methods that a peer may call. Default: [`admit`](Self::admit) itself.
    ///
    /// # Errors
    /// As [`admit`](Self::admit), except for limits.
    fn check(&self, rule: Option<usize>, method: &dyn fmt::Display, metadata: &Metadata) -> Result<(), Status> {
        self.admit(rule, method, metadata).map(drop)
    }

    /// Checks the caller that metadata states, such as a token. Default: every caller passes.
    ///
    /// # Errors
    /// [`Unauthenticated`](crate::Code::Unauthenticated) if no call with this metadata would be admitted.
    fn check_caller(&self, metadata: &Metadata) -> Result<(), Status> {
        let _ = metadata;
        Ok(())
    }

    /// Admits a packet or stream for a mounted router.
    ///
    /// # Errors
    /// If the peer may not use the operation.
    fn admit_mounted(&self, operation: u16) -> Result<(), Status>;

    /// Admits a stream without an operation, for the [fallback](crate::ServerBuilder::fallback).
    ///
    /// # Errors
    /// If the peer may not open such streams.
    fn admit_fallback(&self) -> Result<(), Status>;
}

/// The verdict on a call that is admitted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Admitted {
    /// Values for the [extensions](crate::Request::extensions) of the call, such as its verified caller.
    pub extensions: Extensions,
    /// The end of the admission, by the runtime's clock. A streaming call fails then with
    /// [`Unauthenticated`](crate::Code::Unauthenticated).
    pub expires: Option<Instant>,
}

//! Information about the two ends of a transport.

use crate::account::CallerKey;
use std::net::SocketAddr;
#[cfg(feature = "tls")]
use std::sync::Arc;

/// The addresses, certificates and credentials of the two ends of a transport.
#[derive(Clone, Debug, Default)]
pub struct EndpointInfo {
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) local: Option<SocketAddr>,
    /// Whether the peer has no connection, so that its address may be forged.
    pub(crate) is_connectionless: bool,
    #[cfg(unix)]
    pub(crate) credentials: Option<Box<UnixCredentials>>,
    /// Verified certificate of the peer and its issuers. Boxed because few connections have one.
    #[cfg(feature = "tls")]
    pub(crate) certificates: Option<Box<Arc<[crate::tls::CertificateDer<'static>]>>>,
}

/// The process at the other end of a Unix socket at the time of connecting or listening.
#[cfg(unix)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UnixCredentials {
    /// User id.
    pub user: u32,
    /// Group id.
    pub group: u32,
    /// Process id, on systems that provide it.
    pub process: Option<i32>,
}

impl EndpointInfo {
    /// Returns the caller that is charged for the connection.
    pub(crate) fn caller(&self) -> CallerKey {
        #[cfg(unix)]
        if let (None, Some(credentials)) = (self.peer, &self.credentials) {
            return CallerKey::User(credentials.user);
        }
        self.peer.map_or(CallerKey::Unknown, |peer| CallerKey::of_address(peer.ip()))
    }
}

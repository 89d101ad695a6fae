//! Information about both ends of a transport.

use crate::account::CallerKey;
#[cfg(feature = "tls")]
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
#[cfg(feature = "tls")]
use std::sync::Arc;

/// Addresses, certificates and credentials of both ends of a transport.
#[derive(Clone, Debug, Default)]
pub struct EndpointInfo {
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) local: Option<SocketAddr>,
    /// Whether the transport is connectionless. If so, the peer's address may be forged.
    pub(crate) is_connectionless: bool,
    #[cfg(unix)]
    pub(crate) credentials: Option<Box<UnixCredentials>>,
    /// Verified certificate chain of the peer. Boxed because few connections have one.
    #[cfg(feature = "tls")]
    pub(crate) certificates: Option<Box<Arc<[crate::tls::CertificateDer<'static>]>>>,
}

/// Credentials of the process at the remote end of a Unix socket, from the time when it connected or began to listen.
#[cfg(unix)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UnixCredentials {
    /// User id.
    pub user: u32,
    /// Group id.
    pub group: u32,
    /// Id of the process, on systems that report it.
    pub process: Option<i32>,
}

impl EndpointInfo {
    /// Returns the key of the caller to whom the connection's memory is charged.
    pub(crate) fn caller(&self) -> CallerKey {
        if self.is_connectionless {
            return CallerKey::Datagrams;
        }
        #[cfg(feature = "tls")]
        if let Some(own) = self.certificates.as_ref().and_then(|chain| chain.first()) {
            let mut hasher = DefaultHasher::new();
            own.hash(&mut hasher);
            return CallerKey::Certificate(hasher.finish());
        }
        #[cfg(unix)]
        if let (None, Some(credentials)) = (self.peer, &self.credentials) {
            return CallerKey::User(credentials.user);
        }
        self.peer.map_or(CallerKey::Unknown, |peer| CallerKey::of_address(peer.ip()))
    }
}

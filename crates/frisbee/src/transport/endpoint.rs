//! What a transport knows about its two ends.

use std::net::SocketAddr;
#[cfg(feature = "tls")]
use std::sync::Arc;

/// The addresses, certificates and credentials of the two ends, from the transport.
#[derive(Clone, Debug, Default)]
pub struct EndpointInfo {
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) local: Option<SocketAddr>,
    #[cfg(unix)]
    pub(crate) credentials: Option<Box<UnixCredentials>>,
    /// The peer's certificate and its issuers', verified. In a box, since few connections have them.
    #[cfg(feature = "tls")]
    pub(crate) certificates: Option<Box<Arc<[crate::tls::CertificateDer<'static>]>>>,
}

/// The process at the other end of a Unix socket at the time of connecting or listening.
#[cfg(unix)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UnixCredentials {
    /// The user.
    pub user: u32,
    /// The group.
    pub group: u32,
    /// The process, on systems that provide it.
    pub process: Option<i32>,
}

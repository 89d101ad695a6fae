//! TLS and mutual TLS based on rustls. Requires the feature `tls`.
//!
//! A server has an [`Identity`] and a client trusts [`Authorities`]. With mutual TLS, both peers have both. They can be
//! [replaced](ServerTls::reload) at run time; open connections keep the old ones. TLS 1.2 and 1.3 are supported. ALPN
//! is only used if a server offers protocols, because Go peers do not support it.
//!
//! The cryptography provider is ring, or AWS-LC with the feature `tls-aws-lc`. The process-wide default provider is not
//! used.
//!
//! ```no_run
//! use frisbee::tls::{Authorities, ClientTls, Identity, ServerTls};
//! # fn read(path: &str) -> Vec<u8> { std::fs::read(path).unwrap() }
//!
//! let identity = Identity::from_pem(read("server.pem"), read("server.key"))?;
//! let clients = Authorities::from_pem(read("clients-ca.pem"))?;
//! let server = ServerTls::mutual(identity, clients)?;
//!
//! let servers = Authorities::from_pem(read("servers-ca.pem"))?;
//! let client = ClientTls::new(servers)?.with_identity(Identity::from_pem(read("me.pem"), read("me.key"))?)?;
//! # Ok::<(), frisbee::tls::TlsError>(())
//! ```
mod certificate_request;
mod handshakes;
mod turns;

use crate::debug::opaque_debug;
use frisbee_core::CloseReason;
use parking_lot::RwLock;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::pki_types::pem::PemObject;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{CertificateError, ClientConfig, RootCertStore, ServerConfig};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;

pub(crate) use handshakes::{CallerHandshakes, HANDSHAKE_COST, Handshakes, peer_certificates};
pub use rustls;
pub use rustls::pki_types::{CertificateDer, PrivateKeyDer};
pub use tokio_rustls::TlsStream;

fn provider() -> Arc<CryptoProvider> {
    #[cfg(feature = "tls-aws-lc")]
    return Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    #[cfg(not(feature = "tls-aws-lc"))]
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Identity that an endpoint presents to its peers: a certificate chain and its private key.
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Creates an identity from a certificate chain, end-entity certificate first, and the private key.
    pub fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Self {
        Self { chain, key }
    }

    /// Creates an identity from a certificate chain, end-entity certificate first, and the private key, both in PEM.
    ///
    /// # Errors
    /// If `chain` contains no certificate or `key` no private key.
    pub fn from_pem(chain: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> Result<Self, TlsError> {
        let key = PrivateKeyDer::from_pem_slice(key.as_ref())
            .map_err(|error| TlsError::Configuration(format!("no private key in PEM: {error}").into()))?;
        Ok(Self { chain: certificates(chain.as_ref())?, key })
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self { chain: self.chain.clone(), key: self.key.clone_key() }
    }
}

// Omits the private key from the debug output.
opaque_debug!([] Identity, "Identity", |this| certificates = this.chain.len());

/// Certificate authorities that are trusted to issue the certificates of peers.
#[derive(Clone, Debug)]
pub struct Authorities(RootCertStore);

impl Authorities {
    /// Creates a set of trusted authorities from their certificates.
    ///
    /// # Errors
    /// If a certificate is invalid, or `certificates` is empty.
    pub fn new(certificates: impl IntoIterator<Item = CertificateDer<'static>>) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates {
            roots.add(certificate)?;
        }
        if roots.is_empty() {
            return Err(TlsError::Configuration("the list of authorities is empty".into()));
        }
        Ok(Self(roots))
    }

    /// Creates a set of trusted authorities from certificates in PEM.
    ///
    /// # Errors
    /// Same as [`new`](Self::new).
    pub fn from_pem(certificates: impl AsRef<[u8]>) -> Result<Self, TlsError> {
        Self::new(self::certificates(certificates.as_ref())?)
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(TlsError::Configuration("no certificate in PEM".into())),
        Err(error) => Err(TlsError::Configuration(format!("no certificate in PEM: {error}").into())),
    }
}

/// TLS settings of a server. Clones share the settings, so replacing them affects all clones.
///
/// Sessions of clients without certificates are resumed. With [`mutual`](Self::mutual), each connection makes a full
/// handshake, because rustls does not verify certificates on resumption and would accept expired ones.
#[derive(Clone, Debug)]
pub struct ServerTls {
    current: Arc<RwLock<ServerSettings>>,
    handshake_timeout: Duration,
    handshakes_max: usize,
}

/// TLS settings of a server that can be replaced while it runs.
#[derive(Debug)]
struct ServerSettings {
    config: Arc<ServerConfig>,
    clients: Clients,
}

/// Clients that a server accepts, by their certificates.
#[derive(Debug)]
enum Clients {
    Anybody,
    /// Clients must present certificates issued by these authorities.
    Trusted(Authorities),
    /// The application's own rustls configuration decides which clients are accepted.
    Configured,
}

/// Returns the error for replacing only the identity of a rustls configuration.
fn has_its_own_identity() -> TlsError {
    let reason = "the settings are a rustls configuration, whose identity cannot be replaced alone: use reload_config";
    TlsError::Configuration(reason.into())
}

/// Default timeout of a TLS handshake, including the wait for a permit. Equals the timeout for the first header of a
/// client.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Default maximum number of concurrent TLS handshakes, not counting silent clients. A handshake takes about 20 KiB and
/// a millisecond of CPU time, so all of them take 10 MiB and half a second.
const HANDSHAKES_MAX: usize = 512;

impl ServerTls {
    /// Creates TLS settings with this identity. Clients do not authenticate with certificates.
    ///
    /// # Errors
    /// If the certificate and the key do not match, or the type of the key is not supported.
    pub fn new(identity: Identity) -> Result<Self, TlsError> {
        Self::build(identity, Clients::Anybody)
    }

    /// Creates settings for mutual TLS. Clients must present certificates issued by the authorities `clients`.
    ///
    /// # Errors
    /// Same as [`new`](Self::new).
    pub fn mutual(identity: Identity, clients: Authorities) -> Result<Self, TlsError> {
        Self::build(identity, Clients::Trusted(clients))
    }

    fn build(identity: Identity, clients: Clients) -> Result<Self, TlsError> {
        Ok(Self::from_settings(ServerSettings { config: server_config(identity, &clients)?, clients }))
    }

    /// Creates settings from a rustls configuration, for options that this crate does not provide.
    /// [`reload_config`](Self::reload_config) replaces the configuration.
    ///
    /// If the configuration verifies client certificates, set its `session_storage` to rustls's
    /// `NoServerSessionStorage` and keep the default `ticketer`. Otherwise, session resumption admits clients with
    /// expired certificates.
    pub fn from_config(config: Arc<ServerConfig>) -> Self {
        Self::from_settings(ServerSettings { config, clients: Clients::Configured })
    }

    fn from_settings(settings: ServerSettings) -> Self {
        Self {
            current: Arc::new(RwLock::new(settings)),
            handshake_timeout: HANDSHAKE_TIMEOUT,
            handshakes_max: HANDSHAKES_MAX,
        }
    }

    /// Sets the timeout of a TLS handshake, including the wait for a permit. Defaults to 10 s.
    #[must_use]
    pub fn handshake_timeout(mut self, timeout: Duration) -> Self {
        self.handshake_timeout = timeout;
        self
    }

    /// Sets the maximum number of concurrent TLS handshakes, at least one. Further handshakes wait for a permit.
    /// Defaults to 512. Clients that have not begun their handshake, or have not replied for half a second, are not
    /// counted.
    #[must_use]
    pub fn handshakes_max(mut self, count: usize) -> Self {
        self.handshakes_max = count.max(1);
        self
    }

    pub(crate) fn check(&self) -> Result<(), crate::SettingError> {
        crate::SettingError::check_positive(&[("handshake_timeout", self.handshake_timeout)])
    }

    /// Replaces the identity without changing which clients are accepted. Open connections keep the old identity.
    ///
    /// # Errors
    /// Same as [`new`](Self::new), or if the current settings are a rustls configuration, because it is not known which
    /// clients it accepts. On error, the current identity is kept.
    pub fn reload(&self, identity: Identity) -> Result<(), TlsError> {
        // Hold the lock while building the configuration. Otherwise, a concurrent reload could replace the trusted
        // clients, and this one would restore the old ones.
        let mut current = self.current.write();
        current.config = server_config(identity, &current.clients)?;
        Ok(())
    }

    /// Replaces the identity and accepts only clients with certificates issued by the authorities `clients`. Open
    /// connections continue.
    ///
    /// # Errors
    /// Same as [`new`](Self::new). On an error the current settings are kept.
    pub fn reload_mutual(&self, identity: Identity, clients: Authorities) -> Result<(), TlsError> {
        let clients = Clients::Trusted(clients);
        replace(&self.current, ServerSettings { config: server_config(identity, &clients)?, clients });
        Ok(())
    }

    /// Replaces the settings with a rustls configuration. [`reload`](Self::reload) then fails, because the clients that
    /// the configuration accepts are unknown.
    pub fn reload_config(&self, config: Arc<ServerConfig>) {
        replace(&self.current, ServerSettings { config, clients: Clients::Configured });
    }

    /// Returns the rustls configuration for new connections.
    fn current(&self) -> Arc<ServerConfig> {
        self.current.read().config.clone()
    }
}

/// Replaces TLS settings. Drops the earlier ones without the lock, because a rustls configuration may contain values of
/// the program.
fn replace<T>(current: &RwLock<T>, settings: T) {
    let earlier = std::mem::replace(&mut *current.write(), settings);
    drop(earlier);
}

fn server_config(identity: Identity, clients: &Clients) -> Result<Arc<ServerConfig>, TlsError> {
    let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    let builder = match clients {
        Clients::Configured => return Err(has_its_own_identity()),
        Clients::Anybody => builder.with_no_client_auth(),
        Clients::Trusted(clients) => {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(clients.0.clone()), provider());
            let verifier = verifier.build().map_err(|error| TlsError::Configuration(error.to_string().into()))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder.with_single_cert(identity.chain, identity.key)?;
    if let Clients::Trusted(_) = clients {
        // Disable session resumption, which would skip the verification of the client's certificate.
        config.session_storage = Arc::new(NoServerSessionStorage {});
    }
    Ok(Arc::new(config))
}

/// TLS settings of a client. Clones share the settings, so replacing them affects all clones.
#[derive(Clone, Debug)]
pub struct ClientTls {
    current: Arc<RwLock<ClientSettings>>,
}

/// TLS settings of a client that can be replaced between connections.
#[derive(Debug)]
struct ClientSettings {
    config: Arc<ClientConfig>,
    /// Trusted authorities, or `None` if a rustls configuration is used.
    servers: Option<Authorities>,
}

impl ClientTls {
    /// Creates settings that trust servers with certificates issued by `servers`. The client presents no certificate.
    ///
    /// # Errors
    /// If the cryptography provider supports no version of TLS.
    pub fn new(servers: Authorities) -> Result<Self, TlsError> {
        Self::build(servers, None)
    }

    fn build(servers: Authorities, identity: Option<Identity>) -> Result<Self, TlsError> {
        Ok(Self::from_settings(ClientSettings { config: client_config(&servers, identity)?, servers: Some(servers) }))
    }

    /// Sets the identity that is presented to servers that request one (mutual TLS). Existing clones keep their
    /// identity.
    ///
    /// # Errors
    /// If the certificate and the key do not match, or the current settings are a rustls configuration, which has its
    /// own identity.
    pub fn with_identity(self, identity: Identity) -> Result<Self, TlsError> {
        let servers = self.current.read().servers.clone().ok_or_else(has_its_own_identity)?;
        Self::build(servers, Some(identity))
    }

    /// Creates TLS settings from a rustls configuration, for options that this crate does not provide.
    pub fn from_config(config: Arc<ClientConfig>) -> Self {
        Self::from_settings(ClientSettings { config: certificate_request::noting(config), servers: None })
    }

    /// Offers these protocols by ALPN, for transports that carry a protocol other than frisbee, such as HTTP/2. The
    /// resulting settings behave as with [`from_config`](Self::from_config). Existing clones are unchanged.
    #[must_use]
    pub fn alpn_protocols(self, protocols: impl IntoIterator<Item = impl Into<Vec<u8>>>) -> Self {
        let mut config = ClientConfig::clone(&self.current.read().config);
        config.alpn_protocols = protocols.into_iter().map(Into::into).collect();
        Self::from_settings(ClientSettings { config: Arc::new(config), servers: None })
    }

    fn from_settings(settings: ClientSettings) -> Self {
        Self { current: Arc::new(RwLock::new(settings)) }
    }

    /// Replaces or removes the client's identity. Open connections keep the old one.
    ///
    /// # Errors
    /// Same as [`with_identity`](Self::with_identity). On an error the current identity is kept.
    pub fn reload(&self, identity: Option<Identity>) -> Result<(), TlsError> {
        let mut current = self.current.write();
        current.config = client_config(current.servers.as_ref().ok_or_else(has_its_own_identity)?, identity)?;
        Ok(())
    }

    /// Replaces the settings with a rustls configuration. [`reload`](Self::reload) and
    /// [`with_identity`](Self::with_identity) then fail.
    pub fn reload_config(&self, config: Arc<ClientConfig>) {
        replace(&self.current, ClientSettings { config: certificate_request::noting(config), servers: None });
    }

    /// Performs the TLS handshake with a server. The server's certificate must be valid for `server_name`. Returns a
    /// transport, so that another layer such as WebSocket can be placed between TLS and frisbee.
    ///
    /// # Errors
    /// If the server's certificate is rejected or the transport fails.
    ///
    /// # Cancel safety
    /// Dropping the future drops the transport.
    pub async fn connect_io<T>(
        &self,
        io: T,
        server_name: &str,
    ) -> Result<impl AsyncRead + AsyncWrite + Send + Unpin + use<T>, TlsError>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Ok(self.connect(io, server_name, Some(server_name)).await?.0)
    }

    /// Performs the handshake on a connection to `address`. The certificate of the server must be valid for `name`, or
    /// for the host of `address` if there is no name. Also returns whether the server may still reject the certificate
    /// of this client, which happens after the handshake in TLS 1.3.
    ///
    /// # Errors
    /// Same as [`connect_io`](Self::connect_io).
    ///
    /// # Cancel safety
    /// Dropping the future drops the transport.
    pub async fn connect<T>(&self, io: T, address: &str, name: Option<&str>) -> Result<(TlsStream<T>, bool), TlsError>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let host = || address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
        let name = name.unwrap_or_else(host);
        let name = ServerName::try_from(name.to_owned()).map_err(|_| {
            TlsError::Configuration(format!("{name:?} is not a valid server name; set `server_name`").into())
        })?;
        // Clone the configuration, so that the lock is not held across the handshake's await points.
        let connector = TlsConnector::from(self.current.read().config.clone());
        let (connected, is_requested) = certificate_request::with_use_recorded(connector.connect(name, io)).await;
        let connected = connected.map_err(|error| TlsError::from(&error))?;
        let is_late = connected.get_ref().1.protocol_version() == Some(rustls::ProtocolVersion::TLSv1_3);
        Ok((connected.into(), is_requested && is_late))
    }
}

fn client_config(servers: &Authorities, identity: Option<Identity>) -> Result<Arc<ClientConfig>, TlsError> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(servers.0.clone());
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => builder.with_client_auth_cert(identity.chain, identity.key)?,
    };
    Ok(certificate_request::noting(Arc::new(config)))
}

/// Error returned when a TLS handshake fails or TLS settings are invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TlsError {
    /// The server's certificate is not valid for the requested name.
    WrongName,
    /// The peer's certificate was not issued by a trusted authority.
    UnknownAuthority,
    /// The peer's certificate has expired.
    Expired,
    /// The peer's certificate is not valid yet.
    NotYetValid,
    /// The peer's certificate is invalid for another reason.
    BadCertificate(Arc<str>),
    /// The client must present a certificate and did not do so.
    CertificateRequired,
    /// The peer rejected the certificate of this end with this TLS alert.
    Refused(Arc<str>),
    /// The peer sent bytes that are not TLS.
    NotTls,
    /// The peer closed the connection during the handshake, as servers without TLS do.
    Closed,
    /// The TLS handshake timed out. Servers set the limit with [`handshake_timeout`](ServerTls::handshake_timeout).
    Timeout,
    /// The TLS settings are invalid for this reason.
    Configuration(Arc<str>),
    /// Any other error.
    Other(Arc<str>),
}

impl TlsError {
    /// Returns the TLS error that caused a connection to close, if there is one.
    pub fn of(reason: &CloseReason) -> Option<Self> {
        let source = match reason {
            CloseReason::Io { source, .. } | CloseReason::TlsHandshake(source) => source,
            CloseReason::NotTls => return Some(Self::NotTls),
            _ => return None,
        };
        let inner = source.get_ref()?;
        match inner.downcast_ref::<Self>() {
            Some(error) => Some(error.clone()),
            None => inner.downcast_ref::<rustls::Error>().cloned().map(Self::from),
        }
    }
}

impl From<rustls::Error> for TlsError {
    fn from(error: rustls::Error) -> Self {
        use rustls::AlertDescription as Alert;
        match error {
            rustls::Error::InvalidCertificate(error) => match error {
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Self::WrongName,
                CertificateError::UnknownIssuer => Self::UnknownAuthority,
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotYetValid,
                // Error of webpki without a variant in rustls.
                CertificateError::Other(error) if error.to_string().contains("CaUsedAsEndEntity") => {
                    let text = "it is that of an authority (CA:TRUE), as `openssl req -x509` makes it: add \
                                `-addext basicConstraints=critical,CA:FALSE`";
                    Self::BadCertificate(text.into())
                }
                error => Self::BadCertificate(error.to_string().into()),
            },
            rustls::Error::NoCertificatesPresented | rustls::Error::AlertReceived(Alert::CertificateRequired) => {
                Self::CertificateRequired
            }
            rustls::Error::AlertReceived(alert) => Self::Refused(format!("{alert:?}").into()),
            rustls::Error::InvalidMessage(_) => Self::NotTls,
            error => Self::Other(error.to_string().into()),
        }
    }
}

impl From<&io::Error> for TlsError {
    fn from(error: &io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(error) => error.clone().into(),
            None if matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
            ) =>
            {
                Self::Closed
            }
            None => Self::Other(error.to_string().into()),
        }
    }
}

impl From<TlsError> for CloseReason {
    fn from(error: TlsError) -> Self {
        match error {
            TlsError::NotTls => Self::NotTls,
            error => Self::TlsHandshake(Arc::new(io::Error::new(io::ErrorKind::InvalidData, error))),
        }
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongName => f.write_str("the server's certificate is not valid for this name"),
            Self::UnknownAuthority => f.write_str(
                "the peer's certificate is not signed by a trusted authority: trust its authority, or use another",
            ),
            Self::Expired => f.write_str("the peer's certificate has expired"),
            Self::NotYetValid => f.write_str("the peer's certificate is not valid yet"),
            Self::BadCertificate(reason) => write!(f, "the peer's certificate is invalid: {reason}"),
            Self::CertificateRequired => {
                f.write_str("the server requires a client certificate: configure one at the client")
            }
            Self::Refused(alert) => write!(f, "the peer refused the handshake: {alert}"),
            Self::NotTls => {
                f.write_str("the peer does not speak TLS: check the port, and set `tls` at both ends or neither")
            }
            Self::Closed => {
                f.write_str("the peer closed the connection during the handshake: it may not speak TLS, check the port")
            }
            Self::Timeout => f.write_str("the handshake timed out"),
            Self::Configuration(reason) | Self::Other(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for TlsError {}

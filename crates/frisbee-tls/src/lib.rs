//! TLS and mutual TLS, on rustls: the module `tls` of `frisbee` and `frpc`, by their feature `tls`.
//!
//! A server has an [`Identity`], a client trusts [`Authorities`]; with mutual TLS both ends have both. They can be
//! [replaced](ServerTls::reload) while connections are open, which keep those they began with. TLS 1.2 and 1.3 are
//! spoken, as rustls does by default, and no ALPN unless a server offers some, since the peers in Go know none.
//!
//! The cryptography is ring's, or with the feature `aws-lc` (`tls-aws-lc` of those crates) that of AWS-LC. It is chosen
//! explicitly: the default provider of the process does not matter.
//!
//! ```no_run
//! use frisbee_tls::{Authorities, ClientTls, Identity, ServerTls};
//! # fn read(path: &str) -> Vec<u8> { std::fs::read(path).unwrap() }
//!
//! let identity = Identity::from_pem(read("server.pem"), read("server.key"))?;
//! let clients = Authorities::from_pem(read("clients-ca.pem"))?;
//! let server = ServerTls::mutual(identity, clients)?;
//!
//! let servers = Authorities::from_pem(read("servers-ca.pem"))?;
//! let client = ClientTls::new(servers)?.with_identity(Identity::from_pem(read("me.pem"), read("me.key"))?)?;
//! # Ok::<(), frisbee_tls::TlsError>(())
//! ```
#![forbid(unsafe_code)]

mod certificate_request;
mod handshakes;

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

pub use handshakes::{Handshakes, SilenceLimit, peer_certificates};
pub use rustls;
pub use rustls::pki_types::{CertificateDer, PrivateKeyDer};
pub use tokio_rustls::TlsStream;

fn provider() -> Arc<CryptoProvider> {
    #[cfg(feature = "aws-lc")]
    return Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    #[cfg(not(feature = "aws-lc"))]
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A certificate, those of its issuers, and its private key: the identity that an end presents.
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    /// From certificates, the end's own first, and the private key.
    pub fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Self {
        Self { chain, key }
    }

    /// From PEM, as in files: the certificates, the end's own first, and the private key.
    ///
    /// # Errors
    /// If one of them contains no such item.
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

impl fmt::Debug for Identity {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("certificates", &self.chain.len()).finish_non_exhaustive()
    }
}

/// The authorities that are trusted to certify peers.
#[derive(Clone, Debug)]
pub struct Authorities(RootCertStore);

impl Authorities {
    /// From certificates.
    ///
    /// # Errors
    /// If one of them is no certificate, or there is none at all.
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

    /// From PEM, as in files.
    ///
    /// # Errors
    /// As [`new`](Self::new).
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

/// The TLS settings of a server. Clones are the same: replacing the settings of one replaces those of all.
///
/// Sessions of clients without certificates are resumed. With [`mutual`](Self::mutual) each connection makes a full
/// handshake, because rustls does not verify a certificate again when it resumes a session: a client could outlive its
/// certificate.
#[derive(Clone, Debug)]
pub struct ServerTls {
    current: Arc<RwLock<ServerSettings>>,
    handshake_timeout: Duration,
    handshakes_max: usize,
}

/// The part of a server's settings that can be replaced.
#[derive(Debug)]
struct ServerSettings {
    config: Arc<ServerConfig>,
    clients: Clients,
}

/// The clients that a server accepts.
#[derive(Debug)]
enum Clients {
    Anybody,
    /// Clients with certificates of these authorities.
    Trusted(Authorities),
    /// As a configuration of rustls states, which is not known here.
    Configured,
}

/// Why an identity alone cannot be replaced.
fn has_its_own_identity() -> TlsError {
    let reason = "the settings are a rustls configuration, whose identity cannot be replaced alone: use reload_config";
    TlsError::Configuration(reason.into())
}

/// How long a client may take for its handshake, waiting for its turn included: as for its first header.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Handshakes that may be in progress at one time: those whose client has begun, and answers. Each takes some 20 KiB
/// and a millisecond of a core, so that this is 10 MiB and half a second's work.
const HANDSHAKES_MAX: usize = 512;

impl ServerTls {
    /// With this identity, for clients that show none.
    ///
    /// # Errors
    /// If the certificate and the key do not belong together, or the key is of a kind that is not understood.
    pub fn new(identity: Identity) -> Result<Self, TlsError> {
        Self::build(identity, Clients::Anybody)
    }

    /// With this identity, for clients whose certificates these authorities have issued: mutual TLS.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn mutual(identity: Identity, clients: Authorities) -> Result<Self, TlsError> {
        Self::build(identity, Clients::Trusted(clients))
    }

    fn build(identity: Identity, clients: Clients) -> Result<Self, TlsError> {
        Ok(Self::from_settings(ServerSettings { config: server_config(identity, &clients)?, clients }))
    }

    /// From a configuration of rustls, for settings that are not offered here. [`reload_config`](Self::reload_config)
    /// replaces it.
    ///
    /// If it verifies clients, set its `session_storage` to rustls's `NoServerSessionStorage` and leave its `ticketer`
    /// as it is, or resumed sessions admit clients whose certificates have expired.
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

    /// Sets how long a client may take for its handshake, waiting for its turn included. Default: 10 s.
    #[must_use]
    pub fn handshake_timeout(mut self, timeout: Duration) -> Self {
        self.handshake_timeout = timeout;
        self
    }

    /// Sets how many handshakes may run at one time; others wait. Default: 512. A client that has not begun takes no
    /// part in it, nor does one that has not answered its server for half a second.
    #[must_use]
    pub fn handshakes_max(mut self, count: usize) -> Self {
        self.handshakes_max = count;
        self
    }

    /// Presents this identity from now on, and accepts the same clients. Open connections keep theirs.
    ///
    /// # Errors
    /// Like [`new`](Self::new), or if the present settings are a configuration of rustls, whose clients are not known
    /// here. The previous identity then remains.
    pub fn reload(&self, identity: Identity) -> Result<(), TlsError> {
        let mut current = self.current.write();
        current.config = server_config(identity, &current.clients)?;
        Ok(())
    }

    /// Presents this identity from now on, and accepts only clients with certificates of these authorities. Open
    /// connections continue.
    ///
    /// # Errors
    /// Like [`new`](Self::new). The previous settings then remain.
    pub fn reload_mutual(&self, identity: Identity, clients: Authorities) -> Result<(), TlsError> {
        let clients = Clients::Trusted(clients);
        *self.current.write() = ServerSettings { config: server_config(identity, &clients)?, clients };
        Ok(())
    }

    /// Uses this configuration of rustls from now on. [`reload`](Self::reload) is an error then, because the clients
    /// that the configuration accepts are not known here.
    pub fn reload_config(&self, config: Arc<ServerConfig>) {
        *self.current.write() = ServerSettings { config, clients: Clients::Configured };
    }

    /// The settings that new connections begin with.
    fn current(&self) -> Arc<ServerConfig> {
        self.current.read().config.clone()
    }
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
        config.session_storage = Arc::new(NoServerSessionStorage {});
    }
    Ok(Arc::new(config))
}

/// The TLS settings of a client. Clones are the same: replacing the settings of one replaces those of all.
#[derive(Clone, Debug)]
pub struct ClientTls {
    current: Arc<RwLock<ClientSettings>>,
}

/// The replaceable settings of a client.
#[derive(Debug)]
struct ClientSettings {
    config: Arc<ClientConfig>,
    /// The trusted authorities. Unknown for a configuration of rustls.
    servers: Option<Authorities>,
}

impl ClientTls {
    /// Trusting these, and showing no certificate.
    ///
    /// # Errors
    /// If the cryptography does not serve any version of TLS.
    pub fn new(servers: Authorities) -> Result<Self, TlsError> {
        Self::build(servers, None)
    }

    fn build(servers: Authorities, identity: Option<Identity>) -> Result<Self, TlsError> {
        Ok(Self::from_settings(ClientSettings { config: client_config(&servers, identity)?, servers: Some(servers) }))
    }

    /// Shows this identity to servers that request one: mutual TLS. Clones that were made before keep theirs.
    ///
    /// # Errors
    /// If the certificate and the key do not belong together, or the present settings are a configuration of rustls,
    /// which has its own.
    pub fn with_identity(self, identity: Identity) -> Result<Self, TlsError> {
        let servers = self.current.read().servers.clone().ok_or_else(has_its_own_identity)?;
        Self::build(servers, Some(identity))
    }

    /// From a configuration of rustls, for settings that are not offered here.
    pub fn from_config(config: Arc<ClientConfig>) -> Self {
        Self::from_settings(ClientSettings { config: certificate_request::noting(config), servers: None })
    }

    fn from_settings(settings: ClientSettings) -> Self {
        Self { current: Arc::new(RwLock::new(settings)) }
    }

    /// Presents this identity from now on, or none. Open connections keep theirs.
    ///
    /// # Errors
    /// As [`with_identity`](Self::with_identity), with the present identity.
    pub fn reload(&self, identity: Option<Identity>) -> Result<(), TlsError> {
        let mut current = self.current.write();
        current.config = client_config(current.servers.as_ref().ok_or_else(has_its_own_identity)?, identity)?;
        Ok(())
    }

    /// Uses this configuration of rustls from now on. [`reload`](Self::reload) and [`with_identity`](Self::with_identity)
    /// are errors then.
    pub fn reload_config(&self, config: Arc<ClientConfig>) {
        *self.current.write() = ClientSettings { config: certificate_request::noting(config), servers: None };
    }

    /// Makes the handshake on a transport, with a server that certifies this name. The result is a transport again, for
    /// those who put something between TLS and frisbee: WebSocket, for example.
    ///
    /// # Errors
    /// If the server's certificate is not accepted, or the transport fails.
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

    /// Makes the handshake on a connection to `address`, with a server of the given name or that of the address. Also
    /// whether the server may still refuse this end's certificate: with TLS 1.3 it does so after the handshake.
    ///
    /// # Errors
    /// As [`connect_io`](Self::connect_io).
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

/// Why there is no TLS.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TlsError {
    /// The server's certificate is for other names than the one that was connected to.
    WrongName,
    /// None of the authorities that this end trusts vouches for the peer's certificate.
    UnknownAuthority,
    /// The peer's certificate was valid until a time that has passed.
    Expired,
    /// The peer's certificate will be valid later.
    NotYetValid,
    /// The peer's certificate will not do for another reason.
    BadCertificate(Arc<str>),
    /// The client has to show a certificate and has not.
    CertificateRequired,
    /// The peer has refused this end's certificate, by this alert.
    Refused(Arc<str>),
    /// The peer sent bytes that are not TLS.
    NotTls,
    /// The peer closed the connection in the middle of the handshake. A server that speaks no TLS does so.
    Closed,
    /// The handshake took longer than it may: at a server [`handshake_timeout`](ServerTls::handshake_timeout).
    Timeout,
    /// The settings of TLS are invalid.
    Configuration(Arc<str>),
    /// Anything else.
    Other(Arc<str>),
}

impl TlsError {
    /// The error of TLS, if a connection ended for it.
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
                // An error of webpki, which rustls does not name.
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

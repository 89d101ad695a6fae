//! Calls over TLS, and frames over rustls by hand, all with one certificate, TLS 1.3 and ring.
//!
//! The process that starts both ends creates the certificate and its key, and passes them to both. Sessions are resumed
//! according to each contestant's defaults, with one configuration per process.

use super::{Client, Rival, Setup, raw, tonic};
use crate::BoxError;
use crate::background::Bound;
use crate::contest::{Contestant, Load};
use crate::proto::benchmark::tonic::benchmark_service_client::BenchmarkServiceClient;
use crate::text::Text;
use ::tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, ServerTlsConfig};
use frpc::tls::{Authorities, ClientTls, Identity, ServerTls};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, OnceLock};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

/// The environment variable that passes the [`Identities`] of a process to its children, and the separator of its
/// parts.
pub const VARIABLE: &str = "FRISBEE_COMPARE_TLS";
const SEPARATOR: char = '|';

static IDENTITIES: LazyLock<Identities> = LazyLock::new(|| match std::env::var(VARIABLE) {
    Ok(passed) => Identities::read(&passed).expect("variable should have been set by this program"),
    Err(_) => Identities::make().expect("system should provide randomness"),
});

/// The certificates of an authority and of a loopback server, and the server's key, as PEM.
struct Identities {
    authority: String,
    certificate: String,
    key: String,
}

impl Identities {
    fn make() -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()])?.signed_by(&key, &authority)?;
        Ok(Self { authority: authority.pem(), certificate: certificate.pem(), key: key.serialize_pem() })
    }

    fn read(passed: &str) -> Option<Self> {
        let mut parts = passed.split(SEPARATOR).map(str::to_owned);
        Some(Self { authority: parts.next()?, certificate: parts.next()?, key: parts.next()? })
    }
}

/// Returns the value of [`VARIABLE`] for a child process.
pub fn passed_on() -> String {
    let Identities { authority, certificate, key } = &*IDENTITIES;
    [authority, certificate, key].map(String::as_str).join(&SEPARATOR.to_string())
}

/// Returns the settings of our servers.
pub(super) fn of_server() -> ServerTls {
    let identity =
        Identity::from_pem(&IDENTITIES.certificate, &IDENTITIES.key).expect("generated identity should be valid");
    ServerTls::new(identity).expect("key should match the certificate")
}

/// Returns the settings of our clients, which share one configuration.
pub(super) fn of_client() -> ClientTls {
    static TLS: LazyLock<ClientTls> = LazyLock::new(|| {
        let authorities = Authorities::from_pem(&IDENTITIES.authority).expect("generated authority should be valid");
        ClientTls::new(authorities).expect("ring should support TLS")
    });
    TLS.clone()
}

/// Raw frames over rustls with one thread per core.
#[derive(Debug)]
pub struct RawPerCore;

/// Raw frames over rustls in the caller's runtime.
#[derive(Debug)]
pub struct RawShared;

impl Contestant for RawPerCore {
    const NAME: &'static str = "raw-cores-tls";
    type Connection = client::TlsStream<TcpStream>;

    async fn serve(_setup: Setup, bound: Bound) -> Result<(), BoxError> {
        raw::serve(&raw::a_worker_for_each_core()?, bound, echo).await
    }

    async fn connect(address: SocketAddr, _setup: Setup, _load: Load) -> Result<Self::Connection, BoxError> {
        connect(address).await
    }

    async fn drive(stream: Self::Connection, load: Load) -> Result<u64, BoxError> {
        raw::drive(stream, load).await
    }
}

impl Contestant for RawShared {
    const NAME: &'static str = "raw-tls";
    type Connection = client::TlsStream<TcpStream>;

    async fn serve(_setup: Setup, bound: Bound) -> Result<(), BoxError> {
        raw::serve(&[Handle::current()], bound, echo).await
    }

    async fn connect(address: SocketAddr, _setup: Setup, _load: Load) -> Result<Self::Connection, BoxError> {
        connect(address).await
    }

    async fn drive(stream: Self::Connection, load: Load) -> Result<u64, BoxError> {
        raw::drive(stream, load).await
    }
}

/// Like [`RawPerCore`], with a new connection for each frame.
#[derive(Debug)]
pub struct RawCallPerCore;

/// Like [`RawShared`], with a new connection for each frame.
#[derive(Debug)]
pub struct RawCallShared;

impl Rival for RawCallPerCore {
    const NAME: &'static str = <RawPerCore as Contestant>::NAME;
    type Client = Frames;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        RawPerCore::serve(setup, bound).await
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Frames, BoxError> {
        Ok(Frames(Arc::new(Mutex::new(connect(address).await?))))
    }
}

impl Rival for RawCallShared {
    const NAME: &'static str = <RawShared as Contestant>::NAME;
    type Client = Frames;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        RawShared::serve(setup, bound).await
    }

    async fn connect(address: SocketAddr, setup: Setup) -> Result<Frames, BoxError> {
        <RawCallPerCore as Rival>::connect(address, setup).await
    }
}

/// A connection that carries one frame at a time.
#[derive(Clone, Debug)]
pub struct Frames(Arc<Mutex<client::TlsStream<TcpStream>>>);

impl Client for Frames {
    type Reply = Vec<u8>;

    async fn echo(&self, text: &Text) -> Result<Vec<u8>, BoxError> {
        raw::call(&mut *self.0.lock().await, text.as_bytes()).await
    }
}

async fn connect(address: SocketAddr) -> Result<client::TlsStream<TcpStream>, BoxError> {
    static CONNECTOR: LazyLock<TlsConnector> = LazyLock::new(|| {
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_slice(IDENTITIES.authority.as_bytes())
            .expect("generated authority should be valid PEM");
        roots.add(authority).expect("certificate should be a valid authority");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("ring should support TLS").with_root_certificates(roots).with_no_client_auth();
        Arc::new(config).into()
    });
    Ok(CONNECTOR.connect(ServerName::from(address.ip()), raw::connect(address).await?).await?)
}

/// Completes the handshake of one connection and echoes its frames.
async fn echo(socket: TcpStream) -> Result<(), BoxError> {
    static ACCEPTOR: LazyLock<TlsAcceptor> = LazyLock::new(|| {
        let chain = vec![
            CertificateDer::from_pem_slice(IDENTITIES.certificate.as_bytes())
                .expect("generated certificate should be valid PEM"),
        ];
        let key = PrivateKeyDer::from_pem_slice(IDENTITIES.key.as_bytes()).expect("generated key should be valid PEM");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("ring should support TLS").with_no_client_auth().with_single_cert(chain, key);
        Arc::new(config.expect("key should match the certificate")).into()
    });
    let stream: server::TlsStream<TcpStream> = ACCEPTOR.accept(socket).await?;
    raw::echo(stream).await
}

/// tonic over TLS on its default runtime.
#[derive(Debug)]
pub struct Tonic;

impl Rival for Tonic {
    const NAME: &'static str = "tonic-tls";
    type Client = BenchmarkServiceClient<Channel>;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let tls = ServerTlsConfig::new()
            .identity(::tonic::transport::Identity::from_pem(&IDENTITIES.certificate, &IDENTITIES.key));
        let server = tonic::server().tls_config(tls)?.add_service(tonic::service(setup));
        Ok(server.serve_with_incoming(tonic::incoming(bound)?).await?)
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Self::Client, BoxError> {
        // Shared by the process, because it caches sessions.
        static ENDPOINT: OnceLock<Endpoint> = OnceLock::new();
        let endpoint = match ENDPOINT.get() {
            Some(endpoint) => endpoint,
            None => {
                let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&IDENTITIES.authority));
                let endpoint = tonic::endpoint_of(&format!("https://{address}"))?.tls_config(tls)?;
                ENDPOINT.get_or_init(|| endpoint)
            }
        };
        Ok(tonic::echo_client(endpoint.connect().await?))
    }
}

//! The cluster: where its API server is, whom to trust there, and by what it knows this client. All of that is read anew
//! for each connection, since tokens, certificates and authorities are replaced while programs run.

use crate::connection::Connection;
use crate::kubeconfig;
use crate::plugin::Plugin;
use frpc::tls::{Authorities, ClientTls, Identity, TlsError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// Where Kubernetes puts the service account of a pod.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The namespace of who states none.
pub(crate) const DEFAULT_NAMESPACE: &str = "default";

/// A cluster, by its API server. Nothing is connected until a resolver asks. Clones are the same.
///
/// What it is made of is checked once, and read again for each connection: a token that is replaced in its file, and a new
/// authority, count from the next one on.
#[derive(Clone, Debug)]
pub struct Kubernetes {
    source: Arc<Source>,
    namespace: String,
}

/// From where the settings of a connection come. No secrets are kept here.
#[derive(Debug)]
enum Source {
    Address(Address),
    ServiceAccount { address: Address, folder: PathBuf },
    Kubeconfig { path: PathBuf, context: Option<String> },
}

/// All that a connection needs.
pub(crate) struct Settings {
    pub(crate) address: Address,
    /// The name for which the certificate of the API server has to be, if not its host.
    pub(crate) server_name: Option<String>,
    /// Certificates in PEM. If there are none, those of the system count.
    pub(crate) authorities: Option<Vec<u8>>,
    /// A certificate and its key, in PEM.
    pub(crate) identity: Option<(Vec<u8>, Vec<u8>)>,
    pub(crate) credentials: Credentials,
    pub(crate) namespace: String,
}

/// By what the API server knows this client, beside its certificate.
pub(crate) enum Credentials {
    None,
    Token(String),
    Plugin(Plugin),
}

/// The address of an API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) is_tls: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// What stands in front of all paths: proxies before several clusters have that. Without a slash at the end.
    pub(crate) prefix: String,
}

impl Address {
    /// Reads `https://host:port/prefix`.
    pub(crate) fn parse(text: &str) -> io::Result<Self> {
        let wrong = |why: &str| invalid(format!("{text:?} is not the address of an API server: {why}"));
        let uri: http::Uri = text.parse().map_err(|_| wrong("it is no URI"))?;
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("it begins neither with https:// nor with http://")),
        };
        let host = uri.host().ok_or_else(|| wrong("there is no host"))?.trim_matches(['[', ']']).to_owned();
        let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        Ok(Self { is_tls, host, port, prefix: uri.path().trim_end_matches('/').to_owned() })
    }

    /// The host and the port, as in a URI.
    pub(crate) fn authority(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }
}

impl Kubernetes {
    /// The cluster of the pod that this program runs in, as the pod's service account.
    ///
    /// # Errors
    /// If this is no pod, or one without a service account (`automountServiceAccountToken: false`).
    pub fn in_cluster() -> io::Result<Self> {
        let variable = |name: &str| {
            let value = std::env::var(name).ok().filter(|value| !value.is_empty());
            value.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("this is no pod: {name} is not set")))
        };
        let (host, port) = (variable("KUBERNETES_SERVICE_HOST")?, variable("KUBERNETES_SERVICE_PORT")?);
        Self::of_pod(host, &port, SERVICE_ACCOUNT.into())
    }

    fn of_pod(host: String, port: &str, folder: PathBuf) -> io::Result<Self> {
        let port = port.parse().map_err(|_| invalid(format!("{port:?} is not the port of an API server")))?;
        let address = Address { is_tls: true, host, port, prefix: String::new() };
        Self::of(Source::ServiceAccount { address, folder })
    }

    /// The cluster of a context in a file of `kubectl`, or of its current context.
    ///
    /// Tokens, files of tokens, certificates of clients, and plugins that print credentials are understood. A plugin is
    /// asked for each connection, of which a resolver makes one in five to ten minutes.
    ///
    /// # Errors
    /// If the file or one that it names cannot be read, or if it states what is not understood: proxies, passwords, and
    /// servers whose certificates are not verified.
    pub fn from_kubeconfig(path: impl Into<PathBuf>, context: Option<&str>) -> io::Result<Self> {
        Self::of(Source::Kubeconfig { path: path.into(), context: context.map(str::to_owned) })
    }

    /// The cluster behind this address, such as `http://127.0.0.1:8001` of `kubectl proxy`: without credentials, and for
    /// `https://` with the authorities of the system. The namespace is `default`.
    ///
    /// # Errors
    /// If that is no such address.
    pub fn new(address: &str) -> io::Result<Self> {
        Self::of(Source::Address(Address::parse(address)?))
    }

    fn of(source: Source) -> io::Result<Self> {
        let settings = source.load()?;
        if settings.address.is_tls {
            settings.tls(settings.identity.clone())?;
        }
        Ok(Self { source: Arc::new(source), namespace: settings.namespace })
    }

    /// The namespace of Services that are named without one: that of the pod, or of the context.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// A connection of its own to the API server.
    pub(crate) async fn connect(&self) -> io::Result<Connection> {
        let source = self.source.clone();
        let loaded = tokio::task::spawn_blocking(move || source.load()).await;
        let mut settings = loaded.map_err(io::Error::other)??;
        let token = match &settings.credentials {
            Credentials::None => None,
            Credentials::Token(token) => Some(token.clone()),
            Credentials::Plugin(plugin) => {
                let answer = plugin.ask(&settings).await?;
                if answer.identity.is_some() {
                    settings.identity = answer.identity;
                }
                answer.token
            }
        };
        let tls = if settings.address.is_tls { Some(settings.tls(settings.identity.clone())?) } else { None };
        let name = settings.server_name.as_ref().unwrap_or(&settings.address.host);
        Connection::open(&settings.address, tls.map(|tls| (tls, name.as_str())), token.as_deref()).await
    }
}

impl Source {
    /// Reads all that is stated in files. Blocks.
    fn load(&self) -> io::Result<Settings> {
        match self {
            Self::Address(address) => Ok(Settings::plain(address.clone())),
            Self::ServiceAccount { address, folder } => {
                let text = |file: &str| {
                    let bytes = read(&folder.join(file))?;
                    String::from_utf8(bytes).map_err(|_| invalid(format!("the file {file} is no text")))
                };
                Ok(Settings {
                    authorities: Some(read(&folder.join("ca.crt"))?),
                    credentials: Credentials::Token(text("token")?.trim().to_owned()),
                    namespace: text("namespace")?.trim().to_owned(),
                    ..Settings::plain(address.clone())
                })
            }
            Self::Kubeconfig { path, context } => kubeconfig::load(path, context.as_deref()),
        }
    }
}

impl Settings {
    /// Without anything but an address.
    pub(crate) fn plain(address: Address) -> Self {
        Self {
            address,
            server_name: None,
            authorities: None,
            identity: None,
            credentials: Credentials::None,
            namespace: DEFAULT_NAMESPACE.to_owned(),
        }
    }

    fn tls(&self, identity: Option<(Vec<u8>, Vec<u8>)>) -> io::Result<ClientTls> {
        let failed = |error: TlsError| invalid(format!("TLS to the API server: {error}"));
        let authorities = match &self.authorities {
            Some(pem) => Authorities::from_pem(pem).map_err(failed)?,
            None => {
                // Systems also have certificates that rustls cannot use.
                let found = rustls_native_certs::load_native_certs().certs.into_iter();
                Authorities::new(found.filter(|one| Authorities::new([one.clone()]).is_ok())).map_err(failed)?
            }
        };
        let tls = ClientTls::new(authorities).map_err(failed)?;
        match identity {
            Some((chain, key)) => {
                Identity::from_pem(chain, key).and_then(|identity| tls.with_identity(identity)).map_err(failed)
            }
            None => Ok(tls),
        }
    }
}

/// Reads a file, and says which one it was if that fails.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

pub(crate) fn invalid(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authority() -> String {
        let key = rcgen::KeyPair::generate().expect("there is randomness");
        rcgen::CertificateParams::default().self_signed(&key).expect("it has all it needs").pem()
    }

    #[test]
    fn addresses_have_a_scheme_a_host_and_perhaps_a_prefix() {
        let parsed = |text| Address::parse(text).expect("it is an address");
        let rancher = parsed("https://rancher.example/k8s/clusters/c-1/");
        assert_eq!((rancher.port, rancher.prefix.as_str()), (443, "/k8s/clusters/c-1"));
        let local = parsed("http://[::1]:8001");
        assert_eq!((local.is_tls, local.host.as_str(), local.authority().as_str()), (false, "::1", "[::1]:8001"));
        for text in ["", "10.0.0.1:6443", "ftp://10.0.0.1", "https://", "no uri at all"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_pod_has_a_token_an_authority_and_a_namespace_which_are_read_again() {
        let folder = tempfile::tempdir().expect("there is room");
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).expect("there is room");
        let of_pod = || Kubernetes::of_pod("10.96.0.1".to_owned(), "443", folder.path().into());
        write("namespace", "prod\n");
        write("token", "first\n");
        let missing = of_pod().expect_err("there is no authority");
        assert!(missing.to_string().contains("ca.crt"), "{missing}");
        write("ca.crt", &authority());
        let kubernetes = of_pod().expect("all is there");
        assert_eq!(kubernetes.namespace(), "prod");
        let token = || match kubernetes.source.load().expect("all is there").credentials {
            Credentials::Token(token) => token,
            _ => panic!("a pod has a token"),
        };
        assert_eq!(token(), "first");
        write("token", "second");
        assert_eq!(token(), "second");
        assert!(!format!("{kubernetes:?}").contains("second"), "secrets do not get into logs");
    }

    #[test]
    fn a_program_outside_of_a_cluster_is_told_so() {
        // The tests run in no pod; if they do, there is nothing to see here.
        if std::env::var_os("KUBERNETES_SERVICE_HOST").is_none() {
            let error = Kubernetes::in_cluster().expect_err("it is no pod");
            assert!(error.to_string().starts_with("this is no pod"), "{error}");
        }
    }
}

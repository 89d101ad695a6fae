//! Certificates for tests: of authorities, servers and clients.

use frisbee::tls::rustls::server::WebPkiClientVerifier;
use frisbee::tls::rustls::{self, ClientConfig, RootCertStore, ServerConfig};
use frisbee::tls::{Authorities, CertificateDer, ClientTls, Identity, PrivateKeyDer, ServerTls};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair, SanType,
    date_time_ymd,
};
use std::sync::Arc;

/// An authority that signs certificates.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Default for Authority {
    fn default() -> Self {
        Self::new("an authority of tests")
    }
}

impl Authority {
    /// Creates an authority.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("certificate without names should be valid");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("key pair should be generated");
        Self(CertifiedIssuer::self_signed(params, key).expect("key should match the certificate"))
    }

    /// Issues a certificate for a name, with its key. The certificate is currently valid.
    pub fn issue(&self, name: &str) -> Identity {
        self.issue_until(name, 2100)
    }

    /// Issues a certificate for a name, with its key. The certificate is valid until the beginning of a year.
    pub fn issue_until(&self, name: &str, year: i32) -> Identity {
        let (certificate, key) = self.sign(name, year);
        let chain = vec![certificate.der().clone(), self.certificate()];
        Identity::new(chain, PrivateKeyDer::Pkcs8(key.serialize_der().into()))
    }

    /// Like [`issue`](Self::issue), but returns certificate and key as PEM.
    pub fn issue_pem(&self, name: &str) -> (String, String) {
        let (certificate, key) = self.sign(name, 2100);
        (certificate.pem(), key.serialize_pem())
    }

    /// Issues a certificate with alternative names and a common name, with its key.
    pub fn issue_names(&self, names: Vec<SanType>, common_name: &str) -> Identity {
        let mut params = CertificateParams::default();
        params.subject_alt_names = names;
        params.distinguished_name = DistinguishedName::new();
        if !common_name.is_empty() {
            params.distinguished_name.push(DnType::CommonName, common_name);
        }
        let key = KeyPair::generate().expect("key pair should be generated");
        let certificate = params.signed_by(&key, &self.0).expect("key should match the certificate");
        Identity::new(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
    }

    fn sign(&self, name: &str, year: i32) -> (rcgen::Certificate, KeyPair) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("certificate name should be valid");
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().expect("key pair should be generated");
        (params.signed_by(&key, &self.0).expect("key should match the certificate"), key)
    }

    /// Returns the authority's own certificate.
    pub fn certificate(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    /// Returns the authority's own certificate as PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Returns a set of authorities that contains only this one.
    pub fn trusted(&self) -> Authorities {
        Authorities::new([self.certificate()]).expect("certificate should be a valid authority")
    }

    /// Returns server settings for loopback without client authentication.
    pub fn server(&self) -> ServerTls {
        ServerTls::new(self.issue("127.0.0.1")).expect("key should match the certificate")
    }

    /// Returns server settings for loopback that require a client certificate of this authority.
    pub fn mutual_server(&self) -> ServerTls {
        ServerTls::mutual(self.issue("127.0.0.1"), self.trusted()).expect("key should match the certificate")
    }

    /// Returns rustls configurations of a client and a server for loopback.
    pub fn configurations(&self) -> (Arc<ClientConfig>, Arc<ServerConfig>) {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(provider.clone());
        let server = server
            .with_safe_default_protocol_versions()
            .expect("default protocol versions should be supported")
            .with_no_client_auth();
        let (certificate, key) = self.sign("127.0.0.1", 2100);
        let chain = vec![certificate.der().clone()];
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let server = server.with_single_cert(chain, key).expect("key should match the certificate");
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate()).expect("certificate should be a valid authority");
        let client = ClientConfig::builder_with_provider(provider);
        let client =
            client.with_safe_default_protocol_versions().expect("default protocol versions should be supported");
        (Arc::new(client.with_root_certificates(roots).with_no_client_auth()), Arc::new(server))
    }

    /// Returns a rustls configuration of a server for loopback. The server requests a client certificate, but does not
    /// require one.
    pub fn asking_configuration(&self) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate()).expect("certificate should be a valid authority");
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        let verifier = verifier.allow_unauthenticated().build().expect("verifier should have an authority");
        let server = ServerConfig::builder_with_provider(provider);
        let server =
            server.with_safe_default_protocol_versions().expect("default protocol versions should be supported");
        let (certificate, key) = self.sign("127.0.0.1", 2100);
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let server = server.with_client_cert_verifier(verifier).with_single_cert(vec![certificate.der().clone()], key);
        Arc::new(server.expect("key should match the certificate"))
    }

    /// Returns the first bytes of a TLS client. They make the server compute a signature, whoever sends them.
    pub fn client_hello(&self) -> Vec<u8> {
        let (config, _) = self.configurations();
        let name = "localhost".try_into().expect("server name should be valid");
        let mut client = rustls::ClientConnection::new(config, name).expect("TLS settings should be valid");
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).expect("write to memory should succeed");
        bytes
    }

    /// Returns client settings that trust this authority and present no certificate.
    pub fn client(&self) -> ClientTls {
        ClientTls::new(self.trusted()).expect("TLS settings should be valid")
    }
}

/// Parses certificates and a key in PEM for rustls.
pub fn from_pem(certificates: &str, key: &str) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    use rustls::pki_types::pem::PemObject;
    let chain = CertificateDer::pem_slice_iter(certificates.as_bytes()).collect::<Result<_, _>>();
    (
        chain.expect("certificate should be valid PEM"),
        PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("key should be valid PEM"),
    )
}

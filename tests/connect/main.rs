//! The server that the conformance suite of Connect examines: `.ci/connect` fetches the suite and runs it.
//!
//! The standard input has the description of the wanted server, a message after its length as four bytes, big endian;
//! on the standard output goes the server's address in the same way. It then serves until the suite
//! stops it.

#[cfg(suite)]
mod service;

#[cfg(suite)]
#[allow(missing_docs, unreachable_pub, clippy::all, dead_code)]
mod conformance {
    frpc::include_proto!("connectrpc.conformance.v1");

    /// The methods of the service, which is put together by hand: its JSON has `Any`, whose types the server has to know.
    pub static LAYOUT: &frpc::codegen::Layout = &CONFORMANCE_SERVICE_LAYOUT;
    pub const UNARY: frpc::codegen::Method = CONFORMANCE_SERVICE_UNARY;
    pub const SERVER_STREAM: frpc::codegen::Method = CONFORMANCE_SERVICE_SERVER_STREAM;
    pub const CLIENT_STREAM: frpc::codegen::Method = CONFORMANCE_SERVICE_CLIENT_STREAM;
    pub const BIDI_STREAM: frpc::codegen::Method = CONFORMANCE_SERVICE_BIDI_STREAM;
    pub const UNIMPLEMENTED: frpc::codegen::Method = CONFORMANCE_SERVICE_UNIMPLEMENTED;
    pub const IDEMPOTENT_UNARY: frpc::codegen::Method = CONFORMANCE_SERVICE_IDEMPOTENT_UNARY;
}

#[cfg(suite)]
mod server {
    use crate::conformance::{ServerCompatRequest, ServerCompatResponse};
    use crate::service::Conformance;
    use frpc::prost::Message as _;
    use frpc::tls::rustls::crypto::ring;
    use frpc::tls::rustls::pki_types::pem::PemObject as _;
    use frpc::tls::rustls::server::WebPkiClientVerifier;
    use frpc::tls::rustls::{RootCertStore, ServerConfig};
    use frpc::tls::{CertificateDer, PrivateKeyDer, ServerTls};
    use frpc::{Config, Server};
    use frpc_gateway::{Gateway, Http, ServeGateway as _};
    use std::error::Error;
    use std::io::{Read as _, Write as _};
    use std::sync::Arc;

    pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
        let wanted = wanted()?;
        let mut builder =
            Server::builder().add_service(Conformance).gateway(Gateway::new().http(Http::new().connect().grpc()));
        if wanted.message_receive_limit > 0 {
            builder = builder.config(Config::default().body_max(wanted.message_receive_limit));
        }
        let mut certificate = Vec::new();
        if let Some(credentials) = wanted.server_creds.as_ref().filter(|_| wanted.use_tls) {
            builder = builder.tls(tls(&credentials.cert, &credentials.key, &wanted.client_tls_cert)?);
            certificate.clone_from(&credentials.cert);
        }
        let server = builder.bind("127.0.0.1:0").await?;
        let address = server.local_addr();
        let response =
            ServerCompatResponse { host: address.ip().to_string(), port: address.port().into(), pem_cert: certificate };
        let response = response.encode_to_vec();
        let mut output = std::io::stdout().lock();
        output.write_all(&u32::try_from(response.len())?.to_be_bytes())?;
        output.write_all(&response)?;
        output.flush()?;
        drop(output);
        let mut stop = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        server.serve_with_shutdown(async move { stop.recv().await.unwrap_or(()) }).await?;
        Ok(())
    }

    /// The server that the suite wants.
    fn wanted() -> Result<ServerCompatRequest, Box<dyn Error>> {
        let mut input = std::io::stdin().lock();
        let mut length = [0; 4];
        input.read_exact(&mut length)?;
        let mut message = vec![0; u32::from_be_bytes(length).try_into()?];
        input.read_exact(&mut message)?;
        Ok(ServerCompatRequest::decode(&message[..])?)
    }

    /// TLS that offers both versions of HTTP, and lets in clients by their certificate if `clients` has one.
    fn tls(certificates: &[u8], key: &[u8], clients: &[u8]) -> Result<ServerTls, Box<dyn Error>> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let builder = if clients.is_empty() {
            builder.with_no_client_auth()
        } else {
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_slice_iter(clients) {
                roots.add(certificate?)?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build()?;
            builder.with_client_cert_verifier(verifier)
        };
        let chain = CertificateDer::pem_slice_iter(certificates).collect::<Result<_, _>>()?;
        let mut config = builder.with_single_cert(chain, PrivateKeyDer::from_pem_slice(key)?)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(ServerTls::from_config(Arc::new(config)))
    }
}

#[cfg(suite)]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    server::run().await
}

#[cfg(not(suite))]
fn main() {
    eprintln!("built without the suite: see `.ci/connect`");
    std::process::exit(2);
}

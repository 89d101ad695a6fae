//! The server that Connect's conformance suite tests. `.ci/connect` fetches the suite and runs it.
//!
//! Standard input contains a message that describes the requested server, preceded by its length in four bytes, big
//! endian. The server's address is written to standard output in the same encoding. The server then runs until the
//! suite stops it.
//!
//! With the argument `native` or `grpc`, the server is a gateway that forwards calls to a second server in the same
//! process, by native frames or by gRPC.

#[cfg(suite)]
mod service;

#[cfg(suite)]
#[allow(missing_docs, unreachable_pub, clippy::all, dead_code)]
mod conformance {
    frpc::include_proto!("connectrpc.conformance.v1");

    /// The layout and the methods of the service are assembled by hand, because the JSON of an `Any` requires that the
    /// service knows the types it may contain.
    pub static LAYOUT: &frpc::codegen::Layout = &CONFORMANCE_SERVICE_LAYOUT;
    pub const UNARY: frpc::codegen::Method = CONFORMANCE_SERVICE_UNARY;
    pub const SERVER_STREAM: frpc::codegen::Method = CONFORMANCE_SERVICE_SERVER_STREAM;
    pub const CLIENT_STREAM: frpc::codegen::Method = CONFORMANCE_SERVICE_CLIENT_STREAM;
    pub const BIDI_STREAM: frpc::codegen::Method = CONFORMANCE_SERVICE_BIDI_STREAM;
    pub const UNIMPLEMENTED: frpc::codegen::Method = CONFORMANCE_SERVICE_UNIMPLEMENTED;
    pub const IDEMPOTENT_UNARY: frpc::codegen::Method = CONFORMANCE_SERVICE_IDEMPOTENT_UNARY;

    pub static METHODS: [(&str, &frpc::codegen::Method); 6] = [
        ("Unary", &UNARY),
        ("ServerStream", &SERVER_STREAM),
        ("ClientStream", &CLIENT_STREAM),
        ("BidiStream", &BIDI_STREAM),
        ("Unimplemented", &UNIMPLEMENTED),
        ("IdempotentUnary", &IDEMPOTENT_UNARY),
    ];
}

#[cfg(suite)]
mod server {
    use crate::conformance::{LAYOUT, METHODS, ServerCompatRequest, ServerCompatResponse};
    use crate::service::Conformance;
    use frpc::codegen::Service as _;
    use frpc::prost::Message as _;
    use frpc::tls::rustls::crypto::ring;
    use frpc::tls::rustls::pki_types::pem::PemObject as _;
    use frpc::tls::rustls::server::WebPkiClientVerifier;
    use frpc::tls::rustls::{RootCertStore, ServerConfig};
    use frpc::tls::{CertificateDer, PrivateKeyDer, ServerTls};
    use frpc::{Channel, Config, Server};
    use frpc_dynamic::DescriptorPool;
    use frpc_gateway::{Forward, ForwardService, Gateway, Http, ServeGateway as _};
    use std::error::Error;
    use std::io::{Read as _, Write as _};
    use std::sync::Arc;

    /// Maximum length of a message in bytes. The messages of the suite are far shorter.
    const MESSAGE_MAX: u32 = 5 << 20;

    pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
        let wanted = wanted()?;
        let mut builder = Server::builder().gateway(Gateway::new().http(Http::new().connect().grpc()));
        builder = match std::env::args().nth(1) {
            None => builder.add_service(Conformance),
            Some(by) => builder.add_service(forwarded(&by).await?),
        };
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

    /// Returns a service that forwards calls to a second server, natively or by gRPC.
    async fn forwarded(by: &str) -> Result<ForwardService, Box<dyn Error>> {
        let gateway = Gateway::new().http(Http::new().grpc());
        let server = Server::builder().add_service(Conformance).gateway(gateway).bind("127.0.0.1:0").await?;
        let address = server.local_addr().to_string();
        tokio::spawn(server.serve());
        let forward = match by {
            "native" => Forward::to([Channel::connect(address).await?]),
            "grpc" => Forward::to([Channel::builder()
                .config(Config::default().body_max(MESSAGE_MAX))
                .dangerous_no_timeout()
                .connect_lazy(format!("grpc://{address}"))?]),
            other => return Err(format!("calls are forwarded by `native` or `grpc`, not by {other:?}").into()),
        };
        let pool = DescriptorPool::decode(&include_bytes!(concat!(env!("OUT_DIR"), "/suite.bin"))[..])?;
        let service = pool.get_service_by_name(Conformance::NAME).ok_or("the suite has another service")?;
        let methods = service.methods().map(|method| {
            let numbered = METHODS.iter().find(|(name, _)| *name == method.name());
            Ok::<_, Box<dyn Error>>((method, numbered.ok_or("the suite has another method")?.1))
        });
        Ok(forward.service(LAYOUT, None, methods.collect::<Result<Vec<_>, _>>()?))
    }

    /// Reads the settings of the server that the suite requests.
    fn wanted() -> Result<ServerCompatRequest, Box<dyn Error>> {
        let mut input = std::io::stdin().lock();
        let mut length = [0; 4];
        input.read_exact(&mut length)?;
        let mut message = vec![0; u32::from_be_bytes(length).try_into()?];
        input.read_exact(&mut message)?;
        Ok(ServerCompatRequest::decode(&message[..])?)
    }

    /// Returns TLS settings with ALPN for both HTTP versions. If `clients` is not empty, clients need a certificate of
    /// these authorities.
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

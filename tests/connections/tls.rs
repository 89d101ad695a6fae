//! Tests of TLS: which peers are accepted, which are rejected, and the errors of rejected ones.

use super::transports::expect_service;
use frisbee::rpc::ConnectionExt;
use frisbee::tls::rustls::server::{ServerSessionMemoryCache, StoresServerSessions};
use frisbee::tls::rustls::{HandshakeKind, ServerConfig, ServerConnection};
use frisbee::tls::{ClientTls, Identity, ServerTls, TlsError};
use frisbee::{
    Client, ClientBuilder, CloseKind, CloseReason, Connection, Handlers, Operation, PeerKind, ProtocolError,
};
use frisbee_tests::interop::{InteropServer, Payload};
use frisbee_tests::pki::Authority;
use frisbee_tests::raw::{encoded, packet};
use frisbee_tests::serve_interop_with;
use frisbee_tests::service::Service;
use frpc::{Channel, Server, Workers};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Maximum time until an error is reported. Errors take less than a second, but the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(5);

async fn serve(tls: &ServerTls) -> SocketAddr {
    serve_interop_with(Server::builder().tls(tls.clone())).await
}

async fn connect(address: SocketAddr, tls: &ClientTls) -> Result<Connection, frisbee::Error> {
    connect_as(Client::builder().tls(tls.clone()), address).await
}

async fn connect_as(builder: ClientBuilder, address: SocketAddr) -> Result<Connection, frisbee::Error> {
    let connecting = builder.connect(address, Handlers::new());
    tokio::time::timeout(TIMEOUT, connecting).await.expect("connection should be established within the timeout")
}

fn tls_error(connected: Result<Connection, frisbee::Error>) -> TlsError {
    match connected {
        Err(frisbee::Error::Tls { source: error, .. }) => error,
        other => panic!("expected an error about TLS: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn services_work_over_tls_on_every_driver() {
    let authority = Authority::default();
    for workers in [Workers::PerCore, Workers::Caller] {
        let builder = Server::builder().workers(workers).tls(authority.server());
        let server = builder.add_service(InteropServer::new(Service)).bind("127.0.0.1:0").await.unwrap();
        let address = server.local_addr().to_string();
        tokio::spawn(server.serve());
        let channel = Channel::builder().tls(authority.client()).connect(address).await.unwrap();
        expect_service(&channel).await;
    }
}

#[tokio::test]
async fn tls_works_over_any_transport() {
    let authority = Authority::default();
    let builder = Server::builder().tls(authority.server());
    let acceptor = builder.add_service(InteropServer::new(Service)).build().unwrap();
    let (here, there) = frpc::memory();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let builder = Channel::builder().tls(authority.client()).server_name("127.0.0.1");
    expect_service(&builder.connect_io(here).await.unwrap()).await;
}

/// Checks that encrypted output is charged while the client does not read it.
#[tokio::test]
async fn unread_tls_output_is_charged() {
    let authority = Authority::default();
    let builder = Server::builder().tls(authority.server());
    let acceptor = builder.add_service(InteropServer::new(Service)).build().unwrap();
    let stats = acceptor.stats();
    let (here, there) = tokio::io::duplex(1024);
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let (config, _) = authority.configurations();
    let connector = tokio_rustls::TlsConnector::from(config);
    let mut client = connector.connect("127.0.0.1".try_into().unwrap(), here).await.unwrap();
    // `EchoPayload`, whose reply fits in the buffer of TLS.
    let body = encoded(&Payload { seq: 1, data: vec![7; 20_000] });
    client.write_all(&packet(7, 17, &body)).await.unwrap();
    client.flush().await.unwrap();
    let charged = |is_charged: bool| {
        let stats = stats.clone();
        async move {
            while (stats.memory_held() >= 64 * 1024) != is_charged {
                tokio::task::yield_now().await;
            }
        }
    };
    tokio::time::timeout(TIMEOUT, charged(true)).await.expect("output should be charged");
    let mut reply = vec![0; 10 + body.len()];
    client.read_exact(&mut reply).await.unwrap();
    assert!(reply.ends_with(&body), "{:?}", &reply[..20]);
    tokio::time::timeout(TIMEOUT, charged(false)).await.expect("charge should be released");
}

#[tokio::test]
async fn server_certificate_faults_have_distinct_types() {
    let authority = Authority::default();
    let address = serve(&authority.server()).await;

    let wrong = Client::builder().tls(authority.client()).server_name("elsewhere.test");
    assert_eq!(tls_error(connect_as(wrong, address).await), TlsError::WrongName);

    let stranger = Authority::new("a stranger");
    assert_eq!(tls_error(connect(address, &stranger.client()).await), TlsError::UnknownAuthority);

    let old = ServerTls::new(authority.issue_until("127.0.0.1", 2001)).unwrap();
    let address = serve(&old).await;
    assert_eq!(tls_error(connect(address, &authority.client()).await), TlsError::Expired);
}

#[tokio::test]
async fn client_without_required_certificate_gets_alert() {
    let authority = Authority::default();
    let address = serve(&authority.mutual_server()).await;
    assert_eq!(tls_error(connect(address, &authority.client()).await), TlsError::CertificateRequired);

    let stranger = Authority::new("a stranger");
    let client = authority.client().with_identity(stranger.issue("somebody")).unwrap();
    let error = tls_error(connect(address, &client).await);
    assert!(matches!(&error, TlsError::Refused(_)), "{error:?}");

    let client = authority.client().with_identity(authority.issue_until("somebody", 2001)).unwrap();
    let error = tls_error(connect(address, &client).await);
    assert!(matches!(&error, TlsError::Refused(_)), "{error:?}");
}

#[tokio::test]
async fn tls_without_client_auth_skips_hello_wait() {
    let authority = Authority::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let config = authority.configurations().1;
    let silent = tokio::spawn(async move {
        let mut session = ServerConnection::new(config).unwrap();
        let (mut socket, _) = listener.accept().await.unwrap();
        while session.is_handshaking() {
            let mut bytes = Vec::new();
            session.write_tls(&mut bytes).unwrap();
            socket.write_all(&bytes).await.unwrap();
            let mut bytes = [0; 4096];
            let count = socket.read(&mut bytes).await.unwrap();
            session.read_tls(&mut &bytes[..count]).unwrap();
            session.process_new_packets().unwrap();
        }
        socket
    });
    let connection = connect(address, &authority.client()).await.expect("server should accept the connection");
    assert_eq!(connection.peer(), PeerKind::Unknown);
    silent.await.unwrap();
}

/// Serves one client: completes the TLS handshake and then closes the socket without an alert, as the operating system
/// does for a killed process.
async fn killed_after_handshake(authority: &Authority) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(authority.configurations().1);
    tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let (mut socket, _session) = acceptor.accept(socket).await.unwrap().into_inner();
        // Reads the client's bytes, because closing a socket with unread bytes would reset the connection.
        let mut sent = [0; 4096];
        let _ = tokio::time::timeout(Duration::from_secs(1), socket.read(&mut sent)).await;
    });
    address
}

#[tokio::test]
async fn killed_tls_peer_is_reported_as_closed() {
    let authority = Authority::default();
    let address = killed_after_handshake(&authority).await;
    let connection = connect(address, &authority.client()).await.expect("server should accept the connection");
    let reason = tokio::time::timeout(TIMEOUT, connection.closed()).await.unwrap();
    assert!(matches!(reason, CloseReason::ClosedByPeer), "{reason:?}");
}

#[tokio::test]
async fn refused_tls_client_is_counted_by_kind() {
    let authority = Authority::default();
    let acceptor = Server::builder().tls(authority.mutual_server()).build().unwrap();
    let serve = |bytes: Vec<u8>| {
        let acceptor = acceptor.clone();
        async move {
            let (mut here, there) = frpc::memory();
            here.write_all(&bytes).await.unwrap();
            here.shutdown().await.unwrap();
            acceptor.serve_connection(there).await.kind()
        }
    };
    assert_eq!(serve(b"GET / HTTP/1.1\r\n\r\n".to_vec()).await, CloseKind::NotTls);
    assert_eq!(serve(authority.client_hello()).await, CloseKind::TlsHandshake);
    // Health checks of load balancers connect like this.
    assert_eq!(serve(Vec::new()).await, CloseKind::ClosedByPeer);
    let stats = acceptor.stats();
    let counted = [CloseKind::NotTls, CloseKind::TlsHandshake, CloseKind::ClosedByPeer];
    assert_eq!(counted.map(|kind| stats.closed_by(kind)), [1; 3]);
}

#[tokio::test]
async fn clients_resume_sessions_when_they_connect_again() {
    let authority = Authority::default();
    let mut config = ServerConfig::clone(&authority.configurations().1);
    let sessions = Arc::new(Sessions { cache: ServerSessionMemoryCache::new(16), resumed: AtomicUsize::new(0) });
    config.session_storage = sessions.clone();
    let address = serve(&ServerTls::from_config(Arc::new(config))).await;
    let tls = authority.client();
    for resumed in [0, 1, 2] {
        let channel = Channel::builder().tls(tls.clone()).connect(address.to_string()).await.unwrap();
        expect_service(&channel).await;
        assert_eq!(sessions.resumed.load(Ordering::Relaxed), resumed);
    }
}

/// Regression: a client whose certificate had expired was admitted through a resumed session, because certificates are
/// verified only in full handshakes.
#[tokio::test]
async fn sessions_are_resumed_only_without_client_certificates() {
    let authority = Authority::default();
    for (server, expected) in
        [(authority.server(), HandshakeKind::Resumed), (authority.mutual_server(), HandshakeKind::Full)]
    {
        let address = serve(&server).await.to_string();
        let client = authority.client().with_identity(authority.issue("client.test")).unwrap();
        let mut kind = None;
        for _ in 0..2 {
            let socket = TcpStream::connect(&address).await.unwrap();
            let (mut stream, _) = client.connect(socket, &address, None).await.unwrap();
            kind = stream.get_ref().1.handshake_kind();
            // Makes the server close the connection with an error. Reading to the end also receives its session
            // tickets.
            stream.write_all(&[0xFF; 64]).await.unwrap();
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
        assert_eq!(kind, Some(expected));
    }
}

/// The sessions of a server and the number of lookups.
#[derive(Debug)]
struct Sessions {
    cache: Arc<ServerSessionMemoryCache>,
    resumed: AtomicUsize,
}

impl StoresServerSessions for Sessions {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        self.cache.put(key, value)
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.cache.get(key)
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        let session = self.cache.take(key)?;
        self.resumed.fetch_add(1, Ordering::Relaxed);
        Some(session)
    }

    fn can_cache(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn handlers_see_certificate_of_their_client() {
    let authority = Authority::default();
    let whoami = Operation::user(10).unwrap();
    let handlers = Handlers::new().on(whoami, |connection, mut packet| async move {
        packet.body = connection.peer_certificates()?[0].to_vec().into();
        Some(packet)
    });
    let builder = frisbee::Server::builder().tls(authority.mutual_server());
    let server = builder.bind("127.0.0.1:0", handlers).await.unwrap();
    let address = server.local_addr();
    tokio::spawn(server.serve());

    let identity = authority.issue("client.test");
    let client = authority.client().with_identity(identity).unwrap();
    let (answers, mut answered) = tokio::sync::mpsc::unbounded_channel();
    let handlers = Handlers::new().on(whoami, move |_, packet| {
        answers.send(packet.body).unwrap();
        async { None }
    });
    let connection = Client::builder().tls(client).connect(address, handlers).await.unwrap();
    let packet = frisbee::Packet::new(frisbee::PacketId(1), whoami, "");
    connection.send(&packet).await.unwrap();
    let shown = answered.recv().await.unwrap();
    assert!(shown.windows(11).any(|part| part == b"client.test"), "certificate should name its owner");
    let servers = connection.peer_certificates().unwrap();
    assert_eq!(servers.len(), 2, "server should send its certificate and that of the authority");
}

#[tokio::test]
async fn same_address_identities_have_separate_memory_shares() {
    let authority = Authority::default();
    let fill = Operation::user(10).unwrap();
    let builder = || frisbee::Server::builder().memory_max(8 << 20);
    for builder in [builder().tls(authority.mutual_server()), builder().tls_or_plain(authority.mutual_server())] {
        let charges = Mutex::new(Vec::new());
        let handlers = Handlers::new().on(fill, move |connection, mut packet| {
            let more: Vec<_> = std::iter::from_fn(|| connection.try_charge(64 * 1024)).collect();
            packet.body = vec![u8::try_from(more.len()).unwrap()].into();
            charges.lock().unwrap().extend(more);
            async { Some(packet) }
        });
        let server = builder.bind("127.0.0.1:0", handlers).await.unwrap();
        let address = server.local_addr();
        tokio::spawn(server.serve());
        let [first, second] = ["first.test", "second.test"].map(|name| authority.issue_pem(name));
        let mut filled = Vec::new();
        let mut connections = Vec::new();
        for (certificate, key) in [&first, &first, &second] {
            let identity = Identity::from_pem(certificate, key).unwrap();
            let (answers, mut answered) = tokio::sync::mpsc::unbounded_channel();
            let handlers = Handlers::new().on(fill, move |_, packet| {
                answers.send(packet.body[0]).unwrap();
                async { None }
            });
            let client = authority.client().with_identity(identity).unwrap();
            let connection = Client::builder().tls(client).connect(address, handlers).await.unwrap();
            connection.send(&frisbee::Packet::new(frisbee::PacketId(1), fill, "")).await.unwrap();
            filled.push(answered.recv().await.unwrap());
            connections.push(connection);
        }
        assert!(filled[0] > 80 && filled[1] == 0 && filled[2] > 0, "{filled:?}");
    }
}

#[tokio::test]
async fn certificate_is_replaced_without_closing_connections() {
    let (before, after) = (Authority::new("before"), Authority::new("after"));
    let tls = before.server();
    let address = serve(&tls).await;
    let channel = Channel::builder().tls(before.client()).connect(address.to_string()).await.unwrap();
    expect_service(&channel).await;

    tls.reload(after.issue("127.0.0.1")).unwrap();
    expect_service(&channel).await;
    assert_eq!(tls_error(connect(address, &before.client()).await), TlsError::UnknownAuthority);
    let channel = Channel::builder().tls(after.client()).connect(address.to_string()).await.unwrap();
    expect_service(&channel).await;

    let mixed = Identity::from_pem(after.pem(), before.issue_pem("x").1).unwrap();
    assert!(tls.reload(mixed).is_err(), "key of another certificate should be rejected");
    connect(address, &after.client()).await.expect("server should accept the connection");
}

#[tokio::test]
async fn renewed_server_certificate_admits_same_clients() {
    let (before, after) = (Authority::new("before"), Authority::new("after"));
    let tls = before.mutual_server();
    let address = serve(&tls).await;
    tls.reload(after.issue("127.0.0.1")).unwrap();
    assert_eq!(tls_error(connect(address, &after.client()).await), TlsError::CertificateRequired);
    let stranger = after.client().with_identity(after.issue("stranger")).unwrap();
    assert!(matches!(tls_error(connect(address, &stranger).await), TlsError::Refused(_)));
    let identified = after.client().with_identity(before.issue("client.test")).unwrap();
    connect(address, &identified).await.expect("server should accept the connection");
}

#[tokio::test]
async fn custom_rustls_config_rejects_identity_reload() {
    let authority = Authority::default();
    let mutual = ServerTls::from_config(authority.configurations().1);
    let error = mutual.reload(authority.issue("127.0.0.1")).expect_err("reload without client authorities should fail");
    assert!(error.to_string().contains("use reload_config"), "{error}");
    let client = ClientTls::from_config(authority.configurations().0);
    assert_eq!(client.reload(Some(authority.issue("me"))), Err(error));
}

/// Regression: `reload` used the authorities that were passed to the constructor, and so undid their replacement.
#[tokio::test]
async fn replaced_configuration_is_not_undone_by_reload() {
    let (before, after) = (Authority::new("before"), Authority::new("after"));
    let tls = before.mutual_server();
    tls.reload_config(after.asking_configuration());
    tls.reload(before.issue("127.0.0.1")).expect_err("clients of the configuration should be unknown");
    let client = before.client();
    client.reload_config(after.configurations().0);
    client.reload(None).expect_err("authorities of the configuration should be unknown");
    client.clone().with_identity(before.issue("me")).expect_err("authorities of the configuration should be unknown");
    connect(serve(&tls).await, &client).await.expect("both should use their new configuration");
}

#[tokio::test]
async fn replaced_client_authorities_admit_their_clients_alone() {
    let (before, after) = (Authority::new("before"), Authority::new("after"));
    let tls = before.mutual_server();
    let address = serve(&tls).await;
    tls.reload_mutual(before.issue("127.0.0.1"), after.trusted()).unwrap();
    // Reloading must keep the replaced authority.
    tls.reload(before.issue("127.0.0.1")).unwrap();
    let client = |issuer: &Authority| before.client().with_identity(issuer.issue("client.test")).unwrap();
    assert!(matches!(tls_error(connect(address, &client(&before)).await), TlsError::Refused(_)));
    connect(address, &client(&after)).await.expect("clients of the new authority should be accepted");
}

#[tokio::test]
async fn plaintext_on_tls_port_closes_with_reason() {
    let authority = Authority::default();
    let address = serve(&authority.server()).await;
    let connection = connect_as(Client::builder(), address).await.expect("TCP connection should be accepted");
    let reason = tokio::time::timeout(TIMEOUT, connection.closed()).await.unwrap();
    assert!(matches!(reason, CloseReason::Protocol(ProtocolError::SpeaksTls)), "{reason:?}");

    let mut browser = TcpStream::connect(address).await.unwrap();
    browser.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let reading = browser.read_to_end(&mut answer);
    let _ = tokio::time::timeout(TIMEOUT, reading).await.expect("read should complete within the timeout");
    assert!(answer.len() <= 7, "server should send nothing but an alert: {answer:?}");
}

#[tokio::test]
async fn tls_to_plaintext_server_returns_typed_error() {
    let address = frisbee_tests::serve_interop().await;
    let error = tls_error(connect(address, &Authority::default().client()).await);
    assert_eq!(error, TlsError::Closed);

    // A plaintext server that sends the first bytes.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.write_all(b"220 mail.test ESMTP\r\n").await.unwrap();
        let _ = socket.read_to_end(&mut Vec::new()).await;
    });
    assert_eq!(tls_error(connect(address, &Authority::default().client()).await), TlsError::NotTls);
}

#[tokio::test]
async fn silent_handshakes_do_not_delay_other_clients() {
    let authority = Authority::default();
    let address = serve(&authority.server()).await;
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let connecting = Channel::builder().tls(authority.client()).connect(address.to_string());
    let channel = tokio::time::timeout(TIMEOUT, connecting)
        .await
        .expect("connection should be established within the timeout")
        .unwrap();
    expect_service(&channel).await;
}

#[tokio::test(start_paused = true)]
async fn handshake_times_out_after_ten_seconds() {
    let acceptor = Server::builder().tls(Authority::default().server()).build().unwrap();
    let (_silent, there) = frpc::memory();
    let began = tokio::time::Instant::now();
    let reason = acceptor.serve_connection(there).await;
    assert_eq!(TlsError::of(&reason), Some(TlsError::Timeout));
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn tls_handshake_timeout_is_configurable() {
    let tls = Authority::default().server().handshake_timeout(Duration::from_secs(3));
    let acceptor = Server::builder().tls(tls).build().unwrap();
    let began = tokio::time::Instant::now();
    let (_silent, there) = frpc::memory();
    let reason = acceptor.serve_connection(there).await;
    assert_eq!(TlsError::of(&reason), Some(TlsError::Timeout));
    assert_eq!(began.elapsed().as_secs(), 3);
}

#[tokio::test]
async fn zero_tls_settings_fail_or_count_as_one() {
    let authority = Authority::default();
    let tls = authority.server().handshake_timeout(Duration::ZERO);
    let error = Server::builder().tls(tls).build().map(drop).expect_err("zero should be rejected");
    assert_eq!(error.to_string(), "invalid setting: handshake_timeout = 0ns: must be greater than zero");
    let address = serve(&authority.server().handshakes_max(0)).await;
    connect(address, &authority.client()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn client_waits_at_handshake_limit() {
    let authority = Authority::default();
    let greeting = authority.client_hello();
    for (max, tls) in [(512, authority.server()), (3, authority.server().handshakes_max(3))] {
        let acceptor = Server::builder().tls(tls).build().unwrap();
        let mut started = Vec::new();
        for _ in 0..max {
            let (mut here, there) = frpc::memory();
            here.write_all(&greeting).await.unwrap();
            let acceptor = acceptor.clone();
            started.push((here, tokio::spawn(async move { acceptor.serve_connection(there).await })));
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
        let (here, there) = frpc::memory();
        tokio::spawn({
            let acceptor = acceptor.clone();
            async move { acceptor.serve_connection(there).await }
        });
        let connecting = Channel::builder().tls(authority.client()).server_name("127.0.0.1").connect_io(here);
        let mut connecting = std::pin::pin!(connecting);
        let early = tokio::time::timeout(Duration::from_millis(400), connecting.as_mut()).await;
        assert!(early.is_err(), "connection should wait for one of {max} permits");
        drop(started.pop());
        let soon = tokio::time::timeout(Duration::from_millis(50), connecting).await;
        soon.expect("waiting connection should get a place").unwrap();
    }
}

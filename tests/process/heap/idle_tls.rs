//! Tests of the memory that clients can make a server keep for TLS connections.

use super::allocator::{Uncounted, live};
use frisbee_tests::parrot::Echo;
use frisbee_tests::pki::Authority;
use frisbee_tests::process::ran_alone;
use frisbee_tests::raw::packet;
use frisbee_tests::versions::first::ParrotServer;
use frpc::tls::ServerTls;
use frpc::{Server, Stats, Workers};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::crypto::cipher::{OutboundChunks, OutboundPlainMessage};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, ConnectionTrafficSecrets, ContentType, ProtocolVersion, StreamOwned,
};

/// Number of connections. Both ends are in this process, and together stay below the usual limit of 1024 open files.
const CONNECTIONS: usize = 200;

/// Maximum time until the server closes a connection.
const TIMEOUT: Duration = Duration::from_secs(5);

#[test]
fn tls_connections_are_charged() {
    if ran_alone(|| ()) {
        return;
    }
    let authority = Authority::default();
    let (address, stats) = serve(authority.server());
    let (config, _) = authority.configurations();
    // Only the allocations of the server are counted.
    let _uncounted = Uncounted::begin();
    let mut first = Client::open(address, &config);
    let before = (live(), stats.connection_memory_held());
    let mut clients: Vec<_> = (0..CONNECTIONS).map(|_| Client::open(address, &config)).collect();
    first.ping();
    let idle = (live() - before.0) / CONNECTIONS;
    let charged = (stats.connection_memory_held() - before.1) / CONNECTIONS;
    // The header of a record of 16 KiB, and most of the record.
    let part = [&[23, 3, 3, 0x41, 0][..], &[0; 16_000]].concat();
    clients.iter_mut().for_each(|client| client.0.sock.write_all(&part).expect("write should succeed"));
    first.wait_for_others();
    let busy = (live() - before.0) / CONNECTIONS;
    println!("{idle} bytes an idle connection, {busy} with a part of a record, {charged} charged");
    assert!(idle < busy && busy <= charged && charged <= busy * 13 / 10);

    // Most of a handshake message of 60 000 bytes, in records of 15 000.
    let message = [&[1, 0, 0xea, 0x60][..], &[0; 60_000]].concat();
    let records = message.chunks(15_000).take(4).flat_map(|part| [&[22, 3, 1, 0x3a, 0x98][..], part].concat());
    let records: Vec<u8> = records.collect();
    let before = (live(), stats.connection_memory_held());
    let _greeted = [(); CONNECTIONS].map(|()| {
        let mut socket = TcpStream::connect(address).expect("server should be listening");
        socket.write_all(&records).expect("write should succeed");
        socket
    });
    let kept = || (live() - before.0) / CONNECTIONS;
    // The server reads from each socket in several turns.
    (0..1000).take_while(|_| kept() < 60_000).for_each(|_| first.ping());
    let (kept, charged) = (kept(), (stats.connection_memory_held() - before.1) / CONNECTIONS);
    println!("{kept} bytes a handshake, {charged} charged");
    assert!((60_000..=charged).contains(&kept));
}

/// Checks that a client cannot make rustls keep a part of a long handshake message.
#[test]
fn long_tls_message_without_data_closes_connection() {
    let authority = Authority::default();
    let (address, _) = serve(authority.server());
    let (config, _) = authority.configurations();
    let mut config = ClientConfig::clone(&config);
    config.enable_secret_extraction = true;
    let Client(StreamOwned { conn, mut sock, .. }) = Client::open(address, &Arc::new(config));
    let suite = conn.negotiated_cipher_suite().and_then(|suite| suite.tls13()).expect("TLS 1.3 should be supported");
    let (first, secrets) = conn.dangerous_extract_secrets().expect("configuration should allow this").tx;
    let ConnectionTrafficSecrets::Aes256Gcm { key, iv } = secrets else { panic!("cipher suite should be AES-256") };
    let mut encrypter = suite.aead_alg.encrypter(key, iv);
    // A message of 60 000 bytes that updates keys, in five records. The fifth is not sent.
    let message = [&[24, 0, 0xea, 0x60][..], &[0; 60_000]].concat();
    for (number, part) in message.chunks(15_000).take(4).enumerate() {
        let payload = OutboundChunks::Single(part);
        let plain = OutboundPlainMessage { typ: ContentType::Handshake, version: ProtocolVersion::TLSv1_2, payload };
        let record = encrypter.encrypt(plain, first + number as u64).expect("message should be short enough");
        // The server may have closed the connection already.
        let _ = sock.write_all(&record.encode());
    }
    sock.set_read_timeout(Some(TIMEOUT)).expect("timeout should be positive");
    let mut rest = Vec::new();
    let end = sock.read_to_end(&mut rest);
    assert!(!matches!(&end, Err(error) if error.kind() == ErrorKind::WouldBlock), "server should close the connection");
}

/// Starts a server on its own thread, which runs until the process ends.
fn serve(tls: ServerTls) -> (SocketAddr, Stats) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let builder = Server::builder().tls(tls).workers(Workers::Caller).add_service(ParrotServer::new(Echo));
    let server = runtime.block_on(builder.bind("127.0.0.1:0")).expect("loopback port should be free");
    let (address, stats) = (server.local_addr(), server.stats());
    std::thread::spawn(move || runtime.block_on(server.serve()));
    (address, stats)
}

struct Client(StreamOwned<ClientConnection, TcpStream>);

impl Client {
    /// Opens a connection, and waits until the server has received a packet.
    fn open(address: SocketAddr, config: &Arc<ClientConfig>) -> Self {
        let name = "127.0.0.1".try_into().expect("server name should be valid");
        let tls = ClientConnection::new(config.clone(), name).expect("TLS settings should be valid");
        let mut client = Self(StreamOwned::new(tls, TcpStream::connect(address).expect("server should be listening")));
        client.ping();
        client
    }

    /// Waits until the server has read what other clients have sent. Its only thread reads all sockets that are ready
    /// before it reads a later request.
    fn wait_for_others(&mut self) {
        (0..2).for_each(|_| self.ping());
    }

    fn ping(&mut self) {
        self.0.write_all(&packet(1, 0, &[])).expect("write should succeed");
        let mut answer = [0; 10];
        self.0.read_exact(&mut answer).expect("server should answer");
        assert_eq!(answer[5], 1);
    }
}

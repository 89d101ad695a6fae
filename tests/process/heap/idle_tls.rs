//! Tests of the memory that clients can make a server keep for TLS connections.

use super::allocator::{Uncounted, live};
use frisbee::Config;
use frisbee_tests::parrot::{Echo, REQUEST};
use frisbee_tests::pki::Authority;
use frisbee_tests::process::ran_alone;
use frisbee_tests::raw::packet;
use frisbee_tests::versions::first::ParrotServer;
use frpc::{Server, Stats, Workers};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::crypto::cipher::{MessageEncrypter, OutboundChunks, OutboundPlainMessage};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, ConnectionTrafficSecrets, ContentType, ProtocolVersion, StreamOwned,
};

/// Number of connections. Both ends are in this process, and together stay below the usual limit of 1024 open files.
const CONNECTIONS: usize = 200;

/// Length of a handshake message that clients send incompletely. It is just below the limit of rustls, 64 KiB.
const MESSAGE: usize = 60_000;

/// Checks that the charge of an idle connection covers an incomplete record.
#[test]
fn idle_tls_connections_are_charged() {
    if ran_alone(|| ()) {
        return;
    }
    let server = TestServer::start();
    let _uncounted = Uncounted::begin();
    let mut first = server.connect();
    let before = server.memory();
    let mut clients: Vec<_> = (0..CONNECTIONS).map(|_| server.connect()).collect();
    first.wait_for_others();
    let (idle, charged) = server.growth(before);
    // The header of a record of 16 KiB, and most of the record.
    let part = [&[23, 3, 3, 0x41, 0][..], &[0; 16_000]].concat();
    clients.iter_mut().for_each(|client| client.0.sock.write_all(&part).expect("write should succeed"));
    first.wait_for_others();
    let (busy, _) = server.growth(before);
    println!("{idle} bytes when idle, {charged} charged, {busy} with an incomplete record");
    assert!(idle < busy && busy <= charged && charged <= busy * 13 / 10);
}

#[test]
fn incomplete_tls_handshakes_are_charged() {
    if ran_alone(|| ()) {
        return;
    }
    let server = TestServer::start();
    let _uncounted = Uncounted::begin();
    let mut first = server.connect();
    let before = server.memory();
    // The type of a ClientHello.
    let records: Vec<u8> = parts_of_message(1)
        .flat_map(|part| [&[22, 3, 1][..], &(part.len() as u16).to_be_bytes(), &part].concat())
        .collect();
    let _clients = [(); CONNECTIONS].map(|()| {
        let mut socket = TcpStream::connect(server.address).expect("server should be listening");
        socket.write_all(&records).expect("write should succeed");
        socket
    });
    first.wait_for_others();
    let (kept, charged) = server.growth(before);
    println!("{kept} bytes, {charged} charged");
    assert!((MESSAGE..=charged).contains(&kept));
}

/// Checks that a handshake message is charged even if it arrives together with data, after the handshake.
#[test]
fn incomplete_tls_message_after_data_is_charged() {
    if ran_alone(|| ()) {
        return;
    }
    let server = TestServer::start();
    let _uncounted = Uncounted::begin();
    let mut first = server.connect();
    let before = server.memory();
    let _clients = [(); CONNECTIONS].map(|()| {
        let Client(StreamOwned { conn, mut sock, .. }) = server.connect();
        let mut records = Encrypted::new(conn);
        records.append(ContentType::ApplicationData, &packet(7, 10, &REQUEST));
        // The type of a KeyUpdate.
        parts_of_message(24).for_each(|part| records.append(ContentType::Handshake, &part));
        sock.write_all(&records.bytes).expect("write should succeed");
        sock
    });
    first.wait_for_others();
    let (kept, charged) = server.growth(before);
    println!("{kept} bytes, {charged} charged");
    assert!((MESSAGE..=charged).contains(&kept));
}

/// Returns all but the last four bytes of a handshake message, in parts that fit in a record.
fn parts_of_message(kind: u8) -> impl Iterator<Item = Vec<u8>> {
    let [_, length @ ..] = (MESSAGE as u32).to_be_bytes();
    let message = [&[kind], &length[..], &[0; MESSAGE]].concat();
    let parts: Vec<_> = message.chunks_exact(15_000).map(<[u8]>::to_vec).collect();
    parts.into_iter()
}

/// Encrypted TLS records, for content that the API of rustls cannot send.
struct Encrypted {
    encrypter: Box<dyn MessageEncrypter>,
    number: u64,
    bytes: Vec<u8>,
}

impl Encrypted {
    fn new(connection: ClientConnection) -> Self {
        let suite = connection.negotiated_cipher_suite().and_then(|suite| suite.tls13());
        let suite = suite.expect("TLS 1.3 should be supported");
        let (number, secrets) = connection.dangerous_extract_secrets().expect("configuration should allow this").tx;
        let ConnectionTrafficSecrets::Aes256Gcm { key, iv } = secrets else { panic!("cipher suite should be AES-256") };
        Self { encrypter: suite.aead_alg.encrypter(key, iv), number, bytes: Vec::new() }
    }

    fn append(&mut self, kind: ContentType, content: &[u8]) {
        let payload = OutboundChunks::Single(content);
        let plain = OutboundPlainMessage { typ: kind, version: ProtocolVersion::TLSv1_2, payload };
        let record = self.encrypter.encrypt(plain, self.number).expect("content should fit in a record");
        self.number += 1;
        self.bytes.extend(record.encode());
    }
}

/// A server on its own thread, which runs until the process ends. Start it before [`Uncounted::begin`], because only
/// its allocations should be counted.
struct TestServer {
    address: SocketAddr,
    stats: Stats,
    clients: Arc<ClientConfig>,
}

impl TestServer {
    fn start() -> Self {
        let authority = Authority::default();
        let mut clients = ClientConfig::clone(&authority.configurations().0);
        clients.enable_secret_extraction = true;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
        // Clients are silent, so these timeouts must be long.
        let hour = Duration::from_secs(3600);
        let builder = Server::builder().config(Config::default().idle_timeout(hour)).first_header_timeout(hour);
        let builder = builder.tls(authority.server().handshake_timeout(hour)).workers(Workers::Caller);
        let server = builder.add_service(ParrotServer::new(Echo)).bind("127.0.0.1:0");
        let server = runtime.block_on(server).expect("loopback port should be free");
        let (address, stats) = (server.local_addr(), server.stats());
        std::thread::spawn(move || runtime.block_on(server.serve()));
        Self { address, stats, clients: clients.into() }
    }

    /// Opens a connection and makes a call on it.
    fn connect(&self) -> Client {
        let name = "127.0.0.1".try_into().expect("server name should be valid");
        let tls = ClientConnection::new(self.clients.clone(), name).expect("TLS settings should be valid");
        let socket = TcpStream::connect(self.address).expect("server should be listening");
        let mut client = Client(StreamOwned::new(tls, socket));
        client.call();
        client
    }

    /// Returns how many bytes are allocated and charged.
    fn memory(&self) -> (usize, usize) {
        (live(), self.stats.connection_memory_held() + self.stats.memory_held())
    }

    /// Returns by how much [`memory`](Self::memory) has grown for each connection.
    fn growth(&self, before: (usize, usize)) -> (usize, usize) {
        let (live, charged) = self.memory();
        ((live - before.0) / CONNECTIONS, (charged - before.1) / CONNECTIONS)
    }
}

struct Client(StreamOwned<ClientConnection, TcpStream>);

impl Client {
    /// Waits until the server has read what other clients have sent. Its only thread serves all sockets in turn, and
    /// needs several turns for each.
    fn wait_for_others(&mut self) {
        (0..1000).for_each(|_| self.call());
    }

    fn call(&mut self) {
        self.0.write_all(&packet(7, 10, &REQUEST)).expect("write should succeed");
        let (mut head, mut body) = ([0; 10], [0; 64]);
        while head[5] != 10 {
            self.0.read_exact(&mut head).expect("server should answer");
            let length = usize::from(head[9]);
            self.0.read_exact(&mut body[..length]).expect("server should answer");
        }
    }
}

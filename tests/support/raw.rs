//! A peer that can write any bytes.

use bytes::Bytes;
use frisbee_core::{BODY_MAX, Decoder, Header, HeaderForm, Operation, Packet, PacketId};
use polyglot::{Encoder, Message, encode_root};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Maximum time to wait for a peer. Events take milliseconds, but the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Connection preface of an HTTP/2 client.
pub const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Returns an HTTP/2 frame with the given type, flags and stream.
///
/// # Panics
/// If the payload has 4 GiB or more.
pub fn http2_frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("payload should be short").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A connection without any protocol.
#[derive(Debug)]
pub struct Raw<T = TcpStream> {
    /// The socket, or another transport.
    pub socket: T,
    decoder: Decoder,
    received: Bytes,
}

/// A transport that accepts all writes. Reads return the same packet again and again.
#[derive(Debug)]
pub struct Endless {
    packet: Vec<u8>,
    /// Number of bytes read so far.
    at: usize,
    /// Maximum number of bytes per read.
    at_once: usize,
}

impl Endless {
    /// Creates a transport that repeats a packet. A read returns at most `at_once` bytes.
    pub fn new(packet: &[u8], at_once: usize) -> Self {
        Self { packet: packet.to_vec(), at: 0, at_once }
    }
}

impl AsyncRead for Endless {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut left = self.at_once.min(buffer.remaining());
        while left > 0 {
            let rest = &self.packet[self.at..];
            let count = rest.len().min(left);
            buffer.put_slice(&rest[..count]);
            left -= count;
            self.at = (self.at + count) % self.packet.len();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Endless {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Encodes a packet with the current header.
pub fn packet(id: u16, operation: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0x0F];
    bytes.extend_from_slice(&id.to_be_bytes());
    bytes.extend_from_slice(&operation.to_be_bytes());
    bytes.extend_from_slice(&(body.len() as u32).to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// Encodes the header of a packet with a body of `length` bytes.
pub fn header(id: u16, operation: u16, length: u32) -> Vec<u8> {
    let mut bytes = packet(id, operation, &[]);
    bytes.truncate(6);
    bytes.extend_from_slice(&length.to_be_bytes());
    assert_eq!(bytes.len(), Header::MAX_LEN);
    bytes
}

impl Raw {
    /// Listens on loopback. Returns the address, and a future that accepts the first connection.
    pub async fn listen() -> (String, impl Future<Output = Self>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
        let address = listener.local_addr().expect("socket should have a local address").to_string();
        (address, async move { Self::over(listener.accept().await.expect("client should connect").0) })
    }

    /// Connects to a server.
    pub async fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.expect("server should accept the connection"))
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Raw<T> {
    /// Creates a peer on an existing transport.
    pub fn over(socket: T) -> Self {
        Self { socket, decoder: Decoder::new(HeaderForm::Current, BODY_MAX), received: Bytes::new() }
    }

    /// Writes bytes.
    pub async fn write(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).await.expect("write should succeed");
    }

    /// Returns the next packet other than PING, PONG and HELLO, or `None` if the remote peer has closed the connection.
    pub async fn next(&mut self) -> Option<Packet> {
        tokio::time::timeout(TIMEOUT, async {
            loop {
                match self.decoder.next(&mut self.received).expect("the peer keeps to the protocol") {
                    Some(Packet { id: PacketId(0), operation: Operation::EXTENSION, .. }) => {}
                    Some(packet) if packet.operation.number() < 2 => {}
                    Some(packet) => return Some(packet),
                    None => self.read().await?,
                }
            }
        })
        .await
        .expect("read should complete within the timeout")
    }

    /// Discards received bytes until the remote peer closes the connection.
    pub async fn closed(&mut self) {
        let read = async { while self.read().await.is_some() {} };
        tokio::time::timeout(TIMEOUT, read).await.expect("read should complete within the timeout");
    }

    async fn read(&mut self) -> Option<()> {
        let mut buffer = vec![0; 64 * 1024];
        match self.socket.read(&mut buffer).await {
            // If the peer closes the connection with unread bytes, the connection is reset.
            Ok(0) | Err(_) => None,
            Ok(count) => {
                buffer.truncate(count);
                self.received = buffer.into();
                Some(())
            }
        }
    }
}

/// Encodes a message as the body of a packet.
pub fn encoded<M: Message>(message: &M) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_root(message, &mut Encoder::new(&mut bytes)).expect("message should be encodable");
    bytes
}

/// Returns the text if the body is an error.
pub fn error_text(body: &[u8]) -> Option<String> {
    polyglot::Decoder::new(body).error_text().ok().map(str::to_owned)
}

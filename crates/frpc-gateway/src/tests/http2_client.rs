//! An HTTP/2 client for tests, which works frame by frame.

use super::connections::TIMEOUT;
use frisbee_http2::hpack::{Decoder, Field};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, ReadHalf, WriteHalf};
use tokio::time::timeout;

/// The client's end of a connection.
pub(super) struct Http2<T> {
    pub(super) reader: BufReader<ReadHalf<T>>,
    pub(super) writer: WriteHalf<T>,
}

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

/// Encodes the head of a call of `Greet` with entries of the static table.
pub(super) fn head(content_type: &str) -> Vec<u8> {
    head_of("/greet.Greeter/Greet", content_type)
}

/// Encodes the head of a call of the method at `path`.
pub(super) fn head_of(path: &str, content_type: &str) -> Vec<u8> {
    let mut head = vec![0x83, 0x86];
    for (name, value) in [(4, path), (1, "localhost"), (31, content_type)] {
        head.extend_from_slice(&[
            0x40 | name,
            u8::try_from(value.len()).expect("length of a field value should fit in u8"),
        ]);
        head.extend_from_slice(value.as_bytes());
    }
    head
}

impl<T: AsyncRead + AsyncWrite> Http2<T> {
    /// Creates a client with this initial stream window.
    pub(super) async fn connect(io: T, window: u32) -> Self {
        let (reader, writer) = tokio::io::split(io);
        let mut client = Self { reader: BufReader::new(reader), writer };
        client
            .writer
            .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            .await
            .expect("server should accept the connection preface");
        let [a, b, c, d] = window.to_be_bytes();
        client.send(SETTINGS, 0, 0, &[0, 4, a, b, c, d]).await;
        // Acknowledge the SETTINGS of the server now, because some tests read nothing for longer than the server waits
        // for the acknowledgement.
        client.send(SETTINGS, 1, 0, &[]).await;
        client.send(WINDOW_UPDATE, 0, 0, &(window + 1).to_be_bytes()).await;
        client
    }

    /// Sends a frame. Failures become visible when the next frame is received.
    pub(super) async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).expect("payload length should fit in u32").to_be_bytes();
        self.write(&[&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()).await;
    }

    pub(super) async fn write(&mut self, frames: &[u8]) {
        let _ = self.writer.write_all(frames).await;
    }

    /// Calls `Greet` on the first stream.
    pub(super) async fn greet(&mut self, name: &str) {
        self.send(HEADERS, 4, 1, &head("application/json")).await;
        self.send(DATA, 1, 1, format!("{{\"name\":\"{name}\"}}").as_bytes()).await;
    }

    /// Reads frames until the fields of a reply contain `grpc-status`, and returns its value.
    pub(super) async fn status(&mut self) -> String {
        let (mut decoder, mut status) = (Decoder::new(), None);
        while status.is_none() {
            let (kind, payload) = self.frame().await.expect("server should reply before it closes the connection");
            if kind == HEADERS {
                let mut find = |field: Field<'_>| {
                    if field.name == b"grpc-status" {
                        status = Some(String::from_utf8_lossy(field.value).into_owned());
                    }
                };
                decoder.decode(&payload, &mut find).expect("field block of the reply should be valid");
            }
        }
        status.unwrap_or_default()
    }

    /// Extends the windows of the connection and of the first stream by this number of bytes.
    pub(super) async fn grant(&mut self, bytes: usize) {
        let bytes = u32::try_from(bytes).expect("window update should fit in u32").to_be_bytes();
        self.send(WINDOW_UPDATE, 0, 0, &bytes).await;
        self.send(WINDOW_UPDATE, 0, 1, &bytes).await;
    }

    /// Returns the type and payload of the next frame, or `None` at the end. Replies to PING.
    pub(super) async fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 9];
        let read = timeout(10 * TIMEOUT, self.reader.read_exact(&mut head))
            .await
            .expect("frame should arrive within the timeout");
        let ([a, b, c, kind, flags, ..], Ok(_)) = (head, read) else { return None };
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.reader.read_exact(&mut payload).await.ok()?;
        if kind == PING && flags == 0 {
            self.send(PING, 1, 0, &payload).await;
        }
        Some((kind, payload))
    }
}

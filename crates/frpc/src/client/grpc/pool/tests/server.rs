//! A server that tests drive frame by frame.

use super::SOON;
use crate::clock::now;
use bytes::{Bytes, BytesMut};
use frisbee_core::ServerConfig;
use frisbee_http2::{Connection, ErrorCode, Event, Head, StreamKey};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::time::timeout;

/// A server that reads requests from one connection.
pub(super) struct Server {
    pub(super) transport: DuplexStream,
    pub(super) http2: Connection,
    input: Bytes,
}

impl Server {
    /// Creates a server that permits `streams_max` streams, and the client's end of its connection.
    pub(super) async fn new(streams_max: u8) -> (DuplexStream, Self) {
        let (here, transport) = tokio::io::duplex(1 << 20);
        let http2 = Connection::server(&ServerConfig::default(), now());
        let mut server = Self { transport, http2, input: Bytes::new() };
        server.flush().await;
        server.permit(streams_max).await;
        (here, server)
    }

    pub(super) async fn flush(&mut self) {
        let output = self.http2.take_output(now());
        self.transport.write_all(&output).await.expect("client should accept the output");
    }

    /// Sends a SETTINGS frame that permits `streams_max` streams.
    pub(super) async fn permit(&mut self, streams_max: u8) {
        let frame = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, streams_max];
        self.transport.write_all(&frame).await.expect("client should accept the SETTINGS frame");
    }

    /// Waits for a request.
    pub(super) async fn request(&mut self) -> StreamKey {
        timeout(SOON, self.try_request())
            .await
            .expect("request should arrive within the timeout")
            .expect("client should keep the connection open")
    }

    pub(super) async fn try_request(&mut self) -> std::io::Result<StreamKey> {
        loop {
            while let Some(event) =
                self.http2.poll_event(&mut self.input, now()).expect("client should send valid frames")
            {
                if let Event::Head { stream, .. } = event {
                    return Ok(stream);
                }
            }
            self.flush().await;
            let mut input = BytesMut::new();
            let count = self.transport.read_buf(&mut input).await?;
            if count == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            self.input = input.freeze();
        }
    }

    /// Replies to a call with a head that ends the stream, without a message or status.
    pub(super) async fn reply(&mut self, stream: StreamKey) {
        self.http2.send_head(stream, &Head::response(200), true).expect("stream should be open");
        self.flush().await;
    }

    /// Sends the head of a reply.
    pub(super) async fn accept(&mut self, stream: StreamKey) {
        let mut head = Head::response(200);
        head.push("content-type", "application/grpc");
        self.http2.send_head(stream, &head, false).expect("stream should be open");
        self.flush().await;
    }

    pub(super) async fn refuse(&mut self, stream: StreamKey) {
        self.http2.reset(stream, ErrorCode::REFUSED_STREAM);
        self.flush().await;
    }
}

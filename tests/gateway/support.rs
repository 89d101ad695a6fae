//! A server with a gateway, and clients that exchange lines.

use frisbee_tests::interop::InteropServer;
use frisbee_tests::service::Service;
use frpc::{Acceptor, Server, ServerBuilder};
use frpc_gateway::{Gateway, ServeGateway};
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// Maximum time to wait for an event that should occur soon.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// Creates a server of the interop schema with a gateway.
pub(crate) fn server(gateway: Gateway, settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Acceptor {
    let builder = Server::builder().add_service(InteropServer::new(Service)).gateway(gateway);
    settings(builder).build().expect("settings should be valid")
}

/// A client on an in-memory transport.
pub(crate) struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    serving: JoinHandle<frpc::CloseReason>,
}

impl Client {
    /// Connects by a transport that buffers `room` bytes in each direction.
    pub(crate) fn with_room(server: &Acceptor, room: usize) -> Self {
        let (here, there) = tokio::io::duplex(room);
        let server = server.clone();
        let serving = tokio::spawn(async move { server.serve_connection(there).await });
        let (reader, writer) = tokio::io::split(here);
        Self { reader: BufReader::new(reader), writer, serving }
    }

    pub(crate) fn new(server: &Acceptor) -> Self {
        Self::with_room(server, 64 * 1024)
    }

    pub(crate) async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        tokio::time::timeout(TIMEOUT, self.writer.write_all(bytes.as_ref()))
            .await
            .expect("write should complete within the timeout")
            .expect("connection should be open");
    }

    /// Shuts down the client's sending half.
    pub(crate) async fn end(&mut self) {
        self.writer.shutdown().await.expect("socket should shut down");
    }

    /// Returns the next line without its line feed, or an empty string at the end of input.
    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        let reading = self.reader.read_line(&mut line);
        tokio::time::timeout(TIMEOUT, reading)
            .await
            .expect("read should complete within the timeout")
            .expect("response should be UTF-8");
        assert_eq!(line.pop().unwrap_or('\n'), '\n');
        line
    }

    /// Returns the next line, parsed as JSON.
    pub(crate) async fn json(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
    }

    /// Returns the remaining lines until the server closes the connection.
    pub(crate) async fn rest(&mut self) -> Vec<String> {
        let mut rest = String::new();
        let reading = self.reader.read_to_string(&mut rest);
        tokio::time::timeout(TIMEOUT, reading)
            .await
            .expect("read should complete within the timeout")
            .expect("response should be UTF-8");
        rest.lines().map(str::to_owned).collect()
    }

    /// Waits until the connection closes and returns the reason.
    pub(crate) async fn closed(self) -> frpc::CloseReason {
        let Self { reader, writer, serving } = self;
        let served = tokio::time::timeout(TIMEOUT, serving)
            .await
            .expect("server should stop within the timeout")
            .expect("task should not panic");
        drop((reader, writer));
        served
    }
}

/// Middleware that denies every call.
pub(crate) struct Closed;

impl frpc::Middleware for Closed {
    async fn call(&self, call: frpc::Call, _next: frpc::Next) -> Result<frpc::CallResponse, frpc::Status> {
        Err(frpc::Status::permission_denied(format!("{} is closed", call.method())))
    }
}

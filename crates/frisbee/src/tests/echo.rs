//! A router that echoes each packet, and a client that waits for the echo.

use crate::{Client, Connection, Handlers, Operation, Packet, PacketId};
use bytes::Bytes;
use std::net::SocketAddr;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

pub(crate) fn echo() -> Handlers {
    Handlers::new().on(Operation::FIRST_USER, |_connection, packet| async { Some(packet) })
}

/// A client of the [`echo`] router.
pub(crate) struct EchoClient {
    connection: Connection,
    answers: UnboundedReceiver<Bytes>,
}

impl EchoClient {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let (sender, answers) = unbounded_channel();
        let handlers = Handlers::new().on(Operation::FIRST_USER, move |_connection, packet| {
            sender.send(packet.body).ok();
            async { None }
        });
        let connection =
            Client::builder().connect(address, handlers).await.expect("server should accept the connection");
        Self { connection, answers }
    }

    /// Sends a text and returns the reply.
    pub(crate) async fn ask(&mut self, text: &'static str) -> Bytes {
        let packet = Packet::new(PacketId(1), Operation::FIRST_USER, text);
        self.connection.send(&packet).await.expect("open connection should send the packet");
        self.answers.recv().await.expect("server should reply with an echo of the packet")
    }
}

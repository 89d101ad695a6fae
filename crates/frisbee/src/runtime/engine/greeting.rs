//! The start of a connection: the kind of the peer, its HELLO, and messages that wait until the peer's header format is
//! known.

use super::Engine;
use crate::{BODY_MAX, ConnectionEvent, HeaderForm, Hello, Outbox, PeerKind, Routed, Router};
use frisbee_core::{Decoder, Role};
use std::cell::RefCell;
use std::sync::Arc;

/// Maximum size in bytes of a HELLO's items that connections share in memory. A few dozen services fit. Longer HELLOs
/// are rare and are charged to the server's memory.
const SHARED_MAX: usize = 4 * 1024;

/// Maximum size in bytes of a client's first packet that is received even without memory: a HELLO whose items are not
/// charged.
pub(super) const FIRST_MAX: usize = SHARED_MAX + 64;

thread_local! {
    /// Last HELLO that a connection of this thread received. Connections with an equal HELLO share its memory.
    static LAST_HELLO: RefCell<Option<Arc<Hello>>> = const { RefCell::new(None) };
}

impl<R: Router> Engine<R> {
    /// Called once it is known whether the peer supports the protocol extension.
    #[cold]
    pub(super) fn handle_peer_known(&mut self) -> Routed {
        // Remove the connection from the pending handshakes, so that it can no longer be evicted.
        self.pending_handshake = None;
        share_hello(&mut self.core);
        let peer = self.core.peer().clone();
        if peer.hello().is_some_and(|hello| !self.charge_greeting(hello)) {
            return Routed::close("no memory for the HELLO of the peer");
        }
        // Lower the limit to that of the peer, because the peer closes the connection when it receives a longer packet.
        let limit = peer.hello().map_or(BODY_MAX, |hello| hello.body_max);
        if limit < self.core.outbox().limit() {
            self.core.outbox().set_limit(limit);
            self.handle.0.mailbox.lock().outbox.set_limit(limit);
        }
        tracing::debug!(native = peer.hello().is_some(), "the kind of the peer is known");
        self.handle.0.mailbox.handle_peer_known(peer.clone());
        if let Some(session) = &mut self.session {
            self.router.event(session, &mut ConnectionEvent::PeerKnown(&peer));
        }
        Routed::Continue
    }

    /// Charges the memory of a client's HELLO, which is kept until the connection ends. Returns `false` if the client
    /// has no memory left for it. A short HELLO is not charged, because most connections share its memory.
    fn charge_greeting(&mut self, hello: &Hello) -> bool {
        let length = hello.items_len();
        if self.core.role() == Role::Server && length > SHARED_MAX {
            if !self.handle.0.mailbox.account.take(length) {
                return false;
            }
            self.hello_charge = length;
        }
        true
    }

    /// Re-encodes the packets that a server's handles sent before the peer's header format was known, and moves them to
    /// the outbox. Until then, they are encoded in the default format. Call this before anything is routed, because
    /// routing can make handles send more packets.
    #[cold]
    pub(super) fn release_deferred(&mut self) {
        let Some(form) = self.core.sends() else { return };
        self.messages_are_held = false;
        let mut inner = self.handle.0.mailbox.lock();
        let empty = inner.outbox.new_like();
        let mut packets = std::mem::replace(&mut inner.outbox, empty);
        inner.outbox.set_form(form);
        drop(inner);
        let mut packets = packets.take_bytes();
        let mut decoder = Decoder::new(HeaderForm::Current, u32::MAX);
        // Send the packets even if memory has become short, because they have already been accepted.
        let mut reframed = Outbox::new(form);
        reframed.set_limit(u32::MAX);
        while let Ok(Some(packet)) = decoder.next(&mut packets) {
            let sent = reframed.forward(&packet);
            debug_assert!(sent.is_ok(), "packet should be within the maximum limit");
        }
        self.core.outbox().append(&mut reframed);
        // Notify producers here: headers of the old format are shorter, so the backlog shrinks now, and later writes
        // might not notify them.
        self.notify_producers();
    }
}

/// Replaces the peer's HELLO by an equal one of another connection of this thread, to save memory: most clients of a
/// server run the same program and send the same HELLO. Only the latest HELLO is kept, so a peer that varies its HELLO
/// merely prevents the saving.
#[cold]
fn share_hello(core: &mut frisbee_core::Connection) {
    LAST_HELLO.with_borrow_mut(|last| {
        if let Some(last) = last {
            core.share_hello(last);
        }
        if let PeerKind::Native(hello) = core.peer()
            && hello.items_len() <= SHARED_MAX
        {
            *last = Some(hello.clone());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::ConnectionExt;
    use crate::{
        BODY_MAX_LEAST, Client, Config, Connection, Handlers, MemoryCharge, Operation, Outbox, Packet, PacketId,
        Router, SendError, Server, TrySendError,
    };
    use bytes::BytesMut;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    const MEMORY: usize = 1 << 20;

    /// Router that sends a long packet to each client and then exhausts the server's memory.
    struct Welcome;

    impl Router for Welcome {
        type Session = MemoryCharge;

        fn connected(&self, connection: &Connection) -> MemoryCharge {
            let welcome = |outbox: &mut Outbox| outbox.push(PacketId(0), Operation::FIRST_USER, vec![7; 10_000]);
            connection
                .send_now(welcome)
                .expect("connection should be open")
                .expect("packet should be within the maximum body size");
            connection.charge(MEMORY - 4096)
        }

        fn route(&self, _session: &mut MemoryCharge, _packet: Packet, _outbox: &mut Outbox) -> Routed {
            Routed::Continue
        }
    }

    #[tokio::test]
    async fn early_packets_are_sent_despite_memory_shortage() {
        let acceptor = Server::builder().memory_max(MEMORY).build(Welcome).expect("server settings should be valid");
        let (mut here, there) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        let mut first = Outbox::new(HeaderForm::Current);
        first
            .push(PacketId(1), Operation::FIRST_USER, "hello")
            .expect("client's first packet should be within the maximum body size");
        here.write_all(&first.take_bytes()).await.expect("client should be able to write");
        let (mut decoder, mut received) = (Decoder::new(HeaderForm::Current, u32::MAX), BytesMut::new());
        let welcome = loop {
            assert_ne!(
                here.read_buf(&mut received).await.expect("server should keep the connection open"),
                0,
                "connection should not be closed"
            );
            if let Some(packet) =
                decoder.next(&mut received.split().freeze()).expect("server should send valid packets")
            {
                break packet;
            }
        };
        assert_eq!(welcome.body.len(), 10_000);
    }

    /// Regression test: a packet longer than the server accepts closed the connection, and thus failed all other work
    /// on the connection.
    #[tokio::test]
    async fn overlong_packet_before_hello_keeps_connection() {
        let config = Config::default().body_max(BODY_MAX_LEAST);
        let acceptor =
            Server::builder().config(config).build(Handlers::new()).expect("server settings should be valid");
        let (here, there) = crate::memory();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        let connection =
            Client::builder().connect_io(here, Handlers::new()).await.expect("in-memory connection should be accepted");
        let packet = |length: u32| Packet::new(PacketId(1), Operation::FIRST_USER, vec![0; length as usize]);
        let sent = connection.send(&packet(BODY_MAX_LEAST + 1)).await;
        assert!(matches!(sent, Err(SendError::TooLong(_))), "{sent:?}");
        connection
            .send(&packet(BODY_MAX_LEAST))
            .await
            .expect("client should send a packet within the maximum body size");
        assert!(!connection.is_closed());
    }

    /// Regression test: a client sent a long packet before it knew the server's limit, and a server with a lower limit
    /// closed the connection.
    #[tokio::test]
    async fn long_packet_waits_until_limit_is_known() {
        let acceptor = Server::builder().build(Handlers::new()).expect("server settings should be valid");
        let (here, there) = crate::memory();
        let connection =
            Client::builder().connect_io(here, Handlers::new()).await.expect("in-memory connection should be accepted");
        let packet = |length: u32| Packet::new(PacketId(1), Operation::FIRST_USER, vec![0; length as usize]);
        connection.try_send(&packet(BODY_MAX_LEAST)).expect("client should send a packet that every server accepts");
        let early = connection.try_send(&packet(BODY_MAX_LEAST + 1));
        assert!(matches!(early, Err(TrySendError::Full)), "{early:?}");
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        connection.peer_known().await.expect("server should complete the handshake");
        connection
            .try_send(&packet(BODY_MAX_LEAST + 1))
            .expect("client should send a packet within the server's maximum body size");
    }
}

//! The beginning of a connection: the kind of the peer, its HELLO, and mail that waits for the form of headers.

use super::Engine;
use crate::{HeaderForm, Hello, PeerKind, Protocol, Routed};
use frisbee_core::{Decoder, Role};
use std::cell::RefCell;
use std::sync::Arc;

/// The longest items of a HELLO that is kept to be shared, in bytes: those of some dozen services. Longer ones are
/// rare, and charged to the server's memory.
const SHARED_MAX: usize = 4 * 1024;

thread_local! {
    /// The last HELLO that came on a connection of this thread.
    static LAST_HELLO: RefCell<Option<Arc<Hello>>> = const { RefCell::new(None) };
}

impl<R: Protocol> Engine<R> {
    /// Handles the kind of the peer, which has just become known.
    #[cold]
    pub(super) fn handle_peer_known(&mut self) -> Routed {
        self.pending_handshake = None;
        share_hello(&mut self.core);
        let peer = self.core.peer().clone();
        if let Some(hello) = peer.hello() {
            if !self.charge_greeting(hello) {
                return Routed::close("no memory for the HELLO of the peer");
            }
            // A packet that is longer ends the connection at a native peer.
            let limit = self.core.outbox().limit().min(hello.body_max);
            self.core.outbox().set_limit(limit);
            self.handle.0.mailbox.lock().outbox.set_limit(limit);
        }
        tracing::debug!(native = peer.hello().is_some(), "the kind of the peer is known");
        self.handle.0.mailbox.handle_peer_known(peer.clone());
        if let Some(session) = &mut self.session {
            self.router.peer_known(session, &peer);
        }
        Routed::Continue
    }

    /// Charges the HELLO of a client, which is kept as long as its connection. Short ones are shared by most.
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

    /// A server's handles may send before the form of headers is known. Their packets were framed in the current
    /// form and are reframed, before any routing that could make handles send more.
    #[cold]
    pub(super) fn release_deferred(&mut self) {
        let Some(form) = self.core.sends() else { return };
        self.mail_is_held = false;
        let mut inner = self.handle.0.mailbox.lock();
        let empty = inner.outbox.new_like();
        let mut packets = std::mem::replace(&mut inner.outbox, empty);
        inner.outbox.set_form(form);
        drop(inner);
        let mut packets = packets.take_bytes();
        let mut decoder = Decoder::new(HeaderForm::Current, u32::MAX);
        while let Ok(Some(packet)) = decoder.next(&mut packets) {
            let sent = self.core.outbox().forward(&packet);
            debug_assert!(sent.is_ok(), "it was within the same limit before");
        }
        // With old headers the backlog is shorter than before, and no write may follow that would notify producers.
        self.notify_producers();
    }
}

/// Lets connections of one thread share equal HELLOs of their peers: at a server, those of one client program. A peer
/// that sends another HELLO each time gains nothing, and others lose nothing but this.
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

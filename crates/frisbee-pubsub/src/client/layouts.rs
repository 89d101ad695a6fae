//! Descriptions of message layouts that a client announces to its broker, and descriptions that it requests.

use super::ClientShared;
use crate::layouts::ANSWER_TIMEOUT;
use crate::{Kind, put};
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{Connection, PacketId, PeerKind};
use polyglot::layout::{Fingerprint, MessageLayout};
use tokio::sync::oneshot;

/// Message layouts of a client and its pending requests for descriptions.
#[derive(Debug, Default)]
pub(super) struct ClientLayouts {
    /// Layouts of the messages that this client publishes.
    own: Vec<&'static MessageLayout>,
    /// Subscriptions that wait for the description of a layout.
    waiting: Vec<(Fingerprint, oneshot::Sender<Bytes>)>,
}

impl ClientShared {
    /// Announces the layout of messages that the client publishes, on this connection and on the connections that
    /// replace it.
    pub(crate) fn announce(&self, layout: &'static MessageLayout, connection: &Connection) {
        let own = &mut self.inner.lock().layouts.own;
        if own.contains(&layout) {
            return;
        }
        own.push(layout);
        // Do not announce the layout before the peer is known, because its size limit may be lower than the
        // description. `announce_all` sends the layout later.
        if matches!(connection.peer(), PeerKind::Native(_)) {
            self.send_layout(connection, layout.description());
        }
    }

    /// Announces all layouts on a new connection, once its peer is known.
    pub(crate) fn announce_all(&self, peer: &PeerKind) {
        let connection = self.connection.lock().clone();
        if let Some(connection) = connection.filter(|_| matches!(peer, PeerKind::Native(_))) {
            let own = self.inner.lock().layouts.own.clone();
            own.iter().for_each(|layout| self.send_layout(&connection, layout.description()));
        }
    }

    /// Requests the description of a layout from the broker. Returns `None` if the broker does not have the
    /// description.
    pub(crate) async fn layout(&self, fingerprint: Fingerprint) -> Option<Bytes> {
        let connection = self.connection.lock().clone()?;
        let (sender, described) = oneshot::channel();
        {
            // Register before sending the request. Otherwise, the reply could arrive before the registration and be
            // ignored.
            let waiting = &mut self.inner.lock().layouts.waiting;
            waiting.retain(|(_, sender)| !sender.is_closed());
            waiting.push((fingerprint, sender));
        }
        self.send_layout(&connection, &[&[0][..], &fingerprint.bytes()].concat());
        tokio::time::timeout(ANSWER_TIMEOUT, described).await.ok()?.ok()
    }

    /// Passes a description from the broker to the subscriptions that wait for it.
    pub(crate) fn handle_layout(&self, description: &Bytes) {
        let fingerprint = Fingerprint::of(description);
        let is_same = |(waiting, _): &mut (Fingerprint, _)| *waiting == fingerprint;
        // Collect the senders, because sending wakes tasks, so the lock must not be held.
        let senders: Vec<_> = self.inner.lock().layouts.waiting.extract_if(.., is_same).collect();
        for (_, sender) in senders {
            // Ignore the error, because the subscription may have been dropped.
            let _ = sender.send(description.clone());
        }
    }

    fn send_layout(&self, connection: &Connection, body: &[u8]) {
        // Ignore the error, because the next connection announces the layouts again, and a request without a reply
        // times out.
        let _ = connection.send_now(|outbox| put(outbox, PacketId(0), self.operations.of(Kind::Layout), body));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FIRST_OPERATION;
    use frisbee::testing::DetachedConnection;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Wake};
    use tokio::runtime::Handle;

    /// A waker that records whether the client is locked when it is woken.
    struct LockReader(Arc<ClientShared>, AtomicBool);

    impl Wake for LockReader {
        fn wake(self: Arc<Self>) {
            self.1.store(self.0.inner.is_locked(), Ordering::Relaxed);
        }
    }

    /// Regression test: a subscription that waited for a description was woken while its client was locked. A waker
    /// that used the client deadlocked.
    #[tokio::test]
    async fn described_subscription_is_woken_without_lock() {
        let connection = DetachedConnection::new(Handle::current(), usize::MAX).connection().clone();
        let shared = Arc::new(ClientShared::new(FIRST_OPERATION));
        shared.connected(&connection, true);
        let reader = Arc::new(LockReader(shared.clone(), AtomicBool::new(true)));
        let description = Bytes::from_static(b"description");
        let mut waiting = pin!(shared.layout(Fingerprint::of(&description)));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(&reader.clone().into())).is_pending());
        shared.handle_layout(&description);
        assert!(!reader.1.load(Ordering::Relaxed));
    }
}

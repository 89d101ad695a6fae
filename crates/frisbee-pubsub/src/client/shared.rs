//! State of a client: its subscriptions, and the callers that wait for replies.

use super::{ClientShared, ClientState, INBOX_MAX, OwnedConnection, PendingSync, PubSubError, RegisteredSubscription};
use crate::inbox::{Entry, Inbox, Subscription};
use crate::receive::Refusal;
use crate::reconnect::Resubscription;
use crate::resume::{Follow, PrecedingGap, Stream};
use crate::{Kind, Operations, put};
use frisbee::rpc::ConnectionExt;
use frisbee::{CloseReason, Connection, PacketId, SendError};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::oneshot;

impl ClientShared {
    pub(crate) fn new(first_operation: u16) -> Self {
        Self {
            operations: Operations::starting_at(first_operation),
            inbox_max: INBOX_MAX,
            connection: Mutex::default(),
            is_persistent: AtomicBool::new(false),
            has_published: AtomicBool::new(false),
            version: AtomicU64::new(0),
            inner: Mutex::default(),
        }
    }

    /// Makes `connection` the client's connection if the client has none, or if it replaces a lost one (`is_next`).
    /// Returns whether it is now the client's connection.
    pub(crate) fn connected(&self, connection: &Connection, is_next: bool) -> bool {
        let mut current = self.connection.lock();
        if is_next || current.is_none() {
            *current = Some(connection.clone());
        }
        current.as_ref().is_some_and(|current| current.is_same(connection))
    }

    /// Returns whether the client replaces a lost connection.
    pub(crate) fn is_persistent(&self) -> bool {
        self.is_persistent.load(Ordering::Relaxed)
    }

    /// Stops the client from replacing its connection, so that the client closes with it.
    pub(crate) fn stop_reconnecting(&self) {
        self.is_persistent.store(false, Ordering::Relaxed);
    }

    /// Returns the current connection if it differs from `than`.
    #[cold]
    pub(crate) fn newer(&self, than: &Connection) -> Option<Connection> {
        self.connection.lock().clone().filter(|current| !current.is_same(than))
    }

    /// Returns the requests that renew all subscriptions of a lost connection.
    pub(crate) fn again(&self) -> Vec<Resubscription> {
        let ClientState { inboxes, pending, .. } = &mut *self.inner.lock();
        let disconnected = inboxes.iter_mut().filter(|(_, one)| one.is_disconnected && !one.inbox.is_closed());
        disconnected.map(|(id, entered)| entered.again(*id, pending)).collect()
    }

    /// Discards the topic positions of a subscription and returns a request that renews it without them. Used when the
    /// broker has rejected the number of positions. Returns `None` if the subscription has no positions.
    pub(crate) fn again_without_positions(&self, id: u16) -> Option<Resubscription> {
        let ClientState { inboxes, pending, .. } = &mut *self.inner.lock();
        let entered = inboxes.get_mut(&id)?;
        entered.follow.as_mut()?.forget_positions().then(|| entered.again(id, pending))
    }

    /// Marks a subscription as disconnected, so that it is renewed later.
    pub(crate) fn mark_disconnected(&self, id: u16) {
        if let Some(subscription) = self.inner.lock().inboxes.get_mut(&id) {
            subscription.is_disconnected = true;
        }
    }

    /// Marks all subscriptions as disconnected, so that they are renewed on the next connection.
    pub(crate) fn mark_all_disconnected(&self) {
        self.inner.lock().inboxes.values_mut().for_each(|entered| entered.is_disconnected = true);
    }

    /// Creates a subscription for a client that reconnects.
    #[cfg(test)]
    pub(crate) fn persistent_subscription(self: &Arc<Self>, pattern: &str) -> Subscription {
        self.is_persistent.store(true, Ordering::Relaxed);
        let subscription = self
            .enter((pattern, "", None), oneshot::channel().0, None)
            .expect("client should be open right after it was created");
        self.handle_answer(subscription.id, Ok(()));
        subscription
    }

    /// Registers a subscription. Must be called before the subscription request is sent, because messages may arrive
    /// immediately afterwards.
    pub(crate) fn enter(
        self: &Arc<Self>,
        (pattern, group, follow): (&str, &str, Option<Box<Follow>>),
        answer: oneshot::Sender<Result<(), Refusal>>,
        own: Option<Arc<OwnedConnection>>,
    ) -> Result<Subscription, PubSubError> {
        let mut inner = self.inner.lock();
        if let Some(reason) = &inner.closed {
            return Err(SendError::Closed(reason.clone()).into());
        }
        let first = inner.last_id;
        let id = (1..=u16::MAX).map(|step| first.wrapping_add(step));
        let id = id.filter(|id| *id != 0).find(|id| !inner.inboxes.contains_key(id)).ok_or(PubSubError::TooMany)?;
        let inbox = Arc::<Inbox>::default();
        inner.last_id = id;
        let entered = RegisteredSubscription {
            inbox: inbox.clone(),
            pattern: pattern.into(),
            group: group.into(),
            is_disconnected: false,
            follow,
        };
        inner.inboxes.insert(id, entered);
        inner.pending.insert(id, answer);
        if group.is_empty() {
            inner.by_pattern.insert(pattern, id, inbox.clone());
        }
        // Increment the version under the lock, so that a reader of the new version finds the subscription.
        self.version.fetch_add(1, Ordering::Release);
        drop(inner);
        let (pattern, group) = (pattern.into(), group.into());
        let shared = self.clone();
        Ok(Subscription { shared, _own: own, id, inbox, pattern, group, received: VecDeque::new() })
    }

    pub(crate) fn leave(&self, subscription: &Subscription) {
        let mut inner = self.inner.lock();
        inner.inboxes.remove(&subscription.id);
        inner.pending.remove(&subscription.id);
        if subscription.group.is_empty() {
            inner.by_pattern.remove(&subscription.pattern, &subscription.id);
        }
        // Increment the version under the lock, so that a reader of the new version does not find the subscription.
        self.version.fetch_add(1, Ordering::Release);
        let closed = inner.closed.is_some();
        drop(inner);
        let connection = self.connection.lock().clone();
        if let Some(connection) = connection.filter(|_| !closed) {
            self.unsubscribe(&connection, subscription.id);
        }
    }

    pub(crate) fn unsubscribe(&self, connection: &Connection, id: u16) {
        // Ignore the error, because the broker has already removed the subscriptions of a closed connection.
        let _ = connection.send_now(|outbox| put(outbox, PacketId(id), self.operations.of(Kind::Unsubscribe), &[]));
    }

    /// Returns the queue of unread messages for the subscription with this id.
    pub(crate) fn inbox(&self, id: u16) -> Option<Arc<Inbox>> {
        self.inner.lock().inboxes.get(&id).map(|entered| entered.inbox.clone())
    }

    /// Returns the inboxes of the confirmed subscriptions that match a topic, except for queue group members.
    /// Unconfirmed subscriptions are excluded. They would receive messages only while another subscription matches them
    /// too, and would have a gap if the other one ended first. Also returns whether one of them uses a history.
    pub(crate) fn matching(&self, topic: &str) -> (Vec<Arc<Inbox>>, bool) {
        let (mut inboxes, mut follows) = (Vec::new(), false);
        let inner = self.inner.lock();
        inner.by_pattern.for_each_match(topic, |id, inbox| {
            let follow = inner.inboxes.get(id).and_then(|one| one.follow.as_ref());
            // A subscription that has not started receives these messages in the replay.
            if follow.is_none_or(|follow| follow.is_started) && !inner.pending.contains_key(id) {
                inboxes.push(inbox.clone());
                follows |= follow.is_some();
            }
        });
        (inboxes, follows)
    }

    /// Handles the broker's reply to a subscription request. The call that is waiting for it may have been cancelled.
    pub(crate) fn handle_answer(&self, id: u16, answer: Result<(), Refusal>) {
        let pending = self.inner.lock().pending.remove(&id);
        if let Some(pending) = pending {
            self.version.fetch_add(1, Ordering::Release);
            let _ = pending.send(answer);
        }
    }

    /// Records that a message is sent. The caller holds the lock of the connection's mailbox.
    #[inline(always)]
    pub(super) fn record_published(&self) {
        // Store only changes, so that the cache line stays shared between publishers on several threads.
        if !self.has_published.load(Ordering::Relaxed) {
            self.has_published.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether messages were sent since the last call.
    pub(super) fn take_published(&self) -> bool {
        self.has_published.swap(false, Ordering::Relaxed)
    }

    /// Handles the broker's reply to the oldest SYNC request.
    pub(crate) fn handle_sync(&self) {
        let sync = self.inner.lock().syncs.pop_front();
        let Some(PendingSync { answer, drained, .. }) = sync else { return };
        if let Some(inbox) = drained {
            inbox.close(&CloseReason::Local);
        }
        // Complete the call after the lock is released. An error means that the call was cancelled.
        let _ = answer.send(());
    }

    /// Handles a report that a message was rejected. The first reason is stored until the next SYNC.
    pub(crate) fn handle_refusal(&self, text: &str) {
        self.inner.lock().unreported.get_or_insert_with(|| PubSubError::Refused(text.to_owned()));
    }

    /// Handles a report that `count` messages were lost by one subscription, or by all subscriptions if `id` is 0.
    pub(crate) fn handle_lag(&self, id: u16, count: u64) {
        let inner = self.inner.lock();
        let inboxes: Vec<_> = match id {
            // Skip subscriptions with a history: they detect lost messages from gaps in the message offsets. Those that
            // the broker has not confirmed yet have lost none.
            0 => {
                let started = inner.inboxes.iter().filter(|(id, _)| !inner.pending.contains_key(id));
                started.filter(|(_, one)| one.is_lossy()).map(|(_, one)| one.inbox.clone()).collect()
            }
            _ => inner.inboxes.get(&id).map(|entered| entered.inbox.clone()).into_iter().collect(),
        };
        drop(inner);
        inboxes.iter().for_each(|inbox| inbox.extend([Entry::Lagged(count)].into_iter(), self.inbox_max));
    }

    /// Stores the last topic positions of a connection that has closed.
    pub(crate) fn handle_stream(&self, stream: Stream, is_lossy: bool) {
        self.inner.lock().stream = (stream, is_lossy);
    }

    /// Updates all subscriptions after the router has discarded the topic positions of the current connection.
    #[cold]
    pub(crate) fn handle_discarded_stream(&self) {
        let inboxes = &mut self.inner.lock().inboxes;
        inboxes.values_mut().filter_map(|one| one.follow.as_mut()).for_each(|follow| follow.handle_discarded_stream());
    }

    /// Calls `handle` for a subscription that uses a history, and reports the returned gap to the subscription's
    /// reader. Returns `None` if there is no such subscription.
    pub(crate) fn follow(&self, id: u16, handle: impl FnOnce(&mut Follow) -> PrecedingGap) -> Option<()> {
        let mut inner = self.inner.lock();
        let RegisteredSubscription { inbox, follow, .. } = inner.inboxes.get_mut(&id)?;
        let gap = handle(follow.as_mut()?);
        let inbox = inbox.clone();
        self.version.fetch_add(1, Ordering::Release);
        drop(inner);
        self.notify_gap(&[inbox], gap);
        Some(())
    }

    /// Returns the pattern of a subscription if it uses a history and the broker has not answered its request yet.
    pub(crate) fn begins(&self, id: u16) -> Option<Box<str>> {
        let inner = self.inner.lock();
        let entered = inner.inboxes.get(&id)?;
        let follow = entered.follow.as_ref()?;
        (!follow.is_started).then(|| entered.pattern.clone())
    }

    /// Reports missing messages of a topic to all matching subscriptions that detect gaps by positions, in order with
    /// their messages.
    pub(crate) fn handle_gap(&self, topic: &str, gap: PrecedingGap) {
        let mut inboxes = Vec::new();
        let inner = self.inner.lock();
        inner.by_pattern.for_each_match(topic, |id, inbox| {
            if inner.inboxes.get(id).is_some_and(RegisteredSubscription::is_exact) {
                inboxes.push(inbox.clone());
            }
        });
        drop(inner);
        self.notify_gap(&inboxes, gap);
    }

    pub(crate) fn notify_gap(&self, inboxes: &[Arc<Inbox>], gap: PrecedingGap) {
        let notice = match gap {
            PrecedingGap::None => return,
            PrecedingGap::Messages(count) => Entry::Lagged(count),
            PrecedingGap::Unknown => Entry::Reconnected,
        };
        inboxes.iter().for_each(|inbox| inbox.extend([notice.clone()].into_iter(), self.inbox_max));
    }

    /// Handles the end of the connection, which fails all pending calls of the client.
    pub(crate) fn handle_close(&self, reason: &CloseReason) {
        let ends = !self.is_persistent() || matches!(reason, CloseReason::Local);
        let mut inner = self.inner.lock();
        let (pending, syncs) = (std::mem::take(&mut inner.pending), std::mem::take(&mut inner.syncs));
        inner.disconnect_reason = Some(reason.clone());
        if self.take_published() || syncs.iter().any(|sync| sync.confirms) {
            // Replace the text of a rejection, because the loss concerns more messages.
            inner.unreported = Some(PubSubError::Unconfirmed);
        }
        let mut inboxes = Vec::new();
        let ClientState { inboxes: entered, stream: (stream, is_lossy), .. } = &mut *inner;
        for entered in entered.values_mut() {
            entered.is_disconnected = true;
            if let Some(follow) = &mut entered.follow {
                follow.handle_loss(stream, *is_lossy);
            }
        }
        inner.stream = Default::default();
        if ends {
            inner.closed = Some(reason.clone());
            inboxes.extend(inner.inboxes.values().map(|entered| entered.inbox.clone()));
        }
        drop(inner);
        // Dropping the senders fails the waiting calls and wakes their tasks, so the lock must not be held.
        drop((pending, syncs));
        inboxes.iter().for_each(|inbox| inbox.close(reason));
    }
}

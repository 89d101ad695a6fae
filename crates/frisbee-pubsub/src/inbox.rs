//! Subscriptions, and the bounded inboxes that hold their messages until they are read.

use super::client::{Client, ClientShared, OwnedConnection, PubSubError};
use bytes::Bytes;
use frisbee::CloseReason;
use frisbee::rpc::wake_all;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Memory charge in bytes for the queue entry of a message. The payload is charged separately.
const MESSAGE_CHARGE: usize = 64;

/// Maximum total size in bytes of the messages that a reader takes from its queue at once. Taken messages no longer
/// count towards the limit of the queue, so the reader and a full queue together may use this much more memory. A
/// single message may be longer.
const TAKEN_MAX: usize = 1 << 20;

/// Payload size in bytes below which a payload is copied if other messages are queued before it. Otherwise, each small
/// payload could keep a read buffer of 128 KiB in memory.
const COPIED_BELOW: usize = 64 * 1024;

/// A message received by a subscription.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    pub(super) topic: Arc<TopicName>,
    pub(super) payload: Bytes,
    /// Offset of the message in its topic's history, or 0 if the topic has no history.
    pub(super) offset: u64,
}

/// Name of a topic, with the epoch of its history. All received messages of the topic share it.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct TopicName {
    pub(super) name: Arc<str>,
    pub(super) epoch: u64,
}

/// Position of a message in the history of its topic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Position {
    /// Epoch of the topic's history that the offset belongs to. A broker that was restarted has another epoch.
    pub epoch: u64,
    /// Number of the message within its topic. Numbers start at 1 and are contiguous.
    pub offset: u64,
}

impl Message {
    /// Returns the topic that the message was published to.
    ///
    /// ```
    /// # async fn example(message: frisbee_pubsub::Message) -> Result<(), Box<dyn std::error::Error>> {
    /// println!("{}: {} bytes", message.topic(), message.payload().len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn topic(&self) -> &str {
        &self.topic.name
    }

    /// Returns the position of the message in its topic's history. It is only known if the broker keeps a history and
    /// this connection has a subscription to the topic that was created by
    /// [`subscribe_from`](crate::Client::subscribe_from).
    pub fn position(&self) -> Option<Position> {
        (self.offset != 0).then_some(Position { epoch: self.topic.epoch, offset: self.offset })
    }

    /// Returns the payload. It may share memory with other bytes of the same read.
    ///
    /// ```
    /// # async fn example(message: frisbee_pubsub::Message) -> Result<(), Box<dyn std::error::Error>> {
    /// println!("{}: {} bytes", message.topic(), message.payload().len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// Like [`payload`](Self::payload), but consumes the message and returns the payload by value.
    ///
    /// ```
    /// # async fn example(message: frisbee_pubsub::Message) -> Result<(), Box<dyn std::error::Error>> {
    /// let payload = message.into_payload();
    /// # let _ = payload;
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_payload(self) -> Bytes {
        self.payload
    }
}

/// Error returned when a subscription cannot return a message.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RecvError {
    /// The contained number of messages is missing at this point. The messages arrived faster than they were read, or
    /// the broker's history does not reach back to the loss of the connection. The subscription continues.
    ///
    /// If the subscription uses a history, the number is exact. It counts messages of one topic that this subscription
    /// has missed, or of all its topics if the messages were dropped from its own queue.
    ///
    /// Otherwise, dropped messages are counted for the whole connection. Each subscription of the connection reports
    /// the same number, whichever subscriptions the messages were for.
    Lagged(u64),
    /// The connection was lost, and the subscription continues on a new one.
    ///
    /// An unknown number of messages may be missing here. A subscription that uses a history reports this only if the
    /// broker was restarted, has evicted the history of a topic, or accepts fewer topic positions than the client has.
    Reconnected,
    /// The message of a typed topic could not be decoded for this reason. The subscription continues.
    Undecodable(String),
    /// The connection is closed, and all received messages have been read.
    Closed(CloseReason),
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lagged(count) => {
                write!(f, "{count} messages are missing; the subscriber was too slow, or too long without a connection")
            }
            Self::Reconnected => f.write_str("the connection was lost and replaced; messages may be missing"),
            Self::Undecodable(text) => f.write_str(text),
            Self::Closed(reason) => write!(f, "the connection has ended: {reason}"),
        }
    }
}

impl std::error::Error for RecvError {}

/// A subscription to a topic pattern. Dropping the subscription ends it.
#[derive(Debug)]
pub struct Subscription {
    pub(super) shared: Arc<ClientShared>,
    pub(super) _own: Option<Arc<OwnedConnection>>,
    pub(super) id: u16,
    pub(super) inbox: Arc<Inbox>,
    pub(super) pattern: Box<str>,
    pub(super) group: Box<str>,
    /// Entries that the reader has taken from the inbox in advance, so that it can return them without locking.
    pub(super) received: VecDeque<Entry>,
}

impl Subscription {
    /// Waits for the next message and returns it.
    ///
    /// # Errors
    /// Returns [`RecvError::Lagged`] if messages were lost at this point, and [`RecvError::Reconnected`] if the
    /// connection was lost. The next call continues after the loss. Returns [`RecvError::Closed`] if the connection is
    /// closed.
    ///
    /// # Cancel safety
    /// A message is removed only when the future resolves, so dropping the future loses no message.
    pub async fn recv(&mut self) -> Result<Message, RecvError> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// Polls for the next message, like [`recv`](Self::recv).
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<Message, RecvError>> {
        if self.received.is_empty() {
            let mut queue = self.inbox.0.lock();
            if queue.entries.is_empty() {
                // Report the end only if the queue is empty, so that messages that arrived before it are returned
                // first.
                if let Some(reason) = &queue.closed {
                    return Poll::Ready(Err(RecvError::Closed(reason.clone())));
                }
                // Register the waker under the lock. A message that arrives afterwards then wakes the reader.
                let earlier = queue.reader.replace(context.waker().clone());
                drop(queue);
                drop(earlier); // Without the lock, because this may be the last reference to a task.
                return Poll::Pending;
            }
            queue.take(&mut self.received);
        }
        match self.received.pop_front() {
            Some(Entry::Message(message)) => Poll::Ready(Ok(message)),
            Some(Entry::Lagged(count)) => Poll::Ready(Err(RecvError::Lagged(count))),
            Some(Entry::Reconnected) => Poll::Ready(Err(RecvError::Reconnected)),
            None => Poll::Pending,
        }
    }

    /// Ends the subscription without losing messages. Once this returns, the broker sends no more messages.
    /// [`recv`](Self::recv) returns those already received, then [`RecvError::Closed`]. The remaining members of a
    /// queue group receive all later messages.
    ///
    /// ```
    /// # async fn example(mut jobs: frisbee_pubsub::Subscription) -> Result<(), Box<dyn std::error::Error>> {
    /// jobs.drain().await?;
    /// while let Ok(job) = jobs.recv().await {
    ///     println!("{:?}", job.payload());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the connection is lost, and until the broker has renewed the subscription on the next connection. The
    /// subscription continues there.
    ///
    /// Also fails if the broker does not reply within 10 s. It replies after the queued messages, which can take longer
    /// than this on a slow connection. The subscription has then ended, and the remaining messages can still be
    /// received.
    ///
    /// # Cancel safety
    /// If the future is dropped, the broker may already have ended the subscription. In that case, no more messages
    /// arrive, and [`recv`](Self::recv) returns [`RecvError::Closed`] after those already received.
    pub async fn drain(&mut self) -> Result<(), PubSubError> {
        let client = Client(self.shared.clone(), self._own.clone());
        // The broker processes requests in order, so its reply follows the messages that it has queued.
        // Keep errors of published messages for `sync`, because the subscription has ended regardless.
        client.barrier(Some(self.id)).await
    }

    /// Returns the topic pattern of the subscription.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.shared.leave(self);
        // Empty the queue here, because route caches of the connection may keep the inbox alive for a while.
        let closed = Queue { closed: Some(CloseReason::Local), ..Queue::default() };
        let queue = std::mem::replace(&mut *self.inbox.0.lock(), closed);
        drop(queue); // Without the lock, because the waker may be the last reference to a task.
    }
}

/// Bounded queue of a subscription's unread messages. The client's router adds messages, and the reader takes them.
#[derive(Debug, Default)]
pub(super) struct Inbox(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    entries: VecDeque<Entry>,
    bytes: usize,
    reader: Option<Waker>,
    closed: Option<CloseReason>,
}

#[derive(Clone, Debug)]
pub(super) enum Entry {
    Message(Message),
    Lagged(u64),
    Reconnected,
}

impl Entry {
    fn charge(&self) -> usize {
        match self {
            Self::Message(message) => message.payload.len() + MESSAGE_CHARGE,
            Self::Lagged(_) | Self::Reconnected => MESSAGE_CHARGE,
        }
    }
}

impl Inbox {
    /// Adds entries and wakes the reader. Drops the oldest entries if the size limit is exceeded.
    pub(super) fn extend(&self, entries: impl Iterator<Item = Entry>, bytes_max: usize) {
        let mut queue = self.0.lock();
        if queue.closed.is_some() {
            return;
        }
        // If the reader is behind, short payloads are copied, because slices would keep whole read buffers in memory.
        let is_behind = !queue.entries.is_empty();
        for mut entry in entries {
            if is_behind
                && let Entry::Message(Message { payload, .. }) = &mut entry
                && payload.len() < COPIED_BELOW
            {
                *payload = Bytes::copy_from_slice(payload);
            }
            queue.bytes += entry.charge();
            queue.entries.push_back(entry);
        }
        if queue.bytes > bytes_max {
            queue.drop_oldest(bytes_max);
        }
        let reader = queue.reader.take();
        drop(queue);
        wake_all(reader);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.0.lock().closed.is_some()
    }

    pub(super) fn close(&self, reason: &CloseReason) {
        let mut queue = self.0.lock();
        queue.closed = Some(reason.clone());
        let reader = queue.reader.take();
        drop(queue);
        wake_all(reader);
    }
}

impl Queue {
    /// Moves entries to `received`, beginning with the oldest. Takes all entries of a small queue, but only about
    /// [`TAKEN_MAX`] bytes of a large one. The limit is necessary because the reader holds moved entries in memory
    /// although they no longer count towards the size limit of the queue.
    fn take(&mut self, received: &mut VecDeque<Entry>) {
        if self.bytes <= TAKEN_MAX {
            // `received` is empty, so this keeps both buffers for reuse.
            std::mem::swap(received, &mut self.entries);
            self.bytes = 0;
            return;
        }
        let mut taken = 0;
        while taken < TAKEN_MAX
            && let Some(entry) = self.entries.pop_front()
        {
            taken += entry.charge();
            received.push_back(entry);
        }
        self.bytes -= taken;
    }

    #[cold]
    fn drop_oldest(&mut self, bytes_max: usize) {
        let (mut lost, mut was_reconnected) = (0_u64, false);
        while self.bytes > bytes_max
            && self.entries.len() > 1
            && let Some(oldest) = self.entries.pop_front()
        {
            self.bytes -= oldest.charge();
            match oldest {
                Entry::Message(_) => lost = lost.saturating_add(1),
                Entry::Lagged(count) => lost = lost.saturating_add(count),
                Entry::Reconnected => was_reconnected = true,
            }
        }
        if was_reconnected {
            self.bytes += MESSAGE_CHARGE;
            self.entries.push_front(Entry::Reconnected);
        }
        if lost == 0 {
            return; // A single message may exceed the limit.
        }
        self.bytes += MESSAGE_CHARGE;
        self.entries.push_front(Entry::Lagged(lost));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FIRST_OPERATION;
    use std::sync::mpsc;
    use std::task::Wake;

    fn topic() -> Arc<TopicName> {
        Arc::new(TopicName { name: "a".into(), epoch: 0 })
    }

    #[test]
    fn lost_message_counts_do_not_overflow() {
        let inbox = Inbox::default();
        inbox.extend((0..8).map(|_| Entry::Lagged(u64::MAX)), 2 * MESSAGE_CHARGE);
        let message = Message { topic: topic(), offset: 0, payload: Bytes::from_static(b"x") };
        inbox.extend([Entry::Message(message)].into_iter(), 2 * MESSAGE_CHARGE);
    }

    /// A waker that panics when it is woken.
    struct BrokenWaker;

    impl Wake for BrokenWaker {
        fn wake(self: Arc<Self>) {
            panic!("on purpose")
        }
    }

    /// Regression test: a panicking waker of a subscriber closed the connection of all subscriptions.
    #[test]
    fn panicking_waker_of_reader_is_caught() {
        let inbox = Inbox::default();
        let wait = || inbox.0.lock().reader = Some(Arc::new(BrokenWaker).into());
        wait();
        inbox.extend([Entry::Reconnected].into_iter(), 500);
        wait();
        inbox.close(&CloseReason::Local);
    }

    /// A waker that sends, when dropped, whether the inbox is locked.
    struct LastReference(Arc<Inbox>, mpsc::Sender<bool>);

    impl Wake for LastReference {
        fn wake(self: Arc<Self>) {}
    }

    impl Drop for LastReference {
        fn drop(&mut self) {
            self.1.send(self.0.0.is_locked()).expect("receiver should not be dropped");
        }
    }

    /// Regression test: a task that was dropped with its waker deadlocked if it owned a handle of the inbox.
    #[test]
    fn waker_of_reader_is_dropped_unlocked() {
        let shared = Arc::new(ClientShared::new(FIRST_OPERATION));
        let mut subscription = shared.persistent_subscription("topic");
        let (dropped, receiver) = mpsc::channel();
        for _ in 0..2 {
            let waker = Arc::new(LastReference(subscription.inbox.clone(), dropped.clone())).into();
            assert!(subscription.poll_recv(&mut Context::from_waker(&waker)).is_pending());
        }
        assert_eq!(receiver.try_recv(), Ok(false), "waker should be dropped when it is replaced");
        drop(subscription);
        assert_eq!(receiver.try_recv(), Ok(false), "waker should be dropped with the subscription");
    }

    #[test]
    fn full_inbox_replaces_oldest_by_notices() {
        let inbox = Inbox::default();
        let message = || Entry::Message(Message { topic: topic(), offset: 0, payload: Bytes::from_static(&[0; 36]) });
        let waits = || {
            let queue = inbox.0.lock();
            let name = |entry: &Entry| match entry {
                Entry::Message(_) => "m".to_owned(),
                Entry::Lagged(count) => format!("-{count}"),
                Entry::Reconnected => "r".to_owned(),
            };
            assert_eq!(queue.bytes, queue.entries.iter().map(Entry::charge).sum::<usize>());
            queue.entries.iter().map(name).collect::<Vec<_>>().join(" ")
        };
        let add = |entry: Entry| inbox.extend([entry].into_iter(), 500);
        (0..5).for_each(|_| add(message()));
        assert_eq!(waits(), "m m m m m", "queue should accept as many messages as its limit allows");
        add(message());
        assert_eq!(waits(), "-1 m m m m m");
        add(Entry::Reconnected);
        assert_eq!(waits(), "-2 m m m m r", "loss report should include all lost messages");
        (0..4).for_each(|_| add(message()));
        assert_eq!(waits(), "-6 r m m m m");
        add(message());
        assert_eq!(waits(), "-6 r m m m m m");
        add(message());
        assert_eq!(waits(), "-7 r m m m m m");
        let text = Message { topic: topic(), offset: 0, payload: Bytes::from_static(b"text") };
        assert_eq!((text.topic(), &text.payload()[..]), ("a", &b"text"[..]));
        assert_eq!(text.into_payload(), "text");
    }

    /// Regression test: a slow reader kept a read buffer of 128 KiB in memory for each message of a few bytes.
    #[test]
    fn only_first_unread_message_keeps_buffer() {
        let inbox = Inbox::default();
        let buffer = Bytes::from(vec![0; 128 * 1024]);
        for at in 0..3 {
            let payload = buffer.slice(at..at + 100);
            let message = Message { topic: topic(), offset: 0, payload };
            inbox.extend([Entry::Message(message)].into_iter(), 1 << 20);
        }
        let is_kept = |entry: &&Entry| match entry {
            Entry::Message(message) => buffer.as_ptr_range().contains(&message.payload.as_ptr()),
            _ => false,
        };
        assert_eq!(inbox.0.lock().entries.iter().filter(is_kept).count(), 1);
    }

    /// Regression test: the reader took all entries of the queue at once, so that the queue could be filled again while
    /// they were still in memory.
    #[test]
    fn taken_messages_make_room_for_few_others() {
        const MOST: usize = 8 << 20;
        let inbox = Inbox::default();
        let message = || Entry::Message(Message { topic: topic(), offset: 0, payload: Bytes::from(vec![0; 10_000]) });
        let fill = || inbox.extend((0..2000).map(|_| message()), MOST);
        fill();
        let mut received = VecDeque::new();
        inbox.0.lock().take(&mut received);
        assert!(!received.is_empty());
        fill();
        let held: usize = received.iter().chain(&inbox.0.lock().entries).map(Entry::charge).sum();
        assert!(held <= MOST + 2 * TAKEN_MAX, "inbox holds {held} bytes");
        inbox.0.lock().take(&mut received);
        let bytes = inbox.0.lock().entries.iter().map(Entry::charge).sum::<usize>();
        assert_eq!(inbox.0.lock().bytes, bytes);
    }

    #[test]
    fn message_longer_than_inbox_is_kept() {
        let inbox = Inbox::default();
        let message = Message { topic: topic(), offset: 0, payload: Bytes::from(vec![0; 1000]) };
        inbox.extend([Entry::Message(message)].into_iter(), 500);
        let queue = inbox.0.lock();
        assert!(matches!(queue.entries.front(), Some(Entry::Message(_))), "{:?}", queue.entries.front());
    }
}

//! Queue of frames to be written to NATS.
//!
//! Short frames of the same topic are merged while they are queued. Batching therefore adds no delay: a single frame is
//! sent alone, and batches grow only with the backlog.

use crate::BackplaneError;
use crate::nats::batch::Payload;
use crate::nats::subjects::Subjects;
use async_nats::Subject;
use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::Notify;

/// Maximum number of bytes queued for NATS, an eighth of a second at 1 Gbit/s. Further messages are rejected.
const WAITING_MAX: usize = 16 * 1024 * 1024;

/// Overhead in bytes that is charged for each queued NATS message, in addition to the content of its frames.
const FRAME_CHARGE: usize = 128;

/// Maximum capacity, in messages, of an emptied queue buffer that is kept for reuse. It suffices for the messages that
/// are queued while others are written. A larger buffer is freed.
const KEPT: usize = 1024;

/// Bounded queue of the frames that a broker sends to NATS.
#[derive(Debug)]
pub(crate) struct Outgoing {
    subjects: Arc<Subjects>,
    queue: Mutex<Vec<QueuedMessage>>,
    filled: Notify,
    /// Number of bytes in frames that have not been written to NATS.
    charged: AtomicUsize,
    /// Whether the writer was dropped. Frames are then rejected.
    has_ended: AtomicBool,
}

/// Receiving end of the queue of frames for NATS. Once it is dropped, further frames are rejected.
#[derive(Debug)]
pub(crate) struct Writer(pub(crate) Arc<Outgoing>);

/// A queued NATS message, which contains one or more frames.
#[derive(Debug)]
pub(crate) struct QueuedMessage {
    pub(crate) subject: Subject,
    pub(crate) payload: Payload,
    /// Number of bytes that the message counts towards [`WAITING_MAX`].
    pub(crate) charge: usize,
}

impl Outgoing {
    pub(crate) fn new(subjects: Arc<Subjects>) -> Self {
        Self {
            subjects,
            queue: Mutex::default(),
            filled: Notify::new(),
            charged: AtomicUsize::new(0),
            has_ended: AtomicBool::new(false),
        }
    }

    /// Queues a frame to be published to a topic. With `batch_max`, the frame may be combined with queued frames of the
    /// same topic, up to a message size of this many bytes. Otherwise, it is sent as a separate NATS message.
    pub(crate) fn publish(&self, topic: &str, frame: Bytes, batch_max: Option<usize>) -> Result<(), BackplaneError> {
        self.check(WAITING_MAX)?;
        let mut queue = self.queue.lock();
        let last = queue.last_mut().filter(|last| self.subjects.topic_of(&last.subject) == topic);
        let subject = match last {
            Some(last) => {
                if let Some(most) = batch_max
                    && last.payload.add(&frame, most)
                {
                    last.charge += frame.len();
                    self.charged.fetch_add(frame.len(), Ordering::Relaxed);
                    return Ok(());
                }
                last.subject.clone()
            }
            None => self.subjects.of_topic(topic).into(),
        };
        self.push(&mut queue, subject, frame);
        Ok(())
    }

    /// Queues a control frame for all other brokers, even if the queue has no space for messages. Without the frame,
    /// losses could remain undetected after a reconnect.
    pub(crate) fn control(&self, frame: Bytes) -> Result<(), BackplaneError> {
        self.check(2 * WAITING_MAX)?;
        self.push(&mut self.queue.lock(), self.subjects.control.as_str().into(), frame);
        Ok(())
    }

    fn check(&self, charged_max: usize) -> Result<(), BackplaneError> {
        if self.has_ended.load(Ordering::Relaxed) {
            return Err(BackplaneError::Away("its runtime has ended".to_owned()));
        }
        // Check before acquiring the lock. Concurrent publishers may therefore exceed the limit by one message each.
        let charged = self.charged.load(Ordering::Relaxed);
        if charged > charged_max {
            return Err(BackplaneError::Away(format!("{charged} unwritten bytes for NATS")));
        }
        Ok(())
    }

    fn push(&self, queue: &mut Vec<QueuedMessage>, subject: Subject, frame: Bytes) {
        let charge = frame.len() + FRAME_CHARGE;
        self.charged.fetch_add(charge, Ordering::Relaxed);
        queue.push(QueuedMessage { subject, payload: Payload::Frame(frame), charge });
        // Notify only for the first message. The writer takes the whole queue at once, so it waits only while the queue
        // is empty.
        if queue.len() == 1 {
            self.filled.notify_one();
        }
    }
}

impl Writer {
    /// Waits until the queue contains messages, then moves all of them to `portion`, which must be empty.
    pub(crate) async fn take(&self, portion: &mut Vec<QueuedMessage>) {
        if portion.capacity() > KEPT {
            *portion = Vec::new();
        }
        loop {
            std::mem::swap(&mut *self.0.queue.lock(), portion);
            if !portion.is_empty() {
                return;
            }
            // `notify_one` stores a permit if no task waits, so a message that was queued in between is not missed.
            self.0.filled.notified().await;
        }
    }

    /// Deducts the bytes of a frame that was written or dropped from the size of the queue.
    pub(crate) fn written(&self, charge: usize) {
        self.0.charged.fetch_sub(charge, Ordering::Relaxed);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.has_ended.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nats::batch::{BATCH_MAX, frames};

    const MOST: Option<usize> = Some(1 << 20);

    fn outgoing() -> (Arc<Outgoing>, Writer) {
        let outgoing = Arc::new(Outgoing::new(Arc::new(Subjects::of("shop").unwrap())));
        let writer = Writer(outgoing.clone());
        (outgoing, writer)
    }

    /// Takes all messages from the queue. Returns the subject and the frames of each message.
    async fn taken(writer: &Writer) -> Vec<(String, Vec<Bytes>)> {
        let mut portion = Vec::new();
        writer.take(&mut portion).await;
        let all = portion.into_iter().map(|waiting| {
            writer.written(waiting.charge);
            (waiting.subject.to_string(), frames(&waiting.payload.into()).collect())
        });
        all.collect()
    }

    #[tokio::test]
    async fn adjacent_short_frames_are_merged_in_order() {
        let (outgoing, writer) = outgoing();
        for (topic, frame) in [("a", "\x011"), ("a", "\x012"), ("b", "\x013"), ("a", "\x014"), ("a", "\x015")] {
            outgoing.publish(topic, frame.into(), MOST).unwrap();
        }
        outgoing.control("\x03".into()).unwrap();
        outgoing.publish("a", "\x016".into(), MOST).unwrap();
        let expected = [
            ("shop.t.a", &["\x011", "\x012"][..]),
            ("shop.t.b", &["\x013"]),
            ("shop.t.a", &["\x014", "\x015"]),
            ("shop.c", &["\x03"]),
            ("shop.t.a", &["\x016"]),
        ];
        let taken = taken(&writer).await;
        assert_eq!(taken.len(), expected.len());
        for (taken, (subject, frames)) in taken.iter().zip(expected) {
            assert_eq!(
                (&*taken.0, &taken.1[..]),
                (subject, &frames.iter().map(|frame| (*frame).into()).collect::<Vec<_>>()[..])
            );
        }
        assert_eq!(outgoing.charged.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn unbatched_and_long_frames_leave_separately() {
        let (outgoing, writer) = outgoing();
        for _ in 0..3 {
            outgoing.publish("a", "\x01".into(), None).unwrap();
        }
        for _ in 0..2 {
            outgoing.publish("a", vec![1; BATCH_MAX].into(), MOST).unwrap();
        }
        assert!(taken(&writer).await.iter().all(|(subject, frames)| subject == "shop.t.a" && frames.len() == 1));
    }

    /// Also a regression test: a queue that was full at a reconnect rejected the query for missed messages.
    #[tokio::test]
    async fn full_queue_rejects_messages_until_written() {
        let (outgoing, writer) = outgoing();
        let frame = Bytes::from(vec![1; 1 << 20]);
        let count = (0..100).take_while(|_| outgoing.publish("a", frame.clone(), MOST).is_ok()).count();
        assert_eq!(count, WAITING_MAX >> 20);
        assert!(outgoing.control("\x03".into()).is_ok());
        // Frames that would be merged into a queued message are rejected as well.
        assert!(outgoing.publish("a", "\x01".into(), MOST).is_err());
        taken(&writer).await;
        assert!(outgoing.publish("a", "\x01".into(), MOST).is_ok());
    }

    #[tokio::test]
    async fn publish_without_writer_is_rejected() {
        let (outgoing, writer) = outgoing();
        drop(writer);
        assert!(outgoing.publish("a", "\x01".into(), MOST).is_err() && outgoing.control("\x03".into()).is_err());
    }
}

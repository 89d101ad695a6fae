//! Batches of several frames in one NATS message, so that NATS handles only one message instead of several.
//! `bus/frame.rs` describes the encoding.

use bytes::{BufMut, Bytes, BytesMut};

/// Maximum size of a batch of frames in bytes. The size is small because NATS clients limit their queues by the number
/// of messages, regardless of the size of each. It is large enough that frames of about ten bytes become cheap.
pub(crate) const BATCH_MAX: usize = 2 * 1024;

/// First byte of a batch of frames. It differs from the kinds of all frames.
const BATCH: u8 = 4;

/// Size in bytes of the length prefix of each frame in a batch.
const LENGTH: usize = 2;

/// Payload of a NATS message: a single frame or a batch of several.
#[derive(Debug)]
pub(crate) enum Payload {
    Frame(Bytes),
    Batch(BytesMut),
}

impl Payload {
    fn len(&self) -> usize {
        match self {
            Self::Frame(frame) => 1 + LENGTH + frame.len(),
            Self::Batch(frames) => frames.len(),
        }
    }

    /// Appends a frame to the payload. Returns `false` without appending if the payload would become longer than `most`
    /// or [`BATCH_MAX`].
    pub(crate) fn add(&mut self, frame: &[u8], most: usize) -> bool {
        if self.len() + LENGTH + frame.len() > most.min(BATCH_MAX) {
            return false;
        }
        if let Self::Frame(first) = self {
            // Allocate only twice the current size, so that the memory of the batch grows along with its charge.
            let mut frames = BytesMut::with_capacity(2 * (first.len() + frame.len() + 1 + 2 * LENGTH));
            frames.put_u8(BATCH);
            put(&mut frames, first);
            *self = Self::Batch(frames);
        }
        if let Self::Batch(frames) = self {
            put(frames, frame);
        }
        true
    }
}

impl From<Payload> for Bytes {
    fn from(payload: Payload) -> Self {
        match payload {
            Payload::Frame(frame) => frame,
            Payload::Batch(frames) => frames.freeze(),
        }
    }
}

fn put(frames: &mut BytesMut, frame: &[u8]) {
    debug_assert!(frame.len() <= BATCH_MAX, "frame should fit into a batch");
    frames.put_u16(frame.len() as u16);
    frames.put_slice(frame);
}

/// Returns the frames in the payload of a NATS message. A payload that is not a batch is a single frame. If a batch is
/// truncated, the last frame is empty and therefore malformed.
pub(crate) fn frames(payload: &Bytes) -> impl Iterator<Item = Bytes> + use<> {
    let is_batch = payload.first() == Some(&BATCH);
    let mut rest = Some(if is_batch { payload.slice(1..) } else { payload.clone() });
    std::iter::from_fn(move || {
        let left = rest.as_mut()?;
        if !is_batch {
            return rest.take();
        }
        let Some((length, frames)) = left.split_first_chunk::<LENGTH>() else {
            let is_cut_off = !left.is_empty();
            rest = None;
            return is_cut_off.then(Bytes::new);
        };
        let end = LENGTH + usize::from(u16::from_be_bytes(*length));
        if end > LENGTH + frames.len() {
            rest = None;
            return Some(Bytes::new());
        }
        Some(left.split_to(end).slice(LENGTH..))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(payload: &Bytes) -> Vec<Bytes> {
        frames(payload).collect()
    }

    #[test]
    fn batch_and_frame_match_documented_bytes() {
        let mut payload = Payload::Frame("\x01one".into());
        assert_eq!(all(&Payload::Frame("\x01one".into()).into()), ["\x01one"]);
        assert!(payload.add(b"\x01three", BATCH_MAX) && payload.add(b"\x02", BATCH_MAX));
        let bytes = Bytes::from(payload);
        assert_eq!(bytes, &b"\x04\x00\x04\x01one\x00\x06\x01three\x00\x01\x02"[..]);
        assert_eq!(all(&bytes), ["\x01one", "\x01three", "\x02"]);
    }

    #[test]
    fn batch_length_never_exceeds_limit() {
        for most in [1, 50, 1000, BATCH_MAX, 1 << 20] {
            let mut payload = Payload::Frame(vec![1; 20].into());
            let added = (0..1000).take_while(|_| payload.add(&[1; 20], most)).count();
            let bytes = Bytes::from(payload);
            assert!(bytes.len() <= most.min(BATCH_MAX) || added == 0, "batch has {} of {most} bytes", bytes.len());
            assert!(bytes.len() + 22 > most.min(BATCH_MAX), "batch should be full for {most} bytes");
            assert_eq!(all(&bytes).len(), 1 + added);
        }
        assert!(!Payload::Frame(vec![1; BATCH_MAX].into()).add(b"\x01", 1 << 20));
    }

    #[test]
    fn truncated_batch_ends_with_empty_frame() {
        let mut payload = Payload::Frame("\x01one".into());
        assert!(payload.add(b"\x01two", BATCH_MAX));
        let bytes = Bytes::from(payload);
        for length in 2..bytes.len() {
            let frames = all(&bytes.slice(..length));
            let whole = usize::from(length >= 7);
            let ends_whole = length == 7;
            assert_eq!(frames.len(), whole + usize::from(!ends_whole), "{length} bytes");
            assert!(ends_whole || frames.last().is_some_and(Bytes::is_empty), "{length} bytes");
        }
        assert_eq!(all(&b"\x04\xff\xff\x01"[..].into()), [""]);
        assert_eq!(all(&Bytes::new()), [""], "empty message should be an empty frame");
    }
}

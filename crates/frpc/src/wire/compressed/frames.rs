//! Encoding and checking of zstd frames. Each contains one message, uses no dictionary, and states the content size in
//! its header.

use super::{COMPRESSED, invalid};
use crate::Status;
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::tlv::{put_varint, take_varint};
use frisbee::{Connection, PacketWriter};
use polyglot::Bulk;
use std::cell::RefCell;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe;

/// Minimum length in bytes of a message that is compressed. A shorter message fits into one network packet, so
/// compression would cost more than it saves.
const LEAST: usize = 1024;

/// Fraction of a message's length (1/16) that compression must save to be worth its cost.
const SAVED_PART: usize = 16;

/// Compression level. The fastest level already achieves most of the saving.
const LEVEL: i32 = 1;

/// Magic number of a zstd frame. Skippable frames and legacy formats have other numbers.
const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Maximum compression ratio. Text is typically compressed by a factor of ten to fifty. Higher ratios indicate
/// decompression bombs, so senders do not compress messages that would exceed it.
const RATIO_MAX: usize = 256;

/// Maximum capacity in bytes of each of the two compression buffers that a thread keeps between messages.
const KEPT: usize = 64 * 1024;

/// Compression state of a thread. It takes several hundred kilobytes and is reused for all messages.
struct Packer {
    compressor: Compressor<'static>,
    whole: Vec<u8>,
    frame: Vec<u8>,
}

thread_local! {
    static PACKER: RefCell<Option<Packer>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses the message at offset `start` of the packet's buffer, with its parts in `bulk`, if this saves enough.
pub(super) fn compress(packet: &mut PacketWriter<'_>, start: usize, bulk: &mut Vec<Bulk>) {
    let limit = packet.limit() as usize;
    let buffer = packet.buffer();
    let written = buffer.len().saturating_sub(start);
    let length = bulk.iter().fold(written, |length, part| length.saturating_add(part.bytes.len()));
    // A message above the limit will be rejected, so do not compress it.
    if length < LEAST || length > limit {
        return;
    }
    PACKER.with_borrow_mut(|packer| {
        let Some(packer) = get_or_make(packer, || Some(Packer::new(Compressor::new(LEVEL).ok()?))) else { return };
        if let Some(frame) = packer.frame(buffer, start, bulk, length) {
            buffer.truncate(start);
            bulk.clear();
            buffer.push(COMPRESSED);
            put_varint(buffer, length as u64);
            buffer.extend_from_slice(frame);
        }
        packer.release();
    });
}

/// Returns the value in a slot, creating it first if the slot is empty.
fn get_or_make<T>(slot: &mut Option<T>, make: impl FnOnce() -> Option<T>) -> Option<&mut T> {
    if slot.is_none() {
        *slot = make();
    }
    slot.as_mut()
}

impl Packer {
    fn new(compressor: Compressor<'static>) -> Self {
        Self { compressor, whole: Vec::new(), frame: Vec::new() }
    }

    /// Compresses the message of `length` bytes that begins at `start` of `buffer`. Returns the zstd frame, or `None`
    /// if compression saves too little, or so much that receivers would reject the frame as a decompression bomb.
    fn frame(&mut self, buffer: &[u8], start: usize, bulk: &[Bulk], length: usize) -> Option<&[u8]> {
        let Self { compressor, whole, frame } = self;
        let mut source = buffer.get(start..)?;
        if !bulk.is_empty() {
            whole.clear();
            whole.reserve(length);
            let mut from = start;
            for part in bulk {
                whole.extend_from_slice(buffer.get(from..part.at)?);
                whole.extend_from_slice(&part.bytes);
                from = part.at;
            }
            whole.extend_from_slice(buffer.get(from..)?);
            source = whole;
        }
        let room = length - length / SAVED_PART;
        frame.clear();
        frame.reserve(room);
        // Compression fails only if the frame does not fit into the buffer.
        compressor.compress_to_buffer(source, frame).ok().filter(|compressed| *compressed <= room)?;
        (length <= frame.len().saturating_mul(RATIO_MAX)).then_some(frame)
    }

    /// Shrinks the buffers if a long message has enlarged them.
    fn release(&mut self) {
        self.whole.clear();
        self.whole.shrink_to(KEPT);
        self.frame.clear();
        self.frame.shrink_to(KEPT);
    }
}

/// Decompresses a compressed message that a peer has sent. `what` names the message in errors. The memory is charged to
/// the connection before decompression starts.
pub(super) fn decompress(body: &[u8], what: &str, by: &Connection) -> Result<Bytes, Status> {
    /// First bytes that messages may have: nil or fields. Errors, prefixes and compressed messages start with other
    /// bytes.
    const BEGINNINGS: [u8; 2] = [0x00, 0x08];

    let malformed = || invalid(what, "is not a single zstd frame of the stated length");
    let exhausted = |reason: &str| Status::resource_exhausted(format!("the compressed {what} {reason}"));
    let mut frame = body.get(1..).unwrap_or_default();
    let length = take_varint(&mut frame).ok_or_else(malformed)?;
    let limit = by.body_max();
    let Some(length) = usize::try_from(length).ok().filter(|length| *length <= limit as usize) else {
        return Err(exhausted(&format!("has {length} bytes, which exceeds the limit of {limit}")));
    };
    if length > frame.len().saturating_mul(RATIO_MAX) {
        let size = frame.len();
        let reason = format!("states {length} bytes, more than {RATIO_MAX} times its frame of {size} bytes");
        return Err(invalid(what, &reason));
    }
    if !is_one_frame(frame, length) {
        return Err(malformed());
    }
    if !by.has_room(length) {
        by.count_rejected();
        return Err(exhausted("was discarded: the memory limit for its sender is reached").overload());
    }
    let _hold = by.charge_request(length);
    let whole = inflate(frame, length).ok_or_else(malformed)?;
    match whole.first() {
        Some(first) if BEGINNINGS.contains(first) => Ok(whole.into()),
        _ => Err(invalid(what, "does not contain a message in its frame")),
    }
}

/// Returns whether untrusted bytes are exactly one zstd frame with a message of `length` bytes, without a dictionary,
/// skippable frames or trailing bytes.
fn is_one_frame(frame: &[u8], length: usize) -> bool {
    let states_length = || matches!(zstd_safe::get_frame_content_size(frame), Ok(Some(of)) if of == length as u64);
    let is_whole = || zstd_safe::find_frame_compressed_size(frame).is_ok_and(|of| of == frame.len());
    let has_no_dictionary = || zstd_safe::get_dict_id_from_frame(frame).is_none();
    frame.starts_with(&MAGIC) && states_length() && is_whole() && has_no_dictionary()
}

/// Decompresses a frame that [`is_one_frame`] has accepted, to a message of `length` bytes.
fn inflate(frame: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(length);
    let inflated = DECOMPRESSOR.with_borrow_mut(|decompressor| {
        let decompressor = get_or_make(decompressor, || Decompressor::new().ok())?;
        decompressor.decompress_to_buffer(frame, &mut whole).ok()
    });
    (inflated == Some(length)).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisbee::{Operation, Outbox, PacketId};

    fn text(length: usize) -> Vec<u8> {
        let words = ["the ", "library ", "lends ", "books ", "to ", "readers "];
        let mut random = 7_u32;
        let mut text = Vec::new();
        while text.len() < length {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.extend_from_slice(words[(random >> 16) as usize % words.len()].as_bytes());
        }
        text.truncate(length);
        text
    }

    /// Returns a packet body that consists of `front` and a message. If `split` is set, bytes 100 to 2000 of the
    /// message are held by reference.
    fn compressed(front: &[u8], message: &[u8], split: bool) -> Bytes {
        crate::wire::body::alone(|outbox: &mut Outbox| {
            let mut packet = outbox.packet(PacketId(0), Operation::FIRST_USER);
            packet.put_slice(front);
            let start = packet.buffer().len();
            let mut bulk = Vec::new();
            if split {
                packet.put_slice(&message[..100]);
                let bytes = Bytes::copy_from_slice(&message[100..2000]);
                bulk.push(Bulk { at: packet.buffer().len(), bytes });
                packet.put_slice(&message[2000..]);
            } else {
                packet.put_slice(message);
            }
            compress(&mut packet, start, &mut bulk);
            bulk.into_iter().for_each(|part| packet.gather(part.at, part.bytes));
            packet.finish().expect("packet should be within the size limit");
        })
    }

    /// Splits a compressed body into the message length and the frame.
    fn frame_of(mut body: &[u8]) -> (usize, &[u8]) {
        assert_eq!(body[0], COMPRESSED);
        body = &body[1..];
        let length = take_varint(&mut body).expect("body should contain the message length");
        (usize::try_from(length).expect("message length should fit into usize"), body)
    }

    #[test]
    fn compressed_text_keeps_prefix_and_round_trips() {
        for (length, split) in [(1024, false), (4096, false), (4096, true), (1 << 20, true)] {
            let message = text(length);
            let body = compressed(b"\x10\x02\x04\0", &message, split);
            assert!(
                body.starts_with(b"\x10\x02\x04\0") && body.len() < length / 2,
                "compressed body has {} of {length} bytes",
                body.len()
            );
            let (stated, frame) = frame_of(&body[4..]);
            assert_eq!(stated, length);
            assert!(is_one_frame(frame, length), "frame from the compressor should be valid");
            assert!(inflate(frame, length).expect("valid frame should decompress") == message);
        }
    }

    #[test]
    fn short_noisy_or_dense_messages_stay_uncompressed() {
        let noise: Vec<u8> = {
            let mut random = fastrand::Rng::with_seed(7);
            std::iter::repeat_with(|| random.u8(..)).take(4096).collect()
        };
        for message in [text(LEAST - 1), noise, vec![0; 1 << 20]] {
            assert!(
                compressed(b"", &message, false) == message,
                "message of {} bytes should stay uncompressed",
                message.len()
            );
        }
    }

    #[test]
    fn only_one_frame_of_stated_length_passes() {
        let message = text(4096);
        let body = compressed(b"", &message, false);
        let (length, frame) = frame_of(&body);
        let is_refused = |frame: &[u8], length: usize| !is_one_frame(frame, length) || inflate(frame, length).is_none();
        assert!(!is_refused(frame, length));
        for other in [0, 1, length - 1, length + 1, usize::MAX] {
            assert!(is_refused(frame, other), "length of {other} bytes should be rejected");
        }
        for cut in 0..frame.len() {
            assert!(is_refused(&frame[..cut], length), "cut at {cut}");
        }
        let skippable = [&[0x50, 0x2A, 0x4D, 0x18, 1, 0, 0, 0, 7][..], frame].concat();
        let behind = [frame, &[0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0][..]].concat();
        for other in [skippable, behind, [frame, &[0]].concat(), [frame, frame].concat(), vec![0; 100]] {
            assert!(is_refused(&other, length) && is_refused(&other, 2 * length));
        }
        // The frame descriptor announces a dictionary id of one byte.
        let (magic, rest) = frame.split_at(4);
        let with_dictionary = [magic, &[rest[0] | 1, 7], &rest[1..]].concat();
        assert!(is_refused(&with_dictionary, length));
        let of_unknown_length = [magic, &[0, 0x58], &rest[3..]].concat();
        assert!(is_refused(&of_unknown_length, length));
    }

    #[test]
    fn corrupted_frame_is_rejected_or_keeps_length() {
        let message = text(2048);
        let body = compressed(b"", &message, false);
        let (length, frame) = frame_of(&body);
        for at in 0..frame.len() {
            for bit in 0..8 {
                let mut changed = frame.to_vec();
                changed[at] ^= 1 << bit;
                if is_one_frame(&changed, length)
                    && let Some(whole) = inflate(&changed, length)
                {
                    assert_eq!(whole.len(), length, "flip of bit {bit} at {at} should not change the length");
                }
            }
        }
    }
}

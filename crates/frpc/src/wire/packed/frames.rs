//! Frames of zstd: one for each message, without a dictionary, with the length of the message in it.

use super::{PACKED, PackedError, RATIO_MAX};
use frisbee::PacketWriter;
use frisbee::tlv::put_varint;
use polyglot::Bulk;
use std::cell::RefCell;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe;

/// The shortest message that is packed, in bytes. Shorter ones fit into the packets of the network anyway, and save
/// less than the work on them costs.
const LEAST: usize = 1024;

/// The least saving of a message, as a part of its length: with less the work at both ends is in vain.
const SAVED_PART: usize = 16;

/// The level: the one that takes the least time and still gives most of the gain.
const LEVEL: i32 = 1;

/// How a frame begins. Frames that are to be skipped, and those of earlier formats, begin otherwise.
const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// The longest message whose copy a thread keeps the memory of.
const KEPT: usize = 64 * 1024;

/// The packing state of a thread: some hundred kilobytes, which are not rebuilt for each message.
struct Packer {
    compressor: Compressor<'static>,
    whole: Vec<u8>,
    frame: Vec<u8>,
}

thread_local! {
    static PACKER: RefCell<Option<Packer>> = const { RefCell::new(None) };
    static UNPACKER: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Packs a message; see [`pack`](super::pack).
pub(super) fn pack(packet: &mut PacketWriter<'_>, start: usize, bulk: &mut Vec<Bulk>) {
    let limit = packet.limit() as usize;
    let buffer = packet.buffer();
    let written = buffer.len().saturating_sub(start);
    let length = bulk.iter().fold(written, |length, part| length.saturating_add(part.bytes.len()));
    // One that is too long is refused as it is.
    if length < LEAST || length > limit {
        return;
    }
    PACKER.with_borrow_mut(|packer| {
        let Some(packer) = get_or_make(packer, || Some(Packer::new(Compressor::new(LEVEL).ok()?))) else { return };
        if let Some(frame) = packer.frame(buffer, start, bulk, length) {
            buffer.truncate(start);
            bulk.clear();
            buffer.push(PACKED);
            put_varint(buffer, length as u64);
            buffer.extend_from_slice(frame);
        }
        packer.release();
    });
}

/// The contents of a slot, made if there is none.
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

    /// The frame of a message of so many bytes, unless that saves too little or is denser than receivers accept.
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
        // It fails if the frame is longer than that, so there is no further reason to look at.
        compressor.compress_to_buffer(source, frame).ok().filter(|packed| *packed <= room)?;
        (length <= frame.len().saturating_mul(RATIO_MAX)).then_some(frame)
    }

    /// Frees memory that a long message has taken.
    fn release(&mut self) {
        self.whole.clear();
        self.whole.shrink_to(KEPT);
        self.frame.clear();
        self.frame.shrink_to(KEPT);
    }
}

/// Whether the peer's bytes are one frame of a message of so many bytes: no dictionary, no skippable part, and no bytes
/// after it.
pub(super) fn check(frame: &[u8], length: usize) -> Result<(), PackedError> {
    let states_length = || matches!(zstd_safe::get_frame_content_size(frame), Ok(Some(of)) if of == length as u64);
    let is_whole = || zstd_safe::find_frame_compressed_size(frame).is_ok_and(|of| of == frame.len());
    let has_no_dictionary = || zstd_safe::get_dict_id_from_frame(frame).is_none();
    let is_one = frame.starts_with(&MAGIC) && states_length() && is_whole() && has_no_dictionary();
    if is_one { Ok(()) } else { Err(PackedError::Malformed) }
}

/// The message of a frame that has been checked.
pub(super) fn inflate(frame: &[u8], length: usize) -> Result<Vec<u8>, PackedError> {
    let mut whole = Vec::with_capacity(length);
    let inflated = UNPACKER.with_borrow_mut(|unpacker| {
        let unpacker = get_or_make(unpacker, || Decompressor::new().ok())?;
        unpacker.decompress_to_buffer(frame, &mut whole).ok()
    });
    if inflated == Some(length) { Ok(whole) } else { Err(PackedError::Malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
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

    /// The body of a packet with `front` before a message. The part from 100 to 2000 is outside the buffer if it is
    /// `split`.
    fn packed(front: &[u8], message: &[u8], split: bool) -> Bytes {
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
            pack(&mut packet, start, &mut bulk);
            bulk.into_iter().for_each(|part| packet.gather(part.at, part.bytes));
            packet.finish().expect("there is no limit");
        })
    }

    /// The bytes after the length.
    fn frame_of(mut body: &[u8]) -> (usize, &[u8]) {
        assert_eq!(body[0], PACKED);
        body = &body[1..];
        let length = frisbee::tlv::take_varint(&mut body).expect("there is a length");
        (usize::try_from(length).expect("value should fit usize"), body)
    }

    #[test]
    fn text_is_packed_after_its_prefix_and_round_trips() {
        for (length, split) in [(1024, false), (4096, false), (4096, true), (1 << 20, true)] {
            let message = text(length);
            let body = packed(b"\x10\x02\x04\0", &message, split);
            assert!(body.starts_with(b"\x10\x02\x04\0") && body.len() < length / 2, "{} of {length}", body.len());
            let (stated, frame) = frame_of(&body[4..]);
            assert_eq!(stated, length);
            check(frame, length).expect("it was made here");
            assert!(inflate(frame, length).expect("it was made here") == message);
        }
    }

    #[test]
    fn short_noisy_and_all_too_dense_messages_stay_as_they_are() {
        let noise: Vec<u8> = {
            let mut random = fastrand::Rng::with_seed(7);
            std::iter::repeat_with(|| random.u8(..)).take(4096).collect()
        };
        for message in [text(LEAST - 1), noise, vec![0; 1 << 20]] {
            assert!(packed(b"", &message, false) == message, "{} bytes", message.len());
        }
    }

    #[test]
    fn anything_but_one_frame_of_the_stated_length_is_refused() {
        let message = text(4096);
        let body = packed(b"", &message, false);
        let (length, frame) = frame_of(&body);
        let is_refused = |frame: &[u8], length: usize| check(frame, length).is_err() || inflate(frame, length).is_err();
        assert!(!is_refused(frame, length));
        for other in [0, 1, length - 1, length + 1, usize::MAX] {
            assert!(is_refused(frame, other), "a message of {other} bytes");
        }
        for cut in 0..frame.len() {
            assert!(is_refused(&frame[..cut], length), "cut at {cut}");
        }
        let skippable = [&[0x50, 0x2A, 0x4D, 0x18, 1, 0, 0, 0, 7][..], frame].concat();
        let behind = [frame, &[0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0][..]].concat();
        for other in [skippable, behind, [frame, &[0]].concat(), [frame, frame].concat(), vec![0; 100]] {
            assert!(is_refused(&other, length) && is_refused(&other, 2 * length));
        }
        // The descriptor says that an id of a dictionary follows: in one byte here.
        let (magic, rest) = frame.split_at(4);
        let with_dictionary = [magic, &[rest[0] | 1, 7], &rest[1..]].concat();
        assert!(is_refused(&with_dictionary, length));
        let of_unknown_length = [magic, &[0, 0x58], &rest[3..]].concat();
        assert!(is_refused(&of_unknown_length, length));
    }

    #[test]
    fn corrupted_frame_is_refused_or_has_stated_length() {
        let message = text(2048);
        let body = packed(b"", &message, false);
        let (length, frame) = frame_of(&body);
        for at in 0..frame.len() {
            for bit in 0..8 {
                let mut changed = frame.to_vec();
                changed[at] ^= 1 << bit;
                if check(&changed, length).is_ok()
                    && let Ok(whole) = inflate(&changed, length)
                {
                    assert_eq!(whole.len(), length, "bit {bit} of {at}");
                }
            }
        }
    }
}

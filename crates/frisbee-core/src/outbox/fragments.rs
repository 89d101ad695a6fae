//! Division of long packets into fragments, so that other packets can overtake them.
//!
//! An outbox keeps its long packets apart from the bytes to be written. Before each write, [`Outbox::stage`] appends
//! fragments of them to these bytes. After the write, completely unwritten fragments are taken back, so that packets
//! that are queued in the meantime precede them. Hence at most the rest of one fragment precedes a short packet.
//!
//! # Decisions
//!
//! * **Similar long packets are sent one after another.** If their fragments alternated, all would arrive late, and the
//!   receiver would keep all of them in memory. A packet may begin before others are complete only if it has at most a
//!   quarter of their remaining length, so the receiver's memory grows by at most a third. The fragments of incomplete
//!   packets alternate.
//! * **Short packets are sent first**, but a fragment follows 64 KiB of them, so that long packets make progress.

use super::{GATHER_MIN, LastPacket, Outbox};
use crate::hello::HELLO_MAX;
use crate::{Header, HeaderForm, Operation, Packet, PacketId, extension, tlv};
use bytes::Bytes;
use std::collections::VecDeque;

/// Maximum length in bytes of a body that is sent whole.
pub(super) const WHOLE_MAX: usize = HELLO_MAX as usize;

/// Maximum length in bytes of a fragment's body. A read of 64 KiB then contains the whole fragment and the start of the
/// next one, whose part of the message the receiver reads in place.
const FRAGMENT_MAX: usize = WHOLE_MAX - 2 * Header::MAX_LEN - 1;

/// Maximum number of fragments of one write, which is half of the driver's slices.
const FRAGMENTS_MAX: usize = 32;

/// Number of fragments staged in addition to twice the number that the last write started. Further fragments would
/// usually be unstaged again.
const FRAGMENTS_MORE: usize = 2;

/// Number of bytes that must remain the same after a blocked write, because OpenSSL has already encrypted them.
const RECORD_MAX: usize = 16 * 1024;

/// A packet may overtake incomplete ones only if each of them has at least this many times the packet's length unsent.
const RATIO: usize = 4;

/// Long packets of an [`Outbox`], and the fragments of the current write.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    /// Packets with bytes that are neither written nor staged, in the order of queuing. During a write, this includes
    /// packets with a staged last fragment.
    packets: Vec<LongPacket>,
    /// Encoded packets that must not overtake any other, and all packets queued after them.
    behind: Vec<u8>,
    /// Fragments of the current write, in order.
    staged: Vec<Staged>,
    /// Number of fragments that the last write has begun, or `None` before the first one.
    begun: Option<usize>,
    /// Whether all short packets that preceded the last fragments have been written.
    short_written: bool,
    /// Number of bytes written since a fragment was last begun.
    passed: usize,
    /// Number of fragments staged so far.
    turns: u64,
    /// Operations that have had a long packet, as a set of [bits](bit).
    operations: u64,
}

/// A packet with a body longer than [`WHOLE_MAX`], and the progress of sending it.
#[derive(Debug)]
struct LongPacket {
    header: Header,
    body: Vec<Bytes>,
    progress: Progress,
    /// Encoded packets that must not overtake this one.
    followers: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Number of bytes of the body that are staged or written.
    sent: usize,
    /// Channel of the packet's fragments. Chosen when the first one is staged.
    channel: Option<u8>,
    /// Value of [`Fragments::turns`] after the last fragment of this packet was staged. The packet with the lowest
    /// value is next.
    turn: u64,
}

/// A fragment at the end of the bytes to be written.
#[derive(Debug)]
struct Staged {
    /// Offset of the fragment in the outbox's buffer.
    start: usize,
    /// Index of the packet, and its progress before the fragment.
    at: usize,
    before: Progress,
}

/// Position between two packets of an outbox.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// Offset in the buffer.
    pub(super) at: usize,
    /// Number of large bodies before this position.
    pub(super) bulk: usize,
}

/// Encoded packets that were removed from the end of an outbox, and are examined one after another.
struct Queued {
    /// Offset in the outbox's buffer at which `buffer` started.
    at: usize,
    buffer: Bytes,
    bulk: VecDeque<(usize, Bytes)>,
}

impl Outbox {
    /// Sets the number of channels that the peer accepts fragments on. Pending packets, and all packets with old
    /// headers, are sent whole.
    pub(crate) fn set_channels(&mut self, channels: u8) {
        self.channels = if self.form == HeaderForm::Current { channels } else { 0 };
        self.skip_examined();
    }

    /// Prepares a write. Appends fragments of long packets, if the peer accepts fragments. Calls `is_call` to determine
    /// whether packets of an operation are requests and replies, which may overtake each other.
    ///
    /// The result of the write must be reported by [`advance`](Self::advance) before other packets are queued.
    #[cold]
    pub(crate) fn stage(&mut self, is_call: impl Fn(Operation) -> bool) {
        let from = self.bulk.0.as_ref().and_then(|bodies| bodies.unexamined);
        let Some(from) = from.filter(|_| self.channels > 0) else { return };
        let mut fragments = self.bulk.take_fragments().unwrap_or_default();
        fragments.examine(self, from, is_call);
        fragments.stage(self);
        self.bulk.put_fragments(fragments);
        self.skip_examined();
    }

    /// Returns the number of pending bytes that precede the next short packet, which can overtake long ones. Returns
    /// `None` if no long packets are pending.
    pub fn short_len(&self) -> Option<usize> {
        let fragments = self.bulk.fragments().filter(|fragments| !fragments.is_idle())?;
        Some(self.len().saturating_sub(fragments.waiting()))
    }

    /// Returns whether packets of this operation are expected to be short, because no earlier one was long.
    pub(crate) fn is_short(&self, operation: Operation) -> bool {
        self.bulk.fragments().is_none_or(|fragments| fragments.operations & bit(operation) == 0)
    }

    /// Returns whether all short packets that were queued before the last write have been written.
    pub(crate) fn has_written_short(&self) -> bool {
        self.bulk.fragments().is_some_and(|fragments| fragments.short_written)
    }

    /// Records the position of a long packet.
    pub(super) fn examine_from(&mut self, position: Position) {
        self.bulk.0.get_or_insert_default().unexamined.get_or_insert(position);
    }

    /// Excludes all queued packets from division, because they were examined or their writing has begun.
    #[cold]
    pub(super) fn skip_examined(&mut self) {
        // The header of the last packet may already be written, and must not change after it was examined.
        self.tail = LastPacket::default();
        let end = Position { at: self.buffer.len(), bulk: self.bulk.len() };
        let is_pending = self.bulk.fragments().is_some_and(|fragments| !fragments.is_idle());
        if let Some(bodies) = &mut self.bulk.0 {
            bodies.unexamined = is_pending.then_some(end);
        }
    }

    /// Removes and returns the packets from a position to the end.
    fn split_off(&mut self, Position { at, bulk }: Position) -> Queued {
        let bulk = self.bulk.split_off(bulk);
        let shared: usize = bulk.iter().map(|(_, bytes)| bytes.len()).sum();
        self.bulk_len = self.bulk_len.saturating_sub(shared);
        let buffer = if self.buffer.len().saturating_sub(at) <= WHOLE_MAX {
            self.buffer.split_off(at).into()
        } else {
            // Copy the bytes before the position, because those after it contain a long body.
            let start = self.buffer.get(..at).unwrap_or_default().to_vec();
            let mut all = std::mem::replace(&mut self.buffer, start);
            all.shrink_to_fit();
            Bytes::from(all).split_off(at)
        };
        Queued { at, buffer, bulk }
    }

    /// Appends a part of a packet to the bytes to be written. Short parts are copied.
    fn put_back(&mut self, part: Bytes) {
        if part.len() < GATHER_MIN {
            self.buffer.extend_from_slice(&part);
        } else {
            self.bulk_len = self.bulk_len.saturating_add(part.len());
            self.bulk.push_back((self.buffer.len(), part));
        }
    }
}

impl Queued {
    /// Returns the header of the next packet, and the first contiguous part of its body.
    fn peek(&self) -> Option<(Header, Bytes)> {
        let header = Header::decode(self.buffer.first_chunk()?).ok()?;
        let after = self.at.saturating_add(Header::MAX_LEN);
        let mut body = match self.bulk.front() {
            Some((offset, bytes)) if *offset == after => bytes.clone(),
            _ => self.buffer.slice(Header::MAX_LEN..),
        };
        body.truncate(header.length as usize);
        Some((header, body))
    }

    /// Removes `count` bytes, and calls `put` with each part of them.
    fn take(&mut self, mut count: usize, mut put: impl FnMut(Bytes)) {
        while count > 0 {
            let next = self.bulk.front().map_or(usize::MAX, |(offset, _)| offset.saturating_sub(self.at));
            let part = match next.min(count).min(self.buffer.len()) {
                0 => match self.bulk.pop_front() {
                    Some((_, bytes)) => bytes,
                    None => return,
                },
                length => {
                    self.at = self.at.saturating_add(length);
                    self.buffer.split_to(length)
                }
            };
            count = count.saturating_sub(part.len());
            put(part);
        }
    }

    /// Removes and returns packets that were encoded for many connections, if they are next.
    fn take_shared(&mut self) -> Option<Bytes> {
        self.bulk.front().filter(|(offset, _)| *offset == self.at)?;
        self.bulk.pop_front().map(|(_, bytes)| bytes)
    }
}

impl Fragments {
    fn is_idle(&self) -> bool {
        self.packets.is_empty() && self.behind.is_empty()
    }

    /// Returns the number of pending bytes that are kept here: unstaged parts of long packets, and packets that must
    /// not overtake them.
    fn waiting(&self) -> usize {
        let packets = self.packets.iter().map(|packet| packet.unsent().saturating_add(packet.followers.len()));
        packets.sum::<usize>().saturating_add(self.behind.len())
    }

    /// Removes long packets from the bytes to be written, with the packets that must not overtake them.
    fn examine(&mut self, outbox: &mut Outbox, from: Position, is_call: impl Fn(Operation) -> bool) {
        let mut queued = outbox.split_off(from);
        loop {
            // Leave packets that were encoded for many connections in place. They are neither calls nor streams.
            while let Some(shared) = queued.take_shared() {
                outbox.put_back(shared);
            }
            let Some((header @ Header { id, operation, length }, body)) = queued.peek() else { break };
            let length = length as usize;
            let all = length.saturating_add(Header::MAX_LEN);
            let must_wait = !self.behind.is_empty() || !self.packets.is_empty() && must_be_last(id, operation);
            let is_call = || operation == Operation::STREAM || !operation.is_reserved() && is_call(operation);
            if !must_wait && length > WHOLE_MAX && is_call() {
                self.operations |= bit(operation);
                let mut body = Vec::new();
                queued.take(Header::MAX_LEN, drop);
                queued.take(length, |part| body.push(part));
                outbox.bulk_len = outbox.bulk_len.saturating_add(length);
                self.packets.push(LongPacket { header, body, progress: Progress::default(), followers: Vec::new() });
                continue;
            }
            let packet = Packet::new(id, operation, body);
            let followed = self.packets.iter_mut().rfind(|long| packet.must_follow(long.header));
            let target = if must_wait { Some(&mut self.behind) } else { followed.map(|long| &mut long.followers) };
            match target {
                Some(target) => {
                    outbox.bulk_len = outbox.bulk_len.saturating_add(all);
                    queued.take(all, |part| target.extend_from_slice(&part));
                }
                None => queued.take(all, |part| outbox.put_back(part)),
            }
        }
    }

    /// Appends fragments to the bytes to be written.
    fn stage(&mut self, outbox: &mut Outbox) {
        debug_assert!(self.staged.is_empty(), "the last write should be settled");
        if self.packets.is_empty() {
            outbox.bulk_len = outbox.bulk_len.saturating_sub(self.behind.len());
            outbox.buffer.append(&mut self.behind);
        }
        let most = self.begun.map_or(FRAGMENTS_MAX, |begun| begun.saturating_mul(2).saturating_add(FRAGMENTS_MORE));
        while self.staged.len() < most.min(FRAGMENTS_MAX)
            && let Some(at) = self.next(outbox.channels)
        {
            self.put(outbox, at);
        }
    }

    /// Returns the packets that are not completely staged, with their indices.
    fn unstaged(&self) -> impl Iterator<Item = (usize, &LongPacket)> {
        self.packets.iter().enumerate().filter(|(_, packet)| packet.unsent() > 0)
    }

    /// Returns the index of the packet to send a fragment of next.
    fn next(&self, channels: u8) -> Option<usize> {
        let begun = || self.unstaged().filter(|(_, packet)| packet.progress.channel.is_some());
        let least = begun().map(|(_, packet)| packet.unsent() / RATIO).min().unwrap_or(usize::MAX);
        let may_begin = |(at, packet): &(usize, &LongPacket)| {
            let other = Packet::new(packet.header.id, packet.header.operation, Bytes::new());
            let must_wait = |(_, earlier): (_, &LongPacket)| other.must_follow(earlier.header);
            packet.progress.channel.is_none()
                && packet.unsent() <= least
                && !self.unstaged().take_while(|(earlier, _)| earlier < at).any(must_wait)
        };
        let has_free = begun().count() < usize::from(channels);
        let beginning = self.unstaged().find(may_begin).filter(|_| has_free);
        beginning.or_else(|| begun().min_by_key(|(_, packet)| packet.progress.turn)).map(|(at, _)| at)
    }

    /// Appends the next fragment of a packet, and after the last one the packets that follow.
    fn put(&mut self, outbox: &mut Outbox, at: usize) {
        let is_free = |channel: &u8| self.unstaged().all(|(_, packet)| packet.progress.channel != Some(*channel));
        let free = (0..outbox.channels).find(is_free).unwrap_or_default();
        let Some(packet) = self.packets.get_mut(at) else { return };
        let before = packet.progress;
        let channel = before.channel.unwrap_or(free);
        self.staged.push(Staged { start: outbox.buffer.len(), at, before });
        let body = outbox.begin(extension::FRAGMENT, Operation::EXTENSION);
        outbox.buffer.push(channel);
        if before.channel.is_none() {
            let Header { id, operation, length } = packet.header;
            for number in [operation.number().into(), id.0.into(), length.into()] {
                tlv::put_varint(&mut outbox.buffer, number);
            }
        }
        let end = outbox.buffer.len();
        let head = end.saturating_sub(body);
        let length = packet.unsent().min(FRAGMENT_MAX.saturating_sub(head));
        if let Some(field) = outbox.buffer.get_mut(..body).and_then(<[u8]>::last_chunk_mut) {
            *field = (head.saturating_add(length) as u32).to_be_bytes(); // At most 64 KiB.
        }
        outbox.bulk.extend(packet.slices(length).map(|part| (end, part)));
        self.turns = self.turns.saturating_add(1);
        let sent = before.sent.saturating_add(length);
        packet.progress = Progress { sent, channel: Some(channel), turn: self.turns };
        if packet.unsent() == 0 && !packet.followers.is_empty() {
            outbox.bulk.push_back((end, packet.followers.clone().into()));
        }
    }

    /// Takes back completely unwritten fragments. `count` is the number of bytes of the last write.
    pub(super) fn settle(&mut self, outbox: &mut Outbox, count: usize) {
        // The outbox clears its buffer once the whole buffer has been written.
        let is_all = outbox.buffer.is_empty();
        let bulk_before =
            |start| outbox.bulk.iter().take_while(move |(at, _)| *at <= start).map(|(_, bytes)| bytes.len());
        let reached = if count == 0 { outbox.written.saturating_add(RECORD_MAX) } else { outbox.written };
        let has_begun = |start| bulk_before(start).fold(start, usize::saturating_add) < reached;
        let begun = self.staged.iter().take_while(|staged| is_all || has_begun(staged.start)).count();
        self.short_written = is_all || self.staged.first().is_some_and(|staged| staged.start <= outbox.written);
        if count > 0 {
            self.begun = Some(begun);
        }
        self.passed = self.passed.saturating_add(count);
        let kept = if self.passed >= WHOLE_MAX { begun.max(1) } else { begun };
        if kept > 0 {
            self.passed = 0;
        }
        while self.staged.len() > kept
            && let Some(Staged { start, at, before }) = self.staged.pop()
        {
            outbox.buffer.truncate(start);
            let bulk = outbox.bulk.partition_point(|(offset, _)| *offset <= start);
            outbox.bulk.truncate(bulk);
            if let Some(packet) = self.packets.get_mut(at) {
                packet.progress = before;
            }
        }
        self.staged.clear();
        self.packets.retain(|packet| packet.unsent() > 0);
    }
}

impl LongPacket {
    /// Returns the number of bytes of the body that are neither staged nor written.
    fn unsent(&self) -> usize {
        (self.header.length as usize).saturating_sub(self.progress.sent)
    }

    /// Returns the next `length` bytes of the body.
    fn slices(&self, length: usize) -> impl Iterator<Item = Bytes> {
        let (mut skipped, mut left) = (self.progress.sent, length);
        self.body.iter().filter_map(move |part| {
            let from = skipped.min(part.len());
            skipped = skipped.saturating_sub(from);
            let count = part.len().saturating_sub(from).min(left);
            left = left.saturating_sub(count);
            (count > 0).then(|| part.slice(from..from.saturating_add(count)))
        })
    }
}

/// Returns the bit of an operation in [`Fragments::operations`]. Operations whose numbers are equal modulo 64 share a
/// bit, so after a long packet of one of them, long packets of all of them are expected.
fn bit(operation: Operation) -> u64 {
    1 << (operation.number() % 64)
}

/// Returns whether a packet must not overtake others. This applies to CLOSE, hand-off packets and GOING_AWAY.
fn must_be_last(id: PacketId, operation: Operation) -> bool {
    let is_close = operation == Operation::EXTENSION && id == extension::CLOSE;
    is_close || matches!(operation, Operation::HAND_OFF | Operation::GOING_AWAY)
}

#[cfg(test)]
mod tests;

//! Reorders the fields of a translated message.

use super::{Result, Run};
use crate::DecodeReason;
use crate::layout::plan::{Order, OrderPlace};
use std::ops::Range;

/// Maximum number of bytes that a translation may move to reorder fields, as a multiple of the maximum body size. A
/// nested message is moved once for each enclosing message that is reordered.
const MOVES: usize = 8;

/// A part of the output that contains the translation of one field or oneof. It ends where the next segment starts. The
/// operation `Assemble` reorders the segments of a message.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub(super) place: u16,
    pub(super) rank: u32,
    pub(super) start: usize,
}

impl Run<'_, '_, '_> {
    /// Reorders the segments of a message, starting with the segment at index `base`, to the order of the reader's
    /// fields.
    pub(super) fn assemble(&mut self, order: u32, base: usize) -> Result<()> {
        self.flush()?;
        let program = self.program;
        let Some(Order { places, groups }) = program.orders.get(order as usize) else { return Ok(()) };
        let end = self.out.len();
        let segments = self.segments.get(base..).unwrap_or_default();
        let begin = segments.first().map_or(end, |segment| segment.start);
        let moved = end.wrapping_sub(begin); // Segments are within the output.
        self.moved = self.moved.saturating_add(moved);
        let max = self.limits.body.saturating_mul(MOVES);
        if self.moved > max {
            return Err(self.error(DecodeReason::TooManyMoves { max }));
        }
        self.counts.steps = self.counts.steps.saturating_add(places.len() as u64);
        self.room = self.room.saturating_add(moved);
        // Append the reordered message first, and then remove the original.
        match groups {
            None => {
                for place in places {
                    let source = usize::from(place.source);
                    let end = segments.get(source.wrapping_add(1)).map_or(end, |next| next.start);
                    if let Some(segment) = segments.get(source) {
                        self.out.extend_from_within(segment.start..end);
                    }
                }
                self.room = self.room.wrapping_sub(moved); // Both copies were counted against the limit.
            }
            Some(groups) => {
                for (place, segment) in places.iter().zip(choose(segments, places, *groups, end)) {
                    let length = segment.as_ref().map_or(usize::from(place.length), ExactSizeIterator::len);
                    self.charge(length)?;
                    match segment {
                        Some(segment) => self.out.extend_from_within(segment),
                        None => {
                            let bytes = program.bytes.get(place.at as usize..);
                            self.out.extend_from_slice(bytes.and_then(|bytes| bytes.get(..length)).unwrap_or_default());
                        }
                    }
                }
            }
        }
        self.out.drain(begin..end);
        self.segments.truncate(base);
        Ok(())
    }
}

/// Returns the range of the segment for each place: the non-empty one with the highest rank, or `None` if there is
/// none. Selects at most one segment for all places of a group.
fn choose(segments: &[Segment], places: &[OrderPlace], groups: u16, end: usize) -> Vec<Option<Range<usize>>> {
    let mut chosen: Vec<Option<(Range<usize>, u32)>> = vec![None; places.len()];
    let mut winners: Vec<Option<usize>> = vec![None; usize::from(groups).wrapping_add(1)];
    let ends = segments.iter().skip(1).map(|segment| segment.start).chain([end]);
    for (segment, end) in segments.iter().zip(ends) {
        let place = usize::from(segment.place);
        let group = usize::from(places.get(place).map_or(0, |place| place.group));
        let rival = if group == 0 { Some(place) } else { winners.get(group).copied().flatten() };
        let rival = rival.and_then(|rival| chosen.get_mut(rival));
        if segment.start == end {
            continue;
        }
        if let Some(rival) = rival {
            if rival.as_ref().is_some_and(|(_, rank)| *rank > segment.rank) {
                continue;
            }
            *rival = None;
        }
        if let Some(winner) = winners.get_mut(group) {
            *winner = Some(place);
        }
        if let Some(chosen) = chosen.get_mut(place) {
            *chosen = Some((segment.start..end, segment.rank));
        }
    }
    chosen.into_iter().map(|chosen| chosen.map(|(segment, _)| segment)).collect()
}

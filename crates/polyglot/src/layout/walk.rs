//! Reading of values without changing the output. Values are read by their kinds, and messages with the blocks of the
//! writer's types.

use super::plan::{Container, Member, Op};
use super::translate::{Fault, Result, Run};
use crate::{DecodeReason, Kind, varint};

impl<'p, 'i> Run<'p, 'i, '_> {
    /// Reads the header of a message and enters its nesting level. Returns `false` if the message is nil.
    #[inline]
    pub(super) fn enter(&mut self) -> Result<bool> {
        match self.rest {
            [0x00, rest @ ..] => {
                self.rest = rest;
                Ok(false)
            }
            [0x08, _flags, rest @ ..] => {
                let Some(levels) = self.levels.checked_sub(1) else {
                    return Err(self.error(DecodeReason::NestingTooDeep { max: self.limits.nesting.levels() }));
                };
                self.levels = levels;
                self.rest = rest;
                Ok(true)
            }
            [0x06, ..] => Err(self.error(DecodeReason::NestedError)),
            _ => Err(self.unexpected(Kind::Any)),
        }
    }

    pub(super) fn ops(&mut self, block: u32) -> &'p [Op] {
        let ops = self.program.block(block);
        self.counts.steps = self.counts.steps.wrapping_add(ops.len() as u64);
        ops
    }

    /// Reads `count` values. Their length must follow from the encoding alone, without their layout.
    #[inline(always)]
    pub(super) fn values(&mut self, count: u32) -> Result<()> {
        let mut rest = self.rest;
        for _ in 0..count {
            rest = if let Some(rest) = skip_short(rest) { rest } else { self.long_value(rest)? };
        }
        self.rest = rest;
        Ok(())
    }

    /// Reads a value. Its length must follow from the encoding alone, without its layout.
    #[inline]
    pub(super) fn value(&mut self) -> Result<()> {
        self.values(1)
    }

    /// Reads a scalar, string, bytes value or nil.
    #[inline]
    pub(super) fn scalar(&mut self) -> Result<()> {
        self.rest = if let Some(rest) = skip_short(self.rest) { rest } else { self.long_scalar(self.rest)? };
        Ok(())
    }

    /// Reads a value of any kind from the start of `rest`, and returns the remaining input. This is the slow path.
    #[inline(never)]
    fn long_value(&mut self, rest: &'i [u8]) -> Result<&'i [u8]> {
        match rest {
            [0x01, of, length @ ..] => {
                self.rest = length;
                let count = self.length()?;
                self.elements(&[*of], count)
            }
            [0x02, key, of, length @ ..] => {
                self.rest = length;
                let count = self.length()?;
                self.elements(&[*key, *of], count)
            }
            _ => self.long_scalar(rest),
        }
    }

    /// Reads `count` elements of a list or `count` pairs of a map. `kinds` contains their kinds. Returns the remaining
    /// input.
    fn elements(&mut self, kinds: &[u8], count: u64) -> Result<&'i [u8]> {
        let size = |kind: &u8| match kind {
            0x07 => Some(2_u64),
            0x0e => Some(5),
            0x0f => Some(9),
            _ => None,
        };
        // Skip values of fixed size without validating them.
        if let Some(size) = kinds.iter().map(size).sum::<Option<u64>>() {
            let length = usize::try_from(count.saturating_mul(size)).unwrap_or(usize::MAX);
            let expected = Kind::List;
            return self.rest.get(length..).ok_or_else(|| self.error(DecodeReason::Truncated { expected }));
        }
        let mut rest = self.rest;
        for _ in 0..count {
            for _ in kinds {
                rest = if let Some(rest) = skip_short(rest) { rest } else { self.long_scalar(rest)? };
            }
        }
        self.counts.steps = self.counts.steps.saturating_add(count);
        Ok(rest)
    }

    /// Reads a scalar, string or bytes value from the start of `rest`, and returns the remaining input. This is the
    /// slow path.
    #[inline(never)]
    fn long_scalar(&mut self, rest: &'i [u8]) -> Result<&'i [u8]> {
        self.rest = rest;
        match rest {
            [0x0a | 0x0c, rest @ ..] => Ok(self.varint(rest, 5)?.1),
            [0x0b | 0x0d, rest @ ..] => Ok(self.varint(rest, 10)?.1),
            [0x04 | 0x05, length @ ..] => {
                self.rest = length;
                let length = self.length()? as u32;
                let (kind, left) = (Kind::Bytes, self.rest.len());
                let reason = DecodeReason::LengthBeyondEnd { kind, length, left };
                self.rest.get(length as usize..).ok_or_else(|| self.error(reason))
            }
            [0x07 | 0x0e | 0x0f, ..] | [] => Err(self.error(DecodeReason::Truncated { expected: Kind::Nil })),
            [found, ..] => Err(self.error(DecodeReason::NotScalar { found: *found })),
        }
    }

    #[inline]
    pub(super) fn varint(&self, input: &'i [u8], max: u32) -> Result<(u64, &'i [u8])> {
        varint::read(input, max).map_err(|fault| {
            self.error(match fault {
                varint::VarintFault::Truncated => DecodeReason::Truncated { expected: Kind::U64 },
                varint::VarintFault::TooLong => DecodeReason::VarintTooLong { kind: Kind::U64 },
            })
        })
    }

    /// Reads the length of a string or bytes value, or the number of elements in a list or map.
    #[inline]
    pub(super) fn length(&mut self) -> Result<u64> {
        let [0x0a, length @ ..] = self.rest else { return Err(self.unexpected(Kind::U32)) };
        let (length, rest) = self.varint(length, 5)?;
        self.rest = rest;
        Ok(length & u64::from(u32::MAX)) // Decoders discard excess bits too.
    }

    /// Reads a message, or a list or map of messages. Finds its end by the block of operations for the writer's type,
    /// which only copies.
    pub(super) fn tree(&mut self, container: Container, block: u32) -> Result<()> {
        let count = match container {
            Container::Single => return self.message(block),
            Container::List => self.list_head()?,
            Container::Map => self.map_head()?,
        };
        self.counts.steps = self.counts.steps.saturating_add(count);
        for _ in 0..count {
            match container {
                Container::Map => self.fields(block)?,
                _ => self.message(block)?,
            }
        }
        Ok(())
    }

    /// Reads the header of a list with elements of any kind. Returns the number of elements.
    pub(super) fn list_head(&mut self) -> Result<u64> {
        let [0x01, _, length @ ..] = self.rest else { return Err(self.unexpected(Kind::List)) };
        self.rest = length;
        self.length()
    }

    /// Reads the header of a map with keys and values of any kind. Returns the number of key-value pairs, which is 0
    /// for nil.
    pub(super) fn map_head(&mut self) -> Result<u64> {
        match self.rest {
            [0x00, rest @ ..] => {
                self.rest = rest;
                Ok(0)
            }
            [0x02, _, _, length @ ..] => {
                self.rest = length;
                self.length()
            }
            _ => Err(self.unexpected(Kind::Map)),
        }
    }

    /// Reads the header of a oneof in the extended encoding. Returns the number of the member that is set, starting at
    /// 1, or 0 if none is set.
    pub(super) fn oneof_head(&mut self) -> Result<u64> {
        let [0x03, member @ ..] = self.rest else {
            return Err(match self.unexpected(Kind::Any) {
                Fault::Error(error) | Fault::Flat(error) => Fault::Flat(error),
            });
        };
        let (member, rest) = self.varint(member, 5)?;
        self.rest = rest;
        Ok(member)
    }

    /// Returns the member of a oneof with this one-based index. Fails if there is no such member.
    pub(super) fn member_of(&self, table: u32, member: u64) -> Result<Member> {
        let index = usize::try_from(member).ok().and_then(|member| member.checked_sub(1));
        let members = self.program.oneofs.get(table as usize);
        let found = index.and_then(|index| members?.get(index)).copied();
        found.ok_or_else(|| self.error(DecodeReason::UnknownMember { member: member as u32 }))
    }

    /// Skips a oneof, and returns whether one of its members is set.
    pub(super) fn walk_oneof(&mut self, table: u32) -> Result<bool> {
        let member = self.oneof_head()?;
        if member == 0 {
            return Ok(false);
        }
        match self.member_of(table, member)?.tree {
            Some(block) => self.message(block)?,
            None => self.scalar()?,
        }
        Ok(true)
    }
}

/// Skips a nil, a number, or a string or bytes value of less than 128 bytes, and returns the remaining input. Returns
/// `None` if the next value is of another kind, longer or invalid.
#[inline(always)]
pub(super) fn skip_short(input: &[u8]) -> Option<&[u8]> {
    match input {
        [0x0a..=0x0d, byte, rest @ ..] if *byte < 0x80 => Some(rest),
        [0x0a..=0x0d, _, byte, rest @ ..] if *byte < 0x80 => Some(rest),
        [0x04 | 0x05, 0x0a, length, rest @ ..] if *length < 0x80 => rest.get(usize::from(*length)..),
        [0x00, rest @ ..] | [0x07, _, rest @ ..] | [0x0e, _, _, _, _, rest @ ..] => Some(rest),
        [0x0f, _, _, _, _, _, _, _, _, rest @ ..] => Some(rest),
        _ => None,
    }
}

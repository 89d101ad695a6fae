//! Slow paths of the decoder that are not inlined: long encodings of values, and errors.
//!
//! These functions take the decoder's position by value, because passing `&Decoder` would force the decoder out of
//! registers and into memory.

use super::Decoder;
use crate::varint::{self, VarintFault};
use crate::{DecodeError, DecodeReason, Kind};

/// Read position of a [`Decoder`] within its input.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a [u8],
    pub(super) end: usize,
}

/// A value from the start of the input, and the remaining input.
type Split<'a, T> = Result<(T, &'a [u8]), DecodeError>;

impl<'a> Decoder<'a> {
    #[inline(always)]
    pub(super) fn cursor(&self) -> Cursor<'a> {
        Cursor { rest: self.rest, end: self.end }
    }

    /// Creates a decoding error at the current position.
    #[inline(always)]
    pub(crate) fn error(&self, reason: DecodeReason) -> DecodeError {
        DecodeError::new(reason, self.position())
    }
}

impl<'a> Cursor<'a> {
    /// Returns the number of input bytes that have been read.
    #[inline]
    pub(super) fn position(self) -> usize {
        self.end.wrapping_sub(self.rest.len()) // `rest` is a suffix of the input.
    }

    #[cold]
    fn error(self, reason: DecodeReason) -> DecodeError {
        DecodeError::new(reason, self.position())
    }

    /// Returns the error for input that does not start with a complete value of the kind `expected`.
    #[cold]
    #[inline(never)]
    pub(super) fn unexpected(self, expected: Kind) -> DecodeError {
        // A message starts with its flags, a value of the kind u8.
        let first = if expected == Kind::Any { Kind::U8 } else { expected };
        self.error(match self.rest.first() {
            Some(&found) if found != first.byte() => DecodeReason::WrongKind { expected, found },
            _ => DecodeReason::Truncated { expected },
        })
    }

    /// Reads the byte that states the kind of a value, which must be `kind`, and the varint after it.
    #[inline(never)]
    pub(super) fn varint(self, kind: Kind, max: u32) -> Split<'a, u64> {
        match self.rest {
            [found, varint @ ..] if *found == kind.byte() => {
                varint::read(varint, max).map_err(|fault| self.varint_error(kind, fault))
            }
            _ => Err(self.unexpected(kind)),
        }
    }

    /// Reads the content of a string or bytes value.
    #[inline(never)]
    pub(super) fn sized(self, kind: Kind) -> Split<'a, &'a [u8]> {
        let [found, length @ ..] = self.rest else { return Err(self.unexpected(kind)) };
        if *found != kind.byte() {
            return Err(self.unexpected(kind));
        }
        let (length, rest) = self.length(kind, length)?;
        let beyond_end = || self.error(DecodeReason::LengthBeyondEnd { kind, length, left: rest.len() });
        rest.split_at_checked(length as usize).ok_or_else(beyond_end)
    }

    /// Reads the text of an error that the body contains instead of a message.
    #[cold]
    #[inline(never)]
    pub(super) fn error_text(self) -> Split<'a, &'a str> {
        let [0x06, text @ ..] = self.rest else { return Err(self.unexpected(Kind::Error)) };
        let mut decoder = Decoder { rest: text, end: self.end, ..Decoder::new(&[]) };
        let text = decoder.str()?;
        Ok((text, decoder.rest))
    }

    /// Reads a body that contains nil or an error instead of a message. Returns the text of the error, or `None` for
    /// nil.
    #[cold]
    #[inline(never)]
    pub(super) fn no_root(self) -> Split<'a, Option<String>> {
        match self.rest {
            [0x00, rest @ ..] => Ok((None, rest)),
            [0x06, ..] => self.error_text().map(|(text, rest)| (Some(text.to_owned()), rest)),
            _ => Err(self.unexpected(Kind::Any)),
        }
    }

    /// Reads the length of a value of the kind `kind` from the start of `input`, which must be a suffix of `rest`.
    #[inline]
    pub(super) fn length(self, kind: Kind, input: &'a [u8]) -> Split<'a, u32> {
        let [0x0a, varint @ ..] = input else {
            return Err(match input.first() {
                Some(&found) => self.error(DecodeReason::WrongKind { expected: Kind::U32, found }),
                None => self.error(DecodeReason::Truncated { expected: kind }),
            });
        };
        match varint::read(varint, 5) {
            Ok((length, rest)) => Ok((length as u32, rest)), // Excess bits are discarded.
            Err(fault) => Err(self.varint_error(kind, fault)),
        }
    }

    #[cold]
    #[inline(never)]
    fn varint_error(self, kind: Kind, fault: VarintFault) -> DecodeError {
        self.error(match fault {
            VarintFault::Truncated => DecodeReason::Truncated { expected: kind },
            VarintFault::TooLong => DecodeReason::VarintTooLong { kind },
        })
    }
}

//! Parser of encoded layout descriptions, which may come from an untrusted peer.

use super::description::{Description, Field, Method, Shape, Type, TypeLayout};
use std::collections::HashSet;
use std::fmt;

/// Maximum length of a layout description in bytes, equal to the maximum size of an extension packet. A schema with 50
/// messages of 12 fields takes 2 kB.
pub const DESCRIPTION_MAX: usize = 64 << 10;

/// Maximum number of types in a layout description. A type takes at least two bytes on the wire, and about 100 bytes in
/// a translation plan.
pub const TYPES_MAX: usize = 4096;

/// Maximum number of fields and enum values in a layout description, counted over all types.
pub const PARTS_MAX: usize = 20_000;

/// Error returned when a description is not in canonical form or exceeds a limit.
///
/// ```
/// use polyglot::layout::Description;
///
/// let error = Description::parse(&[2]).unwrap_err();
/// assert_eq!(error.to_string(), "invalid description at byte 0: unknown format");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptionError {
    reason: &'static str,
    offset: usize,
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid description at byte {}: {}", self.offset, self.reason)
    }
}

impl std::error::Error for DescriptionError {}

impl Description {
    /// Parses an encoded layout description. Encoding the result yields the same bytes again.
    ///
    /// # Errors
    ///
    /// If the encoding is not canonical, or the description exceeds [`DESCRIPTION_MAX`], [`TYPES_MAX`] or
    /// [`PARTS_MAX`].
    pub fn parse(bytes: &[u8]) -> Result<Self, DescriptionError> {
        let mut parser = Parser { rest: bytes, length: bytes.len(), parts: PARTS_MAX };
        match parser.description() {
            Ok(description) => Ok(description),
            Err(reason) => Err(DescriptionError { reason, offset: bytes.len().wrapping_sub(parser.rest.len()) }),
        }
    }
}

type Result<T, E = &'static str> = std::result::Result<T, E>;

struct Parser<'a> {
    rest: &'a [u8],
    length: usize,
    /// Number of fields and enum values that the parser still accepts.
    parts: usize,
}

impl<'a> Parser<'a> {
    fn description(&mut self) -> Result<Description> {
        if self.length > DESCRIPTION_MAX {
            return Err("longer than 64 KiB");
        }
        if self.rest.first() != Some(&1) {
            return Err("unknown format");
        }
        self.byte()?;
        let count = self.number(TYPES_MAX, "more than 4096 types")?;
        let mut types = Vec::new();
        for _ in 0..count {
            types.push(match self.byte()? {
                0 => TypeLayout::Message(self.message()?),
                1 => TypeLayout::Enum(self.numbers()?),
                _ => return Err("neither a message nor an enum"),
            });
        }
        let mut methods = Vec::new();
        let mut names = HashSet::new();
        // Methods need no separate limit: each takes at least four bytes, so the length of the description bounds their
        // number.
        for _ in 0..self.number(DESCRIPTION_MAX, "too many methods")? {
            let name = self.name()?;
            if !names.insert(name) {
                return Err("two methods of one name");
            }
            let bits = self.byte()?;
            if bits > 3 {
                return Err("unknown kind of method");
            }
            let [request, reply] = [self.type_index()?, self.type_index()?];
            let (client_streams, server_streams) = (bits & 1 != 0, bits & 2 != 0);
            methods.push(Method { name: name.to_owned(), client_streams, server_streams, request, reply });
        }
        let name = self.name()?.to_owned();
        if !self.rest.is_empty() {
            return Err("trailing bytes");
        }
        check_uses(&types, &methods)?;
        Ok(Description { name, types, methods })
    }

    fn message(&mut self) -> Result<Vec<Field>> {
        let mut fields: Vec<Field> = Vec::new();
        let mut numbers = HashSet::new();
        // Indexes of the members of each oneof.
        let mut oneofs: Vec<Vec<u16>> = Vec::new();
        for _ in 0..self.parts()? {
            let number = self.number(0x1fff_ffff, "the number of a field exceeds 2^29 - 1")? as u32;
            let tag = self.byte()?;
            let of = Type::from_code(tag & 0x1f).ok_or("unknown type")?;
            let shape = match tag >> 5 {
                0 if !matches!(of, Type::Message(_)) => Shape::Implicit,
                1 => Shape::Optional,
                2 => Shape::Repeated,
                3 => {
                    let key = Type::from_code(self.byte()?).filter(|key| key.is_key());
                    Shape::Map(key.ok_or("not the type of a key")?)
                }
                4 => {
                    let oneof = self.number(PARTS_MAX, "too many oneofs")?;
                    let member = self.number(PARTS_MAX, "too many members")?;
                    if oneof == oneofs.len() {
                        oneofs.push(Vec::new());
                    }
                    let (oneof, member) = (oneof as u16, member as u16);
                    oneofs.get_mut(usize::from(oneof)).ok_or("oneofs are not in wire order")?.push(member);
                    Shape::Member { oneof, member }
                }
                _ => return Err("unknown shape"),
            };
            let of = if of.index().is_some() { of.with_index(self.type_index()?) } else { of };
            let field = Field { number, shape, of };
            if number == 0 || !numbers.insert(number) {
                return Err("the number of a field is zero or used twice");
            }
            if fields.last().is_some_and(|last| last.group() > field.group()) {
                return Err("fields are not in wire order");
            }
            fields.push(field);
        }
        for members in &mut oneofs {
            members.sort_unstable();
            if members.iter().zip(1..).any(|(member, expected)| *member != expected) {
                return Err("members of a oneof are not counted from 1");
            }
        }
        Ok(fields)
    }

    fn numbers(&mut self) -> Result<Vec<i32>> {
        let mut before = 0_i64;
        let mut numbers = Vec::new();
        for _ in 0..self.parts()? {
            let step = self.varint()?;
            let step = (step >> 1).cast_signed() ^ (step & 1).cast_signed().wrapping_neg();
            let number = before.checked_add(step).and_then(|number| i32::try_from(number).ok());
            let number = number.ok_or("the number of an enum value exceeds 32 bits")?;
            numbers.push(number);
            before = number.into();
        }
        Ok(numbers)
    }

    /// Reads the number of fields or enum values of a type, and deducts it from the number that is still accepted.
    fn parts(&mut self) -> Result<usize> {
        let count = self.number(self.parts, "more than 20000 fields and values")?;
        self.parts = self.parts.wrapping_sub(count); // The count is at most `self.parts`.
        Ok(count)
    }

    fn type_index(&mut self) -> Result<u32> {
        Ok(self.number(TYPES_MAX, "unknown type")? as u32)
    }

    fn name(&mut self) -> Result<&'a str> {
        let length = self.number(self.rest.len(), "truncated")?;
        let (name, rest) = self.rest.split_at_checked(length).ok_or("truncated")?;
        self.rest = rest;
        std::str::from_utf8(name).map_err(|_| "a name is not UTF-8")
    }

    fn byte(&mut self) -> Result<u8> {
        let (byte, rest) = self.rest.split_first().ok_or("truncated")?;
        self.rest = rest;
        Ok(*byte)
    }

    fn number(&mut self, max: usize, reason: &'static str) -> Result<usize> {
        usize::try_from(self.varint()?).ok().filter(|number| *number <= max).ok_or(reason)
    }

    /// Reads a varint, which must be encoded in its shortest form.
    fn varint(&mut self) -> Result<u64> {
        let mut value = 0_u64;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return if byte == 0 && shift > 0 { Err("a number is not in its shortest form") } else { Ok(value) };
            }
        }
        Err("a number is too long")
    }
}

/// Checks two properties of a description: types are numbered in the order of their first use, and each reference to a
/// message or enum refers to a type of that sort.
fn check_uses(types: &[TypeLayout], methods: &[Method]) -> Result<()> {
    let mut next = 0_u32;
    let check = |next: &mut u32, of: Type| {
        let Some(index) = of.index() else { return Ok(()) };
        if index > *next {
            return Err("types are not in the order of their first use");
        }
        *next = (*next).max(index.wrapping_add(1)); // The index is at most `TYPES_MAX`.
        match (types.get(index as usize), of) {
            (Some(TypeLayout::Message(_)), Type::Message(_)) | (Some(TypeLayout::Enum(_)), Type::Enum(_)) => Ok(()),
            _ => Err("a type is missing, or used as another kind"),
        }
    };
    for method in methods {
        check(&mut next, Type::Message(method.request))?;
        check(&mut next, Type::Message(method.reply))?;
    }
    if methods.is_empty() && !types.is_empty() {
        check(&mut next, Type::Message(0))?;
    }
    for (found, index) in types.iter().zip(0..) {
        if index >= next {
            return Err("a type is not used");
        }
        if let TypeLayout::Message(fields) = found {
            fields.iter().try_for_each(|field| check(&mut next, field.of))?;
        }
    }
    Ok(())
}

//! Translation of bodies: an interpreter for the programs of a plan, which processes the encoded body in one pass.
//!
//! Copying a value only advances the input. The next operation that changes the output first appends all bytes copied
//! so far.

mod reorder;

use self::reorder::Segment;
use super::conversion::{Conversion, Number};
use super::plan::{Entries, Indices, Op, Plan, Program, Root, Target};
use super::walk::skip_short;
use crate::{DecodeError, DecodeReason, Form, Kind, Nesting, varint};

/// Length in bytes up to which a value is copied by a single move of this fixed size.
pub(super) const SHORT: usize = 16;

/// Limits on the resources that a translation may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum size of the output in bytes, usually the maximum body size of the reader. The output may be much longer
    /// than the input, because missing fields are filled with default values.
    pub body: usize,
    /// Maximum nesting depth of messages.
    pub nesting: Nesting,
}

/// Statistics about one completed translation, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Translated {
    /// Number of fields that the writer has set and the reader's layout lacks. Their values are lost.
    pub skipped: u64,
    /// Number of operations that were executed and elements that were translated. It is at most 16 per byte of input
    /// and output.
    #[doc(hidden)]
    pub steps: u64,
}

impl Plan {
    /// Translates `body` and appends the result to `out`. If the translation fails, nothing is appended.
    ///
    /// A body that contains nil or an error is copied unchanged.
    ///
    /// # Errors
    ///
    /// If the body does not match the writer's layout, a value cannot be converted, or a limit is exceeded.
    ///
    /// ```
    /// use polyglot::layout::{Description, Field, Limits, Plan, Shape, Type, TypeLayout};
    /// use polyglot::{Form, Nesting};
    ///
    /// let message = |fields: &[(u32, Type)]| {
    ///     let field = |&(number, of)| Field { number, shape: Shape::Implicit, of };
    ///     let types = vec![TypeLayout::Message(fields.iter().map(field).collect())];
    ///     Description { name: "shop.Item".to_owned(), types, methods: Vec::new() }
    /// };
    /// let old = message(&[(1, Type::Int32), (2, Type::String)]);
    /// let new = message(&[(3, Type::Bool), (1, Type::Int64)]);
    ///
    /// let plan = Plan::new(&old, &new, &[(0, 0)], Form::Extended)?;
    /// let root = plan.root(0, 0).expect("field types should be compatible").expect("layouts should differ");
    /// let limits = Limits { body: 1000, nesting: Nesting::default() };
    /// let mut out = Vec::new();
    /// let translated = plan.translate(root, b"\x08\x00\x0c\x0e\x05\x0a\x03new", &mut out, limits)?;
    /// assert_eq!(out, b"\x08\x00\x07\x00\x0d\x0e");
    /// assert_eq!(translated.skipped, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn translate(
        &self,
        root: Root,
        body: &[u8],
        out: &mut Vec<u8>,
        limits: Limits,
    ) -> Result<Translated, DecodeError> {
        let start = out.len();
        if root.is_plain && limits.nesting.levels() > 0 {
            let ops = self.extended.block(root.extended);
            if let Some(skipped) = self.extended.translate_plain(ops, body, out, limits.body) {
                return Ok(Translated { skipped, steps: ops.len() as u64 });
            }
            out.truncate(start);
        }
        self.translate_any(root, body, out, limits)
    }

    /// Translates a body that the fast path does not support.
    #[inline(never)]
    fn translate_any(
        &self,
        root: Root,
        body: &[u8],
        out: &mut Vec<u8>,
        limits: Limits,
    ) -> Result<Translated, DecodeError> {
        let start = out.len();
        let mut run = Run::new(&self.extended, body, out, limits);
        match run.root(root.extended) {
            Ok(()) => Ok(run.counts),
            Err(fault) => {
                out.truncate(start);
                self.translate_flat(fault, root, body, out, limits)
            }
        }
    }

    /// Starts over with the flat form, because a oneof was not in the extended form.
    #[cold]
    fn translate_flat(
        &self,
        fault: Fault,
        root: Root,
        body: &[u8],
        out: &mut Vec<u8>,
        limits: Limits,
    ) -> Result<Translated, DecodeError> {
        let fault = match (fault, &self.flat) {
            (Fault::Flat(_), Some(flat)) => {
                let start = out.len();
                let mut run = Run::new(flat, body, out, limits);
                let Err(fault) = run.root(root.flat) else { return Ok(run.counts) };
                out.truncate(start);
                fault
            }
            (fault, _) => fault,
        };
        match fault {
            Fault::Flat(error) | Fault::Error(error) => Err(error),
        }
    }
}

impl Program {
    /// Fast path: translates a message with a block that contains only the operations `Copy`, `Skip` and `Fill`.
    /// Returns the number of skipped fields. Returns `None` for bodies with long or invalid values, and if the output
    /// is longer than `max`. The bytes appended to `out` are then meaningless.
    #[inline(never)] // Keeps its variables in registers.
    fn translate_plain(&self, ops: &[Op], body: &[u8], out: &mut Vec<u8>, max: usize) -> Option<u64> {
        let [0x08, _flags, rest @ ..] = body else { return None };
        let (start, mut rest, mut run, mut skipped) = (out.len(), rest, body, 0_u64);
        for op in ops {
            match *op {
                Op::Copy(count) => {
                    for _ in 0..count {
                        rest = skip_short(rest)?;
                    }
                    continue;
                }
                Op::Skip(count) => {
                    append(out, run, run.len().wrapping_sub(rest.len()));
                    for _ in 0..count {
                        if let [0x00, after @ ..] | [0x07 | 0x0a..=0x0d, 0, after @ ..] = rest {
                            rest = after;
                        } else {
                            skipped = skipped.wrapping_add((!is_empty(rest)).into());
                            rest = skip_short(rest)?;
                        }
                    }
                }
                Op::Fill { length, at } => {
                    append(out, run, run.len().wrapping_sub(rest.len()));
                    append(out, self.bytes.get(at as usize..)?, length.into());
                }
                _ => return None,
            }
            run = rest;
        }
        append(out, run, run.len().wrapping_sub(rest.len()));
        (out.len().wrapping_sub(start) <= max).then_some(skipped)
    }
}

/// Appends the first `length` bytes of `from`. Up to 16 bytes are copied at once, which is faster than `memcpy`.
#[inline(always)]
fn append(out: &mut Vec<u8>, from: &[u8], length: usize) {
    match from.first_chunk::<SHORT>() {
        // A short copy takes a fixed number of bytes, which compiles to a single move.
        Some(chunk) if length <= SHORT => {
            let end = out.len().wrapping_add(length);
            out.extend_from_slice(chunk);
            out.truncate(end);
        }
        _ => out.extend_from_slice(from.get(..length).unwrap_or_default()),
    }
}

/// Returns whether the next value is absent, empty or the default of its type.
#[inline]
fn is_empty(input: &[u8]) -> bool {
    match input {
        [0x00, ..] | [0x01, _, 0x0a, 0, ..] | [0x02, _, _, 0x0a, 0, ..] => true,
        _ => is_default(input),
    }
}

/// Returns whether the next value is a scalar, string or bytes value that is the default of its type.
#[inline]
fn is_default(input: &[u8]) -> bool {
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    match input {
        [0x07 | 0x0a..=0x0d, 0, ..] | [0x04 | 0x05, 0x0a, 0, ..] => true,
        [0x0e, rest @ ..] => rest.first_chunk::<4>().is_some_and(|bits| is_zero(bits)),
        [0x0f, rest @ ..] => rest.first_chunk::<8>().is_some_and(|bits| is_zero(bits)),
        _ => false,
    }
}

pub(super) enum Fault {
    /// A oneof is not in the extended encoding. The body may be in the flat encoding instead.
    Flat(DecodeError),
    Error(DecodeError),
}

impl From<DecodeError> for Fault {
    fn from(error: DecodeError) -> Self {
        Self::Error(error)
    }
}

pub(super) type Result<T, E = Fault> = std::result::Result<T, E>;

pub(super) struct Run<'p, 'i, 'o> {
    pub(super) program: &'p Program,
    /// Input that has not been read yet.
    pub(super) rest: &'i [u8],
    /// Input that has not been copied to the output yet. The run ends at `rest`. Adjacent values are copied together.
    run: &'i [u8],
    length: usize,
    out: &'o mut Vec<u8>,
    /// Number of bytes that the output may still grow by.
    room: usize,
    pub(super) limits: Limits,
    pub(super) levels: u32,
    segments: Vec<Segment>,
    /// Number of bytes that were moved to reorder fields.
    moved: usize,
    pub(super) counts: Translated,
}

impl<'p, 'i, 'o> Run<'p, 'i, 'o> {
    fn new(program: &'p Program, body: &'i [u8], out: &'o mut Vec<u8>, limits: Limits) -> Self {
        Self {
            program,
            rest: body,
            run: body,
            length: body.len(),
            out,
            room: limits.body,
            limits,
            levels: limits.nesting.levels(),
            segments: Vec::new(),
            moved: 0,
            counts: Translated::default(),
        }
    }

    #[inline(always)]
    fn root(&mut self, block: u32) -> Result<()> {
        if self.rest.first() == Some(&Kind::U8.byte()) {
            self.message(block)?;
        } else {
            // Copy a nil or an error without validation, which the reader performs.
            self.rest = &[];
        }
        self.flush()
    }

    #[cold]
    pub(super) fn error(&self, reason: DecodeReason) -> Fault {
        Fault::Error(DecodeError::new(reason, self.length.wrapping_sub(self.rest.len())))
    }

    #[cold]
    pub(super) fn unexpected(&self, expected: Kind) -> Fault {
        self.error(match self.rest.first() {
            Some(found) if *found != expected.byte() => DecodeReason::WrongKind { expected, found: *found },
            _ => DecodeReason::Truncated { expected },
        })
    }

    /// Copies input that has been read, but not copied yet, to the output.
    #[inline(always)]
    fn flush(&mut self) -> Result<()> {
        let length = self.run.len().wrapping_sub(self.rest.len()); // `rest` is a suffix of `run`.
        if let Some(copied) = self.run.get(..length).filter(|copied| !copied.is_empty()) {
            self.put(copied)?;
        }
        self.run = self.rest;
        Ok(())
    }

    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.charge(bytes.len())?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    /// Counts bytes of the output against its limit.
    #[inline(always)]
    pub(super) fn charge(&mut self, length: usize) -> Result<()> {
        let Some(room) = self.room.checked_sub(length) else {
            return Err(self.error(DecodeReason::TranslationTooLong { max: self.limits.body }));
        };
        self.room = room;
        Ok(())
    }

    /// Appends a value to the output: the byte of its kind, and a varint.
    fn put_varint(&mut self, kind: Kind, value: u64) -> Result<()> {
        let before = self.out.len();
        varint::write(self.out, kind.byte(), value);
        self.charge(self.out.len().wrapping_sub(before)) // The output has only grown.
    }

    #[inline]
    fn put_default(&mut self, at: u32, length: u16) -> Result<()> {
        let program = self.program;
        let bytes = program.bytes.get(at as usize..).and_then(|bytes| bytes.get(..usize::from(length)));
        self.put(bytes.unwrap_or_default())
    }

    /// Discards the input that was read since the last flush, so that it is not copied.
    fn drop_run(&mut self) {
        self.run = self.rest;
    }

    /// Translates a message, which may be nil, by executing the operations of the given block.
    #[inline]
    pub(super) fn message(&mut self, block: u32) -> Result<()> {
        if self.enter()? {
            self.fields(block)?;
            self.levels = self.levels.wrapping_add(1); // Undoes the decrement in `enter`.
        }
        Ok(())
    }

    /// Translates the fields of a message or of a map entry by executing the operations of the given block.
    pub(super) fn fields(&mut self, block: u32) -> Result<()> {
        let base = self.segments.len();
        let mut ops = self.ops(block).iter();
        while let Some(op) = ops.next() {
            match *op {
                Op::Copy(count) => self.values(count)?,
                Op::CopyTree { container, block } => self.tree(container, block)?,
                Op::CopyOneof(table) => {
                    self.walk_oneof(table)?;
                }
                Op::Skip(_) | Op::SkipTree { .. } | Op::SkipOneof(_) => self.skip(op)?,
                Op::Fill { length, at } => {
                    self.flush()?;
                    self.put_default(at, length)?;
                }
                Op::Value { conversion, member } => self.member(conversion, member)?,
                Op::Present { conversion, member } => {
                    if let [0x00, rest @ ..] = self.rest {
                        self.flush()?;
                        self.rest = rest;
                        self.drop_run();
                    } else {
                        self.member(conversion, member)?;
                        ops.next();
                    }
                }
                Op::NonDefault { conversion, member } => {
                    if self.is_default(conversion) {
                        self.flush()?;
                        self.value()?;
                        self.drop_run();
                    } else {
                        self.member(conversion, member)?;
                        ops.next();
                    }
                }
                Op::Oneof(table) => {
                    if self.oneof(table)? {
                        ops.next();
                    }
                }
                Op::List { conversion, kind } => self.list(conversion, kind)?,
                Op::Entries { change, kinds, block } => {
                    let nil = ops.next();
                    self.entries(change, kinds, block, nil)?;
                }
                Op::Segment { place, rank } => {
                    self.flush()?;
                    self.segments.push(Segment { place, rank, start: self.out.len() });
                }
                Op::Assemble(order) => self.assemble(order, base)?,
            }
        }
        Ok(())
    }

    /// Executes an operation that skips fields of the writer.
    fn skip(&mut self, op: &Op) -> Result<()> {
        self.flush()?;
        match *op {
            Op::SkipTree { container, block } => {
                self.count_skipped();
                self.tree(container, block)?;
            }
            Op::SkipOneof(table) => {
                let is_set = self.walk_oneof(table)?;
                self.counts.skipped = self.counts.skipped.wrapping_add(is_set.into());
            }
            Op::Skip(count) => {
                for _ in 0..count {
                    self.count_skipped();
                    self.value()?;
                }
            }
            _ => {}
        }
        self.drop_run();
        Ok(())
    }

    /// Translates a oneof. Returns `false` if no member is set, or one that the reader's layout does not have.
    fn oneof(&mut self, table: u32) -> Result<bool> {
        self.flush()?;
        let before = self.rest;
        let member = self.oneof_head()?;
        let Some(found) = (member > 0).then(|| self.member_of(table, member)).transpose()? else {
            self.drop_run();
            return Ok(false);
        };
        let Some(Target { conversion, member, segment }) = found.target else {
            self.rest = before;
            self.walk_oneof(table)?;
            self.counts.skipped = self.counts.skipped.wrapping_add(1);
            self.drop_run();
            return Ok(false);
        };
        self.drop_run();
        if let Some((place, rank)) = segment {
            self.segments.push(Segment { place, rank, start: self.out.len() });
        }
        self.member(conversion, member)?;
        Ok(true)
    }

    /// Converts a value. Unless `member` is 0, first writes the header of a oneof in which this member is set.
    #[inline]
    fn member(&mut self, conversion: Conversion, member: u16) -> Result<()> {
        if member > 0 {
            self.flush()?;
            self.put_varint(Kind::Any, member.into())?;
        }
        self.convert(conversion)
    }

    fn convert(&mut self, conversion: Conversion) -> Result<()> {
        match conversion {
            Conversion::Copy => return self.scalar(),
            Conversion::Message(block) => return self.message(block),
            Conversion::Number(from, to) => {
                let pattern = self.number(from)?;
                self.put_number(to, pattern)?;
            }
            Conversion::Enum(from, to) => {
                let number = self.enum_number(from)?;
                self.put_enum(to, number)?;
            }
            Conversion::EnumToNumber(from, to) => {
                let number = self.enum_number(from)?;
                self.put_number(to, i64::from(number).cast_unsigned())?;
            }
            Conversion::NumberToEnum(from, to) => {
                let pattern = self.number(from)?;
                self.put_enum(to, pattern as i32)?;
            }
            Conversion::BytesToString => {
                let content = self.sized(Kind::Bytes, Kind::String)?;
                let text = simdutf8::basic::from_utf8(content);
                text.map_err(|_| self.error(DecodeReason::Utf8))?;
                return Ok(());
            }
            Conversion::StringToBytes => {
                self.sized(Kind::String, Kind::Bytes)?;
                return Ok(());
            }
        }
        self.drop_run();
        Ok(())
    }

    /// Reads a string or bytes value, and writes it with the kind `to`. Returns its content.
    fn sized(&mut self, from: Kind, to: Kind) -> Result<&'i [u8]> {
        self.flush()?;
        let [kind, sized @ ..] = self.rest else { return Err(self.unexpected(from)) };
        if *kind != from.byte() {
            return Err(self.unexpected(from));
        }
        self.scalar()?;
        self.run = sized;
        self.put(&[to.byte()])?;
        // The content is preceded by the kind and the varint of its length.
        let varint = sized.get(1..).unwrap_or_default();
        let head = varint.iter().position(|byte| *byte < 0x80).unwrap_or_default();
        let content = varint.get(head.wrapping_add(1)..).unwrap_or_default();
        Ok(content.get(..content.len().wrapping_sub(self.rest.len())).unwrap_or_default())
    }

    /// Reads a number, and returns the 64-bit value that protobuf would encode as a varint.
    fn number(&mut self, of: Number) -> Result<u64> {
        self.flush()?;
        if of == Number::Bool {
            let [0x07, byte @ (0 | 1), rest @ ..] = self.rest else { return Err(self.unexpected(Kind::Bool)) };
            self.rest = rest;
            return Ok(u64::from(*byte));
        }
        let kind = of.kind();
        let [found, input @ ..] = self.rest else { return Err(self.unexpected(kind)) };
        if *found != kind.byte() {
            return Err(self.unexpected(kind));
        }
        let (raw, rest) = self.varint(input, varint::length_max(kind))?;
        self.rest = rest;
        let low = u64::from(raw as u32);
        let unzigzag = |raw: u64| (raw >> 1) ^ (raw & 1).wrapping_neg();
        Ok(match of {
            Number::U32 | Number::Zigzag32 => low,
            Number::I32 => unzigzag(low),
            Number::I64 => unzigzag(raw),
            Number::U64 | Number::Zigzag64 | Number::Bool => raw,
        })
    }

    /// Writes a number, truncated to the width of its type.
    fn put_number(&mut self, of: Number, pattern: u64) -> Result<()> {
        let zigzag = |value: i64| ((value << 1) ^ (value >> 63)).cast_unsigned();
        match of {
            Number::Bool => self.put(&[Kind::Bool.byte(), u8::from(pattern != 0)]),
            Number::U32 | Number::Zigzag32 => self.put_varint(of.kind(), u64::from(pattern as u32)),
            Number::I32 => self.put_varint(of.kind(), zigzag(i64::from(pattern as i32))),
            Number::I64 => self.put_varint(of.kind(), zigzag(pattern.cast_signed())),
            Number::U64 | Number::Zigzag64 => self.put_varint(of.kind(), pattern),
        }
    }

    /// Reads a value of the writer's enum and returns its number. A value may be encoded as an index or, if the
    /// writer's schema does not declare it, as a number.
    fn enum_number(&mut self, of: u16) -> Result<i32> {
        if self.rest.first() == Some(&Kind::I32.byte()) {
            return Ok(self.number(Number::I32)? as i32);
        }
        let index = self.number(Number::U32)? as u32;
        let numbers = self.program.numbers.get(usize::from(of));
        if let Some(number) = numbers.and_then(|numbers| numbers.get(index as usize)) {
            return Ok(*number);
        }
        // Represent an unknown index by a number, like decoders do. They also reject an index that has no such number.
        match i32::MIN.wrapping_add_unsigned(index) {
            number @ ..0 => Ok(number),
            _ => Err(self.error(DecodeReason::EnumIndex { enumeration: "of the writer", index })),
        }
    }

    fn put_enum(&mut self, of: u16, number: i32) -> Result<()> {
        let (indices, count) = match self.program.indices.get(usize::from(of)) {
            Some(Indices { sorted, count }) => (sorted.as_slice(), *count),
            None => (&[][..], 0),
        };
        let found = indices.binary_search_by_key(&number, |(number, _)| *number);
        if let Some((_, index)) = found.ok().and_then(|at| indices.get(at)) {
            return self.put_varint(Kind::U32, u64::from(*index));
        }
        if self.program.output == Form::Extended {
            return self.put_number(Number::I32, i64::from(number).cast_unsigned());
        }
        // A number in this range represents an unknown index; see [`Enumeration`](crate::Enumeration).
        let index = number.wrapping_sub(i32::MIN).cast_unsigned();
        if number < 0 && index >= count {
            return self.put_varint(Kind::U32, u64::from(index));
        }
        Err(self.error(DecodeReason::EnumNumber(number)))
    }

    /// Returns whether the next value is the default value of its type. Does not advance the input.
    fn is_default(&self, conversion: Conversion) -> bool {
        if let (Conversion::Enum(of, _) | Conversion::EnumToNumber(of, _), [0x0a, index, ..]) = (conversion, self.rest)
        {
            let numbers = self.program.numbers.get(usize::from(of));
            return *index < 0x80 && numbers.is_some_and(|numbers| numbers.get(usize::from(*index)) == Some(&0));
        }
        is_default(self.rest)
    }

    /// Counts the next value as a skipped field, unless it is absent, empty or the default of its type.
    fn count_skipped(&mut self) {
        self.counts.skipped = self.counts.skipped.wrapping_add((!is_empty(self.rest)).into());
    }

    fn list(&mut self, conversion: Conversion, kind: Kind) -> Result<()> {
        self.flush()?;
        let count = self.list_head()?;
        self.put(&[Kind::List.byte(), kind.byte()])?;
        self.put_varint(Kind::U32, count)?;
        self.drop_run();
        self.counts.steps = self.counts.steps.saturating_add(count);
        for _ in 0..count {
            self.convert(conversion)?;
        }
        Ok(())
    }

    /// Translates between a map and another map, or between a map and a list of entries. For a nil entry, the operation
    /// `nil` writes the default entry.
    fn entries(&mut self, change: Entries, kinds: u8, block: u32, nil: Option<&Op>) -> Result<()> {
        self.flush()?;
        let count = if change == Entries::ListToMap { self.list_head()? } else { self.map_head()? };
        match change {
            Entries::MapToList => self.put(&[Kind::List.byte(), Kind::Any.byte()])?,
            _ => self.put(&[Kind::Map.byte(), kinds >> 4, kinds & 0x0f])?,
        }
        self.put_varint(Kind::U32, count)?;
        self.drop_run();
        self.counts.steps = self.counts.steps.saturating_add(count);
        for _ in 0..count {
            match change {
                Entries::MapToMap => self.fields(block)?,
                Entries::MapToList => {
                    self.flush()?;
                    self.put(&[Kind::U8.byte(), 0])?;
                    self.fields(block)?;
                }
                Entries::ListToMap => {
                    self.flush()?;
                    let is_set = self.enter()?;
                    self.drop_run();
                    if is_set {
                        self.fields(block)?;
                        self.levels = self.levels.wrapping_add(1); // Undoes the decrement in `enter`.
                    } else if let Some(Op::Fill { length, at }) = nil {
                        self.put_default(*at, *length)?;
                    }
                }
            }
        }
        Ok(())
    }
}

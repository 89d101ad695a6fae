//! Plans for translating from one layout to another. A plan is compiled to a program with operations for each field in
//! the writer's order.

use super::conversion::{Conversion, Refusal, conversion, is_single};
use super::description::{Description, Field, Type};
use super::emit::Emitter;
use super::side::{Item, Place, Side};
use super::translate::SHORT;
use crate::{Form, Kind};
use std::collections::HashMap;
use std::fmt;

/// Maximum total number of fields in all type pairs of a plan, counting the fields of both peers. A plan has about as
/// many operations, of 12 bytes each.
const PARTS_MAX: usize = 65_536;

/// A compiled translation of bodies from a writer's layout to a reader's layout.
///
/// A plan accepts bodies in the flat and in the extended encoding, and writes one of them. See [`Plan::translate`] for
/// an example.
#[derive(Debug)]
pub struct Plan {
    pub(super) extended: Program,
    /// Program for input in the flat encoding. The encoding of a body is detected at its first oneof. `None` if the
    /// layout has no oneofs, because both encodings are then read in the same way.
    pub(super) flat: Option<Program>,
    roots: HashMap<(u32, u32), Result<Option<Root>, Refusal>>,
}

/// Entry point of a [`Plan`]. It translates one request or reply type, with all messages nested in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    pub(super) extended: u32,
    pub(super) flat: u32,
    /// Whether the block `extended` only copies, skips and fills values, so that the fast path can execute it.
    pub(super) is_plain: bool,
}

/// Limit that a plan would exceed. The plan is then not created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// There are more pairs of types to translate than both descriptions have types.
    Pairs,
    /// All pairs of types together have more than 65 536 fields.
    Parts,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pairs => f.write_str("more pairs of types than types between two layouts"),
            Self::Parts => write!(f, "more than {PARTS_MAX} fields between two layouts"),
        }
    }
}

impl std::error::Error for PlanError {}

/// Compiled operations that translate messages from one layout to another. A program reads either the flat or the
/// extended encoding.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    /// Blocks of operations, each given by its range in `ops`. The first blocks copy messages, with one block per type
    /// of the writer. The other blocks translate messages, with one block per pair of types.
    pub(super) blocks: Vec<(u32, u32)>,
    /// Encoded default values. They are written for fields that the writer's layout does not have.
    pub(super) bytes: Vec<u8>,
    pub(super) oneofs: Vec<Vec<Member>>,
    pub(super) orders: Vec<Order>,
    /// For each enum of the writer, the numbers of its values, indexed by the value on the wire.
    pub(super) numbers: Vec<Vec<i32>>,
    /// For each enum of the reader, a table to look up the index of a number.
    pub(super) indices: Vec<Indices>,
    pub(super) output: Form,
}

impl Program {
    /// Returns the operations of a block.
    pub(super) fn block(&self, block: u32) -> &[Op] {
        let (start, end) = self.blocks.get(block as usize).copied().unwrap_or_default();
        self.ops.get(start as usize..end as usize).unwrap_or_default()
    }

    fn memory(&self) -> usize {
        let operations =
            size_of_val(&*self.ops).wrapping_add(size_of_val(&*self.blocks)).wrapping_add(self.bytes.len());
        let oneofs = self.oneofs.iter().map(|members| size_of_val(&**members));
        let orders = self.orders.iter().map(|order| size_of_val(&*order.places));
        let numbers = self.numbers.iter().map(|numbers| size_of_val(&**numbers));
        let indices = self.indices.iter().map(|indices| size_of_val(&*indices.sorted));
        oneofs.chain(orders).chain(numbers).chain(indices).fold(operations, usize::wrapping_add)
    }
}

/// Table to look up the index of a number that the reader's enum declares.
#[derive(Debug)]
pub(super) struct Indices {
    /// Declared numbers in ascending order, each with the index of the first value that has this number.
    pub(super) sorted: Vec<(i32, u32)>,
    /// Number of values that the enum declares, including aliases.
    pub(super) count: u32,
}

/// An operation of a compiled [`Program`], which reads the writer's body and writes the reader's.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// Copies this many values. Their length can be found without knowing the layout.
    Copy(u32),
    /// Copies a message, or a list or map of messages. Finds the end with the block of operations for the writer's
    /// type.
    CopyTree {
        container: Container,
        block: u32,
    },
    /// Copies a oneof of the writer unchanged. Contains the index of the oneof's members in [`Program::oneofs`].
    CopyOneof(u32),
    /// Skips this many values. Their length can be found without knowing the layout.
    Skip(u32),
    SkipTree {
        container: Container,
        block: u32,
    },
    SkipOneof(u32),
    /// Writes a default value, which is stored in [`Program::bytes`].
    Fill {
        length: u16,
        at: u32,
    },
    /// Converts a value and writes it. Writes the value as a member of a oneof unless `member` is 0.
    Value {
        conversion: Conversion,
        member: u16,
    },
    /// Like `Value` if the value is present, and then skips the next operation. If the value is absent, executes the
    /// next operation instead.
    Present {
        conversion: Conversion,
        member: u16,
    },
    /// Like `Value` if the value differs from its default, and then skips the next operation. Otherwise, executes the
    /// next operation instead.
    NonDefault {
        conversion: Conversion,
        member: u16,
    },
    /// Translates a oneof. Executes the next operation instead if no member is set, or one that the reader's layout
    /// does not have.
    Oneof(u32),
    List {
        conversion: Conversion,
        kind: Kind,
    },
    /// Translates a map to a map, a map to a list of entries, or such a list to a map. The upper four bits of `kinds`
    /// are the kind of the reader's keys, and the lower four that of its values. A nil message in the list becomes a
    /// default entry, which the next operation writes.
    Entries {
        change: Entries,
        kinds: u8,
        block: u32,
    },
    /// Starts a segment of output with the value for one place in the reader's message. If several segments compete for
    /// a place or oneof, the one with the highest rank is used.
    Segment {
        place: u16,
        rank: u32,
    },
    /// Replaces the segments of a message by their contents, in the order of the reader's fields.
    Assemble(u32),
}

const _: () = assert!(size_of::<Op>() == 12, "operation should be compact");

#[derive(Clone, Copy, Debug)]
pub(super) enum Container {
    Single,
    List,
    Map,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entries {
    MapToMap,
    MapToList,
    ListToMap,
}

/// A member of the writer's oneof, with its translation if the reader's layout has the member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// If the member is a message, the block of operations that copies messages of its type.
    pub(super) tree: Option<u32>,
    pub(super) target: Option<Target>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) conversion: Conversion,
    pub(super) member: u16,
    /// Place and rank of the segment that is started for the member. `None` if the output has no segments.
    pub(super) segment: Option<(u16, u32)>,
}

/// Order of the reader's fields in a message. Determines how segments of output are assembled.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) places: Vec<OrderPlace>,
    /// Number of groups of places. At most one place of each group is filled. `None` if there are no groups, so that
    /// each place is filled by a single segment, its `source`.
    pub(super) groups: Option<u16>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OrderPlace {
    /// Length and offset in [`Program::bytes`] of a default value, which is written if there is no segment for the
    /// place.
    pub(super) length: u16,
    pub(super) at: u32,
    /// Group of the place, or 0 for none. At most one place of a group may be filled. In the flat encoding, the members
    /// of a oneof form such a group.
    pub(super) group: u16,
    /// Index of the segment that is written at this place. Used only if the message has no groups of places.
    pub(super) source: u16,
}

impl Plan {
    /// Creates a plan for translating messages. Each of `roots` is a pair of type indexes: a message in `from`, and its
    /// translation in `to`. `output` is the encoding to write.
    ///
    /// # Errors
    ///
    /// If the plan would exceed a limit.
    pub fn new(from: &Description, to: &Description, roots: &[(u32, u32)], output: Form) -> Result<Self, PlanError> {
        let compile = |input| {
            let mut builder = Builder::new(Side::new(from, input), Side::new(to, output));
            builder.discover(roots)?;
            let found: Vec<_> = roots.iter().map(|root| builder.root(*root)).collect();
            Ok((builder.program(), found))
        };
        let (program, found) = compile(Form::Extended)?;
        let (flat, flat_found) = if Side::new(from, Form::Extended).has_oneofs() {
            let (flat, found) = compile(Form::Flat)?;
            (Some(flat), found)
        } else {
            (None, found.clone())
        };
        // The encoding of a body is detected only during translation. A body is therefore used unchanged only if
        // neither encoding requires a translation.
        let found = found.into_iter().zip(flat_found).map(|(extended, flat)| {
            let ((extended, is_prefix), (flat, is_flat_prefix)) = (extended?, flat?);
            let is_plain = |op: &Op| matches!(op, Op::Copy(_) | Op::Skip(_) | Op::Fill { .. });
            let is_plain = program.block(extended).iter().all(is_plain);
            let root = Root { extended, flat, is_plain };
            Ok((!is_prefix || !is_flat_prefix).then_some(root))
        });
        let roots = roots.iter().copied().zip(found).collect();
        Ok(Self { extended: program, flat, roots })
    }

    /// Returns the pairs of fields that cannot be translated in either direction, for each of `pairs`: the type indexes
    /// of a message in `from` and of one in `to`. Nested messages are not examined.
    ///
    /// # Errors
    ///
    /// If two messages have too many fields, or the fields too many pairs of types.
    pub fn refusals(
        from: &Description,
        to: &Description,
        pairs: &[(u32, u32)],
    ) -> Result<Vec<Vec<Refusal>>, PlanError> {
        let mut builder = Builder::new(Side::new(from, Form::Extended), Side::new(to, Form::Extended));
        let refusals = pairs.iter().map(|(from, to)| {
            builder.parts = PARTS_MAX;
            Ok(builder.edges(*from, *to)?.1)
        });
        refusals.collect()
    }

    /// Returns the approximate memory used by the plan in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        let programs = std::iter::once(&self.extended).chain(&self.flat).map(Program::memory);
        programs.sum::<usize>().wrapping_add(self.roots.len().wrapping_mul(size_of::<Refusal>()))
    }

    /// Returns the entry point for translating a message of type `from` to type `to`. The plan must have been created
    /// for this pair. Returns `None` if the message needs no translation.
    ///
    /// # Errors
    ///
    /// If the types of a field are incompatible.
    pub fn root(&self, from: u32, to: u32) -> Result<Option<Root>, &Refusal> {
        self.roots.get(&(from, to)).map_or(Ok(None), |root| root.as_ref().copied())
    }
}

/// A pair of types: messages of the writer's type are translated to the reader's type.
pub(super) struct Pair {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) edges: Vec<Edge>,
    /// Indexes of the type pairs that contain this pair as a nested message. If the encodings in this pair differ, the
    /// encodings in those pairs differ too.
    users: Vec<usize>,
    /// Whether both types have the same encoding, including their nested messages.
    pub(super) is_same: bool,
    refusals: Vec<Refusal>,
}

/// A connection from a writer's field to the reader's field with the same number.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    /// Index of the writer's item that contains the field. If the item is a oneof, `member` is the index of the field
    /// in it, starting at 1. Otherwise, `member` is 0.
    pub(super) item: usize,
    pub(super) member: u16,
    /// Index of the reader's item that contains the field. If the item is a oneof, `into` is the index of the field in
    /// it, starting at 1. Otherwise, `into` is 0.
    pub(super) slot: usize,
    pub(super) into: u16,
    pub(super) number: u32,
    pub(super) change: Change,
}

#[derive(Clone, Copy)]
pub(super) enum Change {
    Single(Conversion),
    List(Conversion),
    Entries(Entries, u32),
}

struct Builder {
    from: Side,
    to: Side,
    pairs: Vec<Pair>,
    index: HashMap<(u32, u32), u32>,
    same_enums: HashMap<(u16, u16), bool>,
    /// Number of fields that further type pairs may have before the plan exceeds its limit.
    parts: usize,
    program: Program,
}

impl Builder {
    fn new(from: Side, to: Side) -> Self {
        let program = Program { output: to.form, ..Program::default() };
        Self {
            from,
            to,
            pairs: Vec::new(),
            index: HashMap::new(),
            same_enums: HashMap::new(),
            parts: PARTS_MAX,
            program,
        }
    }

    /// Collects the type pairs of the root messages and of all messages nested in them.
    fn discover(&mut self, roots: &[(u32, u32)]) -> Result<(), PlanError> {
        for (from, to) in roots {
            self.pair(*from, *to)?;
        }
        // Process pairs in the order of their discovery. The list grows during the traversal.
        let mut at = 0;
        while let Some(pair) = self.pairs.get(at) {
            let (from, to) = (pair.from, pair.to);
            let (edges, refusals) = self.edges(from, to)?;
            for edge in &edges {
                if let Some(inner) = edge.pair()
                    && let Some(inner) = self.pairs.get_mut(inner as usize)
                {
                    inner.users.push(at);
                }
            }
            if let Some(pair) = self.pairs.get_mut(at) {
                (pair.edges, pair.refusals) = (edges, refusals);
            }
            at = at.wrapping_add(1); // The index is below the number of pairs.
        }
        // Mark all pairs with different encodings. A difference propagates to the pairs that contain the pair.
        let differs = |pair: usize| self.pairs.get(pair).is_some_and(|pair| !self.is_same_apart_from_nested(pair));
        let mut open: Vec<usize> = (0..self.pairs.len()).filter(|pair| differs(*pair)).collect();
        while let Some(at) = open.pop() {
            if let Some(pair) = self.pairs.get_mut(at)
                && std::mem::replace(&mut pair.is_same, false)
            {
                open.extend_from_slice(&pair.users);
            }
        }
        Ok(())
    }

    fn pair(&mut self, from: u32, to: u32) -> Result<u32, PlanError> {
        if let Some(pair) = self.index.get(&(from, to)) {
            return Ok(*pair);
        }
        if self.pairs.len() >= self.from.nodes.len().saturating_add(self.to.nodes.len()) {
            return Err(PlanError::Pairs);
        }
        let pair = self.pairs.len() as u32;
        let (edges, users) = (Vec::new(), Vec::new());
        self.pairs.push(Pair { from, to, edges, users, is_same: true, refusals: Vec::new() });
        self.index.insert((from, to), pair);
        Ok(pair)
    }

    /// Returns an edge for each field that both message types have, and a refusal for each field with incompatible
    /// types.
    fn edges(&mut self, from: u32, to: u32) -> Result<(Vec<Edge>, Vec<Refusal>), PlanError> {
        let fields = |side: &Side, node| side.items(node).iter().map(|item| item.fields.len()).sum::<usize>();
        let parts = fields(&self.from, from).saturating_add(fields(&self.to, to));
        self.parts = self.parts.checked_sub(parts).ok_or(PlanError::Parts)?;
        let mut by_number = HashMap::new();
        for (slot, item) in self.to.items(to).iter().enumerate() {
            for (field, member) in item.fields.iter().zip(1..) {
                let into = if item.place == Place::Oneof { member } else { 0 };
                by_number.insert(field.number, (slot, into, *field, item.place));
            }
        }
        let mut found = Vec::new();
        for (item, of) in self.from.items(from).iter().enumerate() {
            for (field, member) in of.fields.iter().zip(1..) {
                if let Some(reader) = by_number.get(&field.number) {
                    let member = if of.place == Place::Oneof { member } else { 0 };
                    found.push((item, member, *field, of.place, *reader));
                }
            }
        }
        let mut edges = Vec::with_capacity(found.len());
        let mut refusals = Vec::new();
        for (item, member, field, place, (slot, into, reader, reader_place)) in found {
            let Some(change) = self.change((&field, place), (&reader, reader_place))? else {
                refusals.push(Refusal { types: [from, to], fields: [field, reader] });
                continue;
            };
            edges.push(Edge { item, member, slot, into, number: field.number, change });
        }
        Ok((edges, refusals))
    }

    /// Returns the conversion of a writer's field to the reader's field, or `None` if the fields are incompatible.
    fn change(&mut self, from: (&Field, Place), to: (&Field, Place)) -> Result<Option<Change>, PlanError> {
        let ((from, from_place), (to, to_place)) = (from, to);
        let (change, of, into) = match (from_place, to_place) {
            (Place::Map(of), Place::Map(into)) => (Entries::MapToMap, of, into),
            (Place::Map(of), Place::List) => match to.of {
                Type::Message(into) => (Entries::MapToList, of, into),
                _ => return Ok(None),
            },
            (Place::List, Place::Map(into)) => match from.of {
                Type::Message(of) => (Entries::ListToMap, of, into),
                _ => return Ok(None),
            },
            _ => {
                if is_single(from) != is_single(to) {
                    return Ok(None);
                }
                let conversion = match (from.of, conversion(from.of, to.of)) {
                    (Type::Message(from), Some(Conversion::Message(to))) => Conversion::Message(self.pair(from, to)?),
                    (_, Some(Conversion::Enum(from, to))) if self.is_same_enum(from, to) => Conversion::Copy,
                    (_, Some(conversion)) => conversion,
                    (_, None) => return Ok(None),
                };
                return Ok(Some(if is_single(from) { Change::Single(conversion) } else { Change::List(conversion) }));
            }
        };
        // Check map entries here, so that the error names the map. Entries have no names.
        if !self.are_convertible_entries(of, into) {
            return Ok(None);
        }
        Ok(Some(Change::Entries(change, self.pair(of, into)?)))
    }

    /// Returns whether the keys and values of map entries, or of messages in a list of entries, are convertible.
    fn are_convertible_entries(&self, of: u32, into: u32) -> bool {
        let parts = self.from.entry_parts(of).into_iter().zip(self.to.entry_parts(into));
        let mut common = parts.filter_map(|(from, to)| Some((from?, to?)));
        common.all(|(from, to)| is_single(&from) && is_single(&to) && conversion(from.of, to.of).is_some())
    }

    /// Returns whether values of two enums can be copied. Both enums must declare the same numbers in the same order,
    /// and the output must have the extended encoding.
    fn is_same_enum(&mut self, from: u16, to: u16) -> bool {
        let (numbers, others) = (self.from.numbers(from), self.to.numbers(to));
        // The flat encoding still requires a conversion, because the input may contain numbers instead of indexes.
        let is_same = || self.to.form == Form::Extended && others == numbers;
        *self.same_enums.entry((from, to)).or_insert_with(is_same)
    }

    /// Returns the block of operations that translates a root message, and whether the writer's bodies can be used
    /// unchanged. Fails with the first incompatible field in the message or in one nested in it.
    fn root(&self, root: (u32, u32)) -> Result<(u32, bool), Refusal> {
        let pair = self.index.get(&root).copied().unwrap_or_default();
        let mut is_seen = vec![false; self.pairs.len()];
        let mut open = vec![pair];
        while let Some(at) = open.pop() {
            let (Some(pair), Some(is_seen)) = (self.pairs.get(at as usize), is_seen.get_mut(at as usize)) else {
                continue;
            };
            // Visit each pair once, because recursive messages would otherwise make this loop endless.
            if std::mem::replace(is_seen, true) {
                continue;
            }
            if let Some(refusal) = pair.refusals.first() {
                return Err(refusal.clone());
            }
            open.extend(pair.edges.iter().filter_map(Edge::pair));
        }
        // If the reader's type is a prefix of the writer's, no translation is needed, because readers ignore trailing
        // bytes.
        let is_prefix = self.pairs.get(pair as usize).is_some_and(|pair| {
            let known = self.to.items(pair.to).len();
            self.from.items(pair.from).len() >= known
                && pair.edges.iter().all(|edge| edge.item == edge.slot)
                && are_same_items(&self.from, &self.to, pair, known)
                && pair.edges.iter().filter_map(Edge::pair).all(|pair| self.is_same(pair))
        });
        Ok((self.from.nodes.len().wrapping_add(pair as usize) as u32, is_prefix))
    }

    fn is_same(&self, pair: u32) -> bool {
        self.pairs.get(pair as usize).is_some_and(|pair| pair.is_same)
    }

    fn is_same_apart_from_nested(&self, pair: &Pair) -> bool {
        let (from, to) = (self.from.items(pair.from), self.to.items(pair.to));
        from.len() == to.len() && are_same_items(&self.from, &self.to, pair, to.len())
    }

    /// Compiles a block of operations for each of the writer's types and for each type pair.
    fn program(self) -> Program {
        let Self { mut from, to, pairs, mut program, .. } = self;
        let mut emitter = Emitter { from: &from, to: &to, pairs: &pairs, program: &mut program, start: 0 };
        for items in &from.nodes {
            items.iter().for_each(|item| emitter.walk(item, false));
            emitter.end_block();
        }
        for pair in &pairs {
            emitter.pair(pair);
            emitter.end_block();
        }
        // Pad the bytes, so that a copy of fixed size that starts at the last default value stays within them.
        program.bytes.extend([0; SHORT]);
        program.numbers = std::mem::take(&mut from.enums);
        let indices = |numbers: &Vec<i32>| {
            let mut sorted: Vec<(i32, u32)> = numbers.iter().copied().zip(0..).collect();
            sorted.sort_unstable();
            sorted.dedup_by_key(|(number, _)| *number);
            Indices { sorted, count: numbers.len() as u32 }
        };
        program.indices = to.enums.iter().map(indices).collect();
        program
    }
}

/// Returns whether the first `count` items of both message types have the same encoding, on the assumption that nested
/// messages do.
fn are_same_items(from: &Side, to: &Side, pair: &Pair, count: usize) -> bool {
    let mut edges = pair.edges.iter().peekable();
    let (items, slots) = (from.items(pair.from), to.items(pair.to));
    items.iter().zip(slots).take(count).enumerate().all(|(at, (item, slot))| {
        let mut members = 0_usize;
        while let Some(edge) = edges.next_if(|edge| edge.item == at) {
            if edge.slot != at || !edge.is_same(item, slot, to.form) {
                return false;
            }
            members = members.saturating_add(1);
        }
        members == item.fields.len()
    })
}

impl Edge {
    pub(super) fn pair(&self) -> Option<u32> {
        match self.change {
            Change::Single(Conversion::Message(pair)) | Change::List(Conversion::Message(pair)) => Some(pair),
            Change::Entries(_, pair) => Some(pair),
            _ => None,
        }
    }

    /// Returns whether a field has the same encoding at writer and reader, on the assumption that a nested message
    /// does.
    pub(super) fn is_same(&self, item: &Item, slot: &Item, output: Form) -> bool {
        let is_message = matches!(self.change, Change::Single(Conversion::Message(_)));
        let is_same_place = match (item.place, slot.place) {
            (Place::Optional, Place::Optional) => is_message || output == Form::Extended,
            (Place::Implicit, Place::Implicit) | (Place::List, Place::List) => true,
            (Place::Map(_), Place::Map(_)) | (Place::Oneof, Place::Oneof) => true,
            _ => false,
        };
        is_same_place
            && self.member == self.into
            && item.oneof.is_some() == slot.oneof.is_some()
            && match self.change {
                Change::Single(change) | Change::List(change) => {
                    matches!(change, Conversion::Copy | Conversion::Message(_))
                }
                Change::Entries(change, _) => change == Entries::MapToMap,
            }
    }
}

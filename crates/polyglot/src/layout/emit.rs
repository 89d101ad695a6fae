//! Code generation for translation programs. Emits the operations for each type of the writer, and for each pair of
//! types.

use super::conversion::Conversion;
use super::description::{Field, Type};
use super::plan::{Change, Container, Edge, Entries, Member, Op, Order, OrderPlace, Pair, Program, Target};
use super::side::{Item, Place, Side};

pub(super) struct Emitter<'a> {
    pub(super) from: &'a Side,
    pub(super) to: &'a Side,
    pub(super) pairs: &'a [Pair],
    pub(super) program: &'a mut Program,
    /// Index of the first operation in the block of operations that is being compiled.
    pub(super) start: usize,
}

/// Destination of a translated item: directly in the output, or in a segment that is moved to its position later.
#[derive(Clone, Copy)]
enum Output<'a> {
    /// Writes the item directly after the previous one. If the item is not set, writes the default value of the
    /// contained slot.
    Direct(&'a Item),
    /// Writes the item as a separate segment, or not at all if it is not set. `is_contested` is set if another item may
    /// be translated to the same slot or oneof.
    Segment { is_contested: bool },
}

/// An item of the writer's message, with its connections to fields of the reader's message.
type Source<'a> = (&'a Item, &'a [Edge]);

/// One step of a translation: reads an item of the writer's message, if any, and writes the reader's field with this
/// slot, if any.
type Step<'a> = (Option<Source<'a>>, Option<usize>);

/// Returns the writer's items and their slots in output order. A slot without an item follows the slot before it, so
/// that it extends a run of slots.
fn steps<'a>(items: &'a [Item], slots: &[Item], routes: &[&'a [Edge]]) -> Vec<Step<'a>> {
    let mut is_sourced = vec![false; slots.len()];
    for edge in routes.iter().filter_map(|edges| edges.first()) {
        if let Some(is_sourced) = is_sourced.get_mut(edge.slot) {
            *is_sourced = true;
        }
    }
    let missing = |after: usize| {
        let slots = is_sourced.iter().enumerate().skip(after);
        slots.take_while(|(_, is_sourced)| !**is_sourced).map(|(slot, _)| (None, Some(slot)))
    };
    let mut steps: Vec<Step<'_>> = missing(0).collect();
    let mut edges = routes.iter().peekable();
    for (at, item) in items.iter().enumerate() {
        match edges.next_if(|edges| edges.first().is_some_and(|edge| edge.item == at)) {
            Some(edges) => {
                let slot = edges.first().map_or(0, |edge| edge.slot);
                steps.push((Some((item, *edges)), Some(slot)));
                steps.extend(missing(slot.wrapping_add(1)));
            }
            None => steps.push((Some((item, &[])), None)),
        }
    }
    steps
}

/// Returns the index of a field's message type, or `None` if the field has another type.
fn message_of(field: &Field) -> Option<u32> {
    match field.of {
        Type::Message(node) => Some(node),
        _ => None,
    }
}

impl Emitter<'_> {
    /// Completes the current block. The next operation starts a new block.
    pub(super) fn end_block(&mut self) {
        let end = self.program.ops.len();
        self.program.blocks.push((self.start as u32, end as u32));
        self.start = end;
    }

    fn push(&mut self, op: Op) {
        self.program.ops.push(op);
    }

    /// Emits operations that copy an item of the writer's message unchanged or, if `skip` is set, skip the item.
    pub(super) fn walk(&mut self, item: &Item, skip: bool) {
        let (container, block) = match (item.place, item.fields.first().and_then(message_of)) {
            (Place::Oneof, _) => {
                let members =
                    item.fields.iter().map(|field| Member { tree: message_of(field), target: None }).collect();
                let table = self.add_oneof(members);
                return self.push(if skip { Op::SkipOneof(table) } else { Op::CopyOneof(table) });
            }
            (_, None) => return self.walk_value(skip),
            (Place::Map(entry), Some(_)) => (Container::Map, entry),
            (Place::List, Some(block)) => (Container::List, block),
            (_, Some(block)) => (Container::Single, block),
        };
        self.push(if skip { Op::SkipTree { container, block } } else { Op::CopyTree { container, block } });
    }

    /// Emits an operation that copies or skips a value. The value must not contain a message, so that its end can be
    /// found without a layout. If possible, extends the last operation of the current block instead.
    fn walk_value(&mut self, skip: bool) {
        let last = self.program.ops.get_mut(self.start..).and_then(<[Op]>::last_mut);
        match (last, skip) {
            (Some(Op::Copy(count)), false) | (Some(Op::Skip(count)), true) => *count = count.wrapping_add(1),
            (_, false) => self.push(Op::Copy(1)),
            (_, true) => self.push(Op::Skip(1)),
        }
    }

    /// Emits operations that translate a message from the writer's type to the reader's type of this pair.
    pub(super) fn pair(&mut self, pair: &Pair) {
        let (from, to) = (self.from, self.to);
        let (items, slots) = (from.items(pair.from), to.items(pair.to));
        let routes: Vec<&[Edge]> = pair.edges.chunk_by(|one, other| one.item == other.item).collect();
        // Number of items that write to each slot, and to each oneof if the reader uses the flat encoding.
        let mut sources = vec![0_u32; slots.len()];
        let mut groups = vec![0_u32; slots.len().wrapping_add(1)];
        let group = |slot: &Item| {
            if slot.place == Place::Oneof { 0 } else { slot.oneof.map_or(0, |oneof| oneof.wrapping_add(1)) }
        };
        let mut is_simple = true;
        // A pair is simple if each item has one destination, and each slot or oneof has at most one source. Its output
        // then needs no selection between segments.
        for edges in &routes {
            let mut targets: Vec<usize> = edges.iter().map(|edge| edge.slot).collect();
            targets.sort_unstable();
            targets.dedup();
            is_simple &= targets.len() == 1;
            for target in targets {
                let of = slots.get(target).map_or(0, group);
                for count in [sources.get_mut(target), groups.get_mut(usize::from(of))].into_iter().flatten() {
                    *count = count.wrapping_add(1);
                }
                let count = |counts: &[u32], at: usize| counts.get(at).copied().unwrap_or_default();
                is_simple &= count(&sources, target) == 1 && (of == 0 || count(&groups, of.into()) == 1);
            }
        }
        if is_simple {
            return self.simple(items, slots, &routes);
        }
        // If several items may write to one slot, write each to its own segment. `Assemble` selects one of them.
        let mut edges = routes.into_iter().peekable();
        for (at, item) in items.iter().enumerate() {
            let Some(edges) = edges.next_if(|edges| edges.first().is_some_and(|edge| edge.item == at)) else {
                self.walk(item, true);
                continue;
            };
            let Some((edge, slot)) = edges.first().and_then(|edge| Some((edge, slots.get(edge.slot)?))) else {
                continue;
            };
            let of = group(slot);
            let is_contested = sources.get(edge.slot).is_some_and(|count| *count > 1)
                || (of > 0 && groups.get(usize::from(of)).is_some_and(|count| *count > 1));
            let place = edge.slot as u16; // Descriptions have at most `PARTS_MAX` fields.
            self.push(Op::Segment { place, rank: edge.number });
            self.value(item, slot, edges, Output::Segment { is_contested });
        }
        let mut places = Vec::with_capacity(slots.len());
        for slot in slots {
            let (length, at) = self.default(slot);
            places.push(OrderPlace { length, at, group: group(slot), source: 0 });
        }
        let groups = slots.iter().map(group).max().unwrap_or_default();
        self.assemble(Order { places, groups: Some(groups) });
    }

    /// Emits operations for a message with fields that correspond one to one: each item is translated to at most one
    /// slot, and each slot receives at most one item.
    fn simple(&mut self, items: &[Item], slots: &[Item], routes: &[&[Edge]]) {
        let steps = steps(items, slots, routes);
        let output: Vec<usize> = steps.iter().filter_map(|(_, slot)| *slot).collect();
        // First slot of each run of consecutive slots. If there is a single run, it is already in the reader's order.
        let pieces: Vec<usize> = output
            .chunk_by(|one, other| one.wrapping_add(1) == *other)
            .filter_map(|piece| piece.first().copied())
            .collect();
        let is_ordered = pieces.len() <= 1;
        // Range of the default values of consecutive slots, which a single operation writes.
        let mut fill: Option<(usize, usize)> = None;
        let mut begun = 0_usize;
        for (item, slot) in steps {
            if slot.is_some() && !is_ordered && pieces.get(begun) == slot.as_ref() {
                self.end_fill(&mut fill);
                self.push(Op::Segment { place: 0, rank: 0 });
                begun = begun.wrapping_add(1); // Bounded by the number of runs.
            }
            let to = slot.and_then(|slot| slots.get(slot));
            match (item, to) {
                (None, Some(slot)) => {
                    let at = self.program.bytes.len();
                    self.to.put_default(slot, &mut self.program.bytes);
                    fill.get_or_insert((at, 0)).1 = self.program.bytes.len();
                }
                (Some((item, edges)), Some(slot)) => {
                    self.end_fill(&mut fill);
                    self.value(item, slot, edges, Output::Direct(slot));
                }
                (Some((item, _)), None) => {
                    self.end_fill(&mut fill);
                    self.walk(item, true);
                }
                (None, None) => {}
            }
        }
        self.end_fill(&mut fill);
        if !is_ordered {
            let mut sources: Vec<(usize, u16)> = pieces.into_iter().zip(0..).collect();
            sources.sort_unstable();
            let place = |(_, source)| OrderPlace { length: 0, at: 0, group: 0, source };
            self.assemble(Order { places: sources.into_iter().map(place).collect(), groups: None });
        }
    }

    fn end_fill(&mut self, fill: &mut Option<(usize, usize)>) {
        let Some((mut at, end)) = fill.take() else { return };
        while at < end {
            let length = end.wrapping_sub(at).min(usize::from(u16::MAX));
            self.push(Op::Fill { length: length as u16, at: at as u32 });
            at = at.wrapping_add(length);
        }
    }

    fn assemble(&mut self, order: Order) {
        self.program.orders.push(order);
        let last = self.program.orders.len().wrapping_sub(1);
        self.push(Op::Assemble(last as u32));
    }

    fn add_oneof(&mut self, members: Vec<Member>) -> u32 {
        self.program.oneofs.push(members);
        self.program.oneofs.len().wrapping_sub(1) as u32
    }

    /// Emits operations that translate the value of a writer's item to the reader's slot.
    fn value(&mut self, item: &Item, slot: &Item, edges: &[Edge], output: Output<'_>) {
        let is_same =
            |edge: &Edge| edge.is_same(item, slot, self.to.form) && edge.pair().is_none_or(|pair| self.is_same(pair));
        let is_contested = matches!(output, Output::Segment { is_contested: true, .. });
        let is_direct = matches!(output, Output::Direct(_));
        // Copy the value if it has the same encoding at both peers and no other item competes for the slot.
        if !is_contested
            && (is_direct || item.place != Place::Oneof)
            && edges.len() == item.fields.len()
            && edges.iter().all(is_same)
        {
            return self.walk(item, false);
        }
        if item.place == Place::Oneof {
            return self.oneof(item, edges, output);
        }
        let Some(edge) = edges.first() else { return };
        match edge.change {
            Change::Entries(change, pair) => {
                let kinds = match slot.place {
                    Place::Map(entry) => self.to.entry_kinds(entry),
                    _ => [0, 0],
                };
                let [key, value] = kinds;
                self.push(Op::Entries { change, kinds: key << 4 | value, block: self.block_of(pair) });
                let at = self.program.bytes.len();
                if let (Entries::ListToMap, Place::Map(entry)) = (change, slot.place) {
                    self.to.items(entry).iter().for_each(|item| self.to.put_default(item, &mut self.program.bytes));
                }
                let length = self.program.bytes.len().wrapping_sub(at) as u16; // At most two values of nine bytes.
                self.push(Op::Fill { length, at: at as u32 });
            }
            Change::List(conversion) => {
                let kind = slot.fields.first().map_or(crate::Kind::Nil, |field| field.of.kind());
                self.push(Op::List { conversion: self.compiled(conversion), kind });
            }
            Change::Single(conversion) => {
                let (conversion, member) = (self.compiled(conversion), edge.into);
                let is_message = matches!(conversion, Conversion::Message(_));
                let has_presence = slot.place == Place::Optional && self.to.form == crate::Form::Extended;
                let op = match item.place {
                    Place::Implicit if is_contested || has_presence || member > 0 => {
                        Op::NonDefault { conversion, member }
                    }
                    Place::Optional if is_contested || !is_message || member > 0 => Op::Present { conversion, member },
                    _ => return self.push(Op::Value { conversion, member }),
                };
                self.push(op);
                self.push_else(output);
            }
        }
    }

    fn oneof(&mut self, item: &Item, edges: &[Edge], output: Output<'_>) {
        let mut members = Vec::with_capacity(item.fields.len());
        for (field, member) in item.fields.iter().zip(1..) {
            let target = edges.iter().find(|edge| edge.member == member).and_then(|edge| {
                let Change::Single(conversion) = edge.change else { return None };
                let segment = matches!(output, Output::Segment { .. }).then_some((edge.slot as u16, edge.number));
                Some(Target { conversion: self.compiled(conversion), member: edge.into, segment })
            });
            members.push(Member { tree: message_of(field), target });
        }
        let table = self.add_oneof(members);
        self.push(Op::Oneof(table));
        self.push_else(output);
    }

    fn push_else(&mut self, output: Output<'_>) {
        let (length, at) = match output {
            Output::Direct(slot) => self.default(slot),
            Output::Segment { .. } => (0, 0),
        };
        self.push(Op::Fill { length, at });
    }

    /// Appends the default value of a slot to the bytes of the program. Returns the length and the offset of the
    /// appended bytes.
    fn default(&mut self, slot: &Item) -> (u16, u32) {
        let at = self.program.bytes.len();
        self.to.put_default(slot, &mut self.program.bytes);
        (self.program.bytes.len().wrapping_sub(at) as u16, at as u32) // The value takes at most nine bytes.
    }

    fn is_same(&self, pair: u32) -> bool {
        self.pairs.get(pair as usize).is_some_and(|pair| pair.is_same)
    }

    fn block_of(&self, pair: u32) -> u32 {
        self.from.nodes.len().wrapping_add(pair as usize) as u32 // Both numbers are below 2^16.
    }

    /// Replaces the type pair in a message conversion by a block of operations: the block that translates the pair or,
    /// if both types have the same encoding, the one that copies the writer's type. Returns other conversions
    /// unchanged.
    fn compiled(&self, conversion: Conversion) -> Conversion {
        let Conversion::Message(pair) = conversion else { return conversion };
        let same = self.pairs.get(pair as usize).filter(|pair| pair.is_same);
        Conversion::Message(same.map_or_else(|| self.block_of(pair), |pair| pair.from))
    }
}

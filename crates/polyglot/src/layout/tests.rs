//! Tests of descriptions and translation plans for hostile and for edited schemas.

use super::*;
use crate::{DecodeReason, Form, Nesting};
#[cfg(unix)]
use std::time::Duration;

const LIMITS: Limits = Limits { body: 10_000, nesting: Nesting::new(100) };

fn field(number: u32, shape: Shape, of: Type) -> Field {
    Field { number, shape, of }
}

fn implicit(number: u32, of: Type) -> Field {
    field(number, Shape::Implicit, of)
}

fn described(types: Vec<TypeLayout>) -> Description {
    let description = Description { name: "m".to_owned(), types, methods: Vec::new() };
    assert_eq!(Description::parse(&description.encode()).as_ref(), Ok(&description));
    description
}

fn message(fields: &[Field]) -> Description {
    described(vec![TypeLayout::Message(fields.to_vec())])
}

fn plan(from: &Description, to: &Description) -> Plan {
    Plan::new(from, to, &[(0, 0)], Form::Extended).unwrap()
}

fn translate(plan: &Plan, body: &[u8], limits: Limits) -> Result<Vec<u8>, DecodeReason> {
    let root = plan.root(0, 0).unwrap().expect("layouts of writer and reader should require a translation");
    let mut out = Vec::new();
    match plan.translate(root, body, &mut out, limits) {
        Ok(_) => Ok(out),
        Err(error) => {
            assert!(out.is_empty());
            Err(error.reason().clone())
        }
    }
}

#[test]
fn noncanonical_descriptions_are_refused() {
    for (bytes, reason) in [
        (&b""[..], "unknown format"),
        (b"\x02", "unknown format"),
        (b"\x01\x01\x00\x00\x00\x02a", "truncated"),
        (b"\x01\x01\x00\x00\x00\x01ab", "trailing bytes"),
        (b"\x01\x01\x02", "neither a message nor an enum"),
        (b"\x01\x01\x00\x01\x00\x05\x00\x01m", "the number of a field is zero or used twice"),
        (b"\x01\x01\x00\x02\x01\x05\x01\x05\x00\x01m", "the number of a field is zero or used twice"),
        (b"\x01\x01\x00\x01\x81\x00\x05\x00\x01m", "a number is not in its shortest form"),
        (b"\x01\x01\x00\x01\x01\x0a\x00\x01m", "unknown type"),
        (b"\x01\x01\x00\x01\x01\x0b\x00\x00\x01m", "unknown shape"),
        (b"\x01\x01\x00\x01\x01\xa5\x00\x01m", "unknown shape"),
        (b"\x01\x01\x00\x02\x01\x45\x02\x05\x00\x01m", "fields are not in wire order"),
        (b"\x01\x01\x00\x01\x01\x65\x0c\x00\x01m", "not the type of a key"),
        (b"\x01\x01\x00\x01\x01\x85\x01\x01\x00\x01m", "oneofs are not in wire order"),
        (b"\x01\x01\x00\x01\x01\x85\x00\x02\x00\x01m", "members of a oneof are not counted from 1"),
        (b"\x01\x01\x00\x01\x01\x2b\x02\x00\x01m", "types are not in the order of their first use"),
        (b"\x01\x01\x00\x01\x01\x2b\x01\x00\x01m", "a type is missing, or used as another kind"),
        (b"\x01\x01\x00\x01\x01\x0e\x00\x00\x01m", "a type is missing, or used as another kind"),
        (b"\x01\x02\x00\x00\x00\x01\x01\x2b\x01\x00\x01m", "a type is not used"),
        (b"\x01\x01\x01\x01\x00\x00\x01m", "a type is missing, or used as another kind"),
        (b"\x01\x01\x00\x00\x01\x01a\x04\x00\x00\x01s", "unknown kind of method"),
        (b"\x01\x01\x00\x00\x02\x01a\x00\x00\x00\x01a\x00\x00\x00\x01s", "two methods of one name"),
        (b"\x01\x01\x00\x00\x00\x01\xff", "a name is not UTF-8"),
    ] {
        let error = Description::parse(bytes).expect_err(reason).to_string();
        assert!(error.ends_with(reason), "{bytes:02x?}: {error}");
    }
}

#[test]
fn description_limits_hold_before_allocation() {
    let of_enum = |values: usize| {
        let fields = vec![implicit(1, Type::Enum(1))];
        let types = vec![TypeLayout::Message(fields), TypeLayout::Enum(vec![0; values])];
        Description { types, ..Description::default() }.encode()
    };
    assert!(Description::parse(&of_enum(PARTS_MAX - 1)).is_ok());
    let error = Description::parse(&of_enum(PARTS_MAX)).unwrap_err();
    assert!(error.to_string().contains("more than 20000 fields and values"), "{error}");
    for bytes in [&b"\x01\xff\xff\x7f"[..], b"\x01\x01\x00\xff\xff\xff\xff\x0f", b"\x01\x00\xff\xff\x7f"] {
        Description::parse(bytes).unwrap_err();
    }
    let long = Description { name: "n".repeat(DESCRIPTION_MAX), ..Description::default() };
    Description::parse(&long.encode()).unwrap_err();
}

#[test]
fn equal_or_appended_layouts_need_no_plan() {
    let one = message(&[implicit(1, Type::Int32)]);
    let two = message(&[implicit(1, Type::Int32), implicit(2, Type::String)]);
    assert_eq!(plan(&two, &two).root(0, 0), Ok(None));
    assert_eq!(plan(&two, &one).root(0, 0), Ok(None), "reader should ignore additional fields at the end");
    assert_eq!(translate(&plan(&one, &two), b"\x08\x00\x0c\x02", LIMITS).unwrap(), b"\x08\x00\x0c\x02\x05\x0a\x00");
    assert_eq!(translate(&plan(&one, &two), b"\x00", LIMITS).unwrap(), b"\x00", "nil should be translated to nil");
    assert_eq!(
        translate(&plan(&one, &two), b"\x06\x05\x0a\x01e", LIMITS).unwrap(),
        b"\x06\x05\x0a\x01e",
        "error should be translated unchanged"
    );
}

#[test]
fn types_of_one_kind_keep_their_values() {
    let pairs = [
        (Type::Int32, Type::Sint32),
        (Type::Sfixed32, Type::Int32),
        (Type::Uint32, Type::Fixed32),
        (Type::Int64, Type::Sint64),
        (Type::Fixed64, Type::Uint64),
    ];
    for (from, to) in pairs {
        let plan = plan(&message(&[implicit(1, from)]), &message(&[implicit(1, to)]));
        assert_eq!(plan.root(0, 0), Ok(None), "{from:?} {to:?}");
    }
}

#[test]
fn unknown_enum_index_is_kept_only_as_negative_number() {
    let of_enum = |numbers: &[i32]| {
        let fields = vec![implicit(1, Type::Enum(1))];
        described(vec![TypeLayout::Message(fields), TypeLayout::Enum(numbers.to_vec())])
    };
    let writer = of_enum(&[0, 1]);
    let largest = (1_u32 << 31) - 1;
    for reader in [of_enum(&[0, 5, 1]), message(&[implicit(1, Type::Int32)])] {
        let plan = plan(&writer, &reader);
        let translated = |index: u32| {
            let mut body = b"\x08\x00".to_vec();
            crate::varint::write(&mut body, 0x0a, index.into());
            translate(&plan, &body, LIMITS)
        };
        // The number -1 is the last one that represents an index.
        assert_eq!(translated(largest).unwrap(), b"\x08\x00\x0c\x01");
        let refused = |index| DecodeReason::EnumIndex { enumeration: "of the writer", index };
        assert_eq!(translated(largest + 1), Err(refused(largest + 1)));
        assert_eq!(translated(largest + 6), Err(refused(largest + 6)), "index should not become the number 5");
    }
}

#[test]
fn output_never_exceeds_limit_of_bodies() {
    let defaults: Vec<Field> = (1..=50).map(|number| implicit(number, Type::Double)).collect();
    let plan = plan(&message(&[]), &message(&defaults));
    let exact = Limits { body: 2 + 50 * 9, ..LIMITS };
    assert_eq!(translate(&plan, b"\x08\x00", exact).unwrap().len(), exact.body);
    let less = Limits { body: exact.body - 1, ..LIMITS };
    let too_long = DecodeReason::TranslationTooLong { max: less.body };
    assert_eq!(translate(&plan, b"\x08\x00", less), Err(too_long));
}

#[test]
fn nested_reordering_moves_bounded_bytes() {
    let inner = |singles: [Field; 2]| {
        let [first, second] = singles;
        message(&[first, second, field(3, Shape::Optional, Type::Message(0))])
    };
    let (one, two) = (implicit(1, Type::Bytes), implicit(2, Type::Bool));
    let plan = plan(&inner([one, two]), &inner([two, one]));
    let body = |levels: usize| {
        let level = [&b"\x08\x00\x04\x0a\x64"[..], &[7; 100], b"\x07\x01"].concat();
        [level.repeat(levels), vec![0]].concat()
    };
    let limits = |levels| Limits { body: body(levels).len(), ..LIMITS };
    let moved = translate(&plan, &body(1), limits(1)).unwrap();
    assert_eq!(moved, [&b"\x08\x00\x07\x01\x04\x0a\x64"[..], &[7; 100], b"\x00"].concat());
    assert_eq!(translate(&plan, &body(15), limits(15)).unwrap().len(), limits(15).body);
    let max = limits(20).body * 8;
    assert_eq!(translate(&plan, &body(20), limits(20)), Err(DecodeReason::TooManyMoves { max }));
}

#[test]
fn copied_and_skipped_message_nesting_is_limited() {
    let own = field(1, Shape::Optional, Type::Message(0));
    let one = message(&[own]);
    let two = described(vec![
        TypeLayout::Message(vec![implicit(2, Type::Bool), field(1, Shape::Optional, Type::Message(1))]),
        TypeLayout::Message(vec![field(1, Shape::Optional, Type::Message(1))]),
    ]);
    let skipping = message(&[implicit(2, Type::Bool)]);
    for to in [&two, &skipping] {
        let plan = plan(&one, to);
        let body = |levels| [b"\x08\x00".repeat(levels), vec![0]].concat();
        assert!(translate(&plan, &body(100), LIMITS).is_ok());
        assert_eq!(translate(&plan, &body(101), LIMITS), Err(DecodeReason::NestingTooDeep { max: 100 }));
        // Lists within lists must be rejected, because they would recurse without counting towards the nesting limit.
        let nested = [&b"\x08\x00"[..], &b"\x01\x01\x0a\x01".repeat(100_000)].concat();
        translate(&plan, &nested, LIMITS).unwrap_err();
    }
}

#[test]
fn body_cut_anywhere_is_refused() {
    let from = message(&[
        implicit(1, Type::Int32),
        implicit(2, Type::String),
        field(3, Shape::Repeated, Type::Uint32),
        field(4, Shape::Map(Type::Int32), Type::Bool),
        field(5, Shape::Optional, Type::Message(0)),
    ]);
    let to = message(&[
        implicit(1, Type::Int64),
        implicit(2, Type::Bytes),
        field(3, Shape::Repeated, Type::Bool),
        field(4, Shape::Map(Type::Int64), Type::Int32),
        field(5, Shape::Optional, Type::Message(0)),
    ]);
    let body =
        b"\x08\x00\x0c\x03\x05\x0a\x02hi\x01\x0a\x0a\x02\x0a\x05\x0a\x00\x02\x0c\x07\x0a\x01\x0c\x02\x07\x01\x00";
    let expected =
        b"\x08\x00\x0d\x03\x04\x0a\x02hi\x01\x07\x0a\x02\x07\x01\x07\x00\x02\x0d\x0c\x0a\x01\x0d\x02\x0c\x02\x00";
    let plan = plan(&from, &to);
    assert_eq!(translate(&plan, body, LIMITS).unwrap(), expected);
    for cut in 1..body.len() {
        translate(&plan, &body[..cut], LIMITS).expect_err("truncated body should be refused");
    }
}

#[test]
fn refusal_names_field_at_both_ends() {
    let own = message(&[implicit(3, Type::Bool), implicit(7, Type::String)]);
    let peer = message(&[implicit(7, Type::Int32)]);
    let names = "shop.Order open note\n";
    let peer_layout = peer.fingerprint();
    let expected = format!("field 7 (`note`) of shop.Order is string here, int32 at the peer (layout {peer_layout})");
    let refusal = plan(&own, &peer).root(0, 0).unwrap_err().describe(&own, names, true, peer_layout);
    assert_eq!(refusal, expected);
    let refusal = plan(&peer, &own).root(0, 0).unwrap_err().describe(&own, names, false, peer_layout);
    assert_eq!(refusal, expected);
    let lists = message(&[field(7, Shape::Repeated, Type::String)]);
    let error = plan(&lists, &own).root(0, 0).unwrap_err().to_string();
    assert_eq!(error, "field 7 is repeated string and cannot become string");
}

#[test]
fn plan_with_excess_pairs_or_fields_fails() {
    // Each message of one schema is paired with each message of the other.
    let product = |step: u32| {
        let count = 100;
        let messages = (0..count).map(|of| {
            let next = (of + step) % count;
            let fields = [field(1, Shape::Optional, Type::Message((of + 1) % count))];
            let other = field(2, Shape::Optional, Type::Message(next));
            TypeLayout::Message([&fields[..], &[other]].concat())
        });
        Description { name: "m".to_owned(), types: messages.collect(), methods: Vec::new() }
    };
    let error = Plan::new(&product(1), &product(2), &[(0, 0)], Form::Extended).unwrap_err();
    assert_eq!(error, PlanError::Pairs);

    // Many small messages are translated into one large message.
    let large: Vec<Field> = (1..=10_000).map(|number| implicit(number, Type::Bool)).collect();
    let small = (0..20).map(|_| TypeLayout::Message(vec![implicit(1, Type::Int32)]));
    let many = (1..=20).map(|number| field(number, Shape::Optional, Type::Message(number))).collect();
    let from = described([TypeLayout::Message(many)].into_iter().chain(small).collect());
    let one = (1..=20).map(|number| field(number, Shape::Optional, Type::Message(1))).collect();
    let to = described(vec![TypeLayout::Message(one), TypeLayout::Message(large)]);
    assert_eq!(Plan::new(&from, &to, &[(0, 0)], Form::Extended).unwrap_err(), PlanError::Parts);
}

#[test]
fn flat_oneof_is_translated_to_other_layout() {
    let member = |number, member, of| field(number, Shape::Member { oneof: 0, member }, of);
    let from = message(&[member(1, 1, Type::Int32), member(2, 2, Type::String)]);
    let to = message(&[member(2, 1, Type::String), member(1, 2, Type::Int64)]);
    let plan = plan(&from, &to);
    for (body, expected) in [
        (&b"\x08\x00\x03\x01\x0c\x02"[..], &b"\x08\x00\x03\x02\x0d\x02"[..]),
        (b"\x08\x00\x03\x02\x05\x0a\x00", b"\x08\x00\x03\x01\x05\x0a\x00"),
        (b"\x08\x00\x03\x00", b"\x08\x00\x03\x00"),
        (b"\x08\x00\x0c\x02\x05\x0a\x00", b"\x08\x00\x03\x02\x0d\x02"),
        (b"\x08\x00\x0c\x00\x05\x0a\x01a", b"\x08\x00\x03\x01\x05\x0a\x01a"),
        (b"\x08\x00\x0c\x00\x05\x0a\x00", b"\x08\x00\x03\x00"),
    ] {
        assert_eq!(translate(&plan, body, LIMITS).as_deref(), Ok(expected), "{body:02x?}");
    }
    assert_eq!(translate(&plan, b"\x08\x00\x03\x03\x0c\x02", LIMITS), Err(DecodeReason::UnknownMember { member: 3 }));
}

#[test]
fn skipped_fields_count_unless_they_are_defaults() {
    let from = message(&[
        implicit(1, Type::Int32),
        implicit(2, Type::String),
        field(3, Shape::Optional, Type::Bool),
        implicit(4, Type::Float),
        field(5, Shape::Repeated, Type::Bool),
    ]);
    let plan = plan(&from, &message(&[implicit(6, Type::Bool)]));
    let root = plan.root(0, 0).unwrap().unwrap();
    let skipped = |body: &[u8]| plan.translate(root, body, &mut Vec::new(), LIMITS).unwrap().skipped;
    assert_eq!(skipped(b"\x08\x00\x0c\x00\x05\x0a\x00\x00\x0e\x00\x00\x00\x00\x01\x07\x0a\x00"), 0);
    assert_eq!(skipped(b"\x08\x00\x0c\x02\x05\x0a\x01a\x07\x01\x0e\x80\x00\x00\x00\x01\x07\x0a\x01\x07\x01"), 5);
}

/// Returns the processor time that the current thread has used. Unlike elapsed time, it does not depend on other
/// threads and processes.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().expect("CPU time should be non-negative")
}

/// Asserts that planning takes about as much time for `hostile` as for `harmless`, a description of about the same
/// length. Plans translate to `own` if `reads` is true, and from `own` otherwise.
#[cfg(unix)]
fn assert_similar_time([hostile, harmless]: &[Description; 2], own: &Description, reads: bool) {
    let time = |peer: &Description| {
        let start = cpu_time();
        if reads {
            plan(peer, own)
        } else {
            plan(own, peer)
        };
        cpu_time() - start
    };
    // Take turns, because the speed of the processor may change.
    let times: Vec<_> = (0..20).map(|_| (time(hostile), time(harmless))).collect();
    let least = |of: fn(&(Duration, Duration)) -> Duration| times.iter().map(of).min().expect("rounds should run");
    let (hostile, harmless) = (least(|times| times.0), least(|times| times.1));
    assert!(hostile < harmless * 10, "{hostile:?}, {harmless:?} for the harmless description");
}

/// Regression test: each member of a oneof was compared with all earlier fields, so a description of 64 kB took 44 ms.
#[cfg(unix)]
#[test]
fn oneofs_do_not_slow_plans() {
    const ONEOFS: u16 = 4000;
    // Each field of the first half begins a oneof. All fields of the second half belong to the last oneof.
    let member = |number: u16| match number.checked_sub(ONEOFS) {
        None => Shape::Member { oneof: number, member: 1 },
        Some(index) => Shape::Member { oneof: ONEOFS - 1, member: index + 2 },
    };
    let peers = [member, |_| Shape::Optional].map(|shape: fn(u16) -> Shape| {
        let fields = (0..2 * ONEOFS).map(|number| field(u32::from(number) + 1, shape(number), Type::Bool));
        message(&fields.collect::<Vec<_>>())
    });
    assert_similar_time(&peers, &message(&[implicit(1, Type::Bool)]), true);
}

/// Regression test: the default of each enum field was searched for in all numbers of the enum.
#[cfg(unix)]
#[test]
fn enum_fields_do_not_slow_plans() {
    let peers = [1, 0].map(|first| {
        let fields = (2..4000).map(|number| implicit(number, Type::Enum(1)));
        let mut numbers = vec![1; 16_000];
        numbers[0] = first;
        described(vec![TypeLayout::Message(fields.collect()), TypeLayout::Enum(numbers)])
    });
    assert_similar_time(&peers, &message(&[implicit(1, Type::Bool)]), false);
}

/// Regression test: all fields of a message were compared with the key and value of a map for each list of the message.
#[cfg(unix)]
#[test]
fn lists_of_entries_do_not_slow_plans() {
    const LISTS: u32 = 1000;
    let map = field(1, Shape::Map(Type::String), Type::Bool);
    let own = message(&[map, field(2, Shape::Optional, Type::Message(0))]);
    // The lists have elements with many fields, or with none.
    let peers = [1, 2].map(|element| {
        let outer = |at: u32| {
            let next = if at == LISTS { 0 } else { at + 3 };
            let list = field(1, Shape::Repeated, Type::Message(if at == 0 { 1 } else { element }));
            let once = field(3, Shape::Optional, Type::Message(2));
            let next = field(2, Shape::Optional, Type::Message(next));
            TypeLayout::Message(if at == 0 { vec![list, once, next] } else { vec![list, next] })
        };
        let long = (0..LISTS * 16).map(|number| implicit(number + 3, Type::Bool));
        let mut types: Vec<_> = (0..=LISTS).map(outer).collect();
        types.splice(1..1, [TypeLayout::Message(long.collect()), TypeLayout::Message(Vec::new())]);
        described(types)
    });
    assert_similar_time(&peers, &own, true);
}

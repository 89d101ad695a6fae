//! Property tests for all messages and for arbitrary bytes.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use polyglot::{Decoder, Encoder, Form, List, Map, Message, MessageView, Root, decode_root, view_root};
use proptest::collection::{btree_map, hash_map, vec};
use proptest::prelude::*;

use crate::tests::schema::{Choice, Deep, Everything, Inner, InnerView, OneOf, Order, encode};

fn inner() -> impl Strategy<Value = Inner> {
    any::<i32>().prop_map(|n| Inner { n })
}

/// Generates a declared number of the enum, or one that encodes an unknown index.
fn sparse() -> impl Strategy<Value = i32> {
    prop_oneof![Just(0), Just(1000), Just(-5), Just(10), (4_u32..1 << 20).prop_map(|index| i32::MIN + index as i32)]
}

fn one_of() -> impl Strategy<Value = OneOf> {
    let choice = prop_oneof![
        Just(None),
        any::<i32>().prop_map(|value| Some(Choice::Number(value))),
        any::<String>().prop_map(|value| Some(Choice::Word(value))),
        inner().prop_map(|value| Some(Choice::Inner(value))),
        sparse().prop_map(|value| Some(Choice::Sparse(value))),
    ];
    (choice, any::<bool>()).prop_map(|(choice, after)| OneOf { choice, after })
}

fn blob() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..200)
}

/// Generates numbers with varints of all lengths. Uniformly distributed numbers would almost all have the longest
/// varint.
fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift)
}

fn signed() -> impl Strategy<Value = i64> {
    (any::<i64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift)
}

prop_compose! {
    fn scalars()(
        bool in any::<bool>(), i32 in signed(), i64 in signed(), u32 in number(), u64 in number(), f32 in any::<f32>(),
        f64 in any::<f64>(), string in any::<String>(), vec in blob(), bytes in blob(), sparse in sparse(),
    ) -> Everything {
        Everything {
            bool, i32: i32 as i32, i64, u32: u32 as u32, u64, f32, f64, string, vec, bytes: Bytes::from(bytes), sparse,
            ..Everything::default()
        }
    }
}

prop_compose! {
    fn everything()(
        scalars in scalars(),
        maybe in (proptest::option::of(number()), proptest::option::of(any::<String>()), proptest::option::of(sparse())),
        lists in (vec(any::<bool>(), 0..9), vec(signed(), 0..9), vec(number(), 0..9), vec(any::<f64>(), 0..9)),
        heavy_lists in (vec(any::<String>(), 0..5), vec(blob(), 0..5), vec(sparse(), 0..5), vec(one_of(), 0..5)),
        levels in 1..9_u32,
        one_of in proptest::option::of(one_of()),
        by_text in hash_map(any::<String>(), any::<f32>(), 0..5),
        by_number in btree_map(any::<i32>(), inner(), 0..5),
        by_flag in hash_map(any::<bool>(), blob(), 0..3),
        sparse_by_number in btree_map(number(), sparse(), 0..5),
    ) -> Everything {
        let (maybe_number, maybe_text, maybe_sparse) = maybe;
        let (bools, i64s, u64s, f64s) = lists;
        let (strings, blobs, sparses, messages) = heavy_lists;
        Everything {
            maybe_number, maybe_text, maybe_sparse, bools, i64s, u64s, f64s, strings,
            blobs: blobs.into_iter().map(Bytes::from).collect(), sparses, messages, deep: Deep::levels(levels), one_of,
            by_text, by_number, by_flag, sparse_by_number, ..scalars
        }
    }
}

prop_compose! {
    fn order()(
        s in any::<String>(), i in any::<i32>(), e in sparse(), b in blob(), r in vec(any::<i32>(), 0..5),
        rs in vec(any::<String>(), 0..5), m in proptest::option::of(inner()),
        mm in hash_map(any::<String>(), any::<i32>(), 0..5),
    ) -> Order {
        Order { s, i, e, b, r, rs, m, mm }
    }
}

/// Returns a message as it is after a round trip in the flat format: absent options are defaults, and members that are
/// defaults are absent.
fn flattened(message: &Everything) -> Everything {
    fn flat(one_of: &OneOf) -> OneOf {
        let default = match &one_of.choice {
            None | Some(Choice::Inner(_)) => false,
            Some(Choice::Number(value) | Choice::Sparse(value)) => *value == 0,
            Some(Choice::Word(value)) => value.is_empty(),
        };
        OneOf { choice: one_of.choice.clone().filter(|_| !default), after: one_of.after }
    }
    Everything {
        maybe_number: Some(message.maybe_number.unwrap_or_default()),
        maybe_text: Some(message.maybe_text.clone().unwrap_or_default()),
        maybe_sparse: Some(message.maybe_sparse.unwrap_or_default()),
        messages: message.messages.iter().map(flat).collect(),
        one_of: message.one_of.as_ref().map(flat),
        ..message.clone()
    }
}

/// Returns whether two messages are equal, where NaN equals NaN. Compares their encodings, except for maps with a
/// hasher, which are compared by value.
fn same(left: &Everything, right: &Everything) -> bool {
    fn floats(map: &HashMap<String, f32>) -> BTreeMap<&str, u32> {
        map.iter().map(|(key, value)| (&**key, value.to_bits())).collect()
    }
    fn rest(message: &Everything) -> Vec<u8> {
        let rest = Everything { by_text: HashMap::new(), by_flag: HashMap::new(), ..message.clone() };
        encode(&rest, Form::Extended)
    }
    rest(left) == rest(right) && floats(&left.by_text) == floats(&right.by_text) && left.by_flag == right.by_flag
}

#[derive(Debug, Default)]
struct OrderView<'a> {
    s: &'a str,
    i: i32,
    e: u32,
    b: &'a [u8],
    r: List<'a, i32>,
    rs: List<'a, &'a str>,
    m: Option<InnerView>,
    mm: Map<'a, &'a str, i32>,
}

impl<'a> MessageView<'a> for OrderView<'a> {
    const NAME: &'static str = "vec.Order";

    fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, polyglot::DecodeError> {
        Ok(Self {
            s: from.view("s")?,
            i: from.view("i")?,
            e: from.view("e")?,
            b: from.view("b")?,
            r: from.view("r")?,
            rs: from.view("rs")?,
            m: from.view("m")?,
            mm: from.view("mm")?,
        })
    }
}

proptest! {
    #[test]
    fn extended_form_preserves_every_message(message in everything()) {
        let bytes = encode(&message, Form::Extended);
        let mut decoder = Decoder::new(&bytes);
        let Root::Message(read) = decode_root::<Everything>(&mut decoder)? else {
            panic!("body should contain a message")
        };
        prop_assert_eq!(decoder.remaining(), 0);
        prop_assert!(same(&read, &message));
    }

    #[test]
    fn flat_form_preserves_all_but_presence(message in everything()) {
        let bytes = Bytes::from(encode(&message, Form::Flat));
        let Root::Message(read) = decode_root::<Everything>(&mut Decoder::shared(&bytes))? else {
            panic!("body should contain a message")
        };
        prop_assert!(same(&read, &flattened(&message)));
    }

    #[test]
    fn decoding_over_message_equals_fresh_decoding(message in everything(), mut over in everything()) {
        let bytes = encode(&message, Form::Extended);
        let mut decoder = Decoder::new(&bytes);
        let left = decoder.container_memory();
        prop_assert_eq!(over.decode_root_over(&mut decoder)?, Root::Message(()));
        prop_assert_eq!(decoder.remaining(), 0);
        prop_assert!(same(&over, &message));
        let mut alone = Decoder::new(&bytes);
        decode_root::<Everything>(&mut alone)?;
        prop_assert_eq!(left - decoder.container_memory(), left - alone.container_memory());
        // A truncated message causes the same error.
        let cut = &bytes[..bytes.len() / 2];
        let alone = decode_root::<Everything>(&mut Decoder::new(cut)).map_err(|error| error.to_string()).map(drop);
        let error = over.decode_root_over(&mut Decoder::new(cut)).map_err(|error| error.to_string());
        prop_assert_eq!(error.map(drop), alone);
    }

    #[test]
    fn encoder_without_loss_loses_nothing(message in one_of()) {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes);
        polyglot::encode_root(&message, &mut encoder)?;
        let lost = encoder.lost_presence();
        let back = decode_root::<OneOf>(&mut Decoder::new(&bytes))?;
        prop_assert_eq!(back == Root::Message(message), !lost);
    }

    #[test]
    fn every_truncation_is_error(message in everything(), extended in any::<bool>()) {
        let bytes = encode(&message, if extended { Form::Extended } else { Form::Flat });
        for length in 0..bytes.len() {
            prop_assert!(decode_root::<Everything>(&mut Decoder::new(&bytes[..length])).is_err(), "{} of {}", length, bytes.len());
        }
    }

    #[test]
    fn no_change_of_bytes_makes_decoding_panic(
        message in everything(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = encode(&message, Form::Extended);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(Root::Message(read)) = decode_root::<Everything>(&mut Decoder::new(&bytes)) {
            // Messages that were accepted can be encoded.
            encode(&read, Form::Extended);
        }
    }

    #[test]
    fn no_bytes_make_decoding_panic(bytes in vec(prop_oneof![0..0x10_u8, any::<u8>()], 0..64)) {
        let _ = decode_root::<Everything>(&mut Decoder::new(&bytes));
        let _ = decode_root::<OneOf>(&mut Decoder::new(&bytes));
        let _ = decode_root::<Deep>(&mut Decoder::new(&bytes));
        let mut headed = vec![0x08, 0x00];
        headed.extend_from_slice(&bytes);
        let _ = decode_root::<Order>(&mut Decoder::new(&headed));
    }

    #[test]
    fn view_shows_message_values(message in order()) {
        let bytes = encode(&message, Form::Flat);
        let Root::Message(view) = view_root::<OrderView<'_>>(&mut Decoder::new(&bytes))? else {
            panic!("body should contain a message")
        };
        prop_assert_eq!(view.s, &message.s);
        prop_assert_eq!(view.i, message.i);
        prop_assert_eq!(view.b, &message.b);
        prop_assert_eq!(view.r.iter().collect::<Vec<_>>(), message.r);
        prop_assert_eq!(view.rs.iter().collect::<Vec<_>>(), message.rs);
        prop_assert_eq!(view.m.map(|inner| inner.n), message.m.map(|inner| inner.n));
        prop_assert_eq!(view.mm.len(), message.mm.len());
        for (key, value) in view.mm.iter() {
            prop_assert_eq!(message.mm.get(key), Some(&value));
        }
        prop_assert_eq!(view.e, if message.e < -5 { message.e.wrapping_sub(i32::MIN) as u32 } else {
            [0, 1000, -5, 10].iter().position(|&number| number == message.e).unwrap() as u32
        });
    }

    #[test]
    fn views_and_messages_refuse_same_bodies(
        message in order(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = encode(&message, Form::Flat);
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        let owned = decode_root::<Order>(&mut Decoder::new(&bytes));
        let view = view_root::<OrderView<'_>>(&mut Decoder::new(&bytes));
        // A view keeps the index of an enum unchanged, whereas an owned message may be unable to represent it.
        let kept = !matches!(&owned, Err(error) if error.to_string().contains("cannot be preserved"));
        prop_assert!(!kept || owned.is_ok() == view.is_ok(), "{:?} {:?}", owned, view);
    }
}

//! Test vectors: bytes that the Go implementation has encoded, and its results for invalid ones.

use std::collections::HashMap;
use std::fmt::Debug;

use polyglot::{DecodeReason, Decoder, Encoder, Form, Index, Kind, Message, Root, decode_root, encode_root};

use crate::tests::schema::{Choice, Deep, Inner, Nothing, One, OneOf, Order, Sparse, decode, encode, hex};

#[track_caller]
fn both_ways<M: Message + PartialEq + Debug>(message: &M, bytes: &str) {
    assert_eq!(encode(message, Form::Flat), hex(bytes), "encoding {message:?}");
    assert_eq!(&decode::<M>(&hex(bytes)).unwrap(), message, "decoding {bytes}");
}

#[track_caller]
fn accepted<M: Message + PartialEq + Debug>(bytes: &str, message: &M) {
    assert_eq!(&decode::<M>(&hex(bytes)).unwrap(), message);
}

#[track_caller]
fn refused<M: Message + PartialEq + Debug>(bytes: &str, reason: &DecodeReason) {
    assert_eq!(decode::<M>(&hex(bytes)).unwrap_err().reason(), reason);
}

#[test]
fn scalars_are_encoded_as_go_encodes_them() {
    both_ways(&Nothing {}, "0800");
    both_ways(&One { v: false }, "08000700");
    both_ways(&One { v: true }, "08000701");
    both_ways(&One { v: -1_i32 }, "08000c01");
    both_ways(&One { v: 63_i32 }, "08000c7e");
    both_ways(&One { v: 64_i32 }, "08000c8001");
    both_ways(&One { v: -8193_i32 }, "08000c818001");
    both_ways(&One { v: 134_217_728_i32 }, "08000c8080808001");
    both_ways(&One { v: i32::MAX }, "08000cfeffffff0f");
    both_ways(&One { v: i32::MIN }, "08000cffffffff0f");
    both_ways(&One { v: 128_u32 }, "08000a8001");
    both_ways(&One { v: u32::MAX }, "08000affffffff0f");
    both_ways(&One { v: -17_179_869_185_i64 }, "08000d818080808001");
    both_ways(&One { v: i64::MAX }, "08000dfeffffffffffffffff01");
    both_ways(&One { v: i64::MIN }, "08000dffffffffffffffffff01");
    both_ways(&One { v: 72_057_594_037_927_935_u64 }, "08000bffffffffffffff7f");
    both_ways(&One { v: 72_057_594_037_927_936_u64 }, "08000b808080808080808001");
    both_ways(&One { v: u64::MAX }, "08000bffffffffffffffffff01");
    both_ways(&One { v: -1.5_f32 }, "08000ebfc00000");
    both_ways(&One { v: 5e-324_f64 }, "08000f0000000000000001");
}

#[test]
fn nan_payload_survives_round_trip() {
    for bytes in ["08000effc00001", "08000e7f800001", "08000e80000000"] {
        let read: One<f32> = decode(&hex(bytes)).unwrap();
        assert_eq!(encode(&read, Form::Flat), hex(bytes));
    }
    for bytes in ["08000ffff8000000000123", "08000f7ff0000000000001", "08000f8000000000000000"] {
        let read: One<f64> = decode(&hex(bytes)).unwrap();
        assert_eq!(encode(&read, Form::Flat), hex(bytes));
    }
}

#[test]
fn preencoded_values_are_appended_unchanged() {
    let (mut before, mut out) = (Vec::new(), vec![0xee]);
    Encoder::new(&mut before).i32(-1);
    Encoder::new(&mut out).encoded(&before);
    assert_eq!(out, hex("ee0c01"));
}

#[test]
fn containers_are_encoded_as_go_encodes_them() {
    let texts = ["", "a", "é"].map(str::to_owned).to_vec();
    both_ways(&One { v: texts }, "080001050a03050a00050a0161050a02c3a9");
    both_ways(&One { v: vec![i64::MIN, 1] }, "0800010d0a020dffffffffffffffffff010d02");
    both_ways(&One { v: vec![1.0_f32, -2.0] }, "0800010e0a020e3f8000000ec0000000");
    both_ways(&One { v: [1, 0, -1].map(|n| Inner { n }).to_vec() }, "080001030a0308000c0208000c0008000c01");
    both_ways(&One { v: HashMap::from([("k".to_owned(), -1)]) }, "080002050c0a01050a016b0c01");
    both_ways(&One { v: HashMap::from([("k".to_owned(), Inner { n: 1 })]) }, "08000205030a01050a016b08000c02");
    both_ways(&One { v: HashMap::from([(true, "t".to_owned())]) }, "08000207050a010701050a0174");
    both_ways(&Deep::levels(3), "08000800080000");
}

#[test]
fn types_unsupported_by_go_encode_naturally() {
    both_ways(&One { v: vec![vec![1_u8], vec![]] }, "080001040a02040a0101040a00");
    both_ways(&One { v: HashMap::from([(7_u32, vec![9_u8])]) }, "0800020a040a010a07040a0109");
}

#[test]
fn fields_follow_encoding_order() {
    let order = Order {
        s: "s".into(),
        i: 5,
        e: -5,
        b: vec![8],
        r: vec![2],
        rs: vec!["r".into()],
        m: Some(Inner { n: 1 }),
        mm: HashMap::from([("k".into(), 4)]),
    };
    both_ways(&order, "0800050a01730c0a0a02040a0108010c0a010c0401050a01050a017208000c0202050c0a01050a016b0c08");
}

#[test]
fn flat_oneof_encodes_each_member_in_position() {
    // This is the encoding of Go, with an enum as a further member after the string.
    both_ways(&OneOf { choice: Some(Choice::Number(5)), after: true }, "08000c0a050a000a00070100");
    both_ways(&OneOf { choice: None, after: false }, "08000c00050a000a00070000");
    both_ways(&OneOf { choice: Some(Choice::Inner(Inner { n: 1 })), after: false }, "08000c00050a000a00070008000c02");
}

#[test]
fn enums_are_encoded_as_indexes() {
    for (number, index) in [(0, 0), (1000, 1), (-5, 2), (10, 3)] {
        let mut out = Vec::new();
        Encoder::new(&mut out).field_as::<Index<Sparse>>("v", &number).unwrap();
        assert_eq!(out, [0x0a, index]);
        assert_eq!(Decoder::new(&out).field_as::<Index<Sparse>>("v").unwrap(), number);
    }
}

#[test]
fn nil_root_with_trailing_bytes_is_default() {
    for bytes in ["00", "00ffff"] {
        accepted(bytes, &One { v: 0_i32 });
    }
}

#[test]
fn root_error_with_trailing_bytes_yields_text() {
    for (bytes, text) in [("06050a036e6f21", "no!"), ("06050a00", ""), ("06050a0161ffffff", "a")] {
        assert_eq!(decode_root::<Nothing>(&mut Decoder::new(&hex(bytes))).unwrap(), Root::Error(text.to_owned()));
    }
    let mut out = Vec::new();
    Encoder::new(&mut out).error("EOF").unwrap();
    assert_eq!(out, hex("06050a03454f46"));
}

#[test]
fn malformed_root_error_is_rejected() {
    refused::<Nothing>("06050a0561", &DecodeReason::LengthBeyondEnd { kind: Kind::String, length: 5, left: 1 });
    refused::<Nothing>("060a01", &DecodeReason::WrongKind { expected: Kind::String, found: 0x0a });
}

#[test]
fn empty_body_is_rejected() {
    refused::<Nothing>("", &DecodeReason::Truncated { expected: Kind::Any });
    refused::<Nothing>("08", &DecodeReason::Truncated { expected: Kind::Any });
}

#[test]
fn message_flags_are_required_but_ignored() {
    for bytes in ["08010c02", "08020c02", "08ff0c02"] {
        accepted(bytes, &One { v: 1_i32 });
    }
    refused::<One<i32>>("0c02", &DecodeReason::WrongKind { expected: Kind::Any, found: 0x0c });
    refused::<One<i32>>("0a000c02", &DecodeReason::WrongKind { expected: Kind::Any, found: 0x0a });
}

#[test]
fn bytes_after_root_stay_unread() {
    let bytes = hex("08000c02ffff");
    let mut decoder = Decoder::new(&bytes);
    assert_eq!(decode_root(&mut decoder).unwrap(), Root::Message(One { v: 1_i32 }));
    assert_eq!(decoder.rest(), [0xff, 0xff]);
}

#[test]
fn another_kind_is_refused() {
    refused::<One<i32>>("08000a02", &DecodeReason::WrongKind { expected: Kind::I32, found: 0x0a });
    refused::<One<i32>>("08000d02", &DecodeReason::WrongKind { expected: Kind::I32, found: 0x0d });
    refused::<One<String>>("0800050b0161", &DecodeReason::WrongKind { expected: Kind::U32, found: 0x0b });
    refused::<One<i32>>("080000", &DecodeReason::WrongKind { expected: Kind::I32, found: 0x00 });
}

#[test]
fn bool_beyond_one_is_rejected() {
    refused::<One<bool>>("08000702", &DecodeReason::Bool(2));
    refused::<One<bool>>("080007", &DecodeReason::Truncated { expected: Kind::Bool });
}

#[test]
fn padded_varints_decode_without_surplus_bits() {
    accepted("08000a8000", &One { v: 0_u32 });
    accepted("08000a8180808000", &One { v: 1_u32 });
    accepted("08000affffffff7f", &One { v: u32::MAX });
    accepted("08000cffffffff7f", &One { v: i32::MIN });
    accepted("08000bffffffffffffffffff7f", &One { v: u64::MAX });
}

#[test]
fn varints_that_are_too_long_are_refused() {
    refused::<One<u32>>("08000affffffffff01", &DecodeReason::VarintTooLong { kind: Kind::U32 });
    refused::<One<u64>>("08000bffffffffffffffffffff01", &DecodeReason::VarintTooLong { kind: Kind::U64 });
    // Go decodes this as empty bytes and does not advance.
    refused::<One<Vec<u8>>>("0800040affffffffff01", &DecodeReason::VarintTooLong { kind: Kind::Bytes });
    assert!(Decoder::new(&hex("0980808001")).u16().is_err());
}

#[test]
fn body_crashing_go_process_is_rejected() {
    refused::<One<u32>>("08000a80", &DecodeReason::Truncated { expected: Kind::U32 });
    refused::<One<u64>>("08000bffffff", &DecodeReason::Truncated { expected: Kind::U64 });
    refused::<One<i32>>("08000c80", &DecodeReason::Truncated { expected: Kind::I32 });
    refused::<One<i64>>("08000d80", &DecodeReason::Truncated { expected: Kind::I64 });
    refused::<One<String>>("0800050a80", &DecodeReason::Truncated { expected: Kind::String });
    refused::<One<Vec<u8>>>("0800040a80", &DecodeReason::Truncated { expected: Kind::Bytes });
    refused::<One<Vec<bool>>>("080001070a80", &DecodeReason::Truncated { expected: Kind::List });
    assert!(Decoder::new(&hex("0980")).u16().is_err());
}

#[test]
fn lengths_beyond_input_are_refused() {
    refused::<One<f32>>("08000e3f8000", &DecodeReason::Truncated { expected: Kind::F32 });
    refused::<One<f64>>("08000f3ff00000000000", &DecodeReason::Truncated { expected: Kind::F64 });
    let beyond = |kind, length| DecodeReason::LengthBeyondEnd { kind, length, left: 1 };
    refused::<One<String>>("0800050a0561", &beyond(Kind::String, 5));
    refused::<One<String>>("0800050affffffff0f61", &beyond(Kind::String, u32::MAX));
    refused::<One<Vec<u8>>>("0800040a0561", &beyond(Kind::Bytes, 5));
}

#[test]
fn strings_are_utf_8() {
    refused::<One<String>>("0800050a02c328", &DecodeReason::Utf8);
}

#[test]
fn nested_nil_is_accepted_and_error_rejected() {
    accepted("080000", &One { v: None::<Inner> });
    refused::<One<Option<Inner>>>("080006050a0161", &DecodeReason::NestedError);
    refused::<One<Option<Inner>>>("08000800", &DecodeReason::Truncated { expected: Kind::I32 });
}

#[test]
fn missing_or_short_list_is_rejected() {
    refused::<One<Vec<bool>>>("080000", &DecodeReason::WrongKind { expected: Kind::List, found: 0 });
    refused::<One<Vec<bool>>>(
        "0800010a0a010701",
        &DecodeReason::WrongElementKind { expected: Kind::Bool, found: 0x0a },
    );
    refused::<One<Vec<bool>>>("080001070a010a01", &DecodeReason::WrongKind { expected: Kind::Bool, found: 0x0a });
    let too_many = DecodeReason::TooManyElements { kind: Kind::List, length: 3, left: 4 };
    refused::<One<Vec<bool>>>("080001070a0307010700", &too_many);
    accepted("080001030a020008000c04", &One { v: vec![Inner { n: 0 }, Inner { n: 2 }] });
}

#[test]
fn map_allows_nil_and_keeps_last_duplicate() {
    type Map = HashMap<String, i32>;
    accepted("080000", &One { v: Map::new() });
    accepted("080002050c0a02050a01610c02050a01610c04", &One { v: Map::from([("a".to_owned(), 2)]) });
    accepted("08000205030a01050a016b00", &One { v: HashMap::from([("k".to_owned(), Inner { n: 0 })]) });
    let wrong = DecodeReason::WrongElementKind { expected: Kind::I32, found: 0x0d };
    refused::<One<Map>>("080002050d0a00", &wrong);
    refused::<One<Map>>("08000205", &DecodeReason::Truncated { expected: Kind::Map });
    let too_many = DecodeReason::TooManyElements { kind: Kind::Map, length: 2, left: 6 };
    refused::<One<Map>>("080002050c0a02050a01610c02", &too_many);
}

#[test]
fn failed_encoding_leaves_no_bytes() {
    let mut out = vec![0xaa];
    let order = Order { s: "text".into(), e: 7, ..Order::default() };
    encode_root(&order, &mut Encoder::new(&mut out)).unwrap_err();
    assert_eq!(out, [0xaa]);
}

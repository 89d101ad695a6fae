//! Tests of absent, default and unknown values in both formats.

use bytes::Bytes;
#[cfg(feature = "prost-types")]
use polyglot::Enumeration;
use polyglot::wellknown::Boxed;
use polyglot::{Codec, DecodeReason, Decoder, EncodeReason, Encoder, Form, Index, Message, encode_root};

use crate::tests::schema::{Choice, Everything, Inner, Lowest, One, OneOf, Sparse, decode, encode, hex};

fn choices() -> [Option<Choice>; 6] {
    [
        None,
        Some(Choice::Number(0)),
        Some(Choice::Number(5)),
        Some(Choice::Word(String::new())),
        Some(Choice::Inner(Inner::default())),
        Some(Choice::Sparse(0)),
    ]
}

#[test]
fn absent_optional_is_nil_only_when_extended() {
    let absent = One { v: None::<u64> };
    assert_eq!(encode(&absent, Form::Flat), hex("08000b00"));
    assert_eq!(encode(&absent, Form::Extended), hex("080000"));
    assert_eq!(decode::<One<Option<u64>>>(&hex("080000")).unwrap(), absent);
    assert_eq!(decode::<One<Option<u64>>>(&hex("08000b00")).unwrap(), One { v: Some(0) });
}

#[test]
fn absent_message_is_nil_in_both_forms() {
    for form in [Form::Flat, Form::Extended] {
        assert_eq!(encode(&One { v: None::<Inner> }, form), hex("080000"));
    }
}

#[test]
fn extended_oneof_encodes_member_at_first_position() {
    let extended = |choice| encode(&OneOf { choice, after: true }, Form::Extended);
    assert_eq!(extended(None), hex("080003000701"));
    assert_eq!(extended(Some(Choice::Number(0))), hex("080003010c000701"));
    assert_eq!(extended(Some(Choice::Word(String::new()))), hex("08000302050a000701"));
    assert_eq!(extended(Some(Choice::Inner(Inner { n: 1 }))), hex("0800030308000c020701"));
    assert_eq!(extended(Some(Choice::Sparse(-5))), hex("080003040a020701"));
}

#[test]
fn extended_form_keeps_members_and_absence() {
    for choice in choices() {
        let message = OneOf { choice, after: true };
        assert_eq!(decode::<OneOf>(&encode(&message, Form::Extended)).unwrap(), message);
    }
}

#[test]
fn last_nondefault_member_of_flat_oneof_wins() {
    let read = |bytes| decode::<OneOf>(&hex(bytes)).unwrap().choice;
    assert_eq!(read("08000c0a050a01610a00070000"), Some(Choice::Word("a".into())));
    assert_eq!(read("08000c0a050a000a00070000"), Some(Choice::Number(5)));
    assert_eq!(read("08000c0a050a000a00070008000c00"), Some(Choice::Inner(Inner { n: 0 })));
    assert_eq!(read("08000c00050a000a00070000"), None);
}

#[test]
fn nil_scalar_in_flat_oneof_is_rejected() {
    assert!(decode::<OneOf>(&hex("080000050a000a00070000")).is_err());
}

#[test]
fn extended_oneof_with_unknown_member_is_rejected() {
    let error = decode::<OneOf>(&hex("080003050c000701")).unwrap_err();
    assert_eq!(error.reason(), &DecodeReason::UnknownMember { member: 5 });
    assert_eq!(error.field(), "choice");
    assert_eq!(error.offset(), 2);
}

#[test]
fn encoder_reports_presence_loss_in_flat_form() {
    fn loses_presence<M: Message>(message: &M, form: Form) -> bool {
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out).with_form(form);
        encode_root(message, &mut encoder).unwrap();
        encoder.lost_presence()
    }
    assert!(loses_presence(&One { v: None::<u64> }, Form::Flat));
    assert!(!loses_presence(&One { v: None::<u64> }, Form::Extended));
    assert!(!loses_presence(&One { v: Some(0_u64) }, Form::Flat));
    assert!(!loses_presence(&One { v: None::<Inner> }, Form::Flat));
    for choice in choices() {
        let default =
            matches!(&choice, Some(Choice::Number(0) | Choice::Sparse(0))) || choice == Some(Choice::Word("".into()));
        let message = OneOf { choice, after: false };
        assert_eq!(loses_presence(&message, Form::Flat), default, "{message:?}");
        assert!(!loses_presence(&message, Form::Extended));
        // The flat form indeed loses exactly the default values: all others round-trip.
        assert_eq!(decode::<OneOf>(&encode(&message, Form::Flat)).unwrap() == message, !default);
    }
}

#[test]
fn negative_zero_oneof_value_is_not_default() {
    assert!(!<f64 as Codec>::is_default(&-0.0));
    assert!(!<f32 as Codec>::is_default(&-0.0));
    assert!(<f64 as Codec>::is_default(&0.0));
}

#[test]
fn unknown_enum_index_round_trips() {
    for index in [4, 99, i32::MAX as u32] {
        let mut bytes = Vec::new();
        Encoder::new(&mut bytes).u32(index);
        let number: i32 = Decoder::new(&bytes).field_as::<Index<Sparse>>("v").unwrap();
        assert_eq!(number, i32::MIN + index as i32);
        let mut again = Vec::new();
        Encoder::new(&mut again).field_as::<Index<Sparse>>("v", &number).unwrap();
        assert_eq!(again, bytes);
    }
}

#[test]
fn unpreservable_enum_index_is_rejected() {
    for index in [1 << 31, (1 << 31) + 1, u32::MAX] {
        let mut bytes = Vec::new();
        Encoder::new(&mut bytes).u32(index);
        let error = Decoder::new(&bytes).field_as::<Index<Sparse>>("v").unwrap_err();
        assert_eq!(error.reason(), &DecodeReason::EnumIndex { enumeration: "vec.Sparse", index });
    }
    let error = Decoder::new(&[0x0a, 7]).field_as::<Index<Lowest>>("v").unwrap_err();
    assert_eq!(error.reason(), &DecodeReason::EnumIndex { enumeration: "vec.Lowest", index: 7 });
    assert_eq!(error.to_string(), "in field `v` at byte 0: enum vec.Lowest has no index 7, which cannot be preserved");
}

#[test]
fn undeclared_enum_number_is_written_as_itself() {
    let encoded = |number: i32, form| {
        let mut bytes = Vec::new();
        Encoder::new(&mut bytes).with_form(form).field_as::<Index<Sparse>>("v", &number).map(|()| bytes)
    };
    // Known values are encoded as indexes, and so are numbers that represent unknown indexes.
    assert_eq!(encoded(-5, Form::Extended).unwrap(), [0x0a, 2]);
    assert_eq!(encoded(i32::MIN + 9, Form::Extended).unwrap(), [0x0a, 9]);
    assert_eq!(encoded(7, Form::Extended).unwrap(), [0x0c, 14]);
    for number in [7, -7, i32::MAX, i32::MIN + 2, i32::MIN + 65_536] {
        let bytes = encoded(number, Form::Extended).unwrap();
        assert_eq!(bytes[0], 0x0c, "{number}");
        let mut decoder = Decoder::new(&bytes);
        assert_eq!(decoder.field_as::<Index<Sparse>>("v").unwrap(), number);
        assert_eq!(decoder.remaining(), 0);
    }
    assert_eq!(
        Decoder::new(&[0x0c, 9]).field_as::<Index<Sparse>>("v").unwrap(),
        -5,
        "value that a later schema declares should be read"
    );
    let error = Decoder::new(&[0x0c, 0x80]).field_as::<Index<Sparse>>("v").unwrap_err();
    assert!(matches!(error.reason(), DecodeReason::Truncated { .. }), "{error}");
    let numbers = Everything { sparses: vec![0, 7, 1000], ..Everything::default() };
    let body = encode(&numbers, Form::Extended);
    let crate::Root::Message(again) = Everything::decode_root(&mut Decoder::new(&body)).unwrap() else {
        panic!("body should contain a message")
    };
    assert_eq!(again.sparses, numbers.sparses);
}

/// `12` is reserved for the mark of stored messages, and the other values are reserved for later formats of bodies.
#[test]
fn reserved_beginning_of_body_is_refused() {
    for first in 0x12..=0x1f {
        let body = [&[first][..], &encode(&Inner { n: 1 }, Form::Extended)].concat();
        assert!(Inner::decode_root(&mut Decoder::new(&body)).is_err(), "{first:#x}");
    }
}

#[test]
fn undeclared_enum_number_error_names_field() {
    // `i32::MIN + 2` would encode index 2, which the schema knows.
    for number in [7, i32::MAX, i32::MIN + 2] {
        let numbers = Everything { sparses: vec![0, number], ..Everything::default() };
        let error = encode_root(&numbers, &mut Encoder::new(&mut Vec::new())).unwrap_err();
        assert_eq!(error.reason(), &EncodeReason::UnknownNumber { enumeration: "vec.Sparse", number });
        assert_eq!(error.field(), "sparses[1]");
        assert_eq!(error.message(), Some("test.Everything"));
    }
}

#[test]
fn empty_bytes_and_boxed_values_are_defaults() {
    assert!(<Vec<u8> as Codec>::is_default(&Vec::new()) && !<Vec<u8> as Codec>::is_default(&vec![0]));
    assert!(<Bytes as Codec>::is_default(&Bytes::new()) && !<Bytes as Codec>::is_default(&Bytes::from_static(&[0])));
    assert!(<Boxed<String> as Codec>::is_default(&Box::default()));
    assert!(!<Boxed<String> as Codec>::is_default(&Box::new("a".to_owned())));
}

#[cfg(feature = "prost-types")]
#[test]
fn null_value_accepts_only_number_zero() {
    assert_eq!([0, 1, -1].map(<prost_types::NullValue as Enumeration>::index), [Some(0), None, None]);
    assert_eq!([0, 1].map(<prost_types::NullValue as Enumeration>::number), [Some(0), None]);
}

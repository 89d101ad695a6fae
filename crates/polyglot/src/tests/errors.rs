//! Tests of errors: each has a reason, a position and a field, and a failed read does not advance the decoder.

use std::collections::HashMap;

use polyglot::{Codec, DecodeError, DecodeReason, Decoder, EncodeError, Encoder, Form, Index, Kind, encode_root};

use crate::tests::schema::{Everything, Inner, One, Sparse, decode, encode, hex};

#[test]
fn error_text_names_kind_byte_and_path() {
    let text = |bytes: &str| decode::<One<Vec<One<Option<Inner>>>>>(&hex(bytes)).unwrap_err().to_string();
    assert_eq!(
        text("080001030a02080000080008000d02"),
        "in field `v[1].v.n` of `vec.One` at byte 13: i32 expected, found i64"
    );
    assert_eq!(text("0800"), "in field `v` of `vec.One` at byte 2: list expected, but the input ends");
    assert_eq!(text("080001030a0208000c"), "in field `v[0].v` of `vec.One` at byte 8: message expected, found i32");
    assert_eq!(text("0a"), "in `vec.One` at byte 0: message expected, found u32");
    assert_eq!(text("ff"), "in `vec.One` at byte 0: message expected, found byte 0xff");
}

#[test]
fn pathless_error_begins_with_byte_or_reason() {
    assert_eq!(Decoder::new(&[]).u8().unwrap_err().to_string(), "at byte 0: u8 expected, but the input ends");
    let number = <Index<Sparse> as Codec>::encode(&3, &mut Encoder::new(&mut Vec::new()));
    assert_eq!(number.unwrap_err().to_string(), "enum vec.Sparse has no number 3");
}

#[test]
fn empty_map_of_wrong_kinds_is_rejected() {
    type Numbers = One<HashMap<String, i32>>;
    assert_eq!(decode::<Numbers>(&hex("080002050c0a00")).unwrap(), Numbers::default());
    for (bytes, expected, found) in [("080002040c0a00", Kind::String, 0x04), ("080002050b0a00", Kind::I32, 0x0b)] {
        let error = decode::<Numbers>(&hex(bytes)).unwrap_err();
        assert_eq!(*error.reason(), DecodeReason::WrongElementKind { expected, found }, "{bytes}");
    }
}

#[test]
fn bad_map_entry_error_names_its_index() {
    let map = Everything { by_number: [(1, Inner { n: 1 }), (2, Inner { n: 2 })].into(), ..Everything::default() };
    let mut bytes = encode(&map, Form::Flat);
    let last = bytes.windows(3).rposition(|at| at == [0x08, 0x00, 0x0c]).unwrap();
    bytes[last + 2] = 0x0d;
    let error = decode::<Everything>(&bytes).unwrap_err();
    assert_eq!(error.field(), "by_number[1].n");
    assert_eq!(error.offset(), last + 2);
    assert_eq!(error.message(), Some("test.Everything"));
}

#[test]
fn encoding_errors_name_field_too() {
    let error = encode_root(&Everything { sparse: 3, ..Everything::default() }, &mut Encoder::new(&mut Vec::new()));
    assert_eq!(
        error.unwrap_err().to_string(),
        "in field `sparse` of `test.Everything`: enum vec.Sparse has no number 3"
    );
}

#[test]
fn errors_are_pointer_sized_and_cross_threads() {
    fn shareable<T: std::error::Error + Send + Sync + 'static>() {}
    shareable::<DecodeError>();
    shareable::<EncodeError>();
    assert_eq!(size_of::<DecodeError>(), size_of::<usize>());
    assert_eq!(size_of::<Result<(), EncodeError>>(), size_of::<usize>());
}

#[test]
fn failed_value_read_keeps_decoder_position() {
    // One valid value of each kind, then each kind with an invalid byte after its kind byte.
    let inputs = [
        "00",
        "01070a00",
        "0207070a00",
        "040a0161",
        "050a0161",
        "06050a0161",
        "0701",
        "0800",
        "0901",
        "0a01",
        "0b01",
        "0c01",
        "0d01",
        "0e00000000",
        "0f0000000000000000",
        "01070aff",
        "0207070aff",
        "040aff",
        "050aff",
        "050a02c328",
        "06050aff",
        "0702",
        "08",
        "09ff",
        "0aff",
        "0bff",
        "0cff",
        "0dff",
        "0e0000",
        "0f0000",
        "ff",
        "",
    ];
    fn check<'a, T>(input: &'a [u8], read: impl FnOnce(&mut Decoder<'a>) -> Result<T, DecodeError>) -> bool {
        let mut decoder = Decoder::new(input);
        let failed = read(&mut decoder).is_err();
        assert_eq!(decoder.position(), if failed { 0 } else { input.len() }, "{input:02x?}");
        !failed
    }
    let mut successes = 0;
    for input in inputs.map(hex) {
        successes += [
            check(&input, Decoder::nil),
            check(&input, |from| from.list(Kind::Bool)),
            check(&input, |from| from.map(Kind::Bool, Kind::Bool)),
            check(&input, Decoder::slice),
            check(&input, Decoder::bytes),
            check(&input, Decoder::str),
            check(&input, Decoder::string),
            check(&input, Decoder::error_text),
            check(&input, Decoder::bool),
            check(&input, Decoder::u8),
            check(&input, Decoder::u16),
            check(&input, Decoder::u32),
            check(&input, Decoder::u64),
            check(&input, Decoder::i32),
            check(&input, Decoder::i64),
            check(&input, Decoder::f32),
            check(&input, Decoder::f64),
        ]
        .into_iter()
        .filter(|&success| success)
        .count();
    }
    // There are fifteen valid values. Bytes and strings have two readers, and a nil is also an empty map.
    assert_eq!(successes, 15 + 2 + 1);
}

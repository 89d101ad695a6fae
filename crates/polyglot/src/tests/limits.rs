//! Tests of limits: memory is allocated only in proportion to the input.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use polyglot::{
    BULK_MIN, Bulk, CONTAINER_MEMORY_MAX, Codec, DecodeError, DecodeReason, Decoder, EncodeReason, Encoder, Form, Kind,
    LONG_MIN, NESTING_CEILING, NESTING_MAX, RawMessage, Undecoded, decode_root, encode_root, wellknown,
};

use crate::tests::schema::{Deep, Inner, Nothing, One, decode, encode, hex};

#[test]
fn encoder_enforces_nesting_limit() {
    encode(&Deep::levels(NESTING_CEILING), Form::Flat);
    let mut out = Vec::new();
    let error = encode_root(&Deep::levels(NESTING_CEILING + 1), &mut Encoder::new(&mut out)).unwrap_err();
    assert_eq!(error.reason(), &EncodeReason::NestingTooDeep);
    assert!(out.is_empty());
}

#[test]
fn decoder_enforces_nesting_limit() {
    let levels = |count: u32| {
        let mut bytes = [0x08, 0x00].repeat(count as usize);
        bytes.push(0x00);
        bytes
    };
    assert_eq!(decode::<Deep>(&levels(NESTING_MAX)).unwrap(), Deep::levels(NESTING_MAX));
    for count in [NESTING_MAX + 1, 2_600_000] {
        let error = decode::<Deep>(&levels(count)).unwrap_err();
        assert_eq!(error.reason(), &DecodeReason::NestingTooDeep { max: NESTING_MAX });
        assert_eq!(error.offset(), NESTING_MAX as usize * 2);
    }
}

#[test]
fn siblings_do_not_count_as_levels() {
    let many = One { v: vec![Inner { n: 1 }; 1000] };
    assert_eq!(decode::<One<Vec<Inner>>>(&encode(&many, Form::Flat)).unwrap(), many);
}

#[test]
fn forged_length_is_rejected_before_allocation() {
    for bytes in ["01030affffffff0f", "01030affffffff0f00", "01030a800100"] {
        let bytes = hex(bytes);
        let mut decoder = Decoder::new(&bytes);
        let error = decoder.list(Kind::Any).unwrap_err();
        assert!(matches!(error.reason(), DecodeReason::TooManyElements { kind: Kind::List, .. }), "{error}");
        assert_eq!(decoder.position(), 0);
    }
    for bytes in ["02070a0affffffff0f", "02070a0affffff1f07010a01", "02070a0a0207010a01"] {
        let bytes = hex(bytes);
        let mut decoder = Decoder::new(&bytes);
        let error = decoder.map(Kind::Bool, Kind::U32).unwrap_err();
        assert!(matches!(error.reason(), DecodeReason::TooManyElements { kind: Kind::Map, .. }), "{error}");
        assert_eq!(decoder.position(), 0);
    }
}

#[test]
fn list_length_is_bounded_by_remaining_input() {
    for (kind, element) in [
        (Kind::Nil, "00"),
        (Kind::Any, "00"),
        (Kind::Bool, "0701"),
        (Kind::U8, "0801"),
        (Kind::U16, "0901"),
        (Kind::I64, "0d01"),
        (Kind::String, "050a00"),
        (Kind::Bytes, "040a00"),
        (Kind::Error, "06050a00"),
        (Kind::List, "01070a00"),
        (Kind::Map, "0207070a00"),
        (Kind::F32, "0e00000000"),
        (Kind::F64, "0f0000000000000000"),
    ] {
        assert_eq!(hex(element).len(), kind.smallest(), "{kind}");
        for (length, fits) in [(3, true), (4, false)] {
            let mut bytes = vec![0x01, kind.byte(), 0x0a, length];
            bytes.extend(hex(element).repeat(3));
            assert_eq!(Decoder::new(&bytes).list(kind).is_ok(), fits, "{kind}");
        }
    }
}

#[test]
fn zero_sized_elements_are_bounded_by_bytes() {
    let bytes = hex("080001030affffffff0f0000");
    let error = decode::<One<Vec<Nothing>>>(&bytes).unwrap_err();
    assert_eq!(error.reason(), &DecodeReason::TooManyElements { kind: Kind::List, length: u32::MAX, left: 2 });
}

#[test]
fn nil_elements_cannot_balloon() {
    #[derive(Debug, Default)]
    struct Wide(#[expect(dead_code, reason = "only its size counts")] [u64; 32]);
    impl polyglot::Fields for Wide {
        const NAME: &'static str = "test.Wide";
        fn encode_fields(&self, _: &mut Encoder<'_>) -> Result<(), polyglot::EncodeError> {
            Ok(())
        }
        fn decode_fields(_: &mut Decoder<'_>) -> Result<Self, DecodeError> {
            Ok(Self::default())
        }
    }
    let count = CONTAINER_MEMORY_MAX / size_of::<Wide>() + 1;
    let mut bytes = Vec::new();
    Encoder::new(&mut bytes).list(Kind::Any, count).unwrap();
    bytes.resize(bytes.len() + count, 0x00);
    let error = Decoder::new(&bytes).field::<Vec<Wide>>("v").unwrap_err();
    let needed = count * size_of::<Wide>();
    assert_eq!(error.reason(), &DecodeReason::ContainerMemory { needed, left: CONTAINER_MEMORY_MAX });
    let read = Decoder::new(&bytes).with_container_memory(needed).field::<Vec<Wide>>("v").unwrap();
    assert_eq!(read.len(), count);
    assert!(Decoder::new(&bytes).with_container_memory(needed - 1).field::<Vec<Wide>>("v").is_err());
}

#[test]
fn container_memory_limit_covers_whole_decoding() {
    let lists = One { v: vec![One { v: vec![0_u64; 4] }; 3] };
    let bytes = encode(&lists, Form::Flat);
    let needed = 3 * size_of::<One<Vec<u64>>>() + 12 * size_of::<u64>();
    let limited = |bytes_allowed| {
        decode_root::<One<Vec<One<Vec<u64>>>>>(&mut Decoder::new(&bytes).with_container_memory(bytes_allowed))
    };
    assert!(limited(needed).is_ok());
    let error = limited(needed - 1).unwrap_err();
    assert_eq!(error.reason(), &DecodeReason::ContainerMemory { needed: 32, left: 31 });
    assert_eq!(error.field(), "v[2].v");
}

#[test]
fn maps_and_boxes_count_too() {
    let map = One { v: HashMap::from([(1_u32, 2_u64)]) };
    let bytes = encode(&map, Form::Flat);
    let limited =
        |allowed| decode_root::<One<HashMap<u32, u64>>>(&mut Decoder::new(&bytes).with_container_memory(allowed));
    assert!(limited(16).is_ok());
    assert!(limited(15).is_err());

    let bytes = encode(&Deep::levels(3), Form::Flat);
    let limited = |allowed| decode_root::<Deep>(&mut Decoder::new(&bytes).with_container_memory(allowed));
    assert!(limited(2 * size_of::<Deep>()).is_ok());
    assert!(limited(2 * size_of::<Deep>() - 1).is_err());
}

/// Decodes with exactly the required memory, and with one byte less.
#[track_caller]
fn expect_needs<T>(bytes: &[u8], needed: usize, decode: impl Fn(&mut Decoder<'_>) -> Result<T, DecodeError>) {
    assert!(decode(&mut Decoder::new(bytes).with_container_memory(needed)).is_ok());
    match decode(&mut Decoder::new(bytes).with_container_memory(needed - 1)).map(drop).unwrap_err().reason() {
        DecodeReason::ContainerMemory { .. } => {}
        other => panic!("decoding should fail for lack of memory: {other:?}"),
    }
}

#[test]
fn sorted_maps_and_boxes_count() {
    let map = One { v: BTreeMap::from([(1_u32, 2_u64), (3, 4)]) };
    expect_needs(&encode(&map, Form::Flat), 32, decode_root::<One<BTreeMap<u32, u64>>>);

    let mut wrapped = Vec::new();
    wellknown::UInt64Value::encode(&7, &mut Encoder::new(&mut wrapped)).unwrap();
    expect_needs(&wrapped, 8, <wellknown::Boxed<wellknown::UInt64Value> as Codec>::decode);
}

#[test]
fn longest_frame_lists_fit_default_limit() {
    const FRAME: usize = 5 << 20;
    let count = (FRAME - 16) / Kind::Bytes.smallest();
    let list = One { v: vec![Bytes::new(); count] };
    let bytes = encode(&list, Form::Flat);
    assert!(bytes.len() <= FRAME);
    assert_eq!(decode::<One<Vec<Bytes>>>(&bytes).unwrap().v.len(), count);
}

#[test]
fn only_long_shared_bytes_retain_input() {
    let long = Bytes::from(vec![7; BULK_MIN]);
    let short = Bytes::from(vec![8; BULK_MIN - 1]);
    let body = Bytes::from(encode(&One { v: vec![long.clone(), short.clone(), Bytes::new()] }, Form::Flat));
    let mut read: Vec<Bytes> = match decode_root::<One<Vec<Bytes>>>(&mut Decoder::shared(&body)).unwrap() {
        polyglot::Root::Message(message) => message.v,
        polyglot::Root::Error(text) => panic!("{text}"),
    };
    assert_eq!(read, [long, short, Bytes::new()]);
    let within = |bytes: &Bytes| body.as_ptr_range().contains(&bytes.as_ptr());
    assert_eq!(read.iter().map(within).collect::<Vec<_>>(), [true, false, false]);
    assert!(!body.is_unique());
    read.remove(0);
    assert!(body.is_unique(), "remaining message should hold no part of the input");
    let copied = decode::<One<Vec<Bytes>>>(&body).unwrap().v;
    assert!(!copied.iter().any(within));
}

#[test]
fn decoder_reports_values_retaining_input() {
    let long = Bytes::from(encode(&One { v: vec![7_u8; BULK_MIN] }, Form::Flat));
    let short = Bytes::from(encode(&One { v: vec![7_u8; BULK_MIN - 1] }, Form::Flat));
    let has_sliced = |mut decoder: Decoder<'_>| {
        decode_root::<One<Bytes>>(&mut decoder).unwrap();
        decoder.has_sliced()
    };
    let raw = |mut decoder: Decoder<'_>| match decode_root::<Undecoded<One<Bytes>>>(&mut decoder).unwrap() {
        polyglot::Root::Message(raw) => raw.as_bytes().as_ptr(),
        polyglot::Root::Error(text) => panic!("{text}"),
    };
    assert_eq!(raw(Decoder::shared(&long)), long.as_ptr());
    assert_ne!(raw(Decoder::new(&long)), long.as_ptr());
    assert!(has_sliced(Decoder::shared(&long)));
    assert!(!has_sliced(Decoder::shared(&short)));
    assert!(!has_sliced(Decoder::new(&long)));
}

#[test]
fn decoder_reports_read_and_remaining_bytes() {
    let input = [0x08, 5, 0x00, 0x00, 0x00];
    let mut decoder = Decoder::new(&input);
    assert_eq!((decoder.position(), decoder.remaining(), decoder.rest()), (0, 5, &input[..]));
    decoder.u8().unwrap();
    assert_eq!((decoder.position(), decoder.remaining(), decoder.rest()), (2, 3, &input[2..]));
}

#[test]
fn only_long_enclosed_messages_slice_input() {
    let enclosed = |input: &Bytes, mut decoder: Decoder<'_>| {
        let polyglot::Root::Message(message) = decoder.enclosed().unwrap() else {
            panic!("body should contain a message")
        };
        let kind = if matches!(message, RawMessage::Shared(_)) { "shared" } else { "slice" };
        (kind, input.as_ptr_range().contains(&message.as_ref().as_ptr()))
    };
    for (length, is_within) in [(BULK_MIN, true), (BULK_MIN - 1, false)] {
        let mut body = Vec::new();
        let write = |out: &mut Vec<u8>| out.resize(out.len() + length, 7);
        Encoder::new(&mut body).enclosed(length, write).unwrap();
        let body = Bytes::from(body);
        assert_eq!(enclosed(&body, Decoder::shared(&body)), ("shared", is_within), "{length}");
        assert_eq!(enclosed(&body, Decoder::new(&body)), ("slice", true), "{length}");
    }
}

#[test]
fn enclosed_message_of_wrong_length_fails() {
    for written in [0, 1, 3] {
        let mut body = vec![0xee];
        let write = |out: &mut Vec<u8>| out.resize(out.len() + written, 7);
        let encoded = Encoder::new(&mut body).enclosed(2, write);
        assert!(encoded.is_err(), "writing {written} bytes instead of 2 should be an error");
        assert_eq!(body, [0xee], "body of {written} bytes instead of 2 should be dropped");
    }
}

#[test]
fn gathered_bytes_join_to_plain_encoding() {
    let big = |byte| Bytes::from(vec![byte; BULK_MIN]);
    let small = Bytes::from(vec![9; BULK_MIN - 1]);
    let message = One { v: vec![big(1), small, big(2), Bytes::new()] };
    let (mut out, mut bulk) = (vec![0xee], Vec::new());
    encode_root(&message, &mut Encoder::gathering(&mut out, &mut bulk)).unwrap();
    assert_eq!(bulk.len(), 2);
    assert_eq!(bulk[0].bytes.as_ptr(), message.v[0].as_ptr());
    assert_eq!(joined(&out[1..], 1, &bulk), encode(&message, Form::Flat));
}

/// Returns an encoding with its shared parts inserted at their positions, which count from `before` bytes before it.
fn joined(out: &[u8], before: usize, bulk: &[Bulk]) -> Vec<u8> {
    let mut joined = Vec::new();
    let mut from = 0;
    for Bulk { at, bytes } in bulk {
        joined.extend_from_slice(&out[from..at - before]);
        joined.extend_from_slice(bytes);
        from = at - before;
    }
    joined.extend_from_slice(&out[from..]);
    joined
}

#[test]
fn copier_receives_long_strings_unchanged() {
    let text = |length| "a".repeat(length);
    let message = One { v: vec![text(LONG_MIN), text(LONG_MIN - 1), text(LONG_MIN + 1), text(0)] };
    let (mut out, mut bulk) = (Vec::new(), Vec::new());
    encode_root(&message, &mut Encoder::gathering(&mut out, &mut bulk).copying(Bytes::copy_from_slice)).unwrap();
    assert_eq!(bulk.iter().map(|part| part.bytes.len()).collect::<Vec<_>>(), [LONG_MIN, LONG_MIN + 1]);
    assert_eq!(joined(&out, 0, &bulk), encode(&message, Form::Flat));

    let (mut out, mut bulk) = (Vec::new(), Vec::new());
    encode_root(&message, &mut Encoder::gathering(&mut out, &mut bulk)).unwrap();
    assert_eq!((out, bulk.len()), (encode(&message, Form::Flat), 0));
}

#[test]
fn failed_encoding_leaves_no_bulk_data() {
    /// A message with bytes in front of messages that are nested too deeply.
    #[derive(Default)]
    struct Both(Bytes, Deep);
    impl polyglot::Fields for Both {
        const NAME: &'static str = "test.Both";
        fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), polyglot::EncodeError> {
            to.field("bytes", &self.0)?;
            to.field("deep", &self.1)
        }
        fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
            Ok(Self(from.field("bytes")?, from.field("deep")?))
        }
    }
    let (mut out, mut bulk) = (vec![0xee], vec![Bulk { at: 0, bytes: Bytes::new() }]);
    let both = Both(Bytes::from(vec![1; BULK_MIN]), Deep::levels(NESTING_CEILING));
    encode_root(&both, &mut Encoder::gathering(&mut out, &mut bulk)).unwrap_err();
    assert_eq!((out.len(), bulk.len()), (1, 1));
}

/// An undecoded message keeps the limit of its decoder, because a server permits longer bodies to use more memory than
/// the default.
#[test]
fn undecoded_message_keeps_decoder_memory_limit() {
    let message = One { v: vec![true; 100] };
    let body = encode(&message, Form::Flat);
    let undecoded = |memory| {
        let mut decoder = Decoder::new(&body).with_container_memory(memory);
        match decode_root::<Undecoded<One<Vec<bool>>>>(&mut decoder).unwrap() {
            polyglot::Root::Message(undecoded) => undecoded.decode(),
            polyglot::Root::Error(text) => panic!("body should contain a message instead of the error {text:?}"),
        }
    };
    assert_eq!(undecoded(100).unwrap(), message);
    assert_eq!(undecoded(99).unwrap_err().reason(), &DecodeReason::ContainerMemory { needed: 100, left: 99 });
}

/// Tests strings that are validated and copied in several chunks.
#[test]
fn long_strings_validate_utf8_at_any_offset() {
    for before in 0..10 {
        let text: String = "x".repeat(before).chars().chain("aä€🐢".chars().cycle().take(3 * BULK_MIN)).collect();
        let mut bytes = Vec::new();
        Encoder::new(&mut bytes).string(&text).unwrap();
        assert!(Decoder::new(&bytes).string().unwrap() == text, "string after {before} bytes should be read");
        // Overwrite four bytes with continuation bytes, which must follow the first byte of a character.
        let content = bytes.len() - text.len();
        for at in BULK_MIN - 4..=BULK_MIN {
            let mut bad = bytes.clone();
            bad[content + at..][..4].fill(0x80);
            let error = Decoder::new(&bad).string().unwrap_err();
            assert_eq!(
                error.reason(),
                &DecodeReason::Utf8,
                "string after {before} bytes, invalid at {at}, should be rejected"
            );
        }
    }
}

/// Long strings are validated by other code than short ones.
#[test]
fn utf8_is_validated_at_every_string_length() {
    for length in [30, BULK_MIN - 1, BULK_MIN, BULK_MIN + 1, 4 * BULK_MIN] {
        let text: String = "aä€🐢".chars().cycle().take(length / 3).collect();
        let mut bytes = Vec::new();
        Encoder::new(&mut bytes).string(&text).unwrap();
        assert!(Decoder::new(&bytes).string().unwrap() == text, "string of {length} bytes should be read");
        assert!(Decoder::new(&bytes).str().unwrap() == text, "borrowed string of {length} bytes should be read");

        let content = bytes.len() - text.len();
        for at in [content, bytes.len() / 2, bytes.len() - 1] {
            let mut bad = bytes.clone();
            bad[at] = 0xff;
            let mut decoder = Decoder::new(&bad);
            for error in [decoder.string().unwrap_err(), decoder.str().unwrap_err()] {
                assert_eq!(
                    (error.reason(), error.offset()),
                    (&DecodeReason::Utf8, 0),
                    "string of {length} bytes, invalid at {at}, should be rejected"
                );
            }
            assert_eq!(decoder.position(), 0);
        }
    }
}

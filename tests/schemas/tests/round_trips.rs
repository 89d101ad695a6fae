//! Tests that random values of every message survive each codec, and that two builds encode a value equally.
//!
//! The values come in protobuf's encoding, from a generator that is independent of the generated code.

use crate::random::{Random, pool, protobuf};
use frpc::polyglot::{self, Decoder, Encoder, Form, Root};
use std::fmt::Debug;

/// Number of random values of each message type.
const VALUES: u64 = 200;

/// Encodes a message as a body.
fn encoded<M: polyglot::Message>(message: &M, form: Form) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out).with_form(form);
    polyglot::encode_root(message, &mut encoder).unwrap();
    let lost = encoder.lost_presence();
    (out, lost)
}

#[track_caller]
fn decoded<M: polyglot::Message>(body: &[u8]) -> M {
    let mut decoder = Decoder::new(body);
    let Root::Message(message) = polyglot::decode_root(&mut decoder).unwrap() else {
        panic!("body should not be an error")
    };
    assert_eq!(decoder.remaining(), 0);
    message
}

#[track_caller]
fn survives<M: polyglot::Message + frpc::prost::Message + PartialEq + Debug>(bytes: &[u8]) {
    let message = M::decode(bytes).unwrap();
    let (rich, lost) = encoded(&message, Form::Extended);
    assert!(!lost);
    assert_eq!(decoded::<M>(&rich), message);
    // Decodes over an empty message, and over one with longer lists.
    for over in [M::default(), M::decode(&*bytes.repeat(2)).unwrap()] {
        let mut over = over;
        assert_eq!(over.decode_root_over(&mut Decoder::new(&rich)).unwrap(), Root::Message(()));
        assert_eq!(over, message);
    }
    let (flat, lost) = encoded(&message, Form::Flat);
    let back = decoded::<M>(&flat);
    if !lost {
        assert_eq!(back, message);
    }
}

/// With the protobuf codec, a body is a bytes value that contains prost's encoding of the message.
#[track_caller]
fn is_enclosed<M: polyglot::Message + frpc::prost::Message + PartialEq + Debug>(bytes: &[u8]) {
    let message = M::decode(bytes).unwrap();
    let (body, lost) = encoded(&message, Form::Flat);
    assert!(!lost);
    let mut enclosed = Vec::new();
    Encoder::new(&mut enclosed).bytes(&message.encode_to_vec()).unwrap();
    assert_eq!(body, enclosed);
    assert_eq!(decoded::<M>(&body), message);
    let shared = polyglot::decode_root(&mut Decoder::shared(&body.into())).unwrap();
    assert_eq!(shared, Root::Message(message));
}

/// Encodes and decodes random values of the listed messages with their codec.
macro_rules! survive {
    ($pool:expr, $package:literal, $($module:ident)::+, $($message:ident)*) => {
        check!(survives, $pool, $package, $($module)::+, $($message)*)
    };
}

/// Passes random values of the listed messages to a check.
macro_rules! check {
    ($check:ident, $pool:expr, $package:literal, $($module:ident)::+, $($message:ident)*) => {{
        use schema_tests::$($module)::+ as module;
        $(
            let name = concat!($package, ".", stringify!($message));
            let descriptor = $pool.get_message_by_name(name).unwrap();
            for seed in 0..VALUES {
                $check::<module::$message>(&protobuf(&descriptor, &mut Random::new(seed)));
            }
        )*
    }};
}

#[test]
fn every_scalar_survives_in_every_shape() {
    survive!(pool(&["scalars"], "proto"), "scalars", all::scalars, Singular Optional Repeated Unpacked Chosen);
}

#[test]
fn maps_of_every_type_round_trip() {
    survive!(pool(&["maps"], "proto"), "maps", all::maps,
        OfInt32 OfInt64 OfUint32 OfUint64 OfSint32 OfSint64 OfFixed32 OfFixed64 OfSfixed32 OfSfixed64 OfBool OfString);
}

#[test]
fn enums_nested_and_recursive_types_survive() {
    survive!(pool(&["enums"], "proto"), "enums", all::enums, Outer);
    survive!(pool(&["nested"], "proto"), "nested", all::nested, A);
    survive!(pool(&["recursive"], "proto"), "recursive", all::recursive, List Tree Ping Pong Term Sum);
    survive!(pool(&["reports"], "proto"), "reports", all::reports, Outer Typed Cased Response Dynamic);
}

#[test]
fn imported_types_odd_names_and_bytes_survive() {
    survive!(pool(&["imports"], "proto"), "imports.deep.v1", all::imports::deep::v1, Uses);
    survive!(pool(&["again"], "proto"), "imports", all::imports, Again);
    survive!(pool(&["names"], "proto"), "names", all::names,
        Keywords KeywordChoice KeywordEnum KeywordMessages Locals LocalChoice Inner);
    survive!(pool(&["services"], "proto"), "services", all::services, Bulk Empty);
}

#[test]
fn well_known_types_survive() {
    survive!(pool(&["wellknown"], "proto"), "wellknown", all::wellknown, Singular Optional Repeated Mapped Chosen);
}

#[test]
fn schemas_of_golden_files_survive() {
    let pool = pool(&["shapes", "presence"], "../../crates/frpc-build/tests/proto");
    survive!(pool, "presence", golden::presence, Optionals Choices);
}

#[test]
fn messages_survive_with_protobuf_as_codec() {
    let pool = pool(
        &["scalars", "maps", "enums", "nested", "recursive", "imports", "services", "wellknown", "names"],
        "proto",
    );
    check!(is_enclosed, pool, "scalars", protobuf::scalars, Singular Optional Repeated Chosen);
    check!(is_enclosed, pool, "maps", protobuf::maps, OfInt32 OfBool OfString);
    check!(is_enclosed, pool, "enums", protobuf::enums, Outer);
    check!(is_enclosed, pool, "nested", protobuf::nested, A);
    check!(is_enclosed, pool, "recursive", protobuf::recursive, List Tree Ping Pong Term Sum);
    check!(is_enclosed, pool, "imports.deep.v1", protobuf::imports::deep::v1, Uses);
    check!(is_enclosed, pool, "services", protobuf::services, Bulk Empty);
    check!(is_enclosed, pool, "wellknown", protobuf::wellknown, Singular Optional Repeated Mapped Chosen);
    check!(is_enclosed, pool, "names", protobuf::names, Keywords Locals LocalChoice Inner);
}

#[test]
fn enclosed_protobuf_rejects_other_body_kinds() {
    use schema_tests::protobuf::{recursive::Tree, services::Word};
    let read = |body: &[u8]| polyglot::decode_root::<Word>(&mut Decoder::new(body));
    assert_eq!(read(&[0]).unwrap(), Root::Message(Word::default()));
    assert_eq!(read(&[6, 5, 0x0a, 2, b'n', b'o']).unwrap(), Root::Error("no".to_owned()));
    assert_eq!(
        read(&[8, 0, 5, 0x0a, 0]).unwrap_err().to_string(),
        "in `services.Word` at byte 0: bytes expected, found u8"
    );
    let error = read(&[4, 0x0a, 2, 0x0a, 9]).unwrap_err();
    assert!(error.to_string().starts_with("in `services.Word` at byte 0: failed to decode"), "{error}");
    assert!(read(&[4, 0x0a, 9, 0x0a, 0]).is_err());
    assert!(read(&[]).is_err());
    let children = [0x12, 0].repeat(1 << 20);
    let mut body = Vec::new();
    Encoder::new(&mut body).bytes(&children).unwrap();
    let error = polyglot::decode_root::<Tree>(&mut Decoder::new(&body)).unwrap_err();
    assert!(error.to_string().contains("in `recursive.Tree` at byte "), "{error}");
    assert!(error.to_string().ends_with("bytes of memory, but only 67108864 remain of the limit"), "{error}");
    let mut decoder = Decoder::new(&[4, 0x0a, 0, 0xff]);
    assert_eq!(polyglot::decode_root::<Word>(&mut decoder).unwrap(), Root::Message(Word::default()));
    assert_eq!(decoder.remaining(), 1, "bytes after the body should be left unread");
}

/// Checks that two builds encode a value equally. Maps have no order, so the bytes are not compared. Instead, the
/// values that the other build's body decodes to are compared.
fn same_wire<A, B>(bytes: &[u8], form: Form)
where
    A: polyglot::Message + frpc::prost::Message + PartialEq + Debug,
    B: polyglot::Message + frpc::prost::Message + PartialEq + Debug,
{
    let (one, other) = (A::decode(bytes).unwrap(), B::decode(bytes).unwrap());
    let (from_one, from_other) = (encoded(&one, form), encoded(&other, form));
    assert_eq!((from_one.0.len(), from_one.1), (from_other.0.len(), from_other.1));
    if !from_one.1 {
        assert_eq!(decoded::<B>(&from_one.0), other);
        assert_eq!(decoded::<A>(&from_other.0), one);
    }
}

#[test]
fn well_known_types_encode_as_declared_messages() {
    let pool = pool(&["wellknown"], "proto");
    macro_rules! same {
        ($($message:ident)*) => {$(
            let descriptor = pool.get_message_by_name(concat!("wellknown.", stringify!($message))).unwrap();
            for seed in 0..VALUES {
                let bytes = protobuf(&descriptor, &mut Random::new(seed));
                for form in [Form::Flat, Form::Extended] {
                    same_wire::<
                        schema_tests::all::wellknown::$message,
                        schema_tests::compiled::wellknown::$message,
                    >(&bytes, form);
                }
            }
        )*};
    }
    same!(Singular Optional Repeated Mapped Chosen);
}

#[test]
fn wrapper_bodies_encode_as_declared_messages() {
    use schema_tests::compiled::google::protobuf as compiled;
    fn check<A: polyglot::Message, B: polyglot::Message>(value: &A, message: &B) {
        assert_eq!(A::NAME, B::NAME);
        assert_eq!(encoded(value, Form::Flat), encoded(message, Form::Flat));
    }
    check(&(), &compiled::Empty {});
    check(&"word".to_owned(), &compiled::StringValue { value: "word".into() });
    check(&vec![1_u8, 2], &compiled::BytesValue { value: vec![1, 2].into() });
    check(&true, &compiled::BoolValue { value: true });
    check(&-1_i32, &compiled::Int32Value { value: -1 });
    check(&-1_i64, &compiled::Int64Value { value: -1 });
    check(&1_u32, &compiled::UInt32Value { value: 1 });
    check(&1_u64, &compiled::UInt64Value { value: 1 });
    check(&0.5_f32, &compiled::FloatValue { value: 0.5 });
    check(&0.5_f64, &compiled::DoubleValue { value: 0.5 });
    assert_eq!(decoded::<String>(&[0]), "", "nil body should be the default");
}

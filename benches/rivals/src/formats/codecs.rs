//! The formats. Each encodes into a reused buffer, and decodes with the validation that untrusted input requires.

use crate::messages::Subject;
use bytes::Bytes;
use frpc::json;
use frpc::polyglot::{self, Decoder, Encoder, Fields, Root};
use rkyv::api::high::{HighDeserializer, HighSerializer, HighValidator};
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor::Error;
use rkyv::ser::allocator::ArenaHandle;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::hint::black_box;

/// A format of messages, with its buffer.
pub(crate) trait Format<M> {
    const NAME: &'static str;
    /// A remark for the list of formats.
    const ABOUT: &'static str;

    /// The decoded message, or a view of its bytes.
    type Decoded<'a>;

    fn new(message: &M) -> Self;
    fn encode(&mut self, message: &M) -> &[u8];
    fn decode<'a>(&mut self, from: &'a Bytes) -> Self::Decoded<'a>;

    /// Returns whether the decoded value equals the message.
    fn equals(decoded: &Self::Decoded<'_>, message: &M) -> bool;
}

/// The message of panics that cannot occur, because the input was encoded here.
const SOUND: &str = "the message is valid";

/// Implements formats that decode to the owned message.
macro_rules! owned {
    ($($type:ident = $name:literal, $about:literal, [$($bound:tt)*],
        |$message:ident, $to:ident| $encode:expr, |$from:ident| $decode:expr;)*) => {$(
        pub(crate) struct $type(Vec<u8>);

        impl<M: $($bound)* + PartialEq> Format<M> for $type {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            type Decoded<'a> = M;

            fn new(_message: &M) -> Self {
                Self(Vec::new())
            }

            fn encode(&mut self, $message: &M) -> &[u8] {
                self.0.clear();
                let $to = &mut self.0;
                $encode.expect(SOUND);
                &self.0
            }

            fn decode<'a>(&mut self, $from: &'a Bytes) -> M {
                $decode.expect(SOUND)
            }

            fn equals(decoded: &M, message: &M) -> bool {
                decoded == message
            }
        }
    )*};
}

owned! {
    Polyglot = "polyglot", "the native encoding of fRPC", [Fields],
        |message, to| polyglot::encode_root(message, &mut Encoder::new(to)),
        |from| root::<M>(&mut Decoder::new(from));
    Prost = "prost", "protobuf", [prost::Message + Default],
        |message, to| message.encode(to),
        |from| M::decode(&from[..]);
    Postcard = "postcard", "by serde, without names of fields", [Serialize + DeserializeOwned],
        |message, to| postcard::to_io(message, to),
        |from| postcard::from_bytes(from);
    MessagePack = "rmp-serde", "MessagePack by serde, without names of fields", [Serialize + DeserializeOwned],
        |message, to| rmp_serde::encode::write(to, message),
        |from| rmp_serde::from_slice(from);
    SerdeJson = "serde_json", "JSON by serde", [Serialize + DeserializeOwned],
        |message, to| serde_json::to_writer(to, message),
        |from| serde_json::from_slice(from);
    SonicRs = "sonic-rs", "JSON by serde, with the vector instructions of the compiler's target",
        [Serialize + DeserializeOwned],
        |message, to| sonic_rs::to_writer(to, message),
        |from| sonic_rs::from_slice(from);
    FrpcJson = "frpc-json", "JSON by the mapping of proto3, as fRPC's gateways use it", [json::Fields],
        |message, to| json::to_json(message, to),
        |from| json::from_json(from);
}

fn root<M: Fields>(decoder: &mut Decoder<'_>) -> Result<M, String> {
    match polyglot::decode_root(decoder) {
        Ok(Root::Message(message)) => Ok(message),
        Ok(Root::Error(text)) => Err(text.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Polyglot with strings and bytes that share the memory of the input.
pub(crate) struct SharedPolyglot<S> {
    message: S,
    buffer: Vec<u8>,
}

impl<M: Subject + prost::Message + PartialEq> Format<M> for SharedPolyglot<M::Shared> {
    const NAME: &'static str = "polyglot-shared";
    const ABOUT: &'static str = "polyglot with `Utf8Bytes` and `Bytes`, which share the memory of the input";
    type Decoded<'a> = M::Shared;

    fn new(message: &M) -> Self {
        let message = prost::Message::decode(&message.encode_to_vec()[..]).expect("types should share a schema");
        Self { message, buffer: Vec::new() }
    }

    fn encode(&mut self, _message: &M) -> &[u8] {
        self.buffer.clear();
        polyglot::encode_root(black_box(&self.message), &mut Encoder::new(&mut self.buffer)).expect(SOUND);
        &self.buffer
    }

    fn decode<'a>(&mut self, from: &'a Bytes) -> M::Shared {
        root(&mut Decoder::shared(from)).expect(SOUND)
    }

    fn equals(decoded: &M::Shared, message: &M) -> bool {
        M::decode(&prost::Message::encode_to_vec(decoded)[..]).is_ok_and(|decoded| decoded == *message)
    }
}

/// Polyglot read by views.
pub(crate) struct PolyglotView(Polyglot);

impl<M: Subject + PartialEq> Format<M> for PolyglotView {
    const NAME: &'static str = "polyglot-view";
    const ABOUT: &'static str =
        "polyglot read in place by generated views; lists and maps are checked, and read when used";
    type Decoded<'a> = M::View<'a>;

    fn new(message: &M) -> Self {
        Self(Polyglot::new(message))
    }

    fn encode(&mut self, message: &M) -> &[u8] {
        self.0.encode(message)
    }

    fn decode<'a>(&mut self, from: &'a Bytes) -> M::View<'a> {
        match polyglot::view_root(&mut Decoder::new(from)) {
            Ok(Root::Message(view)) => view,
            Ok(Root::Error(text)) => panic!("{text}"),
            Err(error) => panic!("{error}"),
        }
    }

    fn equals(decoded: &M::View<'_>, message: &M) -> bool {
        message.equals(decoded)
    }
}

/// A message that rkyv encodes, validates and decodes.
pub(crate) trait Archivable:
    Sized
    + PartialEq
    + for<'a> rkyv::Serialize<HighSerializer<Vec<u8>, ArenaHandle<'a>, Error>>
    + rkyv::Archive<
        Archived: for<'a> CheckBytes<HighValidator<'a, Error>> + rkyv::Deserialize<Self, HighDeserializer<Error>>,
    >
{
}

impl<M> Archivable for M where
    M: PartialEq
        + for<'a> rkyv::Serialize<HighSerializer<Vec<u8>, ArenaHandle<'a>, Error>>
        + rkyv::Archive<
            Archived: for<'a> CheckBytes<HighValidator<'a, Error>> + rkyv::Deserialize<Self, HighDeserializer<Error>>,
        >
{
}

/// rkyv, as owned messages.
pub(crate) struct Rkyv(Vec<u8>);

impl<M: Archivable> Format<M> for Rkyv {
    const NAME: &'static str = "rkyv";
    const ABOUT: &'static str = "validated, and deserialized into the owned message";
    type Decoded<'a> = M;

    fn new(_message: &M) -> Self {
        Self(Vec::new())
    }

    fn encode(&mut self, message: &M) -> &[u8] {
        let mut buffer = std::mem::take(&mut self.0);
        buffer.clear();
        self.0 = rkyv::api::high::to_bytes_in::<_, Error>(message, buffer).expect(SOUND);
        &self.0
    }

    fn decode<'a>(&mut self, from: &'a Bytes) -> M {
        rkyv::from_bytes::<M, Error>(from).expect(SOUND)
    }

    fn equals(decoded: &M, message: &M) -> bool {
        decoded == message
    }
}

/// rkyv, accessed in place after validation.
pub(crate) struct ValidatedRkyv(Rkyv);

impl<M: Archivable<Archived: 'static>> Format<M> for ValidatedRkyv {
    const NAME: &'static str = "rkyv-in-place";
    const ABOUT: &'static str = "rkyv validated and read in place, without deserialization";
    type Decoded<'a> = &'a M::Archived;

    fn new(message: &M) -> Self {
        Self(Rkyv::new(message))
    }

    fn encode(&mut self, message: &M) -> &[u8] {
        self.0.encode(message)
    }

    fn decode<'a>(&mut self, from: &'a Bytes) -> &'a M::Archived {
        rkyv::access::<M::Archived, Error>(from).expect(SOUND)
    }

    fn equals(decoded: &&M::Archived, message: &M) -> bool {
        rkyv::deserialize::<M, Error>(*decoded).is_ok_and(|decoded| decoded == *message)
    }
}

/// bitcode, with one buffer for both directions.
pub(crate) struct Bitcode(bitcode::Buffer);

impl<M: bitcode::Encode + bitcode::DecodeOwned + PartialEq> Format<M> for Bitcode {
    const NAME: &'static str = "bitcode";
    const ABOUT: &'static str = "by its own traits, with a reused buffer for each direction";
    type Decoded<'a> = M;

    fn new(_message: &M) -> Self {
        Self(bitcode::Buffer::new())
    }

    fn encode(&mut self, message: &M) -> &[u8] {
        self.0.encode(message)
    }

    fn decode<'a>(&mut self, from: &'a Bytes) -> M {
        self.0.decode(from).expect(SOUND)
    }

    fn equals(decoded: &M, message: &M) -> bool {
        decoded == message
    }
}

/// JSON by simd-json, which parses a copy of the input in place. All buffers are reused.
#[derive(Default)]
pub(crate) struct SimdJson {
    encoded: Vec<u8>,
    input: Vec<u8>,
    buffers: simd_json::Buffers,
}

impl<M: Serialize + DeserializeOwned + PartialEq> Format<M> for SimdJson {
    const NAME: &'static str = "simd-json";
    const ABOUT: &'static str = "JSON by serde, with reused buffers, and the vector instructions of the machine; decoding \
                                 includes a copy of the input, which it modifies";
    type Decoded<'a> = M;

    fn new(_message: &M) -> Self {
        Self::default()
    }

    fn encode(&mut self, message: &M) -> &[u8] {
        self.encoded.clear();
        simd_json::to_writer(&mut self.encoded, message).expect(SOUND);
        &self.encoded
    }

    fn decode<'a>(&mut self, from: &'a Bytes) -> M {
        self.input.clear();
        self.input.extend_from_slice(from);
        simd_json::serde::from_slice_with_buffers(&mut self.input, &mut self.buffers).expect(SOUND)
    }

    fn equals(decoded: &M, message: &M) -> bool {
        decoded == message
    }
}

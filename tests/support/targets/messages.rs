//! Fuzz targets for the codec.

use crate::extension::{Chunk, Failure, Maybe, Time};
use crate::interop::{Lists, Maps, Mixed, Nested, Payload, Scalars};
use crate::vec::{MStringMessage, RBool, RMessage, VAlias, VDeep, VMessage, VSparse};
use crate::vecopt::VOptional;
use bytes::Bytes;
use polyglot::{DecodeError, Decoder, EncodeReason, Encoder, Form, Kind, Message, Root, decode_root, encode_root};

/// Decodes values of any kind. Checks that a failed read does not move the decoder.
pub fn values(data: &[u8]) {
    let (reads, input) = data.split_at(data.len().min(16));
    let mut decoder = Decoder::new(input);
    for read in reads {
        let before = decoder.position();
        if !value(&mut decoder, *read) {
            assert_eq!(decoder.position(), before, "a value that fails does not move the decoder");
        }
        assert!(decoder.position() <= input.len());
        assert_eq!(decoder.position() + decoder.remaining(), input.len());
    }
    let input = Bytes::copy_from_slice(input);
    let mut shared = Decoder::shared(&input);
    while shared.bytes().is_ok() {}
}

fn value(from: &mut Decoder<'_>, kind: u8) -> bool {
    fn ok<T>(result: &Result<T, DecodeError>) -> bool {
        if let Err(error) = result {
            assert!(!error.to_string().is_empty());
        }
        result.is_ok()
    }
    let left = from.remaining();
    match kind % 18 {
        0 => ok(&from.nil()),
        1 => ok(&from.bool()),
        2 => ok(&from.u8()),
        3 => ok(&from.u16()),
        4 => ok(&from.u32()),
        5 => ok(&from.u64()),
        6 => ok(&from.i32()),
        7 => ok(&from.i64()),
        8 => ok(&from.f32()),
        9 => ok(&from.f64()),
        10 => ok(&from.str()),
        11 => ok(&from.slice()),
        12 => ok(&from.error_text()),
        13 => {
            let list = from.list(Kind::from_byte(kind / 18).unwrap_or(Kind::Any));
            assert!(list.as_ref().is_ok_and(|count| *count <= left) || list.is_err());
            ok(&list)
        }
        14 => {
            let map = from.map(Kind::String, Kind::from_byte(kind / 18).unwrap_or(Kind::Any));
            assert!(map.as_ref().is_ok_and(|count| *count <= left) || map.is_err());
            ok(&map)
        }
        15 => ok(&from.string()),
        16 => ok(&from.bytes()),
        _ => {
            let _ = from.take_nil();
            true
        }
    }
}

/// Checks that a decoded message survives a round trip and is then encoded to the same bytes.
pub fn messages(data: &[u8]) {
    let Some((&[which, form], body)) = data.split_first_chunk() else { return };
    let form = if form & 1 == 0 { Form::Flat } else { Form::Extended };
    match which % 16 {
        0 => round::<Scalars>(body, form),
        1 => round::<Nested>(body, form),
        2 => round::<Lists>(body, form),
        3 => round::<Maps>(body, form),
        4 => round::<Mixed>(body, form),
        5 => round::<Payload>(body, form),
        6 => round::<VOptional>(body, form),
        7 => round::<VDeep>(body, form),
        8 => round::<VMessage>(body, form),
        9 => round::<VSparse>(body, form),
        10 => round::<VAlias>(body, form),
        11 => round::<RMessage>(body, form),
        12 => round::<RBool>(body, form),
        13 => round::<MStringMessage>(body, form),
        14 => round::<Maybe>(body, form),
        _ => {
            round::<Failure>(body, form);
            round::<Time>(body, form);
            round::<Chunk>(body, form);
        }
    }
}

fn round<M: Message>(body: &[u8], form: Form) {
    let Ok(Root::Message(mut message)) = decode_root::<M>(&mut Decoder::new(body)) else { return };
    let whole = matches!(message.decode_root_over(&mut Decoder::new(body)), Ok(Root::Message(())));
    assert!(whole, "{} is not read over itself", M::NAME);
    let Some(written) = written(&message, form) else { return };
    let shared = Bytes::from(written.clone());
    let again = match decode_root::<M>(&mut Decoder::shared(&shared)) {
        Ok(Root::Message(again)) => again,
        Ok(Root::Error(text)) => panic!("{} has become the error {text}", M::NAME),
        Err(error) => panic!("the encoding of {} is not decoded: {error}", M::NAME),
    };
    // The order of maps and NaNs may make the encodings different, but not their lengths.
    let length = self::written(&again, form).map(|again| again.len());
    assert_eq!(length, Some(written.len()), "{} is written otherwise", M::NAME);
}

/// Encodes a message. Returns `None` if it contains an enum value that the flat form cannot represent.
fn written<M: Message>(message: &M, form: Form) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    match encode_root(message, &mut Encoder::new(&mut bytes).with_form(form)) {
        Ok(()) => Some(bytes),
        Err(error) if form == Form::Flat && matches!(error.reason(), EncodeReason::UnknownNumber { .. }) => None,
        Err(error) => panic!("{} is not encoded: {error}", M::NAME),
    }
}

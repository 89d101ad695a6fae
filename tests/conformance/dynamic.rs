//! Compares the codec that uses descriptors with the generated codecs, on random values of all messages in many
//! schemas. Both must produce the same bytes in both forms of Polyglot and the same JSON, and must accept and reject
//! the same damaged bodies and JSON.
//!
//! `DYNAMIC_VALUES` sets the number of values per test (5000), and `CONFORMANCE_SEED` selects them.

use std::env;

use super::random::Random;
use conformance::{DESCRIPTORS, MESSAGES, Ways};
use frpc::polyglot::{Decoder, Encoder, Form, Root};
use frpc_dynamic::{Codec, DynamicMessage, MessageDescriptor, from_json, to_json};
use prost_reflect::DescriptorPool;
use prost_reflect::prost::Message as _;

fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{variable} is {value:?}")))
}

/// Calls a function with `count` random values, using each message type in turn.
fn for_values(count: u64, mut check: impl FnMut(&Ways, &MessageDescriptor, &DynamicMessage, &mut Random) -> Outcome) {
    let seed = number("CONFORMANCE_SEED", 1);
    let pool = DescriptorPool::decode(DESCRIPTORS).expect("descriptors should be valid");
    let mut random = Random::new(seed);
    for at in 0..count {
        let (name, ways) = &MESSAGES[usize::try_from(at).expect("value should fit usize") % MESSAGES.len()];
        let descriptor = pool.get_message_by_name(name).expect("schema should contain the message");
        // The value passes through protobuf, where negative zero without presence is the default value.
        let value = random.message(&descriptor).encode_to_vec();
        let value = DynamicMessage::decode(descriptor.clone(), &*value).expect("encoded message should be decodable");
        let checked = check(ways, &descriptor, &value, &mut random);
        checked.unwrap_or_else(|error| panic!("value {at} of seed {seed}, a `{name}`: {error}"));
    }
}

type Outcome = Result<(), String>;

fn written(codec: &Codec, value: &DynamicMessage, form: Form) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    codec.encode(value, &mut Encoder::new(&mut out).with_form(form)).map_err(|error| error.to_string())?;
    Ok(out)
}

fn read(codec: &Codec, descriptor: &MessageDescriptor, body: &[u8]) -> Result<DynamicMessage, String> {
    match codec.decode(descriptor, &mut Decoder::new(body)).map_err(|error| error.to_string())? {
        Root::Message(message) => Ok(message),
        Root::Error(text) => Err(format!("the body is an error: {text}")),
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: &T, generated: &T) -> Outcome {
    if ours == generated { Ok(()) } else { Err(format!("{what}\n     ours: {ours:02x?}\ngenerated: {generated:02x?}")) }
}

/// Number of inputs that both codecs rejected, and number of inputs that both accepted.
#[derive(Default)]
struct Verdicts {
    refused: usize,
    accepted: usize,
}

impl Verdicts {
    fn compare<T: PartialEq + std::fmt::Debug>(
        &mut self,
        ours: Result<T, String>,
        generated: Result<T, String>,
        shown: impl FnOnce() -> String,
    ) -> Outcome {
        match (ours, generated) {
            (Ok(ours), Ok(generated)) => {
                self.accepted += 1;
                same("read otherwise", &ours, &generated)
            }
            (Err(_), Err(_)) => {
                self.refused += 1;
                Ok(())
            }
            (Ok(_), Err(error)) => Err(format!("the generated codec alone refuses {}: {error}", shown())),
            (Err(error), Ok(_)) => Err(format!("the codec by descriptors alone refuses {}: {error}", shown())),
        }
    }

    fn are_of_both_kinds(&self) {
        let Self { refused, accepted } = self;
        assert!(*refused > 100 && *accepted > 100, "{refused} were refused, {accepted} accepted");
    }
}

#[test]
fn dynamic_bytes_match_generated_codec_both_ways() {
    let codec = Codec::new();
    for_values(number("DYNAMIC_VALUES", 5_000), |ways, descriptor, value, _| {
        let protobuf = value.encode_to_vec();
        for (form, generated) in [(Form::Flat, (ways.carry)(&protobuf)?), (Form::Extended, (ways.rich)(&protobuf)?)] {
            same("written otherwise", &written(&codec, value, form)?, &generated)?;
            let again = read(&codec, descriptor, &generated)?;
            same("read otherwise", &written(&codec, &again, form)?, &generated)?;
        }
        Ok(())
    });
}

#[test]
fn dynamic_json_matches_generated_codec_both_ways() {
    for_values(number("DYNAMIC_VALUES", 5_000), |ways, descriptor, value, _| {
        let protobuf = value.encode_to_vec();
        let ours = to_json(value).map_err(|error| error.to_string());
        let Some(generated) = (ways.to_json)(&protobuf)? else {
            return ours.map_or(Ok(()), |json| Err(format!("the codec by descriptors alone has JSON: {json}")));
        };
        let generated = String::from_utf8(generated).map_err(|error| error.to_string())?;
        same("written otherwise", &ours?, &generated)?;
        let again = from_json(descriptor, generated.as_bytes()).map_err(|error| error.to_string())?;
        same("read otherwise", &to_json(&again).map_err(|error| error.to_string())?, &generated)
    });
}

#[test]
fn codecs_agree_on_rejecting_mutated_json() {
    let mut verdicts = Verdicts::default();
    for_values(number("DYNAMIC_VALUES", 5_000), |ways, descriptor, value, random| {
        let Ok(json) = to_json(value) else { return Ok(()) };
        let mut json = json.into_bytes();
        for _ in 0..=random.below(3) {
            let (at, letters) = (random.below(json.len()), b"{}[]\",:0123456789.eE+-nulltrue @_AaZz");
            let letter = letters[random.below(letters.len())];
            match random.below(4) {
                0 => drop(json.remove(at)),
                1 => json.insert(at, letter),
                // Duplicates a part, such as a key with its value.
                2 => {
                    let part = json[at..].to_vec();
                    let part = &part[..random.below(part.len() + 1)];
                    json.splice(at..at, part.iter().copied());
                }
                _ => json[at] = letter,
            }
            if json.is_empty() {
                break;
            }
        }
        let ours = from_json(descriptor, &json).and_then(|again| to_json(&again)).map_err(|error| error.to_string());
        let shown = String::from_utf8_lossy(&json);
        verdicts.compare(ours, (ways.read_json)(&json), || shown.into_owned())
    });
    verdicts.are_of_both_kinds();
}

#[test]
fn both_codecs_refuse_same_malformed_bodies() {
    let codec = Codec::new();
    let mut verdicts = Verdicts::default();
    for_values(number("DYNAMIC_VALUES", 5_000), |ways, descriptor, value, random| {
        let form = [Form::Flat, Form::Extended][random.below(2)];
        let mut body = written(&codec, value, form)?;
        for _ in 0..=random.below(3) {
            let at = random.below(body.len());
            match random.below(4) {
                0 => body.truncate(at.max(1)),
                1 => drop(body.remove(at)),
                2 => body.insert(at, u8::try_from(random.below(256)).expect("random value should fit into a byte")),
                _ => body[at] = u8::try_from(random.below(256)).expect("random value should fit into a byte"),
            }
            if body.is_empty() {
                break;
            }
        }
        let ours = read(&codec, descriptor, &body).and_then(|again| written(&codec, &again, Form::Extended));
        verdicts.compare(ours, (ways.read)(&body), || format!("{body:02x?}"))
    });
    verdicts.are_of_both_kinds();
}

//! A number for the wire layout of a service, by which peers find out whether they understand each other.
//!
//! Owns the canonical description that is hashed. It holds operations, kinds and enum indexes, and no name: types are
//! numbered as they are first met. With protobuf, whose fields are not recorded, it holds the names of messages
//! instead. docs/schema-lock.md specifies it; a change here is a change of the protocol.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use super::record::{Method, Record, Service, Shape, Side, Type};
use crate::codec::Codec;

/// Stands for the wire layout of a service: its operations, and the layouts of the messages and enums that its methods
/// reach. Equal layouts have equal fingerprints, whatever names the schema uses; with
/// [`Codec::Protobuf`](crate::Codec::Protobuf), if their requests and replies are called the same.
///
/// ```
/// let fingerprint: frpc_build::Fingerprint = "00000000000000ff".parse()?;
/// assert_eq!(fingerprint.get(), 255);
/// assert_eq!(fingerprint.to_string(), "00000000000000ff");
/// # Ok::<(), frpc_build::NotAFingerprint>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// The number itself.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Of a service of `record`.
    pub(crate) fn of(service: &Service, record: &Record) -> Self {
        let text = canonical(service, record);
        // FNV-1a with 64 bits.
        Self(text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = NotAFingerprint;

    fn from_str(text: &str) -> Result<Self, NotAFingerprint> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 16 || !text.bytes().all(is_hex) {
            return Err(NotAFingerprint(()));
        }
        u64::from_str_radix(text, 16).map(Self).map_err(|_| NotAFingerprint(()))
    }
}

/// The text is not a [`Fingerprint`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAFingerprint(());

impl fmt::Display for NotAFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fingerprint is 16 hexadecimal digits, in lower case")
    }
}

impl std::error::Error for NotAFingerprint {}

/// One line for the service, one for each method by operation, one for each type in the order in which the lines before
/// name it.
fn canonical(service: &Service, record: &Record) -> String {
    let mut types = Numbers::default();
    let codec = match record.codec {
        Codec::Polyglot => "",
        Codec::Protobuf => " protobuf",
    };
    let mut text = format!("layout 1 {}{codec}\n", service.generation);
    for Method { operation, request, reply, .. } in &service.methods {
        let mut side = |side: &'_ Side| types.of(&side.message).to_string() + if side.is_stream { "*" } else { "" };
        let line = [operation.to_string(), side(request), side(reply)].join(" ");
        text.push_str(&line);
        text.push('\n');
    }
    let mut at = 0;
    while let Some(name) = types.met.get(at).cloned() {
        at += 1;
        let line = match (record.enums.get(&name), record.messages.get(&name)) {
            (Some(found), _) => format!("enum {}", found.values.len()),
            (None, _) if record.codec == Codec::Protobuf => format!("message {name}"),
            (None, found) => {
                let mut oneofs = Numbers::default();
                let fields = found.map_or(&[][..], |message| &message.fields);
                let fields = fields.iter().map(|field| format!(" {}", shape(&field.shape, &mut types, &mut oneofs)));
                format!("message{}", fields.collect::<String>())
            }
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn shape(shape: &Shape, types: &mut Numbers, oneofs: &mut Numbers) -> String {
    let mut of = |of: &Type| of.name().map_or_else(|| of.to_string(), |name| types.of(name).to_string());
    match shape {
        Shape::Single(value) => of(value),
        Shape::Optional(value) => format!("optional:{}", of(value)),
        Shape::Member { oneof, member, of: value } => format!("oneof:{}:{member}:{}", oneofs.of(oneof), of(value)),
        Shape::Repeated(value) => format!("repeated:{}", of(value)),
        Shape::Map(key, value) => format!("map:{}:{}", of(key), of(value)),
    }
}

/// Numbers names as they are first met, from 0.
#[derive(Default)]
struct Numbers {
    numbers: HashMap<String, usize>,
    met: Vec<String>,
}

impl Numbers {
    fn of(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.numbers.insert(name.to_owned(), self.met.len());
        self.met.push(name.to_owned());
        self.met.len() - 1
    }
}

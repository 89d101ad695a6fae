//! The wire layout of a service, and the fingerprint by which peers compare layouts.
//!
//! A fingerprint is the hash of a canonical description. The description contains operations, kinds of fields and
//! numbers of enum values, but no names: types are numbered in the order of their first use. With protobuf, whose
//! fields are not recorded, it contains the names of messages instead. docs/schema-lock-format.md specifies it.
//! Changing it here changes the protocol.

use std::collections::BTreeMap;
use std::fmt;

use indexmap::IndexSet;

use super::record::{Method, Record, Service, Shape, Side, Type};
use crate::codec::Codec;

/// A hash of a service's wire layout, which consists of its operations and of the layouts of all messages and enums in
/// its requests and replies. It is displayed as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the 64-bit FNV-1a hash of the description of a service in `record`.
    pub(super) fn of(service: &Service, record: &Record) -> Self {
        Self(canonical(service, record).bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    /// Parses 16 hexadecimal digits, in lower case.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let number = u64::from_str_radix(text, 16).ok().map(Self)?;
        (number.to_string() == text).then_some(number)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The wire layout of a service, which peers compare before calls.
///
/// Two peers understand each other if their fingerprints are equal, or if the fingerprint of one is among the
/// [`compatible`](Self::compatible) fingerprints of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    service: String,
    /// The methods with their operations, in the order of operations.
    methods: Vec<(String, u16)>,
    fingerprint: Fingerprint,
    compatible: Vec<Fingerprint>,
    appended: BTreeMap<String, u32>,
}

impl Layout {
    /// Returns the full name of the service.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Returns the names of its methods with their operations, in the order of operations.
    pub fn methods(&self) -> impl Iterator<Item = (&str, u16)> {
        self.methods.iter().map(|(name, operation)| (name.as_str(), *operation))
    }

    /// Returns the fingerprint of this layout.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the fingerprints of compatible earlier layouts, as the schema lock records them: at most 32, the oldest
    /// first.
    pub fn compatible(&self) -> &[Fingerprint] {
        &self.compatible
    }

    /// Returns the number of fields of a message, named with its leading dot, that some compatible peers do not send.
    pub fn added(&self, message: &str) -> u32 {
        let name = message.trim_start_matches('.');
        self.appended.get(name).copied().unwrap_or(0)
    }

    /// Returns the full names of requests, replies and stream messages with appended fields, each with the number of
    /// fields that some compatible peers do not send. These fields are the last in wire order. Each member of a oneof
    /// counts as a field.
    pub fn appended(&self) -> impl Iterator<Item = (&str, u32)> {
        self.appended.iter().map(|(name, fields)| (name.as_str(), *fields))
    }
}

/// Returns the layouts of all services in `record`.
pub(crate) fn layouts(record: &Record) -> Vec<Layout> {
    let layout = |service: &Service| {
        let appended = service.roots().filter_map(|name| {
            let fields = &record.messages.get(name)?.fields;
            let added = fields.iter().rev().take_while(|field| field.is_added).count();
            (added > 0).then(|| (name.to_owned(), u32::try_from(added).unwrap_or(u32::MAX)))
        });
        Layout {
            service: service.name.clone(),
            methods: service.methods.iter().map(|method| (method.name.clone(), method.operation)).collect(),
            fingerprint: Fingerprint::of(service, record),
            compatible: service.compatible.clone(),
            appended: appended.collect(),
        }
    };
    record.services().map(layout).collect()
}

/// Returns a description with one line for the service, one per method in the order of operations, and one per type in
/// the order of first use.
fn canonical(service: &Service, record: &Record) -> String {
    // The positions of the names are their numbers.
    let mut types = IndexSet::new();
    let codec = match record.codec {
        Codec::Polyglot => "",
        Codec::Protobuf => " protobuf",
    };
    let mut text = format!("layout 1 {}{codec}\n", service.generation);
    for Method { operation, request, reply, .. } in &service.methods {
        let mut side = |side: &'_ Side| {
            types.insert_full(side.message.clone()).0.to_string() + if side.is_stream { "*" } else { "" }
        };
        let line = [operation.to_string(), side(request), side(reply)].join(" ");
        text.push_str(&line);
        text.push('\n');
    }
    let mut at = 0;
    while let Some(name) = types.get_index(at).cloned() {
        at += 1;
        let line = match (record.enums.get(&name), record.messages.get(&name)) {
            (Some(found), _) => format!("enum {}", found.values.len()),
            (None, _) if record.codec == Codec::Protobuf => format!("message {name}"),
            (None, found) => {
                let mut oneofs = IndexSet::new();
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

fn shape(shape: &Shape, types: &mut IndexSet<String>, oneofs: &mut IndexSet<String>) -> String {
    let mut of = |of: &Type| match of.name() {
        Some(name) => types.insert_full(name.to_owned()).0.to_string(),
        None => of.to_string(),
    };
    match shape {
        Shape::Single(value) => of(value),
        Shape::Optional(value) => format!("optional:{}", of(value)),
        Shape::Member { oneof, member, of: value } => {
            format!("oneof:{}:{member}:{}", oneofs.insert_full(oneof.clone()).0, of(value))
        }
        Shape::Repeated(value) => format!("repeated:{}", of(value)),
        Shape::Map(key, value) => format!("map:{}:{}", of(key), of(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::Fingerprint;

    #[test]
    fn a_fingerprint_is_16_digits() {
        for text in ["", "12", "00000000000000fg", "00000000000000FF", "+000000000000001", "00000000000000001"] {
            assert_eq!(Fingerprint::parse(text), None, "{text}");
        }
        assert_eq!(Fingerprint::parse("00000000000000ff").map(Fingerprint::get), Some(255));
    }
}

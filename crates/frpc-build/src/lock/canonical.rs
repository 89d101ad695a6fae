//! The canonical description of a service's wire layout. A fingerprint is its hash.
//!
//! It contains operations, kinds of fields and numbers of enum values, but no names: types are numbered in the order of
//! their first use. With protobuf, which has no recorded fields, it contains the names of messages instead.
//! docs/schema-lock-format.md specifies it; a change here changes the protocol.

use std::collections::HashMap;

use super::fingerprint::Fingerprint;
use super::record::{Method, Record, Service, Shape, Side, Type};
use crate::codec::Codec;

/// The fingerprint of a service of `record`.
pub(crate) fn fingerprint(service: &Service, record: &Record) -> Fingerprint {
    Fingerprint::of(&canonical(service, record))
}

/// One line for the service, one for each method in the order of operations, and one for each type in the order of
/// first use.
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

/// Numbers names from 0 in the order of first use.
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

//! The text form of a lock. Each method, field and value is on its own line, so that a diff shows each change.
//! docs/schema-lock-format.md specifies it.

use std::fmt;
use std::fmt::Write as _;

use super::layout::Fingerprint;
use super::record::{Enum, Field, File, Message, Method, Origin, Record, SCALARS, Service, Shape, Side, Type, Value};
use crate::codec::Codec;
use crate::schema::OPERATION_FIRST;
use crate::schema::parse::BYTE_ORDER_MARK;

const HEAD: &str = "\
# The wire layout of this package, written by frpc-build. Commit this file together with the schema.
# A build with FRPC_UPDATE_LOCK=1 in its environment records changes of the schema that are safe.
";

/// The line with the format version.
const FORMAT: &str = "frpc-lock 1";

/// Writes a record. The text depends only on the content.
pub(crate) fn write(record: &Record) -> String {
    let mut text = format!("{HEAD}{FORMAT}\n");
    let mut line = |indent: &str, what: fmt::Arguments<'_>| {
        writeln!(text, "{indent}{what}").expect("string should accept the text");
    };
    if record.codec == Codec::Protobuf {
        line("", format_args!("codec protobuf"));
    }
    let mut files: Vec<_> = record.files.iter().collect();
    files.sort_by_key(|file| &file.name);
    for file in files {
        line("\n", format_args!("file {}", file.name));
        for (operation, name) in &file.removed {
            line("removed ", format_args!("{operation} {name}"));
        }
        let mut services: Vec<_> = file.services.iter().collect();
        services.sort_by_key(|service| {
            (service.methods.first().map_or(u16::MAX, |method| method.operation), &service.name)
        });
        for service in services {
            line("\n", format_args!("service {}", service.name));
            for Method { operation, name, request, reply, .. } in &service.methods {
                line("  ", format_args!("{operation} {name} {request} -> {reply}"));
            }
            if service.generation != 0 {
                line("  ", format_args!("generation {}", service.generation));
            }
            for fingerprint in &service.compatible {
                line("  ", format_args!("compatible {fingerprint}"));
            }
        }
    }
    for (at, (name, generation)) in record.removed_services.iter().enumerate() {
        line(if at == 0 { "\n" } else { "" }, format_args!("removed service {name} generation {generation}"));
    }
    for (name, message) in &record.messages {
        line("\n", format_args!("message {name}"));
        for Field { name, number, shape, is_added, .. } in &message.fields {
            line(if *is_added { "  added " } else { "  " }, format_args!("{shape} {name} = {number}"));
        }
    }
    for (name, found) in &record.enums {
        line("\n", format_args!("enum {name}"));
        for (index, Value { name, number, .. }) in found.values.iter().enumerate() {
            line("  ", format_args!("{index} {name} = {number}"));
        }
    }
    text
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_stream { "stream " } else { "" }, self.message)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single(of) => write!(f, "{of}"),
            Self::Optional(of) => write!(f, "optional {of}"),
            Self::Member { oneof, member, of } => write!(f, "oneof {oneof} {member} {of}"),
            Self::Repeated(of) => write!(f, "repeated {of}"),
            Self::Map(key, of) => write!(f, "map {key} {of}"),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(name) => f.write_str(name),
            Self::Enum(name) => write!(f, "enum {name}"),
            Self::Message(name) => write!(f, "message {name}"),
        }
    }
}

/// The reason why a text is not a valid lock: the line number, from 1, and its error.
pub(crate) struct LockTextError {
    pub(crate) line: u32,
    pub(crate) text: String,
}

/// Parses a lock. Skips comments and blank lines.
pub(crate) fn read(text: &str) -> Result<Record, LockTextError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut record = Record::default();
    let mut block = IndentedBlock::None;
    let mut has_format = false;
    for (line, content) in (1..).zip(text.lines()) {
        let words: Vec<&str> = content.split_whitespace().collect();
        let refuse = |text: String| LockTextError { line, text };
        match words[..] {
            [] => continue,
            [first, ..] if first.starts_with('#') => continue,
            [first, ..] if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].contains(&first) => {
                return Err(refuse(
                    "unresolved merge conflict; keep the lines of both sides that still hold".to_owned(),
                ));
            }
            _ if !has_format && content == FORMAT => {
                has_format = true;
                continue;
            }
            _ if !has_format => {
                return Err(refuse(format!("this version of frpc-build reads `{FORMAT}` only, not `{content}`")));
            }
            _ => {}
        }
        let read = if content.starts_with(' ') {
            entry(&words, line, &mut record, &block)
        } else {
            begin(&words, line, &mut record).map(|started| block = started.unwrap_or(IndentedBlock::None))
        };
        read.map_err(|text| refuse(text.unwrap_or_else(|| format!("unexpected `{}`", content.trim()))))?;
    }
    if !has_format {
        return Err(LockTextError { line: 1, text: format!("the line `{FORMAT}` is missing") });
    }
    match missing_type(&record) {
        Some((line, name)) => {
            Err(LockTextError { line, text: format!("`{name}` is used, but not recorded in this file") })
        }
        None => Ok(record),
    }
}

/// Returns a type that is used but not recorded, and the line that uses it.
fn missing_type(record: &Record) -> Option<(u32, &str)> {
    let methods = record.services().flat_map(|service| &service.methods);
    let mut roots = methods.flat_map(|method| {
        [(method.request.message.as_str(), &method.origin), (method.reply.message.as_str(), &method.origin)]
    });
    let fields = record.messages.values().flat_map(|message| &message.fields);
    let mut fields = fields.map(|field| (field.shape.of(), &field.origin));
    let root = roots.find(|(name, _)| !record.messages.contains_key(*name));
    let field = || {
        fields.find_map(|(of, origin)| match of {
            Type::Message(name) if !record.messages.contains_key(name) => Some((name.as_str(), origin)),
            Type::Enum(name) if !record.enums.contains_key(name) => Some((name.as_str(), origin)),
            _ => None,
        })
    };
    root.or_else(field).map(|(name, origin)| match origin {
        Origin::Lock(line) => (*line, name),
        Origin::Schema(..) => (0, name),
    })
}

/// The block to which indented lines belong.
enum IndentedBlock {
    None,
    Service,
    Message(String),
    Enum(String),
}

/// The error text, or `None` if the line is not recognized at all.
type LineError = Option<String>;

/// Parses a line that is not indented.
fn begin(words: &[&str], line: u32, record: &mut Record) -> Result<Option<IndentedBlock>, LineError> {
    let origin = Origin::Lock(line);
    match *words {
        ["codec", "protobuf"] => {
            record.codec = Codec::Protobuf;
            Ok(None)
        }
        ["file", ref name @ ..] if !name.is_empty() => {
            record.files.push(File { name: name.join(" "), ..File::default() });
            Ok(None)
        }
        ["removed", operation, name] => {
            let file = record.files.last_mut().ok_or(None)?;
            file.removed.push((user_operation(operation)?, name.to_owned()));
            Ok(None)
        }
        ["service", name] => {
            if record.service(name).is_some() {
                return Err(Some(format!("the service `{name}` is recorded twice")));
            }
            let file = record.files.last_mut().ok_or(None)?;
            file.services.push(Service { name: name.to_owned(), origin, ..Service::default() });
            Ok(Some(IndentedBlock::Service))
        }
        ["removed", "service", name, "generation", number] => {
            let generation = number.parse().map_err(|_| None)?;
            let is_there = record.service(name).is_some();
            if is_there || record.removed_services.insert(name.to_owned(), generation).is_some() {
                return Err(Some(format!("the service `{name}` is recorded twice")));
            }
            Ok(None)
        }
        ["message", name] => match record.messages.insert(name.to_owned(), Message { origin, fields: Vec::new() }) {
            Some(_) => Err(Some(format!("the message `{name}` is recorded twice"))),
            None => Ok(Some(IndentedBlock::Message(name.to_owned()))),
        },
        ["enum", name] => match record.enums.insert(name.to_owned(), Enum { origin, values: Vec::new() }) {
            Some(_) => Err(Some(format!("the enum `{name}` is recorded twice"))),
            None => Ok(Some(IndentedBlock::Enum(name.to_owned()))),
        },
        _ => Err(None),
    }
}

/// Parses an indented line.
fn entry(words: &[&str], line: u32, record: &mut Record, block: &IndentedBlock) -> Result<(), LineError> {
    let origin = Origin::Lock(line);
    match block {
        IndentedBlock::None => Err(None),
        IndentedBlock::Service => {
            let file = record.files.last_mut().ok_or(None)?;
            if let [operation, ..] = words
                && let Ok(operation) = operation.parse::<u16>()
                && let Some(other) = method_at(file, operation)
            {
                return Err(Some(format!("operation {operation} belongs to `{other}` already")));
            }
            service_entry(words, origin, file.services.last_mut().ok_or(None)?)
        }
        IndentedBlock::Message(name) => {
            let message = record.messages.get_mut(name).ok_or(None)?;
            let field = field(words, origin).ok_or(None)?;
            if message.fields.iter().any(|other| other.name == field.name) {
                return Err(Some(format!("the field `{}` is recorded twice", field.name)));
            }
            message.fields.push(field);
            Ok(())
        }
        IndentedBlock::Enum(name) => {
            let values = &mut record.enums.get_mut(name).ok_or(None)?.values;
            let [index, name, "=", number] = *words else { return Err(None) };
            if index.parse() != Ok(values.len()) {
                return Err(Some(format!("unexpected index {index}; the next one is {}", values.len())));
            }
            if values.iter().any(|other| other.name == name) {
                return Err(Some(format!("the value `{name}` is recorded twice")));
            }
            values.push(Value { name: name.to_owned(), number: number.parse().map_err(|_| None)?, origin });
            Ok(())
        }
    }
}

fn user_operation(word: &str) -> Result<u16, LineError> {
    match word.parse() {
        Ok(operation) if operation >= OPERATION_FIRST => Ok(operation),
        Ok(operation) => Err(Some(format!("operation {operation} is reserved for the protocol"))),
        Err(_) => Err(None),
    }
}

/// Returns the existing or removed method with an operation.
fn method_at(file: &File, operation: u16) -> Option<String> {
    let methods = file.services.iter().flat_map(|service| service.methods.iter().map(move |method| (service, method)));
    let mut found = methods.filter(|(_, method)| method.operation == operation);
    let removed = || file.removed.iter().find(|(removed, _)| *removed == operation).map(|(_, name)| name.clone());
    found.next().map(|(service, method)| format!("{}.{}", service.name, method.name)).or_else(removed)
}

fn service_entry(words: &[&str], origin: Origin, service: &mut Service) -> Result<(), LineError> {
    match *words {
        ["generation", number] => service.generation = number.parse().map_err(|_| None)?,
        ["compatible", fingerprint] => {
            let wrong = || Some("a fingerprint is 16 hexadecimal digits, in lower case".to_owned());
            service.compatible.push(Fingerprint::parse(fingerprint).ok_or_else(wrong)?);
        }
        [operation, name, ref sides @ ..] => {
            let arrow = sides.iter().position(|word| *word == "->").ok_or(None)?;
            let (request, reply) = (side(&sides[..arrow]).ok_or(None)?, side(&sides[arrow + 1..]).ok_or(None)?);
            let operation = user_operation(operation)?;
            if service.methods.last().is_some_and(|before| before.operation > operation) {
                return Err(Some("the operations of a service must be in ascending order".to_owned()));
            }
            service.methods.push(Method { operation, name: name.to_owned(), request, reply, origin });
        }
        _ => return Err(None),
    }
    Ok(())
}

fn side(words: &[&str]) -> Option<Side> {
    match *words {
        [message] => Some(Side { is_stream: false, message: message.to_owned() }),
        ["stream", message] => Some(Side { is_stream: true, message: message.to_owned() }),
        _ => None,
    }
}

fn field(words: &[&str], origin: Origin) -> Option<Field> {
    let (is_added, words) = match words {
        ["added", rest @ ..] => (true, rest),
        _ => (false, words),
    };
    let [shape @ .., name, "=", number] = words else { return None };
    let shape = match *shape {
        ["optional", ref of @ ..] => Shape::Optional(value_type(of)?),
        ["repeated", ref of @ ..] => Shape::Repeated(value_type(of)?),
        ["map", key, ref of @ ..] => Shape::Map(value_type(&[key])?, value_type(of)?),
        ["oneof", oneof, member, ref of @ ..] => {
            Shape::Member { oneof: oneof.to_owned(), member: member.parse().ok()?, of: value_type(of)? }
        }
        ref of => Shape::Single(value_type(of)?),
    };
    Some(Field { name: (*name).to_owned(), number: number.parse().ok()?, shape, is_added, origin })
}

fn value_type(words: &[&str]) -> Option<Type> {
    match *words {
        [name] => SCALARS.into_iter().find(|scalar| *scalar == name).map(Type::Scalar),
        ["enum", name] => Some(Type::Enum(name.to_owned())),
        ["message", name] => Some(Type::Message(name.to_owned())),
        _ => None,
    }
}

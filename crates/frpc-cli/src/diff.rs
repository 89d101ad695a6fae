//! `frpc diff`: prints the changes between two schemas, and whether peers with the old and the new schema can call each
//! other.
//!
//! A change is *safe* if peers with the Polyglot encoding still understand each other. JSON peers match fields and enum
//! values by name, so for them a renaming is incompatible. Its line ends with "also in JSON" as a reminder, although it
//! is printed as safe.
//!
//! Messages are compared if both schemas have a message of the same name, or if they are the types of the same method
//! or field. A message that only one schema has affects no peer unless a method or field uses it. Such uses are
//! compared, so added and removed messages are not printed.

use crate::arguments::{DiffArguments, ServerArguments, SourceArguments};
use crate::failure::Failure;
use crate::schema::{Schema, Service};
use crate::source::Context;
use frpc::polyglot::layout::{self, Description, Field, Plan, TypeLayout};
use prost_reflect::{DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;

pub(crate) async fn diff(arguments: &DiffArguments, context: &Context) -> Result<(), Failure> {
    let before = load(&arguments.before, context).await?;
    let after = load(&arguments.after, context).await?;
    let mut report = Report::default();
    let mut open: VecDeque<_> =
        before.pool.all_messages().filter_map(|one| Some((one.clone(), by_name(&after.pool, &one)?))).collect();
    compare_services(&before.services, &after.services, &mut open, &mut report);
    let pairs = pairs(open);
    compare_messages([&before.pool, &after.pool], &pairs, &mut report)?;
    let by_name = |old: EnumDescriptor| Some((after.pool.get_enum_by_name(old.full_name())?, old));
    let same = before.pool.all_enums().filter_map(by_name).map(|(new, old)| (old, new));
    for (old, new) in same.chain(replaced_enums(&pairs)) {
        compare_enums(&old, &new, &mut report);
    }
    for (is_safe, item, change) in &report.0 {
        let json = || json!({ "safe": is_safe, "item": item, "change": change }).to_string();
        context.screen.show(json, || format!("{} {item}: {change}", if *is_safe { "safe  " } else { "breaks" }))?;
    }
    match report.0.iter().filter(|(is_safe, ..)| !is_safe).count() {
        0 => Ok(()),
        1 => Err(Failure::new("1 change breaks peers of the other version")),
        breaks => Err(Failure::new(format!("{breaks} changes break peers of the other version"))),
    }
}

/// Loads a schema from a .proto file, a descriptor set or a running server. `name` determines which one it is:
///
/// * With the extension `.proto`, it is the path of a .proto file, even if the file does not exist.
/// * If it contains a colon, as all addresses do, and is not an existing path, it is the address of a server. Services
///   that a server provides itself are left out, because files do not declare them.
/// * Anything else is the path of a descriptor set.
///
/// `name` replaces the files and the address in `context`. Its other options apply, such as include folders and TLS.
async fn load(name: &str, context: &Context) -> Result<Schema, Failure> {
    let path = PathBuf::from(name);
    let is_server = name.contains(':') && !path.exists();
    let (proto, descriptor_set) = match path.extension() {
        Some(extension) if extension == "proto" => (vec![path], None),
        _ if is_server => (Vec::new(), None),
        _ => (Vec::new(), Some(path)),
    };
    // `Context::schema` connects to the server only if `source` names no file. It is therefore harmless that `server`
    // is also set to the name of a file.
    let source = SourceArguments { proto, descriptor_set, ..context.source.clone() };
    let server = ServerArguments { server: Some(name.to_owned()), ..context.server.clone() };
    let mut schema = Context { server, source, screen: context.screen }.schema().await?;
    schema.services.retain(|service| !is_server || !service.is_provided());
    Ok(schema)
}

/// Returns the message in `pool` that has the same full name as `message`.
fn by_name(pool: &DescriptorPool, message: &MessageDescriptor) -> Option<MessageDescriptor> {
    pool.get_message_by_name(message.full_name())
}

/// Maximum number of safe changes that are printed for a message that another message has replaced.
const REPLACED_MAX: usize = 10;

/// The changes between two schemas. Each is safe or breaks peers, and names its item, such as a field.
#[derive(Default)]
struct Report(Vec<(bool, String, String)>);

impl Report {
    fn add(&mut self, is_safe: bool, item: &str, change: &str) {
        self.0.push((is_safe, item.to_owned(), change.to_owned()));
    }

    /// Replaces most safe changes after the first `start` changes by their number. They are the differences between two
    /// messages of different names. A large message may have replaced many others, each with as many differences.
    fn shorten(&mut self, start: usize, [old, new]: [&MessageDescriptor; 2]) {
        let mut safe = 0;
        let changes = self.0.split_off(start);
        self.0.extend(changes.into_iter().filter(|(is_safe, ..)| {
            safe += usize::from(*is_safe);
            !is_safe || safe <= REPLACED_MAX
        }));
        if safe > REPLACED_MAX {
            let more = safe - REPLACED_MAX;
            self.add(true, old.full_name(), &format!("{more} more safe changes in {}", new.full_name()));
        }
    }
}

/// Compares each service of the old schema with the service of the same name in the new schema. Queues the messages of
/// their methods for a later comparison.
fn compare_services(
    before: &[Service],
    after: &[Service],
    messages: &mut VecDeque<(MessageDescriptor, MessageDescriptor)>,
    report: &mut Report,
) {
    // `old` and `new` are a pair of services here, a pair of methods in the inner loop, and a pair of request or reply
    // types in the innermost one.
    let [olds, news] = [before, after]
        .map(|services| services.iter().map(|one| (one.descriptor.full_name(), one)).collect::<BTreeMap<_, _>>());
    for old in before {
        let name = old.descriptor.full_name();
        let Some(new) = news.get(name) else {
            report.add(false, name, "service removed, calls fail with Unimplemented");
            continue;
        };
        let [old_methods, new_methods] = [old, new]
            .map(|service| service.methods.iter().map(|one| (one.descriptor.name(), one)).collect::<BTreeMap<_, _>>());
        for method in &old.methods {
            let (item, old) = (method.name(), &method.descriptor);
            let Some(new) = new_methods.get(old.name()) else {
                report.add(false, &item, "method removed, calls fail with Unimplemented");
                continue;
            };
            let streams =
                |method: &prost_reflect::MethodDescriptor| (method.is_client_streaming(), method.is_server_streaming());
            if streams(old) != streams(&new.descriptor) {
                report.add(false, &item, "streams changed, calls fail with FailedPrecondition");
            }
            // Native peers match methods by name, so they are not affected. Programs that serve or call Go peers select
            // the old layout with `compat_layout` on the builder of their server or channel.
            if method.operation != new.operation {
                report.add(true, &item, "operation changed, which Go peers need `compat_layout` for");
            }
            for (old, new) in [(old.input(), new.descriptor.input()), (old.output(), new.descriptor.output())] {
                if old.full_name() != new.full_name() {
                    report.add(true, &item, &format!("type {} became {}", old.full_name(), new.full_name()));
                }
                messages.push_back((old, new));
            }
        }
        for method in new.methods.iter().filter(|new| !old_methods.contains_key(new.descriptor.name())) {
            report.add(true, &method.name(), "method added");
        }
    }
    for new in after {
        let name = new.descriptor.full_name();
        if !olds.contains_key(name) {
            report.add(true, name, "service added");
        }
    }
}

/// Returns these pairs of messages and those in their fields, each pair once.
fn pairs(mut open: VecDeque<(MessageDescriptor, MessageDescriptor)>) -> Vec<(MessageDescriptor, MessageDescriptor)> {
    let (mut seen, mut pairs) = (BTreeSet::new(), Vec::new());
    while let Some((old, new)) = open.pop_front() {
        // Skip the hidden entry messages of maps: the layout of a map field contains the types of its keys and values,
        // and `contained_messages` finds the messages in the values.
        if seen.insert((old.full_name().to_owned(), new.full_name().to_owned())) && !old.is_map_entry() {
            let contained = |field: FieldDescriptor| {
                let other = new.get_field(field.number())?;
                contained_messages(field.kind(), other.kind())
            };
            open.extend(old.fields().filter_map(contained));
            pairs.push((old, new));
        }
    }
    pairs
}

/// Compares the messages of each pair.
///
/// All messages are described at once. A description contains all types in the fields of a message, so separate ones of
/// messages that contain each other would take quadratic time.
fn compare_messages(
    pools: [&DescriptorPool; 2],
    pairs: &[(MessageDescriptor, MessageDescriptor)],
    report: &mut Report,
) -> Result<(), Failure> {
    let [old_types, new_types] = pools.map(|pool| layout::Schema::new(pool.file_descriptor_protos()));
    let (before, olds) = old_types.messages(pairs.iter().map(|(old, _)| old.full_name())).map_err(Failure::new)?;
    let (after, news) = new_types.messages(pairs.iter().map(|(_, new)| new.full_name())).map_err(Failure::new)?;
    let indices: Vec<(u32, u32)> = olds.into_iter().zip(news).collect();
    let refused = Plan::refusals(&before, &after, &indices).map_err(Failure::new)?;
    for (((old, new), (of_old, of_new)), refused) in pairs.iter().zip(indices).zip(refused) {
        let fields = [fields(&before, of_old), fields(&after, of_new)];
        let start = report.0.len();
        compare_fields([old, new], &fields, &refused, report);
        if old.full_name() != new.full_name() {
            report.shorten(start, [old, new]);
        }
    }
    Ok(())
}

/// Compares each field of the old message with the field of the same number in the new message.
fn compare_fields(
    [old, new]: [&MessageDescriptor; 2],
    fields: &[BTreeMap<u32, Field>; 2],
    refused: &[layout::Refusal],
    report: &mut Report,
) {
    // Refused fields cannot be converted into each other in either direction.
    let refused: BTreeSet<_> = refused.iter().map(layout::Refusal::number).collect();
    // The ranges do not overlap.
    let reserved: BTreeMap<u32, u32> = new.reserved_ranges().map(|range| (range.start, range.end)).collect();
    for found in old.fields() {
        let (number, name) = (found.number(), found.name());
        let item = format!("{}.{name} = {number}", old.full_name());
        let Some(other) = new.get_field(number) else {
            let is_reserved = reserved.range(..=number).next_back().is_some_and(|(_, end)| number < *end);
            let advice = if is_reserved { "" } else { "; reserve its number, so that it is not used again" };
            report.add(true, &item, &format!("field removed{advice}"));
            continue;
        };
        // Each description contains all fields of its message, so both texts are present.
        let [was, is] = fields.each_ref().map(|of| of.get(&number).map(ToString::to_string).unwrap_or_default());
        if refused.contains(&number) {
            report.add(false, &item, &format!("{was} became {is}, methods with it fail with FailedPrecondition"));
        } else {
            if was != is {
                report.add(true, &item, &format!("{was} became {is}"));
            }
            if let Some(change) = presence_change(&found, &other) {
                report.add(true, &item, &change);
            }
        }
        // Fields are matched by number. If a number was reused for an unrelated field, this looks like a renamed field.
        let in_json = if found.json_name() == other.json_name() { "" } else { ", also in JSON" };
        if name != other.name() || !in_json.is_empty() {
            report.add(true, &item, &format!("renamed to {}{in_json}", other.name()));
        }
    }
    for found in new.fields().filter(|found| old.get_field(found.number()).is_none()) {
        report.add(true, &format!("{}.{} = {}", new.full_name(), found.name(), found.number()), "field added");
    }
}

/// Describes how a field changed between being plain, `optional` and a member of a oneof. Returns `None` if it did not
/// change.
fn presence_change(old: &FieldDescriptor, new: &FieldDescriptor) -> Option<String> {
    let oneof = |field: &FieldDescriptor| field.containing_oneof().filter(|oneof| !oneof.is_synthetic());
    match (oneof(old), oneof(new)) {
        (None, Some(new)) => Some(format!("moved into oneof {}", new.name())),
        (Some(old), None) => Some(format!("moved out of oneof {}", old.name())),
        (Some(old), Some(new)) => {
            (old.name() != new.name()).then(|| format!("moved from oneof {} to {}", old.name(), new.name()))
        }
        (None, None) => match (old.supports_presence(), new.supports_presence()) {
            (false, true) => Some("optional added".to_owned()),
            (true, false) => Some("optional removed".to_owned()),
            _ => None,
        },
    }
}

/// Returns the messages in two versions of a field. For maps, returns the messages of their values. Does not recurse,
/// because an untrusted server's schema could declare a map entry as its own value.
fn contained_messages(old: Kind, new: Kind) -> Option<(MessageDescriptor, MessageDescriptor)> {
    let (Kind::Message(old), Kind::Message(new)) = (old, new) else { return None };
    if !old.is_map_entry() && !new.is_map_entry() {
        return Some((old, new));
    }
    // A map is equivalent to a list of messages with the value in field 2.
    match (old.get_field(2)?.kind(), new.get_field(2)?.kind()) {
        (Kind::Message(old), Kind::Message(new)) => Some((old, new)),
        _ => None,
    }
}

/// Returns the fields of the message with this type index, with their numbers as keys.
fn fields(description: &Description, message: u32) -> BTreeMap<u32, Field> {
    let fields = match description.types.get(message as usize) {
        Some(TypeLayout::Message(fields)) => fields.as_slice(),
        _ => &[],
    };
    fields.iter().map(|field| (field.number, *field)).collect()
}

/// Returns the enums of fields whose type became an enum of another name, each pair once.
fn replaced_enums(pairs: &[(MessageDescriptor, MessageDescriptor)]) -> Vec<(EnumDescriptor, EnumDescriptor)> {
    let mut seen = BTreeSet::new();
    let fields = pairs.iter().flat_map(|(old, new)| {
        old.fields().filter_map(|field| Some((field.kind(), new.get_field(field.number())?.kind())))
    });
    let enums = fields.filter_map(|(old, new)| match (value_kind(old)?, value_kind(new)?) {
        (Kind::Enum(old), Kind::Enum(new)) => Some((old, new)),
        _ => None,
    });
    enums
        .filter(|(old, new)| old.full_name() != new.full_name())
        .filter(|(old, new)| seen.insert((old.full_name().to_owned(), new.full_name().to_owned())))
        .collect()
}

/// Returns the kind of a field, or of the values of a map.
fn value_kind(kind: Kind) -> Option<Kind> {
    match &kind {
        Kind::Message(entry) if entry.is_map_entry() => Some(entry.get_field(2)?.kind()),
        _ => Some(kind),
    }
}

/// Compares each value of the old enum with the value of the same number in the new enum.
fn compare_enums(old: &EnumDescriptor, new: &EnumDescriptor, report: &mut Report) {
    for value in old.values() {
        let item = format!("{}.{} = {}", old.full_name(), value.name(), value.number());
        match new.get_value(value.number()) {
            None => report.add(true, &item, "value removed"),
            // With `allow_alias`, a number has several names. `get_value` finds the first, which JSON contains.
            Some(first) if new.get_value_by_name(value.name()).is_some_and(|new| new.number() == value.number()) => {
                let was_first = old.get_value(value.number()).is_some_and(|old| old.name() == value.name());
                if was_first && first.name() != value.name() {
                    report.add(true, &item, &format!("first name became {}, also in JSON", first.name()));
                }
            }
            Some(other) => report.add(true, &item, &format!("renamed to {}, also in JSON", other.name())),
        }
    }
    for value in new.values().filter(|value| old.get_value(value.number()).is_none()) {
        report.add(true, &format!("{}.{} = {}", new.full_name(), value.name(), value.number()), "value added");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frpc::prost::Message as _;
    use prost_reflect::prost_types::field_descriptor_proto::Type;
    use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};

    /// Regression test: the messages of a chain were described again for each message that leads to them. The time was
    /// quadratic.
    #[test]
    fn messages_of_a_chain_are_described_once() {
        let links: String = (0..50).map(|at| format!("message M{at} {{ M{} next = 1; }}", at + 1)).collect();
        let text = format!("syntax = \"proto3\"; {links} message M50 {{}}");
        let file = protox::file::File::from_source("m.proto", &text).expect("schema should be valid");
        let files = FileDescriptorSet { file: vec![file.into()] }.encode_to_vec();
        let pool = Schema::of_grpc(&files).expect("descriptors should be accepted").pool;
        let first = pool.get_message_by_name("M0").expect("schema should contain the message");
        let all = pool.all_messages().chain([first]);
        let pairs = pairs(all.map(|message| (message.clone(), message)).collect());
        let names = pairs.iter().map(|(old, _)| old.full_name());
        let types = layout::Schema::new(pool.file_descriptor_protos());
        let (description, indices) = types.messages(names).expect("schema should contain all types");
        assert_eq!((description.types.len(), indices), (51, (0..51).collect()));
    }

    /// Regression test: if many messages became the same large message, all its fields were printed for each of them.
    #[test]
    fn fields_of_replaced_message_are_counted() {
        let pool = |text: &str| {
            let file = protox::file::File::from_source("m.proto", text).expect("schema should be valid");
            let files = FileDescriptorSet { file: vec![file.into()] }.encode_to_vec();
            Schema::of_grpc(&files).expect("descriptors should be accepted").pool
        };
        let message = |pool: &DescriptorPool, name| pool.get_message_by_name(name).expect("message should exist");
        let fields: String = (3..15).map(|number| format!("int32 f{number} = {number};")).collect();
        let old = pool("syntax = \"proto3\"; message Old { string id = 1; }");
        let large = format!("int32 id = 1; {fields}");
        let new = pool(&format!("syntax = \"proto3\"; message Old {{ {large} }} message New {{ {large} }}"));
        for (name, count) in [("Old", 13), ("New", 12)] {
            let mut report = Report::default();
            let pairs = [(message(&old, "Old"), message(&new, name))];
            compare_messages([&old, &new], &pairs, &mut report).expect("messages should be comparable");
            assert_eq!((report.0.len(), report.0[0].0), (count, false), "{:?}", report.0);
            let last = report.0.last().map(|(.., change)| change.as_str());
            assert_eq!(last, Some(if name == "New" { "2 more safe changes in New" } else { "field added" }));
        }
    }

    /// Regression test: comparing maps whose entry is its own value overflowed the stack.
    #[test]
    fn map_entry_may_be_its_own_value() {
        let text = "syntax = \"proto3\"; message M { map<string, string> values = 1; }";
        let file = protox::file::File::from_source("m.proto", text).expect("schema should be valid");
        let mut file = FileDescriptorProto::from(file);
        let value = &mut file.message_type[0].nested_type[0].field[1];
        (value.r#type, value.type_name) = (Some(Type::Message.into()), Some(".M.ValuesEntry".to_owned()));
        let schema = Schema::of_grpc(&FileDescriptorSet { file: vec![file] }.encode_to_vec())
            .expect("descriptors should be accepted");
        let entry = schema.pool.get_message_by_name("M.ValuesEntry").expect("schema should contain the entry");
        let found = contained_messages(Kind::Message(entry.clone()), Kind::Message(entry.clone()));
        assert_eq!(found, Some((entry.clone(), entry)));
    }
}

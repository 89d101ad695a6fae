//! Field names that differ only in case and underscores.

use prost_types::{DescriptorProto, FileDescriptorProto};
use std::collections::HashSet;

/// Renames fields of a proto3 message if their names differ only in case and underscores, such as `abc_def` and
/// `_abc_def`, because prost-reflect rejects them. The second one becomes `_abc_def_2` and keeps its JSON name. Returns
/// a description of each change.
///
/// protoc accepts such fields since version 22 if their JSON names differ.
#[must_use]
pub fn distinguish_fields(file: &mut FileDescriptorProto) -> Vec<String> {
    let mut changes = Vec::new();
    if file.syntax() == "proto3" {
        let mut open: Vec<&mut DescriptorProto> = file.message_type.iter_mut().collect();
        while let Some(message) = open.pop() {
            distinguish(message, &mut changes);
            open.extend(&mut message.nested_type);
        }
    }
    changes
}

fn distinguish(message: &mut DescriptorProto, changes: &mut Vec<String>) {
    let owner = message.name().to_owned();
    let mut used = HashSet::new();
    let all: HashSet<String> = message.field.iter().map(|field| key(field.name())).collect();
    let (mut exact, mut in_json) = (HashSet::new(), HashSet::new());
    for field in &mut message.field {
        let name = field.name().to_owned();
        let json = field.json_name.clone().unwrap_or_else(|| json_name(&name));
        // Leave fields of the same name or JSON name to prost-reflect. Its error contains their positions.
        let is_taken = [exact.insert(name.clone()), in_json.insert(json.clone())].contains(&false);
        if used.insert(key(&name)) || is_taken {
            continue;
        }
        let mut numbered = (2_u32..).map(|number| format!("{name}_{number}"));
        let free = numbered.find(|name| !all.contains(&key(name)) && used.insert(key(name)));
        field.json_name = Some(json);
        changes.push(format!(
            "the name of field `{name}` in `{owner}` differs only in case and underscores from that of another field, \
             so it is renamed to `{}`",
            free.as_deref().unwrap_or_default()
        ));
        field.name = free;
    }
}

/// Returns the form of a field name that prost-reflect compares.
fn key(name: &str) -> String {
    name.replace('_', "").to_ascii_lowercase()
}

/// Returns the default JSON name of a field, such as `orderId` for `order_id`.
#[must_use]
pub fn json_name(name: &str) -> String {
    let mut words = name.split('_');
    let mut json = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        json.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        json.push_str(letters.as_str());
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_types::FieldDescriptorProto;

    #[test]
    fn json_name_is_in_lower_camel_case() {
        assert_eq!(json_name("order_id_2"), "orderId2");
        assert_eq!(json_name("orderId"), "orderId");
    }

    #[test]
    fn renamed_field_keeps_its_json_name() {
        let field =
            |name: &str| FieldDescriptorProto { name: Some(name.to_owned()), ..FieldDescriptorProto::default() };
        let names = ["abc_def", "_abc_def", "aBcDef_2", "ABC_DEF", "abcDef", "other"];
        let message = DescriptorProto { field: names.map(field).into(), ..DescriptorProto::default() };
        let syntax = Some("proto3".to_owned());
        let mut file = FileDescriptorProto { message_type: vec![message], syntax, ..FileDescriptorProto::default() };
        assert_eq!(distinguish_fields(&mut file).len(), 2);
        let fields = file.message_type[0].field.iter().map(|field| (field.name(), field.json_name.as_deref()));
        assert_eq!(
            fields.collect::<Vec<_>>(),
            [
                ("abc_def", None),
                ("_abc_def_3", Some("AbcDef")),
                ("aBcDef_2", None),
                ("ABC_DEF_4", Some("ABCDEF")),
                ("abcDef", None),
                ("other", None)
            ]
        );
        assert_eq!(distinguish_fields(&mut file), [""; 0]);
    }
}

//! The types that an `Any` may hold in JSON: all messages of a package with services, in builds whose schema has an `Any`.

use syn::{Ident, Item, ItemStatic, Path};

use super::free_names::{ReservedNames, free_name};
use super::prost_code;
use crate::schema::externs::has_json_form;
use crate::schema::{Index, Schema, type_names};

const ANY: &str = ".google.protobuf.Any";

/// Whether a generated message or method has an `Any`.
pub(super) fn has_any(schema: &Schema) -> bool {
    schema.files.iter().filter(|file| schema.is_generated(file)).flat_map(type_names).any(|name| name == ANY)
}

/// The paths of the messages in prost's output, from the module of the package.
pub(super) fn paths(items: &[Item], index: &Index<'_>) -> Vec<Path> {
    let mut paths = Vec::new();
    add_paths(items, index, &[], &mut paths);
    paths
}

fn add_paths(items: &[Item], index: &Index<'_>, modules: &[Ident], paths: &mut Vec<Path>) {
    for item in items {
        match item {
            Item::Struct(item) => {
                let name = prost_code::marker(&item.attrs).filter(|name| index.messages.contains_key(name));
                if name.is_some_and(|name| has_json_form(&name).is_none()) {
                    let ident = &item.ident;
                    paths.push(syn::parse_quote! { #(#modules::)* #ident });
                }
            }
            Item::Mod(item) => {
                let within: Vec<_> = modules.iter().chain([&item.ident]).cloned().collect();
                add_paths(item.content.as_ref().map_or(&[][..], |(_, items)| items), index, &within, paths);
            }
            _ => {}
        }
    }
}

/// The list of these messages.
pub(super) fn list(paths: &[Path], reserved: &mut ReservedNames, warn: &mut dyn FnMut(String)) -> ItemStatic {
    let name = free_name("ANY_TYPES", &mut reserved.values, "the list of types that an Any may hold", warn);
    syn::parse_quote! {
        static #name: &[::frpc::json::AnyType] = &[#(::frpc::codegen::any_type::<#paths>()),*];
    }
}

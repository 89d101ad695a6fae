//! Generates the code of all schemas into one crate, with a table of their messages.
//!
//! `CONFORMANCE_PROTOS` names further folders with schemas, in the format of `PATH`. Imports are searched in all of
//! these folders.

use std::env;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Expr, ImplItem, Item, Lit, Type};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    println!("cargo:rerun-if-env-changed=CONFORMANCE_PROTOS");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut folders = vec![PathBuf::from("proto")];
    if let Some(more) = env::var_os("CONFORMANCE_PROTOS") {
        folders.extend(env::split_paths(&more));
    }
    let mut protos = Vec::new();
    for folder in &folders {
        find(folder, &mut protos)?;
    }
    protos.sort();
    frpc_build::configure()
        .compile_well_known_types(true)
        // Sorts the entries, so that their order is deterministic.
        .btree_map(".")
        .json(true)
        .include_file("all.rs")
        .file_descriptor_set_path(out.join("all.bin"))
        // These schemas need no compatible numbering, because they have no peers. They need no server either: thousands
        // of services would exceed the range of operations.
        .numbering(frpc_build::Numbering::Go)
        .compile_protos(&protos, &folders)?;

    let all = syn::parse_file(&fs::read_to_string(out.join("all.rs"))?)?;
    let mut table = String::from("&[\n");
    walk(&all.items, "all", &out, &mut table)?;
    table.push_str("]\n");
    fs::write(out.join("table.rs"), table)?;
    Ok(())
}

fn find(folder: &Path, protos: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, protos)?;
        } else if path.extension() == Some(OsStr::new("proto")) {
            protos.push(path);
        }
    }
    Ok(())
}

/// Adds the messages among `items` to the table. `path` is the module that contains the items.
fn walk(items: &[Item], path: &str, out: &Path, table: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    for item in items {
        match item {
            Item::Mod(module) => {
                let path = format!("{path}::{}", module.ident);
                walk(module.content.as_ref().map_or(&[][..], |(_, items)| items), &path, out, table)?;
            }
            // `include!(concat!(env!("OUT_DIR"), "/name.rs"))`
            Item::Macro(include) if include.mac.path.is_ident("include") => {
                let tokens = include.mac.tokens.to_string();
                let name = tokens.rsplit('"').nth(1).ok_or("an include without a name")?;
                let file = syn::parse_file(&fs::read_to_string(out.join(name.trim_start_matches('/')))?)?;
                walk(&file.items, path, out, table)?;
            }
            Item::Impl(item) => {
                if let (Some(name), Type::Path(of)) = (message_name(item), &*item.self_ty) {
                    let ident = &of.path.segments.last().ok_or("a type without a name")?.ident;
                    writeln!(table, "    ({name:?}, Ways::of::<{path}::{ident}>()),")?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the message name of this codec.
fn message_name(item: &syn::ItemImpl) -> Option<String> {
    let (_, implemented, _) = item.trait_.as_ref()?;
    let is_codec = implemented.segments.iter().any(|segment| segment.ident == "polyglot")
        && ["Message", "Fields"].iter().any(|name| implemented.segments.last().is_some_and(|last| last.ident == name));
    item.items.iter().filter(|_| is_codec).find_map(|item| match item {
        ImplItem::Const(constant) if constant.ident == "NAME" => match &constant.expr {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(name) => Some(name.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

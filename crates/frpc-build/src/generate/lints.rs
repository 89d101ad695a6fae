//! Adds comments to public items without one, and `#[allow]` attributes for lints. Programs that forbid lints can
//! reduce these attributes.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, Visibility};

use crate::generate::prost_code::items_of;

/// Lints that generated code allows by default.
const ALLOWED: &str = "clippy::all, clippy::pedantic, dead_code, deprecated, unreachable_pub";

/// Clippy lints that generated code may trigger. They are allowed one by one in programs that forbid lints, instead of
/// whole groups.
const CLIPPY: [&str; 11] = [
    "clippy::doc_markdown",            // Comments are copied from the schema.
    "clippy::elidable_lifetime_names", // Views always name their lifetime.
    "clippy::inline_always",           // Inlining of codecs is based on instruction counts.
    "clippy::match_same_arms",         // Matches on enums have an arm for each value.
    "clippy::missing_errors_doc",      // All client methods fail with a status; the reasons are documented in `frpc`.
    "clippy::module_inception",        // Modules are named after messages and packages of the schema.
    "clippy::must_use_candidate",      // prost generates methods that look up the names of enum values.
    "clippy::pub_underscore_fields",   // Names in the schema may begin with an underscore.
    "clippy::too_many_lines",          // The code of a service grows with its methods.
    "clippy::used_underscore_binding",
    "clippy::used_underscore_items",
];

/// Adds a doc comment to each public item that has none, for programs that deny `missing_docs`.
pub(crate) fn document(items: &mut [Item]) {
    for item in items {
        match item {
            Item::Struct(item) => {
                add(&mut item.attrs, || format!("The message `{}`.", item.ident));
                document_fields(&mut item.fields);
            }
            Item::Enum(item) => {
                add(&mut item.attrs, || format!("The type `{}`.", item.ident));
                for variant in &mut item.variants {
                    add(&mut variant.attrs, || format!("The value `{}`.", variant.ident));
                    document_fields(&mut variant.fields);
                }
            }
            Item::Mod(item) => {
                add(&mut item.attrs, || format!("Types within `{}`.", item.ident.unraw()));
                document(items_of(item));
            }
            Item::Trait(item) => {
                add(&mut item.attrs, || format!("The service `{}`.", item.ident));
                for item in &mut item.items {
                    if let TraitItem::Fn(item) = item {
                        add(&mut item.attrs, || format!("The method `{}`.", item.sig.ident.unraw()));
                    }
                }
            }
            Item::Impl(item) if item.trait_.is_none() => {
                for item in &mut item.items {
                    match item {
                        ImplItem::Fn(item) if is_public(&item.vis) => {
                            add(&mut item.attrs, || format!("The method `{}`.", item.sig.ident));
                        }
                        ImplItem::Const(item) if is_public(&item.vis) => {
                            add(&mut item.attrs, || format!("The constant `{}`.", item.ident));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}

fn document_fields(fields: &mut Fields) {
    for field in fields {
        if let Some(ident) = field.ident.as_ref().filter(|_| is_public(&field.vis)) {
            add(&mut field.attrs, || format!("The field `{}`.", ident.unraw()));
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn add(attributes: &mut Vec<Attribute>, text: impl FnOnce() -> String) {
    if !attributes.iter().any(|attribute| attribute.path().is_ident("doc")) {
        let text = format!(" {}", text());
        attributes.insert(0, syn::parse_quote! { #[doc = #text] });
    }
}

/// Adds an `#[allow]` attribute to each item. By default, the attribute names whole groups of Clippy lints, and rustc
/// lints such as `dead_code`. If `forbids` is set, it names only the Clippy lints that generated code may trigger,
/// because an `#[allow]` of a lint that the program forbids is a compile error.
pub(crate) fn allow(items: &mut [Item], forbids: bool) {
    let lints = if forbids { CLIPPY.join(", ") } else { ALLOWED.to_owned() };
    let lints: TokenStream = lints.parse().expect("list of lints should parse as tokens");
    for item in items {
        let attributes = match item {
            Item::Struct(item) => &mut item.attrs,
            Item::Enum(item) => &mut item.attrs,
            Item::Mod(item) => &mut item.attrs,
            Item::Trait(item) => &mut item.attrs,
            Item::Impl(item) => &mut item.attrs,
            Item::Static(item) => &mut item.attrs,
            _ => continue,
        };
        let after_docs = attributes.iter().take_while(|attribute| attribute.path().is_ident("doc")).count();
        attributes.insert(after_docs, syn::parse_quote! { #[allow(#lints)] });
    }
}

/// Removes `#[deprecated]` from items for programs that forbid the lint `deprecated`. Codecs use all fields, including
/// deprecated ones, and would violate the lint.
pub(crate) fn without_deprecated(items: Vec<Item>) -> Result<Vec<Item>, syn::Error> {
    items.into_iter().map(|item| syn::parse2(filtered(item.into_token_stream()))).collect()
}

fn filtered(tokens: TokenStream) -> TokenStream {
    let mut remaining = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(hash) if hash.as_char() == '#' && tokens.next_if(is_deprecated).is_some() => {}
            TokenTree::Group(group) => {
                remaining.push(TokenTree::Group(Group::new(group.delimiter(), filtered(group.stream()))));
            }
            token => remaining.push(token),
        }
    }
    remaining.into_iter().collect()
}

/// Returns whether a token group is the content of `#[deprecated]`, or of the `#[allow(deprecated)]` that prost-build
/// adds.
fn is_deprecated(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let text = group.stream().to_string();
    let is_allow = text.strip_prefix("allow").is_some_and(|lints| lints.trim_matches([' ', '(', ')']) == "deprecated");
    group.delimiter() == Delimiter::Bracket && (is_allow || text.starts_with("deprecated"))
}

//! Unique names for generated items.

use std::collections::HashSet;

use proc_macro2::Span;
use syn::{Ident, Item};

/// Names in a module that are already taken, by prost-build's code or by items that this crate generated earlier.
#[derive(Default)]
pub(crate) struct ReservedNames {
    pub(crate) types: HashSet<String>,
    pub(crate) values: HashSet<String>,
}

impl ReservedNames {
    /// Collects the names of all types and modules that prost-build has generated.
    pub(crate) fn by(items: &[Item]) -> Self {
        let types = items.iter().filter_map(|item| match item {
            Item::Struct(item) => Some(item.ident.to_string()),
            Item::Enum(item) => Some(item.ident.to_string()),
            Item::Mod(item) => Some(item.ident.to_string()),
            _ => None,
        });
        Self { types: types.collect(), values: HashSet::new() }
    }
}

/// Returns the name `wanted`, made unique by trailing underscores. A leading digit is prefixed with an underscore. If
/// the name changes, shows a warning. `what` describes the item in this warning, such as "the trait of `a.Echo`".
pub(crate) fn free_name(
    wanted: &str,
    reserved: &mut HashSet<String>,
    what: &str,
    warn: &mut dyn FnMut(String),
) -> Ident {
    let digit = if wanted.starts_with(|first: char| first.is_ascii_digit()) { "_" } else { "" };
    let mut name = format!("{digit}{wanted}");
    while !reserved.insert(name.clone()) {
        name.push('_');
    }
    if name != wanted {
        warn(format!("the name `{wanted}` is taken, so {what} is called `{name}`"));
    }
    Ident::new(&name, Span::call_site())
}

#[cfg(test)]
mod tests {
    use super::free_name;
    use std::collections::HashSet;

    #[test]
    fn taken_name_is_changed_with_warning() {
        let mut reserved = HashSet::from(["Echo".to_owned(), "Echo_".to_owned()]);
        let mut warnings = Vec::new();
        let name = free_name("Echo", &mut reserved, "the trait of `a.Echo`", &mut |text| warnings.push(text));
        assert_eq!(name, "Echo__");
        assert_eq!(warnings, ["the name `Echo` is taken, so the trait of `a.Echo` is called `Echo__`"]);
        assert_eq!(free_name("Other", &mut reserved, "it", &mut |text| warnings.push(text)), "Other");
        assert_eq!(warnings.len(), 1);
    }
}

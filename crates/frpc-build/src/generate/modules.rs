//! The modules of the generated code: one for each package, and those inside of them.

use prost_build::Module;
use syn::Item;

use super::prost_code;
use crate::error::{Error, ErrorKind};
use crate::schema::{Index, Schema};

/// The generated code of one module, which holds all files of one package.
pub(crate) struct Generated {
    pub(crate) module: Module,
    /// As the schema spells it.
    pub(crate) package: String,
    /// The modules in it, each with the full name of the message whose types it holds.
    pub(super) inner: Vec<(String, String)>,
    pub(crate) text: String,
}

/// The modules among `items`. Prost writes that of a message behind it.
pub(super) fn inner_modules(items: &[Item]) -> Vec<(String, String)> {
    let mut message = String::new();
    let mut modules = Vec::new();
    for item in items {
        match item {
            Item::Struct(item) => message = prost_code::marker(&item.attrs).unwrap_or_default(),
            Item::Mod(item) => modules.push((item.ident.to_string(), message.clone())),
            _ => {}
        }
    }
    modules
}

/// Refuses packages whose module is there already, for the types in a message, where all modules are put together.
pub(crate) fn check_modules(schema: &Schema, modules: &[Generated]) -> Result<(), Error> {
    for outer in modules {
        for (ident, message) in &outer.inner {
            let path: Vec<&str> = outer.module.parts().chain([ident.as_str()]).collect();
            let is_same = |other: &&Generated| other.module.parts().take(path.len()).eq(path.iter().copied());
            let Some(other) = modules.iter().find(is_same) else { continue };
            let text = format!(
                "what is in the message `{}` and the package `{}` are both in the module `{ident}` in Rust; rename one of \
                 them",
                message.trim_start_matches('.'),
                other.package
            );
            return Err(match Index::new(&schema.files).messages.get(message) {
                Some(found) => Error::unsupported(schema.place(found.file, &found.path), text),
                None => Error::new(ErrorKind::Unsupported, text),
            });
        }
    }
    Ok(())
}

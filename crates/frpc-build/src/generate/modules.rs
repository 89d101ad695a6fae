//! The modules of the generated code: one for each package, and those within them.

use prost_build::Module;
use syn::Item;

use super::prost_code;
use crate::backend::Checked;
use crate::error::Error;

/// The generated code of one module, which holds all files of one package.
pub(crate) struct Generated {
    pub(crate) module: Module,
    /// The package as the schema spells it.
    pub(crate) package: String,
    /// The modules within it.
    pub(super) inner: Vec<Inner>,
    pub(crate) text: String,
}

/// The module of the types within a message.
pub(super) struct Inner {
    pub(super) ident: String,
    /// The full name of the message, with a leading dot.
    pub(super) message: String,
}

/// The modules in prost's output. The module of a message follows the message.
pub(super) fn of_messages(items: &[Item]) -> Vec<Inner> {
    let mut message = String::new();
    let mut modules = Vec::new();
    for item in items {
        match item {
            Item::Struct(item) => message = prost_code::marker(&item.attrs).unwrap_or_default(),
            Item::Mod(item) => {
                modules.push(Inner { ident: item.ident.to_string(), message: message.clone() });
            }
            _ => {}
        }
    }
    modules
}

/// Refuses packages whose module exists within that of another package. Only for include files, which put all modules
/// together.
pub(crate) fn check_modules(checked: &Checked<'_>, modules: &[Generated]) -> Result<(), Error> {
    for outer in modules {
        for Inner { ident, message } in &outer.inner {
            let path: Vec<&str> = outer.module.parts().chain([ident.as_str()]).collect();
            let is_same = |other: &&Generated| other.module.parts().take(path.len()).eq(path.iter().copied());
            let Some(other) = modules.iter().find(is_same) else { continue };
            let Checked { schema, index, .. } = checked;
            let text = format!(
                "the types in the message `{}` and the package `{}` would have the same module `{ident}` in Rust; rename \
                 one of them",
                message.trim_start_matches('.'),
                other.package
            );
            return Err(index.unsupported(schema, message, text));
        }
    }
    Ok(())
}

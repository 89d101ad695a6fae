//! The modules of the generated code: one for each package, and those within them.

use prost_build::Module;
use prost_types::FileDescriptorProto;
use syn::Item;

use super::prost_code;
use crate::error::{Error, ErrorKind};
use crate::schema::{Index, Schema, full_name, tag, within};

/// The generated code of one module, which holds all files of one package.
pub(crate) struct Generated {
    pub(crate) module: Module,
    /// The package as the schema spells it.
    pub(crate) package: String,
    /// The modules within it.
    pub(super) inner: Vec<Inner>,
    pub(crate) text: String,
}

/// A module within the module of a package.
pub(super) struct Inner {
    pub(super) ident: String,
    pub(super) of: Owner,
}

/// The origin of a module, by full name.
pub(super) enum Owner {
    /// The types within a message. The name has a leading dot.
    Message(String),
    /// tonic's code for a service.
    Service(String),
}

/// The modules in prost's output. The module of a message follows the message.
pub(super) fn of_messages(items: &[Item]) -> Vec<Inner> {
    let mut message = String::new();
    let mut modules = Vec::new();
    for item in items {
        match item {
            Item::Struct(item) => message = prost_code::marker(&item.attrs).unwrap_or_default(),
            Item::Mod(item) => {
                modules.push(Inner { ident: item.ident.to_string(), of: Owner::Message(message.clone()) });
            }
            _ => {}
        }
    }
    modules
}

/// The modules in the code for a service.
pub(super) fn of_service(full_name: &str, items: &[Item]) -> impl Iterator<Item = Inner> {
    items.iter().filter_map(move |item| match item {
        Item::Mod(item) => Some(Inner { ident: item.ident.to_string(), of: Owner::Service(full_name.to_owned()) }),
        _ => None,
    })
}

/// Refuses packages whose module exists within that of another package. Only for include files, which put all modules
/// together.
pub(crate) fn check_modules(schema: &Schema, modules: &[Generated]) -> Result<(), Error> {
    for outer in modules {
        for Inner { ident, of } in &outer.inner {
            let path: Vec<&str> = outer.module.parts().chain([ident.as_str()]).collect();
            let is_same = |other: &&Generated| other.module.parts().take(path.len()).eq(path.iter().copied());
            let Some(other) = modules.iter().find(is_same) else { continue };
            let (what, place) = match of {
                Owner::Message(name) => {
                    let index = Index::new(&schema.files);
                    let place = index.messages.get(name).map(|found| schema.place(found.file, &found.path));
                    (format!("the types in the message `{}`", name.trim_start_matches('.')), place)
                }
                Owner::Service(name) => {
                    let place = schema.files.iter().find_map(|file| {
                        let at = service_at(file, name)?;
                        Some(schema.place(file, &within(&[], tag::FILE_SERVICE, at)))
                    });
                    (format!("tonic's code for the service `{name}`"), place)
                }
            };
            let package = &other.package;
            let text = format!(
                "{what} and the package `{package}` would have the same module `{ident}` in Rust; rename one of them"
            );
            return Err(match place {
                Some(place) => Error::unsupported(place, text),
                None => Error::new(ErrorKind::Unsupported, text),
            });
        }
    }
    Ok(())
}

/// The index of a service in the file that declares it.
fn service_at(file: &FileDescriptorProto, name: &str) -> Option<usize> {
    file.service.iter().position(|service| full_name(file.package(), service.name()) == name)
}

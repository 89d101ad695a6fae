//! Which method gets which operation: Go's rule, or the lock's.

use std::collections::HashMap;

use prost_types::FileDescriptorProto;

use super::record::Record;
use crate::error::{Error, ErrorKind};
use crate::schema::{OPERATION_FIRST, Schema, full_name, tag, within};

/// How methods get their operations, the numbers by which they are called on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Numbering {
    /// As the Go original does: one after the other through all services of a file, from its
    /// [`operation_base`](crate::Builder::operation_base) on. Only a method behind the last one of the last service
    /// leaves the others where they are.
    #[default]
    Go,
    /// Methods keep the operation that the schema lock records, wherever they stand in the file; new ones get the next
    /// that no method of the file, or of one that its services have come from, has ever had. Where there is no lock
    /// yet, as [`Go`](Self::Go).
    Lock,
}

/// The operations of the methods of one file.
pub(crate) struct Numbered<'a> {
    pub(crate) file: &'a FileDescriptorProto,
    /// For each service, for each method, in the order of declaration.
    pub(crate) operations: Vec<Vec<u16>>,
    /// Whether the user has chosen where they begin.
    pub(crate) has_base: bool,
}

/// The operations from which files count, where it is not [`OPERATION_FIRST`], by the names that the user wrote.
#[derive(Debug, Default)]
pub(crate) struct Bases(pub(crate) Vec<(String, u16)>);

impl Bases {
    /// Refuses bases for files that do not exist, and those that belong to the protocol.
    pub(crate) fn check(&self, schema: &Schema) -> Result<(), Error> {
        for (name, base) in &self.0 {
            if *base < OPERATION_FIRST {
                let text =
                    format!("operation_base({name:?}, {base}): the first {OPERATION_FIRST} belong to the protocol");
                return Err(Error::new(ErrorKind::Option, text));
            }
            if !schema.files.iter().any(|file| is_called(file.name(), name)) {
                let text = format!("operation_base({name:?}, {base}): no file of this build is called that");
                return Err(Error::new(ErrorKind::Option, text));
            }
        }
        Ok(())
    }

    fn of(&self, file: &str) -> Option<u16> {
        self.0.iter().rfind(|(name, _)| is_called(file, name)).map(|(_, base)| *base)
    }
}

/// Whether `name` is that of `file` or the end of it: `orders.proto` for `shop/orders.proto`.
fn is_called(file: &str, name: &str) -> bool {
    file.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Numbers the methods of `file`.
pub(crate) fn number<'a>(
    file: &'a FileDescriptorProto,
    name: &str,
    record: Option<&Record>,
    numbering: Numbering,
    bases: &Bases,
) -> Result<Numbered<'a>, Error> {
    let base = bases.of(file.name());
    let mut next = u32::from(base.unwrap_or(OPERATION_FIRST));
    let mut known = HashMap::new();
    if let Some(record) = record.filter(|_| numbering == Numbering::Lock) {
        for service in record.services() {
            for method in &service.methods {
                known.insert((service.name.as_str(), method.name.as_str()), method.operation);
            }
        }
        let is_here = |service: &str| file.service.iter().any(|it| full_name(file.package(), it.name()) == service);
        let past = record.origins(name, is_here).flat_map(|recorded| {
            let methods = recorded.services.iter().flat_map(|service| &service.methods);
            methods.map(|method| method.operation).chain(recorded.removed.iter().map(|(operation, _)| *operation))
        });
        next = past.map(|operation| u32::from(operation) + 1).fold(next, u32::max);
    }
    let mut operations = Vec::new();
    for service in &file.service {
        let service_name = full_name(file.package(), service.name());
        let mut numbers = Vec::new();
        for method in &service.method {
            if let Some(operation) = known.get(&(service_name.as_str(), method.name())) {
                numbers.push(*operation);
                continue;
            }
            let Ok(operation) = u16::try_from(next) else {
                let text = format!("no operation up to {} is left for `{service_name}.{}`", u16::MAX, method.name());
                return Err(Error::new(ErrorKind::Unsupported, text));
            };
            numbers.push(operation);
            next += 1;
        }
        operations.push(numbers);
    }
    Ok(Numbered { file, operations, has_base: base.is_some() })
}

/// Refuses two methods with one operation. Files that both count as in Go may have the same: they are for different
/// servers.
pub(crate) fn check_overlaps(schema: &Schema, all: &[Numbered<'_>]) -> Result<(), Error> {
    let mut taken: HashMap<u16, Vec<(usize, usize)>> = HashMap::new();
    for (at_file, numbered) in all.iter().enumerate() {
        for (at_service, operation) in numbered
            .operations
            .iter()
            .enumerate()
            .flat_map(|(at, operations)| operations.iter().map(move |operation| (at, *operation)))
        {
            let others = taken.entry(operation).or_default();
            let rival = others.iter().find(|(other, _)| *other == at_file || numbered.has_base || all[*other].has_base);
            if let Some((other_file, other_service)) = rival {
                let name = |file: usize, service: usize| {
                    let file = all[file].file;
                    format!("`{}` of {}", full_name(file.package(), file.service[service].name()), file.name())
                };
                let text = format!(
                    "the services {} and {} both have operation {operation}; `operation_base` can keep them apart",
                    name(*other_file, *other_service),
                    name(at_file, at_service)
                );
                let place = schema.place(numbered.file, &within(&[], tag::FILE_SERVICE, at_service));
                return Err(Error::at(ErrorKind::Option, place, text));
            }
            others.push((at_file, at_service));
        }
    }
    Ok(())
}

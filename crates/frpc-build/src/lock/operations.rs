//! Assigns operations to methods, by their order in the schema or as recorded in the lock.

use std::collections::{BTreeSet, HashMap};

use prost_types::FileDescriptorProto;

use super::options::{Numbering, OperationBases};
use super::record::{self, Record, Service};
use super::scope::{Member, Scope};
use crate::error::{Error, ErrorKind};
use crate::schema::{OPERATION_FIRST, OPERATIONS_KEPT, Schema, full_name, has_kept_operations, tag, within};

/// The operations of a build, by file name, then by service and method in the order of declaration.
pub(crate) type Operations = HashMap<String, Vec<Vec<u16>>>;

/// All files but the first start at a multiple of the first of these numbers that still has a free multiple. This
/// leaves room for the files to grow. The smaller numbers are for builds with hundreds of files.
const FILE_STEPS: [u32; 3] = [100, 10, 1];

/// Assigns operations to the methods of all files.
///
/// # Errors
///
/// If too few operations are left, or two methods have the same one.
pub(crate) fn number(
    schema: &Schema,
    scopes: &[Scope<'_>],
    numbering: Numbering,
    bases: &OperationBases,
) -> Result<Operations, Error> {
    let files = scopes.iter().flat_map(|scope| {
        let record = scope.lock.as_ref().map(|lock| &lock.record);
        scope.files.iter().map(move |Member { name, proto }| (name.as_str(), *proto, record))
    });
    let mut files: Vec<_> = files.filter(|(_, proto, _)| !proto.service.is_empty()).collect();
    files.sort_by_key(|(_, proto, _)| (schema.is_import(proto), proto.name()));
    let mut homes = HashMap::new();
    for (_, proto, _) in &files {
        homes.extend(services(proto).map(|service| (service, proto.name())));
    }
    let records = scopes.iter().filter_map(|scope| scope.lock.as_ref()).map(|lock| &lock.record);
    let mut giver = OperationAllocator {
        numbering,
        bases,
        homes: &homes,
        used: records.flat_map(|record| &record.files).flat_map(file_operations).chain(OPERATIONS_KEPT).collect(),
    };
    let mut operations = Operations::new();
    // Files with a determined first operation precede those that receive a free one.
    let (bound, free): (Vec<_>, Vec<_>) =
        files.iter().map(|file| (file, giver.first(file))).partition(|(_, first)| first.is_some());
    for (file, first) in bound.into_iter().chain(free) {
        let numbers = giver.number(file, first)?;
        operations.insert(file.1.name().to_owned(), numbers);
    }
    let files: Vec<_> = files.iter().map(|(_, proto, _)| *proto).collect();
    check_overlaps(schema, &files, &operations, numbering, bases)?;
    Ok(operations)
}

/// A file with its name in the lock, and the lock.
type File<'a> = (&'a str, &'a FileDescriptorProto, Option<&'a Record>);

struct OperationAllocator<'a> {
    numbering: Numbering,
    bases: &'a OperationBases,
    /// The file that declares each service of the build.
    homes: &'a HashMap<String, &'a str>,
    /// All operations that methods have or once had.
    used: BTreeSet<u16>,
}

impl OperationAllocator<'_> {
    /// Returns the first operation of a file, if it is determined.
    fn first(&self, file: &File<'_>) -> Option<u16> {
        let (name, proto, record) = file;
        let recorded = || {
            record
                .filter(|_| self.numbering != Numbering::Go)
                .and_then(|record| self.recorded_first(name, proto, record))
        };
        let go = (self.numbering == Numbering::Go).then_some(OPERATION_FIRST);
        self.bases.of(proto.name()).or(go).or_else(recorded)
    }

    /// Returns the lowest operation recorded for a file, without services that have moved to another file of the build.
    /// If the lock does not contain the file, returns the lowest operation recorded for its services.
    fn recorded_first(&self, name: &str, proto: &FileDescriptorProto, record: &Record) -> Option<u16> {
        let has_stayed = |service: &&Service| self.homes.get(&service.name).is_none_or(|home| *home == proto.name());
        let lowest = |service: &Service| service.methods.iter().map(|method| method.operation).min();
        let of_file = record.files.iter().filter(|file| file.name == name).flat_map(|file| &file.services);
        let of_services = || services(proto).filter_map(|name| lowest(record.service(&name)?)).min();
        of_file.filter(has_stayed).filter_map(lowest).min().or_else(of_services)
    }

    /// Numbers the methods of a file from `first`, or from a free operation.
    fn number(&mut self, file: &File<'_>, first: Option<u16>) -> Result<Vec<Vec<u16>>, Error> {
        let (name, proto, record) = file;
        let mut next = match first {
            Some(first) => u32::from(first),
            None => self.room(proto)?,
        };
        let record = record.filter(|_| self.numbering == Numbering::Lock);
        if let Some(record) = record {
            let is_here = |service: &str| self.homes.get(service) == Some(&proto.name());
            let past = record.origins(name, is_here).flat_map(file_operations);
            next = past.map(|operation| u32::from(operation) + 1).fold(next, u32::max);
        }
        let mut operations = Vec::new();
        for service in &proto.service {
            let service_name = full_name(proto.package(), service.name());
            let recorded = record.and_then(|record| record.service(&service_name));
            let mut numbers = Vec::new();
            for method in &service.method {
                let method_before =
                    recorded.and_then(|it| it.methods.iter().find(|method_before| method_before.name == method.name()));
                if let Some(method_before) = method_before {
                    numbers.push(method_before.operation);
                    continue;
                }
                while record.is_some() && u16::try_from(next).is_ok_and(|next| self.used.contains(&next)) {
                    next += 1;
                }
                let Ok(operation) = u16::try_from(next) else {
                    let (method, last) = (method.name(), u16::MAX);
                    let text = format!("no operation up to {last} is left for `{service_name}.{method}`");
                    return Err(Error::new(ErrorKind::Unsupported, text));
                };
                numbers.push(operation);
                next += 1;
            }
            operations.push(numbers);
        }
        self.used.extend(operations.iter().flatten());
        Ok(operations)
    }

    /// Returns the first operation for a file without one.
    fn room(&self, proto: &FileDescriptorProto) -> Result<u32, Error> {
        let methods: usize = proto.service.iter().map(|service| service.method.len()).sum();
        first_free(&self.used, u32::try_from(methods).unwrap_or(u32::MAX)).ok_or_else(|| {
            let text = format!(
                "the other files of the build leave no room for the {methods} methods of {}: set the `operation_base` \
                 of some files, or `numbering(Numbering::Go)` if they are for different servers",
                proto.name()
            );
            Error::new(ErrorKind::Unsupported, text)
        })
    }
}

/// Returns where a file with this number of methods can start.
fn first_free(used: &BTreeSet<u16>, methods: u32) -> Option<u32> {
    const END: u32 = u16::MAX as u32 + 1;
    let is_free = |first: u32, room: u32| {
        let last = u16::try_from(first.saturating_add(room).min(END).saturating_sub(1)).unwrap_or(u16::MAX);
        let fits = first.saturating_add(methods) <= END;
        fits && (room == 0 || u16::try_from(first).is_ok_and(|first| used.range(first..=last).next().is_none()))
    };
    let lowest = u32::from(OPERATION_FIRST);
    // The first file needs no room to grow, because an `operation_base` may have placed another one directly after it.
    if is_free(lowest, methods) {
        return Some(lowest);
    }
    let of_step = |step: u32| {
        let firsts = (lowest.next_multiple_of(step)..END).step_by(usize::try_from(step).unwrap_or(1));
        firsts.into_iter().find(|first| is_free(*first, methods.saturating_add(step - 1) / step * step))
    };
    FILE_STEPS.into_iter().find_map(of_step)
}

/// Returns the full names of a file's services.
fn services(proto: &FileDescriptorProto) -> impl Iterator<Item = String> {
    proto.service.iter().map(|service| full_name(proto.package(), service.name()))
}

/// Returns all operations recorded for a file, including those of removed methods.
fn file_operations(file: &record::File) -> impl Iterator<Item = u16> {
    let methods = file.services.iter().flat_map(|service| &service.methods).map(|method| method.operation);
    methods.chain(file.removed.iter().map(|(operation, _)| *operation))
}

/// Rejects methods with the same operation. With `Numbering::Go`, operations of files without a base may overlap,
/// because the files are for different servers.
fn check_overlaps(
    schema: &Schema,
    files: &[&FileDescriptorProto],
    operations: &Operations,
    numbering: Numbering,
    bases: &OperationBases,
) -> Result<(), Error> {
    let may_overlap = |one: &FileDescriptorProto, other: &FileDescriptorProto| {
        let is_free = numbering == Numbering::Go && [one, other].iter().all(|file| bases.of(file.name()).is_none());
        is_free && one.name() != other.name()
    };
    let name = |file: &FileDescriptorProto, service: usize| {
        format!("`{}` of {}", full_name(file.package(), file.service[service].name()), file.name())
    };
    for file in files.iter().filter(|file| !has_kept_operations(file.package())) {
        for (service, numbers) in operations.get(file.name()).into_iter().flatten().enumerate() {
            if let Some(operation) = numbers.iter().find(|operation| OPERATIONS_KEPT.contains(operation)) {
                let (first, last) = (OPERATIONS_KEPT.start(), OPERATIONS_KEPT.end());
                let text = format!(
                    "the service {} has operation {operation}, but {first} to {last} are kept for services such as \
                     reflection and health, which every server may have: set another `operation_base` of the file",
                    name(file, service)
                );
                return Err(Error::at(
                    ErrorKind::Option,
                    schema.position(file, &within(&[], tag::FILE_SERVICE, service)),
                    text,
                ));
            }
        }
    }
    let mut holders: HashMap<u16, Vec<(&FileDescriptorProto, usize)>> = HashMap::new();
    for file in files {
        for (service, numbers) in operations.get(file.name()).into_iter().flatten().enumerate() {
            for operation in numbers {
                let others = holders.entry(*operation).or_default();
                if let Some((other, at)) = others.iter().find(|(other, _)| !may_overlap(other, file)) {
                    let text = format!(
                        "the services {} and {} both have operation {operation}, so that no server can serve both: set \
                         the `operation_base` of one of the files, or set `numbering(Numbering::Go)` if they are for \
                         different servers",
                        name(other, *at),
                        name(file, service)
                    );
                    let position = schema.position(file, &within(&[], tag::FILE_SERVICE, service));
                    return Err(Error::at(ErrorKind::Option, position, text));
                }
                others.push((file, service));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::first_free;

    #[test]
    fn files_begin_at_multiples_of_100_as_long_as_there_are_any() {
        let mut used = BTreeSet::new();
        assert_eq!(first_free(&used, 65_526), Some(10));
        assert_eq!(first_free(&used, 65_527), None);
        used.extend([10, 199]);
        assert_eq!(first_free(&used, 1), Some(200));
        assert_eq!(first_free(&used, 101), Some(200));
        used.insert(300);
        assert_eq!(first_free(&used, 100), Some(200));
        assert_eq!(first_free(&used, 101), Some(400));
        assert_eq!(first_free(&used, 65_135), Some(400));
    }

    #[test]
    fn where_there_are_no_hundreds_left_files_begin_closer_together() {
        let mut used: BTreeSet<u16> = (10..=65_500).step_by(100).chain((50..=65_500).step_by(100)).collect();
        used.insert(65_500);
        assert_eq!(first_free(&used, 2), Some(20));
        assert_eq!(first_free(&used, 30), Some(20));
        assert_eq!(first_free(&used, 50), Some(60));
        assert_eq!(first_free(&used, 51), Some(51));
        assert_eq!(first_free(&used, 59), Some(51));
        assert_eq!(first_free(&used, 60), None);
        assert_eq!(first_free(&(10..=u16::MAX).collect(), 1), None);
        assert_eq!(first_free(&(10..=u16::MAX).collect(), 0), Some(10));
    }
}

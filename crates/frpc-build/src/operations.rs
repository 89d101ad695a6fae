//! Assigns operation numbers to methods by their order in the schema.

use std::collections::{BTreeSet, HashMap};

use prost_types::FileDescriptorProto;

use crate::error::{Error, ErrorKind};
use crate::schema::{OPERATION_FIRST, OPERATIONS_KEPT, Schema, full_name, has_kept_operations, tag, within};

/// Rule for assigning operations, the numbers that identify methods on the wire.
///
/// Native peers match methods by name, so operations may change. Peers of the base protocol, such as Go programs,
/// identify methods only by their operations. The operation of a method that such peers use must not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Numbering {
    /// Methods are numbered in the order of declaration, across all services of a file.
    ///
    /// The first file of a build starts at 10, as in Go. Each further file that declares methods starts at the lowest
    /// free multiple of 100, so that one server can serve all of them. The numbers up to the next multiple remain free
    /// for methods that are added to the file later.
    ///
    /// Files that are passed to the build come before the files that they import, and both groups are sorted by name.
    /// [`operation_base`](crate::Builder::operation_base) sets the first number of a file explicitly.
    #[default]
    Sequential,
    /// Go's rule: like [`Sequential`](Self::Sequential), but every file without an
    /// [`operation_base`](crate::Builder::operation_base) starts at 10. Services of two such files cannot share a
    /// server. Use this rule if the services of several files in a build have Go peers.
    Go,
}

/// Build options that determine how operation numbers are assigned to methods.
#[derive(Debug, Default)]
pub(crate) struct OperationOptions {
    pub(crate) numbering: Numbering,
    /// File names passed to `operation_base`, as the user wrote them, with the first operation number of each file.
    pub(crate) bases: Vec<(String, u16)>,
}

impl OperationOptions {
    /// Rejects an `operation_base` that is a reserved number or that names a file outside of the build.
    fn check(&self, schema: &Schema) -> Result<(), Error> {
        for (name, base) in &self.bases {
            if *base < OPERATION_FIRST {
                let text = format!(
                    "operation_base({name:?}, {base}): operations below {OPERATION_FIRST} are reserved for the protocol"
                );
                return Err(Error::new(ErrorKind::Option, text));
            }
            if !schema.files.iter().any(|file| is_called(file.name(), name)) {
                let text = format!("operation_base({name:?}, {base}): this build has no such file");
                return Err(Error::new(ErrorKind::Option, text));
            }
        }
        Ok(())
    }

    /// Returns the configured first operation number of a file, if there is one.
    fn base(&self, file: &str) -> Option<u16> {
        self.bases.iter().rfind(|(name, _)| is_called(file, name)).map(|(_, base)| *base)
    }
}

/// Returns whether `name` is the import name of `file` or a suffix of it, such as `orders.proto` for
/// `shop/orders.proto`.
fn is_called(file: &str, name: &str) -> bool {
    file.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Operation numbers of all methods, by file name. Each entry lists the services of the file and their methods in the
/// order of declaration.
pub(crate) type Operations = HashMap<String, Vec<Vec<u16>>>;

/// Steps of the operation numbers at which files start, in order of preference. A step of 100 permits adding methods to
/// earlier files without renumbering later ones. Smaller steps are only needed in builds of hundreds of files.
const FILE_STEPS: [u32; 3] = [100, 10, 1];

/// Assigns an operation number to each method declared in `files`.
///
/// # Errors
///
/// If an `operation_base` is invalid, too few operations are left, or two methods have the same number.
pub(crate) fn number(
    schema: &Schema,
    files: &[&FileDescriptorProto],
    options: &OperationOptions,
) -> Result<Operations, Error> {
    options.check(schema)?;
    let mut files = files.to_vec();
    files.sort_by_key(|proto| (schema.is_import(proto), proto.name()));
    // Operation numbers that are reserved or already assigned to a method.
    let mut used: BTreeSet<u16> = OPERATIONS_KEPT.collect();
    let mut operations = Operations::new();
    let go = (options.numbering == Numbering::Go).then_some(OPERATION_FIRST);
    // Number files with a configured first operation before files that take free numbers.
    let firsts = files.iter().map(|file| (file, options.base(file.name()).or(go)));
    let (bound, free): (Vec<_>, Vec<_>) = firsts.partition(|(_, first)| first.is_some());
    for (file, first) in bound.into_iter().chain(free) {
        let first = first.map_or_else(|| room(&used, file), |first| Ok(first.into()))?;
        let numbers = numbers(file, first)?;
        used.extend(numbers.iter().flatten());
        operations.insert(file.name().to_owned(), numbers);
    }
    check_overlaps(schema, &files, &operations, options)?;
    Ok(operations)
}

/// Returns consecutive operation numbers for the methods of each service of a file, starting at `next`.
fn numbers(proto: &FileDescriptorProto, mut next: u32) -> Result<Vec<Vec<u16>>, Error> {
    let mut operations = Vec::new();
    for service in &proto.service {
        let mut numbers = Vec::new();
        for method in &service.method {
            let Ok(operation) = u16::try_from(next) else {
                let (service, method, last) = (full_name(proto.package(), service.name()), method.name(), u16::MAX);
                let text = format!("no operation up to {last} is left for `{service}.{method}`");
                return Err(Error::new(ErrorKind::Unsupported, text));
            };
            numbers.push(operation);
            next += 1;
        }
        operations.push(numbers);
    }
    Ok(operations)
}

/// Returns the first operation number for a file that has no `operation_base`.
fn room(used: &BTreeSet<u16>, proto: &FileDescriptorProto) -> Result<u32, Error> {
    let methods: usize = proto.service.iter().map(|service| service.method.len()).sum();
    first_free(used, u32::try_from(methods).unwrap_or(u32::MAX)).ok_or_else(|| {
        let text = format!(
            "the other files of the build leave no room for the {methods} methods of {}: set the `operation_base` of \
             some files, or `numbering(Numbering::Go)` if they are for different servers",
            proto.name()
        );
        Error::new(ErrorKind::Unsupported, text)
    })
}

/// Returns the first operation number for a file with this many methods. The numbers of all its methods are free.
fn first_free(used: &BTreeSet<u16>, methods: u32) -> Option<u32> {
    const END: u32 = u16::MAX as u32 + 1;
    let is_free = |first: u32, room: u32| {
        let last = u16::try_from(first.saturating_add(room).min(END).saturating_sub(1)).unwrap_or(u16::MAX);
        let fits = first.saturating_add(methods) <= END;
        fits && (room == 0 || u16::try_from(first).is_ok_and(|first| used.range(first..=last).next().is_none()))
    };
    let lowest = u32::from(OPERATION_FIRST);
    // Reserve no numbers after the methods of the first file, because `operation_base` may place another file directly
    // behind them.
    if is_free(lowest, methods) {
        return Some(lowest);
    }
    let of_step = |step: u32| {
        let firsts = (lowest.next_multiple_of(step)..END).step_by(usize::try_from(step).unwrap_or(1));
        firsts.into_iter().find(|first| is_free(*first, methods.saturating_add(step - 1) / step * step))
    };
    FILE_STEPS.into_iter().find_map(of_step)
}

/// Rejects methods with equal operation numbers. With `Numbering::Go`, two files without an `operation_base` may use
/// the same numbers, because they belong to different servers.
fn check_overlaps(
    schema: &Schema,
    files: &[&FileDescriptorProto],
    operations: &Operations,
    options: &OperationOptions,
) -> Result<(), Error> {
    let may_overlap = |one: &FileDescriptorProto, other: &FileDescriptorProto| {
        let is_free =
            options.numbering == Numbering::Go && [one, other].iter().all(|file| options.base(file.name()).is_none());
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
                let position = schema.position(file, &within(&[], tag::FILE_SERVICE, service));
                return Err(Error::at(ErrorKind::Option, position, text));
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
    fn files_begin_at_free_multiples_of_100() {
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
    fn files_begin_closer_when_hundreds_run_out() {
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

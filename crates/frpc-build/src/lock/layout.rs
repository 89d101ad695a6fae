//! The wire layout of a service, as peers need it.

use std::collections::BTreeSet;

use super::canonical::fingerprint;
use super::fingerprint::Fingerprint;
use super::record::Record;

/// The wire layout of a service, which peers compare before calls.
///
/// Two peers understand each other if their fingerprints are equal, or if the fingerprint of one is among the
/// [`compatible`](Self::compatible) fingerprints of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    service: String,
    operations: Vec<u16>,
    /// Their names, in the order of `operations`.
    methods: Vec<String>,
    fingerprint: Fingerprint,
    compatible: Vec<Fingerprint>,
    appended: Vec<(String, u32)>,
}

impl Layout {
    /// Returns the full name of the service.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Returns the operations of its methods, in ascending order.
    pub fn operations(&self) -> &[u16] {
        &self.operations
    }

    /// Returns the names of its methods with their operations, in the order of operations.
    pub fn methods(&self) -> impl Iterator<Item = (&str, u16)> {
        self.methods.iter().map(String::as_str).zip(self.operations.iter().copied())
    }

    /// Returns the fingerprint of this layout.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the fingerprints of compatible earlier layouts, as the schema lock records them: at most 32, the oldest
    /// first.
    pub fn compatible(&self) -> &[Fingerprint] {
        &self.compatible
    }

    /// Returns the number of fields of a message, named with its leading dot, that some compatible peers do not send.
    pub fn added(&self, message: &str) -> u32 {
        let name = message.trim_start_matches('.');
        self.appended().find(|(appended, _)| *appended == name).map_or(0, |(_, added)| added)
    }

    /// Returns the full names of requests, replies and stream messages with appended fields, each with the number of
    /// fields that some compatible peers do not send. These fields are the last in wire order. Each member of a oneof
    /// counts as a field.
    pub fn appended(&self) -> impl Iterator<Item = (&str, u32)> {
        self.appended.iter().map(|(name, fields)| (name.as_str(), *fields))
    }
}

/// The layouts of all services of `record`.
pub(crate) fn layouts(record: &Record) -> Vec<Layout> {
    let layout = |service: &super::record::Service| {
        let roots: BTreeSet<&str> = service.roots().collect();
        let appended = roots.into_iter().filter_map(|name| {
            let fields = &record.messages.get(name)?.fields;
            let added = fields.iter().rev().take_while(|field| field.is_added).count();
            (added > 0).then(|| (name.to_owned(), u32::try_from(added).unwrap_or(u32::MAX)))
        });
        let mut methods: Vec<_> =
            service.methods.iter().map(|method| (method.operation, method.name.clone())).collect();
        methods.sort_unstable();
        let (operations, methods) = methods.into_iter().unzip();
        Layout {
            service: service.name.clone(),
            operations,
            methods,
            fingerprint: fingerprint(service, record),
            compatible: service.compatible.clone(),
            appended: appended.collect(),
        }
    };
    record.services().map(layout).collect()
}

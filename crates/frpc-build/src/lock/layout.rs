//! What a peer needs to know about the wire layout of a service.

use std::collections::BTreeSet;

use super::canonical::fingerprint;
use super::fingerprint::Fingerprint;
use super::record::Record;

/// The wire layout of a service, as peers compare it before they call each other.
///
/// Two peers fit if the fingerprint of either is among the other's [`compatible`](Self::compatible) ones, or both are
/// equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    service: String,
    operations: Vec<u16>,
    fingerprint: Fingerprint,
    compatible: Vec<Fingerprint>,
    growing: Vec<(String, u32)>,
}

impl Layout {
    /// The full name of the service.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// The operations of its methods, in ascending order.
    pub fn operations(&self) -> &[u16] {
        &self.operations
    }

    /// Of the layout as it is.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Of earlier layouts that the schema lock records, whose peers are still understood: at most 32, the oldest first.
    pub fn compatible(&self) -> &[Fingerprint] {
        &self.compatible
    }

    /// The requests, replies and stream messages to which fields were appended, by full name, each with the number of
    /// fields that not all compatible peers send. They are the last in wire order; members of oneofs are counted one by
    /// one.
    pub fn growing(&self) -> impl Iterator<Item = (&str, u32)> {
        self.growing.iter().map(|(name, fields)| (name.as_str(), *fields))
    }
}

/// The layouts of all services of `record`.
pub(crate) fn layouts(record: &Record) -> Vec<Layout> {
    let layout = |service: &super::record::Service| {
        let roots: BTreeSet<&str> = service.roots().collect();
        let growing = roots.into_iter().filter_map(|name| {
            let fields = &record.messages.get(name)?.fields;
            let added = fields.iter().rev().take_while(|field| field.is_added).count();
            (added > 0).then(|| (name.to_owned(), u32::try_from(added).unwrap_or(u32::MAX)))
        });
        let mut operations: Vec<_> = service.methods.iter().map(|method| method.operation).collect();
        operations.sort_unstable();
        Layout {
            service: service.name.clone(),
            operations,
            fingerprint: fingerprint(service, record),
            compatible: service.compatible.clone(),
            growing: growing.collect(),
        }
    };
    record.services().map(layout).collect()
}

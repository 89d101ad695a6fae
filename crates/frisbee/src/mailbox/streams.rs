//! The table of the streams that are open on one connection.

use crate::stream::StreamShared;
use crate::{PacketId, PeerKind};
use frisbee_core::Role;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// The open streams of both ends, by id.
#[derive(Debug, Default)]
pub(crate) struct StreamTable {
    streams: BTreeMap<PacketId, Arc<StreamShared>>,
    /// How many of them were opened by this end.
    opened_here: usize,
    /// The id after the one given to the last stream opened by this end.
    next: u16,
}

impl StreamTable {
    pub(crate) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.streams.len()
    }

    /// How many streams the peer has opened.
    pub(crate) fn opened_by_peer(&self) -> usize {
        self.streams.len() - self.opened_here
    }

    pub(crate) fn contains(&self, id: PacketId) -> bool {
        self.streams.contains_key(&id)
    }

    pub(crate) fn get(&self, id: PacketId) -> Option<&Arc<StreamShared>> {
        self.streams.get(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<StreamShared>> {
        self.streams.values()
    }

    /// Enters a stream that this end opens, under an id that is free; `None` if as many are open as may be.
    ///
    /// Ids count for the connection. Between extended peers each end has a range of its own. A Go server takes any id;
    /// 0 is left out, since Go clients never use it.
    pub(crate) fn enter(
        &mut self,
        role: Role,
        peer: &PeerKind,
        make: impl FnOnce(PacketId) -> Arc<StreamShared>,
    ) -> Option<PacketId> {
        let (ids, places) = match (peer, role) {
            (PeerKind::Extended(hello), Role::Client) => (1..=0x7FFF, hello.streams_max),
            (PeerKind::Extended(hello), Role::Server) => (0x8000..=u16::MAX, hello.streams_max),
            (PeerKind::Plain | PeerKind::Unknown, _) => (1..=u16::MAX, u32::MAX),
        };
        if self.opened_here >= usize::try_from(places).unwrap_or(usize::MAX) {
            return None;
        }
        for _ in ids.clone() {
            if !ids.contains(&self.next) {
                self.next = *ids.start();
            }
            let id = PacketId(self.next);
            self.next = self.next.wrapping_add(1);
            if let Entry::Vacant(free) = self.streams.entry(id) {
                free.insert(make(id));
                self.opened_here += 1;
                return Some(id);
            }
        }
        None
    }

    /// Enters a stream that the peer has opened.
    pub(crate) fn enter_opened_by_peer(&mut self, stream: Arc<StreamShared>) {
        self.streams.insert(stream.id(), stream);
    }

    /// Removes a stream, unless its id belongs to a later one by now; whether that frees a place for this end to open
    /// another.
    pub(super) fn leave(&mut self, stream: &Arc<StreamShared>) -> bool {
        let Entry::Occupied(entry) = self.streams.entry(stream.id()) else { return false };
        if !Arc::ptr_eq(entry.get(), stream) {
            return false;
        }
        entry.remove();
        let frees = stream.is_opened_here();
        if frees {
            self.opened_here -= 1;
        }
        frees
    }

    /// Removes all streams.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Arc<StreamShared>> + use<> {
        self.opened_here = 0;
        std::mem::take(&mut self.streams).into_values()
    }
}

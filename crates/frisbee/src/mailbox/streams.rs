//! The table of a connection's open streams.

use super::stream::StreamShared;
use crate::{PacketId, PeerKind};
use frisbee_core::Role;
use std::sync::Arc;

/// Open streams of a connection, whichever end opened them, by id.
#[derive(Debug, Default)]
pub(crate) struct StreamTable {
    /// Open streams, sorted by id. A vector is fast enough for at most a few hundred streams, whereas an ordered map
    /// would add kilobytes of code for each type.
    streams: Vec<(PacketId, Arc<StreamShared>)>,
    /// Number of open streams that this end has opened.
    opened_here: u32,
    /// First id to try when this end opens a stream. One more than the id of the stream opened last.
    next: u16,
}

impl StreamTable {
    pub(crate) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.streams.len()
    }

    /// Returns the number of open streams that the peer has opened.
    pub(crate) fn opened_by_peer(&self) -> usize {
        self.streams.len() - self.opened_here as usize
    }

    pub(crate) fn get(&self, id: PacketId) -> Option<&Arc<StreamShared>> {
        self.find(id).ok().map(|at| &self.streams[at].1)
    }

    /// Returns the index of the stream with this id, or the index at which to insert it.
    fn find(&self, id: PacketId) -> Result<usize, usize> {
        self.streams.binary_search_by_key(&id, |(id, _)| *id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<StreamShared>> {
        self.streams.iter().map(|(_, stream)| stream)
    }

    /// Returns how many more streams this end may open now.
    pub(crate) fn free(&self, peer: &PeerKind) -> usize {
        let max = peer.hello().map_or(u32::MAX, |hello| hello.streams_max);
        usize::try_from(max.saturating_sub(self.opened_here)).unwrap_or(usize::MAX)
    }

    /// Adds a stream that this end opens, under an unused id. Returns `None` if the maximum number of streams is open.
    ///
    /// Ids are unique within the connection. If the peer supports the protocol extension, each end uses its own half of
    /// the ids. A Go server accepts any id; 0 is skipped because Go clients never use it.
    pub(crate) fn enter(
        &mut self,
        role: Role,
        peer: &PeerKind,
        make: impl FnOnce(PacketId) -> Arc<StreamShared>,
    ) -> Option<PacketId> {
        let (ids, streams_max) = match (peer, role) {
            (PeerKind::Native(hello), Role::Client) => (1..=0x7FFF, hello.streams_max),
            (PeerKind::Native(hello), Role::Server) => (0x8000..=u16::MAX, hello.streams_max),
            (PeerKind::Compat | PeerKind::Unknown, _) => (1..=u16::MAX, u32::MAX),
        };
        if self.opened_here >= streams_max {
            return None;
        }
        // Try each id at most once, because all of them may be in use.
        for _ in ids.clone() {
            if !ids.contains(&self.next) {
                self.next = *ids.start();
            }
            let id = PacketId(self.next);
            self.next = self.next.wrapping_add(1);
            if let Err(at) = self.find(id) {
                self.streams.insert(at, (id, make(id)));
                self.opened_here += 1;
                return Some(id);
            }
        }
        None
    }

    /// Adds a stream that the peer has opened. Returns `false` without adding the stream if its id is already in use.
    pub(crate) fn enter_opened_by_peer(&mut self, stream: Arc<StreamShared>) -> bool {
        let Err(at) = self.find(stream.id) else { return false };
        self.streams.insert(at, (stream.id, stream));
        true
    }

    /// Removes a stream from the table. Does nothing if its id already belongs to another stream.
    pub(super) fn leave(&mut self, stream: &Arc<StreamShared>) {
        if let Ok(at) = self.find(stream.id)
            && Arc::ptr_eq(&self.streams[at].1, stream)
        {
            self.streams.remove(at);
            self.opened_here -= u32::from(stream.opened_here);
        }
    }

    /// Removes all streams from the table and returns them.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Arc<StreamShared>> + use<> {
        self.opened_here = 0;
        std::mem::take(&mut self.streams).into_iter().map(|(_, stream)| stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Connection;
    use crate::account::Budget;
    use crate::transport::endpoint::EndpointInfo;
    use bytes::Bytes;
    use frisbee_core::Hello;
    use tokio::runtime::Handle;

    #[tokio::test]
    async fn peer_stream_does_not_replace_local_one() {
        let budget = Arc::new(Budget::new(usize::MAX, usize::MAX));
        let connection = Connection::server(&Default::default(), &budget, Handle::current(), EndpointInfo::default());
        let stream = |id, opened_here| Arc::new(connection.0.stream(id, &PeerKind::Compat, opened_here));
        let mut table = StreamTable::default();
        let id = table
            .enter(Role::Server, &PeerKind::Compat, |id| stream(id, true))
            .expect("id should be available for the new stream");
        assert!(!table.enter_opened_by_peer(stream(id, false)));
        assert!(table.get(id).is_some_and(|stream| stream.opened_here));
        assert_eq!((table.len(), table.opened_by_peer()), (1, 0));
        let other = stream(PacketId(id.0 + 1), false);
        assert!(table.enter_opened_by_peer(other.clone()));
        assert_eq!((table.len(), table.opened_by_peer()), (2, 1));
        table.leave(&other);
        assert_eq!((table.len(), table.opened_by_peer()), (1, 0));
    }

    #[tokio::test]
    async fn stream_ids_wrap_only_after_last() {
        let budget = Arc::new(Budget::new(usize::MAX, usize::MAX));
        let connection = Connection::server(&Default::default(), &budget, Handle::current(), EndpointInfo::default());
        let hello = Hello::decode(&Bytes::from_static(b"fris\x01")).expect("HELLO should be valid");
        let native = PeerKind::Native(Arc::new(hello));
        for (role, kind, first, last) in [
            (Role::Client, &native, 1, 0x7FFF),
            (Role::Server, &native, 0x8000, u16::MAX),
            (Role::Server, &PeerKind::Compat, 1, u16::MAX),
        ] {
            let mut table = StreamTable::default();
            assert!(table.is_empty());
            let stream = |id| Arc::new(connection.0.stream(id, kind, true));
            let stays = table.enter(role, kind, stream).expect("id should be available for the new stream");
            assert!(!table.is_empty() && table.get(stays).is_some() && table.get(PacketId(stays.0 + 1)).is_none());
            let come_and_go = |table: &mut StreamTable| {
                let id = table.enter(role, kind, stream).expect("id should be available for the new stream");
                let stream = table.get(id).expect("stream should be in the stream table").clone();
                table.leave(&stream);
                assert_eq!((table.len(), table.opened_here), (1, 1));
                id.0
            };
            assert_eq!([(); 3].map(|()| come_and_go(&mut table)), [first + 1, first + 2, first + 3]);
            table.next = last;
            assert_eq!([(); 2].map(|()| come_and_go(&mut table)), [last, first + 1], "one is in use");
        }
    }

    #[tokio::test]
    async fn opened_streams_stay_within_limit_of_peer() {
        let budget = Arc::new(Budget::new(usize::MAX, usize::MAX));
        let connection = Connection::server(&Default::default(), &budget, Handle::current(), EndpointInfo::default());
        let mut hello = Hello::decode(&Bytes::from_static(b"fris\x01")).expect("HELLO should be valid");
        hello.streams_max = 2;
        let kind = PeerKind::Native(Arc::new(hello));
        let stream = |id| Arc::new(connection.0.stream(id, &kind, true));
        let mut table = StreamTable::default();
        let theirs = Arc::new(connection.0.stream(PacketId(1), &kind, false));
        assert!(table.enter_opened_by_peer(theirs));
        let [first, second] = [(); 2].map(|()| table.enter(Role::Server, &kind, stream));
        assert!(first.is_some() && second.is_some());
        assert_eq!(table.enter(Role::Server, &kind, stream), None);
        let left = first.and_then(|id| table.get(id)).expect("first stream should still be open").clone();
        table.leave(&left);
        assert_eq!(table.free(&kind), 1);
        assert!(table.enter(Role::Server, &kind, stream).is_some());
    }
}

//! The two sides of a connection, and the decisions in which they differ.

use crate::calls::is_of_accepting_end;
use crate::calls::table::CallTable;
use frisbee::PacketId;
use std::sync::Arc;

/// Side of the connections of an endpoint.
pub(super) enum Side {
    /// Accepts connections. The first reverse call on a connection attaches a call table to it.
    Accepting,
    /// Dials connections and makes the calls in this table.
    Dialling(Arc<CallTable>),
}

impl Side {
    /// Returns the call table of a dialling side.
    #[inline(always)]
    pub(super) fn calls(&self) -> Option<&Arc<CallTable>> {
        match self {
            Self::Accepting => None,
            Self::Dialling(calls) => Some(calls),
        }
    }

    /// Returns whether the call table of a connection is among its attachments.
    #[inline(always)]
    pub(super) fn attaches_calls(&self) -> bool {
        matches!(self, Self::Accepting)
    }

    /// Returns whether packets without a prefix are replies. On the other side, they are requests.
    #[inline(always)]
    pub(super) fn receives_replies(&self) -> bool {
        matches!(self, Self::Dialling(_))
    }

    /// Returns whether a discarded packet with this id may be a reply. A dialling side discards no bodies.
    pub(super) fn may_discard_reply(&self, id: PacketId) -> bool {
        match self {
            Self::Accepting => is_of_accepting_end(id),
            Self::Dialling(_) => false,
        }
    }

    /// Returns whether connections are closed by their channel, after its own work.
    pub(super) fn closes_by_itself(&self) -> bool {
        matches!(self, Self::Dialling(_))
    }

    /// Returns whether to request load reports from servers, because pickers balance calls by load.
    pub(super) fn requests_load(&self) -> bool {
        self.calls().is_some_and(|calls| calls.is_of_fleet())
    }

    /// Returns whether each peer is limited to a share of the memory. Only servers have such a limit.
    pub(super) fn limits_memory(&self) -> bool {
        matches!(self, Self::Accepting)
    }

    /// Returns whether the peer may announce further services that it will call. Only dialling peers send CALLS.
    pub(super) fn accepts_announcements(&self) -> bool {
        matches!(self, Self::Accepting)
    }
}

//! The servers of a channel: one, or a fleet.

use crate::Status;
use crate::client::fleet::Fleet;
use crate::client::link::Link;
use crate::client::links::Links;
use std::future::pending;
use std::sync::Arc;
use tokio::time::Instant;

/// The servers of a channel.
pub(crate) enum Servers {
    One(Links),
    Several(Arc<Fleet>),
}

impl Servers {
    /// The connection for the next call, if there is one.
    #[inline]
    pub(crate) fn current(&self) -> Option<Arc<Link>> {
        match self {
            Self::One(links) => links.current(),
            Self::Several(fleet) => fleet.current(),
        }
    }

    /// As [`current`](Self::current), with a look at the clock: streams are not timed, and an ejection ends all the same.
    pub(crate) fn current_now(&self) -> Option<Arc<Link>> {
        if let Self::Several(fleet) = self {
            fleet.look_at_clock();
        }
        self.current()
    }

    /// A connection, or a new one; see [`Links::connect`].
    pub(crate) async fn connect(&self, begun: Instant) -> Result<Arc<Link>, Status> {
        match self {
            Self::One(links) => links.connect(begun).await,
            Self::Several(fleet) => fleet.connect(begun).await,
        }
    }

    /// The status of a late call; see [`Links::late`].
    pub(crate) fn late(&self) -> Status {
        match self {
            Self::One(links) => links.late(),
            Self::Several(fleet) => fleet.late(),
        }
    }

    /// Replaces lost connections; see [`Links::stay_connected`]. Connections to several servers are always replaced.
    pub(crate) async fn stay_connected(&self) {
        match self {
            Self::One(links) => links.stay_connected().await,
            Self::Several(_) => pending().await,
        }
    }

    /// Closes the channel.
    pub(crate) fn close(&self) {
        match self {
            Self::One(links) => links.close(),
            Self::Several(fleet) => fleet.close(),
        }
    }

    /// The names of the servers.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Self::One(links) => links.name().map(str::to_owned).into_iter().collect(),
            Self::Several(fleet) => fleet.names(),
        }
    }
}

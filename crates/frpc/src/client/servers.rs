//! The servers of a channel: one, or a fleet.

use crate::Status;
use crate::client::fleet::Fleet;
use crate::client::fleet::choice::Chosen;
use crate::client::link::Link;
use crate::client::links::Links;
use crate::schema::method::Method;
use std::future::pending;
use std::sync::Arc;
use tokio::time::Instant;

/// The servers of a channel.
pub(crate) enum Servers {
    One(Links),
    Several(Arc<Fleet>),
}

impl Servers {
    /// The connection for the next call, if there is one that needs no thought.
    #[inline]
    pub(crate) fn current(&self) -> Option<Arc<Link>> {
        match self {
            Self::One(links) => links.current(),
            Self::Several(fleet) => fleet.current(),
        }
    }

    /// The connection for the next call with what is to be known of it, if there is one. It looks at the clock: streams are
    /// not timed, and an ejection ends all the same.
    pub(crate) fn chosen(&self) -> Option<Chosen> {
        match self {
            Self::One(links) => links.current().map(Chosen::usual),
            Self::Several(fleet) => fleet.chosen(),
        }
    }

    /// The connection for the next call of a method by what servers answer, if they are asked; see [`Fleet::asked`].
    pub(crate) async fn asked(&self, method: &'static Method, until: Option<std::time::Instant>) -> Option<Chosen> {
        match self {
            Self::Several(fleet) if fleet.asks() => Box::pin(fleet.asked(method, until)).await,
            Self::One(_) | Self::Several(_) => None,
        }
    }

    /// A connection that a call might use.
    pub(crate) fn connection(&self) -> Option<Arc<Link>> {
        match self {
            Self::One(links) => links.current(),
            Self::Several(fleet) => fleet.connection(),
        }
    }

    /// The connection to another server for a call that is under way on this one, too.
    pub(crate) fn besides(&self, link: &Arc<Link>) -> Option<Arc<Link>> {
        match self {
            Self::One(_) => None,
            Self::Several(fleet) => fleet.besides(link),
        }
    }

    /// A connection, or a new one; see [`Links::connect`].
    pub(crate) async fn connect(&self, begun: Instant) -> Result<Chosen, Status> {
        match self {
            Self::One(links) => links.connect(begun).await.map(Chosen::usual),
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

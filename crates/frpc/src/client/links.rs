//! The successive connections to one server.
//!
//! # Decisions
//!
//! A link is one connection and its calls, kept alive by its users: the channel, a call, a stream. A retired link gets no new calls
//! and closes when its last call has ended. The count of its users is also its load for the choice of a link.

use crate::Status;
use crate::calls::estimate::ServerEstimate;
use crate::calls::failures::{closed, unreachable};
use crate::client::call::Call;
use crate::client::current::{Current, CurrentLink, current_link, is_closed};
use crate::client::link::Link;
use crate::client::making::{Maker, Making};
use crate::client::picker::{Boxed, Pick, Picked, Picker, Wait, in_progress};
use crate::observe::ServerLoad;
use crate::resolve::Endpoint;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::time::Instant;

/// The current connection to a server, and the means to make the next.
pub(crate) struct Links {
    current: Arc<CurrentLink>,
    /// `None` for an existing connection, which cannot be replaced.
    making: Option<Arc<Making>>,
}

impl Links {
    /// Connections that are made on demand.
    pub(crate) fn by(maker: Maker) -> Self {
        let current = Arc::default();
        Self { making: Some(Making::new(maker, Arc::clone(&current))), current }
    }

    /// Makes the first connection, in one attempt.
    pub(crate) async fn connect_first(&self) -> Result<(), frisbee::Error> {
        match &self.making {
            Some(making) => making.connect_first().await,
            None => Ok(()),
        }
    }

    /// As [`connect_first`](Self::connect_first), for one of several servers; see [`Making::dial_first`].
    pub(crate) async fn dial_first(&self) -> Result<(), frisbee::Error> {
        match &self.making {
            Some(making) => making.dial_first().await,
            None => Ok(()),
        }
    }

    /// An existing connection, which cannot be replaced.
    pub(crate) fn bound(link: Link) -> Self {
        let current = Current { link: Some(Arc::new(link)), is_closed: false };
        Self { current: Arc::new(Mutex::new(current)), making: None }
    }

    /// The current connection.
    #[inline]
    pub(crate) fn current(&self) -> Option<Arc<Link>> {
        current_link(&self.current)
    }

    /// The current connection, or a new one.
    async fn connected(&self, wait: Wait) -> Result<Arc<Link>, Status> {
        match &self.making {
            Some(making) => making.connection(wait).await,
            None => self.current().ok_or_else(|| match is_closed(&self.current) {
                true => closed(),
                false => unreachable("the connection has ended, and only the dialling end can reconnect"),
            }),
        }
    }

    /// Closes the channel: no further call gets a connection.
    pub(crate) fn close(&self) {
        let mut place = self.current.lock();
        place.is_closed = true;
        let link = place.link.take();
        drop(place);
        // On a connection that the channel does not own, calls of other channels continue.
        if let (Some(link), Some(_)) = (&link, &self.making) {
            link.calls.retire();
        }
        drop(link); // Which may close it, without the lock.
        if let Some(making) = &self.making {
            making.stop();
        }
    }

    /// Whether the last attempt to connect has failed.
    pub(crate) fn has_trouble(&self) -> bool {
        self.making.as_ref().is_some_and(|making| making.has_trouble())
    }

    /// The text, with the last failure to connect if there is one.
    pub(crate) fn with_trouble(&self, text: String) -> String {
        match &self.making {
            Some(making) => making.with_trouble(text),
            None => text,
        }
    }

    /// How well the server works, if it is one of a fleet.
    pub(crate) fn estimate(&self) -> Option<&Arc<ServerEstimate>> {
        self.making.as_ref().and_then(|making| making.estimate())
    }

    /// Makes further connections to the server as it is stated now.
    pub(crate) fn update(&self, endpoint: &Arc<Endpoint>) {
        if let Some(making) = &self.making {
            making.update(endpoint);
        }
    }

    /// The name of the server, if connections to it can be made.
    pub(crate) fn name(&self) -> Option<&str> {
        self.making.as_ref().map(|making| making.name())
    }

    /// Makes a connection if there is none, and waits until it takes no new calls. Returns `false` if no connection can
    /// be made any more.
    pub(crate) async fn keep_one(&self) -> bool {
        let link = match (self.current(), &self.making) {
            (Some(link), _) => link,
            (None, Some(making)) => match making.make(Instant::now(), None).await {
                Ok(link) => link,
                Err(_) => return false,
            },
            (None, None) => return false,
        };
        let calls = link.calls.clone();
        drop(link);
        calls.retired().await;
        true
    }
}

impl Picker for Links {
    fn pick(&self, call: &Call<'_>) -> Pick {
        if call.avoid.is_some() {
            return Pick::Failed(unreachable("there is no other server"));
        }
        self.current().map_or(Pick::Connecting, |link| Pick::Ready(Picked::usual(link)))
    }

    fn connect(&self, wait: Wait) -> Boxed<'_, Result<Picked, Status>> {
        Box::pin(async move { self.connected(wait).await.map(Picked::usual) })
    }

    fn connection(&self) -> Option<Arc<Link>> {
        self.current()
    }

    fn stay_connected(&self) -> Boxed<'_, ()> {
        Box::pin(async { while self.keep_one().await {} })
    }

    fn close(&self) {
        self.close();
    }

    fn names(&self) -> Vec<String> {
        self.name().map(str::to_owned).into_iter().collect()
    }

    fn loads(&self) -> Vec<ServerLoad> {
        let load = |name| ServerLoad::new(name, self.current().as_ref().map(in_progress), false);
        self.name().map(load).into_iter().collect()
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        if let Some(making) = &self.making {
            making.stop();
        }
    }
}

//! One connection after the other, and which one calls are placed on.

use crate::Status;
use crate::calls::failures::{closed, unreachable};
use crate::client::link::Link;
use crate::client::making::{Maker, Making};
use crate::client::place::{Place, Placed, is_closed, placed};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The connection that calls are placed on, and how to make the next.
pub(crate) struct Links {
    current: Arc<Place>,
    /// `None` for the calls of a connection that is there: another one cannot be made.
    making: Option<Arc<Making>>,
}

impl Links {
    /// Connections that are made when they are needed.
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

    /// The one connection that there is.
    pub(crate) fn bound(link: Link) -> Self {
        let placed = Placed { link: Some(Arc::new(link)), is_closed: false };
        Self { current: Arc::new(Mutex::new(placed)), making: None }
    }

    /// The connection that calls are placed on.
    #[inline]
    pub(crate) fn current(&self) -> Option<Arc<Link>> {
        placed(&self.current)
    }

    /// A connection, made anew if need be, for as long as there is patience with a call that has waited since `begun`.
    pub(crate) async fn connect(&self, begun: Instant) -> Result<Arc<Link>, Status> {
        match &self.making {
            Some(making) => making.connection(begun).await,
            None => self.current().ok_or_else(|| match is_closed(&self.current) {
                true => closed(),
                false => unreachable("the connection has ended, and only the dialling end can reconnect"),
            }),
        }
    }

    /// Places no further calls, on no connection.
    pub(crate) fn close(&self) {
        let mut place = self.current.lock();
        place.is_closed = true;
        let link = place.link.take();
        drop(place);
        // Calls of others on somebody else's connection go on.
        if let (Some(link), Some(_)) = (&link, &self.making) {
            link.calls.retire();
        }
        drop(link); // Which may close it, without the lock.
        if let Some(making) = &self.making {
            making.stop();
        }
    }

    /// Whether the channel was closed by its owner.
    pub(crate) fn is_closed(&self) -> bool {
        is_closed(&self.current)
    }

    /// Whether the last attempt to connect has failed.
    pub(crate) fn has_trouble(&self) -> bool {
        self.making.as_ref().is_some_and(|making| making.has_trouble())
    }

    /// What is to be said, with why connecting has failed if it has.
    pub(crate) fn with_trouble(&self, text: String) -> String {
        match &self.making {
            Some(making) => making.with_trouble(text),
            None => text,
        }
    }

    /// What the connections are to, if more than one can be made.
    pub(crate) fn name(&self) -> Option<&str> {
        self.making.as_ref().map(|making| making.name())
    }

    /// Why a call is over that has waited for a connection for as long as it may take.
    pub(crate) fn late(&self) -> Status {
        let why = String::from("not sent: no connection before the deadline");
        Status::deadline_exceeded(self.with_trouble(why)).unsent()
    }

    /// Makes each connection anew that is lost, whether there is a call or not. Ready when no connection can be made
    /// here, or none any more.
    pub(crate) async fn stay_connected(&self) {
        loop {
            let link = match (self.current(), &self.making) {
                (Some(link), _) => link,
                (None, Some(making)) => match making.make(Instant::now(), Duration::MAX).await {
                    Ok(link) => link,
                    Err(_) => return,
                },
                (None, None) => return,
            };
            let calls = link.calls.clone();
            drop(link);
            calls.retired().await;
        }
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        if let Some(making) = &self.making {
            making.stop();
        }
    }
}

//! The successive connections to one server.
//!
//! # Decisions
//!
//! A link is one connection and its calls, kept alive by its users: the channel, a call, a stream. A retired link gets no new calls
//! and closes when its last call has ended. The count of its users is also its load for the choice of a link.

use crate::Status;
use crate::calls::failures::{closed, unreachable};
use crate::client::call::PendingCall;
use crate::client::connect_task::ConnectTask;
use crate::client::current::{Current, CurrentLink, current_link, is_closed};
use crate::client::dial::Dialler;
use crate::client::factory::LinkFactory;
use crate::client::link::Link;
use crate::client::picker::{BoxFuture, Pick, PickedConnection, Picker, ServerObserver, WaitPolicy};
use crate::debug::opaque_debug;
use crate::observe::ServerLoad;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::time::Instant;

/// The successive connections to one server: the current one, and the means to make the next. Dropped, it makes no further
/// connection; the current one closes when its calls have ended.
pub struct Links {
    current: Arc<CurrentLink>,
    /// `None` for an existing connection, which cannot be replaced.
    making: Option<Arc<ConnectTask>>,
}

impl Links {
    /// Connections that are made on demand.
    pub(crate) fn by(factory: LinkFactory, dialler: Dialler, server: Option<Arc<dyn ServerObserver>>) -> Self {
        let current = Arc::default();
        Self { making: Some(ConnectTask::new(factory, dialler, server, Arc::clone(&current))), current }
    }

    /// Makes the first connection in one attempt. Call it before anything else.
    ///
    /// # Errors
    /// If the attempt fails.
    ///
    /// # Cancel safety
    /// The attempt continues if the future is dropped.
    pub async fn dial(&self) -> Result<(), frisbee::Error> {
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

    /// The current connection, if it takes calls.
    pub fn current(&self) -> Option<Arc<Link>> {
        current_link(&self.current)
    }

    /// The current connection, or a new one. After a failed attempt further ones follow, with growing pauses.
    ///
    /// # Errors
    /// If there is none in time, or can be none any more.
    ///
    /// # Cancel safety
    /// The attempt continues if the future is dropped, for other callers.
    pub async fn connect(&self, wait: WaitPolicy) -> Result<Arc<Link>, Status> {
        match &self.making {
            Some(making) => making.connection(wait).await,
            None => self.current().ok_or_else(|| match is_closed(&self.current) {
                true => closed(),
                false => unreachable("the connection has ended, and only the dialling end can reconnect"),
            }),
        }
    }

    /// Prevents further calls and connections. The current connection closes when its calls have ended.
    pub fn close(&self) {
        let mut current = self.current.lock();
        current.is_closed = true;
        let link = current.link.take();
        drop(current);
        // On a connection that the channel does not own, calls of other channels continue.
        if let (Some(link), Some(_)) = (&link, &self.making) {
            link.calls.retire();
        }
        drop(link); // Which may close it, without the lock.
        if let Some(making) = &self.making {
            making.stop();
        }
    }

    /// The failure of the last attempt to connect, if it failed.
    pub fn trouble(&self) -> Option<String> {
        self.making.as_ref()?.trouble()
    }

    /// Sets the name in the server's certificate for further connections. `None` is the name of the channel.
    pub fn set_server_name(&self, name: Option<&str>) {
        if let Some(making) = &self.making {
            *making.dialler.server_name.lock() = name.map(str::to_owned);
        }
    }

    /// The name of the server: its address, or the name of its connector.
    pub fn name(&self) -> &str {
        self.making.as_ref().map_or("", |making| &making.dialler.name)
    }

    /// The load by this channel.
    pub fn load(&self) -> ServerLoad {
        ServerLoad::new(self.name(), self.current().as_ref().map(Link::in_progress), false)
    }

    /// Makes a connection if there is none, and waits until it takes no new calls. Returns `false` if no connection can
    /// be made any more.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing: it can be called again.
    pub async fn keep_one(&self) -> bool {
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
    fn pick(&self, call: &PendingCall<'_>) -> Pick {
        if call.avoid.is_some() {
            return Pick::Failed(unreachable("there is no other server"));
        }
        self.current().map_or(Pick::Connecting, |link| Pick::Ready(PickedConnection::new(link)))
    }

    fn connect(&self, wait: WaitPolicy) -> BoxFuture<'_, Result<PickedConnection, Status>> {
        Box::pin(async move { self.connect(wait).await.map(PickedConnection::new) })
    }

    fn link(&self) -> Option<Arc<Link>> {
        self.current()
    }

    fn stay_connected(&self) -> BoxFuture<'_, ()> {
        Box::pin(async { while self.keep_one().await {} })
    }

    fn close(&self) {
        self.close();
    }

    fn loads(&self) -> Vec<ServerLoad> {
        self.making.iter().map(|_| self.load()).collect()
    }
}

opaque_debug!([] Links, "Links", |this| to = this.name());

impl Drop for Links {
    fn drop(&mut self) {
        if let Some(making) = &self.making {
            making.stop();
        }
    }
}

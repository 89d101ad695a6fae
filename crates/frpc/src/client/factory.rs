//! Makes the links of a picker, as the builder of its channel sets them.

use crate::Error;
use crate::client::dial::Dialler;
use crate::client::links::Links;
use crate::client::picker::ServerObserver;
use crate::debug::opaque_debug;
use crate::endpoint::offer::ServiceOffer;
use frisbee::ClientBuilder;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;

/// Makes [`Links`] to servers, with the settings of a [`ChannelBuilder`](crate::ChannelBuilder). They connect when a call
/// needs a connection.
#[derive(Clone)]
pub struct LinkFactory {
    pub(crate) client: ClientBuilder,
    pub(crate) reconnect_timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) offer: Arc<ServiceOffer>,
    pub(crate) runtime: Handle,
}

impl LinkFactory {
    /// Links to an address, in the form of [`connect`](crate::ChannelBuilder::connect). Servers with an observer are those
    /// of a fleet: extended ones report their load.
    ///
    /// # Errors
    /// If the address has another form.
    pub fn to_address(
        &self,
        address: impl Into<String>,
        observer: Option<Arc<dyn ServerObserver>>,
    ) -> Result<Links, Error> {
        Ok(Links::by(self.clone(), Dialler::address(address.into())?, observer))
    }

    /// Links over the transports of a connector, in the form of
    /// [`connect_with_connector`](crate::ChannelBuilder::connect_with_connector). `name` is for error texts.
    pub fn by_connector<C, F, T>(
        &self,
        name: impl Into<String>,
        connector: C,
        observer: Option<Arc<dyn ServerObserver>>,
    ) -> Links
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Links::by(self.clone(), Dialler::connector(name, connector, self.connect_timeout), observer)
    }

    /// The [reconnect timeout](crate::ChannelBuilder::reconnect_timeout) of the channel.
    pub fn reconnect_timeout(&self) -> Duration {
        self.reconnect_timeout
    }

    /// The [timeout](crate::ChannelBuilder::connect_timeout) of connecting.
    pub fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }

    /// The runtime of the channel.
    pub fn runtime(&self) -> &Handle {
        &self.runtime
    }
}

opaque_debug!([] LinkFactory, "LinkFactory", |this| client = this.client);

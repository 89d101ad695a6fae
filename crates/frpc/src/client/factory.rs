//! Creation of the connections that a picker chooses from, with the settings of their channel.

use crate::Error;
use crate::client::dial::Dialler;
#[cfg(feature = "grpc")]
use crate::client::grpc::{GrpcLinks, GrpcServer, Keepalive};
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

/// Creates [`Links`] to servers for a [`Picker`](crate::picker::Picker), using the settings of a
/// [`ChannelBuilder`](crate::ChannelBuilder). Links connect when a call needs a connection.
#[derive(Clone)]
pub struct LinkFactory {
    pub(crate) client: ClientBuilder,
    pub(crate) reconnect_timeout: Duration,
    pub(crate) offer: Arc<ServiceOffer>,
    pub(crate) runtime: Handle,
    #[cfg(feature = "grpc")]
    pub(crate) grpc: Option<Keepalive>,
}

impl LinkFactory {
    /// Creates links to an address that [`connect`](crate::ChannelBuilder::connect) accepts. `observer` is notified of
    /// the server's events. If it is set, native servers are asked to report their load.
    ///
    /// # Errors
    /// If the address is invalid.
    pub fn to_address(
        &self,
        address: impl Into<String>,
        observer: Option<Arc<dyn ServerObserver>>,
    ) -> Result<Links, Error> {
        let address = address.into();
        #[cfg(feature = "grpc")]
        if let Some(keepalive) = self.grpc {
            return Ok(Links::to_grpc(GrpcLinks::to_address(self, keepalive, &address, observer.as_ref())?));
        }
        Ok(Links::by(self.clone(), Dialler::address(address)?, observer))
    }

    /// Creates links over the transports of a connector, like
    /// [`connect_with_connector`](crate::ChannelBuilder::connect_with_connector). `name` identifies the server in error
    /// messages.
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
        let name = name.into();
        #[cfg(feature = "grpc")]
        if let Some(keepalive) = self.grpc {
            let server = GrpcServer::over_connector(&name);
            return Links::to_grpc(GrpcLinks::new(self, keepalive, server, connector, observer.as_ref()));
        }
        Links::by(self.clone(), Dialler::connector(name, connector), observer)
    }

    /// Checks whether [`to_address`](Self::to_address) accepts an address.
    ///
    /// # Errors
    /// If the address is invalid.
    pub fn check_address(&self, address: &str) -> Result<(), Error> {
        #[cfg(feature = "grpc")]
        if self.grpc.is_some() {
            return self.to_address(address, None).map(drop);
        }
        Ok(Dialler::check_address(address)?)
    }

    /// Returns the [reconnect timeout](crate::ChannelBuilder::reconnect_timeout) of the channel.
    pub fn reconnect_timeout(&self) -> Duration {
        self.reconnect_timeout
    }

    /// Returns the [connect timeout](crate::ChannelBuilder::connect_timeout) of the channel.
    pub fn connect_timeout(&self) -> Duration {
        self.client.to_settings().connect_timeout
    }

    /// Returns the runtime of the channel.
    pub fn runtime(&self) -> &Handle {
        &self.runtime
    }
}

opaque_debug!([] LinkFactory, "LinkFactory", |this| client = this.client);

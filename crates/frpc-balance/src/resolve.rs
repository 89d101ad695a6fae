//! Resolvers: the servers behind a name, and their changes during the life of a channel.
//!
//! A channel created by [`connect_resolved`](crate::FleetBuilder::connect_resolved) balances its calls over the
//! [endpoints](Endpoint) of a [`Resolver`] and follows its updates:
//!
//! * **Updates are complete sets.** Each set replaces the previous one. The connections of remaining endpoints
//!   continue, and a changed weight, zone or metadata applies from the next call on.
//! * **Errors and sets without a valid endpoint are ignored**: the last valid set remains in use. Errors are logged at
//!   most once a minute, and the resolver is polled again with exponential backoff.
//! * **A missing endpoint is removed after half a second.** Nothing changes if it reappears within this time.
//! * **Removal drains.** Calls and streams in progress complete on the old connection, which then closes. New calls use
//!   other endpoints.
//! * **Endpoints with the same address and server name are merged**, and the last one applies. Addresses are compared
//!   case-insensitively, except for paths of Unix sockets, and IP addresses by value.
//! * **Connections are spread over time.** A connection to a new endpoint, or one that replaces a lost connection, is
//!   made after a random part of [`connection_spread`](crate::FleetBuilder::connection_spread), unless a call finds no
//!   connection at all.
//!
//! [`StaticResolver`] has a fixed set, [`WatchResolver`] receives sets from the program, and [`FileResolver`] reads
//! them from a file.
//!
//! ```
//! use samples::greeter::{GreeterClient, Name};
//! use frpc::Channel;
//! use frpc_balance::Balance;
//! use frpc_balance::resolve::{Endpoint, WatchResolver};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let [one, other] = [samples::started::greeter().await?, samples::started::greeter().await?];
//! let (endpoints, resolver) = WatchResolver::new(vec![Endpoint::new(one)]);
//! let channel = Channel::builder().balance().connect_resolved(resolver).await?;
//! // Another server joins, which is to get two thirds of the calls.
//! endpoints.send_modify(|endpoints| endpoints.push(Endpoint::new(other).with_weight(2)));
//! GreeterClient::new(channel).greet(Name { name: "Ada".to_owned() }).await?;
//! # Ok(())
//! # }
//! ```

mod endpoint;
mod file;

pub use endpoint::Endpoint;
pub use file::FileResolver;

use std::future::pending;
use std::io;
use std::pin::Pin;
use tokio::sync::watch;

/// Maximum number of endpoints in a resolved set. Further ones are ignored, which is logged. The limit bounds the
/// memory that a faulty resolver can use.
pub const ENDPOINTS_MAX: usize = 10_000;

/// Discovers the endpoints of a channel and watches them for changes, as described in the [module](self).
///
/// ```
/// use frpc_balance::resolve::{Endpoint, Resolver};
/// use std::time::Duration;
///
/// /// Asks for the endpoints every ten seconds.
/// struct Polled {
///     asked: bool,
/// }
///
/// impl Resolver for Polled {
///     async fn next(&mut self) -> std::io::Result<Vec<Endpoint>> {
///         if std::mem::replace(&mut self.asked, true) {
///             tokio::time::sleep(Duration::from_secs(10)).await;
///         }
///         Ok(vec![Endpoint::new("10.0.0.1:8080")]) // From any source.
///     }
///
///     fn name(&self) -> String {
///         "my registry".to_owned()
///     }
/// }
/// ```
pub trait Resolver: Send + 'static {
    /// Returns the current endpoints at the first call. Each further call waits until the endpoints may have changed,
    /// and returns all of them. Returning the same endpoints again only clears an earlier error. A resolver without
    /// further updates waits forever.
    ///
    /// The future is polled on the runtime of the channel and is dropped with it.
    ///
    /// # Errors
    /// If the endpoints are currently unknown. The channel calls again after a pause, as it does after a panic, so a
    /// resolver does not have to implement a backoff.
    fn next(&mut self) -> impl Future<Output = io::Result<Vec<Endpoint>>> + Send;

    /// Returns the name that is being resolved, for use in logs and error messages.
    fn name(&self) -> String;
}

/// A resolver that always returns the same set of endpoints.
#[derive(Clone, Debug)]
pub struct StaticResolver(Option<Vec<Endpoint>>);

impl StaticResolver {
    /// Creates a resolver for a fixed set of endpoints.
    pub fn new<E: Into<Endpoint>>(endpoints: impl IntoIterator<Item = E>) -> Self {
        Self(Some(endpoints.into_iter().map(Into::into).collect()))
    }
}

impl Resolver for StaticResolver {
    async fn next(&mut self) -> io::Result<Vec<Endpoint>> {
        match self.0.take() {
            Some(endpoints) => Ok(endpoints),
            None => pending().await,
        }
    }

    fn name(&self) -> String {
        "a fixed list".to_owned()
    }
}

/// A resolver that receives sets of endpoints from the program through a watch channel.
#[derive(Debug)]
pub struct WatchResolver {
    sets: watch::Receiver<Vec<Endpoint>>,
    is_stated: bool,
}

impl WatchResolver {
    /// Creates a resolver that starts with these endpoints, and a sender for further sets. If the sender is dropped,
    /// the last set remains in use.
    pub fn new(endpoints: Vec<Endpoint>) -> (watch::Sender<Vec<Endpoint>>, Self) {
        let (sender, sets) = watch::channel(endpoints);
        (sender, sets.into())
    }
}

impl From<watch::Receiver<Vec<Endpoint>>> for WatchResolver {
    fn from(sets: watch::Receiver<Vec<Endpoint>>) -> Self {
        Self { sets, is_stated: false }
    }
}

impl Resolver for WatchResolver {
    async fn next(&mut self) -> io::Result<Vec<Endpoint>> {
        if std::mem::replace(&mut self.is_stated, true) && self.sets.changed().await.is_err() {
            pending::<()>().await;
        }
        Ok(self.sets.borrow_and_update().clone())
    }

    fn name(&self) -> String {
        "the program".to_owned()
    }
}

type Answering<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<Endpoint>>> + Send + 'a>>;

/// Dyn-compatible version of [`Resolver`]: `next` returns a boxed future.
pub(crate) trait AnyResolver: Send {
    fn next(&mut self) -> Answering<'_>;

    fn name(&self) -> String;
}

impl<R: Resolver> AnyResolver for R {
    fn next(&mut self) -> Answering<'_> {
        // Call `next` inside the future, because the caller catches panics only while polling it.
        Box::pin(async move { Resolver::next(self).await })
    }

    fn name(&self) -> String {
        Resolver::name(self)
    }
}

//! Resolvers: the servers of a name, and their changes while a channel lives.
//!
//! A channel made by [`connect_resolved`](crate::FleetBuilder::connect_resolved) balances its calls over the
//! [endpoints](Endpoint) that a [`Resolver`] states, and follows it:
//!
//! * **A set is a whole.** Each answer replaces the set before. An endpoint that stays is not touched: its connection continues,
//!   and a new weight, zone or metadata counts from the next call.
//! * **An answer without endpoints, or without a valid one, changes nothing**, and neither does an error. The last good
//!   set stays until then. Errors are logged, at most once a minute, and the resolver is queried again after
//!   growing pauses.
//! * **A missing endpoint is removed after half a second.** If it returns before, as in
//!   answers that flap, nothing has happened.
//! * **Removal drains.** Calls and streams in progress end on the old connection, which closes after the last of them.
//!   New ones do not go there.
//! * **Two records of one address are one endpoint**; the last of them counts. Addresses are compared without regard to
//!   case, and IP addresses by their value.
//! * **A thousand clients do not connect in the same second.** A connection to an endpoint that has joined, or in place
//!   of one that was lost, is made after a random part of
//!   [`connection_spread`](crate::FleetBuilder::connection_spread), unless a call finds no connection at all.
//!
//! [`StaticResolver`] states one set, [`WatchResolver`] those of the program, and [`FileResolver`] those in a file.
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

use std::fmt;
use std::future::pending;
use std::io;
use std::pin::Pin;
use tokio::sync::watch;

/// The most endpoints of a set; further ones are left out, and the log says so. A client with more connections needs
/// another plan, and a resolver that goes mad no limit of memory.
pub const ENDPOINTS_MAX: usize = 10_000;

/// A stream of sets of endpoints; see the [module](self) for a channel's use of them.
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
///         Ok(vec![Endpoint::new("10.0.0.1:8080")]) // From wherever they come.
///     }
///
///     fn name(&self) -> String {
///         "my registry".to_owned()
///     }
/// }
/// ```
pub trait Resolver: Send + 'static {
    /// The present set at the first call. At each further call, waits until there may be another one. A set that equals
    /// the one before does no harm. A resolver that has nothing more to say waits for ever.
    ///
    /// It is polled in the runtime of the channel, and is dropped with it.
    ///
    /// # Errors
    /// If the set cannot be known at present. The next call follows after a pause, which the resolver need not
    /// implement. So it does after a panic.
    fn next(&mut self) -> impl Future<Output = io::Result<Vec<Endpoint>>> + Send;

    /// The resolved name, for the log and for error texts.
    fn name(&self) -> String;
}

/// A set that never changes.
#[derive(Clone, Debug)]
pub struct StaticResolver(Option<Vec<Endpoint>>);

impl StaticResolver {
    /// States these endpoints.
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

/// Sets that the program states, one after the other.
#[derive(Debug)]
pub struct WatchResolver {
    sets: watch::Receiver<Vec<Endpoint>>,
    is_stated: bool,
}

impl WatchResolver {
    /// A resolver that begins with these endpoints, and the sender for the sets that follow. When the sender is dropped,
    /// the last set stays.
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

/// A resolver whose type does not matter any more.
pub(crate) struct AnyResolver(Box<dyn ErasedResolver>);

trait ErasedResolver: Send {
    fn next(&mut self) -> Answering<'_>;

    fn name(&self) -> String;
}

impl<R: Resolver> ErasedResolver for R {
    fn next(&mut self) -> Answering<'_> {
        Box::pin(Resolver::next(self))
    }

    fn name(&self) -> String {
        Resolver::name(self)
    }
}

impl AnyResolver {
    pub(crate) fn new(resolver: impl Resolver) -> Self {
        Self(Box::new(resolver))
    }

    pub(crate) fn next(&mut self) -> Answering<'_> {
        self.0.next()
    }

    pub(crate) fn name(&self) -> String {
        self.0.name()
    }
}

impl fmt::Debug for AnyResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyResolver").field(&self.name()).finish()
    }
}

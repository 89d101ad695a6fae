//! The compared variants of the echo call, each with the same two traits.

pub mod frpc;
pub mod outside;
#[cfg(feature = "tonic")]
pub mod tonic;

use crate::BoxError;
use crate::background::Bound;
use crate::text::Text;
use std::net::SocketAddr;
use std::time::Duration;

/// The load to come, so that a rival can be at its best.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// How long the handler sleeps before it answers.
    pub sleep: Option<Duration>,
    /// How many calls a connection has to carry at one time.
    pub in_flight: usize,
}

impl Setup {
    /// A handler that answers at once.
    pub fn new(in_flight: usize) -> Self {
        Self { sleep: None, in_flight }
    }

    /// What every handler does before it answers.
    pub async fn pause(&self) {
        if let Some(sleep) = self.sleep {
            tokio::time::sleep(sleep).await;
        }
    }
}

/// A way of making the echo call.
pub trait Rival: 'static {
    /// How it is called in results.
    const NAME: &'static str;

    /// A connection.
    type Client: Client;

    /// Serves on a free port of the loopback until dropped.
    fn serve(setup: Setup, bound: Bound) -> impl Future<Output = Result<(), BoxError>>;

    /// Opens a connection.
    fn connect(address: SocketAddr, setup: Setup) -> impl Future<Output = Result<Self::Client, BoxError>> + Send;
}

/// A connection with any number of concurrent calls.
pub trait Client: Clone + Send + Sync + 'static {
    /// The reply.
    type Reply: AsRef<[u8]> + Send;

    /// Sends a text and returns its echo. The copy that an owned message needs belongs to the call.
    fn echo(&self, text: &Text) -> impl Future<Output = Result<Self::Reply, BoxError>> + Send;

    /// The texts of a caller, in the form that suits the messages.
    fn text(caller: usize, length: usize) -> Text {
        Text::owned(caller, length)
    }
}

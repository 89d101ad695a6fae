//! The compared variants of the echo call, behind two common traits.

pub mod frpc;
pub mod outside;
#[cfg(feature = "tonic")]
pub mod tonic;

use crate::BoxError;
use crate::background::Bound;
use crate::text::Text;
use std::net::SocketAddr;
use std::time::Duration;

/// How a handler waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Other calls continue.
    Sleep(Duration),
    /// The thread is blocked.
    Block(Duration),
}

/// The expected load, so that a rival can be configured for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// How long the handler waits before it answers.
    pub wait: Option<Wait>,
    /// Number of concurrent calls per connection.
    pub in_flight: usize,
}

impl Setup {
    /// Configures a handler that answers immediately.
    pub fn new(in_flight: usize) -> Self {
        Self { wait: None, in_flight }
    }

    /// Waits in the handler of every rival: by a timer with microsecond resolution, or on tokio's blocking threads.
    pub async fn pause(&self) {
        match self.wait {
            None => {}
            Some(Wait::Sleep(duration)) => frisbee::timer::sleep(duration).await,
            Some(Wait::Block(duration)) => {
                let blocked = tokio::task::spawn_blocking(move || std::thread::sleep(duration));
                blocked.await.expect("blocking closure should not panic");
            }
        }
    }
}

/// Returns the address for servers: the environment variable `BENCH_LISTEN`, or a free loopback port.
pub fn listen_address() -> String {
    std::env::var("BENCH_LISTEN").unwrap_or_else(|_| "127.0.0.1:0".into())
}

/// An implementation of the echo call.
pub trait Rival: 'static {
    /// Its name in results.
    const NAME: &'static str;

    /// A connection.
    type Client: Client;

    /// Serves on [`listen_address`] or on a free port of the loopback until dropped.
    fn serve(setup: Setup, bound: Bound) -> impl Future<Output = Result<(), BoxError>>;

    /// Opens a connection.
    fn connect(address: SocketAddr, setup: Setup) -> impl Future<Output = Result<Self::Client, BoxError>> + Send;
}

/// A connection with any number of concurrent calls.
pub trait Client: Clone + Send + Sync + 'static {
    /// The reply.
    type Reply: AsRef<[u8]> + Send;

    /// Sends a text and returns its echo. Copying the text into an owned message is part of the call.
    fn echo(&self, text: &Text) -> impl Future<Output = Result<Self::Reply, BoxError>> + Send;

    /// Returns the texts of a caller, in the form that suits the messages.
    fn text(caller: usize, length: usize) -> Text {
        Text::owned(caller, length)
    }
}

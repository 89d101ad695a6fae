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

/// The wait of a handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Other calls continue.
    Sleep(Duration),
    /// The thread is blocked.
    Block(Duration),
}

/// The load to come, so that a rival can be at its best.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// How long the handler waits before it answers.
    pub wait: Option<Wait>,
    /// How many calls a connection has to carry at one time.
    pub in_flight: usize,
}

impl Setup {
    /// A handler that answers at once.
    pub fn new(in_flight: usize) -> Self {
        Self { wait: None, in_flight }
    }

    /// Waits, in the handler of every rival, by a timer of microseconds or in tokio's threads for blocking work.
    pub async fn pause(&self) {
        match self.wait {
            None => {}
            Some(Wait::Sleep(duration)) => frisbee_timer::sleep(duration).await,
            Some(Wait::Block(duration)) => {
                let blocked = tokio::task::spawn_blocking(move || std::thread::sleep(duration));
                blocked.await.expect("the closure does not panic");
            }
        }
    }
}

/// The address of servers: that of the environment's variable `BENCH_LISTEN`, or a free port of the loopback.
pub fn listen_address() -> String {
    std::env::var("BENCH_LISTEN").unwrap_or_else(|_| "127.0.0.1:0".into())
}

/// A way of making the echo call.
pub trait Rival: 'static {
    /// How it is called in results.
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

    /// Sends a text and returns its echo. The copy that an owned message needs belongs to the call.
    fn echo(&self, text: &Text) -> impl Future<Output = Result<Self::Reply, BoxError>> + Send;

    /// The texts of a caller, in the form that suits the messages.
    fn text(caller: usize, length: usize) -> Text {
        Text::owned(caller, length)
    }
}

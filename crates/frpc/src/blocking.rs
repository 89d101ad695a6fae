//! Blocking clients for programs without async code.
//!
//! Each call blocks the calling thread until it completes. A background thread drives the connection, unless the
//! channel has its own workers: it replies to PINGs and receives stream messages between calls. Generated clients are
//! used unchanged:
//!
//! ```no_run
//! # mod echo {
//! #     #[derive(Clone)] pub struct EchoClient; pub struct Text { pub text: String }
//! #     impl EchoClient {
//! #         pub fn new(_: frpc::Channel) -> Self { Self }
//! #         pub async fn echo(&self, text: Text) -> Result<frpc::Response<Text>, frpc::Status> { Ok(text.into()) }
//! #     }
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let echo = frpc::blocking::connect("localhost:9090", echo::EchoClient::new)?;
//! let reply = echo.call(|client| client.echo(echo::Text { text: "hi".to_owned() }))?;
//! println!("{}", reply.get_ref().text);
//! # Ok(())
//! # }
//! ```
//!
//! These clients panic in async code. Await the calls there instead. Do not block on them with the `block_on` of an
//! executor other than tokio's: a task that blocks the only thread of its runtime also stops the connections that the
//! runtime drives, so neither the reply nor the deadline ends the wait. To let other threads drive the connection, set
//! [`ChannelBuilder::workers`](crate::ChannelBuilder::workers).
use crate::debug::opaque_debug;
use crate::polyglot::Message;
use crate::{Channel, Error, Status, Streaming};
use std::io;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Maximum time that dropping the last client blocks the thread. Closing a connection flushes pending bytes, and then
/// waits up to a second for the peer to close its side.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Interval at which a blocking close polls whether the connection has closed.
const CLOSE_INTERVAL: Duration = Duration::from_millis(1);

/// A client with calls that block the calling thread.
///
/// Clones and [further clients](Self::client) share the connection and may be used from any number of threads. Dropping
/// the last of them closes the connection, and blocks for up to 2 s until it is closed.
#[derive(Clone)]
pub struct Blocking<C> {
    // Fields are dropped in order of declaration: the connection must be closed before its thread is stopped.
    client: C,
    channel: Channel,
    background: Arc<BackgroundThread>,
}

/// Connects to an address that [`Channel::connect`] accepts, such as `localhost:9090` or `unix:/run/service.sock`.
/// `make` is the `new` function of a generated client.
///
/// # Errors
/// If connecting fails, like [`Channel::connect`], or no thread can be started.
///
/// # Panics
/// If called from async code, which must not block.
pub fn connect<C>(address: impl ToString, make: impl FnOnce(Channel) -> C) -> Result<Blocking<C>, Error> {
    connect_using(|| Channel::connect(address), make)
}

/// Like [`connect`], but `connect` creates the channel, which may be of any kind: for example to several servers, lazy,
/// or over a custom transport.
///
/// ```no_run
/// # #[derive(Clone)] struct EchoClient;
/// # impl EchoClient { fn new(_: frpc::Channel) -> Self { Self } }
/// # fn main() -> Result<(), frpc::Error> {
/// let connect = async || frpc::Channel::builder().connect_lazy("10.0.0.1:8080");
/// let echo = frpc::blocking::connect_using(connect, EchoClient::new)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If `connect` fails, or no thread can be started.
///
/// # Panics
/// If called from async code, which must not block.
pub fn connect_using<C, F>(connect: impl FnOnce() -> F, make: impl FnOnce(Channel) -> C) -> Result<Blocking<C>, Error>
where
    F: Future<Output = Result<Channel, Error>>,
{
    let background = BackgroundThread::start().map_err(Error::Thread)?;
    let channel = background.runtime.block_on(async { connect().await })?;
    Ok(Blocking { client: make(channel.clone()), channel, background: Arc::new(background) })
}

impl<C> Blocking<C> {
    /// Calls `call` with the client and blocks the thread until the returned future completes. The future is usually an
    /// RPC, but may be any other future, such as sending on a stream.
    ///
    /// # Panics
    /// If called from async code, which must not block.
    pub fn call<'a, F: Future>(&'a self, call: impl FnOnce(&'a C) -> F) -> F::Output {
        // Poll only this future here. The background thread drives sockets and timers.
        self.background.runtime.block_on(async { call(&self.client).await })
    }

    /// Returns a blocking iterator over the messages of a stream. Each `next` waits until a message arrives.
    ///
    /// # Panics
    /// The iterator panics if it is used in async code, which must not block.
    pub fn messages<M: Message>(&self, stream: Streaming<M>) -> Messages<M> {
        Messages { stream: Some(stream), background: self.background.clone() }
    }

    /// Creates a blocking client of another service on the same connection.
    pub fn client<D>(&self, make: impl FnOnce(Channel) -> D) -> Blocking<D> {
        let (channel, background) = (self.channel.clone(), self.background.clone());
        Blocking { client: make(channel.clone()), channel, background }
    }
}

/// Blocking iterator over the messages of a stream, returned by [`Blocking::messages`]. Ends after the first error.
pub struct Messages<M> {
    stream: Option<Streaming<M>>,
    background: Arc<BackgroundThread>,
}

impl<M: Message> Iterator for Messages<M> {
    type Item = Result<M, Status>;

    fn next(&mut self) -> Option<Self::Item> {
        let stream = self.stream.as_mut()?;
        let message = self.background.runtime.block_on(stream.message()).transpose();
        if !matches!(message, Some(Ok(_))) {
            self.stream = None;
        }
        message
    }
}

/// The background thread that drives the connection of a blocking client.
struct BackgroundThread {
    runtime: Handle,
    /// Sender whose drop stops the background thread. `None` only during drop.
    running: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundThread {
    fn start() -> io::Result<Self> {
        let (running, stopped) = oneshot::channel::<()>();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (started, is_started) = mpsc::channel();
        let thread = thread::Builder::new().name("frpc-blocking".to_owned()).spawn(move || {
            runtime.block_on(async {
                started.send(()).ok();
                let _ = stopped.await;
                let closing_since = Instant::now();
                while Handle::current().metrics().num_alive_tasks() > 0 && closing_since.elapsed() < CLOSE_TIMEOUT {
                    tokio::time::sleep(CLOSE_INTERVAL).await;
                }
            });
        })?;
        // Wait until the thread drives sockets and timers, because calls depend on them.
        is_started.recv().map_err(io::Error::other)?;
        Ok(Self { runtime: handle, running: Some(running), thread: Some(thread) })
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        self.running = None;
        // Do not join on the background thread itself, where a task of the connection may drop the last client.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

opaque_debug!([C] Blocking<C>, "Blocking", |this| channel = this.channel);

opaque_debug!([M] Messages<M>, "Messages", |this| open = this.stream.is_some());

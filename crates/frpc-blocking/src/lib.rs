//! Calls of [frpc](https://docs.rs/frpc-rs) for programs without async: each call blocks its thread until it has ended.
//!
//! A separate thread drives the connection, unless the channel has other workers. It answers PINGs and receives
//! messages of streams while the caller does other work. The clients are the generated ones:
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
//! let echo = frpc_blocking::connect("localhost:9090", echo::EchoClient::new)?;
//! let reply = echo.call(|client| client.echo(echo::Text { text: "hi".to_owned() }))?;
//! println!("{}", reply.get_ref().text);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

use frpc::polyglot::Message;
use frpc::{Channel, Error, Status, Streaming};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fmt, io};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// How long a connection may take to close when its last client is dropped: it writes the rest and waits for the peer's
/// end, at most a second.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The interval between two looks whether the connection has ended.
const CLOSE_INTERVAL: Duration = Duration::from_millis(1);

/// A client whose calls block.
///
/// Clones and [other clients](Self::client) share the connection, and may call from any number of threads at once.
/// Dropping the last of them closes the connection and waits for that, 2 s at most.
#[derive(Clone)]
pub struct Blocking<C> {
    // In this order: the connection is dropped before its thread is stopped.
    client: C,
    channel: Channel,
    background: Arc<BackgroundThread>,
}

/// Connects to an address as [`Channel::connect`] takes it, such as `localhost:9090` or `unix:/run/service.sock`; `make` is
/// the `new` of a generated client.
///
/// # Errors
/// As [`Channel::connect`], and if the system cannot start a thread.
///
/// # Panics
/// If it is called in async code, which must not block.
pub fn connect<C>(address: impl Into<String>, make: impl FnOnce(Channel) -> C) -> Result<Blocking<C>, Error> {
    connect_using(|| Channel::connect(address), make)
}

/// Connects by `connect`, which makes a channel of any kind: to several servers, a lazy one, or one over a transport.
///
/// ```no_run
/// # #[derive(Clone)] struct EchoClient;
/// # impl EchoClient { fn new(_: frpc::Channel) -> Self { Self } }
/// # fn main() -> Result<(), frpc::Error> {
/// let connect = async || frpc::Channel::builder().connect_lazy("10.0.0.1:8080");
/// let echo = frpc_blocking::connect_using(connect, EchoClient::new)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of `connect`, and if the system cannot start a thread.
///
/// # Panics
/// If it is called in async code, which must not block.
pub fn connect_using<C, F>(connect: impl FnOnce() -> F, make: impl FnOnce(Channel) -> C) -> Result<Blocking<C>, Error>
where
    F: Future<Output = Result<Channel, Error>>,
{
    let background = BackgroundThread::start().map_err(Error::Thread)?;
    let channel = background.runtime.block_on(async { connect().await })?;
    Ok(Blocking { client: make(channel.clone()), channel, background: Arc::new(background) })
}

impl<C> Blocking<C> {
    /// Makes a call and waits for its end. `call` gets the client and returns the future of the call, or any other
    /// future, such as that of sending on a stream.
    ///
    /// # Panics
    /// If it is called in async code, which must not block.
    pub fn call<'a, F: Future>(&'a self, call: impl FnOnce(&'a C) -> F) -> F::Output {
        // The connection's thread drives sockets and timers; the future itself is polled here.
        self.background.runtime.block_on(async { call(&self.client).await })
    }

    /// An iterator over the messages of a stream, which waits for each.
    ///
    /// # Panics
    /// The iterator panics in async code, which must not block.
    pub fn messages<M: Message>(&self, stream: Streaming<M>) -> Messages<M> {
        Messages { stream: Some(stream), background: self.background.clone() }
    }

    /// Creates another client on the same connection.
    pub fn client<D>(&self, make: impl FnOnce(Channel) -> D) -> Blocking<D> {
        let (channel, background) = (self.channel.clone(), self.background.clone());
        Blocking { client: make(channel.clone()), channel, background }
    }
}

/// The messages of a stream; see [`Blocking::messages`]. The iterator ends after an error.
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

/// The thread that drives a connection.
struct BackgroundThread {
    runtime: Handle,
    /// Dropping it ends the thread.
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
        // Before this, a caller of `block_on` would wait for sockets that no thread drives yet.
        is_started.recv().map_err(io::Error::other)?;
        Ok(Self { runtime: handle, running: Some(running), thread: Some(thread) })
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        self.running = None;
        // A task of the connection may hold the last client, which then is dropped on the thread itself.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

impl<C> fmt::Debug for Blocking<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocking").field("channel", &self.channel).finish_non_exhaustive()
    }
}

impl<M> fmt::Debug for Messages<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Messages").field("open", &self.stream.is_some()).finish_non_exhaustive()
    }
}

//! The steps of a hand-off that the driver performs on behalf of a handle, and the new owner of the transport.

use crate::debug::opaque_debug;
use crate::executor::tasks::Job;
use crate::{CloseReason, HandOffError, Operation, Outbox, RawTransport};
use bytes::Bytes;
use frisbee_core::HandOffAnswer;
use std::any::Any;
use std::pin::Pin;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Result of a hand-off request that the peer accepted: its reply, and the transport that the connection no longer
/// uses.
#[derive(Debug)]
#[non_exhaustive]
pub struct HandOffAccepted {
    /// Body of the peer's hand-off reply.
    pub reply: Bytes,
    /// Transport of the connection. It now belongs to the caller that has requested the hand-off.
    pub transport: RawTransport,
}

/// The new owner of a transport that is handed off.
///
/// ```
/// use bytes::Bytes;
/// use frisbee::{Client, Connection, HandOffRequest, Handlers, Operation, Outbox, Packet, Routed, Router, Server};
/// use frisbee::{HandOffTarget, memory};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// const SHELL: Operation = Operation::user(10).expect("operation number should be in the user range");
///
/// struct Login;
///
/// impl Router for Login {
///     // `connected` and `route` as for any router.
/// #   type Session = ();
/// #   fn connected(&self, _connection: &Connection) {}
/// #   fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
/// #       Routed::Discarded
/// #   }
///
///     fn hand_off(&self, (): &mut (), asked: HandOffRequest) -> Routed {
///         asked.accept("come in", HandOffTarget::new(async |mut transport| {
///             transport.write_all(b"$ ").await.ok();
///         }));
///         Routed::Continue
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let acceptor = Server::builder().build(Login)?;
/// # let (here, there) = memory();
/// # tokio::spawn(async move { acceptor.serve_connection(there).await });
/// # let connection = Client::builder().connect_io(here, Handlers::new()).await?;
/// # connection.peer_known().await?;
/// // At the client:
/// let mut accepted = connection.hand_off(SHELL, Bytes::new()).await?;
/// assert_eq!(accepted.reply, "come in");
/// let mut prompt = [0; 2];
/// accepted.transport.read_exact(&mut prompt).await?;
/// assert_eq!(&prompt, b"$ ");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct HandOffTarget(Owner);

enum Owner {
    /// Calls a function that spawns the owner's future in the runtime that started the server or connected the client.
    Apart(Box<SpawnTask>),
    /// Runs a future in the task of the connection.
    Adapter(Box<dyn FnOnce(RawTransport) -> AdapterFuture + Send>),
}

type SpawnTask = dyn FnOnce(RawTransport, &Handle) + Send;

/// Future that the task of a connection runs after the transport was handed off.
pub(crate) type AdapterFuture = Pin<Box<dyn Future<Output = CloseReason> + Send>>;

impl HandOffTarget {
    /// Creates a target from a function. The function's future is spawned on the runtime that started the server or
    /// connected the client, and the function itself is called in the context of this runtime. The task is independent
    /// of the connection, and a shutdown of the server does not wait for it.
    pub fn new<F>(take: impl FnOnce(RawTransport) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self(Owner::Apart(Box::new(move |raw, runtime| {
            let owner: Job = Box::pin(take(raw));
            drop(runtime.spawn(owner));
        })))
    }

    pub(crate) fn at_once(take: impl FnOnce(RawTransport) + Send + 'static) -> Self {
        Self(Owner::Apart(Box::new(move |raw, _| take(raw))))
    }

    /// Creates a target from a function. Its future runs in the task of the connection.
    pub(crate) fn in_place(take: impl FnOnce(RawTransport) -> AdapterFuture + Send + 'static) -> Self {
        Self(Owner::Adapter(Box::new(take)))
    }

    /// Returns whether the target's future runs in the task of the connection.
    pub(crate) fn is_in_place(&self) -> bool {
        matches!(self.0, Owner::Adapter(_))
    }

    /// Hands off the transport to the target. If a future is returned, the task of the connection must continue with
    /// it.
    pub(crate) fn take(self, raw: RawTransport, runtime: &Handle) -> Option<AdapterFuture> {
        let _entered = runtime.enter();
        match self.0 {
            Owner::Apart(take) => {
                take(raw, runtime);
                None
            }
            Owner::Adapter(take) => Some(take(raw)),
        }
    }
}

opaque_debug!([] HandOffTarget, "HandOffTarget");

/// A step of a hand-off that a handle of the connection requests from the driver.
#[derive(Debug)]
pub(crate) enum HandOffStep {
    Request {
        /// Packets that were queued before the hand-off request and must be sent first.
        before: Outbox,
        request: Bytes,
        asking: HandOffWaiter,
    },
    /// Cancels the hand-off request because the caller no longer waits for the reply.
    GiveUp,
    Decide {
        answer: HandOffAnswer,
        reply: Bytes,
        /// New owner of the transport, if the request is accepted. Also contains the reply that refuses the request if
        /// a stream is open. Without that reply, the connection then counts as busy.
        take_over: Option<(HandOffTarget, Option<Bytes>)>,
    },
    /// Detaches the transport without notifying the peer.
    Leave(HandOffTarget),
}

/// A caller that is waiting for the reply to its hand-off request.
#[derive(Debug)]
pub(crate) struct HandOffWaiter {
    pub(crate) operation: Operation,
    answer: oneshot::Sender<Result<HandOffAccepted, HandOffError>>,
    /// Guard value supplied by a protocol. It is dropped when the reply to the hand-off request arrives.
    guard: Box<dyn Any + Send>,
}

impl HandOffWaiter {
    /// Creates a waiter that sends the reply to `answer` and keeps `guard` until then.
    pub(crate) fn new(
        operation: Operation,
        answer: oneshot::Sender<Result<HandOffAccepted, HandOffError>>,
        guard: impl Any + Send,
    ) -> Self {
        Self { operation, answer, guard: Box::new(guard) }
    }

    pub(crate) fn answer(self, answer: Result<HandOffAccepted, HandOffError>) {
        // Drop the guard first, because the caller may immediately make another request.
        drop(self.guard);
        let _ = self.answer.send(answer);
    }

    /// Returns whether the caller no longer waits for the reply.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}

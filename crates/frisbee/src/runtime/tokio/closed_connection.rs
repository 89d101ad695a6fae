//! Connections that have ended, and the transfer of their transports to the next owner.

use crate::executor::tasks::Job;
use crate::mailbox::hand_off::{AdapterFuture, HandOffTarget};
use crate::transport::Transport;
use crate::{CloseReason, RawTransport};
use bytes::Bytes;
use std::io;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// A connection that has ended. Contains the transport if it must be passed to another owner.
pub(crate) struct ClosedConnection<T> {
    pub(super) reason: CloseReason,
    /// Transport to be handed off, the bytes already read from it, its new owner, and the runtime of this owner.
    pub(super) handed: Option<(T, Bytes, HandOffTarget, Handle)>,
}

impl<T> ClosedConnection<T> {
    /// Returns the close reason, or `self` if the transport must first be passed to another owner.
    pub(crate) fn done(self) -> Result<CloseReason, Self> {
        if self.handed.is_none() { Ok(self.reason) } else { Err(self) }
    }

    /// Passes the transport to its new owner, if there is one, and returns the close reason. If the owner is an
    /// adapter, waits for its future, whose result is the close reason. `raw` combines the transport with the bytes
    /// already read from it, in the runtime of the owner.
    pub(crate) async fn hand_over<F>(self, tasks: Tasks, raw: impl FnOnce(T, Bytes, Handle) -> F) -> CloseReason
    where
        F: Future<Output = io::Result<RawTransport>>,
    {
        let Some((io, early, take_over, runtime)) = self.handed else { return self.reason };
        let stays = take_over.is_in_place() && tasks == Tasks::OfTokio;
        let runtime = if stays { Handle::current() } else { runtime };
        match raw(io, early, runtime.clone()).await {
            Ok(raw) => match take_over.take(raw, &runtime) {
                Some(rest) if stays => rest.await,
                Some(rest) => run_apart(&runtime, rest).await,
                None => self.reason,
            },
            Err(error) => {
                tracing::warn!(target: "frisbee::connection", %error, "hand-off failed: connection closed");
                self.reason
            }
        }
    }
}

impl ClosedConnection<Transport> {
    /// Like [`hand_over`](Self::hand_over), but for a task of a tokio runtime. Returns a boxed future, so that its code
    /// is compiled only once.
    pub(crate) fn hand_over_in_task(self) -> AdapterFuture {
        Box::pin(self.hand_over(Tasks::OfTokio, RawTransport::new_in))
    }
}

/// Runs `work` in a new task of the runtime and returns its close reason. Dropping the returned future aborts the task.
pub(crate) async fn run_apart(runtime: &Handle, work: AdapterFuture) -> CloseReason {
    let (ended, reason) = oneshot::channel();
    let job: Job = Box::pin(async move { drop(ended.send(work.await)) });
    let mut task = JoinSet::new();
    task.spawn_on(job, runtime);
    // If the task panicked or ended with its runtime, no close reason is available.
    reason.await.unwrap_or(CloseReason::Shutdown)
}

/// Kind of executor that has driven a connection. Determines how the transport is moved to another owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tasks {
    /// A tokio runtime. The transport may still be registered with its reactor.
    OfTokio,
    /// An io_uring thread. The socket must be moved to a tokio runtime.
    #[cfg(all(feature = "uring", target_os = "linux"))]
    OfRing,
}

//! A connection that is over, and the next owner of its transport.

use crate::executor::tasks::Job;
use crate::mailbox::hand_off::{AdapterFuture, HandOffTarget};
use crate::transport::Transport;
use crate::{CloseReason, RawTransport};
use bytes::Bytes;
use std::io;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// A connection that is over.
pub(crate) struct ClosedConnection<T> {
    pub(super) reason: CloseReason,
    /// The transport, the bytes that it has brought for its next owner, that owner, and the runtime.
    pub(super) handed: Option<(T, Bytes, HandOffTarget, Handle)>,
}

impl<T> ClosedConnection<T> {
    /// The reason of the end, unless the transport continues with a next owner.
    pub(crate) fn done(self) -> Result<CloseReason, Self> {
        if self.handed.is_none() { Ok(self.reason) } else { Err(self) }
    }

    /// Hands over the transport, if it has a next owner, and continues with it if that owner lives in this task. `raw`
    /// makes it of the transport and its read bytes, within the runtime of that owner.
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
    /// As [`hand_over`](Self::hand_over), in a task of a tokio runtime. The future is boxed: its code is in a program once.
    pub(crate) fn hand_over_in_task(self) -> AdapterFuture {
        Box::pin(self.hand_over(Tasks::OfTokio, RawTransport::new_in))
    }
}

/// Continues in a task that ends when the future is dropped.
pub(crate) async fn run_apart(runtime: &Handle, work: AdapterFuture) -> CloseReason {
    let (ended, reason) = oneshot::channel();
    let job: Job = Box::pin(async move { drop(ended.send(work.await)) });
    let mut task = JoinSet::new();
    task.spawn_on(job, runtime);
    // A task that panicked, or ended with its runtime, has no reason of its own.
    reason.await.unwrap_or(CloseReason::Shutdown)
}

/// The kind of task that drives connections, which decides where a transport lives on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tasks {
    /// Those of a tokio runtime, whose reactor the transport may stay with.
    OfTokio,
    /// Those of a ring, which sockets leave for a tokio runtime.
    #[cfg(all(feature = "uring", target_os = "linux"))]
    OfRing,
}

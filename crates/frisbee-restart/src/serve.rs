//! Serves until a successor has taken over or the program is stopped.

use crate::error::RestartError;
use crate::generation::Generation;
use crate::systemd::notify;
use sd_notify::NotifyState;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::sync::watch;

/// Reason why a generation has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EndReason {
    /// A successor has taken over and serves.
    Replaced,
    /// The program was stopped, or its server returned.
    Stopped,
}

/// Error returned by [`Generation::serve`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError<E> {
    /// The take-over failed, and the previous generation continues to serve.
    Restart(RestartError),
    /// The server failed with this error.
    Server(E),
}

impl<E: fmt::Display> fmt::Display for ServeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Restart(error) => error.fmt(f),
            Self::Server(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for ServeError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Restart(error) => Some(error),
            Self::Server(error) => Some(error),
        }
    }
}

/// A future that completes when a server must stop accepting and finish its work. Clones can be passed to several
/// servers.
pub struct Shutdown {
    stopping: watch::Receiver<bool>,
    stop: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Shutdown {
    fn new(stopping: watch::Receiver<bool>) -> Self {
        let mut waits = stopping.clone();
        // Also completes if the sender is dropped, because the generation has then ended.
        let stop = Box::pin(async move { drop(waits.wait_for(|stopping| *stopping).await) });
        Self { stopping, stop }
    }
}

impl Clone for Shutdown {
    fn clone(&self) -> Self {
        Self::new(self.stopping.clone())
    }
}

impl Future for Shutdown {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.stop.as_mut().poll(context)
    }
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shutdown").field("stopping", &*self.stopping.borrow()).finish_non_exhaustive()
    }
}

impl Generation {
    /// Serves until a successor has taken over or `stop` is ready, and returns when the server has finished its work.
    ///
    /// `serve` starts to serve on the [sockets](Self::tcp) of this generation until the [`Shutdown`] is ready:
    /// `|shutdown| server.serve_with_shutdown(shutdown)`. This process is [ready](Self::ready) when the server has been
    /// polled once without an error. Work without an end, such as a stream that stays open, is aborted by the server's
    /// `shutdown_timeout`.
    ///
    /// # Errors
    /// Fails if the previous generation refuses or the server fails. After a refusal, the server is shut down before
    /// this returns.
    ///
    /// # Cancel safety
    /// Dropping the future drops the server's future and this generation.
    pub async fn serve<F, E>(
        mut self,
        stop: impl Future<Output = ()>,
        serve: impl FnOnce(Shutdown) -> F,
    ) -> Result<EndReason, ServeError<E>>
    where
        F: Future<Output = Result<(), E>>,
    {
        let (stop_sender, stopping) = watch::channel(false);
        let mut serving = pin!(serve(Shutdown::new(stopping)));
        let mut stop = pin!(stop);
        // Poll the server once, because a server that cannot start fails at its first poll.
        let began = poll_fn(|context| Poll::Ready(serving.as_mut().poll(context))).await;
        if let Poll::Ready(ended) = began {
            return ended.map(|()| EndReason::Stopped).map_err(ServeError::Server);
        }
        let ready = tokio::select! {
            biased;
            ended = &mut serving => return ended.map(|()| EndReason::Stopped).map_err(ServeError::Server),
            () = &mut stop => None,
            ready = self.ready() => Some(ready),
        };
        let ending = match ready {
            None => Ok(EndReason::Stopped),
            Some(Err(error)) => Err(ServeError::Restart(error)),
            Some(Ok(())) => tokio::select! {
                biased;
                ended = &mut serving => return ended.map(|()| EndReason::Stopped).map_err(ServeError::Server),
                () = &mut stop => Ok(EndReason::Stopped),
                () = self.replaced() => Ok(EndReason::Replaced),
            },
        };
        if matches!(ending, Ok(EndReason::Stopped)) {
            notify(&[NotifyState::Stopping]);
        }
        // Close the sockets and remove their files before the work is finished, because further clients must be
        // refused.
        drop(self);
        stop_sender.send_replace(true);
        serving.await.map_err(ServeError::Server)?;
        ending
    }
}

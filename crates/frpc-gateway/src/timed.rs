//! Transports whose peers have to take bytes in time, and the timers of connections that are mostly in time.

#[cfg(feature = "http")]
mod transport;

#[cfg(feature = "http")]
pub(crate) use transport::Timed;

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Sleep, sleep_until};

/// The runtime's clock, which tests may stop.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// For how long a client may still send bytes that are discarded, so that the system does not take back the last
/// response. A connection of native clients has as long to close.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// Discards further bytes of a client, such as the body of a request that was refused by its head, for some time.
pub(crate) async fn linger(io: &mut (impl AsyncRead + Unpin), time: Duration) {
    let mut discarded = [0; 1024];
    let reading = async {
        while let Ok(1..) = io.read(&mut discarded).await {
            tokio::task::yield_now().await;
        }
    };
    // It has ended either way.
    let _ = tokio::time::timeout(time, reading).await;
}

/// A timer whose time is moved far more often than it is reached: it sleeps on, and looks again when it wakes.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    sleep: Option<Pin<Box<Sleep>>>,
    /// The tasks that it wakes.
    waker: Option<Waker>,
}

impl Alarm {
    /// Ready at `due`.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>, due: Instant) -> Poll<()> {
        let Self { sleep, waker } = self;
        let sleep = sleep.get_or_insert_with(|| Box::pin(sleep_until(due.into())));
        if sleep.deadline().into_std() > due {
            sleep.as_mut().reset(due.into());
            *waker = None;
        }
        if waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) && !sleep.is_elapsed() {
            return Poll::Pending;
        }
        loop {
            if sleep.as_mut().poll(context).is_pending() {
                *waker = Some(context.waker().clone());
                return Poll::Pending;
            }
            *waker = None;
            if now() >= due {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(due.into());
        }
    }
}

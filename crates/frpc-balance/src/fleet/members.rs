//! The members of a fleet and the tasks that maintain their connections.

use crate::fleet::estimate::ServerEstimate;
use crate::resolve::Endpoint;
use frpc::picker::{Link, Links};
use parking_lot::Mutex;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// A server of the fleet with its resolved endpoint and its performance estimate.
pub(crate) struct Row {
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) member: Arc<Member>,
    /// Estimate of the server's performance. Calls choose servers by it.
    pub(crate) estimate: Arc<ServerEstimate>,
    /// Time since which the resolver's updates have not contained the endpoint. `None` if the last one did.
    pub(crate) missing_since: Option<Instant>,
}

impl Row {
    pub(crate) fn new(endpoint: Arc<Endpoint>, member: Member, estimate: Arc<ServerEstimate>) -> Self {
        Self { endpoint, member: Arc::new(member), estimate, missing_since: None }
    }

    pub(crate) fn weight(&self) -> u32 {
        self.endpoint.weight()
    }

    /// Returns the current connection to the server, if there is one.
    pub(crate) fn current(&self) -> Option<Arc<Link>> {
        self.member.links.current()
    }
}

/// A server together with the task that maintains a connection to it.
pub(crate) struct Member {
    pub(crate) links: Arc<Links>,
    stated: ResolvedEndpoint,
    keeping: JoinHandle<()>,
}

/// Latest state of an endpoint that the resolver has returned. The next connection uses it.
#[derive(Clone)]
pub(crate) struct ResolvedEndpoint(Arc<Mutex<Arc<Endpoint>>>);

impl ResolvedEndpoint {
    pub(crate) fn new(endpoint: &Arc<Endpoint>) -> Self {
        Self(Arc::new(Mutex::new(endpoint.clone())))
    }

    pub(crate) fn get(&self) -> Arc<Endpoint> {
        self.0.lock().clone()
    }
}

impl Member {
    /// Creates a member and spawns the task that maintains its connection.
    pub(crate) fn kept(
        links: Links,
        stated: ResolvedEndpoint,
        urgency: &Arc<Urgency>,
        pauses: ConnectDelays,
        runtime: &Handle,
    ) -> Self {
        links.set_server_name(stated.get().server_name());
        let links = Arc::new(links);
        let keeping = runtime.spawn(keep(links.clone(), urgency.clone(), pauses));
        Self { links, stated, keeping }
    }

    /// Updates the endpoint, which takes effect at the next connection.
    pub(crate) fn update(&self, endpoint: &Arc<Endpoint>) {
        *self.stated.0.lock() = endpoint.clone();
        self.links.set_server_name(endpoint.server_name());
    }

    /// Returns whether the task of the member has ended, because its runtime has shut down.
    pub(crate) fn is_finished(&self) -> bool {
        self.keeping.is_finished()
    }

    /// Drains the member's connection: calls in progress complete, and no new ones start.
    pub(crate) fn drain(&self) {
        // Abort the reconnecting task first, because it would replace the closed connection.
        self.keeping.abort();
        self.links.close();
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.keeping.abort();
    }
}

/// Maximum delays before a connection is made, unless a call waits for one. The actual delays are random, so that many
/// clients do not connect at the same time.
#[derive(Clone, Copy)]
pub(crate) struct ConnectDelays {
    pub(crate) first: Duration,
    pub(crate) further: Duration,
}

impl ConnectDelays {
    pub(crate) const NONE: Self = Self { first: Duration::ZERO, further: Duration::ZERO };
}

/// Maintains a connection until the channel or its runtime is dropped.
async fn keep(links: Arc<Links>, urgency: Arc<Urgency>, pauses: ConnectDelays) {
    let mut pause = pauses.first;
    loop {
        if !pause.is_zero() {
            urgency.pause(pause.mul_f64(fastrand::f64())).await;
        }
        if !links.keep_one().await {
            return;
        }
        pause = pauses.further;
    }
}

/// Number of calls that wait for any connection. A waiting call ends all connection delays.
#[derive(Debug, Default)]
pub(crate) struct Urgency {
    waiters: AtomicUsize,
    started: Notify,
}

impl Urgency {
    /// Counts a call as waiting for a connection until the returned guard is dropped.
    pub(crate) fn wait(&self) -> impl Drop + '_ {
        // Count before notifying: `pause` registers for the notification and then checks the count, so it misses no
        // call.
        self.waiters.fetch_add(1, Ordering::AcqRel);
        self.started.notify_waiters();
        UrgentCall(self)
    }

    /// Waits for the given time, or until a call waits for a connection.
    async fn pause(&self, pause: Duration) {
        let mut started = pin!(self.started.notified());
        // Register before the count is checked, so that a call that starts to wait in between is noticed.
        started.as_mut().enable();
        if self.waiters.load(Ordering::Acquire) == 0 {
            drop(tokio::time::timeout(pause, started).await);
        }
    }
}

struct UrgentCall<'a>(&'a Urgency);

impl Drop for UrgentCall<'_> {
    fn drop(&mut self) {
        self.0.waiters.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waiting_call_shortens_pause() {
        let urgency = Urgency::default();
        let started = Instant::now();
        urgency.pause(Duration::from_secs(1)).await;
        assert_eq!(started.elapsed(), Duration::from_secs(1), "pause should not be shortened while no call waits");
        let waiters = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            std::mem::forget(urgency.wait());
        };
        tokio::time::timeout(Duration::from_secs(2), async {
            let pausing = urgency.pause(Duration::from_secs(60));
            let mut both = (pin!(pausing), pin!(waiters), false);
            std::future::poll_fn(|context| {
                both.2 = both.2 || both.1.as_mut().poll(context).is_ready();
                both.0.as_mut().poll(context)
            })
            .await;
        })
        .await
        .expect("pause should end as soon as a call waits for a connection");
        urgency.pause(Duration::from_secs(60)).await;
        assert_eq!(started.elapsed(), Duration::from_secs(2), "pause should be skipped while a call waits");
    }
}

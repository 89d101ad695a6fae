//! The task that follows a resolver and updates the members of the fleet.
//!
//! # Decisions
//!
//! Resolvers return complete sets rather than changes, because sets can be compared, rejected and repeated. Rules that
//! apply to all resolvers, such as ignoring an empty set, are implemented here once. A missing endpoint is kept for
//! half a second. Otherwise every client would have to reconnect if the endpoint reappears.

use crate::fleet::estimate::ServerEstimate;
use crate::fleet::members::{ConnectDelays, Member, ResolvedEndpoint, Row};
use crate::fleet::options::FleetOptions;
use crate::fleet::{Fleet, below};
use crate::resolve::{AnyResolver, ENDPOINTS_MAX, Endpoint};
use frpc::picker::Links;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How long an endpoint must be missing before it is removed. Flapping endpoints reappear sooner. A longer time would
/// exceed the second within which a server is removed after the expiry of its lease.
const MISSING_FOR: Duration = Duration::from_millis(500);

/// Maximum delay after the first failure of a resolver, which doubles with each further failure.
const PAUSE_FIRST: Duration = Duration::from_millis(100);

/// Upper bound for the delay after a failure of the resolver. A registry that recovers after hours is thus noticed
/// within half a minute.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Minimum interval between log lines about failures of a resolver.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Number of connections that a new channel makes immediately. Connections to the remaining servers of a large set
/// follow after random delays.
pub(crate) const AT_ONCE: usize = 64;

/// Functions of a channel that check the endpoints returned by its resolver, and connect to them.
pub(crate) struct Connects {
    /// Rejects endpoints that the channel cannot connect to, such as malformed addresses.
    pub(crate) check: Box<Check>,
    /// Creates the connections to an endpoint.
    pub(crate) connect: Box<Connect>,
}

type Check = dyn Fn(&Endpoint) -> Result<(), frpc::Error> + Send + Sync;
type Connect = dyn Fn(&ResolvedEndpoint, Arc<ServerEstimate>) -> Result<Links, frpc::Error> + Send + Sync;

/// Task that follows a resolver, with the resolver's last error. Dropping it ends the task.
pub(crate) struct ResolverTask {
    pub(crate) name: String,
    failure: Arc<LastFailure>,
    pub(crate) task: JoinHandle<()>,
}

/// Last error of a resolver. `None` after a success.
type LastFailure = Mutex<Option<String>>;

impl ResolverTask {
    /// Returns the last error of the resolver, or `None` after a success.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }

    pub(crate) fn with_failure(&self, text: &str) -> String {
        match self.failure() {
            Some(failure) => format!("{text}; {failure}"),
            None => format!("{text}; resolved by {}", self.name),
        }
    }
}

impl Drop for ResolverTask {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A resolver with the settings and functions that are needed to apply its updates to a fleet.
pub(crate) struct Follower {
    pub(crate) resolver: Box<dyn AnyResolver>,
    pub(crate) connects: Connects,
    pub(crate) spread: Duration,
    pub(crate) options: FleetOptions,
    /// Random number that identifies this client when it chooses a subset of the servers.
    pub(crate) seed: u64,
    pub(crate) runtime: Handle,
}

impl Follower {
    /// Spawns the task that follows the resolver. The task ends when the fleet is dropped.
    pub(crate) fn start(self, fleet: &Arc<Fleet>) {
        let name = self.resolver.name();
        let failure = Arc::<LastFailure>::default();
        let runtime = self.runtime.clone();
        let task = runtime.spawn(self.follow(Arc::downgrade(fleet), failure.clone()));
        drop(fleet.resolving.set(ResolverTask { name, failure, task }));
    }

    async fn follow(mut self, fleet: Weak<Fleet>, failure: Arc<LastFailure>) {
        let name = self.resolver.name();
        let mut failures = Failures::default();
        let (mut removal, mut pause) = (None, Duration::ZERO);
        loop {
            let answer = {
                // Keep the request pending while members are removed, because dropping the future would lose its
                // answer.
                let mut asking = pin!(async {
                    tokio::time::sleep(std::mem::take(&mut pause)).await;
                    without_panic(self.resolver.next()).await
                });
                loop {
                    let Some(at) = removal else { break asking.as_mut().await };
                    match tokio::time::timeout_at(at, asking.as_mut()).await {
                        Ok(answer) => break answer,
                        Err(_) => {
                            let Some(fleet) = fleet.upgrade() else { return };
                            removal = fleet.remove_missing(Instant::now());
                        }
                    }
                }
            };
            // Upgrade only after the wait, because a strong reference during it would keep a dropped fleet alive.
            let Some(fleet) = fleet.upgrade() else { return };
            let judged = answer.and_then(|endpoints| self.judged(endpoints));
            match judged {
                Ok((endpoints, fault)) => {
                    failures.count = 0;
                    if let Some(fault) = fault.filter(|_| failures.may_log(Instant::now())) {
                        tracing::warn!(target: "frpc::resolver", resolver = name, fault, "resolver endpoints ignored");
                    }
                    *failure.lock() = None;
                    removal = fleet.handle_set(endpoints, &self, Instant::now());
                }
                Err(error) => {
                    pause = failures.fail();
                    if failures.may_log(Instant::now()) {
                        tracing::warn!(target: "frpc::resolver", resolver = name, failures = failures.count, %error, "a resolver failed");
                    }
                    *failure.lock() = Some(format!("resolving by {name} failed: {error}"));
                }
            }
        }
    }

    /// Returns the valid endpoints that this client should use, and the reason why others are ignored. Of several
    /// endpoints with the same key, the last one applies. Fails if no endpoint is valid.
    fn judged(&self, endpoints: Vec<Endpoint>) -> io::Result<(Vec<Arc<Endpoint>>, Option<String>)> {
        let count = endpoints.len();
        // Use an ordered map, so that simulations are reproducible.
        let mut judged = BTreeMap::new();
        let mut fault = None;
        for endpoint in endpoints {
            if let Err(error) = (self.connects.check)(&endpoint) {
                fault = Some(error.to_string());
                continue;
            }
            let key = endpoint.key();
            if judged.len() < ENDPOINTS_MAX || judged.contains_key(&key) {
                judged.insert(key, Arc::new(endpoint));
            } else {
                fault = Some(format!("{count} endpoints exceed the limit of {ENDPOINTS_MAX}"));
            }
        }
        if judged.is_empty() {
            let why = fault.unwrap_or_else(|| "the answer has no endpoint".to_owned());
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("{why}; keeping the last valid set")));
        }
        Ok((self.options.chosen(judged.into_values().collect(), self.seed), fault))
    }
}

impl Fleet {
    /// Updates the members to match the resolved endpoints, of which there is at least one. Returns the time at which
    /// to [remove](Self::remove_missing) missing members, if there are any.
    fn handle_set(&self, endpoints: Vec<Arc<Endpoint>>, follower: &Follower, now: Instant) -> Option<Instant> {
        let mut stated: BTreeMap<_, _> = endpoints.into_iter().map(|endpoint| (endpoint.key(), endpoint)).collect();
        let is_first = self.members.read().is_empty();
        let mut members = self.members.write();
        for row in &mut *members {
            match stated.remove(&row.endpoint.key()) {
                Some(endpoint) => {
                    if row.endpoint != endpoint {
                        row.member.update(&endpoint);
                    }
                    (row.endpoint, row.missing_since) = (endpoint, None);
                }
                None => drop(row.missing_since.get_or_insert(now)),
            }
        }
        self.rebuild_choice(&members); // Weights and zones may have changed.
        // `join` takes the lock again to add the new members.
        drop(members);
        let mut joining: Vec<_> = stated.into_values().collect();
        // Shuffle the endpoints, because otherwise all clients would connect to the same ones first.
        (1..joining.len()).for_each(|at| joining.swap(at, below(at + 1)));
        self.join(joining, is_first, follower);
        self.remove_missing(now)
    }

    /// Adds members for new endpoints and starts connecting to them.
    fn join(&self, joining: Vec<Arc<Endpoint>>, is_first: bool, follower: &Follower) {
        let mut rows = Vec::new();
        for endpoint in joining {
            let is_at_once = is_first && rows.len() < AT_ONCE;
            let first = if is_at_once { Duration::ZERO } else { follower.spread };
            let pauses = ConnectDelays { first, further: follower.spread };
            let (stated, estimate) = (ResolvedEndpoint::new(&endpoint), ServerEstimate::new(&self.clock));
            let Ok(links) = (follower.connects.connect)(&stated, estimate.clone()) else {
                continue; // The address has been checked before.
            };
            let member = Member::kept(links, stated, &self.urgency, pauses, &follower.runtime);
            rows.push(Row::new(endpoint, member, estimate));
        }
        if !rows.is_empty() {
            self.add(rows);
        }
    }

    /// Removes members after their endpoints have been missing for [`MISSING_FOR`]. If other members are missing,
    /// returns the time of the next check.
    fn remove_missing(&self, now: Instant) -> Option<Instant> {
        let end = |since: Instant| since + MISSING_FOR;
        let next = |members: &[Row]| members.iter().filter_map(|row| row.missing_since).min().map(end);
        // Check under the read lock first, because usually no member is due for removal.
        if next(&self.members.read()).is_none_or(|end| end > now) {
            return next(&self.members.read());
        }
        let mut members = self.members.write();
        let is_due = |row: &mut Row| row.missing_since.is_some_and(|since| end(since) <= now);
        let removed: Vec<_> = members.extract_if(.., is_due).collect();
        let next = next(&members);
        self.rebuild_choice(&members);
        // Drain outside of the lock, because closing connections wakes tasks, which may run arbitrary code.
        drop(members);
        for row in removed {
            tracing::debug!(address = row.endpoint.address(), "endpoint removed");
            row.member.drain();
        }
        next
    }
}

/// Polls a resolver, converting a panic into an error. Otherwise a panic would end the task, and the channel would miss
/// all further updates.
async fn without_panic<T>(mut answer: Pin<Box<dyn Future<Output = io::Result<T>> + Send + '_>>) -> io::Result<T> {
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)));
        polled.unwrap_or_else(|_| Poll::Ready(Err(io::Error::other("the resolver panicked"))))
    })
    .await
}

/// Consecutive failures of a resolver, which determine the delay before the next attempt.
#[derive(Default)]
struct Failures {
    count: u32,
    logs_at: Option<Instant>,
}

impl Failures {
    /// Records a failure of the resolver and returns the delay before the next attempt.
    fn fail(&mut self) -> Duration {
        let longest = PAUSE_FIRST.saturating_mul(1 << self.count.min(16)).min(PAUSE_MAX);
        self.count = self.count.saturating_add(1);
        // Wait at least half of the maximum, because a resolver may fail immediately.
        longest.mul_f64(0.5 + fastrand::f64() / 2.0)
    }

    /// Returns whether enough time has passed since the last log line to write another.
    fn may_log(&mut self, now: Instant) -> bool {
        let may = self.logs_at.is_none_or(|at| at <= now);
        if may {
            self.logs_at = now.checked_add(LOG_INTERVAL);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::clock::FleetClock;
    use crate::resolve::Resolver;
    use crate::{Balance, FleetView};
    use std::future::{pending, ready};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Wake};
    use tokio::time::timeout;

    /// A resolver that panics at the first call and then returns an endpoint.
    struct Panicking(u32);

    impl Resolver for Panicking {
        fn next(&mut self) -> impl Future<Output = io::Result<Vec<Endpoint>>> + Send {
            self.0 += 1;
            let number = self.0;
            // Regression test: a panic before the future was returned ended the task.
            assert_ne!(number, 1, "on purpose");
            async move {
                match number {
                    2 => panic!("on purpose"),
                    3 => Ok(vec![Endpoint::new("127.0.0.1:1")]),
                    _ => pending().await,
                }
            }
        }

        fn name(&self) -> String {
            "a broken one".to_owned()
        }
    }

    /// Regression test: after a panic of the resolver, the channel missed all further updates and reported no error.
    #[tokio::test(start_paused = true)]
    async fn resolver_that_panics_is_queried_again() {
        let channel = frpc::Channel::builder()
            .balance()
            .connect_resolved_lazy(Panicking(0))
            .expect("channel settings should be valid");
        let fleet = || FleetView::of(&channel).expect("channel should have a fleet");
        tokio::time::sleep(PAUSE_FIRST / 4).await;
        assert!(fleet().resolver_failure.is_some_and(|failure| failure.contains("panicked")));
        // Wait for both retries. The pause grows after each failure.
        tokio::time::sleep(PAUSE_FIRST * 4).await;
        assert_eq!((fleet().servers.len(), fleet().resolver_failure), (1, None));
    }

    /// A resolver that never returns. The test adds endpoints directly.
    struct Unanswering;

    impl Resolver for Unanswering {
        async fn next(&mut self) -> io::Result<Vec<Endpoint>> {
            pending().await
        }

        fn name(&self) -> String {
            "a silent one".to_owned()
        }
    }

    /// Regression test: a new member may be connected before it is added to the fleet, and calls that waited for it
    /// were woken too early.
    #[tokio::test(start_paused = true)]
    async fn waiting_call_gets_previously_connected_member() {
        let server = frpc::Server::builder().build().expect("server settings should be valid");
        let connector = move || {
            let ((here, there), server) = (frpc::memory(), server.clone());
            tokio::spawn(async move { server.serve_connection(there).await });
            ready(io::Result::Ok(here))
        };
        let (clock, mut made) = (FleetClock::new(), None);
        let _channel = frpc::Channel::builder().connect_picker(|factory| {
            let fleet =
                Fleet::new(FleetOptions::default(), clock.clone(), factory.reconnect_timeout(), factory.runtime());
            let (fleet, estimate) = (Arc::new(fleet), ServerEstimate::new(&clock));
            made = Some((fleet.clone(), factory.by_connector("it", connector, Some(estimate.clone())), estimate));
            Ok(fleet)
        });
        let (fleet, links, estimate) = made.expect("channel should have created the fleet");
        Follower {
            resolver: Box::new(Unanswering),
            connects: Connects { check: Box::new(|_| Ok(())), connect: Box::new(|_, _| Err(frpc::Error::NoServers)) },
            spread: Duration::ZERO,
            options: FleetOptions::default(),
            seed: 0,
            runtime: Handle::current(),
        }
        .start(&fleet);
        links.dial().await.expect("server should accept the connection");
        let mut waiting = pin!(fleet.next_connection());
        let first = poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_ready())).await;
        assert!(!first, "the fleet has no member");
        let endpoint = Arc::new(Endpoint::new("it"));
        let stated = ResolvedEndpoint::new(&endpoint);
        let member = Member::kept(links, stated, &fleet.urgency, ConnectDelays::NONE, &fleet.runtime);
        fleet.add(vec![Row::new(endpoint, member, estimate)]);
        timeout(PAUSE_MAX, waiting)
            .await
            .expect("waiting call should get a connection within the timeout")
            .expect("channel should have a connection");
    }

    /// A waker that records whether the members of a fleet are locked when it is woken.
    struct LockReader(Arc<Fleet>, AtomicBool);

    impl Wake for LockReader {
        fn wake(self: Arc<Self>) {
            self.1.store(self.0.members.is_locked(), Ordering::Relaxed);
        }
    }

    /// Returns a fleet without members, whose resolver never returns.
    fn empty_fleet() -> Arc<Fleet> {
        let fleet = Fleet::new(FleetOptions::default(), FleetClock::new(), PAUSE_MAX, &Handle::current());
        drop(fleet.resolving.set(ResolverTask {
            name: String::new(),
            failure: Arc::default(),
            task: tokio::spawn(pending()),
        }));
        Arc::new(fleet)
    }

    /// A waker that panics when it is woken.
    struct BrokenWaker;

    impl Wake for BrokenWaker {
        fn wake(self: Arc<Self>) {
            panic!("on purpose")
        }
    }

    /// Regression test: a panicking waker of a waiting call ended the task of the resolver or of a connection.
    #[tokio::test]
    async fn panicking_waker_of_waiting_call_is_caught() {
        let fleet = empty_fleet();
        let mut waiting = pin!(fleet.next_connection());
        assert!(waiting.as_mut().poll(&mut Context::from_waker(&Arc::new(BrokenWaker).into())).is_pending());
        fleet.add(Vec::new());
    }

    /// Regression test: calls that waited for a connection were woken while the members were locked. A waker that used
    /// the channel deadlocked.
    #[tokio::test]
    async fn waiting_call_is_woken_without_lock() {
        let fleet = empty_fleet();
        let reader = Arc::new(LockReader(fleet.clone(), AtomicBool::new(true)));
        let mut waiting = pin!(fleet.next_connection());
        assert!(waiting.as_mut().poll(&mut Context::from_waker(&reader.clone().into())).is_pending());
        fleet.add(Vec::new());
        assert!(!reader.1.load(Ordering::Relaxed));
    }

    #[tokio::test(start_paused = true)]
    async fn failing_resolver_logs_once_per_minute() {
        let mut failures = Failures::default();
        let mut lines = 0;
        for _ in 0..600 {
            failures.fail();
            lines += u32::from(failures.may_log(Instant::now()));
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        assert_eq!(lines, 10);
    }

    #[test]
    fn failing_resolver_pauses_grow_to_limit() {
        let mut failures = Failures::default();
        let pauses: Vec<_> = (0..40).map(|_| failures.fail()).collect();
        assert!(pauses[0] <= PAUSE_FIRST && pauses[0] >= PAUSE_FIRST / 2);
        assert!(pauses.iter().all(|pause| *pause <= PAUSE_MAX));
        assert!(pauses[30..].iter().all(|pause| *pause >= PAUSE_MAX / 2));
    }
}

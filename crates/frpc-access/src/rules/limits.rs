//! Rate limits: token buckets per principal, or per address for unknown callers.

use crate::rules::who::Who;
use crate::{Principal, Proof, now};
use frpc::details::RetryInfo;
use frpc::{Connection, Status};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// Maximum number of callers with their own token bucket. Each takes about a hundred bytes.
const CALLERS_MAX: usize = 65_536;

/// Minimum interval between two removals of full token buckets. A removal takes about a millisecond.
const SWEPT: Duration = Duration::from_secs(1);

/// A rate limit: the average rate of calls and the maximum burst.
///
/// ```
/// use frpc_access::Rate;
/// use std::time::Duration;
///
/// let usual = Rate::per_second(50).burst(200);
/// let seldom = Rate::one_in(Duration::from_secs(60));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct Rate {
    /// Interval at which the token bucket gains another call.
    interval: Duration,
    burst: u32,
}

impl Rate {
    /// Permits `calls` calls per second on average, and the same number in a burst. 0 counts as 1.
    ///
    /// ```
    /// use frpc_access::Rate;
    ///
    /// let rate = Rate::per_second(50);
    /// ```
    pub fn per_second(calls: u32) -> Self {
        let calls = calls.max(1);
        Self { interval: Duration::from_secs(1) / calls, burst: calls }
    }

    /// Permits one call per period, without bursts. A period of zero counts as a nanosecond.
    ///
    /// ```
    /// use frpc_access::Rate;
    /// use std::time::Duration;
    ///
    /// let rate = Rate::one_in(Duration::from_secs(60));
    /// ```
    pub fn one_in(period: Duration) -> Self {
        Self { interval: period.max(Duration::from_nanos(1)), burst: 1 }
    }

    /// Sets the maximum number of calls in a burst. 0 counts as 1.
    ///
    /// ```
    /// use frpc_access::Rate;
    ///
    /// let rate = Rate::per_second(10).burst(30);
    /// ```
    pub fn burst(self, calls: u32) -> Self {
        Self { burst: calls.max(1), ..self }
    }
}

/// Returns the time since the first call of this function. Uses the runtime's clock, which tests can pause.
fn since_start() -> Duration {
    static BEGAN: LazyLock<Instant> = LazyLock::new(now);
    let began = *BEGAN;
    now().saturating_duration_since(began)
}

/// Token bucket that limits the call rate of one caller, using the generic cell rate algorithm (GCRA).
pub(crate) struct Bucket {
    rate: Rate,
    /// Whether several callers share the bucket, because the maximum number of buckets has been reached.
    is_shared: bool,
    /// Time at which the bucket will be full again, as a duration since the first use of the clock.
    full_at: Mutex<Duration>,
}

impl Bucket {
    fn new(rate: Rate, is_shared: bool) -> Self {
        Self { rate, is_shared, full_at: Mutex::new(Duration::ZERO) }
    }

    /// Takes one call from a caller's bucket, if the caller has one, and returns the bucket. A shared bucket is looked
    /// up again by `find`, because the caller may have its own bucket by now.
    pub(crate) fn take_from(
        bucket: Option<&Arc<Self>>,
        find: impl FnOnce() -> Option<Arc<Self>>,
    ) -> Result<Option<Arc<Self>>, Status> {
        let bucket = if bucket.is_some_and(|bucket| bucket.is_shared) { find() } else { bucket.cloned() };
        bucket.as_ref().map_or(Ok(()), |bucket| bucket.take())?;
        Ok(bucket)
    }

    /// Returns a call to the bucket that was taken but not made.
    pub(crate) fn put_back(&self) {
        let mut full_at = self.full_at.lock();
        *full_at = full_at.saturating_sub(self.rate.interval);
    }

    /// Takes one call from the bucket. If the bucket is empty, fails with a status that states the time to wait.
    fn take(&self) -> Result<(), Status> {
        let now = since_start();
        let mut full_at = self.full_at.lock();
        let missing = full_at.saturating_sub(now);
        let wait = missing.saturating_sub(self.rate.interval.saturating_mul(self.rate.burst - 1));
        if wait.is_zero() {
            *full_at = now.saturating_add(missing).saturating_add(self.rate.interval);
            return Ok(());
        }
        drop(full_at);
        // Round up, so that a retry after the stated time succeeds.
        let wait = wait.saturating_add(Duration::from_millis(1));
        let text = format!("too many calls by this caller: try again in {} ms", wait.as_millis());
        Err(Status::resource_exhausted(text).with_detail(&RetryInfo::new(wait)))
    }

    fn is_full(&self) -> bool {
        *self.full_at.lock() <= since_start()
    }
}

/// Rate limits of a rule set, with the token bucket of each limited caller.
#[derive(Default)]
pub(crate) struct Limits {
    limits: Vec<Limit>,
    buckets: Mutex<Buckets>,
}

#[derive(Clone)]
pub(crate) struct Limit {
    pub(crate) who: Who,
    pub(crate) rate: Rate,
    /// Whether the limit applies only to the methods that refer to it. Otherwise, it applies to all methods.
    pub(crate) is_of_methods: bool,
}

#[derive(Default)]
struct Buckets {
    by_caller: HashMap<Caller, Arc<Bucket>>,
    /// Token buckets shared by all callers that arrive while the maximum number of callers is tracked, by index of the
    /// rate limit.
    shared: HashMap<usize, Arc<Bucket>>,
    swept: Option<Instant>,
}

/// Key of a token bucket: the index of the rate limit, and the caller.
type Caller = (usize, Name);

#[derive(PartialEq, Eq, Hash)]
enum Name {
    Principal {
        kind: Discriminant<Proof>,
        issuer: String,
        name: String,
    },
    Address(CallerAddress),
    /// A caller without an address, such as one that uses an in-memory transport.
    Nobody,
}

impl Name {
    fn new(principal: Option<&Principal>, address: Option<CallerAddress>) -> Self {
        let Some(principal) = principal else { return address.map_or(Self::Nobody, Self::Address) };
        let issuer = match principal.proof() {
            Proof::Token { issuer } => issuer.clone(),
            _ => String::new(),
        };
        Self::Principal { kind: discriminant(principal.proof()), issuer, name: principal.name().to_owned() }
    }
}

/// Network address by which unauthenticated callers are rate limited.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallerAddress {
    network: IpAddr,
    /// Whether the caller communicates by datagrams. Such callers have separate limits, because their addresses may be
    /// forged.
    is_connectionless: bool,
}

impl CallerAddress {
    /// Returns the address of a connection's peer for rate limits, or `None` if the peer has no address.
    pub(crate) fn of(connection: &Connection) -> Option<Self> {
        Some(Self { network: connection.caller_network()?, is_connectionless: connection.is_connectionless() })
    }
}

impl Limits {
    pub(crate) fn new(limits: Vec<Limit>) -> Self {
        Self { limits, buckets: Mutex::default() }
    }

    /// Returns the indexes of the rate limits that apply to all methods.
    fn general(&self) -> impl Iterator<Item = usize> {
        self.limits.iter().enumerate().filter(|(_, limit)| !limit.is_of_methods).map(|(number, _)| number)
    }

    /// Returns whether no rate limit applies to all methods.
    pub(crate) fn is_empty(&self) -> bool {
        self.general().next().is_none()
    }

    /// Evaluates the condition of each rate limit.
    pub(crate) fn judge(&self, meets: impl Fn(&Who) -> bool) -> Box<[bool]> {
        self.limits.iter().map(|limit| meets(&limit.who)).collect()
    }

    /// Returns the token bucket that limits a caller's calls to all methods, or `None` if the caller is not limited.
    /// `limited` contains the result of [`Self::judge`] for the caller.
    pub(crate) fn bucket(
        &self,
        limited: &[bool],
        principal: Option<&Principal>,
        address: Option<CallerAddress>,
    ) -> Option<Arc<Bucket>> {
        self.bucket_among(self.general(), limited, principal, address)
    }

    /// Returns the caller's token bucket for the first matching rate limit.
    pub(crate) fn bucket_among(
        &self,
        mut numbers: impl Iterator<Item = usize>,
        limited: &[bool],
        principal: Option<&Principal>,
        address: Option<CallerAddress>,
    ) -> Option<Arc<Bucket>> {
        let number = numbers.find(|number| limited.get(*number).is_some_and(|limited| *limited))?;
        let rate = self.limits[number].rate;
        let mut buckets = self.buckets.lock();
        let caller = (number, Name::new(principal, address));
        if let Some(bucket) = buckets.by_caller.get(&caller) {
            return Some(bucket.clone());
        }
        if buckets.by_caller.len() >= CALLERS_MAX && !buckets.sweep(now()) {
            return Some(buckets.shared.entry(number).or_insert_with(|| Arc::new(Bucket::new(rate, true))).clone());
        }
        let bucket = Arc::new(Bucket::new(rate, false));
        buckets.by_caller.insert(caller, bucket.clone());
        Some(bucket)
    }
}

impl Buckets {
    /// Removes full buckets that are not in use, because they are equivalent to new ones. Returns whether there is
    /// space for another bucket.
    fn sweep(&mut self, now: Instant) -> bool {
        if self.swept.is_some_and(|swept| now.saturating_duration_since(swept) < SWEPT) {
            return false;
        }
        self.swept = Some(now);
        self.by_caller.retain(|_, bucket| Arc::strong_count(bucket) > 1 || !bucket.is_full());
        self.by_caller.len() < CALLERS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frpc::Code;
    use tokio::time::advance;

    fn named(number: usize) -> Principal {
        Principal::new(format!("caller {number}"), Proof::Other)
    }

    fn limits(rates: impl IntoIterator<Item = (Who, Rate)>) -> Limits {
        let limits = rates.into_iter().map(|(who, rate)| Limit { who, rate, is_of_methods: false });
        Limits::new(limits.collect())
    }

    fn bucket(limits: &Limits, principal: Option<&Principal>, address: Option<CallerAddress>) -> Option<Arc<Bucket>> {
        limits.bucket(&limits.judge(|who| who.includes(principal)), principal, address)
    }

    fn take_token(limits: &Limits, principal: &Principal) -> Result<(), Status> {
        bucket(limits, Some(principal), None).expect("caller should be rate limited").take()
    }

    #[tokio::test(start_paused = true)]
    async fn rate_limited_caller_gets_retry_delay() {
        let limits = limits([(Who::known(), Rate::per_second(10).burst(3))]);
        let (one, other) = (named(1), named(2));
        (0..3).for_each(|_| take_token(&limits, &one).unwrap());
        let status = take_token(&limits, &one).unwrap_err();
        assert_eq!(status.code(), Code::ResourceExhausted);
        let wait =
            status.detail::<RetryInfo>().and_then(|info| info.delay()).expect("status should state the retry delay");
        assert!(wait > Duration::from_millis(90) && wait < Duration::from_millis(110), "{wait:?}");
        take_token(&limits, &other).expect("other caller should not be rate limited");
        advance(wait).await;
        take_token(&limits, &one).expect("caller should be permitted after the retry delay");
        assert!(take_token(&limits, &one).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_callers_are_limited_by_network() {
        let limits = limits([(Who::anybody(), Rate::one_in(Duration::from_secs(1)))]);
        let take = |address: &str, is_connectionless| {
            let address = address.parse().ok().map(|network| CallerAddress { network, is_connectionless });
            bucket(&limits, None, address).expect("caller should be rate limited").take().is_ok()
        };
        let take_token = |address| take(address, false);
        assert!(take_token("192.0.2.1") && take_token("192.0.2.2") && !take_token("192.0.2.1"));
        assert!(take_token("") && !take_token(""));
        // Regression test: datagrams with a forged address consumed the rate limit of that address.
        assert!(take("192.0.2.3", true) && !take("192.0.2.3", true) && take_token("192.0.2.3"));
    }

    #[tokio::test(start_paused = true)]
    async fn first_matching_limit_applies_to_caller() {
        let limits = limits([(Who::role("busy"), Rate::per_second(2)), (Who::known(), Rate::per_second(1))]);
        let busy = named(1).with_role("busy");
        assert!(
            take_token(&limits, &busy).is_ok()
                && take_token(&limits, &busy).is_ok()
                && take_token(&limits, &busy).is_err()
        );
        assert!(take_token(&limits, &named(2)).is_ok() && take_token(&limits, &named(2)).is_err());
        assert!(bucket(&limits, None, None).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn caller_flood_is_bounded_and_keeps_limits() {
        let limits = limits([(Who::known(), Rate::one_in(Duration::from_secs(60)))]);
        take_token(&limits, &named(0)).unwrap();
        advance(Duration::from_secs(30)).await;
        for number in 1..CALLERS_MAX {
            take_token(&limits, &named(number)).unwrap();
        }
        take_token(&limits, &named(CALLERS_MAX)).expect("first caller beyond the maximum should use the shared bucket");
        take_token(&limits, &named(CALLERS_MAX + 1))
            .expect_err("second caller beyond the maximum should find the shared bucket empty");
        assert_eq!(limits.buckets.lock().by_caller.len(), CALLERS_MAX);
        assert!(take_token(&limits, &named(1)).is_err(), "many other callers should not refill a bucket");
        advance(Duration::from_secs(40)).await;
        take_token(&limits, &named(CALLERS_MAX + 2))
            .expect("full bucket of the first caller should have been replaced");
        assert_eq!(limits.buckets.lock().by_caller.len(), CALLERS_MAX);
        advance(Duration::from_secs(60)).await;
        take_token(&limits, &named(CALLERS_MAX + 3)).expect("all full buckets should have been removed");
        assert!(limits.buckets.lock().by_caller.len() <= 2);
    }

    /// Regression test: a caller that arrived during a flood of callers used a shared bucket for the lifetime of its
    /// connection.
    #[tokio::test(start_paused = true)]
    async fn caller_gets_own_bucket_once_room_exists() {
        let limits = limits([(Who::known(), Rate::one_in(Duration::from_secs(60)))]);
        for number in 0..CALLERS_MAX {
            take_token(&limits, &named(number)).unwrap();
        }
        let late = [CALLERS_MAX, CALLERS_MAX + 1].map(named);
        let kept = late.each_ref().map(|caller| bucket(&limits, Some(caller), None));
        let take = |at: usize| Bucket::take_from(kept[at].as_ref(), || bucket(&limits, Some(&late[at]), None));
        assert_eq!([take(0), take(1)].map(|taken| taken.is_ok()), [true, false], "both callers should share a limit");
        advance(Duration::from_secs(120)).await;
        assert_eq!(
            [take(0), take(1)].map(|taken| taken.is_ok()),
            [true, true],
            "each caller should have its own limit"
        );
        assert!(take(0).is_err() && take(1).is_err(), "each caller should have only its own limit");
    }
}

//! The resolver: lists the slices of a Service, watches them, and lists them again when the API server has discarded
//! the watched version.

use super::slices::{EndpointSlice, Port, Slices};
use crate::resolve::{Endpoint, Resolver};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use kube::{Client, Error};
use std::ops::Range;
use std::time::Duration;
use std::{fmt, io};
use tokio::time::{sleep, timeout};

/// Number of EndpointSlices that are requested per page. A slice has up to a thousand endpoints of a few hundred bytes
/// each, so a larger page would be long.
const PAGE: u32 = 32;

/// Maximum number of pages in a list of EndpointSlices.
const PAGES_MAX: usize = 300;

/// Range in seconds of the random lifetime of a watch. The random lifetime spreads the requests of clients over time.
/// kube accepts less than 295 seconds.
const WATCH_SECONDS: Range<u32> = 145..290;

/// Timeout for reading a page of a list and for starting a watch, including retries by kube. The API server limits a
/// request to a minute.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// Grace period after a watch's lifetime, before the client aborts the watch. An API server whose machine has died
/// never ends it.
const OVERDUE: Duration = Duration::from_secs(30);

/// Maximum delay before the next watch. An API server that shuts down ends the watches of all clients at the same time.
const PAUSE: Duration = Duration::from_secs(1);

/// Maximum delay after the API server has repeatedly discarded the resource version or sent malformed events.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// A resolver of the endpoints of a Kubernetes Service, for
/// [`connect_resolved`](crate::FleetBuilder::connect_resolved).
///
/// It lists the EndpointSlices of the Service once and then watches them. Each endpoint has the address of a pod,
/// weight 1, its zone, and the names of `pod` and `node` as metadata.
///
/// * Ready endpoints are used. If there are none, terminating endpoints that still serve are used. A terminating pod
///   receives no new calls once its slice is updated, and completes its calls in progress.
/// * A pod with addresses of both families is one endpoint, at its IPv4 address unless
///   [`prefer_ipv6`](Self::prefer_ipv6) is set. The same address in two slices is one endpoint.
/// * Slices with host names (`FQDN`) and malformed slices are ignored with a warning.
/// * While the API server fails, the channel keeps the known servers. The watch then continues from the same resource
///   version. After the statuses 429, 503 and 504, the client obeys `Retry-After`. The slices are listed again, after a
///   random pause, only if the API server has discarded the version (status 410) or sent a malformed slice.
/// * For TLS, the certificate of a server must be valid for `SERVICE.NAMESPACE.svc`, unless
///   [`with_server_name`](Self::with_server_name) sets another name.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use frpc_balance::Balance as _;
/// use frpc_balance::kubernetes::KubernetesResolver;
///
/// let client = kube::Client::try_default().await?;
/// let resolver = KubernetesResolver::new(client, "prod/shop", "grpc")?;
/// let channel = frpc::Channel::builder().balance().connect_resolved(resolver).await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct KubernetesResolver {
    api: Api<EndpointSlice>,
    namespace: String,
    service: String,
    slices: Slices,
    /// Resource version to watch from. `None` until the EndpointSlices have been listed.
    version: Option<String>,
    watch: Option<BoxStream<'static, kube::Result<WatchEvent<EndpointSlice>>>>,
    /// Number of consecutive watches that failed because the API server no longer had the resource version or sent a
    /// malformed event.
    discarded: u32,
    /// Whether the last watch failed after it had started and before its first event.
    has_failed: bool,
    /// Last result returned to the channel, used to avoid reporting equal results again. `None` after a failure.
    returned: Option<Result<Vec<Endpoint>, String>>,
}

/// Effect that a response or a watch event of the API server has on the resolver.
enum Outcome {
    Changed,
    Unchanged,
    /// The API server has ended the watch.
    Ended,
    /// The API server has discarded the resource version to watch or list from.
    Gone,
    /// The API server has sent an event with a malformed slice, so the change is unknown.
    Malformed(String),
}

impl KubernetesResolver {
    /// Creates a resolver for a [`Port`] of a Kubernetes Service, such as `shop` in the client's default namespace or
    /// `prod/shop` in another.
    ///
    /// # Errors
    /// If the name of the Service or of the namespace is invalid.
    pub fn new(client: Client, service: &str, port: impl Into<Port>) -> io::Result<Self> {
        let (namespace, service) = service.split_once('/').unwrap_or((client.default_namespace(), service));
        for name in [namespace, service] {
            if !is_name(name) {
                let text = format!("invalid name of a Service or a namespace: {name:?}");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            }
        }
        let (namespace, service) = (namespace.to_owned(), service.to_owned());
        Ok(Self {
            slices: Slices::new(port.into(), format!("{service}.{namespace}.svc")),
            api: Api::namespaced(client, &namespace),
            namespace,
            service,
            version: None,
            watch: None,
            discarded: 0,
            has_failed: false,
            returned: None,
        })
    }

    /// Sets the server name to verify against the servers' certificates. Defaults to `SERVICE.NAMESPACE.svc`.
    pub fn with_server_name(mut self, name: impl Into<String>) -> Self {
        self.slices.server_name = name.into();
        self
    }

    /// Prefers the IPv6 address of pods that have addresses of both families. By default, the IPv4 address is used.
    pub fn prefer_ipv6(mut self) -> Self {
        self.slices.prefers_v6 = true;
        self
    }

    fn selector(&self) -> String {
        format!("kubernetes.io/service-name={}", self.service)
    }

    /// Waits until the set of endpoints may have changed.
    async fn changed(&mut self) -> kube::Result<()> {
        loop {
            let step = match (&mut self.watch, &self.version) {
                (Some(watch), _) => match watch.next().await {
                    Some(event) => event.and_then(|event| self.apply(event)),
                    None => Ok(Outcome::Ended),
                },
                (None, Some(version)) => self.watch(&version.clone()).await,
                (None, None) => self.list().await,
            };
            let outcome = match step {
                Err(Error::Api(status)) if status.code == 410 => Outcome::Gone,
                step => step?,
            };
            let longest = match outcome {
                Outcome::Changed => return Ok(()),
                Outcome::Unchanged => continue,
                Outcome::Ended => {
                    // Slices beyond the limit may fit now, but no event repeats them.
                    if self.slices.is_full {
                        self.version = None;
                    }
                    PAUSE
                }
                Outcome::Gone => {
                    tracing::debug!(service = self.service, "resource version expired, listing again");
                    self.discard_version()
                }
                Outcome::Malformed(failure) => {
                    let service = &self.service;
                    tracing::warn!(target: "frpc::resolver", service, failure, "watch event ignored, listing again");
                    self.discard_version()
                }
            };
            self.watch = None;
            // Sleep for a random part of the pause, so that clients do not reconnect at the same time.
            sleep(longest.mul_f64(fastrand::f64())).await;
        }
    }

    /// Forgets the resource version, so that all EndpointSlices are listed again. Returns the maximum delay until then.
    fn discard_version(&mut self) -> Duration {
        self.version = None;
        self.discarded = self.discarded.saturating_add(1);
        PAUSE.saturating_mul(1 << (self.discarded - 1).min(16)).min(PAUSE_MAX)
    }

    /// Lists all EndpointSlices of the Service, page by page.
    async fn list(&mut self) -> kube::Result<Outcome> {
        // Collect the slices separately, so that a list that fails on a later page does not lose the known endpoints.
        let mut slices = self.slices.without_slices();
        let mut page = ListParams::default().labels(&self.selector()).limit(PAGE);
        for _ in 0..PAGES_MAX {
            let list = answered(self.api.list(&page)).await?;
            list.items.into_iter().for_each(|slice| slices.insert(slice));
            let Some(more) = list.metadata.continue_.filter(|more| !more.is_empty()) else {
                self.slices = slices;
                self.version = Some(list.metadata.resource_version.unwrap_or_default());
                return Ok(Outcome::Changed);
            };
            page = page.continue_token(&more);
        }
        Err(Error::Service(format!("the list of slices exceeds {PAGES_MAX} pages").into()))
    }

    /// Watches the EndpointSlices of the Service from a resource version on.
    async fn watch(&mut self, version: &str) -> kube::Result<Outcome> {
        let lifetime = fastrand::u32(WATCH_SECONDS);
        let parameters = WatchParams::default().labels(&self.selector()).timeout(lifetime);
        let events = answered(self.api.watch(&parameters, version)).await?;
        // End the watch even if the API server does not.
        self.watch = Some(events.take_until(sleep(Duration::from_secs(lifetime.into()) + OVERDUE)).boxed());
        // Report a change, because it may end an earlier failure.
        Ok(Outcome::Changed)
    }

    fn apply(&mut self, event: WatchEvent<EndpointSlice>) -> kube::Result<Outcome> {
        let (version, outcome) = match event {
            WatchEvent::Error(status) => return Err(Error::Api(status)),
            WatchEvent::Bookmark(bookmark) => (Some(bookmark.metadata.resource_version), Outcome::Unchanged),
            WatchEvent::Added(EndpointSlice { fields: Err(failure), .. })
            | WatchEvent::Modified(EndpointSlice { fields: Err(failure), .. })
            | WatchEvent::Deleted(EndpointSlice { fields: Err(failure), .. }) => {
                return Ok(Outcome::Malformed(failure));
            }
            WatchEvent::Deleted(slice) => {
                self.slices.remove(slice.metadata.name.as_deref().unwrap_or_default());
                (slice.metadata.resource_version, Outcome::Changed)
            }
            WatchEvent::Added(slice) | WatchEvent::Modified(slice) => {
                let version = slice.metadata.resource_version.clone();
                self.slices.insert(slice);
                (version, Outcome::Changed)
            }
        };
        self.version = version.or(self.version.take());
        // An event proves that the API server still has the version, so reset the backoff for discarded ones.
        (self.discarded, self.has_failed) = (0, false);
        Ok(outcome)
    }
}

impl Resolver for KubernetesResolver {
    async fn next(&mut self) -> io::Result<Vec<Endpoint>> {
        loop {
            if let Err(error) = self.changed().await {
                // Keep the version, because a list after each failure would multiply the load of a failing API server.
                self.returned = None;
                // The watch continues after an undecodable line, which is part of a proxy's error page rather than an
                // event of the API server.
                let continues = is_undecodable(&error);
                // Pause here, because the channel resets its backoff whenever a watch starts.
                if !continues && self.watch.take().is_some() && std::mem::replace(&mut self.has_failed, true) {
                    sleep(PAUSE.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
                }
                return Err(failed(&error));
            }
            let endpoints = self.slices.endpoints();
            // Changes that do not affect the endpoints are not reported.
            if self.returned.as_ref() != Some(&endpoints) {
                self.returned = Some(endpoints.clone());
                return endpoints.map_err(|why| io::Error::new(io::ErrorKind::NotFound, why));
            }
        }
    }

    fn name(&self) -> String {
        format!("Kubernetes Service {}/{}", self.namespace, self.service)
    }
}

impl fmt::Debug for KubernetesResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KubernetesResolver").field(&self.name()).finish()
    }
}

/// Awaits the response of the API server, with a timeout.
async fn answered<T>(request: impl Future<Output = kube::Result<T>>) -> kube::Result<T> {
    let late = |_| Err(Error::Service(format!("no answer within {} s", ANSWER_TIMEOUT.as_secs()).into()));
    timeout(ANSWER_TIMEOUT, request).await.unwrap_or_else(late)
}

/// Returns whether a response or an event could not be decoded. kube then tries to decode it as a status, and any JSON
/// object is a status without a code.
fn is_undecodable(error: &Error) -> bool {
    match error {
        Error::SerdeError(_) => true,
        Error::Api(status) => status.code == 0 && status.message.is_empty(),
        _ => false,
    }
}

/// Converts the error of a request to the API server, including its causes.
fn failed(error: &Error) -> io::Error {
    if let Error::Api(status) = error {
        if is_undecodable(error) {
            return io::Error::other("API server: malformed event");
        }
        return io::Error::other(format!("API server: status {}: {}", status.code, status.message));
    }
    let mut text = format!("API server: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        let shown = source.to_string();
        if !text.ends_with(&shown) {
            text = format!("{text}: {shown}");
        }
        cause = source.source();
    }
    io::Error::other(text)
}

/// Returns whether `text` is an RFC 1123 label, which names of Services and namespaces must be.
fn is_name(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len()) && text.bytes().all(is_inner) && !text.starts_with('-') && !text.ends_with('-')
}

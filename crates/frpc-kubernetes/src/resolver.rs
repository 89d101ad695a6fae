//! The resolver: lists the slices of a Service, watches them, and begins again when what it watched from is forgotten.

use crate::connection::{Answer, Lines, PATIENCE, not_understood, unusable};
use crate::kubernetes::{Kubernetes, invalid};
use crate::slices::{EndpointSlice, List, Port, Slices};
use frpc::resolve::{Endpoint, Resolver};
use serde::Deserialize;
use std::fmt;
use std::io;
use std::ops::Range;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// The slices of a page. Each has up to a thousand endpoints of some hundred bytes, and a page at most 16 MiB.
const PAGE: usize = 32;

/// The most pages of a list: those of as many slices as are taken.
const PAGES_MAX: usize = 10_000 / PAGE;

/// For how many seconds a watch is asked for, by chance, so that clients do not all come again in the same minute.
const WATCHED_FOR: Range<u64> = 300..600;

/// The longest pause after the end of a watch: a server that stops ends those of all its clients at one time.
const PAUSE: Duration = Duration::from_secs(1);

/// The longest pause when the server has forgotten many times in a row where the watch was, and all is listed again.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// The label of a slice that names its Service, with its slash as it stands in a URI.
const SERVICE_LABEL: &str = "kubernetes.io%2Fservice-name";

/// The endpoints of a Service of Kubernetes, for [`connect_resolved`](frpc::ChannelBuilder::connect_resolved).
///
/// Its EndpointSlices are listed once and then watched; all of them together are the set. Each endpoint has the address of
/// a pod, weight 1, its zone, and as metadata the names of `pod` and `node`.
///
/// * Endpoints that are ready are taken. If none is, those are that are terminating and still serve. A pod that terminates
///   thus gets no new calls as soon as its slice says so, and calls in progress end there.
/// * A pod with addresses of both families is one endpoint, at its IPv4 address unless
///   [`prefer_ipv6`](Self::prefer_ipv6) says otherwise. The same address in two slices is one endpoint.
/// * Slices with names of hosts (`FQDN`) are left out, and the log says so.
/// * While the API server is away, the resolver fails, upon which the channel keeps the servers that it knows. When the
///   connection is back, the watch goes on where it was. If the server has forgotten that (its code is 410), the slices
///   are listed again after a pause by chance of up to a second, and longer if that happens again.
/// * With TLS the certificate of a server has to be for `SERVICE.NAMESPACE.svc`, unless
///   [`with_server_name`](Self::with_server_name) says otherwise.
///
/// ```
/// use frpc::resolve::Resolver;
/// use frpc_kubernetes::{Kubernetes, KubernetesResolver};
///
/// let kubernetes = Kubernetes::new("http://127.0.0.1:8001")?;
/// let resolver = KubernetesResolver::new(&kubernetes, "prod/shop", "grpc")?;
/// assert_eq!(resolver.name(), "Kubernetes Service prod/shop");
/// assert!(KubernetesResolver::new(&kubernetes, "Shop!", "grpc").is_err(), "that is no name");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct KubernetesResolver {
    kubernetes: Kubernetes,
    namespace: String,
    service: String,
    slices: Slices,
    /// From where to watch, once the slices have been listed.
    version: Option<String>,
    watch: Option<Watch>,
    /// How many times in a row the server had forgotten the version, until an event came.
    forgotten: u32,
    /// What was said last, unless a failure has followed.
    stated: Option<Result<Vec<Endpoint>, String>>,
}

/// An open watch.
struct Watch {
    lines: Lines,
    /// When the server should have ended it long ago.
    ends: Instant,
}

/// A line of a watch.
#[derive(Deserialize)]
#[serde(tag = "type", content = "object", rename_all = "UPPERCASE")]
enum Event {
    Added(EndpointSlice),
    Modified(EndpointSlice),
    Deleted(EndpointSlice),
    Bookmark(EndpointSlice),
    Error(Status),
}

#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    code: u16,
    #[serde(default)]
    message: String,
}

/// What an event is for the resolver.
enum Outcome {
    Changed,
    Same,
    /// The server has ended the watch, which goes on with another one.
    Ended,
    /// The server has forgotten the version from which to watch, or to list.
    Gone,
}

impl KubernetesResolver {
    /// Watches a Service, such as `shop` in the [namespace](Kubernetes::namespace) of the cluster's settings, or
    /// `prod/shop` in another, for a [`Port`] by its name or its number.
    ///
    /// # Errors
    /// If that is no name of a Service, or of a namespace.
    pub fn new(kubernetes: &Kubernetes, service: &str, port: impl Into<Port>) -> io::Result<Self> {
        let (namespace, service) = service.split_once('/').unwrap_or((kubernetes.namespace(), service));
        for name in [namespace, service] {
            if !is_name(name) {
                return Err(invalid(format!("{name:?} is not the name of a Service or a namespace")));
            }
        }
        Ok(Self {
            kubernetes: kubernetes.clone(),
            namespace: namespace.to_owned(),
            service: service.to_owned(),
            slices: Slices::new(port.into(), format!("{service}.{namespace}.svc")),
            version: None,
            watch: None,
            forgotten: 0,
            stated: None,
        })
    }

    /// Sets the name for which the certificates of the servers are. Default: `SERVICE.NAMESPACE.svc`.
    #[must_use]
    pub fn with_server_name(mut self, name: impl Into<String>) -> Self {
        self.slices.set_server_name(name.into());
        self
    }

    /// Connects to the IPv6 address of a pod that has addresses of both families. Default: to that of IPv4.
    #[must_use]
    pub fn prefer_ipv6(mut self) -> Self {
        self.slices.prefer_v6();
        self
    }

    /// The path of the slices of this Service, with a query.
    fn path(&self, query: &str) -> String {
        let Self { namespace, service, .. } = self;
        let slices = format!("/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices");
        format!("{slices}?labelSelector={SERVICE_LABEL}%3D{service}{query}")
    }

    /// Waits until there may be another set.
    async fn changed(&mut self) -> io::Result<()> {
        loop {
            let outcome = match (&mut self.watch, &self.version) {
                (Some(watch), _) => match watch.event().await? {
                    Some(event) => self.apply(event)?,
                    None => Outcome::Ended,
                },
                (None, Some(version)) => self.watch(&version.clone()).await?,
                (None, None) => self.list().await?,
            };
            let longest = match outcome {
                Outcome::Changed => return Ok(()),
                Outcome::Same => continue,
                Outcome::Ended => PAUSE,
                Outcome::Gone => {
                    tracing::debug!(
                        service = self.service,
                        "the API server has forgotten the version that was watched"
                    );
                    self.version = None;
                    self.forgotten = self.forgotten.saturating_add(1);
                    PAUSE.saturating_mul(1 << (self.forgotten - 1).min(16)).min(PAUSE_MAX)
                }
            };
            self.watch = None;
            sleep(longest.mul_f64(fastrand::f64())).await;
        }
    }

    /// Reads all slices, page by page.
    async fn list(&mut self) -> io::Result<Outcome> {
        let mut connection = self.kubernetes.connect().await?;
        let mut slices = self.slices.without_slices();
        let mut more = String::new();
        for _ in 0..PAGES_MAX {
            let path = self.path(&format!("&limit={PAGE}{more}"));
            let Answer::Given(page) = connection.ask::<List>(&path).await? else { return Ok(Outcome::Gone) };
            page.items.into_iter().flatten().for_each(|slice| slices.insert(slice));
            if page.metadata.more.is_empty() {
                self.slices = slices;
                self.version = Some(page.metadata.resource_version);
                return Ok(Outcome::Changed);
            }
            more = format!("&continue={}", escaped(&page.metadata.more));
        }
        Err(io::Error::other(format!("the list of slices has more than {PAGES_MAX} pages")))
    }

    /// Watches from a version on.
    async fn watch(&mut self, version: &str) -> io::Result<Outcome> {
        let connection = self.kubernetes.connect().await?;
        let seconds = fastrand::u64(WATCHED_FOR);
        let query = format!("&watch=1&allowWatchBookmarks=true&timeoutSeconds={seconds}&resourceVersion=");
        let path = self.path(&format!("{query}{}", escaped(version)));
        let Answer::Given(lines) = connection.follow(&path).await? else { return Ok(Outcome::Gone) };
        self.watch = Some(Watch { lines, ends: Instant::now() + Duration::from_secs(seconds) + PATIENCE });
        // Nothing has, but a failure before may be over.
        Ok(Outcome::Changed)
    }

    fn apply(&mut self, event: Event) -> io::Result<Outcome> {
        let (version, outcome) = match event {
            Event::Error(Status { code: 410, .. }) => return Ok(Outcome::Gone),
            Event::Error(Status { code, message }) => {
                return Err(unusable(format!("the API server has ended the watch with {code}: {message}")));
            }
            Event::Bookmark(slice) => (slice.metadata.resource_version, Outcome::Same),
            Event::Deleted(slice) => {
                self.slices.remove(&slice.metadata.name);
                (slice.metadata.resource_version, Outcome::Changed)
            }
            Event::Added(slice) | Event::Modified(slice) => {
                let version = slice.metadata.resource_version.clone();
                self.slices.insert(slice);
                (version, Outcome::Changed)
            }
        };
        self.version = Some(version);
        self.forgotten = 0;
        Ok(outcome)
    }
}

impl Watch {
    /// The next event, or nothing when the server has ended the watch.
    async fn event(&mut self) -> io::Result<Option<Event>> {
        let line = timeout_at(self.ends, self.lines.next()).await;
        let line = line.unwrap_or_else(|_| Err(io::Error::other("the API server does not end the watch")))?;
        line.map(|line| serde_json::from_slice(&line).map_err(|error| not_understood(&error))).transpose()
    }
}

impl Resolver for KubernetesResolver {
    async fn next(&mut self) -> io::Result<Vec<Endpoint>> {
        loop {
            if let Err(error) = self.changed().await {
                if error.kind() == io::ErrorKind::InvalidData {
                    // What was not understood may have been a change, and what was refused is refused again.
                    self.version = None;
                }
                (self.watch, self.stated) = (None, None);
                return Err(error);
            }
            let endpoints = self.slices.endpoints();
            if self.stated.as_ref() != Some(&endpoints) {
                self.stated = Some(endpoints.clone());
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

/// Whether this is a name of RFC 1123, as Services and namespaces have them.
fn is_name(text: &str) -> bool {
    let is_inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(|byte| is_inner(&byte))
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Text as a part of a query.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => escaped.push(byte.into()),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

//! The resolver: looks up records, converts them to endpoints, and waits until they expire.

use super::address::{Address, Question};
use crate::fleet::common;
use crate::resolve::{ENDPOINTS_MAX, Endpoint, Resolver};
use futures_util::stream::{self, StreamExt as _};
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use std::collections::BTreeSet;
use std::future::pending;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;
use tokio::time::sleep;

/// Default bounds for the time between lookups. The lower bound limits the load on DNS servers, and the upper bound
/// limits the effect of a mistake in a zone.
const BOUNDS: RangeInclusive<Duration> = Duration::from_secs(5)..=Duration::from_secs(300);

/// Timeout of a single query to a DNS server. A query that fails is repeated at most twice.
const TIMEOUT: Duration = Duration::from_secs(2);
const ATTEMPTS: usize = 2;

/// Maximum number of SRV targets that are resolved. Each takes two queries.
const TARGETS_MAX: usize = 256;

/// Maximum number of concurrent lookups of SRV targets. With a single one, a query that is never answered would delay
/// all others by several seconds.
const LOOKUPS: usize = 32;

/// A DNS resolver for [`connect_resolved`](crate::FleetBuilder::connect_resolved).
///
/// The resolver is created from an address:
///
/// | address | servers |
/// |---|---|
/// | `dns:///shop.example:8080` | all A and AAAA records of the name, with this port |
/// | `dns:///_shop._tcp.example` | the targets of the SRV records of lowest priority, with their ports and weights |
/// | `dns://10.0.0.53/shop.example:8080` | like the first, through this DNS server instead of the system's |
///
/// The addresses of an SRV target share its weight. Host names in the hosts file are resolved as well. For TLS, the
/// certificate of a server must be valid for the resolved name or for the target of the SRV record.
///
/// ```
/// use frpc_balance::resolve::Resolver;
/// use frpc_balance::dns::DnsResolver;
///
/// let resolver: DnsResolver = "dns:///shop.example:8080".parse()?;
/// assert_eq!(resolver.name(), "DNS for shop.example");
/// assert!("shop.example:8080".parse::<DnsResolver>().is_err(), "address without a scheme should be rejected");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DnsResolver {
    address: Address,
    bounds: RangeInclusive<Duration>,
    /// Time until the next lookup, derived from the TTLs of the last answer.
    lasts: Option<Duration>,
    families: Families,
}

impl FromStr for DnsResolver {
    type Err = io::Error;

    fn from_str(text: &str) -> io::Result<Self> {
        Ok(Self { address: Address::parse(text)?, bounds: BOUNDS, lasts: None, families: Families::new() })
    }
}

/// Results of a DNS query, with their TTL in seconds.
type Found<T> = (Vec<T>, u32);

impl DnsResolver {
    /// Sets the bounds for the time between lookups. Within them, it is the shortest TTL of the records plus a random
    /// part of up to a tenth. Defaults to five seconds to five minutes.
    ///
    /// # Panics
    /// If the lower bound is zero, because records with a TTL of zero would be looked up without a pause.
    #[must_use]
    pub fn with_bounds(self, bounds: RangeInclusive<Duration>) -> Self {
        assert!(!bounds.start().is_zero(), "bounds of {bounds:?}; the lower one must be greater than zero");
        Self { bounds, ..self }
    }

    async fn query(&mut self) -> io::Result<Found<Endpoint>> {
        // Read the system's settings at each lookup, because the DNS servers or the hosts file may have changed.
        let resolver = &asking(self.address.server).map_err(io::Error::other)?;
        let (found, families) = match &self.address.question {
            Question::Known(address) => ((vec![Endpoint::new(address.to_string())], u32::MAX), Families::new()),
            Question::Host { name, port } => {
                let ((ips, ttl), families) = addresses(resolver, name, &self.families).await?;
                ((ips.into_iter().map(|ip| endpoint(ip, *port, name)).collect(), ttl), families)
            }
            Question::Service { name } => services(resolver, name, &self.families).await?,
        };
        if !found.0.is_empty() {
            self.families = families;
        }
        Ok(found)
    }
}

impl Resolver for DnsResolver {
    async fn next(&mut self) -> io::Result<Vec<Endpoint>> {
        match (&self.address.question, self.lasts) {
            (Question::Known(_), Some(_)) => return pending().await,
            // The random part prevents clients from repeating their lookups at the same time.
            (_, Some(lasts)) => sleep(lasts.saturating_add(lasts.mul_f64(fastrand::f64() / 10.0))).await,
            (_, None) => {}
        }
        // Clear the interval. After a failure, the channel itself delays the next lookup.
        self.lasts = None;
        let (endpoints, ttl) = self.query().await?;
        if endpoints.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "no records"));
        }
        self.lasts = Some(within(&self.bounds, ttl));
        Ok(endpoints)
    }

    fn name(&self) -> String {
        match &self.address.question {
            Question::Known(address) => format!("{address}"),
            Question::Host { name, .. } | Question::Service { name } => format!("DNS for {name}"),
        }
    }
}

/// Clamps a TTL in seconds to the configured bounds.
fn within(bounds: &RangeInclusive<Duration>, ttl: u32) -> Duration {
    Duration::from_secs(ttl.into()).min(*bounds.end()).max(*bounds.start())
}

/// Creates a client for the given DNS server, or for the system's server.
fn asking(server: Option<SocketAddr>) -> Result<TokioResolver, NetError> {
    let mut builder = match server {
        None => TokioResolver::builder_tokio()?,
        Some(server) => {
            let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
                connection.port = server.port();
                connection
            });
            let server = NameServerConfig::new(server.ip(), true, connections.into());
            let config = ResolverConfig::from_name_servers(vec![server]);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        }
    };
    let options = builder.options_mut();
    // Disable the cache, because `DnsResolver` itself waits for the expiry of answers.
    options.cache_size = 0;
    options.timeout = TIMEOUT;
    options.attempts = ATTEMPTS;
    builder.build()
}

/// Names and record types with addresses in the last successful answer. If a lookup of one of them fails, its addresses
/// are unknown rather than absent.
type Families = BTreeSet<(String, RecordType)>;

/// Resolves a host name to its addresses, and returns which address families (A and AAAA records) had any.
///
/// The whole lookup fails if the query fails for a family that had addresses in the last answer, because its servers
/// would otherwise appear to be gone. In other cases one family suffices, because some DNS servers never answer queries
/// for AAAA records.
async fn addresses(
    resolver: &TokioResolver,
    name: &str,
    families_before: &Families,
) -> io::Result<(Found<IpAddr>, Families)> {
    let (v4, v6) = tokio::join!(records(resolver, name, RecordType::A), records(resolver, name, RecordType::AAAA));
    let is_known = |family| families_before.contains(&(name.to_owned(), family));
    let (records, ttl) = match (v4, v6) {
        (Ok(v4), Err(error)) if !v4.is_empty() && !is_known(RecordType::AAAA) => (v4, partial(name, "AAAA", &error)),
        (Err(error), Ok(v6)) if !v6.is_empty() && !is_known(RecordType::A) => (v6, partial(name, "A", &error)),
        (v4, v6) => (v4?.into_iter().chain(v6?).collect(), u32::MAX),
    };
    let (mut ips, mut ttl, mut families) = (Vec::new(), ttl, Families::new());
    for record in records.into_iter().take(ENDPOINTS_MAX) {
        let ip = match record.data {
            RData::A(ip) => IpAddr::V4(ip.0),
            RData::AAAA(ip) => IpAddr::V6(ip.0),
            // Include the TTLs of aliases, because a changed alias leads to other addresses.
            RData::CNAME(_) => {
                ttl = ttl.min(record.ttl);
                continue;
            }
            _ => continue,
        };
        families.insert((name.to_owned(), record.data.record_type()));
        ips.push(ip);
        ttl = ttl.min(record.ttl);
    }
    Ok(((ips, ttl), families))
}

/// Logs that the addresses of one family are unknown because their lookup failed. Returns the number of seconds until
/// the next lookup.
fn partial(name: &str, family: &str, error: &io::Error) -> u32 {
    tracing::debug!(name, family, %error, "DNS lookup failed, using the other addresses");
    30
}

/// Resolves the SRV records of a name, using only the targets with the lowest priority value. A target is ignored if
/// its lookup fails, unless the last answer contained addresses for it.
async fn services(
    resolver: &TokioResolver,
    name: &str,
    families_before: &Families,
) -> io::Result<(Found<Endpoint>, Families)> {
    let mut services = Vec::new();
    let mut ttl = u32::MAX;
    for record in records(resolver, name, RecordType::SRV).await? {
        ttl = ttl.min(record.ttl);
        // A target that is the root means that the service is not available (RFC 2782).
        if let RData::SRV(service) = record.data
            && !service.target.is_root()
        {
            services.push(service);
        }
    }
    let lowest = services.iter().map(|service| service.priority).min();
    services.retain(|service| Some(service.priority) == lowest);
    // Endpoints of weight 0 receive no calls, but SRV records of weight 0 get a small share among weighted ones.
    let is_weighted = services.iter().any(|service| service.weight > 0);
    let lookups = services.into_iter().take(TARGETS_MAX).map(|service| async move {
        let target = service.target.to_utf8();
        let found = addresses(resolver, &target, families_before).await;
        (service, target, found)
    });
    let mut lookups = stream::iter(lookups).buffered(LOOKUPS);
    let (mut targets, mut families, mut failure) = (Vec::new(), Families::new(), None);
    while let Some((service, target, found)) = lookups.next().await {
        let ((ips, lasts), of_target) = match found {
            Ok(found) => found,
            // Fail as a whole, because the servers of this target would otherwise seem to have left.
            Err(error) if families_before.iter().any(|(name, _)| *name == target) => return Err(error),
            Err(error) => {
                ttl = ttl.min(partial(&target, "any", &error));
                failure = Some(error);
                continue;
            }
        };
        families.extend(of_target);
        ttl = ttl.min(lasts);
        targets.push((service, target, ips));
    }
    // Divide the weight of each target among its addresses.
    let counts: Vec<_> =
        targets.iter().map(|(_, _, ips)| u32::try_from(ips.len().max(1)).unwrap_or(u32::MAX)).collect();
    let multiple = multiple(counts.iter().copied());
    let mut endpoints = Vec::new();
    for ((service, target, ips), count) in targets.into_iter().zip(counts) {
        let share = u32::from(service.weight.max(1)) * multiple / count;
        let weight = if is_weighted { share.max(1) } else { 1 };
        endpoints.extend(ips.into_iter().map(|ip| endpoint(ip, service.port, &target).with_weight(weight)));
    }
    endpoints.truncate(ENDPOINTS_MAX);
    match failure {
        Some(error) if endpoints.is_empty() => Err(error),
        _ => Ok(((endpoints, ttl), families)),
    }
}

/// Returns a common multiple of the address counts, so that weights multiplied by it can be divided among the
/// addresses. The result is limited to 16 bits, so that its product with a 16-bit weight fits into 32 bits.
fn multiple(counts: impl Iterator<Item = u32>) -> u32 {
    let most = u32::from(u16::MAX);
    counts.fold(1, |all, count| (all / common(all, count)).saturating_mul(count).clamp(1, most))
}

fn endpoint(ip: IpAddr, port: u16, name: &str) -> Endpoint {
    let endpoint = Endpoint::new(SocketAddr::new(ip, port).to_string());
    endpoint.with_server_name(name.strip_suffix('.').unwrap_or(name))
}

/// Queries the DNS records of one type. The result may be empty.
async fn records(resolver: &TokioResolver, name: &str, kind: RecordType) -> io::Result<Vec<Record>> {
    match resolver.lookup(name, kind).await {
        Ok(lookup) => Ok(lookup.answers().to_vec()),
        Err(error) if error.is_no_records_found() => Ok(Vec::new()),
        Err(error) => Err(io::Error::other(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_to_live_is_clamped_to_bounds() {
        let times = [0, 1, 60, 86_400].map(|ttl| within(&BOUNDS, ttl).as_secs());
        assert_eq!(times, [5, 5, 60, 300]);
    }

    #[tokio::test(start_paused = true)]
    async fn ip_address_is_returned_once() {
        let mut resolver: DnsResolver = "dns:///10.0.0.1:80".parse().expect("text should be a DNS address");
        assert_eq!(resolver.next().await.expect("IP address should need no lookup"), [Endpoint::new("10.0.0.1:80")]);
        let again = tokio::time::timeout(Duration::from_secs(86_400), resolver.next()).await;
        assert!(again.is_err(), "resolver of an IP address should return a single set");
    }

    /// Regression test: the random part made the longest interval overflow, so that each further lookup panicked.
    #[tokio::test(start_paused = true)]
    async fn longest_interval_does_not_overflow() {
        let resolver: DnsResolver = "dns:///shop.test:80".parse().expect("text should be a DNS address");
        let mut resolver = DnsResolver { lasts: Some(Duration::MAX), ..resolver };
        let again = tokio::time::timeout(Duration::from_secs(86_400), resolver.next()).await;
        assert!(again.is_err(), "name should not be resolved again");
    }

    #[test]
    #[should_panic(expected = "must be greater than zero")]
    fn zero_lower_bound_panics() {
        let resolver: DnsResolver = "dns:///shop.test:80".parse().expect("text should be a DNS address");
        let _ = resolver.with_bounds(Duration::ZERO..=Duration::from_secs(1));
    }
}

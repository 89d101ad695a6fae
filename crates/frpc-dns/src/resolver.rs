//! The resolver: asks, makes endpoints of records, and waits for the end of their time.

use crate::address::{Address, Question};
use frpc::resolve::{ENDPOINTS_MAX, Endpoint, Resolver};
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use std::future::pending;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// Answers are used for five seconds to five minutes, whatever their time to live: servers of DNS are not to be asked all
/// the time, and a mistake in a zone is not to last for a day.
const BOUNDS: RangeInclusive<Duration> = Duration::from_secs(5)..=Duration::from_secs(300);

/// How long a server of DNS may take for an answer, and how often it is asked.
const PATIENCE: Duration = Duration::from_secs(2);
const ATTEMPTS: usize = 2;

/// The most targets of SRV records that are looked up. Each takes two questions.
const TARGETS_MAX: usize = 256;

/// The servers of a name in DNS, for [`connect_resolved`](frpc::ChannelBuilder::connect_resolved).
///
/// It is made of an address:
///
/// | address | servers |
/// |---|---|
/// | `dns:///shop.example:8080` | all A and AAAA records of the name, with this port |
/// | `dns:///_shop._tcp.example` | the targets of the SRV records of lowest priority, with their ports and weights |
/// | `dns://10.0.0.53/shop.example:8080` | as the first, asking this server of DNS and not those of the system |
///
/// The file of hosts is heeded. For TLS the certificate of a server has to be for the name, or the target of the SRV record.
///
/// ```
/// use frpc::resolve::Resolver;
/// use frpc_dns::DnsResolver;
///
/// let resolver: DnsResolver = "dns:///shop.example:8080".parse()?;
/// assert_eq!(resolver.name(), "DNS for shop.example");
/// assert!("shop.example:8080".parse::<DnsResolver>().is_err(), "for that there is `connect`");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DnsResolver {
    address: Address,
    bounds: RangeInclusive<Duration>,
    /// Made when it is asked for the first time, since that reads the system's settings.
    asks: Option<TokioResolver>,
    /// How long the last answer may be used.
    lasts: Option<Duration>,
}

impl FromStr for DnsResolver {
    type Err = io::Error;

    fn from_str(text: &str) -> io::Result<Self> {
        Ok(Self { address: Address::parse(text)?, bounds: BOUNDS, asks: None, lasts: None })
    }
}

/// What was found, and for how many seconds it may be used.
type Found<T> = (Vec<T>, u32);

impl DnsResolver {
    /// Sets for how long an answer is used at least and at most. Within these, that is the shortest time to live of its
    /// records, and up to a tenth more by chance. Default: five seconds to five minutes.
    #[must_use]
    pub fn with_bounds(mut self, bounds: RangeInclusive<Duration>) -> Self {
        self.bounds = bounds;
        self
    }

    fn asks(&mut self) -> io::Result<&TokioResolver> {
        if self.asks.is_none() {
            self.asks = Some(asking(self.address.server).map_err(|error| failed(&error))?);
        }
        self.asks.as_ref().ok_or_else(|| io::Error::other("there is no resolver"))
    }

    async fn ask(&mut self) -> io::Result<Found<Endpoint>> {
        let question = self.address.question.clone();
        let asks = self.asks()?;
        match question {
            Question::Known(address) => Ok((vec![Endpoint::new(address.to_string())], u32::MAX)),
            Question::Host { name, port } => {
                let (ips, ttl) = addresses(asks, &name).await?;
                Ok((ips.into_iter().map(|ip| endpoint(ip, port, &name)).collect(), ttl))
            }
            Question::Service { name } => services(asks, &name).await,
        }
    }
}

impl Resolver for DnsResolver {
    async fn next(&mut self) -> io::Result<Vec<Endpoint>> {
        match (&self.address.question, self.lasts) {
            (Question::Known(_), Some(_)) => return pending().await,
            // Not all clients ask again in the same moment.
            (_, Some(lasts)) => tokio::time::sleep(lasts.mul_f64(1.0 + fastrand::f64() / 10.0)).await,
            (_, None) => {}
        }
        // After a failure the channel pauses.
        self.lasts = None;
        let (endpoints, ttl) = self.ask().await?;
        if endpoints.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "there are no records"));
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

/// A time to live in seconds within bounds.
fn within(bounds: &RangeInclusive<Duration>, ttl: u32) -> Duration {
    Duration::from_secs(ttl.into()).min(*bounds.end()).max(*bounds.start())
}

/// What asks the server, or those of the system.
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
    // This resolver waits itself for the end of answers.
    options.cache_size = 0;
    options.timeout = PATIENCE;
    options.attempts = ATTEMPTS;
    builder.build()
}

/// The addresses of a name. Each kind has to be known to be there or not: with one of them unknown, half of the servers
/// would seem to have left.
async fn addresses(asks: &TokioResolver, name: &str) -> io::Result<Found<IpAddr>> {
    let (v4, v6) = tokio::join!(records(asks, name, RecordType::A), records(asks, name, RecordType::AAAA));
    let mut found = Found::default();
    found.1 = u32::MAX;
    for record in v4?.into_iter().chain(v6?).take(ENDPOINTS_MAX) {
        let ip = match record.data {
            RData::A(ip) => IpAddr::V4(ip.0),
            RData::AAAA(ip) => IpAddr::V6(ip.0),
            // Aliases on the way: when they change, so do the addresses.
            RData::CNAME(_) => {
                found.1 = found.1.min(record.ttl);
                continue;
            }
            _ => continue,
        };
        found.0.push(ip);
        found.1 = found.1.min(record.ttl);
    }
    Ok(found)
}

/// The targets of the SRV records of a name. Those of another priority than the lowest are for the case that all of these
/// are gone from DNS.
async fn services(asks: &TokioResolver, name: &str) -> io::Result<Found<Endpoint>> {
    let mut services = Vec::new();
    let mut ttl = u32::MAX;
    for record in records(asks, name, RecordType::SRV).await? {
        ttl = ttl.min(record.ttl);
        // The root as a target says that the service is decidedly not available.
        if let RData::SRV(service) = record.data
            && !service.target.is_root()
        {
            services.push(service);
        }
    }
    let lowest = services.iter().map(|service| service.priority).min();
    services.retain(|service| Some(service.priority) == lowest);
    // A weight of 0 is a small chance beside others.
    let is_weighted = services.iter().any(|service| service.weight > 0);
    let mut endpoints = Vec::new();
    for service in services.into_iter().take(TARGETS_MAX) {
        let target = service.target.to_utf8();
        let (ips, lasts) = addresses(asks, &target).await?;
        ttl = ttl.min(lasts);
        let weight = if is_weighted { u32::from(service.weight.max(1)) } else { 1 };
        endpoints.extend(ips.into_iter().map(|ip| endpoint(ip, service.port, &target).with_weight(weight)));
    }
    endpoints.truncate(ENDPOINTS_MAX);
    Ok((endpoints, ttl))
}

fn endpoint(ip: IpAddr, port: u16, name: &str) -> Endpoint {
    let endpoint = Endpoint::new(SocketAddr::new(ip, port).to_string());
    endpoint.with_server_name(name.strip_suffix('.').unwrap_or(name))
}

/// The records of this type, of which there may be none.
async fn records(asks: &TokioResolver, name: &str, kind: RecordType) -> io::Result<Vec<Record>> {
    match asks.lookup(name, kind).await {
        Ok(lookup) => Ok(lookup.answers().to_vec()),
        Err(error) if error.is_no_records_found() => Ok(Vec::new()),
        Err(error) => Err(failed(&error)),
    }
}

fn failed(error: &NetError) -> io::Error {
    io::Error::other(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_live_counts_within_the_bounds() {
        let times = [0, 1, 60, 86_400].map(|ttl| within(&BOUNDS, ttl).as_secs());
        assert_eq!(times, [5, 5, 60, 300]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_is_known_is_stated_once() {
        let mut resolver: DnsResolver = "dns:///10.0.0.1:80".parse().expect("it is an address");
        assert_eq!(resolver.next().await.expect("nobody is asked"), [Endpoint::new("10.0.0.1:80")]);
        let again = tokio::time::timeout(Duration::from_secs(86_400), resolver.next()).await;
        assert!(again.is_err(), "there is nothing more to say");
    }
}

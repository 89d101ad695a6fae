//! A client's options for its fleet: its zone, and the number of servers.

use crate::client::builder::ChannelBuilder;
use crate::resolve::Endpoint;
use std::sync::Arc;
use std::time::Duration;

/// A client's options for its fleet.
#[derive(Clone, Debug, Default)]
pub(crate) struct FleetOptions {
    /// The client's zone.
    pub(crate) zone: Option<String>,
    /// The most servers that it connects to.
    subset: Option<usize>,
    /// How long a call has time before it is made at a second server as well.
    pub(crate) hedge_after: Option<Duration>,
}

impl ChannelBuilder {
    /// Sets the zone of this client. Servers whose [zone](Endpoint::with_zone) is the same get all its calls as long as
    /// 70 % of their weight can work, and otherwise as many as these can serve; the rest goes to other zones. Servers
    /// that cannot work are those without a connection and those that are ejected. Default: none, and zones do not
    /// matter.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), frpc::Error> {
    /// use frpc::Channel;
    /// use frpc::resolve::{Endpoint, StaticResolver};
    ///
    /// let near = Endpoint::new("10.0.0.1:8080").with_zone("a");
    /// let far = Endpoint::new("10.1.0.1:8080").with_zone("b");
    /// let channel = Channel::builder().zone("a").connect_resolved(StaticResolver::new([near, far])).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        self.fleet.zone = Some(zone.into());
        self
    }

    /// Sets the most servers of the channel, at least 1, of those that a [resolver](crate::resolve) states. With a
    /// thousand clients and a thousand servers there would be a million connections otherwise. Which ones these are
    /// follows from chance, in proportion to their weights, so that each server has as many clients as its weight says;
    /// servers of the client's own [zone](Self::zone) come first. A server that joins or leaves changes at most one of
    /// them. Default: all.
    ///
    /// Twenty are plenty: with few, a channel has not enough to choose from.
    pub fn subset(mut self, servers: usize) -> Self {
        self.fleet.subset = Some(servers.max(1));
        self
    }

    /// Has the channel make a call at a second server as well if the first has not answered after this time: it is hedged.
    /// Only unary calls of methods are that the schema declares idempotent (`idempotency_level`), since both servers may run
    /// them. The first answer counts, and the other call is cancelled. Default: never.
    ///
    /// At most 2 % of such calls are hedged, and each takes one of the retries that the channel has: ten, and one for
    /// each ten calls that succeed. So servers in trouble do not get more work for it. A time that one call in a
    /// hundred takes makes good use of them. A hedged call is one call for observers, which see the second attempt as a
    /// [retry](crate::observe::Observer::retry); both attempts have the deadline of the call, and its metadata. Each
    /// call that can be hedged allocates its future and a timer. A channel to a single server hedges nothing.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), frpc::Error> {
    /// use frpc::Channel;
    /// use std::time::Duration;
    ///
    /// let builder = Channel::builder().hedge_after(Duration::from_millis(80));
    /// let channel = builder.connect_all(["10.0.0.1:8080", "10.0.0.2:8080"]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn hedge_after(mut self, time: Duration) -> Self {
        self.fleet.hedge_after = Some(time);
        self
    }
}

impl FleetOptions {
    /// Whether a server is in the client's zone.
    pub(crate) fn is_near(&self, endpoint: &Endpoint) -> bool {
        self.zone.is_none() || self.zone.as_deref() == endpoint.zone()
    }

    /// The servers of a set that a client connects to. `seed` distinguishes it from other clients.
    pub(crate) fn chosen(&self, mut endpoints: Vec<Arc<Endpoint>>, seed: u64) -> Vec<Arc<Endpoint>> {
        let Some(count) = self.subset.filter(|count| *count < endpoints.len()) else { return endpoints };
        // Each client draws a number for each server: those with the least ones are chosen. What joins or leaves changes
        // nothing between the others. Divided by the weight, it is the least in proportion to the weight.
        let rank = |endpoint: &Endpoint| drawn(seed, endpoint.address()) / f64::from(endpoint.weight());
        endpoints.sort_by(|one, other| {
            let is_far = |endpoint| !self.is_near(endpoint);
            is_far(one).cmp(&is_far(other)).then(rank(one).total_cmp(&rank(other)))
        });
        endpoints.truncate(count);
        endpoints
    }
}

/// A number of a client and a server, as exponentially distributed as its hash is even.
fn drawn(seed: u64, address: &str) -> f64 {
    let mut hash = seed ^ 0xcbf2_9ce4_8422_2325;
    for byte in address.bytes() {
        hash = (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3);
    }
    // So far the last bytes have changed few bits.
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ (hash >> 33)).wrapping_mul(factor);
    }
    hash ^= hash >> 33;
    -(((hash >> 11) as f64 + 0.5) / (1_u64 << 53) as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn set(count: usize) -> Vec<Arc<Endpoint>> {
        let endpoint = |number: usize| Endpoint::new(format!("10.0.0.{number}:80"));
        // Every fourth has the weight of three.
        (0..count).map(|number| Arc::new(endpoint(number).with_weight(1 + 2 * u32::from(number % 4 == 0)))).collect()
    }

    fn addresses(endpoints: &[Arc<Endpoint>]) -> BTreeSet<String> {
        endpoints.iter().map(|endpoint| endpoint.address().to_owned()).collect()
    }

    #[test]
    fn servers_have_clients_in_proportion_to_their_weights() {
        let terms = FleetOptions { subset: Some(10), ..FleetOptions::default() };
        let mut clients = BTreeMap::<_, u32>::new();
        for seed in 0..4_000 {
            for endpoint in terms.chosen(set(100), seed * 7_919) {
                *clients.entry(endpoint.weight()).or_default() += 1;
            }
        }
        // 25 servers of weight 3, and 75 of weight 1: half of the connections each, but for draws without replacement.
        let share = f64::from(clients[&3]) / f64::from(clients[&1] + clients[&3]);
        assert!((0.46..0.51).contains(&share), "{share}");
    }

    #[test]
    fn a_server_that_leaves_changes_one_of_a_subset_at_most() {
        let terms = FleetOptions { subset: Some(10), ..FleetOptions::default() };
        for seed in 0..100 {
            let before = addresses(&terms.chosen(set(50), seed));
            let mut fewer = set(50);
            fewer.remove(seed as usize % 50);
            let after = addresses(&terms.chosen(fewer, seed));
            assert_eq!((before.len(), after.len()), (10, 10));
            assert!(before.difference(&after).count() <= 1, "{before:?}, then {after:?}");
        }
        assert_eq!(terms.chosen(set(5), 1).len(), 5, "there are no more");
    }

    #[test]
    fn servers_of_the_own_zone_come_first() {
        let terms = FleetOptions { subset: Some(3), zone: Some("a".to_owned()), ..FleetOptions::default() };
        let endpoint = |number: usize| {
            let zone = if number < 2 { "a" } else { "b" };
            Arc::new(Endpoint::new(format!("{number}")).with_zone(zone))
        };
        for seed in 0..50 {
            let chosen = addresses(&terms.chosen((0..20).map(endpoint).collect(), seed));
            assert!(chosen.contains("0") && chosen.contains("1") && chosen.len() == 3, "{chosen:?}");
        }
    }
}

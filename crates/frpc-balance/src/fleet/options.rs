//! A client's options for its fleet: its zone and the number of servers.

use crate::resolve::Endpoint;
use std::sync::Arc;

/// Options that a client has set for its fleet.
#[derive(Clone, Debug, Default)]
pub(crate) struct FleetOptions {
    /// Zone of the client. Servers in the same zone are preferred.
    pub(crate) zone: Option<String>,
    /// Maximum number of servers that the client connects to.
    pub(crate) subset: Option<usize>,
}

impl FleetOptions {
    /// Returns whether a server is in the same zone as the client.
    pub(crate) fn is_near(&self, endpoint: &Endpoint) -> bool {
        self.zone.is_none() || self.zone.as_deref() == endpoint.zone()
    }

    /// Returns the subset of servers that this client connects to. `seed` identifies the client, so that different
    /// clients choose different subsets.
    pub(crate) fn chosen(&self, mut endpoints: Vec<Arc<Endpoint>>, seed: u64) -> Vec<Arc<Endpoint>> {
        let Some(count) = self.subset.filter(|count| *count < endpoints.len()) else { return endpoints };
        // Each client draws a number for each server and chooses the servers with the lowest numbers. A server that
        // joins or leaves thus does not affect the order of the others. The number is divided by the weight of the
        // server, so the probability of a low number is proportional to the weight.
        let rank = |endpoint: &Endpoint| drawn(seed, endpoint.address()) / f64::from(endpoint.weight());
        endpoints.sort_by(|one, other| {
            let is_far = |endpoint| !self.is_near(endpoint);
            is_far(one).cmp(&is_far(other)).then(rank(one).total_cmp(&rank(other)))
        });
        endpoints.truncate(count);
        endpoints
    }
}

/// Returns a pseudorandom number for a pair of client and server. If the hash is uniformly distributed, the number is
/// exponentially distributed.
fn drawn(seed: u64, address: &str) -> f64 {
    let mut hash = seed ^ 0xcbf2_9ce4_8422_2325;
    for byte in address.bytes() {
        hash = (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3);
    }
    // Mix the bits, because so far the last bytes of the address affect only a few bits.
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
        // Every fourth server has weight 3.
        (0..count).map(|number| Arc::new(endpoint(number).with_weight(1 + 2 * u32::from(number % 4 == 0)))).collect()
    }

    fn addresses(endpoints: &[Arc<Endpoint>]) -> BTreeSet<String> {
        endpoints.iter().map(|endpoint| endpoint.address().to_owned()).collect()
    }

    #[test]
    fn server_clients_are_proportional_to_weights() {
        let options = FleetOptions { subset: Some(10), ..FleetOptions::default() };
        let mut clients = BTreeMap::<_, u32>::new();
        for seed in 0..4_000 {
            for endpoint in options.chosen(set(100), seed * 7_919) {
                *clients.entry(endpoint.weight()).or_default() += 1;
            }
        }
        // There are 25 servers of weight 3 and 75 of weight 1. Each group has half of the connections, except for the
        // effect of drawing without replacement.
        let share = f64::from(clients[&3]) / f64::from(clients[&1] + clients[&3]);
        assert!((0.46..0.51).contains(&share), "{share}");
    }

    #[test]
    fn leaving_server_changes_one_subset_member() {
        let options = FleetOptions { subset: Some(10), ..FleetOptions::default() };
        for seed in 0..100 {
            let before = addresses(&options.chosen(set(50), seed));
            let mut fewer = set(50);
            fewer.remove(seed as usize % 50);
            let after = addresses(&options.chosen(fewer, seed));
            assert_eq!((before.len(), after.len()), (10, 10));
            assert!(
                before.difference(&after).count() <= 1,
                "one server should replace another: {before:?}, then {after:?}"
            );
        }
        assert_eq!(options.chosen(set(5), 1).len(), 5, "subset should contain all servers if there are fewer");
    }

    #[test]
    fn servers_of_own_zone_come_first() {
        let options = FleetOptions { subset: Some(3), zone: Some("a".to_owned()) };
        let endpoint = |number: usize| {
            let zone = if number < 2 { "a" } else { "b" };
            Arc::new(Endpoint::new(format!("{number}")).with_zone(zone))
        };
        for seed in 0..50 {
            let chosen = addresses(&options.chosen((0..20).map(endpoint).collect(), seed));
            assert!(chosen.contains("0") && chosen.contains("1") && chosen.len() == 3, "{chosen:?}");
        }
    }
}

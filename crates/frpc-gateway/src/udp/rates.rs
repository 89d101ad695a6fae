//! Rate limits by address, in a table of fixed size. Addresses with colliding hashes share a slot. A flood of spoofed
//! addresses neither grows the table nor evicts entries.

use frisbee::rpc::network;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Number of slots in the table of rates, a power of two. The table takes 128 KiB of memory.
const SLOTS: usize = 16 * 1024;

/// Maximum rate of an IPv6 /48 network, as a multiple of that of a /64 network. Many sites have a /48 network.
const NETWORKS_PER_SITE: u32 = 16;

/// Rates of all senders. Each slot stores the time at which its senders' full burst is available again, in
/// nanoseconds since `start`.
pub(super) struct Rates {
    /// Interval between two datagrams at the maximum rate.
    interval: Duration,
    /// Maximum time that a sender may be ahead of the rate, which determines the burst.
    tolerance: Duration,
    start: Instant,
    hash: RandomState,
    slots: Box<[u64]>,
}

impl Rates {
    /// Creates a table for a maximum rate and burst of each sender, in datagrams.
    pub(super) fn new((per_second, burst): (u32, u32), start: Instant) -> Self {
        let interval = Duration::from_secs(1) / per_second.max(1);
        let tolerance = interval * burst.max(1);
        Self { interval, tolerance, start, hash: RandomState::new(), slots: vec![0; SLOTS].into() }
    }

    /// Returns whether a datagram from this address is within the rate limit.
    pub(super) fn admit(&mut self, address: IpAddr, now: Instant) -> bool {
        let now = nanos(now.saturating_duration_since(self.start));
        let (network, interval) = (network(address), self.interval);
        self.take(network, interval, now)
            && match network {
                IpAddr::V4(_) => true,
                IpAddr::V6(of) => self.take(of.to_bits() >> 80, interval / NETWORKS_PER_SITE, now),
            }
    }

    fn take(&mut self, key: impl Hash, interval: Duration, now: u64) -> bool {
        let at = self.hash.hash_one(key) as usize % SLOTS;
        let Some(slot) = self.slots.get_mut(at) else { return false };
        let ahead = (*slot).max(now) + nanos(interval);
        if ahead - now > nanos(self.tolerance) {
            return false;
        }
        *slot = ahead;
        true
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_gets_burst_then_rate() {
        let start = Instant::now();
        let mut rates = Rates::new((10, 5), start);
        let address = IpAddr::from([192, 0, 2, 1]);
        let admitted = |rates: &mut Rates, now| (0..100).filter(|_| rates.admit(address, now)).count();
        assert_eq!(admitted(&mut rates, start), 5);
        assert_eq!(admitted(&mut rates, start + Duration::from_millis(250)), 2);
        assert_eq!(admitted(&mut rates, start + Duration::from_secs(60)), 5, "at most a burst should be accumulated");
    }

    #[test]
    fn networks_of_one_site_share_sixteen_rates() {
        let start = Instant::now();
        let mut rates = Rates::new((10, 5), start);
        let mut admitted = |site: u16| {
            let networks = (0..1000_u16).map(|network| IpAddr::from([0x2001, 0xdb8, site, network, 0, 0, 0, 1]));
            networks.filter(|address| rates.admit(*address, start)).count()
        };
        // Fewer than 80 may be admitted, because a network whose hash collides with that of its site uses up the rate
        // of the site.
        for site in [1, 2] {
            let count = admitted(site);
            assert!((32..=80).contains(&count), "{count} datagrams of site {site} are admitted");
        }
    }

    #[test]
    fn ipv6_network_and_mapped_addresses_share_rate() {
        let start = Instant::now();
        let mut rates = Rates::new((1, 1), start);
        for (first, second) in [("2001:db8::1", "2001:db8::ffff:2"), ("192.0.2.7", "::ffff:192.0.2.7")] {
            assert!(rates.admit(first.parse().expect("source address should be valid"), start), "{first}");
            assert!(!rates.admit(second.parse().expect("source address should be valid"), start), "{second}");
        }
    }

    #[test]
    fn address_flood_keeps_table_and_other_rates() {
        let start = Instant::now();
        let mut rates = Rates::new((1, 10), start);
        for flood in 0..1000_u32 {
            rates.admit(IpAddr::from((0x0a00_0000 + flood).to_be_bytes()), start);
        }
        let others =
            (0..1000_u32).filter(|other| rates.admit(IpAddr::from((0xc000_0000 + other).to_be_bytes()), start));
        assert_eq!((others.count(), rates.slots.len()), (1000, SLOTS));
    }
}

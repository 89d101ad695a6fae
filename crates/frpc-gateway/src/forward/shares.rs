//! Division of a connection's calls among the callers of the gateway.

use frpc::Request;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

/// Caller of a forwarded call: its IPv4 address or the upper half of its IPv6 address. `None` if the address is
/// unknown. The lower half is ignored, because one host can use 2^64 such addresses.
pub(super) type Caller = Option<IpAddr>;

pub(super) fn caller<T>(request: &Request<T>) -> Caller {
    Some(match request.remote_addr()?.ip().to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address @ IpAddr::V4(_) => address,
    })
}

/// Number of calls in progress on a connection, per caller.
#[derive(Debug, Default)]
pub(super) struct Shares {
    callers: HashMap<Caller, usize>,
    total: usize,
}

impl Shares {
    /// Returns the number of calls in progress.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Counts another call of a caller. Returns false if the caller already uses half of the calls that other callers
    /// leave free. `free` is the number of further calls that the backend accepts.
    pub(super) fn take(&mut self, caller: Caller, free: usize) -> bool {
        let held = self.callers.get(&caller).copied().unwrap_or(0);
        if held >= free.saturating_add(held).div_ceil(2) {
            return false;
        }
        *self.callers.entry(caller).or_default() += 1;
        self.total += 1;
        true
    }

    /// Releases a call that [`take`](Self::take) counted.
    pub(super) fn release(&mut self, caller: Caller) {
        let Some(held) = self.callers.get_mut(&caller) else { return };
        *held -= 1;
        self.total -= 1;
        if *held == 0 {
            self.callers.remove(&caller);
        }
    }
}

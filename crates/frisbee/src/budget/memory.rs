//! The memory budget of a server, as seen by routers.

use super::{Account, Budget, MemoryCharge};
use bytes::Bytes;
use std::sync::Arc;

/// The memory budget of a server, or of a client's connection; see
/// [`Connection::memory_budget`](crate::Connection::memory_budget).
///
/// A router that queues data for many connections uses it to size its queues, and to charge bytes once that several
/// connections share.
///
/// ```
/// use bytes::Bytes;
/// use frisbee::{Connection, Outbox, Packet, Routed, Router};
/// use std::sync::Mutex;
///
/// /// Keeps the last packet of any client. It is charged to the server, since it outlives the connection.
/// #[derive(Default)]
/// struct Last(Mutex<Bytes>);
///
/// impl Router for Last {
///     type Session = Connection;
///
///     fn connected(&self, connection: &Connection) -> Connection {
///         connection.clone()
///     }
///
///     fn route(&self, connection: &mut Connection, packet: Packet, _outbox: &mut Outbox) -> Routed {
///         let budget = connection.memory_budget();
///         if !budget.is_short() {
///             *self.0.lock().unwrap() = budget.share(packet.body);
///         }
///         Routed::Continue
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct MemoryBudget(pub(crate) Arc<Budget>);

impl MemoryBudget {
    /// Charges bytes to the budget, but to no connection, until the last clone of the result is dropped. Work in
    /// progress may overdraw the budget.
    pub fn share(&self, bytes: Bytes) -> Bytes {
        self.0.charge(bytes.len());
        Bytes::from_owner(SharedCharge { bytes, budget: self.0.clone() })
    }

    /// Charges a number of bytes to the budget, but to no connection, until the result is dropped. Use it for a whole
    /// table of a router, because each charge has its own account.
    pub fn charge(&self, bytes: usize) -> MemoryCharge {
        MemoryCharge::new(&Arc::new(Account::alone(self.0.clone())), bytes)
    }

    /// Returns whether half of the memory is in use, so that each connection is limited to its share of the rest.
    #[inline]
    pub fn is_short(&self) -> bool {
        self.0.is_short()
    }

    /// Returns the free memory in bytes; 0 if it is overdrawn.
    pub fn available(&self) -> usize {
        usize::try_from(self.0.available()).unwrap_or(0)
    }

    /// Returns the memory in use, in bytes.
    pub fn charged(&self) -> usize {
        self.0.charged()
    }
}

/// Bytes that are charged until they are dropped.
struct SharedCharge {
    bytes: Bytes,
    budget: Arc<Budget>,
}

impl AsRef<[u8]> for SharedCharge {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for SharedCharge {
    fn drop(&mut self) {
        self.budget.release(self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_bytes_are_charged_until_the_last_clone_is_dropped() {
        let budget = MemoryBudget(Arc::new(Budget::new(1000, 0)));
        let bytes = budget.share(Bytes::from_static(b"shared"));
        let other = bytes.clone();
        drop(bytes);
        assert_eq!((budget.charged(), budget.available(), &other[..]), (6, 994, &b"shared"[..]));
        drop(other);
        assert_eq!(budget.charged(), 0);
    }

    #[test]
    fn budget_is_short_above_half_in_use() {
        let budget = MemoryBudget(Arc::new(Budget::new(1000, 0)));
        let _half = budget.share(vec![0; 499].into());
        assert!(!budget.is_short());
        let _more = budget.share(vec![0; 600].into());
        assert!(budget.is_short());
        assert_eq!(budget.available(), 0);
    }
}

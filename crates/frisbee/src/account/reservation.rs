//! Reservations of a server's memory by routers and handlers.

use super::{Account, Budget};
use crate::debug::opaque_debug;
use bytes::Bytes;
use std::sync::Arc;

/// Maximum charge in bytes. A counter that already contains other charges would overflow with a larger one.
pub(super) const CHARGE_MAX: usize = isize::MAX.unsigned_abs();

/// The memory budget of a server, or of a client connection; see
/// [`ConnectionExt::memory_budget`](crate::rpc::ConnectionExt::memory_budget).
///
/// Routers that queue data for many connections use it to limit their queues. Data that several connections share can
/// be charged once.
///
/// ```
/// use bytes::Bytes;
/// use frisbee::rpc::ConnectionExt;
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
    /// Charges the memory of `bytes` to the server's budget, not to a connection, until the last clone of the returned
    /// bytes is dropped. The budget may be exceeded, because the bytes already exist.
    pub fn share(&self, bytes: Bytes) -> Bytes {
        self.0.charge(bytes.len());
        Bytes::from_owner(SharedCharge { bytes, budget: self.0.clone() })
    }

    /// Charges `bytes` bytes to the server's budget, not to a connection, until the returned value is dropped. Each
    /// charge allocates an account, so use a single charge for a whole table of a router rather than one per entry.
    pub fn charge(&self, bytes: usize) -> MemoryCharge {
        MemoryCharge::new(&Arc::new(Account::alone(self.0.clone())), bytes)
    }

    /// Returns whether at least half of the memory is in use. If so, each caller is limited to its share of the rest.
    #[inline]
    pub fn is_short(&self) -> bool {
        self.0.is_short()
    }

    /// Returns the free memory in bytes, or 0 if more than the budget is in use.
    pub fn available(&self) -> usize {
        usize::try_from(self.0.available()).unwrap_or(0)
    }

    /// Returns the memory in use in bytes.
    pub fn charged(&self) -> usize {
        self.0.charged()
    }
}

/// Bytes that are charged to a memory budget until they are dropped.
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

/// Memory charged to a connection until this value is dropped; see
/// [`ConnectionExt::charge_request`](crate::rpc::ConnectionExt::charge_request) and
/// [`ConnectionExt::charge`](crate::rpc::ConnectionExt::charge).
#[must_use = "the charge ends when this is dropped"]
pub struct MemoryCharge {
    account: Arc<Account>,
    charge: usize,
}

impl MemoryCharge {
    /// Charges the memory to the account even if the connection exceeds its share.
    pub(crate) fn new(account: &Arc<Account>, bytes: usize) -> Self {
        let bytes = bytes.min(CHARGE_MAX);
        account.charge(bytes);
        Self::charged(account, bytes)
    }

    /// Charges `bytes` of memory to the account of a connection. Returns `None` if its caller would exceed its share.
    pub(crate) fn try_new(account: &Arc<Account>, bytes: usize) -> Option<Self> {
        account.take(bytes).then(|| Self::charged(account, bytes))
    }

    fn charged(account: &Arc<Account>, charge: usize) -> Self {
        account.budget().counts.change_charged(charge);
        Self { charge, account: account.clone() }
    }

    /// Returns the amount of memory in bytes that is charged.
    pub fn bytes(&self) -> usize {
        self.charge
    }

    /// Changes the charge to `bytes` bytes. Returns `false` and leaves it unchanged if the connection would exceed its
    /// share.
    #[must_use]
    pub fn try_resize(&mut self, bytes: usize) -> bool {
        if bytes > self.charge && !self.account.take(bytes - self.charge) {
            return false;
        }
        self.account.release(self.charge.saturating_sub(bytes));
        self.account.budget().counts.change_charged(bytes.wrapping_sub(self.charge));
        self.charge = bytes;
        true
    }

    /// Changes the charge to `bytes` bytes, even if the connection exceeds its share. For objects that have already
    /// grown or shrunk. At most `isize::MAX` bytes are charged.
    pub fn resize(&mut self, bytes: usize) {
        let bytes = bytes.min(CHARGE_MAX);
        self.account.charge(bytes.saturating_sub(self.charge));
        self.account.release(self.charge.saturating_sub(bytes));
        self.account.budget().counts.change_charged(bytes.wrapping_sub(self.charge));
        self.charge = bytes;
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.account.budget().counts.change_charged(self.charge.wrapping_neg());
        self.account.release(self.charge);
    }
}

opaque_debug!([] MemoryCharge, "MemoryCharge", |this| charge = this.charge);

//! Commands to close a connection, from its handles to its driver.

use crate::CloseReason;

/// Command to the driver to close the connection.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Close the connection as soon as it is idle.
    WhenIdle(CloseReason),
    /// Write pending packets and close the connection.
    Flush(CloseReason),
    /// Close the connection immediately.
    Now(CloseReason),
    /// Pass the transport to its new owner. Only the driver itself uses this command.
    HandOver,
}

impl Order {
    /// Stores a command to close the connection in `slot`, unless `slot` already contains a more urgent one.
    pub(crate) fn put(order: Self, slot: &mut Option<Box<Self>>) {
        // Of two commands of the same rank, the earlier one is kept, with its reason.
        if slot.as_ref().is_none_or(|earlier| earlier.rank() < order.rank()) {
            *slot = Some(Box::new(order));
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::WhenIdle(_) => 0,
            Self::Flush(_) => 1,
            Self::Now(_) => 2,
            Self::HandOver => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_replaces_only_less_urgent_one() {
        let orders = || {
            let reason = CloseReason::Shutdown;
            [Order::WhenIdle(reason.clone()), Order::Flush(reason.clone()), Order::Now(reason), Order::HandOver]
        };
        for (rank, earlier) in orders().into_iter().enumerate() {
            for (later_rank, later) in orders().into_iter().enumerate() {
                let mut slot = None;
                Order::put(earlier.clone(), &mut slot);
                Order::put(later, &mut slot);
                assert_eq!(slot.map(|order| usize::from(order.rank())), Some(rank.max(later_rank)));
            }
        }
        let mut slot = Some(Box::new(Order::Now(CloseReason::Shutdown)));
        Order::put(Order::Now(CloseReason::Local), &mut slot);
        assert!(matches!(slot.as_deref(), Some(Order::Now(CloseReason::Shutdown))), "the first of two stays");
    }
}

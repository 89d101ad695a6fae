//! Requests of handles that the connection's task is to carry out.

use crate::CloseReason;

/// An order of a handle to the connection's task.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Close once nothing is in progress.
    WhenIdle(CloseReason),
    /// Write the packets that wait and close.
    Flush(CloseReason),
    /// Close now.
    Now(CloseReason),
    /// Give the transport to its next owner. Given by the task itself.
    HandOver,
}

impl Order {
    /// Puts an order where one may wait already. It replaces one that is less urgent.
    pub(crate) fn put(order: Self, place: &mut Option<Box<Self>>) {
        if place.as_ref().is_none_or(|earlier| earlier.rank() < order.rank()) {
            *place = Some(Box::new(order));
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

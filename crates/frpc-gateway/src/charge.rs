//! Memory charges for requests and replies. They count towards the memory limit of the server.

#[cfg(feature = "http")]
mod body;

#[cfg(feature = "http")]
pub(crate) use body::{GrowingBody, Room};

use frisbee::rpc::ConnectionExt;
use frisbee::{ConnectionCharge, MemoryCharge};
use frpc::{AdapterContext, Status};
use std::io;

/// Minimum size in bytes of a request or reply that is charged to the client's memory limit.
pub(crate) const CHARGED_MIN: usize = 4 * 1024;

/// Checks that `bytes` more bytes fit within the client's share of the server's memory.
pub(crate) fn check_room(context: &AdapterContext, bytes: usize) -> Result<(), Status> {
    if bytes < CHARGED_MIN || context.connection().has_room(bytes) { Ok(()) } else { Err(rejected(context)) }
}

/// Charges `bytes` to the client. Fails if its share of the server's memory is used up.
pub(crate) fn try_charge(context: &AdapterContext, bytes: usize) -> Result<MemoryCharge, Status> {
    context.connection().try_charge(bytes).ok_or_else(|| rejected(context))
}

/// Counts a rejected call and returns its status.
#[cold]
pub(crate) fn rejected(context: &AdapterContext) -> Status {
    context.connection().count_rejected();
    overloaded()
}

/// Returns the memory in bytes that the content of metadata takes at least.
#[cfg(feature = "http")]
pub(crate) fn metadata_size(metadata: &frpc::Metadata) -> usize {
    metadata.iter().map(|(key, value)| key.len() + value.len()).sum()
}

/// Number of bytes charged for an idle connection of a protocol, in addition to the 4 KiB charged for every connection.
/// The test `idle_connections_are_charged` compares it with the allocated memory.
#[derive(Clone, Copy)]
pub(crate) struct IdleMemory(usize);

impl IdleMemory {
    pub(crate) const LINES: Self = Self(5 * 1024);
    #[cfg(feature = "http")]
    pub(crate) const HTTP1: Self = Self(12 * 1024);
    /// An HTTP/1.1 connection that hyper serves.
    #[cfg(feature = "http")]
    pub(crate) const HYPER: Self = Self(32 * 1024);
    #[cfg(feature = "http")]
    pub(crate) const HTTP2: Self = Self(14 * 1024);
    #[cfg(feature = "http")]
    pub(crate) const WEB_SOCKET: Self = Self(8 * 1024);

    /// Adds the memory of the metadata that a connection keeps for its calls.
    #[cfg(feature = "http")]
    pub(crate) fn with_metadata(self, metadata: &frpc::Metadata) -> Self {
        Self(self.0 + metadata_size(metadata))
    }

    /// Charges the memory to the client. Fails if its share of the memory for connections is used up.
    pub(crate) fn charge(self, context: &AdapterContext) -> io::Result<ConnectionCharge> {
        context.charge_connection(self.0).ok_or_else(|| {
            context.connection().count_rejected();
            io::Error::new(io::ErrorKind::OutOfMemory, "no memory for the connection: see connection_memory_max")
        })
    }
}

/// Returns the status of a call that is rejected because the client has reached its memory limit.
#[cold]
pub(crate) fn overloaded() -> Status {
    Status::resource_exhausted("the server's memory limit for this client is reached")
}

/// Memory charge for a buffer that grows and shrinks. The charge changes in large steps, so that small changes of the
/// buffer cost nothing.
#[derive(Debug, Default)]
pub(crate) struct Charge {
    hold: Option<MemoryCharge>,
    steps: usize,
}

/// Granularity of a [`Charge`] in bytes. Smaller buffers are not charged.
const STEP: usize = 16 * 1024;

impl Charge {
    /// Sets the charge to `bytes`. Fails if this exceeds the client's memory limit.
    pub(crate) fn try_set(&mut self, context: &AdapterContext, bytes: usize) -> Result<(), Status> {
        let steps = bytes / STEP;
        if steps != self.steps && !self.hold(context).try_resize(steps * STEP) {
            return Err(rejected(context));
        }
        self.steps = steps;
        Ok(())
    }

    /// Sets the charge to `bytes` without checking the limit. Returns whether the charge has grown.
    #[inline]
    pub(crate) fn set(&mut self, context: &AdapterContext, bytes: usize) -> bool {
        let (steps, before) = (bytes / STEP, self.steps);
        if steps != before {
            self.set_steps(context, steps);
        }
        steps > before
    }

    /// Sets the charge to a number of steps. Not inlined, because the number rarely changes.
    #[inline(never)]
    fn set_steps(&mut self, context: &AdapterContext, steps: usize) {
        self.hold(context).resize(steps * STEP);
        self.steps = steps;
    }

    fn hold(&mut self, context: &AdapterContext) -> &mut MemoryCharge {
        self.hold.get_or_insert_with(|| context.connection().charge(0))
    }
}

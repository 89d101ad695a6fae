//! Memory that is shared with another process, as a transport. The crate `frisbee-shm` defines the contents of that
//! memory and the wake-ups.

use super::MovableSocket;
use crate::shm::Stream;
use std::any::Any;
use std::io;

/// Moves such a transport, or the one beneath TLS, to the current runtime; `None` if it is another.
pub(super) fn move_to_current_runtime(io: &mut dyn Any) -> Option<io::Result<()>> {
    if let Some(stream) = io.downcast_mut::<Stream>() {
        return Some(stream.move_to_current_runtime());
    }
    #[cfg(feature = "tls")]
    if let Some(secured) = io.downcast_mut::<crate::tls::TlsStream<Stream>>() {
        return Some(secured.get_mut().0.move_to_current_runtime());
    }
    None
}

impl MovableSocket for Stream {
    type Moving = Self;

    /// It leaves where it arrives: its descriptors are remade there, and those of the old runtime released.
    fn leave(self) -> io::Result<Self> {
        Ok(self)
    }

    fn arrive(mut moving: Self) -> io::Result<Self> {
        moving.move_to_current_runtime().map(|()| moving)
    }

    fn renew(stream: &mut Self) -> io::Result<()> {
        stream.move_to_current_runtime()
    }
}

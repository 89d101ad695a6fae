//! Checksums of the messages among replicas: TCP's has 16 bits, and lets some changed bytes pass.

use examples::replicated::{Ballot, Batch, Stored, Vote};
use frpc::polyglot::Fields;
use frpc::prost::Message;

/// A message among replicas, with the checksum that TCP does not have.
pub(crate) trait Sealed: Message + Fields + Clone + Default {
    /// Where it stands.
    fn checksum(&mut self) -> &mut u32;

    fn sum(&self) -> u32 {
        let mut bare = self.clone();
        *bare.checksum() = 0;
        let bytes = bare.encode_to_vec();
        // A method may have changed on the way as well, so the name belongs to it.
        Self::NAME.bytes().chain(bytes).fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    fn is_intact(&self) -> bool {
        let mut told = self.clone();
        *told.checksum() == self.sum()
    }
}

/// Adds the checksum.
pub(crate) fn sealed<M: Sealed>(mut message: M) -> M {
    *message.checksum() = message.sum();
    message
}

macro_rules! sealed {
    ($($message:ty),*) => {
        $(impl Sealed for $message {
            fn checksum(&mut self) -> &mut u32 {
                &mut self.checksum
            }
        })*
    };
}

sealed!(Ballot, Vote, Batch, Stored);

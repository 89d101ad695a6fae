//! Types that can be sent as a body.

use crate::PacketWriter;
use bytes::{Bytes, BytesMut};

/// A body for [`Outbox::push`](crate::Outbox::push).
///
/// Bodies below 16 KiB are copied into the outbox, so that many packets leave in a single write. Larger bodies are
/// moved if owned, and shared if passed as `&Bytes`. Borrowed slices and strings are always copied.
///
/// ```
/// use bytes::Bytes;
/// use frisbee_core::{HeaderForm, Operation, Outbox, PacketId};
///
/// let mut outbox = Outbox::new(HeaderForm::Current);
/// let echo = Operation::FIRST_USER;
/// let large = Bytes::from(vec![7; 100_000]);
/// outbox.push(PacketId(1), echo, "text")?;
/// outbox.push(PacketId(2), echo, b"bytes")?;
/// outbox.push(PacketId(3), echo, vec![1, 2, 3])?;
/// outbox.push(PacketId(4), echo, &large)?; // Shared, since it is large.
/// # Ok::<(), frisbee_core::TooLong>(())
/// ```
pub trait Body {
    /// Appends this body to a packet.
    fn put_into(self, packet: &mut PacketWriter<'_>);
}

impl Body for &Bytes {
    #[inline(always)]
    fn put_into(self, packet: &mut PacketWriter<'_>) {
        packet.put_shared(self);
    }
}

macro_rules! borrowed {
    ($($type:ty),*) => {
        $(impl Body for $type {
            #[inline]
            fn put_into(self, packet: &mut PacketWriter<'_>) {
                packet.put_slice(self.as_ref());
            }
        })*
    };
}

borrowed!(&[u8], &str, &Vec<u8>, &String);

impl<const LENGTH: usize> Body for &[u8; LENGTH] {
    #[inline]
    fn put_into(self, packet: &mut PacketWriter<'_>) {
        packet.put_slice(self);
    }
}

impl<const LENGTH: usize> Body for [u8; LENGTH] {
    #[inline]
    fn put_into(self, packet: &mut PacketWriter<'_>) {
        packet.put_slice(&self);
    }
}

macro_rules! owned {
    ($($type:ty),*) => {
        $(impl Body for $type {
            #[inline]
            fn put_into(self, packet: &mut PacketWriter<'_>) {
                packet.put_owned(self);
            }
        })*
    };
}

owned!(Bytes, BytesMut, Vec<u8>, String, Box<[u8]>);

#[cfg(test)]
mod tests {
    use crate::{HeaderForm, Operation, Outbox, PacketId};
    use bytes::{Bytes, BytesMut};
    use std::io::IoSlice;

    const LARGE: usize = 100_000;

    /// Returns whether `address` lies within the memory of an outbox's pending bytes.
    fn contains_address(outbox: &Outbox, address: *const u8) -> bool {
        let mut slices = [IoSlice::new(&[]); 8];
        let filled = outbox.slices(&mut slices, usize::MAX);
        slices.iter().take(filled).any(|slice| slice.as_ptr() == address)
    }

    #[test]
    fn large_owned_bodies_are_not_copied() {
        let push = |body: &dyn Fn(&mut Outbox) -> *const u8| {
            let mut outbox = Outbox::new(HeaderForm::Current);
            let address = body(&mut outbox);
            assert_eq!(outbox.len(), 10 + LARGE);
            contains_address(&outbox, address)
        };
        macro_rules! is_moved {
            ($body:expr) => {
                push(&|outbox| {
                    let body = $body;
                    let address = body.as_ptr();
                    outbox
                        .push(PacketId(1), Operation::FIRST_USER, body)
                        .expect("body should be within the maximum size of the outbox");
                    address
                })
            };
        }
        assert!(is_moved!(vec![1_u8; LARGE]));
        assert!(is_moved!(vec![1_u8; LARGE].into_boxed_slice()));
        assert!(is_moved!("a".repeat(LARGE)));
        assert!(is_moved!(Bytes::from(vec![1; LARGE])));
        assert!(is_moved!(BytesMut::from(&vec![1_u8; LARGE][..])));
        let (shared, borrowed) = (Bytes::from(vec![1; LARGE]), vec![1_u8; LARGE]);
        assert!(is_moved!(&shared));
        assert!(!is_moved!(&borrowed[..]), "shared bytes should not be moved");
    }

    #[test]
    fn all_body_types_encode_alike() {
        macro_rules! sent {
            ($body:expr) => {{
                let mut outbox = Outbox::new(HeaderForm::Current);
                outbox
                    .push(PacketId(1), Operation::FIRST_USER, $body)
                    .expect("body should be within the maximum size of the outbox");
                outbox.take_bytes()
            }};
        }
        let wire = sent!(&Bytes::from_static(b"body"));
        assert_eq!(wire.len(), 14);
        for other in [sent!("body"), sent!(b"body"), sent!(*b"body"), sent!(&b"body"[..]), sent!(String::from("body"))]
        {
            assert_eq!(other, wire);
        }
        for other in [sent!(b"body".to_vec()), sent!(Bytes::from_static(b"body")), sent!(BytesMut::from("body"))] {
            assert_eq!(other, wire);
        }
    }
}

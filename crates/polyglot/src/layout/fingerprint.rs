//! [`Fingerprint`]: a hash of a layout description, by which peers compare layouts.

use std::fmt;

/// Identifies a layout: the first 16 bytes of the SHA-256 hash of its encoded [`Description`](super::Description).
/// Displayed as 32 hexadecimal digits.
///
/// The hash must be cryptographic, because all connections of a process share a cache of plans. A peer that could forge
/// a collision could corrupt the calls of other peers.
///
/// ```
/// use polyglot::layout::Fingerprint;
///
/// // The first half of the digest of "abc" in FIPS 180-4.
/// assert_eq!(Fingerprint::of(b"abc").to_string(), "ba7816bf8f01cfea414140de5dae2223");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// Creates a fingerprint from its 16 bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Computes the fingerprint of an encoded layout description.
    #[must_use]
    pub fn of(description: &[u8]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ..] = hmac_sha256::Hash::hash(description);
        Self([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p])
    }

    /// Returns the 16 bytes of the fingerprint.
    #[must_use]
    pub const fn bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

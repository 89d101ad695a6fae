//! The fingerprint of a service's wire layout, which peers compare.

use std::fmt;
use std::str::FromStr;

/// A hash of the wire layout of a service: of its operations, and of the layouts of all messages and enums in its
/// requests and replies.
///
/// ```
/// let fingerprint: frpc_build::Fingerprint = "00000000000000ff".parse()?;
/// assert_eq!(fingerprint.get(), 255);
/// assert_eq!(fingerprint.to_string(), "00000000000000ff");
/// # Ok::<(), frpc_build::ParseFingerprintError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The 64-bit FNV-1a hash of a description.
    pub(super) fn of(description: &str) -> Self {
        Self(description.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = ParseFingerprintError;

    fn from_str(text: &str) -> Result<Self, ParseFingerprintError> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 16 || !text.bytes().all(is_hex) {
            return Err(ParseFingerprintError(()));
        }
        u64::from_str_radix(text, 16).map(Self).map_err(|_| ParseFingerprintError(()))
    }
}

/// The error for a text that is not a [`Fingerprint`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseFingerprintError(());

impl fmt::Display for ParseFingerprintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fingerprint is 16 hexadecimal digits, in lower case")
    }
}

impl std::error::Error for ParseFingerprintError {}

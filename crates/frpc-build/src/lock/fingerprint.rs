//! A number for the wire layout of a service, by which peers find out whether they understand each other.

use std::fmt;
use std::str::FromStr;

/// Stands for the wire layout of a service: its operations, and the layouts of the messages and enums that its methods
/// reach. Equal layouts have equal fingerprints, whatever names the schema uses; with
/// [`Codec::Protobuf`](crate::Codec::Protobuf), if their requests and replies are called the same.
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
    /// The number itself.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The FNV-1a hash of a description, with 64 bits.
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

/// The text is not a [`Fingerprint`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseFingerprintError(());

impl fmt::Display for ParseFingerprintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fingerprint is 16 hexadecimal digits, in lower case")
    }
}

impl std::error::Error for ParseFingerprintError {}

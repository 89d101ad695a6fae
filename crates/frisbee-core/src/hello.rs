//! HELLO packets. Peers that support the protocol extension send one to announce this, with their limits and services.

use crate::tlv::{self, Items};
use crate::{BODY_MAX, BODY_MAX_LEAST, Config, PROTOCOL_VERSION};
use bytes::Bytes;
use std::fmt;

/// Maximum size of a HELLO in bytes. This suffices for a few hundred services with a long schema history, or almost a
/// thousand without one.
pub(crate) const HELLO_MAX: u32 = 64 * 1024;

/// Limits and services that a peer with the protocol extension announces in its first packet.
///
/// Encoded as a signature of four bytes, a version byte, and items of type, length and value. Types starting at
/// [`Hello::FIRST_USER_ITEM`] belong to higher layers. Receivers skip unknown types below [`Hello::MUST_UNDERSTAND`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Hello {
    /// Version of the protocol extension, above 0. Later versions keep the items of earlier ones.
    pub version: u8,
    /// Maximum body size that the sender accepts, in bytes.
    pub body_max: u32,
    /// Maximum number of concurrent streams that the receiver of the HELLO may open.
    pub streams_max: u32,
    /// Maximum number of in-flight calls that the sender accepts from the receiver of the HELLO.
    pub calls_max: u32,
    /// Initial flow-control credit of each stream: the number of bytes that may be sent before more credit is granted.
    pub stream_credit: u32,
    /// Whether the sender accepts CANCEL packets for hand-off requests.
    pub hand_off_cancel: bool,
    /// Whether the sender supports [`Operation::BATCH`](crate::Operation::BATCH).
    pub batches: bool,
    /// Number of channels that the sender accepts [fragments](crate::extension::FRAGMENT) on.
    pub fragment_channels: u8,
    items: HelloItems,
}

/// Application-defined items of a HELLO. Their types start at [`Hello::FIRST_USER_ITEM`].
///
/// The items are stored in encoded form, because a peer may send many short items. A list of them would take several
/// times as much memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HelloItems(Box<[u8]>);

impl HelloItems {
    /// Returns an iterator over the items as pairs of type and value.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &[u8])> {
        Items::new(&self.0).flatten()
    }
}

impl FromIterator<(u8, Bytes)> for HelloItems {
    fn from_iter<I: IntoIterator<Item = (u8, Bytes)>>(items: I) -> Self {
        let mut encoded = Vec::new();
        items.into_iter().for_each(|(kind, value)| tlv::put_item(&mut encoded, kind, &value));
        Self(encoded.into_boxed_slice())
    }
}

/// First bytes of a HELLO. They distinguish a HELLO from other packets of peers without the protocol extension.
const SIGNATURE: [u8; 4] = *b"fris";

/// Maximum length of a HELLO without application-defined items: signature, version, five numbers of up to five bytes,
/// and two items without a value.
const NUMBERS_MAX: usize = 5 + 5 * (2 + 5) + 2 * 2;

/// Number of channels that this end announces. Up to this many packets can be received in fragments at the same time.
/// Each may hold a body of the maximum size in memory.
pub(crate) const CHANNELS_MAX: u8 = 8;

const BODY_MAX_ITEM: u8 = 1;
const STREAMS: u8 = 2;
const CALLS: u8 = 3;
const CREDIT: u8 = 4;
/// Type of the HELLO item that announces [`Hello::hand_off_cancel`]. The item has no value.
const HAND_OFF_CANCEL: u8 = 5;
/// Type of the HELLO item that announces [`Hello::batches`]. The item has no value.
const BATCHES: u8 = 6;
/// Type of the HELLO item that announces [`Hello::fragment_channels`].
const CHANNELS: u8 = 8;

impl Hello {
    /// Lowest item type that applications may use.
    pub const FIRST_USER_ITEM: u8 = 32;

    /// First mandatory item type. Type 128 + n is the mandatory variant of type n. No mandatory item is defined yet.
    pub const MUST_UNDERSTAND: u8 = 128;

    /// Maximum encoded size of the application-defined items in bytes. A HELLO has at most 64 KiB, and 256 bytes of it
    /// are reserved for the protocol's own items.
    pub const ITEMS_MAX: usize = HELLO_MAX as usize - 256;

    /// Returns the encoded size of the application-defined items in bytes.
    pub fn items_len(&self) -> usize {
        self.items.0.len()
    }

    /// Creates the HELLO of an endpoint with this configuration.
    pub(crate) fn new(config: &Config, items: &HelloItems) -> Self {
        Self {
            version: PROTOCOL_VERSION,
            body_max: config.body_limit(),
            streams_max: u32::try_from(config.streams_max).unwrap_or(u32::MAX),
            calls_max: config.calls_max,
            stream_credit: config.stream_credit.max(1), // With zero credit no message could be sent.
            hand_off_cancel: true,
            batches: true,
            fragment_channels: CHANNELS_MAX,
            items: items.clone(),
        }
    }

    /// Returns an iterator over the application-defined items as pairs of type and value.
    pub fn items(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.items.iter()
    }

    /// Encodes the HELLO as the body of an extension packet.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(NUMBERS_MAX.saturating_add(self.items.0.len()));
        bytes.extend_from_slice(&SIGNATURE);
        bytes.push(self.version);
        for (kind, number) in [
            (BODY_MAX_ITEM, self.body_max),
            (STREAMS, self.streams_max),
            (CALLS, self.calls_max),
            (CREDIT, self.stream_credit),
        ] {
            put_number(&mut bytes, kind, number);
        }
        if self.hand_off_cancel {
            tlv::put_item(&mut bytes, HAND_OFF_CANCEL, &[]);
        }
        if self.batches {
            tlv::put_item(&mut bytes, BATCHES, &[]);
        }
        if self.fragment_channels > 0 {
            put_number(&mut bytes, CHANNELS, self.fragment_channels.into());
        }
        bytes.extend_from_slice(&self.items.0);
        bytes
    }

    /// Returns whether a packet body starts with the HELLO signature. The remaining bytes are not validated.
    pub fn is_signed(body: &[u8]) -> bool {
        body.starts_with(&SIGNATURE)
    }

    /// Decodes the body of a HELLO packet. Numbers that exceed 32 bits saturate.
    ///
    /// # Errors
    /// If the body or one of its items is malformed, or an unknown item is mandatory.
    pub fn decode(body: &Bytes) -> Result<Self, HelloError> {
        if body.len() > HELLO_MAX as usize {
            return Err(HelloError::TooLong { length: body.len() });
        }
        let rest = body.strip_prefix(&SIGNATURE).ok_or(HelloError::NoSignature)?;
        let (&version, rest) = rest.split_first().filter(|(version, _)| **version > 0).ok_or(HelloError::NoVersion)?;
        // Defaults for absent items, equal to the limits of a peer without the protocol extension.
        let mut hello = Self {
            version,
            body_max: BODY_MAX,
            streams_max: u32::MAX,
            calls_max: u32::MAX,
            stream_credit: 0,
            hand_off_cancel: false,
            batches: false,
            fragment_channels: 0,
            items: HelloItems::default(),
        };
        let mut items = Vec::with_capacity(rest.len());
        let mut seen = [false; Self::FIRST_USER_ITEM as usize];
        for item in Items::new(rest) {
            let (kind, value) = item.ok_or(HelloError::Truncated)?;
            let number = || match tlv::whole_varint(value) {
                Some(number) => Ok(u32::try_from(number).unwrap_or(u32::MAX)),
                None => Err(HelloError::Malformed { item: kind }),
            };
            match kind {
                BODY_MAX_ITEM => hello.body_max = number()?.max(BODY_MAX_LEAST),
                STREAMS => hello.streams_max = number()?,
                CALLS => hello.calls_max = number()?,
                CREDIT => hello.stream_credit = number()?,
                HAND_OFF_CANCEL => hello.hand_off_cancel = true,
                BATCHES => hello.batches = true,
                CHANNELS => hello.fragment_channels = u8::try_from(number()?).unwrap_or(u8::MAX),
                Self::MUST_UNDERSTAND.. => return Err(HelloError::Unknown { item: kind }),
                Self::FIRST_USER_ITEM.. => tlv::put_item(&mut items, kind, value),
                // Ignore unknown optional items, even if they occur twice.
                _ => continue,
            }
            if let Some(seen) = seen.get_mut(usize::from(kind))
                && std::mem::replace(seen, true)
            {
                return Err(HelloError::Repeated { item: kind });
            }
        }
        hello.items = HelloItems(items.into_boxed_slice());
        Ok(hello)
    }
}

/// Appends an item with a varint as its value.
fn put_number(bytes: &mut Vec<u8>, kind: u8, number: u32) {
    let varint_len = number.max(1).ilog2().wrapping_div(7).saturating_add(1);
    bytes.extend_from_slice(&[kind, varint_len as u8]); // At most five bytes.
    tlv::put_varint(bytes, number.into());
}

/// Reason why a HELLO is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HelloError {
    /// The HELLO does not start with the signature.
    NoSignature,
    /// The HELLO ends before its version, or the version is 0.
    NoVersion,
    /// The HELLO exceeds 64 KiB.
    TooLong {
        /// Length in bytes.
        length: usize,
    },
    /// The last item of the HELLO is incomplete.
    Truncated,
    /// The value of an item is malformed: a number is empty, exceeds 64 bits, or has trailing bytes.
    Malformed {
        /// Type of the malformed HELLO item.
        item: u8,
    },
    /// A HELLO item occurs twice.
    Repeated {
        /// Type of the repeated HELLO item.
        item: u8,
    },
    /// The receiver does not know a mandatory HELLO item.
    Unknown {
        /// Type of the unknown HELLO item.
        item: u8,
    },
}

impl fmt::Display for HelloError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSignature => f.write_str("its signature is missing"),
            Self::NoVersion => f.write_str("its version is missing or 0"),
            Self::TooLong { length } => write!(f, "its {length} bytes exceed the limit of {HELLO_MAX}"),
            Self::Truncated => f.write_str("it ends within an item"),
            Self::Malformed { item } => write!(f, "item {item} is malformed"),
            Self::Repeated { item } => write!(f, "item {item} occurs twice"),
            Self::Unknown { item } => write!(f, "item {item} must be understood and is unknown here: update this end"),
        }
    }
}

impl std::error::Error for HelloError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hello_encodes_to_specified_bytes() {
        let mut hello = Hello::new(&Config::default(), &HelloItems::default());
        hello.items = HelloItems::from_iter([(40, Bytes::from_static(b"above"))]);
        let bytes = hello.encode();
        #[rustfmt::skip]
        let expected = [
            b'f', b'r', b'i', b's', 1,
            1, 4, 0x80, 0x80, 0xC0, 0x02, // bodies of 5 MiB
            2, 2, 0x80, 0x02,             // 256 streams
            3, 3, 0x80, 0x80, 0x01,       // 16 384 calls
            4, 3, 0x80, 0x80, 0x10,       // 256 KiB of credit
            5, 0,                         // hand-offs can be cancelled
            6, 0,                         // batches are understood
            8, 1, 8,                      // fragments on 8 channels
            40, 5, b'a', b'b', b'o', b'v', b'e',
        ];
        assert_eq!(bytes, expected);
        assert_eq!(hello.items().collect::<Vec<_>>(), [(40, &b"above"[..])]);
        assert_eq!(hello.items_len(), 7);
        assert_eq!(Hello::decode(&bytes.into()), Ok(hello));
    }

    /// Decodes a HELLO of version 1 with the given items.
    fn with_items(items: &[u8]) -> Result<Hello, HelloError> {
        Hello::decode(&[&b"fris\x01"[..], items].concat().into())
    }

    #[test]
    fn unknown_items_and_later_versions_are_tolerated() {
        let hello = Hello::decode(&Bytes::from_static(b"fris\x09\x1E\x02\xFF\xFF\x02\x01\x07\x1E\x00")).unwrap();
        assert_eq!((hello.version, hello.streams_max), (9, 7));
        assert!(with_items(&[127, 0]).is_ok());
    }

    /// Regression test: the peer was treated as one without the protocol extension, so its deadlines and metadata were
    /// lost.
    #[test]
    fn number_above_32_bits_saturates() {
        for number in [1 << 32, 1 << 40, u64::MAX] {
            let mut items = Vec::new();
            for item in [BODY_MAX_ITEM, STREAMS, CALLS, CREDIT] {
                let mut value = Vec::new();
                tlv::put_varint(&mut value, number);
                tlv::put_item(&mut items, item, &value);
            }
            let hello = with_items(&items).expect("HELLO with numbers above 32 bits should be accepted");
            let numbers = [hello.body_max, hello.streams_max, hello.calls_max, hello.stream_credit];
            assert_eq!(numbers, [u32::MAX; 4]);
        }
    }

    #[test]
    fn malformed_item_is_named() {
        for item in [BODY_MAX_ITEM, STREAMS, CALLS, CREDIT, CHANNELS] {
            let overflow = [item, 10, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2];
            for items in [&[item, 0][..], &[item, 2, 7, 7], &[item, 1, 0x80], &overflow] {
                assert_eq!(with_items(items), Err(HelloError::Malformed { item }), "{items:?}");
            }
            let padded = [item, 2, 0x87, 0];
            assert!(with_items(&padded).is_ok());
            assert_eq!(with_items(&padded.repeat(2)), Err(HelloError::Repeated { item }));
        }
        for item in [HAND_OFF_CANCEL, BATCHES] {
            assert_eq!(with_items(&[item, 0, item, 0]), Err(HelloError::Repeated { item }));
        }
        for item in [128, 191, 255] {
            assert_eq!(with_items(&[item, 0]), Err(HelloError::Unknown { item }));
        }
    }

    #[test]
    fn hello_size_and_body_limit_are_bounded() {
        // Nine bytes, followed by an item of an unknown type with a value of `length` bytes.
        let decoded = |length: usize| {
            let mut body = b"fris\x01".to_vec();
            tlv::put_item(&mut body, 30, &vec![0; length - 9]);
            assert_eq!(body.len(), length);
            Hello::decode(&body.into())
        };
        assert!(decoded(HELLO_MAX as usize).is_ok());
        assert_eq!(decoded(HELLO_MAX as usize + 1), Err(HelloError::TooLong { length: HELLO_MAX as usize + 1 }));
        let body_max = |item: &[u8]| with_items(item).map(|hello| hello.body_max);
        assert_eq!(body_max(b""), Ok(BODY_MAX));
        assert_eq!(body_max(&[BODY_MAX_ITEM, 2, 0x80, 0x10]), Ok(2048));
        assert_eq!(body_max(&[BODY_MAX_ITEM, 1, 5]), Ok(BODY_MAX_LEAST));
    }

    #[test]
    fn truncated_or_unversioned_hello_is_rejected() {
        let whole = Hello::new(&Config::default(), &HelloItems::default()).encode();
        let items = [5, 11, 15, 20, 25, 27, 29, 32];
        for cut in (0..whole.len()).filter(|cut| !items.contains(cut)) {
            let expected = match cut {
                ..4 => HelloError::NoSignature,
                4 => HelloError::NoVersion,
                _ => HelloError::Truncated,
            };
            assert_eq!(Hello::decode(&whole[..cut].to_vec().into()), Err(expected), "cut at {cut}");
        }
        assert_eq!(Hello::decode(&Bytes::from_static(b"fris\0")), Err(HelloError::NoVersion));
    }
}

//! HELLO: how two native peers recognise each other, and the limits and services that each announces.

use crate::tlv::{self, Items};
use crate::{BODY_MAX, BODY_MAX_LEAST, Config, PROTOCOL_VERSION};
use bytes::Bytes;

/// The longest HELLO that is read, in bytes. It carries a list of services: some hundred with a long history, or close
/// to a thousand without.
pub(crate) const HELLO_MAX: u32 = 64 * 1024;

/// The announcement of an end to its peer, in the first packet that the peer is known to understand.
///
/// On the wire: four bytes that begin no other packet, the version in one byte, then items of a type, a length
/// and a value. Types from [`Hello::FIRST_USER_ITEM`] on belong to the layers above; unknown types are skipped. A
/// packet whose body does not have this form is no HELLO, and skipped as any of a reserved operation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Hello {
    /// The version of the extension. Later versions keep the items of earlier ones.
    pub version: u8,
    /// The longest body that the sender accepts, in bytes.
    pub body_max: u32,
    /// The streams that the receiver may have open at one time.
    pub streams_max: u32,
    /// The calls that the receiver may have in flight at one time.
    pub calls_max: u32,
    /// The number of bytes that the receiver may send on a stream before it is granted credit.
    pub stream_credit: u32,
    /// Whether the sender accepts a CANCEL of a request for a hand-off.
    pub hand_off_cancel: bool,
    /// Whether the sender understands [`Operation::BATCH`](crate::Operation::BATCH).
    pub batches: bool,
    items: HelloItems,
}

/// Items that the layers above add to HELLO: types from [`Hello::FIRST_USER_ITEM`] on, and values. Clones share them.
///
/// They are kept encoded. In a list they would take many times as much memory, and a peer may send
/// any number of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HelloItems(Bytes);

impl HelloItems {
    /// The items: type and value.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &[u8])> {
        Items::new(&self.0).flatten()
    }
}

impl FromIterator<(u8, Bytes)> for HelloItems {
    fn from_iter<I: IntoIterator<Item = (u8, Bytes)>>(items: I) -> Self {
        let mut encoded = Vec::new();
        items.into_iter().for_each(|(kind, value)| tlv::put_item(&mut encoded, kind, &value));
        Self(encoded.into_boxed_slice().into())
    }
}

/// The first bytes of a HELLO, so that no packet is taken for one by chance.
const SIGNATURE: [u8; 4] = *b"fris";

/// The length of a HELLO without further items, at most: the signature and the version, four numbers of up to five
/// bytes, and two items without a value.
const NUMBERS_MAX: usize = 5 + 4 * (2 + 5) + 2 * 2;

const BODY_MAX_ITEM: u8 = 1;
const STREAMS: u8 = 2;
const CALLS: u8 = 3;
const CREDIT: u8 = 4;
/// Without a value.
const HAND_OFF_CANCEL: u8 = 5;
/// Without a value.
const BATCHES: u8 = 6;

impl Hello {
    /// The first type of item that has no meaning here.
    pub const FIRST_USER_ITEM: u8 = 32;

    /// How many bytes the items of the layers above may have, types and lengths included: a HELLO has at most 64 KiB,
    /// and 256 bytes are kept for the other items.
    pub const ITEMS_MAX: usize = HELLO_MAX as usize - 256;

    /// How many bytes the items of the layers above have, types and lengths included.
    pub fn items_len(&self) -> usize {
        self.items.0.len()
    }

    /// The HELLO of an end with this configuration.
    pub(crate) fn new(config: &Config, items: &HelloItems) -> Self {
        Self {
            version: PROTOCOL_VERSION,
            body_max: config.body_limit(),
            streams_max: u32::try_from(config.streams_max).unwrap_or(u32::MAX),
            calls_max: config.calls_max,
            stream_credit: config.stream_credit.max(1), // Without any, no message could be sent.
            hand_off_cancel: true,
            batches: true,
            items: items.clone(),
        }
    }

    /// Items of the layers above: type and value.
    pub fn items(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.items.iter()
    }

    /// The body of the packet.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(NUMBERS_MAX.saturating_add(self.items.0.len()));
        bytes.extend_from_slice(&SIGNATURE);
        bytes.push(self.version);
        let mut value = Vec::with_capacity(5);
        for (kind, number) in [
            (BODY_MAX_ITEM, self.body_max),
            (STREAMS, self.streams_max),
            (CALLS, self.calls_max),
            (CREDIT, self.stream_credit),
        ] {
            value.clear();
            tlv::put_varint(&mut value, number.into());
            tlv::put_item(&mut bytes, kind, &value);
        }
        if self.hand_off_cancel {
            tlv::put_item(&mut bytes, HAND_OFF_CANCEL, &[]);
        }
        if self.batches {
            tlv::put_item(&mut bytes, BATCHES, &[]);
        }
        bytes.extend_from_slice(&self.items.0);
        bytes
    }

    /// Reads the body of a packet; `None` if it is no HELLO.
    pub fn decode(body: &Bytes) -> Option<Self> {
        if body.len() > HELLO_MAX as usize {
            return None;
        }
        let (&version, rest) = body.strip_prefix(&SIGNATURE)?.split_first()?;
        // Without an item, its limit is that of a peer without the extension.
        let mut hello = Self {
            version,
            body_max: BODY_MAX,
            streams_max: u32::MAX,
            calls_max: u32::MAX,
            stream_credit: 0,
            hand_off_cancel: false,
            batches: false,
            items: HelloItems::default(),
        };
        let mut items = Vec::new();
        for item in Items::new(rest) {
            let (kind, value) = item?;
            let number = || tlv::whole_varint(value).and_then(|number| u32::try_from(number).ok());
            match kind {
                BODY_MAX_ITEM => hello.body_max = number()?.max(BODY_MAX_LEAST),
                STREAMS => hello.streams_max = number()?,
                CALLS => hello.calls_max = number()?,
                CREDIT => hello.stream_credit = number()?,
                HAND_OFF_CANCEL => hello.hand_off_cancel = true,
                BATCHES => hello.batches = true,
                Self::FIRST_USER_ITEM.. => tlv::put_item(&mut items, kind, value),
                _ => {}
            }
        }
        hello.items = HelloItems(items.into_boxed_slice().into());
        (version > 0).then_some(hello)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hello_is_decoded_to_its_values_and_has_the_specified_bytes() {
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
            40, 5, b'a', b'b', b'o', b'v', b'e',
        ];
        assert_eq!(bytes, expected);
        assert_eq!(hello.items().collect::<Vec<_>>(), [(40, &b"above"[..])]);
        assert_eq!(hello.items_len(), 7);
        assert_eq!(Hello::decode(&bytes.into()), Some(hello));
    }

    #[test]
    fn unknown_items_and_later_versions_are_tolerated() {
        let hello = Hello::decode(&Bytes::from_static(b"fris\x09\x1E\x02\xFF\xFF\x02\x01\x07")).unwrap();
        assert_eq!((hello.version, hello.streams_max), (9, 7));
    }

    #[test]
    fn hello_has_a_size_limit_and_a_least_body_limit() {
        // With an item of an unknown type, of so many bytes: nine precede its value.
        let decoded = |length: usize| {
            let mut body = b"fris\x01".to_vec();
            tlv::put_item(&mut body, 30, &vec![0; length - 9]);
            assert_eq!(body.len(), length);
            Hello::decode(&body.into())
        };
        assert!(decoded(HELLO_MAX as usize).is_some() && decoded(HELLO_MAX as usize + 1).is_none());
        let body_max = |item: &'static [u8]| {
            let hello = Hello::decode(&[b"fris\x01", item].concat().into());
            hello.map(|hello| hello.body_max)
        };
        assert_eq!(body_max(b""), Some(BODY_MAX));
        assert_eq!(body_max(&[BODY_MAX_ITEM, 2, 0x80, 0x10]), Some(2048));
        assert_eq!(body_max(&[BODY_MAX_ITEM, 1, 5]), Some(BODY_MAX_LEAST));
    }

    #[test]
    fn a_hello_that_is_truncated_or_lacks_its_version_is_refused() {
        let whole = Hello::new(&Config::default(), &HelloItems::default()).encode();
        let items = [5, 11, 15, 20, 25, 27, 29];
        for cut in (0..whole.len()).filter(|cut| !items.contains(cut)) {
            assert_eq!(Hello::decode(&whole[..cut].to_vec().into()), None, "cut at {cut}");
        }
        assert_eq!(Hello::decode(&Bytes::from_static(b"fris\0")), None);
        assert_eq!(Hello::decode(&[SIGNATURE.to_vec(), vec![1; HELLO_MAX as usize]].concat().into()), None);
    }
}

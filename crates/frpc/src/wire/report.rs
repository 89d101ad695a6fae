//! Load reports, which are sent with replies to clients that balance calls over several servers.

use crate::wire::prefix;
use frisbee::Hello;
use frisbee::tlv::{put_varint, take_varint};

/// Type of the HELLO item that requests load reports. It has no value.
pub(crate) const REPORT_REQUEST_ITEM: u8 = Hello::FIRST_USER_ITEM + 2;

/// Load report that a server sends with its replies, so that clients can choose among servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// Number of calls in progress at the server.
    pub in_progress: u32,
    /// Expected duration of another call at the server in microseconds.
    pub micros: u32,
}

impl Report {
    /// Encodes the report as the value of a prefix item.
    pub(super) fn put(self, buffer: &mut Vec<u8>) {
        put_varint(buffer, self.in_progress.into());
        put_varint(buffer, self.micros.into());
    }

    /// Decodes the value of a prefix item. Ignores additional fields, which later versions may append. Numbers that are
    /// too large saturate.
    pub(super) fn from_item(mut item: &[u8]) -> Option<Self> {
        let mut number = || take_varint(&mut item).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        Some(Self { in_progress: number()?, micros: number()? })
    }

    /// Returns the load report in the prefix of a reply, if it has one.
    pub(crate) fn of_reply(body: &[u8]) -> Option<Self> {
        prefix::report(body).filter(|(_, has_message)| *has_message).map(|(report, _)| report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::prefix::{PrefixFields, put};
    use bytes::Bytes;

    #[test]
    fn report_has_specified_bytes_among_other_items() {
        let report = Report { in_progress: 3, micros: 1_500 };
        let mut bytes = Vec::new();
        put(&mut bytes, PrefixFields { report: Some(report), ..PrefixFields::default() });
        assert_eq!(bytes, [0x10, 5, 7, 3, 3, 0xDC, 0x0B]);
        bytes.extend_from_slice(&[8, 0]);
        assert_eq!(Report::of_reply(&bytes), Some(report));
        let mut body = Bytes::from(bytes.clone());
        assert!(prefix::take(&mut body).is_ok_and(|prefix| prefix.is_some()));
        assert_eq!(body, [8, 0][..], "report should be followed by the message");
        for cut in 0..7 {
            assert_eq!(Report::of_reply(&bytes[..cut]), None, "{cut}");
        }
        let vast = [0x10, 13, 7, 11, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 9, 8, 0];
        assert_eq!(Report::of_reply(&vast), Some(Report { in_progress: u32::MAX, micros: 9 }));
        for none in [&[0x10, 3, 7, 1, 1][..], &[0x10, 2, 7, 0], &[0x10, 3, 99, 1, 7], &[8, 0], &[]] {
            assert_eq!(Report::of_reply(none), None, "{none:?}");
        }
    }
}

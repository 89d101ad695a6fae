//! Detection of other protocols from the first bytes that a peer sends.

use std::fmt;

/// A known protocol that a peer uses instead of Frisbee.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OtherProtocol {
    /// The protocol of frisbee-go up to v0.10.2. Its headers do not start with [`MAGIC`](crate::MAGIC).
    OldHeaders,
    /// HTTP/1.
    Http1,
    /// HTTP/2, the transport of gRPC.
    Http2,
    /// SSH.
    Ssh,
    /// Redis.
    Redis,
    /// A line-based protocol, such as FTP or SMTP. The server speaks first and starts each line with a number.
    Lines,
}

/// First bytes of other protocols, as sent by their clients or servers.
const BEGINNINGS: [(&[u8], OtherProtocol); 12] = [
    (b"HTTP/", OtherProtocol::Http1),
    (b"GET ", OtherProtocol::Http1),
    (b"HEAD ", OtherProtocol::Http1),
    (b"POST ", OtherProtocol::Http1),
    (b"PUT ", OtherProtocol::Http1),
    (b"DELETE ", OtherProtocol::Http1),
    (b"OPTIONS ", OtherProtocol::Http1),
    (b"PRI * HTTP", OtherProtocol::Http2),
    (b"SSH-", OtherProtocol::Ssh),
    (b"-ERR", OtherProtocol::Redis),
    (b"-NOAUTH", OtherProtocol::Redis),
    (b"-DENIED", OtherProtocol::Redis),
];

impl OtherProtocol {
    /// Detects the protocol of a peer from its first two to ten bytes.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let begins = |beginning: &[u8]| beginning.iter().zip(bytes).all(|(expected, found)| expected == found);
        if let Some((_, found)) = BEGINNINGS.iter().find(|(beginning, _)| begins(beginning)) {
            return Some(*found);
        }
        match bytes {
            // A PING or PONG in an old header of eight bytes, with id 0 and no body.
            [0, 0, 0, 0 | 1, rest @ ..] if rest.iter().take(4).all(|byte| *byte == 0) => Some(Self::OldHeaders),
            // SETTINGS, the first frame of every HTTP/2 server: a length below 64 KiB, the frame type, flags, and
            // stream 0.
            [0, _, _, 4, rest @ ..] if rest.iter().take(5).all(|byte| *byte == 0) => Some(Self::Http2),
            // A RESP array, the format of Redis commands.
            [b'*', b'1'..=b'9', b'\r' | b'0'..=b'9', ..] => Some(Self::Redis),
            [a, b, c, b' ' | b'-', ..] if [a, b, c].into_iter().all(u8::is_ascii_digit) => Some(Self::Lines),
            _ => None,
        }
    }
}

impl fmt::Display for OtherProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OldHeaders => {
                "the peer speaks the older headers of frisbee-go up to v0.10.2: set `header_form(HeaderForm::Old)`"
            }
            Self::Http1 => "the peer speaks HTTP/1, not Frisbee: check the port",
            Self::Http2 => "the peer speaks HTTP/2, as gRPC does, not Frisbee: check the port",
            Self::Ssh => "the peer speaks SSH, not Frisbee: check the port",
            Self::Redis => "the peer speaks Redis, not Frisbee: check the port",
            Self::Lines => {
                "the peer speaks a line-based text protocol, as mail servers do, not Frisbee: check the port"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_recognised_by_their_first_bytes() {
        for (bytes, expected) in [
            (&b"HTTP/1.1 4"[..], OtherProtocol::Http1),
            (b"HT", OtherProtocol::Http1),
            (b"GET / HTTP", OtherProtocol::Http1),
            (b"PRI * HTTP", OtherProtocol::Http2),
            (&[0, 0, 6, 4, 0, 0, 0, 0, 0, 0], OtherProtocol::Http2),
            (&[0, 0, 0, 4, 0, 0, 0, 0, 0], OtherProtocol::Http2),
            (&[0, 0, 18, 4], OtherProtocol::Http2),
            (&[0, 0, 0, 0, 0, 0, 0, 0], OtherProtocol::OldHeaders),
            (&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0], OtherProtocol::OldHeaders),
            (b"SSH-2.0-Op", OtherProtocol::Ssh),
            (b"-ERR unkno", OtherProtocol::Redis),
            (b"*1\r\n$4\r\nPI", OtherProtocol::Redis),
            (b"*12\r\n$4\r\nP", OtherProtocol::Redis),
            (b"220 mail.t", OtherProtocol::Lines),
            (b"220-mail.t", OtherProtocol::Lines),
        ] {
            assert_eq!(OtherProtocol::of(bytes), Some(expected), "{bytes:?}");
        }
        for bytes in [
            &b"whatever it is"[..],
            &[0, 0, 0, 2],
            &[0, 0, 0, 0, 0, 0, 0, 1],
            b"22",
            b"2200 x",
            &[0, 0],
            b"one two",
            b"*0\r\n",
            b"*-1\r\n",
            b"* text",
            &[0, 0, 6, 4, 0, 0, 0, 0, 1],
        ] {
            assert_eq!(OtherProtocol::of(bytes), None, "{bytes:?}");
        }
    }
}

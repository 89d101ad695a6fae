//! Encoding of the messages between two generations. Descriptors are sent as ancillary data by `wire.rs`.
//!
//! A message is its kind in one byte, the length of its body in two (big-endian), and the body.
//!
//! | kind | from | body |
//! |---|---|---|
//! | 1 HELLO | successor | `frisbee-restart` and a zero, then the oldest and the newest version that it speaks |
//! | 2 SOCKETS | running process | the version that both use, then for each socket its flags in one byte and the length of its name in one, and the name; with one descriptor for each, after that of the control socket |
//! | 3 READY | successor | none |
//! | 4 GO | running process | none; it stops accepting |
//! | 5 REFUSED | running process | the reason in one byte; it serves on |
//!
//! Each message is sent once, in the order of the table. REFUSED replaces SOCKETS or GO.

use crate::error::Refusal;

/// Protocol version of the control socket, the only one so far.
pub(crate) const VERSION: u8 = 1;

/// Maximum number of sockets of a generation, excluding the control socket. The kernel passes at most 253 descriptors
/// at once.
pub(crate) const SOCKETS_MAX: usize = 64;

/// Maximum length of a socket name in bytes, the same as in systemd.
pub(crate) const NAME_MAX: usize = 255;

/// Maximum length of a message body in bytes: a [`SOCKETS`] message with the maximum number of names of the maximum
/// length.
const BODY_MAX: usize = 1 + SOCKETS_MAX * (2 + NAME_MAX);

pub(crate) const HEADER: usize = 3;

const MAGIC: &[u8; 16] = b"frisbee-restart\0";

const HELLO: u8 = 1;
const SOCKETS: u8 = 2;
const READY: u8 = 3;
const GO: u8 = 4;
const REFUSED: u8 = 5;

/// Flag of a Unix socket with a file that the last generation removes.
const OWNS_FILE: u8 = 1;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    Hello { oldest: u8, newest: u8 },
    Sockets { version: u8, sockets: Vec<PassedSocket> },
    Ready,
    Go,
    Refused(Refusal),
}

/// Description of a socket that is passed to a successor, without its descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PassedSocket {
    pub(crate) name: String,
    pub(crate) owns_file: bool,
}

/// Returns whether `name` is a valid socket name. The rules are the same as in systemd.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.len()) && !name.contains(|c: char| c == ':' || c.is_control())
}

impl Message {
    /// Encodes the message. Socket names must be [valid](is_name), and there must be at most [`SOCKETS_MAX`].
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let kind = match self {
            Self::Hello { oldest, newest } => {
                body.extend_from_slice(MAGIC);
                body.extend([*oldest, *newest]);
                HELLO
            }
            Self::Sockets { version, sockets } => {
                body.push(*version);
                for PassedSocket { name, owns_file } in sockets.iter().take(SOCKETS_MAX) {
                    let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
                    body.extend([if *owns_file { OWNS_FILE } else { 0 }, length]);
                    body.extend(name.bytes().take(NAME_MAX));
                }
                SOCKETS
            }
            Self::Ready => READY,
            Self::Go => GO,
            Self::Refused(refusal) => {
                body.push(match refusal {
                    Refusal::Busy => 1,
                    Refusal::Version => 2,
                    Refusal::TooLate => 3,
                });
                REFUSED
            }
        };
        let length = u16::try_from(body.len()).unwrap_or(u16::MAX);
        [&[kind][..], &length.to_be_bytes(), &body].concat()
    }

    /// Returns the length of the message at the start of `bytes`, including its header. Returns `None` if more bytes
    /// are needed.
    pub(crate) fn length(bytes: &[u8]) -> Result<Option<usize>, &'static str> {
        let [_, high, low, ..] = bytes else { return Ok(None) };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        if length > BODY_MAX { Err("a message is too long") } else { Ok(Some(HEADER + length)) }
    }

    /// Parses a complete message of the control socket.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        let (Some(kind), Some(body)) = (bytes.first(), bytes.get(HEADER..)) else { return Err("a message is cut off") };
        match (*kind, body) {
            (HELLO, [magic @ .., oldest, newest]) if magic == MAGIC && oldest <= newest => {
                Ok(Self::Hello { oldest: *oldest, newest: *newest })
            }
            (SOCKETS, [version, list @ ..]) => Ok(Self::Sockets { version: *version, sockets: sockets(list)? }),
            (READY, []) => Ok(Self::Ready),
            (GO, []) => Ok(Self::Go),
            (REFUSED, [1]) => Ok(Self::Refused(Refusal::Busy)),
            (REFUSED, [2]) => Ok(Self::Refused(Refusal::Version)),
            (REFUSED, [3]) => Ok(Self::Refused(Refusal::TooLate)),
            _ => Err("not a message of this protocol"),
        }
    }
}

fn sockets(mut list: &[u8]) -> Result<Vec<PassedSocket>, &'static str> {
    let mut sockets = Vec::new();
    while let [flags, length, rest @ ..] = list {
        let Some((name, rest)) = rest.split_at_checked(usize::from(*length)) else {
            return Err("the name of a socket is cut off");
        };
        let name = std::str::from_utf8(name).ok().filter(|name| is_name(name)).ok_or("not a name for a socket")?;
        if *flags & !OWNS_FILE != 0 {
            return Err("a socket has unknown flags");
        }
        if sockets.len() == SOCKETS_MAX {
            return Err("too many sockets");
        }
        sockets.push(PassedSocket { name: name.to_owned(), owns_file: *flags & OWNS_FILE != 0 });
        list = rest;
    }
    if list.is_empty() { Ok(sockets) } else { Err("the list of sockets is cut off") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn passed(name: &str, owns_file: bool) -> PassedSocket {
        PassedSocket { name: name.to_owned(), owns_file }
    }

    #[test]
    fn messages_round_trip() {
        let most = (0..SOCKETS_MAX).map(|_| passed(&"n".repeat(NAME_MAX), true)).collect();
        let messages = [
            Message::Hello { oldest: 1, newest: 7 },
            Message::Sockets { version: 1, sockets: Vec::new() },
            Message::Sockets { version: 1, sockets: vec![passed("rpc", false), passed("lokal-ü", true)] },
            Message::Sockets { version: 1, sockets: most },
            Message::Ready,
            Message::Go,
            Message::Refused(Refusal::Busy),
            Message::Refused(Refusal::Version),
            Message::Refused(Refusal::TooLate),
        ];
        for message in messages {
            let bytes = message.encode();
            assert_eq!(Message::length(&bytes), Ok(Some(bytes.len())));
            assert_eq!(Message::decode(&bytes), Ok(message));
        }
    }

    #[test]
    fn hello_bytes_match_version_one() {
        let bytes = Message::Hello { oldest: 1, newest: 1 }.encode();
        assert_eq!(bytes, b"\x01\x00\x12frisbee-restart\0\x01\x01");
    }

    #[test]
    fn oversized_message_is_rejected_by_header() {
        let [high, low] = u16::try_from(BODY_MAX + 1).expect("encoded length should fit into u16").to_be_bytes();
        assert!(Message::length(&[SOCKETS, high, low]).is_err());
        assert_eq!(Message::length(&[SOCKETS, high]), Ok(None));
    }

    proptest! {
        #[test]
        fn no_bytes_make_reading_message_panic(bytes: Vec<u8>) {
            let _ = Message::length(&bytes);
            if let Ok(message) = Message::decode(&bytes) {
                prop_assert_eq!(&message.encode()[HEADER..], &bytes[HEADER..]);
            }
        }

        #[test]
        fn socket_lists_are_read_unambiguously(list in prop::collection::vec(prop::sample::select(vec![0u8, 1, 2, 3, b'a', b':', 255]), 0..24)) {
            if let Ok(found) = sockets(&list) {
                let bytes = Message::Sockets { version: 1, sockets: found }.encode();
                prop_assert_eq!(&bytes[HEADER + 1..], &list[..]);
            }
        }
    }
}

//! What an end of a connection is, and the limits and times that it keeps, with their defaults.

use crate::{BODY_MAX, BODY_MAX_LEAST, HeaderForm};
use bytes::Bytes;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// Which end of a connection this is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The end that dialled. It may send at once.
    Client,
    /// The end that accepted. It sends nothing before the peer's first header, which shows the form of headers.
    Server,
}

impl Role {
    /// The role of the other end.
    pub const fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// The limits and times of a connection.
///
/// The defaults serve a Go peer as well as one of ours: Go sends a PING each 500 ms and closes after 5 s without a
/// byte, so answering its PINGs is enough.
#[derive(Clone, Debug)]
pub struct Config {
    /// The longest content in either direction, in bytes; a peer that sends a longer one is closed. What the ends say
    /// of themselves when they meet may be longer, and less than [`BODY_MAX_LEAST`] counts as that. Default:
    /// [`BODY_MAX`].
    pub body_max: u32,
    /// How long the peer may be silent before it gets a PING. Default: 2 s, so that two PINGs fit into the time
    /// after which a Go peer gives up.
    pub ping_interval: Duration,
    /// How long the peer may be silent before the connection is closed. Default: 10 s, five PINGs.
    pub idle_timeout: Duration,
    /// How long a client may take to send its first header. Default: 10 s.
    pub first_header_timeout: Duration,
    /// How long a peer may take no byte while some wait. Default: 5 s, as Go.
    ///
    /// What the system has taken over is not what the peer has taken: a socket of Linux holds up to 4 MiB, and takes
    /// more only when a third of that has gone. So it gets this time once more for each of the first four MiB of a
    /// connection.
    pub write_timeout: Duration,
    /// How much may wait to be written before whoever sends waits, and before a server reads no more requests, in
    /// bytes. One packet may overdraw it, or it could not be sent at all. Default: 1 MiB, the bandwidth-delay product
    /// of 1 Gbit/s over 8 ms.
    pub backlog_max: usize,
    /// For how long a connection that has more to do may keep its thread from others. It is looked at after every 32
    /// packets. Default: 20 us, in which some hundred calls are answered.
    pub turn_max: Duration,
    /// The least rate at which a packet that has begun must arrive, in bytes per second, judged over any
    /// [`pace_window`](Self::pace_window). Default: 16 KiB/s; the longest content then takes at most 5 min 20 s.
    pub least_rate: u32,
    /// Over how long [`least_rate`](Self::least_rate) is judged. Default: 5 s.
    pub pace_window: Duration,
    /// How much a peer may send in a second that is of no use, in bytes: packets that are skipped, or answered with
    /// nothing but an error, and those that cancel calls. Each counts its bytes and 64 more. A peer may be an eighth of
    /// a second ahead. If it sends more, it is not read for a sixteenth of a second or longer, two seconds at most, and
    /// its other packets wait as well. What is of use pays for as much waste, and for that of a second in advance.
    /// Default: 1 MiB, some 14 000 short packets; eight connections that send as many are hardly noticed by others.
    pub waste_rate: u32,
    /// Streams that a peer may have open at once: one of ours waits with the next until one is over, others are
    /// refused. Default: 256.
    pub streams_max: usize,
    /// What may be received on one stream before it is read, in bytes; one message may overdraw it. A peer without
    /// flow control that sends more loses the stream. Default: 16 MiB, three messages of the longest kind.
    pub stream_buffer_max: usize,
    /// Calls that the peer may have in flight at once, as it is told. fRPC refuses further ones with
    /// `ResourceExhausted`. Default: 16 384, as many as a client of ours has at most.
    pub calls_max: u32,
    /// What a peer of ours may send on a stream before any of it has been read, in bytes. Default: 256 KiB, the
    /// bandwidth-delay product of 1 Gbit/s over 2 ms.
    ///
    /// Over a distance a stream brings this much in each round trip. While its reader keeps up, it becomes more: up to
    /// sixteen times as much, as long as that helps.
    pub stream_credit: u32,
    /// Whether to say HELLO, by which two of ours recognise each other. Default: yes.
    pub hello: bool,
    /// What the layers above add to HELLO: types from [`Hello::FIRST_USER_ITEM`](crate::Hello::FIRST_USER_ITEM) on, and
    /// values.
    pub hello_items: Vec<(u8, Bytes)>,
    /// For clients: how long the server may take to show what it is. Default: 5 s; Go answers a PING at once.
    pub peer_kind_timeout: Duration,
    /// How long the answer to a hand-off may take, at either end. Nothing else is timed meanwhile. Default: 30 s, as
    /// calls.
    pub hand_off_timeout: Duration,
    /// For servers: the operations that are served, by which the first packet of a peer with old headers is told
    /// from one that does not speak Frisbee at all. Default: none.
    pub served: Arc<[RangeInclusive<u16>]>,
    /// For clients: the form of header to speak. Default: [`HeaderForm::Current`].
    pub header_form: HeaderForm,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            body_max: BODY_MAX,
            ping_interval: Duration::from_secs(2),
            idle_timeout: Duration::from_secs(10),
            first_header_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(5),
            backlog_max: 1024 * 1024,
            turn_max: Duration::from_micros(20),
            least_rate: 16 * 1024,
            pace_window: Duration::from_secs(5),
            waste_rate: 1024 * 1024,
            streams_max: 256,
            stream_buffer_max: 16 * 1024 * 1024,
            calls_max: 16 * 1024,
            stream_credit: 256 * 1024,
            hello: true,
            hello_items: Vec::new(),
            peer_kind_timeout: Duration::from_secs(5),
            hand_off_timeout: Duration::from_secs(30),
            served: Arc::new([]),
            header_form: HeaderForm::Current,
        }
    }
}

impl Config {
    /// The longest content in either direction, in bytes: [`body_max`](Self::body_max), but no less than
    /// [`BODY_MAX_LEAST`].
    pub fn body_limit(&self) -> u32 {
        self.body_max.max(BODY_MAX_LEAST)
    }
}

//! The limits and times of a connection, with their defaults, and the additions of each role.

use crate::{BODY_MAX, BODY_MAX_LEAST, HeaderForm, HelloItems};
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

/// A struct whose fields have defaults and setters.
macro_rules! settings {
    (
        $(#[$about:meta])* pub struct $name:ident;
        $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr;)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

settings! {
    /// The limits and times that both ends of a connection have.
    ///
    /// The defaults serve compat and native peers alike: a Go peer sends a PING each 500 ms and closes after 5 s
    /// without a byte, so answering its PINGs is enough. Each connection keeps its times, other than `turn_max`, in whole
    /// milliseconds, rounded up, and 49 days at most.
    ///
    /// ```
    /// use frisbee_core::Config;
    /// use std::time::Duration;
    ///
    /// let config = Config::default().body_max(64 * 1024).idle_timeout(Duration::from_secs(30));
    /// assert_eq!(config.body_max, 65_536);
    /// assert_eq!(config.ping_interval, Duration::from_secs(2), "what is not set keeps its default");
    /// ```
    #[derive(PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    pub struct Config;

    /// The longest body in either direction, in bytes; the connection of a peer that sends a longer one is closed.
    /// HELLO may be longer, and a value below [`BODY_MAX_LEAST`] counts as that. Default: [`BODY_MAX`].
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    body_max: u32 = BODY_MAX;
    /// How long the peer may be silent before it gets a PING. Default: 2 s, so that two PINGs fit into the time
    /// after which a Go peer closes.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    ping_interval: Duration = Duration::from_secs(2);
    /// How long the peer may be silent before the connection is closed. Default: 10 s, five PINGs. A peer that accepts
    /// bytes which had waited is not silent.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    idle_timeout: Duration = Duration::from_secs(10);
    /// How long a peer may take no byte while some wait. Default: 5 s, as Go.
    ///
    /// The bytes that the system has accepted have not necessarily reached the peer: a socket of Linux holds up to 4
    /// MiB, and accepts more only when a third of that has been sent. So the peer gets four times this time for each of
    /// the first four MiB of a connection: 85 s at most, while the system sends a third at 17 KiB/s.
    ///
    /// In twice as long a time, the peer has to accept half of the [`least_rate`](Self::least_rate), while more waits
    /// than that rate brings in the time here: 8 KiB/s while 80 KiB wait. For a client, the bytes that its server sends
    /// count as well, since a server may stop reading while its own packets are not accepted.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    write_timeout: Duration = Duration::from_secs(5);
    /// The number of bytes that may wait to be written before senders wait, and before the requests of a client wait at
    /// their server. One packet may exceed it, or it could not be sent at all. When the requests that wait amount to as
    /// many bytes, again with one that may exceed the limit, the server reads no further. Default: 1 MiB, the
    /// bandwidth-delay product of 1 Gbit/s over 8 ms.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    backlog_max: usize = 1024 * 1024;
    /// For how long a connection that has more to do may keep its thread from others. It is looked at after every 32
    /// packets. Default: 20 us, the time of about a hundred calls.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    turn_max: Duration = Duration::from_micros(20);
    /// The least rate at which a packet that has begun must arrive, in bytes per second, judged over any
    /// [`least_rate_window`](Self::least_rate_window). Default: 16 KiB/s; the longest body then takes at most 5 min 20
    /// s.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    least_rate: u32 = 16 * 1024;
    /// Over how long [`least_rate`](Self::least_rate) is judged. Default: 5 s.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    least_rate_window: Duration = Duration::from_secs(5);
    /// The number of useless bytes that a peer may send in a second: packets that are skipped, or answered with nothing
    /// but an error, and those that cancel calls. Each counts its bytes and 64 more. A peer may be an eighth of a
    /// second ahead. If it sends more, it is not read for a sixteenth of a second or longer, two seconds at most, and
    /// its other packets wait as well. Useful bytes pay for as many useless ones, and for those of a second in advance.
    /// Default: 1 MiB, some 14 000 short packets; other connections hardly notice eight that send as many.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    waste_rate: u32 = 1024 * 1024;
    /// The number of streams that a peer may have open at once. A native peer waits with the next until one is over;
    /// further streams of a compat peer are refused. Default: 256.
    streams_max: usize = 256;
    /// The number of bytes that may be received on one stream before they are read; one message may exceed it. A peer
    /// without flow control that sends more loses the stream. Default: 16 MiB, three messages of the longest kind.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    stream_buffer_max: usize = 16 * 1024 * 1024;
    /// The number of calls that the peer may have in flight at once, as stated in HELLO. fRPC refuses further ones with
    /// `ResourceExhausted`. Default: 16 384, as many as a native client has at most.
    calls_max: u32 = 16 * 1024;
    /// The number of bytes that a native peer may send on a stream before any of them has been read. Default: 256
    /// KiB, the bandwidth-delay product of 1 Gbit/s over 2 ms.
    ///
    /// Over a distance a stream brings this much in each round trip. While its reader keeps up, it becomes more: up to
    /// sixteen times as much, as long as that helps.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    stream_credit: u32 = 256 * 1024;
    /// Whether to send HELLO, which identifies a native peer. Default: yes.
    hello: bool = true;
    /// How long the answer to a hand-off may take, at either end. Nothing else is timed until then. Default: 30 s, as
    /// calls.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    hand_off_timeout: Duration = Duration::from_secs(30);
}

settings! {
    /// The settings of a dialling end.
    pub struct ClientConfig;

    /// The limits and times that both roles have.
    common: Config = Config::default();
    /// How long the kind of the server may stay unknown. Default: 5 s; Go answers a PING at once.
    peer_kind_timeout: Duration = Duration::from_secs(5);
    /// The form of header to speak. Default: [`HeaderForm::Current`].
    header_form: HeaderForm = HeaderForm::Current;
    /// The items that the layers above add to HELLO. Default: none.
    hello_items: HelloItems = HelloItems::default();
}

settings! {
    /// The settings of an accepting end.
    pub struct ServerConfig;

    /// The limits and times that both roles have.
    common: Config = Config::default();
    /// How long a client may take to send its first header. Default: 10 s.
    first_header_timeout: Duration = Duration::from_secs(10);
    /// The operations that are served, which distinguish the first packet of a peer with old headers from that
    /// of a program that does not speak Frisbee. Default: none.
    served: Arc<[RangeInclusive<u16>]> = Arc::new([]);
    /// The items that the layers above add to HELLO. Default: none.
    hello_items: HelloItems = HelloItems::default();
}

impl From<Config> for ClientConfig {
    fn from(common: Config) -> Self {
        Self::default().common(common)
    }
}

impl From<Config> for ServerConfig {
    fn from(common: Config) -> Self {
        Self::default().common(common)
    }
}

impl Config {
    /// The longest body in either direction, in bytes: [`body_max`](Self::body_max), but no less than
    /// [`BODY_MAX_LEAST`].
    ///
    /// ```
    /// use frisbee_core::{BODY_MAX_LEAST, Config};
    ///
    /// assert_eq!(Config::default().body_max(7).body_limit(), BODY_MAX_LEAST);
    /// ```
    pub fn body_limit(&self) -> u32 {
        self.body_max.max(BODY_MAX_LEAST)
    }
}

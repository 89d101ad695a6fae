//! Settings of connections: those common to both roles, and those of each role.

use crate::{BODY_MAX, BODY_MAX_LEAST, HeaderForm, HelloItems};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// Role of an end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The connecting end. It may send immediately.
    Client,
    /// The accepting end. It sends nothing before the peer's first header, which determines the header form.
    Server,
}

impl Role {
    /// Returns the role of the other end.
    pub const fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Defines a struct whose fields have defaults and setters.
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
    /// Settings common to both ends of a connection.
    ///
    /// The defaults suit compat and native peers alike. A Go peer sends a PING every 500 ms and closes after 5 s
    /// without a byte, so replying to its PINGs is sufficient. Each connection stores its durations, except `turn_max`,
    /// in whole milliseconds, rounded up and limited to 49 days.
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

    /// Maximum body size in either direction, in bytes. A connection whose peer sends a larger body is closed. HELLO
    /// may be larger, and values below [`BODY_MAX_LEAST`] count as that. Defaults to [`BODY_MAX`].
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    body_max: u32 = BODY_MAX;
    /// Silence of the peer after which a PING is sent. Defaults to 2 s, so that two PINGs fit into the timeout of a Go
    /// peer.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    ping_interval: Duration = Duration::from_secs(2);
    /// Silence of the peer after which the connection is closed. Defaults to 10 s, five PINGs. A peer that accepts
    /// pending bytes is not silent.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    idle_timeout: Duration = Duration::from_secs(10);
    /// Maximum time without progress while bytes are pending. Defaults to 5 s, like Go.
    ///
    /// Bytes accepted by the operating system have not necessarily reached the peer: a Linux socket buffers up to 4 MiB
    /// and accepts more only after a third of that has been sent. The timeout is therefore extended by four times its
    /// value for each of the first four MiB sent on a connection. The maximum is 85 s, which a third of the buffer
    /// takes at 17 KiB/s.
    ///
    /// In addition, the peer must accept at least half of the [`least_rate`](Self::least_rate), measured over twice
    /// this time. This applies while more bytes are pending than the rate transfers within the write timeout; with the
    /// defaults, 8 KiB/s while 80 KiB are pending. At a client, bytes received from the server count too, because a
    /// server may stop reading while its own packets are not accepted.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    write_timeout: Duration = Duration::from_secs(5);
    /// Maximum number of pending bytes before senders wait, and before a server delays the requests of a client. One
    /// packet may exceed it, because it could not be sent otherwise. A server stops reading when the delayed requests
    /// reach the same size, again with one request in excess. Defaults to 1 MiB, the bandwidth-delay product of 1
    /// Gbit/s over 8 ms.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    backlog_max: usize = 1024 * 1024;
    /// Maximum time for which a busy connection may occupy its thread. It is checked after every 32 packets. Defaults
    /// to 20 us, the time of about a hundred calls.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    turn_max: Duration = Duration::from_micros(20);
    /// Minimum rate at which a started packet must arrive, in bytes per second, measured over any
    /// [`least_rate_window`](Self::least_rate_window). Defaults to 16 KiB/s; the largest body then takes at most 5 min
    /// 20 s.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    least_rate: u32 = 16 * 1024;
    /// Interval over which [`least_rate`](Self::least_rate) is measured. Defaults to 5 s.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    least_rate_window: Duration = Duration::from_secs(5);
    /// Maximum rate of useless bytes from a peer, in bytes per second. Useless are packets that are skipped, rejected,
    /// or cancel calls. Each counts with its size and 64 more bytes. A peer may exceed its allowance by an eighth of a
    /// second. Beyond that, it is not read for a sixteenth of a second or longer, at most two seconds, which delays its
    /// other packets too. Every useful byte compensates for a useless one, up to a second's allowance in advance.
    /// Defaults to 1 MiB, about 14 000 short packets. Eight such peers hardly affect other connections.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    waste_rate: u32 = 1024 * 1024;
    /// Maximum number of concurrent streams that a peer may open. A native peer delays further streams until one ends;
    /// those of a compat peer are rejected. Defaults to 256.
    streams_max: usize = 256;
    /// Maximum number of unread bytes received on a stream. One message may exceed it. A peer without flow control that
    /// exceeds it loses the stream. Defaults to 16 MiB, three messages of the maximum size.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    stream_buffer_max: usize = 16 * 1024 * 1024;
    /// Maximum number of calls that the peer may have in flight, as announced in HELLO. fRPC rejects further ones with
    /// `ResourceExhausted`. Defaults to 16 384, the maximum of a native client.
    calls_max: u32 = 16 * 1024;
    /// Number of bytes that a native peer may send on a stream before any of them has been read. Defaults to 256 KiB,
    /// the bandwidth-delay product of 1 Gbit/s over 2 ms.
    ///
    /// A stream transfers at most this much in each round trip. While its reader keeps up, the window grows up to
    /// sixteenfold, as long as that increases the rate.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    stream_credit: u32 = 256 * 1024;
    /// Whether to send HELLO, which identifies a native peer. Enabled by default.
    hello: bool = true;
    /// Timeout of the reply to a hand-off, at either end. No other timeout applies until then. Defaults to 30 s, like
    /// calls.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    hand_off_timeout: Duration = Duration::from_secs(30);
}

settings! {
    /// Settings of a connecting end.
    pub struct ClientConfig;

    /// Settings common to both roles.
    common: Config = Config::default();
    /// Timeout for determining the kind of the server. Defaults to 5 s. Go servers reply to a PING immediately.
    peer_kind_timeout: Duration = Duration::from_secs(5);
    /// Header form to use. Defaults to [`HeaderForm::Current`].
    header_form: HeaderForm = HeaderForm::Current;
    /// HELLO items of the layers above. Empty by default.
    hello_items: HelloItems = HelloItems::default();
}

settings! {
    /// Settings of an accepting end.
    pub struct ServerConfig;

    /// Settings common to both roles.
    common: Config = Config::default();
    /// Timeout of a client's first header. Defaults to 10 s.
    first_header_timeout: Duration = Duration::from_secs(10);
    /// Operations that are served. They distinguish the first packet of a peer with old headers from bytes of another
    /// protocol. Empty by default.
    served: Arc<[RangeInclusive<u16>]> = Arc::new([]);
    /// HELLO items of the layers above. Empty by default.
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
    /// Returns the maximum body size in either direction, in bytes: [`body_max`](Self::body_max), but at least
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

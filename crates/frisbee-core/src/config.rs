//! Connection configuration: common settings, and the settings of clients and servers.

use crate::{BODY_MAX, BODY_MAX_LEAST, HeaderForm, HelloItems, Operation};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// Whether an endpoint opened or accepted the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The endpoint that opened the connection. It may send immediately.
    Client,
    /// The endpoint that accepted the connection. It sends nothing before it has received a packet header, because the
    /// header format of its replies depends on that header.
    Server,
}

impl Role {
    /// Returns the role of the peer.
    pub const fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Defines a settings struct with default values and builder methods.
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
    /// Settings common to clients and servers.
    ///
    /// The defaults suit peers with and without the protocol extension. A Go peer sends a PING every 500 ms and closes
    /// after 5 s without receiving a byte, so replying to its PINGs is sufficient. Durations other than `turn_max` are
    /// rounded up to whole milliseconds and limited to 49 days.
    ///
    /// ```
    /// use frisbee_core::Config;
    /// use std::time::Duration;
    ///
    /// let config = Config::default().body_max(64 * 1024).idle_timeout(Duration::from_secs(30));
    /// assert_eq!(config.body_max, 65_536);
    /// assert_eq!(config.ping_interval, Duration::from_secs(2), "unset values should keep their defaults");
    /// ```
    #[derive(PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    pub struct Config;

    /// Maximum body size in either direction, in bytes. If the peer sends a larger body, the connection is closed.
    /// HELLO packets have a separate limit. Values below [`BODY_MAX_LEAST`] are raised to it. Values above
    /// [`BODY_MAX`], the limit of Go peers, apply only between peers that support the protocol extension. Defaults to
    /// [`BODY_MAX`].
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    body_max: u32 = BODY_MAX;
    /// A PING is sent if no bytes are received, or none are sent, for this long. Defaults to 2 s, so that two PINGs fit
    /// into the 5 s timeout of a Go peer.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    ping_interval: Duration = Duration::from_secs(2);
    /// The connection is closed if no bytes are received for this long. Bytes that the transport accepts after it was
    /// full also count as activity of the peer. Defaults to 10 s, five times the ping interval.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    idle_timeout: Duration = Duration::from_secs(10);
    /// Maximum time without progress while bytes wait to be written. Defaults to 5 s, as in Go.
    ///
    /// Bytes accepted by the operating system have not necessarily reached the peer: a Linux socket buffers up to 4 MiB
    /// and accepts more only after a third of that has been sent. The timeout is therefore extended by four times its
    /// value for each of the first four MiB sent on a connection. With the default, the maximum is 85 s. In this time,
    /// a peer that reads 17 KiB/s drains a third of the buffer.
    ///
    /// In addition, the peer must accept at least half of the [`least_rate`](Self::least_rate), measured over twice
    /// this time. This rule applies while more bytes are pending than `least_rate` transfers within the write timeout.
    /// With the defaults, the peer must accept 8 KiB/s while more than 80 KiB are pending. At a client, bytes received
    /// from the server also count as progress, because a server stops reading while the client does not accept its
    /// packets.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    write_timeout: Duration = Duration::from_secs(5);
    /// Maximum backlog in bytes. Beyond it, senders wait and a server delays a client's requests. A single packet may
    /// exceed the limit, because otherwise a large packet could never be sent. A server stops reading when the delayed
    /// requests reach the same size, which one request may exceed. Defaults to 1 MiB, the bandwidth-delay product of 1
    /// Gbit/s and 8 ms.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    backlog_max: usize = 1024 * 1024;
    /// Maximum time that a busy connection may occupy its thread before other connections run. The time is checked
    /// after every 32 packets. Defaults to 20 us, which is about 100 calls.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    turn_max: Duration = Duration::from_micros(20);
    /// Minimum rate at which a partially received packet must arrive, in bytes per second, measured over each
    /// [`least_rate_window`](Self::least_rate_window). Defaults to 16 KiB/s, at which the largest body takes 5 min 20
    /// s.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    least_rate: u32 = 16 * 1024;
    /// Interval over which [`least_rate`](Self::least_rate) is measured. Defaults to 5 s.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    least_rate_window: Duration = Duration::from_secs(5);
    /// Maximum rate of useless bytes from a peer, in bytes per second. A packet is useless if it is skipped or
    /// rejected, or if it cancels a call. Each costs its size plus 64 bytes. A peer may exceed the rate by a burst of
    /// an eighth of a second. After that, reading from the peer is paused for between 1/16 s and 2 s, which also delays
    /// its other packets. A peer is disconnected if its pauses exceed about 5 s in 30 s. Each useful byte offsets a
    /// useless one, and up to a second's allowance of useful bytes is credited in advance. Defaults to 1 MiB/s, about
    /// 14 000 short packets. Eight such peers hardly affect other connections.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    abuse_rate: u32 = 1024 * 1024;
    /// Maximum number of concurrent streams that a peer may open. At the limit, a peer that supports the protocol
    /// extension waits for a stream to end before it opens another. Excess streams of other peers are rejected.
    /// Defaults to 256.
    streams_max: usize = 256;
    /// Maximum number of unread bytes received on a stream. A single message may exceed it. If a peer without flow
    /// control exceeds the limit, the stream is closed. Defaults to 16 MiB, about three messages of the maximum size.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    stream_buffer_max: usize = 16 * 1024 * 1024;
    /// Maximum number of in-flight calls of the peer, announced in HELLO. fRPC rejects excess calls with
    /// `ResourceExhausted`. Defaults to 16 384, the maximum that fRPC clients use.
    calls_max: u32 = 16 * 1024;
    /// Initial flow-control window of a stream: the number of bytes that the peer may send before any of them has been
    /// read. Defaults to 256 KiB, the bandwidth-delay product of 1 Gbit/s and 2 ms.
    ///
    /// A stream transfers at most one window per round trip. If its reader keeps up, the window grows up to
    /// sixteenfold, as long as that increases the rate.
    #[cfg_attr(feature = "serde", serde(with = "crate::byte_size"))]
    stream_credit: u32 = 256 * 1024;
    /// Whether to send HELLO, which announces that this endpoint supports the protocol extension. Enabled by default.
    hello: bool = true;
    /// Timeout of a hand-off. The client waits this long for the reply, and the server must reply within this time. The
    /// idle timeout does not apply during a hand-off. Defaults to 30 s, like the timeout of calls.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    hand_off_timeout: Duration = Duration::from_secs(30);
}

settings! {
    /// Settings of a client.
    pub struct ClientConfig;

    /// Settings common to clients and servers.
    common: Config = Config::default();
    /// Timeout for detecting whether the server supports the protocol extension. Defaults to 5 s. Go servers reply to a
    /// PING immediately.
    peer_kind_timeout: Duration = Duration::from_secs(5);
    /// Format of the headers of sent packets. Defaults to [`HeaderForm::Current`].
    header_form: HeaderForm = HeaderForm::Current;
    /// Application-defined items that are added to HELLO. Empty by default.
    hello_items: HelloItems = HelloItems::default();
    /// Operations of requests and replies. Defaults to `None`, which is equivalent to empty lists.
    operations: Option<Arc<Operations>> = None;
}

settings! {
    /// Settings of a server.
    pub struct ServerConfig;

    /// Settings common to clients and servers.
    common: Config = Config::default();
    /// Timeout for receiving the first packet header of a client. Defaults to 10 s.
    first_header_timeout: Duration = Duration::from_secs(10);
    /// Application-defined items that are added to HELLO. Empty by default.
    hello_items: HelloItems = HelloItems::default();
    /// Operations that the server handles, and operations of requests and replies. Defaults to `None`, which is
    /// equivalent to empty lists.
    operations: Option<Arc<Operations>> = None;
}

/// Operations of an endpoint. Shared by all of its connections.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Operations {
    /// Ranges of operations that the server handles. They distinguish the first packet of a client with old headers
    /// from the bytes of another protocol. Unused by clients.
    pub served: Vec<RangeInclusive<u16>>,
    /// Ranges of operations whose packets are requests and replies, which may overtake each other.
    pub calls: Vec<RangeInclusive<u16>>,
}

impl Operations {
    pub(crate) fn serves(&self, operation: Operation) -> bool {
        contains(&self.served, operation)
    }

    pub(crate) fn has_call(&self, operation: Operation) -> bool {
        contains(&self.calls, operation)
    }
}

fn contains(ranges: &[RangeInclusive<u16>], operation: Operation) -> bool {
    ranges.iter().any(|range| range.contains(&operation.number()))
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
    /// [`BODY_MAX_LEAST`], and at most [`BODY_MAX`] without [`hello`](Self::hello).
    ///
    /// ```
    /// use frisbee_core::{BODY_MAX_LEAST, Config};
    ///
    /// assert_eq!(Config::default().body_max(7).body_limit(), BODY_MAX_LEAST);
    /// ```
    pub fn body_limit(&self) -> u32 {
        self.body_max.clamp(BODY_MAX_LEAST, if self.hello { u32::MAX } else { BODY_MAX })
    }
}

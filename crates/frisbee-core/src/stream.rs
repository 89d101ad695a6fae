//! What may happen on one stream, and in which order.

use std::fmt;

/// The state of one stream at one end.
///
/// Frisbee closes both directions of a stream at once, by a packet without content:
///
/// ```text
///          send, receive
///            +-----+
///            v     |
///         +----------+  close (we send the empty packet)   +--------------+
///    ---> |   Open   | ----------------------------------> | LocallyGone  |
///         +----------+                                     +--------------+
///            |
///            |  the peer's empty packet, or the end of the connection
///            v
///         +--------------+
///         |  PeerGone    |   what was received before can still be read
///         +--------------+
/// ```
///
/// Whatever closes it first decides; a close that crosses the peer's is not an error and is not answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StreamState {
    /// Packets go both ways.
    #[default]
    Open,
    /// This end closed it; packets that cross are ignored.
    LocallyGone,
    /// The peer, or the end of the connection, closed it.
    PeerGone,
}

impl StreamState {
    /// Whether a packet may be sent now.
    ///
    /// # Errors
    /// Says which end closed the stream.
    #[inline]
    pub const fn send(self) -> Result<(), StreamError> {
        match self {
            Self::Open => Ok(()),
            Self::LocallyGone => Err(StreamError::Closed),
            Self::PeerGone => Err(StreamError::ClosedByPeer),
        }
    }

    /// Takes in a packet of the peer; `false` if it is to be dropped because this end closed the stream before.
    #[inline]
    pub const fn handle_packet(self) -> bool {
        matches!(self, Self::Open)
    }

    /// Closes from this end; `true` if the peer has to be told.
    #[inline]
    pub const fn close(&mut self) -> bool {
        let tell = matches!(self, Self::Open);
        if tell {
            *self = Self::LocallyGone;
        }
        tell
    }

    /// Takes in the peer's close or the end of the connection.
    #[inline]
    pub const fn handle_close(&mut self) {
        if matches!(self, Self::Open) {
            *self = Self::PeerGone;
        }
    }
}

/// Why a packet cannot be sent on a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StreamError {
    /// This end closed it.
    Closed,
    /// The peer closed it, or the connection has ended.
    ClosedByPeer,
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the stream was closed by this end",
            Self::ClosedByPeer => "the stream was closed by the peer",
        })
    }
}

impl std::error::Error for StreamError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_close_decides_and_only_our_own_is_told() {
        let mut ours = StreamState::Open;
        assert!(ours.close());
        assert!(!ours.close());
        ours.handle_close();
        assert_eq!(ours.send(), Err(StreamError::Closed));
        assert!(!ours.handle_packet());

        let mut theirs = StreamState::Open;
        theirs.handle_close();
        assert!(!theirs.close());
        assert_eq!(theirs.send(), Err(StreamError::ClosedByPeer));
    }
}

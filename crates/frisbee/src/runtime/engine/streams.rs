//! Routing of stream packets: messages, HEADERS and TRAILERS of open streams, and packets that open streams.

use super::Engine;
use crate::connection::ConnectionExt;
use crate::connection::stream::{RESOURCE_EXHAUSTED, Stream};
use crate::{CloseReason, Operation, Packet, PacketId, ProtocolError, Routed, Router};
use bytes::Bytes;
use frisbee_core::{BatchSize, StreamSignal, extension};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Reset reason of a stream if its peer exceeded the stream's memory or credit.
pub(super) const NO_ROOM: &str = "the memory limit for unread messages of the stream is reached";

impl<R: Router> Engine<R> {
    #[inline(always)] // Called for every message.
    pub(super) fn handle_stream(&mut self, id: PacketId, body: Bytes) -> Routed {
        // Consecutive messages often belong to the same stream. Invariant: `last_stream` receives messages only while
        // it is in the table. A stream that has ended returns the body, which is then looked up in the table. A later
        // stream with the same id thus receives its own messages.
        let body = match &self.last_stream {
            Some(stream) if stream.id == id && !body.is_empty() => match stream.handle_packet(body) {
                Ok(StreamSignal::Nothing) => return Routed::Continue,
                Ok(signal) => return self.leave_stream(signal),
                Err(body) => body,
            },
            _ => body,
        };
        let inner = self.handle.0.mailbox.lock();
        let native = inner.peer.hello().is_some();
        if let Some(stream) = inner.streams.get(id).cloned() {
            // Release the lock, because the message may wake the reader, and the reader may immediately lock the
            // mailbox.
            drop(inner);
            let signal = if body.is_empty() && !native {
                stream.handle_close();
                StreamSignal::Nothing
            } else {
                // A message that follows the end of its direction is dropped.
                stream.handle_packet(body).unwrap_or(StreamSignal::Nothing)
            };
            self.last_stream = Some(stream);
            return self.leave_stream(signal);
        }
        drop(inner);
        if self.opens_stream(id, &body, native) { self.open_stream(id, body) } else { Routed::Continue }
    }

    /// Routes a packet with several messages of a stream. Such a packet never opens a stream, because the packet that
    /// opens one has another format, with a single message.
    pub(super) fn handle_batch(&mut self, id: PacketId, body: &Bytes) -> Routed {
        let Some(size) = BatchSize::of(body) else {
            return Routed::Close(CloseReason::Protocol(ProtocolError::Malformed(Operation::BATCH)));
        };
        // See `handle_stream` for the invariant.
        let last = self.last_stream.as_ref().filter(|stream| stream.id == id);
        match last.and_then(|stream| stream.handle_batch(body, &size)) {
            // Report slow routing, because the batch may have contained thousands of messages.
            Some(StreamSignal::Nothing) => Routed::Slow,
            Some(signal) => self.leave_stream(signal),
            None => {
                let stream = self.handle.0.mailbox.lock().streams.get(id).cloned();
                let Some(stream) = stream else { return Routed::Continue };
                let signal = stream.handle_batch(body, &size).unwrap_or(StreamSignal::Nothing);
                self.last_stream = Some(stream);
                self.leave_stream(signal)
            }
        }
    }

    /// Handles HEADERS or TRAILERS of a stream. They are ignored if the stream is not open, because it may have ended
    /// after the peer sent them.
    pub(super) fn handle_stream_items(&mut self, packet: Packet) -> Routed {
        let is_last = packet.id == extension::TRAILERS;
        let items = packet.into_stream_items();
        let stream = items.and_then(|(id, items)| {
            let stream = self.handle.0.mailbox.lock().streams.get(id).cloned()?;
            Some((stream, items))
        });
        let Some((stream, items)) = stream else { return Routed::Discarded };
        let Some(signal) = stream.handle_items(&items, is_last) else {
            return Routed::Close(CloseReason::Protocol(ProtocolError::Malformed(Operation::EXTENSION)));
        };
        self.last_stream = Some(stream);
        self.leave_stream(signal)
    }

    /// Returns whether a packet opens a new stream. No stream with its id may be open. Call this exactly once for each
    /// such packet, in the order of arrival.
    pub(super) fn opens_stream(&mut self, id: PacketId, body: &Bytes, native: bool) -> bool {
        // Neither a close nor a late message opens a stream. A message is late if its sender did not know yet that this
        // end has closed the stream. A Go client uses several id counters and may reuse an id immediately.
        !body.is_empty() && (!native || self.openings.handle(id))
    }

    /// Opens the stream that a received packet requests.
    pub(super) fn open_stream(&mut self, id: PacketId, body: Bytes) -> Routed {
        let mut inner = self.handle.0.mailbox.lock();
        let native = inner.peer.hello().is_some();
        // Permit twice as many streams with handles as open streams, because a closed stream keeps its handles for a
        // short time. Otherwise, a peer that opens and closes streams within its limit would be refused at random.
        let peer_streams = self.handle.0.peer_streams.load(Ordering::Relaxed);
        let most = self.handle.0.streams_max;
        let is_full = inner.streams.opened_by_peer() >= most as usize || peer_streams >= most.saturating_mul(2);
        if is_full || self.handle.is_overloaded() {
            drop(inner);
            self.handle.count_rejected();
            let why = if is_full { "too many streams" } else { NO_ROOM };
            let signal = if native { StreamSignal::Refuse } else { StreamSignal::Close };
            signal.put(self.core.outbox(), id, RESOURCE_EXHAUSTED, why);
            return if is_full { Routed::Discarded } else { Routed::Continue };
        }
        let shared = Arc::new(self.handle.0.stream(id, &inner.peer, false));
        if !inner.streams.enter_opened_by_peer(shared.clone()) {
            // Both ends have opened a stream with this id. This can happen with a peer without the protocol extension,
            // if this end opens its stream while the peer's opening is deferred.
            drop(inner);
            return self.handle_stream(id, body);
        }
        drop(inner);
        // Call the router without the mailbox lock, because it may send on the connection.
        let stream = Stream::new(self.handle.0.clone(), shared);
        let Some(session) = &mut self.session else { return Routed::Continue };
        self.router.stream(session, body, stream)
    }

    /// Clears the cached stream if it has ended, and sends the packet for `signal` to the peer.
    pub(super) fn leave_stream(&mut self, signal: StreamSignal) -> Routed {
        if let Some(stream) = self.last_stream.take_if(|stream| stream.is_over()) {
            self.handle.0.mailbox.leave_stream(&stream);
            signal.put(self.core.outbox(), stream.id, RESOURCE_EXHAUSTED, NO_ROOM);
        }
        Routed::Continue
    }
}

#[cfg(all(test, not(frisbee_loom)))]
mod tests {
    use super::*;
    use crate::account::Budget;
    use crate::mailbox::Order;
    use crate::mailbox::hand_off::HandOffTarget;
    use crate::transport::endpoint::EndpointInfo;
    use crate::{Config, Connection, Outbox};
    use std::io;
    use std::sync::Mutex;
    use std::task::{Context, Poll, Waker};
    use std::time::Instant;
    use tokio::runtime::Handle;

    /// Router that keeps its streams open, and replies to each packet with a packet of fixed length.
    struct Streams {
        kept: Mutex<Vec<Stream>>,
        reply: usize,
    }

    impl Router for Streams {
        type Session = ();

        fn connected(&self, _connection: &Connection) {}

        fn route(&self, (): &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
            outbox.push(packet.id, packet.operation, vec![0; self.reply]).into()
        }

        fn stream(&self, (): &mut (), _first: Bytes, stream: Stream) -> Routed {
            self.kept.lock().expect("lock should not be poisoned").push(stream);
            Routed::Continue
        }
    }

    /// A server's connection that the test drives step by step.
    struct Driven {
        engine: Engine<Streams>,
        router: Arc<Streams>,
        handle: Connection,
        now: Instant,
    }

    impl Driven {
        fn new(memory: usize, reply: usize) -> Self {
            let (config, now) = (Config::default().into(), Instant::now());
            let handle = Connection::server(
                &config,
                &Arc::new(Budget::new(memory, memory)),
                Handle::current(),
                EndpointInfo::default(),
            );
            let router = Arc::new(Streams { kept: Mutex::default(), reply });
            let core = frisbee_core::Connection::server(&config, now);
            Self { engine: Engine::new(core, router.clone(), handle.clone()), router, handle, now }
        }

        fn receive(&mut self, bytes: &[u8]) {
            self.engine.handle_input(Bytes::copy_from_slice(bytes));
            self.route();
        }

        /// Routes all received packets, in several driver polls if necessary.
        fn route(&mut self) {
            while self.engine.can_route() {
                self.engine.route(self.now).expect("connection should stay open");
            }
        }

        /// Writes all pending bytes, as if the peer had read them.
        fn write(&mut self) {
            let count = self.engine.core.transmit().len();
            self.engine.handle_written(count, self.now);
        }

        fn stream(&self) -> Option<Stream> {
            self.router.kept.lock().expect("lock should not be poisoned").pop()
        }
    }

    /// Returns the header of a packet with id 1, followed by the first bytes of its body.
    fn packet(operation: u16, length: u32, body: &[u8]) -> Vec<u8> {
        [&[0, 15, 0, 1], &operation.to_be_bytes()[..], &length.to_be_bytes(), body].concat()
    }

    fn whole(operation: Operation, body: &[u8]) -> Vec<u8> {
        packet(operation.number(), body.len() as u32, body)
    }

    fn poll(stream: &mut Stream) -> Poll<Option<Bytes>> {
        stream.poll_recv(&mut Context::from_waker(Waker::noop()))
    }

    const HELLO: &[u8] = b"\0\x0f\0\0\0\x03\0\0\0\x05fris\x01";

    /// Regression test: a stream was opened after the peer had shut down its sending half. The stream's reader waited
    /// forever for the end, and the connection waited for the stream.
    #[tokio::test]
    async fn stream_opened_after_half_close_ends() {
        let mut driven = Driven::new(usize::MAX, 2 << 20);
        let messages = [b"first", b"other"].map(|body| whole(Operation::STREAM, body)).concat();
        driven.receive(&[HELLO, &whole(Operation::FIRST_USER, b""), &messages].concat());
        assert!(driven.stream().is_none(), "deferred stream should wait for space in the outbox");
        driven.engine.handle_eof(driven.now).expect("connection should remain open for the deferred request");
        driven.write();
        driven.route();
        let mut opened = driven.stream().expect("deferred stream should open once the outbox has space");
        assert_eq!(poll(&mut opened), Poll::Ready(Some("other".into())));
        assert_eq!(poll(&mut opened), Poll::Ready(None));
        let mut own =
            driven.handle.open_stream(&Bytes::from_static(b"first")).await.expect("this end should open a stream");
        assert_eq!(poll(&mut own), Poll::Ready(None));
    }

    /// A router's error that stores, when dropped, whether the mailbox of its connection is locked.
    #[derive(Debug)]
    struct RouterError(Connection, Arc<Mutex<Option<bool>>>);

    impl std::fmt::Display for RouterError {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            Ok(())
        }
    }

    impl std::error::Error for RouterError {}

    impl Drop for RouterError {
        fn drop(&mut self) {
            *self.1.lock().expect("lock should not be poisoned") = Some(self.0.0.mailbox.is_locked());
        }
    }

    /// Regression test: an order of a handle that replaced the router's reason dropped it under the mailbox lock.
    #[tokio::test]
    async fn replaced_close_reason_is_dropped_unlocked() {
        let mut driven = Driven::new(usize::MAX, 0);
        let was_locked = Arc::new(Mutex::new(None));
        let error = io::Error::other(RouterError(driven.handle.clone(), was_locked.clone()));
        driven.engine.stops(Routed::Close(error.into()), 0, driven.now);
        driven.handle.abort();
        driven.engine.take_messages(Waker::noop(), true);
        assert_eq!(*was_locked.lock().expect("lock should not be poisoned"), Some(false));
    }

    /// Trailers of a deferred stream must be deferred too. Otherwise they would end the stream before it has been
    /// opened.
    #[tokio::test]
    async fn trailers_of_deferred_stream_are_deferred() {
        let mut driven = Driven::new(usize::MAX, 2 << 20);
        let trailers = packet(Operation::EXTENSION.number(), 3, b"\x01ab");
        let trailers = [&[0, 15, 0, 6], &trailers[4..]].concat();
        let first = whole(Operation::STREAM, b"first");
        driven.receive(&[HELLO, &whole(Operation::FIRST_USER, b""), &first, &trailers].concat());
        assert!(driven.stream().is_none(), "deferred stream should wait for space in the outbox");
        driven.write();
        driven.route();
        let (_sender, mut receiver) =
            driven.stream().expect("deferred stream should open once the outbox has space").split();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(receiver.poll_recv(&mut context), Poll::Ready(None));
        assert_eq!(receiver.take_trailers().as_deref(), Some(&b"ab"[..]));
    }

    #[tokio::test]
    async fn headers_after_first_message_close_connection() {
        let mut driven = Driven::new(usize::MAX, 0);
        let headers = packet(Operation::EXTENSION.number(), 1, b"\x01");
        let headers = [&[0, 15, 0, 5], &headers[4..]].concat();
        driven.receive(&[HELLO, &whole(Operation::STREAM, b"first"), &headers].concat());
        assert!(driven.engine.order.is_none(), "no message should have arrived");
        driven.receive(&[&whole(Operation::STREAM, b"other")[..], &headers].concat());
        let Some(Order::Flush(reason)) = driven.engine.order.as_deref() else {
            panic!("driver should be told to close the connection")
        };
        assert!(matches!(reason, CloseReason::Protocol(ProtocolError::Malformed(Operation::EXTENSION))));
    }

    /// Fragments of many packets reserve memory, and packets are rejected when no memory is left.
    #[tokio::test]
    async fn incomplete_packets_reserve_memory() {
        let mut driven = Driven::new(1 << 20, 0);
        driven.receive(HELLO);
        let fragment = |channel: u8| {
            // A message of 4 MiB on stream 1 + `channel`.
            let head = [channel, 2, 1 + channel, 0x80, 0x80, 0x80, 2];
            let fragment = whole(Operation::EXTENSION, &[&head[..], &[0; 50_000]].concat());
            [&[0, 15, 0, 7], &fragment[4..]].concat()
        };
        for channel in 0..8 {
            driven.receive(&fragment(channel));
            let account = &driven.handle.0.mailbox.account;
            assert!(account.budget().charged() >= driven.engine.core.buffered());
            assert!(driven.engine.core.buffered() <= 1 << 20);
        }
        assert!(!driven.engine.core.outbox().is_empty(), "rejected streams should be reset");
        driven.engine.end(&CloseReason::ClosedByPeer);
        let budget = driven.handle.0.mailbox.account.budget().clone();
        drop(driven);
        assert_eq!(budget.charged(), 0);
    }

    /// Returns the first fragment of a request of 4 MiB. The fragment has 2,000 bytes.
    fn fragment(channel: u8) -> Vec<u8> {
        let head = [channel, 10, 1 + channel, 0x80, 0x80, 0x80, 2];
        let fragment = whole(Operation::EXTENSION, &[&head[..], &[0; 2_000]].concat());
        [&[0, 15, 0, 7], &fragment[4..]].concat()
    }

    /// Regression test: if fragments of several packets arrived in one read when no memory was left, only one of the
    /// packets was discarded. The others used memory that was not charged.
    #[tokio::test]
    async fn fragments_without_memory_are_all_discarded() {
        let mut driven = Driven::new(1 << 20, 0);
        driven.receive(HELLO);
        driven.write();
        let _most = driven.handle.charge(2 << 20);
        driven.receive(&[0, 1, 2].map(fragment).concat());
        assert_eq!(driven.engine.core.buffered(), 0);
    }

    /// Regression test: while replies were unread and no memory was left, each fragmented packet could exceed the
    /// memory by one read.
    #[tokio::test]
    async fn fragments_with_unread_replies_exceed_memory_once() {
        let mut driven = Driven::new(1 << 20, 0);
        driven.receive(&[HELLO, &whole(Operation::FIRST_USER, b"")].concat());
        let _most = driven.handle.charge(2 << 20);
        (0..8).for_each(|channel| driven.receive(&fragment(channel)));
        assert_eq!(driven.engine.core.buffered(), 1 << 16, "only one packet should be received");
    }

    /// Receives a packet in two reads while all memory is used, except that the stream of [`opened`] is open.
    fn receive_in_parts(driven: &mut Driven, bytes: &[u8], first: usize) {
        let account = driven.handle.0.mailbox.account.clone();
        let _most = driven.handle.charge(account.room() + (1 << 16));
        let (first, rest) = bytes.split_at(first);
        driven.receive(first);
        driven.receive(rest);
    }

    /// Returns a connection with 1 MiB of memory and a stream that the peer has opened. All replies have been read.
    fn opened() -> (Driven, Stream) {
        let mut driven = Driven::new(1 << 20, 0);
        driven.receive(&[HELLO, &whole(Operation::STREAM, b"first")].concat());
        driven.write();
        let stream = driven.stream().expect("peer should open a stream");
        (driven, stream)
    }

    /// Regression test: without memory, a short packet that arrived in two reads was lost. A sender waited forever for
    /// its CREDIT, or a reader for its END.
    #[tokio::test]
    async fn short_packets_in_parts_need_no_memory() {
        let (mut driven, mut stream) = opened();
        let credit = |driven: &Driven| {
            driven.handle.0.mailbox.lock().streams.get(PacketId(1)).and_then(|stream| stream.view().credit)
        };
        let before = credit(&driven).expect("stream should be open");
        receive_in_parts(&mut driven, &whole(Operation::CREDIT, &[0x80, 0x01]), 11);
        assert_eq!(credit(&driven), Some(before + 128));
        receive_in_parts(&mut driven, &whole(Operation::STREAM, b"message"), 13);
        assert_eq!(poll(&mut stream), Poll::Ready(Some("message".into())));
        receive_in_parts(&mut driven, &whole(Operation::END, &[5, b'n', b'o']), 12);
        assert_eq!(poll(&mut stream), Poll::Ready(None));
        assert!(driven.engine.order.is_none() && driven.engine.core.outbox().is_empty());
    }

    /// Regression test: without memory, long TRAILERS that arrived in two reads closed the connection, unlike those in
    /// one read.
    #[tokio::test]
    async fn trailers_without_memory_reset_only_their_stream() {
        for first in [4_000, usize::MAX] {
            let (mut driven, stream) = opened();
            let trailers = whole(Operation::EXTENSION, &[&[1][..], &[0; 5_000]].concat());
            let trailers = [&[0, 15, 0, 6], &trailers[4..]].concat();
            receive_in_parts(&mut driven, &trailers, first.min(trailers.len()));
            assert!(driven.engine.order.is_none(), "connection should stay open");
            assert!(stream.sender().is_closed());
            assert!(!driven.engine.core.outbox().is_empty(), "stream should be reset");
        }
    }

    /// Regression test: the connection was closed for lack of memory, but packets that arrived in the meantime were
    /// routed.
    #[tokio::test]
    async fn nothing_is_routed_after_discarded_packet_closes() {
        let (mut driven, _stream) = opened();
        let request = whole(Operation::FIRST_USER, &[0; 5_000]);
        let opening = [&[0, 15, 0, 2], &whole(Operation::STREAM, b"other")[4..]].concat();
        receive_in_parts(&mut driven, &[request, opening].concat(), 2_000);
        assert!(matches!(driven.engine.order.as_deref(), Some(Order::Flush(CloseReason::Router(_)))));
        assert!(driven.stream().is_none(), "no packet should be routed after the decision to close");
        assert!(!driven.engine.wants_input());
    }

    /// Regression test: the packets that followed a discarded HELLO were routed before the connection was closed, as
    /// those of a peer without the protocol extension.
    #[tokio::test]
    async fn discarded_hello_closes_connection_immediately() {
        let mut driven = Driven::new(1 << 20, 0);
        let _most = driven.handle.charge(2 << 20);
        let hello = whole(Operation::EXTENSION, &[&b"fris\x01"[..], &[0; 5_000]].concat());
        let hello = [&[0, 15, 0, 0], &hello[4..]].concat();
        driven.engine.handle_input(Bytes::copy_from_slice(&hello[..4_000]));
        let closed = driven.engine.route(driven.now);
        assert!(matches!(closed, Err(CloseReason::Router(_))), "{closed:?}");
    }

    /// Regression test: without memory, a HELLO of 1 to 4 KiB closed the connection if it arrived in two reads,
    /// although its memory is not charged.
    #[tokio::test]
    async fn short_hello_in_parts_needs_no_memory() {
        let mut driven = Driven::new(1 << 20, 0);
        let _most = driven.handle.charge(2 << 20);
        // An item of 4096 bytes, including its type and length.
        let hello = whole(Operation::EXTENSION, &[&b"fris\x01\x7f\xfd\x1f"[..], &[0; 4093]].concat());
        let hello = [&[0, 15, 0, 0], &hello[4..]].concat();
        let (first, rest) = hello.split_at(2_000);
        driven.receive(first);
        driven.receive(rest);
        assert!(driven.engine.core.peer().hello().is_some(), "peer should be native");
        assert!(driven.engine.order.is_none(), "connection should stay open");
    }

    /// Regression test: a body limit in the HELLO replaced the limit of available memory, so each connection could
    /// queue one long reply beyond the latter.
    #[tokio::test]
    async fn limit_in_hello_keeps_memory_limit() {
        let mut driven = Driven::new(1 << 20, 100_000);
        let _most = driven.handle.charge(2 << 20);
        let hello = [&[0, 15, 0, 0], &whole(Operation::EXTENSION, b"fris\x01\x01\x03\x80\x80\x40")[4..]].concat();
        driven.receive(&[hello, whole(Operation::FIRST_USER, b"request")].concat());
        assert_eq!(driven.engine.core.outbox().limit(), 1 << 20);
        assert!(driven.engine.core.outbox().len() < 100_000, "reply should exceed the memory limit");
    }

    /// Regression test: the bytes behind a discarded packet were decoded, although they belong to the new owner of the
    /// transport.
    #[tokio::test]
    async fn bytes_after_discarded_packet_reach_new_owner() {
        let mut driven = Driven::new(1 << 20, 0);
        driven.receive(HELLO);
        driven.write();
        let _most = driven.handle.charge(2 << 20);
        let message = whole(Operation::STREAM, &[0; 5_000]);
        let (first, rest) = message.split_at(2_000);
        driven.receive(first);
        driven.engine.leave(HandOffTarget::at_once(drop));
        assert!(!driven.engine.has_departed());
        driven.receive(&[rest, b"raw"].concat());
        driven.write();
        let (early, ..) = driven.engine.hand_over().expect("transport should be handed off after the packet");
        assert_eq!(early, "raw");
    }

    /// Regression test: after a message had been rejected, the stream's senders waited forever, even once the
    /// connection had ended.
    #[tokio::test]
    async fn rejected_message_after_end_keeps_other_direction() {
        let mut driven = Driven::new(1 << 20, 0);
        driven.receive(&[HELLO, &whole(Operation::STREAM, b"first"), &whole(Operation::END, b"")].concat());
        let stream = driven.stream().expect("peer should open a stream");
        let _most = driven.handle.charge((1 << 20) - 8192);
        driven.receive(&packet(Operation::STREAM.number(), 100_000, &[0; 20_000]));
        assert!(driven.handle.0.mailbox.lock().streams.get(PacketId(1)).is_some());
        driven.engine.end(&CloseReason::ClosedByPeer);
        assert!(stream.sender().is_closed());
    }
}

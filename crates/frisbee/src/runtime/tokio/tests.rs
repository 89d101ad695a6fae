use super::*;
use crate::account::Budget;
use crate::clock::{TokioTimer, tokio_timer};
use crate::connection::Connection;
use crate::connection::ConnectionExt;
use crate::transport::Transport;
use crate::transport::endpoint::EndpointInfo;
use crate::{CloseKind, Config, Operation, Outbox, Packet, PacketId, RawTransport, Routed, Router};
use frisbee_core::ClientConfig;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;
use tokio::io::{AsyncWriteExt, DuplexStream, ReadBuf, duplex};

/// Router that only counts packets.
#[derive(Clone, Default)]
struct Sink(Arc<AtomicUsize>);

impl Router for Sink {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
        self.0.fetch_add(1, Ordering::Relaxed);
        Routed::Continue
    }
}

/// A client connection that the test drives, and the peer's end.
struct DrivenClient {
    running: DriveFuture<DuplexStream, Sink, TokioTimer>,
    handle: Connection,
    peer: DuplexStream,
    sink: Sink,
}

/// Returns a packet without a body.
fn packet() -> Packet {
    Packet { id: PacketId(1), operation: Operation::FIRST_USER, body: Bytes::new() }
}

/// Returns the encoded bytes of a packet without a body.
fn bytes() -> Bytes {
    let mut outbox = Outbox::default();
    outbox.forward(&packet()).expect("packet should be within the maximum body size");
    outbox.take_bytes()
}

/// Creates a client connection over a transport.
fn drive<T>(io: T, sink: Sink) -> (DriveFuture<T, Sink, TokioTimer>, Connection)
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    drive_timed(io, sink, tokio_timer())
}

/// Like [`drive`], but with the given timer.
fn drive_timed<T, C>(io: T, sink: Sink, timer: C) -> (DriveFuture<T, Sink, C>, Connection)
where
    T: AsyncRead + AsyncWrite + Unpin,
    C: Timer,
{
    let config = ClientConfig::from(Config::default().hello(false));
    let budget = Arc::new(Budget::new(usize::MAX, usize::MAX));
    let handle = Connection::client(&config, budget, Handle::current(), EndpointInfo::default());
    let core = frisbee_core::Connection::client(&config, now());
    let engine = Engine::new(core, Arc::new(sink), handle.clone());
    let busy = BusyPoll::new(Duration::ZERO);
    (Driver::new(io, engine, None, timer, busy).run(), handle)
}

impl DrivenClient {
    fn new() -> Self {
        let (io, peer) = duplex(4096);
        let sink = Sink::default();
        let (running, handle) = drive(io, sink.clone());
        let mut driven = Self { running, handle, peer, sink };
        driven.poll();
        driven
    }

    fn poll(&mut self) {
        let polled = Pin::new(&mut self.running).poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
    }

    /// Returns the number of packets that the peer has received since the last call.
    fn reached(&mut self) -> usize {
        let mut buffer = [0; 4096];
        let mut read = ReadBuf::new(&mut buffer);
        let polled = Pin::new(&mut self.peer).poll_read(&mut Context::from_waker(Waker::noop()), &mut read);
        assert!(matches!(polled, Poll::Pending | Poll::Ready(Ok(()))));
        read.filled().len() / bytes().len()
    }

    /// Lets the client receive `count` packets, then sends one through a handle. Returns how many packets reach the
    /// peer in each of the next two polls of the driver.
    async fn sent_after_arrivals(&mut self, count: usize) -> [usize; 2] {
        self.peer.write_all(&bytes().repeat(count)).await.expect("client should accept the packets");
        self.poll();
        self.handle
            .send_now(|outbox| outbox.forward(&packet()))
            .expect("connection should be open")
            .expect("packet should be within the maximum body size");
        [(); 2].map(|()| {
            self.poll();
            self.reached()
        })
    }
}

#[tokio::test]
async fn single_packet_is_written_immediately_others_batched() {
    let mut driven = DrivenClient::new();
    assert_eq!(driven.sent_after_arrivals(0).await, [0, 1], "no task was woken, and others may be about to send");
    assert_eq!(driven.sent_after_arrivals(2).await, [0, 1]);
    assert_eq!(driven.sent_after_arrivals(1).await, [1, 0]);
    assert_eq!(driven.sent_after_arrivals(0).await, [0, 1], "the one has sent");
}

#[tokio::test]
async fn immediate_close_stops_routing() {
    let mut driven = DrivenClient::new();
    driven.peer.write_all(&bytes()).await.expect("client should accept the packet");
    driven.handle.abort();
    let DrivenClient { running, sink, .. } = driven;
    assert!(matches!(running.await.done(), Ok(CloseReason::Local)));
    assert_eq!(sink.0.load(Ordering::Relaxed), 0);
}

/// A transport that accepts writes although its peer reads nothing, like a stalled socket driven by io_uring.
struct StalledTransport;

impl AsyncRead for StalledTransport {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

impl AsyncWrite for StalledTransport {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

#[tokio::test(start_paused = true)]
async fn unflushable_transport_is_not_handed_over() {
    for raw in [true, false] {
        let (running, handle) = drive(StalledTransport, Sink::default());
        handle
            .send_now(|outbox| outbox.forward(&packet()))
            .expect("connection should be open")
            .expect("packet should be within the maximum body size");
        let start = now();
        let transport = tokio::spawn(async move {
            if raw {
                return handle.into_transport().await.is_ok();
            }
            handle.close();
            handle.closed().await;
            false
        });
        let is_over = running.await.done().is_ok();
        assert_eq!((is_over, now() - start), (true, Config::default().write_timeout), "for its next owner: {raw}");
        assert!(!transport.await.expect("task should not panic"), "transport should not be handed off");
    }
}

/// A timer that panics when it is set.
struct UnsetTimer(Instant);

impl Timer for UnsetTimer {
    fn deadline(&self) -> Instant {
        self.0
    }

    fn reset(&mut self, _deadline: Instant) {
        panic!("timer should not be set, because that takes the lock of all timers and may wake their thread");
    }

    fn poll_due(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

#[tokio::test]
async fn transport_is_handed_over_without_timer() {
    let (io, _peer) = duplex(4096);
    let (running, handle) = drive_timed(io, Sink::default(), UnsetTimer(now()));
    let transport = tokio::spawn(handle.into_transport());
    tokio::task::yield_now().await;
    let ended = running.await;
    let raw = |io, early, runtime| RawTransport::new_in(Transport::of(io), early, runtime);
    ended.hand_over(closed_connection::Tasks::OfTokio, raw).await;
    transport.await.expect("task should not panic").expect("server should hand over its transport");
}

/// A socket that still has unread bytes when a write fails. The runtime has not reported these bytes as readable.
struct Reset {
    unread: &'static [u8],
    has_failed: bool,
}

impl AsyncRead for Reset {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.has_failed {
            return Poll::Pending;
        }
        // The bytes are returned one by one, followed by the end.
        let (next, rest) = self.unread.split_at(self.unread.len().min(1));
        buffer.put_slice(next);
        self.unread = rest;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Reset {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        self.has_failed = true;
        Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn final_packets_are_read_after_write_failure() {
    let (packets, text): (&[u8], &[u8]) = (&[0, 15, 0, 1, 0, 10, 0, 0, 0, 0], b"HTTP/1.1 400 Bad Request");
    for (unread, kind, routed) in [
        (&[][..], CloseKind::Transport, 0),
        (packets, CloseKind::Transport, 1),
        (&packets[..9], CloseKind::Transport, 0),
        (text, CloseKind::BadMagic, 0),
    ] {
        let sink = Sink::default();
        let (running, handle) = drive(Reset { unread, has_failed: false }, sink.clone());
        handle
            .send_now(|outbox| outbox.forward(&packet()))
            .expect("connection should be open")
            .expect("packet should be within the maximum body size");
        let reason = running.await.done().ok().expect("connection should have a close reason");
        assert_eq!((reason.kind(), sink.0.load(Ordering::Relaxed)), (kind, routed), "{reason}");
    }
}

/// A transport that loses bytes: one read fails, and later reads continue with the bytes after the gap.
struct LossyTransport {
    reads: Vec<io::Result<&'static [u8]>>,
    write_fails: bool,
}

impl AsyncRead for LossyTransport {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.reads.is_empty() {
            return Poll::Ready(Ok(()));
        }
        buffer.put_slice(self.reads.remove(0)?);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for LossyTransport {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(if self.write_fails { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(bytes.len()) })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn reading_stops_after_read_error() {
    let (packet_bytes, text): (&[u8], &[u8]) = (&[0, 15, 0, 1, 0, 10, 0, 0, 0, 0], b"bytes behind the hole");
    for behind in [packet_bytes, text] {
        for write_fails in [false, true] {
            let sink = Sink::default();
            let reads = vec![Ok(packet_bytes), Err(io::ErrorKind::InvalidData.into()), Ok(behind)];
            let (running, handle) = drive(LossyTransport { reads, write_fails }, sink.clone());
            handle
                .send_now(|outbox| outbox.forward(&packet()))
                .expect("connection should be open")
                .expect("packet should be within the maximum body size");
            let reason = running.await.done().ok().expect("connection should have a close reason");
            let CloseReason::Io { kind, .. } = reason else { panic!("{reason}") };
            let expected = if write_fails { io::ErrorKind::BrokenPipe } else { io::ErrorKind::InvalidData };
            assert_eq!((kind, sink.0.load(Ordering::Relaxed)), (expected, 1));
        }
    }
}

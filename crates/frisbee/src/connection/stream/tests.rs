//! Tests of one end of a stream without a driver: its effects on outbox and memory, and its handling of received
//! packets.

mod batches;
mod end;

use super::*;
use crate::account::{Budget, Stats};
use crate::connection::ConnectionExt;
use crate::mailbox::HandOffState;
use crate::tests::wake_counter::task;
use crate::transport::endpoint::EndpointInfo;
use crate::{Config, PacketWriter, PeerKind};
use frisbee_core::{BatchSize, Decoder, HeaderForm, Hello, tlv};
use std::task::{Wake, Waker};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Handle;

const MIB: usize = 1 << 20;

/// Returns a peer that supports the protocol extension and grants this end `credit` bytes per stream.
fn native(credit: u32) -> PeerKind {
    let mut hello = Hello::decode(&Bytes::from_static(b"fris\x01")).expect("HELLO should be valid");
    (hello.stream_credit, hello.batches) = (credit, true);
    PeerKind::Native(Arc::new(hello))
}

/// The local end of a stream that the peer has opened.
struct End {
    budget: Arc<Budget>,
    connection: Connection,
    shared: Arc<StreamShared>,
}

impl End {
    fn new(peer: &PeerKind) -> (Self, Stream) {
        Self::with(peer, Config::default(), 16 * MIB)
    }

    fn with(peer: &PeerKind, config: Config, memory: usize) -> (Self, Stream) {
        let budget = Arc::new(Budget::new(memory, memory));
        let connection = Connection::server(&config.into(), &budget, Handle::current(), EndpointInfo::default());
        let shared = Arc::new(connection.0.stream(PacketId(7), peer, false));
        assert!(connection.0.mailbox.lock().streams.enter_opened_by_peer(shared.clone()));
        let stream = Stream::new(connection.0.clone(), shared.clone());
        (Self { budget, connection, shared }, stream)
    }

    /// Returns the operations and bodies of the packets that this end has sent.
    fn sent(&self) -> Vec<(Operation, Bytes)> {
        let mut bytes = self.connection.0.mailbox.lock().outbox.take_bytes();
        let mut decoder = Decoder::new(HeaderForm::Current, u32::MAX);
        let mut packets = Vec::new();
        while let Some(packet) = decoder.next(&mut bytes).expect("output should consist of valid packets") {
            assert_eq!(packet.stream(), Some(PacketId(7)));
            packets.push((packet.operation, packet.body));
        }
        packets
    }

    fn comes(&self, length: usize) -> StreamSignal {
        self.shared.handle_packet(vec![1; length].into()).expect("stream should accept the message")
    }

    fn receive_batch(&self, lengths: &[usize]) -> Option<StreamSignal> {
        let mut body = Vec::new();
        for length in lengths {
            tlv::put_varint(&mut body, *length as u64);
            body.resize(body.len() + length, 2);
        }
        let size = BatchSize::of(&body).expect("batch should contain valid messages");
        self.shared.handle_batch(&body.into(), &size)
    }

    fn half_close(&self) {
        self.connection.0.is_at_eof.store(true, Ordering::Relaxed);
        self.shared.handle_eof();
    }

    /// Returns the number of bytes charged to the server's memory for the connection.
    fn held(&self) -> usize {
        self.connection.0.mailbox.account.charged()
    }

    fn is_open(&self) -> bool {
        self.connection.0.mailbox.lock().streams.get(PacketId(7)).is_some()
    }
}

fn poll(stream: &mut Stream) -> Poll<Option<Bytes>> {
    stream.poll_recv(&mut Context::from_waker(Waker::noop()))
}

/// Reads the next message, which must have arrived, and returns its length.
fn read(stream: &mut Stream) -> usize {
    match poll(stream) {
        Poll::Ready(Some(message)) => message.len(),
        other => panic!("{other:?}"),
    }
}

fn full(sent: &Result<(), TrySendError>) -> bool {
    matches!(sent, Err(TrySendError::Full))
}

/// A waker that panics when it is woken.
struct BrokenWaker;

impl Wake for BrokenWaker {
    fn wake(self: Arc<Self>) {
        panic!("on purpose")
    }
}

/// Regression test: a panicking waker of a reader closed the connection.
#[tokio::test]
async fn panicking_waker_of_reader_is_caught() {
    let (end, mut stream) = End::new(&native(100));
    let mut wait = || {
        while stream.poll_recv(&mut Context::from_waker(&Arc::new(BrokenWaker).into())).is_ready() {}
    };
    wait();
    assert_eq!(end.comes(10), StreamSignal::Nothing);
    wait();
    assert_eq!(end.receive_batch(&[10, 20]), Some(StreamSignal::Nothing));
    wait();
    end.half_close();
}

#[tokio::test]
async fn credit_wakes_waiting_sender() {
    let (end, stream) = End::new(&native(100));
    let sender = stream.sender();
    stream.try_send(&Bytes::from_static(b"0123456789")).expect("stream should have credit for the message");
    sender
        .try_send(&Bytes::from_static(b"x"))
        .expect("message should be sent while some credit remains, even if it exceeds it");
    assert_eq!(end.shared.view().credit, Some(100 - 74 - 65));
    assert!(full(&stream.try_send(&Bytes::from_static(b"y"))));
    let (woken, waker) = task();
    let write = |mut packet: PacketWriter<'_>| {
        packet.put_slice(b"later");
        packet.finish()
    };
    let (mut context, mut waiter) = (Context::from_waker(&waker), sender.waiter());
    (0..3).for_each(|_| assert!(waiter.poll_send(&mut context, write).is_pending()));
    assert!(end.shared.handle_credit(&[39]));
    assert_eq!(woken.count(), 0, "sender should not be woken before it has credit");
    assert!(!end.shared.handle_credit(&[0x80]) && !end.shared.handle_credit(&[]));
    assert!(end.shared.handle_credit(&[1]));
    assert_eq!(woken.count(), 1, "sender should be woken once, after any number of polls");
    assert!(matches!(waiter.poll_send(&mut context, write), Poll::Ready(Ok(Ok(())))));
    assert_eq!(sender.bytes().sent, 16);
    let bodies: Vec<_> = end.sent().into_iter().map(|(_, body)| body).collect();
    assert_eq!(bodies.concat(), b"\x0a0123456789\x01x\x05later", "messages should be sent in one packet");
    let written = sender.send_now(|outbox, id| outbox.push(id, Operation::STREAM, b"now"));
    assert!(matches!(written, Ok(Ok(()))));
    assert_eq!((sender.bytes().sent, end.shared.view().credit), (19, Some(1 - 69 - 67)));
}

#[tokio::test]
async fn dropped_credit_wait_leaves_no_waiter() {
    let (end, stream) = End::new(&native(0));
    let (woken, waker) = task();
    let message = Bytes::from_static(b"x");
    {
        let mut sending = std::pin::pin!(stream.send(&message));
        (0..2).for_each(|_| assert!(sending.as_mut().poll(&mut Context::from_waker(&waker)).is_pending()));
        let mut closing = std::pin::pin!(async { stream.sender().closed().await });
        (0..2).for_each(|_| assert!(closing.as_mut().poll(&mut Context::from_waker(&waker)).is_pending()));
        assert_eq!(Arc::strong_count(&woken), 4);
    }
    assert_eq!(Arc::strong_count(&woken), 2);
    end.shared.handle_credit(&[100]);
    assert_eq!(woken.count(), 0);
}

#[tokio::test]
async fn empty_message_passes_to_native_peer_only() {
    let (end, stream) = End::new(&PeerKind::Compat);
    let (sender, empty) = (stream.sender(), Bytes::new());
    assert!(matches!(stream.try_send(&empty), Err(TrySendError::Failed(SendError::Empty))));
    assert!(matches!(stream.send(&empty).await, Err(SendError::Empty)));
    assert!(matches!(sender.send(&empty).await, Err(SendError::Empty)));
    stream.try_send(&Bytes::from_static(b"x")).expect("stream should have credit for the message");
    assert_eq!(end.sent(), [(Operation::STREAM, Bytes::from_static(b"x"))]);
    let (_, receiver) = stream.split();
    assert!(!sender.is_native() && !receiver.is_native());

    let (end, stream) = End::new(&native(1000));
    let (sender, id) = (stream.sender(), stream.id());
    stream.try_send(&empty).expect("stream should have credit for the message");
    assert_eq!((end.sent(), id), (vec![(Operation::STREAM, empty.clone())], PacketId(7)));
    sender.send(&empty).await.expect("empty message should be sent");
    assert_eq!(end.sent().len(), 1);
    assert!(stream.is_native() && sender.is_native() && stream.split().1.is_native());
}

#[tokio::test]
async fn unread_messages_are_charged_until_read() {
    let (end, mut stream) = End::new(&native(0));
    let idle = end.held();
    assert_eq!(idle, 2 * 1024, "the stream itself");
    assert_eq!(end.comes(500), StreamSignal::Nothing);
    assert_eq!(end.held(), idle, "less than a step");
    let _ = end.comes(396);
    assert_eq!((end.held(), end.shared.view().unread), (idle + 1024, 1024));
    let _ = end.comes(20_000);
    let unread = 1024 + 128 * 1024 + 64;
    assert_eq!(end.shared.view().unread, unread, "unread message should be charged with its read buffer");
    assert_eq!(end.held(), idle + unread / 1024 * 1024);
    let _ = end.comes(100_000);
    let unread = unread + 100_064;
    assert_eq!((end.shared.view().unread, end.held()), (unread, idle + unread / 1024 * 1024));
    assert_eq!([(); 4].map(|()| read(&mut stream)), [500, 396, 20_000, 100_000]);
    assert!(poll(&mut stream).is_pending());
    assert_eq!((end.shared.view().unread, end.held()), (0, idle));
    assert_eq!(stream.sender().bytes().received, 120_896);

    let _ = end.comes(5_000);
    let pinned = end.shared.clone();
    drop(stream);
    assert_eq!(end.held(), idle, "the message has no reader");
    let End { connection, shared, .. } = end;
    drop((shared, pinned));
    assert_eq!(connection.0.mailbox.account.charged(), 0);
}

#[tokio::test]
async fn message_exceeding_memory_ends_stream() {
    for count in 0..3 {
        let (end, mut stream) = End::with(&native(0), Config::default(), 256 * 1024);
        let (woken, waker) = task();
        assert!(stream.poll_recv(&mut Context::from_waker(&waker)).is_pending());
        let signal = match count {
            0 => end.comes(200_000),
            1 => end.receive_batch(&[5, 200_000]).expect("stream should accept the batch"),
            _ => {
                // Each batch is charged until the memory is exhausted.
                let signals =
                    std::iter::repeat_with(|| end.receive_batch(&[1000; 100]).expect("stream should accept the batch"));
                signals
                    .into_iter()
                    .find(|signal| *signal != StreamSignal::Nothing)
                    .expect("stream should be reset once the memory budget is exhausted")
            }
        };
        assert_eq!(signal, StreamSignal::Reset);
        assert_eq!((stream.close_reason(), Stats(end.budget.clone()).rejected()), (StreamEnd::Overflowed, 1));
        assert_eq!(woken.count(), 1);
        let message = Bytes::from_static(b"x");
        assert_eq!(end.shared.handle_packet(message.clone()), Err(message));
        assert!(end.shared.is_over() && stream.sender().is_closed());
        assert_eq!(end.shared.handle_rejected_body(), StreamSignal::Nothing);
    }
    let (end, stream) = End::new(&native(0));
    assert_eq!(end.shared.handle_rejected_body(), StreamSignal::Reset);
    assert_eq!(stream.close_reason(), StreamEnd::Overflowed);
}

#[tokio::test]
async fn exceeded_credit_resets_and_reads_renew() {
    let config = || Config::default().stream_credit(1000);
    for batched in [false, true] {
        let (end, mut stream) = End::with(&native(0), config(), 16 * MIB);
        let comes = |length| {
            if batched {
                end.receive_batch(&[length]).expect("stream should accept the batch")
            } else {
                end.comes(length)
            }
        };
        assert_eq!([comes(100), comes(700)], [StreamSignal::Nothing; 2]);
        assert!(end.sent().is_empty());
        assert_eq!([read(&mut stream), read(&mut stream)], [100, 700]);
        let mut credit = Vec::new();
        tlv::put_varint(&mut credit, 928);
        assert_eq!(
            end.sent(),
            [(Operation::CREDIT, credit.into())],
            "credit should be granted once a quarter has been read"
        );
        assert_eq!([comes(935), comes(0)], [StreamSignal::Nothing; 2], "999 are one less than all");
        assert_eq!(comes(0), StreamSignal::Reset);
        assert_eq!(stream.close_reason(), StreamEnd::Overflowed);
    }
    let (end, _stream) = End::with(&native(0), config(), 16 * MIB);
    assert_eq!(
        end.receive_batch(&[936, 0, 0]),
        Some(StreamSignal::Reset),
        "message above the limit should reset the stream"
    );
}

#[tokio::test]
async fn compat_or_finished_peers_get_no_credit() {
    let (end, mut stream) = End::with(&PeerKind::Compat, Config::default(), 256 * 1024);
    assert_eq!(end.comes(70_000), StreamSignal::Nothing);
    assert_eq!(read(&mut stream), 70_000);
    assert!(poll(&mut stream).is_pending() && end.sent().is_empty());
    for has_ended in [false, true] {
        let (end, mut stream) = End::new(&native(0));
        assert_eq!([end.comes(70_000), end.comes(20_000)], [StreamSignal::Nothing; 2]);
        if has_ended {
            assert!(end.shared.handle_end(b""));
        }
        assert_eq!(read(&mut stream), 70_000);
        assert_eq!(end.shared.view().unread, 128 * 1024 + 64, "other message should remain unread");
        assert_eq!(end.sent().len(), usize::from(!has_ended));
        assert_eq!(stream.recv().await.map(|message| message.len()), Some(20_000));
    }
}

#[tokio::test]
async fn only_client_hand_off_delays_stream_opening() {
    let budget = Arc::new(Budget::new(MIB, 0));
    let runtime = Handle::current;
    let server = Connection::server(&Default::default(), &budget, runtime(), EndpointInfo::default());
    let client = Connection::client(&Default::default(), budget, runtime(), EndpointInfo::default());
    let first = Bytes::from_static(b"first");
    for (connection, hand_off_state) in [(client, HandOffState::Requested), (server, HandOffState::Undecided)] {
        let waits = hand_off_state == HandOffState::Requested;
        let (woken, waker) = task();
        let mut opening = StreamOpening::new(&connection);
        let mut open = || Stream::poll_open(&connection.0, &first, &mut Context::from_waker(&waker), &mut opening);
        assert!(open().is_ready(), "stream should open, because none is in transit");
        connection.0.mailbox.set_hand_off_state(hand_off_state);
        assert_eq!(open().is_pending(), waits);
        connection.0.mailbox.set_hand_off_state(HandOffState::No);
        assert_eq!(woken.count(), usize::from(waits));
        assert!(open().is_ready());
    }
}

/// Regression test: the number of queued requests to open a stream was not limited, although each may be as long as the
/// maximum message.
#[tokio::test]
async fn stream_opening_waits_for_room_and_memory() {
    let budget = Arc::new(Budget::new(MIB, 0));
    let config = Config::default().backlog_max(64 * 1024).into();
    let connection = Connection::server(&config, &budget, Handle::current(), EndpointInfo::default());
    let other = Connection::server(&config, &budget, Handle::current(), EndpointInfo::default());
    connection.0.mailbox.lock().peer = native(0);
    let first = Bytes::from(vec![1; 1000]);
    let (woken, waker) = task();
    // When memory is exhausted, 4 KiB may be queued, plus the packet that exceeds this limit.
    for (held, most) in [(0, 65), (MIB, 5)] {
        let _held = other.charge(held);
        connection.0.mailbox.lock().outbox.take_bytes();
        let mut opening = StreamOpening::new(&connection);
        let mut open = || Stream::poll_open(&connection.0, &first, &mut Context::from_waker(&waker), &mut opening);
        let is_open = |opened: &Poll<Result<Stream, SendError>>| matches!(opened, Poll::Ready(Ok(_)));
        let opened = std::iter::repeat_with(&mut open).take(100).take_while(is_open).collect::<Vec<_>>();
        assert_eq!(opened.len(), most, "openings with {held} bytes held");
        let before = woken.count();
        connection.0.mailbox.lock().outbox.take_bytes();
        connection.0.mailbox.handle_drained(&mut Default::default(), 0);
        assert!(woken.count() > before && open().is_ready(), "stream should open once there is space again");
    }
}

fn is_sent(sending: &mut std::pin::Pin<Box<impl Future>>, waker: &Waker) -> bool {
    sending.as_mut().poll(&mut Context::from_waker(waker)).is_ready()
}

/// On a congested link, streams send in turns, and calls precede them.
#[tokio::test]
async fn turns_go_to_least_sending_streams() {
    let budget = Arc::new(Budget::new(MIB, 0));
    let connection = Connection::server(&Config::default().into(), &budget, Handle::current(), EndpointInfo::default());
    let mailbox = &connection.0.mailbox;
    mailbox.lock().peer = native(1 << 30);
    let streams = [1, 3, 5].map(|id| {
        let shared = Arc::new(connection.0.stream(PacketId(id), &native(1 << 30), false));
        Stream::new(connection.0.clone(), shared)
    });
    let message = Bytes::from(vec![1; 8 * 1024]);
    let sent = (0..100).take_while(|_| streams[0].try_send(&message).is_ok()).count();
    assert_eq!(sent, 8, "64 KiB should be sent");
    let call = |length| connection.try_send(&crate::Packet::new(PacketId(1), Operation::FIRST_USER, vec![2; length]));
    assert!(call(10).is_ok());
    let tasks = [(); 3].map(|()| task());
    let mut sending: Vec<_> = streams.iter().map(|stream| Box::pin(stream.send(&message))).collect();
    assert!((0..3).all(|index| !is_sent(&mut sending[index], &tasks[index].1)));
    let woken = || tasks.each_ref().map(|(woken, _)| woken.count());
    let drain = |left: usize| {
        mailbox.lock().outbox.take_bytes();
        mailbox.handle_drained(&mut Default::default(), left);
    };
    drain(64 * 1024 - 1);
    assert_eq!(woken(), [0, 1, 0], "second task should be woken after the turn of the first");
    drain(60 * 1024 - 1);
    assert_eq!(woken(), [0, 1, 1]);
    // Regression test: a task was never woken again after a call had overtaken it.
    assert!(call(100_000).is_ok());
    assert!(is_sent(&mut sending[1], &tasks[1].1) && !is_sent(&mut sending[0], &tasks[0].1));
    // When a task is dropped, its turn passes to the next one.
    drain(0);
    assert_eq!(woken(), [1, 1, 1]);
    drop(sending.remove(2));
    assert!(is_sent(&mut sending[0], &tasks[0].1));
}

#[tokio::test]
async fn stream_slots_are_granted_in_order() {
    let budget = Arc::new(Budget::new(MIB, 0));
    let connection = Connection::server(&Default::default(), &budget, Handle::current(), EndpointInfo::default());
    let mut hello = Hello::decode(&Bytes::from_static(b"fris\x01")).expect("HELLO should be valid");
    hello.streams_max = 1;
    connection.0.mailbox.lock().peer = PeerKind::Native(Arc::new(hello));
    let first = Bytes::from_static(b"first");
    let tasks = [(); 3].map(|()| task());
    let [mut one, mut two, mut late] = [(); 3].map(|()| StreamOpening::new(&connection));
    let open = |opening: &mut StreamOpening<'_>, index: usize| {
        let mut context = Context::from_waker(&tasks[index].1);
        Stream::poll_open(&connection.0, &first, &mut context, opening)
            .map(|opened| opened.expect("connection should be open"))
    };
    let Poll::Ready(stream) = open(&mut StreamOpening::new(&connection), 0) else {
        panic!("stream should open while a slot is free")
    };
    assert!(open(&mut one, 0).is_pending() && open(&mut two, 1).is_pending());
    drop(stream);
    assert_eq!(tasks.each_ref().map(|(woken, _)| woken.count()), [1, 0, 0]);
    assert!(open(&mut late, 2).is_pending(), "later task should wait, because the slot is granted to the first one");
    let Poll::Ready(stream) = open(&mut one, 0) else { panic!("task with the granted slot should open its stream") };
    drop(stream);
    drop(two);
    assert_eq!(
        tasks.each_ref().map(|(woken, _)| woken.count()),
        [1, 1, 1],
        "permit of a dropped task should be passed on"
    );
    assert!(open(&mut late, 2).is_ready());
    assert!(connection.0.mailbox.lock().openers.is_empty());
}

#[tokio::test]
async fn reader_with_constant_messages_yields_to_others() {
    let (end, mut stream) = End::with(&PeerKind::Compat, Config::default(), 16 * MIB);
    (0..2500).for_each(|_| assert_eq!(end.comes(1), StreamSignal::Nothing));
    let (woken, waker) = task();
    let mut context = Context::from_waker(&waker);
    let mut at_once = Vec::new();
    while at_once.iter().sum::<usize>() < 2500 {
        let read = std::iter::repeat_with(|| stream.poll_recv(&mut context)).take_while(Poll::is_ready).take(2500);
        at_once.push(read.count());
    }
    assert_eq!(at_once, [1009, 1009, 482]);
    assert_eq!(woken.count(), 2, "reader should wake itself each time it yields");
}

#[tokio::test]
async fn queued_message_exposes_length_and_bytes() {
    for length in [0, 5, 16 * 1024 - 1, 16 * 1024] {
        let (end, stream) = End::new(&native(0));
        let (sender, mut receiver) = stream.split();
        (0..3).for_each(|_| assert_eq!(end.comes(length), StreamSignal::Nothing));
        let mut context = Context::from_waker(Waker::noop());
        let looked = receiver.poll_recv_with(&mut context, |message| {
            let is_shared = matches!(message, Message::Shared(_));
            (message.len(), message.is_empty(), is_shared, message.into_bytes())
        });
        let bytes = Bytes::from(vec![1; length]);
        assert_eq!(looked, Poll::Ready(Some((length, length == 0, length == 16 * 1024, bytes.clone()))));
        assert_eq!(receiver.recv().await, Some(bytes.clone()));
        assert_eq!(receiver.poll_recv(&mut context), Poll::Ready(Some(bytes)));
        assert_eq!((receiver.bytes(), receiver.bytes().received), (sender.bytes(), 3 * length as u64));
    }
}

#[tokio::test]
async fn byte_reads_span_message_boundaries() {
    let (end, stream) = End::new(&native(1 << 20));
    let mut io = stream.into_io();
    assert_eq!(io.write(b"").await.expect("empty write should succeed"), 0);
    assert!(end.sent().is_empty());
    assert_eq!(io.write(&[9; 100_000]).await.expect("stream should accept some of the bytes"), 64 * 1024);
    io.flush().await.expect("stream should flush its pending bytes");
    assert_eq!(end.sent(), [(Operation::STREAM, vec![9; 64 * 1024].into())]);
    let _ = end.comes(3);
    let _ = end.comes(0);
    let _ = end.comes(4);
    let mut buffer = [0; 2];
    let mut lengths = Vec::new();
    for _ in 0..4 {
        lengths.push(io.read(&mut buffer).await.expect("stream should return the received bytes"));
    }
    assert_eq!(lengths, [2, 1, 2, 2]);
    io.shutdown().await.expect("stream should shut down its sending direction");
    assert_eq!(end.sent(), [(Operation::END, Bytes::new())]);
    assert_eq!(
        io.write(b"x").await.expect_err("write after the shutdown should fail").kind(),
        std::io::ErrorKind::BrokenPipe
    );
    assert!(end.shared.handle_end(b""));
    assert_eq!(io.read(&mut buffer).await.expect("read after the end of the stream should succeed"), 0);
}

#[test]
fn each_owner_has_one_event_waiter() {
    let [(first, one), (second, two)] = [(); 2].map(|()| task());
    let mut waiters = crate::mailbox::stream::EventWaiters::default();
    let mut numbers = [0, 0];
    for _ in 0..2 {
        assert!(waiters.enter(&Context::from_waker(&one), &mut numbers[0]).is_none());
    }
    assert!(waiters.enter(&Context::from_waker(&one), &mut numbers[1]).is_none());
    assert!(
        waiters.enter(&Context::from_waker(&two), &mut numbers[1]).is_some(),
        "waiter should replace the previous one"
    );
    assert_eq!(numbers, [1, 2]);
    assert!(waiters.leave(3).is_none());
    assert!(waiters.leave(numbers[0]).is_some() && waiters.leave(numbers[0]).is_none());
    waiters.take().into_iter().for_each(Waker::wake);
    assert_eq!([first.count(), second.count()], [0, 1]);
    assert!(waiters.take().is_empty());
}

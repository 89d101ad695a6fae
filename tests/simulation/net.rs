//! A network in memory and in virtual time: it splits, delays, holds back, cuts and loses as its seed says.

use fastrand::Rng;
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// What one direction holds before its writer waits, in bytes.
const CAPACITY: usize = 64 * 1024;

/// A network. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Net(Arc<Mutex<Shared>>);

struct Shared {
    rng: Rng,
    start: Instant,
    trace: u64,
    /// Nothing arrives before.
    held_until: Instant,
    /// Flips bits.
    corrupts: bool,
    /// Prints what happens.
    speaks: bool,
    /// Cuts the first connection behind so many bytes of client or server.
    cut: Option<(usize, u64)>,
    wires: Vec<Weak<Mutex<Wire>>>,
}

/// A connection: what is under way from client to server, and from server to client.
#[derive(Default)]
struct Wire {
    ways: [Way; 2],
    reset: bool,
}

#[derive(Default)]
struct Way {
    /// With the time at which it arrives; `None` is never.
    under_way: VecDeque<(Option<Instant>, VecDeque<u8>)>,
    length: usize,
    written: u64,
    cut_at: Option<u64>,
    swallows: bool,
    /// The writer has ended it.
    ended: bool,
    /// The reader has gone.
    left: bool,
    last: Option<Instant>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// What may happen to a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// Both ends see a reset.
    Reset,
    /// From now on nothing arrives, and nobody is told.
    Swallow,
    /// It is cut behind so many further bytes.
    CutBehind(u64),
}

impl Net {
    pub(crate) fn new(seed: u64, corrupts: bool, speaks: bool) -> Self {
        let start = Instant::now();
        Self(Arc::new(Mutex::new(Shared {
            rng: Rng::with_seed(seed),
            start,
            trace: 0xcbf2_9ce4_8422_2325,
            held_until: start,
            corrupts,
            speaks,
            cut: None,
            wires: Vec::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock()
    }

    /// Draws from the one source of chance.
    pub(crate) fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.lock().rng)
    }

    /// Adds to the trace what has happened.
    pub(crate) fn note(&self, what: &str, numbers: [u64; 2]) {
        self.lock().note(what, numbers);
    }

    /// Of all that has happened.
    pub(crate) fn trace(&self) -> u64 {
        self.lock().trace
    }

    /// Has the first connection cut behind so many bytes from the client (0) or the server (1).
    pub(crate) fn cut_first(&self, side: usize, behind: u64) {
        self.lock().cut = Some((side, behind));
    }

    /// Lets nothing arrive for a while, on any connection.
    pub(crate) fn partition(&self, time: Duration) {
        let mut net = self.lock();
        net.held_until = Instant::now() + time;
        net.note("partition", [time.as_millis() as u64, 0]);
    }

    /// Something happens to one of the connections.
    pub(crate) fn strike(&self, fault: Fault) {
        let mut net = self.lock();
        net.wires.retain(|wire| wire.strong_count() > 0);
        if net.wires.is_empty() {
            return;
        }
        let wires = net.wires.len();
        let (index, side) = (net.rng.usize(..wires), net.rng.usize(..2));
        let Some(wire) = net.wires[index].upgrade() else { return };
        net.note("strike", [index as u64, side as u64]);
        drop(net);
        let mut wire = wire.lock();
        match fault {
            Fault::Reset => wire.reset(),
            Fault::Swallow => wire.ways[side].swallows = true,
            Fault::CutBehind(bytes) => wire.ways[side].cut_at = Some(wire.ways[side].written + bytes),
        }
    }

    /// A connection: the client's end and the server's.
    pub(crate) fn connect(&self) -> (End, End) {
        let mut net = self.lock();
        let mut wire = Wire::default();
        if let Some((side, behind)) = net.cut.take() {
            wire.ways[side].cut_at = Some(behind);
        }
        let wire = Arc::new(Mutex::new(wire));
        net.wires.push(Arc::downgrade(&wire));
        net.note("connect", [0, 0]);
        let end = |side| End { net: self.clone(), wire: wire.clone(), side, sleep: None };
        (end(0), end(1))
    }
}

impl Shared {
    fn note(&mut self, what: &str, numbers: [u64; 2]) {
        let at = self.start.elapsed().as_millis() as u64;
        if self.speaks {
            println!("{at:>8} ms  {what} {numbers:?}");
        }
        let numbers = numbers.into_iter().chain([at]).flat_map(u64::to_le_bytes);
        for byte in what.bytes().chain(numbers) {
            self.trace = (self.trace ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Wire {
    fn reset(&mut self) {
        self.reset = true;
        self.ways.iter_mut().for_each(Way::wake);
    }
}

impl Way {
    fn wake(&mut self) {
        self.reader.take().into_iter().chain(self.writer.take()).for_each(Waker::wake);
    }
}

/// One end of a connection.
pub(crate) struct End {
    net: Net,
    wire: Arc<Mutex<Wire>>,
    side: usize,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl AsyncRead for End {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            let mut wire = this.wire.lock();
            if wire.reset {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            let way = &mut wire.ways[1 - this.side];
            let Some((due, bytes)) = way.under_way.front_mut() else {
                if way.ended {
                    return Poll::Ready(Ok(()));
                }
                way.reader = Some(context.waker().clone());
                return Poll::Pending;
            };
            let Some(due) = *due else {
                way.reader = Some(context.waker().clone());
                return Poll::Pending;
            };
            if due <= Instant::now() {
                let mut net = this.net.lock();
                let most = bytes.len().min(to.remaining());
                let count = if net.rng.bool() { most } else { net.rng.usize(1..=most) };
                for byte in bytes.drain(..count) {
                    let flipped = if net.corrupts && net.rng.u32(..2_000) == 0 { 1 << net.rng.u32(..8) } else { 0 };
                    to.put_slice(&[byte ^ flipped]);
                }
                net.note("read", [this.side as u64, count as u64]);
                drop(net);
                if bytes.is_empty() {
                    way.under_way.pop_front();
                }
                way.length -= count;
                let writer = way.writer.take();
                drop(wire);
                writer.into_iter().for_each(Waker::wake);
                return Poll::Ready(Ok(()));
            }
            way.reader = Some(context.waker().clone());
            drop(wire);
            let sleep = this.sleep.insert(Box::pin(sleep_until(due)));
            std::task::ready!(sleep.as_mut().poll(context));
        }
    }
}

impl AsyncWrite for End {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut wire = self.wire.lock();
        if wire.reset {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let way = &mut wire.ways[self.side];
        if way.left || way.ended {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = CAPACITY.saturating_sub(way.length);
        if room == 0 {
            way.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        let mut net = self.net.lock();
        let most = bytes.len().min(room);
        let mut count = if most == 0 || net.rng.bool() { most } else { net.rng.usize(1..=most) };
        let mut is_cut = false;
        if let Some(cut_at) = way.cut_at {
            let left = usize::try_from(cut_at.saturating_sub(way.written)).unwrap_or(usize::MAX);
            is_cut = count >= left;
            count = count.min(left);
        }
        let delay = if net.rng.u32(..4) == 0 { net.rng.u64(..20) } else { 0 };
        let due = (Instant::now() + Duration::from_millis(delay)).max(net.held_until);
        let due = way.last.map_or(due, |last| last.max(due));
        way.last = Some(due);
        if count > 0 {
            way.under_way.push_back(((!way.swallows).then_some(due), bytes[..count].iter().copied().collect()));
        }
        way.length += count;
        way.written += count as u64;
        net.note("write", [self.side as u64, count as u64]);
        let loses = is_cut && net.rng.bool();
        drop(net);
        let reader = way.reader.take();
        if is_cut {
            if loses {
                wire.reset(); // What is under way is lost.
            } else {
                wire.ways.iter_mut().for_each(|way| way.ended = true); // What is under way arrives.
            }
        }
        drop(wire);
        reader.into_iter().for_each(Waker::wake);
        if count == 0 { Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) } else { Poll::Ready(Ok(count)) }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut wire = self.wire.lock();
        wire.ways[self.side].ended = true;
        wire.ways[self.side].wake();
        Poll::Ready(Ok(()))
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let mut wire = self.wire.lock();
        wire.ways[self.side].ended = true;
        wire.ways[1 - self.side].left = true;
        wire.ways.iter_mut().for_each(Way::wake);
    }
}

//! Connections between nodes: the transport of each end, and the bytes in flight.

use crate::state::{Shared, State};
use crate::trace::{EventKind, RawEvent};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

/// Bandwidth of a link in bytes per second during a [`Fault::Slow`](crate::Fault::Slow).
const SLOW: u64 = 2_000;

/// Number of chunks per second on a link of limited bandwidth.
const PIECES: u64 = 20;

/// Probability that a byte arrives with a flipped bit during a [`Fault::Corrupt`](crate::Fault::Corrupt).
const CORRUPT: f64 = 1.0 / 2_000.0;

/// Kind of the error for a connection after its world has ended.
const WORLD_ENDED: io::ErrorKind = io::ErrorKind::NotConnected;

/// A simulated connection between two processes.
pub(crate) struct Wire {
    /// Numbers of the nodes at the dialling and at the accepting end.
    pub(crate) nodes: [usize; 2],
    /// Numbers of the processes at the dialling and at the accepting end.
    processes: [u64; 2],
    /// Directions of the connection: from the dialling end, and from the accepting end.
    pub(crate) ways: [Direction; 2],
    pub(crate) is_reset: bool,
    /// Number of ends of the connection that are still open.
    ends: u8,
}

/// One direction of a simulated connection.
#[derive(Default)]
pub(crate) struct Direction {
    under_way: VecDeque<Chunk>,
    /// Total number of unread bytes in `under_way`.
    length: usize,
    written: u64,
    /// Number of written bytes after which the connection is cut, or `None` if it is not to be cut.
    pub(crate) cut_at: Option<u64>,
    /// Whether all written bytes are silently lost.
    pub(crate) is_silent: bool,
    /// Whether the writer has shut down this direction.
    has_ended: bool,
    /// Whether the reader has read the end of this direction.
    is_over: bool,
    /// Whether the reading end of this direction was dropped.
    is_left: bool,
    /// Arrival time of the last chunk in microseconds.
    last: u64,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// Bytes that arrive together. An empty chunk represents the end of the direction.
struct Chunk {
    /// Arrival time of the chunk in milliseconds.
    due: u64,
    bytes: Vec<u8>,
    read: usize,
}

impl Wire {
    pub(crate) fn wakers(&mut self) -> impl Iterator<Item = Waker> {
        self.ways.iter_mut().flat_map(|way| way.reader.take().into_iter().chain(way.writer.take()))
    }
}

impl Direction {
    /// Cuts the connection after a number of further bytes in this direction.
    pub(crate) fn cut_after(&mut self, bytes: u64) {
        self.cut_at = Some(self.written + bytes);
    }

    fn end(&mut self, now: u64) {
        if !self.has_ended {
            self.has_ended = true;
            self.under_way.push_back(Chunk { due: now.max(self.last / 1_000), bytes: Vec::new(), read: 0 });
        }
    }
}

/// One end of a connection between two nodes: a transport for channels, acceptors and anything else that reads and
/// writes bytes.
///
/// Created by [`Process::dial`](crate::Process::dial). The other node receives its end by
/// [`Process::accept`](crate::Process::accept).
pub struct Transport {
    shared: Arc<Shared>,
    wire: usize,
    side: usize,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("connection", &(self.wire + 1)).field("side", &self.side).finish()
    }
}

/// Creates a connection between two processes and returns its two ends.
pub(crate) fn connect(shared: &Arc<Shared>, state: &mut State, ends: [(usize, u64); 2]) -> [Transport; 2] {
    let (nodes, processes) = (ends.map(|end| end.0), ends.map(|end| end.1));
    state.wires.push(Some(Box::new(Wire { nodes, processes, ways: Default::default(), is_reset: false, ends: 2 })));
    let wire = state.wires.len() - 1;
    let raw =
        RawEvent { peer: Some(nodes[1]), connection: wire as u64 + 1, ..RawEvent::at(EventKind::Connect, nodes[0]) };
    shared.trace(state, &raw);
    [0, 1].map(|side| Transport { shared: shared.clone(), wire, side, sleep: None })
}

impl Transport {
    /// Returns a trace event of this end of the connection.
    fn event(&self, wire: &Wire, kind: EventKind, bytes: usize) -> RawEvent<'static> {
        let (node, peer) = (wire.nodes[self.side], wire.nodes[1 - self.side]);
        let connection = self.wire as u64 + 1;
        RawEvent { kind, node: Some(node), peer: Some(peer), connection, bytes: bytes as u64, text: "" }
    }

    /// Completes when this end may read or write, and waits while its node is paused. Fails if its process has ended or
    /// the connection was reset.
    fn poll_may_act(&self, state: &mut State, wire: &Wire, waker: &Waker) -> Poll<io::Result<()>> {
        Poll::Ready(match ready!(state.poll_runs(wire.nodes[self.side], wire.processes[self.side], waker)) {
            false => Err(io::ErrorKind::ConnectionAborted.into()),
            true if wire.is_reset => Err(io::ErrorKind::ConnectionReset.into()),
            true => Ok(()),
        })
    }

    /// Reads the bytes that have arrived. If there are none, returns the time at which bytes will arrive.
    fn read(&self, state: &mut State, wire: &mut Wire, waker: &Waker, to: &mut ReadBuf<'_>) -> ReadState {
        match self.poll_may_act(state, wire, waker) {
            Poll::Pending => return ReadState::Nothing,
            Poll::Ready(Err(error)) => return ReadState::Done(Err(error), None),
            Poll::Ready(Ok(())) => {}
        }
        let (from, here) = (wire.nodes[1 - self.side], wire.nodes[self.side]);
        let way = &mut wire.ways[1 - self.side];
        if way.is_over || to.remaining() == 0 {
            return ReadState::Done(Ok(()), None);
        }
        let faults = state.faults(from, here);
        let due = way.under_way.front().map(|chunk| chunk.due.max(faults.blocked));
        let (Some(due), false) = (due, way.is_silent) else {
            way.reader = Some(waker.clone());
            return ReadState::Nothing;
        };
        let now = self.shared.now();
        if due > now {
            way.reader = Some(waker.clone());
            return ReadState::At(due);
        }
        let cable = state.cable(from, here);
        let Some(chunk) = way.under_way.front_mut() else { return ReadState::Nothing };
        let most = (chunk.bytes.len() - chunk.read).min(to.remaining());
        if most == 0 {
            way.is_over = true;
            return ReadState::Done(Ok(()), None);
        }
        let count = part(state, most, cable.splits);
        let bytes = &chunk.bytes[chunk.read..chunk.read + count];
        let flips = if faults.corrupt > now { CORRUPT } else { cable.flips };
        if flips > 0.0 {
            for byte in bytes {
                let flipped = if state.rng.f64() < flips { 1 << state.rng.u32(..8) } else { 0 };
                to.put_slice(&[byte ^ flipped]);
            }
        } else {
            to.put_slice(bytes);
        }
        chunk.read += count;
        if chunk.read == chunk.bytes.len() {
            way.under_way.pop_front();
        }
        way.length -= count;
        let writer = way.writer.take();
        let event = self.event(wire, EventKind::Read, count);
        self.shared.trace(state, &event);
        ReadState::Done(Ok(()), writer)
    }

    fn write(&self, state: &mut State, wire: &mut Wire, waker: &Waker, bytes: &[u8]) -> Poll<Written> {
        if let Err(error) = ready!(self.poll_may_act(state, wire, waker)) {
            return Poll::Ready((Err(error), Vec::new()));
        }
        let (here, to) = (wire.nodes[self.side], wire.nodes[1 - self.side]);
        let cable = state.cable(here, to);
        let way = &mut wire.ways[self.side];
        if way.is_left || way.has_ended {
            return Poll::Ready((Err(io::ErrorKind::BrokenPipe.into()), Vec::new()));
        }
        let room = cable.capacity.saturating_sub(way.length);
        if room == 0 {
            way.writer = Some(waker.clone());
            return Poll::Pending;
        }
        if cable.resets > 0.0 && state.rng.f64() < cable.resets {
            return self.reset(state, wire);
        }
        let most = bytes.len().min(room);
        let mut count = if most == 0 { 0 } else { part(state, most, cable.splits) };
        let mut is_cut = false;
        if let Some(cut_at) = way.cut_at {
            let left = usize::try_from(cut_at.saturating_sub(way.written)).unwrap_or(usize::MAX);
            is_cut = count >= left;
            count = count.min(left);
        }
        let now = self.shared.now();
        let latency = state.latency(here, to, now);
        let bandwidth = if state.faults(here, to).slow > now { Some(SLOW) } else { cable.bandwidth };
        way.last = way.last.max((now + latency) * 1_000);
        let mut wakers = Vec::new();
        if count > 0 {
            if way.under_way.is_empty() {
                wakers.extend(way.reader.take());
            }
            // Deliver in pieces, because a slow link must not deliver everything at the end.
            let most = bandwidth.map_or(count, |bandwidth| (bandwidth / PIECES).clamp(1, count as u64) as usize);
            for piece in bytes[..count].chunks(most) {
                way.last += bandwidth.map_or(0, |bandwidth| piece.len() as u64 * 1_000_000 / bandwidth);
                way.under_way.push_back(Chunk { due: way.last.div_ceil(1_000), bytes: piece.to_vec(), read: 0 });
            }
        }
        way.length += count;
        way.written += count as u64;
        let event = self.event(wire, EventKind::Write, count);
        self.shared.trace(state, &event);
        if is_cut {
            // Choose at random whether the bytes in flight are lost or delivered.
            if state.rng.bool() {
                return self.reset(state, wire);
            }
            wire.ways.iter_mut().for_each(|way| way.end(now));
            wakers.extend(wire.wakers());
        }
        let done = if count == 0 && !bytes.is_empty() { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(count) };
        Poll::Ready((done, wakers))
    }

    /// Resets the connection at both ends.
    fn reset(&self, state: &mut State, wire: &mut Wire) -> Poll<Written> {
        wire.is_reset = true;
        let event = self.event(wire, EventKind::Reset, 0);
        self.shared.trace(state, &event);
        Poll::Ready((Err(io::ErrorKind::ConnectionReset.into()), wire.wakers().collect()))
    }

    /// Calls a function with the connection, which is removed from the state during the call. Returns `None` if the
    /// connection no longer exists.
    fn with_wire<R>(&self, run: impl FnOnce(&mut State, &mut Wire) -> R) -> Option<R> {
        let mut state = self.shared.lock();
        let mut wire = state.wires.get_mut(self.wire)?.take()?;
        let result = run(&mut state, &mut wire);
        state.wires[self.wire] = Some(wire);
        Some(result)
    }
}

/// Returns the number of bytes to transfer, which is `most` or a random part of it.
fn part(state: &mut State, most: usize, splits: f64) -> usize {
    if most > 1 && splits > 0.0 && state.rng.f64() < splits { state.rng.u64(1..=most as u64) as usize } else { most }
}

enum ReadState {
    Done(io::Result<()>, Option<Waker>),
    At(u64),
    Nothing,
}

/// Result of a write, with the wakers of both ends to be woken.
type Written = (io::Result<usize>, Vec<Waker>);

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            let reading = this.with_wire(|state, wire| this.read(state, wire, context.waker(), to));
            match reading.ok_or(WORLD_ENDED)? {
                ReadState::Done(result, writer) => {
                    // Wake the tasks after the lock is released.
                    writer.into_iter().for_each(Waker::wake);
                    return Poll::Ready(result);
                }
                ReadState::Nothing | ReadState::At(crate::state::FOREVER) => return Poll::Pending,
                ReadState::At(due) => {
                    let until = this.shared.instant(due);
                    let sleep = this.sleep.get_or_insert_with(|| Box::pin(sleep_until(until)));
                    if sleep.deadline() != until {
                        sleep.as_mut().reset(until);
                    }
                    ready!(sleep.as_mut().poll(context));
                }
            }
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let writing = self.with_wire(|state, wire| self.write(state, wire, context.waker(), bytes));
        let (result, wakers) = ready!(writing.ok_or(WORLD_ENDED)?);
        wakers.into_iter().for_each(Waker::wake);
        Poll::Ready(result)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let now = self.shared.now();
        let wakers: Option<Vec<_>> = self.with_wire(|state, wire| {
            let event = self.event(wire, EventKind::Close, 0);
            self.shared.trace(state, &event);
            wire.ways[self.side].end(now);
            wire.wakers().collect()
        });
        wakers.into_iter().flatten().for_each(Waker::wake);
        Poll::Ready(Ok(()))
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        let now = self.shared.now();
        let mut state = self.shared.lock();
        let Some(wire) = state.wires.get_mut(self.wire).and_then(Option::as_mut) else { return };
        // The end of a crashed process does not reach the peer, because the crash has silenced this direction.
        wire.ways[self.side].end(now);
        wire.ways[1 - self.side].is_left = true;
        wire.ends -= 1;
        let wakers: Vec<_> = wire.wakers().collect();
        if wire.ends == 0 {
            state.wires[self.wire] = None;
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

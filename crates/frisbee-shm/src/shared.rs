//! A connection whose bytes go through shared memory: the two rings, the bells, and the socket that says whether the peer
//! lives.
//!
//! ```text
//!           bytes, or room for them                nothing to read, or no room
//!  awake <-------------------------- looks once more ------------------------> flag set, asleep
//!    ^                                                                            |
//!    +------------------- bell, or the end of the socket -------------------------+
//! ```
//!
//! Before an end sleeps it enters its task with the bell and the socket, sets its flag and looks once more, in this order.
//! The flag stays set while the task is awake for another reason, unless it finds something: it would set it again.

use crate::bell::Bells;
use crate::memory::{End, Memory, Word};
use crate::offer::{self, Message, Says};
use crate::ring::{Change, Reader, Violation, Writer};
use crate::sleep;
use crate::waiting::{Wait, Waiting};
use rustix::net::RecvFlags;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{Interest, ReadBuf};
use tokio::net::UnixStream;
use tokio::task::coop;

/// How often one poll looks for what a bell has announced, before other tasks have their turn.
const LOOKS_MAX: u32 = 3;

/// A part of a ring after which the other end may go on, while the rest is copied. Rings of a few pages have one part.
const PARTS: u32 = 4;
const PART_MIN: u32 = 4096;

/// How many bells a peer may ring beyond those that it has earned: more than chance brings.
const BELLS_FOR_NOTHING_MAX: u32 = 256;

/// How many bells a peer earns each time that it has written or read something. One is for that, and may be heard later;
/// the other for a flag that was set until then and is not waited for any more.
const BELLS_EARNED: u32 = 2;

/// What two ends have agreed on.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) head: Memory,
    pub(crate) bells: Bells,
    /// The largest ring that either end may take.
    pub(crate) ring_max: u32,
}

/// A connection through shared memory.
#[derive(Debug)]
pub(crate) struct Shared<P> {
    end: End,
    head: Memory,
    writer: Writer,
    reader: Reader,
    /// The largest ring that the peer may take.
    ring_max: u32,
    /// The ring that the peer has sent and not gone on in yet.
    sent: Option<Memory>,
    bells: Bells,
    socket: UnixStream,
    waiting: Waiting,
    /// The flags that this end has set and not taken back, for each [`Wait`].
    has_set: [bool; 2],
    /// The socket has ended, and so has the peer.
    ended: bool,
    /// This end writes no more.
    closed: bool,
    /// How many bells more may ring for nothing.
    patience: u32,
    spin: Spin,
    /// What is held for as long as the connection lasts.
    _permit: P,
}

impl<P> Shared<P> {
    pub(crate) fn new(end: End, made: Made, socket: UnixStream, spin: Duration, permit: P) -> Self {
        let Made { head, bells, ring_max } = made;
        Self {
            end,
            head,
            writer: Writer::new(end, ring_max),
            reader: Reader::new(end.other()),
            ring_max,
            sent: None,
            bells,
            socket,
            waiting: Waiting::default(),
            has_set: [false; 2],
            ended: false,
            closed: false,
            patience: BELLS_FOR_NOTHING_MAX,
            spin: Spin { most: spin, since: None },
            _permit: permit,
        }
    }

    /// The socket beside the memory.
    pub(crate) fn socket(&self) -> &UnixStream {
        &self.socket
    }

    /// Moves it to the current runtime.
    pub(crate) fn move_here(&mut self) -> io::Result<()> {
        self.bells.move_here()?;
        crate::stream::renew(&mut self.socket)
    }

    /// As [`AsyncRead::poll_read`](tokio::io::AsyncRead::poll_read).
    pub(crate) fn poll_read(&mut self, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if into.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let budget = ready!(coop::poll_proceed(context));
        for _ in 0..LOOKS_MAX {
            // What had been written before the end is in the ring by now.
            let is_over = self.ended || self.peer_has_closed();
            if self.read(into)? || is_over {
                budget.made_progress();
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_wait(Wait::Data, context))?;
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// As [`AsyncWrite::poll_write_vectored`](tokio::io::AsyncWrite::poll_write_vectored).
    pub(crate) fn poll_write(&mut self, context: &mut Context<'_>, from: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        if from.iter().all(|slice| slice.is_empty()) {
            return Poll::Ready(Ok(0));
        }
        let budget = ready!(coop::poll_proceed(context));
        for _ in 0..LOOKS_MAX {
            if self.ended || self.closed {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            let written = self.write(from)?;
            if written > 0 {
                budget.made_progress();
                return Poll::Ready(Ok(written));
            }
            ready!(self.poll_wait(Wait::Room, context))?;
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Says that this end writes no more.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.closed, true) {
            self.head.word(self.end, Word::Closed).store(1, Ordering::Release);
            self.ring_for(Wait::Data)?;
        }
        Ok(())
    }

    /// Reads what there is, at most one ring full; `false` if that is nothing.
    fn read(&mut self, into: &mut ReadBuf<'_>) -> io::Result<bool> {
        if !self.reader.has_come(&self.head) {
            return Ok(false);
        }
        let Self { socket, sent, ring_max, .. } = self;
        let receive = || sent.take().map_or_else(|| receive_ring(socket, *ring_max), |sent| Ok(Some(sent)));
        self.reader.follow(&self.head, Instant::now, receive)?;
        let part = part_of(self.reader.size());
        let mut has_read = false;
        for _ in 0..PARTS {
            let count = self.reader.read(&self.head, part, into)?;
            if count > 0 {
                has_read = true;
                self.ring_for(Wait::Room)?;
            }
            if count < part as usize {
                break;
            }
        }
        if has_read {
            self.progressed(Wait::Data);
        }
        Ok(has_read)
    }

    /// Writes as much as there is room for, at most one ring full.
    fn write(&mut self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        self.change_ring(from)?;
        if self.writer.room(&self.head)? == 0 {
            return Ok(0);
        }
        let (part, ring) = (part_of(self.writer.size()) as usize, self.writer.size() as usize);
        let mut written = 0;
        'full: for slice in from {
            for bytes in slice.chunks(part) {
                let count = self.writer.write(&self.head, bytes)?;
                written += count;
                // Small slices are announced together.
                if count >= part / 2 {
                    self.ring_for(Wait::Data)?;
                }
                if count < bytes.len() || written >= ring {
                    break 'full;
                }
            }
        }
        if written > 0 {
            self.ring_for(Wait::Data)?;
            self.progressed(Wait::Room);
        }
        Ok(written)
    }

    /// Takes a larger ring, or goes back to the small one, if it is time to.
    fn change_ring(&mut self, from: &[IoSlice<'_>]) -> io::Result<()> {
        let bytes = from.iter().map(|slice| slice.len()).fold(0, usize::saturating_add);
        match self.writer.change(&self.head, bytes, Instant::now)? {
            Change::None => {}
            Change::Shrink => self.writer.take(&self.head, None),
            Change::Enlarge(size) => match self.send_ring(size) {
                Ok(ring) => self.writer.take(&self.head, Some(ring)),
                // Asked again with the next bytes.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    tracing::debug!(%error, size, "a connection through shared memory has no larger ring");
                    self.writer.stay();
                }
            },
        }
        Ok(())
    }

    /// Makes a ring and sends it to the peer. If that has not received all that was sent before, there is none for now: what
    /// it leaves in its socket is memory of this end.
    #[cold]
    fn send_ring(&self, size: u32) -> io::Result<Memory> {
        if crate::memory::unread(&self.socket)? > 0 {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "the peer has not received what was sent before"));
        }
        let (ring, file) = Memory::create(size)?;
        offer::send(&self.socket, Message::new(Says::Ring, size), &[file.as_fd()])?;
        Ok(ring)
    }

    /// Rings if the peer sleeps for what has just been published: bytes, or room.
    fn ring_for(&self, wait: Wait) -> io::Result<()> {
        if sleep::must_ring(self.head.word(self.end.other(), flag(wait))) { self.bells.ring() } else { Ok(()) }
    }

    fn progressed(&mut self, wait: Wait) {
        self.take_back(wait);
        self.waiting.leave(wait);
        self.patience = (self.patience + BELLS_EARNED).min(BELLS_FOR_NOTHING_MAX);
        self.spin.since = None;
    }

    /// Takes back the flag for this, if it is set.
    fn take_back(&mut self, wait: Wait) {
        if std::mem::take(&mut self.has_set[wait as usize]) {
            sleep::awake(self.head.word(self.end, flag(wait)));
        }
    }

    fn peer_has_closed(&self) -> bool {
        self.head.word(self.end.other(), Word::Closed).load(Ordering::Acquire) != 0
    }

    /// Ready if it may be worth looking once more; otherwise the task is woken when it is.
    fn poll_wait(&mut self, wait: Wait, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.spin.goes_on() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.poll_announced(wait, context)?.is_ready() {
            return Poll::Ready(Ok(()));
        }
        if self.has_set[wait as usize] {
            // It has looked since, and whatever comes from now on is rung for.
            return Poll::Pending;
        }
        let mut looked = Ok(false);
        let may_sleep = sleep::may_sleep(self.head.word(self.end, flag(wait)), || {
            looked = self.has_come(wait);
            !matches!(looked, Ok(false))
        });
        looked?;
        if may_sleep {
            self.has_set[wait as usize] = true;
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn has_come(&self, wait: Wait) -> Result<bool, Violation> {
        Ok(match wait {
            Wait::Data => self.reader.has_come(&self.head) || self.peer_has_closed(),
            Wait::Room => self.writer.room(&self.head)? > 0,
        })
    }

    /// Ready if the bell has rung, or the socket has ended; otherwise the task is woken when that happens.
    fn poll_announced(&mut self, wait: Wait, context: &Context<'_>) -> io::Result<Poll<()>> {
        let mut context = Context::from_waker(self.waiting.enter(wait, context.waker()));
        if self.bells.poll_heard(&mut context)?.is_ready() {
            // Whichever flag it was, the peer has taken it. The other one would have it ring for what nobody waits for any
            // more: both tasks are awake now.
            self.take_back(Wait::Data);
            self.take_back(Wait::Room);
            self.patience = self.patience.checked_sub(1).ok_or(Violation::Bells)?;
            return Ok(Poll::Ready(()));
        }
        if self.ended {
            return Ok(Poll::Pending);
        }
        if self.socket.poll_read_ready(&mut context)?.is_pending() {
            return Ok(Poll::Pending);
        }
        let look = || Ok(rustix::net::recv(&self.socket, &mut [0], RecvFlags::PEEK | RecvFlags::DONTWAIT)?.1);
        match self.socket.try_io(Interest::READABLE, look) {
            Ok(0) => self.ended = true,
            Ok(_) if self.sent.is_some() => return Err(Violation::Talks.into()),
            Ok(_) => self.sent = Some(receive_ring(&self.socket, self.ring_max)?.ok_or(Violation::Talks)?),
            Err(error) => match error.kind() {
                io::ErrorKind::ConnectionReset => self.ended = true,
                io::ErrorKind::WouldBlock => {}
                _ => return Err(error),
            },
        }
        Ok(Poll::Ready(()))
    }
}

/// Receives a ring that the peer has sent; `None` if there is none, or something else.
#[cold]
fn receive_ring(socket: &UnixStream, ring_max: u32) -> io::Result<Option<Memory>> {
    match offer::take_with_descriptors(socket) {
        Ok(Some((Message { says: Says::Ring, ring, .. }, descriptors))) if ring <= ring_max => {
            // Others are not looked at, and closed.
            let file = descriptors.first();
            let file = file.ok_or_else(|| io::Error::other("no descriptor has come with the peer's ring"))?;
            Memory::map(file, ring).map(Some)
        }
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

fn part_of(ring: u32) -> u32 {
    (ring / PARTS).max(PART_MIN)
}

fn flag(wait: Wait) -> Word {
    match wait {
        Wait::Data => Word::WantsData,
        Wait::Room => Word::WantsRoom,
    }
}

/// For how long an end asks for more before it sleeps.
#[derive(Debug)]
struct Spin {
    most: Duration,
    since: Option<Instant>,
}

impl Spin {
    /// Whether to ask once more.
    fn goes_on(&mut self) -> bool {
        !self.most.is_zero() && self.since.get_or_insert_with(Instant::now).elapsed() < self.most
    }
}

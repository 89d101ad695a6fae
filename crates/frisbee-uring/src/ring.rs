//! The ring: operations, their memory, and system calls. The only module with `unsafe` code.
//!
//! Soundness rests on the table of operations. Memory and files that the kernel uses stay in it unchanged until the
//! kernel has reported the end of the operation, and no other code can remove them earlier. A quiet send is the
//! exception: it ends without a report when the kernel takes it from the submission queue, because it is attempted in
//! that system call, must not wait, and is reported only if it fails.
#![allow(unsafe_code)] // Uses io_uring directly; each block states why it is sound.

use io_uring::types::{BufRingEntry, CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use slab::Slab;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::{ManuallyDrop, MaybeUninit, size_of};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};
use tokio::io::ReadBuf;

/// Capacity of the submission queue. If the tasks start more operations before the worker submits them, another system
/// call is needed.
const SUBMISSIONS: u32 = 1024;

/// Capacity of the completion queue. The kernel stores completions that do not fit, so none are lost.
const COMPLETIONS: u32 = 4096;

/// Number of receive buffers per ring. The kernel runs about twenty completions per call, and the worker returns
/// buffers before the next call. A receive that finds no buffer is restarted.
const BUFFERS: u16 = 256;

/// Size of a receive buffer in bytes. The additional cache line keeps the starts of buffers out of the same cache set.
pub(crate) const BUFFER_LEN: usize = 16 * 1024 + 64;

/// Id of the receive buffer group. Each ring has a single group.
const GROUP: u16 = 0;

/// Maximum number of slices per system call, which is Linux's `UIO_MAXIOV`.
const SLICES_MAX: usize = 1024;

/// Maximum timeout of a wait. The kernel adds the timeout to its clock in nanoseconds. A sum of more than 292 years
/// overflows, and the wait then ends at once.
const WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Maximum time that dropping a ring waits for its operations. The memory of unfinished operations is leaked.
const DROP_TIMEOUT: Duration = Duration::from_secs(2);

/// An io_uring instance with its operations in flight.
pub(crate) struct Ring {
    uring: ManuallyDrop<IoUring>,
    /// Operations in flight, with the memory and files that the kernel uses for them.
    operations: ManuallyDrop<Slab<Kind>>,
    buffers: ManuallyDrop<Buffers>,
    /// Operations that did not fit into the submission queue and will be submitted later.
    backlog: VecDeque<squeue::Entry>,
    /// Sends started by [`Self::send_quietly`] with completions that may not have been handled yet.
    quiet: Vec<Tag>,
}

/// User data of an io_uring operation: its key in the operation table and, in the upper bits, the caller's token. The
/// token identifies a multishot receive without access to the table. With thousands of connections, the table's entries
/// would not be cached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tag(u64);

impl Tag {
    /// Creates the user data of an operation. Truncates the token to 32 bits, which suffice because tokens are limited
    /// by the number of open files.
    fn new(key: usize, token: usize) -> Self {
        assert!(u32::try_from(key).is_ok(), "number of operations in flight should fit into u32: {key}");
        Self((token as u64) << u32::BITS | key as u64)
    }

    fn key(self) -> usize {
        self.0 as u32 as usize
    }

    fn token(self) -> usize {
        (self.0 >> u32::BITS) as usize
    }
}

/// An operation in flight, with everything that must live until it completes.
#[expect(dead_code, reason = "files and memory are held for the kernel and not looked at")]
enum Kind {
    Receive(Rc<TcpStream>),
    Send(Rc<TcpStream>, Vec<u8>),
    QuietSend(Rc<TcpStream>, Vec<u8>),
    /// A failed send that was started by [`Ring::send_quietly`]. Its key stays in use until it is removed from
    /// [`Ring::quiet`].
    Failed,
    Poll(Rc<TcpStream>, Interest),
    /// A request to cancel another operation, or all operations of the socket if there is one.
    Cancel(Option<Rc<TcpStream>>),
    Wake(Arc<File>, Vec<u8>),
}

/// Received bytes in one of the ring's buffers. The buffer must be returned with [`Ring::recycle`].
#[derive(Debug)]
pub(crate) struct Received {
    id: u16,
    len: usize,
}

impl Received {
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

/// A completed operation. `token` is the token that the caller passed when starting it.
#[derive(Debug)]
pub(crate) enum Completion {
    /// Received data, or `None` at the end of the stream. The receive operation continues if `more` is set.
    Received { token: usize, result: io::Result<Option<Received>>, more: bool },
    /// A completed send, with its buffer.
    Sent { token: usize, buffer: Vec<u8>, result: io::Result<usize> },
    /// A socket is ready or has an error, which the next system call on it returns.
    Ready { token: usize, interest: Interest },
    /// A cancellation was attempted, successfully or not.
    Cancelled { token: usize },
    /// The eventfd of the worker was written to.
    Woken,
}

/// Kind of readiness that a poll of a socket waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interest {
    Read,
    Write,
}

impl Ring {
    /// Creates an io_uring instance for the current thread.
    pub(crate) fn new() -> io::Result<Self> {
        let uring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_clamp()
            .setup_cqsize(COMPLETIONS)
            .dontfork()
            .build(SUBMISSIONS)?;
        if !uring.params().is_feature_nodrop() || !uring.params().is_feature_ext_arg() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "the kernel's io_uring is too old"));
        }
        let buffers = Buffers::new();
        let entries = buffers.entry(0).as_ptr() as u64;
        // SAFETY: `entries` points to BUFFERS entries, a power of two, which are zeroed and start at a page boundary.
        // If the registration fails, the kernel does not use them. Otherwise they are freed after the ring, and only if
        // no receive is in flight; see `Drop`.
        unsafe { uring.submitter().register_buf_ring_with_flags(entries, BUFFERS, GROUP, 0)? };
        let mut ring = Self {
            uring: ManuallyDrop::new(uring),
            operations: ManuallyDrop::default(),
            buffers: ManuallyDrop::new(buffers),
            backlog: VecDeque::new(),
            quiet: Vec::new(),
        };
        (0..BUFFERS).for_each(|id| ring.buffers.offer(id));
        Ok(ring)
    }

    /// Starts a multishot receive, which reports data until it ends or is cancelled. Returns its tag for cancellation.
    pub(crate) fn receive(&mut self, stream: &Rc<TcpStream>, token: usize) -> Tag {
        let entry = opcode::RecvMulti::new(Fd(stream.as_raw_fd()), GROUP).build();
        self.push(entry, token, Kind::Receive(stream.clone()))
    }

    /// Sends `buffer[from..]` or a part of it. The operation waits until the socket's send buffer has space.
    pub(crate) fn send(&mut self, stream: &Rc<TcpStream>, token: usize, buffer: Vec<u8>, from: usize) {
        let entry = send(stream, buffer.get(from..).unwrap_or_default(), 0);
        self.push(entry, token, Kind::Send(stream.clone(), buffer));
    }

    /// Sends as much of `buffer` as the socket accepts immediately. Unlike [`send`](Self::send), its completion does
    /// not end a wait unless bytes are left. [`complete`](Self::complete) reports it in either case.
    pub(crate) fn send_quietly(&mut self, stream: &Rc<TcpStream>, token: usize, buffer: Vec<u8>) {
        // MSG_WAITALL is required, because a partial send would otherwise be a success, and successes are not reported.
        let entry = send(stream, &buffer, libc::MSG_DONTWAIT | libc::MSG_WAITALL).flags(squeue::Flags::SKIP_SUCCESS);
        let tag = self.push(entry, token, Kind::QuietSend(stream.clone(), buffer));
        self.quiet.push(tag);
    }

    /// Polls a socket once for readiness.
    pub(crate) fn poll(&mut self, stream: &Rc<TcpStream>, token: usize, interest: Interest) {
        let events = match interest {
            Interest::Read => libc::POLLIN | libc::POLLRDHUP,
            Interest::Write => libc::POLLOUT,
        };
        let entry = opcode::PollAdd::new(Fd(stream.as_raw_fd()), events as u32).build();
        self.push(entry, token, Kind::Poll(stream.clone(), interest));
    }

    /// Cancels an operation in flight.
    pub(crate) fn cancel(&mut self, token: usize, operation: Tag) {
        let entry = opcode::AsyncCancel::new(operation.0).build();
        self.push(entry, token, Kind::Cancel(None));
    }

    /// Cancels all operations of a socket.
    pub(crate) fn cancel_all(&mut self, stream: &Rc<TcpStream>, token: usize) {
        let entry = opcode::AsyncCancel2::new(CancelBuilder::fd(Fd(stream.as_raw_fd())).all()).build();
        self.push(entry, token, Kind::Cancel(Some(stream.clone())));
    }

    /// Starts a read of the worker's eventfd, which completes when another thread wakes the worker.
    pub(crate) fn wait_for_wake(&mut self, event: &Arc<File>) {
        let mut count = vec![0; size_of::<u64>()];
        let entry = opcode::Read::new(Fd(event.as_raw_fd()), count.as_mut_ptr(), size_of::<u64>() as u32).build();
        self.push(entry, usize::MAX, Kind::Wake(event.clone(), count));
    }

    fn push(&mut self, entry: squeue::Entry, token: usize, kind: Kind) -> Tag {
        let tag = Tag::new(self.operations.insert(kind), token);
        let entry = entry.user_data(tag.0);
        if !self.backlog.is_empty() || !self.try_push(&entry) {
            self.backlog.push_back(entry);
        }
        tag
    }

    fn try_push(&mut self, entry: &squeue::Entry) -> bool {
        // SAFETY: all memory that the entry points to, and its file, have been stored in `operations` by `push`. There
        // they stay unchanged until the kernel has reported the end of the operation or is past it; see `complete` and
        // `Drop`. The entry points to the allocation of a vector, with a length within that of the vector. The
        // allocation does not move when the vector moves into the table or when the table moves.
        unsafe { self.uring.submission().push(entry) }.is_ok()
    }

    /// Returns whether sends are in flight that do not end a wait when they complete; see [`Self::send_quietly`].
    pub(crate) fn is_quiet(&self) -> bool {
        !self.quiet.is_empty()
    }

    /// Returns whether a system call would make progress without waiting for a completion.
    pub(crate) fn has_work(&mut self) -> bool {
        let queue = self.uring.submission();
        !queue.is_empty() || queue.taskrun() || queue.cq_overflow() || !self.backlog.is_empty()
    }

    /// Submits the queued operations without waiting for completions.
    pub(crate) fn submit(&mut self) -> io::Result<()> {
        self.fill();
        ignore_unsupported(self.uring.submit())?;
        self.submit_backlog()
    }

    /// Like [`submit`](Self::submit), but waits until an operation completes or the timeout expires. A timeout of more
    /// than a day expires after a day.
    pub(crate) fn submit_and_wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.fill();
        // Do not wait while the backlog contains operations that did not fit into the submission queue, because the
        // wait might be for one of them.
        if !self.backlog.is_empty() {
            return self.submit();
        }
        let time = Timespec::from(timeout.unwrap_or(WAIT_MAX).min(WAIT_MAX));
        let mut arguments = SubmitArgs::new();
        if timeout.is_some() {
            arguments = arguments.timespec(&time);
        }
        ignore_unsupported(self.uring.submitter().submit_with_args(1, &arguments))
    }

    /// Submits the operations in the backlog until it is empty or the kernel requires completions to be handled first.
    fn submit_backlog(&mut self) -> io::Result<()> {
        while !self.backlog.is_empty() {
            let before = self.backlog.len();
            self.fill();
            if self.backlog.len() == before {
                return Ok(());
            }
            ignore_unsupported(self.uring.submit())?;
        }
        Ok(())
    }

    fn fill(&mut self) {
        while let Some(entry) = self.backlog.pop_front() {
            if !self.try_push(&entry) {
                return self.backlog.push_front(entry);
            }
        }
    }

    /// Appends the kernel's completions to `completions`.
    pub(crate) fn complete(&mut self, completions: &mut Vec<Completion>) {
        let (operations, uring) = (&mut self.operations, &mut self.uring);
        completions.extend(uring.completion().filter_map(|entry| complete(operations, &entry)));
        if self.quiet.is_empty() || !self.backlog.is_empty() {
            return;
        }
        let queue = self.uring.submission();
        if queue.is_empty() && !queue.cq_overflow() {
            // The submission queue is empty, so every quiet send was attempted and could not wait (MSG_DONTWAIT). No
            // completion is held back, so sends with unsent bytes are `Failed` by now, and the bytes of all other sends
            // were copied.
            let operations = &mut self.operations;
            completions.extend(self.quiet.drain(..).filter_map(|tag| match operations.remove(tag.key()) {
                Kind::QuietSend(_, buffer) => {
                    let result = Ok(buffer.len());
                    Some(Completion::Sent { token: tag.token(), buffer, result })
                }
                _ => None,
            }));
        }
    }

    /// Returns the bytes in a receive buffer.
    pub(crate) fn bytes(&self, received: &Received) -> &[u8] {
        assert!(received.len <= BUFFER_LEN, "received {} bytes should fit into a buffer of {BUFFER_LEN}", received.len);
        let start = self.buffers.start(received.id);
        // SAFETY: the buffer is BUFFER_LEN bytes of the storage, which lives as long as the ring. The kernel has
        // written the first `len` of them, and does not write again before the buffer is provided to it. `recycle`
        // provides it. For this, it consumes `received`, which is unique and cannot be cloned, and borrows the ring
        // mutably, which the slice borrows too.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), received.len) }
    }

    /// Returns a receive buffer to the kernel.
    #[allow(clippy::needless_pass_by_value)] // Consumed, because the buffer must not be used again.
    pub(crate) fn recycle(&mut self, received: Received) {
        self.buffers.offer(received.id);
    }

    /// Cancels all operations and waits until they have ended. Returns false if some are still in flight after the
    /// timeout.
    fn end_all(&mut self) -> bool {
        let deadline = Instant::now() + DROP_TIMEOUT;
        self.push(opcode::AsyncCancel2::new(CancelBuilder::any().all()).build(), usize::MAX, Kind::Cancel(None));
        let mut completions = Vec::new();
        loop {
            self.complete(&mut completions);
            completions.clear();
            let left = deadline.saturating_duration_since(Instant::now());
            if self.operations.is_empty() {
                return true;
            }
            if left.is_zero() || self.submit_and_wait(Some(left)).is_err() {
                return false;
            }
        }
    }
}

/// Converts a completion entry of the kernel. Removes the operation from the table if it has ended.
fn complete(operations: &mut Slab<Kind>, entry: &cqueue::Entry) -> Option<Completion> {
    let tag = Tag(entry.user_data());
    let (key, token) = (tag.key(), tag.token());
    let more = cqueue::more(entry.flags());
    let code = entry.result();
    let result = usize::try_from(code).map_err(|_| io::Error::from_raw_os_error(code.wrapping_neg()));
    if more {
        // Only receive operations continue after a completion.
        return Some(Completion::Received { token, result: result.map(|len| received(entry, len)), more });
    }
    let operation = operations.get_mut(key)?;
    if let Kind::QuietSend(_, buffer) = operation {
        let buffer = std::mem::take(buffer);
        *operation = Kind::Failed;
        return Some(Completion::Sent { token, buffer, result });
    }
    Some(match operations.remove(key) {
        Kind::Receive(_) => Completion::Received { token, result: result.map(|len| received(entry, len)), more },
        Kind::Send(_, buffer) => Completion::Sent { token, buffer, result },
        Kind::Poll(_, interest) => Completion::Ready { token, interest },
        Kind::Cancel(_) => Completion::Cancelled { token },
        Kind::Wake(..) => Completion::Woken,
        Kind::QuietSend(..) | Kind::Failed => return None,
    })
}

/// Creates the submission entry of a send. The caller must move the allocation of `bytes` into the table, where it
/// stays unchanged.
fn send(stream: &TcpStream, bytes: &[u8], flags: i32) -> squeue::Entry {
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    opcode::Send::new(Fd(stream.as_raw_fd()), bytes.as_ptr(), len).flags(flags | libc::MSG_NOSIGNAL).build()
}

fn received(entry: &cqueue::Entry, len: usize) -> Option<Received> {
    cqueue::buffer_select(entry.flags()).map(|id| Received { id, len })
}

/// Converts results of `io_uring_enter` that are not failures to `Ok`: an interruption, a timeout, and a full
/// completion queue.
fn ignore_unsupported(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Err(error) if !matches!(error.raw_os_error(), Some(libc::EINTR | libc::ETIME | libc::EBUSY | libc::EAGAIN)) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let ended = self.end_all();
        // SAFETY: each field is dropped once, here, and not used again. If operations have not ended, the kernel may
        // still read and write their memory and the buffers, because closing the ring does not wait for the operations.
        // These fields are then leaked. If all operations have ended, the kernel no longer uses them.
        unsafe {
            ManuallyDrop::drop(&mut self.uring);
            if ended {
                ManuallyDrop::drop(&mut self.operations);
                ManuallyDrop::drop(&mut self.buffers);
            }
        }
    }
}

/// The receive buffers, and the queue that provides them to the kernel. Both are boxes stored as pointers, because a
/// `Box` asserts unique access to memory that the kernel also writes.
struct Buffers {
    /// Queue of the provided buffers, with one entry per buffer. Padded with zeros to a full page.
    entries: NonNull<[Page]>,
    storage: NonNull<[MaybeUninit<u8>]>,
    tail: u16,
}

/// A memory page, the alignment that the kernel requires of the buffer queue.
#[repr(C, align(4096))]
struct Page([u8; 4096]);

const ENTRY_PAGES: usize = (BUFFERS as usize * size_of::<BufRingEntry>()).div_ceil(size_of::<Page>());
const STORAGE_LEN: usize = BUFFERS as usize * BUFFER_LEN;
const _: () = assert!(BUFFERS.is_power_of_two() && align_of::<Page>().is_multiple_of(align_of::<BufRingEntry>()));

impl Buffers {
    fn new() -> Self {
        // Zeroed because the kernel requires a zeroed tail. The storage is not written, so it occupies no memory yet.
        let entries: Box<[Page]> = (0..ENTRY_PAGES).map(|_| Page([0; 4096])).collect();
        let storage = Box::<[u8]>::new_uninit_slice(STORAGE_LEN);
        Self { entries: NonNull::from(Box::leak(entries)), storage: NonNull::from(Box::leak(storage)), tail: 0 }
    }

    fn start(&self, id: u16) -> NonNull<u8> {
        assert!(id < BUFFERS, "buffer chosen by the kernel should be one of {BUFFERS}: {id}");
        // SAFETY: the result is followed by BUFFER_LEN more bytes of the storage, which has BUFFERS times as many.
        unsafe { self.storage.cast().add(usize::from(id) * BUFFER_LEN) }
    }

    /// Returns the entry at an index of the buffer queue.
    fn entry(&self, index: u16) -> NonNull<BufRingEntry> {
        assert!(index < BUFFERS, "index in the buffer queue should be below {BUFFERS}: {index}");
        // SAFETY: the pages hold BUFFERS entries and are aligned for them.
        unsafe { self.entries.cast().add(usize::from(index)) }
    }

    /// Provides a buffer to the kernel. The queue never overflows, because it has one entry per buffer.
    fn offer(&mut self, id: u16) {
        let start = self.start(id);
        let (first, mut entry) = (self.entry(0), self.entry(self.tail % BUFFERS));
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: both are entries of the queue. Their bytes are initialized, valid for any value, and not referenced
        // by anything else in this process. The kernel reads an entry only if it is before the tail. This entry is not
        // yet, because at most BUFFERS are provided, each once. If it is the first entry, the reference also covers the
        // tail, which the kernel only reads, and which nothing here changes before it is stored. The tail is aligned
        // for the store, which is ordered after all earlier writes.
        unsafe {
            let entry = entry.as_mut();
            entry.set_addr(start.as_ptr() as u64);
            entry.set_len(BUFFER_LEN as u32);
            entry.set_bid(id);
            let tail = BufRingEntry::tail(first.as_ptr()).cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: both pointers come from boxes of these types and lengths, and are converted back once, here. The
        // kernel no longer uses the memory; see `Ring`.
        unsafe {
            drop(Box::from_raw(self.entries.as_ptr()));
            drop(Box::from_raw(self.storage.as_ptr()));
        }
    }
}

/// Receives available bytes directly into the task's buffer, with a separate system call.
pub(crate) fn receive_now(stream: &TcpStream, buffer: &mut ReadBuf<'_>) -> io::Result<usize> {
    // SAFETY: the call receives the length of the unfilled part and writes nowhere else. It initializes as many bytes
    // as it returns, starting at the first. It does not uninitialize any byte.
    unsafe {
        let free = buffer.unfilled_mut();
        let count = libc::recv(stream.as_raw_fd(), free.as_mut_ptr().cast(), free.len(), libc::MSG_DONTWAIT);
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        buffer.assume_init(count);
        buffer.advance(count);
        Ok(count)
    }
}

/// Sends as many bytes as the socket accepts directly from the task's buffers, with a separate system call.
pub(crate) fn send_now(stream: &TcpStream, slices: &[IoSlice<'_>]) -> io::Result<usize> {
    let slices = slices.get(..SLICES_MAX).unwrap_or(slices);
    // SAFETY: a zeroed message header is valid, without address and control data. `IoSlice` has the layout of an iovec,
    // the header contains their number, and the call only reads them and the bytes that they borrow.
    let count = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = slices.as_ptr().cast_mut().cast();
        message.msg_iovlen = slices.len() as _;
        libc::sendmsg(stream.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
    };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Creates an eventfd.
pub(crate) fn eventfd() -> io::Result<File> {
    // SAFETY: the call accesses no memory of this program. The returned descriptor, unless it is -1, is open and has no
    // other owner.
    unsafe {
        match libc::eventfd(0, libc::EFD_CLOEXEC) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(File::from(OwnedFd::from_raw_fd(fd))),
        }
    }
}

#[cfg(test)]
mod tests;

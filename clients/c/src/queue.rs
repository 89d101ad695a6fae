//! [`frisbee_queue`]: completed calls for event loops, with a descriptor that becomes readable.
//!
//! # Decisions
//!
//! The calls of a queue are polled by the threads that take events from it. A reply costs no task and no switch of
//! threads: the connection's driver rings the bell, and the caller's thread decodes.

use crate::client::{CallArguments, frisbee_call_options, frisbee_client};
use crate::handle::{self, handle};
use crate::raw::{UserData, frisbee_code, frisbee_error, guarded, put};
use crate::reply::{NewReply, free, frisbee_reply};
use crate::runtime::{self, may_block};
use crate::unary::UnaryCall;
use frpc::Status;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, Stream};
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::ffi::{c_char, c_void};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// Completed calls: a handle, which `frisbee_queue_free` frees.
pub struct frisbee_queue {
    work: Mutex<Work>,
    bell: Arc<Bell>,
}

handle!(frisbee_queue, 4, "queue");

struct Work {
    running: FuturesUnordered<BoxFuture<'static, Event>>,
    done: VecDeque<Event>,
}

/// An event before it has the form for C.
struct Event {
    user: UserData,
    reply: Option<NewReply>,
}

/// A completed operation.
#[repr(C)]
pub struct frisbee_event {
    /// The pointer that was given with the operation.
    pub user: *mut c_void,
    /// The reply, which `frisbee_reply_free` frees; NULL at the end of a stream.
    pub reply: *mut frisbee_reply,
}

/// A descriptor that is readable while there may be events.
struct Bell {
    reader: UnixStream,
    writer: UnixStream,
    is_rung: AtomicBool,
}

impl Bell {
    fn new() -> std::io::Result<Self> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        Ok(Self { reader, writer, is_rung: AtomicBool::new(false) })
    }

    fn ring(&self) {
        if !self.is_rung.swap(true, Ordering::SeqCst) {
            // One byte always fits, since the flag admits no second one.
            let _ = (&self.writer).write(&[1]);
        }
    }

    /// Before the work is polled, so that no ring is lost.
    fn clear_wakeup(&self) {
        // A thread that has set the flag may not have written its byte yet. The flag then stays, and the byte is read the
        // next time: without the flag nothing would read it, and the descriptor would stay readable.
        if self.is_rung.load(Ordering::SeqCst) && (&self.reader).read(&mut [0; 8]).is_ok() {
            // It sees what was done before rings that found the flag set.
            self.is_rung.swap(false, Ordering::SeqCst);
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

impl frisbee_queue {
    /// Begins an operation. Its first part runs here, so that a request is sent at once.
    pub(crate) fn begin(
        &self,
        user: UserData,
        operation: impl Future<Output = Option<NewReply>> + Send + 'static,
    ) -> Result<(), Status> {
        let event = async move { Event { user, reply: operation.await } };
        let _context = runtime::enter()?;
        let mut work = self.work.lock();
        work.running.push(Box::pin(tokio::task::unconstrained(event)));
        self.run_batch(&mut work);
        if !work.done.is_empty() {
            self.bell.ring();
        }
        Ok(())
    }

    /// Polls all operations that are ready, in the runtime.
    fn run_batch(&self, work: &mut Work) {
        let waker = Waker::from(self.bell.clone());
        let mut context = Context::from_waker(&waker);
        while let Poll::Ready(Some(event)) = Pin::new(&mut work.running).poll_next(&mut context) {
            work.done.push_back(event);
        }
    }

    fn take(&self) -> Result<Option<Event>, Status> {
        let mut work = self.work.lock();
        if work.done.is_empty() {
            let _context = runtime::enter()?;
            self.bell.clear_wakeup();
            self.run_batch(&mut work);
        }
        let event = work.done.pop_front();
        if !work.done.is_empty() {
            self.bell.ring();
        }
        Ok(event)
    }

    /// Waits until the bell rings; whether it may have.
    fn wait(&self, until: Option<Instant>) -> Result<bool, Status> {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(false);
        }
        let timeout = left.map(|left| Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 }));
        let polled = poll(&mut [PollFd::new(&self.bell.reader, PollFlags::IN)], timeout.as_ref());
        match polled {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(true),
            Err(error) => Err(Status::internal(format!("poll: {error}"))),
        }
    }
}

/// Makes a queue, and stores it. The caller owns it, and `frisbee_queue_free` frees it. Only `error` may be NULL. Any
/// thread may call it.
///
/// # Safety
/// `queue` is writable, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_queue_new(queue: *mut *mut frisbee_queue, error: *mut frisbee_error) -> frisbee_code {
    // SAFETY: the arguments are valid, as the caller promises.
    unsafe {
        guarded(error, || {
            put("queue", queue, || {
                let bell = Bell::new().map_err(|error| Status::resource_exhausted(format!("socket pair: {error}")))?;
                let work = Work { running: FuturesUnordered::new(), done: VecDeque::new() };
                handle::insert(Arc::new(frisbee_queue { work: Mutex::new(work), bell: Arc::new(bell) }))
            })
        })
    }
}

/// Returns a descriptor for poll, epoll or kqueue, or -1 for NULL and freed queues. It is readable while there may be
/// events: take events until there are none, then wait for it. It belongs to the queue; do not read from it or close
/// it. Any thread may call it.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_queue_descriptor(queue: *mut frisbee_queue) -> i32 {
    handle::get(queue).map_or(-1, |queue| queue.bell.reader.as_raw_fd())
}

/// Takes an event. Waits for one up to `timeout_ms` milliseconds: 0 does not wait, and a negative time waits without
/// end. Returns `FRISBEE_OK`, or `FRISBEE_DEADLINE_EXCEEDED` without an event.
///
/// The caller owns the reply of the event, which `frisbee_reply_free` frees. Only `error` may be NULL. Any number of
/// threads may call it, but in a completion callback only without waiting.
///
/// # Safety
/// `event` is writable, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_queue_next(
    queue: *mut frisbee_queue,
    timeout_ms: i64,
    event: *mut frisbee_event,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: the arguments are valid, as the caller promises.
    unsafe {
        guarded(error, || {
            put("event", event, || {
                if timeout_ms != 0 {
                    may_block()?;
                }
                let queue = handle::get(queue)?;
                let until = u64::try_from(timeout_ms).ok().map(|time| Instant::now() + Duration::from_millis(time));
                loop {
                    if let Some(Event { user, reply }) = queue.take()? {
                        let reply = reply.map_or(std::ptr::null_mut(), NewReply::into_handle);
                        return Ok(frisbee_event { user: user.get(), reply });
                    }
                    if !queue.wait(until)? {
                        return Err(Status::deadline_exceeded("no event before the timeout"));
                    }
                }
            })
        })
    }
}

/// Frees a queue. Its operations are cancelled, without events; replies that were taken stay. NULL is allowed.
///
/// Any thread may call it; threads that wait in `frisbee_queue_next` continue to wait, and the operations end with the
/// last of them.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_queue_free(queue: *mut frisbee_queue) -> frisbee_code {
    free(queue)
}

/// Begins a unary call whose reply goes to a queue, with `user` in its event.
///
/// The arguments are those of `frisbee_client_call`, and copied. `user` is only passed on, and stays with the caller.
/// Only `options`, `error`, `user` and the `data` of no bytes may be NULL. Any thread may call it.
///
/// # Safety
/// As for `frisbee_client_call`; `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_client_submit(
    client: *mut frisbee_client,
    method: *const c_char,
    format: i32,
    data: *const c_void,
    len: usize,
    options: *const frisbee_call_options,
    queue: *mut frisbee_queue,
    user: *mut c_void,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: the arguments are valid, as the caller promises.
    unsafe {
        guarded(error, || {
            let queue = handle::get(queue)?;
            let mut call = None;
            UnaryCall::begin(CallArguments::new(client, method, format, data, len, options)?, &mut call)?;
            queue.begin(UserData(user), async move { Some(call?.await.unwrap_or_else(|failed| failed)) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flag was cleared without the byte of a thread that had set it, and the descriptor stayed readable until the
    /// next ring: threads that wait for it ran without a pause.
    #[test]
    fn late_byte_of_a_ring_is_read_by_the_next_clear() {
        let bell = Bell::new().unwrap();
        bell.is_rung.store(true, Ordering::SeqCst); // `ring`, up to its write.
        bell.clear_wakeup();
        assert!((&bell.writer).write(&[1]).is_ok(), "the rest of `ring`");
        bell.clear_wakeup();
        assert!((&bell.reader).read(&mut [0; 8]).is_err(), "the descriptor is not readable");
        bell.ring();
        assert_eq!((&bell.reader).read(&mut [0; 8]).ok(), Some(1), "the next ring is seen");
    }
}

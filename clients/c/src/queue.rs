//! [`frisbee_queue`]: completed calls for event loops, with a descriptor that becomes readable.
//!
//! # Decisions
//!
//! The threads that take events from a queue poll its calls. A reply needs no task and no thread switch: the
//! connection's driver makes the descriptor readable, and the caller's thread decodes the reply.

use crate::client::{CallArguments, frisbee_call_options, frisbee_client};
use crate::handle::{self, handle};
use crate::raw::{UserData, caught_future, frisbee_code, frisbee_error, guarded, guarded_put};
use crate::reply::{NewReply, free, frisbee_reply};
use crate::runtime::{self, may_block};
use crate::unary::UnaryCall;
use frpc::{Channel, Status};
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

/// A queue of completed calls. The handle is freed by `frisbee_queue_free`.
pub struct frisbee_queue {
    work: Mutex<Work>,
    bell: Arc<Bell>,
}

handle!(frisbee_queue, 4, "queue");

struct Work {
    running: FuturesUnordered<Operation>,
    done: VecDeque<Event>,
}

/// An operation in progress, and the channel that it waits for. Subscriptions have none.
struct Operation {
    channel: Option<Channel>,
    event: BoxFuture<'static, Event>,
}

impl Future for Operation {
    type Output = Event;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Event> {
        self.event.as_mut().poll(context)
    }
}

/// An event of the queue before it is converted for C.
struct Event {
    user: UserData,
    reply: Option<NewReply>,
}

/// A completed operation, as returned by a queue.
#[repr(C)]
pub struct frisbee_event {
    /// The `user` pointer that was passed when the operation was started.
    pub user: *mut c_void,
    /// Reply of the operation, or NULL at the end of a stream. The caller must free it with `frisbee_reply_free`.
    pub reply: *mut frisbee_reply,
}

/// A file descriptor that is readable while the queue may have events.
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
        // Write at most one byte until it is read, because one keeps the descriptor readable.
        if !self.is_rung.swap(true, Ordering::SeqCst) {
            // The write cannot block, because the flag prevents a second byte.
            let _ = (&self.writer).write(&[1]);
        }
    }

    /// Resets the descriptor. Must be called before polling the work, so that no wake-up is lost.
    fn clear_wakeup(&self) {
        // Clear the flag only if the byte could be read. A thread that has set the flag may not have written its byte
        // yet. If the flag were cleared then, nothing would read the byte and the descriptor would stay readable.
        if self.is_rung.load(Ordering::SeqCst) && (&self.reader).read(&mut [0; 8]).is_ok() {
            // Synchronizes with threads that found the flag set.
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
    /// Starts an operation. Polls it once immediately, so that its request is sent without waiting for a thread.
    pub(crate) fn begin(
        &self,
        user: UserData,
        channel: Option<Channel>,
        operation: impl Future<Output = Option<NewReply>> + Send + 'static,
    ) -> Result<(), Status> {
        let event = async move {
            // An operation that panics has an event too, because the program may wait for it.
            let replied = caught_future(async { Ok(operation.await) }).await;
            Event { user, reply: replied.unwrap_or_else(|status| Some(NewReply::failure(&status))) }
        };
        let _context = runtime::enter()?;
        let mut work = self.work.lock();
        work.running.push(Operation { channel, event: Box::pin(tokio::task::unconstrained(event)) });
        self.run_batch(&mut work);
        // Ring for an operation that completed at its first poll, because its waker is never called.
        if !work.done.is_empty() {
            self.bell.ring();
        }
        Ok(())
    }

    /// Polls all operations that are ready, within the runtime.
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
        // Keep the descriptor readable while events are left, because callers may poll it before taking the next one.
        if !work.done.is_empty() {
            self.bell.ring();
        }
        Ok(event)
    }

    /// Returns whether this thread is running a function that blocks the connections of all operations.
    fn is_held_up(&self) -> bool {
        let is_held_up = |operation: &Operation| operation.channel.as_ref().is_some_and(runtime::is_held_up);
        let work = self.work.lock();
        !work.running.is_empty() && work.running.iter().all(is_held_up)
    }

    /// Waits until the queue's descriptor is readable. Returns `false` if the time `until` has passed first.
    fn wait(&self, until: Option<Instant>) -> Result<bool, Status> {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(false);
        }
        // Replace a timeout that `Timespec` cannot represent by one second. The caller calls `wait` again until
        // `until`.
        let timeout = left.map(|left| Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 }));
        let polled = poll(&mut [PollFd::new(&self.bell.reader, PollFlags::IN)], timeout.as_ref());
        match polled {
            // Return true even after a timeout, so that the caller takes an event that has just arrived before it
            // fails.
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(true),
            Err(error) => Err(Status::internal(format!("poll: {error}"))),
        }
    }
}

/// Creates a queue and stores its handle. The caller owns it and must free it with `frisbee_queue_free`. Only `error`
/// may be NULL. May be called from any thread.
///
/// # Safety
/// `queue` is writable, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_queue_new(queue: *mut *mut frisbee_queue, error: *mut frisbee_error) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded_put(error, "queue", queue, || {
            let bell = Bell::new().map_err(|error| Status::resource_exhausted(format!("socket pair: {error}")))?;
            let work = Work { running: FuturesUnordered::new(), done: VecDeque::new() };
            handle::insert(Arc::new(frisbee_queue { work: Mutex::new(work), bell: Arc::new(bell) }))
        })
    }
}

/// Returns a descriptor for poll, epoll or kqueue, or -1 for NULL and freed queues. The descriptor is readable while
/// there may be events. Take events until there are none, and then wait for the descriptor. It belongs to the queue and
/// must not be read or closed. May be called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_queue_descriptor(queue: *mut frisbee_queue) -> i32 {
    handle::get(queue).map_or(-1, |queue| queue.bell.reader.as_raw_fd())
}

/// Takes an event from a queue. Waits up to `timeout_ms` milliseconds for an event. 0 does not wait, and a negative
/// timeout waits indefinitely. Returns `FRISBEE_OK`, or `FRISBEE_DEADLINE_EXCEEDED` if there is no event.
///
/// The caller owns the event's reply and must free it with `frisbee_reply_free`. Only `error` may be NULL. May be
/// called from any number of threads. In a completion callback, `timeout_ms` must be 0. Returns
/// `FRISBEE_FAILED_PRECONDITION` if it would wait in the function of a unary method that the connections of all
/// operations are waiting for.
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
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded_put(error, "event", event, || {
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
                if timeout_ms != 0 && queue.is_held_up() {
                    return Err(runtime::held_up());
                }
                if !queue.wait(until)? {
                    return Err(Status::deadline_exceeded("no event before the timeout"));
                }
            }
        })
    }
}

/// Frees a queue. Operations in progress are cancelled and produce no events. Replies already taken stay valid. NULL is
/// allowed.
///
/// May be called from any thread. If threads are waiting in `frisbee_queue_next`, they continue to wait, and the
/// operations are cancelled when the last of them returns.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_queue_free(queue: *mut frisbee_queue) -> frisbee_code {
    free(queue)
}

/// Starts a unary call. Its reply is added to a queue, with `user` in the event.
///
/// The arguments are those of `frisbee_client_call`, and are copied. `user` is returned unchanged and stays with the
/// caller. Only `options`, `error`, `user`, and `data` if `len` is 0, may be NULL. May be called from any thread.
///
/// # Safety
/// Like `frisbee_client_call`; `error` is NULL or writable.
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
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let queue = handle::get(queue)?;
            let mut call = None;
            let arguments = CallArguments::new(client, method, format, data, len, options)?;
            let channel = arguments.client.channel.clone();
            UnaryCall::begin(arguments, &mut call)?;
            queue.begin(UserData(user), Some(channel), async move { Some(call?.await.unwrap_or_else(|failed| failed)) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::frisbee_reply_code;
    use std::future::poll_fn;

    /// Regression test: the event was lost, and another operation or a call for an event returned the error.
    #[test]
    fn operation_that_panics_has_event() {
        let work = Mutex::new(Work { running: FuturesUnordered::new(), done: VecDeque::new() });
        let queue = frisbee_queue { work, bell: Arc::new(Bell::new().unwrap()) };
        queue.begin(UserData(std::ptr::null_mut()), None, poll_fn(|_| panic!("bug of the library"))).unwrap();
        let reply = queue.take().unwrap().and_then(|event| event.reply).expect("there should be an event");
        assert_eq!(frisbee_reply_code(reply.into_handle()), frisbee_code::FRISBEE_INTERNAL);
    }

    /// Regression test: the flag was cleared before the thread that had set it wrote its byte. The descriptor then
    /// stayed readable until the next wake-up, and waiting threads spun.
    #[test]
    fn next_clear_reads_late_wakeup_byte() {
        let bell = Bell::new().unwrap();
        bell.is_rung.store(true, Ordering::SeqCst); // The first step of `ring`, before it writes the byte.
        bell.clear_wakeup();
        assert!((&bell.writer).write(&[1]).is_ok(), "rest of `ring` should succeed");
        bell.clear_wakeup();
        assert!((&bell.reader).read(&mut [0; 8]).is_err(), "descriptor should not be readable");
        bell.ring();
        assert_eq!((&bell.reader).read(&mut [0; 8]).ok(), Some(1), "descriptor should be readable after the next ring");
    }
}

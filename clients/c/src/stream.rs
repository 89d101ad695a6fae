//! [`frisbee_stream`]: streaming calls.

use crate::body::Body;
use crate::client::{CallArguments, Prepared, frisbee_call_options, frisbee_client, until_cancelled};
use crate::handle::{self, handle};
use crate::payload::{Format, Payload};
use crate::queue::frisbee_queue;
use crate::raw::{UserData, caught, caught_future, frisbee_code, frisbee_error, guarded, guarded_put, slice};
use crate::reply::{Entries, NewReply, entries, free, frisbee_reply};
use crate::runtime::{self, wait_unless};
use crate::schema::Callable;
use frpc::{Channel, RequestSender, RequestStream, Response, Status, Streaming};
use parking_lot::Mutex;
use std::ffi::{c_char, c_void};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::AbortHandle;

/// Number of buffered messages in each direction, in addition to the flow control window of the connection.
const MESSAGES_AHEAD: usize = 16;

/// A streaming call. The handle is freed by `frisbee_stream_free`.
pub struct frisbee_stream {
    format: Format,
    /// The called method, once known.
    method: watch::Receiver<Option<Arc<Callable>>>,
    /// Sender of the requests. `None` once the caller has ended them. The task keeps it until the call has ended. If
    /// freeing the stream dropped it, the server could process the requests as complete.
    requests: Arc<Mutex<Option<RequestSender<Payload>>>>,
    replies: Mutex<Replies>,
    /// Wakes all callers that wait for a reply. A caller may take its event from a queue much later. Until then, another
    /// caller can take the reply.
    arrived: Arc<Notify>,
    /// Channel of a streaming call. `None` for a subscription.
    channel: Option<Channel>,
    task: AbortHandle,
}

handle!(frisbee_stream, 5, "stream");

struct Replies {
    incoming: mpsc::Receiver<Incoming>,
    has_ended: bool,
    is_freed: bool,
}

impl Replies {
    /// Takes a reply that has arrived. Returns `Ready(None)` after the last one.
    fn poll_next(&mut self) -> Poll<Option<Incoming>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        let incoming = match self.incoming.try_recv() {
            Ok(incoming) => incoming,
            Err(TryRecvError::Empty) if !self.is_freed => return Poll::Pending,
            Err(_) => Incoming::Failed(Status::cancelled("the stream was cancelled by its caller")),
        };
        self.has_ended = matches!(incoming, Incoming::Failed(_) | Incoming::End);
        Poll::Ready(Some(incoming))
    }
}

pub(crate) enum Incoming {
    Message(Body, Entries),
    /// A message that needs no conversion, a loss of messages after which the stream continues, or the failure of a call
    /// that was not sent.
    Reply(frisbee_reply),
    Failed(Status),
    End,
}

impl Drop for frisbee_stream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl frisbee_stream {
    fn open(call: Prepared) -> Result<Self, Status> {
        let (sender, requests) = RequestStream::channel(MESSAGES_AHEAD);
        let (method_sender, method) = watch::channel(None);
        let (format, channel) = (call.target.format, Some(call.target.client.channel.clone()));
        let sender = Arc::new(Mutex::new(Some(sender)));
        let kept = sender.clone();
        let run = move |replies| async move {
            let ended = drive(call, requests, &replies, method_sender).await;
            drop(kept);
            ended
        };
        let mut stream = Self::receive(run)?;
        (stream.format, stream.method, stream.requests) = (format, method, sender);
        stream.channel = channel;
        Ok(stream)
    }

    /// Creates a stream of the replies that a task sends. It takes no requests.
    pub(crate) fn receive<F>(run: impl FnOnce(mpsc::Sender<Incoming>) -> F) -> Result<Self, Status>
    where
        F: Future<Output = Result<(), Status>> + Send + 'static,
    {
        let (outgoing, incoming) = mpsc::channel(MESSAGES_AHEAD);
        let running = run(outgoing.clone());
        let arrived = Arc::new(Notify::new());
        let notifying = arrived.clone();
        let task = runtime::handle()?.spawn(async move {
            let mut sending = pin!(async {
                let last = match caught_future(running).await {
                    Ok(()) => Incoming::End,
                    Err(status) => Incoming::Failed(status),
                };
                // The send fails only if the stream has been freed.
                let _ = outgoing.send(last).await;
            });
            poll_fn(|context| {
                let polled = sending.as_mut().poll(context);
                notifying.notify_waiters(); // Replies arrive only in this poll.
                polled
            })
            .await;
        });
        Ok(Self {
            format: Format::Native,
            method: watch::channel(None).1,
            requests: Arc::default(),
            replies: Mutex::new(Replies { incoming, has_ended: false, is_freed: false }),
            arrived,
            channel: None,
            task: task.abort_handle(),
        })
    }

    /// Waits until the called method is known.
    async fn method(&self) -> Result<Arc<Callable>, Status> {
        let mut method = self.method.clone();
        let known = method.wait_for(Option::is_some).await;
        // If the call is still unknown, the task has failed and sends the reason as a reply.
        known.ok().and_then(|known| known.clone()).ok_or_else(|| Status::cancelled("the stream has ended"))
    }

    /// Returns whether this thread is running a function that blocks the driver of the stream's connection.
    fn is_held_up(&self) -> bool {
        self.channel.as_ref().is_some_and(runtime::is_held_up)
    }

    async fn send(&self, message: Body) -> Result<(), Status> {
        // Clone the sender, so that the lock is not held while the send blocks.
        let sender = self.requests.lock().clone();
        let sender = sender.ok_or_else(|| Status::failed_precondition("the requests of the stream have ended"))?;
        let payload = self.method().await?.request.to_native(self.format, message)?;
        sender.send(payload).await
    }

    /// Waits for the next reply of the stream. Returns `None` at its end.
    async fn next(&self) -> Option<frisbee_reply> {
        let incoming = loop {
            // Create the future first, because it completes for the notifications that follow.
            let arrived = self.arrived.notified();
            let polled = self.replies.lock().poll_next();
            match polled {
                Poll::Ready(incoming) => break incoming?,
                Poll::Pending => arrived.await,
            }
        };
        match incoming {
            Incoming::Message(body, metadata) => Some(match self.method().await {
                Ok(callable) => frisbee_reply::new(&callable.reply, self.format, body, metadata),
                Err(status) => frisbee_reply::failure(&status),
            }),
            Incoming::Reply(reply) => Some(reply),
            Incoming::Failed(status) => Some(frisbee_reply::failure(&status)),
            Incoming::End => None,
        }
    }
}

/// Runs a streaming call until it ends.
async fn drive(
    mut call: Prepared,
    requests: RequestStream<Payload>,
    replies: &mpsc::Sender<Incoming>,
    method_sender: watch::Sender<Option<Arc<Callable>>>,
) -> Result<(), Status> {
    if let Err(status) = prepare(&mut call, &method_sender).await {
        // The call was not sent, so the server cannot have run it. The send fails only if the stream has been freed.
        let _ = replies.send(Incoming::Reply(frisbee_reply::refused(&status))).await;
        return Ok(());
    }
    let cancel = call.cancel.take();
    until_cancelled(cancel.as_ref(), exchange(call, requests, replies)).await
}

/// Prepares a streaming call to be sent.
///
/// # Errors
/// If the method is unknown, the call was cancelled, or the message is invalid.
async fn prepare(call: &mut Prepared, method_sender: &watch::Sender<Option<Arc<Callable>>>) -> Result<(), Status> {
    call.fetch_schema().await?;
    call.check_not_cancelled()?;
    let callable = call.target.callable()?;
    method_sender.send_replace(Some(callable.clone()));
    if !callable.takes_stream {
        return call.encode();
    }
    if call.has_message() {
        let text = format!("{} takes a stream: open it without a message, and send requests", callable.name());
        return Err(Status::invalid_argument(text));
    }
    Ok(())
}

/// Sends the requests of a streaming call and receives its replies.
async fn exchange(
    call: Prepared,
    requests: RequestStream<Payload>,
    replies: &mpsc::Sender<Incoming>,
) -> Result<(), Status> {
    let callable = call.target.callable()?;
    let (method, channel) = (callable.method, &call.target.client.channel);
    if callable.takes_stream {
        let request = call.request.map(|_| requests);
        return match callable.returns_stream {
            true => forward(channel.streaming::<_, Payload>(method, request).await?, replies).await,
            false => single(channel.client_streaming::<_, Payload>(method, request).await?, replies).await,
        };
    }
    // Drop the receiver, because the method takes one message: further sends then fail instead of blocking on a full
    // channel.
    drop(requests);
    match callable.returns_stream {
        true => forward(channel.server_streaming::<Payload, Payload>(method, call.request).await?, replies).await,
        false => single(channel.unary::<Payload, Payload>(method, call.request).await?, replies).await,
    }
}

async fn single(reply: Response<Payload>, replies: &mpsc::Sender<Incoming>) -> Result<(), Status> {
    let metadata = entries(reply.metadata());
    // The send fails only if the stream has been freed.
    let _ = replies.send(Incoming::Message(reply.into_inner().body, metadata)).await;
    Ok(())
}

/// Forwards replies to the caller. If the caller does not take them, flow control stops the server from sending more.
async fn forward(stream: Response<Streaming<Payload>>, replies: &mpsc::Sender<Incoming>) -> Result<(), Status> {
    let mut stream = stream.into_inner();
    let mut is_first = true;
    while let Some(message) = stream.message().await? {
        // Only the first reply carries the metadata of the response.
        let metadata = if std::mem::take(&mut is_first) { entries(stream.metadata()) } else { None };
        if replies.send(Incoming::Message(message.body, metadata)).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Opens a streaming call, and stores its handle. Does not block. Errors of the call are returned later, as a reply of
/// the stream.
///
/// The arguments are those of `frisbee_client_call`, and are copied. `data` is the request of a method with a single
/// request, and must be empty for a method that receives a stream. The caller owns the stream and must free it with
/// `frisbee_stream_free`. Only `options`, `error`, and `data` if `len` is 0, may be NULL. May be called from any
/// thread.
///
/// # Safety
/// Like `frisbee_client_call`; `stream` is writable, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_client_open(
    client: *mut frisbee_client,
    method: *const c_char,
    format: i32,
    data: *const c_void,
    len: usize,
    options: *const frisbee_call_options,
    stream: *mut *mut frisbee_stream,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded_put(error, "stream", stream, || {
            let call = CallArguments::new(client, method, format, data, len, options)?.prepare()?;
            handle::insert(Arc::new(frisbee_stream::open(call)?))
        })
    }
}

/// Sends a request on a stream. Blocks while the server does not accept more.
///
/// The bytes are copied. Only `error`, and `data` if `len` is 0, may be NULL. May be called from any thread, but not in
/// a completion callback. Requests of one thread stay in order.
///
/// # Safety
/// `data` has `len` bytes, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_stream_send(
    stream: *mut frisbee_stream,
    data: *const c_void,
    len: usize,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let (stream, message) = (handle::get(stream)?, Body::copy(slice("data", data, len)?));
            wait_unless(stream.is_held_up(), stream.send(message))?
        })
    }
}

/// Ends the requests of a stream. Replies can still be received, and the stream stays with the caller. Only `error` may
/// be NULL. May be called from any thread.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_stream_end(stream: *mut frisbee_stream, error: *mut frisbee_error) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe {
        guarded(error, || {
            handle::get(stream)?.requests.lock().take();
            Ok(())
        })
    }
}

/// Waits for the next reply of a stream and returns it. The reply has `FRISBEE_OK` and a message, or describes the
/// failure that ended the stream. Returns NULL after the last reply. The caller owns the reply and must free it with
/// `frisbee_reply_free`. For a NULL or freed stream, returns a reply with `FRISBEE_INVALID_ARGUMENT`.
///
/// May be called from any thread, but not in a completion callback. Each reply is returned to one caller.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_stream_next(stream: *mut frisbee_stream) -> *mut frisbee_reply {
    let next = caught(|| {
        let stream = handle::get(stream)?;
        wait_unless(stream.is_held_up(), stream.next())
    });
    match next {
        Ok(None) => std::ptr::null_mut(),
        Ok(Some(reply)) => reply.into_handle(),
        Err(status) => frisbee_reply::refused(&status).into_handle(),
    }
}

/// Like `frisbee_stream_next`, but does not wait. The reply is added to a queue when it arrives, with `user` in its
/// event. The event after the last reply has no reply (NULL). If several callers wait for replies of the stream, any of
/// them receives the next one.
///
/// `user` is returned unchanged. `user`, the stream and the queue stay with the caller. Only `user` and `error` may be
/// NULL. May be called from any thread.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_stream_submit_next(
    stream: *mut frisbee_stream,
    queue: *mut frisbee_queue,
    user: *mut c_void,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe {
        guarded(error, || {
            let (stream, queue) = (handle::get(stream)?, handle::get(queue)?);
            queue.begin(UserData(user), stream.channel.clone(), async move { stream.next().await.map(NewReply::new) })
        })
    }
}

/// Frees a stream, and cancels the call if it has not ended. Replies already received stay valid. NULL is allowed.
///
/// May be called from any thread. Threads waiting for a reply receive `FRISBEE_CANCELLED`.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_stream_free(stream: *mut frisbee_stream) -> frisbee_code {
    if let Ok(stream) = handle::get(stream) {
        // End the call here instead of in `drop`, because threads that wait on the stream keep it alive.
        stream.task.abort();
        stream.replies.lock().is_freed = true;
        stream.arrived.notify_waiters();
    }
    free(stream)
}

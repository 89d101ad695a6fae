//! [`frisbee_stream`]: calls whose requests, replies or both are streams.

use crate::body::Body;
use crate::client::{CallArguments, Prepared, frisbee_call_options, frisbee_client, until_cancelled};
use crate::handle::{self, handle};
use crate::payload::{Format, Payload};
use crate::queue::frisbee_queue;
use crate::raw::{UserData, caught, frisbee_code, frisbee_error, guarded, put, slice};
use crate::reply::{NewReply, entries, free, frisbee_reply};
use crate::runtime::{self, wait};
use crate::schema::Schema;
use frpc::{Metadata, RequestSender, RequestStream, Response, Status, Streaming};
use parking_lot::Mutex;
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use tokio::sync::{Mutex as AsyncMutex, mpsc, watch};
use tokio::task::AbortHandle;

/// How many messages may wait in each direction, beyond the credit of the connection.
const MESSAGES_AHEAD: usize = 16;

/// A call with streams: a handle, which `frisbee_stream_free` frees.
pub struct frisbee_stream {
    format: Format,
    /// The schema and the index of the method, once they are known.
    method: watch::Receiver<Option<(Arc<Schema>, usize)>>,
    /// `None` after the end of the requests.
    requests: Mutex<Option<RequestSender<Payload>>>,
    replies: AsyncMutex<Replies>,
    task: AbortHandle,
}

handle!(frisbee_stream, 5, "stream");

struct Replies {
    incoming: mpsc::Receiver<Incoming>,
    has_ended: bool,
}

enum Incoming {
    Message(Body, Option<Metadata>),
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
        let (outgoing, incoming) = mpsc::channel(MESSAGES_AHEAD);
        let (method_sender, method) = watch::channel(None);
        let format = call.target.format;
        let task = runtime::handle()?.spawn(async move {
            let last = match drive(call, requests, &outgoing, method_sender).await {
                Ok(()) => Incoming::End,
                Err(status) => Incoming::Failed(status),
            };
            // An error shows that the stream was freed.
            let _ = outgoing.send(last).await;
        });
        Ok(Self {
            format,
            method,
            requests: Mutex::new(Some(sender)),
            replies: AsyncMutex::new(Replies { incoming, has_ended: false }),
            task: task.abort_handle(),
        })
    }

    /// Waits until the schema and the method are known.
    async fn method(&self) -> Result<(Arc<Schema>, usize), Status> {
        let mut method = self.method.clone();
        let known = method.wait_for(Option::is_some).await;
        // The task has failed, with the reason for the replies.
        known.ok().and_then(|known| known.clone()).ok_or_else(|| Status::cancelled("the stream has ended"))
    }

    async fn send(&self, message: Body) -> Result<(), Status> {
        let sender = self.requests.lock().clone();
        let sender = sender.ok_or_else(|| Status::failed_precondition("the requests of the stream have ended"))?;
        let (schema, index) = self.method().await?;
        let payload = schema.at(index).request.to_native(&schema.codec, self.format, message)?;
        sender.send(payload).await
    }

    /// The next reply; `None` at the end.
    async fn next(&self) -> Option<frisbee_reply> {
        let mut replies = self.replies.lock().await;
        if replies.has_ended {
            return None;
        }
        let failure = match replies.incoming.recv().await {
            Some(Incoming::Message(body, metadata)) => match self.method().await {
                Ok((schema, index)) => {
                    let of = &schema.at(index).reply;
                    let metadata = metadata.as_ref().and_then(entries);
                    return Some(frisbee_reply::new(of, &schema.codec, self.format, body, metadata));
                }
                Err(status) => status,
            },
            Some(Incoming::Failed(status)) => status,
            Some(Incoming::End) => {
                replies.has_ended = true;
                return None;
            }
            None => Status::cancelled("the stream was cancelled by its caller"),
        };
        replies.has_ended = true;
        Some(frisbee_reply::failure(&failure))
    }
}

/// Runs a call until its end.
async fn drive(
    mut call: Prepared,
    requests: RequestStream<Payload>,
    replies: &mpsc::Sender<Incoming>,
    method_sender: watch::Sender<Option<(Arc<Schema>, usize)>>,
) -> Result<(), Status> {
    call.fetch_schema().await?;
    let (schema, index) = call.target.known()?;
    method_sender.send_replace(Some((schema.clone(), index)));
    let cancel = call.cancel.take();
    until_cancelled(cancel.as_ref(), exchange(call, requests, replies)).await
}

/// Sends the requests of a call and receives its replies.
async fn exchange(
    mut call: Prepared,
    requests: RequestStream<Payload>,
    replies: &mpsc::Sender<Incoming>,
) -> Result<(), Status> {
    let callable = call.target.callable()?;
    let (method, takes_stream, returns_stream) = (callable.method, callable.takes_stream, callable.returns_stream);
    if takes_stream && call.has_message() {
        let text = format!("{} takes a stream: open it without a message, and send requests", callable.name());
        return Err(Status::invalid_argument(text));
    }
    if takes_stream {
        let request = call.request.map(|_| requests);
        let channel = &call.target.client.channel;
        return match returns_stream {
            true => forward(channel.streaming::<_, Payload>(method, request).await?, replies).await,
            false => single(channel.client_streaming::<_, Payload>(method, request).await?, replies).await,
        };
    }
    drop(requests);
    call.encode()?;
    let (request, channel) = (call.request, &call.target.client.channel);
    match returns_stream {
        true => forward(channel.server_streaming::<Payload, Payload>(method, request).await?, replies).await,
        false => single(channel.unary::<Payload, Payload>(method, request).await?, replies).await,
    }
}

fn metadata(metadata: &Metadata) -> Option<Metadata> {
    (!metadata.is_empty()).then(|| metadata.clone())
}

async fn single(reply: Response<Payload>, replies: &mpsc::Sender<Incoming>) -> Result<(), Status> {
    let metadata = metadata(reply.metadata());
    // An error shows that the stream was freed.
    let _ = replies.send(Incoming::Message(reply.into_inner().body, metadata)).await;
    Ok(())
}

/// Passes replies on. A caller that does not take them holds the credit of the stream back.
async fn forward(stream: Response<Streaming<Payload>>, replies: &mpsc::Sender<Incoming>) -> Result<(), Status> {
    let mut stream = stream.into_inner();
    let mut is_first = true;
    while let Some(message) = stream.message().await? {
        let metadata = if std::mem::take(&mut is_first) { metadata(stream.metadata()) } else { None };
        if replies.send(Incoming::Message(message.body, metadata)).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Opens a call with streams, and stores it. It does not wait: errors of the call come as a reply.
///
/// The arguments are those of `frisbee_client_call`, and copied. `data` is the request of a method that takes one, and
/// has to be empty for a method that takes a stream. The caller owns the stream, which `frisbee_stream_free` frees.
/// Only `options`, `error` and the `data` of no bytes may be NULL. Any thread may call it.
///
/// # Safety
/// As for `frisbee_client_call`; `stream` is writable, `error` is NULL or writable.
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
    // SAFETY: the arguments are valid, as the caller promises.
    unsafe {
        guarded(error, || {
            put("stream", stream, || {
                let call = CallArguments::new(client, method, format, data, len, options)?.prepare()?;
                handle::insert(Arc::new(frisbee_stream::open(call)?))
            })
        })
    }
}

/// Sends a request of a stream. It waits while the server takes no more.
///
/// The bytes are copied. Only `error` and the `data` of no bytes may be NULL. Any thread may call it, except in a
/// completion callback; requests of one thread stay in order.
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
    // SAFETY: the arguments are valid, as the caller promises.
    unsafe {
        guarded(error, || {
            let (stream, message) = (handle::get(stream)?, Body::copy(slice("data", data, len)?));
            wait(stream.send(message))?
        })
    }
}

/// Ends the requests of a stream. Replies continue, and the stream stays with the caller. Only `error` may be NULL. Any
/// thread may call it.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_stream_end(stream: *mut frisbee_stream, error: *mut frisbee_error) -> frisbee_code {
    // SAFETY: the argument is valid, as the caller promises.
    unsafe {
        guarded(error, || {
            handle::get(stream)?.requests.lock().take();
            Ok(())
        })
    }
}

/// Waits for the next reply of a stream: one with `FRISBEE_OK` and a message, or the failure that ends the stream.
/// Returns NULL after the last one, and only then. The caller owns the reply, which `frisbee_reply_free` frees. A
/// stream that is NULL or freed is a reply with `FRISBEE_INVALID_ARGUMENT`.
///
/// Any thread may call it, except in a completion callback; each reply goes to one of them.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_stream_next(stream: *mut frisbee_stream) -> *mut frisbee_reply {
    let next = caught(|| {
        let stream = handle::get(stream)?;
        wait(stream.next())
    });
    match next {
        Ok(None) => std::ptr::null_mut(),
        Ok(Some(reply)) => reply.into_handle(),
        Err(status) => frisbee_reply::refused(&status).into_handle(),
    }
}

/// As `frisbee_stream_next`, without waiting: the reply goes to a queue, with `user` in its event. The event after the
/// last reply has NULL.
///
/// `user` is only passed on, and stays with the caller, as the stream and the queue do. Only `user` and `error` may be
/// NULL. Any thread may call it.
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
    // SAFETY: the argument is valid, as the caller promises.
    unsafe {
        guarded(error, || {
            let (stream, queue) = (handle::get(stream)?, handle::get(queue)?);
            queue.begin(UserData(user), async move { stream.next().await.map(NewReply::new) })
        })
    }
}

/// Frees a stream, and cancels the call if it has not ended. Replies that were received stay. NULL is allowed.
///
/// Any thread may call it; a thread that waits for a reply gets `FRISBEE_CANCELLED`.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_stream_free(stream: *mut frisbee_stream) -> frisbee_code {
    if let Ok(stream) = handle::get(stream) {
        stream.requests.lock().take();
        stream.task.abort();
    }
    free(stream)
}

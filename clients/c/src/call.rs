//! [`frisbee_call`]: a call as seen by the C function that serves it, with its request, its parameters and its reply.

use crate::body::Body;
use crate::handle::{self, handle};
use crate::payload::{Encoding, Format, MessageType, Payload};
use crate::raw::{
    bytes, c_text, caught, frisbee_bytes, frisbee_code, frisbee_error, guarded, guarded_put, optional_text,
    put_metadata, text,
};
use crate::runtime::{self, ServedConnection, wait_unless};
use crate::schema::Callable;
use bytes::Bytes;
use frpc::hand_off::HandOff;
use frpc::{Code, Metadata, Request, Response, ResponseSender, Status, Streaming, TrySendError};
use frpc_dynamic::DynamicMessage;
use parking_lot::Mutex;
use std::ffi::{CString, c_char, c_void};
use std::sync::{Arc, OnceLock};
use tokio::sync::{Mutex as AsyncMutex, oneshot};

/// A call that a server function has received. The handle is freed by replying to the call.
pub struct frisbee_call {
    pub(crate) callable: Arc<Callable>,
    pub(crate) connection: ServedConnection,
    request: Option<Message>,
    metadata: Metadata,
    remote: CString,
    timeout_ms: u64,
    /// Request of the caller to hand off the connection, if any.
    pub(crate) hand_off: Option<HandOff>,
    reply_metadata: Mutex<Metadata>,
    sink: Mutex<Option<Sink>>,
    requests: AsyncMutex<Option<Streaming<Payload>>>,
    /// Encoding that the caller uses, known from its first request.
    spoken: OnceLock<Encoding>,
    /// Most recently received request of a stream.
    latest: Mutex<Option<Arc<Message>>>,
    /// Failure of a request that could not be decoded. It replaces the reply of the function.
    failed: Mutex<Option<Status>>,
}

handle!(frisbee_call, 7, "call");

/// Destination of the reply to a call.
pub(crate) enum Sink {
    Single(oneshot::Sender<Result<Response<Payload>, Status>>),
    Stream(ResponseSender<Payload>),
}

/// A request message in the caller's encoding. It is decoded at most once.
pub(crate) struct Message {
    bytes: Bytes,
    encoding: Encoding,
    decoded: OnceLock<Result<DynamicMessage, Status>>,
    /// The request message converted to each format, once it has been requested.
    shown: [OnceLock<Result<Bytes, Status>>; 3],
}

impl Message {
    fn new(payload: Payload) -> Self {
        let (bytes, encoding) = (payload.body.into_bytes(), payload.encoding);
        Self { bytes, encoding, decoded: OnceLock::new(), shown: Default::default() }
    }

    fn decoded(&self, of: &MessageType) -> Result<&DynamicMessage, Status> {
        let decode = || of.read(self.encoding, &self.bytes);
        self.decoded.get_or_init(decode).as_ref().map_err(Clone::clone)
    }

    /// Returns the message in a format. The trailing NUL of text is not counted.
    fn shown(&self, of: &MessageType, format: Format) -> Result<frisbee_bytes, Status> {
        let show = || match (self.encoding, format) {
            (Encoding::Native, _) => of.show_native(format, self.bytes.clone().into()).map(Body::into_bytes),
            (Encoding::Protobuf, Format::Protobuf) => Ok(self.bytes.clone()),
            _ => of.write(format, self.decoded(of)?),
        };
        let [native, json, protobuf] = &self.shown;
        let index = match format {
            Format::Native => native,
            Format::Json => json,
            Format::Protobuf => protobuf,
        };
        // Cache the bytes in the call, because the returned pointer must stay valid until the call is freed.
        let shown = index.get_or_init(show).as_ref().map_err(Clone::clone)?;
        let nul = usize::from(format == Format::Json);
        Ok(frisbee_bytes { len: shown.len().saturating_sub(nul), ..frisbee_bytes::of(shown) })
    }
}

impl frisbee_call {
    pub(crate) fn new(callable: Arc<Callable>, request: Request<Payload>, sink: Sink) -> Arc<Self> {
        let mut call = Self::about(callable, &request, sink);
        call.spoken = OnceLock::from(request.get_ref().encoding);
        call.request = Some(Message::new(request.into_inner()));
        Arc::new(call)
    }

    pub(crate) fn streaming(callable: Arc<Callable>, request: Request<Streaming<Payload>>, sink: Sink) -> Arc<Self> {
        let mut call = Self::about(callable, &request, sink);
        call.requests = AsyncMutex::new(Some(request.into_inner()));
        Arc::new(call)
    }

    fn about<T>(callable: Arc<Callable>, request: &Request<T>, sink: Sink) -> Self {
        let metadata = request.metadata();
        let timeout = request.timeout().map_or(u64::MAX, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        Self {
            callable,
            connection: ServedConnection::of(request),
            request: None,
            metadata: if metadata.is_empty() { Metadata::new() } else { metadata.clone() },
            remote: request.remote_addr().map(|address| c_text(&address.to_string())).unwrap_or_default(),
            timeout_ms: timeout,
            hand_off: request.hand_off().cloned(),
            reply_metadata: Mutex::new(Metadata::new()),
            sink: Mutex::new(Some(sink)),
            requests: AsyncMutex::new(None),
            spoken: OnceLock::new(),
            latest: Mutex::new(None),
            failed: Mutex::new(None),
        }
    }

    /// Decodes the request before the function receives the call. A request in the native encoding may stay undecoded
    /// unless the function `is_typed`.
    pub(crate) fn check(&self, is_typed: bool) -> Result<(), Status> {
        match &self.request {
            Some(message) if is_typed || message.encoding != Encoding::Native => self.decoded(message).map(drop),
            _ => Ok(()),
        }
    }

    /// Rejects a call before its function receives it.
    pub(crate) fn refuse(&self, status: Status) {
        // If the send fails, the caller has disconnected. If there is no sink, the function owns the call.
        match self.sink.lock().take() {
            Some(Sink::Single(sink)) => drop(sink.send(Err(status))),
            Some(Sink::Stream(sink)) => drop(sink.try_send(Err(status))),
            None => {}
        }
    }

    pub(crate) fn decoded<'m>(&self, message: &'m Message) -> Result<&'m DynamicMessage, Status> {
        message.decoded(&self.callable.request).inspect_err(|status| {
            // Keep only the first failure. It becomes the status of the call, even if the function replies with
            // success.
            self.failed.lock().get_or_insert_with(|| status.clone());
        })
    }

    /// Calls `read` with the current request. In a request stream, this is the message received last.
    pub(crate) fn request<T>(&self, read: impl FnOnce(&Message) -> Result<T, Status>) -> Result<T, Status> {
        match &self.request {
            Some(message) => read(message),
            None => {
                // Clone the `Arc`, so that `read` runs without the lock.
                let latest = self.latest.lock().clone();
                let none = || Status::failed_precondition("the call has no request: use frisbee_call_next");
                read(&*latest.ok_or_else(none)?)
            }
        }
    }

    /// Encodes a reply in the encoding that the caller uses.
    pub(crate) fn payload(&self, format: Format, bytes: Bytes) -> Result<Payload, Status> {
        self.callable.reply.to_caller(self.spoken.get().copied(), format, bytes)
    }
}

/// Ends a call that has a single reply. If the reply is invalid, the call stays open and another reply is possible.
pub(crate) fn end(
    call: *mut frisbee_call,
    reply: impl FnOnce(&frisbee_call) -> Result<Payload, Status>,
) -> Result<(), Status> {
    let open = handle::get(call)?;
    if matches!(&*open.sink.lock(), Some(Sink::Stream(_))) {
        return Err(Status::failed_precondition("the replies are a stream: use frisbee_call_send and _finish"));
    }
    // A failure to decode a request takes precedence over the function's reply.
    let failed = open.failed.lock().take();
    let payload = if failed.is_some() { Payload::default() } else { reply(&open)? };
    let removed = handle::remove(call)?;
    let Some(Sink::Single(sink)) = removed.sink.lock().take() else { return Ok(()) };
    if let Some(status) = failed {
        return sink.send(Err(status)).map_err(|_| gone());
    }
    let mut response = Response::new(payload);
    let metadata = std::mem::take(&mut *removed.reply_metadata.lock());
    if !metadata.is_empty() {
        *response.metadata_mut() = metadata;
    }
    sink.send(Ok(response)).map_err(|_| gone())
}

/// Ends a stream with a failure. Does not block, because it may run in a completion callback. If the stream's buffer is
/// full, spawns a task that sends the failure, because the stream would otherwise appear complete.
fn fail_stream(sink: ResponseSender<Payload>, status: Status) -> Result<(), Status> {
    match sink.try_send(Err(status)) {
        Ok(()) => Ok(()),
        Err(TrySendError::Full(failure)) => {
            // The task ends with the connection at the latest.
            runtime::handle()?.spawn(async move { sink.send(failure).await });
            Ok(())
        }
        Err(_) => Err(gone()),
    }
}

/// Returns whether the call of a reply stream has ended.
fn is_closed(sink: &ResponseSender<Payload>) -> bool {
    // Poll once with a no-op waker, because the caller must not block.
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    std::pin::pin!(sink.closed()).poll(&mut context).is_ready()
}

fn gone() -> Status {
    Status::cancelled("the caller cancelled the call or disconnected")
}

/// Stores the request of a call in `data`, in a format of `frisbee_format`. For a stream of requests, stores the last
/// one received. JSON text ends with a NUL, which is not included in `len`.
///
/// The bytes belong to the call. They are valid until the call is replied to, and in a stream until the next request.
/// Only `error` may be NULL. May be called from any thread.
///
/// # Safety
/// `data` is writable, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_data(
    call: *mut frisbee_call,
    format: i32,
    data: *mut frisbee_bytes,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded_put(error, "data", data, || {
            let (call, format) = (handle::get(call)?, Format::new(format)?);
            call.request(|message| message.shown(&call.callable.request, format))
        })
    }
}

/// Returns the value of a key in the metadata of the request. The value belongs to the call. The key is only read
/// during the call of this function. Returns no bytes if there is no such entry, if the call was freed, or if `call` or
/// `key` is NULL. May be called from any thread.
///
/// # Safety
/// `key` is NULL or a text that ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_metadata(call: *mut frisbee_call, key: *const c_char) -> frisbee_bytes {
    let found = caught(|| {
        // SAFETY: The caller guarantees that `key` ends with a NUL.
        let key = unsafe { optional_text("key", key) }?.unwrap_or_default();
        let call = handle::get(call)?;
        let value = call.metadata.get(key).map(str::as_bytes).or_else(|| call.metadata.get_bin(key));
        Ok(value.map_or(frisbee_bytes::EMPTY, frisbee_bytes::of))
    });
    found.unwrap_or(frisbee_bytes::EMPTY)
}

/// Returns the remote address of the caller. The text belongs to the call. It is empty if the transport has no address,
/// and for NULL and freed calls. May be called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_call_remote(call: *mut frisbee_call) -> *const c_char {
    caught(|| Ok(handle::get(call)?.remote.as_ptr())).unwrap_or(c"".as_ptr())
}

/// Returns the time in milliseconds that the caller allowed for the call, as of its arrival. Returns `UINT64_MAX` if
/// the call has no deadline, and 0 for NULL and freed calls. The call stays valid. May be called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_call_timeout_ms(call: *mut frisbee_call) -> u64 {
    caught(|| Ok(handle::get(call)?.timeout_ms)).unwrap_or(0)
}

/// Returns whether the call has ended without a reply, because the caller cancelled it or disconnected, or because its
/// deadline passed. The function must still reply, because this frees the call. Returns true for NULL and freed calls.
/// May be called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_call_is_cancelled(call: *mut frisbee_call) -> bool {
    let cancelled = caught(|| {
        let call = handle::get(call)?;
        Ok(match &*call.sink.lock() {
            Some(Sink::Single(sink)) => sink.is_closed(),
            Some(Sink::Stream(sink)) => is_closed(sink),
            None => true,
        })
    });
    cancelled.unwrap_or(true)
}

/// Adds an entry to the metadata of the reply. The key and value are copied. Not supported for calls that reply with a
/// stream. Only `error`, and `value` if `len` is 0, may be NULL. May be called from any thread.
///
/// # Safety
/// `key` ends with a NUL, `value` has `len` bytes, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_reply_metadata(
    call: *mut frisbee_call,
    key: *const c_char,
    value: *const c_void,
    len: usize,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let call = handle::get(call)?;
            if matches!(&*call.sink.lock(), Some(Sink::Stream(_))) {
                return Err(Status::failed_precondition("a stream of replies has no metadata"));
            }
            put_metadata(&mut call.reply_metadata.lock(), text("key", key)?, &bytes("value", value, len)?)
        })
    }
}

/// Replies with a message in a format of `frisbee_format`, and frees the call. The bytes are copied.
///
/// If the message is invalid, the call stays open and needs another reply. Returns `FRISBEE_CANCELLED` if the caller
/// has cancelled the call or disconnected, or if the deadline has passed. The call is freed in this case too. Only
/// `error`, and `data` if `len` is 0, may be NULL. May be called from any thread, during the function or later.
///
/// # Safety
/// `data` has `len` bytes, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_reply(
    call: *mut frisbee_call,
    format: i32,
    data: *const c_void,
    len: usize,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let (format, message) = (Format::new(format)?, bytes("data", data, len)?);
            end(call, |call| call.payload(format, message))
        })
    }
}

/// Ends a call with a failure, and frees it. `code` is a value of `frisbee_code` other than `FRISBEE_OK`. The text is
/// copied. NULL stands for an empty text. Only `message` and `error` may be NULL. Does not block. May be called from
/// any thread, during the function or later, and for streams too.
///
/// # Safety
/// `message` is NULL or ends with a NUL, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_fail(
    call: *mut frisbee_call,
    code: i32,
    message: *const c_char,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let text = optional_text("message", message)?.unwrap_or_default();
            let code = Code::from_i32(code);
            if code == Code::Ok {
                return Err(Status::invalid_argument("a failure has a code other than FRISBEE_OK"));
            }
            // Remove the handle first, so that only one of two concurrent replies ends the call.
            let call = handle::remove(call)?;
            let mut status = Status::new(code, text);
            let metadata = std::mem::take(&mut *call.reply_metadata.lock());
            if !metadata.is_empty() {
                status = status.with_metadata(metadata);
            }
            let sink = call.sink.lock().take();
            match sink {
                Some(Sink::Single(sink)) => sink.send(Err(status)).map_err(|_| gone()),
                Some(Sink::Stream(sink)) => fail_stream(sink, status),
                None => Err(gone()),
            }
        })
    }
}

/// Waits for the next request of a call that receives a stream. Returns `FRISBEE_OK` when a request has arrived;
/// `frisbee_call_data` and the parameter functions then read this request. Returns `FRISBEE_OUT_OF_RANGE` after the
/// last request. Returns another code if the request is invalid or the stream was aborted. The caller then receives
/// that error instead of the function's reply.
///
/// The request belongs to the call. It replaces the previous request. Only `error` may be NULL. May be called from one
/// thread at a time, but not in a completion callback. Returns `FRISBEE_FAILED_PRECONDITION` if it would wait in the
/// function of a unary method that the call's connection is waiting for.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_next(call: *mut frisbee_call, error: *mut frisbee_error) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe {
        guarded(error, || {
            let call = handle::get(call)?;
            let next = wait_unless(call.connection.is_held_up(), async {
                // Hold tokio's mutex across the `await`, so that concurrent readers receive messages one at a time.
                let mut requests = call.requests.lock().await;
                match requests.as_mut() {
                    Some(stream) => Some(stream.message().await),
                    None => None,
                }
            })?;
            let next = next.ok_or_else(|| Status::failed_precondition("the call has no request stream"))?;
            let failed = |status: &Status| {
                call.failed.lock().get_or_insert_with(|| status.clone());
            };
            let message = next.inspect_err(failed)?.ok_or_else(|| Status::out_of_range("the requests have ended"))?;
            let _ = call.spoken.set(message.encoding); // The encoding is the same for all requests.
            let message = Arc::new(Message::new(message));
            call.decoded(&message)?;
            // Store the request only after decoding it, so that `frisbee_call_data` never returns a malformed one.
            *call.latest.lock() = Some(message);
            Ok(())
        })
    }
}

/// Sends a message on a reply stream. Blocks while the caller does not accept more. The bytes are copied.
///
/// Returns `FRISBEE_CANCELLED` if the caller has cancelled the call or disconnected, or if the deadline has passed. The
/// function should then finish the call. Returns `FRISBEE_FAILED_PRECONDITION` if it would block in the function of a
/// unary method that the call's connection is waiting for. `error` may be NULL, and `data` if `len` is 0. May be called
/// from any thread, but not in a completion callback.
///
/// # Safety
/// `data` has `len` bytes, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_send(
    call: *mut frisbee_call,
    format: i32,
    data: *const c_void,
    len: usize,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let call = handle::get(call)?;
            let payload = call.payload(Format::new(format)?, bytes("data", data, len)?)?;
            // Clone the sender, so that the lock is not held while the send blocks.
            let sink = match &*call.sink.lock() {
                Some(Sink::Stream(sink)) => sink.clone(),
                _ => return Err(Status::failed_precondition("the call has a single reply: use frisbee_call_reply")),
            };
            wait_unless(call.connection.is_held_up(), sink.send(Ok(payload)))?.map_err(|_| gone())
        })
    }
}

/// Ends a reply stream, and frees the call. Returns `FRISBEE_CANCELLED` if the caller has cancelled the call or
/// disconnected, or if the deadline has passed. The call is freed in this case too. Only `error` may be NULL. May be
/// called from any thread, during the function or later.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_finish(call: *mut frisbee_call, error: *mut frisbee_error) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe {
        guarded(error, || {
            if matches!(&*handle::get(call)?.sink.lock(), Some(Sink::Single(_))) {
                return Err(Status::failed_precondition("the call has a single reply: use frisbee_call_reply"));
            }
            let call = handle::remove(call)?;
            let (failed, sink) = (call.failed.lock().take(), call.sink.lock().take());
            match (failed, sink) {
                (Some(status), Some(Sink::Stream(sink))) => fail_stream(sink, status),
                (None, Some(Sink::Stream(sink))) if is_closed(&sink) => Err(gone()),
                _ => Ok(()),
            }
        })
    }
}

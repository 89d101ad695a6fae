//! [`frisbee_reply`]: the outcome of a call, or a message of a stream.

use crate::body::Body;
use crate::handle::{self, INDEX_MAX, Inline, handle};
use crate::payload::{Format, MessageType, received};
use crate::raw::{self, c_text, caught, code, frisbee_bytes, frisbee_code, frisbee_metadata, optional_text, put};
use bytes::Bytes;
use frpc::polyglot::{DecodeError, Decoder, EncodeError, Encoder, Message, Root};
use frpc::{Metadata, Status};
use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

/// The outcome of a call, or a message of a stream. The handle is freed by `frisbee_reply_free`.
pub struct frisbee_reply {
    outcome: Result<Data, Box<Failure>>,
    metadata: Entries,
}

/// Keys and values of metadata, or `None` if there are none.
pub(crate) type Entries = Option<Box<[(CString, Bytes)]>>;

/// Error text for an invalid reply handle.
const INVALID: &CStr = c"the reply is NULL, freed, or not a handle of this type";

handle!(frisbee_reply, 2, "reply", Inline<frisbee_reply>);

/// Handle returned for a reply if too many replies are in use. No handle table assigns this number.
const EXHAUSTED: *mut frisbee_reply = std::ptr::without_provenance_mut(1);

/// Returns the reply that the handle [`EXHAUSTED`] stands for.
fn exhausted() -> &'static frisbee_reply {
    static REPLY: OnceLock<frisbee_reply> = OnceLock::new();
    REPLY.get_or_init(too_many)
}

fn too_many() -> frisbee_reply {
    let text = format!("the reply is lost, since {INDEX_MAX} replies are in use: free each by frisbee_reply_free");
    frisbee_reply::failure(&Status::resource_exhausted(text))
}

struct Data {
    body: Body,
    /// Length of the data in bytes, excluding the trailing NUL of text.
    len: usize,
}

impl Data {
    fn view(&self) -> frisbee_bytes {
        frisbee_bytes { len: self.len, ..frisbee_bytes::of(&self.body) }
    }
}

struct Failure {
    code: frisbee_code,
    message: CString,
    details: Bytes,
    may_have_run: bool,
}

impl frisbee_reply {
    /// Creates a reply from a received message in the native encoding.
    pub(crate) fn new(of: &MessageType, format: Format, native: Body, metadata: Entries) -> Self {
        let body = match of.show_native(format, native) {
            Ok(body) => body,
            Err(status) => {
                let text = format!("the reply is unreadable: {}", status.message());
                return Self { metadata, ..Self::failure(&Status::internal(text)) };
            }
        };
        let len = if format == Format::Json { body.len().saturating_sub(1) } else { body.len() };
        Self { outcome: Ok(Data { body, len }), metadata }
    }

    /// Creates a reply of plain bytes with one metadata entry.
    pub(crate) fn of_bytes(body: Body, key: &CStr, value: Bytes) -> Self {
        let len = body.len();
        Self { outcome: Ok(Data { body, len }), metadata: Some(Box::new([(key.to_owned(), value)])) }
    }

    pub(crate) fn failure(status: &Status) -> Self {
        let failure = Failure {
            code: code(status.code()),
            message: c_text(status.message()),
            details: Bytes::copy_from_slice(status.details()),
            may_have_run: status.may_have_run(),
        };
        Self { outcome: Err(Box::new(failure)), metadata: entries(status.metadata()) }
    }

    /// Creates the reply for a call that failed before it was sent.
    pub(crate) fn refused(status: &Status) -> Self {
        let mut reply = Self::failure(status);
        if let Err(failure) = &mut reply.outcome {
            failure.may_have_run = false;
        }
        reply
    }

    fn entries(&self) -> &[(CString, Bytes)] {
        self.metadata.as_deref().unwrap_or_default()
    }

    pub(crate) fn is_failure(&self) -> bool {
        self.outcome.is_err()
    }

    /// Returns a handle for the reply, or [`EXHAUSTED`] if too many replies are in use.
    #[inline(always)] // Writes the reply only once.
    pub(crate) fn into_handle(self) -> *mut Self {
        handle::insert(Inline(self)).unwrap_or(EXHAUSTED)
    }
}

/// A reply that has not been passed to C yet. Its slot is filled when the message arrives, and afterwards only the
/// handle is moved.
#[derive(Debug)]
pub(crate) struct NewReply(*mut frisbee_reply);

// SAFETY: Like every handle, the pointer is a number.
unsafe impl Send for NewReply {}

impl NewReply {
    pub(crate) fn new(reply: frisbee_reply) -> Self {
        Self(reply.into_handle())
    }

    pub(crate) fn failure(status: &Status) -> Self {
        Self::new(frisbee_reply::failure(status))
    }

    /// Returns the handle of the reply, which C must free.
    pub(crate) fn into_handle(mut self) -> *mut frisbee_reply {
        std::mem::replace(&mut self.0, std::ptr::null_mut())
    }

    /// Creates a reply from the body of a message that has just arrived.
    pub(crate) fn into_reply(self, make: impl FnOnce(Body) -> frisbee_reply) -> frisbee_reply {
        match handle::take(self.into_handle()) {
            Some(Inline(frisbee_reply { outcome: Ok(data), .. })) => make(data.body),
            Some(Inline(failure)) => failure,
            None => too_many(),
        }
    }
}

impl Drop for NewReply {
    fn drop(&mut self) {
        if !self.0.is_null() {
            frisbee_reply_free(self.0);
        }
    }
}

/// Required by the trait `Message`, but never called, because replies are always decoded, even if they are empty.
impl Default for NewReply {
    fn default() -> Self {
        Self(std::ptr::null_mut())
    }
}

impl Message for NewReply {
    const NAME: &'static str = "the message";

    fn encode_root(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.nil(); // Replies are only received, never sent.
        Ok(())
    }

    fn decode_root(from: &mut Decoder<'_>) -> Result<Root<Self>, DecodeError> {
        Ok(match received(from)? {
            Root::Message(body) => {
                let len = body.len();
                Root::Message(Self(frisbee_reply { outcome: Ok(Data { body, len }), metadata: None }.into_handle()))
            }
            Root::Error(text) => Root::Error(text),
        })
    }
}

pub(crate) fn entries(metadata: &Metadata) -> Entries {
    let copy = || metadata.iter().map(|(key, value)| (c_text(key), Bytes::copy_from_slice(value))).collect();
    (!metadata.is_empty()).then(copy)
}

/// Calls `read` with the reply of a handle, or returns `otherwise` if the handle is invalid. Pointers to parts of the
/// reply are valid as long as the handle.
fn part<T>(reply: *const frisbee_reply, otherwise: T, read: impl FnOnce(&frisbee_reply) -> T) -> T {
    let found = caught(|| match handle::get(reply) {
        Ok(reply) => Ok(read(&reply)),
        Err(_) if reply == EXHAUSTED => Ok(read(exhausted())),
        Err(status) => Err(status),
    });
    found.unwrap_or(otherwise)
}

/// The parts of a reply. All pointers belong to the reply.
#[repr(C)]
pub struct frisbee_outcome {
    /// `FRISBEE_OK`, or the status code of the failure.
    pub code: frisbee_code,
    /// Whether a failed call may have run on the server. If false, retrying the call is safe.
    pub may_have_run: bool,
    /// Error text of a failed call. Empty on success.
    pub message: *const c_char,
    /// Message of a successful reply, as returned by `frisbee_reply_data`.
    pub data: frisbee_bytes,
}

/// Stores the parts of a reply in `outcome`, and returns the code of the reply. Combines `frisbee_reply_code`,
/// `_message`, `_data` and `_may_have_run`.
///
/// The pointers in `outcome` belong to the reply. A NULL or freed reply has the code `FRISBEE_INVALID_ARGUMENT` and an
/// error text. If `outcome` is NULL, stores nothing and returns `FRISBEE_INVALID_ARGUMENT`. May be called from any
/// thread.
///
/// # Safety
/// `outcome` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_reply_read(
    reply: *const frisbee_reply,
    outcome: *mut frisbee_outcome,
) -> frisbee_code {
    if outcome.is_null() {
        return frisbee_code::FRISBEE_INVALID_ARGUMENT;
    }
    let parts = parts(reply);
    let code = parts.code;
    // SAFETY: The caller guarantees that `outcome` is writable.
    unsafe { outcome.write(parts) };
    code
}

/// Returns the parts of the reply of a handle, or those of an error if the handle is invalid.
#[inline]
fn parts(reply: *const frisbee_reply) -> frisbee_outcome {
    let invalid = frisbee_outcome {
        code: frisbee_code::FRISBEE_INVALID_ARGUMENT,
        may_have_run: false,
        message: INVALID.as_ptr(),
        data: frisbee_bytes::EMPTY,
    };
    part(reply, invalid, |reply| match &reply.outcome {
        Ok(data) => frisbee_outcome {
            code: frisbee_code::FRISBEE_OK,
            may_have_run: true,
            message: c"".as_ptr(),
            data: data.view(),
        },
        Err(failure) => frisbee_outcome {
            code: failure.code,
            may_have_run: failure.may_have_run,
            message: failure.message.as_ptr(),
            data: frisbee_bytes::EMPTY,
        },
    })
}

/// Returns the status code of a reply, which is `FRISBEE_OK` on success. The reply stays with the caller. Returns
/// `FRISBEE_INVALID_ARGUMENT` for NULL and freed replies. May be called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_reply_code(reply: *const frisbee_reply) -> frisbee_code {
    parts(reply).code
}

/// Returns the text of a failure, or an empty text on success. Never returns NULL. The text belongs to the reply. For
/// NULL and freed replies, returns an error text that belongs to the library. May be called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_reply_message(reply: *const frisbee_reply) -> *const c_char {
    parts(reply).message
}

/// Returns the message of a successful reply in the format of the call. JSON text ends with a NUL, which is not
/// included in `len`. The bytes belong to the reply. Returns no bytes for failures, NULL and freed replies. May be
/// called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_reply_data(reply: *const frisbee_reply) -> frisbee_bytes {
    parts(reply).data
}

/// Returns the details of a failure, which are usually a protobuf-encoded `google.rpc.Status`. The bytes belong to the
/// reply. Returns no bytes on success, and for NULL and freed replies. May be called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_reply_details(reply: *const frisbee_reply) -> frisbee_bytes {
    part(reply, frisbee_bytes::EMPTY, |reply| match &reply.outcome {
        Err(failure) if !failure.details.is_empty() => frisbee_bytes::of(&failure.details),
        _ => frisbee_bytes::EMPTY,
    })
}

/// Returns whether a failed call may have run on the server. If it returns false, retrying the call is safe. The reply
/// stays with the caller. Returns false for NULL and freed replies. May be called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_reply_may_have_run(reply: *const frisbee_reply) -> bool {
    parts(reply).may_have_run
}

/// Stores the metadata entry of a reply at `index`. The pointers in the entry belong to the reply.
///
/// Returns false and stores nothing if `index` is out of range, for a freed reply, and if `reply` or `entry` is NULL.
/// May be called from any thread.
///
/// # Safety
/// `entry` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_reply_metadata_at(
    reply: *const frisbee_reply,
    index: usize,
    entry: *mut frisbee_metadata,
) -> bool {
    let stored = caught(|| {
        let reply = handle::get(reply)?;
        let (key, value) = reply.entries().get(index).ok_or_else(|| Status::not_found("no such entry"))?;
        let found = frisbee_metadata { key: key.as_ptr(), value: value.as_ptr().cast(), len: value.len() };
        // SAFETY: The caller guarantees that `entry` is writable.
        unsafe { put("entry", entry, || Ok(found)) }
    });
    stored.is_ok()
}

/// Returns the value of a key in the metadata of a reply. The value belongs to the reply. The key is only read during
/// the call. Returns no bytes if there is no such entry, for a freed reply, and if `reply` or `key` is NULL. May be
/// called from any thread.
///
/// # Safety
/// `key` is NULL or a text that ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_reply_metadata(reply: *const frisbee_reply, key: *const c_char) -> frisbee_bytes {
    // SAFETY: The caller guarantees that `key` ends with a NUL.
    let Ok(Some(key)) = (unsafe { optional_text("key", key) }) else { return frisbee_bytes::EMPTY };
    part(reply, frisbee_bytes::EMPTY, |reply| {
        let mut entries = reply.entries().iter();
        let found = entries.find(|(name, _)| name.to_bytes() == key.as_bytes());
        found.map_or(frisbee_bytes::EMPTY, |(_, value)| frisbee_bytes::of(value))
    })
}

/// Frees a reply. All pointers obtained from the reply become invalid. NULL is allowed. Freeing a reply twice returns
/// an error.
///
/// May be called from any thread, provided that no other thread uses the reply's pointers.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_reply_free(reply: *mut frisbee_reply) -> frisbee_code {
    if reply == EXHAUSTED { frisbee_code::FRISBEE_OK } else { free(reply) }
}

/// Frees a handle for an exported function. Ignores null, and returns an error code for an invalid handle.
pub(crate) fn free<T: handle::Handle>(freed: *mut T) -> frisbee_code {
    if freed.is_null() {
        return frisbee_code::FRISBEE_OK;
    }
    // SAFETY: A null `error` is allowed.
    unsafe { raw::guarded(std::ptr::null_mut(), || handle::free(freed)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::frisbee_stream_next;

    /// Tests that replies are freed after their queue was freed or their call was cancelled.
    #[test]
    fn reply_without_reader_is_freed() {
        let kept = NewReply::new(frisbee_reply { outcome: Ok(Data { body: Body::default(), len: 0 }), metadata: None });
        let handle = kept.0;
        assert_eq!(frisbee_reply_code(handle), frisbee_code::FRISBEE_OK);
        drop(kept);
        assert_eq!(frisbee_reply_code(handle), frisbee_code::FRISBEE_INVALID_ARGUMENT);
    }

    /// Regression test: a program that freed none of its replies received NULL, which indicates the end of a stream.
    #[test]
    fn reply_without_free_handle_is_error() {
        let empty = || frisbee_reply { outcome: Ok(Data { body: Body::default(), len: 0 }), metadata: None };
        let mut replies: Vec<_> = std::iter::repeat_with(|| empty().into_handle()).take(INDEX_MAX).collect();
        let lost = frisbee_stream_next(std::ptr::null_mut());
        assert!(!lost.is_null() && !replies.contains(&lost));
        assert_eq!(frisbee_reply_code(lost), frisbee_code::FRISBEE_RESOURCE_EXHAUSTED);
        assert!(frisbee_reply_may_have_run(lost));
        // SAFETY: The text belongs to a reply.
        let text = unsafe { CStr::from_ptr(frisbee_reply_message(lost)) }.to_str().unwrap();
        assert!(text.contains("free each by frisbee_reply_free"), "{text}");
        assert_eq!(frisbee_reply_code(NewReply::new(empty()).into_handle()), frisbee_code::FRISBEE_RESOURCE_EXHAUSTED);
        assert!(NewReply::new(empty()).into_reply(|_| unreachable!("it was not stored")).is_failure());
        assert_eq!(frisbee_reply_free(lost), frisbee_code::FRISBEE_OK);
        assert_eq!(frisbee_reply_free(replies.pop().unwrap()), frisbee_code::FRISBEE_OK);
        let next = empty().into_handle();
        assert_eq!(frisbee_reply_code(next), frisbee_code::FRISBEE_OK);
        for reply in replies.into_iter().chain([next]) {
            assert_eq!(frisbee_reply_free(reply), frisbee_code::FRISBEE_OK);
        }
    }
}

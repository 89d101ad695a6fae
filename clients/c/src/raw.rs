//! The FFI boundary: pointers to the caller's memory, error codes and error texts. No panic leaves the library.

use bytes::Bytes;
use frpc::{Code, Metadata, Status};
use futures_util::FutureExt as _;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Status code of a function or a call. The numbers are those of gRPC.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum frisbee_code {
    /// Success.
    FRISBEE_OK = 0,
    /// The call was cancelled by its caller.
    FRISBEE_CANCELLED = 1,
    /// An error for which no other code applies.
    FRISBEE_UNKNOWN = 2,
    /// An argument of the call or of the function is invalid.
    FRISBEE_INVALID_ARGUMENT = 3,
    /// The deadline passed before the call completed. The server may have run the call.
    FRISBEE_DEADLINE_EXCEEDED = 4,
    /// The requested object does not exist.
    FRISBEE_NOT_FOUND = 5,
    /// The object to create already exists.
    FRISBEE_ALREADY_EXISTS = 6,
    /// The caller does not have permission.
    FRISBEE_PERMISSION_DENIED = 7,
    /// A resource is exhausted, such as a limit on calls or memory.
    FRISBEE_RESOURCE_EXHAUSTED = 8,
    /// The current state does not allow the operation, such as a blocking call within a callback.
    FRISBEE_FAILED_PRECONDITION = 9,
    /// The operation was aborted, for example because of a conflict.
    FRISBEE_ABORTED = 10,
    /// A value is outside the valid range.
    FRISBEE_OUT_OF_RANGE = 11,
    /// The server does not implement the method.
    FRISBEE_UNIMPLEMENTED = 12,
    /// An internal error, including a panic caught by the library.
    FRISBEE_INTERNAL = 13,
    /// The server is unreachable, or the connection was lost.
    FRISBEE_UNAVAILABLE = 14,
    /// Data was lost.
    FRISBEE_DATA_LOSS = 15,
    /// The caller did not provide valid credentials.
    FRISBEE_UNAUTHENTICATED = 16,
}

/// Code and text of an error. The text ends with a NUL and is truncated to the size of the array.
#[repr(C)]
pub struct frisbee_error {
    /// Status code of the error.
    pub code: frisbee_code,
    /// Error text.
    pub message: [c_char; 508],
}

/// Pointer and length of bytes that belong to the object which returned them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct frisbee_bytes {
    /// Pointer to the first byte, or NULL if there are no bytes.
    pub data: *const c_void,
    /// Number of bytes at the pointer.
    pub len: usize,
}

impl frisbee_bytes {
    pub(crate) const EMPTY: Self = Self { data: std::ptr::null(), len: 0 };

    pub(crate) fn of(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::EMPTY;
        }
        Self { data: bytes.as_ptr().cast(), len: bytes.len() }
    }
}

/// A metadata entry. Values of keys that end with `-bin` are binary, all others are text.
#[repr(C)]
pub struct frisbee_metadata {
    /// Key of the entry in lower case.
    pub key: *const c_char,
    /// Value of the entry.
    pub value: *const c_void,
    /// Length of the value in bytes.
    pub len: usize,
}

pub(crate) fn code(code: Code) -> frisbee_code {
    use frisbee_code::*;
    match code {
        Code::Ok => FRISBEE_OK,
        Code::Cancelled => FRISBEE_CANCELLED,
        Code::Unknown => FRISBEE_UNKNOWN,
        Code::InvalidArgument => FRISBEE_INVALID_ARGUMENT,
        Code::DeadlineExceeded => FRISBEE_DEADLINE_EXCEEDED,
        Code::NotFound => FRISBEE_NOT_FOUND,
        Code::AlreadyExists => FRISBEE_ALREADY_EXISTS,
        Code::PermissionDenied => FRISBEE_PERMISSION_DENIED,
        Code::ResourceExhausted => FRISBEE_RESOURCE_EXHAUSTED,
        Code::FailedPrecondition => FRISBEE_FAILED_PRECONDITION,
        Code::Aborted => FRISBEE_ABORTED,
        Code::OutOfRange => FRISBEE_OUT_OF_RANGE,
        Code::Unimplemented => FRISBEE_UNIMPLEMENTED,
        Code::Internal => FRISBEE_INTERNAL,
        Code::Unavailable => FRISBEE_UNAVAILABLE,
        Code::DataLoss => FRISBEE_DATA_LOSS,
        Code::Unauthenticated => FRISBEE_UNAUTHENTICATED,
    }
}

/// Calls `run` and converts a panic into an error.
pub(crate) fn caught<T>(run: impl FnOnce() -> Result<T, Status>) -> Result<T, Status> {
    // After a panic, only values that are being dropped can be inconsistent, because the tables contain complete
    // objects only.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(panicked()))
}

/// Runs a future and converts a panic into an error, like [`caught`].
pub(crate) async fn caught_future<T>(run: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    AssertUnwindSafe(run).catch_unwind().await.unwrap_or_else(|_| Err(panicked()))
}

fn panicked() -> Status {
    Status::internal("the library has caught a panic")
}

/// Runs the body of an exported C function. Stores its error in `error`, unless that is null, and returns the status
/// code.
///
/// # Safety
/// `error` is null, or valid for a write.
pub(crate) unsafe fn guarded(error: *mut frisbee_error, run: impl FnOnce() -> Result<(), Status>) -> frisbee_code {
    match caught(run) {
        Ok(()) => frisbee_code::FRISBEE_OK,
        // SAFETY: The caller guarantees that `error` is valid.
        Err(status) => unsafe { fail(error, &status) },
    }
}

/// Stores an error in the caller's struct and returns its status code.
///
/// # Safety
/// Like [`guarded`].
unsafe fn fail(error: *mut frisbee_error, status: &Status) -> frisbee_code {
    let code = code(status.code());
    if !error.is_null() {
        // SAFETY: The caller guarantees that `error` is valid.
        unsafe { error.write(frisbee_error { code, message: cut(status.message()) }) };
    }
    code
}

/// Copies a text to a fixed-size array, truncating it at a character boundary and at the first NUL.
fn cut(text: &str) -> [c_char; 508] {
    let mut message = [0; 508];
    let text = text.split('\0').next().unwrap_or_default();
    let len = (0..message.len()).rev().find(|len| text.is_char_boundary(*len)).unwrap_or(0).min(text.len());
    for (to, from) in message.iter_mut().zip(text.as_bytes().iter().take(len)) {
        *to = c_char::from_ne_bytes([*from]);
    }
    message
}

/// Converts a text to a C string, truncating it at the first NUL.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// Converts a C string passed by the caller to UTF-8 text. Returns `None` if it is null.
///
/// # Safety
/// `text` is null, or ends with a NUL and does not change during `'a`.
pub(crate) unsafe fn optional_text<'a>(name: &str, text: *const c_char) -> Result<Option<&'a str>, Status> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: The caller guarantees that the text ends with a NUL.
    utf8(name, unsafe { CStr::from_ptr(text) }).map(Some)
}

pub(crate) fn utf8<'a>(name: &str, text: &'a CStr) -> Result<&'a str, Status> {
    text.to_str().map_err(|error| Status::invalid_argument(format!("{name} is not UTF-8: {error}")))
}

/// Converts a C string passed by the caller to UTF-8 text. Fails if it is null.
///
/// # Safety
/// Like [`optional_text`].
pub(crate) unsafe fn text<'a>(name: &str, text: *const c_char) -> Result<&'a str, Status> {
    // SAFETY: The caller gives the same guarantee.
    utf8(name, unsafe { c_str(name, text) }?)
}

/// Returns a C string passed by the caller, which may have any encoding. Fails if it is null.
///
/// # Safety
/// Like [`optional_text`].
pub(crate) unsafe fn c_str<'a>(name: &str, text: *const c_char) -> Result<&'a CStr, Status> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: The caller guarantees that the text ends with a NUL.
    Ok(unsafe { CStr::from_ptr(text) })
}

fn null(name: &str) -> Status {
    Status::invalid_argument(format!("{name} is NULL"))
}

/// Copies a byte array that the caller has passed.
///
/// # Safety
/// `data` is null, or valid for reading `len` bytes.
pub(crate) unsafe fn bytes(name: &str, data: *const c_void, len: usize) -> Result<Bytes, Status> {
    // SAFETY: The caller gives the same guarantee.
    unsafe { slice(name, data, len) }.map(Bytes::copy_from_slice)
}

/// Borrows a byte array passed by the caller.
///
/// # Safety
/// `data` is null, or valid for reading `len` bytes, which do not change during `'a`.
pub(crate) unsafe fn slice<'a>(name: &str, data: *const c_void, len: usize) -> Result<&'a [u8], Status> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() || isize::try_from(len).is_err() {
        return Err(no_slice(name, data, len));
    }
    // SAFETY: The caller guarantees that there are `len` bytes.
    Ok(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) })
}

fn no_slice(name: &str, data: *const c_void, len: usize) -> Status {
    Status::invalid_argument(match data.is_null() {
        true => format!("{name} is NULL and has {len} bytes"),
        false => format!("{name} has {len} bytes, more than memory"),
    })
}

/// Copies the metadata entries passed by the caller.
///
/// # Safety
/// `entries` is null or has `count` entries with valid keys and values.
pub(crate) unsafe fn metadata(entries: *const frisbee_metadata, count: usize) -> Result<Metadata, Status> {
    let mut metadata = Metadata::new();
    if count == 0 {
        return Ok(metadata);
    }
    if entries.is_null() || isize::try_from(count.saturating_mul(size_of::<frisbee_metadata>())).is_err() {
        return Err(Status::invalid_argument(format!("metadata is NULL or too long, and has {count} entries")));
    }
    // SAFETY: The caller guarantees that there are `count` entries.
    for entry in unsafe { std::slice::from_raw_parts(entries, count) } {
        // SAFETY: The caller guarantees that the key and value are valid.
        let (key, value) = unsafe { (text("a metadata key", entry.key)?, bytes("metadata", entry.value, entry.len)?) };
        put_metadata(&mut metadata, key, &value)?;
    }
    Ok(metadata)
}

/// Adds a metadata entry, which is binary if its key ends in `-bin`.
pub(crate) fn put_metadata(metadata: &mut Metadata, key: &str, value: &[u8]) -> Result<(), Status> {
    let wrong = |error: &dyn std::fmt::Display| Status::invalid_argument(format!("metadata {key}: {error}"));
    if key.ends_with("-bin") {
        return metadata.insert_bin(key, value).map_err(|error| wrong(&error));
    }
    let value = std::str::from_utf8(value).map_err(|error| wrong(&error))?;
    metadata.insert(key, value).map_err(|error| wrong(&error))
}

/// Calls `run` like [`guarded`] and stores its result at `to` like [`put`].
///
/// # Safety
/// `error` is null or valid for a write, and so is `to`.
pub(crate) unsafe fn guarded_put<T>(
    error: *mut frisbee_error,
    name: &str,
    to: *mut T,
    run: impl FnOnce() -> Result<T, Status>,
) -> frisbee_code {
    // SAFETY: The caller guarantees that both pointers are valid.
    unsafe { guarded(error, || put(name, to, run)) }
}

/// Stores the result of an exported C function in the location that the caller passed.
///
/// # Safety
/// `to` is null, or valid for a write.
pub(crate) unsafe fn put<T>(name: &str, to: *mut T, value: impl FnOnce() -> Result<T, Status>) -> Result<(), Status> {
    // Check the pointer before creating the value, because a handle that the caller does not receive would leak.
    if to.is_null() {
        return Err(null(name));
    }
    let value = value()?;
    // SAFETY: The caller guarantees that `to` is valid.
    unsafe { to.write(value) };
    Ok(())
}

/// Converts a timeout in milliseconds to a duration. Returns `None` for 0, which selects the default.
pub(crate) fn milliseconds(time: u64) -> Option<Duration> {
    (time > 0).then(|| Duration::from_millis(time))
}

/// Checks that the reserved fields of an options struct are 0.
pub(crate) fn check_reserved(name: &str, reserved: &[u64]) -> Result<(), Status> {
    if reserved.iter().any(|word| *word != 0) {
        return Err(Status::invalid_argument(format!("reserved fields of {name} are not 0: initialise it with {{0}}")));
    }
    Ok(())
}

/// A pointer passed by the caller that the library passes back without dereferencing it.
#[derive(Clone, Copy)]
pub(crate) struct UserData(pub(crate) *mut c_void);

impl UserData {
    /// Returns the pointer. Closures use this method instead of the field, so that they capture the whole struct.
    pub(crate) fn get(self) -> *mut c_void {
        self.0
    }
}

// SAFETY: The library does not dereference the pointer, and the header states on which threads callbacks run.
unsafe impl Send for UserData {}
// SAFETY: The same as for `Send`.
unsafe impl Sync for UserData {}

//! Memory shared between Rust and Python: buffers of Python objects as [`Bytes`], [`Bytes`] as Python objects with a
//! buffer, and reads into uninitialized memory. All unsafe code of the crate that concerns memory is here.
#![allow(unsafe_code)]

use bytes::Bytes;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::ffi::c_int;
use std::io;
use std::os::fd::BorrowedFd;
use tokio::io::ReadBuf;

/// Returns the memory of a Python object with a contiguous buffer without copying it. While the bytes exist, the object
/// stays alive and cannot be resized. If its content is modified, the bytes change too.
pub(crate) fn shared(object: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Bytes::from_owner(PyBackedBytes::from(bytes.clone())));
    }
    let buffer = PyUntypedBuffer::get(object).map_err(|_| crate::encode::expected("bytes", object))?;
    if !buffer.is_c_contiguous() {
        return Err(PyValueError::new_err("the buffer is not contiguous"));
    }
    Ok(Bytes::from_owner(Exported(buffer)))
}

/// Exported buffer of a Python object, which keeps its memory alive.
struct Exported(PyUntypedBuffer);

impl AsRef<[u8]> for Exported {
    fn as_ref(&self) -> &[u8] {
        let length = self.0.len_bytes();
        if length == 0 {
            return &[];
        }
        // SAFETY: The buffer is contiguous, holds `length` bytes from this pointer, and is exported until `self` is
        // dropped. Python may write to it concurrently, as documented. The bytes are only copied, by the kernel or
        // `memcpy`, and nothing relies on their values.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast::<u8>(), length) }
    }
}

/// Reads once from a descriptor into the free space of a buffer, which may be uninitialized memory. Returns the
/// number of bytes.
pub(crate) fn read_into(from: BorrowedFd<'_>, into: &mut ReadBuf<'_>) -> io::Result<usize> {
    // SAFETY: Only the kernel writes to this memory, so initialized bytes stay initialized.
    let room = unsafe { into.unfilled_mut() };
    let count = rustix::io::read(from, room)?.0.len();
    // SAFETY: The kernel has written `count` bytes.
    unsafe { into.assume_init(count) };
    into.advance(count);
    Ok(count)
}

/// Received bytes exposed as a read-only Python buffer.
#[pyclass(frozen, module = "frisbee_rpc._native")]
#[derive(Debug)]
pub(crate) struct View {
    bytes: Bytes,
}

impl View {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self { bytes }
    }
}

#[pymethods]
impl View {
    /// Returns the address of the buffer's memory.
    #[getter]
    fn address(&self) -> usize {
        self.bytes.as_ptr() as usize
    }

    // SAFETY: Python calls this with a buffer to fill, which `PyBuffer_FillInfo` does. The buffer refers to an object
    // that owns the bytes, which never change or move.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("there is no buffer to fill"));
        }
        let bytes = &slf.get().bytes;
        let length = ffi::Py_ssize_t::try_from(bytes.len())?;
        let start = bytes.as_ptr().cast_mut().cast();
        // SAFETY: `view` is valid. With the read-only flag 1, nothing is written through the pointer.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, length, 1, flags) };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }

    // SAFETY: There is nothing to release.
    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {}
}

thread_local! {
    static IS_KNOWN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Registers the current thread with Python permanently, so that attaching to the interpreter does not create a new
/// thread state each time.
pub(crate) fn introduce_thread() {
    if IS_KNOWN.get() {
        return;
    }
    IS_KNOWN.set(true);
    let introduced = Python::try_attach(|_| {
        // SAFETY: The thread is attached, so its state exists. Its use count is incremented and never decremented, so
        // that it lives until the interpreter exits.
        unsafe { ffi::PyGILState_Ensure() };
    });
    IS_KNOWN.set(introduced.is_some());
}

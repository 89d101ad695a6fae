//! Conversions between [`Status`] and metadata and their Python counterparts.

use crate::encode::expected;
use frpc::{Code, Metadata, Status};
use pyo3::exceptions::{PyConnectionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyString, PyType};

static STATUS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    STATUS.import(py, "frisbee_rpc._status", "Status")
}

/// Returns the Python exception for a status.
pub(crate) fn raised(py: Python<'_>, status: &Status) -> PyErr {
    exception(py, status).map_or_else(|error| error, PyErr::from_value)
}

/// Returns Python's `None` for an operation without a result, or raises the exception of its status.
pub(crate) fn none(py: Python<'_>, done: Result<(), Status>) -> PyResult<Bound<'_, PyAny>> {
    done.map(|()| py.None().into_bound(py)).map_err(|status| raised(py, &status))
}

pub(crate) fn exception<'py>(py: Python<'py>, status: &Status) -> PyResult<Bound<'py, PyAny>> {
    let metadata = PyDict::new(py);
    let (texts, binary) = shown(py, status.metadata())?;
    metadata.update(texts.as_mapping())?;
    metadata.update(binary.as_mapping())?;
    let details = PyBytes::new(py, status.details());
    let exception = class(py)?.call1((status.code() as i32, status.message(), details, metadata))?;
    // Set the attribute instead of passing an argument, which would reject the call of a handler that raises the status
    // again.
    exception.setattr("may_have_run", status.may_have_run())?;
    Ok(exception)
}

/// Returns the status of an exception of the Python class for statuses, or `None` for other exceptions. Fails if an
/// attribute of the exception is invalid.
pub(crate) fn of_exception(py: Python<'_>, error: &PyErr) -> PyResult<Option<Status>> {
    let value = error.value(py);
    if !value.is_instance(class(py)?)? {
        return Ok(None);
    }
    let code = Code::from_i32(value.getattr("code")?.extract()?);
    let message: String = value.getattr("message")?.extract()?;
    let details: Vec<u8> = value.getattr("details")?.extract()?;
    let mut all = metadata(&value.getattr("metadata")?)?;
    put_metadata(&mut all, &value.getattr("binary_metadata")?)?;
    let mut status = Status::new(code, message).with_details(details);
    if value.getattr("_is_rejection")?.is_truthy()? {
        status = status.rejected();
    }
    Ok(Some(if all.is_empty() { status } else { status.with_metadata(all) }))
}

/// Returns metadata as two Python dicts, one with text values, and one with binary values and keys that end in `-bin`.
pub(crate) fn shown<'py>(py: Python<'py>, metadata: &Metadata) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let (texts, binary) = (PyDict::new(py), PyDict::new(py));
    for (key, value) in metadata.iter() {
        // Keep the first of several values, like access rules do.
        if texts.contains(key)? || binary.contains(key)? {
            continue;
        }
        match std::str::from_utf8(value).ok().filter(|_| !key.ends_with("-bin")) {
            Some(text) => texts.set_item(key, text)?,
            None => binary.set_item(key, PyBytes::new(py, value))?,
        }
    }
    Ok((texts, binary))
}

/// Converts a Python dict to metadata.
pub(crate) fn metadata(entries: &Bound<'_, PyAny>) -> PyResult<Metadata> {
    let mut metadata = Metadata::new();
    put_metadata(&mut metadata, entries)?;
    Ok(metadata)
}

fn put_metadata(metadata: &mut Metadata, entries: &Bound<'_, PyAny>) -> PyResult<()> {
    if entries.is_none() {
        return Ok(());
    }
    let entries = entries.cast::<PyMapping>().map_err(|_| PyTypeError::new_err("metadata: a dict expected"))?;
    for item in entries.items()? {
        let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let key = key.cast::<PyString>().map_err(|_| expected("metadata key: a str", &key))?.to_str()?;
        let put = match value.cast::<PyString>() {
            Ok(text) => metadata.insert(key, text.to_str()?),
            Err(_) => {
                let wrong = || PyTypeError::new_err(format!("metadata {key}: a str or bytes expected"));
                metadata.insert_bin(key, value.extract::<Vec<u8>>().map_err(|_| wrong())?)
            }
        };
        put.map_err(|error| PyValueError::new_err(format!("metadata {key}: {error}")))?;
    }
    Ok(())
}

/// Returns the Python exception for a failure to connect or bind.
pub(crate) fn failed(error: frpc::Error) -> PyErr {
    PyConnectionError::new_err(error.to_string())
}

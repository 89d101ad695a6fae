//! [`Status`] and metadata of the Rust library as Python has them, and the other way round.

use frpc::{Code, Metadata, Status};
use pyo3::exceptions::{PyConnectionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString, PyType};

static STATUS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    STATUS.import(py, "frisbee_rpc._status", "Status")
}

/// The exception of a status.
pub(crate) fn raised(py: Python<'_>, status: &Status) -> PyErr {
    exception(py, status).map_or_else(|error| error, PyErr::from_value)
}

pub(crate) fn exception<'py>(py: Python<'py>, status: &Status) -> PyResult<Bound<'py, PyAny>> {
    let metadata = match status.metadata() {
        Some(metadata) => shown(py, metadata)?,
        None => PyDict::new(py),
    };
    let details = PyBytes::new(py, status.details());
    class(py)?.call1((status.code() as i32, status.message(), details, metadata, status.may_have_run()))
}

/// The status of an exception of Python's class, or nothing for others.
pub(crate) fn of_exception(py: Python<'_>, error: &PyErr) -> Option<Status> {
    let value = error.value(py);
    if !value.is_instance(class(py).ok()?).ok()? {
        return None;
    }
    let code = Code::from_i32(value.getattr("code").ok()?.extract().ok()?);
    let message: String = value.getattr("message").ok()?.extract().ok()?;
    let details: Vec<u8> = value.getattr("details").ok()?.extract().ok()?;
    let metadata = metadata(&value.getattr("metadata").ok()?).ok()?;
    let status = Status::new(code, message).with_details(details);
    Some(if metadata.is_empty() { status } else { status.with_metadata(metadata) })
}

/// Metadata as a dict, whose values are bytes under keys that end with `-bin`.
pub(crate) fn shown<'py>(py: Python<'py>, metadata: &Metadata) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in metadata.iter() {
        match std::str::from_utf8(value).ok().filter(|_| !key.ends_with("-bin")) {
            Some(text) => dict.set_item(key, text)?,
            None => dict.set_item(key, PyBytes::new(py, value))?,
        }
    }
    Ok(dict)
}

/// Metadata of a dict.
pub(crate) fn metadata(given: &Bound<'_, PyAny>) -> PyResult<Metadata> {
    let mut metadata = Metadata::new();
    if given.is_none() {
        return Ok(metadata);
    }
    for (key, value) in given.cast::<PyDict>().map_err(|_| PyTypeError::new_err("metadata has to be a dict"))? {
        let key: String = key.extract()?;
        let put = match value.cast::<PyString>() {
            Ok(text) => metadata.insert(&key, text.to_str()?),
            Err(_) => metadata.insert_bin(&key, value.extract::<Vec<u8>>()?),
        };
        put.map_err(|error| PyValueError::new_err(format!("metadata {key}: {error}")))?;
    }
    Ok(metadata)
}

/// An error of connecting or binding.
pub(crate) fn failed(error: frpc::Error) -> PyErr {
    PyConnectionError::new_err(error.to_string())
}

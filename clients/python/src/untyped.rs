//! Values of any type: maps a Python value to a member of the message `AnyValue`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyList, PyMemoryView, PyString, PyTuple};

/// Returns the name of the `AnyValue` member that stores a Python value, or `None` for Python's `None`.
fn member(value: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    if value.is_none() {
        return Ok(None);
    }
    Ok(Some(if value.is_instance_of::<PyBool>() {
        "truth"
    } else if value.is_instance_of::<PyString>() {
        "text"
    } else if value.is_instance_of::<PyFloat>() {
        "number"
    } else if value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<PyMemoryView>()
    {
        "raw"
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        "list"
    } else if value.is_instance_of::<PyDict>() {
        "dict"
    } else if value.hasattr("__array_interface__")? && value.hasattr("ndim")? {
        // Objects without `__setitem__`, such as NumPy scalars, are numbers.
        match value.hasattr("__setitem__")? {
            true => "array",
            false if value.extract::<bool>().is_ok() => "truth",
            false if value.hasattr("__index__")? => "integer",
            false => "number",
        }
    } else if value.hasattr("__index__")? {
        "integer"
    } else if value.hasattr("tobitmap")? {
        "image"
    } else if value.hasattr("__float__")? {
        "number"
    } else {
        let name = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name} is not known without a type hint")));
    }))
}

/// Returns the value of one field of `AnyValue`, which is the value itself if this field stores it, and `None`
/// otherwise.
pub(crate) fn any_value<'py>(field: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match member(value)? {
        Some(member) if member == field => Ok(value.clone()),
        _ => Ok(value.py().None().into_bound(value.py())),
    }
}

/// Returns the value of the set member of an `AnyValue`.
pub(crate) fn value<'py>(py: Python<'py>, members: Vec<Bound<'py, PyAny>>) -> Bound<'py, PyAny> {
    members.into_iter().find(|member| !member.is_none()).unwrap_or_else(|| py.None().into_bound(py))
}

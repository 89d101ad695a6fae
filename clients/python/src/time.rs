//! `google.protobuf.Timestamp` as `datetime`, and `google.protobuf.Duration` as `timedelta`. The package's `_times`
//! module converts through microseconds, the resolution of both.

use crate::encode::refused;
use crate::plan::{Plan, Time};
use frpc::polyglot::{Decoder, Encoder};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    let module = MODULE.get_or_try_init(py, || py.import("frisbee_rpc._times").map(Bound::unbind));
    module.map(|module| module.bind(py))
}

/// Returns the `datetime` or `timedelta` for a number of seconds and nanoseconds.
pub(crate) fn read(py: Python<'_>, time: Time, seconds: i64, nanos: i32) -> PyResult<Bound<'_, PyAny>> {
    let name = match time {
        Time::Timestamp => "read_timestamp",
        Time::Duration => "read_duration",
    };
    module(py)?.call_method1(name, (seconds, nanos))
}

/// Returns the seconds and nanoseconds of a `datetime` or `timedelta`.
pub(crate) fn parts(time: Time, value: &Bound<'_, PyAny>) -> PyResult<(i64, i32)> {
    let name = match time {
        Time::Timestamp => "write_timestamp",
        Time::Duration => "write_duration",
    };
    module(value.py())?.call_method1(name, (value,))?.extract()
}

/// Encodes a `datetime` or `timedelta` as the fields of its message.
pub(crate) fn encode(plan: &Plan, time: Time, value: &Bound<'_, PyAny>, to: &mut Encoder<'_>) -> PyResult<()> {
    let (seconds, nanos) = parts(time, value)?;
    for field in &plan.fields {
        match &field.text[..] {
            "seconds" => to.i64(seconds),
            _ => to.i32(nanos),
        }
    }
    Ok(())
}

/// Decodes the fields of a message to a `datetime` or `timedelta`.
pub(crate) fn decode<'py>(
    py: Python<'py>,
    plan: &Plan,
    time: Time,
    from: &mut Decoder<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let (mut seconds, mut nanos) = (0, 0);
    for field in &plan.fields {
        match &field.text[..] {
            "seconds" => seconds = from.i64().map_err(refused)?,
            _ => nanos = from.i32().map_err(refused)?,
        }
    }
    read(py, time, seconds, nanos)
}

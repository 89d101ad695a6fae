//! Encodes Python values to the wire format, as [`Plans`] describe it.

use crate::buffer;
use crate::image;
use crate::payload::{EncodedMessage, Payload};
use crate::plan::{FieldPlan, Item, Kind, Plan, Plans, PyForm};
use crate::tensor::{self, ArrayViews};
use crate::time;
use crate::untyped;
use frpc::polyglot::{BULK_MIN, Encoder, Form, NESTING_CEILING};
use frpc_dynamic::layout::Element;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

/// Encodes the Python value of a message: an object of its class, the arguments of a call, or the value itself.
pub(crate) fn payload(plans: &Plans, index: usize, value: &Bound<'_, PyAny>) -> PyResult<Payload> {
    let plan = plans.get(index)?;
    let mut writer =
        Writer { plans, views: ArrayViews::default(), collected: Vec::new(), depth: 0, has_other_form: false };
    let (written, is_lossy) = writer.write(plan, value, Form::Flat)?;
    let mut payload = Payload { written, is_lossy, ..Payload::default() };
    if writer.has_other_form {
        writer.views.again();
        payload.extended = Some(writer.write(plan, value, Form::Extended)?.0);
    }
    Ok(payload)
}

struct Writer<'a> {
    plans: &'a Plans,
    views: ArrayViews,
    /// Elements of the iterators in the message, which can be read only once, although the message may be written twice.
    collected: Vec<(Py<PyAny>, Py<PyList>)>,
    /// Current nesting depth of the message that is being written.
    depth: u32,
    /// Whether a oneof or an absent scalar was written, which the flat and the extended encoding represent differently.
    has_other_form: bool,
}

impl Writer<'_> {
    /// Returns the encoded message, and whether it has lost the presence of a field.
    fn write(&mut self, plan: &Plan, value: &Bound<'_, PyAny>, form: Form) -> PyResult<(EncodedMessage, bool)> {
        let (mut out, mut bulk) = (Vec::with_capacity(64), Vec::new());
        let mut encoder = Encoder::gathering(&mut out, &mut bulk).with_form(form);
        self.message(plan, value, &mut encoder)?;
        let is_lossy = encoder.lost_presence();
        Ok((EncodedMessage { bytes: out.into(), bulk }, is_lossy))
    }

    fn message(&mut self, plan: &Plan, value: &Bound<'_, PyAny>, to: &mut Encoder<'_>) -> PyResult<()> {
        if self.depth >= NESTING_CEILING {
            return Err(PyValueError::new_err(format!("messages nest deeper than {NESTING_CEILING}")));
        }
        self.depth += 1;
        to.message_head();
        match plan.form {
            PyForm::Tensor => tensor::encode(plan, value, &mut self.views, to)?,
            PyForm::Image => image::encode(plan, value, to)?,
            PyForm::Time(time) => time::encode(plan, time, value, to)?,
            _ => {
                for (index, field) in plan.fields.iter().enumerate() {
                    let field_value = field_value(plan, index, field, value)?;
                    self.field(plan, field, (&field_value, value), to)
                        .map_err(|error| named(value.py(), error, &field.text))?;
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn field(
        &mut self,
        plan: &Plan,
        field: &FieldPlan,
        (value, message): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
        to: &mut Encoder<'_>,
    ) -> PyResult<()> {
        match &field.kind {
            Kind::Plain(of) => {
                tensor::check_dtype(field, value)?;
                self.item(of, value, to)
            }
            Kind::Optional(of) => {
                tensor::check_dtype(field, value)?;
                self.optional(of, value, to)
            }
            Kind::Member { of, oneof, is_first } => match to.form() {
                Form::Flat => {
                    self.has_other_form = true;
                    match of {
                        Item::Scalar(element) if value.is_none() => element.encode_default(to),
                        Item::Message(_) if value.is_none() => to.nil(),
                        Item::Message(_) => self.item(of, value, to)?,
                        Item::Scalar(_) => {
                            if !value.is_truthy()? {
                                to.note_lost_presence();
                            }
                            self.item(of, value, to)?;
                        }
                    }
                    Ok(())
                }
                Form::Extended if *is_first => self.oneof(plan, *oneof, message, to),
                Form::Extended => Ok(()),
            },
            Kind::List(of) => self.list(of, value, to),
            Kind::Map(key, of) => {
                // Copy the dict, because Python code of a value or another thread may change it during iteration.
                let map = value.cast::<PyDict>().map_err(|_| expected("a dict", value))?.copy()?;
                to.map(key.wire(), of.wire(), map.len()).map_err(refused)?;
                for (name, value) in map {
                    self.item(key, &name, to)?;
                    self.item(of, &value, to)?;
                }
                Ok(())
            }
        }
    }

    fn list(&mut self, of: &Item, value: &Bound<'_, PyAny>, to: &mut Encoder<'_>) -> PyResult<()> {
        if let Ok(list) = value.cast::<PyList>() {
            let length = list.len();
            to.list(of.wire(), length).map_err(refused)?;
            // The list may be shortened by Python code of an element or by another thread.
            let changed = |_| PyValueError::new_err("the list has changed while it was sent");
            return (0..length).try_for_each(|at| self.item(of, &list.get_item(at).map_err(changed)?, to));
        }
        if value.cast::<PyString>().is_ok() || value.cast::<PyBytes>().is_ok() {
            return Err(expected("a list", value));
        }
        if let Some((_, elements)) = self.collected.iter().find(|(iterator, _)| iterator.is(value)) {
            let elements = elements.clone_ref(value.py()).into_bound(value.py());
            return self.list(of, elements.as_any(), to);
        }
        // An encoded list begins with its length, which an iterator may not know in advance.
        let iterator = value.try_iter()?;
        let is_once = iterator.is(value);
        let elements: Vec<Bound<'_, PyAny>> = iterator.collect::<PyResult<_>>()?;
        if is_once {
            let elements = PyList::new(value.py(), elements)?;
            self.collected.push((value.clone().unbind(), elements.clone().unbind()));
            return self.list(of, elements.as_any(), to);
        }
        to.list(of.wire(), elements.len()).map_err(refused)?;
        elements.iter().try_for_each(|value| self.item(of, value, to))
    }

    fn optional(&mut self, of: &Item, value: &Bound<'_, PyAny>, to: &mut Encoder<'_>) -> PyResult<()> {
        if !value.is_none() {
            return self.item(of, value, to);
        }
        match (of, to.form()) {
            (Item::Message(_), _) | (_, Form::Extended) => to.nil(),
            (Item::Scalar(element), Form::Flat) => {
                self.has_other_form = true;
                to.note_lost_presence();
                element.encode_default(to);
            }
        }
        Ok(())
    }

    /// Encodes a oneof in the extended encoding.
    fn oneof(&mut self, plan: &Plan, oneof: usize, message: &Bound<'_, PyAny>, to: &mut Encoder<'_>) -> PyResult<()> {
        let mut set = None;
        let members = plan.oneofs.get(oneof).map(Vec::as_slice).unwrap_or_default();
        for (number, index) in (1..).zip(members) {
            let Some(field @ FieldPlan { kind: Kind::Member { of, .. }, .. }) = plan.fields.get(*index) else {
                continue;
            };
            let value = field_value(plan, *index, field, message)?;
            if value.is_none() {
                continue;
            }
            if set.is_some() {
                return Err(PyValueError::new_err("more than one member of a oneof is set"));
            }
            set = Some(number);
            to.member_head(number);
            self.item(of, &value, to).map_err(|error| named(value.py(), error, &field.text))?;
        }
        if set.is_none() {
            to.member_head(0);
        }
        Ok(())
    }

    fn item(&mut self, of: &Item, value: &Bound<'_, PyAny>, to: &mut Encoder<'_>) -> PyResult<()> {
        let element = match of {
            Item::Message(index) => {
                let plan = self.plans.get(*index)?;
                return self.message(plan, value, to);
            }
            Item::Scalar(element) => element,
        };
        match element {
            Element::Bool => to.bool(truth(value)?),
            Element::I32 => to.i32(integer(value)?),
            Element::I64 => to.i64(integer(value)?),
            Element::U32 => to.u32(integer(value)?),
            Element::U64 => to.u64(integer(value)?),
            #[allow(clippy::cast_possible_truncation)] // NumPy floats are rounded in the same way.
            Element::F32 => to.f32(float(value)? as f32),
            Element::F64 => to.f64(float(value)?),
            Element::String => {
                let text = value.cast::<PyString>().map_err(|_| expected("a str", value))?;
                to.string(text.to_str()?).map_err(refused)?;
            }
            Element::Bytes => match value.cast::<PyBytes>() {
                Ok(bytes) if bytes.as_bytes().len() < BULK_MIN => to.bytes(bytes.as_bytes()).map_err(refused)?,
                _ => to.shared(&buffer::shared(value)?).map_err(refused)?,
            },
            Element::Enum(indexes) => {
                let number = self.plans.number(indexes, value)?;
                if !indexes.encode(number, to) {
                    return Err(PyValueError::new_err(format!("{} has no number {number}", indexes.name)));
                }
            }
            Element::Message(_) => return Err(expected("a value", value)),
        }
        Ok(())
    }
}

/// Returns the value of the field with this index in a message.
pub(crate) fn field_value<'py>(
    plan: &Plan,
    index: usize,
    field: &FieldPlan,
    message: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match &plan.form {
        PyForm::Object(class) => message.getattr(field.name.bind(message.py())).map_err(|error| {
            let py = message.py();
            let name = class.bind(py).getattr("__name__").map_or_else(|_| plan.name.clone(), |name| name.to_string());
            if message.is_instance(class.bind(py)).unwrap_or(false) {
                error
            } else {
                expected(&format!("a {name}"), message)
            }
        })?,
        PyForm::Arguments => {
            let at = plan.declared.iter().position(|declared| *declared == index).unwrap_or(index);
            row(plan, message)?.get_item(at)?
        }
        PyForm::Value | PyForm::Tensor | PyForm::Image | PyForm::Time(_) => message.clone(),
        PyForm::Any => untyped::any_value(&field.text, message)?,
    })
}

/// Returns the field values, given as a tuple or list, as a tuple.
fn row<'py>(plan: &Plan, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let row = match value.cast::<PyTuple>() {
        Ok(row) => row.clone(),
        Err(_) => value.cast::<PyList>().map_err(|_| expected("a tuple", value))?.to_tuple(),
    };
    if row.len() == plan.declared.len() {
        return Ok(row);
    }
    Err(PyValueError::new_err(format!("a tuple of {} values expected, not of {}", plan.declared.len(), row.len())))
}

/// Converts a Python or NumPy bool.
pub(crate) fn truth(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.extract().map_err(|_| expected("a bool", value))
}

pub(crate) fn integer<'py, T>(value: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    value.extract().map_err(|error| not_a_number(value, error, "an int"))
}

pub(crate) fn float(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|error| not_a_number(value, error, "a float"))
}

/// Replaces the error of a conversion by one that names the expected type. Keeps exceptions that the value raised.
fn not_a_number(value: &Bound<'_, PyAny>, error: PyErr, what: &str) -> PyErr {
    if error.is_instance_of::<PyTypeError>(value.py()) {
        return expected(what, value);
    }
    if !error.is_instance_of::<PyOverflowError>(value.py()) {
        return error;
    }
    // Python refuses to convert huge numbers to text.
    let number = value.str().map_or_else(|_| "the number".to_owned(), |number| number.to_string());
    PyValueError::new_err(format!("{number} does not fit the type of the field"))
}

pub(crate) fn expected(what: &str, found: &Bound<'_, PyAny>) -> PyErr {
    let name = found.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{what} expected, not {name}"))
}

pub(crate) fn refused(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Prepends the name of a field to an error raised by this module.
pub(crate) fn named(py: Python<'_>, error: PyErr, field: &str) -> PyErr {
    let text = error.value(py).to_string();
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(format!("{field}: {text}"))
    } else if error.is_instance_of::<PyValueError>(py) {
        PyValueError::new_err(format!("{field}: {text}"))
    } else {
        error
    }
}

//! Decodes the wire format to Python values, as [`Plans`] describe them.
//!
//! Bodies are untrusted: [`Decoder`] checks lengths against the available bytes, and the memory of a Python value is
//! charged before it is allocated.

use crate::encode::refused;
use crate::image::{self, PixelMemory};
use crate::plan::{Absent, FieldPlan, Item, Kind, Plan, Plans, PyForm};
use crate::tensor;
use crate::time;
use crate::untyped;
use bytes::Bytes;
use frpc::polyglot::{CONTAINER_MEMORY_MAX, Decoder, Kind as WireKind, NESTING_MAX};
use frpc_dynamic::layout::Element;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Memory in bytes charged for a list or dict slot, including a small object that it refers to.
const SLOT_BYTES: usize = 40;
/// Memory in bytes charged for a Python object without its fields.
const OBJECT: usize = 64;

/// Decodes the body of a message to its Python value.
pub(crate) fn body<'py>(
    py: Python<'py>,
    plans: &Plans,
    plan_index: usize,
    body: &Bytes,
) -> PyResult<Bound<'py, PyAny>> {
    let pixels = PixelMemory::new();
    let mut reader = Reader { plans, memory: CONTAINER_MEMORY_MAX, pixels, levels: NESTING_MAX };
    let plan = plans.get(plan_index)?;
    let mut from = Decoder::shared(body);
    if from.peek() == Some(WireKind::Error) {
        return Err(PyValueError::new_err(format!("an error: {}", from.error_text().map_err(refused)?)));
    }
    reader.message(py, plan, &mut from)
}

struct Reader<'a> {
    plans: &'a Plans,
    /// Number of bytes that the decoded message may still use.
    memory: usize,
    pixels: PixelMemory,
    /// Number of further nesting levels that messages may have.
    levels: u32,
}

impl Reader<'_> {
    fn message<'py>(&mut self, py: Python<'py>, plan: &Plan, from: &mut Decoder<'_>) -> PyResult<Bound<'py, PyAny>> {
        if from.message(|_| Ok(())).map_err(refused)?.is_none() {
            return self.absent_message(py, plan);
        }
        if self.levels == 0 {
            return Err(PyValueError::new_err(format!("messages nest deeper than {NESTING_MAX}")));
        }
        // An early return need not restore the level, because decoding stops at the first error.
        self.levels -= 1;
        // Charge the object before decoding its fields, so that a short body with many nested messages cannot exhaust
        // memory.
        self.charge(OBJECT.saturating_add(plan.fields.len().saturating_mul(SLOT_BYTES)))?;
        let value = match plan.form {
            PyForm::Tensor => tensor::decode(py, plan, from)?,
            PyForm::Image => image::decode(py, plan, from, &self.pixels)?,
            PyForm::Time(time) => time::decode(py, plan, time, from)?,
            _ => {
                let mut values = self.fields(py, plan, from)?;
                finish(py, plan, &mut values)?
            }
        };
        self.levels += 1;
        Ok(value)
    }

    /// Decodes the fields of a message in wire order.
    fn fields<'py>(
        &mut self,
        py: Python<'py>,
        plan: &Plan,
        from: &mut Decoder<'_>,
    ) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let mut values = vec![None; plan.fields.len()];
        // Whether each oneof has been decoded in the extended encoding.
        let mut is_extended = vec![false; plan.oneofs.len()];
        for (at, field) in plan.fields.iter().enumerate() {
            // A oneof in the extended encoding is decoded completely at its first member.
            if matches!(field.kind, Kind::Member { oneof, .. } if is_extended.get(oneof) == Some(&true)) {
                continue;
            }
            let (position, value) = match &field.kind {
                Kind::Member { of, oneof, is_first } => {
                    let head = if *is_first { from.member_head().map_err(refused)? } else { None };
                    if let (Some(member), Some(is_extended)) = (head, is_extended.get_mut(*oneof)) {
                        *is_extended = true;
                        match self.member(py, plan, *oneof, member, from)? {
                            Some(found) => found,
                            None => continue,
                        }
                    } else {
                        // In the flat encoding, the last member with a value other than its default is the set one.
                        let value = self.optional(py, of, from).map_err(|error| in_field(py, error, field))?;
                        let Some(value) = value else { continue };
                        if matches!(of, Item::Scalar(_)) && !value.is_truthy().unwrap_or(true) {
                            continue;
                        }
                        plan.oneofs.get(*oneof).into_iter().flatten().for_each(|other| clear(&mut values, *other));
                        (at, value)
                    }
                }
                _ => match self.field(py, field, from).map_err(|error| in_field(py, error, field))? {
                    Some(value) => (at, value),
                    None => continue,
                },
            };
            if let Some(slot) = values.get_mut(position) {
                *slot = Some(value);
            }
        }
        Ok(values)
    }

    fn field<'py>(
        &mut self,
        py: Python<'py>,
        field: &FieldPlan,
        from: &mut Decoder<'_>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = match &field.kind {
            Kind::Plain(of) | Kind::Member { of, .. } => self.item(py, of, from)?,
            Kind::Optional(of) => {
                let Some(value) = self.optional(py, of, from)? else { return Ok(None) };
                value
            }
            Kind::List(of) => {
                let length = from.list(of.wire()).map_err(refused)?;
                self.charge(length.saturating_mul(SLOT_BYTES))?;
                let list = PyList::empty(py);
                for _ in 0..length {
                    list.append(self.item(py, of, from)?)?;
                }
                list.into_any()
            }
            Kind::Map(key, of) => {
                let length = from.map(key.wire(), of.wire()).map_err(refused)?;
                self.charge(length.saturating_mul(4 * SLOT_BYTES))?;
                let map = PyDict::new(py);
                for _ in 0..length {
                    map.set_item(self.item(py, key, from)?, self.item(py, of, from)?)?;
                }
                map.into_any()
            }
        };
        tensor::check_dtype(field, &value)?;
        converted(field, value).map(Some)
    }

    /// Decodes a oneof in the extended encoding. Returns the value and the field of its set member.
    fn member<'py>(
        &mut self,
        py: Python<'py>,
        plan: &Plan,
        oneof: usize,
        member: u32,
        from: &mut Decoder<'_>,
    ) -> PyResult<Option<(usize, Bound<'py, PyAny>)>> {
        let Some(before) = member.checked_sub(1) else { return Ok(None) };
        let position = plan.oneofs.get(oneof).and_then(|members| members.get(before as usize)).copied();
        let field = position.and_then(|position| Some((position, plan.fields.get(position)?)));
        let Some((position, FieldPlan { kind: Kind::Member { of, .. }, .. })) = field else {
            return Err(PyValueError::new_err(format!("{} has no member {member} in a oneof", plan.name)));
        };
        Ok(Some((position, self.item(py, of, from)?)))
    }

    fn optional<'py>(
        &mut self,
        py: Python<'py>,
        of: &Item,
        from: &mut Decoder<'_>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if from.take_nil() { Ok(None) } else { self.item(py, of, from).map(Some) }
    }

    fn item<'py>(&mut self, py: Python<'py>, of: &Item, from: &mut Decoder<'_>) -> PyResult<Bound<'py, PyAny>> {
        let element = match of {
            Item::Message(plan_index) => return self.message(py, self.plans.get(*plan_index)?, from),
            Item::Scalar(element) => element,
        };
        Ok(match element {
            Element::Bool => PyBool::new(py, from.bool().map_err(refused)?).to_owned().into_any(),
            Element::I32 => PyInt::new(py, from.i32().map_err(refused)?).into_any(),
            Element::I64 => PyInt::new(py, from.i64().map_err(refused)?).into_any(),
            Element::U32 => PyInt::new(py, from.u32().map_err(refused)?).into_any(),
            Element::U64 => PyInt::new(py, from.u64().map_err(refused)?).into_any(),
            Element::F32 => PyFloat::new(py, from.f32().map_err(refused)?.into()).into_any(),
            Element::F64 => PyFloat::new(py, from.f64().map_err(refused)?).into_any(),
            Element::String => PyString::new(py, from.str().map_err(refused)?).into_any(),
            Element::Bytes => PyBytes::new(py, from.slice().map_err(refused)?).into_any(),
            Element::Enum(indexes) => {
                let number = indexes.decode(from).map_err(refused)?;
                let number =
                    number.map_err(|index| PyValueError::new_err(format!("{} has no value {index}", indexes.name)))?;
                self.plans.member(py, indexes, number)?
            }
            Element::Message(_) => return Err(PyValueError::new_err("a scalar expected, found a message")),
        })
    }

    /// Returns a default message, which peers encode as nil.
    fn absent_message<'py>(&mut self, py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyAny>> {
        self.charge(OBJECT)?;
        match plan.form {
            PyForm::Tensor => Err(PyValueError::new_err("the tensor has no type")),
            PyForm::Image => Err(PyValueError::new_err("the image is empty")),
            PyForm::Time(time) => time::read(py, time, 0, 0),
            _ => finish(py, plan, &mut vec![None; plan.fields.len()]),
        }
    }

    /// Charges memory against the limit before it is allocated.
    fn charge(&mut self, bytes: usize) -> PyResult<()> {
        self.memory = self.memory.checked_sub(bytes).ok_or_else(|| {
            PyValueError::new_err(format!("the message takes more than {CONTAINER_MEMORY_MAX} bytes of memory"))
        })?;
        Ok(())
    }
}

fn clear(values: &mut [Option<Bound<'_, PyAny>>], plan_index: usize) {
    if let Some(slot) = values.get_mut(plan_index) {
        *slot = None;
    }
}

/// Creates the Python value of a message from its field values in wire order.
pub(crate) fn finish<'py>(
    py: Python<'py>,
    plan: &Plan,
    values: &mut [Option<Bound<'py, PyAny>>],
) -> PyResult<Bound<'py, PyAny>> {
    let mut ordered = Vec::with_capacity(plan.declared.len());
    let mut missing = Vec::new();
    for plan_index in &plan.declared {
        let value = values.get_mut(*plan_index).and_then(Option::take);
        let Some(field) = plan.fields.get(*plan_index) else { continue };
        ordered.push(match value {
            Some(value) => value,
            None => match absent(py, field)? {
                Some(value) => value,
                None => {
                    missing.push(&field.text[..]);
                    continue;
                }
            },
        });
    }
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        return Err(PyValueError::new_err(format!("{} {verb} missing", missing.join(", "))));
    }
    match &plan.form {
        PyForm::Object(class) => class.bind(py).call1(PyTuple::new(py, ordered)?),
        PyForm::Arguments => Ok(PyTuple::new(py, ordered)?.into_any()),
        PyForm::Any => Ok(untyped::value(py, ordered)),
        PyForm::Value | PyForm::Tensor | PyForm::Image | PyForm::Time(_) => {
            Ok(ordered.pop().unwrap_or_else(|| py.None().into_bound(py)))
        }
    }
}

/// Converts the value of a field to the type of its type hint.
pub(crate) fn converted<'py>(field: &FieldPlan, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match &field.convert {
        Some(convert) => convert.bind(value.py()).call1((value,)),
        None => Ok(value),
    }
}

/// Returns the Python value for an absent field, or `None` if the field is required.
fn absent<'py>(py: Python<'py>, field: &FieldPlan) -> PyResult<Option<Bound<'py, PyAny>>> {
    let default = match &field.absent {
        Absent::Value(value) => return Ok(Some(value.bind(py).clone())),
        Absent::Factory(factory) => return factory.bind(py).call0().map(Some),
        Absent::Required => return Ok(None),
        Absent::Default => match &field.kind {
            Kind::List(_) => PyList::empty(py).into_any(),
            Kind::Map(..) => PyDict::new(py).into_any(),
            Kind::Plain(Item::Scalar(element)) => match element {
                Element::Bool => PyBool::new(py, false).to_owned().into_any(),
                Element::F32 | Element::F64 => PyFloat::new(py, 0.0).into_any(),
                Element::String => PyString::new(py, "").into_any(),
                Element::Bytes => PyBytes::new(py, b"").into_any(),
                _ => PyInt::new(py, 0).into_any(),
            },
            _ => return Ok(Some(py.None().into_bound(py))),
        },
    };
    converted(field, default).map(Some)
}

/// Adds the name of a field to an error about bytes from a peer.
fn in_field(py: Python<'_>, error: PyErr, field: &FieldPlan) -> PyErr {
    PyValueError::new_err(format!("{}: {}", field.text, error.value(py)))
}

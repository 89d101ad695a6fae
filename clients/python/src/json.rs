//! Converts Python values from and to JSON, as [`Plans`] and proto3's JSON mapping describe it.

use crate::decode::{converted, finish};
use crate::encode::{expected, field_value, float, integer, named, refused, truth};
use crate::image::{self, PixelMemory};
use crate::plan::{FieldPlan, Item, Kind, Plan, Plans, PyForm, Time};
use crate::tensor;
use crate::time;
use bytes::Bytes;
use frpc::json::wellknown::{decode_duration, decode_timestamp, encode_duration, encode_timestamp};
use frpc::json::{DecodeError, EncodeError, Json, Key, Options, Reader, Writer};
use frpc::tensor::Tensor;
use frpc_dynamic::layout::Element;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

/// Memory in bytes charged for a Python value, excluding the bytes of its text.
const VALUE: usize = 64;

/// Reads a message from JSON. If `positional` is set, reads an array of its field values in the order of declaration.
pub(crate) fn read<'py>(
    py: Python<'py>,
    plans: &Plans,
    index: usize,
    json: &Bytes,
    positional: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let plan = plans.get(index)?;
    let decoder = FromJson { py, plans, pixels: PixelMemory::new() };
    let read = Reader::new(json, &Options::new()).and_then(|mut reader| {
        let value = if positional && !matches!(plan.form, PyForm::Tensor | PyForm::Image) {
            decoder.positional(plan, &mut reader)?
        } else {
            decoder.message(plan, &mut reader)?
        };
        reader.end()?;
        Ok(value)
    });
    read.map_err(refused)
}

struct FromJson<'py, 'a> {
    py: Python<'py>,
    plans: &'a Plans,
    pixels: PixelMemory,
}

type Read<'py> = Result<Bound<'py, PyAny>, DecodeError>;

impl<'py> FromJson<'py, '_> {
    fn message(&self, plan: &Plan, from: &mut Reader<'_>) -> Read<'py> {
        let at = from.value_offset();
        from.charge_bytes(VALUE.saturating_mul(plan.fields.len().saturating_add(1)))?;
        let read = match plan.form {
            PyForm::Tensor => tensor::array(self.py, &value(from)?),
            PyForm::Image => self.pixels.picture(self.py, &value(from)?),
            PyForm::Time(time) => {
                let decode = if time == Time::Timestamp { decode_timestamp } else { decode_duration };
                let (seconds, nanos) = decode(from)?;
                time::read(self.py, time, seconds, nanos)
            }
            _ => return self.object(plan, from, at),
        };
        read.map_err(|error| decode_error(at, &error))
    }

    fn object(&self, plan: &Plan, from: &mut Reader<'_>, at: usize) -> Read<'py> {
        let mut values = vec![None; plan.fields.len()];
        // Fields that are `null`, which leaves their values unset.
        let mut nulls = Vec::new();
        from.level(|from| {
            from.object(|key, from| {
                // A JSON name takes precedence over the original name of another field.
                let by_json = plan.fields.iter().position(|field| field.json == key);
                let index = by_json.or_else(|| plan.fields.iter().position(|field| field.text == key));
                let found = index.and_then(|index| Some((index, plan.fields.get(index)?, values.get_mut(index)?)));
                let Some((index, field, slot)) = found else {
                    return Err(Reader::refuse(from.position(), format!("{} has no field {key:?}", plan.name)));
                };
                if slot.is_some() || nulls.contains(&index) {
                    return Err(Reader::refuse(from.position(), format!("{key:?} occurs twice")));
                }
                *slot = self.field(field, from)?;
                if slot.is_none() {
                    nulls.push(index);
                }
                Ok(())
            })
        })?;
        self.finish(plan, values, at)
    }

    fn positional(&self, plan: &Plan, from: &mut Reader<'_>) -> Read<'py> {
        let at = from.value_offset();
        let mut values = vec![None; plan.fields.len()];
        let mut declared = plan.declared.iter();
        from.array(|from| {
            let index = declared.next().copied();
            let found = index.and_then(|index| Some((plan.fields.get(index)?, values.get_mut(index)?)));
            let Some((field, slot)) = found else {
                return Err(Reader::refuse(from.position(), "there are more values than fields"));
            };
            *slot = self.field(field, from)?;
            Ok(())
        })?;
        self.finish(plan, values, at)
    }

    fn finish(&self, plan: &Plan, mut values: Vec<Option<Bound<'py, PyAny>>>, at: usize) -> Read<'py> {
        for members in &plan.oneofs {
            if members.iter().filter(|index| matches!(values.get(**index), Some(Some(_)))).count() > 1 {
                return Err(Reader::refuse(at, "more than one member of a oneof is set"));
            }
        }
        finish(self.py, plan, &mut values).map_err(|error| decode_error(at, &error))
    }

    /// Reads the value of a field. Returns `None` for JSON's `null`, which means that the field is absent.
    fn field(&self, field: &FieldPlan, from: &mut Reader<'_>) -> Result<Option<Bound<'py, PyAny>>, DecodeError> {
        let at = from.value_offset();
        if from.peek() == Some(b'n') {
            from.skip()?;
            return Ok(None);
        }
        let value = match &field.kind {
            Kind::Optional(Item::Message(_)) if field.dtype.is_some() => self.array(field, from)?,
            Kind::Plain(of) | Kind::Optional(of) | Kind::Member { of, .. } => self.item(of, from)?,
            Kind::List(of) => {
                let list = PyList::empty(self.py);
                from.array(|from| {
                    from.charge_bytes(VALUE)?;
                    let at = from.value_offset();
                    list.append(self.item(of, from)?).map_err(|error| decode_error(at, &error))
                })?;
                list.into_any()
            }
            Kind::Map(key, of) => {
                let map = PyDict::new(self.py);
                from.object(|name, from| {
                    from.charge_bytes(4 * VALUE)?;
                    let at = from.position();
                    let key = self.key(key, name, at)?;
                    if map.contains(&key).map_err(|error| decode_error(at, &error))? {
                        return Err(Reader::refuse(at, format!("{name:?} occurs twice")));
                    }
                    map.set_item(key, self.item(of, from)?).map_err(|error| decode_error(at, &error))
                })?;
                map.into_any()
            }
        };
        let value = tensor::check_dtype(field, &value).and_then(|()| converted(field, value));
        value.map(Some).map_err(|error| decode_error(at, &error))
    }

    /// Reads an array with the element type of its type hint. Plain lists of numbers have no element type.
    fn array(&self, field: &FieldPlan, from: &mut Reader<'_>) -> Read<'py> {
        let at = from.value_offset();
        from.charge_bytes(4 * VALUE)?;
        let tensor = Tensor::decode_json_as(from, field.dtype.as_deref().unwrap_or_default())?;
        tensor::array(self.py, &tensor).map_err(|error| decode_error(at, &error))
    }

    fn key(&self, of: &Item, name: &str, at: usize) -> Read<'py> {
        let py = self.py;
        let Item::Scalar(element) = of else { return Err(Reader::refuse(at, "a message cannot be a key")) };
        let wrong = || Reader::refuse(at, format!("{name:?} is not a valid key of this map"));
        Ok(match element {
            Element::String => PyString::new(py, name).into_any(),
            Element::Bool => PyBool::new(py, bool::from_text(name).ok_or_else(wrong)?).to_owned().into_any(),
            Element::I32 => PyInt::new(py, i32::from_text(name).ok_or_else(wrong)?).into_any(),
            Element::I64 => PyInt::new(py, i64::from_text(name).ok_or_else(wrong)?).into_any(),
            Element::U32 => PyInt::new(py, u32::from_text(name).ok_or_else(wrong)?).into_any(),
            _ => PyInt::new(py, u64::from_text(name).ok_or_else(wrong)?).into_any(),
        })
    }

    fn item(&self, of: &Item, from: &mut Reader<'_>) -> Read<'py> {
        let py = self.py;
        let at = from.value_offset();
        let element = match of {
            Item::Message(index) => {
                let plan = self.plans.get(*index).map_err(|error| decode_error(at, &error))?;
                return self.message(plan, from);
            }
            Item::Scalar(element) => element,
        };
        Ok(match element {
            Element::Bool => PyBool::new(py, value(from)?).to_owned().into_any(),
            Element::I32 => PyInt::new(py, value::<i32>(from)?).into_any(),
            Element::Enum(indexes) => {
                let number = if from.peek() == Some(b'"') {
                    let name = PyString::new(py, &from.string("the name of a value")?).into_any();
                    self.plans.number(indexes, &name)
                } else {
                    Ok(value::<i32>(from)?)
                };
                let member = number.and_then(|number| self.plans.member(py, indexes, number));
                member.map_err(|error| decode_error(at, &error))?
            }
            Element::I64 => PyInt::new(py, value::<i64>(from)?).into_any(),
            Element::U32 => PyInt::new(py, value::<u32>(from)?).into_any(),
            Element::U64 => PyInt::new(py, value::<u64>(from)?).into_any(),
            Element::F32 => PyFloat::new(py, value::<f32>(from)?.into()).into_any(),
            Element::F64 => PyFloat::new(py, value(from)?).into_any(),
            Element::String => PyString::new(py, &from.string("string")?).into_any(),
            Element::Bytes => PyBytes::new(py, &value::<Vec<u8>>(from)?).into_any(),
            Element::Message(_) => return Err(Reader::refuse(at, "a scalar expected, found a message")),
        })
    }
}

fn value<T: Json>(from: &mut Reader<'_>) -> Result<T, DecodeError> {
    let mut value = T::default();
    from.value(&mut value)?;
    Ok(value)
}

fn decode_error(at: usize, error: &PyErr) -> DecodeError {
    Python::attach(|py| Reader::refuse(at, error.value(py).to_string()))
}

/// Writes a message as JSON.
pub(crate) fn write(plans: &Plans, index: usize, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let mut out = Vec::with_capacity(64);
    ToJson { plans }.message(plans.get(index)?, value, &mut Writer::new(&mut out, &Options::new()))?;
    Ok(out)
}

struct ToJson<'a> {
    plans: &'a Plans,
}

impl ToJson<'_> {
    fn message(&self, plan: &Plan, value: &Bound<'_, PyAny>, to: &mut Writer<'_>) -> PyResult<()> {
        match plan.form {
            PyForm::Tensor => return put(to, &tensor::parts(value)?),
            PyForm::Image => return put(to, &image::file(value)?),
            PyForm::Time(time) => {
                let (seconds, nanos) = time::parts(time, value)?;
                let encode = if time == Time::Timestamp { encode_timestamp } else { encode_duration };
                return encode(seconds, nanos, to).map_err(refused);
            }
            _ => {}
        }
        let mut failure = None;
        let written = to.level(|to| {
            failure = self.fields(plan, value, to).err();
            Ok(())
        });
        written.map_err(refused)?;
        failure.map_or(Ok(()), Err)
    }

    fn fields(&self, plan: &Plan, value: &Bound<'_, PyAny>, to: &mut Writer<'_>) -> PyResult<()> {
        to.raw("{");
        let mut is_first = true;
        // The oneof of the last member that was written. The members of a oneof are declared together.
        let mut last_oneof = None;
        for index in &plan.declared {
            let Some(field) = plan.fields.get(*index) else { continue };
            let value = field_value(plan, *index, field, value)?;
            if self.is_omitted(field, &value).map_err(|error| named(value.py(), error, &field.text))? {
                continue;
            }
            if let Kind::Member { oneof, .. } = field.kind
                && last_oneof.replace(oneof) == Some(oneof)
            {
                return Err(PyValueError::new_err("more than one member of a oneof is set"));
            }
            if !std::mem::take(&mut is_first) {
                to.raw(",");
            }
            to.string(&field.json);
            to.raw(":");
            self.field(field, &value, to).map_err(|error| named(value.py(), error, &field.text))?;
        }
        to.raw("}");
        Ok(())
    }

    /// Returns whether proto3's JSON mapping omits a field because it is absent, or because it has no presence and its
    /// value is the default.
    fn is_omitted(&self, field: &FieldPlan, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        match &field.kind {
            Kind::Optional(_) | Kind::Member { .. } => Ok(value.is_none()),
            Kind::List(_) | Kind::Map(..) => Ok(value.len().is_ok_and(|length| length == 0)),
            Kind::Plain(Item::Message(_)) => Ok(value.is_none()),
            Kind::Plain(Item::Scalar(element)) => Ok(match element {
                Element::Bool => !truth(value)?,
                Element::I32 => integer::<i32>(value)? == 0,
                Element::I64 => integer::<i64>(value)? == 0,
                Element::U32 => integer::<u32>(value)? == 0,
                Element::U64 => integer::<u64>(value)? == 0,
                // Compare bits, because negative zero is not a default value.
                Element::F32 | Element::F64 => float(value)?.to_bits() == 0,
                Element::String | Element::Bytes => value.len().is_ok_and(|length| length == 0),
                Element::Enum(indexes) => self.plans.number(indexes, value)? == 0,
                Element::Message(_) => false,
            }),
        }
    }

    fn field(&self, field: &FieldPlan, value: &Bound<'_, PyAny>, to: &mut Writer<'_>) -> PyResult<()> {
        tensor::check_dtype(field, value)?;
        match &field.kind {
            Kind::Plain(of) | Kind::Optional(of) | Kind::Member { of, .. } => self.item(of, value, to),
            Kind::List(of) => {
                if value.cast::<PyString>().is_ok() || value.cast::<PyBytes>().is_ok() {
                    return Err(expected("a list", value));
                }
                to.raw("[");
                for (at, element) in value.try_iter()?.enumerate() {
                    if at > 0 {
                        to.raw(",");
                    }
                    self.item(of, &element?, to)?;
                }
                to.raw("]");
                Ok(())
            }
            Kind::Map(key, of) => {
                to.raw("{");
                for (at, (name, value)) in
                    value.cast::<PyDict>().map_err(|_| expected("a dict", value))?.copy()?.iter().enumerate()
                {
                    if at > 0 {
                        to.raw(",");
                    }
                    write_key(key, &name, to)?;
                    to.raw(":");
                    self.item(of, &value, to)?;
                }
                to.raw("}");
                Ok(())
            }
        }
    }

    fn item(&self, of: &Item, value: &Bound<'_, PyAny>, to: &mut Writer<'_>) -> PyResult<()> {
        let element = match of {
            Item::Message(index) => return self.message(self.plans.get(*index)?, value, to),
            Item::Scalar(element) => element,
        };
        match element {
            Element::Bool => put(to, &truth(value)?),
            Element::I32 => put(to, &integer::<i32>(value)?),
            Element::Enum(indexes) => {
                let number = self.plans.number(indexes, value)?;
                match self.plans.enum_name(indexes, number) {
                    Some(name) => to.string(name),
                    None => put(to, &number)?,
                }
                Ok(())
            }
            Element::I64 => put(to, &integer::<i64>(value)?),
            Element::U32 => put(to, &integer::<u32>(value)?),
            Element::U64 => put(to, &integer::<u64>(value)?),
            #[allow(clippy::cast_possible_truncation)] // NumPy floats are rounded in the same way.
            Element::F32 => put(to, &(float(value)? as f32)),
            Element::F64 => put(to, &float(value)?),
            Element::String => {
                to.string(value.cast::<PyString>().map_err(|_| expected("a str", value))?.to_str()?);
                Ok(())
            }
            Element::Bytes => put(to, &crate::buffer::shared(value)?),
            Element::Message(_) => Err(PyValueError::new_err("a scalar expected, found a message")),
        }
    }
}

/// Writes the key of a map, which is a string in JSON.
fn write_key(of: &Item, key: &Bound<'_, PyAny>, to: &mut Writer<'_>) -> PyResult<()> {
    let number = match of {
        Item::Message(_) => return Err(PyValueError::new_err("a message cannot be a key")),
        Item::Scalar(Element::String) => {
            to.string(key.cast::<PyString>().map_err(|_| expected("a str", key))?.to_str()?);
            return Ok(());
        }
        Item::Scalar(Element::Bool) => {
            to.string(if truth(key)? { "true" } else { "false" });
            return Ok(());
        }
        Item::Scalar(Element::I32) => integer::<i32>(key)?.to_string(),
        Item::Scalar(Element::I64) => integer::<i64>(key)?.to_string(),
        Item::Scalar(Element::U32) => integer::<u32>(key)?.to_string(),
        Item::Scalar(_) => integer::<u64>(key)?.to_string(),
    };
    to.string(&number);
    Ok(())
}

fn put<T: Json>(to: &mut Writer<'_>, value: &T) -> PyResult<()> {
    to.value(value).map_err(|error: EncodeError| refused(error))
}

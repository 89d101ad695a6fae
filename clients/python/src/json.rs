//! Python's values from JSON and to JSON, by their plans and the JSON mapping of proto3.

use crate::decode::finish;
use crate::encode::{expected, refused};
use crate::image;
use crate::plan::{FieldPlan, Item, Kind, Plan, Plans, PyForm};
use crate::tensor;
use crate::untyped;
use bytes::Bytes;
use frpc::json::{DecodeError, EncodeError, Json, Options, Reader, Writer};
use frpc::polyglot::Nesting;
use frpc::tensor::{Image, Tensor};
use frpc_dynamic::layout::Element;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// What a value takes in Python beside the bytes of its text.
const VALUE: usize = 64;

/// Reads a message; if `positional`, from an array of its fields in the order of declaration.
pub(crate) fn read<'py>(
    py: Python<'py>,
    plans: &Plans,
    place: usize,
    json: &Bytes,
    nesting: Nesting,
    positional: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options::new().nesting_max(nesting.levels());
    let mut reader = Reader::new(json, &options).map_err(refused)?;
    let plan = plans.get(place)?;
    let decoder = FromJson { py, plans };
    let value = if positional && !matches!(plan.form, PyForm::Tensor | PyForm::Image) {
        decoder.positional(plan, &mut reader)
    } else {
        decoder.message(plan, &mut reader)
    };
    let value = value.map_err(refused)?;
    reader.end().map_err(refused)?;
    Ok(value)
}

struct FromJson<'py, 'a> {
    py: Python<'py>,
    plans: &'a Plans,
}

type Read<'py> = Result<Bound<'py, PyAny>, DecodeError>;

impl<'py> FromJson<'py, '_> {
    fn message(&self, plan: &Plan, from: &mut Reader<'_>) -> Read<'py> {
        let at = from.place();
        from.charge_bytes(VALUE.saturating_mul(plan.fields.len().saturating_add(1)))?;
        if matches!(plan.form, PyForm::Tensor) {
            let mut tensor = Tensor::default();
            from.value(&mut tensor)?;
            return tensor::array(self.py, &tensor).map_err(|error| said(at, &error));
        }
        if matches!(plan.form, PyForm::Image) {
            let mut file = Image::default();
            from.value(&mut file)?;
            return image::picture(self.py, &file).map_err(|error| said(at, &error));
        }
        let mut values = vec![None; plan.fields.len()];
        from.level(|from| {
            from.object(|key, from| {
                let place = plan.fields.iter().position(|field| field.json == key || field.text == key);
                let found = place.and_then(|place| Some((plan.fields.get(place)?, values.get_mut(place)?)));
                let Some((field, slot)) = found else {
                    return Err(Reader::refuse(from.position(), format!("{} has no field {key:?}", plan.name)));
                };
                if slot.is_some() {
                    return Err(Reader::refuse(from.position(), format!("{key:?} occurs twice")));
                }
                *slot = self.field(field, from)?;
                Ok(())
            })
        })?;
        self.finish(plan, values, at)
    }

    fn positional(&self, plan: &Plan, from: &mut Reader<'_>) -> Read<'py> {
        let at = from.place();
        let mut values = vec![None; plan.fields.len()];
        let mut declared = plan.declared.iter();
        from.array(|from| {
            let place = declared.next().copied();
            let found = place.and_then(|place| Some((plan.fields.get(place)?, values.get_mut(place)?)));
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
            if members.iter().filter(|place| matches!(values.get(**place), Some(Some(_)))).count() > 1 {
                return Err(Reader::refuse(at, "more than one member of a oneof is set"));
            }
        }
        finish(self.py, plan, &mut values).map_err(|error| said(at, &error))
    }

    /// Reads the value of a field; `null` is an absent one.
    fn field(&self, field: &FieldPlan, from: &mut Reader<'_>) -> Result<Option<Bound<'py, PyAny>>, DecodeError> {
        let at = from.place();
        if from.peek() == Some(b'n') {
            from.skip()?;
            return Ok(None);
        }
        let value = match &field.kind {
            Kind::Plain(of) | Kind::Optional(of) | Kind::Member { of, .. } => self.item(of, from)?,
            Kind::List(of) => {
                let list = PyList::empty(self.py);
                from.array(|from| {
                    from.charge_bytes(VALUE)?;
                    let at = from.place();
                    list.append(self.item(of, from)?).map_err(|error| said(at, &error))
                })?;
                list.into_any()
            }
            Kind::Map(key, of) => {
                let map = PyDict::new(self.py);
                from.object(|name, from| {
                    from.charge_bytes(4 * VALUE)?;
                    let at = from.position();
                    let key = self.key(key, name, at)?;
                    if map.contains(&key).map_err(|error| said(at, &error))? {
                        return Err(Reader::refuse(at, format!("{name:?} occurs twice")));
                    }
                    map.set_item(key, self.item(of, from)?).map_err(|error| said(at, &error))
                })?;
                map.into_any()
            }
        };
        tensor::check_dtype(field, &value).map_err(|error| said(at, &error))?;
        Ok(Some(value))
    }

    fn key(&self, of: &Item, name: &str, at: usize) -> Read<'py> {
        let py = self.py;
        let Item::Scalar(element) = of else { return Err(Reader::refuse(at, "a message is no key")) };
        let wrong = || Reader::refuse(at, format!("{name:?} is no key of this map"));
        Ok(match element {
            Element::String => PyString::new(py, name).into_any(),
            Element::Bool => PyBool::new(py, name.parse().map_err(|_| wrong())?).to_owned().into_any(),
            Element::I32 => PyInt::new(py, name.parse::<i32>().map_err(|_| wrong())?).into_any(),
            Element::I64 => PyInt::new(py, name.parse::<i64>().map_err(|_| wrong())?).into_any(),
            Element::U32 => PyInt::new(py, name.parse::<u32>().map_err(|_| wrong())?).into_any(),
            _ => PyInt::new(py, name.parse::<u64>().map_err(|_| wrong())?).into_any(),
        })
    }

    fn item(&self, of: &Item, from: &mut Reader<'_>) -> Read<'py> {
        let py = self.py;
        let at = from.place();
        let element = match of {
            Item::Message(place) => {
                let plan = self.plans.get(*place).map_err(|error| said(at, &error))?;
                return self.message(plan, from);
            }
            Item::Scalar(element) => element,
        };
        Ok(match element {
            Element::Bool => PyBool::new(py, value(from)?).to_owned().into_any(),
            Element::I32 => PyInt::new(py, value::<i32>(from)?).into_any(),
            Element::Enum(indexes) => self.plans.member(py, indexes, value::<i32>(from)?),
            Element::I64 => PyInt::new(py, value::<i64>(from)?).into_any(),
            Element::U32 => PyInt::new(py, value::<u32>(from)?).into_any(),
            Element::U64 => PyInt::new(py, value::<u64>(from)?).into_any(),
            Element::F32 => PyFloat::new(py, value::<f32>(from)?.into()).into_any(),
            Element::F64 => PyFloat::new(py, value(from)?).into_any(),
            Element::String => PyString::new(py, &from.string("string")?).into_any(),
            Element::Bytes => tensor::own(py, &value::<Vec<u8>>(from)?),
            Element::Message(_) => return Err(Reader::refuse(at, "a message stands among scalars")),
        })
    }
}

fn value<T: Json>(from: &mut Reader<'_>) -> Result<T, DecodeError> {
    let mut value = T::default();
    from.value(&mut value)?;
    Ok(value)
}

#[cold]
fn said(at: usize, error: &PyErr) -> DecodeError {
    Python::attach(|py| Reader::refuse(at, error.value(py).to_string()))
}

/// Writes a message.
pub(crate) fn write(plans: &Plans, place: usize, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let mut out = Vec::with_capacity(64);
    ToJson { plans }.message(plans.get(place)?, value, &mut Writer::new(&mut out, &Options::new()))?;
    Ok(out)
}

struct ToJson<'a> {
    plans: &'a Plans,
}

impl ToJson<'_> {
    fn message(&self, plan: &Plan, value: &Bound<'_, PyAny>, to: &mut Writer<'_>) -> PyResult<()> {
        if matches!(plan.form, PyForm::Tensor) {
            return put(to, &tensor::for_json(value)?);
        }
        if matches!(plan.form, PyForm::Image) {
            return put(to, &image::file(value)?);
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
        for (at, place) in plan.declared.iter().enumerate() {
            let Some(field) = plan.fields.get(*place) else { continue };
            let value = match &plan.form {
                PyForm::Object(_) => value.getattr(field.name.bind(value.py()))?,
                PyForm::Arguments => value.cast::<PyTuple>()?.get_item(at)?,
                PyForm::Value | PyForm::Tensor | PyForm::Image => value.clone(),
                PyForm::Any => untyped::held(&field.text, value)?,
            };
            if value.is_none() {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                to.raw(",");
            }
            to.string(&field.json);
            to.raw(":");
            self.field(field, &value, to)?;
        }
        to.raw("}");
        Ok(())
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
            Kind::Map(_, of) => {
                to.raw("{");
                for (at, (name, value)) in
                    value.cast::<PyDict>().map_err(|_| expected("a dict", value))?.iter().enumerate()
                {
                    if at > 0 {
                        to.raw(",");
                    }
                    if let Ok(flag) = name.cast::<PyBool>() {
                        to.string(if flag.is_true() { "true" } else { "false" });
                    } else {
                        to.string(name.str()?.to_str()?);
                    }
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
            Item::Message(place) => return self.message(self.plans.get(*place)?, value, to),
            Item::Scalar(element) => element,
        };
        match element {
            Element::Bool => put(to, &value.cast::<PyBool>().map_err(|_| expected("a bool", value))?.is_true()),
            Element::I32 | Element::Enum(_) => put(to, &value.extract::<i32>()?),
            Element::I64 => put(to, &value.extract::<i64>()?),
            Element::U32 => put(to, &value.extract::<u32>()?),
            Element::U64 => put(to, &value.extract::<u64>()?),
            Element::F32 => put(to, &value.extract::<f32>()?),
            Element::F64 => put(to, &value.extract::<f64>()?),
            Element::String => {
                to.string(value.cast::<PyString>().map_err(|_| expected("a str", value))?.to_str()?);
                Ok(())
            }
            Element::Bytes => put(to, &crate::buffer::shared(value)?),
            Element::Message(_) => Err(PyValueError::new_err("a message stands among scalars")),
        }
    }
}

fn put<T: Json>(to: &mut Writer<'_>, value: &T) -> PyResult<()> {
    to.value(value).map_err(|error: EncodeError| refused(error))
}

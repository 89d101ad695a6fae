//! `frpc.Tensor` as NumPy arrays, without copying the elements.

use crate::buffer::{View, shared};
use crate::encode::{expected, refused};
use crate::plan::{FieldPlan, Plan};
use frpc::polyglot::{Decoder, Encoder, Kind};
use frpc::tensor::{ElementType, Tensor};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

static NUMPY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// Returns the NumPy module, which is imported when the first array is used.
fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    NUMPY.get_or_try_init(py, || py.import("numpy").map(Bound::unbind)).map(|numpy| numpy.bind(py))
}

/// The arrays of a message that was already encoded in one form, in order of occurrence.
#[derive(Default)]
pub(crate) struct ArrayViews {
    arrays: Vec<(Py<PyAny>, Tensor)>,
    next: usize,
}

impl ArrayViews {
    /// Starts again with the first array, before the message is encoded again.
    pub(crate) fn again(&mut self) {
        self.next = 0;
    }

    fn parts(&mut self, value: &Bound<'_, PyAny>) -> PyResult<Tensor> {
        if let Some((array, parts)) = self.arrays.get(self.next)
            && array.is(value)
        {
            self.next += 1;
            return Ok(parts.clone());
        }
        let parts = parts(value)?;
        self.arrays.truncate(self.next);
        self.arrays.push((value.clone().unbind(), parts.clone()));
        self.next += 1;
        Ok(parts)
    }
}

/// Encodes the fields of a tensor message, in the wire order `dtype`, `data`, `shape`.
pub(crate) fn encode(
    plan: &Plan,
    value: &Bound<'_, PyAny>,
    views: &mut ArrayViews,
    to: &mut Encoder<'_>,
) -> PyResult<()> {
    let Tensor { dtype, shape, data } = views.parts(value)?;
    for field in &plan.fields {
        match &field.text[..] {
            "dtype" => to.string(&dtype).map_err(refused)?,
            "shape" => {
                to.list(Kind::U32, shape.len()).map_err(refused)?;
                shape.iter().for_each(|length| to.u32(*length));
            }
            _ => to.shared(&data).map_err(refused)?,
        }
    }
    Ok(())
}

/// Returns the element type, shape and memory of an array. An array that is not contiguous or has another byte order is
/// copied.
pub(crate) fn parts(value: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let py = value.py();
    let numpy = numpy(py)?;
    let kind = value.get_type();
    let scalar;
    let value = if kind.is(&numpy.getattr("ndarray")?) || kind.is(&numpy.getattr("memmap")?) {
        value
    } else if value.is_instance(&numpy.getattr("generic")?)? {
        scalar = numpy.call_method1("asarray", (value,))?;
        &scalar
    } else {
        let error = expected("an array of NumPy", value);
        if !value.is_instance(&numpy.getattr("ndarray")?)? {
            return Err(error);
        }
        // Reject subclasses, because their additional state, such as a mask, would be lost.
        return Err(PyTypeError::new_err(format!("{}: pass numpy.asarray of it", error.value(py))));
    };
    let dtype = value.getattr("dtype")?;
    let name = name_of(&dtype)?;
    let named = frpc::tensor::Dtype::parse(&name)
        .ok_or_else(|| PyTypeError::new_err(format!("tensors have no elements of the type {name}")))?;
    let shape: Vec<u32> = value.getattr("shape")?.extract()?;
    let order: String = dtype.getattr("byteorder")?.extract()?;
    let is_big = order == ">" || (order == "=" && cfg!(target_endian = "big"));
    let array = if is_big {
        value.call_method1("astype", (dtype.call_method1("newbyteorder", ("<",))?,))?
    } else {
        value.clone()
    };
    let mut array = numpy.call_method1("ascontiguousarray", (array,))?;
    if named.element == ElementType::Bfloat16 {
        // View the array as integers, because the type belongs to another package and does not support the buffer
        // protocol.
        array = array.call_method1("view", ("uint16",))?;
    }
    Ok(Tensor { dtype: name, shape, data: shared(&array)? })
}

/// Upper bound of the type numbers of NumPy's own types. Types of other packages may have the same kinds and sizes.
const OTHERS: i32 = 256;

/// Returns NumPy's name for an element type. NumPy creates names in Python code each time, so the names of its numeric
/// types are created here.
fn name_of(dtype: &Bound<'_, PyAny>) -> PyResult<String> {
    let is_own = (0..OTHERS).contains(&dtype.getattr("num")?.extract()?);
    let kind = match dtype.getattr("kind")?.extract::<char>()? {
        _ if !is_own => return dtype.getattr("name")?.extract(),
        'b' => return Ok("bool".to_owned()),
        'i' => "int",
        'u' => "uint",
        'f' => "float",
        'c' => "complex",
        _ => return dtype.getattr("name")?.extract(),
    };
    let size: usize = dtype.getattr("itemsize")?.extract()?;
    Ok(format!("{kind}{}", 8 * size))
}

/// Decodes a tensor to a NumPy array. A long array is a view of the input.
pub(crate) fn decode<'py>(py: Python<'py>, plan: &Plan, from: &mut Decoder<'_>) -> PyResult<Bound<'py, PyAny>> {
    let mut tensor = Tensor::default();
    for field in &plan.fields {
        match &field.text[..] {
            "dtype" => tensor.dtype = from.string().map_err(refused)?,
            "shape" => {
                let length = from.list(Kind::U32).map_err(refused)?;
                // The shape takes at most four times the number of received bytes.
                tensor.shape = (0..length).map(|_| from.u32().map_err(refused)).collect::<PyResult<_>>()?;
            }
            _ => tensor.data = from.bytes().map_err(refused)?,
        }
    }
    array(py, &tensor)
}

/// Returns the NumPy array for a tensor after checking that its parts are consistent.
pub(crate) fn array<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let numpy = numpy(py)?;
    if tensor.dtype.is_empty() && tensor.data.is_empty() {
        // The default message has no element type.
        return Err(PyValueError::new_err("the tensor has no type"));
    }
    let dtype = tensor.check().map_err(refused)?;
    let name = dtype.element.name();
    let described = match numpy.call_method1("dtype", (name,)) {
        Ok(described) => described,
        Err(_) if dtype.element == ElementType::Bfloat16 => {
            // NumPy knows the type's name only if the package that defines it is imported.
            return Err(PyTypeError::new_err("arrays of bfloat16 need the package ml_dtypes, imported"));
        }
        Err(error) => return Err(error),
    };
    let described = if dtype.is_big_endian { described.call_method1("newbyteorder", (">",))? } else { described };
    let view = Py::new(py, View::new(tensor.data.clone()))?;
    let flat = if tensor.data.is_empty() {
        numpy.call_method1("empty", (0, described))?
    } else {
        numpy.call_method1("frombuffer", (view, described))?
    };
    // The length of the data has already been checked.
    if tensor.shape.len() == 1 {
        return Ok(flat);
    }
    flat.call_method1("reshape", (PyTuple::new(py, &tensor.shape)?,))
}

/// Rejects an array if its element type differs from the type hint of the function.
pub(crate) fn check_dtype(field: &FieldPlan, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let Some(wanted) = &field.dtype else { return Ok(()) };
    if value.is_none() {
        return Ok(());
    }
    let found = name_of(&value.getattr("dtype").map_err(|_| expected("an array of NumPy", value))?)?;
    if found == *wanted {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!("an array of {wanted} expected, not of {found}")))
}

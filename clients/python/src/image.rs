//! `frpc.Image` as Pillow images. An image is sent as a file. The package's `_images` module chooses the format.

use crate::buffer::shared;
use crate::encode::refused;
use crate::plan::Plan;
use frpc::polyglot::{CONTAINER_MEMORY_MAX, Decoder, Encoder};
use frpc::tensor::Image;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;
use std::cell::Cell;

/// Encodes a Python image as a file in a lossless format, using Pillow.
pub(crate) fn file(value: &Bound<'_, PyAny>) -> PyResult<Image> {
    static WRITE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let written = WRITE.import(value.py(), "frisbee_rpc._images", "write")?.call1((value,))?;
    let (media_type, data): (String, Bound<'_, PyAny>) = written.extract()?;
    Ok(Image { media_type, data: shared(&data)? })
}

/// Memory in bytes that the pixels of a message's images may still use.
pub(crate) struct PixelMemory(Cell<usize>);

impl PixelMemory {
    pub(crate) const fn new() -> Self {
        Self(Cell::new(CONTAINER_MEMORY_MAX))
    }

    /// Decodes an image file received from a peer to a Pillow image.
    pub(crate) fn picture<'py>(&self, py: Python<'py>, file: &Image) -> PyResult<Bound<'py, PyAny>> {
        static READ: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let read = READ.import(py, "frisbee_rpc._images", "read_within")?;
        let (picture, used) = read.call1((PyBytes::new(py, &file.data), self.0.get()))?.extract()?;
        self.0.set(self.0.get().saturating_sub(used));
        Ok(picture)
    }
}

/// Encodes the fields of an image message.
pub(crate) fn encode(plan: &Plan, value: &Bound<'_, PyAny>, to: &mut Encoder<'_>) -> PyResult<()> {
    let file = file(value)?;
    for field in &plan.fields {
        match &field.text[..] {
            "media_type" => to.string(&file.media_type).map_err(refused)?,
            _ => to.shared(&file.data).map_err(refused)?,
        }
    }
    Ok(())
}

/// Decodes an image message to a Pillow image.
pub(crate) fn decode<'py>(
    py: Python<'py>,
    plan: &Plan,
    from: &mut Decoder<'_>,
    memory: &PixelMemory,
) -> PyResult<Bound<'py, PyAny>> {
    let mut file = Image::default();
    for field in &plan.fields {
        match &field.text[..] {
            "media_type" => file.media_type = from.string().map_err(refused)?,
            _ => file.data = from.bytes().map_err(refused)?,
        }
    }
    memory.picture(py, &file)
}

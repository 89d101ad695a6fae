//! What stands in a message: the parts of requests, by their places in it. No value of theirs is read here.

use frpc::json::{DecodeError, Options, Reader};

/// The parts of a request. Each is the text of a value, as it stands in the message.
#[derive(Debug, Default)]
pub(super) struct Request<'a> {
    /// Absent from notifications.
    pub(super) id: Option<&'a str>,
    pub(super) method: &'a str,
    pub(super) params: Option<&'a str>,
}

impl<'a> Request<'a> {
    /// Reads a message.
    pub(super) fn read(message: &'a [u8]) -> Result<Self, DecodeError> {
        let mut request = Self::default();
        let mut reader = Reader::new(message, &Options::new())?;
        reader.object(|key, reader| {
            let value = reader.raw()?;
            match key {
                "id" => request.id = Some(value),
                "method" => request.method = value.trim_matches('"'),
                "params" => request.params = Some(value),
                _ => {}
            }
            Ok(())
        })?;
        reader.end()?;
        Ok(request)
    }
}

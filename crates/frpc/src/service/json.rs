//! The format `json` of methods, for generated code.

use crate::Status;
use crate::service::erased::Format;
use bytes::Bytes;
use frpc_json::{DecodeError, Json, Options};
use polyglot::Nesting;

/// The format `json` of a method with these messages, and `json-positional`, in which a request is an array of its
/// fields. Requests nest as deep as native ones may.
#[must_use]
pub const fn json_format<A: Json, B: Json>() -> Format<A, B> {
    let encode = |message: &B| {
        let mut out = Vec::new();
        append(message, &mut out)?;
        Ok(Bytes::from(out))
    };
    Format::new("json", |bytes, nesting| options(nesting).decode(bytes).map_err(invalid::<A>), encode)
        .appending(append)
        .fields(A::FIELD_NAMES)
        .positional("json-positional", |bytes, nesting| options(nesting).decode_positional(bytes).map_err(invalid::<A>))
}

fn options(nesting: Nesting) -> Options<'static> {
    Options::new().nesting_max(nesting.levels())
}

#[cold]
#[allow(clippy::needless_pass_by_value)] // As `map_err` has it.
fn invalid<A: Json>(error: DecodeError) -> Status {
    Status::invalid_argument(format!("the request is not a valid {}: {error}", A::NAME))
}

fn append<B: Json>(message: &B, out: &mut Vec<u8>) -> Result<(), Status> {
    let invalid = |error| Status::internal(format!("{} cannot be encoded: {error}", B::NAME));
    frpc_json::to_json(message, out).map_err(invalid)
}

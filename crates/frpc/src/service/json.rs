//! The format `json` of methods, for generated code.

use crate::Status;
use crate::service::erased::Format;
use bytes::Bytes;
use frpc_json::{Json, Options};

/// The format `json` of a method with these messages. Requests nest as deep as native ones may.
#[must_use]
pub const fn json_format<A: Json, B: Json>() -> Format<A, B> {
    Format::new(
        "json",
        |bytes, nesting| {
            let options = Options::new().nesting_max(nesting.levels());
            let invalid = |error| Status::invalid_argument(format!("the request is not a valid {}: {error}", A::NAME));
            options.decode(bytes).map_err(invalid)
        },
        |message| {
            let mut out = Vec::new();
            let invalid = |error| Status::internal(format!("{} cannot be encoded: {error}", B::NAME));
            frpc_json::to_json(message, &mut out).map_err(invalid)?;
            Ok(Bytes::from(out))
        },
    )
}

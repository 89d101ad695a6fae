//! The format `json` of messages, for callers that use other protocols. Used by generated code.

use crate::Status;
use crate::service::failures::overloaded;
use crate::service::formats::{Format, FormatOptions};
use bytes::Bytes;
use frpc_json::{AnyType, CONTAINER_MEMORY_MAX, DecodeError, DecodeReason, Json, Options, Types};
use polyglot::protobuf::{Protobuf, memory_of};

/// Returns the format `json` for these message types. Its positional variant `json-positional` encodes a request as an
/// array of its field values. The nesting limit is the same as for native requests.
pub const fn json_format<A: Json, B: Json>() -> Format<A, B> {
    let encode = |message: &B, options: &FormatOptions| {
        let mut out = Vec::new();
        append(message, &mut out, options)?;
        Ok(Bytes::from(out))
    };
    Format::new("json", |bytes, options| decoded(json_options(options).decode_measured(bytes), options), encode)
        .appending(append)
        .fields(A::FIELD_NAMES)
        .positional("json-positional", |bytes, options| {
            decoded(json_options(options).decode_positional(bytes), options)
        })
}

fn decoded<A: Json>(decoded: Result<(A, usize), DecodeError>, options: &FormatOptions) -> Result<A, Status> {
    let (message, memory) = decoded.map_err(|error| match error.reason() {
        DecodeReason::ContainerMemory { .. } if options.memory_max() < CONTAINER_MEMORY_MAX => overloaded(),
        _ => invalid::<A>(error),
    })?;
    options.set_memory(memory);
    Ok(message)
}

/// Returns the descriptor of a message type that an `Any` may contain in JSON. The memory limits of protobuf messages
/// apply to it.
#[must_use]
pub const fn any_type<M: Json + prost::Message + Protobuf + 'static>() -> AnyType {
    AnyType::of::<M>().bounded(|message| memory_of::<M>(message).ok())
}

/// Returns the well-known types and the types that services have registered. Returns `None` if no service has
/// registered any.
pub(crate) fn types(named: impl Iterator<Item = &'static AnyType>) -> Option<Types> {
    let mut named = named.peekable();
    named.peek()?;
    Some(named.fold(well_known(), Types::with_type))
}

/// Returns the well-known protobuf types with limits on their memory.
fn well_known() -> Types {
    let lists = [
        any_type::<prost_types::FieldMask>(),
        any_type::<prost_types::ListValue>(),
        any_type::<prost_types::Struct>(),
        any_type::<prost_types::Value>(),
    ];
    lists.iter().fold(Types::well_known(), Types::with_type)
}

fn json_options(options: &FormatOptions) -> Options<'_> {
    let json = Options::new().nesting_max(options.nesting.levels()).container_memory(options.memory_max());
    match &options.types {
        Some(types) => json.types(types),
        None => json,
    }
}

#[allow(clippy::needless_pass_by_value)] // Has the signature that `map_err` requires.
fn invalid<A: Json>(error: DecodeError) -> Status {
    Status::invalid_argument(format!("the request is not a valid {}: {error}", A::NAME))
}

fn append<B: Json>(message: &B, out: &mut Vec<u8>, options: &FormatOptions) -> Result<(), Status> {
    let invalid = |error| Status::internal(format!("{} cannot be encoded: {error}", B::NAME));
    json_options(options).encode(message, out).map_err(invalid)
}

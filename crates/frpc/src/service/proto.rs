//! The format `proto`: messages in protobuf encoding, regardless of the native codec. Used by generated code.

use crate::Status;
use crate::service::formats::{Format, FormatOptions};
use polyglot::protobuf::{Protobuf, memory_of};
use polyglot::{BULK_MIN, Message};

/// Returns the format `proto` for these message types. The memory of requests is limited like with the protobuf codec.
/// The maximum nesting depth is 100, which prost hard-codes.
pub const fn protobuf_format<A, B>() -> Format<A, B>
where
    A: Message + prost::Message + Protobuf + Default,
    B: Message + prost::Message,
{
    Format::new(
        "proto",
        |bytes, options| {
            let invalid = |error| Status::invalid_argument(format!("the request is not a valid {}: {error}", A::NAME));
            let memory = memory_of::<A>(bytes).map_err(invalid)?;
            if memory > options.memory_max() {
                return Err(FormatOptions::memory_exceeded(A::NAME, memory));
            }
            options.set_memory(memory);
            // Copy the values of short requests, because a request may be a slice of a much larger read buffer. Call
            // the function by its full path, because both traits may have a function with this name.
            let message = match bytes.len() {
                ..BULK_MIN => <A as prost::Message>::decode(&bytes[..]),
                _ => <A as prost::Message>::decode(bytes.clone()),
            };
            message.map_err(invalid)
        },
        |message: &B, _| Ok(message.encode_to_vec().into()),
    )
    .appending(|message, out, _| {
        out.reserve(message.encoded_len());
        message.encode_raw(out);
        Ok(())
    })
}

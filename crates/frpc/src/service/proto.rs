//! The format `proto` of methods, for generated code: messages in protobuf's encoding, with any native codec.

use crate::Status;
use crate::service::formats::Format;
use polyglot::Message;
use polyglot::protobuf::{Protobuf, memory_of};

/// The format `proto` of a method with these messages. The memory of requests is bounded as with the protobuf codec,
/// and they nest 100 levels deep, which is a constant of prost's.
#[must_use]
pub const fn protobuf_format<A, B>() -> Format<A, B>
where
    A: Message + prost::Message + Protobuf + Default,
    B: Message + prost::Message,
{
    Format::new(
        "proto",
        |bytes, terms| {
            let invalid = |error| Status::invalid_argument(format!("the request is not a valid {}: {error}", A::NAME));
            let memory = memory_of::<A>(bytes).map_err(invalid)?;
            if memory > terms.memory_max() {
                let text = format!("a {} of so many parts takes too much memory", A::NAME);
                return Err(Status::resource_exhausted(text));
            }
            terms.set_memory(memory);
            // By its path, since both traits may have methods of this name.
            <A as prost::Message>::decode(bytes.clone()).map_err(invalid)
        },
        |message, _| Ok(message.encode_to_vec().into()),
    )
}

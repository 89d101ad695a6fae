//! How messages are encoded in bodies.

/// How messages are encoded in bodies.
///
/// The codec applies to the types that a build generates. Well-known types and those of
/// [`extern_path`](crate::Builder::extern_path) keep their own codec, even as requests and replies. Both ends of a call
/// need the same codec.
///
/// # Examples
///
/// ```no_run
/// // build.rs
/// use frpc_build::Codec;
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     frpc_build::configure().codec(Codec::Protobuf).compile_protos(&["proto/orders.proto"], &["proto"])?;
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// The Polyglot encoding, field by field, which Go's fRPC uses as well. It is the fastest codec, the only one with
    /// borrowed views, and the only one that Go peers understand. Fields can only be added at the end of a message.
    #[default]
    Polyglot,
    /// Protobuf's encoding, within one bytes value. Fields can be added, removed and reordered as protobuf allows. A
    /// peer that expects the other codec answers with an error.
    ///
    /// prost decodes these messages, which may nest 100 levels deep. The memory for lists, maps and boxes is computed
    /// from the body before it is decoded, and charged to the server's budget. A message that would take more than 64
    /// MiB, or more than twelve times its body if the body is longer than 5 MiB, is an error, as it is with Polyglot.
    /// Of types that this build has not generated (those of `extern_path`, and those of protobuf's `api.proto`,
    /// `type.proto` and `descriptor.proto`), only the elements of lists and maps are counted, not their content.
    Protobuf,
}

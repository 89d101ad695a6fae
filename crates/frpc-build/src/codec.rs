//! The encodings of messages in the bodies of calls.

/// The encoding of messages in the bodies of calls. A build generates codecs for it.
///
/// The codec applies to the types that a build generates. Well-known types and types of
/// [`extern_path`](crate::Builder::extern_path) keep their own codec, even as requests and replies. Both peers of a
/// call must use the same codec.
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
    /// The Polyglot encoding, which fRPC for Go also uses. It is the fastest codec, the only one with borrowed views,
    /// and the only one that Go peers support. Messages contain no field numbers, so native peers with different
    /// versions of a schema exchange descriptions of it and translate messages.
    #[default]
    Polyglot,
    /// Protobuf's encoding. The body of a call contains the encoded message as a single bytes value. Fields can be
    /// added, removed and reordered as protobuf allows. A peer that expects the other codec replies with an error.
    ///
    /// prost decodes these messages. The maximum nesting depth is 100. The memory for lists, maps and boxes is computed
    /// before decoding and charged to the server's budget. As with Polyglot, a message is rejected if it would take
    /// more than 64 MiB, or more than twelve times the size of its body if the body exceeds 5 MiB. For types that this
    /// build did not generate (types of `extern_path` and of protobuf's `api.proto`, `type.proto` and
    /// `descriptor.proto`), only the elements of lists and maps are counted, not their content.
    Protobuf,
}

//! How messages are encoded in bodies.

/// How messages stand in bodies.
///
/// The codec belongs to the types that a build generates: well-known types and those of `extern_path` have one already,
/// also where they are requests or replies, and both ends of a call need the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Codec {
    /// Field by field, as Go's fRPC does: the fastest, with borrowed views, and the only one that a Go peer
    /// understands. Fields can be added at the end only.
    #[default]
    Polyglot,
    /// As protobuf, in one bytes value: fields can be added, removed and reordered as protobuf allows. A peer that
    /// expects the other codec answers with an error.
    ///
    /// Messages are decoded by prost, for which they nest 100 levels deep at most. What their lists, maps and boxes
    /// take is counted before that and charged to the server's memory; a message for which it is more than 64 MiB, or
    /// twelve times its body if that is longer than 5 MiB, is an error, as it is with Polyglot. Of types that were not
    /// generated here, those of `extern_path` and of protobuf's api.proto, type.proto and descriptor.proto, only the
    /// elements themselves are counted and not what is in them.
    Protobuf,
}

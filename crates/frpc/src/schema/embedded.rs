//! The schema that generated code carries along, for reflection.

use std::fmt;

/// The schema of a package as its build has read it, embedded by frpc-build with `reflection(true)`. Generated code has it
/// as `SCHEMA`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Schema {
    files: &'static [u8],
    is_protobuf: bool,
}

impl Schema {
    /// Creates a schema of an encoded `google.protobuf.FileDescriptorSet`. For generated code.
    pub const fn new(files: &'static [u8]) -> Self {
        Self { files, is_protobuf: false }
    }

    /// States that messages are encoded by the protobuf codec. For generated code.
    #[must_use]
    pub const fn protobuf(self) -> Self {
        Self { is_protobuf: true, ..self }
    }

    /// The files with the services of the package, and all files that they import, each in front of those that import
    /// it: an encoded `google.protobuf.FileDescriptorSet`. It is as the build has read it, with comments and custom
    /// options.
    pub const fn files(&self) -> &'static [u8] {
        self.files
    }

    /// Whether native bodies are in protobuf's encoding instead of Polyglot's.
    pub const fn is_protobuf(&self) -> bool {
        self.is_protobuf
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("length", &self.files.len()).field("is_protobuf", &self.is_protobuf).finish()
    }
}

//! The schema embedded in generated code, for reflection.

use std::fmt;

/// The schema of a package, embedded by frpc-build with `reflection(true)` as the constant `SCHEMA`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Schema {
    files: &'static [u8],
    is_protobuf: bool,
}

impl Schema {
    /// Creates a schema from an encoded `google.protobuf.FileDescriptorSet`. For generated code.
    pub const fn new(files: &'static [u8]) -> Self {
        Self { files, is_protobuf: false }
    }

    /// Declares that messages use the protobuf codec. For generated code.
    #[must_use]
    pub const fn protobuf(self) -> Self {
        Self { is_protobuf: true, ..self }
    }

    /// Returns an encoded `google.protobuf.FileDescriptorSet` of the files with the services of the package and their
    /// imports, in dependency order. Comments and custom options are included unchanged.
    pub const fn files(&self) -> &'static [u8] {
        self.files
    }

    /// Returns whether native bodies use protobuf's encoding instead of Polyglot's.
    pub const fn is_protobuf(&self) -> bool {
        self.is_protobuf
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("length", &self.files.len()).field("is_protobuf", &self.is_protobuf).finish()
    }
}

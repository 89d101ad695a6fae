//! Schemas embedded in generated code, for reflection.

use std::fmt;

/// Embedded schema of a package. `frpc-build` generates it as the constant `SCHEMA` if `reflection(true)` is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Schema {
    files: &'static [u8],
    is_protobuf: bool,
}

impl Schema {
    /// Creates a schema from an encoded `google.protobuf.FileDescriptorSet`. Called by generated code.
    pub const fn new(files: &'static [u8]) -> Self {
        Self { files, is_protobuf: false }
    }

    /// Declares that the messages use the protobuf codec. Called by generated code.
    #[must_use]
    pub const fn protobuf(self) -> Self {
        Self { is_protobuf: true, ..self }
    }

    /// Returns an encoded `google.protobuf.FileDescriptorSet`. It contains the files with the services of the package
    /// and their imports, in dependency order, including comments and custom options.
    pub const fn files(&self) -> &'static [u8] {
        self.files
    }

    /// Returns whether the messages use the protobuf encoding rather than Polyglot.
    pub const fn is_protobuf(&self) -> bool {
        self.is_protobuf
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("length", &self.files.len()).field("is_protobuf", &self.is_protobuf).finish()
    }
}

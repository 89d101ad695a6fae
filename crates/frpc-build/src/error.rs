//! The error type of this crate. Each error is one sentence that starts with `file:line:column`, a form that editors
//! recognize.
//!
//! `schema/check.rs` and `schema/externs.rs` decide which constructs are rejected.

use std::fmt;

/// The reason why no code was generated.
///
/// The text starts with the position in the schema, if known: ``proto/echo.proto:7:3: message `A`: …``. `Debug` writes
/// the same text, because cargo shows it when `main` of a build script returns the error.
///
/// ```
/// let error = frpc_build::compile_protos("no/such/file.proto").unwrap_err();
/// assert!(error.to_string().contains("no/such/file.proto"));
/// assert_eq!(error.kind(), frpc_build::ErrorKind::Schema);
/// ```
pub struct Error {
    kind: ErrorKind,
    position: Option<SourcePosition>,
    text: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Broad category of an [`Error`], such as an invalid schema or option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The schema cannot be found or read, or it is not valid protobuf.
    Schema,
    /// The schema is valid but uses a feature that is not supported or cannot be expressed in Rust.
    Unsupported,
    /// An option of the [`Builder`](crate::Builder) conflicts with this schema or with another option.
    Option,
    /// The generated code cannot be written to disk.
    Output,
}

/// Position of an error in a `.proto` file. Lines and columns are 1-based; 0 means unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcePosition {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Error {
    /// Creates an error for use in a [back end](crate::backend::Backend). The text is one sentence without a full stop.
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kind, position: None, text: text.into(), source: None }
    }

    pub(crate) fn at(kind: ErrorKind, position: SourcePosition, text: impl Into<String>) -> Self {
        Self { kind, position: Some(position), text: text.into(), source: None }
    }

    pub(crate) fn unsupported(position: SourcePosition, text: impl Into<String>) -> Self {
        Self::at(ErrorKind::Unsupported, position, text)
    }

    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the category of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the `.proto` file that contains the error, if known.
    pub fn file(&self) -> Option<&str> {
        self.position.as_ref().map(|position| position.file.as_str())
    }

    /// Returns the 1-based line in [`file`](Self::file), if known.
    pub fn line(&self) -> Option<u32> {
        self.position.as_ref().map(|position| position.line).filter(|line| *line != 0)
    }

    /// Returns the 1-based column in [`line`](Self::line), if known.
    pub fn column(&self) -> Option<u32> {
        self.position.as_ref().map(|position| position.column).filter(|column| *column != 0)
    }
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line != 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(f, "{position}: ")?;
        }
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

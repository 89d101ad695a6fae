//! The error of this crate: one sentence that starts with `file:line:column`, so that editors can jump there.
//!
//! Which constructs are refused is decided in `schema/check.rs` and `schema/externs.rs`, not here.

use std::fmt;

/// The reason why no code was generated.
///
/// The text starts with a position in the schema if there is one: ``proto/echo.proto:7:3: message `A`: …``. `Debug`
/// writes the same text, because cargo shows that when `main` of a build script returns the error.
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

/// The cause of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The schema cannot be found or read, or is not valid protobuf.
    Schema,
    /// The schema is valid, but contains something that is not supported or cannot be expressed in Rust.
    Unsupported,
    /// An option of the [`Builder`](crate::Builder) cannot be used with this schema or with another option.
    Option,
    /// The output cannot be written.
    Output,
    /// The schema differs from its lock, or the lock cannot be read.
    Lock,
}

/// A position in a file. Lines and columns count from 1; 0 means that they are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcePosition {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Error {
    /// An error of a [back end](crate::backend::Backend): one sentence without a full stop.
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

    /// The cause.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The `.proto` file or lock with the error, if it was found in one.
    pub fn file(&self) -> Option<&str> {
        self.position.as_ref().map(|position| position.file.as_str())
    }

    /// The line in [`file`](Self::file), counted from 1, if it is known.
    pub fn line(&self) -> Option<u32> {
        self.position.as_ref().map(|position| position.line).filter(|line| *line != 0)
    }

    /// The column in [`line`](Self::line), counted from 1, if it is known.
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

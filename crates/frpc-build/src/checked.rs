//! The border between schema and generated code: a schema that has passed all checks, and the trait of the back ends that
//! generate from it.

use crate::codec::Codec;
use crate::error::{Error, ErrorKind};
use crate::lock::{self, LockOptions, Plan};
use crate::output::OutputFile;
use crate::schema::check::check;
use crate::schema::externs::Externs;
use crate::schema::{Index, Schema};

/// A supported schema with its types by name, and its methods and layouts on the wire.
pub(crate) struct Checked<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) index: Index<'a>,
    pub(crate) plan: Plan,
    codec: Codec,
}

impl<'a> Checked<'a> {
    /// Checks a schema, and compares it with its locks.
    pub(crate) fn new(
        schema: &'a Schema,
        externs: &Externs,
        locks: &LockOptions,
        warn: &mut dyn FnMut(String),
    ) -> Result<Self, Error> {
        let index = Index::new(&schema.files);
        check(schema, &index, externs)?;
        let plan = lock::plan(schema, &index, locks, warn)?;
        Ok(Self { schema, index, plan, codec: locks.codec })
    }

    /// Refuses a codec other than Polyglot, for a language that has no other.
    pub(crate) fn require_polyglot(&self, language: &str) -> Result<(), Error> {
        if self.codec == Codec::Polyglot {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Option, format!("{language} needs the Polyglot codec")))
    }
}

/// The output of a back end.
#[derive(Default)]
pub(crate) struct Files {
    /// Sorted by name.
    pub(crate) files: Vec<OutputFile>,
    pub(crate) warnings: Vec<String>,
}

/// Generates the code of one language, with its options.
pub(crate) trait Backend {
    /// Generates the files of a schema.
    fn emit(self, checked: &Checked<'_>) -> Result<Files, Error>;
}

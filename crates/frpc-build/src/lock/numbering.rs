//! What the user can say about operations.

use crate::error::{Error, ErrorKind};
use crate::schema::{OPERATION_FIRST, Schema};

/// How methods get their operations, the numbers by which they are called on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Numbering {
    /// In the order of declaration, one after the other through all services of a file. Only a method that is added
    /// behind the last one of the last service leaves the others where they are.
    ///
    /// The first file with methods counts from 10, as in Go; each of the others from the next multiple of 100 that
    /// leaves it a hundred operations of its own, so that the services of all files of a build can share a server. Files
    /// that were named for the build come before those that they import, both in the order of their names. A file keeps
    /// the operation from which the [schema lock](crate#the-schema-lock) has recorded it, whichever files come and go.
    /// Without a lock both ends of a call have to compile the same files.
    /// [`operation_base`](crate::Builder::operation_base) overrides all that.
    #[default]
    Sequential,
    /// As Go's generator does: like [`Sequential`](Self::Sequential), but every file counts from 10, unless it has an
    /// [`operation_base`](crate::Builder::operation_base). For files whose peers are written in Go, each on a server of
    /// its own, since services with equal operations cannot share one.
    Go,
    /// Methods keep the operation that the schema lock records, wherever they stand in the file; new ones get the next
    /// that no method recorded in the locks of the build has ever had. Files without a lock are numbered as by
    /// [`Sequential`](Self::Sequential).
    Lock,
}

/// The operations from which files count, by the names that the user wrote.
#[derive(Debug, Default)]
pub(crate) struct Bases(pub(crate) Vec<(String, u16)>);

impl Bases {
    /// Refuses bases for files that do not exist, and those that belong to the protocol.
    pub(crate) fn check(&self, schema: &Schema) -> Result<(), Error> {
        for (name, base) in &self.0 {
            if *base < OPERATION_FIRST {
                let text = format!(
                    "operation_base({name:?}, {base}): operations below {OPERATION_FIRST} are reserved for the protocol"
                );
                return Err(Error::new(ErrorKind::Option, text));
            }
            if !schema.files.iter().any(|file| is_called(file.name(), name)) {
                let text = format!("operation_base({name:?}, {base}): this build has no such file");
                return Err(Error::new(ErrorKind::Option, text));
            }
        }
        Ok(())
    }

    /// The operation from which the user has let a file count.
    pub(crate) fn of(&self, file: &str) -> Option<u16> {
        self.0.iter().rfind(|(name, _)| is_called(file, name)).map(|(_, base)| *base)
    }
}

/// Whether `name` is that of `file` or the end of it: `orders.proto` for `shop/orders.proto`.
fn is_called(file: &str, name: &str) -> bool {
    file.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

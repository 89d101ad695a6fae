//! The options for locks and operations.

use std::env;
use std::path::PathBuf;

use crate::codec::Codec;
use crate::error::{Error, ErrorKind};
use crate::schema::{OPERATION_FIRST, Schema};

/// The environment variable that lets a build write locks.
pub(crate) const VARIABLE: &str = "FRPC_UPDATE_LOCK";

/// Which changes of the schema a build records in its locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LockUpdate {
    /// None: every difference between schema and lock is an error.
    Never,
    /// Changes after which older peers still work. Also creates locks that do not exist.
    Safe,
    /// All changes, including those after which older peers are refused.
    Breaking,
}

impl LockUpdate {
    /// The value in the environment.
    fn from_environment() -> Result<Self, Error> {
        let Some(value) = env::var_os(VARIABLE) else { return Ok(Self::Never) };
        match value.to_str() {
            Some("" | "0") => Ok(Self::Never),
            Some("1") => Ok(Self::Safe),
            Some("breaking") => Ok(Self::Breaking),
            _ => {
                let text = format!("{VARIABLE} is {value:?}; it can be `1` or `breaking`");
                Err(Error::new(ErrorKind::Option, text))
            }
        }
    }
}

/// The options for locks and operations.
#[derive(Debug, Default)]
pub(crate) struct LockOptions {
    pub(crate) is_off: bool,
    /// The folder of all locks, if they are not next to the schema.
    pub(crate) folder: Option<PathBuf>,
    /// Overrides the environment.
    pub(crate) update: Option<LockUpdate>,
    pub(crate) numbering: Numbering,
    pub(crate) bases: OperationBases,
    /// Whether cargo runs the build.
    pub(crate) is_cargo: bool,
    /// Whether to report the files of the build to cargo.
    pub(crate) rerun_if_changed: bool,
    pub(crate) codec: Codec,
}

impl LockOptions {
    /// The changes that this build may record.
    pub(crate) fn update(&self) -> Result<LockUpdate, Error> {
        self.update.map_or_else(LockUpdate::from_environment, Ok)
    }

    /// A build that records more, as the subject of a sentence.
    pub(crate) fn recording_build(&self, update: LockUpdate) -> String {
        if self.update.is_some() {
            return format!("a build with `lock_update(LockUpdate::{update:?})`");
        }
        let value = if update == LockUpdate::Breaking { "breaking" } else { "1" };
        match self.is_cargo {
            true => format!("`{VARIABLE}={value} cargo build`"),
            false => format!("another run with `{VARIABLE}={value}` in its environment"),
        }
    }
}

/// How methods get their operations, the numbers that identify them on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Numbering {
    /// Methods are numbered in the order of declaration, through all services of a file. So a method that is inserted
    /// changes the operations of those after it; only one at the end of the file changes no other.
    ///
    /// The first file of a build counts from 10, as in Go. Each further file that declares methods counts from the
    /// lowest free multiple of 100, so that one server can serve all of them; the operations up to the next multiple
    /// are left for the file to grow. Files that the build names come before those that they import, both sorted by
    /// name. A file that the [schema lock](crate#the-schema-lock) records keeps its first operation when other files
    /// are added or removed. Without a lock, both ends of a call have to compile the same files.
    /// [`operation_base`](crate::Builder::operation_base) overrides all of this.
    #[default]
    Sequential,
    /// Go's rule: like [`Sequential`](Self::Sequential), but every file without an
    /// [`operation_base`](crate::Builder::operation_base) counts from 10. Services of two such files cannot share a
    /// server. Use this if a build has several files whose peers are written in Go.
    Go,
    /// Methods keep the operation that the schema lock records, so that they can be inserted and reordered. A new
    /// method gets the next operation that no method in the locks of the build has, or has ever had. Files without a
    /// lock are numbered like [`Sequential`](Self::Sequential).
    Lock,
}

/// The values of `operation_base`: names of files, as the user wrote them, with the first operation.
#[derive(Debug, Default)]
pub(crate) struct OperationBases(pub(crate) Vec<(String, u16)>);

impl OperationBases {
    /// Refuses bases for files that do not exist, and reserved operations.
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

    /// The base of a file, if it has one.
    pub(crate) fn of(&self, file: &str) -> Option<u16> {
        self.0.iter().rfind(|(name, _)| is_called(file, name)).map(|(_, base)| *base)
    }
}

/// Whether `name` is the name of `file` or the end of it, like `orders.proto` for `shop/orders.proto`.
fn is_called(file: &str, name: &str) -> bool {
    file.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

//! The options of locks and operations.

use std::env;
use std::path::PathBuf;

use crate::codec::Codec;
use crate::error::{Error, ErrorKind};
use crate::schema::{OPERATION_FIRST, Schema};

/// The environment variable that permits a build to write locks.
pub(crate) const VARIABLE: &str = "FRPC_UPDATE_LOCK";

/// The schema changes that a build records in its locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LockUpdate {
    /// No changes: every difference between schema and lock is an error.
    Never,
    /// Changes with which older peers continue to work. Missing locks are created as well.
    Safe,
    /// All changes, including those after which older peers are rejected.
    Breaking,
}

impl LockUpdate {
    /// Returns the value in the environment.
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

/// The options of locks and operations.
#[derive(Debug, Default)]
pub(crate) struct LockOptions {
    pub(crate) is_off: bool,
    /// The folder of all locks, if they are not next to the schema.
    pub(crate) folder: Option<PathBuf>,
    /// The changes to record, which overrides the environment.
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
    /// Returns the changes that this build may record.
    pub(crate) fn update(&self) -> Result<LockUpdate, Error> {
        self.update.map_or_else(LockUpdate::from_environment, Ok)
    }

    /// Returns the description of a build that records more, as the subject of a sentence.
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

/// How operations, which identify methods on the wire, are assigned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Numbering {
    /// Methods are numbered in the order of declaration, across all services of a file. An inserted method changes the
    /// operations of those after it. A method at the end of the file changes no others.
    ///
    /// The first file of a build counts from 10, as in Go. Each further file with methods counts from the lowest free
    /// multiple of 100, so that one server can serve all of them. The operations up to the next multiple are reserved
    /// for the file. Files named by the build precede those that they import, both sorted by name. A file in the
    /// [schema lock](crate#the-schema-lock) keeps its first operation when other files are added or removed. Without a
    /// lock, both ends of a call must compile the same files. [`operation_base`](crate::Builder::operation_base)
    /// overrides all of this.
    #[default]
    Sequential,
    /// The rule of Go: like [`Sequential`](Self::Sequential), but every file without an
    /// [`operation_base`](crate::Builder::operation_base) counts from 10. Services of two such files cannot share a
    /// server. Use this if a build has several files whose peers are written in Go.
    Go,
    /// Methods keep the operations recorded in the schema lock, so they can be inserted and reordered. A new method
    /// gets the next operation that no method in the locks of the build has or once had. Files without a lock are
    /// numbered like [`Sequential`](Self::Sequential).
    Lock,
}

/// The values of `operation_base`: file names as given by the user, with the first operation.
#[derive(Debug, Default)]
pub(crate) struct OperationBases(pub(crate) Vec<(String, u16)>);

impl OperationBases {
    /// Rejects bases of files that do not exist, and reserved operations.
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

    /// Returns the base of a file, if it has one.
    pub(crate) fn of(&self, file: &str) -> Option<u16> {
        self.0.iter().rfind(|(name, _)| is_called(file, name)).map(|(_, base)| *base)
    }
}

/// Returns whether `name` is the name of `file` or its last components, such as `orders.proto` for `shop/orders.proto`.
fn is_called(file: &str, name: &str) -> bool {
    file.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

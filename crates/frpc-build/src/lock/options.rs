//! The options for locks and operations.

use std::env;
use std::path::PathBuf;

use super::numbering::{Numbering, OperationBases};
use crate::codec::Codec;
use crate::error::{Error, ErrorKind};

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
    /// Whether cargo runs the build, as a build script.
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

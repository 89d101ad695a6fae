//! What the user says about locks and numbers.

use std::env;
use std::path::PathBuf;

use super::numbering::{Bases, Numbering};
use crate::codec::Codec;
use crate::error::{Error, ErrorKind};

/// The variable that allows a build to write locks.
pub(crate) const VARIABLE: &str = "FRPC_UPDATE_LOCK";

/// What of a change of the schema is recorded in its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LockUpdate {
    /// Nothing: a change that is not recorded is an error.
    Never,
    /// Changes that leave older peers working. Also writes a lock where there is none yet.
    Safe,
    /// All changes.
    Breaking,
}

impl LockUpdate {
    /// What the environment says.
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

/// What the user has said about locks and numbers.
#[derive(Debug)]
pub(crate) struct LockOptions {
    pub(crate) is_on: bool,
    /// Where all locks are, instead of beside the schema.
    pub(crate) folder: Option<PathBuf>,
    /// Instead of what the environment says.
    pub(crate) update: Option<LockUpdate>,
    pub(crate) numbering: Numbering,
    pub(crate) bases: Bases,
    /// Whether this is a build script, which cargo runs.
    pub(crate) is_cargo: bool,
    /// Whether to tell cargo what the build depends on.
    pub(crate) asks_cargo: bool,
    pub(crate) codec: Codec,
}

impl Default for LockOptions {
    fn default() -> Self {
        Self {
            is_on: true,
            folder: None,
            update: None,
            numbering: Numbering::default(),
            bases: Bases::default(),
            is_cargo: false,
            asks_cargo: false,
            codec: Codec::default(),
        }
    }
}

impl LockOptions {
    /// What this build may record.
    pub(crate) fn update(&self) -> Result<LockUpdate, Error> {
        self.update.map_or_else(LockUpdate::from_environment, Ok)
    }

    /// The build that would record more, as the subject of a sentence.
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

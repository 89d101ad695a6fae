//! Limits and times from a file or the environment, and what they are in effect.

mod builders;
#[cfg(feature = "serde")]
mod file;
mod value;

use std::ffi::OsString;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;
pub use value::{Kind, Value};

/// Values for the settings of a builder, by name: from the environment, with the feature `serde` from a file, or from
/// anything else that has names and texts.
///
/// The names are those of the builder's methods, and of [`Config`](crate::Config)'s fields. Times are written with a
/// unit, as in `5s`, `250ms` or `2min`; sizes in bytes, or with a unit as in `64KiB` or `16MiB`. A name that does not
/// exist is an error that says which one is near, and so is a value out of range.
///
/// ```
/// use frisbee::{Server, ServerSettings};
/// use std::time::Duration;
///
/// let mut settings = ServerSettings::new();
/// settings.set("idle_timeout", "30s")?;
/// settings.set("body_max", "64KiB")?;
/// let builder = Server::builder().settings(&settings)?;
/// assert!(builder.describe().to_string().contains("idle_timeout = \"30s\""));
///
/// let error = settings.set("idle_timout", "30s").expect_err("there is no such setting");
/// assert_eq!(error.to_string(), "there is no setting \"idle_timout\"; did you mean \"idle_timeout\"?");
/// # Ok::<(), frisbee::SettingError>(())
/// ```
pub struct Settings<T> {
    /// Settings by their place in the table of `T`, and their values.
    values: Vec<(&'static str, Value)>,
    of: std::marker::PhantomData<fn(T)>,
}

/// Values for the settings of a [`ServerBuilder`](crate::ServerBuilder).
pub type ServerSettings = Settings<crate::ServerBuilder>;

/// Values for the settings of a [`ClientBuilder`](crate::ClientBuilder).
pub type ClientSettings = Settings<crate::ClientBuilder>;

/// What has settings: a builder.
pub trait Configurable: Sized + 'static {
    /// As it is unless told otherwise.
    #[doc(hidden)]
    fn blank() -> Self;

    /// All settings.
    #[doc(hidden)]
    fn table() -> Vec<Setting<Self>>;

    /// What is wrong with the values together.
    #[doc(hidden)]
    fn check(&self) -> Result<(), String>;
}

type Get<T> = Box<dyn Fn(&T) -> Value>;
type Set<T> = Box<dyn Fn(&mut T, &Value) -> Result<(), String>>;

/// One setting of a builder.
pub struct Setting<T> {
    name: &'static str,
    kind: Kind,
    get: Get<T>,
    set: Set<T>,
}

impl<T: Configurable> Setting<T> {
    /// A time; whether it may be zero.
    pub fn time(
        name: &'static str,
        may_be_zero: bool,
        get: impl Fn(&T) -> Duration + 'static,
        set: impl Fn(T, Duration) -> T + 'static,
    ) -> Self {
        let set: Set<T> = Box::new(move |target, value| match value {
            Value::Time(Duration::ZERO) if !may_be_zero => Err("this has to be longer than no time at all".into()),
            Value::Time(time) => {
                replace(target, |target| set(target, *time));
                Ok(())
            }
            other => Err(format!("{other} is not a time")),
        });
        Self { name, kind: Kind::Time, get: Box::new(move |target| Value::Time(get(target))), set }
    }

    /// A size in bytes, or a count, that has to be in `range`.
    pub fn number(
        name: &'static str,
        kind: Kind,
        range: RangeInclusive<u64>,
        get: impl Fn(&T) -> u64 + 'static,
        set: impl Fn(T, u64) -> T + 'static,
    ) -> Self {
        let make = if kind == Kind::Size { Value::Size } else { Value::Count };
        let set: Set<T> = Box::new(move |target, value| {
            let (Value::Size(number) | Value::Count(number)) = *value else {
                return Err(format!("{value} is not a number"));
            };
            if !range.contains(&number) {
                return Err(format!("this has to be {} to {}", make(*range.start()), make(*range.end())));
            }
            replace(target, |target| set(target, number));
            Ok(())
        });
        Self { name, kind, get: Box::new(move |target| make(get(target))), set }
    }

    /// `true` or `false`.
    pub fn flag(name: &'static str, get: impl Fn(&T) -> bool + 'static, set: impl Fn(T, bool) -> T + 'static) -> Self {
        let set: Set<T> = Box::new(move |target, value| match value {
            Value::Flag(flag) => {
                replace(target, |target| set(target, *flag));
                Ok(())
            }
            other => Err(format!("{other} is neither true nor false")),
        });
        Self { name, kind: Kind::Flag, get: Box::new(move |target| Value::Flag(get(target))), set }
    }

    /// A word that `read` understands.
    pub fn word<W>(
        name: &'static str,
        get: impl Fn(&T) -> String + 'static,
        read: impl Fn(&str) -> Result<W, String> + 'static,
        set: impl Fn(T, W) -> T + 'static,
    ) -> Self {
        let set: Set<T> = Box::new(move |target, value| {
            let word = match value {
                Value::Word(word) => read(word)?,
                other => return Err(format!("{other} is no word")),
            };
            replace(target, |target| set(target, word));
            Ok(())
        });
        Self { name, kind: Kind::Word, get: Box::new(move |target| Value::Word(get(target))), set }
    }

    /// The setting of something that has this as a part.
    pub fn of<U: Configurable>(self, part: fn(&U) -> &T, part_mut: fn(&mut U) -> &mut T) -> Setting<U> {
        let Self { name, kind, get, set } = self;
        Setting {
            name,
            kind,
            get: Box::new(move |whole| get(part(whole))),
            set: Box::new(move |whole, value| set(part_mut(whole), value)),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// Lets a setter that consumes a builder change one in place.
fn replace<T: Configurable>(target: &mut T, change: impl FnOnce(T) -> T) {
    let taken = std::mem::replace(target, T::blank());
    *target = change(taken);
}

impl<T: Configurable> Settings<T> {
    /// No values: every setting keeps its default.
    pub fn new() -> Self {
        Self { values: Vec::new(), of: std::marker::PhantomData }
    }

    /// Values from the environment: `prefix` and the name of a setting, in capitals. With the prefix `SHOP_` the
    /// variable `SHOP_IDLE_TIMEOUT` sets `idle_timeout`.
    ///
    /// The prefix should belong to the program: every variable that begins with it has to be a setting.
    ///
    /// # Errors
    /// If a variable names no setting, or its value is not one that the setting can have.
    pub fn from_env(prefix: &str) -> Result<Self, SettingError> {
        Self::from_vars(prefix, std::env::vars_os())
    }

    /// As [`from_env`](Self::from_env), with variables from elsewhere.
    ///
    /// # Errors
    /// As there.
    pub fn from_vars<N, V>(prefix: &str, variables: impl IntoIterator<Item = (N, V)>) -> Result<Self, SettingError>
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let mut settings = Self::new();
        for (variable, value) in variables {
            // A name that is no text has no prefix that is one.
            let Ok(variable) = variable.into().into_string() else { continue };
            let Some(name) = variable.strip_prefix(prefix) else { continue };
            let value = value.into().into_string().map_err(|value| SettingError::Invalid {
                name: variable.clone(),
                value: value.to_string_lossy().into_owned(),
                reason: "this is not UTF-8".into(),
            })?;
            settings.set(&name.to_ascii_lowercase(), &value).map_err(|error| error.about(&variable, prefix))?;
        }
        Ok(settings)
    }

    /// Sets a value. An earlier one is replaced.
    ///
    /// # Errors
    /// If there is no such setting, or it cannot have this value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let mut table = T::table();
        let Some(at) = table.iter().position(|setting| setting.name == name) else {
            let names: Vec<_> = table.iter().map(|setting| setting.name).collect();
            return Err(SettingError::Unknown { name: name.to_owned(), nearest: nearest(name, &names) });
        };
        let setting = table.swap_remove(at);
        let parsed = setting.kind.parse(value).and_then(|parsed| {
            // Whether it can have the value shows when one gets it.
            (setting.set)(&mut T::blank(), &parsed).map(|()| parsed)
        });
        let invalid = |reason| SettingError::Invalid { name: name.to_owned(), value: value.to_owned(), reason };
        let parsed = parsed.map_err(invalid)?;
        self.values.retain(|(name, _)| *name != setting.name);
        self.values.push((setting.name, parsed));
        Ok(())
    }

    /// Sets those that have values here; for the method `settings` of builders.
    #[doc(hidden)]
    pub fn apply(&self, mut target: T) -> Result<T, SettingError> {
        let table = T::table();
        for (name, value) in &self.values {
            let setting = table.iter().find(|setting| setting.name == *name);
            let set = setting.map_or(Ok(()), |setting| (setting.set)(&mut target, value));
            let invalid = |reason| SettingError::Invalid { name: (*name).into(), value: value.to_string(), reason };
            set.map_err(invalid)?;
        }
        target.check().map_err(SettingError::Conflict)?;
        Ok(target)
    }
}

impl<T: Configurable> Default for Settings<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for Settings<T> {
    fn clone(&self) -> Self {
        Self { values: self.values.clone(), of: std::marker::PhantomData }
    }
}

impl<T> fmt::Debug for Settings<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.values.iter().map(|(name, value)| (name, value))).finish()
    }
}

/// All settings of a builder as they are in effect, one on a line, as TOML writes them. With `{:#}` they stand on one
/// line, for logs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Effective(Vec<(&'static str, Value)>);

impl Effective {
    /// Those of a builder.
    #[doc(hidden)]
    pub fn of<T: Configurable>(target: &T) -> Self {
        Self(T::table().into_iter().map(|setting| (setting.name, (setting.get)(target))).collect())
    }
}

impl fmt::Display for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(if f.alternate() { ", " } else { "\n" })?;
            }
            write!(f, "{name} = {value}")?;
        }
        Ok(())
    }
}

/// Why values are no settings.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SettingError {
    /// There is no setting of this name.
    Unknown {
        /// The name, or the variable of the environment.
        name: String,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// The setting cannot have this value.
    Invalid {
        /// The name, or the variable of the environment.
        name: String,
        /// The value.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Two settings contradict each other.
    Conflict(String),
}

impl SettingError {
    /// The same about a variable.
    fn about(self, variable: &str, prefix: &str) -> Self {
        let name = variable.to_owned();
        match self {
            Self::Unknown { nearest, .. } => {
                let nearest = nearest.map(|nearest| format!("{prefix}{}", nearest.to_ascii_uppercase()));
                Self::Unknown { name, nearest }
            }
            Self::Invalid { value, reason, .. } => Self::Invalid { name, value, reason },
            Self::Conflict(text) => Self::Conflict(text),
        }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, nearest: Some(nearest) } => {
                write!(f, "there is no setting {name:?}; did you mean {nearest:?}?")
            }
            Self::Unknown { name, nearest: None } => {
                write!(f, "there is no setting {name:?}; `describe` of the builder lists them")
            }
            Self::Invalid { name, value, reason } => write!(f, "{name} = {value:?}: {reason}"),
            Self::Conflict(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for SettingError {}

/// The name that differs least, unless more than a third of its letters do.
fn nearest(name: &str, names: &[&str]) -> Option<String> {
    let distances = names.iter().map(|known| (distance(name, known), known));
    let (distance, known) = distances.min()?;
    (distance * 3 <= known.len()).then(|| (*known).to_owned())
}

/// How many letters have to be put in, taken out or replaced. Of long names only the beginning counts.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, candidate) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *candidate);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests;

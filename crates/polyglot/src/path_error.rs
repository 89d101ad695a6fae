//! [`PathError`]: an error with a reason and the path of fields to the invalid value.
//!
//! The error is as small as a pointer, which keeps results small on the hot path. All functions that construct errors
//! are cold.

use std::borrow::Cow;
use std::fmt;

/// An encoding or decoding error: a reason `R`, and the path of fields to the value. Decoding errors also contain the
/// `Offset` of the value in the input, which is `()` for encoding errors.
///
/// The errors [`DecodeError`](crate::DecodeError) and [`EncodeError`](crate::EncodeError), and the errors of the crate
/// `frpc-json`, are instances of this type.
///
/// ```
/// use polyglot::{DecodeReason, Decoder, Kind};
///
/// let error = Decoder::new(&[0x0a, 0x01]).i32().unwrap_err();
/// assert_eq!(error.reason(), &DecodeReason::WrongKind { expected: Kind::I32, found: 0x0a });
/// assert_eq!(error.offset(), 0);
/// assert_eq!((error.field(), error.message()), (String::new(), None), "the value is no field");
/// assert_eq!(error.to_string(), "at byte 0: i32 expected, found u32");
/// ```
pub struct PathError<R, Offset>(Box<Inner<R, Offset>>);

struct Inner<R, Offset> {
    reason: R,
    offset: Offset,
    path: Path,
}

impl<R> PathError<R, usize> {
    /// Creates an error for the value that could not be decoded at this offset of the input.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    #[must_use]
    pub fn new(reason: R, offset: usize) -> Self {
        Self(Box::new(Inner { reason, offset, path: Path::default() }))
    }

    /// Returns the offset of the invalid value in the input, in bytes.
    ///
    /// ```
    /// let error = polyglot::Decoder::new(&[7, 2]).bool().expect_err("2 should not decode as a bool");
    /// assert_eq!(error.offset(), 0);
    /// ```
    #[must_use]
    pub fn offset(&self) -> usize {
        self.0.offset
    }
}

impl<R> PathError<R, ()> {
    /// Creates an error for a value that could not be encoded. It has no offset.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    #[must_use]
    pub fn new(reason: R) -> Self {
        Self(Box::new(Inner { reason, offset: (), path: Path::default() }))
    }
}

impl<R, Offset> PathError<R, Offset> {
    /// Returns the reason why the value could not be encoded or decoded.
    #[must_use]
    pub fn reason(&self) -> &R {
        &self.0.reason
    }

    /// Returns the path of fields that leads to the value, such as `orders[3].customer.name` or `prices["apple"]`. The
    /// path is empty if the value does not belong to a field.
    #[must_use]
    pub fn field(&self) -> String {
        self.0.path.to_string()
    }

    /// Returns the full name of the outermost message, if it is known.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.0.path.message.as_deref()
    }

    /// Prepends the name of an enclosing field to the path.
    #[doc(hidden)]
    #[must_use]
    pub fn in_field(self, name: impl Into<Cow<'static, str>>) -> Self {
        self.within(Step::Field(name.into()))
    }

    /// Prepends an index of an enclosing list to the path.
    #[doc(hidden)]
    #[must_use]
    pub fn in_element(self, index: usize) -> Self {
        self.within(Step::Element(index))
    }

    /// Prepends a key of an enclosing map to the path.
    #[doc(hidden)]
    #[must_use]
    pub fn in_entry(self, key: impl Into<String>) -> Self {
        self.within(Step::Entry(key.into()))
    }

    /// Sets the name of the outermost message, for use in the error text.
    #[doc(hidden)]
    #[must_use]
    pub fn in_message(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.0.path.message = Some(name.into());
        self
    }

    #[cold]
    #[inline(never)]
    fn within(mut self, step: Step) -> Self {
        self.0.path.steps.push(step);
        self
    }
}

impl<R: fmt::Display> fmt::Display for PathError<R, usize> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { reason, offset, path } = &*self.0;
        path.write_position(f)?;
        let space = if path.is_empty() { "" } else { " " };
        write!(f, "{space}at byte {offset}: {reason}")
    }
}

impl<R: fmt::Display> fmt::Display for PathError<R, ()> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { reason, offset: (), path } = &*self.0;
        path.write_position(f)?;
        let colon = if path.is_empty() { "" } else { ": " };
        write!(f, "{colon}{reason}")
    }
}

impl<R: fmt::Debug, Offset: fmt::Debug> fmt::Debug for PathError<R, Offset> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathError")
            .field("reason", self.reason())
            .field("offset", &self.0.offset)
            .field("message", &self.message())
            .field("field", &self.field())
            .finish()
    }
}

impl<R, Offset: fmt::Debug> std::error::Error for PathError<R, Offset>
where
    R: fmt::Debug,
    Self: fmt::Display,
{
}

/// Path of fields that leads to a value. Its steps are stored innermost first, because they are added while an error
/// propagates outwards.
#[derive(Default)]
struct Path {
    steps: Vec<Step>,
    message: Option<Cow<'static, str>>,
}

enum Step {
    Field(Cow<'static, str>),
    Element(usize),
    Entry(String),
}

/// Maximum number of steps that are displayed at each end of a long field path.
const SHOWN: usize = 6;

impl Path {
    fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.message.is_none()
    }

    fn write_position(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.steps.is_empty(), &self.message) {
            (true, None) => Ok(()),
            (true, Some(message)) => write!(f, "in `{message}`"),
            (false, None) => write!(f, "in field `{}`", ShortPath(self)),
            (false, Some(message)) => write!(f, "in field `{}` of `{message}`", ShortPath(self)),
        }
    }

    /// Formats `count` steps of the path, outermost first, after skipping the `skipped` outermost ones.
    fn write_steps(&self, f: &mut fmt::Formatter<'_>, skipped: usize, count: usize) -> fmt::Result {
        for (position, step) in self.steps.iter().rev().enumerate().skip(skipped).take(count) {
            match step {
                Step::Field(name) if position == 0 => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Element(index) => write!(f, "[{index}]")?,
                Step::Entry(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_steps(f, 0, self.steps.len())
    }
}

/// Displays a field path, omitting the middle part of a long path. If messages are nested too deeply, the path has
/// about 100 steps.
struct ShortPath<'a>(&'a Path);

impl fmt::Display for ShortPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = self.0.steps.len();
        match steps.checked_sub(2 * SHOWN).filter(|left_out| *left_out > 1) {
            None => self.0.fmt(f),
            Some(left_out) => {
                self.0.write_steps(f, 0, SHOWN)?;
                write!(f, "... {left_out} more ...")?;
                self.0.write_steps(f, steps.saturating_sub(SHOWN), SHOWN)
            }
        }
    }
}

//! Layouts of messages that are stored or published. Such messages contain the fingerprint of their layout.

use super::{Description, Fingerprint, Limits, Plan, Root};
use crate::{Form, Message};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// First byte of a stored body that states its layout. It is followed by the 16 bytes of the layout's fingerprint, and
/// then by the message.
const MARK: u8 = 0x12;

/// Maximum number of versions that a reader learns from descriptions. Beyond this, a new version replaces the oldest.
const LEARNED_MAX: usize = 64;

/// Wire layout of a message type, which [`Message::LAYOUT`] contains. Created by generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLayout {
    fingerprint: Fingerprint,
    description: &'static [u8],
    names: &'static str,
}

impl MessageLayout {
    /// Creates a layout from an encoded [`Description`], its fingerprint, and the names of its types and fields.
    #[must_use]
    pub const fn new(fingerprint: u128, description: &'static [u8], names: &'static str) -> Self {
        Self { fingerprint: Fingerprint::new(fingerprint.to_be_bytes()), description, names }
    }

    /// Returns the fingerprint of the message's layout.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the encoded [`Description`] of the layout.
    #[must_use]
    pub const fn description(&self) -> &'static [u8] {
        self.description
    }

    /// Writes the mark that states the layout of the stored body after it: a marker byte, and the fingerprint of this
    /// layout.
    pub fn put_mark(&self, body: &mut Vec<u8>) {
        body.push(MARK);
        body.extend_from_slice(&self.fingerprint.bytes());
    }
}

/// Splits a stored body into the fingerprint of its layout and the message. The fingerprint is `None` if the body has
/// no mark. Returns `None` if the mark is truncated.
///
/// ```
/// use polyglot::layout::{MessageLayout, split_mark};
///
/// let mut body = Vec::new();
/// MessageLayout::new(7, b"", "").put_mark(&mut body);
/// body.push(0);
/// let (fingerprint, rest) = split_mark(&body).expect("layout mark should not be truncated");
/// assert_eq!(fingerprint.expect("body should start with the mark of its layout").bytes()[15], 7);
/// assert_eq!(rest, [0]);
/// assert!(split_mark(&body[..9]).is_none());
/// ```
#[must_use]
pub fn split_mark(body: &[u8]) -> Option<(Option<Fingerprint>, &[u8])> {
    let Some((&MARK, rest)) = body.split_first() else { return Some((None, body)) };
    let (fingerprint, rest) = rest.split_first_chunk()?;
    Some((Some(Fingerprint::new(*fingerprint)), rest))
}

/// Reads stored bodies of the message `M`. Bodies that were written with other versions of the message are translated
/// to the current layout.
#[derive(Clone, Debug, Default)]
pub struct MessageReader {
    others: Vec<(Fingerprint, Arc<VersionPlan>)>,
    learned: VecDeque<(Fingerprint, Arc<VersionPlan>)>,
}

/// Plan for translating messages of another version, or the reason why that version cannot be translated.
type VersionPlan = Result<(Plan, Option<Root>), String>;

/// Error returned when a stored body is malformed or its version of the message cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredError {
    text: String,
    unknown: Option<Fingerprint>,
}

impl StoredError {
    /// Returns the fingerprint of the body's layout if the reader does not know the layout. [`MessageReader::learn`]
    /// adds it.
    #[must_use]
    pub fn unknown_layout(&self) -> Option<Fingerprint> {
        self.unknown
    }
}

impl fmt::Display for StoredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for StoredError {}

impl MessageReader {
    /// Adds `Old` as another version of the message `M`. If a field of that version is incompatible, reading its bodies
    /// fails.
    ///
    /// Fails to compile unless both types have a [`LAYOUT`](Message::LAYOUT).
    pub fn add<M: Message, Old: Message>(&mut self) {
        const { assert!(M::LAYOUT.is_some() && Old::LAYOUT.is_some(), "both types should have a layout") };
        if let (Some(own), Some(old)) = (M::LAYOUT, Old::LAYOUT) {
            self.others.push((old.fingerprint, plan(old.description, old.fingerprint, own).into()));
        }
    }

    /// Adds the version of `M` with this encoded description, such as one that a broker has sent. Bodies of that
    /// version are refused if the description is malformed.
    ///
    /// The reader keeps the last 64 versions. Does nothing unless `M` has a [`LAYOUT`](Message::LAYOUT).
    pub fn learn<M: Message>(&mut self, description: &[u8]) {
        let Some(own) = M::LAYOUT else { return };
        if self.learned.len() >= LEARNED_MAX {
            self.learned.pop_front();
        }
        let fingerprint = Fingerprint::of(description);
        self.learned.push_back((fingerprint, plan(description, fingerprint, own).into()));
    }

    /// Returns a body of `M` without the fingerprint of its layout. Translates the body first if it was written by a
    /// version that was added.
    ///
    /// # Errors
    ///
    /// If the body has an unknown or incompatible layout, or its translation fails.
    pub fn read<'a, M: Message>(&self, body: &'a [u8], limits: Limits) -> Result<Cow<'a, [u8]>, StoredError> {
        let error = |reason: String| StoredError { text: format!("not a valid {}: {reason}", M::NAME), unknown: None };
        let refused = |reason| Err(error(reason));
        let Some((mark, rest)) = split_mark(body) else { return refused("its fingerprint is incomplete".to_owned()) };
        let Some(fingerprint) = mark else { return Ok(rest.into()) };
        let Some(own) = M::LAYOUT else {
            return refused(format!("its layout is {fingerprint}, and the reader was generated without a layout"));
        };
        if own.fingerprint == fingerprint {
            return Ok(rest.into());
        }
        let Some((_, plan)) = self.others.iter().chain(&self.learned).find(|(other, _)| *other == fingerprint) else {
            let unread = error(format!("its layout is {fingerprint}, a version that the reader does not know"));
            return Err(StoredError { unknown: Some(fingerprint), ..unread });
        };
        let (plan, root) = match &**plan {
            Ok((plan, Some(root))) => (plan, *root),
            Ok((_, None)) => return Ok(rest.into()),
            Err(problem) => return refused(problem.clone()),
        };
        let mut out = Vec::with_capacity(rest.len());
        match plan.translate(root, rest, &mut out, limits) {
            Ok(_) => Ok(out.into()),
            Err(error) => refused(format!("from the layout {fingerprint}: {error}")),
        }
    }
}

/// Creates the plan for translating bodies of another version.
fn plan(old: &[u8], fingerprint: Fingerprint, own: &MessageLayout) -> VersionPlan {
    let parse = |description: &[u8]| Description::parse(description).map_err(|error| error.to_string());
    let (from, to) = (parse(old)?, parse(own.description)?);
    let plan = Plan::new(&from, &to, &[(0, 0)], Form::Extended).map_err(|error| error.to_string())?;
    let root = plan.root(0, 0).map_err(|refusal| refusal.describe(&to, own.names, false, fingerprint))?;
    Ok((plan, root))
}

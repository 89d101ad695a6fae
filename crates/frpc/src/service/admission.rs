//! Admission of a call: its deadline and the rules of this end, before its request is decoded. All kinds of calls pass
//! here.

use crate::access::Rule;
use crate::access::visitor::Visitor;
use crate::api::extras::{Extras, Held};
use crate::schema::method::Method;
use crate::service::failures::nobody_waits;
use crate::wire::prefix::Prefix;
use crate::{Status, deadline};
use std::sync::Arc;
use std::time::Instant;

/// Admits a call by its options, and notes in them until when. Calls without options are admitted for as long as their
/// connection lives, unless a rule requires a token.
#[inline]
pub(crate) fn admit(guard: Option<&Guard>, options: &mut Option<Box<Prefix>>) -> Result<(), Status> {
    if options.is_none() && guard.is_none_or(|guard| guard.is_open) {
        return Ok(());
    }
    admit_by(guard, options.get_or_insert_default())
}

#[cold]
fn admit_by(guard: Option<&Guard>, options: &mut Prefix) -> Result<(), Status> {
    if options.timeout.is_some_and(|timeout| timeout.is_zero()) {
        return Err(nobody_waits());
    }
    options.memory = Extras::metadata(options.extras.as_deref()).memory();
    if let Some(guard) = guard {
        options.expires = guard.admit(&mut options.extras)?;
    }
    options.deadline = options.timeout.and_then(|timeout| deadline::now().checked_add(timeout));
    Ok(())
}

/// The rules of one method for the peer of one connection.
#[derive(Clone)]
pub(crate) struct Guard {
    visitor: Arc<Visitor>,
    rule: Option<Rule>,
    method: Method,
    /// Calls without options are admitted for as long as the connection lives.
    is_open: bool,
}

impl Guard {
    pub(crate) fn new(visitor: &Arc<Visitor>, rule: Option<Rule>, method: Method) -> Self {
        Self { is_open: visitor.is_open(rule), visitor: visitor.clone(), rule, method }
    }

    /// Admits a call by its metadata, to which the principal of its token is added. Returns when that expires.
    fn admit(&self, extras: &mut Held) -> Result<Option<Instant>, Status> {
        let admitted = self.visitor.admit(self.rule, &self.method, Extras::metadata(extras.as_deref()))?;
        if let Some(bearer) = admitted.bearer {
            Extras::extensions_mut(extras).insert(bearer);
        }
        Ok(admitted.expires)
    }
}

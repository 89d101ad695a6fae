//! Admission of a call: its deadline and the rules of this end, before its request is decoded. All kinds of calls pass
//! here.

use crate::access::Rule;
use crate::access::visitor::Visitor;
use crate::api::extras::{Extras, Held};
use crate::observe::TraceContext;
use crate::schema::method::Method;
use crate::service::failures::nobody_waits;
use crate::wire::prefix::Prefix;
use crate::{Status, deadline};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The terms of a call that is admitted.
#[derive(Default)]
pub(crate) struct Terms {
    pub(crate) timeout: Option<Duration>,
    pub(crate) deadline: Option<Instant>,
    /// The place in a trace that the request came with.
    pub(crate) trace: Option<TraceContext>,
    /// The metadata, and the principal of a token in it.
    pub(crate) extras: Held,
    /// When the rules no longer admit the caller.
    pub(crate) expires: Option<Instant>,
    /// The approximate memory of the metadata, in bytes.
    pub(crate) memory: usize,
}

impl Terms {
    /// Admits a call by its options, or says why not.
    #[inline]
    pub(crate) fn admit(guard: Option<&Guard>, options: Option<Box<Prefix>>) -> Result<Self, Status> {
        match (options, guard) {
            (None, None) => Ok(Self::default()),
            (None, Some(guard)) if guard.is_open => Ok(Self::default()),
            (options, guard) => Self::admit_by(guard, options),
        }
    }

    #[inline(never)]
    fn admit_by(guard: Option<&Guard>, options: Option<Box<Prefix>>) -> Result<Self, Status> {
        let Prefix { timeout, mut extras, trace, .. } = options.map(|options| *options).unwrap_or_default();
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(nobody_waits());
        }
        let memory = Extras::metadata(extras.as_deref()).memory();
        let expires = match guard {
            Some(guard) => guard.admit(&mut extras)?,
            None => None,
        };
        let deadline = timeout.and_then(|timeout| deadline::now().checked_add(timeout));
        Ok(Self { timeout, deadline, trace, extras, expires, memory })
    }
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

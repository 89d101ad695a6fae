//! Admission of a call: its deadline and the rules of this end, before its request is decoded. All kinds of calls pass
//! here.

use crate::api::authorize::PeerRules;
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
    /// The metadata, and the principal of the call.
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
    rules: Arc<dyn PeerRules>,
    rule: Option<usize>,
    method: Method,
    /// Calls without options are admitted for as long as the connection lives.
    is_open: bool,
}

impl Guard {
    pub(crate) fn new(rules: &Arc<dyn PeerRules>, rule: Option<usize>, method: Method) -> Self {
        Self { is_open: rules.is_open(rule), rules: rules.clone(), rule, method }
    }

    /// Admits a call by its metadata, and adds its principal to the extensions. Returns the end of the admission.
    fn admit(&self, extras: &mut Held) -> Result<Option<Instant>, Status> {
        let admitted = self.rules.admit(self.rule, &self.method, Extras::metadata(extras.as_deref()))?;
        if let Some(principal) = admitted.principal {
            Extras::extensions_mut(extras).insert(principal);
        }
        Ok(admitted.expires)
    }
}

//! Admission of calls: the deadline and the access rules are checked before the request is decoded.

use crate::api::authorize::PeerRules;
use crate::api::extras::{Extras, OptionalExtras};
use crate::api::metadata::Metadata;
use crate::schema::method::Method;
use crate::service::failures::caller_gone;
use crate::wire::prefix::Prefix;
use crate::{Status, clock};
use std::sync::Arc;
use std::time::Instant;

/// Authorizes a call, and stores its deadline and the expiry of its authorization in `options`. A call without options
/// needs no check if the access rules always allow the calls of its method without metadata.
pub(crate) fn admit(guard: Option<&Guard>, options: &mut Option<Box<Prefix>>) -> Result<(), Status> {
    if options.is_none() && guard.is_none_or(|guard| guard.is_open) {
        return Ok(());
    }
    admit_by(guard, options.get_or_insert_default())
}

#[cold]
fn admit_by(guard: Option<&Guard>, options: &mut Prefix) -> Result<(), Status> {
    if options.timeout.is_some_and(|timeout| timeout.is_zero()) {
        return Err(caller_gone());
    }
    options.memory = Extras::metadata(options.extras.as_deref()).memory();
    if let Some(guard) = guard {
        options.expires = guard.admit(&mut options.extras)?;
    }
    options.deadline = clock::after(options.timeout);
    Ok(())
}

/// The access rule of a method for the peer of one connection.
#[derive(Clone)]
pub(crate) struct Guard {
    rules: Arc<dyn PeerRules>,
    rule: Option<usize>,
    method: Method,
    /// Whether all calls without metadata are allowed without another check while the connection is open.
    pub(crate) is_open: bool,
}

impl Guard {
    pub(crate) fn new(rules: &Arc<dyn PeerRules>, rule: Option<usize>, method: Method) -> Self {
        Self { is_open: rules.is_open(rule), rules: rules.clone(), rule, method }
    }

    /// Authorizes a call by its metadata and adds the resulting values, such as the caller's identity, to its
    /// extensions. Returns the time at which the authorization expires, if any.
    fn admit(&self, extras: &mut OptionalExtras) -> Result<Option<Instant>, Status> {
        let admitted = self.rules.admit(self.rule, &self.method, Extras::metadata(extras.as_deref()))?;
        if !admitted.extensions.is_empty() {
            Extras::extensions_mut(extras).extend(admitted.extensions);
        }
        Ok(admitted.expires)
    }

    /// Checks whether a call with this metadata would be authorized, without counting it against a rate limit.
    pub(crate) fn check(&self, metadata: &Metadata) -> Result<(), Status> {
        self.rules.check(self.rule, &self.method, metadata)
    }
}

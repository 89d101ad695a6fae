//! Methods behind the rules of their end: what a native call has to pass before its request is decoded.

use crate::Status;
use crate::access::Rule;
use crate::access::visitor::Visitor;
use crate::api::extras::{Extras, Held};
use crate::api::metadata::Metadata;
use crate::observe::watching::Watcher;
use crate::schema::method::Method;
use crate::service::caller::Caller;
use crate::service::failures::refuse;
use crate::service::hand_off;
use crate::service::served::Instance;
use crate::wire::prefix::{self, Prefix};
use frisbee::{HandOffRequest, Outbox, Packet, Routed};
use std::sync::Arc;
use std::time::Instant;

/// The rule of one method for the peer of one connection.
#[derive(Clone)]
pub(crate) struct Guard {
    visitor: Arc<Visitor>,
    rule: Option<Rule>,
    method: Method,
}

impl Guard {
    pub(crate) fn new(visitor: &Arc<Visitor>, rule: Option<Rule>, method: Method) -> Self {
        Self { visitor: visitor.clone(), rule, method }
    }

    /// Whether calls without metadata need not be looked at, as long as the connection lives.
    pub(crate) fn is_open(&self) -> bool {
        self.visitor.is_open(self.rule)
    }

    /// Lets in a call without metadata.
    pub(crate) fn admit(&self) -> Result<(), Status> {
        self.visitor.admit(self.rule, &self.method, &Metadata::new()).map(|_| ())
    }

    /// Lets in a call by its metadata, to which the principal of its token is added. Returns when its caller is no longer
    /// let in.
    pub(crate) fn admit_by(&self, extras: &mut Held) -> Result<Option<Instant>, Status> {
        let admitted = self.visitor.admit(self.rule, &self.method, Extras::metadata(extras.as_deref()))?;
        if let Some(bearer) = admitted.bearer {
            Extras::extensions_mut(extras).insert(bearer);
        }
        Ok(admitted.expires)
    }

    /// As [`admit_by`](Self::admit_by), by the prefix of the packet that opens a stream.
    pub(crate) fn admit_stream(&self, prefix: &mut Option<Prefix>) -> Result<Option<Instant>, Status> {
        match prefix {
            Some(prefix) => self.admit_by(&mut prefix.extras),
            None => self.admit_by(&mut Held::default()),
        }
    }
}

/// A unary method on one connection whose calls are looked at one by one. Those that have a prefix are let in where that
/// is read.
pub(crate) struct Guarded {
    guard: Guard,
    inner: Box<dyn Instance>,
    watcher: Option<Watcher>,
}

impl Guarded {
    pub(crate) fn new(guard: Guard, inner: Box<dyn Instance>, watcher: Option<Watcher>) -> Self {
        Self { guard, inner, watcher }
    }

    /// Why a call without a prefix is not let in.
    fn refusal(&self) -> Option<Status> {
        let status = self.guard.admit().err()?;
        if let Some(watcher) = &self.watcher {
            watcher.refuse(status.code());
        }
        Some(status)
    }
}

impl Instance for Guarded {
    fn call(&mut self, caller: &Caller, packet: Packet, outbox: &mut Outbox, inline: bool) -> Routed {
        if !(caller.is_extended() && prefix::is_present(&packet.body))
            && let Some(status) = self.refusal()
        {
            return refuse(outbox, packet.id, packet.operation, &status, caller.style());
        }
        self.inner.call(caller, packet, outbox, inline)
    }

    fn hand_off(&mut self, caller: &Caller, method: Method, asked: HandOffRequest) -> Routed {
        if !prefix::is_present(asked.request())
            && let Some(status) = self.refusal()
        {
            asked.refuse(hand_off::refusal(&status, method));
            return Routed::Wasted;
        }
        self.inner.hand_off(caller, method, asked)
    }

    fn is_needed(&self) -> bool {
        self.inner.is_needed()
    }
}

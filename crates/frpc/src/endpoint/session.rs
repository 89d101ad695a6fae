//! The router's state of a connection.

use crate::Status;
use crate::api::authorize::PeerRules;
use crate::calls::table::CallTable;
use crate::endpoint::inline_runs::InlineRuns;
use crate::endpoint::table::{ServedMethod, Table};
use crate::service::caller::Caller;
use crate::service::erased::Kind;
use crate::service::invoke::{Invoke, InvokeSettings};
use crate::service::layouts::{HeldCall, PeerLayouts, PeerMethod};
use crate::wire::body::DecodeOptions;
use frisbee::{MountsSession, Packet};
use polyglot::Nesting;
use std::sync::Arc;
use std::task::Waker;

/// The router's state of a connection.
pub(crate) struct Session {
    pub(crate) caller: Caller,
    /// Unary methods that were called, sorted by operation.
    pub(crate) instances: Vec<(u16, Box<dyn Invoke>)>,
    /// The last called method.
    pub(crate) last: Option<(u16, Box<dyn Invoke>)>,
    pub(crate) mounted: MountsSession,
    /// The accepting end's calls, once it has made one.
    pub(crate) calls: Option<Arc<CallTable>>,
    /// Version of the connection's attachments at the last check for calls.
    pub(crate) looked: u32,
    /// Boxed because few accepting ends make calls.
    pub(crate) replies: Option<Box<Replies>>,
    /// Packets that matched no call, in addition to those counted by the table of calls.
    pub(crate) unmatched: u32,
    /// The layouts of the peer, if one differs.
    pub(crate) layouts: Option<Arc<PeerLayouts>>,
    pub(crate) nesting: Nesting,
    pub(crate) inline_runs: InlineRuns,
    /// Whether this end accepts compressed messages.
    pub(crate) decompresses: bool,
    /// Whether the peer accepts compressed messages of this end.
    pub(crate) packs: bool,
    /// The access rules for the peer, if any.
    pub(crate) rules: Option<Arc<dyn PeerRules>>,
}

/// The replies of a batch, and the callers to wake.
#[derive(Default)]
pub(crate) struct Replies {
    pub(crate) packets: Vec<Packet>,
    pub(crate) wake: Vec<Waker>,
}

impl Session {
    /// Makes the unary method of an operation the `last` one, if it exists.
    #[inline(always)]
    pub(crate) fn bring(&mut self, operation: u16, table: &Table) {
        if self.last.as_ref().is_some_and(|(last, _)| *last == operation) {
            return;
        }
        self.change(operation, table);
    }

    /// Makes another method's instance the `last` one.
    fn change(&mut self, operation: u16, table: &Table) {
        if let Some((last, instance)) = self.last.take()
            && let Err(place) = self.position(last)
        {
            self.instances.insert(place, (last, instance));
        }
        let kept = self.position(operation).ok().map(|at| self.instances.remove(at).1);
        let instance = kept.or_else(|| self.new_instance(operation, table));
        self.last = instance.map(|instance| (operation, instance));
    }

    /// Returns the index of an operation's instance, or its insertion index.
    fn position(&self, operation: u16) -> Result<usize, usize> {
        self.instances.binary_search_by_key(&operation, |(operation, _)| *operation)
    }

    /// Returns the method of this end for an operation of the peer.
    #[inline]
    pub(crate) fn find(&self, operation: u16) -> PeerMethod {
        let found = self.layouts.as_ref().and_then(|layouts| layouts.find(operation));
        found.unwrap_or(PeerMethod::Served { operation, translation: None })
    }

    /// Returns the operation of this end for an operation of the peer that is served.
    pub(crate) fn served<'t>(&self, operation: u16, table: &'t Table) -> Option<&'t ServedMethod> {
        match self.find(operation) {
            PeerMethod::Served { operation, .. } => table.get(operation),
            PeerMethod::Held | PeerMethod::Refused(_) => None,
        }
    }

    /// Returns the status of an operation that is rejected because of the peer's layouts.
    pub(crate) fn refused(&self, operation: u16) -> Option<Status> {
        match self.layouts.as_ref()?.find(operation)? {
            PeerMethod::Refused(status) => Some(status),
            _ => None,
        }
    }

    /// Returns the status of a mounted router's operation that the access rules deny to this peer.
    pub(crate) fn denied(&self, operation: u16) -> Option<Status> {
        self.rules.as_ref()?.admit_mounted(operation).err()
    }

    /// Returns the options for decoding the peer's requests.
    pub(crate) fn reading(&self) -> DecodeOptions {
        DecodeOptions { nesting: self.nesting, decompresses: self.decompresses }
    }

    /// Creates an instance for the first call of a method. Returns `None` if this peer cannot call it.
    fn new_instance(&self, operation: u16, table: &Table) -> Option<Box<dyn Invoke>> {
        let PeerMethod::Served { operation, translation } = self.find(operation) else { return None };
        let served = table.get(operation)?;
        let Kind::Unary(unary) = &served.entry.kind else { return None };
        let settings = served.settings(self.reading(), self.rules.as_ref());
        unary.instance(InvokeSettings { packs: self.packs && served.packs, translation, ..settings })
    }

    /// Holds a call until the description of its layout arrives.
    pub(crate) fn hold(&self, call: HeldCall) {
        if let Some(layouts) = &self.layouts {
            layouts.hold(call, &self.caller.connection);
        }
    }

    /// Drops the instances of operations whose meaning has changed.
    pub(crate) fn forget(&mut self, operations: &[u16]) {
        self.last = self.last.take().filter(|(operation, _)| !operations.contains(operation));
        self.instances.retain(|(operation, _)| !operations.contains(operation));
    }

    pub(crate) fn warn_slow(&self) {
        let peer = self.caller.connection.peer_addr();
        tracing::debug!(target: "frpc::connection", ?peer, "slow handlers: running them as separate tasks for a while");
    }

    /// Returns the accepting end's calls, if it has made any.
    pub(crate) fn calls(&mut self) -> Option<&Arc<CallTable>> {
        if self.calls.is_none() {
            let attachments = self.caller.connection.attachments();
            self.looked = attachments.changes();
            self.calls = attachments.get::<CallTable>();
        }
        self.calls.as_ref()
    }
}

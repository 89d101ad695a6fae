//! State of the router for one connection.

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

/// State that the router keeps for one connection.
pub(crate) struct Session {
    pub(crate) caller: Caller,
    /// Per-connection instances of the unary methods that were called, sorted by operation number.
    pub(crate) instances: Vec<(u16, Box<dyn Invoke>)>,
    /// Instance of the method that was called last, with its operation number. Cached because consecutive calls often
    /// have the same method.
    pub(crate) last: Option<(u16, Box<dyn Invoke>)>,
    pub(crate) mounted: MountsSession,
    /// Table of the calls made to the peer. Set if the peer dialled the connection and any call has been made.
    pub(crate) calls: Option<Arc<CallTable>>,
    /// Whether any call was in flight when the driver was about to write, before the server had sent anything.
    pub(crate) has_written: bool,
    /// Change counter of the connection's attachments at the time when they were last searched for a call table.
    pub(crate) looked: u32,
    /// Replies received in the current driver poll. Boxed, because accepted connections rarely make calls.
    pub(crate) replies: Option<Box<Replies>>,
    /// Number of received packets that matched no call, in addition to those counted by the call table.
    pub(crate) unmatched: u32,
    /// Wire layouts of the peer's services. Set if any of them differs from the local layout.
    pub(crate) layouts: Option<Arc<PeerLayouts>>,
    pub(crate) nesting: Nesting,
    pub(crate) inline_runs: InlineRuns,
    /// Whether compressed messages are accepted from the peer.
    pub(crate) decompresses: bool,
    /// Whether compressed messages may be sent to the peer, because both peers support compression.
    pub(crate) compresses: bool,
    /// Access rules that apply to this peer, if there are any.
    pub(crate) rules: Option<Arc<dyn PeerRules>>,
}

/// Replies received in one driver poll, and the callers to wake at its end.
#[derive(Default)]
pub(crate) struct Replies {
    pub(crate) packets: Vec<Packet>,
    pub(crate) wake: Vec<Waker>,
}

impl Session {
    /// Moves the instance of a method into `last`, creating it if necessary. Sets `last` to `None` if the peer cannot
    /// call a unary method by this operation number.
    #[inline(always)]
    pub(crate) fn bring(&mut self, operation: u16, table: &Table) {
        if self.last.as_ref().is_some_and(|(last, _)| *last == operation) {
            return;
        }
        self.change(operation, table);
    }

    /// Moves the instance in `last` to `instances`, and takes or creates the instance for `operation` instead.
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

    /// Returns the index of the instance with this operation number, or the index at which to insert it.
    fn position(&self, operation: u16) -> Result<usize, usize> {
        self.instances.binary_search_by_key(&operation, |(operation, _)| *operation)
    }

    /// Returns the local method that corresponds to an operation number of the peer.
    #[inline]
    pub(crate) fn find(&self, operation: u16) -> PeerMethod {
        let found = self.layouts.as_ref().and_then(|layouts| layouts.find(operation));
        found.unwrap_or(PeerMethod::Served { operation, translation: None })
    }

    /// Returns the served method that corresponds to an operation number of the peer, if there is one.
    pub(crate) fn served<'t>(&self, operation: u16, table: &'t Table) -> Option<&'t ServedMethod> {
        match self.find(operation) {
            PeerMethod::Served { operation, .. } => table.get(operation),
            PeerMethod::Held | PeerMethod::Refused(_) => None,
        }
    }

    /// Returns the status of calls to this operation number if they fail because of the peer's layouts, or `None` if
    /// they are permitted.
    pub(crate) fn refused(&self, operation: u16) -> Option<Status> {
        match self.layouts.as_ref()?.find(operation)? {
            PeerMethod::Refused(status) => Some(status),
            _ => None,
        }
    }

    /// Returns the status of a packet for a mounted router if the access rules reject it, or `None` if they allow it.
    pub(crate) fn denied(&self, operation: u16) -> Option<Status> {
        self.rules.as_ref()?.admit_mounted(operation).err()
    }

    /// Returns the options for decoding the peer's requests.
    pub(crate) fn reading(&self) -> DecodeOptions {
        DecodeOptions::new(self.nesting, self.decompresses)
    }

    /// Creates the per-connection instance for the first call of a method. Returns `None` if the peer cannot call the
    /// method.
    fn new_instance(&self, operation: u16, table: &Table) -> Option<Box<dyn Invoke>> {
        let PeerMethod::Served { operation, translation } = self.find(operation) else { return None };
        let served = table.get(operation)?;
        let Kind::Unary(unary) = &served.entry.kind else { return None };
        let settings = served.settings(self.reading(), self.rules.as_ref());
        unary.instance(InvokeSettings { compresses: self.compresses && served.compresses, translation, ..settings })
    }

    /// Holds a call back until the peer has described the layout of the called service.
    pub(crate) fn hold(&self, call: HeldCall) {
        if let Some(layouts) = &self.layouts {
            layouts.hold(call, &self.caller.connection);
        }
    }

    /// Drops the cached instances for operation numbers that now refer to other methods.
    pub(crate) fn forget(&mut self, operations: &[u16]) {
        self.last = self.last.take().filter(|(operation, _)| !operations.contains(operation));
        self.instances.retain(|(operation, _)| !operations.contains(operation));
    }

    pub(crate) fn warn_slow(&self) {
        let peer = self.caller.connection.peer_addr();
        tracing::debug!(target: "frpc::connection", ?peer, "slow handlers: running them as separate tasks for a while");
    }

    /// Returns the table of the calls made to a peer that dialled the connection, if any call has been made.
    pub(crate) fn calls(&mut self) -> Option<&Arc<CallTable>> {
        if self.calls.is_none() {
            let attachments = self.caller.connection.attachments();
            // Read the change counter before searching, so that a table attached in between triggers another search.
            self.looked = attachments.changes();
            self.calls = attachments.get::<CallTable>();
        }
        self.calls.as_ref()
    }
}

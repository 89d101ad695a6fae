//! Peer layouts that differ from the local ones, and calls that are held until the peer has described its layout.
//!
//! A connection has [`PeerLayouts`] only if some layout differs. Packets use the operations of the dialling side, so
//! the accepting side looks up its own method by name.
//!
//! # Decisions
//!
//! Each connection requests the descriptions that it needs, so that no client depends on another. Translation plans are
//! cached process-wide. The state is attached to the connection, because pending replies and outgoing calls look up
//! their translation only when they are sent.

mod held;
mod peer_service;
#[cfg(test)]
mod tests;

pub(crate) use held::HeldCall;

use crate::schema::layout::Layout;
use crate::service::layouts::peer_service::{LayoutState, PeerService, late, shortened};
use crate::wire::layouts::{PeerLayout, put_ask};
use crate::wire::translation::{Caller, FoundMethod, Translation};
use crate::{Status, clock};
use frisbee::rpc::{ConnectionExt, with_guarded_waker};
use frisbee::{Connection, MemoryCharge, Operation, Outbox, PacketId};
use parking_lot::Mutex;
use polyglot::layout::Fingerprint;
use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Maximum time that calls are held until the peer has described its wire layout. The peer does so within one round
/// trip.
pub(crate) const HELD_TIME: Duration = Duration::from_secs(5);

/// Maximum total size in bytes of the calls that are held until the peer has described its wire layout. Sufficient for
/// the calls that a peer sends within one round trip.
const HELD_MAX: usize = 256 * 1024;

/// Number of recorded operation numbers at which those without a method here are no longer recorded. A call of a
/// recorded one fails with a status that names its service, and a call of any other as an unknown operation.
const ABSENT_MAX: usize = 1024;

/// Memory in bytes that the announcements of a peer may take even if its share of the memory is used up. Sufficient for
/// a few dozen services, so that clients whose layouts are known can connect while the server is short of memory.
const ANNOUNCED_LEAST: usize = 16 * 1024;

/// Close reason of a peer whose share of the memory has no room for the services that it announces or their layouts.
const NO_MEMORY: &str = "no memory for the announced services of the peer";

/// Close reason of a peer that announces more than [`SERVICES_MAX`] services.
const TOO_MANY: &str = "the peer announces too many services";

/// Wire layouts of the peer's services that differ from the local ones, with the translations that they require.
#[derive(Default, Debug)]
pub(crate) struct PeerLayouts {
    state: Mutex<State>,
    /// Notified when the description of a layout has arrived or timed out, or the connection has ended.
    pub(crate) changed: Notify,
}

#[derive(Default, Debug)]
struct State {
    /// Operation numbers that the peer has announced. Not a sorted vector, because the peer chooses the number of
    /// announcements, and each one would sort all earlier ones again.
    claims: BTreeMap<u16, Claim>,
    services: Vec<PeerService>,
    held: Vec<(HeldCall, MemoryCharge)>,
    held_bytes: usize,
    /// Charge to the peer for `claims` and for the services that it has announced.
    announced: Option<MemoryCharge>,
    /// Charges to the peer for translation plans.
    charges: Vec<MemoryCharge>,
}

/// Method in the peer's layout that an announced operation number refers to.
#[derive(Clone, Copy, Debug)]
struct Claim {
    /// Index of the service in [`State::services`], or [`CONTESTED`].
    service: u16,
    /// Index of the method within its service, or [`NO_METHOD`].
    method: u16,
}

/// Value of [`Claim::service`] for an operation number that several services or a mounted router use.
const CONTESTED: u16 = u16::MAX;

/// Value of [`Claim::method`] for an operation number that exists only in the local layout of the service.
const NO_METHOD: u16 = u16::MAX;

/// Memory of a claim in bytes. A node of the tree has eleven entries, and is at least half full.
const CLAIM_COST: usize = 2 * size_of::<(u16, Claim)>() + 4;

/// Maximum number of services recorded for a connection, in both directions. The connection is closed if the peer
/// announces more.
const SERVICES_MAX: usize = 1024;

/// Result of finding the local method for an operation number of the peer.
pub(crate) enum PeerMethod {
    Served {
        operation: u16,
        translation: Option<Arc<Translation>>,
    },
    /// The call must be held until the peer has described the layout.
    Held,
    Refused(Status),
}

impl PeerLayouts {
    /// Returns the wire layouts attached to a connection. Returns `None` if none of the peer's layouts differs from the
    /// local one.
    pub(crate) fn of(connection: &Connection) -> Option<Arc<Self>> {
        connection.attachments().get()
    }

    /// Adds services that the peer calls, and requests the descriptions that are not cached. `own` returns the local
    /// layout of a service, `has` whether an operation is served, and `is_mounted` whether it belongs to a mounted
    /// router. Returns the operations of the added services, or the reason to close the connection if there are too
    /// many services or the peer has no memory left for them.
    pub(crate) fn add_called(
        &self,
        named: Vec<PeerLayout>,
        own: impl Fn(&str) -> Option<&'static Layout>,
        has: impl Fn(u16) -> bool,
        is_mounted: impl Fn(u16) -> bool,
        connection: &Connection,
    ) -> Result<Vec<u16>, &'static str> {
        let mut state = self.state.lock();
        let (claimed, mut memory) = (state.claims.len(), 0);
        let mut fresh = Vec::new();
        let mut unknown = Vec::new();
        for theirs in named {
            let is_known = |known: &PeerService| known.caller == Caller::Peer && known.theirs == theirs;
            if state.services.iter().any(is_known) {
                continue;
            }
            // Calls of a service that is not recorded would be decoded with the wrong layout.
            let at = u16::try_from(state.services.len()).ok().filter(|at| usize::from(*at) < SERVICES_MAX);
            let Some(service) = at else {
                connection.count_rejected();
                return Err(TOO_MANY);
            };
            let ours = own(&theirs.service);
            // Limit the claims for operations that are not served here, because the peer chooses their number, and each
            // takes memory.
            let mut absent = ABSENT_MAX.saturating_sub(state.claims.len());
            for (method, &operation) in theirs.operations.iter().enumerate() {
                if ours.is_none() && !has(operation) {
                    let Some(left) = absent.checked_sub(1) else { continue };
                    absent = left;
                }
                let service = if is_mounted(operation) { CONTESTED } else { service };
                let claim = Claim { service, method: u16::try_from(method).unwrap_or(u16::MAX) };
                // Mark an operation claimed by two services as contested, because it is unknown which of them the peer
                // means.
                state.claims.entry(operation).and_modify(|first| first.service = CONTESTED).or_insert(claim);
                fresh.push(operation);
            }
            let theirs = if ours.is_some() { theirs } else { shortened(&theirs) };
            let layout = match ours {
                None => LayoutState::Absent,
                Some(own) => LayoutState::new(own, &theirs, Caller::Peer),
            };
            if matches!(layout, LayoutState::Asked(..)) && !unknown.contains(&theirs.fingerprint) {
                unknown.push(theirs.fingerprint);
            }
            memory += size_of::<PeerService>() + theirs.service.len() + size_of_val(&*theirs.operations);
            state.services.push(PeerService { theirs, caller: Caller::Peer, layout });
        }
        memory += (state.claims.len() - claimed) * CLAIM_COST;
        if !state.charge_announced(memory, connection) {
            return Err(NO_MEMORY);
        }
        // Release the lock first, because `ask` sends a packet.
        drop(state);
        if !unknown.is_empty() {
            Self::ask(connection, &unknown);
        }
        Ok(fresh)
    }

    /// Requests the descriptions of layouts from the peer. If they do not arrive within [`HELD_TIME`], a task rejects
    /// the calls that are held for them.
    fn ask(connection: &Connection, unknown: &[Fingerprint]) {
        if connection.send_now(|outbox| put_ask(outbox, unknown)).is_err() {
            return;
        }
        let this = connection.clone();
        // Spawn on the runtime rather than as a task of the connection, which would make the connection count as busy.
        connection.runtime_handle().spawn(async move {
            if tokio::time::timeout(HELD_TIME, this.closed()).await.is_err()
                && let Some(layouts) = Self::of(&this)
            {
                layouts.expire(&this);
            }
        });
    }

    /// Attaches the configured layouts of a compat client to its connection. `services` contains the local layout and
    /// the client's layout of each service.
    pub(crate) fn attach_compat(
        services: impl Iterator<Item = (&'static Layout, &'static Layout)>,
        connection: &Connection,
    ) -> Option<Arc<Self>> {
        let (mut claims, mut rest, mut known) = (BTreeMap::new(), Vec::new(), Vec::new());
        for ((own, theirs), service) in services.zip(0..) {
            for (&operation, method) in theirs.operations.iter().zip(0..) {
                claims.entry(operation).or_insert(Claim { service, method });
            }
            // Operation numbers that exist only in the local layout of a service are unknown to the client.
            rest.extend(own.operations.iter().map(|operation| (*operation, Claim { service, method: NO_METHOD })));
            known.push(PeerService::compat(own, theirs, Caller::Peer));
        }
        for (operation, claim) in rest {
            claims.entry(operation).or_insert(claim);
        }
        let announced = Some(connection.charge(claims.len() * CLAIM_COST));
        let state = State { claims, services: known, announced, ..State::default() };
        connection.attachments().insert(Self { state: state.into(), ..Self::default() });
        Self::of(connection)
    }

    /// Adds the layout that a compat server uses for a service.
    pub(crate) fn add_compat(&self, own: &'static Layout, theirs: &'static Layout) {
        let mut state = self.state.lock();
        if !state.services.iter().any(|known| known.theirs.service == own.service) {
            state.services.push(PeerService::compat(own, theirs, Caller::This));
        }
    }

    /// Adds a service that the peer offers and the local peer calls. Requests the description of its layout unless the
    /// translation is cached.
    pub(crate) fn add_offered(&self, own: &'static Layout, theirs: PeerLayout, outbox: &mut Outbox) {
        let mut state = self.state.lock();
        let is_known = |known: &PeerService| known.caller == Caller::This && known.theirs == theirs;
        if state.services.iter().any(is_known) {
            return;
        }
        let layout = LayoutState::new(own, &theirs, Caller::This);
        let unknown = matches!(layout, LayoutState::Asked(..)).then_some(theirs.fingerprint);
        state.services.push(PeerService { theirs, caller: Caller::This, layout });
        drop(state);
        if let Some(unknown) = unknown {
            put_ask(outbox, &[unknown]);
        }
    }

    /// Returns the local method for an operation number of the peer. Returns `None` if the method has the same number
    /// on both sides.
    pub(crate) fn find(&self, operation: u16) -> Option<PeerMethod> {
        let state = self.state.lock();
        let Claim { service, method } = *state.claims.get(&operation)?;
        let Some(service) = state.services.get(usize::from(service)) else {
            return Some(PeerMethod::Refused(Status::failed_precondition(format!(
                "operation {operation} belongs to several services or routers: the schemas of the two ends conflict"
            ))));
        };
        Some(match service.method(usize::from(method)) {
            None => PeerMethod::Held,
            Some(Ok((operation, translation))) => PeerMethod::Served { operation, translation },
            Some(Err(status)) => PeerMethod::Refused(status),
        })
    }

    /// Returns the translation for the reply to a call of the peer, if one is needed.
    pub(crate) fn translation(&self, operation: u16) -> Option<Arc<Translation>> {
        match self.find(operation)? {
            PeerMethod::Served { translation, .. } => translation,
            PeerMethod::Held | PeerMethod::Refused(_) => None,
        }
    }

    /// Returns the peer's operation number for a local method and the translation of its messages. Returns `None` if
    /// the description of the layout has not arrived yet.
    pub(crate) fn called(&self, own: &'static Layout, operation: u16) -> Option<Result<FoundMethod, Status>> {
        let state = self.state.lock();
        let is_it = |service: &&PeerService| service.caller == Caller::This && service.theirs.service == own.service;
        let Some(service) = state.services.iter().find(is_it) else { return Some(Ok((operation, None))) };
        match &service.layout {
            LayoutState::Known(_, plans) => Some(plans.called(own, operation, &service.theirs.operations)),
            LayoutState::Renumbered(_) => {
                let at = own.operations.binary_search(&operation).ok();
                let theirs = at.and_then(|at| service.theirs.operations.get(at));
                Some(theirs.map(|theirs| (*theirs, None)).ok_or_else(|| service.other_methods()))
            }
            _ => service.method(0).map(|found| found.and_then(|_| Err(service.other_methods()))),
        }
    }

    /// Waits until `is_clear` returns `true`, or until the peer has failed to describe its layout before the timeout.
    pub(crate) async fn changed(&self, is_clear: impl Fn() -> bool, connection: &Connection) {
        let waiting = async {
            loop {
                let mut changed = pin!(self.changed.notified());
                // Register before checking, so that a notification in between is not missed.
                changed.as_mut().enable();
                if is_clear() {
                    return;
                }
                with_guarded_waker(changed).await;
            }
        };
        if clock::within(connection.runtime_handle(), clock::after(Some(HELD_TIME)), waiting).await.is_err() {
            self.expire(connection);
        }
    }

    /// Holds a call until the peer has described the layout of its service. Rejects the call if too many calls are
    /// held.
    pub(crate) fn hold(self: &Arc<Self>, call: HeldCall, connection: &Connection) {
        let cost = call.cost();
        let mut state = self.state.lock();
        // The timeout may have passed on another thread since the caller looked up the method. A call that is held now
        // would then never be released.
        if !state.is_awaited(&call) {
            drop(state);
            return self.refuse_late(call, connection);
        }
        let calls_max = connection.calls_max();
        if state.held_bytes + cost > HELD_MAX || state.held.len() >= calls_max || !connection.has_room(cost) {
            drop(state);
            let text = "too many calls wait for the layout of the caller";
            return call.refuse(connection, &Status::resource_exhausted(text));
        }
        state.held_bytes += cost;
        state.held.push((call, connection.charge_request(cost)));
    }

    /// Returns whether any calls are held until a layout is described.
    pub(crate) fn holds_calls(&self) -> bool {
        !self.state.lock().held.is_empty()
    }

    /// Removes a held call. Returns `false` if the call was not held.
    pub(crate) fn cancel(&self, id: PacketId, operation: Operation) -> bool {
        let mut state = self.state.lock();
        let is_it = |(call, _): &(HeldCall, MemoryCharge)| matches!(call, HeldCall::Unary(held, of, ..) if (*held, *of) == (id, operation));
        let Some(at) = state.held.iter().position(is_it) else { return false };
        let (call, _charge) = state.held.remove(at);
        state.held_bytes -= call.cost();
        // Release the lock before dropping the call, because the destructors of its values may lock the state.
        drop(state);
        true
    }

    /// Handles a LAYOUT packet and returns the calls that were held for it. Returns `None` if the packet was not
    /// requested.
    pub(crate) fn handle_layout(&self, body: &[u8], connection: &Connection) -> Option<Vec<HeldCall>> {
        let refused = match body.split_first() {
            Some((0, fingerprint)) => Some(Fingerprint::new(fingerprint.try_into().ok()?)),
            _ => None,
        };
        let fingerprint = refused.unwrap_or_else(|| Fingerprint::of(body));
        let mut state = self.state.lock();
        let mut charges = Vec::new();
        // The peer may have announced a service many times, with different operations, so create its plans once.
        let mut created = HashMap::new();
        let mut is_requested = false;
        for service in state.services.iter_mut().filter(|service| service.theirs.fingerprint == fingerprint) {
            let (LayoutState::Asked(own, _) | LayoutState::Late(own)) = service.layout else { continue };
            is_requested = true;
            let caller = service.caller;
            let plans = created.entry((own.fingerprint, caller)).or_insert_with(|| match refused {
                Some(_) => Err("the peer has no description of it".to_owned()),
                None => peer_service::charged_plans(own, body, caller, connection, &mut charges),
            });
            service.layout = match plans {
                Ok(plans) => LayoutState::Known(own, plans.clone()),
                Err(error) => LayoutState::Failed(own, error.as_str().into()),
            };
        }
        if !is_requested {
            return None;
        }
        state.charges.append(&mut charges);
        let released = state.release();
        // Release the lock before notifying, because woken callers lock the state.
        drop(state);
        self.changed.notify_waiters();
        Some(released.into_iter().map(|(call, _)| call).collect())
    }

    /// Rejects the calls that are held for layouts that the peer did not describe before the timeout.
    pub(crate) fn expire(&self, connection: &Connection) {
        let mut state = self.state.lock();
        let now = clock::now();
        for service in &mut state.services {
            // Skip layouts that were requested later. They have their own timeout.
            if let LayoutState::Asked(own, since) = service.layout
                && now.saturating_duration_since(since) >= HELD_TIME
            {
                // Accept a late description, but do not hold further calls for it.
                service.layout = LayoutState::Late(own);
            }
        }
        let released = state.release();
        // Release the lock first, because `refuse_late` takes it.
        drop(state);
        self.changed.notify_waiters();
        released.into_iter().for_each(|(call, _charge)| self.refuse_late(call, connection));
    }

    /// Rejects a call because the peer did not describe the layout before the timeout.
    fn refuse_late(&self, call: HeldCall, connection: &Connection) {
        let found = self.find(call.operation());
        let status = if let Some(PeerMethod::Refused(status)) = found { status } else { late("its service") };
        call.refuse(connection, &status);
    }
}

impl State {
    /// Charges the memory of new announcements to the peer. Returns `false` if the peer has no memory left.
    fn charge_announced(&mut self, memory: usize, connection: &Connection) -> bool {
        if memory == 0 {
            return true; // All services were known.
        }
        let announced = self.announced.get_or_insert_with(|| connection.charge(0));
        let bytes = announced.bytes() + memory;
        if bytes <= ANNOUNCED_LEAST {
            announced.resize(bytes);
        } else if !announced.try_resize(bytes) {
            connection.count_rejected();
            return false;
        }
        true
    }

    /// Returns whether the description that a call requires has neither arrived nor timed out.
    fn is_awaited(&self, call: &HeldCall) -> bool {
        let claim = self.claims.get(&call.operation());
        let service = claim.and_then(|claim| self.services.get(usize::from(claim.service)));
        service.is_some_and(|service| matches!(service.layout, LayoutState::Asked(..)))
    }

    /// Removes and returns the held calls that no longer wait for a description.
    fn release(&mut self) -> Vec<(HeldCall, MemoryCharge)> {
        let (held, released): (Vec<_>, _) =
            std::mem::take(&mut self.held).into_iter().partition(|(call, _)| self.is_awaited(call));
        self.held = held;
        self.held_bytes = self.held.iter().map(|(call, _)| call.cost()).sum();
        released
    }
}

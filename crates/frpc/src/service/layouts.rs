//! Peer layouts that differ from the local ones, and calls that are held until the peer has described its layout.
//!
//! A connection has [`PeerLayouts`] only if some layout differs. Packets use the operations of the dialling end, so an
//! accepting end looks up its own method by name.
//!
//! # Decisions
//!
//! Each connection requests the descriptions that it needs, so that no client depends on another. Translation plans are
//! cached process-wide. The state is attached to the connection, because pending replies and outgoing calls look up
//! their translation only when they are sent.

use crate::observe::TraceContext;
use crate::schema::layout::Layout;
use crate::service::streams::refuse;
use crate::wire::body;
use crate::wire::envelope::Envelope;
use crate::wire::layouts::{PeerLayout, put_ask};
use crate::wire::translation::{Caller, FoundMethod, ServicePlans, Translation};
use crate::{Status, clock};
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{Connection, HandOffRequest, MemoryCharge, Operation, Outbox, PacketId, Stream};
use parking_lot::Mutex;
use polyglot::Form;
use polyglot::layout::Fingerprint;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Maximum time that calls are held until the peer has described its wire layout. The peer does so within one round
/// trip.
pub(crate) const HELD_TIME: Duration = Duration::from_secs(5);

/// Maximum total size in bytes of the calls that are held until the peer has described its wire layout. Sufficient for
/// the calls that a peer sends within one round trip.
const HELD_MAX: usize = 256 * 1024;

/// Memory of a held call in bytes, in addition to its length.
const HELD_COST: usize = 256;

/// Maximum number of recorded operation numbers that are not served here. Calls of these are rejected with a status
/// that names the service, and calls of others as unknown.
const ABSENT_MAX: usize = 1024;

/// Maximum number of characters of a service name in a status message.
const NAME_SHOWN_MAX: usize = 256;

/// Wire layouts of the peer's services that differ from the local ones, with the translations that they require.
#[derive(Default, Debug)]
pub(crate) struct PeerLayouts {
    state: Mutex<State>,
    /// Notified when the description of a layout has arrived or timed out.
    changed: Notify,
}

#[derive(Default, Debug)]
struct State {
    /// Operation numbers that the peer has announced, in ascending order.
    claims: Vec<Claim>,
    services: Vec<PeerService>,
    held: Vec<(HeldCall, MemoryCharge)>,
    held_bytes: usize,
    /// Charges to the peer for the memory of `claims` and of translation plans.
    charges: Vec<MemoryCharge>,
}

/// An operation number that the peer has announced, and the method that it refers to in the peer's layout.
#[derive(Clone, Copy, Debug)]
struct Claim {
    operation: u16,
    /// Index of the service in [`State::services`], or [`CONTESTED`].
    service: u16,
    /// Index of the method within its service, or [`NO_METHOD`].
    method: u16,
}

/// Value of [`Claim::service`] for an operation number that several services or a mounted router use.
const CONTESTED: u16 = u16::MAX;

/// Value of [`Claim::method`] for an operation number that exists only in the local layout of the service.
const NO_METHOD: u16 = u16::MAX;

/// Maximum number of a peer's services with layouts that differ from the local ones.
const SERVICES_MAX: usize = 1024;

/// A service that the peer calls or offers in a wire layout that differs from the local one.
#[derive(Debug)]
struct PeerService {
    theirs: PeerLayout,
    caller: Caller,
    layout: LayoutState,
}

/// Progress of obtaining the peer's wire layout of a service.
#[derive(Debug)]
enum LayoutState {
    /// The local peer does not offer the service.
    Absent,
    /// The message layouts are equal and only the operation numbers differ.
    Renumbered(&'static Layout),
    /// The peer was asked at this time to describe its layout. Calls are held until the description arrives.
    Asked(&'static Layout, Instant),
    /// The peer did not describe its layout before the timeout, so calls are rejected.
    Late(&'static Layout),
    Known(&'static Layout, Arc<ServicePlans>),
    /// The description is invalid or its layout cannot be translated.
    Failed(&'static Layout, Box<str>),
}

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

/// A call that is held until the peer has described the wire layout of its service.
#[derive(Debug)]
pub(crate) enum HeldCall {
    Unary(PacketId, Operation, Envelope, Option<TraceContext>),
    Stream(u16, Bytes, Stream),
    HandOff(HandOffRequest),
}

impl HeldCall {
    fn operation(&self) -> u16 {
        match self {
            Self::Unary(_, operation, ..) => operation.number(),
            Self::Stream(operation, ..) => *operation,
            Self::HandOff(request) => request.operation().number(),
        }
    }

    fn cost(&self) -> usize {
        HELD_COST
            + match self {
                Self::Unary(_, _, envelope, _) => envelope.length,
                Self::Stream(_, first, _) => first.len(),
                Self::HandOff(request) => request.request().len(),
            }
    }

    /// Rejects the held call with `status`, and reports that the call has not run.
    fn refuse(self, connection: &Connection, status: &Status) {
        match self {
            Self::Unary(id, operation, ..) => {
                // Ignore the error, because a closed connection has no caller that awaits the reply.
                let _ = connection.send_now(|outbox| body::put_refusal(outbox, id, operation, status, Form::Extended));
            }
            Self::Stream(_, _, stream) => refuse(&stream, status),
            Self::HandOff(request) => {
                let operation = request.operation();
                request.refuse(crate::service::hand_off::failure(status, operation, true));
            }
        }
    }
}

impl PeerLayouts {
    /// Returns the wire layouts attached to a connection. Returns `None` if none of the peer's layouts differs from the
    /// local one.
    pub(crate) fn of(connection: &Connection) -> Option<Arc<Self>> {
        connection.attachments().get()
    }

    /// Adds services that the peer calls, and requests the descriptions that are not cached. `own` returns the layout
    /// that a service has at this end, `has` whether an operation is served, and `is_mounted` whether it belongs to a
    /// mounted router. Returns the operations of the added services.
    pub(crate) fn add_called(
        &self,
        named: Vec<PeerLayout>,
        own: impl Fn(&str) -> Option<&'static Layout>,
        has: impl Fn(u16) -> bool,
        is_mounted: impl Fn(u16) -> bool,
        connection: &Connection,
    ) -> Vec<u16> {
        let mut state = self.state.lock();
        let mut fresh = Vec::new();
        let mut unknown = Vec::new();
        for theirs in named {
            let is_known = |known: &PeerService| known.caller == Caller::Peer && known.theirs == theirs;
            let Ok(service) = u16::try_from(state.services.len()) else { break };
            if usize::from(service) >= SERVICES_MAX || state.services.iter().any(is_known) {
                continue;
            }
            let ours = own(&theirs.service);
            // Limit the claims for operations that are not served here, because the peer chooses their number, and each
            // takes memory.
            let mut absent = ABSENT_MAX.saturating_sub(state.claims.len() + fresh.len());
            for (method, &operation) in theirs.operations.iter().enumerate() {
                if ours.is_none() && !has(operation) {
                    let Some(left) = absent.checked_sub(1) else { continue };
                    absent = left;
                }
                let service = if is_mounted(operation) { CONTESTED } else { service };
                fresh.push(Claim { operation, service, method: u16::try_from(method).unwrap_or(u16::MAX) });
            }
            let theirs = if ours.is_some() { theirs } else { shortened(&theirs) };
            let layout = match ours {
                None => LayoutState::Absent,
                Some(own) => LayoutState::new(own, &theirs, Caller::Peer),
            };
            if matches!(layout, LayoutState::Asked(..)) && !unknown.contains(&theirs.fingerprint) {
                unknown.push(theirs.fingerprint);
            }
            state.services.push(PeerService { theirs, caller: Caller::Peer, layout });
        }
        let operations = fresh.iter().map(|claim| claim.operation).collect();
        state.charges.push(connection.charge_request(fresh.len() * size_of::<Claim>()));
        state.claims.extend(fresh);
        state.claims.sort_by_key(|claim| claim.operation);
        // Mark an operation claimed by two services as contested, because it is unknown which of them the peer means.
        state.claims.dedup_by(|next, first| {
            let is_same = next.operation == first.operation;
            if is_same {
                first.service = CONTESTED;
            }
            is_same
        });
        // Release the lock first, because `ask` sends a packet.
        drop(state);
        if !unknown.is_empty() {
            Self::ask(connection, &unknown);
        }
        operations
    }

    /// Asks the peer for the descriptions of layouts, and waits for them for [`HELD_TIME`] at most.
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
        let (mut claims, mut rest, mut known) = (Vec::new(), Vec::new(), Vec::new());
        for ((own, theirs), service) in services.zip(0..) {
            let claim = |(&operation, method)| Claim { operation, service, method };
            claims.extend(theirs.operations.iter().zip(0..).map(claim));
            // Operation numbers that exist only in this end's layout of a service are unknown to the client.
            rest.extend(own.operations.iter().zip(std::iter::repeat(NO_METHOD)).map(claim));
            known.push(PeerService::compat(own, theirs, Caller::Peer));
        }
        claims.extend(rest);
        // The sort is stable, so the claims of the client come first and are kept below.
        claims.sort_by_key(|claim| claim.operation);
        claims.dedup_by_key(|claim| claim.operation);
        let charges = vec![connection.charge_request(claims.len() * size_of::<Claim>())];
        let state = State { claims, services: known, charges, ..State::default() };
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
        if state.services.len() >= SERVICES_MAX || state.services.iter().any(is_known) {
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
        let at = state.claims.binary_search_by_key(&operation, |claim| claim.operation).ok()?;
        let Claim { service, method, .. } = *state.claims.get(at)?;
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
                changed.await;
            }
        };
        if clock::timeout(connection.runtime_handle(), HELD_TIME, waiting).await.is_err() {
            self.expire(connection);
        }
    }

    /// Holds a call until the peer has described the layout of its service. Rejects the call if too many calls are
    /// held.
    pub(crate) fn hold(self: &Arc<Self>, call: HeldCall, connection: &Connection) {
        let cost = call.cost();
        let mut state = self.state.lock();
        // The timeout may have passed on another thread since the caller looked up the method. Nothing would release
        // the call then.
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
        let mut is_requested = false;
        for service in state.services.iter_mut().filter(|service| service.theirs.fingerprint == fingerprint) {
            let (LayoutState::Asked(own, _) | LayoutState::Late(own)) = service.layout else { continue };
            is_requested = true;
            let known = match refused {
                Some(_) => Err("the peer has no description of it".to_owned()),
                None => ServicePlans::new(own, body, service.caller, Form::Extended),
            };
            service.layout = match known {
                Ok(plans) if !connection.has_room(plans.memory) => {
                    connection.count_rejected();
                    LayoutState::Failed(own, "the memory limit for its sender is reached".into())
                }
                Ok(plans) => {
                    charges.push(connection.charge_request(plans.memory));
                    LayoutState::Known(own, plans)
                }
                Err(error) => LayoutState::Failed(own, error.into()),
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
    /// Returns whether the description that a call requires has neither arrived nor timed out.
    fn is_awaited(&self, call: &HeldCall) -> bool {
        let at = self.claims.binary_search_by_key(&call.operation(), |claim| claim.operation);
        let service = at.ok().and_then(|at| self.services.get(usize::from(self.claims[at].service)));
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

impl LayoutState {
    fn new(own: &'static Layout, theirs: &PeerLayout, caller: Caller) -> Self {
        if own.fingerprint == theirs.fingerprint {
            return Self::Renumbered(own);
        }
        match ServicePlans::cached(own, theirs.fingerprint, caller) {
            Some(plans) => Self::Known(own, plans),
            None => Self::Asked(own, clock::now()),
        }
    }
}

impl PeerService {
    /// Creates a service of a compat peer. Its layout is known from the configuration.
    fn compat(own: &'static Layout, theirs: &Layout, caller: Caller) -> Self {
        let layout = match ServicePlans::compat(own, theirs, caller) {
            _ if own.fingerprint == theirs.fingerprint => LayoutState::Renumbered(own),
            Ok(plans) => LayoutState::Known(own, plans),
            Err(error) => LayoutState::Failed(own, error.into()),
        };
        let Layout { service, fingerprint, operations, .. } = *theirs;
        let theirs = PeerLayout { service: service.to_owned(), fingerprint, operations: operations.to_vec() };
        Self { theirs, caller, layout }
    }

    /// Returns the local operation number for a method that the peer calls, and the translation of its messages.
    /// Returns `None` if the description of the layout has not arrived yet.
    fn method(&self, method: usize) -> Option<Result<FoundMethod, Status>> {
        let service = &self.theirs.service;
        Some(match &self.layout {
            LayoutState::Absent => Err(Status::unimplemented(format!("the called peer offers no service {service}"))),
            LayoutState::Renumbered(own) => match own.operations.get(method) {
                Some(operation) if own.operations.len() == self.theirs.operations.len() => Ok((*operation, None)),
                _ => Err(self.other_methods()),
            },
            LayoutState::Asked(..) => return None,
            LayoutState::Late(own) => Err(late(own.service)),
            LayoutState::Known(own, plans) => plans.served(own, method),
            LayoutState::Failed(own, error) => Err(Status::failed_precondition(format!(
                "the layout of {} at the peer ({}) cannot be used: {error}",
                own.service, self.theirs.fingerprint
            ))),
        })
    }

    fn other_methods(&self) -> Status {
        let service = &self.theirs.service;
        Status::failed_precondition(format!(
            "the operations that the peer announced for {service} do not match its layout"
        ))
    }
}

/// Returns the peer's layout of a service that does not exist locally, with a truncated name and without operation
/// numbers.
fn shortened(theirs: &PeerLayout) -> PeerLayout {
    let service = theirs.service.chars().take(NAME_SHOWN_MAX).collect();
    PeerLayout { service, fingerprint: theirs.fingerprint, operations: Vec::new() }
}

fn late(service: &str) -> Status {
    let seconds = HELD_TIME.as_secs();
    let text = format!("the peer did not send its layout of {service} within {seconds} s");
    Status::failed_precondition(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::layouts::tests::FIRST;
    use frisbee::testing::DetachedConnection;
    use tokio::runtime::Handle;

    /// Regression test: such a call was held until the connection ended.
    #[tokio::test(start_paused = true)]
    async fn call_is_not_held_after_timeout() {
        let detached = DetachedConnection::new(Handle::current(), 1 << 20);
        let connection = detached.connection();
        let layouts: Arc<PeerLayouts> = connection.attachments().get_or_insert();
        let theirs = PeerLayout {
            service: "shop.Orders".to_owned(),
            fingerprint: Fingerprint::new([7; 16]),
            operations: vec![10],
        };
        layouts.add_called(vec![theirs], |_| Some(&FIRST), |_| true, |_| false, connection);
        assert!(matches!(layouts.find(10), Some(PeerMethod::Held)));
        tokio::time::sleep(HELD_TIME + Duration::from_secs(1)).await;
        let call = HeldCall::Unary(PacketId(1), Operation::FIRST_USER, Envelope::bare(Bytes::new()), None);
        layouts.hold(call, connection);
        assert!(!layouts.holds_calls());
    }
}

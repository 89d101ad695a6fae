//! Exchange of the wire layouts of services with the peer, and the calls that wait for it.

use super::{Endpoint, REPLIES_END};
use crate::endpoint::offer::ServiceOffer;
use crate::endpoint::session::Session;
use crate::service::layouts::{HeldCall, PeerLayouts};
use crate::wire::layouts::{CALLED, PeerLayout, asked, put_layout};
use frisbee::{Hello, Operation, Outbox, PacketId, Routed, Router, extension};
use std::collections::BTreeSet;

impl Endpoint {
    /// Handles an ASK, LAYOUT or CALLS packet, by which peers exchange the layouts of services.
    pub(super) fn handle_extension(
        &self,
        session: &mut Session,
        id: PacketId,
        body: &[u8],
        outbox: &mut Outbox,
    ) -> Routed {
        match id {
            extension::ASK => self.describe_layouts(body, outbox),
            extension::LAYOUT => {
                // The local peer may also have requested the description for its own calls.
                let connection = &session.caller.connection;
                let layouts = session.layouts.clone().or_else(|| PeerLayouts::of(connection));
                let Some(released) = layouts.and_then(|layouts| layouts.handle_layout(body, connection)) else {
                    return Routed::Discarded;
                };
                for call in released {
                    let routed = self.release(session, call, outbox);
                    if matches!(routed, Routed::Close(_) | Routed::HandOff(_)) {
                        return routed;
                    }
                }
                Routed::Continue
            }
            // Only dialling peers announce the services that they call.
            extension::CALLS if self.side.accepts() => match PeerLayout::read(body) {
                // Do not compare the services of the HELLO again for each packet: they have equal layouts.
                Some(theirs) if session.layouts.is_none() && self.is_same(&theirs) => Routed::Continue,
                Some(theirs) => {
                    let mut called = vec![theirs];
                    // Operation numbers may also conflict with services that have equal layouts, so compare all of them
                    // now.
                    if session.layouts.is_none()
                        && let Some(hello) = session.caller.connection.peer().hello()
                    {
                        called.extend(PeerLayout::all(hello, CALLED));
                    }
                    self.add_called(session, called)
                }
                None => Routed::close("malformed CALLS: it does not name a service"),
            },
            _ => Routed::Discarded,
        }
    }

    /// Compares the wire layouts of the services that the peer calls with the local ones.
    pub(super) fn compare_layouts(&self, session: &mut Session, hello: &Hello) {
        let table = &self.offer.table;
        let is_same = |item: &[u8]| table.layouts.iter().any(|ours| ours.is_item(item));
        if hello.items().any(|(kind, item)| kind == CALLED && !is_same(item)) {
            let routed = self.add_called(session, PeerLayout::all(hello, CALLED).collect());
            if let Routed::Close(reason) = routed {
                session.caller.connection.close_for(reason.to_string());
            }
        }
    }

    /// Applies the wire layouts configured for compat clients, which do not send a HELLO.
    pub(super) fn use_compat_layouts(&self, session: &mut Session) {
        if !self.offer.compat.is_empty() {
            session.layouts = PeerLayouts::attach_compat(self.offer.compat_pairs(), &session.caller.connection);
        }
    }

    /// Returns whether the local layout of a service equals the peer's.
    fn is_same(&self, theirs: &PeerLayout) -> bool {
        self.offer.table.layouts.iter().any(|ours| ours.is_same(theirs))
    }

    /// Records services that the peer calls in a wire layout other than the local one. Closes the connection if there
    /// are too many or the peer has no memory left for them, because later calls would be decoded with the wrong layout.
    #[cold]
    fn add_called(&self, session: &mut Session, called: Vec<PeerLayout>) -> Routed {
        let ServiceOffer { table, mounts, .. } = &*self.offer;
        let own = |service: &str| table.layouts.iter().find(|ours| ours.service == service).copied();
        let is_mounted = |operation| Operation::user(operation).is_some_and(|operation| mounts.contains(operation));
        let has = |operation| table.get(operation).is_some() || is_mounted(operation);
        let connection = &session.caller.connection;
        let layouts = session.layouts.get_or_insert_with(|| connection.attachments().get_or_insert());
        match layouts.add_called(called, own, has, is_mounted, connection) {
            Err(reason) => Routed::close(reason),
            // Charge the packet as useless, because all of its services were known.
            Ok(changed) if changed.is_empty() => Routed::Discarded,
            Ok(changed) => {
                session.forget(&changed);
                Routed::Continue
            }
        }
    }

    /// Replies to an ASK packet with descriptions of the requested service layouts.
    #[cold]
    fn describe_layouts(&self, body: &[u8], outbox: &mut Outbox) -> Routed {
        let Some(asked) = asked(body) else { return Routed::close("malformed ASK: it has no list of fingerprints") };
        // Limit the backlog here, because the dialling side reads regardless of it.
        if !self.side.accepts() && outbox.len() >= REPLIES_END {
            return Routed::close(format!("the peer did not read {} bytes of replies", outbox.len()));
        }
        let named = self.side.calls().map(|calls| calls.with(|calls| calls.offers.named()));
        // Describe each layout once, because a peer could otherwise request 64 copies of a long description.
        for fingerprint in asked.collect::<BTreeSet<_>>() {
            let offered = self.offer.table.layouts.iter().chain(named.iter().flatten());
            put_layout(outbox, fingerprint, offered.copied().find(|layout| layout.fingerprint == fingerprint));
        }
        // Charge the packet as useless, because the descriptions are much longer than the request.
        Routed::Discarded
    }

    /// Routes a call that was held back until the peer described the layout of its service.
    fn release(&self, session: &mut Session, call: HeldCall, outbox: &mut Outbox) -> Routed {
        match call {
            HeldCall::Unary(id, operation, envelope, trace) => {
                self.serve(session, id, operation, envelope, trace.as_ref(), outbox)
            }
            HeldCall::Stream(_, first, stream) => self.stream(session, first, stream),
            HeldCall::HandOff(request) => self.hand_off(session, request),
        }
    }
}

//! Services that the local peer calls on a connection, and their announcement to the remote peer.

use crate::Status;
use crate::calls::NotSent;
use crate::schema::layout::Layout;
use crate::wire::layouts::{OFFERED, PeerLayout, put_calls};
use frisbee::{Outbox, PeerKind};
use std::sync::Arc;

/// Services called on a connection, and the wire layout of each. Checked before each call.
#[derive(Default, Debug)]
pub(crate) struct CalledServices {
    /// Layout of the most recently called service that needs no translation by the local peer. Checked first.
    last: Option<&'static Layout>,
    /// Services that can be called in the local wire layout, because the peer uses the same layout or translates
    /// messages.
    known: Vec<&'static Layout>,
    /// Kind of the peer, if known. Determines the wire layout of its services.
    peer: PeerKind,
    /// Services that were announced to the peer in the local HELLO.
    named: Arc<[&'static Layout]>,
    /// Configured wire layouts of services on compat servers, which may equal the local layouts.
    compat: Arc<[&'static Layout]>,
}

/// Wire layout for the messages of a service on a connection.
#[derive(Debug)]
pub(crate) enum Rules {
    /// Messages are sent in the local layout. If the peer's layout differs, the peer translates them.
    Own,
    /// Messages are translated by the local peer to the layout of the remote peer, which dialled the connection.
    Translated(PeerLayout),
    /// Messages are sent in the layout that compat servers use.
    Compat(&'static Layout),
}

impl CalledServices {
    pub(crate) fn new(named: Arc<[&'static Layout]>, compat: Arc<[&'static Layout]>) -> Self {
        Self { named, compat, ..Self::default() }
    }

    /// Records the kind of the peer once it is known.
    pub(crate) fn handle_peer_known(&mut self, peer: &PeerKind) {
        self.peer = peer.clone();
        self.last = None;
    }

    /// Returns the layouts that the peer may request descriptions of.
    pub(crate) fn named(&self) -> Vec<&'static Layout> {
        self.named.iter().chain(&self.known).copied().collect()
    }

    /// Returns whether the previous check found this service callable in the local layout.
    pub(crate) fn is_last(&self, layout: &'static Layout) -> bool {
        self.last.is_some_and(|last| std::ptr::eq(last, layout))
    }

    /// Returns the layout for calls to a service. If the local peer dialled, also announces the service to the remote
    /// peer, unless the local HELLO has already named the service.
    ///
    /// # Errors
    /// [`NotSent::Failed`] if a service that was announced or called before uses one of the operation numbers.
    /// [`NotSent::Unclear`] if the kind of the peer is unknown, unless the local HELLO has named the service and compat
    /// servers use the local layout.
    pub(crate) fn check(
        &mut self,
        layout: &'static Layout,
        is_dialler: bool,
        outbox: &mut Outbox,
    ) -> Result<Rules, NotSent> {
        if self.known.contains(&layout) {
            self.last = Some(layout);
            return Ok(Rules::Own);
        }
        let conflicts = |other: &&&'static Layout| {
            **other != layout && other.operations.iter().any(|operation| layout.operations.contains(operation))
        };
        if let Some(other) = self.named.iter().chain(&self.known).find(conflicts) {
            return Err(NotSent::Failed(conflict(layout, other).not_run()));
        }
        let compat = self.compat.iter().copied().find(|theirs| theirs.service == layout.service && *theirs != layout);
        match &self.peer {
            // Wait until the kind of the server is known, because the encoding of the request depends on it.
            PeerKind::Unknown if compat.is_some() || !self.named.contains(&layout) => return Err(NotSent::Unclear),
            PeerKind::Native(hello) => {
                let theirs = PeerLayout::all(hello, OFFERED).find(|theirs| theirs.service == layout.service);
                match theirs {
                    Some(theirs) if layout.is_same(&theirs) => {}
                    Some(theirs) if !is_dialler => return Ok(Rules::Translated(theirs)),
                    _ if is_dialler && !self.named.contains(&layout) => put_calls(outbox, layout),
                    _ => {}
                }
            }
            PeerKind::Compat => {
                if let Some(theirs) = compat {
                    return Ok(Rules::Compat(theirs));
                }
            }
            PeerKind::Unknown => {}
        }
        self.known.push(layout);
        self.last = Some(layout);
        Ok(Rules::Own)
    }

    /// Returns whether the peer's layout of the service differs from the local one.
    pub(crate) fn differs(&self, layout: &Layout) -> bool {
        let offered = self.peer.hello().into_iter().flat_map(|hello| PeerLayout::all(hello, OFFERED));
        offered.filter(|theirs| theirs.service == layout.service).any(|theirs| !layout.is_same(&theirs))
    }
}

#[cold]
fn conflict(layout: &Layout, other: &Layout) -> Status {
    Status::failed_precondition(format!(
        "{layout} and {other} have common operations and cannot be called on one connection: use a channel for each"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::layouts::tests::{APART, FIRST, SECOND, peer_with_layouts};

    #[test]
    fn unnamed_service_is_announced_before_first_call() {
        let mut services = CalledServices::new(Arc::new([&FIRST]), Arc::default());
        let mut outbox = Outbox::default();
        let mut check = |services: &mut CalledServices, layout, is_dialler| {
            let checked = services.check(layout, is_dialler, &mut outbox);
            (checked, std::mem::take(&mut outbox).len())
        };
        assert!(matches!(check(&mut services, &FIRST, true), (Ok(Rules::Own), 0)));
        assert!(matches!(check(&mut services, &APART, true), (Err(NotSent::Unclear), 0)));
        services.handle_peer_known(&peer_with_layouts(OFFERED, &[&SECOND]));
        assert!(matches!(check(&mut services, &FIRST, true), (Ok(Rules::Own), 0)));
        assert!(!services.is_last(&APART));
        let (checked, length) = check(&mut services, &APART, true);
        assert!(matches!(checked, Ok(Rules::Own)) && length > APART.item().len());
        assert!(services.is_last(&APART));
        assert!(
            matches!(check(&mut services, &APART, true), (Ok(Rules::Own), 0)),
            "service should be announced only once"
        );
    }

    #[test]
    fn accepting_end_translates_to_client_layout() {
        let mut services = CalledServices::default();
        let mut check = |layout| services.check(layout, false, &mut Outbox::default());
        assert!(matches!(check(&FIRST), Err(NotSent::Unclear)));
        services.handle_peer_known(&peer_with_layouts(OFFERED, &[&SECOND, &APART]));
        let mut check = |layout| services.check(layout, false, &mut Outbox::default());
        assert!(matches!(check(&FIRST), Ok(Rules::Translated(theirs)) if theirs.fingerprint == SECOND.fingerprint));
        assert!(matches!(check(&APART), Ok(Rules::Own)));
    }
}

//! The services of a server that a client may call, and the layout rules of each.

use crate::Status;
use crate::calls::NotSent;
use crate::schema::layout::Layout;
use crate::schema::method::Method;
use crate::wire::layouts::{LayoutMatch, OFFERED, PeerLayout, misfit};
use frisbee::PeerKind;
use std::sync::Arc;

/// A client's view of its server's services, checked before each call.
#[derive(Default, Debug)]
pub(crate) struct OfferedServices {
    /// The layout of the last call.
    last: Option<&'static Layout>,
    /// All layouts that were found compatible.
    layouts: Vec<(&'static Layout, Rules)>,
    /// The kind of the server.
    peer: PeerKind,
    /// The services announced in this end's HELLO. The server rejects calls to those that are incompatible.
    named: Arc<[&'static Layout]>,
}

/// The layout rules for calls of a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rules {
    Same,
    /// The server has an earlier layout.
    Older,
}

impl Rules {
    /// Returns the number of trailing fields that a reply of `method` may lack.
    pub(crate) fn missing(self, method: &Method) -> u32 {
        match self {
            Self::Same => 0,
            Self::Older => method.added.1,
        }
    }
}

impl OfferedServices {
    pub(crate) fn new(named: Arc<[&'static Layout]>) -> Self {
        Self { last: None, layouts: Vec::new(), peer: PeerKind::Unknown, named }
    }

    /// Records the kind of the server.
    pub(crate) fn handle_peer_known(&mut self, peer: &PeerKind) {
        self.peer = peer.clone();
        self.last = None;
        self.layouts.clear();
    }

    /// Returns whether the service is that of the last call.
    pub(crate) fn is_last(&self, layout: &'static Layout) -> bool {
        self.last.is_some_and(|last| std::ptr::eq(last, layout))
    }

    /// Returns the layout rules of a service if it may be called. A call sent before the kind of the server is known is
    /// checked again when it is answered.
    pub(crate) fn check(&mut self, layout: &'static Layout) -> Result<Rules, NotSent> {
        if let Some((_, rules)) = self.layouts.iter().find(|(layouts, _)| std::ptr::eq(*layouts, layout)) {
            self.last = Some(layout);
            return Ok(*rules);
        }
        let rules = match &self.peer {
            PeerKind::Unknown if self.named.contains(&layout) => Rules::Same,
            PeerKind::Unknown => return Err(NotSent::Unclear),
            peer => rules(layout, peer).map_err(NotSent::Failed)?,
        };
        self.layouts.push((layout, rules));
        self.last = Some(layout);
        Ok(rules)
    }
}

/// Returns the layout rules of a service if a peer of known kind accepts calls to it.
pub(crate) fn rules(layout: &'static Layout, peer: &PeerKind) -> Result<Rules, Status> {
    let Some(hello) = peer.hello() else { return Ok(Rules::Same) };
    for theirs in PeerLayout::all(hello, OFFERED) {
        if theirs.service == layout.service {
            return match layout.fit(&theirs) {
                LayoutMatch::Whole => Ok(Rules::Same),
                LayoutMatch::Older => Ok(Rules::Older),
                LayoutMatch::Not => Err(misfit(layout).not_run()),
            };
        }
        if theirs.operations.iter().any(|operation| layout.operations.contains(operation)) {
            let other = format!(
                "the server does not offer the service {}; its operations belong to {}",
                layout.service, theirs.service
            );
            return Err(Status::unimplemented(other).not_run());
        }
    }
    // A proxy need not announce the services of its back ends.
    Ok(Rules::Same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::layouts::tests::{APART, BROKEN, FIRST, OTHER, SECOND, peer_with_layouts};

    #[test]
    fn named_services_are_called_before_server_hello() {
        let mut offers = OfferedServices::new(Arc::new([&FIRST]));
        assert_eq!(offers.check(&FIRST).unwrap(), Rules::Same);
        assert!(matches!(offers.check(&APART), Err(NotSent::Unclear)));
        offers.handle_peer_known(&peer_with_layouts(OFFERED, &[&SECOND]));
        assert_eq!(offers.check(&FIRST).unwrap(), Rules::Same);
        assert_eq!(offers.check(&APART).unwrap(), Rules::Same, "nothing is in its place");
        assert!(
            matches!(offers.check(&BROKEN), Err(NotSent::Failed(status)) if status.code() == crate::Code::FailedPrecondition)
        );
        assert!(
            matches!(offers.check(&OTHER), Err(NotSent::Failed(status)) if status.code() == crate::Code::Unimplemented)
        );
        offers.handle_peer_known(&peer_with_layouts(OFFERED, &[&FIRST]));
        assert_eq!(offers.check(&SECOND).unwrap(), Rules::Older);
        offers.handle_peer_known(&PeerKind::Compat);
        assert_eq!(offers.check(&BROKEN).unwrap(), Rules::Same, "Go sends no layouts");
    }

    #[test]
    fn older_server_replies_lack_fields_appended_since() {
        let method = Method { added: (2, 3), ..Method::new(&SECOND, "Place", 10) };
        assert_eq!([Rules::Same, Rules::Older].map(|rules| rules.missing(&method)), [0, 3]);
    }

    #[test]
    fn last_called_service_is_cached_until_change() {
        let mut offers = OfferedServices::new(Arc::new([&FIRST, &APART]));
        assert!(!offers.is_last(&FIRST), "it has not been called");
        for (called, other) in [(&FIRST, &APART), (&APART, &FIRST), (&FIRST, &APART)] {
            offers.check(called).unwrap();
            assert!(offers.is_last(called) && !offers.is_last(other));
        }
        offers.handle_peer_known(&PeerKind::Compat);
        assert!(!offers.is_last(&FIRST), "the rules may be others");
    }
}

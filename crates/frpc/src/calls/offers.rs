//! Which services of its server a client may call, and by which rules.

use crate::Status;
use crate::schema::layout::Layout;
use crate::schema::method::Method;
use crate::wire::layouts::{Fit, OFFERED, Told, misfit};
use frisbee::PeerKind;
use std::sync::Arc;

/// What a client knows of the services at the other end, which it asks before each call.
#[derive(Default, Debug)]
pub(crate) struct Offers {
    /// The layout that was last found callable.
    last: Option<&'static Layout>,
    /// All that were.
    known: Vec<(&'static Layout, Rules)>,
    /// What the server is.
    peer: PeerKind,
    /// The services that our HELLO has named: the server refuses calls to them that do not fit.
    named: Arc<[&'static Layout]>,
}

/// By which rules a service is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rules {
    Same,
    /// The server has an earlier layout.
    Older,
}

impl Rules {
    /// How many fields may be missing at the end of a reply from `method`.
    pub(crate) fn missing(self, method: &Method) -> u32 {
        match self {
            Self::Same => 0,
            Self::Older => method.added.1,
        }
    }
}

/// Why a service is not called.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// What the server has is not known yet.
    Unclear,
    Failed(Status),
}

impl Offers {
    pub(crate) fn new(named: Arc<[&'static Layout]>) -> Self {
        Self { last: None, known: Vec::new(), peer: PeerKind::Unknown, named }
    }

    /// Takes in what the server is.
    pub(crate) fn handle_peer_known(&mut self, peer: &PeerKind) {
        self.peer = peer.clone();
        self.last = None;
        self.known.clear();
    }

    /// Whether the service is the one that was last found callable.
    #[inline(always)]
    pub(crate) fn is_last(&self, layout: &'static Layout) -> bool {
        self.last.is_some_and(|last| std::ptr::eq(last, layout))
    }

    /// Whether a service may be called, and by which rules. A call that is sent before the server has shown what it is
    /// has to ask again when it is answered.
    #[cold]
    #[inline(never)]
    pub(crate) fn ask(&mut self, layout: &'static Layout) -> Result<Rules, Refusal> {
        if let Some((_, rules)) = self.known.iter().find(|(known, _)| std::ptr::eq(*known, layout)) {
            self.last = Some(layout);
            return Ok(*rules);
        }
        let rules = match &self.peer {
            PeerKind::Unknown if self.named.contains(&layout) => Rules::Same,
            PeerKind::Unknown => return Err(Refusal::Unclear),
            peer => rules(layout, peer).map_err(Refusal::Failed)?,
        };
        self.known.push((layout, rules));
        self.last = Some(layout);
        Ok(rules)
    }
}

/// Whether a service of a peer that has shown what it is may be called, and by which rules.
pub(crate) fn rules(layout: &'static Layout, peer: &PeerKind) -> Result<Rules, Status> {
    let Some(hello) = peer.hello() else { return Ok(Rules::Same) };
    for theirs in Told::all(hello, OFFERED) {
        if theirs.service == layout.service {
            return match layout.fit(&theirs) {
                Fit::Whole => Ok(Rules::Same),
                Fit::Older => Ok(Rules::Older),
                Fit::Not => Err(misfit(layout).unsent()),
            };
        }
        if theirs.operations.iter().any(|operation| layout.operations.contains(operation)) {
            let other = format!(
                "the server does not offer the service {}; its operations belong to {}",
                layout.service, theirs.service
            );
            return Err(Status::unimplemented(other).unsent());
        }
    }
    // One that passes calls on need not say what it offers.
    Ok(Rules::Same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::layouts::samples::{APART, BROKEN, FIRST, OTHER, SECOND, told};

    #[test]
    fn a_client_calls_named_services_at_once_and_others_when_the_server_is_known() {
        let mut offers = Offers::new(Arc::new([&FIRST]));
        assert_eq!(offers.ask(&FIRST).unwrap(), Rules::Same);
        assert!(matches!(offers.ask(&APART), Err(Refusal::Unclear)));
        offers.handle_peer_known(&told(OFFERED, &[&SECOND]));
        assert_eq!(offers.ask(&FIRST).unwrap(), Rules::Same);
        assert_eq!(offers.ask(&APART).unwrap(), Rules::Same, "nothing is in its place");
        assert!(
            matches!(offers.ask(&BROKEN), Err(Refusal::Failed(status)) if status.code() == crate::Code::FailedPrecondition)
        );
        assert!(
            matches!(offers.ask(&OTHER), Err(Refusal::Failed(status)) if status.code() == crate::Code::Unimplemented)
        );
        offers.handle_peer_known(&told(OFFERED, &[&FIRST]));
        assert_eq!(offers.ask(&SECOND).unwrap(), Rules::Older);
        offers.handle_peer_known(&PeerKind::Plain);
        assert_eq!(offers.ask(&BROKEN).unwrap(), Rules::Same, "Go tells nothing of its layouts");
    }
}

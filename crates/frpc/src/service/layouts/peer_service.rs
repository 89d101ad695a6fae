//! One service of the peer whose layout differs from the local one, and the progress of obtaining its layout.

use crate::schema::layout::Layout;
use crate::service::layouts::{HELD_TIME, NO_MEMORY};
use crate::wire::layouts::PeerLayout;
use crate::wire::translation::{Caller, FoundMethod, ServicePlans};
use crate::{Status, clock};
use frisbee::rpc::ConnectionExt;
use frisbee::{Connection, MemoryCharge};
use polyglot::Form;
use std::sync::Arc;
use std::time::Instant;

/// Maximum number of characters of a service name in a status message.
const NAME_SHOWN_MAX: usize = 256;

/// A service that the peer calls or offers in a wire layout that differs from the local one.
#[derive(Debug)]
pub(super) struct PeerService {
    pub(super) theirs: PeerLayout,
    pub(super) caller: Caller,
    pub(super) layout: LayoutState,
}

/// Progress of obtaining the peer's wire layout of a service.
#[derive(Debug)]
pub(super) enum LayoutState {
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

impl LayoutState {
    pub(super) fn new(own: &'static Layout, theirs: &PeerLayout, caller: Caller) -> Self {
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
    pub(super) fn compat(own: &'static Layout, theirs: &Layout, caller: Caller) -> Self {
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
    pub(super) fn method(&self, method: usize) -> Option<Result<FoundMethod, Status>> {
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

    pub(super) fn other_methods(&self) -> Status {
        let service = &self.theirs.service;
        Status::failed_precondition(format!(
            "the operations that the peer announced for {service} do not match its layout"
        ))
    }
}

/// Creates the plans for a described layout, and charges their memory to the peer. Closes the connection if the peer's
/// share of the memory has no room for them.
pub(super) fn charged_plans(
    own: &'static Layout,
    description: &[u8],
    caller: Caller,
    connection: &Connection,
    charges: &mut Vec<MemoryCharge>,
) -> Result<Arc<ServicePlans>, String> {
    let plans = ServicePlans::new(own, description, caller, Form::Extended)?;
    let Some(charge) = connection.try_charge(plans.memory) else {
        connection.count_rejected();
        // This end requests a layout only once per connection. Close the connection, because the calls of the service
        // would otherwise be rejected even when memory is available again.
        connection.close_for(NO_MEMORY);
        return Err(NO_MEMORY.to_owned());
    };
    charges.push(charge);
    Ok(plans)
}

/// Returns the peer's layout of a service that does not exist locally, with a truncated name and without operation
/// numbers.
pub(super) fn shortened(theirs: &PeerLayout) -> PeerLayout {
    let service = theirs.service.chars().take(NAME_SHOWN_MAX).collect();
    PeerLayout { service, fingerprint: theirs.fingerprint, operations: Vec::new() }
}

pub(super) fn late(service: &str) -> Status {
    let seconds = HELD_TIME.as_secs();
    let text = format!("the peer did not send its layout of {service} within {seconds} s");
    Status::failed_precondition(text)
}

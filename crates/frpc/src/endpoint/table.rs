//! The methods that a server or client offers, by operation number.

use crate::api::authorize::{Authorize, PeerRules};
use crate::api::middleware::Chain;
use crate::observe::observers::{MethodObserver, ObservedCall, Observers};
use crate::observe::{CallSide, ObservedMethod};
use crate::schema::layout::Layout;
use crate::schema::method::Method;
use crate::service::admission::{Guard, admit};
use crate::service::erased::{Entry, HandlerPlacement, Kind};
use crate::service::invoke::InvokeSettings;
use crate::service::methods::Methods;
use crate::wire::body::DecodeOptions;
use crate::wire::prefix::Prefix;
use crate::{Error, Policy, Status};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Methods that a server or client offers, indexed by operation number.
#[derive(Default)]
pub(crate) struct Table {
    /// Served methods, sorted by operation number.
    served: Vec<ServedMethod>,
    /// Operation numbers by service name and method name, sorted by name.
    names: BTreeMap<(&'static str, &'static str), u16>,
    pub(crate) layouts: Vec<&'static Layout>,
}

/// A served method with its middleware, access rule and observer.
pub(crate) struct ServedMethod {
    pub(crate) entry: Entry,
    pub(crate) running: HandlerPlacement,
    /// Middleware around the calls of the method: that of the server, then of the service, then of the method itself.
    pub(crate) chain: Option<Arc<Chain>>,
    /// Whether callers may request a connection hand-off.
    pub(crate) hands_off: bool,
    /// Observer of the method's calls.
    pub(crate) method_observer: Option<MethodObserver>,
    /// Whether to compress responses to peers that support it.
    pub(crate) compresses: bool,
    /// Index of the method's access rule.
    pub(crate) rule: Option<usize>,
}

impl ServedMethod {
    fn operation(&self) -> u16 {
        self.entry.method.operation.number()
    }

    /// Returns the settings for creating a connection's instance of the method.
    pub(crate) fn settings(&self, reading: DecodeOptions, rules: Option<&Arc<dyn PeerRules>>) -> InvokeSettings<'_> {
        InvokeSettings {
            running: &self.running,
            reading: reading.with_length_max(self.entry.length_max),
            chain: self.chain.as_ref(),
            method_observer: self.method_observer.as_ref(),
            guard: self.guard(rules),
            compresses: false,
            translation: None,
            permits: None,
            format: None,
        }
    }

    /// Authorizes a streaming call and starts observing it. Returns its options, completed by the authorization, and
    /// the observed call if there are observers.
    pub(crate) fn admit_stream(
        &self,
        rules: Option<&Arc<dyn PeerRules>>,
        mut options: Option<Box<Prefix>>,
    ) -> Result<(Box<Prefix>, Option<ObservedCall>), Status> {
        let trace = options.as_ref().and_then(|options| options.trace);
        // Begin observing before checking the rules, so that denied calls are reported too.
        let observed_call = self.method_observer.as_ref().map(|method_observer| method_observer.begin(trace));
        match admit(self.guard(rules).as_ref(), &mut options) {
            Ok(()) => Ok((options.unwrap_or_default(), observed_call)),
            Err(status) => {
                observed_call.into_iter().for_each(|observed_call| observed_call.end(status.code(), 0));
                Err(status)
            }
        }
    }

    /// Returns the guard that checks a peer's calls of the method against the access rules.
    pub(crate) fn guard(&self, rules: Option<&Arc<dyn PeerRules>>) -> Option<Guard> {
        rules.map(|rules| Guard::new(rules, self.rule, self.entry.method))
    }
}

/// Per-method settings of a server builder.
#[derive(Clone, Debug, Default)]
pub(crate) struct MethodSettings {
    pub(crate) policy: Option<Policy>,
    /// Whether callers may request a connection hand-off.
    pub(crate) hands_off: bool,
    /// Whether to compress the method's responses.
    pub(crate) compresses: bool,
}

impl Table {
    pub(crate) fn new(
        services: Vec<Methods>,
        default: Policy,
        mut settings: BTreeMap<String, MethodSettings>,
        chain: &Chain,
        observers: Option<&Arc<Observers>>,
        access: Option<&dyn Authorize>,
    ) -> Result<Self, Error> {
        let mut table = Self::default();
        if let Some(unknown) = services.iter().find_map(|methods| methods.unknown.clone()) {
            return Err(Error::UnknownMethod(unknown));
        }
        table.layouts = services.iter().map(|methods| methods.layout).collect();
        for entry in services.into_iter().flat_map(|methods| methods.entries) {
            let name = entry.method.to_string();
            let operation = entry.method.operation.number();
            let place = match table.position(operation) {
                Err(place) => place,
                Ok(other) => {
                    let methods = [table.served[other].entry.method.to_string(), name];
                    return Err(Error::Overlap { operation, methods });
                }
            };
            // Remove the settings of each method. Settings that remain after the loop name an unknown method.
            let MethodSettings { policy, hands_off, compresses } = settings.remove(&name).unwrap_or_default();
            if matches!(entry.kind, Kind::Stream(_)) {
                if matches!(policy, Some(Policy::AtMost(_))) {
                    return Err(Error::StreamingPolicy(name));
                }
                if hands_off {
                    return Err(Error::StreamingHandOff(name));
                }
            }
            let chain = chain.followed_by(&entry.chain).present();
            let running = HandlerPlacement { policy: policy.unwrap_or(default), permission: Arc::default() };
            let about = ObservedMethod::new(CallSide::Server, entry.method, entry.offered.kind());
            let method_observer = observers.map(|observers| observers.method_observer(about));
            let rule = access.and_then(|access| access.rule(&name));
            let names = (entry.method.layout.service(), entry.method.name);
            table.names.insert(names, operation);
            let method = ServedMethod { entry, running, chain, hands_off, method_observer, compresses, rule };
            table.served.insert(place, method);
        }
        let ruled = access.into_iter().flat_map(Authorize::methods);
        let is_unknown =
            |name: &String| name.split_once('/').and_then(|(service, name)| table.operation(service, name)).is_none();
        // Report the smallest name, so that the error does not depend on the order of the rules.
        let unknown = ruled.filter(is_unknown).min();
        match settings.into_keys().chain(unknown).next() {
            Some(unknown) => Err(Error::UnknownMethod(unknown)),
            None => Ok(table),
        }
    }

    /// Returns whether the table has no methods.
    pub(crate) fn is_empty(&self) -> bool {
        self.served.is_empty()
    }

    /// Returns an iterator over all methods, sorted by operation number.
    pub(crate) fn methods(&self) -> impl Iterator<Item = Method> {
        self.served.iter().map(|served| served.entry.method)
    }

    /// Returns the operation number of a method, given the full name of its service and the method's name.
    pub(crate) fn operation(&self, service: &str, method: &str) -> Option<u16> {
        self.names.get(&(service, method)).copied()
    }

    pub(crate) fn get(&self, operation: u16) -> Option<&ServedMethod> {
        self.position(operation).ok().map(|at| &self.served[at])
    }

    pub(crate) fn operations(&self) -> Vec<RangeInclusive<u16>> {
        self.served.iter().map(ServedMethod::operation).map(|operation| operation..=operation).collect()
    }

    /// Returns the index of the method with this operation number, or the index at which to insert it.
    fn position(&self, operation: u16) -> Result<usize, usize> {
        self.served.binary_search_by_key(&operation, ServedMethod::operation)
    }
}

//! The methods of a server by operation.

use crate::api::authorize::{Authorize, PeerRules};
use crate::api::middleware::Chain;
use crate::observe::observers::{MethodObserver, Observers};
use crate::observe::{CallSide, ObservedMethod};
use crate::schema::layout::Layout;
use crate::schema::method::Method;
use crate::service::admission::Guard;
use crate::service::erased::{Entry, HandlerPlacement, Kind};
use crate::service::invoke::InvokeSettings;
use crate::service::methods::Methods;
use crate::wire::body::DecodeOptions;
use crate::{Error, Policy};
use frisbee::Operation;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The first operation for services about the server itself, such as reflection and health: frpc-build gives no method
/// of a user an operation from here on. They are far from the methods of users, which begin at 10.
const KEPT_FIRST: u16 = 65_000;

/// The methods of a server by operation.
#[derive(Default)]
pub(crate) struct Table {
    /// The methods below [`KEPT_FIRST`], by operation minus 10.
    served: Vec<Option<ServedMethod>>,
    /// The methods from [`KEPT_FIRST`] on, by operation minus that. Apart, since a table with all between would take
    /// megabytes.
    reserved: Vec<Option<ServedMethod>>,
    /// The operations of methods by the names of their service and of their own.
    names: HashMap<(&'static str, &'static str), u16>,
    pub(crate) layouts: Vec<&'static Layout>,
}

/// A method with its settings.
pub(crate) struct ServedMethod {
    pub(crate) entry: Entry,
    pub(crate) running: HandlerPlacement,
    /// The middleware around its calls: that of the server, of the service and of the method.
    pub(crate) chain: Option<Arc<Chain>>,
    /// Callers may request a hand-off by it.
    pub(crate) hands_off: bool,
    /// Who observes its calls.
    pub(crate) method_observer: Option<MethodObserver>,
    /// Its replies are packed for peers that unpack.
    pub(crate) packs: bool,
    /// The number of the rule for its callers, if the end has rules.
    pub(crate) rule: Option<usize>,
}

impl ServedMethod {
    /// The settings of the method for one connection.
    pub(crate) fn settings(&self, reading: DecodeOptions, rules: Option<&Arc<dyn PeerRules>>) -> InvokeSettings<'_> {
        InvokeSettings {
            running: &self.running,
            reading,
            chain: self.chain.as_ref(),
            method_observer: self.method_observer.as_ref(),
            guard: self.guard(rules),
            unpacks: false,
            packs: false,
            permits: None,
            format: None,
        }
    }

    /// The rules of the method for a peer.
    pub(crate) fn guard(&self, rules: Option<&Arc<dyn PeerRules>>) -> Option<Guard> {
        rules.map(|rules| Guard::new(rules, self.rule, self.entry.method))
    }
}

/// The settings of single methods, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct MethodSettings {
    pub(crate) policies: HashMap<String, Policy>,
    /// The methods that hand connections off.
    pub(crate) hand_offs: HashSet<String>,
    /// The methods whose replies are packed.
    pub(crate) packed: HashSet<String>,
}

impl Table {
    pub(crate) fn new(
        services: Vec<Methods>,
        default: Policy,
        mut settings: MethodSettings,
        chain: &Chain,
        observers: Option<&Arc<Observers>>,
        access: Option<&dyn Authorize>,
    ) -> Result<Self, Error> {
        let (mut low, mut reserved): (Vec<Option<ServedMethod>>, Vec<Option<ServedMethod>>) = Default::default();
        if let Some(unknown) = services.iter().find_map(|methods| methods.unknown.clone()) {
            return Err(Error::UnknownMethod(unknown));
        }
        let layouts: Vec<_> = services.iter().map(|methods| methods.layout).collect();
        for entry in services.into_iter().flat_map(|methods| methods.entries) {
            let name = entry.method.to_string();
            let (served, index) = match reserved_index(entry.method.operation) {
                Some(index) => (&mut reserved, index),
                None => (&mut low, index(entry.method.operation)),
            };
            if served.len() <= index {
                served.resize_with(index + 1, || None);
            }
            if let Some(other) = &served[index] {
                let operation = entry.method.operation.number();
                return Err(Error::Overlap { operation, methods: [other.entry.method.to_string(), name] });
            }
            let (policy, hands_off) = (settings.policies.remove(&name), settings.hand_offs.remove(&name));
            let packs = settings.packed.remove(&name);
            if matches!(entry.kind, Kind::Stream(_)) {
                if matches!(policy, Some(Policy::AtMost(_))) {
                    return Err(Error::StreamingPolicy(name));
                }
                if hands_off {
                    return Err(Error::StreamingHandOff(name));
                }
            }
            let chain = chain.followed_by(&entry.chain).present();
            let running = HandlerPlacement { policy: policy.unwrap_or(default), trust: Arc::default() };
            let about = ObservedMethod::new(CallSide::Server, entry.method, entry.face().about().kind());
            let method_observer = observers.map(|observers| observers.method_observer(about));
            let rule = access.and_then(|access| access.rule(&name));
            served[index] = Some(ServedMethod { entry, running, chain, hands_off, method_observer, packs, rule });
        }
        let table = Self::of(low, reserved, layouts);
        let ruled = access.into_iter().flat_map(Authorize::methods);
        let unknown = ruled.filter(|name| !table.has(name)).min();
        let MethodSettings { policies, hand_offs, packed } = settings;
        match policies.into_keys().chain(hand_offs).chain(packed).chain(unknown).next() {
            Some(unknown) => Err(Error::UnknownMethod(unknown)),
            None => Ok(table),
        }
    }

    fn of(
        served: Vec<Option<ServedMethod>>,
        reserved: Vec<Option<ServedMethod>>,
        layouts: Vec<&'static Layout>,
    ) -> Self {
        let methods = served.iter().chain(&reserved).flatten().map(|served| served.entry.method);
        let names = methods.map(|method| ((method.layout.service(), method.name), method.operation.number()));
        Self { names: names.collect(), served, reserved, layouts }
    }

    /// Whether there is a method with this full name.
    fn has(&self, name: &str) -> bool {
        name.split_once('/').is_some_and(|name| self.names.contains_key(&name))
    }

    /// Whether no service is offered.
    pub(crate) fn is_empty(&self) -> bool {
        self.served.is_empty() && self.reserved.is_empty()
    }

    /// All methods, in the order of their operations.
    pub(crate) fn methods(&self) -> impl Iterator<Item = Method> {
        self.served.iter().chain(&self.reserved).flatten().map(|served| served.entry.method)
    }

    /// The operation of a method, by the full name of its service and its own.
    pub(crate) fn operation(&self, service: &str, method: &str) -> Option<u16> {
        self.names.get(&(service, method)).copied()
    }

    pub(crate) fn get(&self, operation: u16) -> Option<&ServedMethod> {
        let operation = Operation::user(operation)?;
        match self.served.get(index(operation)) {
            Some(served) => served.as_ref(),
            None => self.get_reserved(operation),
        }
    }

    fn get_reserved(&self, operation: Operation) -> Option<&ServedMethod> {
        self.reserved.get(reserved_index(operation)?)?.as_ref()
    }

    pub(crate) fn operations(&self) -> Vec<RangeInclusive<u16>> {
        let operations = self.methods().map(|method| method.operation.number());
        operations.map(|operation| operation..=operation).collect()
    }
}

fn index(operation: Operation) -> usize {
    usize::from(operation.number() - Operation::FIRST_USER.number())
}

fn reserved_index(operation: Operation) -> Option<usize> {
    operation.number().checked_sub(KEPT_FIRST).map(usize::from)
}

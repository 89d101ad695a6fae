//! Conversion of the EndpointSlices of a Service to endpoints.

use crate::resolve::{ENDPOINTS_MAX, Endpoint};
use kube::Resource;
use kube::core::{NamespaceResourceScope, ObjectMeta};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Maximum number of EndpointSlices of a Service. Kubernetes creates slices of a hundred endpoints; the limit also
/// bounds the number of empty slices.
const SLICES_MAX: usize = 10_000;

/// Maximum number of endpoints in all EndpointSlices. An endpoint that moves between slices is temporarily in both.
const BACKENDS_MAX: usize = 2 * ENDPOINTS_MAX;

/// A port of the pods that belong to a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Port {
    /// Name of the port in the Service. Empty for a single unnamed port.
    Name(String),
    /// Port number of the pods, which is the `targetPort` of the Service rather than its `port`. If the Service
    /// declares no ports, any number is accepted.
    Number(u16),
}

impl From<&str> for Port {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for Port {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<u16> for Port {
    fn from(number: u16) -> Self {
        Self::Number(number)
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{name:?}"),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// An EndpointSlice. The type in `k8s-openapi` would depend on the version of Kubernetes.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Value")]
pub(crate) struct EndpointSlice {
    pub(crate) metadata: ObjectMeta,
    /// The other fields, or the reason why they could not be decoded. A malformed slice thus does not fail the list or
    /// the watch that contains it.
    pub(crate) fields: Result<SliceFields, String>,
}

/// The fields of an EndpointSlice that the resolver uses.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SliceFields {
    #[serde(default)]
    address_type: String,
    endpoints: Option<Vec<SliceEndpoint>>,
    ports: Option<Vec<EndpointPort>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SliceEndpoint {
    addresses: Vec<String>,
    conditions: Option<EndpointConditions>,
    zone: Option<String>,
    node_name: Option<String>,
    target_ref: Option<TargetRef>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct EndpointConditions {
    ready: Option<bool>,
    serving: Option<bool>,
    terminating: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
struct TargetRef {
    kind: Option<String>,
    name: Option<String>,
    uid: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct EndpointPort {
    name: Option<String>,
    port: Option<u16>,
    protocol: Option<String>,
}

impl From<Value> for EndpointSlice {
    fn from(slice: Value) -> Self {
        let metadata = ObjectMeta::deserialize(&slice["metadata"]);
        let fields = match &metadata {
            Ok(_) => SliceFields::deserialize(slice).map_err(|error| format!("malformed: {error}")),
            Err(error) => Err(format!("malformed metadata: {error}")),
        };
        Self { metadata: metadata.unwrap_or_default(), fields }
    }
}

impl Resource for EndpointSlice {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind(_: &()) -> Cow<'_, str> {
        "EndpointSlice".into()
    }

    fn group(_: &()) -> Cow<'_, str> {
        "discovery.k8s.io".into()
    }

    fn version(_: &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural(_: &()) -> Cow<'_, str> {
        "endpointslices".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// State of an endpoint, which decides whether it receives calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    /// The endpoint is terminating but still serves. It receives calls only if no endpoint is ready.
    Leaving,
    /// The endpoint should receive no calls.
    Off,
}

/// Returns the state of an endpoint as defined by the Kubernetes API: `ready` defaults to true, `serving` to `ready`,
/// and `terminating` to false.
fn state(conditions: &EndpointConditions) -> State {
    let ready = conditions.ready.unwrap_or(true);
    match (ready, conditions.serving.unwrap_or(ready), conditions.terminating.unwrap_or(false)) {
        (true, _, _) => State::Ready,
        (false, true, true) => State::Leaving,
        _ => State::Off,
    }
}

/// An endpoint of an EndpointSlice: the address of a pod with its state.
#[derive(Debug)]
struct Backend {
    address: SocketAddr,
    state: State,
    zone: Option<String>,
    node: Option<String>,
    pod: Option<String>,
    /// Identifier of the pod. A pod with addresses of both families is a single server.
    uid: Option<String>,
}

/// The endpoints of an EndpointSlice that have the requested port.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    backends: Vec<Backend>,
    /// Reason why the EndpointSlice contributes no endpoints, if it does not.
    failure: Option<String>,
}

impl Slice {
    fn new(slice: EndpointSlice, port: &Port) -> Self {
        let without = |failure| Self { backends: Vec::new(), failure: Some(failure) };
        let SliceFields { address_type, endpoints, ports } = match slice.fields {
            Ok(fields) => fields,
            Err(malformed) => return without(malformed),
        };
        if !matches!(address_type.as_str(), "IPv4" | "IPv6") {
            return without(format!("unsupported address type {address_type:?}, must be IPv4 or IPv6"));
        }
        let endpoints = endpoints.unwrap_or_default();
        let ports = ports.unwrap_or_default();
        let port = match number(&ports, port) {
            Some(port) => port,
            // Report no problem: an EndpointSlice without endpoints has no ports either.
            None if endpoints.is_empty() => return Self::default(),
            None => return without(format!("no TCP port {port}, available: {}", shown(&ports))),
        };
        Self { backends: endpoints.into_iter().filter_map(|endpoint| backend(endpoint, port)).collect(), failure: None }
    }
}

/// Returns the number of the requested port among the ports of an EndpointSlice.
fn number(ports: &[EndpointPort], wanted: &Port) -> Option<u16> {
    if let (Port::Number(number), []) = (wanted, ports) {
        return Some(*number);
    }
    let is_tcp = |port: &&EndpointPort| port.protocol.as_deref().is_none_or(|protocol| protocol == "TCP");
    let is_wanted = |port: &&EndpointPort| match wanted {
        Port::Name(name) => port.name.as_deref().unwrap_or_default() == name,
        Port::Number(number) => port.port == Some(*number),
    };
    ports.iter().filter(is_tcp).find(is_wanted)?.port
}

/// Formats the ports of an EndpointSlice for log messages.
fn shown(ports: &[EndpointPort]) -> String {
    let shown = ports.iter().take(10).map(|port| {
        let number = port.port.map_or_else(|| "any".to_owned(), |number| number.to_string());
        format!("{:?} ({number})", port.name.as_deref().unwrap_or_default())
    });
    let shown: Vec<_> = shown.collect();
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}

fn backend(endpoint: SliceEndpoint, port: u16) -> Option<Backend> {
    // Use the first address. In the Kubernetes API, all addresses of an endpoint are interchangeable.
    let text = endpoint.addresses.into_iter().next()?;
    let Ok(ip) = text.parse::<IpAddr>() else {
        tracing::debug!(address = text, "invalid IP address in an EndpointSlice");
        return None;
    };
    let pod = endpoint.target_ref.filter(|target| target.kind.as_deref() == Some("Pod"));
    let (pod, uid) = pod.map_or((None, None), |target| (target.name, target.uid));
    let (zone, node) = (endpoint.zone.filter(|zone| !zone.is_empty()), endpoint.node_name);
    let state = state(&endpoint.conditions.unwrap_or_default());
    Some(Backend { address: SocketAddr::new(ip, port), state, zone, node, pod, uid })
}

/// All EndpointSlices of a Service, merged into one set of endpoints.
#[derive(Debug)]
pub(crate) struct Slices {
    port: Port,
    /// Name to verify against the servers' certificates.
    pub(crate) server_name: String,
    /// Whether pods that have an address of each family are called at their IPv6 address.
    pub(crate) prefers_v6: bool,
    slices: BTreeMap<String, Slice>,
    /// Total number of endpoints in all EndpointSlices.
    backends: usize,
    /// Whether a slice was ignored because of a limit. Reset when the slices are listed again.
    pub(crate) is_full: bool,
}

impl Slices {
    /// Creates a collection without slices.
    pub(crate) fn new(port: Port, server_name: String) -> Self {
        Self { port, server_name, prefers_v6: false, slices: BTreeMap::new(), backends: 0, is_full: false }
    }

    /// Returns a collection with the same settings but without slices.
    pub(crate) fn without_slices(&self) -> Self {
        let Self { port, server_name, prefers_v6, .. } = self;
        Self { prefers_v6: *prefers_v6, ..Self::new(port.clone(), server_name.clone()) }
    }

    /// Adds an EndpointSlice, replacing the one with the same name.
    pub(crate) fn insert(&mut self, slice: EndpointSlice) {
        let name = slice.metadata.name.clone().unwrap_or_default();
        // Remove the previous version first, so that the limits do not count the slice twice.
        let before = self.remove(&name).and_then(|slice| slice.failure);
        let slice = Slice::new(slice, &self.port);
        if self.slices.len() == SLICES_MAX || self.backends + slice.backends.len() > BACKENDS_MAX {
            if !std::mem::replace(&mut self.is_full, true) {
                tracing::warn!(target: "frpc::resolver", slice = name, "too many EndpointSlices");
            }
            return;
        }
        // Log a problem once rather than for each change of the EndpointSlice.
        if let Some(failure) = &slice.failure
            && before.as_ref() != Some(failure)
        {
            tracing::warn!(target: "frpc::resolver", slice = name, failure, "EndpointSlice ignored");
        }
        self.backends += slice.backends.len();
        self.slices.insert(name, slice);
    }

    /// Removes an EndpointSlice by its name and returns it.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Slice> {
        let slice = self.slices.remove(name)?;
        self.backends -= slice.backends.len();
        Some(slice)
    }

    /// Returns the endpoints of all EndpointSlices sorted by address, or the reason why there are none.
    pub(crate) fn endpoints(&self) -> Result<Vec<Endpoint>, String> {
        let ready = self.in_state(State::Ready);
        // Fall back to terminating endpoints that still serve if none is ready.
        let chosen = if ready.is_empty() { self.in_state(State::Leaving) } else { ready };
        if chosen.is_empty() {
            return Err(self.failure());
        }
        let is_preferred = |address: &SocketAddr| address.is_ipv6() == self.prefers_v6;
        let preferred = chosen.iter().filter(|(address, _)| is_preferred(address));
        // Use only the preferred address of a dual-stack pod, because two would give it twice its share of calls.
        let found: BTreeSet<&str> = preferred.filter_map(|(_, backend)| backend.uid.as_deref()).collect();
        let is_found = |backend: &Backend| backend.uid.as_deref().is_some_and(|uid| found.contains(uid));
        let wanted = chosen.iter().filter(|(address, backend)| is_preferred(address) || !is_found(backend));
        Ok(wanted.map(|(_, backend)| self.endpoint(backend)).collect())
    }

    /// Returns the backends in this state from all EndpointSlices, sorted by address.
    fn in_state(&self, state: State) -> BTreeMap<SocketAddr, &Backend> {
        let all = self.slices.values().flat_map(|slice| &slice.backends);
        // Slices may overlap, so each address is listed once.
        all.filter(|backend| backend.state == state).map(|backend| (backend.address, backend)).collect()
    }

    fn endpoint(&self, backend: &Backend) -> Endpoint {
        let mut endpoint = Endpoint::new(backend.address.to_string()).with_server_name(&self.server_name);
        if let Some(zone) = &backend.zone {
            endpoint = endpoint.with_zone(zone);
        }
        for (key, value) in [("pod", &backend.pod), ("node", &backend.node)] {
            if let Some(value) = value {
                endpoint = endpoint.with_metadata(key, value);
            }
        }
        endpoint
    }

    fn failure(&self) -> String {
        if self.slices.is_empty() {
            return "no EndpointSlice of the Service".to_owned();
        }
        let failure = self.slices.values().find_map(|slice| slice.failure.clone());
        failure.unwrap_or_else(|| match self.backends {
            0 => "the Service has no endpoints".to_owned(),
            // Omit the count, because each new text is reported as a failure, which increases the channel's backoff.
            _ => "no endpoint of the Service is ready".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn slice(name: &str, kind: &str, endpoints: impl Into<Option<Vec<Value>>>) -> EndpointSlice {
        let endpoints: Option<Vec<Value>> = endpoints.into();
        let slice = json!({
            "metadata": {"name": name, "resourceVersion": "1"}, "addressType": kind, "endpoints": endpoints,
            "ports": [{"name": "metrics", "port": 9090}, {"name": "grpc", "port": 8080, "protocol": "TCP"},
                {"name": "quic", "port": 8443, "protocol": "UDP"}],
        });
        serde_json::from_value(slice).expect("EndpointSlice should have all fields")
    }

    fn conditions(address: &str, conditions: impl Into<Value>) -> Value {
        json!({"addresses": [address], "conditions": conditions.into()})
    }

    fn pod(address: &str, uid: &str) -> Value {
        json!({"addresses": [address], "targetRef": {"kind": "Pod", "name": format!("shop-{uid}"), "uid": uid}})
    }

    fn slices(port: impl Into<Port>, all: impl IntoIterator<Item = EndpointSlice>) -> Slices {
        let mut slices = Slices::new(port.into(), "shop.prod.svc".to_owned());
        all.into_iter().for_each(|slice| slices.insert(slice));
        slices
    }

    fn addresses(slices: &Slices) -> Vec<String> {
        let endpoints = slices.endpoints().expect("service should have ready endpoints");
        endpoints.iter().map(|endpoint| endpoint.address().to_owned()).collect()
    }

    #[test]
    fn endpoint_has_its_zone_pod_and_node() {
        let stated = json!({
            "addresses": ["10.0.0.1", "10.0.0.9"], "conditions": {"ready": true}, "zone": "a", "nodeName": "n1",
            "targetRef": {"kind": "Pod", "name": "shop-x", "uid": "u1"}, "hints": {"forZones": [{"name": "a"}]},
        });
        let slices = slices("grpc", [slice("one", "IPv4", vec![stated, conditions("10.0.0.2", json!({}))])]);
        let texts: Vec<_> = slices
            .endpoints()
            .expect("service should have two ready endpoints")
            .iter()
            .map(ToString::to_string)
            .collect();
        let whole = "10.0.0.1:8080 zone=a server_name=shop.prod.svc node=n1 pod=shop-x";
        assert_eq!(texts, [whole, "10.0.0.2:8080 server_name=shop.prod.svc"]);
    }

    #[test]
    fn missing_conditions_use_api_defaults() {
        let of =
            |conditions: Value| state(&serde_json::from_value(conditions).expect("conditions JSON should deserialize"));
        assert_eq!(of(json!({})), State::Ready);
        assert_eq!(of(json!({"ready": null})), State::Ready);
        assert_eq!(of(json!({"ready": false})), State::Off);
        assert_eq!(of(json!({"ready": false, "terminating": true})), State::Off, "`serving` should default to `ready`");
        assert_eq!(
            of(json!({"ready": false, "serving": true})),
            State::Off,
            "endpoint that is not ready but serving should stay without getting calls"
        );
        assert_eq!(of(json!({"ready": false, "serving": true, "terminating": true})), State::Leaving);
        // Kubernetes sets such conditions for the pods of a Service with `publishNotReadyAddresses`.
        assert_eq!(of(json!({"ready": true, "serving": false, "terminating": true})), State::Ready);
    }

    #[test]
    fn terminating_endpoints_are_used_as_fallback() {
        let leaving = || conditions("10.0.0.1", json!({"ready": false, "serving": true, "terminating": true}));
        let ended = conditions("10.0.0.2", json!({"ready": false, "serving": false, "terminating": true}));
        let ready = conditions("10.0.0.3", json!({"ready": true}));
        let mut slices =
            slices("grpc", [slice("one", "IPv4", vec![leaving(), ended]), slice("two", "IPv4", vec![ready])]);
        assert_eq!(addresses(&slices), ["10.0.0.3:8080"]);
        slices.remove("two");
        assert_eq!(addresses(&slices), ["10.0.0.1:8080"]);
        let unready = conditions("10.0.0.1", json!({"ready": false}));
        slices.insert(slice("one", "IPv4", vec![unready]));
        assert_eq!(slices.endpoints(), Err("no endpoint of the Service is ready".to_owned()));
        slices.remove("one");
        assert_eq!(slices.endpoints(), Err("no EndpointSlice of the Service".to_owned()));
    }

    /// Regression test: while the pods of a Service started, each further pod was reported as a new failure. The
    /// channel backed off after each one, for up to half a minute, and used the first ready pod late.
    #[test]
    fn starting_pods_are_one_failure() {
        let unready = |count: usize| (0..count).map(|at| conditions(&format!("10.0.0.{at}"), json!({"ready": false})));
        let mut slices = slices("grpc", [slice("one", "IPv4", unready(1).collect::<Vec<_>>())]);
        let failure = slices.endpoints();
        assert!(failure.is_err(), "{failure:?}");
        for count in 2..10 {
            slices.insert(slice("one", "IPv4", unready(count).collect::<Vec<_>>()));
            assert_eq!(slices.endpoints(), failure);
        }
    }

    #[test]
    fn address_in_two_slices_is_one_endpoint() {
        let ready = || conditions("10.0.0.1", json!({"ready": true}));
        let unready = conditions("10.0.0.1", json!({"ready": false}));
        let mut slices = slices("grpc", [slice("one", "IPv4", vec![ready()]), slice("two", "IPv4", vec![ready()])]);
        assert_eq!(addresses(&slices), ["10.0.0.1:8080"]);
        slices.insert(slice("one", "IPv4", vec![unready]));
        assert_eq!(addresses(&slices), ["10.0.0.1:8080"], "endpoint should be used if one of its records is ready");
        slices.insert(slice("two", "IPv4", None));
        slices.endpoints().expect_err("no endpoint should be ready");
    }

    #[test]
    fn dual_stack_pod_is_one_endpoint() {
        let v4 = slice("four", "IPv4", vec![pod("10.0.0.1", "a"), pod("10.0.0.2", "b")]);
        let v6 = slice("six", "IPv6", vec![pod("fd00::1", "a"), pod("fd00::3", "c"), conditions("fd00::4", json!({}))]);
        let mut slices = slices("grpc", [v4, v6]);
        assert_eq!(addresses(&slices), ["10.0.0.1:8080", "10.0.0.2:8080", "[fd00::3]:8080", "[fd00::4]:8080"]);
        slices.prefers_v6 = true;
        assert_eq!(addresses(&slices), ["10.0.0.2:8080", "[fd00::1]:8080", "[fd00::3]:8080", "[fd00::4]:8080"]);
    }

    #[test]
    fn ports_match_by_name_or_target_number() {
        let one = || [slice("one", "IPv4", vec![conditions("10.0.0.1", json!({}))])];
        assert_eq!(addresses(&slices("metrics", one())), ["10.0.0.1:9090"]);
        assert_eq!(addresses(&slices(8080, one())), ["10.0.0.1:8080"]);
        let ports = r#""metrics" (9090), "grpc" (8080), "quic" (8443)"#;
        let quic = slices("quic", one()).endpoints().expect_err("UDP port should be rejected");
        assert_eq!(quic, format!(r#"no TCP port "quic", available: {ports}"#));
        let other = slices(80, one()).endpoints().expect_err("port of the Service should be rejected");
        assert_eq!(other, format!("no TCP port 80, available: {ports}"));
        let without = || {
            let mut slice = slice("one", "IPv4", vec![conditions("10.0.0.1", json!({}))]);
            slice.fields.as_mut().expect("slice should be valid").ports = None;
            [slice]
        };
        assert_eq!(addresses(&slices(7000, without())), ["10.0.0.1:7000"]);
        assert_eq!(slices("grpc", without()).endpoints(), Err(r#"no TCP port "grpc", available: none"#.to_owned()));
        let mut unnamed = slice("one", "IPv4", vec![conditions("10.0.0.1", json!({}))]);
        let port = EndpointPort { name: None, port: Some(8081), protocol: None };
        unnamed.fields.as_mut().expect("slice should be valid").ports = Some(vec![port]);
        assert_eq!(addresses(&slices("", [unnamed])), ["10.0.0.1:8081"]);
    }

    #[test]
    fn host_names_are_omitted_when_addresses_exist() {
        let names = || slice("names", "FQDN", vec![conditions("shop.example", json!({}))]);
        let why = slices("grpc", [names()]).endpoints().expect_err("endpoints without addresses should be rejected");
        assert_eq!(why, r#"unsupported address type "FQDN", must be IPv4 or IPv6"#);
        let odd =
            vec![conditions("no address", json!({})), json!({"addresses": []}), conditions("10.0.0.1", json!({}))];
        assert_eq!(addresses(&slices("grpc", [names(), slice("one", "IPv4", odd)])), ["10.0.0.1:8080"]);
    }

    #[test]
    fn slices_and_endpoints_have_limits() {
        let many = |name: &str| {
            let ready = |at| conditions(&format!("10.{}.{}.{}", name.len(), at / 256, at % 256), json!({}));
            slice(name, "IPv4", (0..BACKENDS_MAX / 2).map(ready).collect::<Vec<_>>())
        };
        let mut slices = slices("grpc", [many("a"), many("bb"), many("ccc")]);
        assert_eq!((slices.slices.len(), slices.backends), (2, BACKENDS_MAX));
        slices.remove("a");
        slices.insert(many("ccc"));
        slices.insert(many("bb"));
        assert_eq!((slices.slices.len(), slices.backends), (2, BACKENDS_MAX), "removed slice should free its place");
        let mut slices = slices.without_slices();
        for at in 0..=SLICES_MAX {
            slices.insert(slice(&at.to_string(), "IPv4", None));
        }
        assert_eq!((slices.slices.len(), slices.backends), (SLICES_MAX, 0));
    }
}

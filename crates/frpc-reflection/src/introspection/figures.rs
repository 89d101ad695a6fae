//! Introspection of counted calls. Its size is bounded by the schema, because method names come from the schema and
//! there are few status codes.

use crate::introspection_v1 as v1;
use frpc::observe::CallSide;
use frpc::{Code, Inspector};
use frpc_telemetry::{Calls, Counters, Histogram, Snapshot};
use std::collections::HashMap;
use std::time::Duration;

/// Adds call counters to each method, if the server counts calls.
pub(super) fn add(inspector: &Inspector, mut methods: Vec<v1::Method>) -> Vec<v1::Method> {
    let Some(counters) = inspector.batch_observer::<Counters>() else { return methods };
    let snapshot = counters.snapshot();
    let mut counted = by_method(&snapshot);
    for method in &mut methods {
        let calls = counted.remove(&method.name).unwrap_or_default();
        method.figures = Some(figures(&calls));
    }
    methods
}

/// Groups the counted calls of a server by method name.
fn by_method(snapshot: &Snapshot) -> HashMap<String, Vec<&Calls>> {
    let mut counted = HashMap::<_, Vec<&Calls>>::new();
    for calls in snapshot.calls.iter().filter(|calls| calls.side == CallSide::Server) {
        counted.entry(format!("{}/{}", calls.service, calls.method)).or_default().push(calls);
    }
    counted
}

/// Computes the call statistics of a method from its counters by status code.
fn figures(calls: &[&Calls]) -> v1::Figures {
    let mut all = Histogram::default();
    let mut figures = v1::Figures::default();
    for Calls { code, durations, .. } in calls {
        all.merge(durations);
        match (code, durations.count()) {
            (Code::Ok, count) => figures.ok += count,
            (_, 0) => {}
            (code, count) => figures.failed.push(v1::CodeCount { code: *code as i32, count }),
        }
    }
    let quantile = |share| all.quantile(share).map_or(0, nanos);
    (figures.p50_ns, figures.p99_ns, figures.max_ns) = (quantile(0.5), quantile(0.99), quantile(1.0));
    figures.sum_ns = nanos(all.sum());
    figures
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

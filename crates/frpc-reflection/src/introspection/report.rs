//! Introspection of servers, connections and calls.

use super::figures;
use crate::introspection_v1 as v1;
use frpc::frisbee::PeerKind;
use frpc::frisbee::inspect::{ConnectionView, ListedConnection, view};
use frpc::observe::TranslatedService;
use frpc::{CallView, CloseKind, Connection, Inspector};
use std::time::{Duration, Instant};

/// Maximum number of calls that are reported for a connection, oldest first.
const CALLS_MAX: usize = 256;

/// Maximum number of characters that are reported of a close reason.
const REASON_MAX: usize = 256;

fn number(value: usize) -> u64 {
    value as u64
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Returns the report on a server, without its connections.
pub(super) fn server(name: &str, inspector: &Inspector) -> v1::Server {
    let (stats, now) = (inspector.stats(), Instant::now());
    let close = |close: frpc::frisbee::inspect::LastClose| v1::Close {
        kind: close.reason.kind().name().to_owned(),
        reason: close.reason.to_string().chars().take(REASON_MAX).collect(),
        peer: text(close.peer),
        age_ms: millis(now.saturating_duration_since(close.at)),
    };
    let count = |(kind, count): (CloseKind, u64)| v1::CloseCount { kind: kind.name().to_owned(), count };
    let worker = |worker: frpc::frisbee::inspect::WorkerView| v1::Worker {
        tasks: number(worker.tasks),
        ready: number(worker.ready),
        polls: worker.polls,
        threads_given_up: number(worker.threads_given_up),
    };
    v1::Server {
        name: name.to_owned(),
        memory_max: number(stats.memory_max()),
        memory_held: number(stats.memory_held()),
        opened: stats.opened(),
        open: stats.open(),
        shed: stats.rejected(),
        not_accepted: stats.not_accepted(),
        closes: stats.closed().filter(|(_, count)| *count > 0).map(count).collect(),
        last_closes: inspector.last_closed().into_iter().map(close).collect(),
        workers: inspector.workers().into_iter().map(worker).collect(),
        methods: figures::add(inspector, methods(inspector)),
        translated: translated(inspector),
    }
}

fn translated(inspector: &Inspector) -> Vec<v1::TranslatedService> {
    let services = inspector.services();
    let is_offered = |of: &TranslatedService| services.iter().any(|service| service.name() == of.service);
    let service = |of: TranslatedService| v1::TranslatedService {
        name: of.service.to_owned(),
        layouts: of.layouts.iter().map(ToString::to_string).collect(),
        calls: of.calls,
        skipped_fields: of.skipped_fields,
    };
    TranslatedService::all().into_iter().filter(is_offered).map(service).collect()
}

fn methods(inspector: &Inspector) -> Vec<v1::Method> {
    let services = inspector.services();
    let all = services.iter().flat_map(|service| service.methods().iter().map(|method| (service.name(), method)));
    let method = |(service, method): (&str, &frpc::codegen::OfferedMethod)| v1::Method {
        name: format!("{service}/{}", method.name()),
        operation: method.operation().into(),
        figures: None,
    };
    all.map(method).collect()
}

/// Returns a page of the connections that follow number `after`, and the number at which the next page continues.
pub(super) fn page(inspector: &Inspector, after: Option<u64>, limit: usize) -> (Vec<v1::Connection>, u64) {
    let listed = inspector.connections(after, limit);
    // Reported numbers start at 1, because 0 means none.
    let last = listed.last().map(|last| last.number + 1);
    let next = last.filter(|_| limit > 0).unwrap_or(0);
    (listed.iter().map(|listed| listed_one(inspector, listed, &view(&listed.connection))).collect(), next)
}

fn listed_one(inspector: &Inspector, listed: &ListedConnection, view: &ConnectionView) -> v1::Connection {
    let connection = &listed.connection;
    let (calls, oldest) = inspector.calls(connection, 1);
    let kind = match (&view.closed, &view.peer) {
        (Some(reason), _) if reason.kind() == CloseKind::OtherProtocol => v1::Kind::OtherProtocol,
        (_, PeerKind::Unknown) => v1::Kind::Unknown,
        (_, PeerKind::Compat) => v1::Kind::Compat,
        (_, PeerKind::Native(_)) => v1::Kind::Native,
    };
    v1::Connection {
        number: listed.number + 1,
        peer: peer(connection),
        local: text(connection.local_addr()),
        age_ms: millis(listed.age),
        kind: kind.into(),
        calls: number(calls),
        streams: number(view.stream_count),
        queued: number(view.queued),
        memory: number(view.memory),
        oldest_call_ms: oldest.first().map_or(0, |call| millis(call.age)),
        is_going_away: view.is_going_away,
        is_within: view.is_within,
    }
}

/// Returns the remote address of a connection or, for a Unix socket, the process id and the user of the peer.
fn peer(connection: &Connection) -> String {
    #[cfg(unix)]
    if let Some(credentials) = connection.peer_credentials() {
        let process = credentials.process.map(|process| format!("process {process}, ")).unwrap_or_default();
        return format!("{process}user {}", credentials.user);
    }
    text(connection.peer_addr())
}

/// Returns the report on a connection with its calls and streams, or `None` if it has closed. `listed_number` is its
/// number in a page.
pub(super) fn connection(inspector: &Inspector, listed_number: u64) -> Option<v1::ConnectionReply> {
    let listed = inspector.connection(listed_number.checked_sub(1)?)?;
    let view = view(&listed.connection);
    let hello = view.peer.hello().map(|hello| v1::Hello {
        version: hello.version.into(),
        body_max: hello.body_max,
        streams_max: hello.streams_max,
        calls_max: hello.calls_max,
        stream_credit: hello.stream_credit,
    });
    let call = |call: CallView| v1::Call {
        id: call.id.0.into(),
        method: call.method,
        age_ms: millis(call.age),
        time_left_ms: call.time_left.map_or(0, millis),
        has_deadline: call.time_left.is_some(),
    };
    let stream = |stream: &frpc::frisbee::inspect::StreamView| v1::Stream {
        id: stream.id.0.into(),
        is_opened_here: stream.is_opened_here,
        credit: stream.credit.unwrap_or(0),
        is_unlimited: stream.credit.is_none(),
        window: stream.window,
        unread: number(stream.unread),
    };
    let routed = view.routed.map(|operation| {
        let found = methods(inspector).into_iter().find(|method| method.operation == u32::from(operation.number()));
        found.map_or_else(|| format!("operation {}", operation.number()), |method| method.name)
    });
    Some(v1::ConnectionReply {
        connection: Some(listed_one(inspector, &listed, &view)),
        hello,
        calls: inspector.calls(&listed.connection, CALLS_MAX).1.into_iter().map(call).collect(),
        streams: view.streams.iter().map(stream).collect(),
        routed: routed.unwrap_or_default(),
    })
}

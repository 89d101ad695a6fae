//! The contestants, the cells they take part in, and the raw frames that each is compared with.

use crate::grid::{Cell, Mode, Section};
use rivals::machine;
use std::path::PathBuf;
use std::sync::LazyLock;

/// One contestant.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// Its configuration, for the report.
    pub(crate) about: &'static str,
    /// The raw frames with the same kind of runtime.
    pub(crate) raw: &'static str,
    /// The program that serves and makes the calls.
    pub(crate) program: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Frames without calls.
    Frames,
    Calls,
    /// Calls between two busy-polling ends.
    Busy,
    /// Calls on connections driven by other threads than their callers.
    Apart,
    /// Calls with another handler policy.
    Policy,
    /// Calls on connections that carry one call at a time.
    Pooled,
    /// Calls with bytes or strings that share memory.
    Shares,
    /// Both `Pooled` and `Shares`.
    PooledShares,
    /// Only between processes of one host.
    Host,
    /// Only between processes of one host, on one connection with one call at a time.
    HostAlone,
    /// Counted or traced calls.
    Observed,
    /// Calls over other protocols.
    Gateway,
    /// Calls over other protocols, only in the table of JSON-RPC.
    JsonRpc,
    /// Calls over TLS.
    Tls,
    /// Calls over TLS, with bytes instead of strings.
    TlsBytes,
    /// Calls in Go.
    Go,
    /// Calls in Go on connections that carry one call at a time.
    GoPooled,
}

/// Runs `$run::<TYPE>($argument)` for the contestant with a name: one of `all`, of those whose `calls` can be made
/// individually, or of those that `reconnect` for each call.
macro_rules! dispatch {
    (all, $name:expr, $run:ident($argument:expr)) => {
        dispatch!(@ $name, $run($argument),
            [] raw::PerCore, raw::Shared, router::Routers, outside::Outside, frpc::PerCore, frpc::Plain,
                frpc::Uring, frpc::Busy, frpc::Apart, frpc::Concurrent, frpc::AtMost, frpc::Shares, frpc::SharesText,
                tonic::Tonic, tonic::PerCore;
            ["axum"] axum::Axum;
            ["gateways"] gateways::Through<gateways::JsonRpc>, gateways::Through<gateways::JsonRpcHttp>,
                gateways::Through<gateways::JsonRpcWebSocket>, gateways::Through<gateways::Connect>,
                gateways::Through<gateways::JsonRpseeHttp>, gateways::Through<gateways::JsonRpseeWebSocket>,
                gateways::FramesOverWebSocket, gateways::Grpc, gateways::Grpcio, gateways::Through<gateways::GrpcWeb>,
                gateways::Through<gateways::TonicWeb>, gateways::Through<gateways::ConnectRpc>,
                gateways::Through<gateways::AxumPipelined>, gateways::Through<gateways::FastApi>,
                gateways::Through<gateways::FastApiWebSocket>, gateways::Through<gateways::Ucall>,
                gateways::Through<gateways::UcallUring>, gateways::Datagrams, gateways::Batches<gateways::JsonRpcHttp>,
                gateways::Batches<gateways::JsonRpseeHttp>;
            ["one-host"] one_host::Ours<one_host::UnixSocket>, one_host::Ours<one_host::SharedMemory>,
                one_host::Ours<one_host::Spinning>, one_host::Frames, one_host::alone::Blocking,
                one_host::alone::Bare, one_host::Iceoryx;
            ["tarpc"] tarpc::Tarpc, tarpc::InPlace;
            ["telemetry"] observed::Counted, observed::Traced, observed::TonicTraced, observed::TonicCoresTraced;
            ["tls"] tls::RawPerCore, tls::RawShared, frpc::SecuredPerCore, frpc::SecuredPlain, frpc::SecuredShares,
                tls::Tonic;
            ["volo"] volo::Strings, volo::Shares;
        )
    };
    (calls, $name:expr, $run:ident($argument:expr)) => {
        dispatch!(@ $name, $run($argument),
            [] outside::Outside, frpc::PerCore, frpc::Plain, frpc::Uring, frpc::Busy, frpc::Apart,
                frpc::Concurrent, frpc::AtMost, tonic::Tonic, tonic::PerCore;
            ["axum"] axum::Axum;
            ["tarpc"] tarpc::Tarpc, tarpc::InPlace;
            ["tls"] tls::RawCallPerCore, tls::RawCallShared, frpc::SecuredPerCore, frpc::SecuredPlain, tls::Tonic;
            ["volo"] volo::Strings;
        )
    };
    (reconnects, $name:expr, $run:ident($argument:expr)) => {
        dispatch!(calls, $name, $run($argument)).or_else(|| dispatch!(@ $name, $run($argument),
            ["gateways"] gateways::Through<gateways::JsonRpc>, gateways::Through<gateways::JsonRpcHttp>,
                gateways::Through<gateways::JsonRpseeHttp>, gateways::Through<gateways::FastApi>,
                gateways::Through<gateways::Ucall>;
        ))
    };
    (streams, $name:expr, $run:ident($argument:expr)) => {{
        use rivals::rivals::{raw_streams, streams};
        dispatch!(@ streams::Streams, $name, $run($argument),
            [] raw_streams::Raw, streams::PerCore, streams::Plain, streams::Tonic, streams::TonicPerCore, streams::Bare;
        )
    }};
    (@ $name:expr, $run:ident($argument:expr), $($rest:tt)*) => {{
        #[allow(unused_imports, reason = "without features there may be no contestant")]
        use rivals::rivals::*;
        dispatch!(@ rivals::contest::Contestant, $name, $run($argument), $($rest)*)
    }};
    // Each list requires a feature of this package, or none.
    (@ $trait:path, $name:expr, $run:ident($argument:expr), $([$($feature:literal)?] $($contestant:path),*;)*) => {{
        #[allow(unused_variables, reason = "without features there may be no contestant")]
        let name = $name;
        #[allow(unused_mut, reason = "without features there may be no contestant")]
        let mut result = None;
        $(
            $(#[cfg(feature = $feature)])?
            {
                $(
                    if name == <$contestant as $trait>::NAME {
                        result = Some($run::<$contestant>($argument));
                    }
                )*
            }
        )*
        result
    }};
}
pub(crate) use dispatch;

/// Returns whether clients of this contestant run on one thread per core.
pub(crate) fn is_per_core(name: &str) -> bool {
    let has_raw_per_core =
        |entry: &Entry| ["raw-cores", "raw-cores-tls"].contains(&entry.raw) && entry.kind != Kind::HostAlone;
    rust_entries().iter().any(|entry| entry.name == name && has_raw_per_core(entry))
}

/// Returns all contestants, including those that cannot run here.
pub(crate) fn entries() -> Vec<Entry> {
    [rust_entries(), go_entries()].concat()
}

/// Returns the contestants implemented by this program.
fn rust_entries() -> Vec<Entry> {
    const PER_CORE: &str = "raw-cores";
    const SHARED: &str = "raw";
    const NATIVE: &str = "frpc";
    const SECURED: &str = "raw-cores-tls";
    const SECURED_SHARED: &str = "raw-tls";
    let rust = [
        ("raw-cores", "raw frames echoed by hand, a thread for each core, at both ends", PER_CORE, Kind::Frames),
        ("raw", "raw frames echoed by hand, tokio's multi-thread runtime, at both ends", SHARED, Kind::Frames),
        ("frisbee", "frames through frisbee's routers, a thread for each core, at both ends", PER_CORE, Kind::Frames),
        (
            "frisbee-rpc",
            "calls of a protocol on frisbee's public API, as frpc, without messages",
            PER_CORE,
            Kind::Calls,
        ),
        ("frpc", "fRPC with its defaults: tokio's multi-thread runtime, at both ends", SHARED, Kind::Calls),
        ("frpc-cores", "fRPC, a thread for each core, at both ends", PER_CORE, Kind::Calls),
        (
            "frpc-uring",
            "fRPC, servers on io_uring with a ring for each core, clients as of frpc-cores",
            PER_CORE,
            Kind::Calls,
        ),
        ("frpc-busy", "fRPC, a thread for each core, which stays awake for 5 ms, at both ends", PER_CORE, Kind::Busy),
        (
            "frpc-apart",
            "fRPC, clients on tokio's multi-thread runtime, a thread for each core for connections, at both ends",
            SHARED,
            Kind::Apart,
        ),
        ("frpc-concurrent", "fRPC with a task for each handler", PER_CORE, Kind::Policy),
        ("frpc-at-most-16", "the same, sixteen at work for a connection at one time", PER_CORE, Kind::Policy),
        ("frpc-bytes", "frpc with a bytes field that is not copied", SHARED, Kind::Shares),
        ("frpc-utf8-bytes", "frpc with a string field that is not copied", SHARED, Kind::Shares),
        ("tonic", "TCP_NODELAY, windows of 4 and 64 MiB, frames of 1 MiB", SHARED, Kind::Calls),
        ("tonic-cores", "the same with a runtime for each core, at both ends", PER_CORE, Kind::Calls),
        ("tarpc", "bincode, TCP_NODELAY, queues of 16 384, a task for each handler", SHARED, Kind::Calls),
        (
            "tarpc-in-place",
            "the same with handlers in place and a runtime for each core, at both ends",
            PER_CORE,
            Kind::Calls,
        ),
        ("volo-thrift", "framed, unsafe codec, a connection for each call in flight", SHARED, Kind::Pooled),
        ("volo-thrift-bytes", "as above with a binary field", SHARED, Kind::PooledShares),
        ("axum-json", "HTTP/1.1, hyper's client, a connection for each call in flight", SHARED, Kind::Pooled),
        ("frpc-counted", "frpc with counters and histograms at both ends", SHARED, Kind::Observed),
        (
            "frpc-traced",
            "the same with traces for OpenTelemetry at both ends, one in a hundred recorded",
            SHARED,
            Kind::Observed,
        ),
        (
            "tonic-traced",
            "tonic with such traces by tonic-tracing-opentelemetry at both ends, and without counters",
            SHARED,
            Kind::Observed,
        ),
        ("tonic-cores-traced", "the same as tonic-cores", PER_CORE, Kind::Observed),
        ("frpc-unix", "fRPC as frpc-cores over a Unix socket", PER_CORE, Kind::Host),
        ("frpc-shm", "fRPC as frpc-cores through shared memory", PER_CORE, Kind::Host),
        ("frpc-shm-spin", "the same, both ends spin for 20 us before they sleep", PER_CORE, Kind::Host),
        ("raw-shm-spin", "frames sent back by hand through shared memory, as above", PER_CORE, Kind::Host),
        ("raw-shm-threads", "the same between two threads that block, without a runtime", PER_CORE, Kind::HostAlone),
        (
            "bare-ring",
            "texts sent back through a ring of words that checks nothing, by two threads that poll without end",
            PER_CORE,
            Kind::HostAlone,
        ),
        (
            "iceoryx2",
            "requests and responses, a thread at either end that polls without end",
            PER_CORE,
            Kind::HostAlone,
        ),
        ("frpc-json-rpc", "fRPC as frpc, called in lines of JSON-RPC", NATIVE, Kind::Gateway),
        ("frpc-json-rpc-http", "the same by POST over HTTP/1.1", NATIVE, Kind::Gateway),
        ("frpc-json-rpc-ws", "the same over WebSocket", NATIVE, Kind::Gateway),
        ("frpc-ws", "fRPC as frpc, with native frames over WebSocket", NATIVE, Kind::Gateway),
        ("frpc-connect", "fRPC as frpc, called by Connect in JSON over HTTP/1.1", NATIVE, Kind::Gateway),
        ("frpc-grpc", "fRPC as frpc, called by tonic's client", NATIVE, Kind::Gateway),
        ("frpc-grpc-web", "fRPC as frpc, called by gRPC-Web in protobuf over HTTP/1.1", NATIVE, Kind::Gateway),
        ("jsonrpsee-http", "JSON-RPC by POST over HTTP/1.1", NATIVE, Kind::Gateway),
        ("jsonrpsee-ws", "JSON-RPC over WebSocket", NATIVE, Kind::Gateway),
        (
            "connectrpc",
            "Connect in JSON over HTTP/1.1, a dispatcher for this method, serde_json",
            NATIVE,
            Kind::Gateway,
        ),
        ("tonic-web", "tonic with its layer for gRPC-Web, over HTTP/1.1", NATIVE, Kind::Gateway),
        ("axum-pipelined", "JSON over HTTP/1.1", NATIVE, Kind::Gateway),
        ("fastapi", "JSON over HTTP/1.1, one process of uvicorn with uvloop and httptools", NATIVE, Kind::Gateway),
        (
            "grpcio",
            "gRPC in Python with eight threads, messages not parsed, called by tonic's client",
            NATIVE,
            Kind::Gateway,
        ),
        ("ucall", "JSON-RPC over TCP, which closes the connection after each reply", NATIVE, Kind::Gateway),
        ("frpc-json-rpc-batch", "frpc-json-rpc-http with all calls of a connection in one POST", NATIVE, Kind::JsonRpc),
        ("frpc-json-rpc-udp", "JSON-RPC over UDP, a datagram for each call", NATIVE, Kind::JsonRpc),
        ("jsonrpsee-batch", "jsonrpsee-http with all calls of a connection in one POST", NATIVE, Kind::JsonRpc),
        ("fastapi-ws", "JSON over WebSocket, served as fastapi", NATIVE, Kind::JsonRpc),
        ("ucall-uring", "JSON-RPC over TCP on io_uring, on kept connections", NATIVE, Kind::JsonRpc),
        ("raw-cores-tls", "raw-cores over TLS, as all that follow, by rustls with ring", SECURED, Kind::Tls),
        ("raw-tls", "raw over TLS", SECURED_SHARED, Kind::Tls),
        ("frpc-tls", "frpc over TLS", SECURED_SHARED, Kind::Tls),
        ("frpc-cores-tls", "frpc-cores over TLS", SECURED, Kind::Tls),
        ("frpc-bytes-tls", "frpc-bytes over TLS", SECURED, Kind::TlsBytes),
        ("tonic-tls", "tonic over TLS", SECURED_SHARED, Kind::Tls),
    ];
    let own = std::env::current_exe().expect("program should have a path");
    rust.map(|(name, about, raw, kind)| Entry { name, about, raw, program: own.clone(), kind }).into()
}

/// Returns the Go contestants, which share one program.
fn go_entries() -> Vec<Entry> {
    let program = machine::go_program();
    [
        ("go-frpc", "Go's frisbee runtime, handlers in place", Kind::Go),
        ("go-frpc-spawn", "Go's frisbee runtime, a goroutine for each call", Kind::Go),
        ("grpc-go", "stream workers, windows of 4 and 64 MiB, TCP_NODELAY", Kind::Go),
        ("twirp", "protobuf over HTTP/1.1, net/http, as many idle connections as calls in flight", Kind::GoPooled),
    ]
    .map(|(name, about, kind)| Entry { name, about, raw: "raw", program: program.clone(), kind })
    .into()
}

/// The features, and whether they are enabled.
const BUILT: [(&str, bool); 7] = [
    ("axum", cfg!(feature = "axum")),
    ("gateways", cfg!(feature = "gateways")),
    ("one-host", cfg!(feature = "one-host")),
    ("tarpc", cfg!(feature = "tarpc")),
    ("telemetry", cfg!(feature = "telemetry")),
    ("tls", cfg!(feature = "tls")),
    ("volo", cfg!(feature = "volo")),
];

/// Returns the enabled features.
pub(crate) fn features() -> Vec<&'static str> {
    BUILT.into_iter().filter_map(|(feature, is_built)| is_built.then_some(feature)).collect()
}

/// The baselines of counted and traced calls.
const UNOBSERVED: [&str; 3] = ["frpc", "tonic", "tonic-cores"];

/// The contestants that stream.
const STREAMS: [&str; 6] = ["raw-cores", "frisbee", "frpc", "frpc-cores", "tonic", "tonic-cores"];

impl Entry {
    /// Returns whether the contestant takes part in a cell.
    pub(crate) fn takes(&self, cell: &Cell) -> bool {
        if cell.section == Section::Tls {
            return self.kind == Kind::Tls || self.kind == Kind::TlsBytes && cell.length == 1 << 20;
        }
        let pooled = matches!(self.kind, Kind::Pooled | Kind::PooledShares | Kind::GoPooled);
        if cell.section == Section::JsonRpc {
            return self.takes_json_rpc(cell);
        }
        if cell.section == Section::Gateway {
            // UCall carries one call at a time per connection.
            let fits = self.name != "ucall" || cell.in_flight == 1;
            return ["frpc", "tonic"].contains(&self.name) || self.kind == Kind::Gateway && fits;
        }
        if cell.section == Section::OneHost {
            // A ring that copies word by word is not representative for long texts.
            let fits = self.name != "bare-ring" || cell.length == 32;
            let is_alone = cell.clients == 1 && cell.in_flight == 1 && fits;
            return ["raw", "frpc", "tonic"].contains(&self.name)
                || self.kind == Kind::Host
                || self.kind == Kind::HostAlone && is_alone;
        }
        match (cell.section, self.kind) {
            (_, Kind::Gateway | Kind::JsonRpc | Kind::Host | Kind::HostAlone | Kind::Tls | Kind::TlsBytes) => false,
            (Section::Observed, kind) => kind == Kind::Observed || UNOBSERVED.contains(&self.name),
            (_, Kind::Observed) => false,
            (Section::Streams, _) => STREAMS.contains(&self.name),
            (section, Kind::Shares | Kind::PooledShares) => section == Section::Bulk,
            // Two polling ends must not share a core, and more connections than cores keep each other awake.
            (section, Kind::Busy) => section == Section::Small && cell.clients == 1,
            (section, Kind::Apart) => section == Section::Small,
            (Section::Handler, Kind::Policy) => true,
            (section, Kind::Policy) => section == Section::Small && (cell.clients, cell.in_flight) == (16, 10),
            (Section::Hog | Section::Open | Section::Handler | Section::Idle, Kind::Frames) => false,
            (Section::Hog, _) if pooled => false,
            // A sleeping inline handler would block its whole connection.
            (Section::Handler, _) if ["go-frpc", "tarpc-in-place"].contains(&self.name) => false,
            _ => match cell.mode {
                Mode::Reconnect => self.kind != Kind::Frames,
                Mode::Open { .. } | Mode::Idle => !self.is_go(),
                _ => true,
            },
        }
    }

    /// Returns whether the contestant takes part in a JSON-RPC cell.
    fn takes_json_rpc(&self, cell: &Cell) -> bool {
        const RECONNECTING: [&str; 7] =
            ["frpc", "frpc-json-rpc", "frpc-json-rpc-http", "jsonrpsee-http", "fastapi", "tonic", "ucall"];
        const KEPT: [&str; 12] = [
            "frpc",
            "frpc-json-rpc",
            "frpc-json-rpc-http",
            "frpc-json-rpc-ws",
            "frpc-json-rpc-udp",
            "jsonrpsee-http",
            "jsonrpsee-ws",
            "fastapi",
            "fastapi-ws",
            "grpcio",
            "tonic",
            "ucall-uring",
        ];
        match (cell.mode, cell.in_flight) {
            (Mode::Reconnect, _) => RECONNECTING.contains(&self.name),
            (_, 1) => KEPT.contains(&self.name),
            // UCall carries one call at a time per connection.
            _ => self.name.ends_with("-batch") || KEPT.contains(&self.name) && self.name != "ucall-uring",
        }
    }

    /// Checks that the contestant can run here, and builds its program if it is written in Go.
    ///
    /// # Errors
    /// The remedy.
    pub(crate) fn prepare(&self) -> Result<(), String> {
        static GO: LazyLock<Result<(), String>> = LazyLock::new(machine::build_go);
        if let Some(feature) = self.feature().filter(|feature| !BUILT.contains(&(*feature, true))) {
            return Err(format!("not built; add --features {feature}"));
        }
        #[cfg(feature = "gateways")]
        if ["fastapi", "fastapi-ws", "grpcio", "ucall", "ucall-uring"].contains(&self.name) {
            return rivals::rivals::gateways::check_python(self.name).map_err(|error| {
                format!("modules of Python missing, see benches/rivals/python/requirements.txt: {error}")
            });
        }
        if self.is_go() { GO.clone() } else { Ok(()) }
    }

    /// Returns whether its program is written in Go.
    pub(crate) fn is_go(&self) -> bool {
        matches!(self.kind, Kind::Go | Kind::GoPooled)
    }

    /// Returns the feature of this package that enables it.
    fn feature(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Gateway | Kind::JsonRpc => Some("gateways"),
            Kind::Host | Kind::HostAlone => Some("one-host"),
            Kind::Observed => Some("telemetry"),
            Kind::Tls | Kind::TlsBytes => Some("tls"),
            _ => ["axum", "tarpc", "volo"].into_iter().find(|feature| self.name.starts_with(feature)),
        }
    }

    /// Returns whether it is one of our contestants.
    pub(crate) fn is_ours(&self) -> bool {
        self.name.starts_with("frpc")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_contestant_is_dispatched() {
        fn found<C: rivals::contest::Contestant>((): ()) {}
        for entry in rust_entries() {
            let is_built = entry.feature().is_none_or(|feature| BUILT.contains(&(feature, true)));
            assert_eq!(dispatch!(all, entry.name, found(())).is_some(), is_built, "{}", entry.name);
        }
    }

    #[test]
    fn missing_contestant_names_its_feature() {
        let unbuilt = |entry: &&Entry| entry.feature().is_some_and(|feature| BUILT.contains(&(feature, false)));
        for entry in rust_entries().iter().filter(unbuilt) {
            let error = entry.prepare().unwrap_err();
            assert_eq!(
                Some(error.as_str()),
                entry.feature().map(|f| format!("not built; add --features {f}")).as_deref()
            );
        }
    }
}

//! Who takes part, in which cells, and against which raw frames each is held.

use crate::grid::{Cell, Mode, Section};
use crate::machine;
use benches::contest::Contestant;
use std::path::PathBuf;

/// One contestant.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// Its configuration, for the report.
    pub(crate) about: &'static str,
    /// The raw frames on the same flavour of runtime.
    pub(crate) raw: &'static str,
    /// The program that serves and loads.
    pub(crate) program: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Frames without calls.
    Frames,
    Calls,
    /// Calls between two ends that stay awake.
    Busy,
    /// Calls on connections that are driven apart from their callers.
    Apart,
    /// Calls with another policy for handlers.
    Policy,
    /// Calls on connections that carry one at a time.
    Pooled,
    /// Calls with bytes instead of strings.
    Bytes,
    /// Both of these.
    PooledBytes,
    /// Calls, in Go.
    Go,
    /// Calls in Go on connections that carry one at a time.
    GoPooled,
}

/// Runs `$run::<TYPE>($argument)` for the contestant of a name: one of `all`, or of those that make `calls` that can be
/// made one by one.
macro_rules! dispatch {
    (all, $name:expr, $run:ident($argument:expr)) => {
        dispatch!(@ $name, $run($argument), raw::PerCore, raw::Shared, router::Routers, frpc::PerCore, frpc::Shared,
            frpc::Uring, frpc::Busy, frpc::Apart, frpc::Concurrent, frpc::AtMost, frpc::Shares, tonic::Tonic, tarpc::Tarpc, volo::Strings, volo::Shares, axum::Axum)
    };
    (calls, $name:expr, $run:ident($argument:expr)) => {
        dispatch!(@ $name, $run($argument), frpc::PerCore, frpc::Shared, frpc::Uring, frpc::Busy, frpc::Apart, frpc::Concurrent,
            frpc::AtMost, tonic::Tonic, tarpc::Tarpc, volo::Strings,
            axum::Axum)
    };
    (@ $name:expr, $run:ident($argument:expr), $($contestant:path),*) => {{
        use benches::rivals::*;
        match $name {
            $(name if name == <$contestant as benches::contest::Contestant>::NAME => Some($run::<$contestant>($argument)),)*
            _ => None,
        }
    }};
}
pub(crate) use dispatch;

/// Whether clients of this name run on a thread for each core.
pub(crate) fn is_per_core(name: &str) -> bool {
    use benches::rivals::{frpc, raw, router};
    [
        <raw::PerCore as Contestant>::NAME,
        <router::Routers as Contestant>::NAME,
        <frpc::PerCore as Contestant>::NAME,
        <frpc::Uring as Contestant>::NAME,
        <frpc::Busy as Contestant>::NAME,
        <frpc::Concurrent as Contestant>::NAME,
        <frpc::AtMost as Contestant>::NAME,
        <frpc::Shares as Contestant>::NAME,
    ]
    .contains(&name)
}

/// All contestants that can run here.
pub(crate) fn entries() -> Vec<Entry> {
    let mut entries = rust_entries();
    match machine::go_program() {
        Ok(program) => entries.extend(go_entries(&program)),
        Err(reason) => println!("SKIPPED: contestants in Go: {reason}"),
    }
    entries
}

/// Those that this program serves and loads itself.
pub(crate) fn rust_entries() -> Vec<Entry> {
    const PER_CORE: &str = "raw";
    const SHARED: &str = "raw-shared";
    let rust = [
        ("raw", "frames sent back by hand, a thread for each core, at both ends", PER_CORE, Kind::Frames),
        ("raw-shared", "frames sent back by hand, tokio's multi-thread runtime, at both ends", SHARED, Kind::Frames),
        ("frisbee", "frames through frisbee's routers, a thread for each core, at both ends", PER_CORE, Kind::Frames),
        ("frpc", "fRPC, a thread for each core, at both ends", PER_CORE, Kind::Calls),
        ("frpc-shared", "fRPC, tokio's multi-thread runtime, at both ends", SHARED, Kind::Calls),
        (
            "frpc-uring",
            "fRPC, servers on io_uring with a ring for each core, clients as of frpc",
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
        ("frpc-bytes", "fRPC as frpc with a field of bytes that share their memory", PER_CORE, Kind::Bytes),
        ("tonic", "no delay, windows of 4 and 64 MiB, frames of 1 MiB", SHARED, Kind::Calls),
        ("tarpc", "bincode, no delay, queues of 16 384", SHARED, Kind::Calls),
        ("volo-thrift", "framed, unsafe codec, a connection for each call in flight", SHARED, Kind::Pooled),
        ("volo-thrift-bytes", "as above with a binary field", SHARED, Kind::PooledBytes),
        ("axum-json", "HTTP/1.1, hyper's client, a connection for each call in flight", SHARED, Kind::Pooled),
    ];
    let own = std::env::current_exe().expect("a running program has a path");
    rust.map(|(name, about, raw, kind)| Entry { name, about, raw, program: own.clone(), kind }).into()
}

/// Those in Go, which are one program.
pub(crate) fn go_entries(program: &std::path::Path) -> Vec<Entry> {
    [
        ("go-frpc", "Go's frisbee runtime, handlers in place", Kind::Go),
        ("go-frpc-spawn", "Go's frisbee runtime, a goroutine for each call", Kind::Go),
        ("grpc-go", "stream workers, windows of 4 and 64 MiB, no delay", Kind::Go),
        ("twirp", "protobuf over HTTP/1.1, net/http, as many idle connections as calls in flight", Kind::GoPooled),
    ]
    .map(|(name, about, kind)| Entry { name, about, raw: "raw-shared", program: program.into(), kind })
    .into()
}

impl Entry {
    /// Whether it takes part in a cell.
    pub(crate) fn takes(&self, cell: &Cell) -> bool {
        /// Connections that fit into the usual limit on open files.
        const CONNECTIONS_MAX: usize = 12_000;
        let pooled = matches!(self.kind, Kind::Pooled | Kind::PooledBytes | Kind::GoPooled);
        if pooled && cell.clients * cell.in_flight > CONNECTIONS_MAX {
            return false;
        }
        let is_go = matches!(self.kind, Kind::Go | Kind::GoPooled);
        match (cell.section, self.kind) {
            (section, Kind::Bytes | Kind::PooledBytes) => section == Section::Bulk,
            // Two ends that poll share no core, and more connections than cores keep each other awake.
            (section, Kind::Busy) => section == Section::Small && cell.clients == 1,
            (section, Kind::Apart) => section == Section::Small,
            (Section::Handler, Kind::Policy) => true,
            (section, Kind::Policy) => section == Section::Small && (cell.clients, cell.in_flight) == (16, 10),
            (Section::Hog | Section::Open | Section::Handler | Section::Idle, Kind::Frames) => false,
            (Section::Hog, _) if pooled => false,
            // An inline handler that sleeps would hold up its whole connection.
            (Section::Handler, _) if self.name == "go-frpc" => false,
            _ => match cell.mode {
                Mode::Reconnect => self.kind != Kind::Frames,
                Mode::Open { .. } | Mode::Idle => !is_go,
                _ => true,
            },
        }
    }

    /// Whether it is ours.
    pub(crate) fn is_ours(&self) -> bool {
        self.name.starts_with("frpc")
    }
}

//! The sections of the report: headings, explanations, and the titles of their tables and columns.

use crate::grid::{Cell, Hog, Mode, Section};
use rivals::rivals::streams::Way;

/// The sections of the report. The others are on the page of further cells.
pub(super) const FIRST: [Section; 4] = [Section::Small, Section::Bulk, Section::Handler, Section::Streams];

/// Sections with their headings and explanations.
pub(super) const SECTIONS: [(Section, &str, &str); 16] = [
    (
        Section::Small,
        "Short texts",
        "The load is a closed loop: each caller makes its next call when it has received the reply to the previous \
         one.",
    ),
    (Section::Bulk, "Long texts", "Up to a thousand texts of a mebibyte are in flight at the same time."),
    (
        Section::Handler,
        "A handler that waits for 50 us",
        "Handlers in Rust, including those of rivals, sleep by `frisbee::timer`, because tokio's timer has a \
         resolution of a millisecond. Handlers in Go sleep by `time.Sleep`. Blocking handlers block in a thread of \
         tokio's `spawn_blocking`, or in Go in a system call.",
    ),
    (
        Section::Connect,
        "A connection for each call",
        "Each call opens a connection and closes it afterwards. The results are compared with the same load on kept \
         connections.",
    ),
    (
        Section::Pinned,
        "Both processes on one core",
        "These ratios are the most reliable, because they do not depend on how two processes share two cores.",
    ),
    (
        Section::Apart,
        "One core for each process",
        "The server runs on one core and the load on another, so that neither takes processor time from the other. The \
         difference from the same load on shared cores shows the effect of sharing.",
    ),
    (
        Section::Syscalls,
        "System calls",
        "System calls were counted in the kernel by `perf stat`, in separate runs. The tables show how many calls \
         arrive with one read, leave with one write, and are made between two waits for sockets. Wake-ups are writes \
         to wake a thread and calls of `futex`. io_uring reads and writes without system calls, and its waits are \
         submissions.",
    ),
    (
        Section::Streams,
        "Messages of streams",
        "Each connection carries one stream at a time, which ends after 20 000 messages or 16 MiB. Processor time and \
         rate are per message. `frisbee` uses the streams of frisbee without calls. Latencies are the time of a stream \
         divided by the number of its messages. In ping-pong, where each message waits until the previous one has \
         returned, latencies are round trips, as averages of 200.",
    ),
    (
        Section::Observed,
        "Calls that are counted and traced",
        "Both frameworks record one trace in a hundred, propagate this decision with the calls, and send spans in \
         batches to an exporter that drops them. Durations and codes of fRPC's calls are also counted.",
    ),
    (
        Section::Open,
        "Calls at a fixed rate",
        "The load is an open loop over 64 connections, in which the latency of a call is measured from its scheduled \
         start. The sending thread sleeps in steps of about 100 us, which are part of all latencies.",
    ),
    (
        Section::Hog,
        "A hog and its victims",
        "The victims are 100 connections with one call at a time each. The same load is then measured together with \
         one connection that sends texts of 4 MiB, two at a time, and with one that has 10 000 calls in flight. \
         Processor time and calls are those of the victims, but the server's time includes its work for the hog.",
    ),
    (
        Section::Idle,
        "Idle connections",
        "The table shows the server's resident memory per connection, after some calls on each and 5 s of rest. It \
         excludes memory of the kernel.",
    ),
    (
        Section::OneHost,
        "On one host",
        "This section compares transports between two processes of one host. Those that end with `spin` or `threads` \
         poll for 20 us before they sleep. iceoryx2 and the bare ring poll forever, so each peer uses a whole \
         processor while it waits. The last four echo bytes and make no calls.",
    ),
    (
        Section::Gateway,
        "Calls by other protocols",
        "One client, which pipelines handwritten requests, calls all contestants except four. Compare only the \
         processor time of the server, as the ratios do. `frpc` and `frpc-ws` are called by fRPC's own clients, \
         `frpc-grpc` and `tonic` by tonic's.",
    ),
    (
        Section::JsonRpc,
        "JSON-RPC",
        "The cells are those of UCall's table: 1 and 32 clients, on kept connections and with a connection for each \
         call, which the client resets. UCall closes a connection after each reply on sockets, but not on io_uring. \
         With ten calls in flight, rows that end with `batch` send them in one POST. One client with handwritten \
         requests calls all contestants except `frpc`, `grpcio` and `tonic`, so compare only the processor time of the \
         server.",
    ),
    (
        Section::Tls,
        "Over TLS",
        "All connections use TLS 1.3 with one certificate of ECDSA on P-256. Contestants that connect for each call \
         resume sessions as they do by default. Ratios are relative to raw frames and to tonic over TLS.",
    ),
];

/// Describes the common properties of the cells in one table.
pub(super) fn group_title(cell: &Cell) -> String {
    match cell.section {
        Section::Small | Section::Bulk => format!("{}, {} in flight", cell.length_name(), cell.in_flight),
        Section::Handler if cell.mode == Mode::Blocking => "Blocking".into(),
        Section::Handler => "Sleeping".into(),
        Section::Connect => "Connecting".into(),
        Section::Pinned => "One core".into(),
        Section::Apart => "One core each".into(),
        Section::Syscalls => "Calls for each system call".into(),
        Section::Streams => match cell.mode {
            Mode::Stream(Way::PingPong) => "Streams, there and back one by one".into(),
            Mode::Stream(Way::Both) => "Streams, there and back".into(),
            Mode::Stream(Way::Up) => "Streams to the server".into(),
            _ => "Streams to the client".into(),
        },
        Section::Observed => "Observed".into(),
        Section::Open => "Fixed rate".into(),
        Section::Hog => "Victims".into(),
        Section::Idle => "Idle".into(),
        Section::OneHost => format!("One host, {}", cell.length_name()),
        Section::Gateway => "JSON".into(),
        Section::JsonRpc if cell.mode == Mode::Reconnect => "JSON-RPC, connecting".into(),
        Section::JsonRpc => "JSON-RPC, kept connections".into(),
        Section::Tls if cell.mode == Mode::Reconnect => "TLS, connecting".into(),
        Section::Tls => format!("TLS, {}", cell.length_name()),
    }
}

/// Describes the distinguishing property of a cell in its table.
pub(super) fn column(cell: &Cell) -> String {
    let load = format!("{}x{}", cell.clients, cell.in_flight);
    match cell.mode {
        Mode::Closed if cell.section == Section::Connect => format!("{load} kept"),
        Mode::Closed if cell.section == Section::Hog => "alone".into(),
        Mode::Closed | Mode::Pinned | Mode::Apart | Mode::Counted | Mode::Blocking => load,
        Mode::Stream(_) => format!("{}, {} connections", cell.length_name(), cell.clients),
        Mode::Reconnect => format!("{load} connecting"),
        Mode::Open { rate } => format!("{rate}/s"),
        Mode::Beside(Hog::Texts) => "during 4 MiB texts".into(),
        Mode::Beside(Hog::Calls) => "during 10 000 calls".into(),
        Mode::Idle => cell.clients.to_string(),
    }
}

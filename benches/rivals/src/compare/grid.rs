//! The measured cells: the grid of the original benchmark, and additional ones.

use rivals::rivals::streams::Way;
use std::fmt;
use std::time::Duration;

/// One configuration to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cell {
    pub(crate) section: Section,
    pub(crate) clients: usize,
    pub(crate) in_flight: usize,
    /// Length of a text in bytes.
    pub(crate) length: usize,
    pub(crate) sleep: Option<Duration>,
    pub(crate) mode: Mode,
}

/// A section of the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Section {
    /// Short texts, 1 to 8192 connections.
    Small,
    /// Long texts, 1 to 100 connections.
    Bulk,
    /// A sleeping handler, and one that blocks its thread.
    Handler,
    /// A new connection for each call, compared with a kept one.
    Connect,
    /// Both processes on one core.
    Pinned,
    /// Server and client on one core each.
    Apart,
    /// System calls of server and client.
    Syscalls,
    /// Stream messages.
    Streams,
    /// Counted and traced calls, compared with plain ones.
    Observed,
    /// Calls at a fixed rate.
    Open,
    /// One connection with very many requests among a hundred with few.
    Hog,
    /// Memory of idle connections.
    Idle,
    /// Two processes of one host, over TCP and other transports.
    OneHost,
    /// Services called through gateways, compared with native calls.
    Gateway,
    /// JSON-RPC calls like in UCall's benchmarks: on kept connections, with a connection per call, in batches and by
    /// datagrams.
    JsonRpc,
    /// Calls over TLS, and with a new connection per call.
    Tls,
}

/// How the calls are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Each caller makes the next call when it has its reply.
    Closed,
    /// Like `Closed`, with a new connection for each call.
    Reconnect,
    /// Calls are made at this rate per second, regardless of replies.
    Open { rate: u32 },
    /// Like `Closed`, with both processes on the first core.
    Pinned,
    /// Like `Closed`, with the server on the first core and the client on the second.
    Apart,
    /// Like `Closed`, with system calls counted.
    Counted,
    /// Like `Closed`, with a handler that blocks a thread.
    Blocking,
    /// Like `Closed`, under load of another connection.
    Beside(Hog),
    /// One call on each connection, then idle.
    Idle,
    /// Messages in streams of this direction, one on each connection.
    Stream(Way),
}

/// The load of a greedy connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hog {
    /// Sends texts of 4 MiB, two at a time.
    Texts,
    /// Makes 10 000 calls at a time.
    Calls,
}

impl Hog {
    /// Returns its number of concurrent calls, and the length of their texts.
    pub(crate) fn load(self) -> (usize, usize) {
        match self {
            Self::Texts => (2, 4 << 20),
            Self::Calls => (10_000, 32),
        }
    }
}

/// Connection counts of small cells: one, some, and thousands.
const CLIENTS: [usize; 5] = [1, 16, 128, 1024, 8192];

/// Returns all cells in the order of the report, or the few of a quick comparison.
pub(crate) fn grid(quick: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for length in [32, 512] {
        for in_flight in [1, 10] {
            cells.extend(CLIENTS.map(|clients| Cell::new(Section::Small, clients, in_flight, length)));
        }
    }
    for length in [128 << 10, 1 << 20] {
        for in_flight in [1, 10] {
            cells.extend([1, 16, 100].map(|clients| Cell::new(Section::Bulk, clients, in_flight, length)));
        }
    }
    for mode in [Mode::Closed, Mode::Blocking] {
        let sleep = Some(Duration::from_micros(50));
        for in_flight in [1, 10] {
            let cell = |clients| Cell { sleep, mode, ..Cell::new(Section::Handler, clients, in_flight, 32) };
            cells.extend(CLIENTS.map(cell));
        }
    }
    for clients in [1, 32] {
        let kept = Cell::new(Section::Connect, clients, 1, 32);
        cells.push(kept);
        cells.push(Cell { mode: Mode::Reconnect, ..kept });
    }
    let pinned = [(1, 1), (16, 1), (1, 10), (16, 10), (128, 10), (1024, 10)];
    for (section, mode) in
        [(Section::Pinned, Mode::Pinned), (Section::Apart, Mode::Apart), (Section::Syscalls, Mode::Counted)]
    {
        let cell = |(clients, in_flight)| Cell { mode, ..Cell::new(section, clients, in_flight, 32) };
        cells.extend(pinned.map(cell));
    }
    for way in Way::ALL {
        let streams: &[_] =
            if way == Way::PingPong { &[(1, 100), (16, 100)] } else { &[(1, 100), (16, 100), (1, 1 << 20)] };
        for (clients, length) in streams {
            cells.push(Cell { mode: Mode::Stream(way), ..Cell::new(Section::Streams, *clients, 1, *length) });
        }
    }
    cells.extend([1, 10].map(|in_flight| Cell::new(Section::Observed, 16, in_flight, 32)));
    for rate in [2_000, 20_000, 100_000] {
        cells.push(Cell { mode: Mode::Open { rate }, ..Cell::new(Section::Open, 64, 1, 32) });
    }
    let victims = Cell::new(Section::Hog, 100, 1, 32);
    cells.push(victims);
    cells.extend([Hog::Texts, Hog::Calls].map(|hog| Cell { mode: Mode::Beside(hog), ..victims }));
    cells.push(Cell { mode: Mode::Idle, ..Cell::new(Section::Idle, 10_000, 1, 32) });
    for (clients, in_flight, length) in [(1, 1, 32), (16, 1, 32), (16, 10, 32), (1, 1, 1 << 20)] {
        cells.push(Cell::new(Section::OneHost, clients, in_flight, length));
    }
    for (in_flight, length) in [(1, 32), (10, 32), (1, 1 << 20)] {
        cells.push(Cell::new(Section::Gateway, 16, in_flight, length));
    }
    for (clients, in_flight) in [(1, 1), (32, 1), (32, 10)] {
        cells.push(Cell::new(Section::JsonRpc, clients, in_flight, 32));
    }
    for clients in [1, 32] {
        cells.push(Cell { mode: Mode::Reconnect, ..Cell::new(Section::JsonRpc, clients, 1, 32) });
    }
    for (in_flight, length) in [(10, 32), (1, 1 << 20)] {
        cells.push(Cell::new(Section::Tls, 16, in_flight, length));
    }
    for clients in [1, 32] {
        cells.push(Cell { mode: Mode::Reconnect, ..Cell::new(Section::Tls, clients, 1, 32) });
    }
    cells.retain(|cell| !quick || cell.is_quick());
    cells
}

impl Cell {
    pub(crate) fn new(section: Section, clients: usize, in_flight: usize, length: usize) -> Self {
        Self { section, clients, in_flight, length, sleep: None, mode: Mode::Closed }
    }

    /// Returns whether it belongs to a quick comparison.
    fn is_quick(&self) -> bool {
        let Self { section, clients, in_flight, length, mode, .. } = *self;
        match section {
            Section::Small => {
                length == 32 && [(1, 1), (16, 1), (16, 10), (128, 10), (1024, 10)].contains(&(clients, in_flight))
            }
            Section::Bulk => (clients, in_flight) == (16, 1),
            Section::Handler => (clients, mode) == (128, Mode::Closed),
            Section::Pinned => (clients, in_flight) == (16, 10),
            Section::Streams => matches!(mode, Mode::Stream(Way::Up | Way::Down)) && (clients, length) == (1, 100),
            _ => false,
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}x{}", self.length_name(), self.clients, self.in_flight)?;
        if let Some(sleep) = self.sleep {
            let verb = if self.mode == Mode::Blocking { "block" } else { "sleep" };
            write!(f, ", {verb} {} us", sleep.as_micros())?;
        }
        match self.mode {
            Mode::Closed | Mode::Blocking => Ok(()),
            Mode::Apart => write!(f, ", one core each"),
            Mode::Counted => write!(f, ", system calls"),
            Mode::Reconnect => write!(f, ", connection per call"),
            Mode::Open { rate } => write!(f, ", {rate} calls per second"),
            Mode::Pinned => write!(f, ", one core"),
            Mode::Beside(Hog::Texts) => write!(f, ", during texts of 4 MiB"),
            Mode::Beside(Hog::Calls) => write!(f, ", during 10 000 calls at a time"),
            Mode::Idle => write!(f, ", idle"),
            Mode::Stream(way) => write!(f, ", streams {way:?}"),
        }
    }
}

impl Cell {
    /// Returns the length of a text in words.
    pub(crate) fn length_name(&self) -> String {
        match self.length {
            length if length >= 1 << 20 => format!("{} MiB", length >> 20),
            length if length >= 1 << 10 => format!("{} KiB", length >> 10),
            length => format!("{length} B"),
        }
    }
}

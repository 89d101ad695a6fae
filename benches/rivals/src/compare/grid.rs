//! The measured cells: the originals' grid, and additional ones.

use rivals::rivals::streams::Way;
use std::fmt;
use std::time::Duration;

/// One thing to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cell {
    pub(crate) section: Section,
    pub(crate) clients: usize,
    pub(crate) in_flight: usize,
    /// The length of a text, in bytes.
    pub(crate) length: usize,
    pub(crate) sleep: Option<Duration>,
    pub(crate) mode: Mode,
}

/// A part of the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Section {
    /// Short texts, 1 to 8192 connections.
    Small,
    /// Long texts, 1 to 100 connections.
    Bulk,
    /// A handler that sleeps.
    Handler,
    /// A connection for each call, compared with a kept one.
    Connect,
    /// Both processes on one core.
    Pinned,
    /// Messages of streams.
    Streams,
    /// Counted and traced calls, compared with plain ones.
    Observed,
    /// Calls at a fixed rate.
    Open,
    /// One connection with very many requests among a hundred with few.
    Hog,
    /// Memory of connections that do nothing.
    Idle,
    /// Two processes of one host, by other transports than TCP, and by TCP.
    OneHost,
    /// Services called through gateways, compared with native calls.
    Doors,
    /// Calls over TLS, and a connection for each call.
    Tls,
}

/// How the calls are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Each caller makes the next call when it has its reply.
    Closed,
    /// As `Closed`, with a new connection for each call.
    Reconnect,
    /// Calls are made at this rate, in calls per second, whether there are replies or not.
    Open { rate: u32 },
    /// As `Closed`, with both processes on the first core.
    Pinned,
    /// As `Closed`, during such load of another connection.
    Beside(Hog),
    /// One call on each connection, then nothing.
    Idle,
    /// Messages in streams that go this way, one on each connection.
    Stream(Way),
}

/// The load of the greedy connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hog {
    /// Sends texts of 4 MiB, two at a time.
    Texts,
    /// Makes 10 000 calls at a time.
    Calls,
}

impl Hog {
    /// Its calls at one time, and the length of their texts.
    pub(crate) fn load(self) -> (usize, usize) {
        match self {
            Self::Texts => (2, 4 << 20),
            Self::Calls => (10_000, 32),
        }
    }
}

/// Texts in flight take at most so much memory, in bytes, at each of the two ends. Larger cells are left out.
const IN_FLIGHT_MAX: usize = 256 << 20;

/// All cells in the order of the report.
pub(crate) fn grid(quick: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for length in if quick { &[32][..] } else { &[32, 512] } {
        for in_flight in [1, 10] {
            for clients in [1, 16, 128, 1024, 8192] {
                if quick && clients == 8192 && in_flight > 1 {
                    continue;
                }
                cells.push(Cell::new(Section::Small, clients, in_flight, *length));
            }
        }
    }
    for length in [128 << 10, 1 << 20] {
        for in_flight in if quick { &[1][..] } else { &[1, 10] } {
            for clients in if quick { &[16][..] } else { &[1, 16, 100] } {
                cells.push(Cell::new(Section::Bulk, *clients, *in_flight, length));
            }
        }
    }
    for (clients, in_flight) in if quick { &[(128, 10)][..] } else { &[(16, 1), (128, 10)] } {
        let sleep = Some(Duration::from_micros(50));
        cells.push(Cell { sleep, ..Cell::new(Section::Handler, *clients, *in_flight, 32) });
    }
    for clients in if quick { &[32][..] } else { &[1, 32] } {
        let kept = Cell::new(Section::Connect, *clients, 1, 32);
        cells.push(kept);
        cells.push(Cell { mode: Mode::Reconnect, ..kept });
    }
    let pinned: &[_] = if quick { &[(1, 1)] } else { &[(1, 1), (16, 1), (1, 10), (16, 10), (128, 10), (1024, 10)] };
    for (clients, in_flight) in pinned {
        cells.push(Cell { mode: Mode::Pinned, ..Cell::new(Section::Pinned, *clients, *in_flight, 32) });
    }
    for way in Way::ALL {
        let streams: &[_] =
            if way == Way::PingPong { &[(1, 100), (16, 100)] } else { &[(1, 100), (16, 100), (1, 1 << 20)] };
        for (clients, length) in if quick { &streams[..1] } else { streams } {
            cells.push(Cell { mode: Mode::Stream(way), ..Cell::new(Section::Streams, *clients, 1, *length) });
        }
    }
    for in_flight in if quick { &[10][..] } else { &[1, 10] } {
        cells.push(Cell::new(Section::Observed, 16, *in_flight, 32));
    }
    for rate in if quick { &[20_000][..] } else { &[2_000, 20_000, 100_000] } {
        cells.push(Cell { mode: Mode::Open { rate: *rate }, ..Cell::new(Section::Open, 64, 1, 32) });
    }
    let victims = Cell::new(Section::Hog, 100, 1, 32);
    cells.push(victims);
    cells.extend([Hog::Texts, Hog::Calls].map(|hog| Cell { mode: Mode::Beside(hog), ..victims }));
    if !quick {
        cells.push(Cell { mode: Mode::Idle, ..Cell::new(Section::Idle, 10_000, 1, 32) });
    }
    for (clients, in_flight, length) in [(1, 1, 32), (16, 1, 32), (16, 10, 32), (1, 1, 1 << 20)] {
        cells.push(Cell::new(Section::OneHost, clients, in_flight, length));
    }
    for (in_flight, length) in [(1, 32), (10, 32), (1, 1 << 20)] {
        cells.push(Cell::new(Section::Doors, 16, in_flight, length));
    }
    for (in_flight, length) in [(10, 32), (1, 1 << 20)] {
        cells.push(Cell::new(Section::Tls, 16, in_flight, length));
    }
    for clients in [1, 32] {
        cells.push(Cell { mode: Mode::Reconnect, ..Cell::new(Section::Tls, clients, 1, 32) });
    }
    cells.retain(|cell| cell.clients * cell.in_flight * cell.length <= IN_FLIGHT_MAX);
    cells
}

impl Cell {
    pub(crate) fn new(section: Section, clients: usize, in_flight: usize, length: usize) -> Self {
        Self { section, clients, in_flight, length, sleep: None, mode: Mode::Closed }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}x{}", self.length_name(), self.clients, self.in_flight)?;
        if let Some(sleep) = self.sleep {
            write!(f, ", sleep {} us", sleep.as_micros())?;
        }
        match self.mode {
            Mode::Closed => Ok(()),
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
    /// The length of a text, in words.
    pub(crate) fn length_name(&self) -> String {
        match self.length {
            length if length >= 1 << 20 => format!("{} MiB", length >> 20),
            length if length >= 1 << 10 => format!("{} KiB", length >> 10),
            length => format!("{length} B"),
        }
    }
}

//! Hostile peers: which bytes they send, at which rates, and whether they read replies.
//!
//! Apart from valid values, they share no code with the crates under attack. `hostile/siege.rs` runs them next to a
//! healthy client, which must see no error. `programs/siege.rs` measures the latencies of that client.

mod list;

pub use list::all;

use crate::raw::{header, packet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Operations of the interop schema.
pub const ADD: u16 = 18;
/// The method that sleeps for the requested time.
pub const SLEEP: u16 = 19;
/// The streaming method that replies to each message.
pub const CHAT: u16 = 23;

/// Pause of an attacker after a failed attempt to connect.
const REFUSED_PAUSE: Duration = Duration::from_millis(5);

/// Pause between two writes of an attacker with [`Appetite::Little`].
const PAUSE: Duration = Duration::from_millis(1);

/// Returns inputs that must close the connection: lines of other protocols, lengths beyond the limit, and a PING with a
/// body.
pub fn breaches() -> Vec<Vec<u8>> {
    vec![
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        vec![0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3],
        header(1, ADD, frisbee::BODY_MAX + 1),
        packet(0, 0, b"!"),
        [packet(1, ADD, &[8, 0, 0x0d, 40, 0x0d, 44]), b"nonsense!!".to_vec()].concat(),
    ]
}

/// Malformed requests of the interop schema, each with its operation. Some declare 2^32 elements or bytes but contain
/// only a few, some end within a varint, and some contain invalid UTF-8.
pub const FORGED: [(u16, &[u8]); 6] = [
    (ADD, &[8, 0, 0x0d, 0x80, 0x80, 0x80]),
    (12, &[8, 0, 1, 7, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
    (13, &[8, 0, 2, 5, 5, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
    (16, &[8, 0, 5, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, b'x']),
    (17, &[8, 0, 0x0a, 1, 4, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
    (16, &[8, 0, 5, 0x0a, 2, 0xc3, 0x28]),
];

/// The kind of server that an attack needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// A server of the schema of the Go benchmark, such as the example `echo-server`.
    Echo,
    /// A server of the interop schema. It has handlers that wait, and streams.
    Interop,
    /// A server of the interop schema with TLS.
    Tls,
}

/// What a peer does after its last byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    /// Keeps the connection open until the server closes it.
    Stay,
    /// Closes its sending half and reads.
    HalfClose,
    /// Closes and reconnects.
    Leave,
    /// Resets the connection and reconnects.
    Reset,
}

/// A type of attack by hostile peers.
#[derive(Clone, Debug)]
pub struct Attack {
    /// Short description.
    pub name: &'static str,
    /// Numbers of the threats in the table of threats that the attack covers.
    pub threats: &'static [u8],
    /// The target of an attack.
    pub target: Target,
    connections: usize,
    /// Number of new connections per second, in addition to the permanent ones.
    per_second: u32,
    opening: Vec<u8>,
    /// Returns the bytes that a connection writes after the opening. The argument is the number of the connection.
    own: fn(usize) -> Vec<u8>,
    again: Vec<u8>,
    pause: Duration,
    reads: bool,
    ending: Ending,
}

/// Limits of the processor time that attackers may use.
#[derive(Clone, Copy, Debug)]
pub enum Appetite {
    /// A fraction of the processor time that is available to the thread. Only Linux can measure it.
    Share(f64),
    /// As little as possible: attackers pause after each write.
    Little,
}

impl Attack {
    /// Creates an attack. Its peers connect, write `opening` and keep the connection open.
    fn new(name: &'static str, threats: &'static [u8], target: Target, opening: Vec<u8>) -> Self {
        Self {
            name,
            threats,
            target,
            connections: 8,
            per_second: 0,
            opening,
            own: |_| Vec::new(),
            again: Vec::new(),
            pause: Duration::ZERO,
            reads: true,
            ending: Ending::Stay,
        }
    }

    /// Sets the number of permanent connections.
    fn connections(self, connections: usize) -> Self {
        Self { connections, ..self }
    }

    /// Sets the number of new connections per second. They are opened even if earlier ones are still open.
    fn per_second(self, per_second: u32) -> Self {
        Self { connections: 0, per_second, ..self }
    }

    /// Sets a function that returns the bytes that a connection writes after the opening, by the number of the
    /// connection.
    fn own(self, own: fn(usize) -> Vec<u8>) -> Self {
        Self { own, ..self }
    }

    /// Sets the bytes that peers write again and again.
    fn again(self, again: Vec<u8>) -> Self {
        Self { again, ..self }
    }

    /// Sets the pause between repeated writes.
    fn every(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Makes the peers never read.
    fn deaf(self) -> Self {
        Self { reads: false, ..self }
    }

    fn ending(self, ending: Ending) -> Self {
        Self { ending, ..self }
    }

    /// Runs the attack until this future is dropped.
    pub async fn run(self, address: SocketAddr, appetite: Appetite) {
        let diet = Arc::new(Diet { appetite, started: Instant::now(), used_before: used() });
        let attack = Arc::new(self);
        let mut peers = JoinSet::new();
        for number in 0..attack.connections {
            let (attack, diet) = (attack.clone(), diet.clone());
            peers.spawn(async move {
                loop {
                    diet.keep().await;
                    if attack.connect(number, address, &diet).await.is_err() {
                        tokio::time::sleep(REFUSED_PAUSE).await;
                    }
                }
            });
        }
        if attack.per_second > 0 {
            let mut ticks = tokio::time::interval(Duration::from_secs(1) / attack.per_second);
            for number in 0.. {
                ticks.tick().await;
                let (attack, diet) = (attack.clone(), diet.clone());
                peers.spawn(async move { drop(attack.connect(number, address, &diet).await) });
                while peers.try_join_next().is_some() {}
            }
        }
        peers.join_all().await;
    }

    /// Runs one connection until it closes.
    async fn connect(&self, number: usize, address: SocketAddr, diet: &Diet) -> std::io::Result<()> {
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        if self.ending == Ending::Reset {
            socket.set_zero_linger()?;
        }
        let (mut reading, mut writing) = socket.into_split();
        let write = async {
            writing.write_all(&self.opening).await?;
            writing.write_all(&(self.own)(number)).await?;
            match self.ending {
                Ending::Stay if self.again.is_empty() => std::future::pending().await,
                Ending::Stay => loop {
                    diet.keep().await;
                    writing.write_all(&self.again).await?;
                    if !self.pause.is_zero() {
                        tokio::time::sleep(self.pause).await;
                    }
                },
                Ending::HalfClose => {
                    writing.shutdown().await?;
                    std::future::pending().await
                }
                Ending::Leave | Ending::Reset => std::io::Result::Ok(()),
            }
        };
        let read = async {
            if !self.reads {
                std::future::pending::<()>().await;
            }
            let mut thrown_away = vec![0; 64 * 1024];
            while reading.read(&mut thrown_away).await? > 0 {
                diet.keep().await;
            }
            std::io::Result::Ok(())
        };
        // The server should close the connection.
        tokio::select! { _ = write => {}, _ = read => {} }
        Ok(())
    }
}

/// Limits the processor time of attackers. Measurements then show the work that their bytes cause at the server.
struct Diet {
    appetite: Appetite,
    started: Instant,
    used_before: Duration,
}

impl Diet {
    async fn keep(&self) {
        match self.appetite {
            Appetite::Little => tokio::time::sleep(PAUSE).await,
            Appetite::Share(share) => {
                let used = used().saturating_sub(self.used_before);
                let due = used.div_f64(share).saturating_sub(self.started.elapsed());
                if due.is_zero() {
                    tokio::task::yield_now().await;
                } else {
                    tokio::time::sleep(due).await;
                }
            }
        }
    }
}

/// Returns the processor time of this thread.
fn used() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = times.split_whitespace().next().and_then(|time| time.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Uses as much processor time as attackers may, but sends nothing. Latencies measured at the same time are the
/// baseline, because the server does not cause this effect.
pub async fn burn(appetite: Appetite) {
    let diet = Diet { appetite, started: Instant::now(), used_before: used() };
    loop {
        let started = Instant::now();
        while started.elapsed() < Duration::from_micros(200) {
            std::hint::spin_loop();
        }
        diet.keep().await;
    }
}

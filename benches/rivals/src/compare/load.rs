//! The client process: connects, warms up, counts calls for the given time, and prints the results.
//!
//! It prints its phases to standard output (`ready`, `begin`, `end`), so that the parent can read the CPU time of both
//! processes at the right moments, and finally `result` with the figures.

mod open;

use crate::contestants::{dispatch, is_per_core};
use rivals::BoxError;
use rivals::background::one_core;
use rivals::contest::{Contestant, Load, Reconnect};
use rivals::flows::Flows as _;
use rivals::meter::{Meter, Phase};
use rivals::process::exit_with_parent;
use rivals::rivals::streams::{self, Streams, Way};
use rivals::rivals::{Rival, Setup};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

#[derive(clap::Args, Clone)]
pub(crate) struct LoadArguments {
    /// The contestant.
    name: String,
    #[arg(long)]
    address: SocketAddr,
    #[arg(long, default_value_t = 1)]
    clients: usize,
    #[arg(long, default_value_t = 1)]
    in_flight: usize,
    #[arg(long, default_value_t = 32)]
    length: usize,
    #[arg(long, default_value_t = 500)]
    warm_up_ms: u64,
    #[arg(long, default_value_t = 1000)]
    window_ms: u64,
    /// Use a new connection for each call.
    #[arg(long)]
    reconnect: bool,
    /// Make one call on each connection, then stay idle.
    #[arg(long)]
    idle: bool,
    /// Calls per second, regardless of replies.
    #[arg(long)]
    rate: Option<u32>,
    /// Direction of stream messages.
    #[arg(long)]
    streams: Option<Way>,
}

/// Idle time before memory is measured, so that memory of bursts is released.
const IDLE: Duration = Duration::from_secs(5);

/// The results of a load.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// Calls completed within the window.
    pub(crate) calls: u64,
    pub(crate) seconds: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) p999_us: f64,
    pub(crate) max_us: f64,
    /// Connections without a completed call within the window.
    pub(crate) starved: usize,
    /// Connections with calls that had not completed long after the window.
    pub(crate) stuck: usize,
}

/// Maximum wait for calls in flight at the end of the window.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) fn main(arguments: &LoadArguments) -> Result<(), BoxError> {
    exit_with_parent();
    let name = arguments.name.as_str();
    let loaded = if arguments.reconnect {
        dispatch!(reconnects, name, load_reconnecting(arguments))
    } else if arguments.idle {
        dispatch!(calls, name, load_idle(arguments))
    } else if arguments.rate.is_some() {
        dispatch!(calls, name, load_open(arguments))
    } else if let Some(way) = arguments.streams {
        dispatch!(streams, name, load_streaming((arguments, way)))
    } else {
        dispatch!(all, name, load_closed(arguments))
    };
    let outcome = loaded.ok_or("there is no such contestant, or not for this")??;
    println!("result {}", serde_json::to_string(&outcome)?);
    // Skips closing thousands of connections individually.
    std::process::exit(0);
}

/// The runtimes of connections: one for all, or one per core.
struct Carriers {
    handles: Vec<Handle>,
    _shared: Option<Runtime>,
}

impl Carriers {
    fn new(per_core: bool) -> Result<Self, BoxError> {
        if !per_core {
            let runtime = Runtime::new()?;
            return Ok(Self { handles: vec![runtime.handle().clone()], _shared: Some(runtime) });
        }
        let mut handles = Vec::new();
        for _ in 0..std::thread::available_parallelism()?.get() {
            let runtime = one_core()?;
            handles.push(runtime.handle().clone());
            std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
        }
        Ok(Self { handles, _shared: None })
    }

    /// Returns the runtime of a connection.
    fn of(&self, connection: usize) -> &Handle {
        &self.handles[connection % self.handles.len()]
    }
}

/// State shared by all kinds of load.
struct Bench {
    /// Waits for the other runtimes.
    control: Runtime,
    carriers: Carriers,
    meter: Arc<Meter>,
    setup: Setup,
    arguments: LoadArguments,
}

impl Bench {
    fn new(arguments: &LoadArguments) -> Result<Self, BoxError> {
        Ok(Self {
            control: Builder::new_current_thread().build()?,
            carriers: Carriers::new(is_per_core(&arguments.name))?,
            meter: Arc::new(Meter::new(arguments.clients * arguments.in_flight)),
            setup: Setup::new(arguments.in_flight),
            arguments: arguments.clone(),
        })
    }

    fn load(&self, number: usize) -> Load {
        let LoadArguments { in_flight, length, .. } = self.arguments;
        Load { number, in_flight, length, meter: self.meter.clone() }
    }

    /// Opens all connections, some at a time, because an overflowing backlog costs a second.
    fn connect<C: Contestant>(&self) -> Result<Vec<C::Connection>, BoxError> {
        const AT_ONE_TIME: usize = 64;
        let mut connections = Vec::with_capacity(self.arguments.clients);
        let numbers: Vec<usize> = (0..self.arguments.clients).collect();
        for numbers in numbers.chunks(AT_ONE_TIME) {
            let connecting: Vec<_> = numbers
                .iter()
                .map(|number| {
                    let connect = C::connect(self.arguments.address, self.setup, self.load(*number));
                    self.carriers.of(*number).spawn(connect)
                })
                .collect();
            for connection in connecting {
                connections.push(self.control.block_on(connection)??);
            }
        }
        Ok(connections)
    }

    /// Runs the phases and reports them to the parent. Returns the length of the window in seconds.
    fn phases(&self) -> f64 {
        sleep(Duration::from_millis(self.arguments.warm_up_ms));
        self.meter.enter(Phase::Window);
        let begun = Instant::now();
        println!("begin");
        sleep(Duration::from_millis(self.arguments.window_ms));
        self.meter.enter(Phase::Ending);
        let seconds = begun.elapsed().as_secs_f64();
        println!("end");
        seconds
    }

    /// Waits for calls in flight and sums up the results.
    fn sum_up(&self, seconds: f64, driving: Vec<JoinHandle<Result<u64, BoxError>>>) -> Result<Outcome, BoxError> {
        let give_up = Instant::now() + TIMEOUT;
        let mut outcome = Outcome { seconds, ..Outcome::default() };
        for driven in driving {
            while !driven.is_finished() && Instant::now() < give_up {
                sleep(Duration::from_millis(1));
            }
            if !driven.is_finished() {
                outcome.stuck += 1;
                continue;
            }
            let counted = self.control.block_on(driven)??;
            outcome.calls += counted;
            outcome.starved += usize::from(counted == 0);
        }
        let latencies = self.meter.latencies();
        let micros = |quantile| latencies.value_at_quantile(quantile) as f64 / 1000.0;
        (outcome.p50_us, outcome.p99_us, outcome.p999_us) = (micros(0.5), micros(0.99), micros(0.999));
        outcome.max_us = latencies.max() as f64 / 1000.0;
        Ok(outcome)
    }
}

fn load_closed<C: Contestant>(arguments: &LoadArguments) -> Result<Outcome, BoxError> {
    let bench = Bench::new(arguments)?;
    let connections = bench.connect::<C>()?;
    println!("ready");
    let drive = |(number, connection)| bench.carriers.of(number).spawn(C::drive(connection, bench.load(number)));
    let driving: Vec<_> = connections.into_iter().enumerate().map(drive).collect();
    let seconds = bench.phases();
    bench.sum_up(seconds, driving)
}

fn load_streaming<S: Streams>((arguments, way): (&LoadArguments, Way)) -> Result<Outcome, BoxError> {
    let bench = Bench::new(arguments)?;
    let mut clients = Vec::new();
    for number in 0..arguments.clients {
        let connecting = bench.carriers.of(number).spawn(S::Client::connect(arguments.address));
        clients.push(bench.control.block_on(connecting)??);
    }
    println!("ready");
    let drive = |(number, client)| bench.carriers.of(number).spawn(streams::drive(client, way, bench.load(number)));
    let driving: Vec<_> = clients.into_iter().enumerate().map(drive).collect();
    let seconds = bench.phases();
    bench.sum_up(seconds, driving)
}

fn load_reconnecting<R: Reconnect>(arguments: &LoadArguments) -> Result<Outcome, BoxError> {
    let bench = Bench::new(arguments)?;
    println!("ready");
    let drive =
        |number| bench.carriers.of(number).spawn(R::reconnect(arguments.address, bench.setup, bench.load(number)));
    let driving: Vec<_> = (0..arguments.clients).map(drive).collect();
    let seconds = bench.phases();
    bench.sum_up(seconds, driving)
}

/// Makes some calls on each connection, and then stays idle while memory is measured.
fn load_idle<R: Rival>(arguments: &LoadArguments) -> Result<Outcome, BoxError> {
    let bench = Bench::new(arguments)?;
    let clients = bench.connect::<R>()?;
    println!("ready");
    let drive = |(number, client): (usize, &R::Client)| {
        bench.carriers.of(number).spawn(R::drive(client.clone(), bench.load(number)))
    };
    let driving: Vec<_> = clients.iter().enumerate().map(drive).collect();
    sleep(Duration::from_millis(arguments.warm_up_ms));
    bench.meter.enter(Phase::Ending);
    let mut outcome = bench.sum_up(0.0, driving)?;
    sleep(IDLE);
    println!("begin");
    sleep(Duration::from_millis(arguments.window_ms));
    println!("end");
    outcome.seconds = arguments.window_ms as f64 / 1000.0;
    Ok(outcome)
}

fn load_open<R: Rival>(arguments: &LoadArguments) -> Result<Outcome, BoxError> {
    let bench = Bench::new(arguments)?;
    let clients = bench.connect::<R>()?;
    println!("ready");
    let rate = arguments.rate.unwrap_or(1);
    let pacer = open::Pacer::start(clients, rate, &bench);
    let seconds = bench.phases();
    let driving = vec![bench.carriers.of(0).spawn(pacer.finish(bench.meter.clone()))];
    bench.sum_up(seconds, driving)
}

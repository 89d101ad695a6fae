//! Measures the latencies of a healthy client, alone and during each kind of attack by hostile peers.
//!
//! ```text
//! cargo run --release -p frisbee-tests --bin siege -- --seconds 5
//! ```
//!
//! Servers, attackers and the healthy client run in separate processes. The server is the example `echo-server`. If an
//! attack needs handlers that wait, streams or TLS, it is a server of the interop schema. For each attack, windows with
//! and without it alternate, so that other load of the machine affects both. In each window, the client makes
//! sequential calls for half of the time. For the other half, it makes one call per millisecond, independently of
//! earlier calls.
//!
//! In production, the peers of a server have their own machines. Attackers therefore get only a quarter of a processor,
//! and the lowest priority. The first row of the table shows how much they still compete for processors: its process
//! uses the same processor time but sends nothing.
//!
//! If the machine has other work, a busy server and its client wait for processors, which distorts the result.
//! `--real-time` needs root. It gives the server and the client priority over all other processes, and attackers
//! priority over the rest.
//!
//! The limits are:
//!
//! * The client must see no error.
//! * The ratio of the p99 with the attack to the p99 without it must have a median of at most 3 over all rounds, for
//!   both kinds of calls.
//! * In each window, the client also opens a new connection and makes a call. The median time of this must be at most
//!   200 ms.
//! * A second table shows the latencies of fifteen connections while a handler of a sixteenth one blocks its thread.
//!   Their p99 must be at most 20 ms.
//! * A third table shows the memory of a server whose gateway clients make it hold as much as possible. It must be at
//!   most 64 MiB above `memory_max`. `--hoards` prints only this table.
//!
//! The program exits with 1 if there was an error, and with 2 if there was none but another limit was exceeded.

mod blocked;
mod hoards;

use frisbee_pubsub::{self as pubsub, Broker};
use frisbee_tests::attacks::{self, Appetite, Attack, Target};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer};
use frisbee_tests::pki::Authority;
use frisbee_tests::service::Service;
use frpc::{Channel, Server, Status};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use samples::benchmark::{BenchmarkServiceClient, Request as Echo};
use std::error::Error;
use std::net::SocketAddr;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Maximum p99 of a healthy client during an attack, relative to its p99 without attack.
const RATIO_MAX: f64 = 3.0;

/// Maximum time in milliseconds to connect and receive the first reply.
const CONNECT_MAX: f64 = 200.0;

/// Fraction of one processor that attackers may use.
const SHARE: f64 = 0.25;

/// Duration of each measurement, with or without an attack.
const WINDOW: Duration = Duration::from_secs(1);

/// Time in which attackers connect, or in which a server closes their connections.
const PAUSE: Duration = Duration::from_millis(250);

/// Name of the row with a process that uses the processor but sends nothing.
const CONTROL: &str = "(a busy neighbour)";

/// Maximum lifetime of a server or attacker, in case the parent process dies.
const LIFE: Duration = Duration::from_secs(3_600);

const USAGE: &str = "usage: siege [--seconds N] [--only PART_OF_A_NAME] [--workers N] [--real-time] [--hoards]";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["serve"] => serve().await,
        ["serve-blocking"] => tokio::task::spawn_blocking(blocked::run).await.unwrap_or_else(|error| Err(error.into())),
        ["serve-hoards"] => hoards::serve().await,
        ["hoard", name, address] => hoards::hoard(name, address).await,
        ["attack", name, address] => attack(name, address).await,
        _ => match Arguments::parse(&words) {
            Ok(arguments) => besiege(arguments).await,
            Err(error) => Err(format!("{error}\n{USAGE}").into()),
        },
    };
    match done {
        Ok(Verdict::Well) => ExitCode::SUCCESS,
        Ok(Verdict::Errors) => ExitCode::FAILURE,
        Ok(Verdict::Slow) => ExitCode::from(2),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Sorted latencies of a healthy client.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Well,
    Slow,
    Errors,
}

struct Arguments {
    /// Duration of each attack.
    time: Duration,
    only: String,
    /// Number of worker threads of the example server. Defaults to the number of processors.
    workers: Option<String>,
    priority: Priority,
    /// Whether to measure only the memory of the server.
    only_hoards: bool,
}

/// Scheduling priorities of the processes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Priority {
    /// Attackers have the lowest priority.
    Usual,
    /// Real-time scheduling: the client has the highest priority, then servers, attackers, and all other processes.
    RealTime,
}

impl Priority {
    fn server(self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        match self {
            Self::Usual => Command::new(program),
            Self::RealTime => {
                let mut command = Command::new("chrt");
                command.args(["--rr", "5"]).arg(program);
                command
            }
        }
    }

    fn attacker(self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nice");
        command.args(["-n", if self == Self::Usual { "19" } else { "-10" }]).arg(program);
        command
    }

    /// Sets the priority of this process. Child processes do not inherit it.
    async fn client(self) -> Result<()> {
        if self == Self::RealTime {
            let own = std::process::id().to_string();
            let set = Command::new("chrt").args(["--reset-on-fork", "--rr", "--pid", "6", &own]).status().await?;
            if !set.success() {
                return Err("the system does not let this program have a higher priority".into());
            }
        }
        Ok(())
    }
}

impl Arguments {
    fn parse(words: &[&str]) -> Result<Self> {
        let mut parsed = Self {
            time: Duration::from_secs(5),
            only: String::new(),
            workers: None,
            priority: Priority::Usual,
            only_hoards: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} takes a value"));
            match *word {
                "--seconds" => parsed.time = Duration::try_from_secs_f64(value()?.parse()?)?,
                "--only" => parsed.only = (*value()?).to_owned(),
                "--workers" => parsed.workers = Some((*value()?).to_owned()),
                "--hoards" => parsed.only_hoards = true,
                "--real-time" => parsed.priority = Priority::RealTime,
                _ => return Err(format!("{word} is not understood").into()),
            }
        }
        Ok(parsed)
    }
}

/// Serves the interop schema, a broker and all protocols, with and without TLS.
async fn serve() -> Result<Verdict> {
    let authority = Authority::default();
    let gateway = || Gateway::new().json_rpc().http(Http::new().connect().grpc()).web_socket();
    for builder in
        [Server::builder(), Server::builder().tls(authority.server())].map(|builder| builder.gateway(gateway()))
    {
        let builder = builder.add_service(InteropServer::new(Service)).mount(pubsub::OPERATIONS, Broker::new());
        let server = builder.bind("127.0.0.1:0").await?;
        println!("listening on {}", server.local_addr());
        tokio::spawn(server.serve());
    }
    println!("{}", authority.pem());
    tokio::time::sleep(LIFE).await;
    Ok(Verdict::Well)
}

async fn attack(name: &str, address: &str) -> Result<Verdict> {
    let address = address.parse()?;
    let appetite = Appetite::Share(SHARE);
    let attacking = async {
        match attacks::all().into_iter().find(|attack| attack.name == name) {
            Some(attack) => attack.run(address, appetite).await,
            None => attacks::burn(appetite).await,
        }
    };
    let _ = tokio::time::timeout(LIFE, attacking).await;
    Ok(Verdict::Well)
}

/// A child process that is killed when this is dropped.
struct Running {
    child: Child,
    output: tokio::io::Lines<BufReader<tokio::process::ChildStdout>>,
}

impl Running {
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).kill_on_drop(true).spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("its output is a pipe")?).lines();
        Ok(Self { child, output })
    }

    async fn address(&mut self) -> Result<SocketAddr> {
        let line = self.output.next_line().await?.ok_or("the server does not start")?;
        Ok(line.strip_prefix("listening on ").ok_or("the server does not say where it listens")?.parse()?)
    }

    async fn end(mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Returns the resident memory of the process.
    fn resident_mib(&self) -> f64 {
        let path = format!("/proc/{}/status", self.child.id().unwrap_or(0));
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse().unwrap_or(0.0) / 1024.0
    }
}

/// Starts the example server. Builds it first if necessary.
async fn echo_server(workers: Option<&str>, priority: Priority) -> Result<Running> {
    let program = std::env::current_exe()?.with_file_name("echo-server");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--locked", "--profile", profile, "-p", "echo", "--bin", "echo-server"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .await?;
    if !built.success() {
        return Err("the example echo-server cannot be built".into());
    }
    let mut command = priority.server(program);
    command.arg("127.0.0.1:0");
    if let Some(workers) = workers {
        command.args(["--workers", workers]);
    }
    Running::start(&mut command)
}

/// A healthy client.
#[derive(Clone)]
enum Healthy {
    Echo(BenchmarkServiceClient),
    Interop(InteropClient),
}

impl Healthy {
    /// Makes a call and checks its reply.
    async fn call(&self, number: i64) -> std::result::Result<Duration, Status> {
        let started = Instant::now();
        let is_right = match self {
            Self::Echo(client) => {
                let message = format!("{number:032}");
                let reply = client.benchmark(Echo { message: message.clone() }).await?;
                reply.get_ref().message == message
            }
            Self::Interop(client) => {
                client.add(AddRequest { a: number, b: 1 }).await?.get_ref().total == number.wrapping_add(1)
            }
        };
        if is_right { Ok(started.elapsed()) } else { Err(Status::data_loss("the reply is another's")) }
    }
}

/// The addresses of the servers, and the settings to connect to them.
struct Servers {
    echo: (Running, SocketAddr),
    interop: (Running, SocketAddr),
    tls: (SocketAddr, frisbee::tls::ClientTls),
}

impl Servers {
    async fn start(workers: Option<&str>, priority: Priority) -> Result<Self> {
        let mut echo = echo_server(workers, priority).await?;
        let echo_address = echo.address().await?;
        let mut interop = Running::start(priority.server(std::env::current_exe()?).arg("serve"))?;
        let interop_address = interop.address().await?;
        let tls_address = interop.address().await?;
        let mut pem = String::new();
        while !pem.contains("END CERTIFICATE") {
            pem += &interop.output.next_line().await?.ok_or("the server does not say whom to trust")?;
            pem.push('\n');
        }
        let trusted = frisbee::tls::Authorities::from_pem(&pem)?;
        let tls = frisbee::tls::ClientTls::new(trusted)?;
        Ok(Self { echo: (echo, echo_address), interop: (interop, interop_address), tls: (tls_address, tls) })
    }

    fn address(&self, target: Target) -> SocketAddr {
        match target {
            Target::Echo => self.echo.1,
            Target::Interop => self.interop.1,
            Target::Tls => self.tls.0,
        }
    }

    fn resident_mib(&self, target: Target) -> f64 {
        if target == Target::Echo { self.echo.0.resident_mib() } else { self.interop.0.resident_mib() }
    }

    async fn connect(&self, target: Target) -> Result<Healthy> {
        let address = self.address(target).to_string();
        Ok(match target {
            Target::Echo => {
                let channel = Channel::builder().calls::<BenchmarkServiceClient>().connect(address).await?;
                Healthy::Echo(BenchmarkServiceClient::new(channel))
            }
            Target::Interop => {
                let channel = Channel::builder().calls::<InteropClient>().connect(address).await?;
                Healthy::Interop(InteropClient::new(channel))
            }
            Target::Tls => {
                let builder = Channel::builder().calls::<InteropClient>().tls(self.tls.1.clone());
                Healthy::Interop(InteropClient::new(builder.connect(address).await?))
            }
        })
    }
}

/// Measurements of a healthy client: latencies of sequential calls and of calls at a steady rate.
#[derive(Default)]
struct Window {
    /// Time to connect and to receive the first reply.
    connected: Option<Duration>,
    closed: Vec<Duration>,
    open: Vec<Duration>,
    errors: Vec<String>,
}

impl Window {
    fn note(&mut self, open: bool, result: std::result::Result<Duration, Status>) {
        match result {
            Ok(took) if open => self.open.push(took),
            Ok(took) => self.closed.push(took),
            Err(status) => self.errors.push(status.to_string()),
        }
    }
}

/// Measures a call over a new connection, and then the calls over the existing one until the window ends.
async fn watch(servers: &Servers, target: Target, healthy: &Healthy) -> Window {
    let mut window = Window::default();
    let started = Instant::now();
    match servers.connect(target).await {
        Ok(newcomer) => match newcomer.call(0).await {
            Ok(_) => window.connected = Some(started.elapsed()),
            Err(status) => window.errors.push(status.to_string()),
        },
        Err(error) => window.errors.push(error.to_string()),
    }
    let started = Instant::now();
    let mut number = 0;
    while started.elapsed() < WINDOW / 2 {
        number += 1;
        window.note(false, healthy.call(number).await);
    }
    let mut calls = JoinSet::new();
    let mut ticks = tokio::time::interval(Duration::from_millis(1));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    while started.elapsed() < WINDOW {
        tokio::select! {
            _ = ticks.tick() => {
                number += 1;
                let healthy = healthy.clone();
                calls.spawn(async move { healthy.call(number).await });
            }
            Some(ended) = calls.join_next() => match ended {
                Ok(result) => window.note(true, result),
                Err(panic) => window.errors.push(panic.to_string()),
            },
        }
    }
    while let Some(ended) = calls.join_next().await {
        match ended {
            Ok(result) => window.note(true, result),
            Err(panic) => window.errors.push(panic.to_string()),
        }
    }
    window
}

/// Returns a quantile of latencies in microseconds. The quantile is given in thousandths.
fn percentile(latencies: &mut [Duration], of_thousand: usize) -> f64 {
    latencies.sort_unstable();
    let at = latencies.len().saturating_sub(1) * of_thousand / 1_000;
    latencies.get(at).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e6)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Measurements of one round: the time to connect in milliseconds, and p50 and p99 of both kinds of calls, with and
/// without the attack.
#[derive(Default)]
struct Row {
    connected: [Vec<f64>; 2],
    closed: Vec<[f64; 4]>,
    open: Vec<[f64; 4]>,
    errors: Vec<String>,
    resident_mib: f64,
}

impl Row {
    fn add(&mut self, mut alone: Window, mut attacked: Window) {
        let four = |alone: &mut [Duration], attacked: &mut [Duration]| {
            [percentile(alone, 500), percentile(alone, 990), percentile(attacked, 500), percentile(attacked, 990)]
        };
        for (times, window) in self.connected.iter_mut().zip([&alone, &attacked]) {
            times.extend(window.connected.map(|took| took.as_secs_f64() * 1e3));
        }
        self.closed.push(four(&mut alone.closed, &mut attacked.closed));
        self.open.push(four(&mut alone.open, &mut attacked.open));
        self.errors.append(&mut alone.errors);
        self.errors.append(&mut attacked.errors);
    }

    fn ratio(rounds: &[[f64; 4]]) -> f64 {
        median(rounds.iter().map(|[_, alone, _, attacked]| attacked / alone).collect())
    }

    /// Prints a row of the table.
    fn print(&self, name: &str, threats: &[u8], target: Target) -> Verdict {
        let numbers = |rounds: &[[f64; 4]]| {
            let of = |at: usize| median(rounds.iter().map(|round| round[at]).collect());
            format!("{:.0} / {:.0} | {:.0} / {:.0} | {:.2}", of(0), of(1), of(2), of(3), Self::ratio(rounds))
        };
        let [alone, attacked] = self.connected.each_ref().map(|times| median(times.clone()));
        let threats: Vec<_> = threats.iter().map(u8::to_string).collect();
        let verdict = if !self.errors.is_empty() {
            Verdict::Errors
        } else if [&self.closed, &self.open].iter().all(|way| Self::ratio(way) <= RATIO_MAX) && attacked <= CONNECT_MAX
        {
            Verdict::Well
        } else {
            Verdict::Slow
        };
        println!(
            "| {} | {name} | {} | {alone:.1} | {attacked:.1} | {} | {} | {} | {:.0} |{}",
            threats.join(", "),
            format!("{target:?}").to_lowercase(),
            numbers(&self.closed),
            numbers(&self.open),
            self.errors.len(),
            self.resident_mib,
            if verdict == Verdict::Well { "" } else { " <--" },
        );
        for error in self.errors.iter().take(3) {
            println!("    {error}");
        }
        verdict
    }
}

async fn besiege(arguments: Arguments) -> Result<Verdict> {
    if arguments.only_hoards {
        return hoards::besiege(&arguments.only).await;
    }
    let servers = Servers::start(arguments.workers.as_deref(), arguments.priority).await?;
    arguments.priority.client().await?;
    println!(
        "| # | peers | server | connect alone (ms) | attacked | sequential: p50 / p99 alone (us) | attacked | ratio | 1000/s: p50 / p99 alone (us) | attacked | ratio | errors | server MiB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let control = (CONTROL, &[][..], Target::Echo);
    let rows = std::iter::once(control)
        .chain(attacks::all().iter().map(|Attack { name, threats, target, .. }| (*name, *threats, *target)))
        .filter(|(name, ..)| name.contains(&arguments.only))
        .collect::<Vec<_>>();
    let rounds = (arguments.time.as_secs_f64() / WINDOW.as_secs_f64()).round().max(1.0) as usize;
    let mut worst = Verdict::Well;
    for (name, threats, target) in rows {
        let mut row = Row::default();
        let healthy = servers.connect(target).await?;
        // The first calls are slower, so they are not measured.
        drop(watch(&servers, target, &healthy).await);
        for round in 0..rounds {
            let attacked_first = round % 2 == 1;
            let mut seen = Vec::new();
            for attacked in [attacked_first, !attacked_first] {
                let attacker =
                    if attacked { Some(attacker(arguments.priority, name, servers.address(target))?) } else { None };
                tokio::time::sleep(PAUSE).await;
                seen.push(watch(&servers, target, &healthy).await);
                if let Some(attacker) = attacker {
                    row.resident_mib = row.resident_mib.max(servers.resident_mib(target));
                    attacker.end().await?;
                }
            }
            let (Some(second), Some(first)) = (seen.pop(), seen.pop()) else { unreachable!("two were pushed") };
            let (alone, attacked) = if attacked_first { (second, first) } else { (first, second) };
            row.add(alone, attacked);
        }
        worst = worst.max(row.print(name, threats, target));
    }
    if blocked::NAME.contains(&arguments.only) {
        worst = worst.max(blocked::besiege(arguments.time).await?);
    }
    worst = worst.max(hoards::besiege(&arguments.only).await?);
    Ok(worst)
}

/// Starts a process that runs an attack.
fn attacker(priority: Priority, name: &str, address: SocketAddr) -> Result<Running> {
    let mut command = priority.attacker(std::env::current_exe()?);
    command.args(["attack", name]).arg(address.to_string());
    Running::start(&mut command)
}

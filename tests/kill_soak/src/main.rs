//! Calls of random sizes to a server that is killed again and again. The content of every message is checked, and the
//! server logs every execution.
//!
//! ```text
//! cargo run --release -p kill-soak -- --transport shm --minutes 30
//! ```
//!
//! Exits with 1 after any of these:
//!
//! * wrong: a reply or a request with other bytes than were sent, a stream that ends early without an error, a reply
//!   without an execution, or an error that names a broken protocol;
//! * doubled: a call that is not idempotent was executed twice;
//! * hung: a call has not ended after a minute;
//! * untrue: a call that has begun to run failed with the claim that it has not;
//! * repeated: an idempotent call was executed more than twice.

mod client;
mod service;

use client::{Fate, Load};
use frisbee::IoBackend;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

/// Generated from `proto/kill_soak.proto`.
mod proto {
    #![allow(missing_docs)]
    frpc::include_proto!("kill_soak");
}

/// The transport of the connections under test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Transport {
    Tcp,
    Uring,
    Shm,
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "tcp" => Ok(Self::Tcp),
            "uring" => Ok(Self::Uring),
            "shm" => Ok(Self::Shm),
            _ => Err(format!("unknown transport {name:?}; use tcp, uring or shm")),
        }
    }
}

impl Transport {
    fn io_backend(self) -> IoBackend {
        if self == Self::Uring { IoBackend::Uring } else { IoBackend::Tokio }
    }
}

/// The kind of a call, which is encoded in its id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Once,
    Repeat,
    Download,
    Upload,
    Talk,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Once, Self::Repeat, Self::Download, Self::Upload, Self::Talk];

    fn of(id: u64) -> Self {
        Self::ALL[id as usize % Self::ALL.len()]
    }
}

/// Returns pseudorandom content that is determined by a call id and the number of a message.
fn data_of(id: u64, part: u32, length: usize) -> Vec<u8> {
    let mut state = (id ^ u64::from(part) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut data = Vec::with_capacity(length + 8);
    while data.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        data.extend_from_slice(&state.to_le_bytes());
    }
    data.truncate(length);
    data
}

struct Arguments {
    transport: Transport,
    minutes: f64,
    seed: u64,
    /// Address and log file of the server. `None` for the process that starts servers and makes calls.
    serve: Option<(String, PathBuf)>,
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments { transport: Transport::Tcp, minutes: 1.0, seed: fastrand::u64(..), serve: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{name} needs a value"));
        let invalid = |value: &str| format!("invalid value {value:?} of {name}");
        match name.as_str() {
            "--transport" => found.transport = value()?.parse()?,
            "--minutes" => found.minutes = value().and_then(|text| text.parse().map_err(|_| invalid(&text)))?,
            "--seed" => found.seed = value().and_then(|text| text.parse().map_err(|_| invalid(&text)))?,
            "--serve" => found.serve = Some((value()?, value()?.into())),
            _ => return Err("usage: kill-soak [--transport tcp|uring|shm] [--minutes N] [--seed N]".to_owned()),
        }
    }
    Ok(found)
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    if let Some((address, log)) = &arguments.serve {
        service::serve(arguments.transport, address, log).await;
        return ExitCode::FAILURE;
    }
    if run(&arguments).await { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the soak test. Returns whether no error was found.
async fn run(arguments: &Arguments) -> bool {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let log = folder.path().join("executions");
    let (address, target) = if arguments.transport == Transport::Shm {
        let path = folder.path().join("socket").display().to_string();
        (path.clone(), format!("unix+shm:{path}"))
    } else {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.expect("loopback port should be free").to_string();
        (address.clone(), address)
    };
    println!("{:?} for {} minutes, with seed {}", arguments.transport, arguments.minutes, arguments.seed);
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    let load = Arc::new(Load::new(arguments.transport, target));
    let started = Instant::now();
    let time = Duration::from_secs_f64(arguments.minutes * 60.0);
    let mut server = start(arguments.transport, &address, &log);
    let tasks: Vec<_> = (0..client::CHANNELS).map(|_| tokio::spawn(load.clone().run(random.fork()))).collect();
    let mut kills = 0;
    while started.elapsed() < time {
        tokio::time::sleep(Duration::from_millis(random.u64(300..4000))).await;
        server.kill().await.expect("server should be a child process");
        kills += 1;
        // In one of three cases, the server restarts immediately.
        tokio::time::sleep(Duration::from_millis(random.u64(..3) * random.u64(..200))).await;
        server = start(arguments.transport, &address, &log);
    }
    load.stop();
    for task in tasks {
        task.await.expect("load should not panic");
    }
    server.kill().await.expect("server should be a child process");
    report(&load, &log, kills, started.elapsed())
}

/// Starts the server in a child process, which is killed when its handle is dropped.
fn start(transport: Transport, address: &str, log: &Path) -> Child {
    let program = std::env::current_exe().expect("program should have a path");
    let transport = format!("{transport:?}").to_lowercase();
    let mut command = Command::new(program);
    command.args(["--transport", &transport, "--serve", address]).arg(log).kill_on_drop(true);
    command.spawn().expect("process should start")
}

/// Compares the outcomes of the calls with the server's log of executions, and prints the findings. Returns whether
/// there were none.
fn report(load: &Load, log: &Path, kills: u32, time: Duration) -> bool {
    let fates = load.fates();
    let mut executions = vec![0_u8; fates.len()];
    let mut wrong_requests = Vec::new();
    for record in std::fs::read(log).expect("file should be readable").chunks_exact(8) {
        let record = u64::from_le_bytes(record.try_into().expect("record should have eight bytes"));
        let (id, is_wrong) = (record & !service::WRONG, record & service::WRONG != 0);
        match executions.get_mut(id as usize) {
            Some(count) if !is_wrong => *count = count.saturating_add(1),
            _ => wrong_requests.push(id),
        }
    }
    let mut findings: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    findings.insert("wrong requests", wrong_requests);
    for name in
        ["wrong replies", "replies without an execution", "doubled", "hung", "untrue \"has not run\"", "repeated"]
    {
        findings.insert(name, Vec::new());
    }
    let mut counts: BTreeMap<(Kind, &str), u64> = BTreeMap::new();
    let mut find = |name: &str, id| findings.get_mut(name).expect("finding should be listed").push(id);
    for (id, (fate, executions)) in fates.iter().zip(&executions).enumerate() {
        if *fate == Fate::Unused {
            continue;
        }
        let (id, kind) = (id as u64, Kind::of(id as u64));
        *counts.entry((kind, fate.name())).or_default() += 1;
        match fate {
            Fate::Wrong => find("wrong replies", id),
            Fate::Hung => find("hung", id),
            Fate::Answered if *executions == 0 => find("replies without an execution", id),
            Fate::NotRun if *executions > 0 => find("untrue \"has not run\"", id),
            _ => {}
        }
        match kind {
            Kind::Repeat if *executions > 2 => find("repeated", id),
            Kind::Repeat => {}
            _ if *executions > 1 => find("doubled", id),
            _ => {}
        }
    }
    println!("{} calls and {kills} kills in {:.0} s", counts.values().sum::<u64>(), time.as_secs_f64());
    for ((kind, fate), count) in counts {
        println!("  {count:>9} {kind:?} {fate}");
    }
    println!("errors:");
    for (error, count) in load.errors() {
        println!("  {count:>9} {error}");
    }
    let mut well = true;
    for (name, ids) in findings {
        println!("{name}: {} {:?}", ids.len(), &ids[..ids.len().min(10)]);
        well &= ids.is_empty();
    }
    println!("{}", if well { "clean" } else { "NOT CLEAN" });
    well
}

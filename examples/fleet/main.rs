//! A fleet: three servers registered in etcd, and a client that only knows their name. Each server is replaced in turn,
//! and then one of them becomes slow under load. No call fails, and the slow server receives few calls. The servers
//! publish each call on a bus of brokers joined by NATS, and an office receives all of them.
//!
//! `cargo run -p fleet` starts everything, prints the targets of calls and the losses, and exits within a minute. It
//! requires etcd and NATS from Debian's packages `etcd-server` and `nats-server`.

mod bus;
mod engines;
mod shop;

use bus::Office;
use engines::Engine;
use frpc::Channel;
use frpc_balance::Balance;
use frpc_balance::etcd::{Etcd, EtcdResolver};
use greet::{GreeterClient, Name};
use shop::Shop;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Generated from `proto/greet.proto`.
mod greet {
    frpc::include_proto!("greet");
}

/// The service name of the servers.
const NAME: &str = "shop/";

/// Number of callers that make sequential calls.
const CALLERS: usize = 24;

/// Duration of each phase.
const PHASE: Duration = Duration::from_secs(3);

/// Time limit of the whole program.
const TIMEOUT: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    timeout(TIMEOUT, show()).await?
}

async fn show() -> Result<(), Box<dyn Error>> {
    let (Some(etcd_server), Some(nats)) = (Engine::etcd().await?, Engine::nats().await?) else {
        println!("skipped: etcd or NATS is not installed (Debian's packages etcd-server and nats-server)");
        return Ok(());
    };
    let etcd = Etcd::new([format!("http://{}", etcd_server.address())])?;
    let office = Office::open(nats.address()).await?;
    let mut shops = Vec::new();
    for name in ["a", "b", "c"] {
        shops.push(Shop::open(name, &etcd, &nats).await?);
    }
    let channel = Channel::builder().balance().connect_resolved(EtcdResolver::new(&etcd, NAME)).await?;
    println!("three servers are in etcd below {NAME:?}, which is all that the client knows\n");
    println!("{:<42}{:>8}{:>7}   to a, b and c", "", "calls", "lost");

    let calls = Arc::new(Calls::default());
    let mut callers: JoinSet<_> = (0..CALLERS).map(|_| call(channel.clone(), calls.clone())).collect();
    let mut lost = 0;
    sleep(PHASE).await;
    lost += report("all is well", &calls, &shops);
    for shop in &mut shops {
        shop.replace(&etcd, &nats).await?;
        sleep(Duration::from_millis(300)).await;
    }
    lost += report("one after the other is replaced", &calls, &shops);
    shops[1].be_slow();
    sleep(PHASE).await;
    lost += report("b takes 40 ms for each call, one at a time", &calls, &shops);

    calls.are_over.store(true, Ordering::Relaxed);
    while let Some(caller) = callers.join_next().await {
        caller?;
    }
    lost += calls.lost.load(Ordering::Relaxed);
    let sold: u64 = shops.iter().map(Shop::sold).sum();
    for shop in shops {
        shop.close().await?;
    }
    // Published messages may still be in flight.
    let deadline = Instant::now() + Duration::from_secs(10);
    while office.received() + office.missed() < sold && Instant::now() < deadline {
        sleep(Duration::from_millis(10)).await;
    }
    let received = office.received();
    office.close().await?;
    println!("\nthe office heard of {received} of {sold} sales");
    if lost > 0 || received != sold {
        return Err(format!("{lost} calls were lost, and the office heard of {received} of {sold} sales").into());
    }
    println!("nothing was lost");
    Ok(())
}

/// The calls of all callers.
#[derive(Default)]
struct Calls {
    made: AtomicU64,
    lost: AtomicU64,
    are_over: AtomicBool,
}

/// Makes calls until the end of all phases.
async fn call(channel: Channel, calls: Arc<Calls>) {
    let client = GreeterClient::new(channel);
    while !calls.are_over.load(Ordering::Relaxed) {
        if let Err(status) = client.greet(Name { name: "Ada".to_owned() }).await {
            println!("lost: {status}");
            calls.lost.fetch_add(1, Ordering::Relaxed);
        }
        calls.made.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(1)).await;
    }
}

/// Prints the events since the last report. Returns the number of lost calls.
fn report(what: &str, calls: &Calls, shops: &[Shop]) -> u64 {
    let [made, lost] = [&calls.made, &calls.lost].map(|count| count.swap(0, Ordering::Relaxed));
    let served: Vec<_> = shops.iter().map(Shop::take_served).collect();
    let all = served.iter().sum::<u64>().max(1);
    let shares: Vec<_> = served.iter().map(|served| format!("{:>3} %", served * 100 / all)).collect();
    println!("{what:<42}{made:>8}{lost:>7}   {}", shares.join(" "));
    lost
}

#[cfg(test)]
#[test]
fn fleet_loses_no_call_and_no_message() {
    main().expect("no message should be lost");
}

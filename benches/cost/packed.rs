//! Measures the bytes saved by compression, and its CPU cost.
//!
//! ```text
//! cargo run --release -p cost --bin packed               a text of 4 KiB
//! cargo run --release -p cost --bin packed -- 65536
//! ```
//!
//! Calls that echo a text, ten at a time, over loopback, with client and server on one thread. The text consists of
//! JSON records that differ in numbers and names. Rounds with and without compression alternate. Reports the bytes of
//! both directions, and the median CPU time of both ends.

use benches::BoxError;
use benches::cost::{median, processor_time};
use benches::proto::benchmark::{BenchmarkServiceClient, BenchmarkServiceServer, Request as Echo};
use benches::rivals::Setup;
use benches::rivals::frpc::Service;
use frpc::{Channel, Server, Workers};
use std::fmt::Write as _;
use tokio::task::JoinSet;

const METHOD: [&str; 1] = ["benchmark.BenchmarkService/Benchmark"];
const IN_FLIGHT: usize = 10;
const ROUNDS: usize = 15;

/// Number of sequential calls per caller in a round.
const CALLS: usize = 200;

fn main() -> Result<(), BoxError> {
    let length = std::env::args().nth(1).map_or(Ok(4096), |length| length.parse())?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(compare(length))
}

/// Returns shop records of the given total length.
fn text(length: usize) -> Result<String, BoxError> {
    let mut text = String::new();
    let mut random = 7_u64;
    while text.len() < length {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (id, price, index) = (random >> 40, random >> 20 & 0xFFF, random >> 33 & 7);
        let name = ["apple", "pear", "quince", "plum", "cherry", "lemon", "fig", "grape"][index as usize];
        write!(text, r#"{{"id":{id},"name":"{name}","price":{price},"stock":{}}},"#, random >> 50)?;
    }
    text.truncate(length);
    Ok(text)
}

async fn compare(length: usize) -> Result<(), BoxError> {
    let text = text(length)?;
    let server = Server::builder().workers(Workers::Caller).compress(METHOD);
    let server = server.add_service(BenchmarkServiceServer::new(Service(Setup::new(IN_FLIGHT))));
    let server = server.bind("127.0.0.1:0").await?;
    let (address, stats) = (server.local_addr().to_string(), server.stats());
    tokio::spawn(server.serve());
    let as_it_is = BenchmarkServiceClient::connect(address.as_str()).await?;
    let packed = BenchmarkServiceClient::new(Channel::builder().compress(METHOD).connect(address).await?);
    let (mut times, mut bytes) = ([Vec::new(), Vec::new()], [0, 0]);
    for round in 0..=ROUNDS {
        for (which, client) in [&as_it_is, &packed].into_iter().enumerate() {
            let before = (processor_time(), stats.bytes_read() + stats.bytes_written());
            call(client, &text).await?;
            let calls = (IN_FLIGHT * CALLS) as f64;
            // The first round warms up.
            if round > 0 {
                times[which].push((processor_time() - before.0).as_secs_f64() * 1e6 / calls);
            }
            bytes[which] = (stats.bytes_read() + stats.bytes_written() - before.1) / (IN_FLIGHT * CALLS) as u64;
        }
    }
    let [plain, packed] = times.map(median);
    println!("a text of {length} bytes, sent and returned; each call:");
    println!("as it is     {:>8} bytes  {plain:>8.1} us of processor time at both ends", bytes[0]);
    println!("compressed   {:>8} bytes  {packed:>8.1} us", bytes[1]);
    println!("ratio        {:>8.2}        {:>8.2}", bytes[1] as f64 / bytes[0] as f64, packed / plain);
    Ok(())
}

/// Makes the calls of a round.
async fn call(client: &BenchmarkServiceClient, text: &str) -> Result<(), BoxError> {
    let mut callers = JoinSet::new();
    for _ in 0..IN_FLIGHT {
        let (client, text) = (client.clone(), text.to_owned());
        callers.spawn(async move {
            for _ in 0..CALLS {
                let reply = client.benchmark(Echo { message: text.clone() }).await?;
                assert_eq!(reply.into_inner().message.len(), text.len());
            }
            Ok::<_, BoxError>(())
        });
    }
    while let Some(called) = callers.join_next().await {
        called??;
    }
    Ok(())
}

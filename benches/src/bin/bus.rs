//! The way of messages through two brokers that NATS joins, beside `async-nats` alone, with the same nats-server.
//!
//! `cargo run --release -p benches --features rivals --bin bus -- [ROUNDS]`
//!
//! Takes `nats-server` from PATH. Everything else is in this process, and each way has one publisher and one subscriber
//! of 32 bytes. `p50` is of messages one at a time, from before they are published until they are read. `rate` is of
//! messages of which at most 8192 are on their way. The ways take their turns, and ratios are taken within a round.

use benches::BoxError;
use bytes::Bytes;
use frisbee::pubsub::{Broker, Client, Publisher, Subscription};
use frisbee_nats::NatsBus;
use futures_util::StreamExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Messages that are sent one at a time, in a round.
const ALONE: usize = 5_000;

/// Messages that are sent as fast as they are read, in a round.
const TOGETHER: usize = 500_000;

const ON_THEIR_WAY: usize = 8192;

const PAYLOAD: Bytes = Bytes::from_static(&[b'x'; 32]);

/// One publisher and one subscriber.
trait Way: Sized {
    type Reader: Send + 'static;

    const NAME: &'static str;

    async fn open(address: &str) -> Result<(Self, Self::Reader), BoxError>;

    async fn publish(&self) -> Result<(), BoxError>;

    fn read(reader: &mut Self::Reader) -> impl Future<Output = Result<(), BoxError>> + Send;
}

struct Nats(async_nats::Client);

impl Way for Nats {
    type Reader = (async_nats::Client, async_nats::Subscriber);

    const NAME: &'static str = "async-nats";

    async fn open(address: &str) -> Result<(Self, Self::Reader), BoxError> {
        let client = async_nats::connect(address).await?;
        let subscriber = client.subscribe("bench.topic").await?;
        client.flush().await?;
        Ok((Self(async_nats::connect(address).await?), (client, subscriber)))
    }

    async fn publish(&self) -> Result<(), BoxError> {
        Ok(self.0.publish("bench.topic", PAYLOAD).await?)
    }

    async fn read((_, subscriber): &mut Self::Reader) -> Result<(), BoxError> {
        subscriber.next().await.map(drop).ok_or_else(|| "the connection has ended".into())
    }
}

struct Bus(Publisher);

impl Bus {
    /// A client of a broker of its own on the bus.
    async fn client(address: &str) -> Result<Client, BoxError> {
        let broker = Broker::builder().backplane(NatsBus::connect("bench", address).await?).build();
        let server = frisbee::Server::builder().bind("127.0.0.1:0", broker).await?;
        let address = server.local_addr();
        tokio::spawn(server.serve());
        Ok(Client::connect(address).await?)
    }
}

impl Way for Bus {
    type Reader = (Client, Subscription);

    const NAME: &'static str = "two brokers";

    async fn open(address: &str) -> Result<(Self, Self::Reader), BoxError> {
        let client = Self::client(address).await?;
        let subscription = client.subscribe("topic").await?;
        Ok((Self(Self::client(address).await?.publisher("topic")?), (client, subscription)))
    }

    async fn publish(&self) -> Result<(), BoxError> {
        Ok(self.0.publish(PAYLOAD).await?)
    }

    async fn read((_, subscription): &mut Self::Reader) -> Result<(), BoxError> {
        Ok(subscription.recv().await.map(drop)?)
    }
}

/// The median in microseconds, and messages in a second.
async fn measure<W: Way>(address: &str) -> Result<(f64, f64), BoxError> {
    let (way, mut reader) = W::open(address).await?;
    let mut times = Vec::with_capacity(ALONE);
    for _ in 0..ALONE {
        let begun = Instant::now();
        way.publish().await?;
        W::read(&mut reader).await?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let room = Arc::new(Semaphore::new(ON_THEIR_WAY));
    let (begun, read) = (Instant::now(), room.clone());
    let reading = tokio::spawn(async move {
        for _ in 0..TOGETHER {
            W::read(&mut reader).await?;
            read.add_permits(1);
        }
        Ok::<_, BoxError>(())
    });
    for _ in 0..TOGETHER {
        room.acquire().await?.forget();
        way.publish().await?;
    }
    reading.await??;
    Ok((times[ALONE / 2], TOGETHER as f64 / begun.elapsed().as_secs_f64()))
}

/// A server of NATS, which ends with this program.
struct Server(Child, String);

impl Server {
    fn start() -> Result<Self, BoxError> {
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &address.port().to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("nats-server cannot be run: {error}"))?;
        let server = Self(child, address.to_string());
        for _ in 0..200 {
            if std::net::TcpStream::connect(address).is_ok() {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err("nats-server does not come up".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let rounds = std::env::args().nth(1).map_or(Ok(7), |rounds| rounds.parse::<usize>())?.max(1);
    let server = Server::start()?;
    let (mut more, mut rates) = (Vec::new(), Vec::new());
    println!("{:>5} {:>12} {:>10} {:>14}", "round", "", "p50 / us", "thousand / s");
    for round in 1..=rounds {
        let alone = measure::<Nats>(&server.1).await?;
        let joined = measure::<Bus>(&server.1).await?;
        for (name, (p50, rate)) in [(Nats::NAME, alone), (Bus::NAME, joined)] {
            println!("{round:>5} {name:>12} {p50:>10.1} {:>14.0}", rate / 1e3);
        }
        more.push(joined.0 - alone.0);
        rates.push(joined.1 / alone.1);
    }
    [&mut more, &mut rates].into_iter().for_each(|figures| figures.sort_by(f64::total_cmp));
    let (more, rate) = (more[rounds / 2], rates[rounds / 2]);
    println!("medians of {rounds}: two brokers take {more:.1} us more, at {:.0} % of the rate", rate * 100.0);
    Ok(())
}

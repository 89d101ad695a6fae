//! Compares messages through two brokers joined by NATS with `async-nats` alone, using the same nats-server.
//!
//! `cargo run --release --manifest-path benches/rivals/Cargo.toml --bin bus -- [ROUNDS]`
//!
//! Takes `nats-server` from PATH. Everything else runs in this process. Each variant has one publisher and one
//! subscriber of 32-byte messages. `p50` is the latency of messages sent one at a time, from publishing to reading.
//! `rate` is the throughput with at most 8192 messages in flight. The variants take turns, and ratios are computed
//! within a round.
//!
//! `resumed` is measured with a cluster of three servers. The server that both brokers use is killed while one of them
//! publishes a message each millisecond. It is the time from the kill until the first message published after it is
//! read. The brokers then use different servers. `missed` is the number of messages reported as missed to the
//! subscription.

use bytes::Bytes;
use frisbee_pubsub::nats::NatsBus;
use frisbee_pubsub::{Broker, Client, Publisher, RecvError, Subscription};
use futures_util::StreamExt;
use rivals::BoxError;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Number of messages sent one at a time in a round.
const ALONE: usize = 5_000;

/// Number of messages sent at full speed in a round.
const TOGETHER: usize = 500_000;

const ON_THEIR_WAY: usize = 8192;

/// Number of messages read before a server is killed.
const BEFORE_KILL: usize = 500;

/// An absent bus is considered lost after this time.
const RESUME_MAX: Duration = Duration::from_secs(60);

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
    /// Creates a client of its own broker on the bus.
    async fn client(address: &str) -> Result<Client, BoxError> {
        Self::client_of(NatsBus::connect("bench", address).await?).await
    }

    async fn client_of(bus: NatsBus) -> Result<Client, BoxError> {
        let broker = Broker::builder().backplane(bus).build();
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

/// Returns the median latency in microseconds, and the messages per second.
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

/// Returns how long the bus is interrupted when its server is killed, and the number of messages reported as missed.
async fn resume() -> Result<(Duration, u64), BoxError> {
    let mut servers = Server::cluster()?;
    let addresses: Vec<_> = servers.iter().map(|server| server.1.clone()).collect();
    joined(&addresses).await?;
    let client = async |order: [usize; 3]| {
        let options = frisbee_pubsub::nats::options().retain_servers_order();
        let addresses = order.map(|at| addresses[at].clone()).to_vec();
        Bus::client_of(NatsBus::connect_with("bench", addresses, options).await?).await
    };
    let reader = client([0, 2, 1]).await?;
    let mut subscription = reader.subscribe("topic").await?;
    let publisher = client([0, 1, 2]).await?.publisher("topic")?;
    let begun = Instant::now();
    let publishing = tokio::spawn(async move {
        let mut ticks = tokio::time::interval(Duration::from_millis(1));
        loop {
            ticks.tick().await;
            // A message contains its send time.
            let now = begun.elapsed().as_nanos();
            if publisher.publish(now.to_string()).await.is_err() {
                return;
            }
        }
    });
    let (mut killed, mut missed, mut heard) = (None, 0, 0);
    let resumed = loop {
        let message = match tokio::time::timeout(RESUME_MAX, subscription.recv()).await? {
            Ok(message) => message,
            Err(RecvError::Lagged(count)) => {
                missed += count;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        heard += 1;
        let sent = Duration::from_nanos(std::str::from_utf8(message.payload())?.parse()?);
        match killed {
            None if heard == BEFORE_KILL => {
                servers[0].0.kill()?;
                killed = Some(begun.elapsed());
            }
            Some(killed) if sent > killed => break begun.elapsed().saturating_sub(killed),
            _ => {}
        }
    };
    publishing.abort();
    Ok((resumed, missed))
}

/// Waits until the two servers of the brokers forward messages to each other.
async fn joined(addresses: &[String]) -> Result<(), BoxError> {
    let (here, there) = (async_nats::connect(&addresses[1]).await?, async_nats::connect(&addresses[2]).await?);
    let mut heard = there.subscribe("ready").await?;
    there.flush().await?;
    loop {
        here.publish("ready", Bytes::new()).await?;
        here.flush().await?;
        if tokio::time::timeout(Duration::from_millis(50), heard.next()).await.is_ok() {
            return Ok(());
        }
    }
}

/// A NATS server, which exits with this program.
struct Server(Child, String);

impl Server {
    /// Starts a cluster of three servers.
    fn cluster() -> Result<Vec<Self>, BoxError> {
        // All sockets are bound at the same time, so that their ports differ.
        let sockets = (0..3).map(|_| std::net::TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>()?;
        let routes = sockets.iter().map(|socket| socket.local_addr().map(|address| format!("nats://{address}")));
        let routes = routes.collect::<Result<Vec<_>, _>>()?;
        drop(sockets);
        let all = routes.join(",");
        let start = |route: &String| Self::start(&["--cluster_name", "bench", "--cluster", route, "--routes", &all]);
        routes.iter().map(start).collect()
    }

    fn start(arguments: &[&str]) -> Result<Self, BoxError> {
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &address.port().to_string()]).args(arguments);
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
    let server = Server::start(&[])?;
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
    drop(server);
    let mut away = Vec::new();
    for round in 1..=rounds {
        let (resumed, missed) = resume().await?;
        println!("{round:>5} resumed after {resumed:.0?}, {missed} missed");
        away.push(resumed);
    }
    away.sort();
    println!("resumed after {:.0?} in the median of {rounds}, {:.0?} at most", away[rounds / 2], away[rounds - 1]);
    Ok(())
}

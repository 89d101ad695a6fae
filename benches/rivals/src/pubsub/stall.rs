//! The process that publishes at a steady rate to 99 subscribers, optionally with one that reads nothing, and reports
//! message latency.

use frisbee::{HeaderForm, Operation, Outbox, PacketId};
use frisbee_pubsub::{Client, FIRST_OPERATION};
use hdrhistogram::Histogram;
use rivals::BoxError;
use rivals::process::exit_with_parent;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    address: SocketAddr,
    seconds: u64,
    #[arg(long)]
    stalled: bool,
}

const READERS: usize = 99;

/// Ten messages of 1 KiB every 5 ms: 2 MB/s, which overflows the queue of a stalled subscriber within the first second.
const PACE: Duration = Duration::from_millis(5);
const AT_ONCE: usize = 10;
const LENGTH: usize = 1024;

/// Unmeasured start of the run, while buffers fill.
const WARM_UP: Duration = Duration::from_secs(1);

pub(crate) fn main(arguments: &Arguments) -> Result<(), BoxError> {
    exit_with_parent();
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run(arguments))
}

async fn run(arguments: &Arguments) -> Result<(), BoxError> {
    let stalled = if arguments.stalled { Some(stall(arguments.address).await?) } else { None };
    let begun = Instant::now();
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let client = Client::connect(arguments.address).await?;
        let mut subscription = client.subscribe("ticks").await?;
        readers.spawn(async move {
            let mut histogram = Histogram::<u64>::new(3)?;
            loop {
                let message = subscription.recv().await?;
                let (sent, rest) = message.payload().split_first_chunk().ok_or("the message is short")?;
                let taken = begun.elapsed().saturating_sub(Duration::from_nanos(u64::from_be_bytes(*sent)));
                match rest.first() {
                    Some(0) => {}
                    Some(1) => histogram.record(u64::try_from(taken.as_nanos())?)?,
                    _ => return Ok::<_, BoxError>(histogram),
                }
            }
        });
    }
    let client = Client::connect(arguments.address).await?;
    let publisher = client.publisher("ticks")?;
    let (first, end) = (begun.elapsed() + WARM_UP, begun.elapsed() + WARM_UP + Duration::from_secs(arguments.seconds));
    let mut ticks = tokio::time::interval(PACE);
    loop {
        ticks.tick().await;
        let now = begun.elapsed();
        let phase = u8::from(now > first) + u8::from(now > end);
        for _ in 0..AT_ONCE {
            let mut payload = vec![phase; LENGTH];
            payload[..8].copy_from_slice(&u64::try_from(begun.elapsed().as_nanos())?.to_be_bytes());
            publisher.publish(payload).await?;
        }
        if phase == 2 {
            break;
        }
    }
    let mut all = Histogram::<u64>::new(3)?;
    while let Some(histogram) = readers.join_next().await {
        all.add(histogram??)?;
    }
    drop(stalled);
    let micros = |quantile| all.value_at_quantile(quantile) as f64 / 1e3;
    println!("result {} {}", micros(0.5), micros(0.99));
    Ok(())
}

/// Subscribes, and then reads nothing more.
async fn stall(address: SocketAddr) -> Result<TcpStream, BoxError> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4096)?;
    let mut socket = socket.connect(address).await?;
    let mut outbox = Outbox::new(HeaderForm::Current);
    let subscribe = Operation::user(FIRST_OPERATION).ok_or("it is a user's operation")?;
    outbox.push(PacketId(1), subscribe, b"\x05ticks")?;
    socket.write_all(&outbox.take_bytes()).await?;
    let mut answer = [0; 10];
    socket.read_exact(&mut answer).await?;
    if answer[9] != 0 {
        return Err("the broker refuses".into());
    }
    Ok(socket)
}

//! Forwards ports through one connection, like `ssh -L`.
//!
//! ```sh
//! cargo run --release -p hand-off --bin tunnel -- serve 127.0.0.1:7000 --allow 127.0.0.1:5432
//! cargo run --release -p hand-off --bin tunnel -- forward 127.0.0.1:7000 -L 15432:127.0.0.1:5432
//! psql -h 127.0.0.1 -p 15432
//! ```
//!
//! `measure` transfers bytes through a tunnel and through a plain TCP connection with the same loop, and compares the
//! two.

use bytes::Bytes;
use clap::{Parser, Subcommand};
use frisbee::{Client, Connection, Handlers, Outbox, Packet, Routed, Router, Server, Stream};
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// Port forwarding.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Let clients connect to the allowed targets.
    Serve {
        /// The address to listen on.
        address: String,
        /// An allowed target, as host:port.
        #[arg(long, required = true)]
        allow: Vec<String>,
    },
    /// Forward ports.
    Forward {
        /// The address of the server.
        server: String,
        /// A local port, or address and port, and its target: [BIND:]PORT:HOST:PORT.
        #[arg(short = 'L', value_parser = forward, required = true)]
        local: Vec<Forward>,
    },
    /// Compare a tunnel with plain TCP.
    Measure {
        /// Number of mebibytes to transfer.
        #[arg(long, default_value_t = 512)]
        mebibytes: usize,
        /// Number of rounds, whose medians are reported.
        #[arg(long, default_value_t = 5)]
        times: usize,
    },
}

#[derive(Clone)]
struct Forward {
    listen: String,
    target: String,
}

fn forward(text: &str) -> Result<Forward, String> {
    let parts: Vec<_> = text.rsplitn(4, ':').collect();
    match parts[..] {
        [port, host, local] => Ok(Forward { listen: format!("127.0.0.1:{local}"), target: format!("{host}:{port}") }),
        [port, host, local, bind] => {
            Ok(Forward { listen: format!("{bind}:{local}"), target: format!("{host}:{port}") })
        }
        _ => Err("[BIND:]PORT:HOST:PORT is wanted".into()),
    }
}

/// Connects each stream to the target that its first packet names.
struct Tunnels {
    allowed: Arc<Vec<String>>,
}

impl Router for Tunnels {
    type Session = Connection;

    fn connected(&self, connection: &Connection) -> Connection {
        connection.clone()
    }

    fn route(&self, _connection: &mut Connection, _packet: Packet, _outbox: &mut Outbox) -> Routed {
        Routed::close("there are tunnels here and nothing else")
    }

    fn stream(&self, connection: &mut Connection, first: Bytes, stream: Stream) -> Routed {
        let allowed = self.allowed.clone();
        connection.spawn(async move {
            let Some(target) = allowed.iter().find(|target| target.as_bytes() == first) else {
                // gRPC's codes: permission denied, unavailable.
                return stream.reset(7, "this target is not allowed");
            };
            match TcpStream::connect(target).await {
                Ok(mut socket) => drop(copy_bidirectional(&mut stream.into_io(), &mut socket).await),
                Err(error) => stream.reset(14, &error.to_string()),
            }
        });
        Routed::Continue
    }
}

async fn serve(address: &str, allowed: Vec<String>) -> Result<Server<Tunnels>, frisbee::Error> {
    Server::builder().bind(address, Tunnels { allowed: Arc::new(allowed) }).await
}

/// Forwards each accepted connection through its own tunnel.
async fn carry(listener: TcpListener, connection: Connection, target: String) -> io::Result<()> {
    let target = Bytes::from(target);
    loop {
        let (mut socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let (connection, target) = (connection.clone(), target.clone());
        tokio::spawn(async move {
            let Ok(stream) = connection.open_stream(&target).await else { return };
            let _ = copy_bidirectional(&mut socket, &mut stream.into_io()).await;
        });
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    match Arguments::parse().command {
        Command::Serve { address, allow } => {
            let server = serve(&address, allow).await?;
            println!("listening on {}", server.local_addr());
            server.serve().await?;
        }
        Command::Forward { server, local } => {
            let connection = Client::builder().connect(server, Handlers::new()).await?;
            for Forward { listen, target } in local {
                let listener = TcpListener::bind(listen).await?;
                println!("{} goes to {target}", listener.local_addr()?);
                tokio::spawn(carry(listener, connection.clone(), target));
            }
            println!("{}", connection.closed().await);
        }
        Command::Measure { mebibytes, times } => measure(mebibytes << 20, times).await?,
    }
    Ok(())
}

/// Starts a server that reads bytes and returns their number at the end.
async fn sink() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let count = tokio::io::copy(&mut socket, &mut tokio::io::sink()).await.unwrap_or(0);
                let _ = socket.write_u64(count).await;
            });
        }
    });
    Ok(address)
}

/// Returns the time to transfer this many bytes.
async fn time(mut io: impl AsyncRead + AsyncWrite + Unpin, bytes: usize) -> io::Result<Duration> {
    let chunk = vec![7; 64 * 1024];
    let began = Instant::now();
    let mut left = bytes;
    while left > 0 {
        let count = left.min(chunk.len());
        io.write_all(&chunk[..count]).await?;
        left -= count;
    }
    io.shutdown().await?;
    let received = io.read_u64().await?;
    assert_eq!(received, bytes as u64, "each byte should arrive");
    Ok(began.elapsed())
}

async fn measure(bytes: usize, times: usize) -> Result<(), Box<dyn Error>> {
    let target = sink().await?.to_string();
    let server = serve("127.0.0.1:0", vec![target.clone()]).await?;
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let connection = Client::builder().connect(address, Handlers::new()).await?;
    // The plain TCP connection also passes through an intermediate process, with the same loop as the tunnel's server.
    let relay = TcpListener::bind("127.0.0.1:0").await?;
    let relayed = relay.local_addr()?;
    let to = target.clone();
    tokio::spawn(async move {
        while let (Ok((mut one, _)), Ok(mut other)) = (relay.accept().await, TcpStream::connect(&to).await) {
            tokio::spawn(async move { copy_bidirectional(&mut one, &mut other).await });
        }
    });
    let (mut plain, mut tunnelled) = (Vec::new(), Vec::new());
    for _ in 0..times {
        plain.push(time(TcpStream::connect(relayed).await?, bytes).await?);
        let stream = connection.open_stream(&Bytes::from(target.clone())).await?;
        tunnelled.push(time(stream.into_io(), bytes).await?);
    }
    let rate = |mut times: Vec<Duration>| {
        times.sort();
        bytes as f64 / times[times.len() / 2].as_secs_f64() / (1 << 20) as f64
    };
    let (plain, tunnelled) = (rate(plain), rate(tunnelled));
    println!("plain TCP {plain:.0} MiB/s, tunnel {tunnelled:.0} MiB/s, {:.2} of it", tunnelled / plain);
    Ok(())
}

//! Compares JSON-RPC over UDP with JSON-RPC over TCP: calls per second, and processor time of both ends for a call.
//!
//! `cargo run --release -p frpc-gateway --example udp_cost -- 5` takes five rounds, in which the transports take turns.
//! Linux only, since it reads the processor time of the process.

use frpc::{Request, Response, ResponseStream, Server, Status};
use frpc_gateway::{Gateway, ServeGateway as _, Udp};
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A text of 32 bytes.
const TEXT: &str = "0123456789abcdef0123456789abcdef";

/// How long a run lasts.
const RUN: Duration = Duration::from_secs(1);

/// How long a client waits for a reply before it repeats its call.
const LOST: Duration = Duration::from_millis(200);

struct Host;

impl Greeter for Host {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        Ok(Response::new(Greeting { text: request.into_inner().name }))
    }

    async fn recite(&self, _: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("no verses"))
    }
}

/// One client, with one call in flight.
trait Client: Send {
    /// Calls once; `false` if the call or its reply was lost.
    fn call(&mut self, request: &[u8], reply: &mut [u8]) -> bool;
}

impl Client for UdpSocket {
    fn call(&mut self, request: &[u8], reply: &mut [u8]) -> bool {
        self.send(request).is_ok() && self.recv(reply).is_ok()
    }
}

impl Client for TcpStream {
    fn call(&mut self, request: &[u8], reply: &mut [u8]) -> bool {
        self.write_all(request).is_ok() && self.read(reply).is_ok_and(|count| count > 0)
    }
}

type Dial = fn(SocketAddr) -> std::io::Result<Box<dyn Client>>;

fn udp(server: SocketAddr) -> std::io::Result<Box<dyn Client>> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.connect(server)?;
    socket.set_read_timeout(Some(LOST))?;
    Ok(Box::new(socket))
}

fn tcp(server: SocketAddr) -> std::io::Result<Box<dyn Client>> {
    let socket = TcpStream::connect(server)?;
    socket.set_nodelay(true)?;
    Ok(Box::new(socket))
}

/// The processor time that this process has used, in units of 10 ms.
fn ticks() -> Result<u64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no fields")?;
    let fields: Vec<_> = fields.split_whitespace().collect();
    Ok(fields.get(11).ok_or("no utime")?.parse::<u64>()? + fields.get(12).ok_or("no stime")?.parse::<u64>()?)
}

/// Calls, calls lost, and microseconds of processor time for a call.
fn run(dial: Dial, server: SocketAddr, clients: usize) -> Result<(u64, u64, f64), Box<dyn Error>> {
    let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":["{TEXT}"]}}"#);
    let dialled = (0..clients).map(|_| dial(server)).collect::<Result<Vec<_>, _>>()?;
    let (is_over, before) = (AtomicBool::new(false), ticks()?);
    let counts = thread::scope(|scope| {
        let threads: Vec<_> = dialled
            .into_iter()
            .map(|mut client| {
                let (request, is_over) = (request.as_bytes(), &is_over);
                scope.spawn(move || {
                    let (mut done, mut lost, mut reply) = (0, 0, [0; 2048]);
                    while !is_over.load(Ordering::Relaxed) {
                        match client.call(request, &mut reply) {
                            true => done += 1,
                            false => lost += 1,
                        }
                    }
                    (done, lost)
                })
            })
            .collect();
        let started = Instant::now();
        thread::sleep(RUN.saturating_sub(started.elapsed()));
        is_over.store(true, Ordering::Relaxed);
        threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .fold((0_u64, 0_u64), |sum, (done, lost)| (sum.0 + done, sum.1 + lost))
    });
    let used = (ticks()? - before) as f64 * 10_000.0;
    Ok((counts.0, counts.1, used / counts.0.max(1) as f64))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let rounds = std::env::args().nth(1).map_or(Ok(3), |rounds| rounds.parse::<usize>())?;
    let socket = Udp::bind("127.0.0.1:0")?.rate(10_000_000, 10_000_000);
    let by_udp = socket.local_addr();
    let builder = Server::builder().add_service(GreeterServer::new(Host));
    let server = builder.gateway(Gateway::new().json_rpc().udp(socket)).bind("127.0.0.1:0").await?;
    let by_tcp = server.local_addr();
    tokio::spawn(server.serve());
    tokio::task::block_in_place(|| {
        for round in 1..=rounds {
            for clients in [1, 32] {
                for (name, dial, address) in [("TCP", tcp as Dial, by_tcp), ("UDP", udp as Dial, by_udp)] {
                    let (calls, lost, cost) = run(dial, address, clients)?;
                    println!("round {round}, {clients} clients, {name}: {calls} calls/s, {lost} lost, {cost:.2} us");
                }
            }
        }
        Ok(())
    })
}

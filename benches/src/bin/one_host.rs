//! What calls cost between two programs of one host: over TCP, over a Unix socket, and through shared memory.
//!
//! ```text
//! cargo run --release -p benches --bin one_host
//! taskset -c 0 cargo run --release -p benches --bin one_host      both ends on one processor
//! ```
//!
//! Client and server are threads of this process with a runtime each, so its processor time is that of both ends. Calls
//! bring a text and get it back: short ones on one and on sixteen connections, and one of a MiB at a time. The ways take
//! turns; printed are medians of the rounds, and of the ratios of processor time to TCP. On one processor a spinning end only
//! keeps the other one from its turn.

#[cfg(target_os = "linux")]
mod measuring {
    use benches::BoxError;
    use benches::cost::{median, processor_time};
    use benches::load::drive;
    use benches::proto::benchmark::{BenchmarkServiceClient, BenchmarkServiceServer};
    use benches::rivals::Setup;
    use benches::rivals::frpc::Service;
    use frisbee_shm::{Connector, Listener};
    use frpc::{Channel, Server, ServerBuilder, Workers};
    use std::path::{Path, PathBuf};
    use std::sync::mpsc;
    use std::time::Duration;
    use tokio::task::JoinSet;

    /// How often each is measured.
    const ROUNDS: usize = 9;

    /// The ways between the ends. Those behind the first two have rings of these sizes, and ends that spin so long.
    const WAYS: [&str; 5] = ["TCP", "Unix socket", "shared memory", "rings of 1 MiB", "both ends spin"];
    const RINGS: [(u32, Duration); 3] =
        [(64 << 10, Duration::ZERO), (1 << 20, Duration::ZERO), (64 << 10, Duration::from_micros(50))];

    /// Calls of a kind.
    struct Cell {
        name: &'static str,
        connections: usize,
        in_flight: usize,
        /// The bytes of a text.
        length: usize,
        /// The calls of each connection in a round.
        calls: u64,
    }

    const CELLS: [Cell; 4] = [
        Cell { name: "32 B, 1x1", connections: 1, in_flight: 1, length: 32, calls: 5000 },
        Cell { name: "32 B, 16x1", connections: 16, in_flight: 1, length: 32, calls: 2000 },
        Cell { name: "32 B, 16x10", connections: 16, in_flight: 10, length: 32, calls: 10_000 },
        Cell { name: "1 MiB, 1x1", connections: 1, in_flight: 1, length: 1 << 20, calls: 400 },
    ];

    pub(crate) fn main() -> Result<(), BoxError> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().to_owned();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let served = runtime().and_then(|runtime| runtime.block_on(serve(&path, &tell)));
            if let Err(error) = served {
                let _ = tell.send(Err(error));
            }
        });
        let address = told.recv()??;
        runtime()?.block_on(compare(&address, folder.path()))
    }

    fn runtime() -> Result<tokio::runtime::Runtime, BoxError> {
        Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
    }

    fn server() -> ServerBuilder {
        let service = BenchmarkServiceServer::new(Service(Setup::new(10)));
        Server::builder().workers(Workers::Caller).add_service(service)
    }

    fn socket(folder: &Path, way: &str) -> PathBuf {
        folder.join(way.replace(' ', "-"))
    }

    /// Serves all ways, and tells the address of TCP once it does.
    async fn serve(folder: &Path, tell: &mpsc::Sender<Result<String, BoxError>>) -> Result<(), BoxError> {
        let tcp = server().bind("127.0.0.1:0").await?;
        let address = tcp.local_addr().to_string();
        tokio::spawn(tcp.serve());
        tokio::spawn(server().bind_unix(socket(folder, WAYS[1])).await?.serve());
        for (way, (ring, spin)) in WAYS[2..].iter().zip(RINGS) {
            let listener = Listener::builder().ring_max(ring).spin(spin).bind(socket(folder, way))?;
            let acceptor = server().build()?;
            tokio::spawn(listener.serve(move |stream| {
                let acceptor = acceptor.clone();
                async move { acceptor.serve_connection(stream).await }
            }));
        }
        tell.send(Ok(address))?;
        std::future::pending().await
    }

    async fn connect(way: usize, address: &str, folder: &Path) -> Result<BenchmarkServiceClient, BoxError> {
        let path = socket(folder, WAYS[way]);
        let channel = match way {
            0 => Channel::connect(address).await?,
            1 => Channel::connect(format!("unix:{}", path.display())).await?,
            _ => {
                let connector = Connector::new().spin(RINGS[way - 2].1);
                Channel::builder().connect_with_connector(connector.to(path)).await?
            }
        };
        Ok(BenchmarkServiceClient::new(channel))
    }

    async fn compare(address: &str, folder: &Path) -> Result<(), BoxError> {
        println!("{:12}  {:16} {:>20} {:>7} {:>11}", "calls", "way", "us of cpu, both ends", "ratio", "us of time");
        for cell in &CELLS {
            let mut clients = Vec::new();
            for way in 0..WAYS.len() {
                let mut connections = Vec::new();
                for _ in 0..cell.connections {
                    connections.push(connect(way, address, folder).await?);
                }
                clients.push(connections);
            }
            let mut costs = [const { Vec::new() }; WAYS.len()];
            for round in 0..=ROUNDS {
                for (clients, costs) in clients.iter().zip(&mut costs) {
                    let cost = measure(clients, cell).await?;
                    // The first one warms up.
                    if round > 0 {
                        costs.push(cost);
                    }
                }
            }
            for (way, of_way) in WAYS.iter().zip(&costs) {
                let middle = |value: fn(&Cost, &Cost) -> f64| {
                    median(of_way.iter().zip(&costs[0]).map(|(one, tcp)| value(one, tcp)))
                };
                let (cpu, ratio) = (middle(|one, _| one.cpu), middle(|one, tcp| one.cpu / tcp.cpu));
                println!("{:12}  {way:16} {cpu:20.2} {ratio:7.2} {:11.2}", cell.name, middle(|one, _| one.elapsed));
            }
        }
        Ok(())
    }

    /// What a call takes, in microseconds.
    struct Cost {
        /// Of the processor, at both ends.
        cpu: f64,
        /// For its caller.
        elapsed: f64,
    }

    async fn measure(clients: &[BenchmarkServiceClient], cell: &Cell) -> Result<Cost, BoxError> {
        let Cell { in_flight, length, calls, .. } = *cell;
        let before = processor_time();
        let mut tasks = JoinSet::new();
        for client in clients {
            let client = client.clone();
            tasks.spawn(async move { drive(&client, in_flight, length, calls).await });
        }
        let mut elapsed = 0.0;
        while let Some(done) = tasks.join_next().await {
            elapsed += done?.as_secs_f64() * 1e6 * in_flight as f64;
        }
        let calls = clients.len() as f64 * calls as f64;
        let cpu = (processor_time() - before).as_secs_f64() * 1e6;
        Ok(Cost { cpu: cpu / calls, elapsed: elapsed / calls })
    }
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), benches::BoxError> {
    measuring::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("memory is shared on Linux alone");
}

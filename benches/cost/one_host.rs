//! Measures the cost of calls between two programs on one host: over TCP, over a Unix socket, and through shared
//! memory.
//!
//! ```text
//! cargo run --release -p cost --bin one_host
//! taskset -c 0 cargo run --release -p cost --bin one_host      both ends on one processor
//! cargo run --release -p cost --bin one_host -- calls          one part: calls, frames, idle or killed
//! ```
//!
//! Client and server are threads of this process with separate runtimes, so its CPU time covers both ends. Calls echo a
//! text: short ones on one and on sixteen connections, and texts of 1 MiB one at a time. Transports alternate. The
//! program prints medians over the rounds, of CPU time and of its ratio to TCP. On a single processor, a spinning end
//! only delays the other one.
//!
//! It then measures the round trip of a short frame between two spinning threads: by a bare ring, by streams in a
//! runtime and by blocking streams; the memory of idle connections; and the delay until the peer of a killed writer
//! sees the end of the stream.

#[cfg(target_os = "linux")]
mod measuring {
    use benches::BoxError;
    use benches::cost::{median, processor_time};
    use benches::load::drive;
    use benches::proto::benchmark::{BenchmarkServiceClient, BenchmarkServiceServer};
    use benches::rivals::Setup;
    use benches::rivals::frpc::Service;
    use frisbee_shm::{BlockingStream, Connector, Listener};
    use frpc::{Channel, Server, ServerBuilder, Workers};
    use std::io::{Read, Write};
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc;
    use std::time::{Duration, Instant};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::task::JoinSet;

    /// Number of rounds of each measurement.
    const ROUNDS: usize = 9;

    /// The compared transports. Those after the first two spin for the given time.
    const TRANSPORTS: [&str; 5] = ["TCP", "Unix socket", "shared memory", "both spin for 20 us", "both spin for 50 us"];
    const SPINS: [Duration; 3] = [Duration::ZERO, Duration::from_micros(20), Duration::from_micros(50)];

    /// With this argument and a path, the process writes until it is killed.
    const WRITER: &str = "writer";

    /// Calls of a kind.
    struct Cell {
        name: &'static str,
        connections: usize,
        in_flight: usize,
        /// Length of the text in bytes.
        length: usize,
        /// Number of calls per connection and round.
        calls: u64,
    }

    const CELLS: [Cell; 4] = [
        Cell { name: "32 B, 1x1", connections: 1, in_flight: 1, length: 32, calls: 5000 },
        Cell { name: "32 B, 16x1", connections: 16, in_flight: 1, length: 32, calls: 2000 },
        Cell { name: "32 B, 16x10", connections: 16, in_flight: 10, length: 32, calls: 10_000 },
        Cell { name: "1 MiB, 1x1", connections: 1, in_flight: 1, length: 1 << 20, calls: 400 },
    ];

    pub(crate) fn main() -> Result<(), BoxError> {
        let arguments: Vec<_> = std::env::args().skip(1).collect();
        let folder = tempfile::tempdir()?;
        let path = folder.path();
        match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [WRITER, path] => runtime()?.block_on(write_without_end(path)),
            ["calls"] => calls(path),
            ["frames"] => frames(path),
            ["idle"] => idle(path),
            ["killed"] => runtime()?.block_on(killed(path)),
            [] => {
                calls(path)?;
                frames(path)?;
                idle(path)?;
                runtime()?.block_on(killed(path))
            }
            _ => Err("the argument is calls, frames, idle or killed".into()),
        }
    }

    fn calls(folder: &Path) -> Result<(), BoxError> {
        let address = start_server(folder)?;
        runtime()?.block_on(compare(&address, folder))
    }

    /// Starts a server on all transports, and returns its TCP address.
    fn start_server(folder: &Path) -> Result<String, BoxError> {
        let path = folder.to_owned();
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let served = runtime().and_then(|runtime| runtime.block_on(serve(&path, &sender)));
            if let Err(error) = served {
                let _ = sender.send(Err(error));
            }
        });
        receiver.recv()?
    }

    fn runtime() -> Result<tokio::runtime::Runtime, BoxError> {
        Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
    }

    fn server() -> ServerBuilder {
        let service = BenchmarkServiceServer::new(Service(Setup::new(10)));
        Server::builder().workers(Workers::Caller).add_service(service)
    }

    fn socket(folder: &Path, transport: &str) -> PathBuf {
        folder.join(transport.replace(' ', "-"))
    }

    /// Serves all transports, and sends the TCP address once they listen.
    async fn serve(folder: &Path, sender: &mpsc::Sender<Result<String, BoxError>>) -> Result<(), BoxError> {
        let tcp = server().bind("127.0.0.1:0").await?;
        let address = tcp.local_addr().to_string();
        tokio::spawn(tcp.serve());
        tokio::spawn(server().bind_unix(socket(folder, TRANSPORTS[1])).await?.serve());
        for (transport, spin) in TRANSPORTS[2..].iter().zip(SPINS) {
            let server =
                server().shared_memory(Listener::builder().spin(spin)).bind_unix(socket(folder, transport)).await?;
            tokio::spawn(server.serve());
        }
        sender.send(Ok(address))?;
        std::future::pending().await
    }

    async fn connect(transport: usize, address: &str, folder: &Path) -> Result<BenchmarkServiceClient, BoxError> {
        let path = socket(folder, TRANSPORTS[transport]);
        let channel = match transport {
            0 => Channel::connect(address).await?,
            1 => Channel::connect(format!("unix:{}", path.display())).await?,
            _ => {
                let builder = Channel::builder().shared_memory(Connector::new().spin(SPINS[transport - 2]));
                builder.connect(format!("unix+shm:{}", path.display())).await?
            }
        };
        Ok(BenchmarkServiceClient::new(channel))
    }

    async fn compare(address: &str, folder: &Path) -> Result<(), BoxError> {
        println!(
            "{:12}  {:20} {:>20} {:>7} {:>11}",
            "calls", "transport", "us of cpu, both ends", "ratio", "us of time"
        );
        for cell in &CELLS {
            let mut clients = Vec::new();
            for transport in 0..TRANSPORTS.len() {
                let mut connections = Vec::new();
                for _ in 0..cell.connections {
                    connections.push(connect(transport, address, folder).await?);
                }
                clients.push(connections);
            }
            let mut costs = [const { Vec::new() }; TRANSPORTS.len()];
            for round in 0..=ROUNDS {
                for (clients, costs) in clients.iter().zip(&mut costs) {
                    let cost = measure(clients, cell).await?;
                    // The first round warms up.
                    if round > 0 {
                        costs.push(cost);
                    }
                }
            }
            for (transport, of_transport) in TRANSPORTS.iter().zip(&costs) {
                let middle = |value: fn(&Cost, &Cost) -> f64| {
                    median(of_transport.iter().zip(&costs[0]).map(|(one, tcp)| value(one, tcp)))
                };
                let (cpu, ratio) = (middle(|one, _| one.cpu), middle(|one, tcp| one.cpu / tcp.cpu));
                println!(
                    "{:12}  {transport:20} {cpu:20.2} {ratio:7.2} {:11.2}",
                    cell.name,
                    middle(|one, _| one.elapsed)
                );
            }
        }
        Ok(())
    }

    /// The cost of a call in microseconds.
    struct Cost {
        /// CPU time at both ends.
        cpu: f64,
        /// Duration for the caller.
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

    /// Length of a frame: a header and a short text.
    const FRAME: usize = 47;

    /// Number of round trips of a frame.
    const TRIPS: usize = 200_000;

    /// Prints the round-trip time of a frame between two spinning threads, by a bare ring and through a stream.
    fn frames(folder: &Path) -> Result<(), BoxError> {
        println!("a frame of {FRAME} bytes there and back, in us: median, 99th percentile");
        print_trips("a bare ring", &mut bare_trips());
        let path = folder.join("frames");
        let spin = Duration::from_secs(1);
        let (sender, receiver) = mpsc::channel();
        let server_path = path.clone();
        let server = std::thread::spawn(move || -> Result<(), BoxError> {
            runtime()?.block_on(async {
                let listener = Listener::builder().spin(spin).bind(server_path)?;
                sender.send(())?;
                let mut stream = listener.accept().await?;
                let mut frame = [0; FRAME];
                // Ends when the client closes.
                while stream.read_exact(&mut frame).await.is_ok() {
                    stream.write_all(&frame).await?;
                }
                Ok(())
            })
        });
        receiver.recv()?;
        let mut trips = runtime()?.block_on(stream_trips(&path, spin))?;
        print_trips("streams that spin", &mut trips);
        server.join().map_err(|_| "the server has panicked")??;
        let (mut client, mut server) = runtime()?.block_on(blocking_ends(&folder.join("blocking"), spin))?;
        let server = std::thread::spawn(move || {
            let mut frame = [0; FRAME];
            // Ends when the client closes.
            while server.read_exact(&mut frame).is_ok() && server.write_all(&frame).is_ok() {}
        });
        let mut frame = [7; FRAME];
        let mut trips = Vec::with_capacity(TRIPS);
        for _ in 0..TRIPS {
            let started = Instant::now();
            client.write_all(&frame)?;
            client.read_exact(&mut frame)?;
            trips.push(started.elapsed());
        }
        print_trips("streams that block", &mut trips);
        drop(client);
        server.join().map_err(|_| "the server has panicked".into())
    }

    /// Returns both ends of a connection, for threads.
    async fn blocking_ends(path: &Path, spin: Duration) -> Result<(BlockingStream, BlockingStream), BoxError> {
        let listener = Listener::builder().spin(spin).bind(path)?;
        let connector = Connector::new().spin(spin);
        let connecting = async { connector.connect(path).await?.into_blocking().await };
        let accepting = async { listener.accept().await?.into_blocking().await };
        Ok(tokio::try_join!(connecting, accepting)?)
    }

    fn print_trips(name: &str, trips: &mut [Duration]) {
        trips.sort_unstable();
        let at = |part: f64| trips[(trips.len() as f64 * part) as usize].as_secs_f64() * 1e6;
        println!("{name:20} {:8.3} {:8.3}", at(0.5), at(0.99));
    }

    async fn stream_trips(path: &Path, spin: Duration) -> Result<Vec<Duration>, BoxError> {
        let mut stream = Connector::new().spin(spin).connect(path).await?;
        let mut frame = [7; FRAME];
        let mut trips = Vec::with_capacity(TRIPS);
        for _ in 0..TRIPS {
            let started = Instant::now();
            stream.write_all(&frame).await?;
            stream.read_exact(&mut frame).await?;
            trips.push(started.elapsed());
        }
        Ok(trips)
    }

    /// A minimal ring of words between two threads: the number of frames written, and the frames.
    struct WordRing {
        put: AtomicU64,
        words: [AtomicU64; 6 * 64],
    }

    /// Number of words in a frame.
    const WORDS: usize = FRAME.div_ceil(8);

    impl WordRing {
        const fn new() -> Self {
            Self { put: AtomicU64::new(0), words: [const { AtomicU64::new(0) }; 6 * 64] }
        }

        fn put(&self, number: u64, frame: [u64; WORDS]) {
            let offset = number as usize % 64 * WORDS;
            self.words[offset..].iter().zip(frame).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
            self.put.store(number + 1, Ordering::Release);
        }

        fn take(&self, number: u64) -> [u64; WORDS] {
            while self.put.load(Ordering::Acquire) <= number {
                std::hint::spin_loop();
            }
            let offset = number as usize % 64 * WORDS;
            std::array::from_fn(|at| self.words[offset + at].load(Ordering::Relaxed))
        }
    }

    fn bare_trips() -> Vec<Duration> {
        static RINGS: [WordRing; 2] = [const { WordRing::new() }; 2];
        let [there, back] = &RINGS;
        let echo = std::thread::spawn(|| (0..TRIPS as u64).for_each(|number| back.put(number, there.take(number))));
        let trips = (0..TRIPS as u64)
            .map(|number| {
                let started = Instant::now();
                there.put(number, [number; WORDS]);
                assert_eq!(back.take(number), [number; WORDS]);
                started.elapsed()
            })
            .collect();
        echo.join().expect("thread should not panic");
        trips
    }

    /// Prints the memory of a connection that has carried a call: private memory of both ends, shared memory, and page
    /// tables in the kernel.
    fn idle(folder: &Path) -> Result<(), BoxError> {
        const CONNECTIONS: usize = 200;
        let folder = folder.join("idle");
        std::fs::create_dir(&folder)?;
        let address = start_server(&folder)?;
        runtime()?.block_on(async {
            let (before, mut clients) = (memory_figures()?, Vec::new());
            for _ in 0..CONNECTIONS {
                let client = connect(2, &address, &folder).await?;
                drive(&client, 1, 32, 1).await;
                clients.push(client);
            }
            let each = memory_figures()?
                .iter()
                .zip(before)
                .map(|(now, before)| (now - before) / CONNECTIONS as u64)
                .collect::<Vec<_>>();
            println!("an idle connection keeps {} bytes of shared memory, and {} of page tables", each[0], each[1]);
            Ok(())
        })
    }

    /// Returns the shared memory and the page tables of this process, in bytes.
    fn memory_figures() -> Result<[u64; 2], BoxError> {
        let of = |text: &str, name: &str| -> u64 {
            let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB"));
            lines.filter_map(|number| number.parse::<u64>().ok()).sum::<u64>() * 1024
        };
        let (maps, status) =
            (std::fs::read_to_string("/proc/self/smaps")?, std::fs::read_to_string("/proc/self/status")?);
        let (mut shared, mut is_ours) = (0, false);
        for line in maps.lines() {
            if line.split_once('-').is_some_and(|(start, _)| u64::from_str_radix(start, 16).is_ok()) {
                is_ours = line.contains("frisbee-shm");
            } else if is_ours {
                // Both ends map each page, and each counts half of it.
                shared += of(line, "Pss:");
            }
        }
        Ok([shared, of(&status, "VmPTE:")])
    }

    async fn write_without_end(path: &str) -> Result<(), BoxError> {
        let mut stream = frisbee_shm::connect(path).await?;
        loop {
            stream.write_all(&[1; 100_000]).await?;
        }
    }

    /// Prints the time from killing a writing process to the end of its stream.
    async fn killed(folder: &Path) -> Result<(), BoxError> {
        const KILLED: usize = 20;
        let path = folder.join("killed");
        let listener = Listener::bind(&path)?;
        let (mut noticed, mut buffer) = (Vec::new(), vec![0; 30_000]);
        for _ in 0..KILLED {
            let mut child = std::process::Command::new(std::env::current_exe()?).args([WRITER]).arg(&path).spawn()?;
            let mut stream = listener.accept().await?;
            for _ in 0..1000 {
                stream.read_exact(&mut buffer).await?;
            }
            child.kill()?;
            let started = Instant::now();
            while stream.read(&mut buffer).await? > 0 {}
            noticed.push(started.elapsed());
            child.wait()?;
        }
        noticed.sort_unstable();
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let (middle, most) = (millis(noticed[KILLED / 2]), millis(noticed[KILLED - 1]));
        println!(
            "the end of a process that is killed while it writes is noticed after {middle:.2} ms, {most:.2} at most"
        );
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), benches::BoxError> {
    measuring::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("shared memory needs Linux");
}

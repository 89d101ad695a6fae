//! A server that tests run in a separate process, to limit its resources, to kill it, or to make its system calls fail.
//!
//! `child serve` runs a server with a TCP and a UDP port until it is killed. For each line of its input, it prints the
//! number of failures to accept a connection. `child twice` starts and calls two servers, one after the other. It
//! prints the outcome of each, and the number of warnings about io_uring in the log.

use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer};
use frisbee_tests::service::Service;
use frpc::{Server, ServerBuilder};
use frpc_gateway::{Gateway, ServeGateway as _, Udp};
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tracing::field::Field;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("serve") => serve().await,
        Some("twice") => twice().await,
        _ => Err("usage: child serve | twice".into()),
    }
}

async fn bind(builder: ServerBuilder) -> Result<Server, frpc::Error> {
    builder.add_service(InteropServer::new(Service)).bind("127.0.0.1:0").await
}

async fn serve() -> Result<(), Box<dyn Error>> {
    // With these timeouts, silent peers are not closed because of their age.
    let hour = Duration::from_secs(3_600);
    let config = frisbee::Config::default().idle_timeout(hour);
    let udp = Udp::bind("127.0.0.1:0")?;
    let datagrams = udp.local_addr();
    let builder =
        Server::builder().config(config).first_header_timeout(hour).memory_max(32 << 20).workers(frpc::Workers::Caller);
    let server = bind(builder.gateway(Gateway::new().json_rpc().udp(udp))).await?;
    // Scripts read the first line only.
    println!("listening on {}", server.local_addr());
    println!("datagrams to {datagrams}");
    let stats = server.stats();
    std::thread::spawn(move || {
        for _ in std::io::stdin().lines() {
            println!("{} not accepted", stats.not_accepted());
        }
    });
    Ok(server.serve().await?)
}

async fn twice() -> Result<(), Box<dyn Error>> {
    tracing::subscriber::set_global_default(Log)?;
    // Workers are separate threads. They use io_uring if it is available.
    let server = || Server::builder().workers(frpc::Workers::PerCore);
    let (first, second) = (bind(server()).await?, bind(server()).await?);
    for server in [first, second] {
        let address = server.local_addr();
        let serving = tokio::spawn(server.serve());
        let Ok(client) = InteropClient::connect(address.to_string()).await else {
            let refused = serving.await?.err().ok_or("clients are refused and the server is not")?;
            println!("refused: {refused}");
            continue;
        };
        let mut good = 0;
        for a in 0..50 {
            let sum = client.add(AddRequest { a, b: 1 }).await;
            good += usize::from(sum.is_ok_and(|sum| sum.get_ref().total == a + 1));
        }
        println!("served {good} calls");
    }
    println!("{} warnings of io_uring", WARNINGS.load(Ordering::SeqCst));
    Ok(())
}

/// Counts the warnings about io_uring. On a busy machine, there may be other warnings, for example about slow handlers.
struct Log;

static WARNINGS: AtomicUsize = AtomicUsize::new(0);

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }
    fn new_span(&self, _span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _span: &tracing::span::Id, _values: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _span: &tracing::span::Id, _follows: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut |_field: &Field, value: &dyn fmt::Debug| {
            if format!("{value:?}").starts_with("io_uring is not available") {
                WARNINGS.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    fn enter(&self, _span: &tracing::span::Id) {}
    fn exit(&self, _span: &tracing::span::Id) {}
}

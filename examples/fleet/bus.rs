//! The bus of the fleet: brokers that NATS joins, and who hears of all sales.

use frisbee::Server;
use frisbee_pubsub::nats::NatsBus;
use frisbee_pubsub::{Broker, Client, RecvError};
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The prefix of the topics of sales. The name of the shop follows.
pub(crate) const SALES: &str = "sales";

/// A broker on the bus.
pub(crate) struct Station {
    client: Client,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), frisbee::Error>>,
}

impl Station {
    pub(crate) async fn open(nats: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let bus = NatsBus::connect("fleet", nats.to_string()).await?;
        let broker = Broker::builder().backplane(bus).build();
        let server = Server::builder().bind("127.0.0.1:0", broker).await?;
        let address = server.local_addr();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.serve_with_shutdown(async { drop(stopped.await) }));
        Ok(Self { client: Client::connect(address).await?, stop, serving })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Ends when the bus has all that was published here.
    pub(crate) async fn close(self) -> Result<(), Box<dyn Error>> {
        self.client.sync().await?;
        drop(self.stop);
        self.serving.await??;
        Ok(())
    }
}

/// Hears of the sales of all shops, by a broker at which none of them publishes.
pub(crate) struct Office {
    received: Arc<AtomicU64>,
    missed: Arc<AtomicU64>,
    station: Station,
}

impl Office {
    pub(crate) async fn open(nats: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let station = Station::open(nats).await?;
        let mut sales = station.client().subscribe(&format!("{SALES}.*")).await?;
        let (received, missed) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let counts = (received.clone(), missed.clone());
        tokio::spawn(async move {
            loop {
                match sales.recv().await {
                    Ok(_) => counts.0.fetch_add(1, Ordering::Relaxed),
                    Err(RecvError::Lagged(count)) => counts.1.fetch_add(count, Ordering::Relaxed),
                    Err(_) => return,
                };
            }
        });
        Ok(Self { received, missed, station })
    }

    /// How many sales it has heard of, of all.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// How many the bus says that it has missed.
    pub(crate) fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    pub(crate) async fn close(self) -> Result<(), Box<dyn Error>> {
        self.station.close().await
    }
}

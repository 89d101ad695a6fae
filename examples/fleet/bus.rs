//! The bus of the fleet: brokers joined by NATS, and a subscriber to all sales.

use frisbee::Server;
use frisbee_pubsub::nats::NatsBus;
use frisbee_pubsub::{Broker, Client, RecvError};
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Prefix of the topics of sales, followed by the name of the shop.
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

    /// Closes the broker after the bus has received all published messages.
    pub(crate) async fn close(self) -> Result<(), Box<dyn Error>> {
        self.client.sync().await?;
        drop(self.stop);
        self.serving.await??;
        Ok(())
    }
}

/// Receives the sales of all shops through a separate broker.
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

    /// Returns the total number of received sales.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Returns the number of sales that the bus reported as missed.
    pub(crate) fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    pub(crate) async fn close(self) -> Result<(), Box<dyn Error>> {
        self.station.close().await
    }
}

//! The brokers and their clients, behind one trait.

use bytes::Bytes;
use clap::ValueEnum;
use frisbee::Config;
use frisbee_pubsub::{Broker, Client, Publisher, Subscription};
use futures_util::StreamExt;
use rivals::BoxError;
use rivals::process::exit_with_parent;
use std::time::Duration;

/// The compared brokers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Name {
    Frisbee,
    Nats,
}

impl Name {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Frisbee => "frisbee",
            Self::Nats => "nats",
        }
    }
}

/// A broker's client.
pub(crate) trait Contestant: 'static {
    type Reader: Send + 'static;
    type Writer: Send + 'static;

    /// Opens a connection and subscribes on it.
    fn reader(address: &str, topic: &str) -> impl Future<Output = Result<Self::Reader, BoxError>>;

    /// Opens a connection to publish on.
    fn writer(address: &str, topic: &str) -> impl Future<Output = Result<Self::Writer, BoxError>>;

    /// The next message.
    fn read(reader: &mut Self::Reader) -> impl Future<Output = Result<Bytes, BoxError>> + Send;

    /// Publishes a message.
    fn write(writer: &mut Self::Writer, payload: Bytes) -> impl Future<Output = Result<(), BoxError>> + Send;
}

pub(crate) struct Frisbee;

impl Contestant for Frisbee {
    type Reader = (Client, Subscription);
    type Writer = Publisher;

    async fn reader(address: &str, topic: &str) -> Result<Self::Reader, BoxError> {
        let client = Client::connect(address).await?;
        let subscription = client.subscribe(topic).await?;
        Ok((client, subscription))
    }

    async fn writer(address: &str, topic: &str) -> Result<Publisher, BoxError> {
        Ok(Client::connect(address).await?.publisher(topic)?)
    }

    async fn read((_, subscription): &mut Self::Reader) -> Result<Bytes, BoxError> {
        Ok(subscription.recv().await?.into_payload())
    }

    async fn write(writer: &mut Publisher, payload: Bytes) -> Result<(), BoxError> {
        Ok(writer.publish(payload).await?)
    }
}

pub(crate) struct Nats;

impl Contestant for Nats {
    type Reader = (async_nats::Client, async_nats::Subscriber);
    type Writer = (async_nats::Client, async_nats::Subject);

    async fn reader(address: &str, topic: &str) -> Result<Self::Reader, BoxError> {
        let client = async_nats::connect(address).await?;
        let subscription = client.subscribe(topic.to_owned()).await?;
        // Ensures that the server has processed the subscription before anything is published.
        client.flush().await?;
        Ok((client, subscription))
    }

    async fn writer(address: &str, topic: &str) -> Result<Self::Writer, BoxError> {
        Ok((async_nats::connect(address).await?, topic.to_owned().into()))
    }

    async fn read((_, subscription): &mut Self::Reader) -> Result<Bytes, BoxError> {
        Ok(subscription.next().await.ok_or("the connection has ended")?.payload)
    }

    async fn write((client, subject): &mut Self::Writer, payload: Bytes) -> Result<(), BoxError> {
        Ok(client.publish(subject.clone(), payload).await?)
    }
}

/// Runs our broker.
pub(crate) fn serve(queue_max: Option<usize>) -> Result<(), BoxError> {
    exit_with_parent();
    let mut broker = Broker::builder();
    if let Some(bytes) = queue_max {
        broker = broker.queue_max(bytes);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        // A stalled subscriber must stay connected for the whole run.
        let config = Config::default().write_timeout(Duration::from_secs(600));
        let server = frisbee::Server::builder().config(config).bind("127.0.0.1:0", broker.build()).await?;
        println!("listening {}", server.local_addr());
        server.serve().await?;
        Ok(())
    })
}

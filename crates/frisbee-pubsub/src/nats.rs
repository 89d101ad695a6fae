//! [NATS](https://nats.io) as the backplane between frisbee brokers: a [`NatsBus`] connects a [`Broker`](crate::Broker)
//! to others.
//!
//! ```no_run
//! use frisbee::Server;
//! use frisbee_pubsub::Broker;
//! use frisbee_pubsub::nats::NatsBus;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // Run this in each server. Its subscribers also receive the messages published at the other servers.
//! let bus = NatsBus::connect("shop", vec!["nats://10.0.0.7:4222", "nats://10.0.0.8:4222"]).await?;
//! let broker = Broker::builder().backplane(bus).build();
//! Server::builder().bind("0.0.0.0:7700", broker).await?.serve().await?;
//! # Ok(())
//! # }
//! ```
//!
//! docs/bus.md describes the guarantees. The feature `durable` adds the module `durable`, with topics that NATS stores.
//!
//! `async-nats` is part of the public API, for options such as credentials, TLS and timeouts.

mod batch;
mod bus;
#[cfg(feature = "durable")]
pub mod durable;
mod groups;
mod outgoing;
mod subjects;

pub use async_nats;
pub use bus::{NatsBus, options};

//! Brokers of frisbee that are one bus, joined by [NATS](https://nats.io): a [`NatsBus`] is the backplane of a
//! [`Broker`](crate::Broker).
//!
//! ```no_run
//! use frisbee::Server;
//! use frisbee_pubsub::Broker;
//! use frisbee_pubsub::nats::NatsBus;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // In each of the servers. Their subscribers get what is published at any of them.
//! let bus = NatsBus::connect("shop", vec!["nats://10.0.0.7:4222", "nats://10.0.0.8:4222"]).await?;
//! let broker = Broker::builder().backplane(bus).build();
//! Server::builder().bind("0.0.0.0:7700", broker).await?.serve().await?;
//! # Ok(())
//! # }
//! ```
//!
//! docs/bus.md lists the promises. With the feature `durable` there are topics that NATS stores as well: see the module
//! of that name.
//!
//! `async-nats` is a part of this interface, for its settings: users, TLS, timeouts.

mod batch;
mod bus;
#[cfg(feature = "durable")]
pub mod durable;
mod groups;
mod outgoing;
mod subjects;

pub use async_nats;
pub use bus::{NatsBus, options};

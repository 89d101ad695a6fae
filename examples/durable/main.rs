//! A durable topic: NATS stores orders until they are billed. Billing one of them fails at first.
//!
//! Requires NATS with JetStream, such as `nats-server -js -a 127.0.0.1`. Then `cargo run -p durable -- [ADDRESS]`
//! publishes each order twice, and bills each once.

use frisbee_pubsub::nats::durable::{DurableTopic, RecvError, Replay, Storage};
use std::error::Error;
use std::time::Duration;

const ORDERS: [(&str, &str); 3] = [("north", "42 apples"), ("south", "7 pears"), ("north", "1 melon")];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:4222".to_owned());
    let nats = frisbee_pubsub::nats::options().connect(&*address).await?;
    // Uses memory, so that nothing remains on disk.
    let orders = DurableTopic::builder("example", "orders.>").storage(Storage::Memory).open(&nats).await?;

    // The second iteration acts as a restarted publisher that does not know its position.
    for _ in 0..2 {
        for (number, (region, order)) in ORDERS.into_iter().enumerate() {
            let stored = orders.publish(&format!("orders.{region}"), &format!("order-{number}"), order).await?;
            let known = if stored.is_duplicate() { ", which it was before" } else { "" };
            println!("{order:>10}: stored as {}{known}", stored.sequence());
        }
    }

    let mut billing = orders.subscription("billing").replay(Replay::All).open().await?;
    let mut billed = 0;
    while billed < ORDERS.len() {
        let delivery = match billing.recv().await {
            Ok(delivery) => delivery,
            Err(RecvError::Lagged(count)) => {
                println!("{count} orders were removed before they were billed");
                billed += usize::try_from(count)?;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let order = String::from_utf8_lossy(delivery.payload()).into_owned();
        if order.contains("pears") && delivery.attempt() == 1 {
            println!("{order:>10}: fails, and is to come again");
            delivery.nak(Duration::from_millis(100)).await?;
        } else {
            println!("{order:>10}: billed to {}, in attempt {}", delivery.topic(), delivery.attempt());
            delivery.ack().await?;
            billed += 1;
        }
    }
    orders.delete_subscription("billing").await?;
    Ok(())
}

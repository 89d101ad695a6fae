//! A command line broker with a publisher and a subscriber.
//!
//! `cargo run --release -p pubsub` demonstrates all three in one process. In separate terminals:
//!
//! ```sh
//! cargo run --release -p pubsub -- serve
//! cargo run --release -p pubsub -- subscribe 'orders.*.created'
//! cargo run --release -p pubsub -- publish orders.north.created '42 apples'
//! ```

use clap::{Parser, Subcommand};
use frisbee::Server;
use frisbee_pubsub::{Broker, Client, History, RecvError, SlowSubscriberPolicy, Start, Subscription};
use std::error::Error;
use std::io::BufRead;

/// Publishes and subscribes.
#[derive(Parser)]
struct Arguments {
    /// The address of the broker.
    #[arg(long, global = true, default_value = "127.0.0.1:7700")]
    address: String,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run a broker until interrupted.
    Serve {
        /// Maximum size of a subscriber's queue, in bytes.
        #[arg(long, default_value_t = 16 * 1024 * 1024)]
        queue_max: usize,
        /// Close connections of slow subscribers instead of dropping their oldest messages.
        #[arg(long)]
        disconnect: bool,
        /// Number of messages to keep per topic, for `subscribe --history`.
        #[arg(long)]
        history: Option<usize>,
    },
    /// Print messages of matching topics.
    Subscribe {
        /// A topic pattern, with * for any one token and a final > for one or more.
        pattern: String,
        /// Share the messages with the other members of this group.
        #[arg(long)]
        group: Option<String>,
        /// Start with the oldest kept message, and lose no messages with a connection.
        #[arg(long, conflicts_with = "group")]
        history: bool,
    },
    /// Publish a text, or each line of standard input.
    Publish {
        /// The topic.
        topic: String,
        /// The text.
        text: Option<String>,
    },
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { address, command } = Arguments::parse();
    match command {
        None => show().await,
        Some(Command::Serve { queue_max, disconnect, history }) => {
            let slow = if disconnect { SlowSubscriberPolicy::Disconnect } else { SlowSubscriberPolicy::DropOldest };
            let mut broker = Broker::builder().queue_max(queue_max).slow(slow);
            if let Some(count) = history {
                broker = broker.history(">", History::last(count));
            }
            let server = Server::builder().bind(&address, broker.build()).await?;
            println!("serving on {}", server.local_addr());
            server.serve_with_shutdown(async { drop(tokio::signal::ctrl_c().await) }).await?;
            Ok(())
        }
        Some(Command::Subscribe { pattern, group, history }) => {
            let client = Client::connect(address).await?;
            let subscription = match group {
                Some(group) => client.queue_subscribe(&pattern, &group).await?,
                None if history => client.subscribe_from(&pattern, Start::Oldest).await?,
                None => client.subscribe(&pattern).await?,
            };
            print_all(subscription).await
        }
        Some(Command::Publish { topic, text }) => {
            let client = Client::connect(address).await?;
            let publisher = client.publisher(&topic)?;
            match text {
                Some(text) => publisher.publish(text).await?,
                None => {
                    for line in std::io::stdin().lock().lines() {
                        publisher.publish(line?).await?;
                    }
                }
            }
            // Messages in flight may be lost when a program exits.
            client.sync().await?;
            Ok(())
        }
    }
}

async fn print_all(mut subscription: Subscription) -> Result<(), Box<dyn Error>> {
    loop {
        match subscription.recv().await {
            Ok(message) => println!("{}: {}", message.topic(), String::from_utf8_lossy(message.payload())),
            Err(RecvError::Lagged(count)) => println!("({count} messages are missing)"),
            Err(error @ RecvError::Reconnected) => println!("({error})"),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Demonstrates all roles: two subscribers, one of them in a group, a publisher, and a late subscriber.
async fn show() -> Result<(), Box<dyn Error>> {
    let broker = Broker::builder().history("orders.>", History::last(100)).build();
    let server = Server::builder().bind("127.0.0.1:0", broker).await?;
    let address = server.local_addr();
    println!("serving on {address}");
    tokio::spawn(server.serve());

    let reader = Client::connect(address).await?;
    let mut created = reader.subscribe("orders.*.created").await?;
    let mut jobs = Vec::new();
    for name in ["one packer", "the other"] {
        let worker = Client::connect(address).await?;
        jobs.push((name, worker.queue_subscribe("orders.>", "packers").await?));
    }

    let writer = Client::connect(address).await?;
    for (place, apples) in [("north", 42), ("south", 7)] {
        writer.publish(&format!("orders.{place}.created"), format!("{apples} apples")).await?;
    }
    for _ in 0..2 {
        let message = created.recv().await?;
        println!("all subscribers receive {}: {:?}", message.topic(), message.payload());
    }
    for (name, jobs) in &mut jobs {
        let message = jobs.recv().await?;
        println!("{name} alone gets {:?}", message.payload());
    }
    let mut late = reader.subscribe_from("orders.*.created", Start::Oldest).await?;
    for _ in 0..2 {
        let message = late.recv().await?;
        let offset = message.position().map_or(0, |position| position.offset);
        println!("a late subscriber gets message {offset} of {}: {:?}", message.topic(), message.payload());
    }
    Ok(())
}

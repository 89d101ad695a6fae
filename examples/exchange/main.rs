//! A market where many browsers and programs trade, each over one connection: calls, a stream of orders and reports, a
//! topic with the book, and calls from the server to pages. README.md describes the commands and the measurements.
//!
//! `cargo run --release -p exchange` serves the market. With `load` it also simulates browsers.

mod book;
mod load;
mod market;
mod page;
mod server;
#[cfg(test)]
mod test;

use clap::{Parser, Subcommand};
use load::Load;
use server::Market;
use std::error::Error;
use std::time::Duration;

/// Generated from `proto/exchange.proto`.
mod exchange {
    frpc::include_proto!("exchange");
}

/// A market for browsers and programs.
#[derive(Parser)]
struct Arguments {
    /// The address of the market.
    #[arg(long, global = true, default_value = "127.0.0.1:8080")]
    address: String,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Serves the market, and the page.
    Serve {
        /// Address of the web page.
        #[arg(long, default_value = "127.0.0.1:8081")]
        page: String,
        /// Number of built-in traders that keep the market active.
        #[arg(long, default_value_t = 8)]
        traders: usize,
    },
    /// Simulates browsers and fast trading programs against a running market.
    Load {
        /// Number of browsers, each with its own WebSocket.
        #[arg(long, default_value_t = 1000)]
        browsers: usize,
        /// Number of programs, which use TCP.
        #[arg(long, default_value_t = 2)]
        programs: usize,
        /// Duration in seconds.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
    },
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let Arguments { address, command } = Arguments::parse();
    match command.unwrap_or(Command::Serve { page: "127.0.0.1:8081".to_owned(), traders: 8 }) {
        Command::Serve { page, traders } => {
            let page = page::listen(&page).await?;
            let market = Market::start(&address, page.origins()).await?;
            println!("the market is at {}, and the page at http://{}/; ^C stops", market.address(), page.address());
            tokio::spawn(page.serve(market.address()));
            let load = Load { browsers: traders, programs: 0, pause: Duration::from_millis(700) };
            let trading = load.start(market.address()).await?;
            tokio::signal::ctrl_c().await?;
            drop(trading);
        }
        Command::Load { browsers, programs, seconds } => {
            let load = Load { browsers, programs, pause: Duration::from_secs(1) };
            let address = address.parse()?;
            let trading = load.start(address).await?;
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            let offer = trading.inquire().await?;
            println!("{}", trading.figures(Duration::from_secs(seconds), &offer));
        }
    }
    Ok(())
}

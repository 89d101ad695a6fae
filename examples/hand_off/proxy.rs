//! A gateway that authenticates users by calls and then hands off its connection to any other protocol.
//!
//! ```sh
//! cargo run --release -p hand-off --bin proxy -- serve 127.0.0.1:7000 --user ada:secret \
//!     --target postgres=127.0.0.1:5432 --target etcd=127.0.0.1:2379
//! cargo run --release -p hand-off --bin proxy -- connect 127.0.0.1:7000 --user ada:secret --target etcd \
//!     --listen 127.0.0.1:2400
//! ```
//!
//! `connect` forwards each accepted connection to the target: `etcdctl --endpoints 127.0.0.1:2400 get x`.

#[allow(unreachable_pub)]
mod service;

use clap::{Parser, Subcommand};
use frpc::hand_off::RawTransport;
use frpc::{Channel, Server, Status};
use gateway::{Credentials, GatewayClient, GatewayServer, Target};
use service::Service;
use std::error::Error;
use tokio::io::copy_bidirectional;
use tokio::net::TcpListener;

/// Generated from `proto/gateway.proto`.
mod gateway {
    frpc::include_proto!("gateway");
}

/// A gateway.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve users.
    Serve {
        /// The address to listen on.
        address: String,
        /// A user and password.
        #[arg(long, value_name = "NAME:PASSWORD", value_parser = pair::<':'>)]
        user: Vec<(String, String)>,
        /// A target and its address.
        #[arg(long, value_name = "NAME=ADDRESS", value_parser = pair::<'='>)]
        target: Vec<(String, String)>,
    },
    /// Forward connections through a gateway.
    Connect {
        /// The address of the gateway.
        gateway: String,
        /// The user and password to log in with.
        #[arg(long, value_name = "NAME:PASSWORD", value_parser = pair::<':'>)]
        user: (String, String),
        /// The name of the target.
        #[arg(long)]
        target: String,
        /// The address to accept connections on.
        #[arg(long)]
        listen: String,
    },
}

fn pair<const BETWEEN: char>(text: &str) -> Result<(String, String), String> {
    let (one, other) = text.split_once(BETWEEN).ok_or_else(|| format!("no {BETWEEN:?} in it"))?;
    Ok((one.to_owned(), other.to_owned()))
}

/// Logs in, and converts the connection into one to the target.
async fn open(gateway: &str, user: &(String, String), target: &str) -> Result<RawTransport, Status> {
    let channel = Channel::connect(gateway).await.map_err(|error| Status::unavailable(error.to_string()))?;
    let credentials = Credentials { user: user.0.clone(), password: user.1.clone() };
    GatewayClient::new(channel.clone()).login(credentials).await?;
    let (asking, handed) = channel.request_hand_off();
    GatewayClient::new(asking).open(Target { name: target.to_owned() }).await?;
    handed.take().ok_or_else(|| Status::internal("the gateway keeps its connection"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    match Arguments::parse().command {
        Command::Serve { address, user, target } => {
            let service = Service { users: user.into_iter().collect(), targets: target.into_iter().collect() };
            let server = Server::builder().add_service(GatewayServer::new(service));
            let server = server.method_hand_off("gateway.Gateway/Open").bind(address).await?;
            println!("listening on {}", server.local_addr());
            server.serve().await?;
        }
        Command::Connect { gateway, user, target, listen } => {
            let listener = TcpListener::bind(listen).await?;
            println!("listening on {}", listener.local_addr()?);
            loop {
                let (mut socket, _) = listener.accept().await?;
                let (gateway, user, target) = (gateway.clone(), user.clone(), target.clone());
                tokio::spawn(async move {
                    match open(&gateway, &user, &target).await {
                        Ok(mut raw) => drop(copy_bidirectional(&mut socket, &mut raw).await),
                        Err(status) => eprintln!("{status}"),
                    }
                });
            }
        }
    }
    Ok(())
}

//! A rolling restart of three servers through three versions of a schema, with clients of each version, and a topic
//! whose history has messages of each version.
#![allow(clippy::needless_update, reason = "some versions have more fields than the program sets")]

use frpc::frisbee;
use frpc::pubsub::{Broker, Client, History, Start};
use frpc::{Request, Response, ResponseStream, Server, Status, Streaming, Topic};
use std::error::Error;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

mod v1 {
    include!(concat!(env!("OUT_DIR"), "/v1/shop.rs"));
}
mod v2 {
    include!(concat!(env!("OUT_DIR"), "/v2/shop.rs"));
}
mod v3 {
    include!(concat!(env!("OUT_DIR"), "/v3/shop.rs"));
}

/// Number of servers.
const SERVERS: usize = 3;

/// Number of rounds that each client makes between two restarts.
pub(crate) const ROUNDS: u64 = 10;

/// A shop of any version.
struct Shop;

/// Implements a version of the shop, and a client of it that checks the replies.
macro_rules! version {
    ($version:ident, [$($method:ident),*]) => {
        impl $version::Shop for Shop {
            $(async fn $method(&self, request: Request<$version::Order>) -> Result<Response<$version::Receipt>, Status> {
                Ok(Response::new(request.into_inner().into()))
            })*

            async fn follow(
                &self,
                request: Request<Streaming<$version::Order>>,
            ) -> Result<Response<ResponseStream<$version::Receipt>>, Status> {
                let mut orders = request.into_inner();
                let (receipts, stream) = ResponseStream::channel(4);
                tokio::spawn(async move {
                    while let Ok(Some(order)) = orders.message().await {
                        if receipts.send(Ok(order.into())).await.is_err() {
                            return;
                        }
                    }
                });
                Ok(Response::new(stream))
            }
        }

        impl From<$version::Order> for $version::Receipt {
            fn from($version::Order { id, items, size, .. }: $version::Order) -> Self {
                let total = items.iter().map(|item| i64::from(item.count)).sum::<i64>();
                Self { id, items, size, total: total.try_into().unwrap_or_default(), ..Self::default() }
            }
        }

        impl $version::Order {
            fn new(id: String) -> Self {
                let [pen, ink] = [("pen", 3), ("ink", 4)].map(|(name, count)| $version::Item {
                    name: name.to_owned(),
                    count,
                    ..Default::default()
                });
                Self { id, items: vec![pen, ink], size: $version::Size::Large.into(), ..Self::default() }
            }

            async fn publish(broker: &str) -> Result<(), Box<dyn Error>> {
                let client = Client::connect(broker).await?;
                Topic::new("orders").publish(&client, &Self::new(stringify!($version).to_owned())).await?;
                Ok(client.sync().await?)
            }

            /// Reads the orders of all versions from the history. Returns their number.
            async fn read(broker: &str) -> Result<usize, Box<dyn Error>> {
                let client = Client::connect(broker).await?;
                let mut orders = Topic::<Self>::new("orders").subscribe_from(&client, Start::Oldest).await?;
                let versions = ["v1", "v2", "v3"];
                for version in versions {
                    check(&orders.recv().await?.into_inner(), &Self::new(version.to_owned()))?;
                }
                Ok(versions.len())
            }
        }

        impl $version::ShopClient {
            /// Calls all servers in rounds until the restart is over, and publishes the number of rounds.
            async fn shop(addresses: Vec<String>, rounds: watch::Sender<u64>) -> Result<(), Status> {
                let mut clients = Vec::new();
                for address in addresses {
                    clients.push(Self::connect(address).await.map_err(|error| Status::unavailable(error.to_string()))?);
                }
                while !rounds.is_closed() {
                    for client in &clients {
                        let order = $version::Order::new(format!("{} {}", stringify!($version), *rounds.borrow()));
                        let expected = $version::Receipt::from(order.clone());
                        check(&client.buy(order.clone()).await?.into_inner(), &expected)?;
                        let mut receipts = client.follow(frpc::iter(vec![order; 2])).await?.into_inner();
                        for _ in 0..2 {
                            check(&receipts.message().await?.unwrap_or_default(), &expected)?;
                        }
                    }
                    rounds.send_modify(|rounds| *rounds += 1);
                }
                Ok(())
            }
        }
    };
}

version!(v1, [buy, cancel]);
version!(v2, [quote, buy, cancel]);
version!(v3, [quote, buy]);

fn check<M: PartialEq + std::fmt::Debug>(found: &M, expected: &M) -> Result<(), Status> {
    let is_it = found == expected;
    if is_it { Ok(()) } else { Err(Status::internal(format!("{found:?} is not {expected:?}"))) }
}

/// A running server.
struct Process {
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), frpc::Error>>,
}

impl Process {
    /// Starts a server of a version on a socket that all processes of an address share.
    fn start(version: usize, listener: &TcpListener) -> Result<Self, Box<dyn Error>> {
        let builder = Server::builder();
        let builder = match version {
            1 => builder.add_service(v1::ShopServer::new(Shop)),
            // Go programs stay on v1.
            2 => builder.add_service(v2::ShopServer::new(Shop)).compat_layout::<v1::ShopClient>(),
            _ => builder.add_service(v3::ShopServer::new(Shop)).compat_layout::<v1::ShopClient>(),
        };
        let server = builder.listen_on(listener.try_clone()?)?;
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.serve_with_shutdown(async { drop(stopped.await) }));
        Ok(Self { stop, serving })
    }

    /// Stops the server after its calls have ended.
    async fn stop(self) -> Result<(), Box<dyn Error>> {
        drop(self.stop);
        Ok(self.serving.await??)
    }
}

/// Runs a client in another language until the restart is over. Its arguments are the addresses of the servers. It
/// prints a line after each round, and ends with its standard input.
async fn run(program: PathBuf, addresses: Vec<String>, rounds: watch::Sender<u64>) -> Result<(), Status> {
    let mut command = Command::new(&program);
    command.args(addresses).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let started = command.spawn();
    let mut child = started.map_err(|error| Status::not_found(format!("running {}: {error}", program.display())))?;
    let mut lines = child.stdout.take().map(|output| BufReader::new(output).lines());
    while let Some(lines) = &mut lines
        && lines.next_line().await?.is_some()
    {
        rounds.send_modify(|rounds| *rounds += 1);
        if rounds.is_closed() {
            drop(child.stdin.take());
        }
    }
    let status = child.wait().await?;
    if status.success() { Ok(()) } else { Err(Status::internal(format!("the client failed: {status}"))) }
}

/// Restarts all servers twice, while clients of each version call them, and `program`, if any. Returns the number of
/// rounds of each client.
pub(crate) async fn restart(program: Option<PathBuf>) -> Result<Vec<u64>, Box<dyn Error>> {
    let mut listeners = Vec::new();
    for _ in 0..SERVERS {
        listeners.push(TcpListener::bind("127.0.0.1:0")?);
    }
    let addresses: std::io::Result<Vec<_>> =
        listeners.iter().map(|listener| Ok(listener.local_addr()?.to_string())).collect();
    let addresses = addresses?;
    let processes: Result<Vec<_>, _> = listeners.iter().map(|listener| Process::start(1, listener)).collect();
    let mut processes = processes?;

    let (mut clients, mut progress) = (JoinSet::new(), Vec::new());
    let mut rounds = || {
        let (sender, receiver) = watch::channel(0);
        progress.push(receiver);
        sender
    };
    clients.spawn(v1::ShopClient::shop(addresses.clone(), rounds()));
    clients.spawn(v2::ShopClient::shop(addresses.clone(), rounds()));
    clients.spawn(v3::ShopClient::shop(addresses.clone(), rounds()));
    if let Some(program) = program {
        clients.spawn(run(program, addresses, rounds()));
    }

    for version in [2, 3] {
        for at in 0..SERVERS {
            wait(&mut progress).await.ok(); // The failure of a client is returned below.
            let successor = Process::start(version, &listeners[at])?;
            std::mem::replace(&mut processes[at], successor).stop().await?;
        }
    }
    wait(&mut progress).await.ok();
    let counts = progress.iter().map(|rounds| *rounds.borrow()).collect();
    drop(progress);
    while let Some(client) = clients.join_next().await {
        client??;
    }
    for process in processes {
        process.stop().await?;
    }
    Ok(counts)
}

/// Waits until each client has made [`ROUNDS`].
async fn wait(progress: &mut [watch::Receiver<u64>]) -> Result<(), watch::error::RecvError> {
    for rounds in progress {
        let until = *rounds.borrow() + ROUNDS;
        rounds.wait_for(|rounds| *rounds >= until).await?;
    }
    Ok(())
}

/// Publishes an order of each version, and reads all of them as each version. Returns the number of read orders.
async fn topic() -> Result<usize, Box<dyn Error>> {
    let broker = Broker::builder().history("orders", History::last(10)).build();
    let server = frisbee::Server::builder().bind("127.0.0.1:0", broker).await?;
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    v1::Order::publish(&address).await?;
    v2::Order::publish(&address).await?;
    v3::Order::publish(&address).await?;
    Ok(v1::Order::read(&address).await? + v2::Order::read(&address).await? + v3::Order::read(&address).await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args_os().nth(1).map(PathBuf::from);
    for (client, rounds) in ["v1", "v2", "v3", "of the program"].into_iter().zip(restart(program).await?) {
        println!("client {client}: {rounds} rounds, no call failed");
    }
    println!("{} orders read from the history, in all versions", topic().await?);
    Ok(())
}

#[cfg(test)]
#[tokio::test]
async fn every_version_reads_history_of_all_versions() {
    assert_eq!(topic().await.expect("every order should be read"), 9);
}

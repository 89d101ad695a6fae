//! A controller calls a thousand agents that it could not reach directly. Each agent has dialled the controller, as
//! from a private network, and serves on that connection.
//!
//! `cargo run --release -p calls --bin controller -- [AGENTS]`

use agents::{Agent, AgentClient, AgentServer, Command, Empty, Load, Output};
use frpc::{Channel, Request, Response, ResponseStream, Server, Status};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Generated from `proto/agents.proto`.
mod agents {
    frpc::include_proto!("agents");
}

/// Timeout for all agents to connect, and for a round of calls.
const TIMEOUT: Duration = Duration::from_secs(60);

struct Worker {
    name: String,
}

impl Agent for Worker {
    async fn report(&self, _request: Request<Empty>) -> Result<Response<Load>, Status> {
        let percent = self.name.bytes().map(u32::from).sum::<u32>() % 100;
        Ok(Response::new(Load { agent: self.name.clone(), percent }))
    }

    async fn run(&self, request: Request<Command>) -> Result<Response<ResponseStream<Output>>, Status> {
        let Command { line } = request.into_inner();
        let name = self.name.clone();
        let lines = (1..=3).map(move |number| Ok(Output { line: format!("{name}: {line}, line {number}") }));
        Ok(Response::new(ResponseStream::new(frpc::iter(lines))))
    }
}

/// Dials the controller and serves there.
async fn start_agent(address: String, number: usize) -> Result<Channel, frpc::Error> {
    let worker = Worker { name: format!("agent {number}") };
    Channel::builder().add_service(AgentServer::new(worker)).connect(address).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize =
        std::env::args().nth(1).map_or(Ok(1000), |count| count.parse()).map_err(|_| "usage: controller [AGENTS]")?;

    // The controller offers no service. It only records new connections.
    let (sender, mut connected) = mpsc::unbounded_channel();
    let server =
        Server::builder().on_connect(move |connection| drop(sender.send(Channel::from_connection(connection))));
    let server = server.bind("127.0.0.1:0").await?;
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());

    let mut dialling = JoinSet::new();
    for number in 0..count {
        dialling.spawn(start_agent(address.clone(), number));
    }
    let running = dialling.join_all().await.into_iter().collect::<Result<Vec<_>, _>>()?;
    // An agent in a separate program would now wait for `Channel::stay_connected`.

    let work = async {
        let mut agents = Vec::new();
        while agents.len() < count {
            agents.extend(connected.recv().await.map(AgentClient::new));
        }
        println!("{count} agents have connected");

        let started = Instant::now();
        let mut calls = JoinSet::new();
        for agent in agents.clone() {
            calls.spawn(async move { agent.report(Empty {}).await.map(Response::into_inner) });
        }
        let loads = calls.join_all().await.into_iter().collect::<Result<Vec<_>, _>>()?;
        let busiest = loads.iter().max_by_key(|load| load.percent).ok_or("there are no agents")?;
        println!("all have reported within {} ms", started.elapsed().as_millis());
        println!("the busiest is {} with {} %", busiest.agent, busiest.percent);

        let agent = agents.first().ok_or("there are no agents")?;
        let mut output = agent.run(Command { line: "uptime".to_owned() }).await?.into_inner();
        while let Some(Output { line }) = output.message().await? {
            println!("{line}");
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    };
    tokio::time::timeout(TIMEOUT, work).await??;
    drop(running);
    Ok(())
}

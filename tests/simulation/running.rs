//! A server at a node. Counters of its handlers continue across restarts.

use frisbee_sim::{Fault, World};
use frisbee_tests::extension::{ExtensionClient, ExtensionServer};
use frisbee_tests::observed::{Service, State};
use frpc::{Acceptor, Channel, ChannelBuilder, Server};
use frpc_balance::Balance;
use parking_lot::Mutex;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A server at a node. Its program restarts after each crash.
pub(crate) struct Running {
    world: World,
    node: &'static str,
    service: Service,
    /// The acceptor of the running process.
    acceptor: Arc<Mutex<Acceptor>>,
}

fn acceptor_of(service: &Service) -> Acceptor {
    let builder = Server::builder().add_service(ExtensionServer::new(service.clone()));
    builder.build().expect("settings should be valid")
}

impl Running {
    pub(crate) fn start(world: &World, node: &'static str) -> Self {
        let service = Service::default();
        let acceptor = Arc::new(Mutex::new(acceptor_of(&service)));
        world.node(node).start({
            let (service, acceptor) = (service.clone(), acceptor.clone());
            move |process| {
                let started = acceptor_of(&service);
                *acceptor.lock() = started.clone();
                process.serve(started);
                ready(())
            }
        });
        Self { world: world.clone(), node, service, acceptor }
    }

    pub(crate) fn state(&self) -> &State {
        &self.service.state
    }

    /// Returns the number of running `Wait` handlers.
    pub(crate) fn running(&self) -> i64 {
        self.state().waiting.load(Ordering::SeqCst)
    }

    /// Returns the number of times that `Get` has run.
    pub(crate) fn gets(&self) -> u64 {
        self.state().gets.load(Ordering::SeqCst)
    }

    /// Starts a new server on the same machine, which accepts all connections from now on. Returns the previous server,
    /// which the caller must shut down.
    pub(crate) fn take_over(&self) -> Acceptor {
        let successor = acceptor_of(&self.service);
        self.world.node(self.node).process().serve(successor.clone());
        std::mem::replace(&mut *self.acceptor.lock(), successor)
    }

    /// Stops the server. It notifies its clients, completes its calls and exits.
    pub(crate) async fn stop(&self) {
        let acceptor = self.acceptor.lock().clone();
        acceptor.shutdown().await;
        self.world.node(self.node).crash();
    }

    /// Crashes the server's node for the given time.
    pub(crate) async fn fail_for(&self, down: Duration) {
        let crash = Fault::Crash { node: self.node.to_owned(), down, loses_disk: false };
        self.world.inject_now(crash).await;
    }
}

/// Returns a channel from node `client` to the servers at the given nodes.
pub(crate) async fn channel(world: &World, nodes: &[&str], builder: ChannelBuilder) -> Channel {
    let process = world.node("client").process();
    let channel = match nodes {
        [node] => builder.connect_with_connector(process.connector(node)).await,
        several => {
            builder.balance().connect_all_with_connectors(several.iter().map(|node| process.connector(node))).await
        }
    };
    channel.expect("a server should accept the connection")
}

pub(crate) async fn client(world: &World, nodes: &[&str]) -> ExtensionClient {
    ExtensionClient::new(channel(world, nodes, Channel::builder()).await)
}

/// Returns a random time of less than `most` milliseconds.
pub(crate) fn some(world: &World, most: u64) -> Duration {
    Duration::from_millis(world.draw(|rng| rng.u64(..most)))
}

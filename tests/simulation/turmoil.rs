//! Tests that sockets of turmoil work as transports, for programs whose tests use turmoil.

use super::service::{Memory, Service};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer};
use frpc::{Channel, Server};
use std::sync::Arc;
use std::time::Duration;
use turmoil::net::{TcpListener, TcpStream};

const PORT: u16 = 8080;

#[test]
fn turmoil_sockets_carry_servers_and_channels() {
    let mut sim = turmoil::Builder::new().simulation_duration(Duration::from_secs(120)).rng_seed(7).build();
    let memory = Arc::new(Memory::default());
    let executed = memory.clone();
    sim.host("server", move || {
        let builder = Server::builder().add_service(InteropServer::new(Service(memory.clone())));
        let acceptor = builder.build().expect("settings should be valid");
        async move {
            let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
            loop {
                let (socket, _) = listener.accept().await?;
                let acceptor = acceptor.clone();
                tokio::spawn(async move { acceptor.serve_connection(socket).await });
            }
        }
    });
    sim.client("client", async move {
        let connect = || TcpStream::connect(("server", PORT));
        let builder = Channel::builder().timeout(Duration::from_secs(30));
        let client = InteropClient::new(builder.connect_with_connector(connect).await?);
        for call in 0..20 {
            if call == 10 {
                turmoil::partition("client", "server");
                let outcome = client.add(AddRequest { a: 1_000, b: 0 }).await;
                assert!(outcome.is_err(), "partition should stop the call");
                turmoil::repair("client", "server");
            }
            let sum = client.add(AddRequest { a: call, b: 2 }).await?;
            assert_eq!(sum.get_ref().total, call + 2);
        }
        Ok(())
    });
    sim.run().expect("every call should be answered");
    assert!((0..20).all(|call| executed.executions(call) == 1));
}

//! The server: `cargo run -- [ADDRESS]`. It ends with SIGTERM or Ctrl-C, after the calls in progress.

use frpc::Server;
use greeter::Service;
use greeter::greet::GreeterServer;

#[tokio::main]
async fn main() -> Result<(), frpc::Error> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let server = Server::builder().add_service(GreeterServer::new(Service)).bind(address).await?;
    println!("listening on {}", server.local_addr());
    server.serve_with_shutdown(frpc::signal::terminate()).await
}

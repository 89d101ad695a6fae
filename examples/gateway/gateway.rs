//! One service over every protocol on one port: native frames, JSON-RPC, Connect, gRPC, gRPC-Web and WebSocket; also
//! its schema and its health, for tools, and a console: <http://localhost:8080/console/>.
//!
//! `cargo run -p gateway --bin gateway -- 127.0.0.1:8080`, and in another terminal `curl -H 'content-type:
//! application/json' -d '{"name": "Ada"}' localhost:8080/greet.Greeter/Greet`; `docs/gateway.md` has an example for
//! each protocol. `grpcurl -plaintext localhost:8080 list` and `frpc list` list the services. Without an address it
//! calls itself over some of them and exits. With the path of a Unix socket after the address, it reports its activity
//! there: `frpc top --server unix:PATH`.

mod polite;

use frpc::Server;
use frpc_gateway::{Console, Gateway, Http, ServeGateway};
#[cfg(unix)]
use frpc_reflection::Introspection;
use frpc_reflection::{Health, Reflection};
use frpc_telemetry::Counters;
use greet::{GreeterClient, GreeterServer, Name};
use polite::Polite;
use std::env;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Generated from `proto/greet.proto`.
mod greet {
    frpc::include_proto!("greet");
}

/// Posts JSON to a path and returns the HTTP response.
async fn post(address: &str, path: &str, json: &str) -> std::io::Result<String> {
    let mut socket = TcpStream::connect(address).await?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        json.len()
    );
    socket.write_all((head + json).as_bytes()).await?;
    let mut response = String::new();
    socket.read_to_string(&mut response).await?;
    Ok(response.rsplit("\r\n").next().unwrap_or_default().to_owned())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let http = Http::new().connect().grpc().health().console(Console::new());
    let gateway = Gateway::new().json_rpc().http(http).web_socket();
    let builder = Server::builder()
        .add_service(GreeterServer::new(Polite))
        .add_service(Reflection::new())
        .add_service(Health::new())
        .inspectable()
        .batch_observer(Counters::new())
        .gateway(gateway);
    let Some(address) = env::args().nth(1) else {
        let server = builder.bind("127.0.0.1:0").await?;
        let address = server.local_addr().to_string();
        tokio::spawn(server.serve());
        let client = GreeterClient::connect(address.as_str()).await?;
        println!("frpc:     {}", client.greet(Name { name: "Ada".into() }).await?.get_ref().text);
        println!("Connect:  {}", post(&address, "/greet.Greeter/Greet", "{\"name\": \"Ada\"}").await?);
        let call = r#"{"jsonrpc": "2.0", "id": 1, "method": "greet.Greeter/Greet", "params": {"name": "Ada"}}"#;
        println!("JSON-RPC: {}", post(&address, "/", call).await?);
        return Ok(());
    };
    let server = builder.bind(address).await?;
    println!("every protocol on {0}, and the console on http://{0}/console/; ^C stops", server.local_addr());
    #[cfg(unix)]
    if let Some(path) = env::args().nth(2) {
        let introspection = Introspection::new().server("gateway", server.inspector());
        tokio::spawn(introspection.serve_unix(path));
    }
    let stop = async { tokio::signal::ctrl_c().await.unwrap_or(()) };
    Ok(server.serve_with_shutdown(stop).await?)
}

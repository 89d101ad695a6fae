//! Echoes WebSocket messages, for suites that test the protocol: `web_socket_echo ADDRESS`. Each connection is served
//! by the code that serves JSON-RPC. The program exits when its standard input is closed.

use frisbee::Config;
use frpc_gateway::web_socket;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Returns limits for the test suite. It sends messages of up to 16 MiB, and waits for messages that must not arrive.
fn config() -> Config {
    let hour = Duration::from_secs(3600);
    Config::default().body_max(16 << 20).ping_interval(hour).idle_timeout(hour)
}

async fn serve(mut socket: TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 8192 {
        head.push(socket.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let mut key = fields.filter(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-key")).map(|(_, key)| key.trim());
    let accept = web_socket::accept(key.next_back().unwrap_or_default().as_bytes());
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \
         {accept}\r\n\r\n"
    );
    socket.write_all(answer.as_bytes()).await?;
    web_socket::echo(socket, &config()).await
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:9001".to_owned());
    let listener = TcpListener::bind(address).await?;
    println!("{}", listener.local_addr()?);
    let accepting = async {
        loop {
            let (socket, _) = listener.accept().await?;
            tokio::spawn(serve(socket));
        }
    };
    let (mut input, mut read) = (tokio::io::stdin(), Vec::new());
    tokio::select! {
        ended = accepting => ended,
        _ = input.read_to_end(&mut read) => Ok(()),
    }
}

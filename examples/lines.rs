//! A protocol of lines for scripts, on the port of a service: clients of frpc and `nc` reach the same implementation.
//!
//! `cargo run -p examples --example lines -- 127.0.0.1:8080`, and beside it `echo ECHO hello | nc -N 127.0.0.1 8080`.
//! Without an address it calls itself both ways and ends.

use examples::benchmark::{BenchmarkService, BenchmarkServiceClient, BenchmarkServiceServer, Request, Response};
use frisbee::RawTransport;
use frpc::{ForeignContext, Server, Status};
use std::sync::Arc;
use std::time::Duration;
use std::{env, io};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The longest line, in bytes.
const LINE_MAX: u64 = 1024;

/// The time that a client has to send a line and to read the answer to the one before.
const PATIENCE: Duration = Duration::from_secs(30);

struct Echo;

impl BenchmarkService for Echo {
    async fn benchmark(&self, request: frpc::Request<Request>) -> Result<frpc::Response<Response>, Status> {
        Ok(frpc::Response::new(Response { message: request.into_inner().message }))
    }
}

/// Answers lines until the client ends its direction, is too slow, or the server stops.
async fn serve_lines(service: Arc<Echo>, transport: RawTransport, context: ForeignContext) -> io::Result<()> {
    let mut transport = BufReader::new(transport);
    let mut line = String::new();
    loop {
        line.clear();
        let mut rest = (&mut transport).take(LINE_MAX);
        let reading = async {
            tokio::select! {
                read = rest.read_line(&mut line) => read,
                () = context.stopping() => Ok(0),
            }
        };
        if timeout(PATIENCE, reading).await?? == 0 {
            return Ok(());
        }
        let answer = match line.strip_suffix('\n').and_then(|line| line.trim_end().split_once(' ')) {
            Some(("ECHO", text)) => match service.benchmark(frpc::Request::new(Request { message: text.into() })).await
            {
                Ok(reply) => reply.into_inner().message,
                Err(status) => format!("error: {status}"),
            },
            Some((command, _)) => format!("error: no command {command}, only ECHO TEXT"),
            None => return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is COMMAND TEXT")),
        };
        timeout(PATIENCE, transport.write_all(format!("{answer}\n").as_bytes())).await??;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = Arc::new(Echo);
    let builder = Server::builder().add_service(BenchmarkServiceServer::from_arc(service.clone())).foreign(
        |beginning| beginning[0].is_ascii_uppercase(),
        move |transport, context| serve_lines(service.clone(), transport, context),
    );
    let Some(address) = env::args().nth(1) else {
        let server = builder.bind("127.0.0.1:0").await?;
        let address = server.local_addr().to_string();
        tokio::spawn(server.serve());
        let client = BenchmarkServiceClient::connect(address.as_str()).await?;
        println!("frpc: {}", client.benchmark(Request { message: "hello".into() }).await?.get_ref().message);
        let mut socket = TcpStream::connect(address).await?;
        socket.write_all(b"ECHO hello\n").await?;
        socket.shutdown().await?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await?;
        print!("nc:   {answer}");
        return Ok(());
    };
    let server = builder.bind(address).await?;
    println!("frpc and lines on {}; ^C stops", server.local_addr());
    let stop = async { tokio::signal::ctrl_c().await.unwrap_or(()) };
    Ok(server.serve_with_shutdown(stop).await?)
}

//! A JSON line protocol for scripts, on the port of a service: frpc clients and `nc` reach the same implementation,
//! within the same middleware.
//!
//! `cargo run -p protocols --bin lines -- 127.0.0.1:8080`, and in another terminal `echo 'Benchmark {"message":
//! "hello"}' | nc -N 127.0.0.1 8080`. Without an address it calls itself both ways and exits.

use benchmark::{BenchmarkService, BenchmarkServiceClient, BenchmarkServiceServer, Request, Response};
use bytes::Bytes;
use frisbee::RawTransport;
use frpc::{AdapterContext, Call, Next, Server, Status};
use std::time::Duration;
use std::{env, io};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Generated from `proto/benchmark.proto`.
mod benchmark {
    frpc::include_proto!("benchmark");
}

/// Maximum length of a line in bytes.
const LINE_MAX: u64 = 1024;

/// Timeout for a client to send a line, and to read the previous reply.
const TIMEOUT: Duration = Duration::from_secs(30);

struct Echo;

impl BenchmarkService for Echo {
    async fn benchmark(&self, request: frpc::Request<Request>) -> Result<frpc::Response<Response>, Status> {
        Ok(frpc::Response::new(Response { message: request.into_inner().message }))
    }
}

/// Answers lines until the client closes its direction or times out, or the server shuts down.
async fn serve_lines(transport: RawTransport, context: AdapterContext) -> io::Result<()> {
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
        if timeout(TIMEOUT, reading).await?? == 0 {
            return Ok(());
        }
        let Some((method, json)) = line.strip_suffix('\n').and_then(|line| line.trim_end().split_once(' ')) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is METHOD JSON"));
        };
        let answer = match call(&context, method, json).await {
            Ok(json) => json,
            Err(status) => format!("error: {status}").into(),
        };
        timeout(TIMEOUT, transport.write_all(&[&answer[..], b"\n"].concat())).await??;
    }
}

/// Calls a method by name, within the server's middleware and limits.
async fn call(context: &AdapterContext, method: &str, json: &str) -> Result<Bytes, Status> {
    let Some(method) = context.methods().get("benchmark.BenchmarkService", method) else {
        return Err(Status::unimplemented(format!("unknown method {method}")));
    };
    let request = frpc::Request::new(Bytes::copy_from_slice(json.as_bytes()));
    Ok(method.unary(request, "json").await?.into_inner())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let log = async |call: Call, next: Next| {
        eprintln!("{} is called", call.method());
        next.run(call).await
    };
    let builder = Server::builder()
        .middleware(log)
        .add_service(BenchmarkServiceServer::new(Echo))
        .adapter(|beginning| beginning[0].is_ascii_uppercase(), serve_lines);
    let Some(address) = env::args().nth(1) else {
        let server = builder.bind("127.0.0.1:0").await?;
        let address = server.local_addr().to_string();
        tokio::spawn(server.serve());
        let client = BenchmarkServiceClient::connect(address.as_str()).await?;
        println!("frpc: {}", client.benchmark(Request { message: "hello".into() }).await?.get_ref().message);
        let mut socket = TcpStream::connect(address).await?;
        socket.write_all(b"Benchmark {\"message\": \"hello\"}\n").await?;
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

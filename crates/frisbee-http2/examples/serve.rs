//! A server for conformance suites and load generators, which replies to every request with a body.
//!
//! `cargo run -p frisbee-http2 --example serve -- 8080 60` serves on 127.0.0.1:8080 for a minute. `/bytes/N` has a body
//! of N bytes. This is a minimal driver: one task per connection, with one read and one write per turn.

use bytes::{Bytes, BytesMut};
use frisbee_core::ServerConfig;
use frisbee_http2::{Connection, ConnectionError, Event, Head, StreamKey};
use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::time::{Duration, Instant};
use tokio::io::{Interest, Ready};
use tokio::net::{TcpListener, TcpStream};

/// Maximum number of bytes per read.
const READ_MAX: usize = 64 * 1024;

/// Maximum body length of `/bytes/N`.
const BODY_MAX: usize = 16 * 1024 * 1024;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u16>());
    let mut next = |default| arguments.next().unwrap_or(Ok(default)).map_err(io::Error::other);
    let (port, seconds) = (next(0)?, next(60)?);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("{}", listener.local_addr()?);
    let serve = async {
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(async move {
                if let Err(error) = serve(stream).await {
                    eprintln!("{error}");
                }
            });
        }
    };
    tokio::time::timeout(Duration::from_secs(seconds.into()), serve).await.unwrap_or(Ok(()))
}

/// Drives a connection until it closes.
async fn serve(stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut connection = Connection::server(&ServerConfig::default(), Instant::now());
    let (mut buffer, mut input) = (BytesMut::new(), Bytes::new());
    let mut lengths = HashMap::new();
    loop {
        let result = handle_events(&mut connection, &mut input, &mut lengths);
        let is_flushed = write(&mut connection, &stream)?;
        if let Err(error) = result {
            return Err(io::Error::other(error));
        }
        if !input.is_empty() && connection.may_read() {
            continue;
        }
        let may_read = connection.may_read() && input.is_empty();
        let ready = wait(&connection, &stream, may_read, !is_flushed).await?;
        if ready.is_readable() && may_read {
            buffer.reserve(READ_MAX);
            match stream.try_read_buf(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(_) => input = buffer.split().freeze(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        let now = Instant::now();
        if connection.next_timeout().is_some_and(|due| due <= now)
            && let Err(error) = connection.handle_timeout(now)
        {
            write(&mut connection, &stream)?;
            return Err(io::Error::other(error));
        }
    }
}

/// Waits for the socket or the next timeout.
async fn wait(connection: &Connection, stream: &TcpStream, reads: bool, writes: bool) -> io::Result<Ready> {
    let interest = match (reads, writes) {
        (true, true) => Some(Interest::READABLE | Interest::WRITABLE),
        (true, false) => Some(Interest::READABLE),
        (false, true) => Some(Interest::WRITABLE),
        (false, false) => None,
    };
    let due = connection.next_timeout().unwrap_or_else(|| Instant::now() + Duration::from_secs(60));
    let Some(interest) = interest else {
        tokio::time::sleep_until(due.into()).await;
        return Ok(Ready::EMPTY);
    };
    tokio::select! {
        ready = stream.ready(interest) => ready,
        () = tokio::time::sleep_until(due.into()) => Ok(Ready::EMPTY),
    }
}

/// Handles received bytes. `lengths` maps each open request to the length of its response.
fn handle_events(
    connection: &mut Connection,
    input: &mut Bytes,
    lengths: &mut HashMap<StreamKey, usize>,
) -> Result<(), ConnectionError> {
    while let Some(event) = connection.poll_event(input, Instant::now())? {
        let ended = match event {
            Event::Head { stream, is_end } => {
                let path = connection.head().path().unwrap_or_default();
                let length = path.strip_prefix("/bytes/").and_then(|length| length.parse().ok()).unwrap_or(5);
                let is_bodiless = connection.head().method() == Some("HEAD");
                lengths.insert(stream, if is_bodiless { 0 } else { BODY_MAX.min(length) });
                is_end.then_some(stream)
            }
            Event::Data { stream, data, is_end } => {
                connection.consume(stream, data.len());
                is_end.then_some(stream)
            }
            Event::Trailers { stream } => Some(stream),
            Event::Reset { stream, .. } => {
                lengths.remove(&stream);
                None
            }
            _ => None,
        };
        if let Some(stream) = ended {
            let length = lengths.remove(&stream).unwrap_or(0);
            let mut head = Head::response(200);
            head.push("content-type", "text/plain");
            let put = |out: &mut Vec<u8>| {
                out.resize(out.len() + length, b'x');
                true
            };
            connection.reply(stream, &head, &Head::trailers(), put).expect("request should be open");
        }
    }
    Ok(())
}

/// Writes as much as the socket accepts. Returns whether everything was written.
fn write(connection: &mut Connection, stream: &TcpStream) -> io::Result<bool> {
    loop {
        let mut slices = [IoSlice::new(&[]); 16];
        let filled = connection.output(&mut slices);
        if filled == 0 {
            return Ok(true);
        }
        let result = stream.try_write_vectored(&slices[..filled]);
        match result {
            Ok(count) => connection.handle_written(count, Instant::now()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                connection.handle_written(0, Instant::now());
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
    }
}

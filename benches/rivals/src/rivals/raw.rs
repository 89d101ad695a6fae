//! Frames echoed by hand on tokio, with our ten-byte headers: a lower bound for the cost of such an RPC. One task per
//! connection, one write per read, no handlers, no callers.
//!
//! Available with both kinds of runtime, like the contestants.

use super::Setup;
use crate::BoxError;
use crate::background::{Bound, one_core};
use crate::contest::{Contestant, Load};
use crate::meter::Tally;
use crate::text::Text;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

/// Raw frames with one thread per core.
#[derive(Debug)]
pub struct PerCore;

/// Raw frames in the caller's runtime.
#[derive(Debug)]
pub struct Shared;

impl Contestant for PerCore {
    const NAME: &'static str = "raw-cores";
    type Connection = TcpStream;

    async fn serve(_setup: Setup, bound: Bound) -> Result<(), BoxError> {
        serve(&a_worker_for_each_core()?, bound, echo).await
    }

    async fn connect(address: SocketAddr, _setup: Setup, _load: Load) -> Result<TcpStream, BoxError> {
        connect(address).await
    }

    async fn drive(socket: TcpStream, load: Load) -> Result<u64, BoxError> {
        drive(socket, load).await
    }
}

impl Contestant for Shared {
    const NAME: &'static str = "raw";
    type Connection = TcpStream;

    async fn serve(_setup: Setup, bound: Bound) -> Result<(), BoxError> {
        serve(&[Handle::current()], bound, echo).await
    }

    async fn connect(address: SocketAddr, _setup: Setup, _load: Load) -> Result<TcpStream, BoxError> {
        connect(address).await
    }

    async fn drive(socket: TcpStream, load: Load) -> Result<u64, BoxError> {
        drive(socket, load).await
    }
}

/// Length of a header: magic, id, operation, length.
const HEADER: usize = 10;

/// Size of a read.
const READ: usize = 64 * 1024;

/// Amount of written data from which a peer must read concurrently, because otherwise both ends may wait for each other
/// with full sockets.
const MUCH: usize = 256 * 1024;

/// Starts threads with a runtime each, which live as long as the process.
pub(super) fn a_worker_for_each_core() -> Result<Vec<Handle>, BoxError> {
    let mut workers = Vec::new();
    for _ in 0..std::thread::available_parallelism()?.get() {
        let runtime = one_core()?;
        workers.push(runtime.handle().clone());
        std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    }
    Ok(workers)
}

/// Accepts connections, and distributes them round-robin to the workers, which run `serve`.
pub(super) async fn serve<F>(
    workers: &[Handle],
    bound: Bound,
    serve: impl Fn(TcpStream) -> F + Copy + Send + 'static,
) -> Result<(), BoxError>
where
    F: Future<Output = Result<(), BoxError>> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    bound.at(listener.local_addr()?);
    for worker in workers.iter().cycle() {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let socket = socket.into_std()?;
        worker.spawn(async move {
            // A client that disconnects is not an error.
            let _ = serve(TcpStream::from_std(socket)?).await;
            Ok::<_, std::io::Error>(())
        });
    }
    Err("there is no worker".into())
}

/// Echoes the frames of one connection.
pub(super) async fn echo(mut socket: impl AsyncRead + AsyncWrite + Unpin) -> Result<(), BoxError> {
    let mut frames = Frames::default();
    loop {
        frames.read(&mut socket).await?;
        let complete = frames.complete(|_, _| Ok(()))?;
        socket.write_all(&frames.buffer[..complete]).await?;
        socket.flush().await?;
        frames.consume(complete);
    }
}

pub(super) async fn connect(address: SocketAddr) -> Result<TcpStream, BoxError> {
    let socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// Keeps frames in flight and checks the replies, which arrive in order.
pub(super) async fn drive(mut socket: impl AsyncRead + AsyncWrite + Unpin, load: Load) -> Result<u64, BoxError> {
    let mut callers = Callers::new(&load);
    let mut frames = Frames::default();
    let mut out = Vec::new();
    for caller in 0..load.in_flight {
        callers.send(caller, &mut out);
    }
    while !callers.waiting.is_empty() {
        if out.len() < MUCH {
            socket.write_all(&out).await?;
            socket.flush().await?;
            frames.read(&mut socket).await?;
        } else {
            frames.read_while_writing(&mut socket, &out).await?;
        }
        out.clear();
        let complete = frames.complete(|id, body| {
            let caller = callers.receive(id, body)?;
            if callers.tally.runs() {
                callers.send(caller, &mut out);
            }
            Ok(())
        })?;
        frames.consume(complete);
    }
    Ok(callers.tally.counted())
}

/// Sends one frame, and returns the body of the reply.
#[cfg(feature = "tls")]
pub(super) async fn call(socket: &mut (impl AsyncRead + AsyncWrite + Unpin), body: &[u8]) -> Result<Vec<u8>, BoxError> {
    let mut out = Vec::new();
    put(0, body, &mut out);
    socket.write_all(&out).await?;
    // Flushes the buffer of a transport.
    socket.flush().await?;
    let (mut frames, mut reply) = (Frames::default(), None);
    while reply.is_none() {
        frames.read(socket).await?;
        frames.complete(|_, body| {
            reply = Some(body.to_vec());
            Ok(())
        })?;
    }
    reply.ok_or_else(|| "there is no reply".into())
}

/// Writes a frame.
fn put(id: u16, body: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0x0F]);
    out.extend_from_slice(&id.to_be_bytes());
    out.extend_from_slice(&10_u16.to_be_bytes());
    out.extend_from_slice(&(body.len() as u32).to_be_bytes());
    out.extend_from_slice(body);
}

/// The frames in flight on a connection, with the expected text of each id.
pub(super) struct Callers<'a> {
    texts: Vec<Text>,
    /// Ids in the order of sending, with the time if timed.
    waiting: VecDeque<(usize, Option<Instant>)>,
    tally: Tally<'a>,
}

impl<'a> Callers<'a> {
    fn new(load: &'a Load) -> Self {
        let text = |caller| Text::owned(load.number * load.in_flight + caller, load.length);
        Self {
            texts: (0..load.in_flight).map(text).collect(),
            waiting: VecDeque::new(),
            tally: load.meter.tally(load.number),
        }
    }

    fn send(&mut self, caller: usize, out: &mut Vec<u8>) {
        let text = &mut self.texts[caller];
        text.advance();
        self.waiting.push_back((caller, self.tally.begin()));
        let body = text.as_bytes();
        put(caller as u16, body, out);
    }

    fn receive(&mut self, id: u16, body: &[u8]) -> Result<usize, BoxError> {
        let (caller, begun) = self.waiting.pop_front().ok_or("a frame too many")?;
        if caller != usize::from(id) || self.texts[caller].as_bytes() != body {
            return Err("a reply differs from its frame".into());
        }
        self.tally.end(begun);
        Ok(caller)
    }
}

/// Received bytes that are not yet processed.
#[derive(Default)]
struct Frames {
    buffer: Vec<u8>,
}

impl Frames {
    async fn read(&mut self, socket: &mut (impl AsyncRead + Unpin)) -> Result<(), BoxError> {
        self.buffer.reserve(READ);
        if socket.read_buf(&mut self.buffer).await? == 0 { Err("the peer is gone".into()) } else { Ok(()) }
    }

    /// Reads until everything is written, and at least once.
    async fn read_while_writing(
        &mut self,
        socket: &mut (impl AsyncRead + AsyncWrite + Unpin),
        out: &[u8],
    ) -> Result<(), BoxError> {
        let (mut reader, mut writer) = tokio::io::split(socket);
        let mut written = std::pin::pin!(async {
            writer.write_all(out).await?;
            writer.flush().await
        });
        loop {
            tokio::select! {
                done = &mut written => {
                    done?;
                    return self.read(&mut reader).await;
                }
                read = self.read(&mut reader) => read?,
            }
        }
    }

    /// Passes on each complete frame, and returns their total length.
    fn complete(&self, mut each: impl FnMut(u16, &[u8]) -> Result<(), BoxError>) -> Result<usize, BoxError> {
        let mut at = 0;
        while let Some((header, rest)) = self.buffer[at..].split_first_chunk::<HEADER>() {
            let [0, 0x0F, id @ .., _, _, _, _, _, _] = *header else { return Err("no magic number".into()) };
            let length = u32::from_be_bytes([header[6], header[7], header[8], header[9]]) as usize;
            let Some(body) = rest.get(..length) else { break };
            each(u16::from_be_bytes(id), body)?;
            at += HEADER + length;
        }
        Ok(at)
    }

    fn consume(&mut self, count: usize) {
        if count == self.buffer.len() {
            self.buffer.clear();
        } else {
            self.buffer.drain(..count);
        }
    }
}

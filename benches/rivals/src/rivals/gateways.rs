//! Services called through gateways: frpc's, and rivals. A single hand-written client for all of them ensures that the
//! servers are compared. gRPC and native frames require a library, used in `gateways/channels.rs`.

mod axum;
mod batches;
mod channels;
mod connectrpc;
mod datagrams;
mod grpc_web;
mod jsonrpsee;
mod ours;
mod python;
mod wire;

use super::Setup;
use crate::BoxError;
use crate::background::Bound;
use crate::contest::{Contestant, Load, Reconnect};
use crate::meter::Tally;
use crate::text::Text;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wire::Wire;

pub use axum::AxumPipelined;
pub use batches::{Batch, Batches};
pub use channels::{FramesOverWebSocket, Grpc, Grpcio};
pub use connectrpc::ConnectRpc;
pub use datagrams::Datagrams;
pub use grpc_web::TonicWeb;
pub use jsonrpsee::{JsonRpseeHttp, JsonRpseeWebSocket};
pub use ours::{Connect, GrpcWeb, JsonRpc, JsonRpcHttp, JsonRpcWebSocket};
pub use python::{FastApi, FastApiWebSocket, Ucall, UcallUring, check as check_python};

/// A server, and how it is called.
pub trait WireServer: 'static {
    /// Its name in results.
    const NAME: &'static str;

    /// The encoding of requests and replies.
    type Wire: Wire;

    /// Serves on a free port of the loopback until dropped.
    fn serve(setup: Setup, bound: Bound) -> impl Future<Output = Result<(), BoxError>>;
}

/// A contestant called by its encoding.
#[derive(Debug)]
pub struct Through<D>(PhantomData<D>);

impl<D: WireServer> Contestant for Through<D> {
    const NAME: &'static str = D::NAME;
    type Connection = Connection;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        D::serve(setup, bound).await
    }

    async fn connect(address: SocketAddr, _setup: Setup, _load: Load) -> Result<Connection, BoxError> {
        Connection::open::<D::Wire>(address).await
    }

    async fn drive(connection: Connection, load: Load) -> Result<u64, BoxError> {
        connection.drive::<D::Wire>(&load).await
    }
}

impl<D: WireServer> Reconnect for Through<D> {
    async fn reconnect(address: SocketAddr, _setup: Setup, load: Load) -> Result<u64, BoxError> {
        let mut callers = Callers::new(&load);
        let mut input = Vec::with_capacity(READ);
        let mut out = Vec::new();
        while callers.tally.runs() {
            out.clear();
            callers.send::<D::Wire>(0, &mut out);
            let mut connection = Connection::open::<D::Wire>(address).await?;
            connection.socket.write_all(&out).await?;
            input.clear();
            loop {
                if connection.socket.read_buf(&mut input).await? == 0 {
                    return Err("the server closed the connection without a reply".into());
                }
                if let Some((reply, _)) = D::Wire::reply(&input)? {
                    callers.receive::<D::Wire>(&reply)?;
                    break;
                }
            }
            // A reset leaves no port in TIME_WAIT, because there are fewer ports than calls in a second.
            connection.socket.set_zero_linger()?;
        }
        Ok(callers.tally.counted())
    }
}

/// A connection with pipelined calls.
#[derive(Debug)]
pub struct Connection {
    socket: TcpStream,
    address: SocketAddr,
}

/// Size of a read.
const READ: usize = 64 * 1024;

impl Connection {
    async fn open<W: Wire>(address: SocketAddr) -> Result<Self, BoxError> {
        let mut socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        W::open(&mut socket).await?;
        Ok(Self { socket, address })
    }

    /// Keeps calls in flight and checks the replies.
    async fn drive<W: Wire>(mut self, load: &Load) -> Result<u64, BoxError> {
        let mut callers = Callers::new(load);
        let mut input = Vec::with_capacity(READ);
        let mut out = Vec::new();
        (0..load.in_flight).for_each(|caller| callers.send::<W>(caller, &mut out));
        while callers.waiting > 0 {
            // The longest texts are written while no reply is due, because each is echoed only when it has arrived
            // completely.
            self.socket.write_all(&out).await?;
            out.clear();
            input.reserve(READ);
            if self.socket.read_buf(&mut input).await? == 0 {
                if !W::CLOSES {
                    return Err("the server is gone".into());
                }
                self = Self::open::<W>(self.address).await?;
                input.clear();
                callers.send_again::<W>(&mut out);
                continue;
            }
            let mut at = 0;
            while let Some((reply, end)) = W::reply(&input[at..])? {
                at += end;
                let caller = callers.receive::<W>(&reply)?;
                if callers.tally.runs() {
                    callers.send::<W>(caller, &mut out);
                }
            }
            input.drain(..at);
        }
        Ok(callers.tally.counted())
    }
}

/// The calls in flight on a connection.
struct Callers<'a> {
    texts: Vec<Text>,
    /// For each caller, the start of its call if timed, and whether it is waiting.
    begun: Vec<Option<Option<Instant>>>,
    /// The waiting calls in the order of their requests, for replies without an id.
    order: VecDeque<usize>,
    waiting: usize,
    tally: Tally<'a>,
}

impl<'a> Callers<'a> {
    fn new(load: &'a Load) -> Self {
        let text = |caller| Text::owned(load.number * load.in_flight + caller, load.length);
        Self {
            texts: (0..load.in_flight).map(text).collect(),
            begun: vec![None; load.in_flight],
            order: VecDeque::new(),
            waiting: 0,
            tally: load.meter.tally(load.number),
        }
    }

    fn send<W: Wire>(&mut self, caller: usize, out: &mut Vec<u8>) {
        self.texts[caller].advance();
        self.begun[caller] = Some(self.tally.begin());
        self.order.push_back(caller);
        self.waiting += 1;
        W::request(caller, self.texts[caller].as_str(), out);
    }

    /// Resends the waiting request on another connection.
    fn send_again<W: Wire>(&self, out: &mut Vec<u8>) {
        for caller in &self.order {
            W::request(*caller, self.texts[*caller].as_str(), out);
        }
    }

    fn receive<W: Wire>(&mut self, reply: &[u8]) -> Result<usize, BoxError> {
        let caller = match W::caller(reply) {
            Some(caller) => {
                self.order.retain(|waiting| *waiting != caller);
                caller
            }
            None => self.order.pop_front().ok_or("a reply too many")?,
        };
        let begun = self.begun.get_mut(caller).and_then(Option::take).ok_or("a reply to no request")?;
        if !W::holds(reply, self.texts[caller].as_bytes()) {
            return Err(format!("this is not the reply: {}", String::from_utf8_lossy(reply)).into());
        }
        self.waiting -= 1;
        self.tally.end(begun);
        Ok(caller)
    }
}

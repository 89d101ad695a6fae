//! Calls between two processes of one host: ours over Unix sockets and through shared memory, frames through shared
//! memory, and requests of iceoryx2. `alone.rs` contains the variants that consist of only two threads.
//!
//! They meet at a path or name derived from a port, which an unused TCP socket reserves.

pub mod alone;

use super::frpc::Service;
use super::raw::{drive, echo};
use super::{Rival, Setup};
use crate::BoxError;
use crate::background::Bound;
use crate::contest::{Contestant, Load};
use crate::proto::benchmark::{BenchmarkServiceClient, BenchmarkServiceServer};
use crate::text::Text;
use frpc::shm::{Connector, Listener, Stream};
use frpc::{Channel, Server, Workers};
use iceoryx2::prelude::{NodeBuilder, ipc};
use std::marker::PhantomData;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

/// How long spinning ends poll, longer than a peer takes to answer.
const SPIN: Duration = Duration::from_micros(20);

/// A transport between two processes.
pub trait Way: 'static {
    /// Its name in results.
    const NAME: &'static str;

    /// How long both ends spin, if they share memory.
    const SHARES: Option<Duration>;
}

/// Over a Unix socket.
#[derive(Debug)]
pub struct UnixSocket;

impl Way for UnixSocket {
    const NAME: &'static str = "frpc-unix";
    const SHARES: Option<Duration> = None;
}

/// Through shared memory.
#[derive(Debug)]
pub struct SharedMemory;

impl Way for SharedMemory {
    const NAME: &'static str = "frpc-shm";
    const SHARES: Option<Duration> = Some(Duration::ZERO);
}

/// Through shared memory between spinning ends.
#[derive(Debug)]
pub struct Spinning;

impl Way for Spinning {
    const NAME: &'static str = "frpc-shm-spin";
    const SHARES: Option<Duration> = Some(SPIN);
}

/// fRPC over one of these transports.
#[derive(Debug)]
pub struct Ours<W>(PhantomData<W>);

impl<W: Way> Rival for Ours<W> {
    const NAME: &'static str = W::NAME;
    type Client = BenchmarkServiceClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let (_kept, address) = keep()?;
        let mut server =
            Server::builder().workers(Workers::PerCore).add_service(BenchmarkServiceServer::new(Service(setup)));
        if let Some(spin) = W::SHARES {
            server = server.shared_memory(Listener::builder().spin(spin));
        }
        let server = server.bind_unix(path(address)).await?;
        bound.at(address);
        Ok(server.serve().await?)
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Self::Client, BoxError> {
        let mut channel = Channel::builder();
        if let Some(spin) = W::SHARES {
            channel = channel.shared_memory(Connector::new().spin(spin));
        }
        Ok(BenchmarkServiceClient::new(channel.connect(format!("unix:{}", path(address).display())).await?))
    }
}

/// Frames echoed by hand through shared memory, between spinning ends.
#[derive(Debug)]
pub struct Frames;

impl Contestant for Frames {
    const NAME: &'static str = "raw-shm-spin";
    type Connection = Stream;

    async fn serve(_setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let (_kept, address) = keep()?;
        let listener = Listener::builder().spin(SPIN).bind(path(address))?;
        bound.at(address);
        match listener.serve(async |stream| drop(echo(stream).await)).await {}
    }

    async fn connect(address: SocketAddr, _setup: Setup, _load: Load) -> Result<Stream, BoxError> {
        Ok(Connector::new().spin(SPIN).connect(path(address)).await?)
    }

    async fn drive(stream: Stream, load: Load) -> Result<u64, BoxError> {
        drive(stream, load).await
    }
}

/// Requests and responses of iceoryx2, with a polling thread at either end.
#[derive(Debug)]
pub struct Iceoryx;

/// Maximum length of a text.
const LENGTH_MAX: usize = 2 << 20;

impl Contestant for Iceoryx {
    const NAME: &'static str = "iceoryx2";
    /// The name of the service.
    type Connection = String;

    async fn serve(_setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let (_kept, address) = keep()?;
        let node = NodeBuilder::new().create::<ipc::Service>()?;
        let service = node.service_builder(&name(address).as_str().try_into()?);
        let service = service.request_response::<[u8], [u8]>().create()?;
        let server = service.server_builder().initial_max_slice_len(LENGTH_MAX).create()?;
        bound.at(address);
        loop {
            let Some(request) = server.receive()? else {
                std::hint::spin_loop();
                continue;
            };
            let response = request.loan_slice_uninit(request.payload().len())?;
            response.write_from_slice(request.payload()).send()?;
        }
    }

    async fn connect(address: SocketAddr, _setup: Setup, _load: Load) -> Result<String, BoxError> {
        Ok(name(address))
    }

    async fn drive(name: String, load: Load) -> Result<u64, BoxError> {
        let asked = tokio::task::spawn_blocking(move || ask(&name, &load).map_err(|error| error.to_string()));
        Ok(asked.await??)
    }
}

/// Makes sequential requests.
fn ask(name: &str, load: &Load) -> Result<u64, BoxError> {
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let service = node.service_builder(&name.try_into()?).request_response::<[u8], [u8]>().open()?;
    let client = service.client_builder().initial_max_slice_len(LENGTH_MAX).create()?;
    let mut text = Text::owned(load.number, load.length);
    let mut tally = load.meter.tally(load.number);
    while tally.runs() {
        let begun = tally.begin();
        text.advance();
        let request = client.loan_slice_uninit(text.as_bytes().len())?.write_from_slice(text.as_bytes());
        let pending = request.send()?;
        let response = loop {
            if let Some(response) = pending.receive()? {
                break response;
            }
            std::hint::spin_loop();
        };
        if response.payload() != text.as_bytes() {
            return Err("a response differs from its request".into());
        }
        tally.end(begun);
    }
    Ok(tally.counted())
}

/// Reserves a port while its socket exists.
fn keep() -> Result<(TcpListener, SocketAddr), BoxError> {
    let kept = TcpListener::bind("127.0.0.1:0")?;
    let address = kept.local_addr()?;
    Ok((kept, address))
}

fn name(address: SocketAddr) -> String {
    format!("frisbee-benches-{}", address.port())
}

fn path(address: SocketAddr) -> PathBuf {
    std::env::temp_dir().join(name(address))
}

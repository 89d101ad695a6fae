//! tarpc over TCP with bincode, its fastest format.
//!
//! No delay on either side, and no limit within reach on calls in flight or on queues. Handlers are spawned, as in
//! its examples, or polled in place.

use super::{Client, Rival, Setup};
use crate::BoxError;
use crate::background::{Bound, on_each_core};
use crate::text::Text;
use futures_util::{Stream, StreamExt};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tarpc::server::{BaseChannel, Channel};
use tarpc::tokio_serde::formats::Bincode;
use tarpc::tokio_util::codec::length_delimited::LengthDelimitedCodec;
use tarpc::{client, context, serde_transport, server};
use tokio::net::{TcpListener, TcpStream};

/// Calls and replies that may wait for the task of a connection.
const QUEUE: usize = 16 * 1024;

/// The longest frame: a message of 5 MiB and its headers.
const FRAME_MAX: usize = 6 << 20;

/// How long a call may take.
const DEADLINE: Duration = Duration::from_secs(60);

/// What tarpc generates.
#[allow(missing_docs)]
mod generated {
    #[tarpc::service]
    pub trait Echoes {
        async fn echo(message: String) -> String;
    }
}

use generated::{Echoes, EchoesClient};

/// tarpc on its default runtime.
#[derive(Debug)]
pub struct Tarpc;

impl Rival for Tarpc {
    const NAME: &'static str = "tarpc";
    type Client = EchoesClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        bound.at(listener.local_addr()?);
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            let handlers = requests(socket, setup);
            tokio::spawn(handlers.for_each(|handler| async move { drop(tokio::spawn(handler)) }));
        }
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<EchoesClient, BoxError> {
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        let transport = serde_transport::new(codec().new_framed(socket), Bincode::default());
        let mut config = client::Config::default();
        config.max_in_flight_requests = QUEUE;
        config.pending_request_buffer = QUEUE;
        Ok(EchoesClient::new(config, transport).spawn())
    }
}

/// tarpc on a runtime for each core, at both ends, with handlers that are polled in place, one after the other.
#[derive(Debug)]
pub struct InPlace;

impl Rival for InPlace {
    const NAME: &'static str = "tarpc-in-place";
    type Client = EchoesClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        on_each_core(bound, move |mut connections| async move {
            while let Some(socket) = connections.recv().await {
                tokio::spawn(requests(TcpStream::from_std(socket)?, setup).for_each(|handler| handler));
            }
            Ok(())
        })
        .await
    }

    async fn connect(address: SocketAddr, setup: Setup) -> Result<EchoesClient, BoxError> {
        Tarpc::connect(address, setup).await
    }
}

/// The handlers of a connection's calls.
fn requests(socket: TcpStream, setup: Setup) -> impl Stream<Item = impl Future<Output = ()> + Send + 'static> {
    let transport = serde_transport::new(codec().new_framed(socket), Bincode::default());
    let config = server::Config { pending_response_buffer: QUEUE };
    BaseChannel::new(config, transport).execute(Service(setup).serve())
}

fn codec() -> tarpc::tokio_util::codec::length_delimited::Builder {
    let mut codec = LengthDelimitedCodec::builder();
    codec.max_frame_length(FRAME_MAX);
    codec
}

#[derive(Clone)]
struct Service(Setup);

impl Echoes for Service {
    async fn echo(self, _context: context::Context, message: String) -> String {
        self.0.pause().await;
        message
    }
}

impl Client for EchoesClient {
    type Reply = String;

    async fn echo(&self, text: &Text) -> Result<String, BoxError> {
        let mut context = context::current();
        context.deadline = Instant::now() + DEADLINE;
        Ok(EchoesClient::echo(self, context, text.as_str().to_owned()).await?)
    }
}

//! volo's framed Thrift, with its own string type, which stores short strings inline.
//!
//! Connections carry sequential calls, and a client keeps as many as it has calls in flight, because volo's multiplexed
//! connections cost more per call.

use super::{Client, Rival, Setup};
use crate::BoxError;
use crate::background::Bound;
use crate::text::Text;
use bytes::Bytes;
use pilota::FastStr;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use volo::net::Address;
use volo::net::incoming::DefaultIncoming;
use volo_thrift::{ClientError, ServerError};

#[allow(missing_docs, unsafe_code, unreachable_pub, unused_qualifications, elided_lifetimes_in_paths, clippy::all)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/volo_gen.rs"));
}

use generated::volo_gen::echo::{
    Data, EchoService, EchoServiceClient, EchoServiceClientBuilder, EchoServiceServer, Text as Message,
};

/// Timeout of a call.
const DEADLINE: Duration = Duration::from_secs(60);

/// volo-thrift with strings.
#[derive(Debug)]
pub struct Strings;

/// volo-thrift with shared bytes.
#[derive(Debug)]
pub struct Shares;

impl Rival for Strings {
    const NAME: &'static str = "volo-thrift";
    type Client = StringsClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        serve(setup, bound).await
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<StringsClient, BoxError> {
        Ok(StringsClient(connect(address)))
    }
}

impl Rival for Shares {
    const NAME: &'static str = "volo-thrift-bytes";
    type Client = SharesClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        serve(setup, bound).await
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<SharesClient, BoxError> {
        Ok(SharesClient(connect(address)))
    }
}

async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    bound.at(listener.local_addr()?);
    let server = EchoServiceServer::new(Service(setup));
    server.run(DefaultIncoming::from(listener)).await
}

/// Creates a client. The first calls open its connections.
fn connect(address: SocketAddr) -> EchoServiceClient {
    EchoServiceClientBuilder::new("echo")
        .address(Address::from(address))
        .rpc_timeout(Some(DEADLINE))
        .read_write_timeout(Some(DEADLINE))
        .build()
}

struct Service(Setup);

impl EchoService for Service {
    async fn echo(&self, message: Message) -> Result<Message, ServerError> {
        self.0.pause().await;
        Ok(message)
    }

    async fn bulk(&self, data: Data) -> Result<Data, ServerError> {
        self.0.pause().await;
        Ok(data)
    }
}

/// Maximum number of attempts of a call. When many callers start at once, volo's pool fails some that wait for a
/// connection.
const ATTEMPTS: usize = 5;

/// Retries if the pool failed instead of the call.
async fn insist<T, F>(mut call: impl FnMut() -> F) -> Result<T, BoxError>
where
    F: Future<Output = Result<T, ClientError>>,
{
    let mut attempt = 1;
    loop {
        match call().await {
            Err(ClientError::Transport(_)) if attempt < ATTEMPTS => attempt += 1,
            ended => return Ok(ended?),
        }
    }
}

/// Makes calls with strings.
#[derive(Clone)]
pub struct StringsClient(EchoServiceClient);

impl Client for StringsClient {
    type Reply = FastStr;

    async fn echo(&self, text: &Text) -> Result<FastStr, BoxError> {
        let message = FastStr::new(text.as_str());
        Ok(insist(|| self.0.echo(Message { message: message.clone() })).await?.message)
    }
}

/// Makes calls with bytes.
#[derive(Clone)]
pub struct SharesClient(EchoServiceClient);

impl Client for SharesClient {
    type Reply = Bytes;

    async fn echo(&self, text: &Text) -> Result<Bytes, BoxError> {
        let data = text.to_bytes();
        Ok(insist(|| self.0.bulk(Data { data: data.clone() })).await?.data)
    }

    fn text(caller: usize, length: usize) -> Text {
        Text::shared(caller, length)
    }
}

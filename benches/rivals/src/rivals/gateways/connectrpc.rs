//! connectrpc with a dispatcher for a single method, on hyper.

use super::wire::{Post, Posted};
use super::{Setup, WireServer};
use crate::BoxError;
use crate::background::Bound;
use crate::proto::benchmark::{Request as Echo, Response as Echoed};
use bytes::Bytes;
use connectrpc::dispatcher::{MethodDescriptor, RequestStream, StreamingResult, UnaryResult};
use connectrpc::{
    CodecFormat, ConnectError, ConnectRpcService, Dispatcher, EncodedBody, Payload, RequestContext, Response,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

/// connectrpc.
#[derive(Debug)]
pub struct ConnectRpc;

const METHOD: &str = "/benchmark.BenchmarkService/Benchmark";

impl Posted for ConnectRpc {
    const PATH: &'static str = METHOD;
    const METHOD: Option<&'static str> = None;
}

impl WireServer for ConnectRpc {
    const NAME: &'static str = "connectrpc";
    type Wire = Post<Self>;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        bound.at(listener.local_addr()?);
        let service = ConnectRpcService::new(Service(setup));
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(async move {
                // A client that disconnects is not an error.
                let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), service).await;
            });
        }
    }
}

struct Service(Setup);

impl Dispatcher for Service {
    fn lookup(&self, path: &str) -> Option<MethodDescriptor> {
        (path == METHOD.trim_start_matches('/')).then(|| MethodDescriptor::unary(false))
    }

    fn call_unary(&self, _path: &str, _context: RequestContext, request: Payload, _format: CodecFormat) -> UnaryResult {
        let setup = self.0;
        Box::pin(async move {
            setup.pause().await;
            let malformed = |error: serde_json::Error| ConnectError::invalid_argument(error.to_string());
            let echo: Echo = serde_json::from_slice(&request.encoded()?).map_err(malformed)?;
            let body = serde_json::to_vec(&Echoed { message: echo.message }).map_err(malformed)?;
            Ok(Response::new(EncodedBody::from(Bytes::from(body))))
        })
    }

    fn call_server_streaming(&self, _: &str, _: RequestContext, _: Bytes, _: CodecFormat) -> StreamingResult {
        Box::pin(async { Err(ConnectError::unimplemented("nothing streams")) })
    }

    fn call_client_streaming(&self, _: &str, _: RequestContext, _: RequestStream, _: CodecFormat) -> UnaryResult {
        Box::pin(async { Err(ConnectError::unimplemented("nothing streams")) })
    }

    fn call_bidi_streaming(&self, _: &str, _: RequestContext, _: RequestStream, _: CodecFormat) -> StreamingResult {
        Box::pin(async { Err(ConnectError::unimplemented("nothing streams")) })
    }
}

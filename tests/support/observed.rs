//! The service of `proto/extension.proto`. Tests can inspect its state.

use crate::extension::{Chunk, Extension, ExtensionClient, ExtensionServer, Failure, Maybe, Time};
use crate::serve;
use frpc::{Code, Metadata, Request, Response, ResponseStream, Server, Status, Streaming};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// Duration in milliseconds with which handlers of `Wait` wait until they are [released](State::released).
pub const UNTIL_RELEASED: u64 = u64::MAX;

type Reply<T> = Result<Response<T>, Status>;

/// Implements the service as the comments in `proto/extension.proto` describe it, and exposes its state.
#[derive(Clone, Default)]
pub struct Service {
    /// State shared by all clones.
    pub state: Arc<State>,
}

/// The handlers of a [`Service`] that are running or have ended.
#[derive(Default)]
pub struct State {
    /// Number of running handlers of `Wait`.
    pub waiting: AtomicI64,
    /// Releases the handlers of `Wait` that were called with [`UNTIL_RELEASED`].
    pub released: watch::Sender<bool>,
    /// Number of messages that `Flood` has produced.
    pub flooded: AtomicU64,
    /// Number of times that `Get` has run.
    pub gets: AtomicU64,
    /// Code with which `Get` and `Flood` fail. 0 means that they succeed.
    pub broken: AtomicI32,
    /// The client that `Ask` uses to call back.
    pub back: tokio::sync::OnceCell<ExtensionClient>,
}

impl State {
    fn check(&self) -> Result<(), Status> {
        match self.broken.load(Ordering::SeqCst) {
            0 => Ok(()),
            code => Err(Status::new(Code::from_i32(code), "out of order")),
        }
    }
}

struct Counted<'a>(&'a AtomicI64);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicI64) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns the received metadata, with the prefix `sent-` of keys replaced by `got-`.
fn returned(metadata: &Metadata) -> Metadata {
    let mut returned = Metadata::new();
    for (key, value) in metadata.iter() {
        let Some(name) = key.strip_prefix("sent-") else { continue };
        let key = format!("got-{name}");
        if name.ends_with("-bin") {
            returned.append_bin(key, value).expect("key should be valid");
        } else {
            returned.append(key, String::from_utf8_lossy(value)).expect("key should be valid");
        }
    }
    returned
}

impl Extension for Service {
    async fn echo(&self, request: Request<Maybe>) -> Reply<Maybe> {
        let metadata = returned(request.metadata());
        let mut response = Response::new(request.into_inner());
        *response.metadata_mut() = metadata;
        Ok(response)
    }

    async fn fail(&self, request: Request<Failure>) -> Reply<Maybe> {
        let metadata = returned(request.metadata());
        let Failure { code, text, details } = request.into_inner();
        Err(Status::new(Code::from_i32(code), text).with_details(details).with_metadata(metadata))
    }

    async fn wait(&self, request: Request<Time>) -> Reply<Time> {
        let _counted = Counted::new(&self.state.waiting);
        match request.get_ref().millis {
            UNTIL_RELEASED => drop(self.state.released.subscribe().wait_for(|released| *released).await),
            millis => tokio::time::sleep(Duration::from_millis(millis)).await,
        }
        Ok(Response::new(request.into_inner()))
    }

    async fn ask(&self, request: Request<Time>) -> Reply<Time> {
        let Some(back) = self.state.back.get() else {
            // The timeout of the nested call, as the server has received it.
            let millis = request.timeout().map_or(0, |timeout| timeout.as_millis() as u64);
            return Ok(Response::new(Time { millis }));
        };
        tokio::time::sleep(Duration::from_millis(request.get_ref().millis)).await;
        back.ask(Time::default()).await
    }

    async fn get(&self, request: Request<Time>) -> Reply<Time> {
        self.state.gets.fetch_add(1, Ordering::SeqCst);
        self.state.check()?;
        tokio::time::sleep(Duration::from_millis(request.get_ref().millis)).await;
        Ok(Response::new(request.into_inner()))
    }

    async fn flood(&self, request: Request<Time>) -> Reply<ResponseStream<Chunk>> {
        self.state.check()?;
        let metadata = returned(request.metadata());
        let state = self.state.clone();
        let limit = match request.get_ref().millis {
            0 => usize::MAX,
            count => count as usize,
        };
        let chunks = std::iter::repeat_with(move || {
            state.flooded.fetch_add(1, Ordering::SeqCst);
            Ok(Chunk { data: vec![1; 1024] })
        });
        let chunks = chunks.take(limit);
        let mut response = Response::new(ResponseStream::new(frpc::iter(chunks)));
        *response.metadata_mut() = metadata;
        Ok(response)
    }

    async fn sink(&self, request: Request<Streaming<Chunk>>) -> Reply<Time> {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let mut chunks = request.into_inner();
        let mut millis = 0;
        while chunks.message().await?.is_some() {
            millis += 1;
        }
        Ok(Response::new(Time { millis }))
    }
}

/// Starts a server in the current runtime, which runs for as long as the runtime. Returns the address.
pub async fn start(service: Service) -> SocketAddr {
    serve(Server::builder().add_service(ExtensionServer::new(service))).await
}

/// Starts a server. Returns a client, and the state of the service.
pub async fn served() -> (ExtensionClient, Arc<State>) {
    let service = Service::default();
    let state = service.state.clone();
    let client =
        ExtensionClient::connect(start(service).await.to_string()).await.expect("server should accept the connection");
    (client, state)
}

//! A server that registers in etcd, publishes each sale on the bus, and can be replaced or slowed down.

use super::NAME;
use super::bus::{SALES, Station};
use super::engines::Engine;
use super::greet::{Greeter, GreeterServer, Greeting, Name};
use frisbee_pubsub::Publisher;
use frpc::{Request, Response, ResponseStream, Server, Status};
use frpc_balance::etcd::{Etcd, Registered, Registration};
use frpc_balance::resolve::Endpoint;
use std::error::Error;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinHandle;

/// Duration of a call, and its duration while the server is slow.
const WORK: Duration = Duration::from_millis(2);
const SLOW_WORK: Duration = Duration::from_millis(40);

/// A server, independent of the process that currently implements it.
pub(crate) struct Shop {
    name: &'static str,
    state: Arc<State>,
    process: Process,
}

#[derive(Default)]
struct State {
    served: AtomicU64,
    /// Number of published sales.
    sold: AtomicU64,
    is_slow: AtomicBool,
    /// A slow server handles one call at a time.
    turn: Mutex<()>,
}

/// The part that would be a separate process in a real deployment.
struct Process {
    registered: Registered,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), frpc::Error>>,
    station: Station,
}

impl Shop {
    pub(crate) async fn open(name: &'static str, etcd: &Etcd, nats: &Engine) -> Result<Self, Box<dyn Error>> {
        let state = Arc::<State>::default();
        Ok(Self { name, process: Process::start(name, &state, etcd, nats).await?, state })
    }

    /// Starts the successor at another address, and then stops the current process.
    pub(crate) async fn replace(&mut self, etcd: &Etcd, nats: &Engine) -> Result<(), Box<dyn Error>> {
        let successor = Process::start(self.name, &self.state, etcd, nats).await?;
        std::mem::replace(&mut self.process, successor).stop().await
    }

    /// Makes this server and its successors slow.
    pub(crate) fn be_slow(&self) {
        self.state.is_slow.store(true, Ordering::Relaxed);
    }

    /// Returns the number of served calls since the last query.
    pub(crate) fn take_served(&self) -> u64 {
        self.state.served.swap(0, Ordering::Relaxed)
    }

    /// Returns the number of sales published on the bus.
    pub(crate) fn sold(&self) -> u64 {
        self.state.sold.load(Ordering::Relaxed)
    }

    pub(crate) async fn close(self) -> Result<(), Box<dyn Error>> {
        self.process.stop().await
    }
}

impl Process {
    async fn start(name: &str, state: &Arc<State>, etcd: &Etcd, nats: &Engine) -> Result<Self, Box<dyn Error>> {
        let station = Station::open(nats.address()).await?;
        let sales = station.client().publisher(&format!("{SALES}.{name}"))?;
        // A real server knows its address. This port is likely to be still free when it is bound.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let endpoint = Endpoint::new(&address).with_metadata("name", name);
        let registered = Registration::new(etcd, NAME, &endpoint)?.start();
        let service = registered.around(GreeterServer::new(Service { state: state.clone(), sales }));
        let server = Server::builder().add_service(service).bind(&address).await?;
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.serve_with_shutdown(async { drop(stopped.await) }));
        registered.registered().await;
        Ok(Self { registered, stop, serving, station })
    }

    /// Deregisters from etcd, notifies the clients, and returns when the calls in progress have ended and the bus has
    /// received their sales.
    async fn stop(self) -> Result<(), Box<dyn Error>> {
        drop(self.stop);
        self.serving.await??;
        drop(self.registered);
        self.station.close().await
    }
}

struct Service {
    state: Arc<State>,
    sales: Publisher,
}

impl Greeter for Service {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        if self.state.is_slow.load(Ordering::Relaxed) {
            let _turn = self.state.turn.lock().await;
            tokio::time::sleep(SLOW_WORK).await;
        } else {
            tokio::time::sleep(WORK).await;
        }
        self.state.served.fetch_add(1, Ordering::Relaxed);
        self.sales.publish("one").await?;
        self.state.sold.fetch_add(1, Ordering::Relaxed);
        Ok(Response::new(Greeting { text: format!("Hello, {}!", request.into_inner().name) }))
    }

    async fn recite(&self, _request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("the fleet sells greetings, not verses"))
    }
}

//! The service `grpc.health.v1.Health` and the handle that sets the health of a server.

use crate::health_v1 as v1;
use frpc::codegen::{BoxFuture, Lifecycle, Methods, OfferedService, Service};
use frpc::{Request, Response, ResponseStream, Status};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use v1::{HealthCheckRequest, HealthCheckResponse, HealthListRequest, HealthListResponse};

pub use v1::health_check_response::ServingStatus;

/// Service name in requests for the health of the whole server.
const SERVER: &str = "";

/// Maximum time that a shutdown waits until watchers have been notified. A client that does not read would otherwise
/// block it forever.
const TELL_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum length in bytes of a service name in a request. It is far longer than real names, and bounds the memory of a
/// watch, which stores the name.
const NAME_MAX: usize = 1024;

/// The health of a server and of its services, for load balancers, orchestrators and gRPC clients. Clones share their
/// state.
///
/// The server as a whole, which has an empty name, and each of its services are [`Serving`](ServingStatus::Serving)
/// until they are set to another status.
///
/// When the server shuts down, it and all services become `NotServing`. Watchers receive this status before the
/// connections are drained. With probes enabled, `/readyz` of a gateway reports the status of the server.
///
/// Use one `Health` per server: the shutdown of a server sets the status of all its services.
///
/// ```
/// use frpc::Server;
/// use frpc_reflection::{Health, ServingStatus};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), frpc::Error> {
/// let health = Health::new();
/// let server = Server::builder().add_service(health.clone()).bind("127.0.0.1:0").await?;
///
/// // While a cache is filled.
/// health.set_not_serving("shop.Orders");
/// assert_eq!(health.status("shop.Orders"), Some(ServingStatus::NotServing));
/// health.set_serving("shop.Orders");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Health(Arc<Shared>);

struct Shared {
    state: watch::Sender<State>,
}

#[derive(Default)]
struct State {
    statuses: BTreeMap<String, ServingStatus>,
    is_stopping: bool,
}

impl State {
    fn of(&self, service: &str) -> Option<ServingStatus> {
        let status = self.statuses.get(service).copied()?;
        Some(if self.is_stopping { ServingStatus::NotServing } else { status })
    }
}

impl Health {
    /// Creates a health with everything serving.
    ///
    /// ```
    /// use frpc_reflection::{Health, ServingStatus};
    ///
    /// assert_eq!(Health::new().status(""), Some(ServingStatus::Serving));
    /// ```
    pub fn new() -> Self {
        let statuses = BTreeMap::from([(SERVER.to_owned(), ServingStatus::Serving)]);
        Self(Arc::new(Shared { state: watch::Sender::new(State { statuses, is_stopping: false }) }))
    }

    /// Sets the status of the service with this full name, or of the whole server if the name is empty, and notifies
    /// watchers. Names of unknown services are accepted.
    ///
    /// ```
    /// use frpc_reflection::{Health, ServingStatus};
    ///
    /// let health = Health::new();
    /// health.set("shop.Orders", ServingStatus::NotServing);
    /// assert_eq!(health.status("shop.Orders"), Some(ServingStatus::NotServing));
    /// ```
    pub fn set(&self, service: impl Into<String>, status: ServingStatus) {
        let service = service.into();
        self.0.state.send_if_modified(|state| state.statuses.insert(service, status) != Some(status));
    }

    /// Sets the status of a service by the type of its generated server, such as `GreeterServer<Greeting>`.
    ///
    /// ```
    /// use frpc_reflection::{Health, ServingStatus};
    ///
    /// let health = Health::new();
    /// health.set_of::<Health>(ServingStatus::NotServing);
    /// assert_eq!(health.status("grpc.health.v1.Health"), Some(ServingStatus::NotServing));
    /// ```
    pub fn set_of<S: Service>(&self, status: ServingStatus) {
        self.set(S::NAME, status);
    }

    /// Sets the status to [`Serving`](ServingStatus::Serving).
    ///
    /// ```
    /// let health = frpc_reflection::Health::new();
    /// health.set_serving("shop.Orders");
    /// assert!(health.status("shop.Orders").is_some());
    /// ```
    pub fn set_serving(&self, service: impl Into<String>) {
        self.set(service, ServingStatus::Serving);
    }

    /// Sets the status to [`NotServing`](ServingStatus::NotServing).
    ///
    /// ```
    /// let health = frpc_reflection::Health::new();
    /// health.set_not_serving(""); // The whole server, before a deployment.
    /// ```
    pub fn set_not_serving(&self, service: impl Into<String>) {
        self.set(service, ServingStatus::NotServing);
    }

    /// Removes a service, which is unknown to clients afterwards.
    ///
    /// ```
    /// let health = frpc_reflection::Health::new();
    /// health.set_serving("shop.Orders");
    /// health.remove("shop.Orders");
    /// assert!(health.status("shop.Orders").is_none());
    /// ```
    pub fn remove(&self, service: &str) {
        self.0.state.send_if_modified(|state| state.statuses.remove(service).is_some());
    }

    /// Returns the health status of a service as reported to clients, or `None` if the service is unknown.
    pub fn status(&self, service: &str) -> Option<ServingStatus> {
        self.0.state.borrow().of(service)
    }
}

impl Default for Health {
    fn default() -> Self {
        Self::new()
    }
}

impl Service for Health {
    const NAME: &'static str = v1::HealthServer::<Shared>::NAME;

    fn methods(&self) -> Methods {
        v1::HealthServer::from_arc(self.0.clone()).methods().lifecycle(self.0.clone())
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Health").field("statuses", &self.0.state.borrow().statuses).finish()
    }
}

impl Lifecycle for Shared {
    fn offered(&self, services: &[OfferedService]) {
        self.state.send_modify(|state| {
            state.is_stopping = false;
            for service in services {
                state.statuses.entry(service.name().to_owned()).or_insert(ServingStatus::Serving);
            }
        });
    }

    fn stopping(&self) -> BoxFuture<'static, ()> {
        self.state.send_modify(|state| state.is_stopping = true);
        let state = self.state.clone();
        Box::pin(async move {
            // A watch ends when it is polled after its last status, which happens once that status has been sent.
            if tokio::time::timeout(TELL_TIMEOUT, state.closed()).await.is_err() {
                let waiting = state.receiver_count();
                tracing::debug!(waiting, "health watchers do not read; stopping without them");
            }
        })
    }

    fn is_ready(&self) -> bool {
        self.state.borrow().of(SERVER).is_none_or(|status| status == ServingStatus::Serving)
    }
}

fn response(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}

/// Returns the service name in a health request after validating its length.
fn requested_service(request: Request<HealthCheckRequest>) -> Result<String, Status> {
    let name = request.into_inner().service;
    if name.len() > NAME_MAX {
        return Err(Status::invalid_argument(format!("the name of a service has at most {NAME_MAX} bytes")));
    }
    Ok(name)
}

impl v1::Health for Shared {
    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        let name = requested_service(request)?;
        let status = self.state.borrow().of(&name);
        let unknown = || Status::not_found(format!("the health of {name:?} is not known"));
        status.map(|status| Response::new(response(status))).ok_or_else(unknown)
    }

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<ResponseStream<HealthCheckResponse>>, Status> {
        let watching = HealthWatcher { name: requested_service(request)?, state: self.state.subscribe(), last: None };
        Ok(Response::new(ResponseStream::new(futures_util::stream::unfold(Some(watching), HealthWatcher::next))))
    }

    async fn list(&self, _request: Request<HealthListRequest>) -> Result<Response<HealthListResponse>, Status> {
        let state = self.state.borrow();
        let status = |name: &String| Some((name.clone(), response(state.of(name)?)));
        let statuses: HashMap<_, _> = state.statuses.keys().filter_map(status).collect();
        Ok(Response::new(HealthListResponse { statuses }))
    }
}

/// State of one client's health watch.
struct HealthWatcher {
    name: String,
    state: watch::Receiver<State>,
    /// The health status that was last sent to the client.
    last: Option<ServingStatus>,
}

impl HealthWatcher {
    /// Waits for a status that differs from the last one and returns it. Ends after the final status of a server that
    /// shuts down.
    async fn next(watching: Option<Self>) -> Option<(Result<HealthCheckResponse, Status>, Option<Self>)> {
        let mut watching = watching?;
        loop {
            let (status, is_stopping) = {
                let state = watching.state.borrow_and_update();
                (state.of(&watching.name).unwrap_or(ServingStatus::ServiceUnknown), state.is_stopping)
            };
            if watching.last.replace(status) != Some(status) {
                return Some((Ok(response(status)), Some(watching)));
            }
            if is_stopping {
                return Some((Err(Status::unavailable("the server is stopping")), None));
            }
            watching.state.changed().await.ok()?;
        }
    }
}

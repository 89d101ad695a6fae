//! [tower](https://docs.rs/tower) layers as middleware of [frpc](https://docs.rs/frpc-rs) servers and channels.
//!
//! ```
//! use frpc_tower::Tower;
//! use std::time::Duration;
//! use tower::ServiceBuilder;
//!
//! // Handlers get two seconds. tower's other layers, such as `ConcurrencyLimitLayer`, are added in the same way.
//! let layers = ServiceBuilder::new().timeout(Duration::from_secs(2));
//! let builder = frpc::Server::builder().middleware(Tower::new(layers));
//! ```
#![forbid(unsafe_code)]

use frpc::{Call, CallResponse, Middleware, Next, Status};
use parking_lot::Mutex;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tower::load_shed::error::Overloaded;
use tower::timeout::error::Elapsed;
use tower::{Layer, Service};

/// Middleware that applies a tower [`Layer`], for example one that limits the number of concurrent calls.
///
/// The layer is applied once, to a service of [`Exchange`]s, and the resulting service is cloned for each call. Its
/// errors are converted to statuses: a [`Status`] is unchanged, tower's timeout becomes
/// [`DeadlineExceeded`](frpc::Code::DeadlineExceeded), load shedding becomes
/// [`ResourceExhausted`](frpc::Code::ResourceExhausted), and any other error becomes [`Internal`](frpc::Code::Internal)
/// with its text. A call that was shed before it reached the handler counts as [not run](Status::may_have_run), so a
/// client may retry it.
///
/// ```
/// use frpc_tower::Tower;
/// use tower::limit::ConcurrencyLimitLayer;
///
/// // At most 100 calls of the whole server run at a time.
/// let builder = frpc::Server::builder().middleware(Tower::new(ConcurrencyLimitLayer::new(100)));
/// ```
pub struct Tower<S>(Mutex<S>);

/// Request type of the services in a [`Tower`], which consists of a call and the rest of its middleware chain.
#[derive(Debug)]
pub struct Exchange {
    /// The call that the layer may inspect or modify.
    pub call: Call,
    next: Next,
    has_run: Arc<AtomicBool>,
}

/// Innermost service of a [`Tower`], which passes the call to the rest of the middleware chain.
#[derive(Clone, Copy, Debug)]
pub struct TowerNext(());

impl<S> Tower<S> {
    /// Creates middleware from a tower layer.
    pub fn new<L: Layer<TowerNext, Service = S>>(layer: L) -> Self {
        Self(Mutex::new(layer.layer(TowerNext(()))))
    }
}

impl Service<Exchange> for TowerNext {
    type Response = CallResponse;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<CallResponse, Status>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, exchange: Exchange) -> Self::Future {
        exchange.has_run.store(true, Ordering::Relaxed);
        Box::pin(exchange.next.run(exchange.call))
    }
}

impl<S> Middleware for Tower<S>
where
    S: Service<Exchange, Response = CallResponse> + Clone + Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    S::Future: Send,
{
    async fn call(&self, call: Call, next: Next) -> Result<CallResponse, Status> {
        let mut service = self.0.lock().clone();
        poll_fn(|context| service.poll_ready(context)).await.map_err(|error| status(error, false))?;
        let mut has_run = Arc::<AtomicBool>::default();
        let reply = service.call(Exchange { call, next, has_run: Arc::clone(&has_run) }).await;
        // While a layer holds the exchange, the call may still run.
        let mut may_have_run = || Arc::get_mut(&mut has_run).is_none_or(|has_run| *has_run.get_mut());
        reply.map_err(|error| status(error, may_have_run()))
    }
}

/// Converts the error of a tower layer to a status.
fn status(error: impl Into<Box<dyn Error + Send + Sync>>, may_have_run: bool) -> Status {
    match error.into().downcast::<Status>() {
        Ok(status) => *status,
        Err(error) if error.is::<Elapsed>() => Status::deadline_exceeded(error.to_string()),
        Err(error) if error.is::<Overloaded>() && !may_have_run => {
            Status::resource_exhausted(error.to_string()).rejected()
        }
        Err(error) if error.is::<Overloaded>() => Status::resource_exhausted(error.to_string()),
        Err(error) => Status::internal(error.to_string()),
    }
}

impl<S> fmt::Debug for Tower<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tower").finish_non_exhaustive()
    }
}

//! The door for calls that tonic's server brings: the middleware and the policies that native calls have as well.

use super::{Replies, inherited, replies_within, reply_within};
use crate::access::visitor::{Visitor, expired};
use crate::api::middleware::{CallKind, through};
use crate::api::principal::Principal;
use crate::deadline::Inherited;
use crate::endpoint::offer::Offer;
use crate::endpoint::table::Served;
use crate::observe::watching::Watched;
use crate::{Code, Error, Policy, Request, Response, ResponseStream, ServerBuilder, Status};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections whose permits are kept, before those that have no call in progress are looked for.
const SWEPT_MIN: usize = 64;

/// The way by which calls come from tonic's server into the services of a [`ServerBuilder`].
///
/// Each passes the middleware of the builder, of its service and of its method, and holds to the policy of its method:
/// [`Policy::AtMost`] counts those of one connection, as far as tonic tells the caller's address. tonic runs each call in
/// a task of its own, so that [`Policy::Inline`] is as [`Policy::Concurrent`]. tonic's server enforces deadlines, and
/// has limits of its own for sizes, streams and memory.
///
/// Clones are the same door.
#[derive(Clone)]
pub struct Door(Arc<Shared>);

/// The operation of a method, and the address of a caller.
type Caller = (u16, Option<SocketAddr>);

struct Shared {
    offer: Offer,
    /// For methods with [`Policy::AtMost`], by operation and caller.
    permits: Mutex<HashMap<Caller, Weak<Semaphore>>>,
}

impl ServerBuilder {
    /// Makes the door for the calls that [tonic's server](crate::grpc) brings to the services that have been added by
    /// now, within the middleware that has been added by now.
    ///
    /// # Errors
    /// As [`bind`](Self::bind), apart from those of addresses.
    pub fn grpc_door(&self) -> Result<Door, Error> {
        let offer = self.offering.clone().done()?;
        Ok(Door(Arc::new(Shared { offer, permits: Mutex::default() })))
    }
}

impl Door {
    /// Puts an implementation behind the door, for the `new` of tonic's server. A server of the same service must have
    /// been added to the builder that the door was made of: calls of others fail with
    /// [`FailedPrecondition`](crate::Code::FailedPrecondition).
    pub fn serve<S>(&self, service: S) -> Behind<S> {
        self.serve_arc(Arc::new(service))
    }

    /// As [`serve`](Self::serve), for an implementation that others serve as well.
    pub fn serve_arc<S>(&self, service: Arc<S>) -> Behind<S> {
        Behind { service, door: self.clone() }
    }

    fn find(&self, service: &str, method: &str) -> Result<(u16, &Served), Status> {
        let table = &self.0.offer.table;
        let found = table.operation(service, method).and_then(|operation| Some((operation, table.get(operation)?)));
        found.ok_or_else(|| {
            Status::failed_precondition(format!(
                "{service}/{method} is not behind this door: add a server of {service} to the builder before its \
                 grpc_door is called"
            ))
        })
    }

    /// Lets a call in by its metadata, or by a principal that an interceptor of tonic has left in its extensions; adds the
    /// principal to these. Returns when a stream is no longer let in.
    fn let_in<A>(&self, served: &Served, request: &mut Request<A>) -> Result<Option<Instant>, Status> {
        let Some(access) = &self.0.offer.access else { return Ok(None) };
        let address = request.remote_addr().map(|address| address.ip());
        let own = request.extensions().get::<Principal>().cloned();
        let visitor = Visitor::elsewhere(access, own, address);
        let admitted = visitor.admit(served.rule, &served.entry.method, request.metadata())?;
        if let Some(bearer) = admitted.bearer {
            request.extensions_mut().insert(bearer);
        }
        Ok(admitted.expires.filter(|_| served.entry.face.about().kind() != CallKind::Unary))
    }

    /// Waits until another call of the method may run, if its policy wants that.
    async fn admit(&self, operation: u16, served: &Served, caller: Option<SocketAddr>) -> Option<OwnedSemaphorePermit> {
        let Policy::AtMost(count) = served.running.policy else { return None };
        if served.entry.face.about().kind() != CallKind::Unary {
            return None;
        }
        // It is never closed.
        self.0.permits((operation, caller), count).acquire_owned().await.ok()
    }
}

impl Shared {
    fn permits(&self, key: Caller, count: usize) -> Arc<Semaphore> {
        let mut permits = self.permits.lock();
        if let Some(present) = permits.get(&key).and_then(Weak::upgrade) {
            return present;
        }
        if permits.len() >= SWEPT_MIN && permits.len() == permits.capacity() {
            permits.retain(|_, permits| permits.strong_count() > 0);
        }
        let new = Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS)));
        permits.insert(key, Arc::downgrade(&new));
        new
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.offer.table.methods()).finish()
    }
}

/// An implementation of a service behind a [`Door`], for which the code that `grpc(true)` generates implements tonic's
/// trait.
pub struct Behind<S> {
    service: Arc<S>,
    door: Door,
}

impl<S> Behind<S> {
    /// Calls a handler that replies with a message, for generated code.
    ///
    /// # Errors
    /// The status of the call.
    ///
    /// # Cancel safety
    /// Dropping the future drops the handler.
    #[doc(hidden)]
    pub async fn reply<A, B, F>(
        &self,
        service: &'static str,
        method: &'static str,
        mut request: Request<A>,
        handler: impl FnOnce(Arc<S>, Request<A>) -> F + Send + 'static,
    ) -> Result<tonic::Response<B>, tonic::Status>
    where
        S: Send + Sync + 'static,
        A: Send + 'static,
        B: Send + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let (operation, served) = self.door.find(service, method)?;
        let (inherited, watched) = begin(served, &request);
        let call = |request| self.call(operation, served, request, handler);
        let replied = match self.door.let_in(served, &mut request) {
            Ok(expires) => until_expired(expires, reply_within(inherited, request, call)).await,
            Err(status) => Err(status.into()),
        };
        if let Some(watched) = watched {
            watched.end(code(&replied), 0);
        }
        replied
    }

    /// Calls a handler that replies with a stream, for generated code.
    ///
    /// # Errors
    /// The status of the call.
    ///
    /// # Cancel safety
    /// Dropping the future drops the handler.
    #[doc(hidden)]
    pub async fn replies<A, B, F>(
        &self,
        service: &'static str,
        method: &'static str,
        mut request: Request<A>,
        handler: impl FnOnce(Arc<S>, Request<A>) -> F + Send + 'static,
    ) -> Result<tonic::Response<Replies<B>>, tonic::Status>
    where
        S: Send + Sync + 'static,
        A: Send + 'static,
        B: Send + 'static,
        F: Future<Output = Result<Response<ResponseStream<B>>, Status>> + Send + 'static,
    {
        let (operation, served) = self.door.find(service, method)?;
        let (inherited, watched) = begin(served, &request);
        let call = |request| self.call(operation, served, request, handler);
        let let_in = self.door.let_in(served, &mut request);
        let expires = let_in.as_ref().ok().copied().flatten();
        let mut replied = match let_in {
            Ok(_) => until_expired(expires, replies_within(inherited, request, call)).await,
            Err(status) => Err(status.into()),
        };
        match (&mut replied, watched) {
            (Ok(replies), watched) => {
                let replies = replies.get_mut();
                replies.watched = watched;
                replies.over = expires.map(|at| Box::pin(tokio::time::sleep_until(at.into())));
            }
            (Err(status), Some(watched)) => watched.end(Code::from(status.code()), 0),
            (Err(_), None) => {}
        }
        replied
    }

    async fn call<A, B, F>(
        &self,
        operation: u16,
        served: &Served,
        request: Request<A>,
        handler: impl FnOnce(Arc<S>, Request<A>) -> F + Send + 'static,
    ) -> Result<Response<B>, Status>
    where
        S: Send + Sync + 'static,
        A: Send + 'static,
        B: Send + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let _permit = self.door.admit(operation, served, request.remote_addr()).await;
        let service = self.service.clone();
        let about = *served.entry.face.about();
        through(served.chain.clone(), about, request, move |request| handler(service, request)).await
    }
}

/// The outcome of a call, unless its caller is no longer let in before.
async fn until_expired<T>(
    expires: Option<Instant>,
    call: impl Future<Output = Result<T, tonic::Status>>,
) -> Result<T, tonic::Status> {
    match expires {
        None => call.await,
        Some(at) => tokio::time::timeout_at(at.into(), call).await.unwrap_or_else(|_| Err(expired().into())),
    }
}

/// Begins a call, which may be observed, and says what its handler's calls inherit.
fn begin<A>(served: &Served, request: &Request<A>) -> (Inherited, Option<Watched>) {
    let came = inherited(request);
    let watched = served.watcher.as_ref().map(|watcher| watcher.begin(came.trace));
    (Inherited { trace: Watched::passed_on(watched.as_ref(), came.trace), ..came }, watched)
}

fn code<B>(replied: &Result<tonic::Response<B>, tonic::Status>) -> Code {
    replied.as_ref().map_or_else(|status| status.code().into(), |_| Code::Ok)
}

impl<S> fmt::Debug for Behind<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Behind").field("door", &self.door).finish_non_exhaustive()
    }
}
